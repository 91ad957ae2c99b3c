"""Keyword arguments of the Python package that are keys of a request: a method whose docstring has
a line "Keywords, of POST /v1/…:" has them all, with the types of their row, and behind that line
their texts, which are printed from openapi.json (--write brings them up to date)."""
import ast
import json
import os
import re
import sys
from tree import ROOT, Tree, report

PACKAGE, DOCUMENT = 'clients/python/mechd/', 'protocol/openapi.json'
MARK = re.compile(r'^( *)Keywords, of ([A-Z]+) (/\S+):\n((?:\1 .*\n|\n)*)', re.M)
SIMPLE = {'string': 'str', 'integer': 'int', 'number': 'float', 'boolean': 'bool'}
WIDTH = 100
# keys that a method takes in another form; true: the text of the row fits that, too
OTHERWISE = {
    'GET /v1/instances/{id}/objects/{name}/outputs/{variable}': {'localPosition': True},
    'POST /v1/instances': {'snapshot': False},
    'POST /v1/instances/{id}/clone': {'as': False},
    'POST /v1/instances/{id}/lease': {'channels': False},
    'POST /v1/instances/{id}/runs': {'record': False},
    'POST /v1/instances/{id}/step': {'commit': False},
    'POST /v1/sweeps': {'parameters': False, 'record': False},
    'PUT /v1/instances/{id}/objects/{name}/fields/{field}': {'value': False},
    'PUT /v1/instances/{id}/state': {'snapshot': False},
}


def snake(key):
    return re.sub('[A-Z]', lambda m: '_' + m.group().lower(), key)


def types(schema, schemas):
    """The types that a keyword of this schema may have."""
    if '$ref' in schema:
        name = schema['$ref'].split('/')[-1]
        of = schemas[name]
        return {'replies.' + name} if 'enum' in of else types(of, schemas)
    if 'anyOf' in schema:
        return set().union(*(types(part, schemas) for part in schema['anyOf']))
    given = schema.get('type')
    if given == 'array':
        return {'Sequence[%s]' % one for one in types(schema['items'], schemas)}
    if given == 'object':
        more = schema.get('additionalProperties')
        return {'Mapping[str, %s]' % ('str' if more == {'type': 'string'} else 'Any')}
    return {SIMPLE[given]} if given in SIMPLE else set() if given == 'null' else {'Any'}


def words(schema, schemas):
    """What behind a text says which words there are."""
    item = schema.get('items', schema)
    name = item.get('$ref', '').split('/')[-1]
    if 'enum' in schemas.get(name, {}):
        return ', of the words of replies.' + name
    given = item.get('enum') or [s['const'] for s in item.get('anyOf', []) if 'const' in s]
    return '; one of ' + ', '.join(given) if given else ''


def keys(document, method, path):
    """{key: (types, text)} of a route's request."""
    operation, schemas = document['paths'][path][method.lower()], document['components']['schemas']
    found = {}
    for content in operation.get('requestBody', {}).get('content', {}).values():
        name = content.get('schema', {}).get('$ref', '').split('/')[-1]
        for key, schema in schemas.get(name, {}).get('properties', {}).items():
            found[key] = (types(schema, schemas),
                          schema.get('description', '').rstrip('.') + words(schema, schemas))
    for p in operation.get('parameters', []):
        if p.get('in') == 'query':
            found[p['name']] = (types(p['schema'], schemas),
                                p['description'].rstrip('.') + words(p['schema'], schemas))
    return found


def annotated(node):
    """The types in an annotation, without None."""
    text = ast.unparse(node)
    inner = re.fullmatch(r'(?:Optional|Union)\[(.*)\]', text)
    parts = re.findall(r'(?:[^,\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])+', inner.group(1)) \
        if inner else [text]
    return {part.strip() for part in parts} - {'None'}


def methods(source):
    """(function, its mark in the docstring) of those that have one."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            mark = MARK.search(ast.get_docstring(node, clean=False) or '')
            if mark:
                yield node, mark


def arguments(node):
    return {a.arg: a.annotation for a in node.args.args + node.args.kwonlyargs if a.annotation}


def described(indent, name, text):
    """A keyword and its text, in lines."""
    text = re.sub('^true: |; null: [^;]*$', '', text)
    text = text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == ' ' else text
    text = re.sub(r'\bfalse\b', 'False', text).replace('\\', '\\\\')
    lines, line = [], '%s    %s:' % (indent, name)
    for word in text.split():
        if len(line) + len(word) + 1 > WIDTH:
            lines.append(line)
            line = indent + '       '
        line += ' ' + word
    return '\n'.join(lines + [line]) + '\n'


def printed(document, source):
    """The module with the texts of its keywords as the document has them."""
    for node, mark in methods(source):
        of, given = keys(document, *mark.group(2, 3)), arguments(node)
        apart = OTHERWISE.get('%s %s' % mark.group(2, 3), {})
        block = ''.join(described(mark.group(1), snake(key), text) for key, (_, text) in of.items()
                        if snake(key) in given and apart.get(key, True))
        begin = source.index(mark.group(0))
        source = source[:begin] + mark.group(0).split('\n')[0] + '\n' + block + \
            source[begin + len(mark.group(0)):]
    return source


def modules(tree):
    document = json.loads(tree.text(DOCUMENT)) if DOCUMENT in tree.paths else None
    for path in tree.files('.py', under=PACKAGE):
        source = tree.text(path)
        if document and 'Keywords, of ' in source:
            yield path, document, source


def check_texts(tree):
    for path, document, source in modules(tree):
        if printed(document, source) != source:
            yield '%s: keywords are not described as in %s: tests/tools/keywords.py --write' % (
                path, DOCUMENT)


def check_types(tree):
    for path, document, source in modules(tree):
        for node, mark in methods(source):
            given, route = arguments(node), '%s %s' % mark.group(2, 3)
            for key, (allowed, _) in keys(document, *mark.group(2, 3)).items():
                name, where = snake(key), '%s:%d: ' % (path, node.lineno)
                if key in OTHERWISE.get(route, {}):
                    continue
                if name not in given:
                    yield where + '%s has no keyword %s' % (node.name, name)
                elif annotated(given[name]) != allowed:
                    yield where + '%s: %s is %s, and its row says %s' % (
                        node.name, name, ast.unparse(given[name]), ' or '.join(sorted(allowed)))


CHECKS = {'keywords of Python have the types of the rows': check_types,
          'keywords of Python are described as in the rows': check_texts}


def write():
    for path, document, source in modules(Tree()):
        text = printed(document, source)
        if text != source:
            with open(os.path.join(ROOT, path), 'w', encoding='utf-8') as f:
                f.write(text)
            print('%s: written' % path)


if __name__ == '__main__':
    if '--write' in sys.argv[1:]:
        write()
    sys.exit(report(CHECKS))
