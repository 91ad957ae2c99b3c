"""libmechc's partners over the lane, its couplings, and the library as it is installed."""
import ctypes
import glob
import json
import os
import shlex
import socket
import subprocess
import tempfile
import threading
import unittest

import harness
import mechc
import models
from harness import Daemon, wait_until

H, STEPS = 0.01, 40
EXAMPLE = os.path.join(harness.ROOT, 'clients', 'c', 'example.c')


def example(daemon, instance, *outputs, program=None, **environment):
    program = program or os.path.join(harness.BUILD, 'clients', 'c', 'mechc-example')
    return subprocess.run([program, daemon.base, instance, 'force', str(H), str(STEPS), *outputs],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=60 * harness.SLOW, env={**os.environ, **environment})


class Lane(unittest.TestCase):
    def test_frames_over_the_lane_give_the_bits_of_zeromq(self):
        with tempfile.TemporaryDirectory(prefix='mechd-lane-', dir='/tmp') as folder:
            for endpoint in ('unix:' + os.path.join(folder, 's'), 'tcp://127.0.0.1:*'):
                with self.subTest(endpoint[:4]), Daemon('--lane', endpoint) as d:
                    done = [example(d, d.create(models.oscillator()), 'v', 'x', **mode)
                            for mode in ({}, {'MECHC_LANE': '1'})]
                    self.assertEqual([(x.returncode, x.stderr) for x in done], [(0, '')] * 2)
                    self.assertEqual(done[1].stdout, done[0].stdout)
                    self.assertEqual(len(done[1].stdout.split('\n')), STEPS + 1)
                    wait_until(lambda: harness.gauge(d, r'connections\{socket="lane"\}') == 0,
                               'the goodbye has ended the connection')

    def test_a_partner_expects_a_time_and_goes_back_to_its_snapshot(self):
        with Daemon('--lane', 'tcp://127.0.0.1:*') as d:
            handle = mechc.Handle(d.base)
            library, refused = handle.library, mechc.REFUSED
            library.mechc_expect_time.argtypes = [ctypes.c_void_p, ctypes.c_double]
            library.mechc_partner_restore.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
            for open_one in (library.mechc_partner_open, library.mechc_partner_open_lane):
                i = d.create(models.oscillator())
                values = (ctypes.c_double * 1)()
                hello = mechc.Hello(None, 0, (ctypes.c_char_p * 1)(b'x'), 1, 0)
                partner, number = ctypes.c_void_p(), ctypes.c_uint32()
                handle.check(open_one(handle.at, i.encode(), ctypes.byref(hello),
                                      ctypes.byref(partner)))
                x = mechc.Exchange(size=H, outputs=values, capacity=1)
                for result in (0, refused):
                    handle.check(library.mechc_expect_time(handle.at, 0.))
                    self.assertEqual(library.mechc_partner_step(partner, ctypes.byref(x)), result)
                self.assertEqual(library.mechc_last_error(handle.at).contents.code,
                                 b'time-mismatch')
                first = values[0]
                handle.check(library.mechc_partner_snapshot(partner, ctypes.byref(number)))
                self.assertEqual(handle.get('/v1/instances/%s/snapshots' % i)['items'][0]['id'],
                                 's-%d' % number.value)
                # for one step alone, also if it is not sent
                handle.check(library.mechc_expect_time(handle.at, 17.))
                x.size = float('nan')
                self.assertEqual(library.mechc_partner_trial(partner, ctypes.byref(x)),
                                 mechc.BAD_ARGUMENT)
                x.size = H
                handle.check(library.mechc_partner_step(partner, ctypes.byref(x)))
                self.assertNotEqual(values[0], first)
                handle.check(library.mechc_partner_restore(partner, number))
                handle.check(library.mechc_partner_outputs(partner, ctypes.byref(x)))
                self.assertEqual(values[0], first)
                self.assertEqual(library.mechc_partner_restore(partner, number.value + 1), refused)
                library.mechc_partner_close(partner)
            handle.close()

    def test_frames_of_many_values_arrive_whole(self):
        n = 20000
        with Daemon('--lane', 'tcp://127.0.0.1:*') as d:
            i = d.create(models.independent_masses(n))
            handle = mechc.Handle(d.base)
            values = (ctypes.c_double * n)()
            hello = mechc.Hello(None, 0, (ctypes.c_char_p * 1)(b'all'), 1, 0)
            partner = ctypes.c_void_p()
            handle.check(handle.library.mechc_partner_open_lane(
                handle.at, i.encode(), ctypes.byref(hello), ctypes.byref(partner)))
            x = mechc.Exchange(size=H, outputs=values, capacity=n)
            for _ in range(3):
                handle.check(handle.library.mechc_partner_step(partner, ctypes.byref(x)))
            self.assertEqual(x.output_count, n)
            outputs = d.call('GET', '/v1/instances/%s/outputs' % i)['outputs']
            self.assertEqual(list(values), outputs['all'])
            handle.library.mechc_partner_close(partner)
            handle.close()

    def test_refusals_come_over_the_lane(self):
        with Daemon('--lane', 'tcp://127.0.0.1:*') as d:
            done = example(d, d.create(models.oscillator()), 'nothing', MECHC_LANE='1')
            self.assertEqual(done.returncode, 1)
            self.assertIn('nothing', done.stderr)
            done = example(d, 'i-99', 'x', MECHC_LANE='1')
            self.assertEqual(done.returncode, 1)
            self.assertIn('i-99', done.stderr)

    def test_a_server_without_a_lane_is_named_as_such(self):
        with Daemon() as d:
            done = example(d, d.create(models.oscillator()), 'x', MECHC_LANE='1')
            self.assertEqual(done.returncode, 1)
            self.assertIn('--lane', done.stderr)

    def open_at(self, endpoint, timeout=20.0):
        """A handle whose lane is there, and the result of a partner's opening."""
        handle = mechc.Handle('http://127.0.0.1:9')
        self.addCleanup(handle.close)
        handle.check(handle.library.mechc_set_timeout(handle.at, timeout))
        handle.check(handle.library.mechc_set_endpoint(handle.at, 3, endpoint.encode()))
        hello = mechc.Hello(None, 0, (ctypes.c_char_p * 1)(b'x'), 1, 0)
        partner = ctypes.c_void_p()
        return handle, handle.library.mechc_partner_open_lane(
            handle.at, b'i-1', ctypes.byref(hello), ctypes.byref(partner))

    def test_a_lane_that_is_not_there_or_ends_is_unreachable(self):
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            address = 'tcp://127.0.0.1:%d' % free.getsockname()[1]
            for endpoint in (address, 'unix:/tmp/no-such-lane', 'tcp://[127.0.0.1:5'):
                handle, result = self.open_at(endpoint)
                self.assertIn(result, (2, mechc.BAD_ARGUMENT), handle.said())
            free.listen()
            for piece in (b'', b'\x40\0', b'\x05\0\0\0{"a"}', b'\xff\xff\xff\xff'):
                def answer(piece=piece):
                    other, _ = free.accept()
                    with other:
                        other.recv(1 << 16)
                        other.sendall(piece)
                thread = threading.Thread(target=answer)
                thread.start()
                handle, result = self.open_at(address)
                thread.join()
                self.assertIn(result, (2, 4), (piece, handle.said()))

    def test_the_wait_for_an_answer_ends(self):
        with socket.socket() as idle:
            idle.bind(('127.0.0.1', 0))
            idle.listen()
            # steady: a wait that must end is short
            handle, result = self.open_at('tcp://127.0.0.1:%d' % idle.getsockname()[1], 0.05)
            self.assertEqual(result, mechc.TIMEOUT, handle.said())


