"""The equations at any point against the closed form of M v' = F(t) - C v - K q, over both doors,
and of items: left- and right-hand sides of a spring-mass-damper."""
import unittest
import models
from harness import HttpDoor, Served, ZmqDoor

M = [[2.0, 0.5], [0.5, 1.0]]
K = [[30.0, -10.0], [-10.0, 20.0]]
C = [[0.3, -0.1], [-0.1, 0.2]]
Q, V, T = [0.3, -0.2], [1.5, 0.25], 0.75


def lti():
    return {'mechd': 1, 'name': 'two degrees of freedom',
            'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': M, 'K': K, 'C': C,
                         'q0': [1, 2], 'v0': [0, 0], 'Fext': ['=4*t', 1]}],
            'solver': {'integrator': 'MoreauJean', 'stepSize': 0.01}}


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def solve(matrix, b):
    (p, q), (r, s) = matrix
    d = p * s - q * r
    return [(s * b[0] - q * b[1]) / d, (p * b[1] - r * b[0]) / d]


class Evaluate(Served):
    def near(self, found, expected):
        flat = [list(r) for r in found] if isinstance(found[0], list) else [found]
        wanted = expected if isinstance(expected[0], list) else [expected]
        self.assertEqual([len(r) for r in flat], [len(r) for r in wanted])
        for x, y in zip(sum(flat, []), sum(wanted, [])):
            self.assertLess(abs(x - y), 1e-12, '%s, %s' % (found, expected))

    def test_linear_system(self):
        forces = [f - c - k for f, c, k in zip([4 * T, 1], times(C, V), times(K, Q))]
        free = [times(matrix, vector) for matrix, vector in ((C, V), (K, Q))]
        minus = lambda m: [[-x for x in row] for row in m]  # noqa: E731
        columns = [solve(M, [-K[0][j], -K[1][j]]) for j in range(2)] + \
                  [solve(M, [-C[0][j], -C[1][j]]) for j in range(2)]
        expected = {
            'lhs': [a + b for a, b in zip(*free)], 'rhs': forces, 'forces': forces, 'mass': M,
            'dFdq': minus(K), 'dFdv': minus(C), 'firstOrder': V + solve(M, forces),
            'rhsJacobian': [[0, 0, 1, 0], [0, 0, 0, 1], [c[0] for c in columns],
                            [c[1] for c in columns]]}
        for door in (HttpDoor(self.daemon), ZmqDoor(self.daemon)):
            i = door.call('create', model=lti())[1]['id']
            before = door.call('get-state', id=i)[1]
            status, reply = door.call('evaluate', id=i, time=T, q=Q, v=V, want=list(expected))
            self.assertEqual(status, 200, reply)
            for name, value in expected.items():
                with self.subTest(door=door.name, want=name):
                    self.near(reply[name], value)
            self.assertEqual(door.call('get-state', id=i)[1], before)

    def test_items(self):
        """Springs act on displacements: LHS = k u + d v, RHS = load - LHS."""
        door = HttpDoor(self.daemon)
        i = self.daemon.create(models.oscillator())
        door.call('set-inputs', id=i, inputs={'force': 2.5})
        reply = door.call('evaluate', id=i, q=[1.25], v=[3.0], want=['lhs', 'rhs', 'mass'])[1]
        self.near(reply['lhs'], [100 * 0.25 + 3.0])
        self.near(reply['rhs'], [2.5 - 28.0])
        self.near(reply['mass'], [[1.0]])

    def test_sparse_matrices(self):
        n = 3000
        row = {'shape': [n, n], 'coo': [[k, k, 2.0] for k in range(n)] + [[0, n - 1, 0.5]]}
        i = self.daemon.create({'mechd': 1, 'objects': [
            {'name': 's', 'type': 'LagrangianLinearTIDS', 'M': {'diag': [3] * n}, 'K': row,
             'q0': [0] * n, 'v0': [0] * n}], 'solver': {'integrator': 'Newmark'}})
        for door in (HttpDoor(self.daemon), ZmqDoor(self.daemon)):
            status, reply = door.call('evaluate', id=i, want=['dFdq', 'mass', 'dFdv'], sparse=True)
            self.assertEqual(status, 200, reply)
            self.assertEqual(reply['dFdq']['shape'], [n, n])
            self.assertEqual(reply['dFdq']['coo'][-2:], [[0, n - 1, -0.5], [n - 1, n - 1, -2]])
            self.assertEqual(len(reply['mass']['coo']), n)
            self.assertEqual(reply['dFdv'], {'shape': [n, n], 'coo': []})
            status, reply = door.call('evaluate', id=i, want=['rhsJacobian'], sparse=True)
            self.assertEqual(status, 429, reply)

    def test_points_that_do_not_fit_are_refused(self):
        door = HttpDoor(self.daemon)
        i = self.daemon.create(lti())
        for fields in ({'q': [1], 'want': ['lhs']}, {'q': 'x', 'want': ['lhs']},
                       {'want': ['nothing']}, {'want': 'lhs'}, {'q': Q, 'wants': ['lhs']}):
            with self.subTest(str(fields)):
                status, reply = door.call('evaluate', id=i, **fields)
                self.assertIn(status, (400, 422))
                self.assertTrue(reply['errors'][0]['pointer'].startswith('/'), reply)


if __name__ == '__main__':
    unittest.main()
