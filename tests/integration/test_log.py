"""The access log, the context of a trace, and the level of the log while the daemon runs."""
import fcntl
import os
import pty
import re
import select
import shlex
import signal
import socket
import tempfile
import termios
import unittest
import models
from harness import Daemon, ZmqDoor, wait_until

GIVEN = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'


def lines(daemon, event='request'):
    """Lines of that event as {key: value}; a torn line fails."""
    found = []
    for line in daemon.log().splitlines():
        pairs = dict(pair.split('=', 1) for pair in shlex.split(line))
        if pairs['event'] == event:
            found.append(pairs)
    return found


class Access(unittest.TestCase):
    def test_each_request_is_one_line_with_what_it_was(self):
        with Daemon('--access-log') as d:
            i = d.create(models.oscillator())
            body = b'{"count": 1}'
            reply = d.call('POST', '/v1/instances/%s/step' % i, body, {'traceparent': GIVEN})
            self.assertEqual(d.call('GET', '/no%0aevent=fake%22').status, 404)
            self.assertEqual(d.call('GET', '/').status, 200)
            found = wait_until(lambda: len(lines(d)) >= 4 and lines(d), 'four lines')
            self.assertEqual(len(found), 4)
            step, missing, page = found[1:]
            for key, value in (('door', 'http'), ('method', 'POST'), ('instance', i),
                               ('route', '/v1/instances/{id}/step'), ('status', '200'),
                               ('in', str(len(body))), ('out', str(len(reply.raw))),
                               ('token', '-'), ('traceparent', reply.headers['traceparent']),
                               ('level', 'info')):
                self.assertEqual(step[key], value, key)
            self.assertRegex(step['peer'], r'^127\.0\.0\.1:[1-9]\d*$')
            self.assertGreater(float(step['ms']), 0)
            self.assertEqual((missing['route'], missing['status']), ('none', '404'))
            self.assertEqual(missing['path'], '/no%0aevent=fake%22')
            self.assertEqual((page['route'], page['status']), ('/', '200'))

    def test_zeromq_is_logged_too(self):
        with Daemon('--access-log') as d:
            i = d.create(models.oscillator())
            door = ZmqDoor(d)
            door.call('step', id=i, count=1)
            door.call('no\nsuch')
            door.close()
            found = wait_until(lambda: lines(d)[2:] and lines(d), 'three lines')[1:]
            self.assertEqual([(l['door'], l['status']) for l in found],
                             [('zmq-json', '200'), ('zmq-json', '400')])
            self.assertEqual((found[0]['instance'], found[0]['route']),
                             (i, '/v1/instances/{id}/step'))
            self.assertEqual(found[1]['method'], 'no such')

    def test_without_the_option_requests_are_not_logged(self):
        with Daemon() as d:
            self.assertEqual(d.call('GET', '/v1').status, 200)
            self.assertEqual(d.call('GET', '/v1').status, 200)
            self.assertEqual(lines(d), [])


class Trace(unittest.TestCase):
    def test_a_trace_is_taken_over_and_a_new_one_made_when_there_is_none(self):
        with Daemon() as d:
            for path, status in (('/v1', 200), ('/', 200), ('/nowhere', 404)):
                seen = set()
                for headers in ({'traceparent': GIVEN}, {}, {'traceparent': GIVEN.upper()}, {}):
                    reply = d.call('GET', path, headers=headers)
                    self.assertEqual(reply.status, status)
                    answer = reply.headers['traceparent']
                    self.assertTrue(re.fullmatch('00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]', answer))
                    seen.add(answer[3:35])
                    if headers.get('traceparent') == GIVEN:
                        self.assertEqual(answer[:36] + answer[52:], GIVEN[:36] + GIVEN[52:])
                        self.assertNotEqual(answer, GIVEN)
                self.assertEqual(len(seen), 4)


class Level(unittest.TestCase):
    def test_the_level_changes_while_the_daemon_runs(self):
        with Daemon() as d:
            self.assertEqual(d.call('PUT', '/v1/log-level', {'level': 'debug'}).json,
                             {'level': 'debug'})
            d.call('GET', '/v1')
            told = wait_until(lambda: lines(d)[1:] and lines(d), 'requests are logged at debug')
            self.assertEqual(told[-1]['level'], 'debug')
            for body in ({'level': 'loud'}, {'level': 3}, {}, None):
                reply = d.call('PUT', '/v1/log-level', body)
                self.assertEqual((reply.status, reply['errors'][0]['pointer']), (422, '/level'))
            self.assertEqual(d.call('PUT', '/v1/log-level', {'level': 'error'}).status, 200)
            count = len(lines(d))
            d.call('GET', '/v1')
            self.assertEqual(len(lines(d)), count)

    def test_a_hang_up_reads_level_and_access_log_again_and_a_fault_changes_nothing(self):
        with tempfile.NamedTemporaryFile('w', suffix='.conf') as file:
            def write(text):
                file.seek(0)
                file.truncate()
                file.write(text)
                file.flush()
                before = len(lines(d, 'reload')) if d else 0
                if d:
                    os.kill(d.pid(), signal.SIGHUP)
                    wait_until(lambda: len(lines(d, 'reload')) > before, 'it was read again')

            d = None
            write('log-level = info\n')
            with Daemon('--config', file.name) as d:
                write('access-log = true\n')
                self.assertEqual(d.call('GET', '/v1').status, 200)
                wait_until(lambda: lines(d), 'requests are logged')
                write('access-log = perhaps\n')
                self.assertIn('line 1', lines(d, 'reload')[-2]['reason'] +
                              lines(d, 'reload')[-1].get('reason', ''))
                count = len(lines(d))
                d.call('GET', '/v1')
                wait_until(lambda: len(lines(d)) > count, 'requests are still told')
                write('access-log = false\n')
                count = len(lines(d))
                d.call('GET', '/v1')
                self.assertEqual(len(lines(d)), count)


