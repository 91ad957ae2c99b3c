"""protocol/openapi.json passes @redocly/cli lint under redocly.yaml without a single remark, and
the linter sees the faults it is there for: a copy has all of them, and each rule must speak of its
own. Needs node and npm; what package-lock.json names is installed once."""
import copy
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DOCUMENT = os.path.join(ROOT, 'protocol', 'openapi.json')
ENVIRONMENT = {**os.environ, 'REDOCLY_TELEMETRY': 'off', 'REDOCLY_SUPPRESS_UPDATE_NOTICE': 'true'}


def install():
    if not os.path.isdir(os.path.join(HERE, 'node_modules', '@redocly', 'cli')):
        subprocess.run(['npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error'], cwd=HERE,
                       check=True, stdin=subprocess.DEVNULL)


def lint(path):
    """(exit code, [(rule, where, what)])"""
    done = subprocess.run(
        ['npx', '--no-install', 'redocly', 'lint', '--config', 'redocly.yaml', '--format=json',
         '--max-problems=1000', path],
        cwd=HERE, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, timeout=300)
    text = done.stdout.decode()
    try:
        found = json.loads(text[text.index('{'):text.rindex('}') + 1])
    except ValueError as e:
        raise SystemExit('redocly lint: %s %s' % (text[-2000:], done.stderr[-2000:])) from e
    return done.returncode, [(p['ruleId'], p['location'][0].get('pointer', '') if p['location']
                              else '', p['message']) for p in found['problems']]


def media(operation, status):
    content = operation['responses'][status]['content']
    return content[next(iter(content))]


def parameter(operation):
    return operation['parameters'][0]


def body(operation):
    return operation['requestBody']['content']['application/json']


# the rule that must see it, where it is planted, what is done there
STEP, STATE, INPUTS = '/v1/instances/{id}/step', '/v1/instances/{id}/state', \
    '/v1/instances/{id}/inputs'
FAULTS = [
    ('operation-operationId-unique', STEP, 'post', lambda o: o.update(operationId='commit')),
    ('operation-operationId', '/v1/types', 'get', lambda o: o.pop('operationId')),
    ('operation-description', STEP, 'post', lambda o: o.pop('description')),
    ('operation-summary', STEP, 'post', lambda o: o.pop('summary')),
    ('operation-tag-defined', STEP, 'post', lambda o: o.update(tags=['nothing'])),
    ('path-parameters-defined', INPUTS, 'get', lambda o: o['parameters'].pop(0)),
    ('parameter-description', STEP, 'post', lambda o: parameter(o).pop('description')),
    ('no-invalid-parameter-examples', STEP, 'post',
     lambda o: parameter(o).update(example='no name')),
    ('no-invalid-media-type-examples', STEP, 'post',
     lambda o: body(o).update(example={'count': 'many'})),
    ('no-invalid-media-type-examples', STATE, 'get',
     lambda o: media(o, '200').update(example={'time': 0})),
    ('no-unresolved-refs', INPUTS, 'put',
     lambda o: media(o, '200').update(schema={'$ref': '#/components/schemas/Nothing'})),
    ('operation-4xx-response', '/v1/types', 'get',
     lambda o: o.update(responses={'200': o['responses']['200']})),
    ('response-contains-header', STATE, 'get', lambda o: o['responses']['200'].pop('headers')),
    ('security-defined', '/v1', 'get', lambda o: o.update(security=[{'key': []}])),
    ('struct', '/v1', 'get', lambda o: o.update(parameter=[])),
]


def plant(api):
    """A copy with every fault, in a file of its own: the problems that the linter has with it."""
    changed = copy.deepcopy(api)
    for _, path, method, fault in FAULTS:
        fault(changed['paths'][path][method])
    changed['tags'][0].pop('description')
    changed['components']['schemas']['Lost'] = {'type': 'object'}
    with tempfile.TemporaryDirectory(prefix='mechd-openapi-') as folder:
        path = os.path.join(folder, 'openapi.json')
        with open(path, 'w', encoding='utf-8') as f:
            json.dump(changed, f)
        return lint(path)[1]


