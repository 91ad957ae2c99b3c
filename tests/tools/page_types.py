"""Schemas of OpenAPI as types for the type checker of the page (clients/web/schemas.d.ts): those
that clients/web/page/types.js names, and those within them. tests/tools/printed.py compares and
writes the file; the page's names for them, and types that are its own, are in types.js. What types
in comments of the page say of the server by hand is checked here: members that a schema or a shape
has together, words of a list, and none of either listed a second time."""
import json
import os
import re
import sys
from replies import SIMPLE as NAMED, WHOLE, is_record, referred
from tree import ROOT, report

USES = 'clients/web/page/types.js'
HEAD = '''/* What the server answers and takes, by the names of its interface (openapi.json).
 * Printed from there by tests/tools/printed.py --write. */
'''
DOCUMENT, ROWS, PAGE = 'protocol/openapi.json', 'protocol/wire/', 'clients/web/page/'
# whose types are of what the server takes and answers
OF_SERVER = (USES, PAGE + 'api.js')
SHAPE = re.compile(r'const struct mechp_shape (\w+) = \{(.*?)\};', re.S)
WORD = r'(?:"[\w-]+"|\'[\w-]+\')'
UNION = re.compile(r'%s(?:\s*\|\s*%s)+' % (WORD, WORD))
FEW = 2  # members that a type of the page may have in common with a schema by chance
SIMPLE = dict(zip(NAMED, ('string', 'number', 'number', 'boolean', 'null')))
WIDTH = 100


def used(document):
    """Names of the schemas that types.js names, and of those within them."""
    schemas, found = document['components']['schemas'], set()
    with open(os.path.join(ROOT, USES), encoding='utf-8') as f:
        left = re.findall(r'import\("\.\./schemas\.js"\)\.(\w+)', f.read())
    while left:
        name = left.pop()
        if name not in found and name not in WHOLE:
            found.add(name)
            left += referred(schemas[name])
    return sorted(found)


def union(parts):
    parts = sorted(set(parts), key=parts.index)
    return 'any' if 'any' in parts else ' | '.join(parts)


def kind(schema):
    """The type of a value."""
    if '$ref' in schema:
        name = schema['$ref'].split('/')[-1]
        return 'Record<string, any>' if name in WHOLE else name
    for key in ('anyOf', 'oneOf'):
        if key in schema:
            return union([kind(s) for s in schema[key]])
    if 'enum' in schema:
        return ' | '.join('"%s"' % word for word in schema['enum'])
    if 'const' in schema:
        return '"%s"' % schema['const']
    given = schema.get('type')
    if isinstance(given, list):
        return union([kind({**schema, 'type': t}) for t in given])
    if given == 'array':
        item = union([kind(s) for s in schema.get('prefixItems', [])] or
                     [kind(schema['items']) if schema.get('items') else 'any'])
        return '(%s)[]' % item if ' | ' in item else item + '[]'
    if given == 'object' and not is_record(schema):
        more = schema.get('additionalProperties')
        return 'Record<string, %s>' % (kind(more) if isinstance(more, dict) and more else 'any')
    return SIMPLE.get(given, 'any')


def comment(text, indent):
    """A text as a comment, in lines."""
    lines, line = [], indent + '/**'
    for word in (re.sub(r'\s+', ' ', text).replace('*/', '* /') + ' */').split(' '):
        if len(line) + len(word) + 1 > WIDTH:
            lines.append(line)
            line = indent + ' *'
        line += ' ' + word
    return '\n'.join(lines + [line]) + '\n'


def wrapped(line):
    """A member or a type whose words do not fit its line."""
    if len(line) <= WIDTH:
        return line + '\n'
    head, rest = line.split(': ' if ': ' in line else ' = ', 1)
    mark = line[len(head):len(line) - len(rest)].rstrip()
    return head + mark + ''.join('\n    | ' + part for part in rest.split(' | ')) + '\n'


