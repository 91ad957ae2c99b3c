"""How long a request may take and how many connections there may be: a client that trickles,
stalls, idles or comes too often is ended, all others are served meanwhile."""
import json
import os
import socket
import time
import unittest
import harness
import models
import raw
from asking import Asked
from harness import Daemon

RACES = True

LIMITS = ('--head-seconds', '1', '--body-seconds', '1', '--body-rate', '10', '--idle-seconds', '3')
HOST = b'Host: localhost\r\n'
LIVEZ = b'GET /livez HTTP/1.1\r\n' + HOST + b'\r\n'


def trickle(s, data, gap=0.05, seconds=15.0):
    """Byte by byte until the daemon has had enough: the seconds that it took, and what it said."""
    start = time.monotonic()
    s.settimeout(gap)
    answers = raw.Answers(s)
    for k in range(len(data)):
        try:
            s.sendall(data[k:k + 1])
            if not answers.more():
                break
        except TimeoutError:
            pass
        except (BrokenPipeError, ConnectionResetError):
            break
        if time.monotonic() - start > seconds * harness.SLOW:
            raise AssertionError('trickled for %g s' % seconds)
    return time.monotonic() - start, answers


def timeouts(daemon):
    text = daemon.call('GET', '/metrics').raw.decode()
    return int(next(line.split()[1] for line in text.split('\n')
                    if line.startswith('mechd_http_timeouts_total')))


