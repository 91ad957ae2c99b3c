"""Inputs over a step: polynomials and samples, over HTTP and as JSON over ZeroMQ; what holds
afterwards, what is refused and where, forces for later beside them, and the disk."""
import shutil
import tempfile
import unittest
import models
from harness import Forces, HttpDoor, Partner, Served, ZmqDoor, wait_until
from keeping import Kept

RACES = True

RUNGE = {'integrator': 'RK67', 'stepSize': 0.1}


def mass(n=0, **solver):
    """2 kg in the plane under `force`, and the parameter `mass` as an input; with a system of n
    more coordinates."""
    model = models.document(
        'mass', parameters={'p': 2}, nodes=[{'name': 'n', 'type': 'NodePoint2D'}],
        objects=[{'name': 'm', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': '=p'}],
        markers=[{'name': 'x', 'type': 'MarkerNodePosition', 'node': 'n'}],
        loads=[{'name': 'F', 'type': 'LoadForceVector', 'marker': 'x', 'load': [0, 0, 0]},
               {'name': 'G', 'type': 'LoadForceVector', 'marker': 'x', 'load': [0, 0, 0]}],
        sensors=[{'name': 's', 'type': 'SensorNode', 'node': 'n', 'outputVariable': 'Velocity'}],
        inputs=[{'name': 'force', 'load': 'F'}, {'name': 'mass', 'parameter': 'p'},
                {'name': 'up', 'load': 'G', 'component': 1}],
        outputs=[{'name': 'v', 'sensor': 's'}], solver={**RUNGE, **solver})
    if n:
        model['objects'].append({'name': 'rest', 'type': 'LagrangianLinearTIDS',
                                 'M': {'diag': [1] * n}, 'K': {'diag': [1] * n},
                                 'q0': [1] * n, 'v0': [0] * n})
    return model


# 2 v' = 1 + 6 τ²; −4 τ
POLYNOMIAL = {'polynomial': [[1, 0, 0], [0, -4, 0], [6, 0, 0]]}
SAMPLES = {'samples': {'times': [0, 0.1, 0.4], 'values': [[0, 0, 0], [3, 1, 0], [-3, 2, 0]]}}


class Signals(Served):
    def near(self, found, expected, places=12):
        for a, b in zip(found, expected):
            self.assertAlmostEqual(a, b, places)

    def test_a_polynomial_and_samples_act_over_the_step(self):
        for door in (self.door, ZmqDoor(self.daemon)):
            with self.subTest(door.name):
                i = self.daemon.create(mass())
                door.call('step', id=i, size=0.5)
                status, reply = door.call('step', id=i, size=1.0,
                                          inputSignals={'force': POLYNOMIAL})
                self.assertEqual(status, 200, reply)
                self.near(reply['outputs']['v'], [0.5 * 3, -0.5 * 2, 0])
                held = door.call('get-inputs', id=i)[1]['inputs']['force']
                self.near(held, [7, -4, 0])
                status, reply = door.call('step', id=i, size=1.0,
                                          inputs={'force': [0, 0, 0]})
                i = self.daemon.create(mass())
                status, reply = door.call('step', id=i, size=0.5, inputSignals={'force': SAMPLES})
                self.assertEqual(status, 200, reply)
                self.near(reply['outputs']['v'], [0.5 * (0.15 - 0.3), 0.5 * 0.7, 0])

    def test_a_dropped_trial_leaves_no_trace(self):
        i, j = self.daemon.create(mass()), self.daemon.create(mass())
        before = self.door.call('get-inputs', id=i)[1]
        status, trial = self.door.call('step', id=i, size=1.0, commit=False,
                                       inputSignals={'force': POLYNOMIAL})
        self.assertEqual(status, 200, trial)
        self.assertEqual(self.door.call('get-inputs', id=i)[1], before)
        self.assertEqual(*(self.door.call('step', id=k, size=1.0)[1]['outputs'] for k in (i, j)))

    def test_wrong_shapes_are_refused_with_their_place(self):
        i = self.daemon.create(mass())
        tau, row = [0, 1], [1, 2, 3]
        cases = (
            ('/inputSignals/forc', {'forc': POLYNOMIAL}),
            ('/inputSignals/force', {'force': 7}),
            ('/inputSignals/force', {'force': {}}),
            ('/inputSignals/force', {'force': {**POLYNOMIAL, **SAMPLES}}),
            ('/inputSignals/force/other', {'force': {**POLYNOMIAL, 'other': 1}}),
            ('/inputSignals/mass', {'mass': {'polynomial': [1]}}),
            ('/inputSignals/force/polynomial', {'force': {'polynomial': []}}),
            ('/inputSignals/force/polynomial', {'force': {'polynomial': [row] * 17}}),
            ('/inputSignals/force/polynomial/1', {'force': {'polynomial': [row, [1, 2]]}}),
            ('/inputSignals/force/polynomial/1', {'force': {'polynomial': [row, 'a']}}),
            ('/inputSignals/force/samples/times', {'force': {'samples': {'values': [row]}}}),
            ('/inputSignals/force/samples/values', {'force': {'samples': {'times': tau}}}),
            ('/inputSignals/force/samples', {'force': {'samples': {'times': tau,
                                                                   'values': [row]}}}),
            ('/inputSignals/force/samples/times/1', {'force': {'samples': {
                'times': [1, 1], 'values': [row, row]}}}),
            ('/inputSignals/force/samples/times/0', {'force': {'samples': {
                'times': [[0], 1], 'values': [row, row]}}}),
            ('/inputSignals/force/samples/values/1', {'force': {'samples': {
                'times': tau, 'values': [row, [1]]}}}),
            ('/inputSignals/force/samples/degree', {'force': {'samples': {
                'times': tau, 'values': [row, row], 'degree': 3}}}),
            ('/inputSignals', 5))
        before = self.door.call('get-state', id=i)
        for pointer, signals in cases:
            with self.subTest(pointer):
                status, reply = self.door.call('step', id=i, size=1.0, inputSignals=signals)
                self.assertEqual(status, 422, reply)
                self.assertIn(pointer, [e['pointer'] for e in reply['errors']])
        for pointer, more in (('/inputSignals/force', {'inputs': {'force': row}}),
                              ('/inputSignals', {'want': ['jacobian']})):
            status, reply = self.door.call('step', id=i, size=1.0,
                                           inputSignals={'force': POLYNOMIAL}, **more)
            self.assertEqual(status, 422, reply)
            self.assertIn(pointer, [e['pointer'] for e in reply['errors']])
        self.assertEqual(self.door.call('get-state', id=i), before)

    def test_they_continue_where_a_stamped_force_begins_to_act(self):
        i = self.daemon.create(mass())
        with Partner(self.daemon, i, ['up'], ['v']) as partner:
            forces = Forces(self.daemon, partner)
            self.addCleanup(forces.socket.close)
            forces.push([8.0], 0.5)
            # it has arrived once one for the present time, sent after it, acts
            forces.push([1.0], 0.0)
            wait_until(lambda: self.door.call('get-inputs', id=i)[1]['inputs']['up'] == 1.0,
                       'it acts')
            status, reply = self.door.call('step', id=i, size=1.0, inputs={'up': 0.0},
                                           inputSignals={'force': POLYNOMIAL})
            self.assertEqual(status, 200, reply)
            self.near(reply['outputs']['v'], [0.5 * 3, -0.5 * 2 + 0.5 * 8 * 0.5, 0])


class Stored(unittest.TestCase):
    """States that are stored as the commands that led to them."""

    def test_such_a_step_is_there_after_a_kill(self):
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        d = Kept(folder)
        i = d.create(mass(2000), durability='every-step')
        status, reply = HttpDoor(d).call('step', id=i, size=1.0,
                                         inputSignals={'force': POLYNOMIAL})
        self.assertEqual(status, 200, reply)
        before = HttpDoor(d).call('get-state', id=i)[1]
        d.kill()
        with Kept(folder) as d:
            self.assertEqual(HttpDoor(d).call('get-state', id=i)[1], before)


if __name__ == '__main__':
    unittest.main()
