"""What one step request, or one that sets a parameter, costs the daemon, counted at a real daemon
on loopback: system calls (by strace), blocks of the heap that are allocated, resized and freed,
bytes copied (by calls.c in front of the C library) and bytes of the answer; over HTTP, JSON and
binary frames over ZeroMQ, frames over the lane, as a batch of ten, and as a window of a coupling of
two instances.

Every request is counted for itself: it is sent when all threads of the daemon sleep, and its
numbers are read when they sleep again. The requests go over connections that were idle before, one
after the other: the first request of the short ones and of the long ones ("at rest"), and the last
requests of the long ones ("100th"). A figure is the number that most of these requests have, so
that one during which the machine did not let a thread go on changes nothing: the server hands a
step that takes long to another thread. "kept" is the number of blocks of the heap that the requests
of a long connection have left, the fewest of all.

The model stands still and its steps are a second long: time and number of a step have three digits,
so that all answers are equally long."""
import collections
import json
import os
import re
import signal
import socket
import struct
import sys
import tempfile
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'integration'))
import harness  # noqa: E402
import heap  # noqa: E402
import lane  # noqa: E402
import zmtp  # noqa: E402

# connections; requests on each long one, of which the last ones are "the hundredth"
SHORT, LONG, ROUND, LAST = 16, 3, 104, 9
# steps before any that counts: from here on their number has three digits
WARM = 110
NUMBERS = 'allocated', 'resized', 'freed', 'copied'

MODEL = {
    'mechd': 1,
    'objects': [{'name': 'system', 'type': 'LagrangianLinearTIDS', 'M': [[1, 0], [0, 1]],
                 'q0': [0.25, 0.5], 'v0': [0, 0]}],
    'sensors': [{'name': 'at', 'type': 'SensorObject', 'object': 'system',
                 'outputVariable': 'Coordinates'}],
    'outputs': [{'name': 'x1', 'sensor': 'at', 'component': 0},
                {'name': 'x2', 'sensor': 'at', 'component': 1}],
    'solver': {'integrator': 'MoreauJean', 'theta': 0.5, 'stepSize': 1}}


def half(x):
    """A mass that stands still: the force that the coupling gives it is 0."""
    return {
        'mechd': 1,
        'nodes': [{'name': 'n', 'type': 'Node1D', 'initialCoordinates': [x]}],
        'objects': [{'name': 'm', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 1}],
        'markers': [{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 0}],
        'loads': [{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 0}],
        'sensors': [{'name': 'q', 'type': 'SensorNode', 'node': 'n',
                     'outputVariable': 'Coordinates'}],
        'inputs': [{'name': 'F', 'load': 'F'}],
        'outputs': [{'name': 'x', 'sensor': 'q', 'component': 0}],
        'solver': {'integrator': 'GeneralizedAlpha', 'stepSize': 1}}


# a spring whose stiffness is a parameter
TUNED = {**half(0.25), 'parameters': {'k': 100}}
TUNED['markers'] = TUNED['markers'] + [{'name': 'ground', 'type': 'MarkerGroundCoordinate'}]
TUNED['objects'] = TUNED['objects'] + [
    {'name': 'spring', 'type': 'CoordinateSpringDamper', 'markers': ['ground', 'x'],
     'stiffness': '=k'}]

COUPLING = {
    'participants': [{'name': 'left', 'instance': 'left'}, {'name': 'right', 'instance': 'right'}],
    'connections': [{'from': 'left.x', 'to': 'right.F', 'factor': 0},
                    {'from': 'right.x', 'to': 'left.F', 'factor': 0}],
    'scheme': {'type': 'GaussSeidel'}, 'stepSize': 1}


# --- how much a daemon has done -------------------------------------------------------------------

def looks(pid):
    """Of each thread: whether it sleeps, and how often it has given up the processor."""
    found = {}
    for tid in os.listdir('/proc/%d/task' % pid):
        try:
            with open('/proc/%d/task/%s/status' % (pid, tid), encoding='ascii') as f:
                text = f.read()
        except OSError:
            continue  # it has ended meanwhile
        found[tid] = (re.search(r'^State:\t(\w)', text, re.M).group(1) == 'S',
                      re.findall(r'_switches:\t(\d+)', text))
    return found


def wait_for_quiet(pid):
    """Until all threads sleep, and have slept since the look before: none has woken another."""
    def is_quiet():
        before = looks(pid)
        return all(asleep for asleep, _ in before.values()) and looks(pid) == before
    harness.wait_until(is_quiet, 'all threads sleep', 60)