class Deadlines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(*LIMITS)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def is_late(self, answers, took, least=1.0):
        status, headers, body = answers.next()
        self.assertEqual((status, json.loads(body)['code']), (408, 'request-timeout'))
        self.assertEqual(headers['connection'], 'close')
        self.assertTrue(answers.ends())
        self.assertGreater(took, least - 0.3)

    def test_a_head_in_drops_is_ended_in_time(self):
        """Every byte is activity, but the whole head has one second."""
        for what, data in (('request line', b'G' * 1000),
                           ('headers', b'GET /livez HTTP/1.1\r\n' + HOST + b'X: ' + b'a' * 1000),
                           ('empty lines', b'\r\n' * 500)):
            with self.subTest(what), raw.connect(self.daemon) as s:
                took, answers = trickle(s, data)
                self.is_late(answers, took)

    def test_the_second_head_of_a_connection_has_the_same_time(self):
        with raw.connect(self.daemon) as s:
            s.sendall(LIVEZ)
            self.assertEqual(raw.Answers(s).next()[0], 200)
            took, answers = trickle(s, b'GET /livez HTTP/1.1\r\nX: ' + b'a' * 1000)
            self.is_late(answers, took)

    def test_a_body_in_drops_is_ended_in_time(self):
        head = b'POST /v1/models/check HTTP/1.1\r\n' + HOST + b'Content-Type: application/json\r\n'
        for what, rest in (('a length', b'Content-Length: 1000\r\n\r\n' + b' ' * 1000),
                           ('a trailer', b'Transfer-Encoding: chunked\r\n\r\n0\r\n' + b'X' * 500),
                           ('chunks', b'Transfer-Encoding: chunked\r\n\r\n' + b'1\r\n \r\n' * 200)):
            with self.subTest(what), raw.connect(self.daemon) as s:
                begin, rest = rest.split(b'\r\n\r\n', 1)
                s.sendall(head + begin + b'\r\n\r\n')
                took, answers = trickle(s, rest)
                self.is_late(answers, took)

    def test_a_body_that_stalls_is_ended_in_time(self):
        with raw.connect(self.daemon) as s:
            start = time.monotonic()
            s.sendall(b'POST /v1/models/check HTTP/1.1\r\n' + HOST +
                      b'Content-Length: 100000\r\n\r\n{"model":')
            answers = raw.Answers(s)
            answers.until(lambda: answers.bytes)
            self.is_late(answers, time.monotonic() - start)

    def test_a_half_closed_upload_is_ended(self):
        for half in (b'POST /v1/mod', b'POST /v1/models/check HTTP/1.1\r\n' + HOST,
                     b'POST /v1/models/check HTTP/1.1\r\n' + HOST +
                     b'Content-Length: 100\r\n\r\n{"model":'):
            with self.subTest(half), raw.connect(self.daemon) as s:
                s.sendall(half)
                s.shutdown(socket.SHUT_WR)
                self.assertIn([a[0] for a in raw.Answers(s).all()], ([], [408]))

    def test_a_body_may_take_longer_as_it_is_larger(self):
        """300 KiB in 2.4 s: more than the second, less than 1 + 300/10."""
        body = b' ' * (300 << 10) + b'{"model": 1}'
        with raw.connect(self.daemon) as s:
            s.sendall(b'POST /v1/models/check HTTP/1.1\r\n' + HOST + b'Connection: close\r\n'
                      b'Content-Type: application/json\r\nContent-Length: %d\r\n\r\n' % len(body))
            start, part = time.monotonic(), len(body) // 12
            for k in range(0, len(body), part):
                s.sendall(body[k:k + part])
                time.sleep(0.2)  # steady: what is sent is slow
            self.assertGreater(time.monotonic() - start, 1.5)
            self.assertEqual([a[0] for a in raw.Answers(s).all()], [422])

    def test_an_idle_connection_is_closed_later_and_silently(self):
        for first in (b'', LIVEZ):
            with self.subTest(first), raw.connect(self.daemon) as s:
                start = time.monotonic()
                answers = raw.Answers(s)
                if first:
                    s.sendall(first)
                    self.assertEqual(answers.next()[0], 200)
                self.assertTrue(answers.ends())
                took = time.monotonic() - start
                self.assertGreater(took, 2.7)

    def test_a_kept_connection_lives_while_it_is_used(self):
        def ask(s, answers):
            s.sendall(LIVEZ)
            self.assertEqual(answers.next()[0], 200)

        def lives(use):
            with use(raw.connect, self.daemon) as s:
                answers, start = raw.Answers(s), time.monotonic()
                while time.monotonic() - start < 4.5:
                    use(ask, s, answers)
                    time.sleep(0.5)  # steady: a connection at rest, less than its 3 s
        harness.again_where_slow(3, lives)

    def test_live_events_and_long_commands_are_not_cut(self):
        i = self.daemon.create(models.nonlinear_oscillator())
        with raw.connect(self.daemon, 30) as s:
            s.sendall(b'GET /v1/instances/%s/events HTTP/1.1\r\n' % i.encode() + HOST + b'\r\n')
            answers = raw.Answers(s)
            self.assertTrue(answers.until(lambda: b'data: ' in answers.bytes))
            slow = Asked(self.daemon, 'POST', '/v1/instances/%s/step' % i, {'count': 10 ** 9})
            time.sleep(4.5)  # steady: longer than each of the limits
            self.assertIsNone(slow.reply)
            self.assertTrue(self.daemon.call('POST', '/v1/instances/%s/stop' % i)['stopped'])
            self.assertEqual(slow.answer()['code'], 'cancelled')
            self.daemon.call('POST', '/v1/instances/%s/step' % i, {'count': 7})
            self.assertTrue(answers.until(lambda: b'"step":7,' in answers.bytes))
        self.daemon.call('DELETE', '/v1/instances/' + i)

    def test_a_client_that_reads_an_answer_in_drops_is_ended(self):
        """Some bytes now and then are activity, but an answer of 1.6 MB has 1.2 s."""
        n = 100000
        model = {'mechd': 1, 'objects': [{'name': 'o', 'type': 'LagrangianLinearTIDS',
                                          'M': {'diag': [1] * n}, 'q0': [k / 7 for k in range(n)]}]}
        with Daemon('--body-seconds', '1', '--body-rate', '10000') as daemon:
            i = daemon.create(model).encode()
            with raw.connect(daemon) as s:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                s.sendall((b'GET /v1/instances/%s/state HTTP/1.1\r\n' % i + HOST + b'\r\n') * 8)

                def is_ended():
                    s.recv(1000)
                    return timeouts(daemon) == 1
                harness.wait_until(is_ended, 'it is counted', 20)

    def test_probes_answer_while_hundreds_trickle(self):
        drops = [raw.connect(self.daemon) for _ in range(300)]
        try:
            for k in range(60):
                for s in drops[k % 10::10]:
                    try:
                        s.send(b'a')
                    except OSError:
                        pass
                self.assertEqual(self.daemon.call('GET', '/livez').status, 200)
            for s in drops:
                s.settimeout(10 * harness.SLOW)
                answers = raw.Answers(s)
                found = answers.next()
                self.assertTrue(found is None or found[0] == 408, found)
        finally:
            for s in drops:
                s.close()


