"""Where a request ends can be read in one way only: what can be read in two is refused, and nothing
behind it is taken for a request. Bytes by hand; a proxy in front reads them as it likes."""
import json
import unittest
import urllib.parse
import harness
import models
import raw
from harness import Daemon, Served

RACES = True

HOST = b'Host: localhost\r\n'
# what a refused request must not smuggle in: it would create the instance "smuggled"
BODY = json.dumps({'example': 'mass1d'}).encode()
HIDDEN = (b'PUT /v1/instances/smuggled HTTP/1.1\r\n' + HOST + b'Content-Type: application/json\r\n'
          b'Content-Length: %d\r\n\r\n' % len(BODY) + BODY)
CHUNKED = b'%x\r\n' % len(HIDDEN) + HIDDEN + b'\r\n0\r\n\r\n'


def post(*lines, body=HIDDEN, target=b'/v1/models/check', version=b'HTTP/1.1'):
    return b'POST ' + target + b' ' + version + b'\r\n' + b''.join(lines) + b'\r\n' + body


def get(target=b'/livez', *lines, version=b'HTTP/1.1', end=b'\r\n'):
    return b'GET ' + target + b' ' + version + end + b''.join(lines) + end


# heads that can be read in two ways, each followed by what one of the readings takes for a request
TWO_WAYS = [
    ('two lengths', post(HOST, b'Content-Length: %d\r\n' % len(HIDDEN), b'Content-Length: 0\r\n')),
    ('the same length twice', post(HOST, b'Content-Length: 0\r\n', b'Content-Length: 0\r\n')),
    ('a length and chunks', post(HOST, b'Content-Length: 0\r\n',
                                 b'Transfer-Encoding: chunked\r\n', body=CHUNKED)),
    ('chunks and a length', post(HOST, b'Transfer-Encoding: chunked\r\n', b'Content-Length: %d\r\n'
                                 % len(CHUNKED), body=CHUNKED)),
    ('two encodings', post(HOST, b'Transfer-Encoding: chunked\r\n',
                           b'Transfer-Encoding: identity\r\n', body=CHUNKED)),
    ('an encoding over chunks', post(HOST, b'Transfer-Encoding: gzip, chunked\r\n', body=CHUNKED)),
    ('an unknown encoding', post(HOST, b'Transfer-Encoding: xchunked\r\n', body=CHUNKED)),
    ('an encoding with a tab', post(HOST, b'Transfer-Encoding: chunked\t\r\n', body=CHUNKED)),
    ('chunks in HTTP/1.0', post(HOST, b'Transfer-Encoding: chunked\r\n', body=CHUNKED,
                                version=b'HTTP/1.0')),
    ('a length with a sign', post(HOST, b'Content-Length: +0\r\n')),
    ('a length below zero', post(HOST, b'Content-Length: -1\r\n')),
    ('a length in hexadecimal', post(HOST, b'Content-Length: 0x0\r\n')),
    ('a list of lengths', post(HOST, b'Content-Length: 0, 0\r\n')),
    ('a length with a blank behind', post(HOST, b'Content-Length: 0 \r\n')),
    ('no length', post(HOST, b'Content-Length:\r\n')),
    ('a length beyond 64 bits', post(HOST, b'Content-Length: 18446744073709551616\r\n')),
    ('a blank before the colon', post(HOST, b'Content-Length : %d\r\n' % len(HIDDEN))),
    ('a tab before the colon', post(HOST, b'Transfer-Encoding\t: chunked\r\n', body=CHUNKED)),
    ('a line that goes on', post(HOST, b'Content-Length:\r\n %d\r\n' % len(HIDDEN))),
    ('a value that goes on', post(HOST, b'X: a\r\n b\r\n')),
    ('a name that goes on', post(HOST, b'Content-: %d\r\n Length\r\n' % len(HIDDEN))),
    ('a first line that begins with a blank', post(b' X: a\r\n', HOST)),
    ('a bare LF behind a value', post(HOST, b'X: a\nContent-Length: %d\r\n' % len(HIDDEN))),
    ('a bare LF behind the request line', get(b'/livez', HOST, end=b'\n') + HIDDEN),
    ('a bare CR in a value', post(HOST, b'X: a\rContent-Length: %d\r\n' % len(HIDDEN))),
    ('a bare CR behind the request line', b'GET /livez HTTP/1.1\r' + HOST + b'\r\n' + HIDDEN),
    ('NUL in a value', post(HOST, b'X: a\0b\r\n')),
    ('NUL behind a value', post(HOST, b'Content-Length: 0\0\r\n')),
    ('two NULs in a value', post(HOST, b'X: a\0\0Y: b\r\n')),
    ('NUL in a name', post(HOST, b'X\0Y: a\r\n')),
    ('NUL in the request line', b'GET /livez\0 HTTP/1.1\r\n' + HOST + b'\r\n' + HIDDEN),
    ('no colon', post(HOST, b'Content-Length\r\n')),
    ('no name', post(HOST, b': a\r\n')),
    ('a name that is no token', post(HOST, b'Content(Length): 0\r\n')),
    ('a name of 8 bits', post(HOST, b'Content-L\xe4nge: 0\r\n')),
    ('a control byte', post(HOST, b'X: a\x01\r\n')),
    ('DEL', post(HOST, b'X: a\x7f\r\n')),
    ('no Host', post()),
    ('an empty Host', post(b'Host:\r\n')),
    ('two Hosts', post(HOST, HOST)),
    ('two Hosts, one of another name', post(HOST, b'host: evil.example\r\n')),
    ('two media types', post(HOST, b'Content-Type: text/plain\r\n', b'Content-Type: a/b\r\n')),
    ('two tokens', post(HOST, b'Authorization: Bearer a\r\n', b'Authorization: Bearer b\r\n')),
    ('two keys', post(HOST, b'Idempotency-Key: a\r\n', b'Idempotency-Key: b\r\n')),
    ('two blanks in the request line', b'GET  /livez HTTP/1.1\r\n' + HOST + b'\r\n' + HIDDEN),
    ('a tab in the request line', b'GET\t/livez HTTP/1.1\r\n' + HOST + b'\r\n' + HIDDEN),
    ('a blank behind the version', b'GET /livez HTTP/1.1 \r\n' + HOST + b'\r\n' + HIDDEN),
    ('a blank in the target', b'GET /live z HTTP/1.1\r\n' + HOST + b'\r\n' + HIDDEN),
    ('no version', b'GET /livez\r\n' + HOST + b'\r\n' + HIDDEN),
    ('no target', b'GET HTTP/1.1\r\n' + HOST + b'\r\n' + HIDDEN),
    ('an unknown version', get(b'/livez', HOST, version=b'HTTP/2.0') + HIDDEN),
    ('a version in lower case', get(b'/livez', HOST, version=b'http/1.1') + HIDDEN),
    ('HTTP/0.9', b'GET /livez\r\n\r\n' + HIDDEN),
]

