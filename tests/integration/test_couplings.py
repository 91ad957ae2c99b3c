"""Couplings: instances that exchange outputs and inputs and step together over the server, against
closed forms, and what happens to them when one fails, is asked by others, or the client leaves."""
import math
import signal
import threading
import unittest

import raw
from coupled import K, K12, OSCILLATORS, Couplings, half, point
from harness import Http, ZmqDoor, wait_until

RACES = True


class Numbers(Couplings):
    def error(self, H, **more):
        _, _, cid = self.oscillators(stepSize=H, **more)
        worst = 0.
        for k in range(round(1 / H)):
            reply = self.good(cid, count=1)
            exact = [(math.cos(2 * math.pi * reply['time']) + s *
                      math.cos(6 * math.pi * reply['time'])) / 2 for s in (1, -1)]
            worst = max(worst, *(abs(reply['outputs'][n + '.x'] - x)
                                 for n, x in zip(('left', 'right'), exact)))
        self.assertEqual(reply['window'], round(1 / H))
        return worst

    def test_orders(self):
        """Halving the window divides the error by 2 to the order."""
        for more, order in (({'scheme': 'GaussSeidel'}, 1), ({'scheme': 'Jacobi'}, 1),
                            ({'scheme': 'IQN-ILS', 'hold': 1}, 2),
                            ({'scheme': 'Aitken', 'hold': 1}, 2),
                            ({'scheme': {'type': 'GaussSeidelIterated'}, 'hold': 1}, 2),
                            ({'scheme': 'InterfaceNewton', 'hold': 1}, 2)):
            with self.subTest(more):
                coarse, fine = self.error(0.01, **more), self.error(0.005, **more)
                self.assertAlmostEqual(math.log2(coarse / fine), order, delta=0.25)

    def test_stability_of_explicit_coupling(self):
        """Two free masses, a spring k and a damper c between them, Jacobi, zero-order hold: stable
        exactly for H < 2 c/k and H < 2 m/c, m the reduced mass."""
        k, c, m = 100., 1., 0.5
        forces = [{'from': '%s.%s' % (a, y), 'to': b + '.F',
                   'factor': (-1 if a == b else 1) * g}
                  for a in ('left', 'right') for b in ('left', 'right')
                  for y, g in (('x', k), ('v', c))]
        for bound, k_ in ((2 * c / k, k), (2 * m / c, 0.)):
            some = [dict(f, factor=f['factor'] if f['from'].endswith('.v') or k_ else 0.)
                    for f in forces]
            grows = []
            for part in (0.99, 1.01):
                H = part * bound
                left = self.daemon.create(half(0.01, v=0.3, h=H))
                right = self.daemon.create(half(0., v=-0.3, h=H))
                cid = self.couple(left, right, some, scheme='Jacobi', stepSize=H)['id']
                gap = []
                for _ in range(2):
                    self.good(cid, count=10000 if k_ else 500)
                    out = self.good(cid, count=1)['outputs']
                    gap.append(k_ * (out['left.x'] - out['right.x']) ** 2 +
                               m * (out['left.v'] - out['right.v']) ** 2)
                grows.append(gap[1] > gap[0])
            self.assertEqual(grows, [False, True], bound)

    def test_energy_is_kept(self):
        """The two-mass benchmark, its spring in a bond: no drift of energy over 10 s, after none of
        its ten parts, with one internal step a window or several."""
        for H, h in ((1e-3, 1e-3), (1e-3, 2e-4), (1e-2, 1e-2), (0.1, 0.1), (0.1, 0.01), (1., 1.),
                     (1., 0.01)):
            with self.subTest(H=H, h=h):
                left = self.daemon.create(half(0., 100., k=10., h=h))
                right = self.daemon.create(half(0., -100., k=1000., h=h))
                scheme = {'type': 'Energy', 'relativeTolerance': 1e-14}
                reply = self.couple(left, right, scheme=scheme, stepSize=H, bonds=[
                    {'name': 'spring', 'effort': ['left.F', 'right.F'],
                     'flow': ['left.x', 'right.x'], 'law': {'stiffness': 100}}])
                self.assertEqual(reply.status, 201, reply)
                for until in range(1, 11):
                    out = self.good(reply['id'], until=until)['outputs']
                    x, v = [[out[n + s] for n in ('left', 'right')] for s in ('.x', '.v')]
                    energy = (v[0] ** 2 + v[1] ** 2 + 10 * x[0] ** 2 + 1000 * x[1] ** 2 +
                              100 * (x[0] - x[1]) ** 2) / 2
                    self.assertAlmostEqual(energy / 10000, 1, delta=1e-11, msg=until)

    def test_over_zeromq(self):
        left, right = (self.daemon.create(half(x, k=K + K12)) for x in (1., 0.))
        with ZmqDoor(self.daemon) as door:
            status, made = door.call('couple', participants=[
                {'name': 'left', 'instance': left}, {'name': 'right', 'instance': right}],
                connections=OSCILLATORS, scheme={'type': 'IQN-ILS'}, hold=1, stepSize=0.01)
            self.assertEqual(status, 200, made)
            _, reply = door.call('step-coupling', cid=made['id'], until=1)
        _, _, other = self.oscillators(hold=1)
        self.assertEqual(reply['outputs'], self.good(other, until=1)['outputs'])

    def test_inputs_are_held_after_the_last_window(self):
        """What the coupling has extrapolated does not go on by itself."""
        left, _, cid = self.oscillators(hold=1)
        self.good(cid, count=10)
        before = self.daemon.call('GET', '/v1/instances/%s/inputs' % left)['inputs']['F']
        self.daemon.call('DELETE', '/v1/couplings/' + cid)
        self.daemon.call('POST', '/v1/instances/%s/step' % left, {'count': 10})
        after = self.daemon.call('GET', '/v1/instances/%s/inputs' % left)['inputs']['F']
        self.assertEqual(before, after)

    def test_components_of_vectors_may_cross(self):
        """A held force is that of the position at the start of the window."""
        left, right = self.daemon.create(point()), self.daemon.create(point())
        reply = self.couple(left, right, [
            {'from': 'left.p[%d]' % a, 'to': 'right.F[%d]' % b, 'factor': 10}
            for a, b in ((0, 2), (1, 0), (2, 1))], scheme='Jacobi')
        self.assertEqual(reply.status, 201, reply)
        self.good(reply['id'], count=1)
        forces = self.daemon.call('GET', '/v1/instances/%s/inputs' % right)['inputs']['F']
        for force, expected in zip(forces, (2, -3, 1)):
            self.assertAlmostEqual(force, expected, 12)

    def test_an_earlier_trial_cannot_be_committed_after_it(self):
        left = self.daemon.create(half(1., k=K + K12))
        right = self.daemon.create(half(0., k=K + K12))
        path = '/v1/instances/' + left
        trial = self.daemon.call('POST', path + '/step', {'count': 3, 'commit': False})['trial']
        cid = self.couple(left, right, OSCILLATORS,
                          scheme={'type': 'JacobiIterated', 'maxIterations': 1})['id']
        self.assertEqual(self.step(cid, count=1).status, 422)
        self.daemon.call('DELETE', '/v1/couplings/' + cid)
        reply = self.daemon.call('POST', path + '/commit', {'trial': trial})
        self.assertEqual((reply.status, reply['code']), (409, 'no-trial'))

    def test_windows(self):
        """A step by size has equal windows; one by time ends where it is asked to."""
        _, _, cid = self.oscillators()
        reply = self.good(cid, size=0.025)
        self.assertEqual((reply['time'], reply['window']), (0.025, 3))
        reply = self.good(cid, until=0.04)
        self.assertEqual((reply['time'], reply['window']), (0.04, 5))
        self.assertEqual(self.daemon.call('GET', '/v1/couplings/' + cid)['windows'], 5)
        reply = self.daemon.call('POST', '/v1/couplings/%s/reset' % cid)
        self.assertEqual((reply['time'], reply['window'], reply['outputs']['left.x']), (0, 0, 1))

    def test_a_start_that_misses_a_joint_refuses_the_reset_of_all(self):
        model = half(v=1.)
        model['solver']['spectralRadius'] = 0.9
        model['objects'].append({'name': 'latch', 'type': 'CoordinateConstraint', 'offset': 0.5,
                                 'markers': ['g', 'x'], 'active': False})
        left, right = self.daemon.create(half(0., v=1.)), self.daemon.create(model)
        reply = self.daemon.call('PUT', '/v1/instances/%s/objects/latch/fields/active' % right,
                                 {'value': True, 'positions': 'assembled'})
        self.assertEqual(reply.status, 200, reply)
        cid = self.couple(left, right, [{'from': 'right.x', 'to': 'left.F'}])['id']
        self.good(cid, count=3)
        before = self.state(left), self.state(right)
        reply = self.daemon.call('POST', '/v1/couplings/%s/reset' % cid)
        self.assertEqual((reply.status, reply['code']), (422, 'invalid-request'), reply)
        self.assertIn('violate a joint', reply['detail'])
        self.assertEqual((self.state(left), self.state(right)), before)
        self.assertEqual(self.daemon.call('GET', '/v1/couplings/' + cid)['windows'], 3)
        self.good(cid, count=1)


