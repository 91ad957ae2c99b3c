"""What one ZeroMQ peer may take: frames, parts, subscriptions, connections, unread answers; and
that the others are served meanwhile. Peers that break the rules speak ZMTP over a bare socket."""
import json
import random
import re
import resource
import struct
import threading
import time
import unittest
import harness
import models
from harness import (Daemon, Partner, Stream, ZmqDoor, again_where_slow, resident,
                     wait_until)
from zmtp import Raw

RACES = True

MIB = 1 << 20
SOCKETS = ('control', 'stream', 'forces')


def metric(d, name):
    """The sum of a metric over its labels."""
    text = d.call('GET', '/metrics').raw.decode()
    found = re.findall(r'^mechd_%s(?:\{[^}]*\})? (\S+)$' % name, text, re.M)
    assert found, name
    return sum(map(float, found))


class Limits(unittest.TestCase):
    def lives(self, d):
        """Every door answers."""
        self.assertEqual(d.call('GET', '/livez').status, 200)
        door = ZmqDoor(d)
        self.assertEqual(door.call('instances')[0], 200)
        door.close()

    def alone(self, d):
        """All connections have ended."""
        wait_until(lambda: metric(d, 'connections') == 0, 'no connection is left', 20)

    def put(self, d, name, model=None):
        reply = d.call('PUT', '/v1/instances/' + name, {'model': model or models.oscillator()})
        self.assertEqual(reply.status, 201, reply)

    def step(self, d, name, count=1):
        reply = d.call('POST', '/v1/instances/%s/step' % name, {'count': count})
        self.assertEqual(reply.status, 200, reply)

    def test_a_topic_matches_its_own_instance_only(self):
        with Daemon() as d:
            self.put(d, 'i-1')
            self.put(d, 'i-10')
            with Stream(d, 'i-1') as one, Stream(d, 'i-10', 'json') as ten:
                wait_until(lambda: metric(d, 'connections') == 2, 'both are connected')
                self.step(d, 'i-1')
                self.assertEqual(one.next()[0], 'state/i-1/')
                self.step(d, 'i-10')
                self.step(d, 'i-1')
                topic, frame = ten.next()
                self.assertEqual((topic, frame['instance']), ('json/i-10/', 'i-10'))
                # the next of i-1 is its own second step: nothing of i-10 stood between
                topic, frame = one.next()
                self.assertEqual((topic, frame['step']), ('state/i-1/', 2))
                for stream in (one, ten):
                    stream.socket.rcvtimeo = 100
                    with self.assertRaises(harness.zmq_again()):
                        stream.socket.recv_multipart()

    def test_a_prefix_of_topics_brings_all_of_them(self):
        with Daemon() as d:
            self.put(d, 'i-1')
            self.put(d, 'i-10')
            with Stream(d, 'none') as stream:
                stream.socket.subscribe('state/i-1')
                wait_until(lambda: metric(d, 'connections') == 1, 'it is connected')
                self.step(d, 'i-10')
                self.step(d, 'i-1')
                # one that is stepped while the subscription arrives may come twice
                topics = set()
                while len(topics) < 2:
                    topics.add(stream.socket.recv_multipart()[0])
                self.assertEqual(topics, {b'state/i-1/', b'state/i-10/'})
                stream.socket.unsubscribe('state/i-1')
                frames = metric(d, 'stream_frames_total')

                def silent():
                    self.step(d, 'i-1')
                    now = metric(d, 'stream_frames_total')
                    nonlocal frames
                    frames, before = now, frames
                    return now == before
                wait_until(silent, 'nothing is encoded any more')

    def test_multipart_messages_of_any_form_are_survived(self):
        bodies = [b'{"op":"instances"}', harness.pack('hello'), b'', b'x', b'{', b'\0' * 64]
        dice = random.Random(4)
        with Daemon() as d:
            for kind, name in (('DEALER', 'control'), ('SUB', 'stream'), ('PUSH', 'forces')):
                with Raw(d.info[name], kind) as raw:
                    for _ in range(300):
                        raw.send(*(dice.choice(bodies) for _ in range(dice.randint(1, 12))))
                    raw.send(*[b'x'] * 20000)
                    raw.send(b'', b'{"op":"instances"}')
                self.lives(d)
            self.alone(d)

    def test_a_message_without_end_ends_the_connection(self):
        part = Raw.frame(b'x' * MIB, more=True)
        with Daemon('--message-size', '1') as d:
            for kind, name in (('DEALER', 'control'), ('PUSH', 'forces')):
                before = resident(d)
                cut = metric(d, 'peers_cut_total')
                with Raw(d.info[name], kind) as raw:
                    with self.assertRaises(OSError):
                        for _ in range(2000):
                            raw.socket.sendall(part)
                wait_until(lambda n=cut: metric(d, 'peers_cut_total') > n, 'it is counted')
                self.lives(d)
                wait_until(lambda b=before: resident(d) < b + 64 * MIB, 'memory returns')
            self.assertIn('an unfinished message is too large', d.log())
            self.alone(d)

    def test_a_frame_that_is_too_large_ends_the_connection(self):
        with Daemon('--message-size', '1', '--model-size', '1') as d:
            for kind, name in (('DEALER', 'control'), ('SUB', 'stream'), ('PUSH', 'forces')):
                with Raw(d.info[name], kind) as raw:
                    raw.socket.sendall(b'\2' + struct.pack('>Q', 1 << 22) + b'x' * 1000)
                    wait_until(raw.is_closed, 'it is closed')
            self.lives(d)
            # one that fits is answered
            door = ZmqDoor(d)
            door.socket.send_multipart([b'', b'{"op": "instances"' + b' ' * 100000 + b'}'])
            self.assertEqual(door.receive()[0], 200)
            door.close()

    def test_subscriptions_of_one_peer_are_bounded(self):
        with Daemon() as d:
            self.put(d, 'i-1')
            with Stream(d, 'i-1') as other:
                wait_until(lambda: metric(d, 'connections') == 1, 'the other is connected')
                before = resident(d)
                for topics in ([b'\1state/some-%d/' % k for k in range(100000)],
                               [b'\1state/part-%d' % k for k in range(100000)],
                               [b'\1' + b'%d' % k * 20 for k in range(100000)]):
                    with Raw(d.info['stream'], 'SUB') as raw:
                        try:
                            raw.socket.sendall(b''.join(map(Raw.frame, topics)))
                        except OSError:
                            pass
                        wait_until(raw.is_closed, 'it is cut')
                    self.step(d, 'i-1')
                    self.assertEqual(other.next()[0], 'state/i-1/')
                self.assertIn('too many subscriptions', d.log())
                wait_until(lambda: resident(d) < before + 64 * MIB, 'memory returns')

    def test_greetings_that_are_none_are_survived(self):
        dice = random.Random(5)
        greeting = b'\xff' + 8 * b'\0' + b'\x7f\x03\0' + b'NULL'.ljust(20, b'\0') + 32 * b'\0'
        starts = [b'', b'GET / HTTP/1.1\r\n\r\n', b'\xff', greeting, greeting[:40],
                  greeting.replace(b'NULL', b'PLAI'), greeting.replace(b'NULL', b'CURV'),
                  greeting + b'\x04\x06\x05READ', greeting + b'\x04\xff' + 255 * b'\xff',
                  b'\x01\x00', b'\x00' * 64]
        with Daemon() as d:
            for name in SOCKETS:
                for k in range(100):
                    with Raw(d.info[name]) as raw:
                        noise = bytes(dice.randrange(256) for _ in range(dice.randrange(200)))
                        try:
                            raw.socket.sendall(starts[k % len(starts)] + noise)
                        except OSError:
                            pass
                self.lives(d)
            self.alone(d)
            self.assertGreater(metric(d, 'handshakes_failed_total'), 0)

    def test_a_peer_that_does_not_greet_in_time_is_disconnected(self):
        with Daemon('--handshake-ms', '1000') as d:
            with Raw(d.info['control']) as silent, Raw(d.info['control']) as trickling:
                start = time.monotonic()
                def closed():
                    try:
                        trickling.socket.settimeout(1)
                        trickling.socket.sendall(b'\xff')
                    except OSError:
                        pass
                    time.sleep(0.1)  # steady: the trickle
                    return silent.is_closed() and trickling.is_closed()
                wait_until(closed, 'both are closed', 12)
                self.assertGreater(time.monotonic() - start, 0.9)
            self.lives(d)

    def test_a_peer_that_is_silent_is_disconnected(self):
        with Daemon('--heartbeat', '1') as d:
            with Raw(d.info['control'], 'DEALER') as raw:
                wait_until(raw.is_closed, 'it is closed', 10)
            # a library answers heartbeats by itself
            def lives(use):
                with ZmqDoor(d) as door:
                    use(door.call, 'instances')
                    for _ in range(35):
                        time.sleep(0.1)  # steady: three heartbeats; again where they are late
                        self.assertEqual(use(metric, d, 'connections'), 1)
                self.alone(d)
            again_where_slow(2, lives)

    def test_connections_of_a_socket_are_bounded(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < 6000:
            self.skipTest('not enough descriptors')
        resource.setrlimit(resource.RLIMIT_NOFILE, (6000, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        with Daemon() as d:
            raws = []
            for name in ('stream', 'forces'):
                for _ in range(1200):
                    raws.append(Raw(d.info[name]))
            wait_until(lambda: metric(d, 'peers_cut_total') >= 2 * 176, 'those beyond are cut')
            wait_until(lambda: metric(d, 'connections') <= 2048, 'their number is bounded')
            self.lives(d)
            for raw in raws:
                raw.close()
            self.alone(d)

    def test_a_peer_that_does_not_read_its_answers_is_cut(self):
        # 100,000 values take some 2 MB as text
        size = 50000
        with Daemon() as d:
            reply = d.call('POST', '/v1/instances', {'model': models.independent_masses(size)})
            self.assertEqual(reply.status, 201, reply)
            i = reply['id']
            self.step(d, i, 3)
            ask = b'{"op":"get-state","id":"%s"}' % i.encode()
            before, most = resident(d), [0]
            done = threading.Event()

            def watch():
                while not done.is_set():
                    most[0] = max(most[0], resident(d))
                    time.sleep(0.02)  # steady: between two looks
            watcher = threading.Thread(target=watch)
            watcher.start()
            try:
                with Raw(d.info['control'], 'DEALER', receive=4096) as raw:
                    def cut():
                        try:
                            raw.send(b'', ask)
                        except OSError:
                            pass
                        return metric(d, 'peers_cut_total') > 0
                    wait_until(cut, 'it is cut', 60)
                    self.lives(d)
            finally:
                done.set()
                watcher.join()
            self.assertIn('does not read its answers', d.log())
            self.assertLess(most[0] - before, 500 * MIB)
            wait_until(lambda: resident(d) < before + 150 * MIB, 'memory returns', 20)

    def test_a_peer_that_leaves_a_thousand_answers_unread_is_cut(self):
        with Daemon() as d:
            with Raw(d.info['control'], 'DEALER', receive=4096) as raw:
                def cut():
                    try:
                        for _ in range(100):
                            raw.send(b'', b'{"op":"examples"}')
                    except OSError:
                        pass
                    return metric(d, 'peers_cut_total') > 0
                wait_until(cut, 'it is cut', 60)
                # once: its descriptor may be another peer's by now, which would lose a request
                self.lives(d)
                self.assertEqual(metric(d, 'peers_cut_total'), 1)
            self.assertIn('does not read its answers', d.log())

    def test_requests_of_one_peer_that_wait_are_bounded(self):
        with Daemon() as d:
            names = ['long-%d' % k for k in range(20)]
            for name in names:
                self.put(d, name, models.nonlinear_oscillator())
            with ZmqDoor(d) as many:
                asked = 0
                for _ in range(40):
                    for name in names:
                        many.send('step', id=name, count=2_000_000_000)
                        asked += 1
                codes = []
                for _ in range(asked - 512):
                    status, reply = many.receive()
                    codes.append((status, reply['code']))
                self.assertEqual(set(codes), {(429, 'limit-reached')})
                many.send('instances', sequence=7)
                self.assertEqual(json.loads(many.socket.recv_multipart()[-1])['sequence'], '7')
                self.lives(d)
                for name in names:
                    self.assertEqual(d.call('DELETE', '/v1/instances/' + name).status, 204)
                for _ in range(512):
                    self.assertNotEqual(many.receive()[0], 429)
                self.assertEqual(many.call('instances')[0], 200)

    def test_a_peer_on_the_descriptor_of_another_owes_nothing_for_it(self):
        with Daemon() as d:
            names = ['long-%d' % k for k in range(20)]
            for name in names:
                self.put(d, name, models.nonlinear_oscillator())
            with ZmqDoor(d) as many:
                for _ in range(40):
                    for name in names:
                        many.send('step', id=name, count=2_000_000_000)
                for _ in range(40 * 20 - 512):
                    self.assertEqual(many.receive()[0], 429)
            wait_until(lambda: metric(d, 'connections') == 0, 'it has gone')
            for _ in range(3):
                self.lives(d)

    def test_frames_without_a_lease_take_no_place_in_the_queue(self):
        with Daemon() as d:
            self.put(d, 'i-1', models.nonlinear_oscillator())
            with Partner(d, 'i-1') as partner, Raw(d.info['control'], 'DEALER') as raw:
                partner.send('step', size=1e6)
                wait_until(lambda: metric(d, 'queued_commands') > 0, 'it steps')
                for k in range(200):
                    raw.send(b'', harness.pack('step', (), instance=partner.instance, lease=1,
                                               sequence=k, size=1e-3))
                wait_until(lambda: metric(d, 'request_errors_total') >= 200, 'all are refused')
                self.assertLess(metric(d, 'queued_commands'), 10)
                self.assertEqual(d.call('DELETE', '/v1/instances/i-1').status, 204)

    def test_a_subscriber_that_does_not_read_costs_the_others_nothing(self):
        with Daemon('--heartbeat', '3600') as d:
            self.put(d, 'i-1', models.independent_masses(2000))
            before = resident(d)
            with Raw(d.info['stream'], 'SUB', receive=4096) as stuck, Stream(d, 'i-1') as good:
                stuck.send(b'\1state/i-1/')
                wait_until(lambda: metric(d, 'connections') == 2, 'both are connected')
                self.step(d, 'i-1')
                last = good.next()[1]['sequence']
                for _ in range(3000):
                    self.step(d, 'i-1')
                    sequence = good.next()[1]['sequence']
                    self.assertEqual(sequence, last + 1)
                    last = sequence
                self.assertGreaterEqual(metric(d, 'stream_stalls_total'), 1)
                self.assertLess(resident(d) - before, 100 * MIB)

    def lost_of(self, d, socket):
        """(offered, lost, behind) of the subscriber that has this socket."""
        text = d.call('GET', '/metrics').raw.decode()
        peer = '%s:%d' % socket.getsockname()
        found = []
        for name in ('stream_offered_frames_total', 'stream_lost_frames_total',
                     'stream_behind_frames'):
            value = re.search(r'^mechd_%s\{subscriber="%s"\} (\d+)$' % (name, re.escape(peer)),
                              text, re.M)
            found.append(int(value.group(1)) if value else None)
        return tuple(found)

    def test_lost_frames_of_each_subscriber_are_counted(self):
        count = 6000
        with Daemon('--heartbeat', '3600') as d:
            self.put(d, 'i-1', models.independent_masses(500))
            with Raw(d.info['stream'], 'SUB', receive=4096) as slow, \
                    Raw(d.info['stream'], 'SUB') as fast:
                seen = {slow: [], fast: []}

                def read(raw):
                    topic = b''
                    while True:
                        try:
                            flags = raw.take(1)[0]
                            size = struct.unpack('>Q', raw.take(8))[0] if flags & 2 \
                                else raw.take(1)[0]
                            body = raw.take(size)
                        except OSError:
                            return
                        if flags & 1:
                            topic = body
                        elif topic == b'state/i-1/':
                            seen[raw].append(harness.unpack(body)['sequence'])

                for raw in (slow, fast):
                    raw.send(b'\1state/i-1/')
                    wait_until(lambda: self.lost_of(d, raw.socket)[0] is not None, 'it is known')
                quick = threading.Thread(target=read, args=(fast,), daemon=True)
                quick.start()
                for _ in range(count):
                    self.step(d, 'i-1')
                # while it does not read: at least what libzmq cannot hold
                wait_until(lambda: self.lost_of(d, slow.socket)[1] > count // 10, 'some are lost')
                offered, lost, behind = self.lost_of(d, slow.socket)
                late = threading.Thread(target=read, args=(slow,), daemon=True)
                late.start()
                wait_until(lambda: self.lost_of(d, slow.socket)[2] == 0, 'it has read all', 60)
                wait_until(lambda: self.lost_of(d, fast.socket)[2] == 0, 'it has read all', 60)
                self.assertEqual(offered, count)
                for raw, thread in ((slow, late), (fast, quick)):
                    told = self.lost_of(d, raw.socket)
                    wait_until(lambda: len(seen[raw]) == told[0] - told[1],
                               'what is not lost has come: %s, %d' % (told, len(seen[raw])), 10)
                    self.assertEqual(told, (count, count - len(seen[raw]), 0))
                self.assertEqual(self.lost_of(d, fast.socket)[1], 0)
                final = self.lost_of(d, slow.socket)[1]
                self.assertLessEqual(lost, final)
                self.assertLessEqual(final, lost + behind)
                slow.socket.shutdown(2)
                fast.socket.shutdown(2)
                late.join()
                quick.join()
            wait_until(lambda: metric(d, 'connections') == 0, 'both have gone')
            wait_until(lambda: 'subscriber=' not in d.call('GET', '/metrics').raw.decode(),
                       'they are not told of any more')
            self.assertEqual(metric(d, 'stream_lost_of_all_total'), final)

    def test_a_routing_id_is_not_taken_over(self):
        import zmq
        with Daemon() as d:
            self.put(d, 'i-1')
            first, second = ZmqDoor(d), ZmqDoor(d)
            for door in (first, second):
                door.socket.disconnect(d.info['control'])
                door.socket.setsockopt(zmq.ROUTING_ID, b'the-rig')
            first.socket.connect(d.info['control'])
            self.assertEqual(first.call('instances')[0], 200)
            second.socket.connect(d.info['control'])
            second.socket.rcvtimeo = 300
            with self.assertRaises(harness.zmq_again()):
                second.call('instances')
            self.assertEqual(first.call('outputs', id='i-1')[0], 200)
            first.close()
            second.close()


if __name__ == '__main__':
    unittest.main()
