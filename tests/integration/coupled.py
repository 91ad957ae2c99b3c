"""Two instances that exchange values: what the tests of couplings share."""
import math
import unittest

from harness import Daemon

K, K12 = 4 * math.pi ** 2, 16 * math.pi ** 2
OSCILLATORS = [{'from': 'left.x', 'to': 'right.F', 'factor': K12},
               {'from': 'right.x', 'to': 'left.F', 'factor': K12}]


def half(x=0., v=0., k=0., mass=1., h=1e-3, d=0.):
    """A mass with a spring and a damper to the ground, a force for input; its trapezoidal rule is
    exact for a free mass under a constant force, and keeps the energy of a linear one."""
    spring = [{'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],
               'stiffness': k, 'damping': d}] if k else []
    return {'mechd': 1,
            'nodes': [{'name': 'n', 'type': 'Node1D', 'initialCoordinates': [x],
                       'initialVelocities': [v]}],
            'objects': [{'name': 'm', 'type': 'Mass1D', 'node': 'n', 'physicsMass': mass}] + spring,
            'markers': [{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 0},
                        {'name': 'g', 'type': 'MarkerGroundCoordinate'}],
            'loads': [{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 0}],
            'sensors': [{'name': 'q', 'type': 'SensorNode', 'node': 'n',
                         'outputVariable': 'Coordinates'},
                        {'name': 'p', 'type': 'SensorNode', 'node': 'n',
                         'outputVariable': 'Coordinates_t'}],
            'inputs': [{'name': 'F', 'load': 'F'}],
            'outputs': [{'name': 'x', 'sensor': 'q', 'component': 0},
                        {'name': 'v', 'sensor': 'p', 'component': 0}],
            'solver': {'integrator': 'GeneralizedAlpha', 'stepSize': h, 'spectralRadius': 1}}


def point(springs=(100, 200, 300)):
    """A mass in space, with springs to the ground or None: its position and velocity follow the
    second one of two vectors of forces."""
    objects = [{'name': 's', 'type': 'CartesianSpringDamper', 'markers': ['g', 'm'],
                'stiffness': list(springs)}] if springs else []
    return {'mechd': 1,
            'nodes': [{'name': 'n', 'type': 'NodePoint', 'initialCoordinates': [0.1, 0.2, -0.3]}],
            'objects': [{'name': 'm', 'type': 'MassPoint', 'node': 'n', 'physicsMass': 1},
                        {'name': 'earth', 'type': 'Ground'}] + objects,
            'markers': [{'name': 'm', 'type': 'MarkerBodyPosition', 'object': 'm'},
                        {'name': 'g', 'type': 'MarkerBodyPosition', 'object': 'earth'}],
            'loads': [{'name': f, 'type': 'LoadForceVector', 'marker': 'm', 'load': [0, 0, 0]}
                      for f in 'EF'],
            'sensors': [{'name': name, 'type': 'SensorBody', 'object': 'm', 'outputVariable': name}
                        for name in ('Position', 'Velocity')],
            'inputs': [{'name': f, 'load': f} for f in 'EF'],
            'outputs': [{'name': 'y', 'sensor': 'Position', 'component': 1},
                        {'name': 'p', 'sensor': 'Position'}, {'name': 'v', 'sensor': 'Velocity'}],
            'solver': {'integrator': 'GeneralizedAlpha', 'stepSize': 1e-3, 'spectralRadius': 1}}


class Couplings(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon('--workers', '2')

    def tearDown(self):
        if self.daemon.process.poll() is None:
            self.daemon.stop()

    def couple(self, left, right, connections=None, scheme='IQN-ILS', **more):
        body = {'participants': [{'name': 'left', 'instance': left},
                                 {'name': 'right', 'instance': right}],
                'scheme': scheme if isinstance(scheme, dict) else {'type': scheme},
                'stepSize': 0.01, **more}
        if connections is not None:
            body['connections'] = connections
        return self.daemon.call('POST', '/v1/couplings', body)

    def oscillators(self, d=0., **more):
        left = self.daemon.create(half(1., k=K + K12, d=d))
        right = self.daemon.create(half(0., k=K + K12, d=d))
        reply = self.couple(left, right, OSCILLATORS, **more)
        self.assertEqual(reply.status, 201, reply)
        return left, right, reply['id']

    def step(self, cid, **body):
        return self.daemon.call('POST', '/v1/couplings/%s/step' % cid, body)

    def good(self, cid, **body):
        reply = self.step(cid, **body)
        self.assertEqual(reply.status, 200, reply)
        return reply.json

    def state(self, i):
        return self.daemon.call('GET', '/v1/instances/%s/state' % i).raw
