"""A state directory that an older daemon wrote: all that was stored is there, to the last bit, and
goes on. tests/golden/stored/version_7.sql is its database, version_7.json what it answered: `state`
and its neighbours at the end, `then` when the snapshot was taken, `after` 20 steps later."""
import json
import os
import shutil
import sqlite3
import tempfile
import unittest
from harness import ROOT
from keeping import Kept

STORED = os.path.join(ROOT, 'tests', 'golden', 'stored', 'version_7.')


class Older(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(STORED + 'json', encoding='ascii') as f:
            told = json.load(f)
        cls.instances, cls.sweeps = told['instances'], told['sweeps']
        cls.folder = tempfile.mkdtemp(prefix='mechd-state-')
        connection = sqlite3.connect(os.path.join(cls.folder, 'mechd.sqlite'))
        with open(STORED + 'sql', encoding='ascii') as f:
            connection.executescript(f.read())
        # receipts are kept for some time only
        connection.execute("UPDATE receipts SET created = strftime('%s', 'now')")
        connection.commit()
        connection.close()

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def setUp(self):
        """Each test has the directory as it was."""
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        self.daemon = Kept(folder)
        self.addCleanup(self.daemon.stop)

    def get(self, path, status=200):
        reply = self.daemon.call('GET', path)
        self.assertEqual(reply.status, status, reply)
        return reply.json

    def post(self, path, body=None, **headers):
        reply = self.daemon.call('POST', path, body, headers)
        self.assertEqual(reply.status, 200, reply)
        return reply.json

    def agree(self, found, told, replayed=False):
        """To the last bit, but for angles: their turns are counted since. Steps that were stored
        as commands are done again, and the time is summed otherwise since."""
        found, told = dict(found), dict(told)
        self.assertTrue(all(abs(z) < 4 for z in found.pop('z', ())), found)
        told.pop('z', None)
        if replayed:
            self.assertAlmostEqual(found.pop('time'), told.pop('time'), delta=1e-15)
        self.assertEqual(found, told)

    def test_all_that_was_stored_is_there(self):
        self.assertNotIn('set-aside', self.daemon.log())
        self.assertEqual([i['id'] for i in self.get('/v1/instances')['items']],
                         list(self.instances))
        for name, told in self.instances.items():
            with self.subTest(name):
                path = '/v1/instances/' + name
                known = {key: value for key, value in told['instance'].items() if key != 'sizes'}
                found = {key: value for key, value in self.get(path).items() if key in known}
                self.agree(found, known, told['replayed'])
                for part in ('state', 'outputs', 'inputs', 'parameters'):
                    self.agree(self.get('%s/%s' % (path, part)), told[part], told['replayed'])
                self.assertEqual(self.get(path + '/runs'), told['runs'])
                # of which one each is a successor was not stored yet
                taken = [dict(s, parent=None) for s in told['snapshots']['items']]
                self.assertEqual(self.get(path + '/snapshots'),
                                 dict(told['snapshots'], items=taken, current=None))
                self.assertEqual(self.get(path + '/runs/r-1/results'), told['results'])
        self.assertEqual(self.get('/v1/sweeps'), self.sweeps['list'])
        self.assertEqual(self.get('/v1/sweeps/w-1/results'), self.sweeps['results'])

    def test_a_request_that_was_answered_is_not_done_again(self):
        kept = 0
        for name, told in self.instances.items():
            if told['instance']['durability'] == 'every-step':
                path = '/v1/instances/' + name
                self.assertEqual(self.post(path + '/step', {'count': 2},
                                           **{'Idempotency-Key': 'key-' + name}), told['receipt'])
                self.assertEqual(self.get(path)['step'], told['state']['step'])
                kept += 1
        self.assertEqual(kept, 6)

    def test_steps_and_snapshots_go_on(self):
        for name, told in self.instances.items():
            with self.subTest(name):
                path = '/v1/instances/' + name
                self.post(path + '/step', {'count': 20})
                found, after = self.get(path + '/state'), told['after']
                self.assertEqual(found['step'], after['step'])
                for part in ('q', 'v', 'x'):
                    self.assertEqual(len(found[part]), len(after[part]))
                    # the sums of a step may be taken in another order since
                    scale = max(map(abs, after[part]), default=0)
                    for a, b in zip(found[part], after[part]):
                        self.assertAlmostEqual(a, b, delta=1e-9 * scale)
                self.post('%s/snapshots/%s/restore' % (path, told['snapshot']))
                self.agree(self.get(path + '/state'), told['then'])
        run = self.daemon.call('POST', '/v1/instances/formula/runs', {'until': 1, 'period': 0.1})
        self.assertEqual((run.status, run['id']), (202, 'r-2'), run)


if __name__ == '__main__':
    unittest.main()