class Report(ctypes.Structure):
    _fields_ = [('time', ctypes.c_double)] + [
        (name, ctypes.c_uint64)
        for name in ('window', 'windows', 'iterations', 'evaluations', 'refused')]


class RunSettings(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ('pace', 'period', 'until')]


class RunState(ctypes.Structure):
    _fields_ = [('state', ctypes.c_char * 16), ('time', ctypes.c_double)] + [
        (name, ctypes.c_uint64) for name in ('periods', 'overruns', 'recorded')] + [
            ('reason', ctypes.c_char * 256)]


class Couplings(harness.Served):
    def setUp(self):
        self.pair = [self.daemon.create(models.oscillator()) for _ in range(2)]
        self.handle = mechc.Handle(self.daemon.base)
        self.addCleanup(self.handle.close)
        self.library = self.handle.library
        self.name = ctypes.create_string_buffer(72)

    def couple(self, **more):
        text = json.dumps({
            'participants': [{'name': n, 'instance': i} for n, i in zip('ab', self.pair)],
            'connections': [{'from': 'a.x', 'to': 'b.force', 'factor': 10},
                            {'from': 'b.x', 'to': 'a.force', 'factor': 10}],
            'scheme': {'type': 'IQN-ILS'}, 'stepSize': 0.01, **more})
        return self.library.mechc_couple(self.handle.at, text.encode(), self.name)

    def test_its_windows_are_those_of_http(self):
        self.handle.check(self.couple())
        reports = []
        self.library.mechc_coupling_step.argtypes = [ctypes.c_void_p, ctypes.c_char_p,
                                                     ctypes.c_double, ctypes.c_void_p]
        self.library.mechc_coupling_step_until.argtypes = \
            self.library.mechc_coupling_step.argtypes
        for step, value in ((self.library.mechc_coupling_step, 0.05),
                            (self.library.mechc_coupling_step_until, 0.1),
                            (self.library.mechc_coupling_step_count, ctypes.c_uint64(10))):
            reports.append(Report())
            self.handle.check(step(self.handle.at, self.name.value, value,
                                   ctypes.byref(reports[-1])))
        self.assertEqual([(r.window, r.windows, r.refused) for r in reports],
                         [(5, 5, 0), (10, 5, 0), (20, 10, 0)])
        self.assertAlmostEqual(reports[2].time, 0.2, delta=1e-12)
        self.assertGreaterEqual(reports[0].iterations, 5)
        self.assertGreaterEqual(reports[0].evaluations, 10)
        found = self.handle.get('/v1/couplings/' + self.name.value.decode())
        self.assertEqual(found['windows'], 20)
        found = [self.daemon.call('GET', '/v1/instances/%s/outputs' % i)['outputs']
                 for i in self.pair]
        self.handle.check(self.library.mechc_coupling_reset(self.handle.at, self.name.value, None))
        self.daemon.call('POST', '/v1/couplings/%s/step' % self.name.value.decode(), {'count': 20})
        self.assertEqual([self.daemon.call('GET', '/v1/instances/%s/outputs' % i)['outputs']
                          for i in self.pair], found)
        self.handle.check(self.library.mechc_coupling_delete(self.handle.at, self.name.value))
        self.assertEqual(self.daemon.call('GET', '/v1/couplings')['items'], [])

    def test_it_goes_back_to_a_snapshot_and_its_state_goes_elsewhere(self):
        library, report = self.library, Report()

        def outputs():
            return [self.daemon.call('GET', '/v1/instances/%s/outputs' % i)['outputs']
                    for i in self.pair]

        library.mechc_coupling_set_state.argtypes = [
            ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p]

        def steps(count):
            self.handle.check(library.mechc_coupling_step_count(
                self.handle.at, self.name.value, ctypes.c_uint64(count), None))

        self.handle.check(self.couple())
        steps(3)
        snapshot = ctypes.create_string_buffer(72)
        self.handle.check(library.mechc_coupling_snapshot(
            self.handle.at, self.name.value, snapshot))
        self.assertEqual(snapshot.value, b's-1')
        state = mechc.Reply()
        self.handle.check(library.mechc_coupling_state(
            self.handle.at, self.name.value, ctypes.byref(state)))
        # a c_char_p ends at the first zero
        body = ctypes.c_void_p.from_buffer(state, mechc.Reply.body.offset)
        kept = ctypes.string_at(body.value, state.size)
        self.assertEqual(kept[:8], b'MCHDCOUP')
        steps(4)
        found = outputs()
        for back in (lambda: library.mechc_coupling_restore(
                         self.handle.at, self.name.value, snapshot.value, ctypes.byref(report)),
                     lambda: library.mechc_coupling_set_state(
                         self.handle.at, self.name.value, kept, len(kept),
                         ctypes.byref(report))):
            report.window = 0
            self.handle.check(back())
            self.assertEqual(report.window, 3)
            self.assertAlmostEqual(report.time, 0.03, delta=1e-12)
            steps(4)
            self.assertEqual(outputs(), found)
        self.assertEqual(library.mechc_coupling_set_state(
            self.handle.at, self.name.value, kept, len(kept) - 1, None), mechc.REFUSED)
        self.assertEqual(library.mechc_last_error(self.handle.at).contents.code,
                         b'snapshot-mismatch')
        self.handle.check(library.mechc_coupling_delete_snapshot(
            self.handle.at, self.name.value, snapshot.value))
        self.assertEqual(library.mechc_coupling_restore(
            self.handle.at, self.name.value, snapshot.value, None), mechc.REFUSED)
        self.handle.check(library.mechc_coupling_delete(self.handle.at, self.name.value))

    def test_a_step_that_is_done_already_is_refused_by_its_time(self):
        self.handle.check(self.couple())
        step, one = self.library.mechc_coupling_step, self.library.mechc_step
        count = self.library.mechc_coupling_step_count
        step.argtypes = one.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double,
                                        ctypes.c_void_p]
        expect = self.library.mechc_expect_time
        expect.argtypes = [ctypes.c_void_p, ctypes.c_double]
        free = self.daemon.create(models.oscillator()).encode()
        for name, advance in (
                (self.name.value, lambda i: step(self.handle.at, i, 0.01, None)),
                (self.name.value, lambda i: count(self.handle.at, i, ctypes.c_uint64(1), None)),
                (free, lambda i: one(self.handle.at, i, 0.01, None)),
                (free, lambda i: self.library.mechc_step_count(self.handle.at, i,
                                                               ctypes.c_uint64(10), None))):
            kind = '/v1/instances/%s/state' if name == free else '/v1/couplings/%s'
            now = self.handle.get(kind % name.decode())['time']
            for result in (0, mechc.REFUSED):
                self.handle.check(expect(self.handle.at, now))
                self.assertEqual(advance(name), result)
            self.assertEqual(self.library.mechc_last_error(self.handle.at).contents.code,
                             b'time-mismatch')
            # for that step alone, also if it is not sent, and none for NaN
            self.handle.check(expect(self.handle.at, now))
            refused = step if name != free else one
            self.assertEqual(refused(self.handle.at, name, float('nan'), None),
                             mechc.BAD_ARGUMENT)
            self.assertEqual(advance(name), 0)
            for time in (now, float('nan')):
                self.handle.check(expect(self.handle.at, time))
            self.assertEqual(advance(name), 0)
            self.assertAlmostEqual(self.handle.get(kind % name.decode())['time'], now + 0.03)
        self.assertEqual(expect(self.handle.at, float('inf')), mechc.BAD_ARGUMENT)
        self.handle.check(self.library.mechc_coupling_delete(self.handle.at, self.name.value))

    def look(self, run):
        state = RunState()
        self.handle.check(self.library.mechc_coupling_run_look(
            self.handle.at, self.name.value, run.value, ctypes.byref(state)))
        return state

    def run_of(self, record=None, **settings):
        run = ctypes.create_string_buffer(72)
        self.handle.check(self.library.mechc_coupling_run(
            self.handle.at, self.name.value, ctypes.byref(RunSettings(**settings)), record, run))
        return run

    def test_its_runs_are_those_of_http(self):
        self.handle.check(self.couple())
        self.addCleanup(lambda: self.daemon.call(
            'DELETE', '/v1/couplings/' + self.name.value.decode()))
        run = self.run_of(b'{"outputs":["a.x"]}', until=0.3, period=0.02)
        harness.wait_until(lambda: self.look(run).state != b'running', 'it is over')
        state = self.look(run)
        self.assertEqual((state.state, state.periods, state.recorded, state.reason),
                         (b'finished', 15, 16, b''))
        self.assertAlmostEqual(state.time, 0.3, delta=1e-12)
        reply = mechc.Reply()
        self.handle.check(self.library.mechc_coupling_run_results(
            self.handle.at, self.name.value, run.value, ctypes.byref(reply)))
        found = json.loads(ctypes.string_at(reply.body, reply.size))
        self.assertEqual(found, self.daemon.call('GET', '/v1/couplings/%s/runs/%s/results' % (
            self.name.value.decode(), run.value.decode())).json)
        self.assertEqual((found['columns'], len(found['rows'])), (['time', 'a.x'], 16))
        # one without an end
        run = self.run_of(pace=1.)
        self.handle.check(self.library.mechc_coupling_stop(self.handle.at, self.name.value,
                                                           run.value))
        self.assertEqual((self.look(run).state, self.look(run).recorded), (b'stopped', 0))
        refused = RunSettings(until=float('nan'))
        self.assertEqual(self.library.mechc_coupling_run(
            self.handle.at, self.name.value, ctypes.byref(refused), None, run), mechc.BAD_ARGUMENT)
        self.assertIn('until must be a finite number', self.handle.said())

    def test_what_cannot_be_coupled_is_refused(self):
        self.assertEqual(self.couple(stepSize=0), 1)
        self.handle.check(self.couple())
        self.library.mechc_coupling_step.argtypes = [ctypes.c_void_p, ctypes.c_char_p,
                                                     ctypes.c_double, ctypes.c_void_p]
        self.assertEqual(self.library.mechc_coupling_step(self.handle.at, self.name.value,
                                                          float('nan'), None),
                         mechc.BAD_ARGUMENT)
        self.assertEqual(self.library.mechc_coupling_delete(self.handle.at, b'c-99'), 1)
        self.handle.check(self.library.mechc_coupling_delete(self.handle.at, self.name.value))


