"""A coupling of an instance and a program outside: what the tests of partners share."""
import math
import time
import unittest

import models
from harness import KINDS, SLOW, Daemon, Http
from outside import Program, over_zeromq

H, K, K12 = 0.01, 4 * math.pi ** 2, 16 * math.pi ** 2
OSCILLATORS = [{'from': 'left.x', 'to': 'right.F', 'factor': K12},
               {'from': 'right.x', 'to': 'left.F', 'factor': K12}]


def half(x, k):
    """A mass of 1 kg at x with a spring to the ground, a force for input."""
    return models.document(
        'half', nodes=[{'name': 'n', 'type': 'Node1D', 'initialCoordinates': [x]}],
        objects=[{'name': 'm', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 1},
                 {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],
                  'stiffness': k}],
        markers=[{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 0},
                 {'name': 'g', 'type': 'MarkerGroundCoordinate'}],
        loads=[{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 0}],
        sensors=[{'name': 'q', 'type': 'SensorNode', 'node': 'n',
                  'outputVariable': 'Coordinates'}],
        inputs=[{'name': 'F', 'load': 'F'}],
        outputs=[{'name': 'x', 'sensor': 'q', 'component': 0}],
        solver={'integrator': 'GeneralizedAlpha', 'stepSize': 1e-3, 'spectralRadius': 1})


def again_where_slow(patience, scenario):
    """Runs scenario(timed), in which timed(f, …) calls f, with waits=n if n questions in it remain
    without an answer. The others must be answered within `patience` s: where it fails and a call
    has taken more than half of that besides, the machine was too slow, and it begins again."""
    until = time.monotonic() + 60 * SLOW
    while True:
        taken = [0.0]

        def timed(f, *arguments, waits=0, taken=taken, **more):
            before = time.monotonic()
            try:
                return f(*arguments, **more)
            finally:
                taken.append(time.monotonic() - before - waits * patience)
        try:
            return scenario(timed)
        except Exception:  # pylint: disable=broad-except
            if max(taken) < patience / 2 or time.monotonic() > until:
                raise


class Half:
    """An instance behind a program: its trials and commits over HTTP."""

    def __init__(self, daemon, instance):
        self.http, self.root, self.trial, self.x = Http(daemon.base), '/v1/instances/' + instance, \
            None, None
        self.x = self.http.call('GET', self.root + '/outputs')['outputs']['x']

    def __call__(self, question):
        if question['kind'] == KINDS['outputs']:
            self.http.call('PUT', self.root + '/inputs', {'inputs': {'F': question['values'][0]}})
        elif question['kind'] == KINDS['trial']:
            reply = self.http.call('POST', self.root + '/step', {
                'size': question['size'], 'inputs': {'F': question['values'][0]}, 'commit': False})
            assert reply.status == 200, reply
            self.trial = reply['trial']
            return [reply['outputs']['x']]
        elif self.trial is not None:
            reply = self.http.call('POST', self.root + '/commit', {'trial': self.trial})
            assert reply.status == 200, reply
            self.x, self.trial = reply['outputs']['x'], None
        return [self.x]


class Partners(unittest.TestCase):
    arguments, door = (), over_zeromq

    def setUp(self):
        self.daemon = Daemon('--workers', '2', *self.arguments)
        self.addCleanup(lambda: self.daemon.process.poll() is None and self.daemon.stop())
        self.left = self.daemon.create(half(1., k=K + K12))

    def couple(self, status=201, scheme='IQN-ILS', patience=20 * SLOW, rollback=True, **more):
        reply = self.daemon.call('POST', '/v1/couplings', {
            'participants': [{'name': 'left', 'instance': self.left},
                             {'name': 'right', 'partner': {
                                 'inputs': ['F'], 'outputs': ['x'], 'patience': patience,
                                 'rollback': rollback}}],
            'connections': OSCILLATORS, 'scheme': {'type': scheme}, 'stepSize': H, **more})
        self.assertEqual(reply.status, status, reply)
        return reply['id'] if status == 201 else reply

    def program(self, cid, answer, **more):
        return Program(self.daemon, cid, 'right', answer, door=type(self).door, **more)

    def step(self, cid, status=200, **body):
        reply = Http(self.daemon.base).call('POST', '/v1/couplings/%s/step' % cid,
                                            body or {'count': 1})
        self.assertEqual(reply.status, status, reply)
        return reply

    def time(self):
        return self.daemon.call('GET', '/v1/instances/' + self.left)['time']

    def right(self):
        return Half(self.daemon, self.daemon.create(half(0., k=K + K12)))

    def expected(self, count, **more):
        """Outputs of the same coupling of two instances, after each window."""
        pair = [self.daemon.create(half(x, k=K + K12)) for x in (1., 0.)]
        cid = self.daemon.call('POST', '/v1/couplings', {
            'participants': [{'name': n, 'instance': i} for n, i in zip(('left', 'right'), pair)],
            'connections': OSCILLATORS, 'stepSize': H, 'scheme': {'type': 'IQN-ILS'},
            **more})['id']
        found = []
        for _ in range(count):
            outputs = self.step(cid)['outputs']
            found.append((outputs['left.x'], outputs['right.x']))
        return found

    def found(self, cid, count):
        found = []
        for _ in range(count):
            outputs = self.step(cid)['outputs']
            found.append((outputs['left.x'], outputs['right.x']))
        return found