class UnixSockets(unittest.TestCase):
    def connect(self, path):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(20 * harness.SLOW)
        s.connect(path)
        return s

    def test_a_head_has_the_time_of_an_idle_connection(self):
        with Daemon(*LIMITS, '--listen', 'unix:http.socket') as daemon:
            with self.connect(os.path.join(daemon.folder, 'http.socket')) as s:
                took, answers = trickle(s, b'G' * 1000)
                self.assertTrue(answers.ends())
                self.assertGreater(took, 2.7)

    def test_the_mode_of_the_socket_is_a_choice(self):
        for flags, mode in (((), 0o600), (('--unix-mode', '660'), 0o660),
                            (('--unix-mode', '0666'), 0o666)):
            with Daemon('--listen', 'unix:http.socket', *flags) as daemon:
                path = os.path.join(daemon.folder, 'http.socket')
                self.assertEqual(os.stat(path).st_mode & 0o7777, mode)
                with self.connect(path) as s:
                    s.sendall(LIVEZ)
                    self.assertEqual(raw.Answers(s).next()[0], 200)
        for wrong in ('rw', '9', '12345', '888'):
            with self.assertRaisesRegex(AssertionError, '--unix-mode'):
                Daemon('--unix-mode', wrong)

    def test_a_dead_socket_is_replaced_and_a_living_one_is_not(self):
        daemon = Daemon('--listen', 'unix:http.socket')
        try:
            path = os.path.join(daemon.folder, 'http.socket')
            with self.assertRaisesRegex(AssertionError, 'Address already in use'):
                Daemon('--listen', 'unix:' + path)
            with self.connect(path) as s:
                s.sendall(LIVEZ)
                self.assertEqual(raw.Answers(s).next()[0], 200)
            daemon.process.kill()
            daemon.process.wait()
            self.assertTrue(os.path.exists(path))
            with Daemon('--listen', 'unix:' + path), self.connect(path) as s:
                s.sendall(LIVEZ)
                self.assertEqual(raw.Answers(s).next()[0], 200)
            self.assertFalse(os.path.exists(path))
        finally:
            daemon.stop(check=False)

    def test_a_file_is_not_replaced(self):
        with Daemon() as daemon:
            path = os.path.join(daemon.folder, 'file')
            with open(path, 'w', encoding='utf-8') as f:
                f.write('mine')
            with self.assertRaisesRegex(AssertionError, 'Address already in use'):
                Daemon('--listen', 'unix:' + path)
            with open(path, encoding='utf-8') as f:
                self.assertEqual(f.read(), 'mine')


