"""Trials of a coupling: they leave no trace until they are committed, and then give the bits of a
step; what changes a participant discards them."""
import math
import unittest

import raw
from coupled import K, K12, OSCILLATORS, Couplings, half
from harness import Daemon, wait_until

RACES = True

SPRING = [{'name': 'spring', 'effort': ['left.F', 'right.F'], 'flow': ['left.x', 'right.x'],
           'law': {'stiffness': 100}}]


class Trials(Couplings):
    def trial(self, cid, **body):
        reply = self.good(cid, commit=False, **body)
        return reply['trial'], reply

    def commit(self, cid, trial):
        return self.daemon.call('POST', '/v1/couplings/%s/commit' % cid, {'trial': trial})

    def seen(self, cid, *instances):
        """Everything that a client sees of it and its instances, their ETags too, but for what the
        last command ended with."""
        replies = [self.daemon.call('GET', '/v1/instances/%s/%s' % (i, what))
                   for i in instances for what in ('state', 'inputs', 'outputs')]
        coupling = self.daemon.call('GET', '/v1/couplings/' + cid).json
        return ([(r.raw, r.headers['ETag']) for r in replies],
                {key: value for key, value in coupling.items() if key != 'last'})

    def bonded(self):
        left, right = (self.daemon.create(half(0., v, k=k)) for v, k in ((100., 10.), (-100., 1e3)))
        reply = self.couple(left, right, bonds=SPRING, scheme='Energy')
        self.assertEqual(reply.status, 201, reply)
        return left, right, reply['id']

    def test_leave_no_trace_and_commit_gives_the_bits_of_a_step(self):
        ways = [lambda: self.oscillators(hold=0, scheme='Jacobi'),
                lambda: self.oscillators(hold=1, scheme={'type': 'IQN-ILS', 'reuse': 3}),
                lambda: self.oscillators(hold=2, scheme='Aitken'),
                lambda: self.oscillators(hold=1, scheme='InterfaceNewton'), self.bonded]
        for number, way in enumerate(ways):
            for before in (0, 4):
                with self.subTest(way=number, before=before):
                    left, right, cid = way()
                    other_left, other_right, other = way()
                    if before:
                        self.good(cid, count=before)
                        self.good(other, count=before)
                    seen = self.seen(cid, left, right)
                    self.trial(cid, count=2)
                    trial, tried = self.trial(cid, count=3)
                    self.assertEqual(self.seen(cid, left, right), seen)
                    stepped = self.good(other, count=3)
                    self.assertEqual({k: tried[k] for k in ('time', 'window', 'outputs')},
                                     {k: stepped[k] for k in ('time', 'window', 'outputs')})
                    reply = self.commit(cid, trial)
                    self.assertEqual(reply.status, 200, reply)
                    self.assertEqual(reply.json, {k: stepped[k]
                                                  for k in ('time', 'window', 'outputs')})
                    self.assertEqual(self.commit(cid, trial)['code'], 'no-trial')
                    for more in range(2):
                        self.assertEqual((self.state(left), self.state(right)),
                                         (self.state(other_left), self.state(other_right)), more)
                        self.assertEqual(self.good(cid, count=2)['outputs'],
                                         self.good(other, count=2)['outputs'])

    def memory(self):
        return self.daemon.call('GET', '/v1/quota')['used']['memory']

    def test_its_end_is_charged_while_it_is_kept(self):
        """As much as a snapshot; one for which the quota has no room leaves nothing."""
        _, _, cid = self.oscillators()
        self.good(cid, count=2)
        path = '/v1/couplings/%s/snapshots' % cid
        taken = self.daemon.call('POST', path)
        self.daemon.call('DELETE', '%s/%s' % (path, taken['id']))
        before = self.memory()
        for _ in range(2):  # the second takes the place of the first
            trial, _ = self.trial(cid, count=1)
            self.assertEqual(self.memory(), before + taken['bytes'])
        self.assertEqual(self.commit(cid, trial).status, 200)
        self.assertEqual(self.memory(), before)

        self.daemon.stop()
        self.daemon = Daemon('--workers', '2', '--quota',
                             'memory=%d' % (before + taken['bytes'] // 2))
        left, right, cid = self.oscillators()
        self.good(cid, count=2)
        seen = self.seen(cid, left, right)
        reply = self.step(cid, count=1, commit=False)
        self.assertEqual((reply.status, reply['code']), (429, 'quota-exceeded'), reply)
        self.assertEqual((self.seen(cid, left, right), self.memory()), (seen, before))

    def test_what_discards_one(self):
        left, right, cid = self.oscillators(hold=1)
        path = '/v1/couplings/' + cid
        for change in (lambda: self.good(cid, count=1), lambda: self.trial(cid, count=2),
                       lambda: self.daemon.call('POST', path + '/reset')):
            trial, _ = self.trial(cid, count=1)
            for refused in (0, trial + 1):
                reply = self.commit(cid, refused)
                self.assertIn((reply.status, reply['code']),
                              [(422, 'invalid-request'), (409, 'no-trial')])
            change()
            reply = self.commit(cid, trial)
            self.assertEqual((reply.status, reply['code']), (409, 'no-trial'), reply)
        self.assertEqual(self.daemon.call('POST', path + '/commit', {})['errors'][0]['pointer'],
                         '/trial')
        self.assertEqual(self.commit('c-99', 1).status, 404)

    def test_an_input_that_a_co_driver_sets_discards_it(self):
        left, right = (self.daemon.create(half(x, k=K + K12)) for x in (1., 0.))
        drive = self.daemon.call('POST', '/v1/instances/%s/lease' % left,
                                 {'role': 'co-driver', 'channels': ['F']})
        self.assertEqual(drive.status, 201, drive)
        cid = self.couple(left, right, OSCILLATORS)['id']
        trial, _ = self.trial(cid, count=1)
        reply = self.daemon.call('PUT', '/v1/instances/%s/inputs' % left, {'F': 5},
                                 {'Lease': str(drive['lease'])})
        self.assertEqual(reply.status, 200, reply)
        reply = self.commit(cid, trial)
        self.assertEqual((reply.status, reply['code']), (409, 'no-trial'), reply)
        self.assertIn('participant left', reply['detail'])
        self.assertEqual(self.daemon.call('GET', '/v1/instances/%s/state' % left)['time'], 0)
        # a label changes no state
        trial, _ = self.trial(cid, count=1)
        self.daemon.call('PATCH', '/v1/instances/' + right, {'labels': {'a': 'b'}})
        self.assertEqual(self.commit(cid, trial).status, 200)

    def test_one_that_fails_leaves_nothing_of_any_window(self):
        broken = half(1.)
        broken['objects'].append({
            'name': 'f', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],
            'springForceUserFunction': '=log(0.2 - t)'})
        fine, failing = self.daemon.create(half()), self.daemon.create(broken)
        cid = self.couple(fine, failing, [{'from': 'left.x', 'to': 'right.F'}], scheme='Jacobi',
                          stepSize=0.05, hold=1)['id']
        seen = self.seen(cid, fine, failing)
        reply = self.step(cid, count=10, commit=False)
        self.assertEqual((reply.status, reply['code']), (422, 'not-finite'), reply)
        self.assertGreater(reply['report']['windows'], 1)
        self.assertEqual(self.seen(cid, fine, failing), seen)
        _, _, cid = self.oscillators(scheme={'type': 'JacobiIterated', 'maxIterations': 2})
        self.assertEqual(self.step(cid, count=1, commit=False)['code'], 'coupling-not-converged')
        self.assertEqual(self.commit(cid, 1)['code'], 'no-trial')

    def test_readers_see_the_state_before_and_it_ends_with_its_client(self):
        left, right, cid = self.oscillators(4.)
        seen = self.seen(cid, left, right)[0]
        door = raw.connect(self.daemon)
        door.sendall(raw.request('/v1/couplings/%s/step' % cid,
                                 {'count': 10 ** 12, 'commit': False}))
        wait_until(lambda: self.daemon.call('GET', '/v1/couplings/' + cid)['busy'], 'it works', 30)
        # a list has what was published, without waiting for the instance
        items = self.daemon.call('GET', '/v1/instances')['items']
        self.assertEqual({i['time'] for i in items}, {0})
        door.close()
        wait_until(lambda: not self.daemon.call('GET', '/v1/couplings/' + cid)['busy'], 'ended', 30)
        self.assertEqual(self.seen(cid, left, right)[0], seen)
        self.assertTrue(math.isfinite(self.good(cid, count=1)['outputs']['left.x']))


if __name__ == '__main__':
    unittest.main()
