"""Starts the real daemon on free ports, talks to it through every door and leaves nothing behind.

    with Daemon() as d:
        i = d.create(models.oscillator())
        reply = d.call('POST', '/v1/instances/%s/step' % i, {'count': 10})

The same operations go through HTTP (HttpDoor) and JSON over ZeroMQ (ZmqDoor), by the operation's
name; the route of an operation is read from protocol/wire/routes.def. Binary frames: Partner,
Stream, Forces. Nothing here sleeps for a fixed time: conditions are awaited with a deadline
(wait_until).

Environment: MECHD_TESTS_BUILD, the build directory that holds server/mechd (default
build/tests/release); MECHD_TESTS_WRAP, a command in front of the daemon, such as a debugger;
MECHD_TESTS_DEADLINE, a factor on every deadline for slow machines and sanitizers, on which nothing
waits when all is well; MECHD_TESTS_SCENARIO, one on the times that are part of a scenario (leases,
times to live), which begins again where the machine is too slow for it (again_where_slow)."""
import base64
import contextlib
import functools
import http.client
import json
import mmap
import os
import re
import resource
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'tools'))
import stacks  # noqa: E402

SLOW = float(os.environ.get('MECHD_TESTS_DEADLINE', '1'))
SCENARIO = float(os.environ.get('MECHD_TESTS_SCENARIO', '1'))
BUILD = os.environ.get('MECHD_TESTS_BUILD', os.path.join(ROOT, 'build', 'tests', 'release'))
SANITIZER = re.compile(r'(ERROR|WARNING): (Address|Thread|Leak|Memory)Sanitizer|runtime error: |'
                       r'ERROR: LeakSanitizer|Assertion .* failed')


def program(name):
    """A program of the build: mechd or mechctl."""
    return os.path.join(BUILD, {'mechd': 'server/mechd', 'mechctl': 'clients/cli/mechctl'}[name])


def wait_until(condition, what, seconds=10.0):
    """The condition's first true value; AssertionError at the deadline."""
    deadline = time.monotonic() + seconds * SLOW
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError('waited %g s in vain: %s' % (seconds * SLOW, what))
        time.sleep(0.002)  # steady: between two looks


def again_where_slow(longest, scenario):
    """Runs scenario(use), in which use(f, …) calls f, and no more than `longest` seconds may pass
    between one use and the next. Where it fails and more than half of that has passed, the machine
    was too slow for the scenario, and it begins again."""
    until = time.monotonic() + 60 * SLOW
    while True:
        sent, gaps = [time.monotonic()], [0.0]

        def use(f, *arguments, sent=sent, gaps=gaps, **more):
            before = time.monotonic()
            try:
                return f(*arguments, **more)
            finally:
                # the daemon has seen it at some moment of these
                gaps.append(time.monotonic() - sent[0])
                sent[0] = before
        try:
            return scenario(use)
        except Exception:  # pylint: disable=broad-except
            if max(gaps) < longest / 2 or time.monotonic() > until:
                raise


def is_sanitized():
    """Whether the daemon was built with a sanitizer, whose allocator keeps what is freed and whose
    shadow counts as memory."""
    if not os.path.exists(program('mechd')):
        return False
    with open(program('mechd'), 'rb') as f:
        with mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as text:
            return any(text.find(name) >= 0 for name in (b'__asan_init', b'__tsan_init'))


SANITIZED = is_sanitized()


def has_counters():
    """Whether the build has counters of coverage: its libraries have names and needs of gcov's."""
    path = os.path.join(BUILD, 'meson-info', 'intro-buildoptions.json')
    if not os.path.exists(path):
        return False
    with open(path, encoding='utf-8') as f:
        return any(o['name'] == 'b_coverage' and o['value'] for o in json.load(f))


COUNTED = has_counters()


def gauge(asked, name):
    """A number of /metrics, asked of a Daemon or over a connection of one's own."""
    text = asked.call('GET', '/metrics').raw.decode()
    return float(re.search(r'^mechd_%s (\S+)$' % name, text, re.M).group(1))