def record(name, schema):
    needed, text = set(schema.get('required', [])), ''
    for key, member in schema['properties'].items():
        text += comment(member['description'], '  ') if member.get('description') else ''
        text += wrapped('  %s%s: %s;' % (key, '' if key in needed else '?', kind(member)))
    return 'export interface %s {\n%s}\n' % (name, text)


def text(document):
    """The file, for an OpenAPI document."""
    schemas, parts = document['components']['schemas'], []
    for name in used(document):
        schema = schemas[name]
        head = comment(schema['description'], '') if schema.get('description') else ''
        parts.append(head + (record(name, schema) if is_record(schema) else
                             wrapped('export type %s = %s;' % (name, kind(schema)))))
    return HEAD + '\n' + '\n'.join(parts)


def members_of(tree):
    """{name: keys} of all schemas and shapes."""
    schemas = json.loads(tree.text(DOCUMENT))['components']['schemas'] \
        if DOCUMENT in tree.paths else {}
    found = {name: set(schema.get('properties', ())) for name, schema in schemas.items()}
    for path in tree.files('.c', under=ROWS):
        for name, text in SHAPE.findall(tree.code(path)):
            found.setdefault(name, set(re.findall(r'\{\s*"(\w+)",', text)))
    return found


def comments(tree, path):
    """(place of its beginning, text) of the comments with types."""
    return [(m.start(), m.group()) for m in re.finditer(r'/\*\*.*?\*/', tree.text(path), re.S)]


def groups(text):
    """(place, keys) of the objects {a: T, b?: {c: T}} in a type: of each its own keys."""
    for start in re.finditer(r'\{(?=\s*\w+\??:)', text):
        keys, depth, at = [], 0, start.start()
        for mark in re.finditer(r'[{}]|(\w+)\??:|"[^"]*"', text[at:]):
            depth += {'{': 1, '}': -1}.get(mark.group(), 0)
            if depth == 0:
                break
            if depth == 1 and mark.group(1):
                keys.append(mark.group(1))
        yield at, keys


def line_of(tree, path, place):
    return tree.text(path)[:place].count('\n') + 1


def check_keys(tree):
    known = members_of(tree)
    for path in [p for p in OF_SERVER if p in tree.paths]:
        for start, text in comments(tree, path):
            for at, keys in groups(text):
                if not any(set(keys) <= members for members in known.values()):
                    yield '%s:%d: no schema has these members together: %s' % (
                        path, line_of(tree, path, start + at), ', '.join(keys))


def check_once(tree):
    known = members_of(tree)
    for path in tree.files('.js', under=PAGE):
        for start, text in comments(tree, path):
            keys = set(re.findall(r'@property \{.*\} \[?(\w+)', text))
            name = next((n for n, members in known.items()
                         if len(keys) > FEW and keys <= members), None)
            if name:
                yield '%s:%d: has the members of %s by hand: import("../schemas.js").%s' % (
                    path, line_of(tree, path, start), name, name)


def check_words(tree):
    lists = {}
    for path in tree.files('.c', '.h', under=ROWS):
        for key, kind in re.findall(r'\{\s*"(\w+)",\s*((?:"[^"]*"\s*)+),', tree.code(path)):
            words = frozenset(re.findall(r"'([^']*)'", kind))
            if len(words) > 1:
                lists[words] = key
    for path in tree.files('.js', under=PAGE):
        for start, text in comments(tree, path):
            for match in UNION.finditer(text):
                words = frozenset(re.findall(r'[\w-]+', match.group()))
                place = line_of(tree, path, start + match.start())
                if words in lists:
                    yield '%s:%d: lists the words of the key %s' % (path, place, lists[words])
                odd = [(w, lists[known]) for known in lists for w in words - known
                       if len(words & known) > 1]
                if odd and not any(words <= known for known in lists):
                    yield '%s:%d: %s is no word of the key %s' % (path, place, *odd[0])


CHECKS = {
    'what the page says of members of the server is so': check_keys,
    'no type of the page lists the members of a schema': check_once,
    'no type of the page lists words of a row, or has another word': check_words,
}

if __name__ == '__main__':
    sys.exit(report(CHECKS))
