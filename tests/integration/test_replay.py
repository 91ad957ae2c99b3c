"""mechctl replay: the recorded inputs of a run played again, here and on another daemon, with the
first step whose hash differs, or the proof that none does."""
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

import certificates
import harness
import models
from between import Between, Forwarder
from coupled import K, K12, OSCILLATORS, half
from harness import SLOW, Daemon, wait_until
from tokens import bearer, make


class Listener(Between):
    """Refuses every request, and notes the tokens that it is sent."""

    def __init__(self):
        self.tokens = []
        super().__init__()

    def answer(self, handler, _):
        self.tokens.append(handler.headers.get('Authorization'))
        self.send(handler, 403)


class Restoring(Forwarder):
    """Passes requests on, but for all restoring of snapshots beyond the first."""

    def __init__(self, daemon):
        self.restored = 0
        super().__init__(daemon)

    def answer(self, handler, body):
        self.restored += handler.path.endswith('/restore')
        if handler.path.endswith('/restore') and self.restored > 1:
            self.send(handler, 403)
        else:
            super().answer(handler, body)


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

    def mechctl(self, *arguments, **more):
        environment = {**os.environ, 'MECHD_SERVER': self.daemon.base, **more}
        return subprocess.run([harness.program('mechctl'), *arguments], capture_output=True,
                              text=True, env=environment, timeout=100 * SLOW)

    def count(self):
        return len(self.call('GET', '/v1/instances').json['items'])

    def recorded(self, model, record=None, count=3):
        """(instance, run) of a run as fast as possible from s-1 on."""
        i = self.daemon.create(model)
        self.call('POST', '/v1/instances/%s/snapshots' % i, None, 201)
        where = self.call('POST', '/v1/instances/%s/runs' % i, {
            'count': count, 'record': record or {'inputs': True, 'hash': True}},
            202).headers['Location']
        wait_until(lambda: self.call('GET', where)['state'] == 'finished', 'the run is over')
        return i, where.split('/')[-1]

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
        count = self.count()
        for wrong, code in ((('r-9', 's-1'), 1), ((run, 's-9'), 1),
                            ((run, 's-1', '--on', 'nowhere'), 3)):
            self.assertEqual(self.replay(i, *wrong)[0], code)
        plain = self.call('POST', '/v1/instances/%s/runs' % i,
                          {'count': 2, 'record': {}}, 202).headers['Location']
        code, _, why = self.replay(i, plain.split('/')[-1], 's-1')
        self.assertEqual(code, 2)
        self.assertIn('--replay', why)
        self.assertEqual(self.count(), count)

    def coupled(self, windows=2, **more):
        """(coupling, first half) of two halves that have done these windows; s-1 is behind them."""
        pair = [self.daemon.create(half(x, k=K + K12)) for x in (1., 0.)]
        made = self.call('POST', '/v1/couplings', {
            'participants': [{'name': n, 'instance': i} for n, i in zip(('left', 'right'), pair)],
            'connections': OSCILLATORS, 'stepSize': 0.01,
            'scheme': {'type': 'IQN-ILS', 'reuse': 2}, **more}, 201)
        path = '/v1/couplings/' + made['id']
        if windows:
            self.call('POST', path + '/step', {'count': windows})
        self.call('POST', path + '/snapshots', None, 201)
        return made['id'], pair[0]

    def run_of(self, cid, status='finished', **more):
        where = self.call('POST', '/v1/couplings/%s/runs' % cid, {
            'count': 20, 'record': {'inputs': True, 'hash': True}, **more},
            202).headers['Location']
        wait_until(lambda: self.call('GET', where)['state'] == status, 'the run is over')
        # which shows before its coupling is free
        wait_until(lambda: not self.call('GET', '/v1/couplings/' + cid)['busy'], 'it is free')
        return where.split('/')[-1]

    def again(self, cid, *arguments):
        return self.replay('--coupling', cid, *arguments)

    def test_a_run_of_a_coupling_is_repeated_where_it_is(self):
        for more in ({}, {'hold': 1, 'scheme': {'type': 'GaussSeidel'}}, {'outputs': []}):
            cid, _ = self.coupled(**more)
            path, run = '/v1/couplings/' + cid, self.run_of(cid, period=0.02)
            self.call('POST', path + '/step', {'count': 3})
            before = dict(self.call('GET', path).json, last=None)
            snapshots = self.call('GET', path + '/snapshots').json
            code, told, why = self.again(cid, run, 's-1')
            self.assertEqual((code, told, why),
                             (0, {'same': True, 'periods': 20, 'time': 0.42}, ''))
            self.assertEqual(dict(self.call('GET', path).json, last=None), before)
            self.assertEqual(self.call('GET', path + '/snapshots').json, snapshots)
            self.assertIn('20 periods until 0.42 s: no hash differs',
                          self.mechctl('replay', '--coupling', cid, run, 's-1').stdout)

    def everything(self):
        """What a replay elsewhere must leave as it was."""
        return self.count(), len(self.call('GET', '/v1/couplings')['items'])

    def test_a_run_of_a_coupling_is_repeated_on_another_daemon(self):
        """With what a scheme keeps from window to window, from its start on."""
        with Daemon() as other:
            for more in ({}, {'hold': 2, 'scheme': {'type': 'GaussSeidel'}},
                         {'scheme': {'type': 'JacobiIterated'}, 'waveform': {'degree': 2}}):
                with self.subTest(more):
                    cid, _ = self.coupled(windows=0, **more)
                    path, run = '/v1/couplings/' + cid, self.run_of(cid, period=0.02)
                    self.call('POST', path + '/step', {'count': 3})
                    before = dict(self.call('GET', path).json, last=None), self.everything()
                    snapshots = self.call('GET', path + '/snapshots').json
                    for url in (other.base, self.daemon.base):
                        code, told, why = self.again(cid, run, 's-1', '--on', url)
                        self.assertEqual((code, told, why),
                                         (0, {'same': True, 'periods': 20, 'time': 0.4}, ''))
                    self.assertEqual(
                        (dict(self.call('GET', path).json, last=None), self.everything()), before)
                    self.assertEqual(self.call('GET', path + '/snapshots').json, snapshots)
            for kind in ('instances', 'couplings'):
                self.assertEqual(other.call('GET', '/v1/' + kind)['items'], [])

    def test_what_ends_a_replay_elsewhere_leaves_nothing_there(self):
        cid, _ = self.coupled(windows=0)
        run = self.run_of(cid, count=20000)
        path = '/v1/couplings/' + cid
        before = dict(self.call('GET', path).json, last=None), self.everything()
        with Daemon() as other:
            while True:  # until it was at work when the signal came
                with subprocess.Popen([harness.program('mechctl'), '--server', self.daemon.base,
                                       'replay', '--coupling', cid, run, 's-1', '--on',
                                       other.base], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True,
                                      preexec_fn=lambda: signal.signal(signal.SIGTERM,
                                                                       signal.SIG_DFL)) as mechctl:
                    wait_until(lambda m=mechctl: other.call('GET', '/v1/couplings')['items'] or
                               m.poll() is not None, 'it plays')
                    mechctl.send_signal(signal.SIGTERM)
                    out = mechctl.communicate(timeout=60 * SLOW)[0]
                if out == '':
                    break
            self.assertEqual(mechctl.returncode, -signal.SIGTERM)
            for kind in ('instances', 'couplings'):
                self.assertEqual(other.call('GET', '/v1/' + kind)['items'], [])
        # the other server is not there, or refuses
        with Listener() as refusing:
            for url, code in (('http://127.0.0.1:1', 3), (refusing.url, 1)):
                self.assertEqual(self.again(cid, run, 's-1', '--on', url)[0], code)
        self.assertEqual((dict(self.call('GET', path).json, last=None), self.everything()), before)

    def test_a_coupling_that_cannot_return_keeps_where_it_was(self):
        """The snapshot that mechctl takes for that is the only copy: it is named, and remains."""
        cid, _ = self.coupled()
        path, run = '/v1/couplings/' + cid, self.run_of(cid)
        self.call('POST', path + '/step', {'count': 3})
        before = dict(self.call('GET', path).json, last=None)
        with Restoring(self.daemon) as between:
            done = self.mechctl('--server', between.url, 'replay', '--coupling', cid, run, 's-1')
        self.assertEqual(between.restored, 2, done.stderr)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, 'snapshot s-2, which is kept,')
        self.assertNotEqual(dict(self.call('GET', path).json, last=None), before)
        self.call('POST', path + '/snapshots/s-2/restore')
        self.assertEqual(dict(self.call('GET', path).json, last=None), before)

    def test_the_first_period_of_a_coupling_that_differs_is_named(self):
        cid, left = self.coupled()
        run = self.run_of(cid)
        self.call('POST', '/v1/couplings/%s/snapshots' % cid, None, 201)
        code, told, _ = self.again(cid, run, 's-2')
        self.assertEqual((code, told), (1, {'same': False, 'periods': 0, 'time': 0.02,
                                            'column': 'time'}))
        self.assertIn('not the state at the start',
                      self.mechctl('replay', '--coupling', cid, run, 's-2').stdout)
        # an input that no connection drives is set while the run is in progress
        cid, left = self.coupled(windows=0, connections=OSCILLATORS[:1])
        path = '/v1/instances/%s/' % left
        lease = self.call('POST', path + 'lease', {'role': 'co-driver', 'channels': ['F']}, 201)
        where = self.call('POST', '/v1/couplings/%s/runs' % cid, {
            'until': 100, 'pace': 1, 'record': {'inputs': True, 'hash': True}},
            202).headers['Location']
        self.next_period(where)
        reply = self.daemon.call('PUT', path + 'inputs', {'F': 2.5},
                                 {'Lease': str(lease['lease'])})
        self.assertEqual(reply.status, 200, reply)
        self.next_period(where)
        self.daemon.call('DELETE', where)
        found = self.call('GET', where + '/results').json
        at = found['columns'].index('input:left.F')
        first = next(k for k, row in enumerate(found['rows']) if row[at] == 2.5)
        for more in ((), ('--on', self.daemon.base)):
            code, told, _ = self.again(cid, where.split('/')[-1], 's-1', *more)
            self.assertEqual((code, told['same'], told['periods'], told['time']),
                             (1, False, first, found['rows'][first][0]))
        self.assertIn('period %d, until' % first, self.mechctl(
            'replay', '--coupling', cid, where.split('/')[-1], 's-1').stdout)

    def test_what_cannot_be_repeated_is_refused_with_the_reason(self):
        cid, _ = self.coupled()
        path = '/v1/couplings/' + cid
        run, plain = self.run_of(cid), self.run_of(cid, record={'hash': True})
        before = dict(self.call('GET', path).json, last=None)
        snapshots = self.call('GET', path + '/snapshots').json
        for arguments, code, word in (((run, 's-9'), 1, 'there is no snapshot s-9'),
                                      (('r-9', 's-1'), 1, 'there is no run r-9'),
                                      ((plain, 's-1'), 2, '--replay'),
                                      ((run, 's-1', '--on', self.daemon.base), 2, 'window 2'),
                                      ((run, 's-1', '--on-token', 'x'), 2, '--on')):
            found = self.again(cid, *arguments)
            self.assertEqual(found[0], code, found)
            self.assertIn(word, found[2])
        code, told, why = self.replay(cid, run, 's-1')
        self.assertEqual((code, told), (1, None), why)
        self.assertIn('--coupling', why)
        self.assertNotIn('coupling', self.replay('c-x', run, 's-1')[2])
        self.assertEqual(dict(self.call('GET', path).json, last=None), before)
        self.assertEqual(self.call('GET', path + '/snapshots').json, snapshots)

    def test_a_run_without_its_inputs_is_no_proof(self):
        i, run = self.recorded(models.nonlinear_oscillator(), {'hash': True})
        done = self.mechctl('replay', i, run, 's-1')
        self.assertEqual((done.returncode, done.stdout), (2, ''))
        self.assertIn('not recorded the inputs', done.stderr)
        # a model that has none needs no record of them
        model = models.nonlinear_oscillator()
        del model['inputs']
        i, run = self.recorded(model, {'hash': True})
        self.assertEqual(self.replay(i, run, 's-1')[0], 0)
        i, run = self.recorded(model, {'hash': False})
        self.assertEqual(self.replay(i, run, 's-1')[0], 2)

    def test_a_lease_is_not_that_of_the_new_instance(self):
        i, run = self.recorded(models.nonlinear_oscillator())
        lease = self.call('POST', '/v1/instances/%s/lease' % i, {'role': 'owner'},
                          201)['lease']
        before = self.count()
        for words, more in ((('--lease', str(lease)), {}), ((), {'MECHD_LEASE': str(lease)})):
            done = self.mechctl('replay', i, run, 's-1', *words, **more)
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            self.assertEqual(self.count(), before)

    def test_the_other_server_gets_its_own_token_only(self):
        i, run = self.recorded(models.nonlinear_oscillator())
        mine = {'MECHD_TOKEN': 'a-secret-of-the-first'}
        with Listener() as other:
            for words, more, sent in (((), {}, None), (('--token', 'a-secret'), {}, None),
                                      (('--on-token', 'theirs'), {}, 'Bearer theirs'),
                                      ((), {'MECHD_ON_TOKEN': 'theirs'}, 'Bearer theirs')):
                done = self.mechctl('replay', i, run, 's-1', '--on', other.url, *words,
                                    **mine, **more)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertEqual(other.tokens, [sent], words)
                del other.tokens[:]
        # this server with its token, by its address too
        secret, line = make('rig', 'step')
        file, path = tempfile.mkstemp(prefix='mechd-tokens-')
        self.addCleanup(os.unlink, path)
        with os.fdopen(file, 'w') as f:
            f.write(line + '\n')
        with Daemon('--tokens', path) as d:
            for words in (('--on-token', secret), ('--on-token', 'wrong')):
                done = self.mechctl('replay', i, run, 's-1', '--on', d.base, *words, **mine)
                self.assertEqual(done.returncode, 1 if 'wrong' in words else 0, done.stderr)
            one = self.mechctl('--server', d.base, 'create', '--example', 'mass1d',
                               MECHD_TOKEN=secret).stdout.strip()
            for words in (('snapshot', one), ('run', one, '--fast', '--count', '2', '--record',
                                              '1', '--replay', '--wait')):
                done = self.mechctl('--server', d.base, *words, MECHD_TOKEN=secret)
                self.assertEqual(done.returncode, 0, done.stderr)
            for words in ((), ('--on', d.base)):
                done = self.mechctl('--server', d.base, 'replay', one, 'r-1', 's-1', *words,
                                    MECHD_TOKEN=secret)
                self.assertEqual((done.returncode, done.stderr), (0, ''))
            listed = d.call('GET', '/v1/instances', None, bearer(secret)).json['items']
            self.assertEqual([j['id'] for j in listed], [one])

    def test_the_other_server_is_asked_as_the_first(self):
        """Its certificate and the time for its answer are those of the global options; what is
        wrong with its address is said."""
        i, run = self.recorded(models.nonlinear_oscillator())
        place = tempfile.mkdtemp(prefix='mechd-certificates-')
        self.addCleanup(shutil.rmtree, place)
        certificates.authority(place)
        certificates.certificate(place, 'server')
        at = [os.path.join(place, name) for name in ('server.pem', 'server.key', 'ca.pem')]
        with Daemon('--tls-certificate', at[0], '--tls-key', at[1],
                    first='https://127.0.0.1:0') as d:
            done = self.mechctl('replay', i, run, 's-1', '--on', d.base, '--ca', at[2])
            self.assertEqual((done.returncode, done.stderr), (0, ''))
        with socket.create_server(('127.0.0.1', 0)) as silent:
            address = 'http://127.0.0.1:%d' % silent.getsockname()[1]
            done = self.mechctl('replay', i, run, 's-1', '--on', address, '--timeout', '0.25')
            self.assertEqual(done.returncode, 3)
            self.assertIn('%s: no answer within 0.25 s' % address, done.stderr)
        done = self.mechctl('replay', i, run, 's-1', '--on', 'ftp://127.0.0.1')
        self.assertEqual(done.returncode, 2)
        self.assertIn('ftp://127.0.0.1 is not an address of a server: http://', done.stderr)

    def test_a_signal_leaves_no_instance_behind(self):
        i, run = self.recorded(models.nonlinear_oscillator(), count=5000)
        before = self.count()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                self.ended_by(number, i, run, before)

    def ended_by(self, number, i, run, before):
        while True:  # until it was at work when the signal came
            with subprocess.Popen([harness.program('mechctl'), '--server', self.daemon.base,
                                   'replay', i, run, 's-1'], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True,
                                  preexec_fn=lambda: signal.signal(number, signal.SIG_DFL)
                                  ) as mechctl:
                wait_until(lambda: self.count() > before or mechctl.poll() is not None, 'it plays')
                mechctl.send_signal(number)
                out = mechctl.communicate(timeout=60 * SLOW)[0]
            self.assertEqual(self.count(), before)
            if out == '':
                break
        self.assertEqual(mechctl.returncode, -number)


if __name__ == '__main__':
    unittest.main()
