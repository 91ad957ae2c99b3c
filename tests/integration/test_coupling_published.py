"""Published numbers of two coupled oscillators (preCICE's oscillator case), by programs outside
that take the published steps themselves: the server couples them over its network alone."""
import math
import unittest

from harness import KINDS, Daemon
from outside import LaneSocket, Program, over_zeromq
from partnered import K, K12

SCHEME = {'relativeTolerance': 1e-12, 'absoluteTolerance': 1e-13, 'maxIterations': 200,
          'relaxation': 0.5}


class Mass:
    """u'' + (K + K12) u = K12 other(t), by the steps of its method: `size`, state and the force
    (as a function of the time from the start of the window) to the state behind them."""

    def __init__(self, u, sign):
        self.u, self.v, self.a, self.sign = u, 0., 0., sign
        self.tried, self.worst = None, 0.

    def acceleration(self, u, force):
        return force - (K + K12) * u

    def steps(self, size, force):
        """Each (time from the start of the window, u, v, a)."""
        raise NotImplementedError

    def error(self, time, u):
        return abs(u - (math.cos(2 * math.pi * time) +
                        self.sign * math.cos(6 * math.pi * time)) / 2)

    def __call__(self, question):
        values = question['values']
        if question['kind'] == KINDS['outputs']:
            self.a = self.acceleration(self.u, K12 * values[0])
        elif question['kind'] == KINDS['trial']:
            other = list(values) + [0.] * (2 - len(values))
            states = list(self.steps(question['size'],
                                     lambda at: K12 * (other[0] + other[1] * at)))
            worst = max(self.error(question['time'] + at, u) for at, u, _, _ in states)
            self.tried = states[-1][1:], worst
            return [states[-1][1]]
        else:
            (self.u, self.v, self.a), worst = self.tried
            self.worst = max(self.worst, worst)
        return [self.u]


class RungeKutta(Mass):
    """The classical scheme of fourth order, five substeps."""

    def steps(self, size, force):
        u, v, d = self.u, self.v, size / 5
        for k in range(5):
            at, du, dv = k * d, [], []
            for part in (0, 0.5, 0.5, 1):
                ui = u + part * d * du[-1] if du else u
                vi = v + part * d * dv[-1] if dv else v
                du.append(vi)
                dv.append(self.acceleration(ui, force(at + part * d)))
            u += d / 6 * (du[0] + 2 * du[1] + 2 * du[2] + du[3])
            v += d / 6 * (dv[0] + 2 * dv[1] + 2 * dv[2] + dv[3])
            yield at + d, u, v, 0.


class Alpha(Mass):
    """Generalized-alpha, averaged (Chung and Hulbert), its beta as published: without the
    square."""
    count, am, af = 100, 0.2, 0.4

    def steps(self, size, force):
        u, v, a, d = self.u, self.v, self.a, size / self.count
        am, af = self.am, self.af
        gamma = 0.5 - am + af
        beta = 0.25 * (gamma + 0.5)
        mass = 1 - am + (1 - af) * beta * d * d * (K + K12)
        for k in range(self.count):
            at = k * d
            u_next = u + d * v + d * d * (0.5 - beta) * a
            v_next = v + d * (1 - gamma) * a
            middle = (1 - af) * u_next + af * u
            a = (self.acceleration(middle, force(at + (1 - af) * d)) - am * a) / mass
            u, v = u_next + d * d * beta * a, v_next + d * gamma * a
            yield at + d, u, v, a


class Newmark(Alpha):
    """The trapezoidal rule, one step a window."""
    count, am, af = 1, 0., 0.


class Published(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon('--workers', '2', '--lane', 'tcp://127.0.0.1:*')
        self.addCleanup(self.daemon.stop)

    def errors(self, methods, windows, scheme, hold):
        """The largest error of each over its substeps until t = 1, one on the lane, one on
        ZeroMQ."""
        names = 'left', 'right'
        reply = self.daemon.call('POST', '/v1/couplings', {
            'participants': [{'name': n, 'partner': {'inputs': ['other'], 'outputs': ['u'],
                                                     'patience': 600}} for n in names],
            'connections': [{'from': 'left.u', 'to': 'right.other'},
                            {'from': 'right.u', 'to': 'left.other'}],
            'scheme': {'type': scheme, **SCHEME}, 'stepSize': 1 / windows, 'hold': hold})
        self.assertEqual(reply.status, 201, reply)
        masses = [method(u, sign) for method, u, sign in zip(methods, (1., 0.), (1, -1))]
        path = '/v1/couplings/' + reply['id']
        with Program(self.daemon, reply['id'], 'left', masses[0], door=LaneSocket,
                     inputOrder=hold), \
                Program(self.daemon, reply['id'], 'right', masses[1], door=over_zeromq,
                        inputOrder=hold):
            reply = self.daemon.call('POST', path + '/step', {'count': windows})
            self.assertEqual(reply.status, 200, reply)
            self.assertAlmostEqual(reply['time'], 1, delta=1e-12)
            self.assertEqual(self.daemon.call('DELETE', path).status, 204)
        return [m.worst for m in masses]

    def test_inputs_linear_over_the_window(self):
        """Serial and implicit; to the published tolerance of 1e-10."""
        for windows, *published in ((5, 3.3437602237727, 1.7357639088740),
                                    (10, .5338006703088, .4833555656170),
                                    (40, .0385803719522, .0408077321687)):
            found = self.errors((RungeKutta, Alpha), windows, 'IQN-ILS', 1)
            for error, expected in zip(found, published):
                self.assertAlmostEqual(error, expected, delta=1e-10, msg=windows)

    def test_values_of_the_ends(self):
        """Explicit, serial and parallel, and implicit; printed with four digits."""
        for scheme, windows, published, digit in (
                ('GaussSeidel', 100, 4.015e-1, 1e-4), ('GaussSeidel', 400, 9.883e-2, 1e-5),
                ('Jacobi', 100, 8.502e-1, 1e-4), ('Jacobi', 400, 1.986e-1, 1e-4),
                ('IQN-ILS', 100, 2.598e-2, 1e-5), ('IQN-ILS', 400, 1.630e-3, 1e-6)):
            found = max(self.errors((Newmark, Newmark), windows, scheme, 0))
            self.assertAlmostEqual(found, published, delta=digit / 2, msg=(scheme, windows))


if __name__ == '__main__':
    unittest.main()
