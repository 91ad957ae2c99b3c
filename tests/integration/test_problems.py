"""POST /v1/problems/solve: published complementarity and friction problems, a system with its
velocities, and requests that cannot be, over both doors."""
import math
import os
import unittest
from harness import Daemon, HttpDoor, ZmqDoor

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden', 'friction')
MURTY = [[1 if i == j else 2 if i < j else 0 for j in range(6)] for i in range(6)]
SPHERE = {'N': {'diag': [1, 3.5, 3.5]}, 'r': [-0.04905, 1, 0], 'mu': [0.4]}


def golden(name):
    """dimension, contacts, entries; row column value of N; r; mu"""
    with open(os.path.join(GOLDEN, name + '.txt'), encoding='utf-8') as f:
        words = [w for line in f if not line.startswith('#') for w in line.split()]
    rows, contacts, entries = (int(w) for w in words[:3])
    numbers = [float(w) for w in words[3:]]
    coo = [[int(numbers[k]), int(numbers[k + 1]), numbers[k + 2]]
           for k in range(0, 3 * entries, 3)]
    rest = numbers[3 * entries:]
    m = rows * contacts
    return {'N': {'shape': [m, m], 'coo': coo}, 'r': rest[:m], 'mu': rest[m:m + contacts],
            'dimension': rows}


def norm(x):
    return math.sqrt(sum(v * v for v in x))


