"""mechctl --lane: the commands over the server's lane, without HTTP."""
import json
import os
import subprocess
import tempfile
import unittest

import harness
import models
from harness import Daemon


class Lane(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix='mechd-lane-', dir='/tmp')
        cls.lane = 'unix:' + os.path.join(cls.folder.name, 's')
        cls.daemon = Daemon('--lane', cls.lane)
        cls.model = os.path.join(cls.daemon.folder, 'model.json')
        with open(cls.model, 'w', encoding='utf-8') as f:
            json.dump(models.oscillator(), f)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()
        cls.folder.cleanup()

    def run_program(self, *arguments, lane=None):
        # an address of HTTP at which nothing listens
        return subprocess.run([harness.program('mechctl'), '--server', 'http://127.0.0.1:9',
                               '--lane', lane or self.lane, *map(str, arguments)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL, timeout=60 * harness.SLOW)

    def good(self, *arguments):
        done = self.run_program(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ''), arguments)
        return done.stdout

    def test_a_session(self):
        i = self.good('create', self.model).split()[-1]
        self.assertIn(i, self.good('list'))
        self.good('step', i, '--size', '0.01', 'force=20')
        reply = json.loads(self.good('--json', 'outputs', i))
        self.assertEqual(reply['outputs'],
                         self.daemon.call('GET', '/v1/instances/%s/outputs' % i)['outputs'])
        self.assertNotIn('ok', reply)
        self.assertIn('20', self.good('inputs', i))
        self.good('call', 'POST', '/v1/instances/%s/reset' % i)
        self.assertEqual(self.daemon.call('GET', '/v1/instances/' + i)['time'], 0)
        self.assertEqual(json.loads(self.good('--json', 'call', 'GET',
                                              '/v1/instances?limit=1'))['items'][0]['id'], i)
        self.good('delete', i)
        self.assertEqual(self.daemon.call('GET', '/v1/instances/' + i).status, 404)

    def test_refusals_have_their_place(self):
        done = self.run_program('show', 'i-99')
        self.assertEqual(done.returncode, 1)
        self.assertIn('instance-not-found', done.stderr)
        i = self.good('create', self.model).split()[-1]
        body = os.path.join(self.daemon.folder, 'step.json')
        with open(body, 'w', encoding='utf-8') as f:
            json.dump({'size': 0.01, 'inputs': {'nothing': 1}}, f)
        done = self.run_program('--json', 'call', 'POST', '/v1/instances/%s/step' % i, body)
        self.assertEqual(done.returncode, 1)
        problem = json.loads(done.stderr)
        self.assertEqual((problem['status'], problem['errors'][0]['pointer']),
                         (422, '/inputs/nothing'))

    def test_what_has_no_message_is_named(self):
        done = self.run_program('call', 'GET', '/metrics')
        self.assertEqual(done.returncode, 2)
        self.assertIn('/metrics', done.stderr)

    def test_a_lane_that_is_not_there_is_unreachable(self):
        for lane, code in (('unix:/tmp/no-such-lane', 3), ('nowhere', 2)):
            done = self.run_program('list', lane=lane)
            self.assertEqual(done.returncode, code, done.stderr)


if __name__ == '__main__':
    unittest.main()