class Log:
    """The reading end of a log, which is not read until `more` or `until` is called."""

    def __init__(self, descriptor):
        self.descriptor, self.text = descriptor, ''

    def more(self):
        while select.select([self.descriptor], [], [], 0)[0]:
            found = os.read(self.descriptor, 65536)
            if not found:
                break
            self.text += found.decode()
        return self.text

    def until(self, pattern):
        return wait_until(lambda: re.search(pattern, self.more()), pattern)

    def lines(self):
        """The events of whole lines; a torn one fails."""
        lines = self.more().replace('\r\n', '\n').split('\n')
        assert lines.pop() == '', self.text[-200:]
        return [re.match(r'time=\S+Z level=\w+ event=(\S+)', line).group(1) for line in lines]


def full_pipe():
    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    return read, write


def full_socket():
    ours, theirs = socket.socketpair()
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    return ours.detach(), theirs.detach()


def full_stream():
    """A pipe of a place: a named one."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'log')
        os.mkfifo(path)
        read = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        write = os.open(path, os.O_WRONLY)
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    return read, write


def terminal():
    return pty.openpty()


def stop(write, action=termios.TCOOFF):
    """Ctrl-S on a terminal, or Ctrl-Q; what is no terminal is full by itself."""
    if os.isatty(write):
        termios.tcflow(write, action)


def dropped(daemon):
    return int(re.search(r'^mechd_log_dropped_total (\d+)$',
                         daemon.call('GET', '/metrics').raw.decode(), re.M).group(1))


class Unread(unittest.TestCase):
    def ask_until_dropped(self, d):
        """Requests through the doors, all answered, until lines have had no room; their number."""
        door, count = ZmqDoor(d), 0
        try:
            while dropped(d) < 20:
                self.assertEqual(d.call('GET', '/v1').status, 200)
                self.assertEqual(door.call('about')[0], 200)
                count += 3
        finally:
            door.close()
        return count + 1

    def test_a_log_that_is_not_read_stops_no_door_and_says_what_it_has_lost(self):
        for make in (full_pipe, full_stream, full_socket, terminal):
            with self.subTest(make.__name__):
                read, write = make()
                with Daemon('--access-log', stderr=write) as d:
                    log = Log(read)
                    log.until('event=ready ')  # it comes behind the file that Daemon waits for
                    stop(write)
                    asked = self.ask_until_dropped(d)
                    stop(write, termios.TCOON)
                    os.close(write)
                    # though no other line comes
                    log.until(r'level=warning event=log-dropped lines=\d+\r?\n')
                    def lost():
                        return sum(map(int, re.findall(r'log-dropped lines=(\d+)', log.more())))
                    wait_until(lambda: log.lines().count('request') + lost() == asked,
                               'each line is there, or counted')
                    self.assertEqual(dropped(d), lost())
                    wait_until(lambda: log.lines().count('request') + lost() == asked + 1,
                               'what comes later is there')
                    self.assertEqual(log.lines()[-1], 'request')
                os.close(read)

    def test_the_open_file_is_not_changed_for_other_processes(self):
        for make in (full_pipe, full_socket, terminal):
            read, write = make()
            with Daemon('--access-log', stderr=write) as d:
                stop(write)
                self.ask_until_dropped(d)
                self.assertEqual(fcntl.fcntl(write, fcntl.F_GETFL) & os.O_NONBLOCK, 0)
            os.close(write)
            os.close(read)

    def test_a_log_whose_reader_has_gone_stops_nothing(self):
        for make in (full_pipe, full_socket, terminal):
            with self.subTest(make.__name__):
                read, write = make()
                with Daemon('--access-log', stderr=write) as d:
                    os.close(write)
                    os.close(read)
                    before = dropped(d)
                    self.ask_until_dropped(d)
                    self.assertGreater(dropped(d), before)

    def test_a_disk_that_is_full_stops_nothing_and_the_loss_is_reported_when_there_is_room(self):
        with Daemon('--access-log') as d:
            with d.full_disk():
                self.ask_until_dropped(d)
            found = wait_until(lambda: lines(d, 'log-dropped'), 'the loss is in the log')
            self.assertGreaterEqual(int(found[0]['lines']), 20)
            self.assertEqual(dropped(d),
                             sum(int(line['lines']) for line in lines(d, 'log-dropped')))
        with open('/dev/full', 'wb') as full, Daemon('--access-log', stderr=full) as d:
            self.ask_until_dropped(d)

    def test_the_end_of_the_daemon_does_not_wait_for_a_reader(self):
        read, write = full_pipe()
        with Daemon('--access-log', stderr=write) as d:
            self.ask_until_dropped(d)
        os.close(write)
        os.close(read)


if __name__ == '__main__':
    unittest.main()
