"""Tokens: which are accepted, for what, through every door; and a file that is read again."""
import os
import signal
import tempfile
import threading
import unittest
import models
import raw
from harness import (KINDS, SLOW, Daemon, Forces, FrameError, Http, Partner, ZmqDoor,
                     wait_until)
from asking import ASYNC, MOST
from long_models import driven_chain
from outside import Program
from tokens import bearer, make

RACES = True


class Tokens(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tokens, cls.lines = {}, {}
        for scope in ('read', 'step', 'admin'):
            cls.tokens[scope], cls.lines[scope] = make('the-' + scope, scope)

    def setUp(self):
        file, self.path = tempfile.mkstemp(prefix='mechd-tokens-')
        os.close(file)
        self.addCleanup(os.unlink, self.path)
        self.write(*self.lines.values())

    def write(self, *lines):
        with open(self.path, 'w', encoding='utf-8') as f:
            f.write('# who may do what\n\n' + '\n'.join(lines) + '\n')

    def daemon(self):
        return Daemon('--tokens', self.path)

    def create(self, d, token='step'):
        return d.call('POST', '/v1/instances', {'model': models.oscillator()},
                      bearer(self.tokens[token]))

    def test_without_a_token_only_the_open_routes_answer(self):
        with self.daemon() as d:
            for path in ('/livez', '/readyz', '/', '/docs', '/openapi.json'):
                self.assertEqual(d.call('GET', path).status, 200, path)
            for path in ('/v1', '/v1/instances', '/metrics', '/v1/types'):
                reply = d.call('GET', path)
                self.assertEqual((reply.status, reply['code']), (401, 'unauthorized'), path)
                self.assertEqual(reply.headers['WWW-Authenticate'], 'Bearer')
            for wrong in ('nonsense', self.tokens['step'] + 'x', ''):
                reply = d.call('GET', '/v1', headers=bearer(wrong))
                self.assertEqual(reply.status, 401, wrong)
            for scheme in ('Bearer ', 'bearer ', 'BEARER   '):
                head = {'Authorization': scheme + self.tokens['read']}
                self.assertEqual(d.call('GET', '/v1', headers=head).status, 200, scheme)

    def test_a_token_may_in_a_batch_what_it_may_alone(self):
        with self.daemon() as d:
            i = self.create(d)['id']
            body = {'items': [{'op': 'step', 'id': i, 'count': 1}, {'op': 'outputs', 'id': i}]}
            for token, expected in (('read', [403, 200]), ('step', [200, 200])):
                reply = d.call('POST', '/v1/batch', body, bearer(self.tokens[token]))
                self.assertEqual([r['status'] for r in reply['results']], expected)
            self.assertEqual(d.call('POST', '/v1/batch', body).status, 401)

    def test_a_late_answer_is_for_its_token(self):
        with self.daemon() as d:
            later = {'Prefer': 'respond-async', **bearer(self.tokens['step'])}
            reply = d.call('POST', '/v1/models/check', {'model': models.oscillator()}, later)
            for token, status in (('read', 404), ('step', 200), ('admin', 200)):
                found = d.call('GET', reply.headers['Location'],
                               headers=bearer(self.tokens[token]))
                self.assertEqual(found.status, status, token)

    def test_a_token_that_may_begin_a_late_answer_may_end_it(self):
        self.tokens['twin'], line = make('the-step', 'read')
        self.write(*self.lines.values(), line)
        long = {'count': MOST, 'inputs': {'force': 1}}
        with self.daemon() as d:
            path = '/v1/instances/' + d.call('POST', '/v1/instances', {'model': driven_chain()},
                                             bearer(self.tokens['step']))['id']

            def begin(token, what, body):
                reply = d.call('POST', path + what, body, {**ASYNC, **bearer(self.tokens[token])})
                self.assertEqual(reply.status, 202, reply)
                return reply.headers['Location']

            def ends(where, *expected):
                for token, status in expected:
                    reply = d.call('DELETE', where, headers=bearer(self.tokens[token]))
                    self.assertEqual(reply.status, status, (token, reply))
                    if status == 403:
                        self.assertIn('needs the scope step', reply['detail'])

            # what changes nothing: whose it is, with any scope, and the admin
            ends(begin('read', '/jvp', long), ('step', 404), ('read', 204), ('read', 404))
            ends(begin('read', '/jvp', long), ('admin', 204))
            ends(begin('step', '/jvp', long), ('read', 404), ('twin', 204))
            # what changes something: with the scope that its beginning needs
            ends(begin('step', '/step', {'count': 10 ** 9}), ('read', 404), ('twin', 403),
                 ('step', 204))
            # they are cancelled, not only forgotten
            one = d.call('POST', path + '/step', {'count': 1}, bearer(self.tokens['step']))
            self.assertEqual(one['step'], 1)

    def test_a_scope_is_what_a_token_may_do(self):
        with self.daemon() as d:
            self.assertEqual(self.create(d, 'read').status, 403)
            i = self.create(d, 'step')['id']
            path = '/v1/instances/%s/step' % i
            for token, status in (('read', 403), ('step', 200), ('admin', 200)):
                reply = d.call('POST', path, {'count': 1}, bearer(self.tokens[token]))
                self.assertEqual(reply.status, status, token)
            reply = d.call('GET', '/v1/instances/' + i, headers=bearer(self.tokens['read']))
            self.assertEqual(reply.status, 200)

    def test_zeromq_asks_too(self):
        with self.daemon() as d:
            i = self.create(d)['id']
            door = ZmqDoor(d)
            self.assertEqual(door.call('outputs', id=i)[0], 401)
            self.assertEqual(door.call('step', id=i, count=1, token=self.tokens['read'])[0], 403)
            self.assertEqual(door.call('step', id=i, count=1, token=self.tokens['step'])[0], 200)
            door.close()
            with self.assertRaisesRegex(FrameError, 'token'):
                Partner(d, i, outputs=['x'])
            with self.assertRaisesRegex(FrameError, 'scope'):
                Partner(d, i, outputs=['x'], token=self.tokens['read'])
            with Partner(d, i, outputs=['x'], token=self.tokens['step']) as partner:
                self.assertEqual(partner.step(1e-3)['step'], 2)

    def test_the_file_is_read_again_and_a_faulty_one_changes_nothing(self):
        with self.daemon() as d:
            def status():
                return d.call('GET', '/v1', headers=bearer(self.tokens['step'])).status

            self.assertEqual(status(), 200)
            self.write(self.lines['read'])
            os.kill(d.pid(), signal.SIGHUP)
            wait_until(lambda: status() == 401, 'the token is gone')
            self.write('not a line')
            os.kill(d.pid(), signal.SIGHUP)
            wait_until(lambda: 'line 3' in d.log(), 'the fault is reported')
            reply = d.call('GET', '/v1', headers=bearer(self.tokens['read']))
            self.assertEqual(reply.status, 200)
            self.write(self.lines['step'])
            os.kill(d.pid(), signal.SIGHUP)
            wait_until(lambda: status() == 200, 'the token is back')

    def test_a_partner_ends_with_its_token(self):
        with self.daemon() as d:
            i = self.create(d)['id']
            path = '/v1/instances/%s' % i
            admin = bearer(self.tokens['admin'])
            with Partner(d, i, ['force'], ['x'], token=self.tokens['step']) as partner, \
                    Partner(d, i, [], ['x'], token=self.tokens['admin']) as other:
                forces = Forces(d, partner)
                partner.step(1e-3, [1.0])
                self.write(self.lines['admin'])
                os.kill(d.pid(), signal.SIGHUP)
                wait_until(lambda: 'tokens=1' in d.log(), 'the file is read')
                forces.push([2.0], 0.0)
                wait_until(lambda: b'mechd_forces_refused_total 1\n' in
                           d.call('GET', '/metrics', headers=admin).raw, 'the force is refused')
                with self.assertRaisesRegex(FrameError, 'token of the hello'):
                    partner.step(1e-3, [1.0])
                self.assertEqual(other.step(1e-3)['step'], 2)
                forces.close()
            with Partner(d, i, ['force'], ['x'], token=self.tokens['admin']) as partner:
                self.write(self.lines['read'])
                os.kill(d.pid(), signal.SIGHUP)
                wait_until(lambda: d.call('GET', path, headers=admin).status == 401, 'it is gone')
                with self.assertRaisesRegex(FrameError, 'token of the hello'):
                    partner.step(1e-3, [1.0])
                # nothing comes back with the line
                self.write(self.lines['admin'])
                os.kill(d.pid(), signal.SIGHUP)
                wait_until(lambda: d.call('GET', path, headers=admin).status == 200, 'it is back')
                with self.assertRaisesRegex(FrameError, 'lease'):
                    partner.step(1e-3, [1.0])
                self.assertEqual(d.call('GET', path, headers=admin)['step'], 2)

    def test_a_partner_of_a_coupling_ends_with_its_token(self):
        with self.daemon() as d:
            admin = bearer(self.tokens['admin'])
            left = self.create(d)['id']
            cid = d.call('POST', '/v1/couplings', {
                'participants': [{'name': 'left', 'instance': left},
                                 {'name': 'p', 'partner': {'inputs': [], 'outputs': ['y'],
                                                           'patience': 20 * SLOW}}],
                'connections': [], 'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01},
                         admin)['id']
            step = '/v1/couplings/%s/step' % cid

            def is_there():
                return d.call('GET', '/v1/couplings/' + cid,
                              headers=admin)['participants'][1]['partner']['connected']
            first = Program(d, cid, 'p', lambda _: [0.], token=self.tokens['step'])
            self.addCleanup(first.close)
            self.assertEqual(d.call('POST', step, {'count': 2}, admin)['window'], 2)
            asked = len(first.asked)
            self.write(self.lines['admin'])
            os.kill(d.pid(), signal.SIGHUP)
            wait_until(lambda: 'tokens=1' in d.log(), 'the file is read')
            done = []
            thread = threading.Thread(target=lambda: done.append(
                Http(d.base).call('POST', step, {'count': 1}, admin)))
            thread.start()
            wait_until(lambda: not is_there(), 'its connection is over')
            with Program(d, cid, 'p', lambda _: [0.], token=self.tokens['admin'], window=2):
                thread.join()
            self.assertEqual((done[0].status, done[0]['window']), (200, 3))
            wait_until(lambda: len(first.asked) > asked, 'the bye arrives')
            self.assertEqual([q['kind'] for q in first.asked[asked:]], [KINDS['bye']])

    def test_a_partner_whose_token_goes_while_it_steps_finishes_the_step(self):
        with self.daemon() as d:
            admin = bearer(self.tokens['admin'])
            model = models.nonlinear_oscillator()
            i = d.call('POST', '/v1/instances', {'model': model}, admin)['id']
            with Partner(d, i, token=self.tokens['step']) as partner:
                partner.send('step', size=100.0)
                wait_until(lambda: b'mechd_steps_total 0\n' not in
                           d.call('GET', '/metrics', headers=admin).raw, 'the step has begun')
                self.write(self.lines['admin'])
                os.kill(d.pid(), signal.SIGHUP)
                wait_until(lambda: 'tokens=1' in d.log(), 'the file is read')
                # comes between two slices, and must not take the partner away
                for _ in range(3):
                    partner.send('outputs')
                kinds = [partner.receive()[0]['kind'] for _ in range(4)]
                self.assertEqual(sorted(kinds), [KINDS['step']] + 3 * [KINDS['error']])

    def test_a_stream_of_events_ends_with_its_token(self):
        with self.daemon() as d:
            i = self.create(d)['id']
            run = d.call('POST', '/v1/instances/%s/runs' % i,
                         {'pace': 1, 'record': {'every': 1}, 'until': 1000},
                         bearer(self.tokens['step']))
            self.assertEqual(run.status, 202, run)
            targets = ('/v1/instances/%s/events' % i,
                       '/v1/instances/%s/runs/%s/events' % (i, run['id']))
            streams = {}
            for scope in ('read', 'admin'):
                for target in targets:
                    s = raw.connect(d)
                    self.addCleanup(s.close)
                    s.sendall(('GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s'
                               '\r\n\r\n' % (target, self.tokens[scope])).encode())
                    self.assertIn(b'data: ', self.read_until(s, b'data: '))
                    streams[scope, target] = s
            self.write(self.lines['step'], self.lines['admin'])
            os.kill(d.pid(), signal.SIGHUP)
            end = b'0\r\n\r\n'
            for target in targets:
                self.assertTrue(end in self.read_until(streams['read', target], end), target)
            for target in targets:
                self.assertIn(b'data: ', self.read_until(streams['admin', target], b'data: '))

    @staticmethod
    def read_until(s, what):
        """What comes up to there, or to the end; a stream that does not end is cut."""
        found = b''
        while what not in found and len(found) < 10000:
            more = s.recv(65536)
            if not more:
                break
            found += more
        return found

    def test_idempotency_keys_of_two_tokens_are_apart(self):
        with self.daemon() as d:
            i = self.create(d)['id']
            for token in ('step', 'admin'):
                reply = d.call('POST', '/v1/instances/%s/step' % i, {'count': 1},
                               {**bearer(self.tokens[token]), 'Idempotency-Key': 'a'})
                self.assertEqual(reply.status, 200, reply)
            self.assertEqual(reply['step'], 2)

    def test_a_file_with_a_fault_is_refused_at_the_start(self):
        name, scopes, digits = self.lines['read'].split()
        for line, why in ((name, 'a name, scopes and a hash'),
                          (self.lines['read'] + ' x', 'a name, scopes and a hash'),
                          (' '.join(('a/b', scopes, digits)), 'the name'),
                          (' '.join((name, 'write', digits)), 'scopes'),
                          (' '.join((name, scopes, digits[:-1])), '64 hexadecimal'),
                          (' '.join((name, scopes, 'g' + digits[1:])), '64 hexadecimal')):
            self.write(line)
            with self.assertRaisesRegex(AssertionError, 'line 3: .*' + why):
                self.daemon()
        with self.assertRaisesRegex(AssertionError, 'cannot read the tokens'):
            Daemon('--tokens', self.path + '-not-there')

    def test_a_token_has_one_line(self):
        digits = self.lines['step'].split()[2]
        lines = [*self.lines.values(), 'else admin ' + digits.upper(), 'else read ' + digits]
        self.write(*lines)
        first = 3 + list(self.lines).index('step')
        why = 'line %d: the hash is that of line %d' % (3 + len(self.lines), first)
        with self.assertRaisesRegex(AssertionError, why):
            self.daemon()
        self.write(*self.lines.values())
        with self.daemon() as d:
            self.write(*lines[:-1])
            os.kill(d.pid(), signal.SIGHUP)
            wait_until(lambda: why in d.log(), 'the fault is reported')
            # the token is what it was
            self.assertEqual(self.create(d).status, 201)
            self.assertEqual(d.call('PUT', '/v1/log-level', {'level': 'info'},
                                    bearer(self.tokens['step'])).status, 403)

    def test_other_machines_are_served_with_tokens_only(self):
        with self.assertRaisesRegex(AssertionError, '--tokens FILE'):
            Daemon('--listen', '0.0.0.0:0')
        with Daemon('--listen', '0.0.0.0:0', '--tokens', self.path) as d:
            self.assertEqual(d.call('GET', '/v1').status, 401)


if __name__ == '__main__':
    unittest.main()