class Heap:
    """A daemon with calls.c."""

    def __init__(self, folder, build):
        self.path = os.path.join(folder, 'calls')
        self.daemon = harness.Daemon('--workers', '2', '--log-level', 'error',
                                     '--lane', 'unix:%s/lane' % folder,
                                     environment=heap.counted(self.path))

    def read(self):
        return heap.read(self.path)

    def end(self):
        self.daemon.stop()


class Calls:
    """A daemon under strace. A call counts when it returns; one that has only waited, until its
    time was over, does not."""
    CALL = re.compile(r'^\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed).*\) += (-?\w+)', re.M)

    def __init__(self, folder, build):
        del build
        self.path, self.rest, self.found = os.path.join(folder, 'calls'), '', collections.Counter()
        os.environ['MECHD_TESTS_WRAP'] = 'strace -f -qq -s 0 -e signal=none -o ' + self.path
        self.daemon = harness.Daemon('--workers', '2', '--log-level', 'error', '--lane',
                                     'unix:%s/lane' % folder)
        del os.environ['MECHD_TESTS_WRAP']
        self.file = open(self.path, encoding='utf-8', errors='replace')

    def read(self):
        text = self.rest + self.file.read()
        whole, _, self.rest = text.rpartition('\n')
        for line in whole.split('\n'):
            match = self.CALL.match(line)
            if match and not self.is_timeout(match.group(1), match.group(2), line):
                self.found['calls'] += 1
                self.found['call ' + match.group(1)] += 1
        return collections.Counter(self.found)

    @staticmethod
    def is_timeout(name, value, line):
        waits = 'epoll_pwait', 'epoll_wait', 'poll', 'ppoll', 'select'
        return ' ETIMEDOUT ' in line or (name in waits and value == '0')

    def end(self):
        self.file.close()
        # strace itself waits for the end of what it has started
        os.kill(self.daemon.pid(), signal.SIGTERM)
        harness.wait_until(lambda: not self.daemon.is_alive(), 'the daemon ends', 60)
        self.daemon.stop()


# --- doors: one connection each; ask() returns the bytes of the answer ----------------------------

class Http:
    name = 'HTTP, a step'
    method, path, body = 'POST', '/v1/instances/still/step', '{"count":1}'

    def __init__(self, daemon):
        address = urllib.parse.urlsplit(daemon.base)
        self.connection = socket.create_connection((address.hostname, address.port), 60)
        self.request = (
            '%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
            'Content-Length: %d\r\n\r\n%s' % (self.method, self.path, len(self.body),
                                             self.body)).encode()

    def ask(self):
        self.connection.sendall(self.request)
        text = b''
        while b'\r\n\r\n' not in text:
            text += self.take()
        head, _, body = text.partition(b'\r\n\r\n')
        size = int(re.search(rb'(?i)\r\ncontent-length: (\d+)', head).group(1))
        while len(body) < size:
            body += self.take()
        assert head.startswith(b'HTTP/1.1 200 '), head + body
        return len(head) + 4 + len(body)

    def take(self):
        piece = self.connection.recv(1 << 16)
        if not piece:
            raise AssertionError('%s: the daemon has ended the connection' % self.name)
        return piece

    def close(self):
        self.connection.close()


class HttpJson(Http):
    name = 'HTTP, a step with more'
    body = '{"count":1,"outputs":["x1"],"want":["energy"]}'


class Parameter(Http):
    """Another value at each request behind the first, so that the model is computed anew; the first
    one on a connection sets the value that there is."""
    name = 'HTTP, a parameter'
    method, path, body = 'PUT', '/v1/instances/tuned/parameters', '{"k":120}'

    def ask(self):
        self.request = self.request[:-4] + (b'140}' if self.request.endswith(b'120}') else b'120}')
        return super().ask()


class Batch(Http):
    name = 'HTTP, a batch of 10'
    path = '/v1/batch'
    body = json.dumps({'op': 'step', 'instances': ['still-%d' % k for k in range(10)],
                       'body': {'count': 1}})


class Coupled(Http):
    name = 'HTTP, a coupling'
    path = None  # of the coupling that warm() makes


class Control:
    name = 'ZeroMQ, a step'

    def __init__(self, daemon):
        self.raw = zmtp.Raw(daemon.info['control'], 'DEALER')
        self.begin()

    def begin(self):
        # the first one on a connection is as the threads of libzmq meet
        self.ask()

    def ask(self):
        return self.exchange(json.dumps({'op': 'step', 'id': 'still', 'count': 1}).encode())[0]

    def exchange(self, *bodies):
        """(bytes of the answer, its parts)"""
        self.raw.send(b'', *bodies)
        size, parts, more = 0, [], True
        while more:
            flags, length = self.raw.take(2)
            head = 2
            if flags & 2:
                length, head = struct.unpack('>Q', bytes([length]) + self.raw.take(7))[0], 9
            parts.append(self.raw.take(length))
            size, more = size + head + length, flags & 1
        assert b'"ok":false' not in parts[-1], parts
        return size, parts

    def close(self):
        self.raw.close()