class Faults(Couplings):
    def test_faults_are_reported_together(self):
        model = half()
        model['sensors'].append({'name': 'b', 'type': 'SensorBody', 'object': 'm',
                                 'outputVariable': 'Position'})
        model['outputs'].append({'name': 'at', 'sensor': 'b', 'component': 0})  # m, not N
        left, right = self.daemon.create(model), self.daemon.create(half())
        reply = self.daemon.call('POST', '/v1/couplings', {
            'participants': [{'name': 'a', 'instance': left}, {'name': 'a', 'instance': 'none'},
                             {'name': 'b'}], 'connectons': [], 'stepSize': -1})
        self.assertEqual((reply.status, reply['code']), (422, 'invalid-request'))
        self.assertEqual({e['pointer'] for e in reply['errors']},
                         {'/participants/1', '/participants/2', '/connectons', '/stepSize',
                          '/scheme'})
        reply = self.couple(left, right, [
            {'from': 'left.y', 'to': 'right.F'}, {'from': 'left.x', 'to': 'middle.F'},
            {'from': 'left.x[1]', 'to': 'right.F'}, {'from': 'left.at', 'to': 'right.F'},
            {'from': 'left.x', 'to': 'right.F', 'factor': 'no'}], scheme='None')
        self.assertEqual((reply.status, reply['code']), (422, 'invalid-request'))
        self.assertEqual({e['pointer'] for e in reply['errors']},
                         {'/connections/%d' % k for k in range(4)} |
                         {'/connections/4/factor', '/scheme/type'})
        reply = self.couple(left, right, OSCILLATORS, scheme='None')
        self.assertEqual((reply.status, reply['errors'][0]['pointer']), (422, '/scheme/type'))
        self.assertIn('InterfaceNewton', reply['errors'][0]['message'])
        # a coupling that was refused holds no instance
        self.assertEqual(self.couple(left, right, OSCILLATORS).status, 201)

    def test_participants_at_other_times(self):
        left, right = self.daemon.create(half()), self.daemon.create(half())
        self.daemon.call('POST', '/v1/instances/%s/step' % left, {'count': 3})
        reply = self.couple(left, right, OSCILLATORS)
        self.assertEqual((reply.status, reply['code']), (409, 'time-mismatch'))

    def test_others_are_kept_off(self):
        left, right, cid = self.oscillators()
        for method, path, body in (('POST', '/step', {'count': 1}), ('DELETE', '', None),
                                   ('PUT', '/inputs', {'F': 1}), ('POST', '/reset', None)):
            reply = self.daemon.call(method, '/v1/instances/%s%s' % (left, path), body)
            self.assertEqual((reply.status, reply['code']), (409, 'in-coupling'), path)
        reply = self.couple(left, right, OSCILLATORS)
        self.assertEqual((reply.status, reply['code']), (409, 'in-coupling'))
        self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + cid).status, 204)
        self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + cid).status, 404)
        self.assertEqual(self.daemon.call('DELETE', '/v1/instances/' + left).status, 204)
        self.assertEqual(self.step(cid, count=1).status, 404)

    def test_a_window_is_done_by_all_or_none(self):
        """One that does not converge, and one in which an instance fails in the midst."""
        left, right, cid = self.oscillators(scheme={'type': 'JacobiIterated', 'maxIterations': 2})
        before = self.state(left), self.state(right)
        reply = self.step(cid, count=5)
        self.assertEqual((reply.status, reply['code']), (422, 'coupling-not-converged'), reply)
        self.assertEqual(reply['report']['windows'], 0)
        self.assertEqual((self.state(left), self.state(right)), before)

        broken = half(1.)
        broken['objects'].append({
            'name': 'f', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],
            'springForceUserFunction': '=log(0.2 - t)'})
        fine, failing = self.daemon.create(half()), self.daemon.create(broken)
        reply = self.couple(fine, failing, [{'from': 'left.x', 'to': 'right.F', 'factor': 1}],
                            scheme='Jacobi', stepSize=0.05)
        self.assertEqual(reply.status, 201, reply)
        reply = self.step(reply['id'], count=10)
        self.assertEqual((reply.status, reply['code']), (422, 'not-finite'), reply)
        self.assertIn('participant right', reply['detail'])
        times = [self.daemon.call('GET', '/v1/instances/' + i)['time'] for i in (fine, failing)]
        self.assertEqual(times, [times[0]] * 2)
        self.assertAlmostEqual(times[0], 0.05 * reply['report']['windows'], 12)

    def test_a_revoked_lease_ends_it(self):
        left, _, cid = self.oscillators()
        self.assertEqual(self.daemon.call(
            'DELETE', '/v1/instances/%s/lease?of=owner' % left).status, 204)
        reply = self.step(cid, count=1)
        self.assertEqual((reply.status, reply['code']), (409, 'foreign-lease'), reply)


