"""The lane: frames and JSON over a Unix socket and over TCP, whole and in pieces, and what becomes
of peers that are slow, inactive, gone or send nonsense."""
import json
import os
import re
import socket
import struct
import subprocess
import tempfile
import unittest
import harness
import models
import tokens
from asking import is_busy
from harness import KINDS, SLOW, Daemon, FrameError, HttpDoor, gauge, program, wait_until
from lane import Lane, LanePartner, behind

RACES = True

SIZE = 0.01
FORCES = [3.0, -1.5, 0.25]


def connections(daemon):
    return int(re.search(r'^mechd_connections.socket="lane". (\d+)$',
                         daemon.call('GET', '/metrics').raw.decode(), re.M).group(1))


def bits(values):
    return struct.pack('<%dd' % len(values), *values)


class OfBothKinds(unittest.TestCase):
    """Two daemons, one at a path and one at a port."""
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix='mechd-lane-', dir='/tmp')
        cls.daemons = [Daemon('--lane', 'unix:%s/s' % cls.folder.name),
                       Daemon('--lane', 'tcp://127.0.0.1:*')]

    @classmethod
    def tearDownClass(cls):
        for daemon in cls.daemons:
            daemon.stop()
        cls.folder.cleanup()

    def each(self):
        for daemon in self.daemons:
            with self.subTest(daemon.info['lane'][:4]):
                yield daemon, daemon.create(models.oscillator())


class Partners(OfBothKinds):
    def test_it_is_named_where_endpoints_are(self):
        for daemon, _ in self.each():
            self.assertEqual(daemon.call('GET', '/v1')['endpoints']['lane'], daemon.info['lane'])
            self.assertNotRegex(daemon.info['lane'], r'[:][0*]$')

    def test_a_partner_steps_and_gets_the_bits_of_http(self):
        for daemon, i in self.each():
            door, other = HttpDoor(daemon), daemon.create(models.oscillator())
            with LanePartner(daemon, i, ['force'], ['x', 'v']) as partner:
                self.assertEqual(partner.hello['inputLayout'],
                                 [{'name': 'force', 'offset': 0, 'count': 1}])
                for force in FORCES:
                    reply = partner.step(SIZE, [force])
                    self.assertEqual(reply['kind'], KINDS['step'])
                    body = door.call('step', id=other, size=SIZE, inputs={'force': force})[1]
                    self.assertEqual(bits(reply['values']),
                                     bits([body['outputs']['x'], body['outputs']['v']]))
                    self.assertEqual(reply['time'], body['time'])
                partner.bye()
                with self.assertRaisesRegex(FrameError, 'lease'):
                    partner.step(SIZE)
            door.close()

    def test_trials_are_committed_or_leave_nothing_and_snapshots_are_restored(self):
        for daemon, i in self.each():
            with LanePartner(daemon, i, ['force'], ['x']) as partner:
                start = partner.ask('state')[0]
                one = partner.trial(SIZE, [2.0], iteration=4)
                self.assertEqual(one['iteration'], 4)
                self.assertEqual(partner.ask('state')[0]['values'], start['values'])
                two = partner.trial(SIZE, [3.0])
                self.assertNotEqual(one['values'], two['values'])
                kept = partner.commit()
                self.assertEqual((kept['values'], kept['time']), (two['values'], SIZE))
                with self.assertRaisesRegex(FrameError, 'no trial'):
                    partner.commit()
                number = partner.ask('snapshot')[0]['iteration']
                after = partner.step(SIZE)
                partner.ask('restore', iteration=number)
                self.assertEqual(partner.ask('outputs')[0]['values'], kept['values'])
                partner.ask('inputs', [3.0])
                self.assertEqual(partner.step(SIZE)['values'], after['values'])

    def test_json_is_answered_as_over_zeromq(self):
        for daemon, i in self.each():
            with Lane(daemon) as door, harness.ZmqDoor(daemon) as other:
                self.assertEqual(door.call('step', id=i, count=1, sequence='a b')[1]['sequence'],
                                 'a b')
                self.assertEqual(door.call('outputs', id=i), other.call('outputs', id=i))
                for wrong in ({'op': 'stap'}, {'op': 'step', 'id': 'none', 'count': 1},
                              {'op': 'step', 'id': i, 'size': 1, 'count': 1},
                              {'op': 'state'}):
                    self.assertEqual(door.call(**wrong), other.call(**wrong))
                status, made = door.call('create', model=models.oscillator())
                self.assertEqual(status, 201, made)
                self.assertEqual(door.call('delete', id=made['id'])[0], 200)
                door.write(behind(b'{"op": '))
                self.assertEqual(door.receive()[1]['code'], 'malformed-json')
                self.assertEqual(door.call('outputs', id=i)[0], 200)

    def test_a_large_model_is_read_elsewhere_and_answered_in_its_turn(self):
        for daemon, i in self.each():
            model = models.independent_masses(2000)
            with Lane(daemon) as door:
                door.write(behind(json.dumps({'op': 'create', 'model': model}).encode(),
                                  json.dumps({'op': 'outputs', 'id': i}).encode()))
                made = door.receive()[1]
                self.assertIn('id', made)
                self.assertIn('outputs', door.receive()[1])
                self.assertEqual(door.call('model', id=made['id'])[0], 200)

    def test_leases_hold_at_all_doors(self):
        for daemon, i in self.each():
            with LanePartner(daemon, i, role='owner', seconds=3600) as owner:
                reply = daemon.call('POST', '/v1/instances/%s/step' % i, {'count': 1})
                self.assertEqual(reply['code'], 'foreign-lease')
                with self.assertRaisesRegex(FrameError, 'foreign-lease'):
                    LanePartner(daemon, i, role='owner')
                owner.step(SIZE)
                owner.bye()
            self.assertEqual(daemon.call('POST', '/v1/instances/%s/step' % i,
                                         {'count': 1}).status, 200)

    def test_a_hundred_partners_step_in_turns(self):
        for daemon, _ in self.each():
            ids = [daemon.create(models.oscillator()) for _ in range(100)]
            partners = [LanePartner(daemon, i, ['force'], ['x']) for i in ids]
            self.assertEqual(connections(daemon), 100)
            for force in FORCES:
                for k, partner in enumerate(partners):
                    partner.write(partner.framed('step', [force + k % 2], size=SIZE))
                values = [partner.expect()[0]['values'] for partner in partners]
                self.assertEqual(len(set(values)), 2)
            for partner in partners:
                partner.close()
            wait_until(lambda d=daemon: connections(d) == 0, 'all have gone')