class Limits(unittest.TestCase):
    def open(self, daemon, count, source='127.0.0.1'):
        """Connections that have been served once, so that they are counted."""
        address, found = daemon.http.address, []
        for _ in range(count):
            s = socket.create_connection((address.hostname, address.port), 20 * harness.SLOW,
                                         source_address=(source, 0))
            found.append(s)
            s.sendall(LIVEZ)
            self.assertEqual(raw.Answers(s).next()[0], 200)
        return found

    def ask(self, daemon, target, source='127.0.0.1'):
        address = daemon.http.address
        with socket.create_connection((address.hostname, address.port), 20 * harness.SLOW,
                                      source_address=(source, 0)) as s:
            s.sendall(b'GET ' + target + b' HTTP/1.1\r\n' + HOST + b'\r\n')
            answers = raw.Answers(s)
            found = answers.next()
            return found, found[1].get('connection') == 'close' and answers.ends()

    def connections(self, daemon):
        text = self.ask(daemon, b'/metrics')[0][2].decode()
        return int(next(line.split()[1] for line in text.split('\n')
                        if line.startswith('mechd_http_connections')))

    def test_one_address_has_a_share(self):
        with Daemon('--connections-per-address', '5') as daemon:
            kept = self.open(daemon, 5)
            (status, headers, body), ended = self.ask(daemon, b'/v1')
            self.assertEqual((status, raw.code((0, 0, body)), ended), (429, 'limit-reached', True))
            self.assertEqual(headers['retry-after'], '1')
            for probe in (b'/livez', b'/readyz', b'/metrics'):
                found, ended = self.ask(daemon, probe)
                self.assertEqual((found[0], ended), (200, True))
            # others have theirs, and room comes back
            self.assertEqual(self.ask(daemon, b'/v1', '127.0.0.2')[0][0], 200)
            kept.pop().close()
            harness.wait_until(lambda: self.ask(daemon, b'/v1')[0][0] == 200, 'room comes back')
            for s in kept:
                s.close()

    def test_a_full_table_answers_at_once(self):
        with Daemon('--connections', '4') as daemon:
            kept = self.open(daemon, 4)
            (status, headers, body), ended = self.ask(daemon, b'/v1')
            self.assertEqual((status, raw.code((0, 0, body)), ended),
                             (503, 'too-many-connections', True))
            self.assertEqual(self.ask(daemon, b'/livez')[0][0], 200)
            # those that are in are served as ever
            for s in kept:
                s.sendall(LIVEZ)
                self.assertEqual(raw.Answers(s).next()[0], 200)
            for s in kept:
                s.close()
            harness.wait_until(lambda: self.ask(daemon, b'/v1')[0][0] == 200, 'room comes back')

    def test_a_flood_beyond_the_reserve_is_closed_and_the_reserve_empties(self):
        with Daemon('--connections', '4') as daemon:
            kept = self.open(daemon, 4)
            address = daemon.http.address
            flood = [socket.create_connection((address.hostname, address.port), 20 * harness.SLOW)
                     for _ in range(200)]
            closed = 0
            for s in flood[-100:]:
                closed += raw.Answers(s).ends()
            self.assertEqual(closed, 100)
            # a client that holds a place of the reserve and sends nothing has two seconds
            harness.wait_until(lambda: self.probe(daemon), 'the probe answers', 6)
            for s in flood + kept:
                s.close()
            harness.wait_until(lambda: self.connections(daemon) <= 1, 'all are gone')
            self.assertEqual(self.ask(daemon, b'/v1')[0][0], 200)

    def test_a_flood_from_one_address_takes_no_place_of_others(self):
        with Daemon('--connections', '100', '--connections-per-address', '4') as daemon:
            address = daemon.http.address
            flood = [socket.create_connection((address.hostname, address.port), 20 * harness.SLOW)
                     for _ in range(300)]
            closed = sum(raw.Answers(s).ends() for s in flood[-100:])
            self.assertEqual(closed, 100)
            self.assertEqual(self.ask(daemon, b'/v1', '127.0.0.2')[0][0], 200)
            for s in flood:
                s.close()

    def probe(self, daemon):
        try:
            return self.ask(daemon, b'/livez')[0][0] == 200
        except (TypeError, OSError):
            return False

    def test_each_address_has_its_own_table(self):
        with Daemon('--connections', '4', '--listen', 'unix:http.socket') as daemon:
            kept = self.open(daemon, 4)
            self.assertEqual(self.ask(daemon, b'/v1')[0][0], 503)
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(os.path.join(daemon.folder, 'http.socket'))
                s.sendall(b'GET /v1 HTTP/1.1\r\n' + HOST + b'\r\n')
                self.assertEqual(raw.Answers(s).next()[0], 200)
            for s in kept:
                s.close()


if __name__ == '__main__':
    unittest.main()
