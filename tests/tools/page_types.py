"""Schemas of OpenAPI as types for the type checker of the page (clients/web/schemas.d.ts): those
that clients/web/page/types.js names, and those within them. tests/tools/printed.py compares and
writes the file; the page's names for them, and types that are its own, are in types.js."""
import os
import re
from replies import SIMPLE as NAMED, WHOLE, is_record, referred
from tree import ROOT

USES = 'clients/web/page/types.js'
HEAD = '''/* What the server answers and takes, by the names of its interface (openapi.json).
 * Printed from there by tests/tools/printed.py --write. */
'''
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
