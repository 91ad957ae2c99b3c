"""Circuits of first order with diodes through the daemon, over both doors."""
import math
import unittest
from harness import HttpDoor, Served, ZmqDoor


def voltage(t, R=50., C=1e-3, L=0.02):
    """The tank of the bridge sees the resistor itself: a damped oscillator from 10 V."""
    damping = 1 / (2 * R * C)
    omega = math.sqrt(1 / (L * C) - damping ** 2)
    return 10 * math.exp(-damping * t) * (math.cos(omega * t)
                                          - damping / omega * math.sin(omega * t))


class FirstOrder(Served):
    def test_bridge_rectifier(self):
        for door in (HttpDoor(self.daemon), ZmqDoor(self.daemon)):
            i = door.call('create', example='bridge-rectifier')[1]['id']
            for k in range(1, 11):
                status, reply = door.call('step', id=i, size=0.01)
                self.assertEqual(status, 200, reply)
                self.assertEqual(reply['report']['contacts'], 4)
                self.assertEqual(reply['report']['vi'], 'lemke')
                # h² ω³ t/12 times the amplitude: 3.5e-3 V at most
                self.assertAlmostEqual(reply['outputs']['voltage'], voltage(0.01 * k), delta=3.5e-3)
                state = door.call('get-state', id=i)[1]
                self.assertEqual(len(state['impulse']), 4)
                self.assertGreaterEqual(min(state['impulse']), 0)
                self.assertEqual(state['q'], [])

    def test_restored_state_repeats_its_bits(self):
        door = HttpDoor(self.daemon)
        i = door.call('create', example='bridge-rectifier')[1]['id']
        door.call('step', id=i, count=123)
        saved = self.daemon.call('POST', '/v1/instances/%s/snapshots' % i, {}).json
        ends = []
        for _ in range(2):
            door.call('step', id=i, count=200)
            state = door.call('get-state', id=i)[1]
            ends.append((state['x'], state['impulse']))
            self.daemon.call('POST', '/v1/instances/%s/snapshots/%s/restore' % (i, saved['id']))
        self.assertEqual(ends[0], ends[1])

    def test_faults_have_their_place(self):
        system = {'name': 's', 'type': 'FirstOrderLinearTIDS', 'A': [[0, 1], [-1, 0]]}
        relation = {'type': 'FirstOrderLinearTIR', 'C': [[1, 0]], 'B': [[0], [1]]}

        def faults(system, relation, law, integrator='EulerMoreau'):
            reply = self.daemon.call('POST', '/v1/models/check', {'model': {
                'mechd': 1, 'objects': [system], 'interactions': [
                    {'name': 'i', 'systems': ['s'], 'relation': relation, 'law': law}],
                'solver': {'integrator': integrator}}})
            if reply.status == 200:
                return []
            return [e['pointer'] for e in reply.json['errors']]

        diode = {'type': 'Complementarity'}
        self.assertEqual(faults(system, relation, diode), [])
        for change, pointer in (({'C': [[1, 0, 0]], 'B': [[0], [1], [0]]}, '/relation/C'),
                                ({'B': [[1, 2]]}, '/relation/B'),
                                ({'D': [[1, 2]]}, '/relation/D'), ({'e': [1, 2]}, '/relation/e')):
            with self.subTest(pointer):
                found = faults(system, dict(relation, **change), diode)
                self.assertTrue(any(p.endswith('/interactions/0' + pointer) for p in found), found)
        for law in ({'type': 'NewtonImpact'}, {'type': 'NewtonImpactFriction', 'mu': 0.1}):
            self.assertTrue(faults(system, relation, law)[0].endswith('/interactions/0/law'))
        self.assertTrue(faults(dict(system, M=[[1, 1], [1, 1]]), relation,
                               diode)[0].endswith('/objects/0/M'))
        self.assertTrue(faults(system, relation, diode,
                               'DOPRI5')[0].endswith('/solver/integrator'))
        self.assertTrue(faults(system, relation, {'type': 'Relay', 'lb': 1, 'ub': -1})[0]
                        .endswith('/interactions/0/law/lb'))


if __name__ == '__main__':
    unittest.main()
