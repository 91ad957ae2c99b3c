"""What a connection keeps from one request for the next (its last target, memory), and short bodies
that are read without a tree: no answer shows either."""
import json
import unittest

import models
import raw
from harness import Served

RACES = True


def request(method, target, body=b'', *lines):
    length = [] if lines or not body else [b'Content-Length: %d' % len(body)]
    head = [method + b' ' + target + b' HTTP/1.1', b'Host: localhost', *length, *lines, b'', b'']
    return b'\r\n'.join(head) + body


def chunked(body, size):
    parts = [body[k:k + size] for k in range(0, len(body), size)] + [b'']
    return b''.join(b'%x\r\n%s\r\n' % (len(p), p) for p in parts)


class Kept(Served):
    def setUp(self):
        self.socket = raw.connect(self.daemon)
        self.answers = raw.Answers(self.socket)

    def tearDown(self):
        self.socket.close()

    def ask(self, *arguments):
        self.socket.sendall(request(*arguments))
        status, _, body = self.answers.next()
        return status, json.loads(body) if body else None

    def target(self, i, what='step'):
        return ('/v1/instances/%s/%s' % (i, what)).encode()

    def test_a_target_that_is_asked_again_means_what_it_means_now(self):
        i, j = self.daemon.create(models.oscillator()), self.daemon.create(models.oscillator())
        one = b'{"count": 1}'
        for k in range(3):
            self.assertEqual(self.ask(b'POST', self.target(i), one)[1]['step'], k + 1)
        self.assertEqual(self.ask(b'POST', self.target(j), one)[1]['step'], 1)
        self.assertEqual(self.ask(b'POST', self.target(i), one)[1]['step'], 4)
        status, problem = self.ask(b'GET', self.target(i))
        self.assertEqual((status, problem['code']), (405, 'method-not-allowed'))
        # a target with a query is another one, a longer or shorter one too
        state = self.target(i, 'state')
        full = self.ask(b'GET', state)[1]
        self.assertEqual(self.ask(b'GET', state + b'?format=json')[1], full)
        self.assertEqual(self.ask(b'GET', state + b'?format=none')[0], 406)
        self.assertEqual(self.ask(b'GET', state)[1], full)
        self.assertEqual(self.ask(b'GET', state + b'x')[0], 404)
        self.assertEqual(self.ask(b'GET', state[:-1])[0], 404)
        # it is gone, and comes again
        self.assertEqual(self.ask(b'POST', self.target(i), one)[0], 200)
        self.assertEqual(self.ask(b'DELETE', self.target(i)[:-5])[0], 204)
        self.assertEqual(self.ask(b'POST', self.target(i), one)[0], 404)
        self.daemon.call('PUT', '/v1/instances/' + i, {'model': models.oscillator()})
        self.assertEqual(self.ask(b'POST', self.target(i), one)[1]['step'], 1)

    def test_a_faulty_target_is_refused_after_a_sound_one_with_the_same_start(self):
        i = self.daemon.create(models.oscillator())
        state = self.target(i, 'state')
        for end in (b'/..', b'#a', b'%2', b'?a=%00'):
            self.assertEqual(self.ask(b'GET', state)[0], 200)
            self.socket.sendall(request(b'GET', state + end))
            self.assertEqual(self.answers.next()[0], 400, end)
            self.socket.close()
            self.setUp()

    def test_a_body_of_any_length_and_in_any_parts_is_the_same(self):
        i = self.daemon.create(models.oscillator())
        step = 0
        for size in (12, 511, 512, 513, 1024, 1025, 3000):
            body = b'{"count": 1}'.ljust(size)
            step += 1
            self.assertEqual(self.ask(b'POST', self.target(i), body)[1]['step'], step)
            for part in (1, 7, 500, 512, 600):
                step += 1
                answer = self.ask(b'POST', self.target(i), chunked(body, part),
                                  b'Transfer-Encoding: chunked')
                self.assertEqual(answer[1]['step'], step, (size, part))

    def test_a_body_of_one_number_says_what_it_says_among_others(self):
        i, j = self.daemon.create(models.oscillator()), self.daemon.create(models.oscillator())
        bodies = ['"count": 3', '"count": 2.0', '"size": 0.013', '"size": 1', '"until": 20',
                  '"until": 2.5e1', '"count": 0', '"count": -1', '"count": 1.5',
                  '"count": 1000000000001', '"count": 01', '"size": 0', '"size": -1',
                  '"size": 1e999', '"until": 1', '"until": -0', '"until": "1"', '"what": 1',
                  '"counts": 1', '"Count": 1', '"count": 1, "count": 1']
        for body in bodies:
            with self.subTest(body=body):
                alone = self.ask(b'POST', self.target(i), b'{%s}' % body.encode())
                among = self.ask(b'POST', self.target(j),
                                 b'{%s, "commit": true}' % body.encode())
                for _, answer in (alone, among):
                    answer.pop('instance', None)
                if alone[1].get('code') == 'malformed-json':
                    alone[1].pop('detail'), among[1].pop('detail')
                self.assertEqual(alone, among)

    def test_a_short_body_goes_on_without_its_connection(self):
        i = self.daemon.create(models.oscillator())
        body = b'{"count": 1000000000}'
        self.socket.sendall(request(b'POST', self.target(i), body, b'Prefer: respond-async',
                                    b'Content-Length: %d' % len(body)))
        status, headers, _ = self.answers.next()
        self.assertEqual(status, 202)
        place = headers['location']
        # the connection's memory serves others meanwhile
        other = self.daemon.create(models.oscillator())
        for k in range(20):
            self.assertEqual(self.ask(b'POST', self.target(other), b'{"count": 1}')[0], 200)
        self.assertEqual(self.daemon.call('DELETE', place).status, 204)
        # undone, and free again
        status, step = self.ask(b'POST', self.target(i), b'{"count": 1}')
        self.assertEqual((status, step['step']), (200, 1))


if __name__ == '__main__':
    unittest.main()