def idioms(node, where='#'):
    """Places that JSON Schema allows and generators of clients stop at or take for anything:
    [(what, where)]. An array says what its items are, also behind prefixItems (openapi-generator
    stops without); a constant or an enumeration says its type; a type is one word (null is an
    alternative), as versions before 3.1 and their tools know it."""
    found = []
    if isinstance(node, list):
        for k, part in enumerate(node):
            found += idioms(part, '%s/%d' % (where, k))
    if not isinstance(node, dict):
        return found
    if not where.endswith('/properties'):
        kind = node.get('type')
        if isinstance(kind, list):
            found.append(('a list of types', where))
        if (kind == 'array' or 'prefixItems' in node) and not isinstance(node.get('items'), dict):
            found.append(('an array without items', where))
        if ('const' in node or 'enum' in node) and not isinstance(kind, str):
            found.append(('a constant without type', where))
        for key in ('if', 'not', 'patternProperties', 'unevaluatedProperties', '$dynamicRef'):
            if key in node:
                found.append((key, where))
    for key, part in node.items():
        if where.endswith('/properties') or key not in ('example', 'examples', 'default', 'enum',
                                                        'const'):
            found += idioms(part, '%s/%s' % (where, key.replace('/', '~1')))
    return found


def chosen(schema):
    """Whether a generator makes a type of its own of it, with a name from where it is."""
    return 'enum' in schema or 'enum' in schema.get('items', {})


def twice(api):
    """Names that generators give to two things: the enumeration in a member of a schema is named by
    the schema and the member, that in a parameter by the operation and the parameter."""
    def joined(*words):
        return ''.join(w[:1].upper() + w[1:] for word in words
                       for w in re.split('[^A-Za-z0-9]', word))
    found, seen = [], {}
    for name, schema in api['components']['schemas'].items():
        for member, part in schema.get('properties', {}).items():
            if chosen(part):
                seen[joined(name, member)] = '#/components/schemas/%s' % name
        seen[joined(name)] = '#/components/schemas/%s' % name
    for operations in api['paths'].values():
        for operation in operations.values():
            for part in operation.get('parameters', []) if isinstance(operation, dict) else []:
                name = joined(operation['operationId'], part.get('name', ''))
                if chosen(part.get('schema', {})) and name in seen:
                    found.append(('%s, also a name of a parameter of %s' % (
                        name, operation['operationId']), seen[name]))
    return found


TWICE = {'components': {'schemas': {'Part': {'properties': {'kind': {'enum': ['x']}}}}},
         'paths': {'/part': {'get': {'operationId': 'part', 'parameters': [
             {'name': 'kind', 'schema': {'enum': ['x']}}]}}}}
BAD = {'properties': {'a': {'type': 'array', 'prefixItems': [{'type': 'integer'}]},
                      'b': {'const': 'x'}, 'c': {'type': ['number', 'null']},
                      'items': {'type': 'array'}, 'd': {'enum': ['x']}, 'e': {'not': {}}}}


def main():
    install()
    with open(DOCUMENT, encoding='utf-8') as f:
        api = json.load(f)
    stopping = idioms(api) + twice(api)
    for what, where in stopping[:20]:
        print('FAILED %s at %s' % (what, where))
    seen, planted = len(idioms(BAD) + twice(TWICE)), len(BAD['properties']) + 1
    if seen != planted:
        print('FAILED of %d planted idioms %d are seen' % (planted, seen))
    code, problems = lint(DOCUMENT)
    for problem in problems[:40]:
        print('FAILED %s at %s: %s' % problem)
    good = code == 0 and not problems
    if not good and not problems:
        print('FAILED redocly lint ended with %d' % code)
    checks = (good, not stopping, seen == planted)
    passed, failed = sum(checks), len(checks) - sum(checks)
    problems = plant(api)
    wanted = [(rule, '#/paths/%s/%s' % (path.replace('/', '~1'), method))
              for rule, path, method, _ in FAULTS]
    wanted += [('tag-description', '#/tags/0'),
               ('no-unused-components', '#/components/schemas/Lost')]
    for rule, where in wanted:
        seen = any(p[0] == rule and p[1].startswith(where) for p in problems)
        if not seen:
            print('FAILED %s does not see its fault at %s' % (rule, where))
        passed, failed = passed + seen, failed + (not seen)
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