class Limits(Couplings):
    """What a coupling refuses, each fault at its place; a refused one holds no instance."""

    def setUp(self):
        super().setUp()
        model = half()
        model['sensors'].append({'name': 'b', 'type': 'SensorBody', 'object': 'm',
                                 'outputVariable': 'Position'})
        model['outputs'].append({'name': 'p', 'sensor': 'b'})
        model['markers'].append({'name': 'body', 'type': 'MarkerBodyPosition', 'object': 'm'})
        model['loads'].append({'name': 'V', 'type': 'LoadForceVector', 'marker': 'body',
                               'load': [0, 0, 0]})
        model['inputs'].append({'name': 'V', 'load': 'V'})
        self.left, self.right = self.daemon.create(model), self.daemon.create(model)

    def refused(self, reply, *faults):
        self.assertEqual((reply.status, reply['code']), (422, 'invalid-request'), reply)
        self.assertEqual([e['pointer'] for e in reply['errors']], [p for p, _ in faults], reply)
        for error, (_, text) in zip(reply['errors'], faults):
            self.assertIn(text, error['message'])
        again = self.couple(self.left, self.right, OSCILLATORS)
        self.assertEqual(again.status, 201, again)
        self.daemon.call('DELETE', '/v1/couplings/' + again['id'])

    def of(self, **more):
        return self.daemon.call('POST', '/v1/couplings', {
            'stepSize': 0.01, 'scheme': {'type': 'Jacobi'}, **more})

    def test_participants(self):
        for given in ({}, {'participants': []}):
            reply = self.of(**given)
            self.assertEqual(reply['errors'][0]['pointer'], '/participants', reply)
        self.refused(self.of(participants=[
            {'name': 'a b', 'instance': self.left}, {'name': 'x', 'instance': self.right},
            {'name': 'y', 'instance': self.right},
            {'name': 'z', 'partner': {'outputs': ['y'], 'rollback': 1}}]),
            ('/participants/0', 'not a name: a b'), ('/participants/2', 'takes part twice'),
            ('/participants/3/partner/rollback', 'must be true or false'))

    def test_members_of_participants_of_another_type(self):
        given = [{'name': 5, 'instance': self.left}, {'instance': 5},
                 {'name': 'y', 'partner': 'y'}, {'name': 'z'}, 'z']
        reply = self.of(participants=given)
        self.assertEqual([(e['pointer'], e['message']) for e in reply['errors']], [
            ('/participants/0/name', 'must be a string'),
            ('/participants/1/instance', 'must be a string'),
            ('/participants/2/partner', 'must be an object'),
            ('/participants/3', 'the id of an instance, or a partner, is needed'),
            ('/participants/4', 'the id of an instance, or a partner, is needed')], reply)

    def test_connections(self):
        self.refused(self.couple(self.left, self.right, [
            {'from': 'left.p', 'to': 'right.F'}, {'from': 'left.p[x]', 'to': 'right.F'},
            {'from': 'left.p[-1]', 'to': 'right.F'}, {'to': 'right.F'}]),
            ('/connections/0', 'left.p has 3 values, right.F has 1'),
            ('/connections/1', "'[x]' is not a component"),
            ('/connections/2', "'[-1]' is not a component"),
            ('/connections/3', '"participant.variable" is needed'))
        one = {'from': 'left.p[0]', 'to': 'right.F', 'factor': 1}
        self.refused(self.couple(self.left, self.right, [one] * 4097),
                     ('/connections', 'at most 4096'))

    def test_a_vector_is_connected_by_its_components(self):
        made = self.couple(self.left, self.right, [
            {'from': 'left.p', 'to': 'right.V', 'factor': 2}])
        self.assertEqual(made.status, 201, made)
        self.assertEqual(made['connections'], ['left.p -> right.V[%d]' % k for k in range(3)])
        report = self.good(made['id'], count=1)['report']
        self.assertEqual(list(report['residual']), made['connections'])

    def test_schemes(self):
        for scheme in ({}, {'type': None}):
            reply = self.couple(self.left, self.right, OSCILLATORS, scheme=scheme)
            self.assertIn('/scheme/type', [e['pointer'] for e in reply['errors']], reply)
        self.assertEqual(self.of(participants=[{'name': 'x', 'instance': self.left}],
                                 scheme='Jacobi')['errors'][-1]['pointer'], '/scheme')
        for order in (['left'], ['left', 'left'], ['left', 'middle'], ['left', 1]):
            self.refused(self.couple(self.left, self.right, OSCILLATORS, scheme={
                'type': 'GaussSeidel', 'order': order}), ('/scheme/order', 'listed once'))

    def test_adaptive_windows(self):
        self.refused(self.couple(self.left, self.right, OSCILLATORS, scheme='JacobiIterated',
                                 adaptive={'relativeTolerance': 'no', 'maximun': 1}),
                     ('/adaptive/maximun', 'maximum'),
                     ('/adaptive/relativeTolerance', 'must be a number'))
        made = self.couple(self.left, self.right, OSCILLATORS, scheme='JacobiIterated',
                           adaptive={'relativeTolerance': 1e-6, 'minimum': 1e-6, 'maximum': 0.01})
        self.assertEqual(made.status, 201, made)
        self.assertEqual(self.good(made['id'], until=0.05)['time'], 0.05)

    def test_bonds(self):
        bond = {'name': 'a', 'effort': ['left.F', 'right.F'], 'flow': ['left.x', 'right.x'],
                'law': 'stiff'}
        rigid = dict(bond, law='rigid')
        self.refused(self.couple(self.left, self.right, scheme='Energy', bonds=[
            bond, dict(rigid, name='b', flow=['left.p', 'right.x']),
            dict(rigid, name='c', flow=['right.x', 'left.x']),
            dict(rigid, name='d', flow=['left.x'])]),
            ('/bonds/0/law', 'the law must be "rigid"'), ('/bonds/1', 'name their components'),
            ('/bonds/2', 'must belong to the same participant'),
            ('/bonds/3', '"participant.variable" is needed'))
        self.refused(self.couple(self.left, self.right, scheme='Energy', bonds=[bond] * 4097),
                     ('/bonds', 'at most 4096'))
        made = self.couple(self.left, self.right, scheme='Energy', bonds=[rigid])
        self.assertEqual(made.status, 201, made)

    def test_windows_that_make_no_sense(self):
        cid = self.couple(self.left, self.right, [])['id']
        before = self.state(self.left)
        for body, pointer in (({'size': 0}, '/size'), ({'size': 'x'}, '/size'),
                              ({'count': 0}, '/count'), ({'size': 1, 'count': 1}, ''), ({}, '')):
            reply = self.step(cid, **body)
            self.assertEqual((reply.status, reply['errors'][0]['pointer']), (422, pointer), reply)
        self.assertEqual(self.state(self.left), before)

    def test_so_many_couplings(self):
        made = [self.of(participants=[{'name': 'x', 'partner': {'outputs': ['y']}}])
                for _ in range(1025)]
        self.assertEqual({reply.status for reply in made[:-1]}, {201})
        self.assertEqual((made[-1].status, made[-1]['code']), (429, 'limit-reached'), made[-1])
        self.assertIn('1024 couplings', made[-1]['detail'])
        self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + made[0]['id']).status, 204)
        self.assertEqual(self.couple(self.left, self.right, OSCILLATORS).status, 201)


