"""Derivatives of the equations at a point over HTTP and as JSON over ZeroMQ."""
import unittest
import models
from harness import Served, ZmqDoor

RACES = True


class Derivatives(Served):
    def test_forward_and_adjoint_are_those_of_the_equations(self):
        """m x'' = F − k x − d x'."""
        model = models.oscillator()
        body = self.door.call('evaluate', id=self.daemon.create(model),
                              want=['mass', 'dFdq', 'dFdv'])[1]
        m, k, d = body['mass'][0][0], -body['dFdq'][0][0], -body['dFdv'][0][0]
        for door in (self.door, ZmqDoor(self.daemon)):
            i = self.daemon.create(model)
            before = door.call('get-state', id=i)[1]
            status, reply = door.call(
                'derivatives', id=i, direction={'inputs': {'force': 2.0}, 'q': [0.5], 'v': [3.0]},
                seed={'vdot': [4.0], 'outputs': {'x': 5.0}}, at={'time': 2.0, 'q': [0.25]})
            self.assertEqual(status, 200, reply)
            self.assertEqual(reply['time'], 2.0)
            found = reply['derivative']
            self.assertAlmostEqual(found['vdot'][0], (2 - 0.5 * k - 3 * d) / m, 8)
            self.assertAlmostEqual(found['qdot'][0], 3, 10)
            self.assertAlmostEqual(found['outputs']['x'], 0.5, 10)
            back = reply['sensitivity']
            self.assertAlmostEqual(back['q'][0], -4 * k / m + 5, 8)
            self.assertAlmostEqual(back['v'][0], -4 * d / m, 8)
            self.assertAlmostEqual(back['inputs']['force'], 4 / m, 9)
            self.assertIs(reply['kinked'], False)
            self.assertEqual(door.call('get-state', id=i)[1], before)

    def test_where_a_law_ends_the_reply_says_that_it_is_kinked(self):
        """A sphere of 1 kg that begins to touch a plane, each of compliance 5e-5 m/N."""
        model = models.document(
            'touching', gravity=[0, 0, 0], contact={'method': 'penalty'},
            nodes=models.point([0, 0, 0.125])[0],
            objects=[{'name': 'ground', 'type': 'Ground',
                      'geometry': [{'shape': 'Plane', 'material': {'compliance': 5e-5}}]},
                     {'name': 'mass', 'type': 'MassPoint', 'node': 'n', 'physicsMass': 1,
                      'geometry': [{'shape': 'Sphere', 'radius': 0.125,
                                    'material': {'compliance': 5e-5}}]}],
            solver={'integrator': 'RK44', 'stepSize': 1e-4})
        i = self.daemon.create(model)
        for asked in ({'direction': {'q': [0, 0, 1]}}, {'seed': {'vdot': [0, 0, 1]}}):
            status, reply = self.door.call('derivatives', id=i, **asked)
            self.assertEqual(status, 200, reply)
            self.assertIs(reply['kinked'], True)
        self.assertAlmostEqual(reply['sensitivity']['q'][2], -5e3, 2)
        reply = self.door.call('derivatives', id=i, direction={'v': [1, 0, 0]})[1]
        self.assertIs(reply['kinked'], False)

    def test_rates_are_those_that_a_step_returns(self):
        for door in (self.door, ZmqDoor(self.daemon)):
            i = self.daemon.create(models.oscillator())
            step = door.call('step', id=i, count=5, inputs={'force': 2.0}, want=['derivatives'])[1]
            before = door.call('get-state', id=i)[1]
            status, reply = door.call('derivatives', id=i, rates=True)
            self.assertEqual(status, 200, reply)
            self.assertEqual(reply['rates'], step['derivatives'])
            self.assertEqual(reply['time'], step['time'])
            self.assertNotIn('derivative', reply)
            self.assertEqual(door.call('get-state', id=i)[1], before)
            both = door.call('derivatives', id=i, rates=True, direction={'v': [1]})[1]
            self.assertEqual(both['rates'], step['derivatives'])
            self.assertIn('derivative', both)

    def test_what_cannot_be_is_refused_with_its_place(self):
        model = models.oscillator()
        model['inputs'].append({'name': 'c', 'parameter': 'k'})
        i = self.daemon.create(model)
        for pointer, body in (
                ('', {}), ('', {'rates': False}), ('/rates', {'rates': 1}),
                ('/direction', {'direction': 1}),
                ('/direction/qdot', {'direction': {'qdot': [1]}}),
                ('/direction/q', {'direction': {'q': [1, 2]}}),
                ('/direction/q', {'direction': {'q': []}}),
                ('/direction/inputs', {'direction': {'inputs': [1]}}),
                ('/direction/inputs/force', {'direction': {'inputs': {'force': []}}}),
                ('/direction/inputs/forc', {'direction': {'inputs': {'forc': 1}}}),
                ('/direction/inputs/force', {'direction': {'inputs': {'force': [1, 2]}}}),
                ('/direction/inputs/c', {'direction': {'inputs': {'c': 1}}}),
                ('/seed/outputs/y', {'seed': {'outputs': {'y': 1}}}),
                ('/seed/vdot/0', {'seed': {'vdot': ['a']}}),
                ('/at/q', {'direction': {'q': [1]}, 'at': {'q': [1, 2]}}),
                ('/at/time', {'direction': {'q': [1]}, 'at': {'time': 'now'}})):
            with self.subTest(pointer):
                status, reply = self.door.call('derivatives', id=i, **body)
                self.assertEqual(status, 422, reply)
                self.assertIn(pointer, [e['pointer'] for e in reply['errors']])


if __name__ == '__main__':
    unittest.main()