def resident(daemon, line='VmRSS'):
    """Bytes of the daemon's memory, of this line of /proc/PID/status (proc(5)); 0 where it is a
    sanitizer's."""
    with open('/proc/%d/status' % daemon.pid(), encoding='ascii') as f:
        found = re.search(r'^%s:\s+(\d+) kB$' % line, f.read(), re.M)
    return 0 if SANITIZED else int(found.group(1)) << 10


class Reply:
    """An answer: status, headers, raw body, and the body as JSON where it is JSON."""

    def __init__(self, status, headers, raw):
        self.status, self.headers, self.raw = status, headers, raw
        kind = headers.get('Content-Type', '')
        whole = 'ndjson' not in kind and 'Content-Encoding' not in headers
        self.json = json.loads(raw) if raw and 'json' in kind and whole else None

    def __getitem__(self, key):
        return self.json[key]

    def __repr__(self):
        return '%d %s' % (self.status, self.raw[:500])


# in ids of operations, sweeps and FMUs, of a process without a state directory: server/os/ids.h
SERIES = '[0-9b-df-hj-km-np-tv-z]{6}'
# ZeroMQ's sockets on ports that the kernel gives, and nothing stored
FREE_PORTS = ['--control', 'tcp://127.0.0.1:*', '--stream', 'tcp://127.0.0.1:*',
              '--forces', 'tcp://127.0.0.1:*', '--state', 'none']
# what ends in time on a slow machine too: how long something may be stuck is no part of most tests
LONG = ['--stuck-ms', '600000', '--store-ms', '600000', '--handshake-ms', '600000']


def with_us():
    """In front of a command: it ends with this process, however that ends. Linux means the thread
    that starts it, so only the main one sets this."""
    if threading.current_thread() is not threading.main_thread():
        return []
    return ['setpriv', '--pdeathsig', 'KILL']