class Problems(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.doors = (HttpDoor(cls.daemon), ZmqDoor(cls.daemon))

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def solve(self, problem, door=0):
        status, reply = self.doors[door].call('solve', problem=problem)
        self.assertEqual(status, 200, reply)
        return reply

    def near(self, found, expected, tolerance=1e-9):
        self.assertEqual(len(found), len(expected))
        for a, b in zip(found, expected):
            self.assertAlmostEqual(a, b, delta=tolerance)

    def test_complementarity(self):
        for door in (0, 1):
            reply = self.solve({'N': [[2, 1], [1, 2]], 'r': [-5, -6]}, door)
            self.near(reply['l'], [4 / 3, 7 / 3])
            self.near(reply['c'], [0, 0])
            self.assertTrue(reply['report']['converged'])
        self.near(self.solve({'N': [[2, 1], [1, 2]], 'r': [-4, -5]})['l'], [1, 2])
        small = self.solve({'N': {'diag': [2, 4]}, 'r': [-5, 6], 'solver': {'type': 'lemke'}})
        self.near(small['l'], [2.5, 0])
        self.near(small['c'], [0, 6])
        murty = self.solve({'N': MURTY, 'r': [-126, -124, -120, -112, -96, -64],
                            'solver': {'type': 'lemke'}})
        self.assertEqual(murty['report']['iterations'], 63)
        self.near(murty['l'], [0, 0, 0, 0, 0, 64])

    def test_the_chain_ends_with_the_first_solver_that_succeeds(self):
        rover = self.solve({**golden('rover'), 'solver': {'tolerance': 1e-10}})
        self.assertEqual(rover['report']['solver'], 'nsgs')
        self.assertAlmostEqual(norm(rover['l']), 54.379377, delta=1e-6)
        hard = self.solve({**golden('one_object'), 'solver': {'tolerance': 1e-10,
                                                              'maxIterations': 2000}})
        self.assertEqual(hard['report']['solver'], 'semismooth')
        self.assertAlmostEqual(norm(hard['c']), 1.30701, delta=1e-5)
        heap = self.solve({**golden('confeti'), 'solver': {'type': 'admm', 'tolerance': 1e-8}})
        self.assertAlmostEqual(norm(heap['c']), 34.1944, delta=1e-3)

    def test_the_law_of_friction_is_the_one_asked_for(self):
        coulomb = self.solve(SPHERE)
        self.near(coulomb['c'][:1], [0])
        self.near(coulomb['l'], [0.04905, -0.4 * 0.04905, 0])
        associated = self.solve({**SPHERE, 'friction': 'associated',
                                 'sets': [{'kind': 'cone', 'mu': 0.4}], 'mu': []})
        self.near(associated['l'][:1], [0.287853], 5e-7)
        # the one-row box stops at its bound, the bilateral row does not care
        boxed = self.solve({'N': {'diag': [2, 2]}, 'r': [-8, 8],
                            'sets': [{'kind': 'box', 'lower': -1, 'upper': 3},
                                     {'kind': 'bilateral'}]})
        self.near(boxed['l'], [3, -4])
        # rolling: the torque is bounded by the normal force
        rolling = self.solve({'N': {'diag': [1] * 6}, 'r': [-2, 0.1, 0, 0, 9, 0],
                              'sets': [{'kind': 'rolling', 'mu': 0.5, 'rolling': 0.25}],
                              'solver': {'tolerance': 1e-11}})
        self.near(rolling['l'], [2, -0.1, 0, 0, -0.5, 0])

    def test_a_system_gives_its_velocities(self):
        # two masses of 1 and 2 kg are pushed into a wall and into each other
        reply = self.solve({'H': {'diag': [1, 2]}, 'f': [-3, -8], 'b': [0, 0],
                            'G': [[1, 0], [-1, 1]]})
        self.near(reply['w'], [0, 0])
        self.near(reply['l'], [11, 8])
        soft = self.solve({'H': {'diag': [1, 2]}, 'f': [-3, -8], 'b': [0, 0], 'cfm': [0.5, 0],
                           'G': [[1, 0], [-1, 1]]})
        self.near([soft['w'][0] + 0.5 * soft['l'][0]], [0])

    @staticmethod
    def row_of_masses(bodies, stiffness):
        """masses of three velocities in a row on springs (none: 0), each pressed on a floor"""
        n = 3 * bodies
        springs = [[i, i + 3, -stiffness] for i in range(n - 3)]
        diagonal = [[i, i, 1 + i % 2 + stiffness * ((i >= 3) + (i < n - 3))] for i in range(n)]
        h = {'diag': [1 + i % 2 for i in range(n)]} if stiffness == 0 else {
            'shape': [n, n], 'coo': diagonal + springs + [[j, i, v] for i, j, v in springs]}
        # neighbours' floors touch one another as well: rows of two entries
        g = [[i, i, 1] for i in range(n)] + [[i, i + 3, -0.25] for i in range(0, n - 3, 3)]
        return {'H': h, 'f': [-0.05 if i % 3 == 0 else 0.02 * (i % 5 - 2) for i in range(n)],
                'G': {'shape': [n, n], 'coo': g}, 'b': [0.001 * (i % 4) for i in range(n)],
                'mu': [0.3] * bodies}

    def test_systems_are_solved_without_their_matrix_of_rows(self):
        # one unique w under the associated law, for any solver and any form of N
        for stiffness in (0, 25):
            problem = {**self.row_of_masses(100, stiffness), 'friction': 'associated'}
            found = {}
            for name in (None, 'apgd', 'admm', 'barzilai', 'nsgs', 'psor'):
                solver = {'tolerance': 1e-10, 'maxIterations': 50000}
                reply = self.solve({**problem, 'solver': {**solver, **({'type': name} if name
                                                                       else {})}})
                self.assertTrue(reply['report']['converged'])
                found[name] = reply
            # springs: the chain of those that need no N; none: N is as sparse as G
            self.assertEqual(found[None]['report']['solver'], 'apgd' if stiffness else 'nsgs')
            for name, reply in found.items():
                with self.subTest(name, stiffness=stiffness):
                    self.near(reply['w'], found['nsgs']['w'], 1e-8)
                    # c = G w + b, however N was had
                    speeds = list(problem['b'])
                    for i, j, v in problem['G']['coo']:
                        speeds[i] += v * reply['w'][j]
                    self.near(reply['c'], speeds)

    def test_more_rows_than_a_full_matrix_may_have(self):
        for stiffness, solver in ((0, 'nsgs'), (25, 'apgd')):
            problem = self.row_of_masses(1500, stiffness)
            reply = self.solve({**problem, 'solver': {'tolerance': 1e-8, 'maxIterations': 5000}})
            self.assertEqual(reply['report']['solver'], solver)
            self.assertEqual(len(reply['w']), 4500)
            for k in range(0, 4500, 3):
                l, c = reply['l'][k:k + 3], reply['c'][k:k + 3]
                self.assertLessEqual(math.hypot(l[1], l[2]), 0.3 * l[0] + 1e-7)
                self.assertGreaterEqual(c[0], -1e-7)
                # Coulomb's law: where it slides, friction is full and against it
                if math.hypot(c[1], c[2]) > 1e-5:
                    self.assertAlmostEqual(math.hypot(l[1], l[2]), 0.3 * l[0], delta=1e-6)

    def test_failure_is_reported(self):
        hopeless = {'N': [[0, 0], [0, 1]], 'r': [-1, 1]}
        status, reply = self.doors[0].call('solve', problem=hopeless)
        self.assertEqual((status, reply['code']), (422, 'vi-not-converged'))
        accepted = self.solve({**golden('one_object'), 'solver': {
            'type': 'nsgs', 'maxIterations': 20, 'onFailure': 'accept'}})
        self.assertFalse(accepted['report']['converged'])
        self.assertGreater(accepted['report']['residual'], 1e-10)
        solvable = {'N': [[0, 1], [1, 0]], 'r': [-1, -1]}
        self.near(self.solve({**solvable, 'solver': {'type': 'lemke'}})['l'], [1, 1])
        for name in ('jacobi', 'nsgs', 'psor'):
            with self.subTest(name):
                solver = {'type': name, 'onFailure': 'accept'}
                status, reply = self.doors[0].call('solve', problem={**solvable, 'solver': solver})
                self.assertEqual((status, reply['code']), (422, 'singular-system'))

    def test_what_has_no_solution_is_named_whichever_solver_is_asked(self):
        for problem, rows in (({'N': [[0, 0], [0, 1]], 'r': [-1, 1]}, 'row 0 cannot'),
                              ({'N': {'shape': [3, 3], 'coo': []}, 'r': [-1, 0, 0], 'mu': [0.5]},
                               'row 0 cannot'),
                              ({'N': [[1, -1], [-1, 1]], 'r': [-1, -1]}, 'rows 0, 1 cannot')):
            for name in ('admm', 'apgd', 'barzilai', 'jacobi', 'nsgs', 'psor', 'semismooth'):
                with self.subTest('%s %s' % (rows, name)):
                    status, reply = self.doors[0].call('solve', problem={
                        **problem, 'solver': {'type': name}})
                    self.assertEqual((status, reply['code']), (422, 'vi-not-converged'))
                    self.assertIn(rows, reply['detail'])

    def test_what_overflows_is_not_called_solved(self):
        """l = (16, 0) is exact and c₂ = 1.6e309: no number."""
        problem = {'N': [[1, 0], [1e308, 1]], 'r': [-16, 0]}
        for name in (None, 'apgd', 'jacobi', 'lemke', 'nsgs', 'psor'):
            solver = {'type': name} if name else {}
            with self.subTest(name):
                status, reply = self.doors[0].call('solve', problem={**problem, 'solver': solver})
                self.assertEqual((status, reply['code']), (422, 'vi-not-converged'))
                best = self.solve({**problem, 'solver': {**solver, 'onFailure': 'accept'}})
                self.assertFalse(best['report']['converged'])
                self.assertNotIn(None, best['l'] + best['c'])

    def test_what_cannot_be_is_refused_with_its_place(self):
        plain = {'N': [[1, 0], [0, 1]], 'r': [1, 1]}
        for change, pointer in (
                ({'r': [1]}, '/problem/r'), ({'l': [1]}, '/problem/l'), ({'N': None}, '/problem/N'),
                ({'mu': [0.1]}, '/problem/mu'), ({'mu': [-1]}, '/problem/mu/0'),
                ({'N': [[1, 0]]}, '/problem/N'), ({'r': ['=k', 1]}, '/problem/r/0'),
                ({'sets': [{'kind': 'ball'}]}, '/problem/sets/0/kind'),
                ({'sets': [{'kind': 'box', 'lower': 1, 'upper': 0}, {'kind': 'bilateral'}]},
                 '/problem/sets/0/lower'),
                ({'sets': [{'kind': 'bilateral'}] * 2, 'mu': [0.1]}, '/problem/mu'),
                ({'N': {'shape': [10 ** 6, 10 ** 6], 'coo': [[0, 0, 1]]}}, '/problem/N'),
                ({'solver': {'type': 'magic'}}, '/problem/solver/type'),
                ({'solver': {'type': 'minres'}}, '/problem/solver/type'),
                ({'solver': {'tolerance': 0}}, '/problem/solver/tolerance'),
                ({'solver': {'maxIterations': 1000000000}}, None),
                ({'H': [[1]]}, '/problem'), ({'friction': 'none'}, '/problem/friction')):
            with self.subTest(str(change)):
                status, reply = self.doors[0].call('solve', problem={**plain, **change})
                if pointer is None:
                    self.assertEqual(status, 200, reply)
                    continue
                self.assertEqual(status, 422, reply)
                self.assertIn(pointer, [e['pointer'] for e in reply['errors']])
        big = golden('confeti')
        status, reply = self.doors[0].call('solve', problem={
            **big, 'solver': {'maxIterations': 1000000000}})
        self.assertEqual(reply['errors'][0]['pointer'], '/problem/solver/maxIterations')


if __name__ == '__main__':
    unittest.main()
