"""Descriptors 0, 1 and 2 closed at the start, as some launchers leave them: nothing else takes
their numbers."""
import itertools
import json
import os
import re
import resource
import signal
import socket
import subprocess
import tempfile
import unittest
import zmq
import fmus
import harness
import models
import raw
from harness import FREE_PORTS, Daemon, Http, ZmqDoor, program, wait_until, with_us

# every choice of the three but none
CLOSED = [c for n in (1, 2, 3) for c in itertools.combinations((0, 1, 2), n)]


def without(closed, command):
    """The command with these descriptors closed; a shell does that, as launchers do."""
    redirections = ' '.join('%d>&-' % k for k in closed)
    return ['sh', '-c', 'exec "$@" ' + redirections, 'sh', *command]


def descriptors(pid):
    """What 0, 1 and 2 of a process are."""
    return {k: os.readlink('/proc/%d/fd/%d' % (pid, k)) for k in (0, 1, 2)
            if os.path.lexists('/proc/%d/fd/%d' % (pid, k))}


class Closed(unittest.TestCase):
    def started(self, folder, closed):
        """(process, HTTP) of a daemon that stores, without these descriptors."""
        ready = os.path.join(folder, 'ready.json')
        process = subprocess.Popen(
            with_us() + without(closed, [
                program('mechd'), '--listen', '127.0.0.1:0', *FREE_PORTS, '--ready-file', ready,
                '--state', os.path.join(folder, 'state'), '--durability', 'every-step',
                '--log-level', 'debug']),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(lambda: os.path.exists(ready) or process.poll() is not None, 'it is ready')
        self.assertIsNone(process.poll(), 'it has ended')
        with open(ready, encoding='utf-8') as f:
            return process, Http(json.load(f)['http'])

    def test_the_daemon_serves_stores_and_ends_as_always(self):
        for closed in CLOSED:
            with self.subTest(closed=closed), tempfile.TemporaryDirectory() as folder:
                process, http = self.started(folder, closed)
                self.assertEqual(descriptors(process.pid), dict.fromkeys((0, 1, 2), '/dev/null'))
                self.assertEqual(
                    http.call('PUT', '/v1/instances/a', {'model': models.oscillator()}).status, 201)
                self.assertEqual(
                    http.call('POST', '/v1/instances/a/step', {'count': 3})['step'], 3)
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(10 * harness.SLOW), 0)
                with open(os.path.join(folder, 'state', 'lock'), 'rb') as f:
                    self.assertEqual(f.read(), b'')

    def test_mechctl_does_not_write_into_its_own_connection(self):
        with Daemon('--access-log') as d:
            d.create(models.oscillator())
            for closed in CLOSED:
                before = d.log().count('event=request')
                done = subprocess.run(
                    without(closed, [program('mechctl'), '--server', d.base, 'list']),
                    stdin=subprocess.DEVNULL, capture_output=True, timeout=60 * harness.SLOW)
                # output that is lost is no success
                self.assertEqual(done.returncode, 4 if 1 in closed else 0, (closed, done.stderr))
                told = [l for l in d.log().splitlines() if 'event=request' in l][before:]
                self.assertEqual([l for l in told if 'status=200' not in l], [])
                self.assertEqual(len(told), 1)

    def test_output_of_mechd_that_is_lost_is_no_success(self):
        for option in (['--version'], ['--help'], ['--print', 'errors'], ['--print', 'man'],
                       ['--make-token', 'rig'], ['--make-curve-key', 'rig'],
                       ['--check-config', '--state', 'none']):
            for redirection in ('>&-', '>/dev/full'):
                with self.subTest(option=option, redirection=redirection):
                    done = subprocess.run(
                        ['sh', '-c', 'exec "$@" ' + redirection, 'sh', program('mechd'), *option],
                        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                        timeout=60 * harness.SLOW)
                    self.assertEqual(done.returncode, 1)
                    self.assertIn('standard output', done.stderr)