class Daemon:
    """One mechd process; its exit code and its log are checked when it is stopped."""

    def __init__(self, *arguments, program_path=None, environment=None, first='127.0.0.1:0',
                 stderr=None):
        self.folder = tempfile.mkdtemp(prefix='mechd-test-')
        self.log_path = os.path.join(self.folder, 'log')
        ready = os.path.join(self.folder, 'ready.json')
        command = with_us() + shlex.split(os.environ.get('MECHD_TESTS_WRAP', '')) + [
            program_path or program('mechd'),
            '--listen', first, *FREE_PORTS, *LONG, '--ready-file', ready] + list(arguments)
        with open(self.log_path, 'wb') as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=stderr or log, cwd=self.folder,
                                            env={**os.environ, **(environment or {})})
        try:
            wait_until(lambda: os.path.exists(ready) or self.process.poll() is not None,
                       'the daemon is ready', 20)
            if self.process.poll() is not None:
                raise AssertionError('the daemon ended with %d: %s' % (self.process.returncode,
                                                                       self.log()[-2000:]))
            self.info = wait_until(lambda: read_json(ready), 'the ready file is whole', 5)
        except BaseException:
            self._remove()
            raise
        http_endpoint = self.info['http']
        if isinstance(http_endpoint, list):
            http_endpoint = http_endpoint[0]
        self.base = http_endpoint if '://' in http_endpoint else 'http://' + http_endpoint
        self.base = self.base.rstrip('/')
        self.http = Http(self.base)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.stop(check=kind is None)

    def log(self):
        with open(self.log_path, encoding='utf-8', errors='replace') as f:
            return f.read()

    def pid(self):
        """Of mechd itself, where there is something in front of it too."""
        return self.info['pid']

    def is_alive(self):
        return self.process.poll() is None

    def call(self, method, path, body=None, headers=None):
        return self.http.call(method, path, body, headers)

    def create(self, model=None, **more):
        reply = self.call('POST', '/v1/instances', {'model': model, **more} if model else more)
        assert reply.status == 201, reply
        return reply['id']

    @contextlib.contextmanager
    def full_disk(self, size=0):
        """Meanwhile no file grows beyond `size` bytes: writes fail as on a full disk."""
        limits = resource.prlimit(self.pid(), resource.RLIMIT_FSIZE)
        resource.prlimit(self.pid(), resource.RLIMIT_FSIZE, (size, limits[1]))
        try:
            yield
        finally:
            resource.prlimit(self.pid(), resource.RLIMIT_FSIZE, limits)

    def stop(self, check=True, seconds=20.0):
        """SIGTERM, the end, the exit code and the log."""
        try:
            if self.is_alive():
                self.process.send_signal(signal.SIGTERM)
            try:
                code = self.process.wait(seconds * SLOW)
            except subprocess.TimeoutExpired:
                raise AssertionError('%s\n%s\nthe daemon does not end:\n%s' % (
                    threads_of(self.pid()), self.log()[-2000:],
                    stacks.short(self.pid()))) from None
            log = self.log()
            fault = SANITIZER.search(log)
            if fault:
                raise AssertionError('in the log of the daemon:\n' +
                                     log[max(0, fault.start() - 200):][:6000])
            if check and code != 0:
                raise AssertionError('the daemon ended with %d: %s' % (code, log[-2000:]))
        finally:
            self._remove()

    def _remove(self):
        if self.is_alive():
            self.process.kill()
            self.process.wait()
        if hasattr(self, 'http'):
            self.http.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def threads_of(pid):
    """Where the threads of a process are: name, signals that wait and that are blocked, what they
    wait for in the kernel."""
    found = []
    for tid in os.listdir('/proc/%d/task' % pid):
        line = []
        for name in ('comm', 'wchan', 'syscall'):
            try:
                with open('/proc/%d/task/%s/%s' % (pid, tid, name), encoding='ascii') as f:
                    line.append(f.read().strip())
            except OSError as e:
                line.append(str(e))
        try:
            with open('/proc/%d/task/%s/status' % (pid, tid), encoding='ascii') as f:
                line.extend(l.strip().replace(':\t', ' ') for l in f
                            if l.startswith(('SigPnd', 'ShdPnd', 'SigBlk')))
        except OSError as e:
            line.append(str(e))
        found.append('%s %s' % (tid, ' '.join(line)))
    return '; '.join(found)


def cpu_seconds(pid):
    """What a process has used of the processors so far."""
    with open('/proc/%d/stat' % pid, encoding='ascii') as f:
        ticks = f.read().rsplit(')', 1)[1].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf('SC_CLK_TCK')


def read_json(path):
    try:
        with open(path, encoding='utf-8') as f:
            return json.load(f)
    except (OSError, ValueError):
        return None


class Http:
    """One kept connection; a thread of its own uses one of its own."""

    def __init__(self, base):
        self.address = urllib.parse.urlsplit(base)
        self.connection = None

    def close(self):
        if self.connection:
            self.connection.close()
            self.connection = None

    def connect(self):
        return http.client.HTTPConnection(self.address.hostname, self.address.port,
                                          timeout=60 * SLOW)

    def call(self, method, path, body=None, headers=None):
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        headers = {'Content-Type': 'application/json', **(headers or {})}
        for attempt in (0, 1):
            is_new = self.connection is None
            if is_new:
                self.connection = self.connect()
            try:
                self.connection.request(method, path, data, headers)
                answer = self.connection.getresponse()
                reply = Reply(answer.status, answer.headers, answer.read())
                if answer.will_close:
                    self.close()
                return reply
            except (http.client.BadStatusLine, ConnectionError, BrokenPipeError):
                # a kept connection may have been closed while it was idle
                self.close()
                if is_new or attempt:
                    raise
        raise AssertionError('not reached')


@functools.lru_cache(None)
def routes():
    """operation: (method, path) as protocol/wire/routes.def lists them."""
    found = {}
    with open(os.path.join(ROOT, 'protocol', 'wire', 'routes.def'), encoding='utf-8') as f:
        for line in f:
            match = re.match(r'MECHP_ROUTE\(\w+, "(\w+)", "([^"]+)", "([^"]+)"', line)
            if match:
                found[match.group(3)] = (match.group(1), match.group(2))
    return found


