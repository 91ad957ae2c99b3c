"""The answers of the server as types for Python (clients/python/mechd/replies.py): a TypedDict for
each schema of OpenAPI that an answer with JSON has, and for those within it; and the words that
requests list. tests/tools/printed.py compares and writes the file."""
import re
from tree import objects

HEAD = '''"""What the server answers, by the names of its interface (openapi.json), as dictionaries.
Printed from there by tests/tools/printed.py --write; numbers in lists are arrays where a method of
the package says so."""
from typing import Any, Dict, List, Literal, Optional, TypedDict, Union
'''
SIMPLE = {'string': 'str', 'integer': 'int', 'number': 'float', 'boolean': 'bool', 'null': 'None'}
WIDTH = 100
LONGEST = 60  # characters of a list of words; a longer one is any text
WHOLE = ('Model',)  # a document of its own, with a schema of its own


def referred(schema):
    """Names of the schemas in a schema."""
    return [part['$ref'].split('/')[-1] for part in objects(schema) if '$ref' in part]


def answered(document):
    """Names of the schemas of all answers that succeed, and of those within them."""
    schemas, found = document['components']['schemas'], set()
    left = [name for path in document['paths'].values() for operation in path.values()
            for code, reply in operation.get('responses', {}).items() if code.startswith('2')
            for content in reply.get('content', {}).values()
            for name in referred(content.get('schema', {}))]
    while left:
        name = left.pop()
        if name not in found and name not in WHOLE:
            found.add(name)
            left += referred(schemas[name])
    return found


def asked(document):
    """Names of the schemas of words that requests refer to."""
    schemas, found, left = document['components']['schemas'], set(), []
    for path in document['paths'].values():
        for operation in path.values():
            left += referred(operation.get('requestBody', {}))
    while left:
        name = left.pop()
        if name not in found and name not in WHOLE:
            found.add(name)
            left += referred(schemas[name])
    return {name for name in found if 'enum' in schemas[name]}


def words(name, schema):
    """A type of these words, in lines."""
    lines, line = [], '%s = Literal[' % name
    for word in map(repr, schema['enum']):
        if len(line) + len(word) + 1 > WIDTH - 1:
            lines.append(line.rstrip())
            line = '    '
        line += word + ', '
    return '\n'.join(lines + [line.rstrip(', ') + ']'])


def union(parts):
    parts = sorted(set(parts), key=parts.index)
    if 'Any' in parts:
        return 'Any'
    if 'None' in parts and len(parts) == 2:
        return 'Optional[%s]' % next(p for p in parts if p != 'None')
    return parts[0] if len(parts) == 1 else 'Union[%s]' % ', '.join(parts)


def is_record(schema):
    return schema.get('type') == 'object' and bool(schema.get('properties'))


def kind(schema, schemas):
    """The type of a value; what has no name is spelled out, a schema that is no record too."""
    if '$ref' in schema:
        name = schema['$ref'].split('/')[-1]
        if name in WHOLE:
            return 'Dict[str, Any]'
        return name if is_record(schemas[name]) else kind(schemas[name], schemas)
    for key in ('anyOf', 'oneOf'):
        if key in schema:
            return union([kind(s, schemas) for s in schema[key]])
    if 'enum' in schema:
        spelled = 'Literal[%s]' % ', '.join(map(repr, schema['enum']))
        return spelled if len(spelled) < LONGEST else SIMPLE[schema['type']]
    if 'const' in schema:
        return 'Literal[%r]' % schema['const']
    given = schema.get('type')
    if isinstance(given, list):
        return union([kind({**schema, 'type': t}, schemas) for t in given])
    if given == 'array':
        parts = [kind(s, schemas) for s in schema.get('prefixItems', [])] or \
            [kind(schema['items'], schemas) if schema.get('items') else 'Any']
        return 'List[%s]' % union(parts)
    if given == 'object':
        more = schema.get('additionalProperties')
        return 'Dict[str, %s]' % (kind(more, schemas) if isinstance(more, dict) and more else 'Any')
    return SIMPLE.get(given, 'Any')


def wrapped(text):
    """A text in lines of a docstring, and its end."""
    lines, line = [], '    """'
    for word in (text + '"""').split():
        if len(line) + len(word) + 1 > WIDTH - 1:
            lines.append(line.rstrip())
            line = '    '
        line += word + ' '
    return '\n'.join(lines + [line.rstrip()])


def members(name, properties, total, schemas):
    """One of the two parts of a record, in the form that takes any key."""
    lines = ["%s = TypedDict('%s', {" % (name, name)]
    for key, schema in properties.items():
        lines.append('    %r: %r,' % (key, kind(schema, schemas)))
    return '\n'.join(lines + ['}%s)' % ('' if total else ', total=False')])


def record(name, schema, schemas):
    """A class of the members that are always there and those that may be."""
    needed = set(schema.get('required', []))
    parts, bases = [], []
    for suffix, total in (('Always', True), ('Sometimes', False)):
        of = {k: s for k, s in schema['properties'].items() if (k in needed) == total}
        if of:
            bases.append('_%s%s' % (name, suffix))
            parts.append(members(bases[-1], of, total, schemas))
    doc = re.sub(r'\s+', ' ', schema.get('description', name)).replace('\\', '\\\\')
    return '\n\n'.join(parts) + '\n\n\nclass %s(%s):\n%s\n' % (name, ', '.join(bases), wrapped(doc))


def text(document):
    """The module, for an OpenAPI document."""
    schemas = document['components']['schemas']
    names = sorted(n for n in answered(document) if is_record(schemas[n]))
    lists = ''.join('%s\n' % words(name, schemas[name]) for name in sorted(asked(document)))
    return HEAD + '\n' + lists + '\n\n' + '\n\n'.join(record(n, schemas[n], schemas) for n in names)