# targets that no client sends by itself, and what is answered
TARGETS = [
    (b'https://localhost/livez', 400), (b'http://me@localhost/livez', 400), (b'*', 400),
    (b'livez', 400), (b'localhost:80', 400),
    (b'/v1/../livez', 400), (b'/./livez', 400), (b'/v1/%2e%2e/livez', 400), (b'/v1/.%2E', 400),
    (b'/v1/instances/..', 400), (b'/v1/instances/%2e', 400), (b'/livez#x', 400),
    (b'/livez%', 400), (b'/livez%0', 400), (b'/livez%zz', 400), (b'/livez%00', 400),
    (b'/v1/instances/a%00b', 400), (b'/v1/instances?a=%00', 400), (b'/v1/instances?a=%0', 400),
    (b'/v1/instances/\xc3\xa4', 400), (b'/v1/\x7finstances', 400), (b'/v1/\x01', 400),
    (b'/v1/instances/a%2Fstate', 400), (b'/v1/instances/a%0Ab', 400),
    (b'/v1/instances/%C3%A4', 400), (b'/v1/instances/' + b'a' * 200, 400),
    (b'/v1/instances%2Fa', 404), (b'//livez', 404), (b'/livez/', 404), (b'/LIVEZ', 404),
    (b'/v1/instances/a%252Fb', 404), (b'/v1\\instances', 404), (b'/%6civez', 404),
]

