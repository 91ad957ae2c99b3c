"""A program that was written for an older daemon still works: routes, arguments, members of bodies
and replies, and models of tests/golden/wire.json (protocol/openapi.json of 2026-11-23, without its
texts) are in protocol/openapi.json, as protocol/README.md promises under "Compatibility". Nothing
is gone; a request may leave out what it could leave out, and may have the types and words that it
could have; a reply has the members that it always had, of no further type.

    wire.py                 compares the two
    wire.py --print FILE    the same outline of another OpenAPI document"""
import json
import re
import sys
from tree import ROOT, report

GOLDEN, PRESENT = 'tests/golden/wire.json', 'protocol/openapi.json'

# what has grown on purpose: where, and why
GROWN = {
    r'.* default < /code: .*': 'codes of errors are only added',
    r'.* default < /report/\w+: is not always there': 'work that is refused before it begins, or '
                                                      'of another kind, has a shorter report',
    r'GET /v1/examples/\{name\} 200 < /objects\[\]\|\w+/active: may be string': 'a parameter, in '
                                                                            'a model with one',
    r'GET /v1/instances 200 < /items\[\]/durability: may be string': 'a word where it has no '
                                                                     'settings',
    r'POST /v1/instances/\{id\}/step 200 < /energy: may be null': 'a law by expression has none'}


# --- outlines -------------------------------------------------------------------------------------

def outline_of_schema(s):
    """What of a schema matters here."""
    out = {key: s[key] for key in ('type', 'enum') if key in s}
    if '$ref' in s:
        return {'$ref': s['$ref'].split('/')[-1]}
    if s.get('required'):
        out['required'] = sorted(s['required'])
    if 'properties' in s:
        out['properties'] = {name: outline_of_schema(p) for name, p in s['properties'].items()}
    for key in ('items', 'additionalProperties'):
        if isinstance(s.get(key), dict):
            out[key] = outline_of_schema(s[key])
    for key in ('oneOf', 'anyOf'):
        if key in s:
            out['oneOf'] = [outline_of_schema(part) for part in s[key]]
    return out


def outline(document):
    """{'operations': …, 'schemas': …} of an OpenAPI document."""
    def resolved(part):
        while '$ref' in part:
            kind, name = part['$ref'].split('/')[-2:]
            part = document['components'][kind][name]
        return part

    def contents(part):
        return {kind: outline_of_schema(c.get('schema', {}))
                for kind, c in resolved(part).get('content', {}).items()}

    operations = {}
    for path, methods in document['paths'].items():
        for method, o in methods.items():
            arguments = [resolved(a) for a in o.get('parameters', [])]
            operations['%s %s' % (method.upper(), path)] = {
                'arguments': {'%s %s' % (a['in'], a['name']): bool(a.get('required'))
                              for a in arguments},
                'body': contents(o.get('requestBody', {})),
                'replies': {status: contents(r) for status, r in o['responses'].items()}}
    return {'operations': operations,
            'schemas': {name: outline_of_schema(s) for name, s in
                        document.get('components', {}).get('schemas', {}).items()}}


def text_of(found):
    """A line an operation and a schema."""
    parts = ['"%s": {\n%s\n}' % (name, ',\n'.join(
        '%s: %s' % (json.dumps(key), json.dumps(found[name][key], sort_keys=True,
                                                separators=(',', ':')))
        for key in sorted(found[name]))) for name in ('operations', 'schemas')]
    return '{\n%s\n}\n' % ',\n'.join(parts)


# --- comparison -----------------------------------------------------------------------------------

