"""Constraints through the daemon against closed forms: gears, ropes."""
import math
import unittest
from harness import Daemon, HttpDoor


def shafts():
    return {'mechd': 1, 'nodes': [{'name': 'n0', 'type': 'Node1D'},
                                  {'name': 'n1', 'type': 'Node1D'}],
            'objects': [{'name': 'b0', 'type': 'Rotor1D', 'node': 'n0', 'physicsInertia': 10},
                        {'name': 'b1', 'type': 'Rotor1D', 'node': 'n1', 'physicsInertia': 100},
                        {'name': 'gear', 'type': 'CoordinateVectorConstraint',
                         'markers': ['m0', 'm1'], 'scalingMarker0': [[-0.1]],
                         'scalingMarker1': [[1]]}],
            'markers': [{'name': 'm0', 'type': 'MarkerNodeCoordinates', 'node': 'n0'},
                        {'name': 'm1', 'type': 'MarkerNodeCoordinates', 'node': 'n1'},
                        {'name': 'at', 'type': 'MarkerNodeCoordinate', 'node': 'n0'}],
            'loads': [{'name': 'T', 'type': 'LoadCoordinate', 'marker': 'at', 'load': 6}],
            'solver': {'stepSize': 0.01}}


def rope(unilateral=True):
    return {'mechd': 1, 'gravity': [0, -10, 0],
            'nodes': [{'name': 'g', 'type': 'NodePointGround'},
                      {'name': 'n', 'type': 'NodePoint2D', 'referenceCoordinates': [0.1, 0.9]}],
            'objects': [{'name': 'b', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 1},
                        {'name': 'rope', 'type': 'DistanceConstraint', 'markers': ['mg', 'mn'],
                         'distance': 1, 'unilateral': unilateral}],
            'markers': [{'name': 'mg', 'type': 'MarkerNodePosition', 'node': 'g'},
                        {'name': 'mn', 'type': 'MarkerNodePosition', 'node': 'n'}],
            'solver': {'stepSize': 0.001}}


class Constraints(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.door = HttpDoor(cls.daemon)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def make(self, model):
        status, made = self.door.call('create', model=model)
        self.assertEqual(status, 201, made)
        return made['id']

    def step(self, i, **size):
        status, reply = self.door.call('step', id=i, **size)
        self.assertEqual(status, 200, reply)
        return reply

    def value(self, i, name, variable):
        status, reply = self.door.call('item-output', id=i, name=name, variable=variable)
        self.assertEqual(status, 200, reply)
        return reply['value']

    def test_shafts_accelerate_by_their_ratio(self):
        i = self.make(shafts())
        self.step(i, count=100)
        state = self.door.call('get-state', id=i)[1]
        for found, expected in zip(state['q'] + state['v'], [3 / 11, -0.3 / 11, 6 / 11, -0.6 / 11]):
            self.assertAlmostEqual(found, expected, delta=1e-9)

    def test_a_rope_catches_without_rebound(self):
        caught = math.sqrt(2 * (0.9 + math.sqrt(0.99)) / 10)
        self.assertAlmostEqual(caught, 0.615628, delta=5e-7)
        i = self.make(rope())
        self.step(i, until=0.615)
        state = self.door.call('get-state', id=i)[1]
        self.assertAlmostEqual(state['q'][1], 0.9 - 5 * 0.615 ** 2, delta=1e-12)
        reply = self.step(i, until=0.616)
        self.assertEqual(reply['report']['contacts'], 1)
        for _ in range(30):
            self.step(i, size=0.01)
            q, v = (self.door.call('get-state', id=i)[1][k] for k in 'qv')
            self.assertAlmostEqual(math.hypot(*q), 1, delta=1e-10)
            self.assertAlmostEqual(q[0] * v[0] + q[1] * v[1], 0, delta=1e-5)
        # the tangential speed of the catch, and what the fall along the circle adds
        height = q[1] + math.sqrt(0.99)
        self.assertAlmostEqual(v[0] ** 2 + v[1] ** 2, caught ** 2 - 20 * height, delta=1e-5)

    def test_a_rope_that_begins_too_long_is_refused(self):
        model = rope()
        model['nodes'][1]['referenceCoordinates'] = [0.1, 1.1]
        status, reply = self.door.call('create', model=model)
        self.assertEqual(status, 422, reply)
        self.assertEqual(reply['errors'][0]['pointer'], '/model/objects/1')


if __name__ == '__main__':
    unittest.main()
