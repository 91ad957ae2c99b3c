"""A client that closes its connection: what it asked for ends, and what waited is never begun;
unless it has said by a key or a preference that it comes back."""
import json
import re
import socket
import threading
import unittest

import models
import raw
from harness import SLOW, Daemon, Partner, ZmqDoor, gauge, wait_until
from asking import ASYNC, is_busy
from long_models import pinched
from sse import Events

RACES = True

# rows that no l satisfies, under a solver that would try for hours
ENDLESS = {'problem': {'N': {'shape': [2, 2], 'coo': [[0, 0, 1], [1, 1, 1], [0, 1, -1],
                                                         [1, 0, -1]]},
                       'r': [-1, -1],
                       'solver': {'type': 'psor', 'tolerance': 1e-12, 'maxIterations': 10 ** 9}}}


class Left(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon('--workers', '2')

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def make(self, model):
        return '/v1/instances/' + self.daemon.create(model)

    def send(self, path, body, *lines):
        s = raw.connect(self.daemon)
        s.sendall(raw.request(path, body, *lines))
        return s

    def long(self, model, body):
        """A step in progress: its instance and its client."""
        one = self.make(model)
        s = self.send(one + '/step', body)
        wait_until(lambda: is_busy(self.daemon, one), 'it is in progress')
        return one, s

    def test_a_step_in_progress_is_undone(self):
        cases = ((models.oscillator(), {'size': 1e9}), (pinched(), {'count': 1}))
        for model, body in cases:
            with self.subTest(body):
                one, s = self.long(model, body)
                s.close()
                wait_until(lambda: not is_busy(self.daemon, one), 'it is over', 5)
                self.assertEqual(self.daemon.call('GET', one + '/state')['time'], 0)

    def test_a_queued_step_is_never_begun(self):
        one, first = self.long(models.oscillator(), {'size': 1e9})
        second = self.send(one + '/step', {'count': 3})
        third = self.send(one + '/step', {'count': 5}, 'Idempotency-Key: comes-back')
        wait_until(lambda: gauge(self.daemon, 'queued_commands') == 3, 'both wait')
        left = gauge(self.daemon, 'http_left_total')
        second.close()
        third.close()
        wait_until(lambda: gauge(self.daemon, 'http_left_total') == left + 2, 'both have left')
        self.assertTrue(self.daemon.call('POST', one + '/stop')['stopped'])
        wait_until(lambda: not is_busy(self.daemon, one), 'it is over', 5)
        first.close()
        self.assertEqual(self.daemon.call('GET', one + '/state')['step'], 5)
        again = self.daemon.call('POST', one + '/step', {'count': 5},
                                 {'Idempotency-Key': 'comes-back'})
        self.assertEqual((again.status, again['step']), (200, 5), again)

    def control(self):
        return int(re.search(r'^mechd_connections.socket="control". (\d+)$',
                             self.daemon.call('GET', '/metrics').raw.decode(), re.M).group(1))

    def leave(self, partner):
        there = self.control()
        partner.close()
        wait_until(lambda: self.control() == there - 1, 'it has left')

    def test_a_queued_command_of_a_zeromq_peer_is_never_begun(self):
        one, first = self.long(models.oscillator(), {'size': 1e9})
        number = one.rsplit('/', 1)[1]
        second, third = ZmqDoor(self.daemon), ZmqDoor(self.daemon)
        second.send('step', id=number, count=3)
        third.send('step', id=number, count=5)
        wait_until(lambda: gauge(self.daemon, 'queued_commands') == 3, 'both wait')
        self.leave(second)
        self.assertTrue(self.daemon.call('POST', one + '/stop')['stopped'])
        wait_until(lambda: not is_busy(self.daemon, one), 'it is over', 5)
        first.close()
        self.assertEqual(third.receive()[1]['step'], 5)
        third.close()

    def test_frames_of_a_partner_that_left_end(self):
        one = self.make(models.oscillator())
        partners = [Partner(self.daemon, one.rsplit('/', 1)[1]) for _ in range(2)]
        partners[0].send('step', size=1e9)
        wait_until(lambda: is_busy(self.daemon, one), 'it is in progress')
        partners[1].send('step', size=0.01)
        wait_until(lambda: gauge(self.daemon, 'queued_commands') == 2, 'the other waits')
        self.leave(partners[1].socket)
        self.leave(partners[0].socket)
        wait_until(lambda: not is_busy(self.daemon, one), 'both are over', 5)
        self.assertEqual(self.daemon.call('GET', one + '/state')['step'], 0)

    def test_a_role_is_waited_for_as_long_as_its_lease_says(self):
        one = self.make(models.oscillator())
        owner = Partner(self.daemon, one.rsplit('/', 1)[1], role='owner', seconds=3600)
        owner.send('step', size=1e9)
        wait_until(lambda: is_busy(self.daemon, one), 'it is in progress')
        self.leave(owner.socket)
        self.assertTrue(is_busy(self.daemon, one))
        self.assertEqual(self.daemon.call('DELETE', one + '/lease?of=owner').status, 204)
        self.assertTrue(self.daemon.call('POST', one + '/stop')['stopped'])
        wait_until(lambda: not is_busy(self.daemon, one), 'it is over', 5)

    def test_a_client_that_closed_one_side_has_left(self):
        """It may get that answer; whether libmicrohttpd still writes to it is not certain."""
        one, s = self.long(models.oscillator(), {'size': 1e9})
        s.shutdown(socket.SHUT_WR)
        wait_until(lambda: not is_busy(self.daemon, one), 'it is over', 5)
        told = raw.Answers(s).next()
        if told is not None:
            self.assertEqual((told[0], json.loads(told[2])['code']), (409, 'cancelled'))
        s.close()

    def test_what_runs_in_the_background_goes_on(self):
        one = self.make(models.oscillator())
        s = self.send(one + '/step', {'size': 1e9}, 'Prefer: ' + ASYNC['Prefer'])
        self.assertEqual(raw.Answers(s).next()[0], 202)
        connections = gauge(self.daemon, 'http_connections')
        s.close()
        wait_until(lambda: gauge(self.daemon, 'http_connections') < connections, 'it has left')
        self.assertTrue(is_busy(self.daemon, one))
        self.daemon.call('POST', one + '/stop')

    def test_problems_leave_their_threads(self):
        clients = [self.send('/v1/problems/solve', ENDLESS) for _ in range(4)]
        wait_until(lambda: gauge(self.daemon, 'in_flight') == 5, 'all are taken')
        for s in clients:
            s.close()
        answered = threading.Event()

        def ask():
            reply = self.daemon.call('POST', '/v1/problems/solve',
                                     {'problem': {'N': {'diag': [1]}, 'r': [-1]}})
            if reply.status == 200:
                answered.set()
        threading.Thread(target=ask, daemon=True).start()
        self.assertTrue(answered.wait(5 * SLOW), 'the pool is free again')

    def no_streams(self):
        wait_until(lambda: gauge(self.daemon, 'event_clients') == 0, 'all have left', 5)

    def test_a_stream_of_events_is_seen_to_be_left_though_there_is_nothing_to_send(self):
        """Not only when the next comment is sent."""
        one = self.make(models.oscillator())
        self.no_streams()
        with Events(self.daemon, one + '/events?rate=60') as events:
            next(iter(events))
            self.assertEqual(gauge(self.daemon, 'event_clients'), 1)
        self.no_streams()

    def test_a_stream_that_is_rarely_checked_is_seen_to_be_left_before_the_next_check(self):
        one = self.make(models.oscillator())
        self.no_streams()
        with Events(self.daemon, one + '/events?rate=0.2') as stays:
            events = iter(stays)
            next(events)
            with Events(self.daemon, one + '/events?rate=0.1') as leaves:
                next(iter(leaves))
                self.assertEqual(gauge(self.daemon, 'event_clients'), 2)
            self.daemon.call('POST', one + '/step', {'count': 1})
            self.assertEqual(next(events)[2]['step'], 1)
            self.assertEqual(gauge(self.daemon, 'event_clients'), 1)

    def test_a_client_that_closed_its_sending_side_gets_its_events(self):
        one = self.make(models.oscillator())
        self.no_streams()
        s = raw.connect(self.daemon)
        s.sendall(raw.request(one + '/events?rate=60', None, method='GET'))
        told = raw.Answers(s)
        self.assertTrue(told.until(lambda: b'"step":0' in told.bytes), told.bytes)
        s.shutdown(socket.SHUT_WR)
        for k in range(1, 4):
            # a comment says that the daemon has looked at the connection
            before = told.bytes.count(b'\n:\n')
            self.assertTrue(told.until(lambda b=before: told.bytes.count(b'\n:\n') > b), told.bytes)
            self.daemon.call('POST', one + '/step', {'count': 1})
            self.assertTrue(told.until(lambda k=k: b'"step":%d' % k in told.bytes), told.bytes)
        self.assertEqual(gauge(self.daemon, 'event_clients'), 1)
        s.close()
        self.no_streams()


if __name__ == '__main__':
    unittest.main()
