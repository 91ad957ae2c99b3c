"""Numbers of snapshots, runs and trials of couplings: none is assigned twice, also not by a later
process, and what could not be stored is in no list."""
import unittest

from coupled_kept import RARE, KeptCouplings
from harness import wait_until

RACES = True

BEFORE = (r'numbers up to \d+ were assigned before this coupling was created or mechd was '
          r'started$')


class Numbers(KeptCouplings):
    def test_the_number_of_a_deleted_snapshot_is_not_assigned_again(self):
        _, _, cid = self.pair('every-step')
        path = '/v1/couplings/%s/snapshots' % cid
        self.good(cid, count=2)
        self.assertEqual(self.daemon.call('POST', path)['id'], 's-1')
        self.assertEqual(self.daemon.call('DELETE', path + '/s-1').status, 204)
        self.again()
        self.assertEqual(self.daemon.call('GET', path)['items'], [])
        for reply in (self.daemon.call('GET', path + '/s-1'),
                      self.daemon.call('POST', path + '/s-1/restore')):
            self.assertEqual((reply.status, reply['code']), (404, 'not-found'), reply)
            self.assertRegex(reply['detail'], 'there is no snapshot s-1: ' + BEFORE)
        number = int(self.daemon.call('POST', path)['id'][2:])
        self.assertGreater(number, 1)
        reply = self.daemon.call('GET', '%s/s-%d' % (path, number + 1))
        self.assertEqual(reply['detail'], 'there is no snapshot s-%d' % (number + 1))
        # those of a process that was shut down are known exactly
        self.again(kill=False)
        self.assertEqual(self.daemon.call('POST', path)['id'], 's-%d' % (number + 1))

    def test_a_snapshot_waits_for_the_disk_and_for_no_checkpoint(self):
        _, _, cid = self.pair(RARE)
        path, known = '/v1/couplings/%s/snapshots' % cid, []
        for _ in range(3):
            with self.daemon.full_disk():
                reply = self.daemon.call('POST', path)
                self.assertEqual((reply.status, reply['code']), (507, 'storage-failed'), reply)
            reply = self.daemon.call('POST', path)
            self.assertEqual(reply.status, 201, reply)
            self.assertNotIn(reply['id'], known)
            known.append(reply['id'])
            self.again()
            self.assertEqual([s['id'] for s in self.daemon.call('GET', path)['items']], known)

    def test_the_number_of_a_run_is_not_assigned_again(self):
        _, _, cid = self.pair('every-step')
        path, known = '/v1/couplings/%s/runs' % cid, []
        for _ in range(3):
            run = self.daemon.call('POST', path, {'count': 1})
            self.assertEqual(run.status, 202, run)
            wait_until(lambda r=run: self.daemon.call('GET', r.headers['Location'])['state'] ==
                       'finished', 'it is over')
            self.assertNotIn(run['id'], known)
            known.insert(0, run['id'])
            self.again()
            self.assertEqual([r['id'] for r in self.daemon.call('GET', path)['items']], known)
            reply = self.daemon.call('GET', path + '/r-1000000')
            self.assertRegex(reply['detail'], 'there is no run r-1000000; the last .* retained$')

    def test_a_trial_of_a_process_before_is_not_that_of_another(self):
        left, right, cid = self.pair('every-step')
        self.good(cid, count=1)
        trial = self.good(cid, count=1, commit=False)['trial']
        self.again()
        self.assertEqual(self.shown(cid)['windows'], 1)
        other = self.good(cid, count=2, commit=False)['trial']
        commit = '/v1/couplings/%s/commit' % cid
        reply = self.daemon.call('POST', commit, {'trial': trial})
        self.assertEqual((reply.status, reply['code']), (409, 'no-trial'), reply)
        self.assertRegex(reply['detail'], 'there is no trial %d: %s' % (trial, BEFORE))
        reply = self.daemon.call('POST', commit, {'trial': other})
        self.assertEqual(reply.status, 200, reply)
        self.again()
        self.assertEqual(self.shown(cid)['windows'], 3)
        self.assertEqual(self.sequence(left), self.sequence(right))
        numbers = set()
        for _ in range(3):  # nothing is stored between these
            numbers.add(self.good(cid, count=1, commit=False)['trial'])
            self.again()
        self.assertEqual(len(numbers | {trial, other}), 5)

    def test_a_snapshot_that_is_refused_is_none(self):
        _, _, cid = self.pair('every-step')
        path = '/v1/couplings/%s/snapshots' % cid
        self.good(cid, count=1)
        kept = self.daemon.call('POST', path)
        with self.daemon.full_disk():
            for _ in range(5):
                reply = self.daemon.call('POST', path)
                self.assertEqual((reply.status, reply['code']), (507, 'storage-failed'), reply)
                self.assertEqual([s['id'] for s in self.daemon.call('GET', path)['items']],
                                 [kept['id']])
        made = self.daemon.call('POST', path)
        self.assertEqual(made.status, 201, made)
        with self.daemon.full_disk():
            reply = self.step(cid, count=1)
            self.assertEqual((reply.status, reply['code']), (507, 'storage-failed'), reply)
        self.assertEqual([s['id'] for s in self.daemon.call('GET', path)['items']],
                         [kept['id'], made['id']])
        self.good(cid, count=2)
        for known in (made, kept):
            reply = self.daemon.call('POST', '%s/%s/restore' % (path, known['id']))
            self.assertEqual((reply.status, reply['window']), (200, 1), reply)
        for known in (made, kept):
            self.assertEqual(self.daemon.call('DELETE', path + '/' + known['id']).status, 204)


if __name__ == '__main__':
    unittest.main()