class Comparison:
    """Of two outlines: faults are (where, what)."""

    def __init__(self, old, new):
        self.old, self.new, self.faults, self.seen = old, new, [], set()

    def add(self, where, what):
        self.faults.append('%s: %s' % (where, what))

    def run(self):
        for name, o in self.old['operations'].items():
            n = self.new['operations'].get(name)
            if n is None:
                self.add(name, 'is gone')
                continue
            self.arguments(name, o['arguments'], n['arguments'])
            for kind, schema in o['body'].items():
                self.part(name + ' >', n['body'].get(kind), schema, True)
            for status, kinds in o['replies'].items():
                for kind, schema in kinds.items():
                    self.part('%s %s <' % (name, status),
                              n['replies'].get(status, {}).get(kind), schema, False)
        return self.faults

    def arguments(self, name, old, new):
        for argument in sorted(set(old) - set(new)):
            self.add('%s: %s' % (name, argument), 'is gone')
        for argument in sorted(a for a in new if new[a] and not old.get(a)):
            self.add('%s: %s' % (name, argument), 'is required')

    def part(self, where, new, old, asked):
        if new is None:
            self.add(where, 'is gone')
        else:
            self.schemas(where + ' ', old, new, asked)

    @staticmethod
    def resolved(document, s):
        while '$ref' in s:
            s = document['schemas'][s['$ref']]
        return s

    def types(self, document, s):
        s = self.resolved(document, s)
        found = set(s['type'] if isinstance(s.get('type'), list) else [s['type']]
                    if 'type' in s else [])
        for part in s.get('oneOf', []):
            found |= self.types(document, part)
        return found | ({'integer'} if 'number' in found else set())

    def schemas(self, where, old, new, asked):
        pair = (old.get('$ref'), new.get('$ref'), asked)
        if all(pair[:2]) and pair in self.seen:
            return
        self.seen.add(pair)
        old, new = self.resolved(self.old, old), self.resolved(self.new, new)
        self.compare_types(where, old, new, asked)
        self.compare_members(where, old, new, asked)
        for key, sign in (('items', '[]'), ('additionalProperties', '{}')):
            if key in old and key in new:
                self.schemas(where + sign, old[key], new[key], asked)
        parts = {part['$ref']: part for part in new.get('oneOf', []) if '$ref' in part}
        for part in old.get('oneOf', []):
            if part.get('$ref') in parts:
                self.schemas('%s|%s' % (where, part['$ref']), part, parts[part['$ref']], asked)
            elif '$ref' in part and asked and parts:
                self.add('%s|%s' % (where, part['$ref']), 'is gone')

    def compare_types(self, where, old, new, asked):
        was, now = self.types(self.old, old), self.types(self.new, new)
        if was and now:
            for kind in sorted(was - now if asked else now - was):
                self.add(where, '%s %s' % ('may no longer be' if asked else 'may be', kind))
        was, now = set(old.get('enum', [])), set(new.get('enum', []))
        if was and now:
            for word in sorted(map(str, was - now if asked else now - was)):
                self.add(where, '%s "%s"' % ('may no longer be' if asked else 'may be', word))

    def compare_members(self, where, old, new, asked):
        was, now = old.get('properties', {}), new.get('properties', {})
        for name in was if now else ():
            if name not in now:
                self.add('%s/%s' % (where, name), 'is gone')
            else:
                self.schemas('%s/%s' % (where, name), was[name], now[name], asked)
        before, after = set(old.get('required', [])), set(new.get('required', []))
        for name in sorted(after - before if asked else before - after):
            self.add('%s/%s' % (where, name), 'is required' if asked else 'is not always there')


def grown(fault):
    return any(re.fullmatch(place, fault) for place in GROWN)


def check_older(tree):
    old = json.loads(tree.text(GOLDEN)) if GOLDEN in tree.paths else {'operations': {}}
    faults = Comparison(old, outline(json.loads(tree.text(PRESENT)))).run()
    yield from (fault for fault in faults if not grown(fault))
    if tree.root == ROOT:
        yield from ('nothing matches %s: it has grown back' % place for place in GROWN
                    if not any(re.fullmatch(place, fault) for fault in faults))


CHECKS = {'what older clients use is in protocol/openapi.json': check_older}

if __name__ == '__main__':
    if sys.argv[1:2] == ['--print']:
        with open(sys.argv[2], encoding='utf-8') as document_file:
            print(text_of(outline(json.load(document_file))), end='')
        sys.exit(0)
    sys.exit(report(CHECKS))
