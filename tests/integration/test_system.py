"""The system descriptor of instances against dense algebra from …/evaluate, and against the steps
that solve it: matrices, vectors, products, projections, forms, masks, and what is refused."""
import math
import unittest
import models
from algebra import dense, norm, solve, times, transposed, zeros
from harness import Daemon, HttpDoor, ZmqDoor

SMOOTH = ('four-bar', 'robot-arm', 'double-pendulum', 'spring-mass-damper', 'flexible-cantilever')


def lti(law, H, b=None, q0=(0.0, 0.4, 1.0), v0=(-1.0, 0.5, -2.0), **solver):
    """Three coupled coordinates with one interaction."""
    relation = {'type': 'LagrangianLinearTIR', 'H': H, 'b': b or [0.0] * len(H)}
    return {'mechd': 1, 'objects': [
        {'name': 's', 'type': 'LagrangianLinearTIDS',
         'M': [[2, 0.5, 0], [0.5, 1, 0.1], [0, 0.1, 3]],
         'K': [[30, -10, 0], [-10, 20, 1], [0, 1, 5]],
         'C': [[0.3, -0.1, 0], [-0.1, 0.2, 0], [0, 0, 1]],
         'q0': list(q0), 'v0': list(v0), 'Fext': ['=4*t-30', -20, '=-9.81*cos(t)-9']}],
        'interactions': [{'name': 'touch', 'systems': ['s'], 'relation': relation, 'law': law}],
        'solver': {'integrator': 'MoreauJean', 'stepSize': 0.01, 'theta': 0.6,
                   'vi': {'tolerance': 1e-13}, **solver}}


IMPACT = {'type': 'NewtonImpact', 'e': 0.7}
FRICTION = {'type': 'NewtonImpactFriction', 'dimension': 3, 'en': 0.3, 'mu': 0.4}
NONSMOOTH = {
    'impact': lti(IMPACT, [[1, 0, 0], [0, 1, -0.2]], q0=(-0.01, 0.0, 0.1)),
    'friction': lti(FRICTION, [[1, 0, 0.5], [0, 1, 0], [0.1, 0, 1]], q0=(-0.1, 0.3, 0.1)),
    'equality': lti({'type': 'Equality'}, [[1, 1, 0]]),
    'relay': lti({'type': 'Relay', 'lb': -3, 'ub': 2}, [[0, 1, 0]]),
    'soft stop': lti({'type': 'NewtonImpact', 'compliance': 2e-3, 'damping': 3},
                     [[1, 0, 0]], q0=(-0.01, 0, 0)),
}


def ball(height=0.11, **material):
    """A point with a sphere over the floor, thrown sideways."""
    floor = {'shape': 'Plane', 'material': {'friction': 0.4, **material}}
    sphere = {'shape': 'Sphere', 'radius': 0.1, 'material': {'friction': 0.4, **material}}
    model = models.document(
        'ball', gravity=[0, 0, -9.81],
        nodes=[{'name': 'n', 'type': 'NodePoint', 'referenceCoordinates': [0, 0, height],
                'initialVelocities': [1.5, 0.5, -0.7]}],
        objects=[{'name': 'ball', 'type': 'MassPoint', 'node': 'n', 'physicsMass': 2,
                  'geometry': [sphere]},
                 {'name': 'ground', 'type': 'Ground', 'geometry': [floor]}])
    model['solver'] = {'integrator': 'MoreauJean', 'stepSize': 0.005, 'theta': 0.6,
                       'vi': {'tolerance': 1e-13}}
    return model


def rope(**solver):
    """A weight that falls into a rope of 1 m."""
    model = models.document(
        'rope', gravity=[0, 0, -9.81],
        nodes=[{'name': 'n', 'type': 'NodePoint', 'referenceCoordinates': [0, 0, -0.98]}],
        objects=[{'name': 'ball', 'type': 'MassPoint', 'node': 'n', 'physicsMass': 2},
                 {'name': 'ground', 'type': 'Ground'},
                 {'name': 'rope', 'type': 'DistanceConstraint', 'markers': ['g', 'm'],
                  'distance': 1, 'unilateral': True}],
        markers=[{'name': 'g', 'type': 'MarkerBodyPosition', 'object': 'ground'},
                 {'name': 'm', 'type': 'MarkerNodePosition', 'node': 'n'}])
    model['solver'] = {'stepSize': 0.005, **solver}
    return model


