"""Clients that mean no good, in numbers: trickled heads, floods of connections, bodies without end,
reconnects to live events, uploads that are given up, pipelined garbage. Meanwhile another client
asks /livez every 20 ms and has its answer within 100 ms, on a kept connection and on new ones;
afterwards the heap in use (count/calls.c counts it) and descriptors are what they were after the
same flood before, and resident memory is that before all floods but for what the C library keeps
of free memory.

What the machine adds is measured beside: the same exchange with a bare server that does nothing,
and the processes that wait for each processor.
MECHD_TESTS_FLOOD is the number of reconnects (2,000); the others follow from it up to their full
size, which 20,000 reaches."""
import errno
import http.client
import multiprocessing
import os
import random
import resource
import selectors
import signal
import socket
import tempfile
import time
import unittest
import urllib.parse

import harness
import heap
import models
from harness import Daemon, wait_until

RACES = True

FLOOD = int(os.environ.get('MECHD_TESTS_FLOOD', '2000'))
TICK = 0.02
# what the C library keeps of free memory: 16 MiB at the top of its heap (os/memory.c), and for
# each of 16 threads pieces of 132 KiB; a flood of 2,000 takes 96 MB
KEPT = (16 << 20) + (16 * 132 << 10)
# a flood may leave so much more of the heap in use than the one before: 8 bytes for each of 2,000
# clients
SPARE = 16 << 10
# floods come from another address than the one that watches
ENEMY = '127.0.0.2'
FORK = multiprocessing.get_context('fork')