class Pieces(OfBothKinds):
    def test_bytes_may_come_one_by_one(self):
        for daemon, i in self.each():
            with LanePartner(daemon, i, ['force'], ['x']) as partner:
                expected = partner.trial(SIZE, [1.0])['values']
                for byte in partner.framed('step', [1.0], size=SIZE):
                    partner.write(bytes([byte]))
                self.assertEqual(partner.expect()[0]['values'], expected)
                # a hello too, with its second message
                for byte in partner.framed('hello', extra=[partner.hello_text]):
                    partner.write(bytes([byte]))
                self.assertEqual(partner.expect()[0]['kind'], KINDS['hello'])

    def test_many_messages_may_come_in_one_segment(self):
        for daemon, i in self.each():
            with LanePartner(daemon, i, ['force'], ['x']) as partner:
                first = partner.sequence + 1
                text = b''.join(partner.framed('step', [0.0], size=SIZE) for _ in range(300))
                partner.write(text[:-50])
                replies = [partner.frame()[0] for _ in range(299)]
                self.assertEqual([r['sequence'] for r in replies],
                                 list(range(first, first + 299)))
                self.assertEqual([round(r['time'] / SIZE) for r in replies],
                                 list(range(1, 300)))
                partner.write(text[-50:])
                self.assertEqual(round(partner.expect()[0]['time'] / SIZE), 300)

    def test_requests_before_the_peer_closes_its_side_are_answered(self):
        for daemon, i in self.each():
            with LanePartner(daemon, i, ['force'], ['x']) as partner:
                partner.write(b''.join(partner.framed('step', [0.0], size=SIZE)
                                       for _ in range(10)))
                partner.socket.shutdown(socket.SHUT_WR)
                for _ in range(10):
                    self.assertEqual(partner.frame()[0]['kind'], KINDS['step'])
                self.assertIsNone(partner.message())

    def test_a_peer_may_go_in_the_middle_of_a_message(self):
        for daemon, i in self.each():
            for size in (1, 3, 4, 40, 68):
                with LanePartner(daemon, i, ['force'], ['x']) as partner:
                    partner.write(partner.framed('step', [1.0], size=SIZE)[:size])
            wait_until(lambda d=daemon: connections(d) == 0, 'all have gone')
            self.assertEqual(daemon.call('GET', '/v1/instances/%s/state' % i)['step'], 0)


