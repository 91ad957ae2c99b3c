"""The daemon keeps what its OpenAPI says: every route's real reply has a documented status and fits
its schema, every refusal is a documented problem, every example of a request is taken."""
import json
import os
import re
import unittest

import models
from harness import ROOT, Daemon, wait_until


def fits(root, schema, value, at='$'):
    """Faults of a value against the part of JSON Schema that the document uses."""
    if '$ref' in schema:
        target = root
        for part in schema['$ref'][2:].split('/'):
            target = target[part]
        return fits(root, target, value, at)
    faults = []
    for key, pick in (('anyOf', any), ('oneOf', lambda found: sum(found) == 1)):
        if key in schema and not pick([not fits(root, s, value, at) for s in schema[key]]):
            faults.append('%s fits none of %s: %.200r' % (at, key, value))
    if 'const' in schema and value != schema['const']:
        faults.append('%s is not %r' % (at, schema['const']))
    if 'enum' in schema and value not in schema['enum']:
        faults.append('%s: %r is not in the list' % (at, value))
    kinds = {'object': dict, 'array': list, 'string': str, 'boolean': bool, 'null': type(None),
             'number': (int, float), 'integer': int}
    kind = schema.get('type')
    if kind and (not isinstance(value, kinds[kind]) or
                 (isinstance(value, bool) and kind in ('number', 'integer'))):
        return faults + ['%s is no %s: %.200r' % (at, kind, value)]
    if isinstance(value, dict):
        known = schema.get('properties', {})
        faults += ['%s misses %s' % (at, k) for k in schema.get('required', []) if k not in value]
        more = schema.get('additionalProperties', True)
        for k, v in value.items():
            if k in known:
                faults += fits(root, known[k], v, at + '/' + k)
            elif more is False:
                faults.append('%s has the unknown %s' % (at, k))
            elif isinstance(more, dict):
                faults += fits(root, more, v, at + '/' + k)
    if isinstance(value, list) and 'items' in schema:
        for k, v in enumerate(value):
            faults += fits(root, schema['items'], v, '%s/%d' % (at, k))
    return faults


