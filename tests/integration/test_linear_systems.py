"""LagrangianLinearTIDS as its namesake's methods see it: M v' + C v + K q = F_ext(t, z), with z and
each operator changed while the system lives; forces, right-hand side and Jacobians follow."""
import math
import unittest
from harness import Daemon, HttpDoor, ZmqDoor

M, K, C = [[2.0, 0.5], [0.5, 1.0]], [[30.0, -10.0], [-10.0, 20.0]], [[0.3, -0.1], [-0.1, 0.2]]
Q, V, T = [0.3, -0.2], [1.5, 0.25], 0.75


def system(**fields):
    return {'mechd': 1, 'objects': [
        {'name': 's', 'type': 'LagrangianLinearTIDS', 'M': M, 'q0': Q, 'v0': V, **fields}],
        'solver': {'integrator': 'MoreauJean', 'stepSize': 0.01}}


def times(A, x):
    return [sum(a * b for a, b in zip(row, x)) for row in A]


def solve(b):
    """M^-1 b"""
    (p, q), (r, s) = M
    d = p * s - q * r
    return [(s * b[0] - q * b[1]) / d, (p * b[1] - r * b[0]) / d]


def zeros():
    return [[0.0, 0.0], [0.0, 0.0]]


class LinearSystems(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.doors = (HttpDoor(cls.daemon), ZmqDoor(cls.daemon))

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def good(self, op, door=0, **fields):
        status, reply = self.doors[door].call(op, **fields)
        self.assertIn(status, (200, 201), reply)
        return reply

    def near(self, found, expected):
        if isinstance(expected[0], list):
            found, expected = sum(found, []), sum(expected, [])
        self.assertEqual(len(found), len(expected))
        for a, b in zip(found, expected):
            self.assertAlmostEqual(a, b, delta=1e-13 * max(1, abs(b)))

    def check(self, i, K, C, F, door=0, **point):
        """Everything that evaluate returns, at (T, Q, V)."""
        forces = [f - c - k for f, c, k in zip(F, times(C, V), times(K, Q))]
        found = self.good('evaluate', door, id=i, time=T, q=Q, v=V, **point, want=[
            'forces', 'dFdq', 'dFdv', 'firstOrder', 'rhsJacobian', 'mass'])
        minus = [[[-x for x in row] for row in A] for A in (K, C)]
        self.near(found['mass'], M)
        self.near(found['forces'], forces)
        self.near(found['dFdq'], minus[0])
        self.near(found['dFdv'], minus[1])
        self.near(found['firstOrder'], V + solve(forces))
        columns = [solve([row[j] for row in A]) for A in minus for j in range(2)]
        self.near(found['rhsJacobian'], [[0, 0, 1, 0], [0, 0, 0, 1]] +
                  [[c[r] for c in columns] for r in range(2)])
        self.assertTrue(self.good('system', door, id=i)['linear'])
        self.near(self.good('system-part', door, id=i, what='K')['rows'], K)
        self.near(self.good('system-part', door, id=i, what='C')['rows'], C)

    def test_mass_alone(self):
        i = self.good('create', model=system(Fext=['=4*t', 1]))['id']
        self.check(i, zeros(), zeros(), [4 * T, 1])

    def test_operators_of_a_live_system(self):
        for door in (0, 1):
            i = self.good('create', door, model=system(K=K, C=C, Fext=['=4*t', 1]))['id']
            self.check(i, K, C, [4 * T, 1], door)
            self.good('step', door, id=i, count=3)
            stiff, damped = [[50, -5], [-5, 60]], [[1.0, 0.0], [0.0, 2.0]]
            before = self.good('get-state', door, id=i)
            self.good('set-field', door, id=i, name='s', field='K', value=stiff)
            self.check(i, stiff, C, [4 * T, 1], door)
            self.good('set-field', door, id=i, name='s', field='C', value={'diag': [1, 2]})
            self.check(i, stiff, damped, [4 * T, 1], door)
            self.good('set-field', door, id=i, name='s', field='Fext', value=[7, '=sin(t)'])
            self.check(i, stiff, damped, [7, math.sin(T)], door)
            after = self.good('get-state', door, id=i)
            self.assertEqual([after[k] for k in 'qv'], [before[k] for k in 'qv'])
            self.assertEqual(after['time'], before['time'])
            # they are read back as they were set
            item = self.good('model', door, id=i)['objects'][0]
            self.assertEqual((item['K'], item['C']['diag'], item['Fext']),
                             (stiff, [1, 2], [7, '=sin(t)']))

    def test_forces_read_z(self):
        i = self.good('create', model=system(K=K, C=C, z=[2, 0.5],
                                             Fext=['=z0*t', '=z1+z0^2']))['id']
        self.check(i, K, C, [2 * T, 4.5])
        self.check(i, K, C, [-3 * T, 10], z=[-3, 1])
        self.assertEqual(self.good('get-state', id=i)['z'], [2, 0.5])
        self.good('set-state', id=i, z=[1, 8])
        self.check(i, K, C, [T, 9])
        self.good('step', id=i, count=2)
        self.assertEqual(self.good('get-state', id=i)['z'], [1, 8])

    def test_a_changed_system_moves_as_one_that_was_so_from_the_start(self):
        i = self.good('create', model=system(K=K, C=C, Fext=[0, 0]))['id']
        j = self.good('create', model=system(K=zeros(), C=C, Fext=[0, 0]))['id']
        self.good('set-field', id=j, name='s', field='K', value=K)
        for k in (i, j):
            self.good('step', id=k, count=50)
        self.assertEqual(self.good('get-state', id=i), self.good('get-state', id=j))

    def test_operators_that_do_not_fit_are_refused(self):
        i = self.good('create', model=system(K=K, C=C))['id']
        for field, value in (('K', [[1]]), ('K', 'x'), ('C', [[1, 2]]), ('Fext', [1]),
                             ('Fext', ['=nobody', 0]), ('M', [[1, 0], [0, 0]])):
            with self.subTest('%s %s' % (field, value)):
                status, reply = self.doors[0].call('set-field', id=i, name='s', field=field,
                                                   value=value)
                self.assertEqual(status, 422, reply)
                self.assertTrue(reply['errors'][0]['pointer'].startswith('/'), reply)
                self.check(i, K, C, [0, 0])


if __name__ == '__main__':
    unittest.main()