class Few(unittest.TestCase):
    """256 descriptors, and more connections than that at one door: the others serve."""

    def few(self, folder, *arguments):
        script = os.path.join(folder, 'mechd')
        with open(script, 'w', encoding='utf-8') as f:
            f.write('#!/bin/sh\nulimit -n 256\nexec "%s" "$@"\n' %
                    os.path.abspath(program('mechd')))
        os.chmod(script, 0o755)
        return Daemon(*arguments, program_path=script)

    def crowd(self, address, count):
        """So many connections, which the kernel at least has accepted, and which say nothing."""
        found = []
        for _ in range(count):
            s = socket.socket()
            s.setblocking(False)
            s.connect_ex(address)
            found.append(s)
        self.addCleanup(lambda: [s.close() for s in found])
        return found

    def serves(self, d):
        """A probe is answered, at the latest when the clients that fill the reserve have had their
        two seconds."""
        def probe():
            try:
                with raw.connect(d) as s:
                    s.sendall(b'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
                    answer = raw.Answers(s).next()
            except OSError:
                return False
            return answer is not None and answer[0] == 200
        wait_until(probe, 'a probe is answered')
        self.assertLessEqual(len(os.listdir('/proc/%d/fd' % d.pid())), 256)

    def test_a_crowd_at_one_door_leaves_the_others_theirs(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < 2000:
            self.skipTest('not enough descriptors')
        resource.setrlimit(resource.RLIMIT_NOFILE, (2000, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        for name in ('control', 'stream', 'forces', 'lane', 'http'):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder, \
                    self.few(folder, '--state', folder + '/state',
                             '--lane', 'tcp://127.0.0.1:*') as d:
                i = d.create(models.oscillator())
                port = int(d.info[name].rsplit(':', 1)[1])
                crowd = self.crowd(('127.0.0.1', port), 600)
                self.serves(d)
                wait_until(lambda: 'event=door-full door=%s' % name in d.log(), 'it is full')
                log = d.log()
                self.assertEqual(log.count('event=descriptors limit=256'), 1)
                self.assertEqual(log.count('event=door-full door=%s' % name), 1)
                # an answer of the connection that came before
                self.assertEqual(
                    d.call('POST', '/v1/instances/%s/step' % i, {'count': 1}).status, 200)
                if name == 'http':
                    with ZmqDoor(d) as door:
                        self.assertEqual(door.call('step', id=i, count=1)[0], 200)
                for s in crowd:
                    s.close()

                # there is room again
                def comes_in():
                    try:
                        with ZmqDoor(d) as door:
                            return door.call('step', id=i, count=1)[0] == 200
                    except zmq.ZMQError:
                        return False
                wait_until(comes_in, 'control serves', 30)
                self.serves(d)

    def test_hosted_fmus_have_a_share_too(self):
        """As many as a socket of ZeroMQ has connections; all doors serve beside them."""
        with tempfile.TemporaryDirectory() as folder, \
                self.few(folder, *fmus.ON, '--state', folder + '/state') as d:
            i = d.create(models.oscillator())
            fid = fmus.upload(d, fmus.archive())['id']
            made = []
            while len(made) < 256:
                reply = d.call('POST', '/v1/instances', {'fmu': fid})
                if reply.status != 201:
                    break
                made.append(reply['id'])
            self.assertEqual((reply.status, reply['code']), (429, 'limit-reached'), len(made))
            self.assertIn('%d FMUs are running, as many as the limit of descriptors (ulimit -n)' %
                          len(made), reply['detail'])
            share = int(re.search(r'event=descriptors limit=256 .* fmus=(\d+)', d.log())[1])
            self.assertEqual(len(made), share)
            self.assertTrue(8 < share < 64, share)
            self.assertEqual(len(fmus.processes(d)), share)
            self.serves(d)
            with ZmqDoor(d) as door:
                self.assertEqual(door.call('step', id=i, count=1)[0], 200)
            # each of them steps; one that ends leaves its place to another
            for k in (made[0], made[-1]):
                step = d.call('POST', '/v1/instances/%s/step' % k, {'count': 1})
                self.assertEqual(step.status, 200, step)
            self.assertEqual(d.call('POST', '/v1/instances/%s/reset' % made[0]).status, 200)
            self.assertEqual(d.call('DELETE', '/v1/instances/' + made.pop()).status, 204)
            wait_until(lambda: d.call('POST', '/v1/instances', {'fmu': fid}).status == 201,
                       'there is a place')

    def test_with_descriptors_for_all_nothing_is_said(self):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < 8000:
            self.skipTest('not enough descriptors')
        with Daemon() as d:
            self.assertNotIn('event=descriptors', d.log())


if __name__ == '__main__':
    unittest.main()
