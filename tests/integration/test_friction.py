"""The sliding block of the friction references through the daemon, over both doors."""
import unittest
from harness import Daemon, HttpDoor, ZmqDoor

BLOCK = {
    'mechd': 1, 'name': 'a block that slides until it stops',
    'objects': [{'name': 'block', 'type': 'LagrangianLinearTIDS', 'M': {'diag': [1, 1, 1]},
                 'v0': [0, 2, 0], 'Fext': [-9.81, 0, 0]}],
    'interactions': [{'name': 'plane', 'systems': ['block'],
                      'relation': {'type': 'LagrangianLinearTIR',
                                   'H': [[1, 0, 0], [0, 1, 0], [0, 0, 1]]},
                      'law': {'type': 'NewtonImpactFriction', 'en': 0, 'mu': 0.3}}],
    'solver': {'integrator': 'MoreauJean', 'theta': 0.5, 'gamma': 0.5, 'stepSize': 0.005,
               'vi': {'tolerance': 1e-12}}}


class Friction(unittest.TestCase):
    def test_sliding_block(self):
        with Daemon() as daemon:
            for door in (HttpDoor(daemon), ZmqDoor(daemon)):
                i = door.call('create', model=BLOCK)[1]['id']
                for count, time, v, x in ((50, 0.25, 1.26425, None), (50, 0.5, None, 0.632125),
                                          (35, 0.675, None, 0.6795478125), (1, 0.68, 0, 0.6795815)):
                    report = door.call('step', id=i, count=count)[1]['report']
                    self.assertEqual(report['contacts'], 3)
                    state = door.call('get-state', id=i)[1]
                    self.assertAlmostEqual(state['time'], time, delta=1e-12)
                    if v is not None:
                        self.assertAlmostEqual(state['v'][1], v, delta=1e-11)
                    if x is not None:
                        last = time == 0.68
                        self.assertAlmostEqual(state['q'][1], x, delta=5e-8 if last else 1e-10)
                self.assertEqual(state['impulse'][0], 0.04905)


if __name__ == '__main__':
    unittest.main()
