"""mechctl replay: the recorded inputs of a run played again, here and on another daemon, with the
first step whose hash differs, or the proof that none does."""
import json
import os
import subprocess
import unittest

import harness
import models
from harness import SLOW, Daemon, wait_until


class Replay(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def call(self, method, path, body=None, status=200):
        reply = self.daemon.call(method, path, body)
        self.assertEqual(reply.status, status, reply)
        return reply

    def mechctl(self, *arguments):
        environment = {**os.environ, 'MECHD_SERVER': self.daemon.base}
        return subprocess.run([harness.program('mechctl'), *arguments], capture_output=True,
                              text=True, env=environment, timeout=100 * SLOW)

    def replay(self, i, *arguments):
        """(exit code, what it reports, lines on standard error)."""
        done = self.mechctl('--json', 'replay', i, *arguments)
        return done.returncode, json.loads(done.stdout or 'null'), done.stderr

    def driven(self, *changes):
        """(instance, run) of a run during which these changes were made, each at some period of
        its own; s-1 is the state before it."""
        model = models.nonlinear_oscillator()
        model['inputs'].append({'name': 'stiff', 'parameter': 'k'})
        i = self.daemon.create(model)
        path = '/v1/instances/' + i
        self.call('POST', path + '/step', {'count': 7})
        self.call('POST', path + '/snapshots', None, 201)
        where = self.call('POST', path + '/runs', {
            'until': 100, 'period': 0.002, 'pace': 1,
            'record': {'inputs': True, 'hash': True}}, 202).headers['Location']
        for what, body in changes:
            self.next_period(where)
            self.call('PUT', path + what, body)
        self.next_period(where)
        self.daemon.call('DELETE', where)
        return i, where.split('/')[-1]

    def next_period(self, where):
        before = self.call('GET', where)['periods']
        wait_until(lambda: self.call('GET', where)['periods'] > before + 2, 'some periods')

    def rows(self, i, run):
        found = self.call('GET', '/v1/instances/%s/runs/%s/results' % (i, run)).json
        return found['columns'], found['rows']

    def test_no_hash_differs_here_and_on_another_daemon(self):
        changes = ({'force': 3}, {'force': -2.5}, {'stiff': 80}, {'force': None},
                   {'force': 1, 'stiff': 90})
        i, run = self.driven(*(('/inputs', body) for body in changes))
        columns, rows = self.rows(i, run)
        self.assertEqual(columns, ['time', 'x', 'v', 'input:force', 'input:stiff',
                                   'state:hash[0]', 'state:hash[1]'])
        seen = {row[3] for row in rows}
        self.assertEqual(seen, {None, 3, -2.5, 1})
        self.assertEqual({row[4] for row in rows}, {100, 80, 90})
        with Daemon() as other:
            for more in ((), ('--on', other.base)):
                code, told, why = self.replay(i, run, 's-1', *more)
                self.assertEqual((code, why), (0, ''), told)
                self.assertEqual(told, {'same': True, 'steps': len(rows) - 1, 'time': rows[-1][0]})
            self.assertEqual(other.call('GET', '/v1/instances').json['items'], [])
        done = self.mechctl('replay', i, run, 's-1')
        self.assertIn('%d steps' % (len(rows) - 1), done.stdout)
        self.assertIn('no hash differs', done.stdout)

    def test_the_first_step_that_differs_is_named(self):
        # a change that is no input is not played
        i, run = self.driven(('/inputs', {'force': 3}), ('/parameters', {'d': 2}))
        rows = self.rows(i, run)[1]
        code, told, _ = self.replay(i, run, 's-1')
        self.assertEqual((code, told['same']), (1, False))
        self.assertEqual(told['time'], rows[told['steps']][0])
        # the steps before it are those of a run without the change
        twin = '/v1/instances/' + self.call('POST', '/v1/instances/%s/clone' % i, {}, 201)['id']
        raw = self.call('GET', '/v1/instances/%s/snapshots/s-1' % i).raw
        self.daemon.call('PUT', twin + '/state', raw,
                         {'Content-Type': 'application/vnd.mechd.snapshot'})
        force = None
        for row in rows[1:told['steps'] + 1]:
            if row[3] != force:
                force = row[3]
                self.call('PUT', twin + '/inputs', {'force': force})
            self.call('POST', twin + '/step', {'until': row[0]})
            self.assertEqual(self.call('GET', twin + '/hash')['hash'] == row[-2:],
                             row[0] != told['time'])
        self.assertIn('step %d' % told['steps'], self.mechctl('replay', i, run, 's-1').stdout)

    def test_what_is_not_the_start_is_no_start(self):
        i, run = self.driven(('/inputs', {'force': 3}))
        self.call('POST', '/v1/instances/%s/snapshots' % i, None, 201)
        code, told, _ = self.replay(i, run, 's-2')
        self.assertEqual((code, told['same'], told['steps']), (1, False, 0))
        self.assertIn('not the state at the start', self.mechctl('replay', i, run, 's-2').stdout)
        count = len(self.call('GET', '/v1/instances').json['items'])
        for wrong, code in ((('r-9', 's-1'), 1), ((run, 's-9'), 1),
                            ((run, 's-1', '--on', 'nowhere'), 3)):
            self.assertEqual(self.replay(i, *wrong)[0], code)
        plain = self.call('POST', '/v1/instances/%s/runs' % i,
                          {'count': 2, 'record': {}}, 202).headers['Location']
        code, _, why = self.replay(i, plain.split('/')[-1], 's-1')
        self.assertEqual(code, 2)
        self.assertIn('--replay', why)
        self.assertEqual(len(self.call('GET', '/v1/instances').json['items']), count)


if __name__ == '__main__':
    unittest.main()