TOUCHING = {'rope': rope(integrator='MoreauJean', theta=0.6, vi={'tolerance': 1e-13}),
            'sliding ball': ball(), 'bouncing ball': ball(restitution=0.8),
            'soft ball': ball(compliance=1e-4, damping=20), 'smooth ball': ball(friction=0)}


class System(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.door = HttpDoor(cls.daemon)
        cls.zmq = ZmqDoor(cls.daemon)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def good(self, op, door=None, **fields):
        status, reply = (door or self.door).call(op, **fields)
        self.assertIn(status, (200, 201), reply)
        return reply

    def refused(self, status, pointer, op, **fields):
        found, reply = self.door.call(op, **fields)
        self.assertEqual(found, status, reply)
        if pointer is not None:
            self.assertIn(pointer, [e['pointer'] for e in reply['errors']])
        return reply

    def example(self, name, steps=0):
        i = self.good('create', example=name)['id']
        if steps:
            self.good('step', id=i, count=steps)
        return i

    def part(self, i, what, **options):
        return dense(self.good('system-part', id=i, what=what, **options))

    def close(self, found, expected, tolerance=1e-13):
        """Entry by entry, relative to the largest one."""
        if found and isinstance(found[0], list):
            self.assertEqual([len(r) for r in found], [len(r) for r in expected])
            found, expected = sum(found, []), sum(expected, [])
        self.assertEqual(len(found), len(expected))
        scale = max([abs(x) for x in expected] + [1e-300])
        for a, b in zip(found, expected):
            self.assertLessEqual(abs(a - b), tolerance * scale, (found, expected))

    # --- what it is made of

    def equations(self, i):
        reply = self.good('evaluate', id=i, want=['mass', 'dFdq', 'dFdv', 'constraintJacobian',
                                                  'forces'])
        minus = [[[-x for x in row] for row in reply[name]] for name in ('dFdq', 'dFdv')]
        return reply['mass'], minus[0], minus[1], reply['constraintJacobian'], reply['forces']

    def test_parts_are_those_of_evaluate(self):
        for name in SMOOTH:
            with self.subTest(name):
                i = self.example(name, 20)
                M, K, C, G, f = self.equations(i)
                n, rows = len(M), len(G)
                self.close(self.part(i, 'M'), M)
                self.close(self.part(i, 'H'), M)
                self.close(self.part(i, 'K'), K)
                self.close(self.part(i, 'C'), C)
                self.close(self.part(i, 'R'), C)
                self.close(self.part(i, 'Cq'), G)
                self.close(self.part(i, 'CqT'), transposed(G, n))
                self.close(self.part(i, 'E'), zeros(rows, rows))
                self.close(self.part(i, 'f'), f)
                b = self.part(i, 'b')
                self.assertEqual(self.part(i, 'd'), self.part(i, 'f') + [-x for x in b])
                Z = [M[k] + [row[k] for row in G] for k in range(n)] + \
                    [G[r] + [0.0] * rows for r in range(rows)]
                self.close(self.part(i, 'Z'), Z)
                self.close(self.part(i, 'diagonal'), [Z[k][k] for k in range(n + rows)])
                self.assertEqual(self.good('system', id=i)['linear'],
                                 name == 'spring-mass-damper')
                counts = self.good('system', id=i)['counts']
                self.assertEqual((counts['velocities'], counts['rows']), (n, rows))

    def test_its_solution_is_the_acceleration_and_the_multipliers(self):
        for name in SMOOTH:
            with self.subTest(name):
                i = self.example(name, 20)
                w = solve(self.part(i, 'Z'), self.part(i, 'd'))
                n = self.good('system', id=i)['counts']['velocities']
                q = self.good('get-state', id=i)['q']
                first = self.good('evaluate', id=i, want=['firstOrder'])['firstOrder']
                self.close(w[:n], first[len(q):len(q) + n], 1e-9)
                l = [-x for x in w[n:]]
                check = self.good('system-feasibility', id=i, w=w[:n], l=l)
                self.assertLess(check['balance'], 1e-12)
                self.assertLess(check['violation'], 1e-9 * max(1, norm(self.part(i, 'b'))))

    def test_contacts_between_shapes_are_rows_of_a_step(self):
        i = self.good('create', model=TOUCHING['sliding ball'])['id']
        self.good('step', id=i, count=20)
        c = self.good('system-blocks', id=i)['constraints'][0]
        self.assertEqual((c['source'], c['kind'], c['rows'], c['mu']), ('contact', 'cone', 3, 0.4))
        self.assertEqual({c['name'], c['with']}, {'ball', 'ground'})
        self.assertLess(abs(c['position']), 1e-3)
        # the impulse of the last step is where the next one begins: the weight on the normal
        h = self.good('system', id=i)['step']
        self.close(self.part(i, 'l')[:1], [2 * 9.81 * h], 1e-9)
        self.assertEqual(self.part(i, 'Cq')[0], [0, 0, 1])
        self.assertEqual(self.good('system', id=i, level='acceleration')['counts']['rows'], 0)
        # what pushes by a penalty is a force
        soft = ball(height=0.1002, compliance=1e-4)
        soft['contact'] = {'method': 'penalty'}
        soft['solver'] = {'integrator': 'GeneralizedAlpha', 'stepSize': 0.001}
        i = self.good('create', model=soft)['id']
        self.assertEqual(self.good('system', id=i, level='velocity')['counts']['rows'], 0)

    def test_compliance_has_the_sign_of_the_whole_matrix(self):
        i = self.good('create', model=NONSMOOTH['soft stop'])['id']
        reach = 0.01 * 0.6 + 2e-3 * 3
        cfm = 2e-3 / (0.01 * 0.6 * reach)
        self.close(self.part(i, 'E'), [[-cfm]])
        self.close(self.part(i, 'diagonal')[3:], [-cfm])
        self.close([self.part(i, 'Z')[3][3]], [-cfm])
        self.close([self.good('system-blocks', id=i)['constraints'][0]['cfm']], [cfm])

    def test_feasibility_is_what_its_formulas_say(self):
        i = self.good('create', model=NONSMOOTH['impact'])['id']
        H, G, f, b = (self.part(i, what) for what in ('H', 'Cq', 'f', 'b'))
        w, l = [1.0, -2.0, 0.5], [3.0, -1.0]
        found = self.good('system-feasibility', id=i, w=w, l=l)
        c = [x + y for x, y in zip(times(G, w), b)]
        Hw, push = times(H, w), times(transposed(G, 3), l)
        r = [x + y for x, y in zip(times(G, solve(H, f)), b)]
        off = [x - max(0, x - y) for x, y in zip(l, c)]
        self.close([found['violation']], [max(0, -c[0], -c[1])])
        self.close([found['complementarity']], [max(abs(x * y) for x, y in zip(l, c))])
        self.close([found['balance']], [norm([x - y - z for x, y, z in zip(Hw, push, f)]) /
                                        max(norm(f), norm(Hw))], 1e-12)
        self.close([found['residual']], [norm(off) / norm(r)], 1e-12)
        # a relay at a bound may move one way, between the bounds it holds
        i = self.good('create', model=NONSMOOTH['relay'])['id']
        c = times(self.part(i, 'Cq'), w)[0] + self.part(i, 'b')[0]
        self.assertLess(c, 0)
        for l, violation in ((0.02, 0), (0.01, -c), (-0.03, -c)):
            found = self.good('system-feasibility', id=i, w=w, l=[l])
            self.close([found['violation']], [violation])

    def test_unknowns_are_those_of_the_state(self):
        i = self.example('four-bar', 20)
        state = self.good('get-state', id=i)
        w, l = self.part(i, 'w'), self.part(i, 'l')
        self.assertEqual((w, l), (state['vdot'], state['lambda']))
        self.assertEqual(self.part(i, 'unknowns'), w + l)
        # the step has fulfilled M v' = f + G^T l to Newton's tolerance
        check = self.good('system-feasibility', id=i, w=w, l=l)
        self.assertLess(check['balance'], 1e-7)
        w = self.part(i, 'w', level='velocity')
        self.assertEqual(w, state['v'])
        h = self.good('system', id=i)['step']
        self.close(self.part(i, 'l', level='velocity'), [h * x for x in l])

    def test_velocity_level_and_factors(self):
        for i in (self.example('robot-arm', 20),
                  self.good('create', model=NONSMOOTH['impact'])['id']):
            M, K, C, _, _ = self.equations(i)
            theta = self.good('system', id=i)['theta']
            step = 0.004 * theta
            H = [[m + step * c + step * step * k for m, c, k in zip(*r)] for r in zip(M, C, K)]
            self.close(self.part(i, 'H', level='velocity', step=0.004), H)
            H = [[2 * m + 0.5 * c + 3 * k for m, c, k in zip(*r)] for r in zip(M, C, K)]
            for door in (self.door, self.zmq):
                found = self.good('system-part', door, id=i, what='H', massFactor=2,
                                  dampingFactor=0.5, stiffnessFactor=3)
                self.close(dense(found), H)
            self.close(self.part(i, 'M', massFactor=2), [[2 * m for m in r] for r in M])
            self.close(self.part(i, 'K', stiffnessFactor=7), K)

    # --- the problem of a step

    def problem(self, i):
        """The descriptor as a problem for /v1/problems/solve, and its active constraints."""
        active = [c for c in self.good('system-blocks', id=i)['constraints'] if c['active']]
        sets = [{k: c[k] for k in ('kind', 'mu', 'lower', 'upper') if k in c} for c in active]
        self.assertEqual([c['offset'] for c in active],
                         [sum(c['rows'] for c in active[:k]) for k in range(len(active))])
        return {'H': self.part(i, 'H'), 'G': self.part(i, 'Cq'), 'f': self.part(i, 'f'),
                'b': self.part(i, 'b'), 'cfm': [-self.part(i, 'E')[k][k]
                                                for k in range(len(self.part(i, 'b')))],
                'sets': sets, 'solver': {'tolerance': 1e-13}}, active

    def test_its_solution_is_a_moreau_jean_step(self):
        beads = self.good('example', name='column-of-beads')
        beads = beads.get('model', beads)
        beads['solver']['vi'] = {'tolerance': 1e-13}
        hits = dict.fromkeys([*NONSMOOTH, *TOUCHING, 'beads'], 0)
        for name, model in [*NONSMOOTH.items(), *TOUCHING.items(), ('beads', beads)]:
            i = self.good('create', model=model)['id']
            if name == 'beads':
                while self.good('step', id=i, count=1)['report']['contacts'] == 0:
                    pass
            for k in range(40):
                self.assertEqual(self.good('system', id=i)['level'], 'velocity')
                problem, active = self.problem(i)
                if active:
                    found = self.good('solve', problem=problem)
                    w, l = found['w'], found['l']
                else:
                    w, l = solve(problem['H'], problem['f']), []
                check = self.good('system-feasibility', id=i, w=w, l=l)
                self.assertLess(check['balance'], 1e-12)
                self.assertLess(check['residual'], 1e-12)
                self.good('step', id=i, count=1)
                state = self.good('get-state', id=i)
                impulse = [0.0] * len(state['impulse'])
                for c in active:
                    for r in range(c['rows']):
                        if c['source'] == 'interaction':
                            impulse[c['row'] + r] = l[c['offset'] + r]
                with self.subTest('%s, step %d' % (name, k)):
                    for found, expected in ((state['v'], w), (state['impulse'], impulse)):
                        self.assertEqual(len(found), len(expected))
                        self.assertLess(norm([a - b for a, b in zip(found, expected)]),
                                        1e-11 * max(1, norm(w)))
                hits[name] += norm(l) > 0
        self.assertTrue(all(n >= 2 for n in hits.values()), hits)

    # --- products

    def test_products_are_those_of_the_matrices(self):
        for i in (self.example('four-bar', 5),
                  self.good('create', model=NONSMOOTH['friction'])['id']):
            Z, E = self.part(i, 'Z'), self.part(i, 'E')
            H, G = self.part(i, 'H'), self.part(i, 'Cq')
            n, rows = len(H), len(G)
            x = [math.sin(1 + 3 * k) for k in range(n + rows)]
            product = self.good('system-product', id=i, x=x)['product']
            self.close(product, times(Z, x[:n] + [-l for l in x[n:]]))
            product = self.good('system-product', self.zmq, id=i, x=x, symmetric=True)['product']
            self.close(product, times(Z, x))
            l = x[n:]
            N = [[sum(g * u for g, u in zip(row, solve(H, other))) for other in G] for row in G]
            N = [[N[r][c] - E[r][c] for c in range(rows)] for r in range(rows)]
            self.close(self.part(i, 'N'), N, 1e-12)
            expected = times(N, l)
            for body in ({}, {'throughStiffness': True}):
                found = self.good('system-schur-product', id=i, l=l, **body)['product']
                self.close(found, expected, 1e-11)
            enabled = [k % 3 != 1 for k in range(rows)]
            masked = times(N, [a if on else 0 for a, on in zip(l, enabled)])
            found = self.good('system-schur-product', id=i, l=l, enabled=enabled)['product']
            self.close(found, [a if on else 0 for a, on in zip(masked, enabled)], 1e-11)

    def test_the_masses_alone_serve_where_they_are_all_of_h(self):
        i = self.example('double-pendulum', 5)
        self.assertTrue(self.good('system', id=i)['lumped'])
        rows = self.good('system', id=i)['counts']['rows']
        l = [1.0 + k for k in range(rows)]
        by_masses = self.good('system-schur-product', id=i, l=l, throughStiffness=False)['product']
        by_H = self.good('system-schur-product', id=i, l=l, throughStiffness=True)['product']
        self.close(by_masses, by_H, 1e-12)
        i = self.good('create', model=NONSMOOTH['impact'])['id']
        self.refused(422, '/throughStiffness', 'system-schur-product', id=i,
                     l=[0] * self.good('system', id=i)['counts']['rows'], throughStiffness=False)
        self.refused(422, None, 'system-schur-product', id=i, massFactor=0, stiffnessFactor=0,
                     dampingFactor=0, l=[0] * self.good('system', id=i)['counts']['rows'])

    def test_projection(self):
        i = self.good('create', model=NONSMOOTH['friction'])['id']
        for l, expected in (([2, 0.3, 0.4], [2, 0.3, 0.4]), ([-1, 0.1, 0.1], [0, 0, 0]),
                            ([0, 3, 4], [2 / 1.16, 0.6 * 0.8 / 1.16, 0.8 * 0.8 / 1.16])):
            self.close(self.good('system-project', id=i, l=l)['l'], expected)
            found = self.good('system-project', self.zmq, id=i, unknowns=[7, 8, 9] + l)['unknowns']
            self.close(found, [7, 8, 9] + expected)
            off = self.good('system-project', id=i, l=l, enabled=[False] * 3)['l']
            self.assertEqual(off, l)
        i = self.good('create', model=NONSMOOTH['relay'])['id']
        # bounds of forces are impulses here
        self.close(self.good('system-project', id=i, l=[1])['l'], [2 * 0.01])
        self.close(self.good('system-project', id=i, l=[1], level='acceleration')['l'], [1])
        i = self.example('four-bar')
        l = [-3.0 + k for k in range(self.good('system', id=i)['counts']['rows'])]
        self.assertEqual(self.good('system-project', id=i, l=l)['l'], l)

    # --- which blocks take part

    def test_blocks_are_listed(self):
        i = self.example('double-pendulum', 3)
        blocks = self.good('system-blocks', id=i)
        state = self.good('get-state', id=i)
        self.assertEqual(sum(v['dof'] for v in blocks['variables']), len(state['v']))
        for v in blocks['variables']:
            self.assertEqual(v['offset'], v['first'])
            self.assertTrue(v['active'])
        self.assertEqual(sum(c['rows'] for c in blocks['constraints']), len(state['lambda']))
        self.assertEqual({c['kind'] for c in blocks['constraints']}, {'bilateral'})
        self.assertEqual({c['source'] for c in blocks['constraints']}, {'joint'})

    def test_frozen_variables_drop_out(self):
        i = self.example('four-bar', 5)
        blocks = self.good('system-blocks', id=i)['variables']
        v = blocks[1]
        keep = [k for k in range(sum(b['dof'] for b in blocks))
                if not v['first'] <= k < v['first'] + v['dof']]
        Cq, f = self.part(i, 'Cq'), self.part(i, 'f')
        self.assertEqual(self.part(i, 'Cq', frozen=v['name']), [[r[k] for k in keep] for r in Cq])
        self.assertEqual(self.part(i, 'f', frozen=v['name']), [f[k] for k in keep])
        self.assertEqual(self.good('system', id=i, frozen=v['name'])['counts']['frozen'], 1)
        listed = self.good('system-blocks', id=i, frozen=v['name'])['variables']
        self.assertEqual([b['offset'] for b in listed], [0, None, blocks[0]['dof']])
        x = [1.0] * (len(keep) + len(Cq))
        whole = self.good('system-product', id=i, x=x, frozen=[v['name']])['product']
        self.close(whole, times(self.part(i, 'Z', frozen=v['name']),
                                x[:len(keep)] + [-1.0] * len(Cq)))
        self.refused(422, '/frozen', 'system', id=i, frozen='nobody')
        self.refused(422, '/frozen/0', 'system-product', id=i, x=x, frozen=['nobody'])

    def test_only_bilateral_rows_on_demand(self):
        model = lti(IMPACT, [[1, 0, 0]], q0=(-0.1, 0, 0))
        model['interactions'].append({**NONSMOOTH['equality']['interactions'][0], 'name': 'eq'})
        i = self.good('create', model=model)['id']
        both = {what: self.part(i, what) for what in ('Cq', 'b', 'd', 'l', 'N', 'Z', 'diagonal')}
        only = {what: self.part(i, what, bilateral='only') for what in both}
        self.assertEqual(only['Cq'], [both['Cq'][1]])
        self.assertEqual(only['b'], [both['b'][1]])
        self.assertEqual(only['d'], both['d'][:3] + [both['d'][4]])
        self.assertEqual(only['diagonal'], both['diagonal'][:3] + [both['diagonal'][4]])
        self.close(only['N'], [[both['N'][1][1]]])
        keep = [0, 1, 2, 4]
        self.assertEqual(only['Z'], [[both['Z'][r][c] for c in keep] for r in keep])
        self.assertEqual(len(self.part(i, 'unknowns', bilateral='only')), 4)

    def test_contacts_take_part_by_the_activation_rule(self):
        model = lti(IMPACT, [[1, 0, 0], [0, 0, 1]], q0=(0.004, 0, 0.02))
        i = self.good('create', model=model)['id']
        # y + gamma h y' is -0.001 and 0.01
        listed = self.good('system-blocks', id=i)['constraints']
        self.assertEqual([c['flags'] for c in listed], [[], ['free']])
        self.assertEqual([c['offset'] for c in listed], [0, None])
        self.close([c['position'] for c in listed], [0.004, 0.02])
        self.assertEqual(len(self.part(i, 'b')), 1)
        self.close(self.part(i, 'b', contacts='all'), [0.7 * -1, 0.7 * -2])
        self.close(self.part(i, 'b', contacts='all', level='acceleration'), [0, 0])

    def test_one_sided_joints(self):
        model = rope()
        model['nodes'][0]['referenceCoordinates'] = [0, 0, -1]
        i = self.good('create', model=model)['id']
        for steps in (0, 3):
            if steps:
                self.good('step', id=i, count=steps)
            c = self.good('system-blocks', id=i)['constraints'][0]
            self.assertEqual((c['kind'], c['mirrored'], c['active']), ('unilateral', True, True))
        # the weight hangs on it: l >= 0 though the joint's multiplier is negative
        l = self.part(i, 'l')[0]
        self.assertAlmostEqual(l, 2 * 9.81, delta=1e-8)
        self.assertEqual(self.good('get-state', id=i)['lambda'], [-l])
        self.close(times(self.part(i, 'CqT'), [l]), [0, 0, 2 * 9.81], 1e-9)
        # thrown up it comes off
        self.good('set-state', id=i, v=[0, 0, 2])
        self.good('step', id=i, count=5)
        self.assertEqual(self.good('system-blocks', id=i)['constraints'][0]['flags'], ['free'])
        step = self.good('system-blocks', id=i, level='velocity')['constraints'][0]
        self.assertEqual(step['flags'], [])
        self.good('set-state', id=i, q=[0, 0, 0.5])
        self.assertEqual(self.good('system-blocks', id=i)['constraints'][0]['flags'], ['free'])
        self.assertEqual(self.good('system', id=i)['counts']['rows'], 0)

    # --- forms

    def test_text_has_the_same_numbers(self):
        i = self.good('create', model=NONSMOOTH['friction'])['id']
        one = '/v1/instances/%s/system/' % i
        for what in ('H', 'Cq', 'Z', 'E', 'd'):
            expected = self.part(i, what)
            vector = not isinstance(expected[0], list)
            mtx = self.daemon.call('GET', one + what + '?format=mtx')
            self.assertEqual(mtx.headers['Content-Type'], 'text/x-matrix-market')
            lines = mtx.raw.decode().splitlines()
            self.assertEqual(lines[0], '%%%%MatrixMarket matrix %s real general' % (
                'array' if vector else 'coordinate'))
            sizes = [int(x) for x in lines[1].split()]
            self.assertEqual(sizes[:2], [len(expected), 1 if vector else len(expected[0])])
            coo = self.daemon.call('GET', one + what + '?format=coo1')
            self.assertTrue(coo.headers['Content-Type'].startswith('text/plain'))
            if vector:
                self.assertEqual([float(x) for x in lines[2:]], expected)
                self.assertEqual([float(x) for x in coo.raw.split()], expected)
                continue
            for text in (lines[2:], coo.raw.decode().splitlines()):
                A = zeros(sizes[0], sizes[1])
                for line in text:
                    r, c, value = line.split()
                    A[int(r) - 1][int(c) - 1] = float(value)
                self.assertEqual(A, expected)
        status, reply = self.zmq.call('system-part', id=i, what='H', format='mtx')
        self.assertEqual(status, 200, reply)
        self.assertEqual(reply['text'].encode(),
                         self.daemon.call('GET', one + 'H?format=mtx').raw)

    def test_accept_chooses_the_form(self):
        one = '/v1/instances/%s/system' % self.good('create', model=NONSMOOTH['impact'])['id']
        for accept, kind in (('*/*', 'application/json'), ('text/plain', 'text/plain'),
                             ('text/*', 'text/x-matrix-market'),
                             ('text/plain;q=0.2, application/*;q=0.3', 'application/json'),
                             ('text/x-matrix-market, */*;q=0.1', 'text/x-matrix-market'),
                             ('application/json;q=0, */*', 'text/x-matrix-market')):
            with self.subTest(accept):
                reply = self.daemon.call('GET', one + '/H', headers={'Accept': accept})
                self.assertEqual((reply.status, reply.headers['Content-Type'].split(';')[0]),
                                 (200, kind))
        for path, accept in (('/H', 'image/png'), ('/H', 'application/json;q=0'),
                             ('', 'text/plain')):
            reply = self.daemon.call('GET', one + path, headers={'Accept': accept})
            self.assertEqual((reply.status, reply['code']), (406, 'not-acceptable'))
        reply = self.daemon.call('GET', one + '?format=archive')
        self.assertEqual(reply.headers['Content-Type'], 'application/vnd.mechd.system')
        self.assertEqual(reply.raw, self.daemon.call('GET', one + '?format=archive').raw)
        self.assertEqual(self.zmq.call('system', id=one.split('/')[3], format='archive')[0], 406)

    # --- sizes

    def test_large_systems_cost_what_their_pattern_costs(self):
        """With dense matrices of 20,000 coordinates the daemon would need 3.2 GB for each."""
        n = 20000
        coo = [[k, k, 2.0] for k in range(n)] + [[k, k + 1, -1.0] for k in range(n - 1)] + \
              [[k + 1, k, -1.0] for k in range(n - 1)]
        i = self.good('create', model={
            'mechd': 1, 'objects': [
                {'name': 's', 'type': 'LagrangianLinearTIDS', 'M': {'diag': [3.0] * n},
                 'K': {'shape': [n, n], 'coo': coo}, 'q0': [0.0] * n, 'v0': [0.0] * n}],
            'interactions': [{'name': 'stop', 'systems': ['s'], 'law': IMPACT, 'relation': {
                'type': 'LagrangianLinearTIR',
                'H': {'shape': [1, n], 'coo': [[0, n - 1, 1.0]]}, 'b': [0]}}],
            'solver': {'integrator': 'MoreauJean', 'stepSize': 0.001}})['id']
        self.assertEqual(len(self.good('system-part', id=i, what='K')['coo']), 3 * n - 2)
        self.assertEqual(len(self.good('system-part', id=i, what='H')['coo']), 3 * n - 2)
        self.assertEqual(len(self.good('system-part', id=i, what='Z')['coo']), 3 * n)
        x = [1.0] * (n + 1)
        product = self.good('system-product', id=i, x=x)['product']
        self.assertEqual(len(product), n + 1)
        self.assertAlmostEqual(product[n // 2], 3.0, delta=1e-14)
        self.assertGreater(self.good('system-schur-product', id=i, l=[1.0])['product'][0], 0.3)

    def test_a_chain_of_items_has_a_block_for_each_neighbour(self):
        n = 1000
        nodes = [{'name': 'n%d' % k, 'type': 'Node1D'} for k in range(n)]
        mass = [{'name': 'm%d' % k, 'type': 'Mass1D', 'node': 'n%d' % k, 'physicsMass': 2}
                for k in range(n)]
        marker = [{'name': 'x%d' % k, 'type': 'MarkerNodeCoordinate', 'node': 'n%d' % k,
                   'coordinate': 0} for k in range(n)]
        spring = [{'name': 's%d' % k, 'type': 'CoordinateSpringDamper', 'stiffness': 100,
                   'damping': 1, 'markers': ['x%d' % k, 'x%d' % (k + 1)]} for k in range(n - 1)]
        i = self.good('create', model=models.document(
            'chain', nodes=nodes, objects=mass + spring, markers=marker))['id']
        blocks = self.good('system-blocks', id=i)
        self.assertEqual(len(blocks['variables']), n)
        self.assertEqual({v['massNumber'] for v in blocks['variables']}, {0})
        self.assertEqual(len(blocks['blocks']), 2 * n - 1)
        self.assertEqual(self.good('system', id=i)['counts']['masses'], 1)
        K = self.good('system-part', id=i, what='K')
        self.assertEqual(len(K['coo']), 3 * n - 2)
        self.assertEqual(K['coo'][3], [1, 1, 200])

    # --- refusals, and what must not happen

    def test_what_cannot_be_is_refused_with_its_place(self):
        i = self.good('create', model=NONSMOOTH['friction'])['id']
        for pointer, op, fields in (
                ('/level', 'system', {'level': 'force'}), ('/step', 'system', {'step': 0}),
                ('/step', 'system', {'step': 'nan'}),
                ('/massFactor', 'system', {'massFactor': 'x'}),
                ('/contacts', 'system', {'contacts': 'some'}),
                ('/bilateral', 'system', {'bilateral': 'yes'}),
                ('/x', 'system-product', {}), ('/x', 'system-product', {'x': [1] * 5}),
                ('/x', 'system-product', {'x': [1] * 7}),
                ('/x/0', 'system-product', {'x': ['a'] * 6}),
                ('/symmetric', 'system-product', {'x': [1] * 6, 'symmetric': 1}),
                ('/y', 'system-product', {'y': [1]}),
                ('/l', 'system-schur-product', {'l': [1, 2]}),
                ('/enabled', 'system-schur-product', {'l': [1, 2, 3], 'enabled': [True]}),
                ('/enabled/1', 'system-project', {'l': [1, 2, 3], 'enabled': [True, 1, True]}),
                ('/l', 'system-project', {}),
                ('/l', 'system-project', {'l': [1, 2, 3], 'unknowns': [1] * 6}),
                ('/w', 'system-feasibility', {'l': [1, 2, 3]}),
                ('/frozen', 'system-product', {'x': [1] * 6, 'frozen': 5}),
                ('/massFactor', 'system-product', {'x': [1] * 6, 'massFactor': 'big'})):
            with self.subTest('%s %s' % (op, fields)):
                self.refused(422, pointer, op, id=i, **fields)
        reply = self.refused(422, None, 'system-product', id=i, x=[1.7e308] * 6)
        self.assertEqual(reply['code'], 'not-finite', reply)
        self.assertIn('number 0 of', reply['detail'])
        for what in ('Q', 'h', 'systems'):
            self.refused(404, None, 'system-part', id=i, what=what)
        self.refused(404, None, 'system', id='nobody')
        self.refused(406, None, 'system-part', id=i, what='H', format='csv')
        reply = self.daemon.call('POST', '/v1/instances/%s/system/H' % i, {})
        self.assertEqual(reply.status, 405)
        reply = self.daemon.call('POST', '/v1/instances/%s/system/product' % i, b'1',
                                 {'Content-Type': 'text/plain'})
        self.assertEqual(reply.status, 415)

    def test_asking_changes_nothing(self):
        model = NONSMOOTH['impact']
        watched, alone = (self.good('create', model=model)['id'] for _ in range(2))
        for _ in range(5):
            for what in ('Z', 'N', 'd'):
                self.part(watched, what)
            self.good('system-project', id=watched, l=[1.0] * len(self.part(watched, 'b')))
            for i in (watched, alone):
                self.good('step', id=i, count=2)
            self.assertEqual(self.good('get-state', id=watched), self.good('get-state', id=alone))


if __name__ == '__main__':
    unittest.main()