class OpenApi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.api = cls.daemon.call('GET', '/openapi.json').json
        cls.visited = set()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def find(self, method, path):
        """(template, operation) of a request."""
        path = path.split('?')[0]
        for template, operations in self.api['paths'].items():
            if re.fullmatch(re.sub(r'\{\w+\}', '[^/]+', template), path):
                return template, operations[method.lower()]
        self.fail('no route %s' % path)

    def call(self, method, path, body=None, status=None, headers=None):
        """The reply, checked against the document."""
        template, operation = self.find(method, path)
        reply = self.daemon.call(method, path, body, headers)
        what = '%s %s: %s' % (method, path, reply)
        self.assertIn(str(reply.status), operation['responses'], what)
        if status is not None:
            self.assertEqual(reply.status, status, what)
        self.visited.add((method, template))
        content = operation['responses'][str(reply.status)].get('content', {})
        kind = reply.headers.get('Content-Type', '').split(';')[0]
        if not content:
            self.assertEqual(reply.raw, b'', what)
            return reply
        self.assertIn(kind, content, what)
        if reply.json is not None:
            self.assertEqual(fits(self.api, content[kind]['schema'], reply.json), [], what)
        return reply

    def test_served_and_committed_documents_agree(self):
        with open(os.path.join(ROOT, 'protocol', 'openapi.json'), encoding='utf-8') as f:
            self.assertEqual(json.load(f), self.api)

    def test_replies_fit_on_every_route(self):
        for path in ('/', '/docs', '/livez', '/readyz', '/metrics', '/openapi.json', '/v1',
                     '/v1/examples', '/v1/types', '/v1/types/Mass1D', '/v1/types/GeneralizedAlpha'):
            self.call('GET', path, status=200)
        example = self.call('GET', '/v1/examples').json['items'][0]['name']
        self.call('GET', '/v1/examples/' + example, status=200)
        self.call('PUT', '/v1/log-level', {'level': 'info'}, 200)
        model = models.oscillator()
        self.call('POST', '/v1/models/check', {'model': model}, 200)
        self.call('POST', '/v1/problems/solve', {'problem': {'N': [[1]], 'r': [-1]}}, 200)
        reply = self.call('POST', '/v1/instances', {'model': model, 'labels': {'a': 'b'}}, 201)
        one = '/v1/instances/' + reply['id']
        self.call('PUT', '/v1/instances/openapi-test', {'example': example}, 201)
        self.call('POST', one + '/clone', None, 201)
        self.call('GET', '/v1/instances', status=200)
        self.call('GET', '/v1/instances?limit=1', status=200)
        self.call('GET', one, status=200)
        for part in ('contacts', 'inputs', 'outputs', 'parameters', 'variables', 'state', 'scene',
                     'model'):
            self.call('GET', '%s/%s' % (one, part), status=200)
        step = self.call('POST', one + '/step', {'count': 3, 'want': ['energy']}, 200)
        self.assertIn('energy', step.json)
        trial = self.call('POST', one + '/step', {'size': 0.01, 'commit': False}, 200)
        self.call('POST', one + '/commit', {'trial': trial['trial']}, 200)
        wants = self.api['components']['schemas']['Want']['enum']
        values = self.call('POST', one + '/evaluate', {'want': wants}, 200)
        self.assertEqual(set(values.json), set(wants) | {'time'})
        inputs = self.call('GET', one + '/inputs').json['inputs']
        self.call('PUT', one + '/inputs', {'inputs': inputs}, 200)
        self.call('PUT', one + '/parameters', {'parameters': {}}, 200)
        self.call('PUT', one + '/state', {'v': self.call('GET', one + '/state')['v']}, 200)
        body = model['objects'][0]['name']
        self.call('GET', '%s/objects/%s/outputs/Position?configuration=reference' % (one, body),
                  status=200)
        self.call('PUT', '%s/objects/%s/fields/physicsMass' % (one, body), {'value': 1.5}, 200)
        for part in ('', '/blocks', '/Z', '/d', '/H?format=mtx', '/H?format=coo1',
                     '?format=archive'):
            self.call('GET', one + '/system' + part, status=200)
        for what, body in (('product', {'x': [1]}), ('schur-product', {'l': []}),
                           ('project', {'l': []}), ('feasibility', {'w': [0], 'l': []})):
            self.call('POST', '%s/system/%s' % (one, what), body, 200)
        self.call('GET', one + '/linearization', status=200)
        self.call('GET', one + '/modes', status=200)
        self.call('GET', one + '/modes?count=2&complex=true', status=200)
        self.call('POST', one + '/jvp', {'size': 0.01, 'v': [1]}, 200)
        self.call('POST', one + '/statics', {'commit': False}, 200)
        taken = self.call('POST', one + '/snapshots', {}, 201)
        where = '%s/snapshots/%s' % (one, taken['id'])
        self.call('GET', where, status=200)
        self.call('POST', where + '/restore', {}, 200)
        self.call('DELETE', where, status=204)
        run = self.call('POST', one + '/runs', {'pace': 1, 'period': 0.02}, 202)
        self.call('GET', '%s/runs/%s' % (one, run['id']), status=200)
        self.call('GET', one, status=200)
        self.call('DELETE', '%s/runs/%s' % (one, run['id']), status=200)
        body = {'until': self.call('GET', one).json['time'] + 0.1, 'record': {}}
        run = self.call('POST', one + '/runs', body, 202)
        self.call('GET', '%s/runs/%s/results' % (one, run['id']), status=200)
        wait_until(lambda: not self.call('GET', one)['running'], 'the run is over')
        self.call('POST', one + '/reset', {}, 200)
        self.call('DELETE', one, status=204)
        # the stream of events does not end: its own test reads it
        everything = {(m.upper(), p) for p, o in self.api['paths'].items() for m in o}
        self.assertEqual(everything - self.visited, {('GET', '/v1/instances/{id}/events')})

    def test_refusals_are_documented_problems(self):
        i = self.daemon.create(models.oscillator())
        one = '/v1/instances/' + i
        for method, path, body, status in (
                ('POST', '/v1/instances', b'{"model": ', 400),
                ('POST', '/v1/instances', {'model': {'mechd': 1, 'extra': 1}}, 422),
                ('POST', '/v1/models/check', {'model': {}}, 422),
                ('PUT', one, {'model': models.oscillator()}, 409),
                ('GET', '/v1/instances/nobody', None, 404),
                ('GET', '/v1/examples/nobody', None, 404),
                ('GET', '/v1/types/Nothing', None, 404),
                ('GET', one + '/snapshots/s-99', None, 404),
                ('POST', one + '/snapshots/s-99/restore', {}, 404),
                ('GET', one + '/runs/r-99', None, 404),
                ('GET', one + '/objects/nobody/outputs/Position', None, 404),
                ('POST', one + '/clone', {'as': i}, 409),
                ('POST', one + '/clone', {'as': 'a b'}, 422),
                ('POST', one + '/step', {'size': -1}, 422),
                ('POST', one + '/step', {'sise': 1}, 422),
                ('POST', one + '/step', {'size': 1, 'expectTime': 5}, 409),
                ('POST', one + '/step', b'[' * 100, 400),
                ('POST', one + '/commit', {'trial': 7}, 409),
                ('POST', one + '/evaluate', {'want': ['nothing']}, 422),
                ('POST', one + '/statics', {'loadSteps': 0}, 422),
                ('POST', one + '/jvp', {'size': 0}, 422),
                ('GET', one + '/modes?count=0', None, 422),
                ('GET', one + '/system/Q', None, 404),
                ('GET', one + '/system/H?format=xml', None, 406),
                ('GET', one + '/system/H?level=force', None, 422),
                ('POST', one + '/system/product', {'x': [1, 2]}, 422),
                ('PUT', one + '/objects/nobody/fields/K', {'value': 1}, 404),
                ('PUT', one + '/inputs', {'inputs': {'nobody': 1}}, 422),
                ('PUT', one + '/parameters', {'parameters': {'nobody': 1}}, 422),
                ('PUT', one + '/state', {'q': [1, 2, 3]}, 422),
                ('POST', one + '/runs', {'pace': -1}, 422)):
            with self.subTest('%s %s %.60s' % (method, path, body)):
                reply = self.call(method, path, body, status)
                self.assertEqual(reply['status'], status)
                if status == 422:
                    self.assertTrue(reply['errors'], reply)

    def test_examples_of_requests_are_taken(self):
        taken = 0
        for template, operations in self.api['paths'].items():
            for method, operation in operations.items():
                content = operation.get('requestBody', {}).get('content', {})
                media = content.get('application/json', {})
                if 'example' not in media:
                    continue
                with self.subTest('%s %s' % (method, template)):
                    self.assertEqual(fits(self.api, media['schema'], media['example']), [])
                    taken += 1
        self.assertGreaterEqual(taken, 8)
        create = self.api['paths']['/v1/instances']['post']['requestBody']['content']
        example = create['application/json']['example']
        i = self.call('POST', '/v1/instances', example, 201)['id']
        self.call('POST', '/v1/instances/%s/step' % i, {'count': 10}, 200)

    def test_the_check_sees_a_wrong_value(self):
        schema = {'$ref': '#/components/schemas/StepReply'}
        good = {'time': 1, 'step': 1, 'outputs': {'x': [1, 2]},
                'report': {'steps': 1, 'stepSize': .1, 'iterations': 0, 'viIterations': 0,
                           'substeps': 0, 'refusedSubsteps': 0, 'impacts': 0, 'residual': 0,
                           'contacts': 0,
                           'linear': '', 'vi': '', 'differenced': False}}
        self.assertEqual(fits(self.api, schema, good), [])
        for change in ({'time': '1'}, {'step': 1.5}, {'outputs': {'x': ['a']}}, {'report': {}},
                       {'step': True}):
            self.assertNotEqual(fits(self.api, schema, {**good, **change}), [], change)


if __name__ == '__main__':
    unittest.main()