class Nonsense(OfBothKinds):
    def test_a_length_beyond_the_limit_ends_the_connection(self):
        for daemon, _ in self.each():
            for text in (b'\xff\xff\xff\xff', struct.pack('<I', (64 << 20) + 1) + b'{',
                         b'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n', os.urandom(3) + b'\x7f'):
                with self.subTest(text), Lane(daemon) as door:
                    door.write(text)
                    status, problem = door.receive()
                    self.assertEqual((status, problem['code']), (413, 'body-too-large'))
                    self.assertIsNone(door.message())

    def test_what_is_no_frame_is_refused_and_the_connection_goes_on(self):
        for daemon, i in self.each():
            with LanePartner(daemon, i, ['force'], ['x']) as partner:
                good = partner.framed('step', [1.0], size=SIZE)[4:]
                for wrong in (b'', b'x', b'MCHD', good[:63], good[:-1], good + b'x',
                              b'XCHD' + good[4:], good[:4] + b'\x02' + good[5:],
                              good[:5] + b'\x63' + good[6:], bytes(1000)):
                    with self.subTest(wrong[:8]):
                        partner.write(behind(wrong))
                        header, second = partner.frame()
                        self.assertEqual(header['kind'], KINDS['error'])
                        self.assertEqual(json.loads(second)['code'], 'malformed-frame')
                # the second message of a hello belongs to it, whatever they are
                hello = partner.framed('hello')[4:]
                for first, text, code in ((hello, b'nonsense', 'malformed-json'),
                                          (hello + b'x', b'{}', 'malformed-frame'),
                                          (hello, b'', 'malformed-json')):
                    partner.write(behind(first, text))
                    self.assertEqual(json.loads(partner.frame()[1])['code'], code)
                partner.write(behind(good))
                self.assertEqual(partner.frame()[0]['kind'], KINDS['step'])


class Leaving(OfBothKinds):
    def test_a_step_of_a_partner_that_has_gone_is_undone(self):
        for daemon, i in self.each():
            before = gauge(daemon, 'in_flight')
            with LanePartner(daemon, i) as partner:
                partner.write(partner.framed('step', size=1e9))
                wait_until(lambda d=daemon, n=i: is_busy(d, '/' + n), 'it is in progress')
            wait_until(lambda d=daemon, n=i: not is_busy(d, '/' + n), 'it is over')
            self.assertEqual(daemon.call('GET', '/v1/instances/%s/state' % i)['step'], 0)
            wait_until(lambda d=daemon, n=before: gauge(d, 'in_flight') == n,
                       'nothing is left of it')

    def test_so_is_one_as_json(self):
        for daemon, i in self.each():
            with Lane(daemon) as door:
                door.send('step', id=i, size=1e9)
                wait_until(lambda d=daemon, n=i: is_busy(d, '/' + n), 'it is in progress')
            wait_until(lambda d=daemon, n=i: not is_busy(d, '/' + n), 'it is over')
            self.assertEqual(daemon.call('GET', '/v1/instances/%s/state' % i)['step'], 0)

    def test_a_stopped_step_is_reported_and_the_next_request_is_done(self):
        for daemon, i in self.each():
            with LanePartner(daemon, i, ['force'], ['x']) as partner:
                partner.write(partner.framed('step', size=1e9) +
                              partner.framed('step', size=SIZE))
                wait_until(lambda d=daemon, n=i: is_busy(d, '/' + n), 'it is in progress')
                daemon.call('POST', '/v1/instances/%s/stop' % i)
                self.assertEqual(json.loads(partner.frame()[1])['code'], 'cancelled')
                self.assertEqual(partner.frame()[0]['time'], SIZE)

    def test_the_shutdown_ends_steps_and_connections(self):
        daemon = Daemon('--lane', 'tcp://127.0.0.1:*', '--finish-ms', '1')
        i, j = (daemon.create(models.oscillator()) for _ in range(2))
        idle, busy, half = LanePartner(daemon, i), LanePartner(daemon, j), Lane(daemon)
        half.write(b'\x10')
        busy.write(busy.framed('step', size=1e9))
        wait_until(lambda: is_busy(daemon, '/' + j), 'it is in progress')
        daemon.stop()
        self.assertEqual(json.loads(busy.frame()[1])['code'], 'draining')
        for door in (idle, busy, half):
            self.assertIsNone(door.message())
            door.close()


