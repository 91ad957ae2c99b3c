"""Joints and constraints are let go and taken up while an instance lives: sizes stay, a row that is
let go has no reaction, and to take one up is an impact."""
import math
import shutil
import tempfile
import unittest

import models
from harness import Served
from keeping import Kept

EXPLICIT = ('RK44', 'ExplicitEuler', 'DOPRI5')


class Latches(Served):
    def create(self, model):
        return '/v1/instances/' + self.daemon.create(model)

    def call(self, method, path, body=None, status=200):
        reply = self.daemon.call(method, path, body)
        self.assertEqual(reply.status, status, reply)
        return reply.json

    def act(self, path, name, value, status=200):
        return self.call('PUT', '%s/objects/%s/fields/active' % (path, name), {'value': value},
                         status)

    def state(self, path):
        return self.call('GET', path + '/state')

    def test_a_clutch_that_closes_keeps_the_momentum(self):
        for integrator in models.IMPLICIT:
            with self.subTest(integrator=integrator):
                path = self.create(models.clutch(integrator))
                self.call('POST', path + '/step', {'count': 100})
                before = self.state(path)
                self.assertEqual(before['lambda'], [0])
                for k, v in enumerate((4, -1)):
                    self.assertAlmostEqual(before['v'][k], v, delta=1e-13)
                reply = self.act(path, 'clutch', True)
                # 2 * 4 - 3 * 1 = 5 * 1, and 2 (4 - 1) = 6 goes from one to the other
                self.assertAlmostEqual(abs(reply['impulse'][0]), 6, delta=1e-12)
                after = self.state(path)
                self.assertEqual(after['q'], before['q'])
                for v in after['v']:
                    self.assertAlmostEqual(v, 1, delta=1e-13)
                self.call('POST', path + '/step', {'count': 100})
                for k, v in enumerate(self.state(path)['v']):
                    self.assertAlmostEqual(v, 1, delta=1e-12)
                # let go again: nothing changes but for the reaction
                held = self.state(path)
                self.assertNotIn('impulse', self.act(path, 'clutch', False))
                free = self.state(path)
                self.assertEqual((free['q'], free['v'], free['lambda']),
                                 (held['q'], held['v'], [0]))
                self.call('POST', path + '/step', {'count': 10})

    def test_a_latch_that_opens_lets_a_spring_go(self):
        for integrator in models.IMPLICIT + EXPLICIT:
            with self.subTest(integrator=integrator):
                model = models.clutch(integrator, masses=(1, 1), speeds=(0, 0), level=False,
                                      markers=['ground', 'x1'], active=True, offset=0)
                model['markers'].append({'name': 'ground', 'type': 'MarkerGroundCoordinate'})
                model['objects'].append(
                    {'name': 'spring', 'type': 'CoordinateSpringDamper',
                     'markers': ['ground', 'x1'], 'stiffness': 100, 'offset': 0.1})
                path = self.create(model)
                self.call('POST', path + '/step', {'count': 50})
                held = self.state(path)
                self.assertAlmostEqual(held['q'][1], 0, delta=1e-12)
                self.assertAlmostEqual(abs(held['lambda'][0]), 10, delta=1e-8)
                self.act(path, 'clutch', False)
                t = 0.05
                self.call('POST', path + '/step', {'until': held['time'] + t})
                free = self.state(path)
                # x = 0.1 (1 - cos 10 t); first order schemes at 1 ms are off by 1e-3 of it
                exact = 0.1 * (1 - math.cos(10 * t))
                self.assertAlmostEqual(free['q'][1], exact, delta=3e-2 * exact)
                self.assertEqual(free['lambda'], [0])
                # away from where it holds it is not taken up, and nothing has changed
                reply = self.act(path, 'clutch', True, 422)
                self.assertRegex(reply['detail'], r'it is activated within [1-9]\S*e-')
                again = self.state(path)
                self.assertEqual(again, free)
                self.call('POST', path + '/step', {'count': 1})
                self.call('POST', path + '/reset')
                self.act(path, 'clutch', True)
                self.call('POST', path + '/step', {'count': 20})
                self.assertAlmostEqual(self.state(path)['q'][1], 0, delta=1e-12)

    def test_joints_of_examples_open_and_close_where_they_are(self):
        for example in ('four-bar', 'double-pendulum', 'slider-crank'):
            # velocities that fit after each step: taking up has nothing to do
            seen = '/v1/instances/' + self.daemon.create(example=example)
            model = self.call('GET', seen + '/model')
            model['solver']['velocityProjection'] = True
            path = self.create(model)
            joints = [o['name'] for o in model['objects']
                      if 'Joint' in o['type'] or 'Constraint' in o['type']]
            self.assertTrue(joints)
            for name in joints:
                with self.subTest(example=example, joint=name):
                    self.call('POST', path + '/step', {'count': 20})
                    before = self.state(path)
                    self.act(path, name, False)
                    free = self.state(path)
                    self.assertEqual([len(free[k]) for k in ('q', 'v', 'lambda')],
                                     [len(before[k]) for k in ('q', 'v', 'lambda')])
                    self.assertEqual((free['q'], free['v']), (before['q'], before['v']))
                    self.assertTrue(any(x == 0 for x in free['lambda']))
                    self.act(path, name, True)
                    again = self.state(path)
                    self.assertEqual(again['q'], before['q'])
                    for one, two in zip(again['v'], before['v']):
                        self.assertAlmostEqual(one, two, delta=1e-11)

    def test_a_bar_that_drops_falls_freely(self):
        path = '/v1/instances/' + self.daemon.create(example='double-pendulum')
        model = self.call('GET', path + '/model')
        joints = [o['name'] for o in model['objects'] if 'Joint' in o['type']]
        self.call('POST', path + '/step', {'count': 20})
        for name in joints:
            self.act(path, name, False)
        start = self.state(path)
        reply = self.call('POST', path + '/step', {'count': 100})
        after = self.state(path)
        t = after['time'] - start['time']
        bodies = len(start['q']) // 3
        g = model['gravity'][1]
        for k in range(bodies):
            for axis, a in ((0, 0), (1, g), (2, 0)):
                i = 3 * k + axis
                exact = start['q'][i] + start['v'][i] * t + 0.5 * a * t * t
                self.assertAlmostEqual(after['q'][i], exact, delta=1e-10)
        self.assertEqual(set(after['lambda']), {0})
        self.assertNotIn('warnings', reply)


    def energy(self, state, masses):
        return sum(m * v * v / 2 for m, v in zip(masses, state['v']))

    def test_a_clutch_of_two_inertias(self):
        inertias, speeds = (0.02, 0.5), (300, 20)
        for integrator in models.IMPLICIT:
            with self.subTest(integrator=integrator):
                model = models.clutch(integrator, speeds=speeds)
                for k, o in enumerate(model['objects'][:2]):
                    o.update({'type': 'Rotor1D', 'physicsInertia': inertias[k]})
                    del o['physicsMass']
                path = self.create(model)
                self.call('POST', path + '/step', {'count': 10})
                before = self.energy(self.state(path), inertias)
                reply = self.act(path, 'clutch', True)
                after = self.state(path)
                omega = sum(i * w for i, w in zip(inertias, speeds)) / sum(inertias)
                for w in after['v']:
                    self.assertAlmostEqual(w, omega, delta=1e-12 * omega)
                # half the reduced inertia times the square of the slip
                reduced, slip = inertias[0] * inertias[1] / sum(inertias), speeds[0] - speeds[1]
                self.assertAlmostEqual(before - self.energy(after, inertias),
                                       reduced * slip ** 2 / 2, delta=1e-9)
                self.assertAlmostEqual(abs(reply['impulse'][0]), reduced * slip, delta=1e-10)

    def test_a_pendulum_that_is_let_go_follows_a_parabola(self):
        for integrator in models.IMPLICIT:
            with self.subTest(integrator=integrator):
                path = self.create(models.pendulum(
                    [2], integrator=integrator, stepSize=1e-3,
                    **({'spectralRadius': 0.9} if integrator == 'GeneralizedAlpha' else {})))
                self.call('POST', path + '/step', {'count': 300})
                self.act(path, 'rod0', False)
                start = self.state(path)
                self.assertEqual(start['lambda'], [0])
                self.call('POST', path + '/step', {'count': 200})
                after = self.state(path)
                t, h = after['time'] - start['time'], 1e-3
                fall = -5 * t * t
                if integrator == 'ImplicitEuler':
                    fall -= 5 * t * h  # v at the end of each step
                for k, a in ((0, 0), (1, fall)):
                    self.assertAlmostEqual(after['q'][k],
                                           start['q'][k] + start['v'][k] * t + a, delta=1e-10)
                self.assertEqual(after['lambda'], [0])

    def test_explicit_schemes_let_a_held_coordinate_go_and_take_it_up(self):
        for integrator in EXPLICIT:
            with self.subTest(integrator=integrator):
                model = models.clutch(integrator, masses=(2, 3), speeds=(0, 0),
                                      markers=['ground', 'x1'], active=True,
                                      velocityLevel=True, offset=0)
                model['markers'].append({'name': 'ground', 'type': 'MarkerGroundCoordinate'})
                model['loads'] = [{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x1',
                                   'load': 6}]
                path = self.create(model)
                self.call('POST', path + '/step', {'count': 10})
                held = self.state(path)
                self.assertEqual(held['v'], [0, 0])
                self.assertAlmostEqual(abs(held['lambda'][0]), 6, delta=1e-12)
                self.act(path, 'clutch', False)
                self.call('POST', path + '/step', {'count': 500})
                free = self.state(path)
                self.assertAlmostEqual(free['v'][1], 2 * 0.5, delta=1e-12)
                self.assertEqual(free['lambda'], [0])
                reply = self.act(path, 'clutch', True)
                self.assertAlmostEqual(abs(reply['impulse'][0]), 3, delta=1e-11)
                self.call('POST', path + '/step', {'count': 1})
                self.assertEqual(self.state(path)['v'][1], 0)

    def test_what_was_let_go_comes_back_with_a_state(self):
        path = '/v1/instances/' + self.daemon.create(example='double-pendulum')

        def active(at):
            objects = self.call('GET', at + '/model')['objects']
            return next(o for o in objects if o['name'] == 'elbow').get('active', True)

        def track(at):
            self.call('POST', at + '/step', {'count': 20})
            state = self.state(at)
            del state['step']
            return state

        self.call('POST', path + '/step', {'count': 30})
        self.call('POST', path + '/snapshots', status=201)      # s-1 holds it
        self.act(path, 'elbow', False)
        self.call('POST', path + '/step', {'count': 30})
        self.call('POST', path + '/snapshots', status=201)      # s-2 does not
        apart = self.state(path)
        twin = '/v1/instances/' + self.call('POST', path + '/clone', status=201)['id']
        self.assertFalse(active(twin))
        free = track(path)
        self.assertEqual(track(twin), free)
        reply = self.call('POST', path + '/snapshots/s-1/restore')
        self.assertTrue(reply['reproducible'])
        self.assertTrue(active(path))
        held = track(path)
        self.assertTrue(all(held['lambda']))
        self.call('POST', path + '/snapshots/s-2/restore')
        self.assertFalse(active(path))
        self.assertEqual(self.state(path), apart)
        self.assertEqual(track(path), free)
        # bytes of the one, with the model of the other
        for snapshot, expected in (('s-1', held), ('s-2', free)):
            raw = self.daemon.call('GET', path + '/snapshots/' + snapshot)
            self.assertEqual(raw.status, 200, raw)
            made = self.daemon.call('POST', '/v1/instances', raw.raw,
                                    {'Content-Type': raw.headers['Content-Type']})
            self.assertEqual(made.status, 201, made)
            self.assertEqual(track('/v1/instances/' + made['id']), expected)
        # a trial that is dropped leaves no trace
        self.call('POST', path + '/snapshots/s-2/restore')
        self.call('POST', path + '/step', {'count': 5, 'commit': False})
        self.assertEqual(self.state(path), apart)
        self.assertEqual(track(path), free)

    def test_a_latch_catches_elsewhere(self):
        model = models.clutch('GeneralizedAlpha', masses=(2, 3), speeds=(0, 2), level=False,
                              markers=['ground', 'x1'], offset=0.5)
        model['markers'].append({'name': 'ground', 'type': 'MarkerGroundCoordinate'})
        path = self.create(model)
        self.call('POST', path + '/step', {'until': 0.24})
        far = self.state(path)
        self.assertAlmostEqual(far['q'][1], 0.48, delta=1e-12)
        self.act(path, 'clutch', True, 422)
        self.assertEqual(self.state(path), far)
        reply = self.daemon.call('PUT', path + '/objects/clutch/fields/active',
                                 {'value': True, 'positions': 'assembled'})
        self.assertEqual(reply.status, 200, reply)
        self.assertAlmostEqual(abs(reply['impulse'][0]), 6, delta=1e-12)
        caught = self.state(path)
        self.assertAlmostEqual(caught['q'][1], 0.5, delta=1e-15)
        self.assertAlmostEqual(caught['v'][1], 0, delta=1e-15)
        # the document's own positions miss it: clones have it, a reset is refused until it is free
        twin = '/v1/instances/' + self.call('POST', path + '/clone', status=201)['id']
        for at in (path, twin):
            self.call('POST', at + '/step', {'count': 10})
            self.assertAlmostEqual(self.state(at)['q'][1], 0.5, delta=1e-12)
            here = self.state(at)
            self.call('POST', at + '/reset', status=422)
            self.assertEqual(self.state(at), here)
            self.act(at, 'clutch', False)
            self.call('POST', at + '/reset')
            self.assertEqual(self.state(at)['q'], [0, 0])
        self.assertEqual(self.daemon.call('PUT', path + '/objects/clutch/fields/active',
                                          {'value': True, 'positions': 'near'}).status, 422)

    def test_assembling_moves_by_the_masses(self):
        model = models.clutch('GeneralizedAlpha', masses=(2, 3), speeds=(4, -1), level=False)
        path = self.create(model)
        self.call('POST', path + '/step', {'count': 100})   # x = 0.4 and -0.1
        reply = self.daemon.call('PUT', path + '/objects/clutch/fields/active',
                                 {'value': True, 'positions': 'assembled'})
        self.assertEqual(reply.status, 200, reply)
        state = self.state(path)
        for q, v in zip(state['q'], state['v']):
            self.assertAlmostEqual(q, (2 * 0.4 - 3 * 0.1) / 5, delta=1e-13)
            self.assertAlmostEqual(v, 1, delta=1e-13)

    def test_what_was_left_out_takes_over(self):
        # two rods between the same points: one repeats the other
        path = self.create(models.pendulum([2, 2], stepSize=1e-3, spectralRadius=0.9))
        other = self.create(models.pendulum([2], stepSize=1e-3, spectralRadius=0.9))
        for at in (path, other):
            self.call('POST', at + '/step', {'count': 100})
        forces = self.state(path)['lambda']
        self.assertEqual(sum(x == 0 for x in forces), 1)
        acting = 'rod%d' % (forces[0] == 0)
        self.act(path, acting, False)
        self.call('PUT', other + '/objects/b/fields/physicsMass', {'value': 1.5})  # as new a start
        for at in (path, other):
            self.call('POST', at + '/step', {'count': 100})
        now = self.state(path)
        self.assertEqual(now['lambda'][int(acting[-1])], 0)
        self.assertAlmostEqual(now['lambda'][1 - int(acting[-1])], self.state(other)['lambda'][0],
                               delta=1e-12)
        for one, two in zip(now['q'], self.state(other)['q']):
            self.assertAlmostEqual(one, two, delta=1e-13)
        twin = '/v1/instances/' + self.call('POST', path + '/clone', status=201)['id']
        self.assertEqual(self.state(twin), now)
        self.act(path, acting, True)
        self.call('POST', path + '/step', {'count': 10})
        self.assertEqual(sum(x == 0 for x in self.state(path)['lambda']), 1)

    def test_analyses_are_those_without_it(self):
        def hung(*extra):
            model = models.pendulum([], stepSize=1e-3, spectralRadius=0.9)
            model['nodes'][1]['referenceCoordinates'] = [2, 0]
            model['markers'] += [{'name': 'c%d' % k, 'type': 'MarkerNodeCoordinate', 'node': 'n',
                                  'coordinate': k} for k in (0, 1)]
            model['markers'].append({'name': 'zero', 'type': 'MarkerGroundCoordinate'})
            model['objects'] += [{'name': 's%d' % k, 'type': 'CoordinateSpringDamper',
                                  'markers': ['zero', 'c%d' % k], 'stiffness': 400 + 100 * k,
                                  'damping': 3} for k in (0, 1)]
            model['objects'] += extra
            model['loads'] = [{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'c0'}]
            model['inputs'] = [{'name': 'force', 'load': 'F'}]
            return model

        rod = {'name': 'rod', 'type': 'DistanceConstraint', 'markers': ['mg', 'mn'], 'distance': 2}
        path = self.create(hung(rod))
        plain = self.create(hung())
        self.act(path, 'rod', False)
        for what, body in (('statics', {'commit': False}),
                           ('jvp', {'size': 0.01, 'inputs': {'force': 1}})):
            one, two = (self.call('POST', at + '/' + what, body) for at in (path, plain))
            for k in set(one) & set(two) & {'q', 'v', 'dq', 'dv', 'y', 'outputs'}:
                self.near(one[k], two[k], (what, k))
        one, two = (self.call('GET', at + '/modes?count=2')['modes'] for at in (path, plain))
        for a, b in zip(one, two):
            self.assertAlmostEqual(a['frequency'], b['frequency'], delta=1e-9)
        one, two = (self.call('GET', at + '/linearization') for at in (path, plain))
        for k in 'AB':
            self.near(one[k], two[k], k)
        for at in (path, plain):
            self.call('POST', at + '/step', {'count': 50, 'inputs': {'force': 2}})
        one, two = self.state(path), self.state(plain)
        for k in 'qv':
            self.near(one[k], two[k], k)

    def near(self, one, two, name):
        if isinstance(one, list):
            self.assertEqual(len(one), len(two), name)
            for a, b in zip(one, two):
                self.near(a, b, name)
        elif isinstance(one, dict):
            for k in one:
                self.near(one[k], two[k], name)
        else:
            self.assertAlmostEqual(one, two, delta=1e-9 * max(1, abs(two)), msg=str(name))

    def test_a_rope_is_let_go_and_holds_again(self):
        rope = models.pendulum([2], stepSize=1e-3, spectralRadius=0.9)
        rope['objects'][1]['unilateral'] = True
        for integrator in ('GeneralizedAlpha', 'MoreauJean'):
            with self.subTest(integrator=integrator):
                rope['solver'] = {'integrator': integrator, 'stepSize': 1e-3,
                                  **({'spectralRadius': 0.9} if integrator != 'MoreauJean' else {})}
                path = self.create(rope)
                self.call('POST', path + '/step', {'count': 100})
                self.act(path, 'rod0', False)
                start = self.state(path)
                self.call('POST', path + '/step', {'count': 50})
                free = self.state(path)
                fall = start['q'][1] + start['v'][1] * 0.05 - 5 * 0.05 ** 2
                self.assertAlmostEqual(free['q'][1], fall, delta=1e-10)
                self.assertEqual(free['lambda'], [0])
                # it is 2 m long and the mass is beyond
                self.assertGreater(math.hypot(*free['q']), 2 + 1e-6)
                self.act(path, 'rod0', True, 422)
                reply = self.daemon.call('PUT', path + '/objects/rod0/fields/active',
                                         {'value': True, 'positions': 'assembled'})
                self.assertEqual(reply.status, 200, reply)
                self.assertLess(reply['impulse'][0], 0)
                caught = self.state(path)
                x, y = caught['q']
                self.assertAlmostEqual(math.hypot(x, y), 2, delta=1e-12)
                self.assertAlmostEqual(x * caught['v'][0] + y * caught['v'][1], 0, delta=1e-12)
                self.call('POST', path + '/step', {'count': 50})
                end = self.state(path)
                self.assertAlmostEqual(math.hypot(*end['q']), 2, delta=1e-6)

    def test_reset_takes_the_start_that_creation_took(self):
        # 10 m long and written to six digits: off by less than a millionth of its extent
        model = models.pendulum([10], stepSize=1e-3, spectralRadius=0.9)
        model['nodes'][1]['referenceCoordinates'] = [10.000005, 0]
        path = self.create(model)
        start = self.state(path)
        self.call('POST', path + '/step', {'count': 5})
        self.act(path, 'rod0', False)
        self.call('POST', path + '/reset')
        self.act(path, 'rod0', True)
        self.call('POST', path + '/step', {'count': 5})
        self.call('POST', path + '/reset')
        self.assertEqual(self.state(path)['q'], start['q'])

    def test_contacts_stay_as_they_are(self):
        path = '/v1/instances/' + self.daemon.create(example='box-stack')
        model = self.call('GET', path + '/model')
        model['nodes'].append({'name': 'far', 'type': 'NodePoint',
                               'referenceCoordinates': [50, 0, 5]})
        model['objects'] += [
            {'name': 'weight', 'type': 'MassPoint', 'node': 'far', 'physicsMass': 1},
            {'name': 'latch', 'type': 'CoordinateVectorConstraint', 'markers': ['none', 'at'],
             'scalingMarker1': [[1, 0, 0], [0, 1, 0], [0, 0, 1]], 'offset': [50, 0, 5]}]
        model.setdefault('markers', []).extend([
            {'name': 'none', 'type': 'MarkerGroundCoordinate'},
            {'name': 'at', 'type': 'MarkerNodeCoordinates', 'node': 'far'}])
        path = self.create(model)
        self.call('POST', path + '/step', {'count': 20})
        self.act(path, 'latch', False)
        self.call('POST', path + '/step', {'count': 20})
        held = self.call('GET', path + '/outputs')['outputs']['floor']
        self.assertAlmostEqual(abs(held), 10 * 9.81, delta=1e-6)
        state = self.state(path)
        self.assertEqual(set(state['lambda'][-3:]), {0})


    def led(self, integrator='GeneralizedAlpha', **more):
        """A clutch that follows a parameter, on which there is an input."""
        model = models.clutch(integrator, **{'active': '=grip > 0.5', **more})
        model['parameters'] = {'grip': 0}
        model['inputs'] = [{'name': 'pedal', 'parameter': 'grip'}]
        return model

    def test_a_parameter_takes_it_up(self):
        for integrator in models.IMPLICIT:
            with self.subTest(integrator=integrator):
                path = self.create(self.led(integrator))
                self.call('POST', path + '/step', {'count': 10})
                self.call('PUT', path + '/parameters', {'grip': 0.4})
                self.assertEqual(self.state(path)['v'], [4, -1])
                self.call('PUT', path + '/parameters', {'grip': 0.6})
                for v in self.state(path)['v']:
                    self.assertAlmostEqual(v, 1, delta=1e-13)
                self.call('POST', path + '/step', {'count': 10})
                self.call('PUT', path + '/parameters', {'grip': 0})
                self.assertEqual(self.state(path)['lambda'], [0])
                self.call('POST', path + '/reset')
                self.assertEqual(self.state(path)['v'], [4, -1])
                self.call('POST', path + '/step', {'count': 10})
                self.assertEqual(self.state(path)['lambda'], [0])

    def test_an_input_takes_it_up(self):
        path = self.create(self.led())
        self.call('POST', path + '/step', {'count': 10})
        before = self.state(path)
        # a trial, and what becomes of it
        trial = self.call('POST', path + '/step', {'count': 5, 'inputs': {'pedal': 1},
                                                   'commit': False})
        self.assertEqual(trial['report']['impacts'], 1)
        self.assertEqual(self.state(path), before)
        self.call('POST', path + '/step', {'count': 5})
        for v, expected in zip(self.state(path)['v'], (4, -1)):
            self.assertAlmostEqual(v, expected, delta=1e-13)
        trial = self.call('POST', path + '/step', {'count': 5, 'inputs': {'pedal': 1},
                                                   'commit': False})
        self.call('POST', path + '/commit', {'trial': trial['trial']})
        together = self.state(path)
        for v in together['v']:
            self.assertAlmostEqual(v, 1, delta=1e-13)
        self.call('POST', path + '/snapshots', status=201)
        reply = self.call('POST', path + '/step', {'count': 5, 'inputs': {'pedal': 0}})
        self.assertEqual(reply['report']['impacts'], 0)
        self.assertEqual(self.state(path)['lambda'], [0])
        self.call('POST', path + '/snapshots/s-1/restore')
        self.assertEqual(self.state(path), together)
        twin = '/v1/instances/' + self.call('POST', path + '/clone', status=201)['id']
        self.assertEqual(self.state(twin), together)

    def test_what_a_parameter_cannot_take_up_changes_nothing(self):
        path = self.create(self.led(level=False))
        self.call('POST', path + '/step', {'count': 10})
        before = self.state(path)
        reply = self.call('PUT', path + '/parameters', {'grip': 1}, 422)
        self.assertIn('clutch', str(reply))
        reply = self.call('POST', path + '/step', {'count': 5, 'inputs': {'pedal': 1}}, 422)
        self.assertIn('clutch', str(reply))
        self.assertEqual(self.state(path), before)
        self.assertEqual(self.call('GET', path + '/parameters')['parameters'], {'grip': 0})
        self.call('POST', path + '/step', {'count': 5})
        for v, expected in zip(self.state(path)['v'], (4, -1)):
            self.assertAlmostEqual(v, expected, delta=1e-13)

    def test_a_field_that_follows_a_parameter_says_so(self):
        path = self.create(self.led())

        def active():
            objects = self.call('GET', path + '/model')['objects']
            return next(o for o in objects if o['name'] == 'clutch').get('active', True)

        self.assertEqual(active(), '=grip > 0.5')
        self.act(path, 'clutch', True)
        self.assertEqual(active(), True)
        self.call('PUT', path + '/parameters', {'grip': 0.1})
        for v in self.state(path)['v']:
            self.assertAlmostEqual(v, 1, delta=1e-13)
        reply = self.act(path, 'clutch', '=1 - grip')
        self.assertEqual((reply['value'], active()), ('=1 - grip', '=1 - grip'))
        self.call('PUT', path + '/parameters', {'grip': 1})
        self.call('POST', path + '/step', {'count': 1})
        self.assertEqual(self.state(path)['lambda'], [0])
        twin = '/v1/instances/' + self.call('POST', path + '/clone', status=201)['id']
        self.assertEqual(self.state(twin), self.state(path))
        # time is none of the parameters, and other flags follow none
        reply = self.act(path, 'clutch', '=t < 1', 422)
        self.assertIn('"t"', str(reply).replace("'", '"'))
        self.assertEqual(active(), '=1 - grip')
        for key, value in (('active', 1), ('velocityLevel', '=grip')):
            model = self.led()
            model['objects'][2][key] = value
            self.assertEqual(self.daemon.call('POST', '/v1/instances', {'model': model}).status,
                             422, key)


    def test_a_daemon_that_is_killed_has_it_again(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder, True)
        daemon = Kept(folder)
        model = models.clutch('GeneralizedAlpha', masses=(2, 3), speeds=(4, -1), level=False)
        twice = models.pendulum([2, 2], stepSize=1e-3, spectralRadius=0.9)
        paths = ['/v1/instances/' + daemon.create(m, durability='every-step')
                 for m in (model, twice)]
        for path in paths:
            daemon.call('POST', path + '/step', {'count': 100})
        # one is taken up where the document's positions miss it, of the other one is let go
        reply = daemon.call('PUT', paths[0] + '/objects/clutch/fields/active',
                            {'value': True, 'positions': 'assembled'})
        self.assertEqual(reply.status, 200, reply)
        forces = daemon.call('GET', paths[1] + '/state').json['lambda']
        reply = daemon.call('PUT', paths[1] + '/objects/rod%d/fields/active' % (forces[0] == 0),
                            {'value': False})
        self.assertEqual(reply.status, 200, reply)
        for path in paths:
            daemon.call('POST', path + '/step', {'count': 10})
        before = [daemon.call('GET', path + '/state').json for path in paths]
        daemon.kill()
        with Kept(folder) as daemon:
            for path, expected in zip(paths, before):
                reply = daemon.call('GET', path + '/state')
                self.assertEqual(reply.status, 200, reply)
                self.assertEqual(reply.json, expected)
                self.assertEqual(daemon.call('POST', path + '/step', {'count': 10}).status, 200)

    def test_a_derivative_by_a_parameter_does_not_take_it_up(self):
        path = self.create(self.led(active='=grip'))
        self.call('POST', path + '/step', {'count': 10})
        before = self.state(path)
        reply = self.daemon.call('POST', path + '/jvp', {'count': 5, 'inputs': {'pedal': 1}})
        self.assertEqual(reply.status, 422, reply)
        self.assertIn('activated or deactivated', str(reply.json))
        self.assertEqual(self.state(path), before)
        self.call('POST', path + '/step', {'count': 5})
        for v, expected in zip(self.state(path)['v'], (4, -1)):
            self.assertAlmostEqual(v, expected, delta=1e-13)


if __name__ == '__main__':
    unittest.main()
