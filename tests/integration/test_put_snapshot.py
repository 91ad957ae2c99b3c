"""The bytes of a snapshot put into an existing instance: of the same model they become its state;
of another, or damaged, they are refused with the reason, and nothing changes."""
import base64
import copy
import shutil
import tempfile
import unittest

import harness
import models
from harness import Daemon
from keeping import Kept
from long_models import chain

BYTES = {'Content-Type': 'application/vnd.mechd.snapshot'}


class Put(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def call(self, method, path, body=None, status=200, headers=None, daemon=None):
        reply = (daemon or self.daemon).call(method, path, body, headers or {})
        self.assertEqual(reply.status, status, reply)
        return reply

    def make(self, model, daemon=None):
        return '/v1/instances/' + (daemon or self.daemon).create(model)

    def bits(self, path, daemon=None):
        """The bytes of its present state, model included."""
        made = self.call('POST', path + '/snapshots', None, 201, daemon=daemon)
        raw = self.call('GET', made.headers['Location'], daemon=daemon).raw
        self.call('DELETE', made.headers['Location'], None, 204, daemon=daemon)
        return raw

    def put(self, path, raw, status=200, daemon=None):
        return self.call('PUT', path + '/state', raw, status, BYTES, daemon).json

    def all_of(self, path, daemon=None):
        return [self.call('GET', path + part, daemon=daemon).json
                for part in ('/state', '/inputs', '/parameters', '/outputs', '/model')]

    def test_they_become_the_state_and_steps_go_on_to_the_bit(self):
        model = models.nonlinear_oscillator()
        one = self.make(model)
        self.call('PUT', one + '/inputs', {'force': 2})
        self.call('PUT', one + '/parameters', {'k': 70})
        self.call('POST', one + '/step', {'count': 37})
        raw, told = self.bits(one), self.all_of(one)
        self.call('POST', one + '/step', {'count': 50})
        after = self.all_of(one)
        with Daemon() as other:
            for daemon, text in ((self.daemon, False), (other, False), (other, True)):
                two = self.make(model, daemon)
                self.call('POST', two + '/step', {'count': 3}, daemon=daemon)
                if text:
                    body = {'snapshot': base64.b64encode(raw).decode()}
                    reply = self.call('PUT', two + '/state', body, daemon=daemon).json
                else:
                    reply = self.put(two, raw, daemon=daemon)
                self.assertTrue(reply.pop('reproducible'))
                self.assertEqual(reply, told[0])
                self.assertEqual(self.all_of(two, daemon), told)
                self.call('POST', two + '/step', {'count': 50}, daemon=daemon)
                self.assertEqual(self.all_of(two, daemon), after)

    def test_over_zeromq_too(self):
        one = self.make(models.oscillator())
        self.call('POST', one + '/step', {'count': 5})
        with harness.ZmqDoor(self.daemon) as door:
            two = self.daemon.create(models.oscillator())
            body = {'snapshot': base64.b64encode(self.bits(one)).decode()}
            status, reply = door.call('set-state', id=two, **body)
            self.assertEqual((status, reply.get('step')), (200, 5), reply)

    def test_the_state_is_read_with_them(self):
        """As a client without files does, on every door."""
        one = self.make(models.oscillator())
        self.call('PUT', one + '/inputs', {'force': 2})
        self.call('POST', one + '/step', {'count': 5})
        state = self.call('GET', one + '/state').json
        got = self.call('GET', one + '/state?snapshot=true').json
        text = got.pop('snapshot')
        self.assertEqual(got, state)
        self.assertEqual(base64.b64decode(text, validate=True), self.bits(one))
        self.assertEqual(self.call('GET', one + '/state?snapshot=false').json, state)
        with harness.ZmqDoor(self.daemon) as door:
            got = door.call('get-state', id=one.split('/')[-1], snapshot='true')[1]
            self.assertEqual(got.pop('snapshot'), text)
            self.assertEqual(got, {'ok': True, **state})
        self.call('POST', one + '/step', {'count': 5})
        self.call('PUT', one + '/state', {'snapshot': text})
        self.assertEqual(self.call('GET', one + '/state').json, state)
        refused = self.call('GET', one + '/state?snapshot=1', None, 422).json
        self.assertEqual([e['pointer'] for e in refused['errors']], ['/snapshot'])

    def test_a_field_that_both_have_changed_is_no_difference(self):
        paths = [self.make(models.oscillator()) for _ in range(2)]
        for path, masses in zip(paths, ((3,), (5, 4, 3))):
            for mass in masses:
                self.call('PUT', path + '/objects/mass/fields/physicsMass', {'value': mass})
        self.call('POST', paths[0] + '/step', {'count': 5})
        self.call('POST', paths[1] + '/snapshots', None, 201)
        self.assertTrue(self.put(paths[1], self.bits(paths[0]))['reproducible'])
        # what was taken before is still of this model
        self.call('GET', paths[1] + '/snapshots/s-1')

    def test_the_activity_of_joints_comes_with_it(self):
        model = {
            'mechd': 1,
            'nodes': [{'name': 'a', 'type': 'NodePoint', 'referenceCoordinates': [1, 0, 0]}],
            'objects': [
                {'name': 'mass', 'type': 'MassPoint', 'node': 'a', 'physicsMass': 1},
                {'name': 'floor', 'type': 'Ground'},
                {'name': 'rope', 'type': 'DistanceConstraint', 'markers': ['o', 'm'],
                 'distance': 1}],
            'markers': [{'name': 'o', 'type': 'MarkerBodyPosition', 'object': 'floor'},
                        {'name': 'm', 'type': 'MarkerBodyPosition', 'object': 'mass'}],
            'gravity': [0, 0, -10], 'solver': {'integrator': 'GeneralizedAlpha', 'stepSize': 1e-3}}
        one, two = self.make(model), self.make(model)
        self.call('PUT', one + '/objects/rope/fields/active', {'value': False})
        self.call('POST', one + '/step', {'count': 20})
        raw, held = self.bits(one), self.bits(two)
        self.put(two, raw)
        self.call('POST', one + '/step', {'count': 20})
        self.call('POST', two + '/step', {'count': 20})
        self.assertEqual(self.all_of(one)[0], self.all_of(two)[0])
        self.put(one, held)
        self.assertTrue(self.call('GET', one + '/model').json['objects'][2].get('active', True))

    def test_another_model_is_refused_with_the_place(self):
        mine = models.oscillator()
        path = self.make(mine)
        self.call('POST', path + '/step', {'count': 4})
        before, etag = self.all_of(path), self.call('GET', path).headers['ETag']
        heavy, more, other = copy.deepcopy(mine), copy.deepcopy(mine), chain(2)
        heavy['objects'][0]['physicsMass'] = 7
        more['parameters']['extra'] = 1
        for model, place in ((heavy, '/objects/0/physicsMass'), (more, '/parameters/extra'),
                             (other, '/')):
            told = self.put(path, self.bits(self.make(model)), 422)
            self.assertEqual(told['code'], 'snapshot-mismatch')
            self.assertIn('another model: they differ at ' + place, told['detail'])
            self.assertEqual(self.all_of(path), before)
        self.assertEqual(self.call('GET', path).headers['ETag'], etag)

    def test_damaged_bytes_are_refused(self):
        path = self.make(models.oscillator())
        self.call('POST', path + '/step', {'count': 4})
        raw = self.bits(path)
        self.call('POST', path + '/step', {'count': 4})
        before = self.all_of(path)
        for wrong in (b'none', raw[:-1], raw + b' ', raw[:20], raw[:60] + b'\0' + raw[61:],
                      raw[:-9] + bytes([raw[-9] ^ 1]) + raw[-8:]):
            told = self.put(path, wrong, 422)
            self.assertEqual(told['code'], 'snapshot-mismatch')
            self.assertRegex(told['detail'], 'damaged')
            self.assertEqual(self.all_of(path), before)
        for body in ({'snapshot': '?'}, {'snapshot': 7}, {'snapshot': 'AAAA', 'q': [1]}):
            self.call('PUT', path + '/state', body, 422)
        self.assertEqual(self.all_of(path), before)

    def test_it_is_stored_and_begins_no_branch(self):
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        one = self.make(models.oscillator())
        self.call('POST', one + '/step', {'count': 9})
        raw, told = self.bits(one), self.all_of(one)
        with Kept(folder, '--durability', 'every-step') as d:
            two = self.make(models.oscillator(), d)
            self.call('POST', two + '/snapshots', None, 201, daemon=d)
            self.put(two, raw, daemon=d)
        with Kept(folder) as d:
            self.assertEqual(self.all_of(two, d), told)
            found = self.call('GET', two + '/snapshots', daemon=d).json
            self.assertEqual((len(found['items']), found['current']), (1, None))


if __name__ == '__main__':
    unittest.main()