class Slow(unittest.TestCase):
    def test_silence_before_the_first_message_ends(self):
        with Daemon('--lane', 'tcp://127.0.0.1:*', '--handshake-ms', '300') as daemon:
            i = daemon.create(models.oscillator())
            partner = LanePartner(daemon, i)
            with Lane(daemon) as silent, Lane(daemon) as half:
                half.write(b'\x20')
                self.assertIsNone(silent.message())
                self.assertEqual(gauge(daemon, 'lane_timeouts_total'), 1)
            # after a hello there is time
            self.assertEqual(partner.step(SIZE)['kind'], KINDS['step'])
            partner.close()

    def test_idle_connections_end_but_those_of_partners(self):
        with Daemon('--lane', 'tcp://127.0.0.1:*', '--idle-seconds', '1') as daemon:
            i = daemon.create(models.oscillator())
            with LanePartner(daemon, i) as partner, Lane(daemon) as door:
                self.assertEqual(door.call('about')[0], 200)
                self.assertIsNone(door.message())
                self.assertEqual(partner.step(SIZE)['kind'], KINDS['step'])

    def test_a_message_that_never_ends_is_refused(self):
        with Daemon('--lane', 'tcp://127.0.0.1:*', '--body-seconds', '1') as daemon:
            i = daemon.create(models.oscillator())
            with LanePartner(daemon, i) as partner:
                partner.write(struct.pack('<I', 1 << 20) + b'{"op":')
                self.assertEqual(partner.receive()[1]['code'], 'request-timeout')
                self.assertIsNone(partner.message())
            self.assertEqual(gauge(daemon, 'lane_timeouts_total'), 1)

    def test_a_peer_that_never_reads_is_ended_and_delays_no_other(self):
        with Daemon('--lane', 'tcp://127.0.0.1:*', '--body-seconds', '1', '--body-rate',
                    '1000000') as daemon:
            large = daemon.create(models.independent_masses(2000))
            i = daemon.create(models.oscillator())
            deaf = Lane(daemon)
            request = behind(json.dumps({'op': 'model', 'id': large}).encode())
            with LanePartner(daemon, i) as partner:
                deaf.socket.settimeout(0.2)
                try:
                    for _ in range(1 << 20):
                        deaf.write(request)
                except (TimeoutError, socket.timeout, ConnectionError):
                    pass  # it takes no more, or has ended
                for _ in range(100):
                    partner.step(SIZE)
                wait_until(lambda: gauge(daemon, 'lane_timeouts_total') == 1, 'it is ended')
                wait_until(lambda: connections(daemon) == 1, 'it has gone')
            deaf.close()


class Access(unittest.TestCase):
    def test_tokens_are_asked_for(self):
        made = {scope: tokens.make(scope, scope) for scope in ('read', 'step')}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'tokens')
            with open(path, 'w', encoding='ascii') as f:
                f.writelines(line.strip() + '\n' for _, line in made.values())
            with Daemon('--lane', 'tcp://127.0.0.1:*', '--tokens', path) as daemon:
                i = daemon.call('POST', '/v1/instances', {'model': models.oscillator()},
                                tokens.bearer(made['step'][0]))['id']
                for token, code in (({}, 'unauthorized'), ({'token': 'x'}, 'unauthorized'),
                                    ({'token': made['read'][0]}, 'forbidden')):
                    with self.assertRaisesRegex(FrameError, code):
                        LanePartner(daemon, i, **token)
                    with Lane(daemon) as door:
                        self.assertEqual(door.call('step', id=i, count=1, **token)[1]['code'], code)
                with LanePartner(daemon, i, token=made['step'][0]) as partner:
                    self.assertEqual(partner.step(SIZE)['kind'], KINDS['step'])
                    partner.lease += 1
                    with self.assertRaisesRegex(FrameError, 'foreign-lease'):
                        partner.step(SIZE)

    def refused(self, *arguments):
        done = subprocess.run([program('mechd'), *arguments], capture_output=True, text=True,
                              timeout=60 * SLOW)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_endpoints_that_cannot_be_are_named(self):
        for endpoint, why in (('127.0.0.1:5', 'unix:PATH, tcp://'), ('ipc:///tmp/x', 'unix:'),
                              ('tcp://127.0.0.1', 'as in 127.0.0.1:8080'),
                              ('tcp://0.0.0.0:0', '--tokens')):
            self.assertIn(why, self.refused('--lane', endpoint))
        with tempfile.TemporaryDirectory() as folder:
            place = 'unix:' + os.path.join(folder, 'no', 's')
            self.assertIn('--lane ' + place, self.refused('--lane', place, '--check-config'))

    def test_the_socket_of_a_daemon_that_was_killed_is_replaced(self):
        with tempfile.TemporaryDirectory(dir='/tmp') as folder:
            path = os.path.join(folder, 's')
            with socket.socket(socket.AF_UNIX) as left:
                left.bind(path)
                left.listen()
            with Daemon('--lane', 'unix:' + path) as daemon:
                with Lane(daemon) as door:
                    self.assertEqual(door.call('about')[0], 200)
                self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
            self.assertFalse(os.path.exists(path))


if __name__ == '__main__':
    unittest.main()
