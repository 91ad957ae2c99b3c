"""Snapshots of a coupling: its own state and those of all its instances, restored together or not
at all."""
import unittest

from harness import Daemon, wait_until
from coupled import K, K12, OSCILLATORS, Couplings, half

RACES = True


class Snapshots(Couplings):
    def call(self, method, cid, rest='', body=None):
        return self.daemon.call(method, '/v1/couplings/%s/snapshots%s' % (cid, rest), body)

    def test_a_restored_coupling_goes_on_with_the_same_bits(self):
        for more in ({'hold': 2, 'scheme': {'type': 'IQN-ILS', 'reuse': 2}},
                     {'hold': 1, 'scheme': 'GaussSeidel'}, {'scheme': 'InterfaceNewton'}):
            with self.subTest(more):
                left, right, cid = self.oscillators(**more)
                self.good(cid, count=5)
                taken = self.call('POST', cid)
                self.assertEqual((taken.status, taken['window']), (201, 5), taken)
                self.assertEqual(self.daemon.call('GET', taken.headers['Location']).json,
                                 taken.json)
                states = self.state(left), self.state(right)
                ahead = self.good(cid, count=7)['outputs']
                for _ in range(2):
                    reply = self.call('POST', cid, '/%s/restore' % taken['id'])
                    self.assertEqual((reply.status, reply['window'], reply['time'],
                                      reply['reproducible']),
                                     (200, 5, taken['time'], True), reply)
                    self.assertEqual((self.state(left), self.state(right)), states)
                    self.assertEqual(self.good(cid, count=7)['outputs'], ahead)
                self.assertEqual(self.daemon.call('GET', '/v1/couplings/' + cid)['windows'], 12)

    def test_a_restored_instance_descends_from_what_it_descended_from_then(self):
        left, right = (self.daemon.create(half(x, k=K + K12)) for x in (1., 0.))
        path = '/v1/instances/%s/snapshots' % left
        self.assertEqual(self.daemon.call('POST', path)['id'], 's-1')
        cid = self.couple(left, right, OSCILLATORS)['id']
        taken = self.call('POST', cid)
        self.good(cid, count=1)
        self.assertEqual(self.daemon.call('POST', '/v1/couplings/%s/reset' % cid).status, 200)
        self.assertEqual(self.daemon.call('GET', path)['current'], None)
        self.assertEqual(self.call('POST', cid, '/%s/restore' % taken['id']).status, 200)
        self.assertEqual(self.daemon.call('GET', path)['current'], 's-1')

    def test_what_the_coupling_itself_takes_is_charged(self):
        def memory():
            return self.daemon.call('GET', '/v1/quota')['used']['memory']
        left, right = (self.daemon.create(half(x, k=K + K12)) for x in (1., 0.))
        sizes = []
        for more in ({}, {'waveform': {'degree': 3, 'substeps': True}}):
            with self.subTest(more):
                before = memory()
                made = self.couple(left, right, OSCILLATORS, 'JacobiIterated', **more)
                self.assertEqual(made.status, 201, made)
                cid, between = made['id'], memory()
                taken = self.call('POST', cid)
                self.assertEqual(memory() - between, taken['bytes'])
                # its own state, and where windows are in pieces one of each instance
                sizes.append(between - before)
                self.assertGreater(sizes[-1], taken['bytes'] / 2 if more else 0)
                self.assertEqual(self.call('DELETE', cid, '/' + taken['id']).status, 204)
                self.assertEqual(memory(), between)
                self.daemon.call('DELETE', '/v1/couplings/' + cid)
                # the thread that has answered the last command may still hold it
                wait_until(lambda before=before: memory() == before, 'it is refunded')
        self.assertGreater(sizes[1], sizes[0])

    def test_the_outputs_that_it_shows_are_charged(self):
        """By its own copies of them: names and values; and refunded, also where it is refused."""
        def memory():
            return self.daemon.call('GET', '/v1/quota')['used']['memory']
        taken = []
        for more in (0, 400):
            model = half(1., k=K + K12)
            model['outputs'] += [{'name': 'y%d' % k, 'sensor': 'q', 'component': 0}
                                 for k in range(more)]
            left, right = self.daemon.create(model), self.daemon.create(half(0., k=K + K12))
            before = memory()
            self.assertEqual(self.couple(left, right, OSCILLATORS, stepSize=-1).status, 422)
            self.daemon.call('POST', '/v1/instances/%s/step' % right, {'count': 1})
            self.assertEqual(self.couple(left, right, OSCILLATORS)['code'], 'time-mismatch')
            wait_until(lambda before=before: memory() == before, 'it is refunded')
            self.daemon.call('POST', '/v1/instances/%s/reset' % right)
            cid = self.couple(left, right, OSCILLATORS)['id']
            taken.append(memory() - before)
            self.daemon.call('DELETE', '/v1/couplings/' + cid)
            wait_until(lambda before=before: memory() == before, 'it is refunded')
        self.assertGreater(taken[1] - taken[0], 400 * (16 + 8))

    def test_they_are_listed_deleted_and_bounded(self):
        _, _, cid = self.oscillators()
        taken = [self.call('POST', cid).json for _ in range(64)]
        self.assertEqual(self.call('GET', cid)['items'], taken)
        self.assertEqual(self.call('GET', cid, '/' + taken[5]['id']).json, taken[5])
        reply = self.call('POST', cid)
        self.assertEqual((reply.status, reply['code']), (429, 'limit-reached'))
        gone = taken.pop(3)['id']
        self.assertEqual(self.call('DELETE', cid, '/' + gone).status, 204)
        self.assertEqual(self.call('DELETE', cid, '/' + gone).status, 404)
        self.assertEqual(self.call('GET', cid, '/' + gone).status, 404)
        self.assertEqual(self.call('POST', cid, '/%s/restore' % gone).status, 404)
        self.assertEqual(self.call('GET', cid)['items'], taken)
        self.assertNotIn(self.call('POST', cid)['id'], {t['id'] for t in taken} | {gone})

    def test_a_restore_discards_the_trial_and_a_snapshot_does_not(self):
        _, _, cid = self.oscillators()
        trial = self.good(cid, count=1, commit=False)['trial']
        sid = self.call('POST', cid)['id']
        path = '/v1/couplings/%s/commit' % cid
        self.assertEqual(self.daemon.call('POST', path, {'trial': trial}).status, 200)
        trial = self.good(cid, count=1, commit=False)['trial']
        self.assertEqual(self.call('POST', cid, '/%s/restore' % sid).status, 200)
        self.assertEqual(self.daemon.call('POST', path, {'trial': trial})['code'], 'no-trial')

    def test_they_count_with_each_instance_and_are_refunded(self):
        self.daemon.stop()
        self.daemon = Daemon('--quota', 'snapshots=3')
        left, right, cid = self.oscillators()
        sid = self.call('POST', cid)['id']  # one of each of the two instances
        reply = self.call('POST', cid)
        self.assertEqual((reply.status, reply['code']), (429, 'quota-exceeded'), reply)
        self.assertEqual(reply['quota']['which'], 'snapshots')
        self.assertEqual(self.call('DELETE', cid, '/' + sid).status, 204)
        self.assertEqual(self.call('POST', cid).status, 201)
        self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + cid).status, 204)
        for i in (left, right, left):
            self.assertEqual(self.daemon.call(
                'POST', '/v1/instances/%s/snapshots' % i).status, 201)

    def test_an_instance_that_can_no_longer_take_its_state_keeps_all_as_they_are(self):
        """Its lease is revoked, and its model changed, before the restore is asked for."""
        left = self.daemon.create(half(1., k=K + K12))
        right = self.daemon.create(half(0., k=K + K12))
        cid = self.couple(left, right, OSCILLATORS)['id']
        sid = self.call('POST', cid)['id']
        self.good(cid, count=2)
        self.daemon.call('DELETE', '/v1/instances/%s/lease?of=owner' % right)
        before = self.state(left), self.state(right)
        reply = self.call('POST', cid, '/%s/restore' % sid)
        self.assertEqual((reply.status, reply['code']), (409, 'foreign-lease'), reply)
        self.assertEqual((self.state(left), self.state(right)), before)


if __name__ == '__main__':
    unittest.main()
