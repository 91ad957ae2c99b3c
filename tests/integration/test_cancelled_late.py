"""DELETE of an operation that has had its effect does not say that it was stopped: it describes the
operation, and what its client has not seen remains. The thread that writes to the disk is held
between an effect and its answer."""
import contextlib
import ctypes
import subprocess
import tempfile
import threading
import unittest

import models
from asking import ASYNC
from coupled import half
from harness import SERIES, Daemon, program, wait_until
from held import HeldThread, named_thread
from mechc import TIMEOUT, Handle
from package import mechd
from mechd import transport
from tokens import bearer, make

RACES = True

DONE = 'but the server had done it before it could be cancelled'


class CancelledLate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix='mechd-late-')
        cls.daemon = Daemon('--state', cls.folder.name, '--durability', 'every-step')
        cls.call = cls.daemon.call

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()
        cls.folder.cleanup()

    def setUp(self):
        self.path = '/v1/instances/' + self.daemon.create(models.oscillator())

    def pair(self):
        """A coupling of two instances, to be made."""
        return {'participants': [{'name': n, 'instance': self.daemon.create(half(x=1., k=1.))}
                                 for n in ('left', 'right')],
                'connections': [{'from': 'left.x', 'to': 'right.F', 'factor': 1.}],
                'scheme': {'type': 'Jacobi'}, 'stepSize': 1e-3}

    def time(self):
        return self.call('GET', self.path + '/state')['time']

    def newest(self, what):
        """The newest of those that the server lists."""
        listed = self.call('GET', '/v1/' + what)['items']
        return listed[-1]['id'] if listed else None

    @contextlib.contextmanager
    def held(self):
        """Meanwhile nothing reaches the disk: what is stored is not answered."""
        thread = HeldThread(named_thread(self.daemon.pid(), 'mechd-store'))
        try:
            yield
        finally:
            thread.release()

    def finished(self, where):
        """Its description once it is over, by DELETE: the first that says so forgets nothing."""
        return wait_until(lambda: (lambda r: r if r['state'] == 'finished' else None)(
            self.call('DELETE', where)), 'the operation is over', 30)

    def late(self, method, path, body, seen):
        """The description of one that is deleted between its effect, which `seen` shows, and its
        answer; then it is forgotten."""
        before = seen()
        with self.held():
            reply = self.call(method, path, body, ASYNC)
            self.assertEqual(reply.status, 202, reply)
            where = reply.headers['Location']
            wait_until(lambda: seen() != before, 'it has had its effect', 30)
            reply = self.call('DELETE', where)
            self.assertEqual((reply.status, reply['state']), (200, 'running'), reply)
            self.assertEqual('/v1/operations/' + reply['id'], where)
        found = self.finished(where)
        self.assertEqual(self.call('DELETE', where).status, 204)
        self.assertEqual(self.call('GET', where).status, 404)
        return found

    def test_a_step_is_described(self):
        found = self.late('POST', self.path + '/step', {'count': 1}, self.time)
        self.assertEqual((found['status'], found['answer']['time']), (200, self.time()))

    def test_a_batch_whose_items_are_done_is_described(self):
        ids = [self.daemon.create(models.oscillator()) for _ in range(3)]
        found = self.late(
            'POST', '/v1/batch', {'instances': ids, 'op': 'step', 'body': {'count': 1}},
            lambda: all(self.call('GET', '/v1/instances/' + i)['step'] == 1 for i in ids))
        self.assertEqual(found['status'], 200, found)
        self.assertEqual([r['status'] for r in found['answer']['results']], [200] * 3)

    def test_an_equilibrium_is_described(self):
        found = self.late('POST', self.path + '/statics', {}, lambda: self.call(
            'GET', self.path + '/state')['q'])
        self.assertEqual(found['status'], 200, found)

    def test_an_instance_that_was_made_is_named(self):
        found = self.late('POST', '/v1/instances', {'model': models.oscillator()},
                          lambda: self.newest('instances'))
        self.assertEqual((found['status'], found['location']),
                         (201, '/v1/instances/' + self.newest('instances')))

    def test_a_sweep_that_was_begun_is_named(self):
        found = self.late('POST', '/v1/sweeps', {
            'model': models.oscillator(), 'parameters': {'list': [{'k': 1}]}, 'count': 1},
            lambda: self.newest('sweeps'))
        self.assertEqual((found['status'], found['location']),
                         (202, '/v1/sweeps/' + self.newest('sweeps')))

    def test_a_coupling_that_was_made_is_named(self):
        found = self.late('POST', '/v1/couplings', self.pair(), lambda: self.newest('couplings'))
        self.assertEqual((found['status'], found['location']),
                         (201, '/v1/couplings/' + self.newest('couplings')))

    def test_windows_of_a_coupling_are_described(self):
        path = '/v1/couplings/' + self.call('POST', '/v1/couplings', self.pair())['id']
        found = self.late('POST', path + '/step', {'count': 3},
                          lambda: self.call('GET', path)['windows'])
        self.assertEqual((found['status'], found['answer']['report']['windows']), (200, 3))

    def test_an_answer_that_was_not_read_remains(self):
        """Also of one without an effect; what was read is forgotten at once."""
        path, body = '/v1/models/check', {'model': models.oscillator()}
        with Daemon('--workers', '1') as d:
            first, second = (d.call('POST', path, body, ASYNC).headers['Location']
                             for _ in range(2))
            # the one worker has answered the first one before
            wait_until(lambda: d.call('GET', second)['state'] == 'finished', 'it is over')
            reply = d.call('DELETE', first)
            self.assertEqual((reply.status, reply['state'], reply['answer']['ok']),
                             (200, 'finished', True))
            for where in (first, second):
                self.assertEqual(d.call('DELETE', where).status, 204)
                self.assertEqual(d.call('GET', where).status, 404)

    def test_a_client_gets_the_answer_that_an_admin_got(self):
        path, body = '/v1/models/check', {'model': models.oscillator()}
        admin, owner = make('the-admin', 'admin'), make('the-owner', 'step')
        with tempfile.NamedTemporaryFile('w', suffix='.tokens') as f:
            f.write('%s\n%s\n' % (admin[1], owner[1]))
            f.flush()
            with Daemon('--tokens', f.name) as d:
                def ended(who):
                    reply = d.call('DELETE', where, None, bearer(who[0]))
                    return reply.status, reply.json and reply['state']
                where = d.call('POST', path, body, {**ASYNC, **bearer(owner[0])}) \
                    .headers['Location']
                wait_until(lambda: d.call('GET', where, None, bearer(admin[0]))['state'] ==
                           'finished', 'it is over')
                self.assertEqual([ended(admin), ended(admin), ended(owner), ended(owner)],
                                 [(200, 'finished')] * 3 + [(204, None)])

    # --- clients ----------------------------------------------------------------------------------

    def next_operation(self):
        """The path of the next operation but this one."""
        where = self.call('POST', '/v1/models/check', {'model': models.oscillator()}, ASYNC)
        stem, number = where['id'].rsplit('-', 1)
        return '/v1/operations/%s-%d' % (stem, int(number) + 1)

    def told(self, call):
        """What Python says of a request whose answer is not there in time, and then is."""
        said = []

        def ask():
            with mechd.Server(self.daemon.base) as server:
                server.transport.timeout = 0.2
                try:
                    call(server)
                except mechd.TimedOut as fault:
                    said.append(str(fault))
        soon, transport.SOON = transport.SOON, 60.0
        self.addCleanup(setattr, transport, 'SOON', soon)
        thread = threading.Thread(target=ask)
        # the repetition that asks for its end
        cancels = self.next_operation()
        with self.held():
            thread.start()
            wait_until(lambda: self.call('GET', cancels).status == 200, 'it is to end', 30)
        thread.join()
        self.assertEqual(len(said), 1)
        return said[0].split(' s; ')[1]

    def test_python_names_what_was_made(self):
        self.assertEqual(self.told(lambda s: s.instance(self.path[14:]).step(count=1)), DONE)
        words = self.told(lambda s: s.create(models.oscillator()))
        self.assertEqual(words, '%s; it made /v1/instances/%s' % (DONE, self.newest('instances')))

    def test_python_ends_a_sweep_that_was_begun(self):
        before = self.newest('sweeps')
        words = self.told(lambda s: s.sweep(models.oscillator(), points=[{}], count=10 ** 9))
        self.assertIn('has been cancelled', words)
        self.assertEqual(self.newest('sweeps'), before)

    def test_python_says_whether_it_has_cancelled(self):
        with mechd.Server(self.daemon.base) as server:
            before = self.time()
            with self.held():
                step = server.later('POST', *self.path[1:].split('/'), 'step', body={'count': 1})
                wait_until(lambda: self.time() != before, 'it has had its effect')
                self.assertFalse(step.cancel())
            self.assertEqual(step.wait()['time'], self.time())
            self.assertTrue(step.cancel())

    def test_mechctl_says_that_it_was_done(self):
        before = self.time()
        with self.held():
            step = self.call('POST', self.path + '/step', {'count': 1}, ASYNC)['id']
            wait_until(lambda: self.time() != before, 'it has had its effect')
            done = subprocess.run([program('mechctl'), '--server', self.daemon.base, 'operation',
                                   step, '--cancel'], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (
            1, '', "mechctl: %s was done before it could be cancelled; 'mechctl operation %s' "
            'shows its answer\n' % (step, step)))

    def test_mechctl_says_that_it_had_failed(self):
        model = models.driven()
        model['objects'] = [o for o in model['objects'] if 'Spring' not in o['type']]
        model['loads'][0]['load'] = 1
        with Daemon('--workers', '1') as d:
            path = '/v1/instances/%s/statics' % d.create(model)
            statics = d.call('POST', path, {}, ASYNC)
            self.assertEqual(statics.status, 202, statics)
            # the one worker has answered the first one before
            second = d.call('POST', '/v1/models/check', {'model': model}, ASYNC)
            wait_until(lambda: d.call('GET', second.headers['Location'])['state'] == 'finished',
                       'it is over')
            done = subprocess.run([program('mechctl'), '--server', d.base, 'operation',
                                   statics['id'], '--cancel'], capture_output=True, text=True,
                                  check=False)
            self.assertEqual((done.returncode, done.stdout), (1, ''))
            self.assertRegex(done.stderr, r'^mechctl: o-%s-1 had failed before it could be '
                             r'cancelled: .*singular.* \(singular-system\)\n$' % SERIES)

    def test_libmechc_says_that_it_was_done(self):
        handle = Handle(self.daemon.base)
        self.addCleanup(handle.close)
        number = self.call('POST', self.path + '/lease', {'role': 'owner'})['lease']
        handle.library.mechc_set_lease(handle.at, ctypes.c_uint64(number))
        handle.library.mechc_set_timeout(handle.at, 0.3)
        path = self.next_operation()
        with self.held():
            self.assertEqual(handle.library.mechc_step_count(
                handle.at, self.path[14:].encode(), ctypes.c_uint64(1), None), TIMEOUT)
            said = handle.said()
        self.assertEqual(said, '%s: no answer within 0.3 s; it was done before it could be '
                         'cancelled; its answer will be at %s' % (
                             self.daemon.base, path))


if __name__ == '__main__':
    unittest.main()
