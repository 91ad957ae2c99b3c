"""Large bodies on the control socket: the others are served meanwhile, what one partner asks is
begun in the order in which it was sent, and what waits for a partner is bounded."""
import json
import re
import socket
import threading
import unittest
import held
import models
from harness import KINDS, Daemon, Partner, ZmqDoor, pack, resident, unpack, wait_until
from zmtp import Raw

MIB = 1 << 20
BODY = json.dumps({'op': 'models/check', 'model': {'mechd': 1, 'x': [1] * 500_000}}).encode()


class Flood:
    """Sends one body after the other until it is stopped, and throws the answers away."""

    def __init__(self, daemon):
        self.raw, self.stopped = Raw(daemon.info['control'], 'DEALER'), False
        self.raw.socket.settimeout(None)
        self.threads = [threading.Thread(target=t, daemon=True) for t in (self.send, self.read)]
        for t in self.threads:
            t.start()

    def send(self):
        message = self.raw.frame(b'', True) + self.raw.frame(BODY)
        try:
            while not self.stopped:
                self.raw.socket.sendall(message)
        except OSError:
            pass

    def read(self):
        try:
            while self.raw.socket.recv(1 << 16):
                pass
        except OSError:
            pass

    def stop(self):
        self.stopped = True
        self.raw.socket.shutdown(2)
        for t in self.threads:
            t.join()
        self.raw.close()


def bodies(d):
    """How many large bodies have been answered."""
    found = re.search(r'^mechd_request_seconds_count{door="zmq-json"} (\d+)$',
                      d.call('GET', '/metrics').raw.decode(), re.M)
    return int(found.group(1))


class Turns(unittest.TestCase):
    def put(self, d, name='i-1'):
        reply = d.call('PUT', '/v1/instances/' + name, {'model': models.oscillator()})
        self.assertEqual(reply.status, 201, reply)

    def test_a_partner_is_served_beside_four_that_send_large_bodies_without_end(self):
        with Daemon() as d:
            self.put(d)
            with Partner(d, 'i-1') as good:
                before = resident(d)
                floods = [Flood(d) for _ in range(4)]
                start = wait_until(lambda: bodies(d), 'bodies are read', 20)
                for _ in range(1000):
                    good.step(1e-3)
                read, size = bodies(d) - start, resident(d) - before
                for flood in floods:
                    flood.stop()
                # one of each flood for each step while the door's thread read the bodies itself
                self.assertLess(read, 1000)
                # 16 MiB for each that wait, what libzmq has taken, and a few trees
                self.assertLess(size, 300 * MIB)

    def test_what_one_partner_asks_is_begun_in_the_order_in_which_it_was_sent(self):
        with Daemon() as d:
            self.put(d)
            with ZmqDoor(d) as door:
                steps = 0
                for _ in range(20):
                    # first a large one, then a small one, which could be answered at once
                    text = json.dumps({'op': 'step', 'id': 'i-1', 'count': 1, 'sequence': 1})
                    door.socket.send_multipart([b'', text.encode() + b' ' * 200_000])
                    door.send('outputs', id='i-1', sequence=2)
                    steps += 1
                    found = {}
                    for _ in range(2):
                        reply = door.receive()[1]
                        found[str(reply['sequence'])] = reply
                    self.assertAlmostEqual(found['2']['time'], found['1']['time'], delta=1e-12)

    def test_frames_wait_behind_a_large_body_too(self):
        with Daemon() as d:
            self.put(d)
            with Partner(d, 'i-1') as one:
                for _ in range(20):
                    one.socket.send_multipart([b'', b'{"op":"livez"}' + b' ' * 200_000])
                    for _ in range(3):
                        one.send('step', size=1e-3)
                    replies = []
                    while len(replies) < 3:
                        parts = one.socket.recv_multipart()
                        if parts[-1][:4] == b'MCHD':
                            replies.append(unpack(parts[-1])['sequence'])
                        else:
                            self.assertEqual(replies, [], 'frames have gone past a large body')
                    self.assertEqual(replies, sorted(replies))

    def test_a_large_hello_is_answered(self):
        with Daemon() as d:
            self.put(d)
            with Partner(d, 'i-1') as one:
                text = json.dumps({'instance': 'i-1', 'inputs': [], 'outputs': []}).encode()
                one.socket.send_multipart([b'', pack('hello', sequence=99), text + b' ' * 500_000])
                reply, parts = one.receive()
                self.assertEqual((reply['sequence'], reply['kind']), (99, KINDS['hello']))
                self.assertIn('lease', json.loads(parts[1]))

    def test_every_large_body_of_one_partner_is_answered_and_the_next_is_served(self):
        with Daemon() as d:
            with ZmqDoor(d) as door:
                door.socket.sndhwm = 100
                for _ in range(40):
                    door.socket.send_multipart([b'', BODY])
                codes = [door.receive()[1].get('code') for _ in range(40)]
                served = sum(c != 'limit-reached' for c in codes)
                self.assertGreaterEqual(served, 5, codes)
                door.socket.send_multipart([b'', BODY])
                self.assertNotEqual(door.receive()[1].get('code'), 'limit-reached')

    def test_small_requests_behind_a_large_one_are_bounded(self):
        """While the one thread that would read the large one is held."""
        with Daemon('--workers', '1') as d:
            self.put(d)
            with ZmqDoor(d) as other, ZmqDoor(d) as door:
                other.send('step', id='i-1', count=2_000_000_000)
                worker = held.HeldThread(held.busiest_thread(d.pid()))
                try:
                    door.socket.send_multipart([b'', BODY])
                    for _ in range(611):
                        door.send('instances')
                    refused = [door.receive() for _ in range(100)]
                finally:
                    worker.release()
                self.assertEqual({(status, p['code'], p['detail']) for status, p in refused}, {
                    (429, 'limit-reached', 'too many requests of this connection are waiting')})
                self.assertEqual(door.receive()[1]['code'], 'unknown-operation')
                for _ in range(511):
                    self.assertEqual(door.receive()[0], 200)
                self.assertEqual(d.call('DELETE', '/v1/instances/i-1').status, 204)

    def test_bodies_of_other_doors_leave_no_room_and_then_do(self):
        """Four bodies over HTTP of the size of the largest model, each without its last byte."""
        with Daemon('--model-size', '1') as d:
            address = d.base.split('//')[1].split(':')
            large = []
            for _ in range(4):
                c = socket.create_connection((address[0], int(address[1])))
                c.sendall(b'POST /v1/models/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: '
                          b'application/json\r\nContent-Length: %d\r\n\r\n' % MIB)
                c.sendall(b' ' * (MIB - 1))
                large.append(c)
            with ZmqDoor(d) as door:
                for padding in ('', ' ' * 40_000):
                    wait_until(lambda x=padding: door.call('instances', x=x)[1].get('detail') ==
                               'too many requests are in progress', 'there is no room')
                for c in large:
                    c.close()
                wait_until(lambda: door.call('instances')[0] == 200, 'there is room again')


if __name__ == '__main__':
    unittest.main()
