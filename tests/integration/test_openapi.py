"""The OpenAPI that is served is the one that is committed, and refusals of values are the problems
that it documents. test_openapi_walk.py calls every route."""
import json
import os
import unittest

import models
from harness import ROOT, Daemon
from walk import Api


class OpenApi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.document = cls.daemon.call('GET', '/openapi.json').json
        cls.api = Api(cls.document)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def call(self, method, path, body=None, status=None):
        """The reply, checked against the document."""
        operation = next(o for o in self.api.operations.values()
                         if o.method == method and o.matches(path.split('?')[0]))
        reply = self.daemon.call(method, path, body)
        self.assertEqual(self.api.faults(operation, reply), [], '%s %s: %s' % (method, path, reply))
        if status is not None:
            self.assertEqual(reply.status, status, reply)
        return reply

    def test_served_and_committed_documents_agree(self):
        with open(os.path.join(ROOT, 'protocol', 'openapi.json'), encoding='utf-8') as f:
            self.assertEqual(json.load(f), self.document)

    def test_every_quantity_of_evaluate_is_returned_as_documented(self):
        one = '/v1/instances/' + self.daemon.create(models.oscillator())
        wants = self.document['components']['schemas']['Want']['enum']
        for sparse in (False, True):
            reply = self.call('POST', one + '/evaluate', {'want': wants, 'sparse': sparse}, 200)
            self.assertEqual(set(reply.json), set(wants) | {'time'})

    def test_refusals_are_documented_problems(self):
        i = self.daemon.create(models.oscillator())
        one = '/v1/instances/' + i
        for method, path, body, status in (
                ('POST', '/v1/instances', b'{"model": ', 400),
                ('POST', '/v1/batch', b'{', 400),
                ('GET', '/v1/operations/o-99', None, 404),
                ('DELETE', '/v1/operations/o-99', None, 404),
                ('POST', '/v1/sweeps', {'model': models.oscillator()}, 422),
                ('GET', '/v1/sweeps/w-99', None, 404),
                ('DELETE', '/v1/sweeps/w-99', None, 404),
                ('GET', '/v1/sweeps/w-99/results', None, 404),
                ('POST', '/v1/batch', {'instances': [i], 'op': 'fly'}, 422),
                ('POST', '/v1/batch?format=npy', {'instances': [i], 'op': 'outputs'}, 406),
                ('POST', '/v1/instances', {'model': {'mechd': 1, 'extra': 1}}, 422),
                ('POST', '/v1/models/check', {'model': {}}, 422),
                ('PUT', one, {'model': models.oscillator()}, 409),
                ('GET', '/v1/instances/nobody', None, 404),
                ('GET', '/v1/examples/nobody', None, 404),
                ('GET', '/v1/types/Nothing', None, 404),
                ('GET', one + '/snapshots/s-99', None, 404),
                ('POST', one + '/snapshots/s-99/restore', {}, 404),
                ('GET', one + '/runs/r-99', None, 404),
                ('GET', one + '/runs/r-99/events', None, 404),
                ('DELETE', one + '/runs/r-99/results', None, 404),
                ('GET', one + '/objects/nobody/outputs/Position', None, 404),
                ('POST', one + '/clone', {'as': i}, 409),
                ('POST', one + '/clone', {'as': 'a b'}, 422),
                ('POST', one + '/step', {'size': -1}, 422),
                ('POST', one + '/step', {'sise': 1}, 422),
                ('POST', one + '/step', {'size': 1, 'expectTime': 5}, 409),
                ('POST', one + '/step', b'[' * 100, 400),
                ('POST', one + '/commit', {'trial': 7}, 409),
                ('POST', one + '/lease', {'role': 'king'}, 422),
                ('PATCH', one + '/lease', {'seconds': 5}, 409),
                ('PATCH', one, {'ttl': 0}, 422),
                ('DELETE', one + '/lease', None, 409),
                ('DELETE', one + '/lease?of=owner', None, 404),
                ('DELETE', one + '/lease?of=king', None, 422),
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

    def test_the_check_sees_a_wrong_value(self):
        schema = {'$ref': '#/components/schemas/StepReply'}
        good = {'time': 1, 'step': 1, 'outputs': {'x': [1, 2]},
                'report': {'steps': 1, 'stepSize': .1, 'iterations': 0, 'viIterations': 0,
                           'substeps': 0, 'refusedSubsteps': 0, 'impacts': 0, 'residual': 0,
                           'contacts': 0, 'impactEnergyGain': 0,
                           'linear': '', 'vi': '', 'differenced': False}}
        self.assertEqual(self.api.misfits(schema, good), [])
        for change in ({'time': '1'}, {'step': 1.5}, {'outputs': {'x': ['a']}}, {'report': {}},
                       {'step': True}):
            self.assertNotEqual(self.api.misfits(schema, {**good, **change}), [], change)

    def test_outputs_of_couplings_have_names_of_two_parts(self):
        """A participant and its output, each of up to 64 characters."""
        name = '%s.%s' % ('p' * 64, 'y' * 64)
        for schema, value in (
                ('SweepRequest', {'parameters': {}, 'outputs': [name]}),
                ('CouplingStreamRequest', {'name': 's', 'outputs': [name]}),
                ('RunRequest', {'record': {'outputs': [name]}}),
                ('StreamPart', {'name': name, 'offset': 0, 'count': 1})):
            with self.subTest(schema):
                self.assertEqual(
                    self.api.misfits({'$ref': '#/components/schemas/' + schema}, value), [])


if __name__ == '__main__':
    unittest.main()
