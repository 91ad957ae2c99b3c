"""SIGTERM ends the daemon with requests in flight, which are answered, and it exits with 0."""
import json
import os
import re
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import harness
import held
import models
from asking import Asked, is_busy
from harness import Daemon, Http, HttpDoor, Partner, Stream, ZmqDoor, gauge, wait_until
from long_requests import PROBLEM, all_at_work

RACES = True


class Shutdown(unittest.TestCase):
    def ends_in_time(self, daemon):
        daemon.stop()

    def test_an_idle_daemon_ends(self):
        self.ends_in_time(Daemon())

    def test_it_ends_on_interrupt_too(self):
        daemon = Daemon()
        daemon.process.send_signal(signal.SIGINT)
        self.assertEqual(daemon.process.wait(20 * harness.SLOW), 0)
        daemon.stop()

    def test_signals_reach_main_alone(self):
        """A thread that does not block them would take them: also those of libraries, which start
        before main does."""
        with Daemon('--workers', '2', environment={'OPENBLAS_NUM_THREADS': '2'}) as daemon:
            threads = os.listdir('/proc/%d/task' % daemon.pid())
            self.assertGreater(len(threads), 4)
            for thread in threads:
                with open('/proc/%d/task/%s/status' % (daemon.pid(), thread),
                          encoding='utf-8') as f:
                    blocked = re.search(r'^SigBlk:\s*(\w+)', f.read(), re.M).group(1)
                for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                    # while main waits for them, the kernel holds them open for it
                    if int(thread) != daemon.pid():
                        self.assertTrue(int(blocked, 16) >> (number - 1) & 1, (thread, number))

    def test_a_start_that_ignores_them_ends_all_the_same(self):
        """As one in the background of a shell, or under nohup."""
        code = ('import os, signal, sys\n'
                'for s in (signal.SIGINT, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)\n'
                'os.execv(sys.argv[1], sys.argv[1:])')
        ready = os.path.join(self.folder(), 'ready')
        process = subprocess.Popen([sys.executable, '-c', code, harness.program('mechd'),
                                    '--listen', '127.0.0.1:0', *harness.FREE_PORTS,
                                    '--ready-file', ready], stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        wait_until(lambda: os.path.exists(ready), 'it is ready')
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(20 * harness.SLOW), 0)

    def test_a_ready_file_that_is_no_file_stays_what_it_is(self):
        folder = self.folder()
        fifo, link = os.path.join(folder, 'fifo'), os.path.join(folder, 'link')
        os.mkfifo(fifo)
        os.symlink(fifo, link)
        for path in (fifo, link):
            with self.subTest(path):
                # a reader that is there, as a launcher that waits
                reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
                process = subprocess.Popen([harness.program('mechd'), '--listen', '127.0.0.1:0',
                                            *harness.FREE_PORTS, '--ready-file', path],
                                           stderr=subprocess.DEVNULL)
                self.addCleanup(process.kill)
                self.assertTrue(select.select([reader], [], [], 20 * harness.SLOW)[0])
                self.assertEqual(json.loads(os.read(reader, 1 << 16))['pid'], process.pid)
                os.close(reader)
                process.terminate()
                self.assertEqual(process.wait(20 * harness.SLOW), 0)
                self.assertEqual(sorted(os.listdir(folder)), ['fifo', 'link'])
                self.assertTrue(stat.S_ISFIFO(os.stat(fifo).st_mode))
                self.assertEqual(os.readlink(link), fifo)
        # without a reader it is refused
        done = subprocess.run([harness.program('mechd'), '--listen', '127.0.0.1:0',
                               *harness.FREE_PORTS, '--ready-file', fifo], text=True,
                              capture_output=True, timeout=20 * harness.SLOW)
        self.assertEqual(done.returncode, 1)
        self.assertIn('cannot write the ready file', done.stderr)

    def test_what_does_not_serve_ends_by_a_signal_as_any_program(self):
        path = os.path.join(self.folder(), 'fifo')
        os.mkfifo(path)
        process = subprocess.Popen([harness.program('mechd'), '--config', path])
        self.addCleanup(process.kill)
        with open(path, 'w', encoding='utf-8'):  # it reads
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(20 * harness.SLOW), -signal.SIGTERM)

    def folder(self):
        folder = tempfile.mkdtemp(prefix='mechd-shutdown-')
        self.addCleanup(shutil.rmtree, folder)
        return folder

    def test_it_ends_with_kept_connections_and_sockets(self):
        daemon = Daemon()
        i = daemon.create(models.oscillator())
        kept = [Http(daemon.base) for _ in range(20)]
        for connection in kept:
            self.assertEqual(connection.call('GET', '/livez').status, 200)
        partner, stream = Partner(daemon, i, ['force'], ['x']), Stream(daemon, i)
        partner.step(0.01, [1.0])
        self.ends_in_time(daemon)
        for thing in kept + [partner.socket, stream.socket]:
            thing.close()

    def test_requests_in_flight_are_answered(self):
        """Long steps over both doors: undone, but answered, and the end comes in time."""
        daemon = Daemon()
        answers = {}

        def step(door_class, number):
            door = door_class(daemon)
            i = door.call('create', model=models.nonlinear_oscillator())[1]['id']
            try:
                answers[number] = door.call('step', id=i, count=2_000_000_000)[0]
            except (OSError, harness.http.client.HTTPException) as e:
                answers[number] = e
            door.close()
        threads = [threading.Thread(target=step, args=(door, (door.name, n)))
                   for n in range(3) for door in (HttpDoor, ZmqDoor)]
        for thread in threads:
            thread.start()
        wait_until(lambda: 'mechd_queued_commands 6\n' in
                   daemon.call('GET', '/metrics').raw.decode(), 'all of them are at work')
        self.ends_in_time(daemon)
        for thread in threads:
            thread.join(30 * harness.SLOW)
        for number, answer in answers.items():
            self.assertEqual(answer, 503, number)
        self.assertEqual(len(answers), 6)

    def test_what_has_not_begun_in_time_is_refused(self):
        """While the one thread of the pool is held: over connections, later, in a batch."""
        daemon = Daemon('--workers', '1', '--finish-ms', '1')
        ids = [daemon.create(models.dense_masses(200)) for _ in range(12)]
        first = Asked(daemon, 'POST', '/v1/problems/solve', {'problem': PROBLEM})
        wait_until(lambda: all_at_work(daemon, 1), 'the first is at work')
        busiest = held.HeldThread(held.busiest_thread(daemon.pid()))
        asked = [('GET', '/v1/instances/%s/modes?count=200' % i, None) for i in ids] * 5
        asked += [('POST', '/v1/instances/%s/statics' % i, {}) for i in ids]
        asked += [('POST', '/v1/problems/solve', {'problem': PROBLEM})] * 30
        asked += [('POST', '/v1/batch', {'instances': ids, 'op': 'modes'})]
        answers = []

        def ask(method, path, body):
            connection = Http(daemon.base)
            try:
                answers.append(connection.call(method, path, body))
            except (OSError, harness.http.client.HTTPException) as e:
                answers.append(e)
            connection.close()
        threads = [threading.Thread(target=ask, args=what) for what in asked]
        for thread in threads:
            thread.start()
        wait_until(lambda: gauge(daemon, 'in_flight') == len(asked) + 2, 'they wait', 60)
        daemon.process.send_signal(signal.SIGTERM)
        wait_until(lambda: daemon.call('GET', '/v1/instances').status == 503, 'its time is over')
        busiest.release()
        self.assertEqual(daemon.process.wait(20 * harness.SLOW), 0)
        log = daemon.log()
        daemon.stop()
        for thread in threads:
            thread.join(30 * harness.SLOW)
        self.assertNotIn('stuck', log)
        self.assertEqual(len(answers), len(asked))
        refused = [a for a in answers if getattr(a, 'status', a) != 200]
        for answer in refused + [first.answer()]:
            self.assertEqual(getattr(answer, 'status', answer), 503)
            self.assertEqual((answer['code'], answer.headers['Retry-After']), ('draining', '1'))
        # the batch is answered, of which nothing is done
        whole, = (a for a in answers if a.status == 200)
        self.assertEqual({r['status'] for r in whole['results']}, {503})

    def test_requests_in_flight_have_the_time_that_is_configured(self):
        daemon = Daemon('--finish-ms', '3000')
        one = '/v1/instances/' + daemon.create(models.oscillator())
        asked = Asked(daemon, 'POST', one + '/step', {'count': 10 ** 9})
        wait_until(lambda: is_busy(daemon, one), 'it is at work')
        start = time.monotonic()
        daemon.process.send_signal(signal.SIGTERM)
        self.assertEqual(asked.answer()['code'], 'draining')
        self.assertGreater(time.monotonic() - start, 3)
        daemon.stop()

    def test_it_ends_while_others_go_on_reading(self):
        """Reading is served to the end, and meets nothing that is gone already."""
        for path in ('/metrics', '/v1', '/v1/instances/%s/state'):
            with self.subTest(path):
                daemon = Daemon()
                i = daemon.create(models.independent_masses(500))
                codes = set()

                def read(daemon=daemon, path=path.replace('%s', i), codes=codes):
                    connection = Http(daemon.base)
                    try:
                        while True:
                            codes.add(connection.call('GET', path).status)
                    except (OSError, harness.http.client.HTTPException):
                        connection.close()
                readers = [threading.Thread(target=read) for _ in range(3)]
                for reader in readers:
                    reader.start()
                wait_until(lambda codes=codes: codes, 'they read')
                self.ends_in_time(daemon)
                for reader in readers:
                    reader.join(30 * harness.SLOW)
                self.assertLessEqual(codes, {200, 503})

    def test_the_last_answers_are_written_out(self):
        """Answers that wait in a peer's pipe when the end begins reach a peer that reads then."""
        import zmq
        daemon = Daemon('--settle-ms', '60000')
        i = daemon.create(models.independent_masses(50000))
        socket = zmq.Context.instance().socket(zmq.DEALER)
        socket.linger, socket.rcvhwm, socket.rcvtimeo = 0, 1, int(5000 * harness.SLOW)
        socket.connect(daemon.info['control'])
        count = 40
        for _ in range(count):
            socket.send_multipart([b'', b'{"op": "get-state", "id": "%s"}' % i.encode()])
        served = 'mechd_request_seconds_count{door="zmq-json"} %d\n' % count
        wait_until(lambda: served in daemon.call('GET', '/metrics').raw.decode(),
                   'all are answered', 30)
        daemon.process.send_signal(signal.SIGTERM)
        for _ in range(count):
            self.assertGreater(len(socket.recv_multipart()[-1]), 500000)
        self.ends_in_time(daemon)
        socket.close()

    def test_it_ends_while_events_are_streamed_and_runs_go_on(self):
        daemon = Daemon()
        i = daemon.create(models.driven())
        status, run = HttpDoor(daemon).call('run', id=i, pace=1)
        self.assertEqual(status, 202, run)
        sources = []
        for _ in range(5):
            address = harness.urllib.parse.urlsplit(daemon.base)
            source = harness.http.client.HTTPConnection(address.hostname, address.port,
                                                        timeout=20 * harness.SLOW)
            source.request('GET', '/v1/instances/%s/events?rate=50' % i)
            answer = source.getresponse()
            self.assertEqual(answer.status, 200)
            self.assertTrue(answer.readline())
            sources.append(source)
        self.ends_in_time(daemon)
        for source in sources:
            source.close()

    def test_it_refuses_addresses_that_others_reach(self):
        """Without tokens only loopback is served, unless configured otherwise."""
        done = harness.subprocess.run(
            [harness.program('mechd'), '--listen', '0.0.0.0:0', '--control', 'tcp://127.0.0.1:*',
             '--stream', 'tcp://127.0.0.1:*', '--forces', 'tcp://127.0.0.1:*'],
            stdout=harness.subprocess.PIPE, stderr=harness.subprocess.STDOUT,
            timeout=20 * harness.SLOW)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b'--insecure', done.stdout)