# bodies in chunks that are none, behind a head that is in order
CHUNKS = [b'5 \r\nhello\r\n0\r\n\r\n', b'0x5\r\nhello\r\n0\r\n\r\n', b'-5\r\nhello\r\n0\r\n\r\n',
          b'+5\r\nhello\r\n0\r\n\r\n', b'\r\nhello\r\n0\r\n\r\n', b'5\r\nhello!\r\n0\r\n\r\n',
          b'g\r\nhello\r\n0\r\n\r\n', b'fffffffffffffffff\r\nhello\r\n0\r\n\r\n',
          b';x\r\nhello\r\n0\r\n\r\n', b'5\rx\nhello\r\n0\r\n\r\n']


class Framing(Served):
    def nothing_came_in(self):
        found = self.daemon.call('DELETE', '/v1/instances/smuggled')
        self.assertEqual(found.status, 404)

    def test_what_can_be_read_in_two_ways_is_refused_with_all_that_follows(self):
        for what, request in TWO_WAYS:
            with self.subTest(what):
                answers = raw.ask(self.daemon, request)
                statuses = [a[0] for a in answers]
                # some of it is not even HTTP for the library, and gets no answer
                self.assertLessEqual(len(statuses), 1, answers)
                self.assertTrue(all(s in (400, 413, 505) for s in statuses), answers)
                self.nothing_came_in()

    def test_what_this_server_refuses_itself_says_why(self):
        for what in ('two lengths', 'a line that goes on', 'a bare LF behind a value', 'two Hosts',
                     'NUL in a value', 'a blank before the colon', 'an encoding over chunks',
                     'two blanks in the request line'):
            with self.subTest(what):
                answer, = raw.ask(self.daemon, dict(TWO_WAYS)[what])
                self.assertEqual((answer[0], raw.code(answer)), (400, 'malformed-request'))
                self.assertEqual(answer[1]['connection'], 'close')
                self.assertIn('detail', json.loads(answer[2]))

    def test_a_refusal_after_good_requests_ends_the_connection_there(self):
        good = get(b'/livez', HOST)
        for what, request in TWO_WAYS:
            with self.subTest(what):
                answers = raw.ask(self.daemon, good + good + request)
                statuses = [a[0] for a in answers]
                self.assertEqual(statuses[:2], [200, 200])
                self.assertLessEqual(len(statuses), 3, answers)
                self.nothing_came_in()

    def test_odd_targets_are_refused_before_they_are_decoded(self):
        for target, status in TARGETS:
            for method in (b'GET', b'DELETE'):
                with self.subTest(target=target, method=method):
                    request = method + get(target, HOST, b'Connection: close\r\n')[3:]
                    answer, = raw.ask(self.daemon, request)
                    self.assertEqual(answer[0], 405 if status == 404 and answer[0] == 405
                                     else status, answer)

    def test_blanks_after_a_value_are_no_part_of_it(self):
        i = self.daemon.create(models.oscillator())
        path = '/v1/instances/' + i
        lease = self.daemon.call('POST', path + '/lease', {'role': 'owner', 'seconds': 600})
        for k, behind in enumerate(('', ' ', '\t', ' \t  ')):
            with self.subTest(behind=behind):
                def ask(path, body, *lines, behind=behind, **more):
                    request = raw.request(path, body, *[line + behind for line in lines], **more)
                    request = request.replace(b'localhost', b'localhost' + behind.encode(), 1)
                    request = request.replace(b'/json', b'/json' + behind.encode(), 1)
                    return raw.ask(self.daemon, request.replace(
                        b'\r\n', b'\r\nConnection: close\r\n', 1))[0]
                tag = self.daemon.call('GET', path).headers['ETag']
                status, _, body = ask(path + '/step', {'count': 1}, 'Lease: %d' % lease['lease'],
                                      'If-Match: ' + tag, 'Idempotency-Key: once')
                # the key is the same with all of them, the tag is that of the first
                self.assertEqual((status, json.loads(body).get('step')), (200, 1))
                self.assertEqual(self.daemon.call('GET', path)['step'], 1)
                self.assertEqual(ask(path + '/outputs', None, 'Accept: application/json',
                                     'traceparent: 00-%032x-%016x-01' % (k + 1, k + 1),
                                     method='GET')[1]['traceparent'][3:35], '%032x' % (k + 1))

    def test_all_of_the_server_takes_the_methods_of_all_paths(self):
        for target in (b'*', b'http://localhost', b'HTTP://127.0.0.1:8080'):
            answer, = raw.ask(self.daemon, b'OPTIONS ' + target + b' HTTP/1.1\r\n' + HOST +
                              b'Connection: close\r\n\r\n')
            self.assertEqual((answer[0], answer[2]), (204, b''))
            self.assertEqual(set(answer[1]['allow'].split(', ')),
                             {'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'})

    def test_a_target_that_is_an_address_is_that_of_its_path(self):
        i = self.daemon.create(models.oscillator()).encode()
        authority = urllib.parse.urlsplit(self.daemon.base).netloc.encode()
        # a name in the header does not count beside that of the target (RFC 9112, 3.2.2)
        for host in (HOST, b'Host: evil.example\r\n'):
            for before in (b'http://' + authority, b'HTTP://LocalHost', b'http://[::1]:1'):
                def answers(method, target, *lines, body=b''):
                    head = method + b' ' + before + target + b' HTTP/1.1\r\n' + host
                    answer, = raw.ask(self.daemon, head + b''.join(lines) +
                                      b'Connection: close\r\n\r\n' + body)
                    return answer
                self.assertEqual(answers(b'GET', b'/livez')[0], 200)
                self.assertIn('text/html', answers(b'GET', b'')[1]['content-type'])
                state = answers(b'GET', b'/v1/instances/%s/state?format=csv' % i)
                self.assertIn('text/csv', state[1]['content-type'])
                step = answers(b'POST', b'/v1/instances/%s/step' % i, b'Content-Length: 11\r\n',
                               body=b'{"count":1}')
                self.assertEqual(step[0], 200)
                self.assertEqual(answers(b'GET', b'/v1/nowhere')[0], 404)
                self.assertEqual(answers(b'OPTIONS', b'/v1/instances')[1]['allow'],
                                 'GET, HEAD, POST')
                self.assertEqual(answers(b'GET', b'/v1/../livez')[0], 400)

    def test_an_address_elsewhere_is_refused_whatever_the_header_says(self):
        for target in (b'http://evil.example/livez', b'http://localhost.evil.example/v1',
                       b'http://127.0.0.1.evil.example:80/v1', b'http://evil.example'):
            with self.subTest(target):
                answer, = raw.ask(self.daemon, get(target, HOST, b'Connection: close\r\n'))
                self.assertEqual((answer[0], raw.code(answer)), (403, 'forbidden'))

    def test_a_repeated_key_is_the_same_by_path_and_by_address(self):
        i = self.daemon.create(models.oscillator()).encode()
        path = b'/v1/instances/%s/step' % i
        for target in (path, b'http://localhost' + path, path):
            answer, = raw.ask(self.daemon, b'POST ' + target + b' HTTP/1.1\r\n' + HOST +
                              b'Idempotency-Key: once\r\nContent-Length: 11\r\n'
                              b'Connection: close\r\n\r\n{"count":1}')
            self.assertEqual((answer[0], json.loads(answer[2])['step']), (200, 1))

    def test_an_escape_in_a_name_is_decoded_once(self):
        self.assertEqual(self.daemon.call('PUT', '/v1/instances/a%2Db',
                                          {'example': 'mass1d'}).status, 201)
        self.assertEqual(self.daemon.call('GET', '/v1/instances/a-b').json['id'], 'a-b')
        self.assertEqual(self.daemon.call('GET', '/v1/instances/a%252Db').status, 404)
        self.assertEqual(self.daemon.call('DELETE', '/v1/instances/%61-b').status, 204)

    def test_values_of_the_query_are_decoded(self):
        i = self.daemon.create(models.oscillator())
        reply = self.daemon.call('GET', '/v1/instances/%s/state?format=%%63sv' % i)
        self.assertIn('text/csv', reply.headers['Content-Type'])
        self.daemon.call('DELETE', '/v1/instances/' + i)

    def test_chunks_that_are_none_are_refused(self):
        for chunks in CHUNKS:
            with self.subTest(chunks):
                request = post(HOST, b'Content-Type: application/json\r\n',
                               b'Transfer-Encoding: chunked\r\n', body=chunks + HIDDEN)
                statuses = [a[0] for a in raw.ask(self.daemon, request)]
                self.assertTrue(statuses in ([400], [413], []), statuses)
                self.nothing_came_in()

    def test_chunks_are_taken(self):
        body = b'1\r\n{\r\n1;name=value\r\n}\r\n0\r\nTrailer: x\r\n\r\n'
        answers = raw.ask(self.daemon, post(HOST, b'Content-Type: application/json\r\n',
                                            b'Transfer-Encoding: CHUNKED\r\n', body=body) +
                          get(b'/livez', HOST, b'Connection: close\r\n'))
        self.assertEqual([a[0] for a in answers], [422, 200])

    def test_heads_have_a_size(self):
        for what, request, statuses in (
                ('one long header', get(b'/livez', HOST, b'X: ' + b'a' * 100000 + b'\r\n'), (431,)),
                ('many headers', get(b'/livez', HOST, *[b'X-%d: a\r\n' % k for k in range(5000)]),
                 (431,)),
                ('a long target', get(b'/' + b'a' * 100000, HOST), (414,)),
                ('a long method', b'G' * 100000 + b' / HTTP/1.1\r\n', (414,)),
                ('a long query', get(b'/v1/instances?' + b'a=b&' * 20000, HOST), (414, 431))):
            with self.subTest(what):
                answers = raw.ask(self.daemon, request)
                self.assertTrue(len(answers) == 1 and answers[0][0] in statuses or not answers,
                                answers)
        # forty headers of a usual browser are no trouble
        many = [b'X-%d: %s\r\n' % (k, b'v' * 200) for k in range(40)]
        answer, = raw.ask(self.daemon, get(b'/livez', HOST, b'Connection: close\r\n', *many))
        self.assertEqual(answer[0], 200)

    def test_long_heads_and_large_bodies_go_together(self):
        i, long = self.daemon.create(models.oscillator()).encode(), b'X: ' + b'a' * 12000 + b'\r\n'
        spaces = b' ' * 300000
        requests = [get(b'/livez', HOST, long), get(b'/livez', HOST, *[b'X-%d: %s\r\n' % (
            k, b'v' * 80) for k in range(80)]), post(
                HOST, b'Content-Type: application/json\r\n', b'Content-Length: 300011\r\n',
                b'Connection: close\r\n', long, body=b'{"count":1}' + spaces,
                target=b'/v1/instances/%s/step' % i)]
        self.assertEqual([a[0] for a in raw.ask(self.daemon, b''.join(requests))], [200] * 3)

    def test_empty_lines_before_a_request_are_skipped(self):
        answers = raw.ask(self.daemon, b'\r\n\r\n' + get(b'/livez', HOST, b'Connection: close\r\n'))
        self.assertEqual([a[0] for a in answers], [200])


