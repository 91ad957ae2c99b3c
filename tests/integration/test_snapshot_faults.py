"""Snapshots whose record cannot be stored, and numbers that cannot be recorded: what is refused is
not there, and no number is assigned twice."""
import contextlib
import shutil
import sqlite3
import tempfile
import unittest

import models
from asking import ASYNC, Asked, is_busy
from harness import SLOW, wait_until
from keeping import Kept

NO_SNAPSHOTS = ("CREATE TRIGGER no_snapshot BEFORE INSERT ON snapshots "
                "BEGIN SELECT RAISE(FAIL, 'no room'); END")


class Faults(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    @contextlib.contextmanager
    def disk_without_snapshots(self):
        """The database is locked, and takes no snapshots from when the function is called until
        the end."""
        c = sqlite3.connect(self.folder + '/mechd.sqlite', isolation_level=None,
                            timeout=60 * SLOW)
        try:
            c.execute('BEGIN IMMEDIATE')
            c.execute(NO_SNAPSHOTS)
            yield lambda: c.execute('COMMIT')
            c.execute('DROP TRIGGER no_snapshot')
        finally:
            c.close()

    def ids(self, d, path):
        reply = d.call('GET', path + '/snapshots')
        self.assertEqual(reply.status, 200, reply)
        return [s['id'] for s in reply['items']]

    def take(self, d, path):
        reply = d.call('POST', path + '/snapshots')
        self.assertEqual(reply.status, 201, reply)
        return reply['id']

    def put(self, d, i, **more):
        path = '/v1/instances/' + i
        reply = d.call('PUT', path, {'model': models.oscillator(), **more})
        self.assertEqual(reply.status, 201, reply)
        return path

    def test_one_that_could_not_be_stored_is_not_there_though_the_queue_was_full(self):
        with Kept(self.folder) as d:
            path = self.put(d, 'mine', durability='every-step')
            self.take(d, path)
            with self.disk_without_snapshots() as refuse:
                taken = Asked(d, 'POST', path + '/snapshots', None)
                wait_until(lambda: len(self.ids(d, path)) == 2, 'it is on its way')
                reply = d.call('POST', path + '/step', {'count': 10 ** 12}, ASYNC)
                self.assertEqual(reply.status, 202, reply)
                wait_until(lambda: is_busy(d, path), 'it steps')
                codes = []
                while not codes or (codes[-1] == 202 and len(codes) < 200):
                    codes.append(d.call('POST', path + '/step', {'count': 1}, ASYNC).status)
                self.assertEqual(codes[-1], 429)
                refuse()
                reply = taken.answer()
                self.assertEqual((reply.status, reply['code']), (507, 'storage-failed'), reply)
            d.call('POST', path + '/stop')
            wait_until(lambda: not is_busy(d, path), 'the queue is empty')
            self.assertEqual(self.ids(d, path), ['s-1'])
            reply = d.call('POST', path + '/snapshots/s-2/restore')
            self.assertEqual((reply.status, reply['code']), (404, 'not-found'), reply)

    def check_numbers_go_on(self, make):
        """Of an instance that `make` makes, until the disk is full, and that a client makes again
        under its id in the next process."""
        d = Kept(self.folder)
        path, last = make(d), 0
        with d.full_disk():
            for _ in range(2000):
                reply = d.call('POST', path + '/snapshots')
                if reply.status != 201:
                    self.assertEqual((reply.status, reply['code']), (507, 'storage-failed'), reply)
                    break
                last = int(reply['id'][2:])
                d.call('DELETE', path + '/snapshots/' + reply['id'])
            self.assertEqual(self.ids(d, path), [])
        d.kill()
        with Kept(self.folder) as d:
            self.put(d, path.rsplit('/', 1)[1])
            self.assertGreater(int(self.take(d, path)[2:]), last)

    def test_no_number_is_assigned_again_after_a_disk_that_was_full(self):
        self.check_numbers_go_on(lambda d: self.put(d, 'mine'))

    def test_an_id_of_ours_that_a_client_chooses_later_counts_on(self):
        self.check_numbers_go_on(lambda d: '/v1/instances/' + d.create(models.oscillator()))

    def test_an_id_of_ours_that_a_client_chose_before_counts_on(self):
        with Kept(self.folder) as d:
            path = self.put(d, 'i-4')
            before = [self.take(d, path), self.take(d, path)]
            self.assertEqual(d.call('DELETE', path).status, 204)
        with Kept(self.folder) as d:
            made = None
            while made != 'i-4':
                made = d.create(models.oscillator())
                self.assertIn(made, ('i-2', 'i-3', 'i-4'))
            self.assertNotIn(self.take(d, path), before)
            reply = d.call('GET', path + '/snapshots/s-1')
            self.assertEqual((reply.status, reply['code']), (404, 'not-found'), reply)

    def test_an_id_of_ours_that_is_far_ahead_leaves_those_before_it_as_they_are(self):
        for far in (2 ** 62, 2 ** 40, 20261126):
            with self.subTest(far):
                with Kept(self.folder) as d:
                    path = self.put(d, 'i-%d' % far)
                    before = self.take(d, path)
                    self.assertEqual(d.call('DELETE', path).status, 204)
                for _ in range(2):
                    with Kept(self.folder) as d:
                        made = '/v1/instances/' + d.create(models.oscillator())
                        self.assertEqual(self.take(d, made), 's-1')
        with contextlib.closing(sqlite3.connect(self.folder + '/mechd.sqlite')) as c, c:
            c.execute("UPDATE numbers SET value = ? WHERE name = 'instances'", (far - 1,))
        with Kept(self.folder) as d:
            self.assertEqual('/v1/instances/' + d.create(models.oscillator()), path)
            self.assertNotEqual(self.take(d, path), before)

    def test_numbers_go_on_in_a_database_of_an_earlier_version(self):
        """Which had none of trials, of snapshots and of runs."""
        with Kept(self.folder) as d:
            path = self.put(d, 'mine', durability='every-step')
            last, trials = [self.take(d, path) for _ in range(3)][-1], []
            for _ in range(3):
                reply = d.call('POST', path + '/step', {'count': 1, 'commit': False})
                trials.append(reply['trial'])
        with contextlib.closing(sqlite3.connect(self.folder + '/mechd.sqlite')) as c, c:
            c.execute("DELETE FROM numbers WHERE name IN ('parts', 'trials', 'chosen')")
        with Kept(self.folder) as d:
            reply = d.call('POST', path + '/step', {'count': 1, 'commit': False})
            self.assertNotIn(reply['trial'], trials)
            self.assertEqual(d.call('DELETE', path).status, 204)
            self.put(d, 'mine')
            self.assertGreater(int(self.take(d, path)[2:]), int(last[2:]))


if __name__ == '__main__':
    unittest.main()