class CommandLine(unittest.TestCase):
    def run_program(self, *arguments, environment=None):
        return harness.subprocess.run(
            [harness.program('mechd')] + list(arguments), stdout=harness.subprocess.PIPE,
            stderr=harness.subprocess.STDOUT, timeout=20 * harness.SLOW, text=True,
            env={**harness.os.environ, **(environment or {})})

    def test_help_and_version(self):
        done = self.run_program('--help')
        self.assertEqual(done.returncode, 0)
        for option in ('--listen', '--control', '--stream', '--forces', '--ready-file'):
            self.assertIn(option, done.stdout)
        done = self.run_program('--version')
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r'\d+\.\d+\.\d+')

    def test_bad_options_are_refused(self):
        for arguments in (['--no-such'], ['--workers', 'many'], ['--listen', 'nowhere'],
                          ['--log-level', 'loud'], ['--control']):
            with self.subTest(arguments):
                done = self.run_program(*arguments, '--check-config')
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(arguments[0].lstrip('-'), done.stdout)

    def test_a_switch_takes_the_words_for_on_and_off(self):
        with harness.tempfile.TemporaryDirectory() as folder:
            path = harness.os.path.join(folder, 'mechd.conf')
            for word, on in (('yes', True), ('no', False), ('on', True), ('off', False),
                             ('True', True), ('false', False), ('1', True), ('0', False)):
                with open(path, 'w', encoding='utf-8') as f:
                    f.write('access-log = %s\n' % word)
                for done in (self.run_program('--config', path, '--check-config'),
                             self.run_program('--check-config', '--access-log=' + word),
                             self.run_program('--check-config',
                                              environment={'MECHD_ACCESS_LOG': word})):
                    self.assertEqual((done.returncode, 'with the access log' in done.stdout),
                                     (0, on), (word, done.stdout))
            # what is longer than a line is not read as two
            with open(path, 'w', encoding='utf-8') as f:
                f.write('\n# ' + 510 * 'x' + 'workers = 7\n# ' + 5000 * 'x' + '\n')
            done = self.run_program('--config', path, '--check-config')
            self.assertIn('line 3: the line is longer than 4094 bytes', done.stdout)
            # a value behind a blank is no option
            done = self.run_program('--access-log', 'yes')
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("'yes' is not an option; write --access-log=yes", done.stdout)

    def test_a_wrong_value_is_reported_with_what_is_expected(self):
        with harness.tempfile.TemporaryDirectory() as folder:
            path = harness.os.path.join(folder, 'mechd.conf')
            for option, value, expected in (
                    ('access-log', 'ja', 'it must be on or off (yes, no, true, false, 1, 0)'),
                    ('workers', 'many', 'it must be a whole number from 0 to 256'),
                    ('heartbeat', '0', 'it must be a whole number from 1 to 3600'),
                    ('log-level', 'x' * 100, 'it must have 1 to 15 bytes'),
                    ('listen', 'a:1,,b:2', 'it must be at most 8 values, separated by commas')):
                with open(path, 'w', encoding='utf-8') as f:
                    f.write('\n%s = %s\n' % (option, value))
                name = 'MECHD_' + option.upper().replace('-', '_')
                for where, done in (
                        ('line 2: ' + option, self.run_program('--config', path)),
                        ('--' + option, self.run_program('--%s=%s' % (option, value))),
                        (name, self.run_program(environment={name: value}))):
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn("%s cannot be '%s': %s" % (where, value, expected), done.stdout)

    def test_flags_are_over_environment_over_file(self):
        with harness.tempfile.TemporaryDirectory() as folder:
            path = harness.os.path.join(folder, 'mechd.conf')
            with open(path, 'w', encoding='utf-8') as f:
                f.write('workers = nonsense\n')
            done = self.run_program('--config', path, '--check-config')
            self.assertNotEqual(done.returncode, 0, done.stdout)
            with open(path, 'w', encoding='utf-8') as f:
                f.write('# a comment\nworkers = 2\nlog-level = info\n')
            done = self.run_program('--config', path, '--check-config')
            self.assertEqual(done.returncode, 0, done.stdout)
            done = self.run_program('--config', path, '--check-config',
                                    environment={'MECHD_WORKERS': 'nonsense'})
            self.assertNotEqual(done.returncode, 0, done.stdout)
            done = self.run_program('--config', path, '--check-config', '--workers', '3')
            self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == '__main__':
    unittest.main()