class Pipelines(Served):
    def step(self, instance, count):
        body = b'{"count": %d}' % count
        return post(HOST, b'Content-Type: application/json\r\n', b'Content-Length: %d\r\n'
                    % len(body), body=body, target=b'/v1/instances/%s/step' % instance.encode())

    def test_a_hundred_requests_in_one_write_are_answered_in_order(self):
        i = self.daemon.create(models.oscillator())
        with raw.connect(self.daemon) as s:
            s.sendall(b''.join(self.step(i, 1) for _ in range(100)))
            answers = raw.Answers(s)
            for k in range(100):
                status, _, body = answers.next()
                self.assertEqual((status, json.loads(body)['step']), (200, k + 1))

    def test_fast_ones_wait_behind_slow_ones(self):
        """Steps that take the pool, probes and refusals, mixed: answered in the order asked."""
        i = self.daemon.create(models.nonlinear_oscillator())
        kinds = [(self.step(i, 20000), 200), (get(b'/livez', HOST), 200),
                 (get(b'/v1/nowhere', HOST), 404), (self.step(i, 1), 200),
                 (get(b'/v1/instances/%s/state' % i.encode(), HOST), 200)] * 6
        with raw.connect(self.daemon, 60) as s:
            s.sendall(b''.join(k[0] for k in kinds))
            answers, steps = raw.Answers(s), 0
            for k, (_, status) in enumerate(kinds):
                found, _, body = answers.next()
                self.assertEqual(found, status, k)
                if k % 5 in (0, 3):
                    steps += 20000 if k % 5 == 0 else 1
                    self.assertEqual(json.loads(body)['step'], steps)

    def test_a_request_in_single_bytes_is_a_request(self):
        request = get(b'/livez', HOST, b'Connection: close\r\n')
        with raw.connect(self.daemon) as s:
            for k in range(len(request)):
                s.sendall(request[k:k + 1])
            self.assertEqual([a[0] for a in raw.Answers(s).all()], [200])

    def test_head_answers_as_get_would(self):
        i = self.daemon.create(models.oscillator()).encode()
        for target in (b'/livez', b'/v1', b'/v1/instances/%s/state' % i, b'/v1/nowhere', b'/'):
            with self.subTest(target), raw.connect(self.daemon) as s:
                s.sendall(get(target, HOST) + b'HEAD' + get(target, HOST)[3:] +
                          get(b'/livez', HOST))
                answers = raw.Answers(s)
                whole, head = answers.next(), answers.next(head_only=True)
                self.assertEqual(head[0], whole[0])
                for name in ('content-type', 'etag'):
                    self.assertEqual(head[1].get(name), whole[1].get(name))
                self.assertEqual(answers.next()[0], 200)

    def test_options_lists_the_methods(self):
        for target, allow in ((b'/v1/instances', {'GET', 'HEAD', 'POST'}),
                              (b'/v1/instances/x/step', {'POST'})):
            with raw.connect(self.daemon) as s:
                s.sendall(b'OPTIONS' + get(target, HOST)[3:])
                status, headers, body = raw.Answers(s).next()
                self.assertEqual((status, body), (204, b''))
                self.assertEqual(set(headers['allow'].split(', ')), allow)
        answer, = raw.ask(self.daemon, b'OPTIONS' + get(b'/no', HOST, b'Connection: close\r\n')[3:])
        self.assertEqual(answer[0], 404)

    def test_100_continue_is_said_before_the_body_and_refusals_instead_of_it(self):
        head = (HOST, b'Content-Type: application/json\r\n', b'Expect: 100-continue\r\n')
        with raw.connect(self.daemon) as s:
            s.sendall(post(*head, b'Content-Length: 2\r\n', body=b''))
            answers = raw.Answers(s)
            self.assertEqual(answers.next()[0], 100)
            s.sendall(b'{}')
            self.assertEqual(answers.next()[0], 422)
        for target, length, status in ((b'/v1/nowhere', 2, 404), (b'/v1/instances', 1 << 40, 413),
                                       (b'/livez', 2, 405)):
            with self.subTest(target), raw.connect(self.daemon) as s:
                s.sendall(post(*head, b'Content-Length: %d\r\n' % length, body=b'', target=target))
                answers = raw.Answers(s)
                self.assertEqual(answers.next()[0], status)
                self.assertTrue(answers.ends())