def as_query(fields):
    """Query parameters are text: vectors with commas."""
    return {k: ','.join(map(repr, v)) if isinstance(v, (list, tuple)) else str(v)
            for k, v in fields.items()}


class HttpDoor:
    """Operations by name through their HTTP routes."""
    name = 'HTTP'

    def __init__(self, daemon):
        self.http, self.routes = Http(daemon.base), routes()

    def close(self):
        self.http.close()

    def call(self, op, **fields):
        """(status, body) of an operation; path parameters, query and body are taken from fields."""
        method, path = self.routes[op]
        for name in re.findall(r'\{(\w+)\}', path):
            path = path.replace('{%s}' % name, urllib.parse.quote(str(fields.pop(name)), safe=''))
        if method in ('GET', 'DELETE'):
            query = '?' + urllib.parse.urlencode(as_query(fields)) if fields else ''
            reply = self.http.call(method, path + query)
        else:
            reply = self.http.call(method, path, fields)
        return reply.status, reply.json


class Keys:
    """A client's pair for CURVE, 'secret' and 'public' by name, and the server's public key, all as
    hexadecimal digits."""

    def __init__(self, server, pair):
        self.server, self.secret, self.public = (bytes.fromhex(k) for k in (
            server, pair['secret'], pair['public']))

    def lock(self, socket):
        socket.curve_serverkey, socket.curve_publickey = self.server, self.public
        socket.curve_secretkey = self.secret


class ZmqDoor:
    """The same operations as JSON over ZeroMQ's control socket."""
    name = 'ZeroMQ'

    def __init__(self, daemon, keys=None):
        import zmq
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.linger = 0
        self.socket.rcvtimeo = self.socket.sndtimeo = int(60000 * SLOW)
        if keys:
            keys.lock(self.socket)
        self.socket.connect(daemon.info['control'])

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, op, **fields):
        if routes().get(op, ('',))[0] == 'GET':
            fields = as_query(fields)
        self.socket.send_multipart([b'', json.dumps({'op': op, **fields}).encode()])

    def call(self, op, **fields):
        self.send(op, **fields)
        return self.receive(201 if op == 'create' else 200)

    def receive(self, success=200):
        """(status, body) of the next reply; a refusal is {"ok": false, "error": problem}."""
        body = json.loads(self.socket.recv_multipart()[-1])
        if isinstance(body, dict) and body.get('ok') is False:
            return body['error']['status'], body['error']
        return success, body


KINDS = {name: number for number, name in enumerate(
    'hello step trial commit inputs outputs state snapshot restore error bye'.split(), 1)}
HEADER = struct.Struct('<4sBBHIIIiQQddQ')
FIELDS = 'magic version kind flags instance count iteration status sequence step time size ' \
         'lease'.split()
REPEAT, REWOUND, EVENT, LATE, TEXT = 1, 2, 4, 8, 16


def pack(kind, values=(), **header):
    """A binary frame; header fields that are not given are zero."""
    full = {**dict.fromkeys(FIELDS, 0), 'time': 0.0, 'size': 0.0, 'magic': b'MCHD', 'version': 1,
            'kind': KINDS[kind] if isinstance(kind, str) else kind, 'count': len(values), **header}
    return HEADER.pack(*(full[f] for f in FIELDS)) + struct.pack('<%dd' % len(values), *values)


