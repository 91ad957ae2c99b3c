"""Runs of couplings that are stored: their rows go to the disk with the windows that lead to them,
so that a process that begins has a run, its rows and its coupling at one window.

MECHD_TESTS_KILLS: how often the daemon is killed (10)."""
import random
import sqlite3
import unittest

from coupled_kept import RARE, KeptCouplings
from harness import Daemon, wait_until
from keeping import KILLS, Kept

RACES = True
MORE = {'scheme': {'type': 'IQN-ILS', 'reuse': 3}, 'hold': 1}
ENDLESS = 10 ** 6
RECORD = {'outputs': ['left.x', 'right.v'], 'inputs': True, 'hash': True}


class DurableRuns(KeptCouplings):
    def start(self, cid, status=202, **body):
        reply = self.daemon.call('POST', '/v1/couplings/%s/runs' % cid, body)
        self.assertEqual(reply.status, status, reply)
        return reply.headers.get('Location')

    def get(self, where):
        reply = self.daemon.call('GET', where)
        self.assertEqual(reply.status, 200, reply)
        return reply.json

    def over(self, where):
        wait_until(lambda: self.get(where)['state'] != 'running', 'the run is over', 60)
        return self.get(where)

    def results(self, where):
        return self.daemon.call('GET', where + '/results?format=f64').raw

    def forever(self, rows, **more):
        """Results of a run of so many rows or more, in a process that was never killed."""
        rows = max(rows, 2)
        with Daemon() as other:
            here, self.daemon = self.daemon, other
            try:
                where = self.start(self.pair('none', **more)[2], count=rows - 1, record=RECORD)
                self.assertEqual(self.over(where)['recorded'], rows)
                return self.results(where)
            finally:
                self.daemon = here

    def test_a_run_that_is_over_is_there_with_its_rows_in_the_next_process(self):
        for durability in ('every-step', RARE):
            for kill in (True, False):
                with self.subTest(durability, kill=kill):
                    _, _, cid = self.pair(durability, **MORE)
                    first = self.start(cid, count=20, record=RECORD)
                    self.assertEqual(self.over(first)['state'], 'finished')
                    where = self.start(cid, count=5, record={'every': 2})
                    self.assertEqual(self.over(where)['state'], 'finished')
                    # its end is on its way to the disk when it shows
                    wait_until(lambda cid=cid: self.rows(
                        'SELECT count(*) FROM coupling_runs WHERE key = ? AND state = ?',
                        int(cid[2:]), 'finished') == [(2,)], 'both are on the disk')
                    before = [(self.get(w), self.results(w)) for w in (first, where)]
                    self.again(kill)
                    self.assertEqual([(self.get(w), self.results(w)) for w in (first, where)],
                                     before)
                    self.assertEqual(self.shown(cid)['windows'], 25)
                    path = first + '/results?from=0.05&to=0.07&outputs=left.x'
                    self.assertEqual(len(self.daemon.call('GET', path)['rows']), 3)
                    third = self.over(self.start(cid, count=1))['id']
                    self.assertNotIn(third, [w.rsplit('/', 1)[1] for w in (first, where)])

    def test_what_a_run_was_warned_of_is_there_in_the_next_process(self):
        _, _, cid = self.pair('every-step', scheme={'type': 'Jacobi'}, stepSize=1)
        bound = self.daemon.call('GET', '/v1/couplings/%s/stability' % cid)['largestStable']
        self.assertLess(bound, 1)
        where = self.start(cid, count=1)
        before = self.over(where)
        self.assertIn('windows of 1 s are unstable', before['warnings'][0]['message'])
        wait_until(lambda: self.rows('SELECT state FROM coupling_runs') == [('finished',)],
                   'it is on the disk')
        self.again(True)
        self.assertEqual(self.get(where), before)

    def test_what_a_run_is_warned_of_within_it_is_there_too(self):
        """Of the last stability report: another one is of another window."""
        _, _, cid = self.pair('every-step', scheme={'type': 'Jacobi'}, stepSize=1)
        where = self.start(cid, pace=1, period=1)
        said = self.get(where).get('warnings')
        self.assertIsNone(said)
        for _ in range(2):
            report = self.daemon.call('GET', '/v1/couplings/%s/stability' % cid)
            self.assertEqual(report.status, 200, report)
            wait_until(lambda s=said: self.get(where).get('warnings') != s, 'it is warned', 60)
            said = self.get(where)['warnings']
            windows = self.shown(cid)['windows']
            wait_until(lambda n=windows: self.shown(cid)['windows'] > n, 'it goes on', 60)
        before = self.daemon.call('DELETE', where).json
        self.assertEqual(before['state'], 'stopped')
        wait_until(lambda: self.rows('SELECT state FROM coupling_runs') == [('stopped',)],
                   'it is on the disk')
        self.again(True)
        self.assertEqual((self.get(where)['warnings'], before['warnings']), (said, said))

    def test_rows_and_windows_agree_after_a_kill_at_any_moment(self):
        """A free run is killed: what is there is the beginning of the same run without a kill, up
        to the window at which the coupling is."""
        dice, expected = random.Random(11), b''
        for k in range(KILLS):
            durability = ('every-step', {'mode': 'checkpoint', 'steps': 7},
                          {'mode': 'checkpoint', 'seconds': 0.01})[k % 3]
            with self.subTest(durability, k=k):
                pair = self.pair((durability, RARE), **MORE)
                where = self.start(pair[2], count=ENDLESS, record=RECORD)
                least = dice.randrange(200)
                wait_until(lambda w=where, n=least: self.get(w)['periods'] >= n, 'it steps', 60)
                # with checkpoints it is answered before that
                wait_until(lambda: self.rows('SELECT count(*) FROM coupling_runs') == [(1,)],
                           'it is on the disk')
                self.daemon.kill()
                self.daemon = Kept(self.folder)
                windows, run = self.shown(pair[2])['windows'], self.get(where)
                self.assertEqual((run['state'], run['recorded'], run['periods']),
                                 ('interrupted', windows + 1, windows), run)
                rows = self.results(where)
                if len(expected) < len(rows):
                    expected = self.forever(2 * (windows + 1), **MORE)
                self.assertEqual(rows, expected[:len(rows)])
                self.assertEqual(len(rows) % (windows + 1), 0)
                # the coupling goes on from there
                self.good(pair[2], count=1)
                self.daemon.call('DELETE', '/v1/couplings/' + pair[2])
        self.assertEqual(self.rows('SELECT count(*) FROM coupling_runs'), [(0,)])
        self.assertEqual(self.rows('SELECT count(*) FROM coupling_results'), [(0,)])

    def test_more_rows_than_memory_holds_are_recorded(self):
        """Of a coupling in memory alone so many would be refused."""
        count = 3 * 10 ** 6
        _, _, kept = self.pair('every-step')
        _, _, loose = self.pair('none')
        self.start(loose, 422, count=count, record={})
        where = self.start(kept, count=count, record={})
        wait_until(lambda: self.get(where)['recorded'] > 100, 'it records')
        reply = self.daemon.call('DELETE', where)
        self.assertEqual((reply.status, reply['state']), (200, 'stopped'), reply)
        rows = self.results(where)
        self.again()
        run = self.get(where)
        self.assertEqual((run['state'], self.results(where)), ('stopped', rows), run)
        self.assertEqual(self.shown(kept)['windows'], run['periods'])

    def test_rows_that_are_deleted_are_gone_also_in_the_next_process(self):
        _, _, cid = self.pair('every-step')
        where = self.start(cid, count=3, record={})
        self.over(where)
        self.assertEqual(self.daemon.call('DELETE', where + '/results').status, 204)
        self.again()
        self.assertNotIn('recorded', self.get(where))
        self.assertEqual(self.daemon.call('GET', where + '/results').status, 404)

    def test_windows_that_cannot_be_stored_leave_no_rows(self):
        stored = 'SELECT count(*) FROM coupling_results'
        for durability in ('every-step', {'mode': 'checkpoint', 'steps': 5}):
            with self.subTest(durability):
                before = self.rows(stored)[0][0]
                _, _, cid = self.pair(durability, **MORE)
                where = self.start(cid, count=ENDLESS, record=RECORD)
                # in memory it is ahead of what is stored
                wait_until(lambda n=before: self.rows(stored)[0][0] > n, 'it stores')
                with self.daemon.full_disk():
                    run = self.over(where)
                    self.assertEqual(run['state'], 'failed', run)
                    if durability == 'every-step':
                        self.start(cid, 507, count=1)
                windows = self.shown(cid)['windows']
                self.assertEqual(self.get(where)['recorded'], windows + 1)
                rows = self.results(where)
                self.assertEqual(rows, self.forever(windows + 1, **MORE)[:len(rows)])
                self.good(cid, count=1)
                self.again()
                self.assertEqual(self.results(where), rows)
                self.assertEqual(self.get(where)['state'], 'failed')

    def test_they_count_as_stored_and_are_refunded(self):
        def stored():
            return self.daemon.call('GET', '/v1/quota')['used']['stored']
        _, _, cid = self.pair('every-step')
        before = stored()
        where = self.start(cid, count=9, record={})
        self.over(where)
        self.assertEqual(stored() - before, len(self.results(where)))
        self.again()
        self.assertEqual(stored() - before, len(self.results(where)))
        self.assertEqual(self.daemon.call('DELETE', where + '/results').status, 204)
        self.assertEqual(stored(), before)

    def test_a_database_of_the_version_before_is_brought_up(self):
        pair = self.pair('every-step', **MORE)
        self.good(pair[2], count=2)
        before = self.all_of(*pair)
        self.daemon.stop()
        connection = sqlite3.connect('%s/mechd.sqlite' % self.folder)
        connection.executescript('DROP TABLE coupling_results; DROP TABLE coupling_runs;'
                                 'PRAGMA user_version = 10;')
        connection.close()
        self.daemon = Kept(self.folder)
        self.assertEqual(self.all_of(*pair), before)
        where = self.start(pair[2], count=3, record={})
        self.over(where)
        self.again(kill=False)
        self.assertEqual(self.get(where)['recorded'], 4)


if __name__ == '__main__':
    unittest.main()