class Frame(Control):
    name = 'ZeroMQ, a frame'

    def begin(self):
        hello = json.dumps({'instance': 'still', 'outputs': ['x1', 'x2']}).encode()
        header = harness.unpack(self.exchange(harness.pack('hello'), hello)[1][1])
        self.sequence, self.header = 0, {k: header[k] for k in ('instance', 'lease')}

    def ask(self):
        self.sequence += 1
        size, parts = self.exchange(harness.pack('step', size=1, sequence=self.sequence,
                                                 **self.header))
        assert harness.unpack(parts[1])['kind'] == harness.KINDS['step'], parts
        return size

    def close(self):
        self.exchange(harness.pack('bye', sequence=self.sequence + 1, **self.header))
        super().close()


class LaneFrame:
    name = 'lane, a frame'

    def __init__(self, daemon):
        self.partner = lane.LanePartner(daemon, 'still', outputs=['x1', 'x2'])

    def ask(self):
        reply = self.partner.step(1)
        return lane.LENGTH.size + harness.HEADER.size + 8 * len(reply['values'])

    def close(self):
        self.partner.bye()
        self.partner.close()


DOORS = Http, HttpJson, Parameter, Batch, Control, Frame, LaneFrame, Coupled


# --- rounds ---------------------------------------------------------------------------------------

def most_frequent(values):
    """Of two that are equally frequent, the smaller one."""
    return min(collections.Counter(values).items(), key=lambda pair: (-pair[1], pair[0]))[0]


def rounds(counter, door):
    """What each request of each connection has cost: [[Counter]], the long ones last."""
    found, pid = [], counter.daemon.pid()
    for requests in [1] * SHORT + [ROUND] * LONG:
        connection = door(counter.daemon)
        wait_for_quiet(pid)
        before, costs = counter.read(), []
        for _ in range(requests):
            size = connection.ask()
            wait_for_quiet(pid)
            after = counter.read()
            costs.append(after - before)
            costs[-1]['sent'], before = size, after
        connection.close()
        wait_for_quiet(pid)
        found.append(costs)
    return found


def figures(found, numbers):
    """{(number, when): figure} of these rounds."""
    result = {}
    for number in numbers:
        first = [costs[0][number] for costs in found]
        last = [cost[number] for costs in found[-LONG:] for cost in costs[-LAST:]]
        result[number, 'at rest'], result[number, '100th'] = map(most_frequent, (first, last))
    return result


def kept(found):
    """Blocks that the requests of a long connection have left, without its first ones."""
    return min(sum(c['allocated'] - c['freed'] for c in costs[10:]) for costs in found[-LONG:])


def warm(daemon, door):
    """New instances, whose steps have three digits."""
    for name in ['still'] + ['still-%d' % k for k in range(10)]:
        daemon.call('DELETE', '/v1/instances/' + name)
        reply = daemon.call('PUT', '/v1/instances/' + name, {'model': MODEL})
        assert reply.status == 201, reply
    if door is Coupled:
        for name, x in ('left', 0.25), ('right', 0.5):
            reply = daemon.call('PUT', '/v1/instances/' + name, {'model': half(x)})
            assert reply.status == 201, reply
        reply = daemon.call('POST', '/v1/couplings', COUPLING)
        assert reply.status == 201, reply
        door.path = reply.headers['Location'] + '/step'
    if door is Parameter:
        reply = daemon.call('PUT', '/v1/instances/tuned', {'model': TUNED})
        assert reply.status == 201, reply
    connection = door(daemon)
    for _ in range(WARM):
        connection.ask()
    connection.close()


def count(build):
    """{(door, what): figure} of all doors."""
    result = {}
    harness.BUILD = build = os.path.abspath(build)
    with tempfile.TemporaryDirectory(prefix='mechd-count-') as folder:
        for kind in Heap, Calls:
            counter = kind(tempfile.mkdtemp(dir=folder), build)
            for door in DOORS:
                warm(counter.daemon, door)
                found = rounds(counter, door)
                numbers = ('calls',) if kind is Calls else NUMBERS + ('sent',)
                for (number, when), value in figures(found, numbers).items():
                    result[door.name, '%s, %s' % (number, when)] = value
                if kind is Heap:
                    result[door.name, 'kept, 100 requests'] = kept(found)
            counter.end()
    return result