class Installed(unittest.TestCase):
    def test_a_program_is_built_with_what_pkg_config_says(self):
        if harness.SANITIZED:
            self.skipTest('a library with a sanitizer needs its flags too')
        with tempfile.TemporaryDirectory(prefix='mechd-installed-') as folder:
            subprocess.run(['meson', 'install', '-C', harness.BUILD, '--no-rebuild', '--destdir',
                            folder], check=True, stdout=subprocess.DEVNULL)
            found, = glob.glob(folder + '/**/mechc.pc', recursive=True)
            library, = glob.glob(folder + '/**/libmechc.so', recursive=True)
            environment = {**os.environ, 'PKG_CONFIG_PATH': os.path.dirname(found),
                           'PKG_CONFIG_SYSROOT_DIR': folder}
            flags = subprocess.run(['pkg-config', '--cflags', '--libs', 'mechc'], check=True,
                                   stdout=subprocess.PIPE, text=True, env=environment).stdout
            with open(EXAMPLE, encoding='utf-8') as f:
                text = f.read().replace('clients/c/mechc.h', 'mechc.h')
            source, program = (os.path.join(folder, x) for x in ('example.c', 'example'))
            with open(source, 'w', encoding='utf-8') as f:
                f.write(text)
            subprocess.run(['cc', '-D_POSIX_C_SOURCE=200809L', source, '-o', program,
                            *shlex.split(flags), '-lm'], check=True)
            with Daemon('--lane', 'tcp://127.0.0.1:*') as d:
                done = example(d, d.create(models.oscillator()), 'x', program=program,
                               MECHC_LANE='1', LD_LIBRARY_PATH=os.path.dirname(library))
                self.assertEqual((done.returncode, done.stderr), (0, ''))


if __name__ == '__main__':
    unittest.main()