class Trees(unittest.TestCase):
    """Bodies whose tree would be many times their size are refused before it is built."""

    def resident(self, daemon):
        return harness.resident(daemon, 'VmHWM')

    def test_many_small_values_take_no_memory(self):
        body = b'[' + b','.join([b'{}'] * 349000) + b']'
        with Daemon() as daemon:
            i = daemon.create(models.oscillator())
            before = self.resident(daemon)
            reply = daemon.call('POST', '/v1/instances/%s/step' % i, body)
            self.assertEqual((reply.status, reply['code']), (413, 'body-too-large'))
            # the text itself in doubling buffers, and nothing for a tree
            self.assertLess(self.resident(daemon) - before, 6 * len(body))

    def test_a_large_model_of_nothing_takes_no_memory(self):
        """10 MB of {} would become 800 MB; as many bytes of numbers are read."""
        for part, status in ((b'{}', 413), (b'0.123456789012345678', 422)):
            body = b'{"model": [' + b','.join([part] * (10000000 // (len(part) + 1))) + b']}'
            with self.subTest(part), Daemon() as daemon:
                before = self.resident(daemon)
                reply = daemon.call('POST', '/v1/models/check', body)
                self.assertEqual(reply.status, status, reply)
                self.assertLess(self.resident(daemon) - before, 6 * len(body))
                text = daemon.call('GET', '/metrics').raw.decode()
                self.assertIn('\nmechd_tree_bytes 0\n', text)

    def test_depth_is_bounded(self):
        with Daemon() as daemon:
            for depth, code in ((32, 'malformed-request'), (33, 'malformed-json'),
                                  (100000, 'malformed-json')):
                reply = daemon.call('POST', '/v1/models/check', b'[' * depth + b']' * depth)
                self.assertEqual((reply.status, reply['code']), (400, code))


if __name__ == '__main__':
    unittest.main()