def unpack(frame):
    found = dict(zip(FIELDS, HEADER.unpack(frame[:HEADER.size])))
    rest = frame[HEADER.size:]
    found['values'] = struct.unpack('<%dd' % (len(rest) // 8), rest[:len(rest) // 8 * 8])
    return found


class FrameError(Exception):
    def __init__(self, header, problem):
        super().__init__('error %d: %s' % (header['status'], problem))
        self.header, self.problem = header, problem


class Verbs:
    """The requests of a partner, whatever its frames travel over: `ask` sends one and gives (header
    with values, …) of the reply."""

    def step(self, size, values=(), **header):
        return self.ask('step', values, size=size, **header)[0]

    def trial(self, size, values=(), **header):
        return self.ask('trial', values, size=size, **header)[0]

    def commit(self):
        return self.ask('commit')[0]

    def bye(self):
        return self.ask('bye')[0]


class Partner(Verbs):
    """A co-simulation partner: binary frames on the control socket."""

    def __init__(self, daemon, instance, inputs=(), outputs=(), order=0, keys=None, **hello):
        import zmq
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.linger = 0
        self.socket.rcvtimeo = self.socket.sndtimeo = int(20000 * SLOW)
        if keys:
            keys.lock(self.socket)
        self.socket.connect(daemon.info['control'])
        self.sequence, self.instance, self.lease = 0, 0, 0
        text = json.dumps({'instance': instance, 'inputs': list(inputs), 'inputOrder': order,
                           'outputs': list(outputs), **hello})
        header, parts = self.ask('hello', extra=[text.encode()])
        self.hello, self.lease = json.loads(parts[1]), header['lease']
        self.instance = self.hello['instance']

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def ask(self, kind, values=(), extra=(), **header):
        """(header with values, all frames) of the reply; FrameError if it is an error."""
        self.send(kind, values, extra, **header)
        reply, parts = self.receive()
        assert reply['magic'] == b'MCHD' and reply['sequence'] == self.sequence, reply
        if reply['kind'] == KINDS['error']:
            raise FrameError(reply, parts[1:])
        return reply, parts

    def send(self, kind, values=(), extra=(), **header):
        self.sequence += 1
        frame = pack(kind, values, instance=self.instance, lease=self.lease,
                     sequence=self.sequence, **header)
        self.socket.send_multipart([b'', frame] + list(extra))

    def receive(self):
        """(header with values, all frames) of whatever comes next."""
        parts = self.socket.recv_multipart()
        parts = parts[1:] if parts[0] == b'' else parts
        return unpack(parts[0]), parts


class Stream:
    """Frames of one instance from the stream socket, each communication step once: a client that
    subscribes while a step is published may get its frame twice, one of them as the last value
    again."""

    def __init__(self, daemon, instance, form='state', keys=None):
        import zmq
        self.socket = zmq.Context.instance().socket(zmq.SUB)
        self.socket.linger = 0
        self.socket.rcvtimeo = int(10000 * SLOW)
        if keys:
            keys.lock(self.socket)
        self.socket.connect(daemon.info['stream'])
        self.socket.subscribe('%s/%s/' % (form, instance))
        self.sequence = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def next(self):
        """(topic, frame as header and values, or parsed JSON)."""
        while True:
            topic, frame = self.socket.recv_multipart()
            found = unpack(frame) if frame[:4] == b'MCHD' else json.loads(frame)
            if found['sequence'] > self.sequence or found['flags'] & REWOUND:
                self.sequence = found['sequence']
                return topic.decode(), found


class Forces:
    """Pushes stamped inputs to the forces socket."""

    def __init__(self, daemon, partner, keys=None):
        import zmq
        self.socket = zmq.Context.instance().socket(zmq.PUSH)
        self.socket.linger = 1000
        self.socket.sndtimeo = int(20000 * SLOW)
        if keys:
            keys.lock(self.socket)
        self.socket.connect(daemon.info['forces'])
        self.partner = partner

    def push(self, values, time_stamp):
        self.socket.send(pack('inputs', values, instance=self.partner.instance,
                              lease=self.partner.lease, time=time_stamp))

    def close(self):
        self.socket.close()


class Served(unittest.TestCase):
    """Tests that share one daemon, `daemon`, started with OPTIONS; its door over HTTP: `door`."""
    OPTIONS = ()

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(*cls.OPTIONS)
        cls.door = HttpDoor(cls.daemon)

    @classmethod
    def tearDownClass(cls):
        cls.door.close()
        cls.daemon.stop()


def zmq_again():
    """What a socket raises when nothing has come in time."""
    import zmq
    return zmq.Again


def text_of(raw):
    return base64.b64encode(raw).decode()
