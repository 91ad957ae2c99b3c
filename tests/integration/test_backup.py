"""A backup as deploy/README.md makes it: the records of one moment of a daemon that stores steps
meanwhile; a daemon on it continues from there."""
import contextlib
import os
import re
import shutil
import sqlite3
import tempfile
import threading
import unittest
import harness
import models
from harness import Http, wait_until
from keeping import Kept

STEPS = 20


def documented(target):
    """The statement of the page, for another file."""
    with open(os.path.join(harness.ROOT, 'deploy', 'README.md'), encoding='utf-8') as f:
        found = re.search(r'sqlite3 \S+/mechd\.sqlite "(.*?)"\n', f.read())
    return found.group(1).replace('/backup/mechd-$(date +%F).sqlite', target)


class Backup(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='mechd-backup-')
        self.addCleanup(shutil.rmtree, self.folder)
        self.place, self.copy = (os.path.join(self.folder, n) for n in ('state', 'copy'))
        os.mkdir(self.copy, 0o700)

    def make_copy(self):
        database = sqlite3.connect(os.path.join(self.place, 'mechd.sqlite'), isolation_level=None)
        database.execute(documented(os.path.join(self.copy, 'mechd.sqlite')))
        database.close()

    def test_it_has_what_was_answered_and_goes_on_with_the_same_bits(self):
        over = threading.Event()
        answered = []

        def step_on(base, path):
            with contextlib.closing(Http(base)) as http:
                while not over.is_set():
                    answered.append(http.call('POST', path + '/step', {'count': 1}).json['step'])
        with Kept(self.place, '--durability', 'every-step') as daemon:
            path = '/v1/instances/' + daemon.create(models.oscillator())
            for _ in range(STEPS):
                self.assertEqual(daemon.call('POST', path + '/step', {'count': 1}).status, 200)
            daemon.call('POST', path + '/snapshots')
            other = threading.Thread(target=step_on, args=(daemon.base, path))
            other.start()
            try:
                wait_until(lambda: answered, 'steps are stored meanwhile')
                least = answered[-1]
                self.make_copy()
            finally:
                over.set()
                other.join()
            last = daemon.call('GET', path + '/state').json
        with Kept(self.copy) as daemon:
            first = daemon.call('GET', path + '/state').json
            self.assertTrue(least <= first['step'] <= last['step'], (least, first, last))
            self.assertEqual(len(daemon.call('GET', path + '/snapshots')['items']), 1)
            more = last['step'] - first['step']
            if more:
                self.assertEqual(daemon.call('POST', path + '/step', {'count': more}).status, 200)
            again = daemon.call('GET', path + '/state').json
            for name in ('time', 'step', 'q', 'v'):
                self.assertEqual(again[name], last[name], name)


if __name__ == '__main__':
    unittest.main()