class Together(Couplings):
    FOR_EVER = {'count': 10 ** 12}

    def oscillators(self, d=4., **more):
        """Damped: a force that is held over a window feeds these with energy, at most as a damper
        of -K12 H / 2 = -0.8 N s/m would; without one they grow beyond all numbers in half an hour
        of theirs, which a quick machine comes to before the test has looked."""
        return super().oscillators(d, **more)

    def begin(self, cid, door=None):
        told = []
        thread = threading.Thread(target=lambda: told.append(
            Http(self.daemon.base).call('POST', '/v1/couplings/%s/step' % cid, self.FOR_EVER)))
        thread.start()
        wait_until(lambda: self.daemon.call('GET', '/v1/couplings/' + cid)['busy'], 'it works', 30)
        return thread, told

    def test_readers_are_served_and_deletion_ends_it(self):
        left, right, cid = self.oscillators()
        thread, told = self.begin(cid)
        times = set()

        def another_time():
            one = self.daemon.call('GET', '/v1/instances/%s/state' % left)
            self.assertEqual(one.status, 200)
            times.add(one['time'])
            return len(times) > 2
        wait_until(another_time, 'readers see it go on', 30)
        self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + cid).status, 204)
        thread.join(30)
        self.assertEqual((told[0].status, told[0]['code']), (409, 'cancelled'))
        times = [self.daemon.call('GET', '/v1/instances/' + i)['time'] for i in (left, right)]
        self.assertEqual(times, [times[0]] * 2)
        self.assertEqual(self.daemon.call(
            'POST', '/v1/instances/%s/step' % left, {'count': 1}).status, 200)

    def test_one_long_window_ends_too(self):
        """A thousand million internal steps, none of which is long."""
        left, right = (self.daemon.create(half(h=1e-9)) for _ in range(2))
        cid = self.couple(left, right, OSCILLATORS, scheme='Jacobi', stepSize=1)['id']
        thread, told = self.begin(cid)
        self.assertEqual(self.daemon.call('GET', '/v1/instances/%s/state' % left)['time'], 0)
        self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + cid).status, 204)
        thread.join(30)
        self.assertEqual((told[0].status, told[0]['code']), (409, 'cancelled'))
        self.assertEqual(self.daemon.call('GET', '/v1/instances/%s/state' % left)['time'], 0)

    def test_one_window_of_many_short_trials_ends_too(self):
        """Corrections this small do not lead anywhere, and each of 64 participants takes part in
        ten thousand."""
        names = ['p%d' % n for n in range(64)]
        parts = [{'name': n, 'instance': self.daemon.create(half(1., k=K, h=1e-4))} for n in names]
        made = self.daemon.call('POST', '/v1/couplings', {
            'participants': parts, 'stepSize': 0.02,
            'connections': [{'from': a + '.x', 'to': b + '.F'}
                            for a, b in zip(names, names[1:] + names[:1])],
            'scheme': {'type': 'JacobiIterated', 'relaxation': 1e-9, 'maxIterations': 10000}})
        self.assertEqual(made.status, 201, made)
        thread, told = self.begin(made['id'])
        self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + made['id']).status, 204)
        thread.join()
        self.assertEqual((told[0].status, told[0]['code']), (409, 'cancelled'))

    def test_stop_and_the_end_of_the_server(self):
        left, _, cid = self.oscillators()
        thread, told = self.begin(cid)
        self.assertEqual(self.daemon.call('POST', '/v1/instances/%s/stop' % left).status, 409)
        self.daemon.process.send_signal(signal.SIGTERM)
        thread.join(30)
        self.assertEqual((told[0].status, told[0]['code']), (503, 'draining'))
        self.assertEqual(self.daemon.process.wait(30), 0)

    def test_a_client_that_leaves(self):
        _, _, cid = self.oscillators()
        door = raw.connect(self.daemon)
        door.sendall(raw.request('/v1/couplings/%s/step' % cid, self.FOR_EVER))
        wait_until(lambda: self.daemon.call('GET', '/v1/couplings/' + cid)['busy'], 'it works', 30)
        door.close()
        wait_until(lambda: not self.daemon.call('GET', '/v1/couplings/' + cid)['busy'],
                   'it has ended', 30)
        self.assertEqual(self.good(cid, count=1)['report']['windows'], 1)

    def test_many_at_once(self):
        """Commands of one coupling follow each other; couplings whose instances were made in other
        orders do not wait for each other for ever."""
        made = [self.daemon.create(half(1., k=K + K12)) for _ in range(8)]
        pairs = [(0, 7), (6, 1), (2, 5), (4, 3)]
        cids = [self.couple(made[a], made[b], OSCILLATORS)['id'] for a, b in pairs]
        done = []

        def work(cid):
            door = Http(self.daemon.base)
            for _ in range(50):
                done.append(door.call('POST', '/v1/couplings/%s/step' % cid, {'count': 1}).status)
            door.close()

        threads = [threading.Thread(target=work, args=(cid,)) for cid in cids * 2]
        for thread in threads:
            thread.start()
        readers = [self.daemon.call('GET', '/v1/instances/' + i).status for i in made * 10]
        for thread in threads:
            thread.join(60)
        self.assertEqual((set(done), len(done), set(readers)), ({200}, 400, {200}))
        for cid in cids:
            self.assertEqual(self.daemon.call('GET', '/v1/couplings/' + cid)['windows'], 100)
        self.assertEqual(len(self.daemon.call('GET', '/v1/couplings')['items']), 4)
        self.assertIn('\nmechd_couplings 4\n', self.daemon.call('GET', '/metrics').raw.decode())


if __name__ == '__main__':
    unittest.main()