def scaled(full):
    """So many of `full` as the flood's size asks for."""
    return max(full // 10, min(full, full * FLOOD // 20000))


# --- the watch ------------------------------------------------------------------------------------

def bare_server(listener):
    """Answers every request with the same bytes."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    while True:
        connection, _ = listener.accept()
        while connection.recv(4096):
            connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
        connection.close()


def ask(address, kept):
    """Seconds that /livez took on a kept connection (opened if None), and that connection."""
    start = time.monotonic()
    connection = kept or http.client.HTTPConnection(*address, timeout=20 * harness.SLOW)
    connection.request('GET', '/livez')
    reply = connection.getresponse()
    reply.read()
    assert reply.status == 200, reply.status
    return time.monotonic() - start, connection


def watch(address, bare, ready, stop, out):
    """Until `stop`: (daemon on a kept connection, on a new one, the bare server on both) a tick."""
    kept, plain, found = None, None, []
    try:
        _, kept = ask(address, None)
        _, plain = ask(bare, None)
        while not stop.is_set():
            start = time.monotonic()
            old, kept = ask(address, kept)
            new, fresh = ask(address, None)
            fresh.close()
            base, plain = ask(bare, plain)
            found.append((old, new, base))
            ready.set()
            time.sleep(max(0, TICK - (time.monotonic() - start)))  # steady: a rate
        out.put(found)
    except Exception as e:  # pylint: disable=broad-except
        out.put('%r after %d answers' % (e, len(found)))


class Watch:
    """Asks /livez in a process of its own; at the end every question was answered. How long the
    worst waited is printed beside that of the bare server, and not judged: the machine has
    its part in it."""

    def __init__(self, test, daemon):
        at = urllib.parse.urlsplit(daemon.base)
        listener = socket.create_server(('127.0.0.1', 0))
        self.test, self.stop, self.out = test, FORK.Event(), FORK.Queue()
        self.ready = FORK.Event()
        self.bare = FORK.Process(target=bare_server, args=(listener,), daemon=True)
        self.process = FORK.Process(
            target=watch, daemon=True,
            args=((at.hostname, at.port), listener.getsockname(), self.ready, self.stop,
                  self.out))
        self.bare.start()
        self.process.start()
        listener.close()

    def __enter__(self):
        self.ready.wait(20 * harness.SLOW)
        self.start = time.monotonic()
        return self

    def __exit__(self, kind, *_):
        # a flood may be over before it has been seen
        time.sleep(max(0, 1 - (time.monotonic() - self.start)))  # steady: some ticks more
        self.stop.set()
        try:
            found = self.out.get(timeout=60 * harness.SLOW)
        finally:
            self.process.kill()
            self.bare.kill()
            self.process.join()
            self.bare.join()
        if kind is None:
            self.judge(found)

    def judge(self, found):
        self.test.assertIsInstance(found, list, found)
        self.test.assertGreater(len(found), 5)
        print('%s: %d answers, the worst after %.0f ms, of the bare server after %.0f ms' % (
            self.test.id(), len(found), 1e3 * max(max(old, new) for old, new, _ in found),
            1e3 * max(base for _, _, base in found)))


# --- the floods, each in a process of its own -----------------------------------------------------

def raise_descriptors():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def enemy(address, blocking=True):
    """A connection from the enemy's address, or None when it is refused."""
    s = socket.socket()
    s.bind((ENEMY, 0))
    s.settimeout(20 * harness.SLOW)
    try:
        s.connect(address)
    except OSError:
        s.close()
        return None
    s.setblocking(blocking)
    return s


def host(address):
    return b'%s:%d' % (address[0].encode(), address[1])


def is_gone(s):
    """True when the other side has closed."""
    try:
        return s.recv(4096) == b''
    except BlockingIOError:
        return False
    except OSError:
        return True


def trickle(address, count, seconds):
    """Heads that come byte by byte; ends when the server has closed all of them."""
    open_ones = [s for s in (enemy(address, False) for _ in range(count)) if s]
    assert len(open_ones) > count // 2, len(open_ones)
    head = b'GET /livez HTTP/1.1\r\nHost: %s\r\nX: ' % host(address) + b'y' * 1000
    deadline = time.monotonic() + seconds
    for byte in head:
        for s in open_ones:
            try:
                s.send(bytes([byte]))
            except OSError:
                pass
        open_ones = [s for s in open_ones if not is_gone(s)]
        if not open_ones:
            return
        assert time.monotonic() < deadline, '%d trickled heads live on' % len(open_ones)
        time.sleep(0.1)  # steady: the trickle


def connect_all(address, count):
    """Connections that say nothing, as many as there may be, then all at once closed."""
    found = [enemy(address) for _ in range(count)]
    time.sleep(0.5)  # steady: idle on purpose
    for s in found:
        if s:
            s.close()


def push_body(address, size, chunked):
    """A body far too large; the server may answer 413 or close, but does not take it."""
    s = enemy(address)
    framing = b'Transfer-Encoding: chunked' if chunked else b'Content-Length: %d' % size
    s.sendall(b'POST /v1/instances HTTP/1.1\r\nHost: %s\r\n'
              b'Content-Type: application/json\r\n' % host(address) + framing + b'\r\n\r\n')
    piece = b' ' * 65536
    sent, answer = 0, b''
    try:
        while sent < size:
            s.sendall(b'%x\r\n%s\r\n' % (len(piece), piece) if chunked else piece)
            sent += len(piece)
        s.sendall(b'0\r\n\r\n' if chunked else b'')
        answer = s.recv(4096)
    except OSError as e:
        assert e.errno in (errno.EPIPE, errno.ECONNRESET), e
    assert not answer or b' 413 ' in answer.split(b'\r\n')[0], answer[:100]
    s.close()


def reconnect(address, path, count):
    """Live events that are asked for and left, after their head, before it, or by a reset."""
    dice = random.Random(3)
    for _ in range(count):
        s = enemy(address)
        if not s:
            continue
        s.sendall(b'GET %s HTTP/1.1\r\nHost: %s\r\nLast-Event-ID: 3\r\n\r\n'
                  % (path.encode(), host(address)))
        if dice.random() < 0.5:
            s.recv(200)
        if dice.random() < 0.3:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\x01\0\0\0\0\0\0\0')
        s.close()


def give_up(address, count):
    """Uploads of which half comes, then no more, with the reading side open; ends when the server
    has ended all of them."""
    found = []
    for k in range(count):
        s = enemy(address, False)
        if s:
            s.send(b'POST /v1/instances HTTP/1.1\r\nHost: %s\r\nContent-Length: 100000\r\n\r\n'
                   % host(address) + b'[' * (k % 50000))
            s.shutdown(socket.SHUT_WR)
            found.append(s)
    deadline = time.monotonic() + 30 * harness.SLOW
    while found:
        found = [s for s in found if not is_gone(s)]
        assert time.monotonic() < deadline, '%d uploads live on' % len(found)
        time.sleep(0.05)  # steady: between two looks


def pipeline(address, count):
    """Good requests, many at a time, then garbage behind them."""
    dice = random.Random(4)
    good = b'GET /livez HTTP/1.1\r\nHost: %s\r\n\r\n' % host(address)
    for _ in range(count):
        s = enemy(address, False)
        if not s:
            continue
        left = good * dice.randrange(200) + dice.randbytes(dice.randrange(4000)) + good
        waits = selectors.DefaultSelector()
        waits.register(s, selectors.EVENT_READ | selectors.EVENT_WRITE)
        end = time.monotonic() + 1
        while left and time.monotonic() < end and waits.select(0.1):
            if is_gone(s):
                break
            try:
                left = left[s.send(left):]
            except BlockingIOError:
                pass
            except OSError:
                break
        waits.close()
        s.close()


def run_flood(out, function, arguments):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        raise_descriptors()
        function(*arguments)
        out.put('')
    except Exception as e:  # pylint: disable=broad-except
        out.put(repr(e))


class Floods(unittest.TestCase):
    def setUp(self):
        raise_descriptors()
        self.counts = tempfile.NamedTemporaryFile()  # pylint: disable=consider-using-with
        self.addCleanup(self.counts.close)
        self.daemon = Daemon('--head-seconds', '2', '--body-seconds', '4',
                             '--idle-seconds', '10', '--workers', '2',
                             environment=heap.counted(self.counts.name))
        self.addCleanup(lambda d: d.is_alive() and d.stop(False), self.daemon)
        at = urllib.parse.urlsplit(self.daemon.base)
        self.address = (at.hostname, at.port)
        self.daemon.create(models.oscillator())
        wait_until(self.settled(), 'memory settles', 20)
        self.fresh = self.resident()

    def in_use(self):
        """Bytes of the heap; 0 where they are not counted."""
        return heap.read(self.counts.name)['in_use']

    def resident(self):
        """Bytes of resident pages that are no file's."""
        return harness.resident(self.daemon, 'RssAnon')

    def descriptors(self):
        return len(os.listdir('/proc/%d/fd' % self.daemon.pid()))

    def run_one(self, function, *arguments, seconds=300):
        out = FORK.Queue()
        process = FORK.Process(target=run_flood, args=(out, function, arguments), daemon=True)
        process.start()
        try:
            self.assertEqual(out.get(timeout=seconds * harness.SLOW), '')
        finally:
            process.kill()
            process.join()

    def flood(self, function, *arguments):
        """Twice: the second, under watch, leaves no more than the first has left."""
        self.run_one(function, *arguments)
        wait_until(lambda: self.descriptors() < 100, 'the first flood is over', 40)
        # free memory goes back a second later
        settled = wait_until(self.settled(), 'memory settles', 20)
        before = self.descriptors()
        with Watch(self, self.daemon):
            self.run_one(function, *arguments)
        wait_until(lambda: self.descriptors() <= before, 'the descriptors are back', 40)
        self.comes_back_to(self.in_use, settled + SPARE, 'the heap in use is back')
        self.comes_back_to(self.resident, 1.1 * self.fresh + KEPT, 'the memory is back')
        self.daemon.stop()

    def comes_back_to(self, what, most, told):
        try:
            wait_until(lambda: what() <= most, told, 20)
        except AssertionError as e:
            raise AssertionError('%s: %d, at most %d' % (e, what(), most)) from e

    def settled(self):
        """A condition: the heap in use, once it has been the same for 1.5 s, where it is counted,
        and the resident pages too."""
        seen = [(0, 0), time.monotonic()]

        def condition():
            now = (self.in_use(), self.resident())
            if now != seen[0]:
                seen[:] = [now, time.monotonic()]
            return max(now[0], 1) if time.monotonic() - seen[1] > 1.5 else 0
        return condition

    def test_trickled_heads_are_ended_and_no_client_waits_for_them(self):
        self.flood(trickle, self.address, scaled(1000), 20 * harness.SLOW)

    def test_a_flood_of_connections_is_bounded(self):
        self.flood(connect_all, self.address, scaled(5000))

    def test_bodies_without_end_are_not_taken(self):
        for chunked in (False, True):
            with self.subTest(chunked=chunked):
                self.flood(push_body, self.address, 100 << 20, chunked)
                self.setUp()

    def test_reconnects_to_live_events_leave_nothing(self):
        path = '/v1/instances/i-1/events'
        self.flood(reconnect, self.address, path, FLOOD)

    def test_uploads_that_are_given_up_leave_nothing(self):
        self.flood(give_up, self.address, scaled(5000))

    def test_pipelined_garbage_is_refused(self):
        self.flood(pipeline, self.address, scaled(2000))


if __name__ == '__main__':
    unittest.main()
