"""The OpenAPI document as a test plan: its operations, requests made of its own examples, and
whether an answer is what it promises. Used by test_openapi_walk.py.

    api = Api(daemon.call('GET', '/openapi.json').json)
    step = api.operations['step']
    client.call(step.method, step.path(id='rig'), step.example)
    api.faults(step, reply)         # [] if status, media type, schema and headers are documented
"""
import http.client
import json
import re
import urllib.parse
import jsonschema
from harness import SERIES, SLOW, Reply

FORM = 'application/json'
# members whose values differ from build to build, machine to machine, run to run
VOLATILE = {'revision', 'memory', 'version', 'libraries', 'compiler', 'limits', 'enabled',
            'endpoints', 'instances', 'detail', 'bytes', 'elapsed', 'remaining', 'expires', 'left',
            'lease', 'done', 'state', 'used', 'busy', 'trial', 'unpacked'}
# ids that the server gives, also within topics, some of them with the series of a process
GIVEN = re.compile(r'\b(?:[cfiorsw]-|[cfow]-%s-)\d+\b' % SERIES)


def alike(one, other, key=''):
    """The same answer but for volatile members and the last digits of numbers."""
    if key in VOLATILE:
        return isinstance(one, type(other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[k], other[k], k) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    numbers = [isinstance(x, (int, float)) and not isinstance(x, bool) for x in (one, other)]
    if all(numbers):
        # sums and products of doubles in another order: a few units of the last place
        return abs(one - other) <= 1e-9 * max(1, abs(one), abs(other))
    if isinstance(one, str) and isinstance(other, str):
        return GIVEN.sub('an id', one) == GIVEN.sub('an id', other)
    return type(one) is type(other) and one == other


def name_of(operation):
    """Symbol of routes.def: getState is GET_STATE."""
    return ''.join('_' + c if c.isupper() else c.upper() for c in operation.id)


class Operation:
    """One operation of the document."""

    def __init__(self, api, method, template, entry):
        self.api, self.method, self.template, self.entry = api, method.upper(), template, entry
        self.id = entry['operationId']
        self.responses = {s: api.resolve(r) for s, r in entry['responses'].items()}
        self.parameters = [api.resolve(p) for p in entry['parameters']]
        self.names = re.findall(r'\{(\w+)\}', template)
        self.statuses = {int(s) for s in self.responses if s != 'default'}
        self.success = int(next(iter(self.responses)))  # it stands first

    def __repr__(self):
        return '%s %s' % (self.method, self.template)

    def path(self, **values):
        """Its path with these values, the examples for the others."""
        path = self.template
        for p in self.parameters:
            if p['in'] == 'path':
                value = str(values.get(p['name'], p['example']))
                path = path.replace('{%s}' % p['name'], urllib.parse.quote(value, safe=''))
        return path

    def matches(self, path):
        return re.fullmatch(re.sub(r'\{\w+\}', '[^/]+', self.template), path) is not None

    def query(self):
        """[name=example] of each parameter of the query."""
        return ['%s=%s' % (p['name'], urllib.parse.quote(
            p['example'] if isinstance(p['example'], str) else json.dumps(p['example'])))
            for p in self.parameters if p['in'] == 'query']

    @property
    def takes_body(self):
        return 'requestBody' in self.entry

    @property
    def example(self):
        """Of the body; {} where none is written, None where there is no body."""
        if not self.takes_body:
            return None
        return self.entry['requestBody']['content'][FORM].get('example', {})

    @property
    def is_on_instance(self):
        return any(p['name'] == 'If-Match' for p in self.parameters)

    @property
    def scope(self):
        security = self.entry['security']
        return security[0]['bearer'][0] if security else None

    def codes(self, status):
        """Codes of a refusal's status."""
        response = self.responses.get(str(status))
        if response is None:
            return []
        schema = response['content']['application/problem+json']['schema']
        return schema['allOf'][1]['properties']['code']['enum']

    def forms(self):
        """Media types of its success."""
        return list(self.responses[str(self.success)].get('content', {}))


class Api:
    def __init__(self, document):
        self.document, self.validators = document, {}
        resolver = jsonschema.RefResolver('', document)
        self.validator = lambda schema: jsonschema.Draft202012Validator(schema, resolver=resolver)
        self.operations = {}
        for template, entries in document['paths'].items():
            for method, entry in entries.items():
                operation = Operation(self, method, template, entry)
                self.operations[operation.id] = operation

    def resolve(self, thing):
        """The thing itself, where it is a reference."""
        while '$ref' in thing:
            target = self.document
            for part in thing['$ref'][2:].split('/'):
                target = target[part]
            thing = target
        return thing

    def misfits(self, schema, value):
        """What is wrong with a value, with its place."""
        key = json.dumps(schema, sort_keys=True)
        if key not in self.validators:
            self.validators[key] = self.validator(schema)
        errors = self.validators[key].iter_errors(value)
        return ['%s: %.300s' % (e.json_path, (jsonschema.exceptions.best_match([e]) or e).message)
                for e in errors]

    def faults(self, operation, reply, head=False):
        """What of an answer is not in the document."""
        response = operation.responses.get(str(reply.status))
        if response is None:
            return ['the status %d is not documented' % reply.status]
        found = []
        for name, header in response.get('headers', {}).items():
            value = reply.headers.get(name)
            # work that goes on has changed nothing yet
            if value is None and name == 'ETag' and 'Preference-Applied' in reply.headers:
                continue
            if value is None:
                found.append('the header %s is missing' % name)
            elif self.resolve(header)['schema']['type'] == 'integer' and not value.isdigit():
                found.append('%s: %s is no integer' % (name, value))
        for name in ('ETag', 'Location', 'Retry-After', 'WWW-Authenticate'):
            if name in reply.headers and name not in response.get('headers', {}):
                found.append('the header %s is not documented' % name)
        kind = reply.headers.get('Content-Type', '').split(';')[0]
        content = response.get('content', {})
        if kind not in content and (content or kind and reply.raw):
            return found + ['%s is not documented (%s)' % (kind or 'no body', list(content))]
        if not content and reply.raw:
            found.append('a body where none is documented')
        if content and not head and 'schema' in content[kind]:
            text = reply.json is None and 'text' in kind or 'ndjson' in kind
            found += self.misfits(content[kind]['schema'],
                                  reply.raw.decode() if text else reply.json)
        return found


class Client:
    """One kept connection, which also bears streams of events: of those, the first line is read."""

    def __init__(self, base):
        address = urllib.parse.urlsplit(base)
        self.http = http.client.HTTPConnection(address.hostname, address.port, timeout=60 * SLOW)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.close()

    def call(self, method, path, body=None, headers=None, double_host=False):
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        headers = dict(headers or {})
        if data is not None:
            headers.setdefault('Content-Type', FORM)
            headers.setdefault('Content-Length', str(len(data)))
        elif method not in ('GET', 'HEAD', 'DELETE'):
            headers.setdefault('Content-Length', '0')
        self.http.putrequest(method, path)
        if double_host:
            self.http.putheader('Host', 'twice')
        for name, value in headers.items():
            self.http.putheader(name, value)
        self.http.endheaders(data)
        answer = self.http.getresponse()
        if answer.headers.get('Content-Type') == 'text/event-stream':
            reply = Reply(answer.status, answer.headers, answer.readline())
            self.http.close()
            return reply
        reply = Reply(answer.status, answer.headers, answer.read())
        if answer.will_close:
            self.http.close()
        return reply
