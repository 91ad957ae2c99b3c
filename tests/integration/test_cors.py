"""Pages of other sites: without --cors they can neither step a daemon on this machine nor read
from it, not by a name that leads here either; with it, those named can do what the Fetch standard
asks for."""
import json
import os
import re
import socket
import tempfile
import unittest
import harness
import models
import raw
from harness import Daemon
from tokens import make

SITE, OTHER = 'https://rig.example', 'https://evil.example'


def ask(daemon, method, target, *lines, body=b'', kind='application/json'):
    """One request with exactly these headers."""
    if body:
        lines += ('Content-Type: ' + kind, 'Content-Length: %d' % len(body))
    head = '\r\n'.join(('%s %s HTTP/1.1' % (method, target),) + lines) + '\r\n\r\n'
    with raw.connect(daemon) as s:
        s.sendall(head.encode('latin-1') + body)
        return raw.Answers(s).next(head_only=method == 'HEAD')


class OtherSites(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.host = cls.daemon.base.split('//')[1]
        cls.port = cls.host.split(':')[1]

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def test_a_page_of_another_site_changes_nothing_and_reads_nothing(self):
        i = self.daemon.create(models.oscillator())
        path = '/v1/instances/' + i
        for origin in (OTHER, 'null', 'http://localhost:1', 'http://127.0.0.1:1', 'file://',
                       'http://%s.evil.example' % self.host, 'chrome-extension://abc', 'x', ''):
            for method, target, body in (('POST', path + '/step', b'{"count": 1}'),
                                         ('PUT', path + '/inputs', b'{"inputs": {"force": 1}}'),
                                         ('DELETE', path, b''), ('GET', path + '/state', b''),
                                         ('POST', '/v1/instances', b'{"example": "mass1d"}')):
                with self.subTest(origin=origin, method=method):
                    status, headers, answer = ask(self.daemon, method, target,
                                                  'Host: ' + self.host, 'Origin: ' + origin,
                                                  body=body)
                    self.assertEqual((status, json.loads(answer)['code']), (403, 'forbidden'))
                    self.assertNotIn('access-control-allow-origin', headers)
        # what a browser sends without asking first: a form, text
        for kind in ('text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'):
            status = ask(self.daemon, 'POST', path + '/step', 'Host: ' + self.host,
                         'Origin: ' + OTHER, body=b'{"count": 1}', kind=kind)[0]
            self.assertEqual(status, 403)
        self.assertEqual(self.daemon.call('GET', path).json['step'], 0)

    def test_a_page_of_this_server_may(self):
        i = self.daemon.create(models.oscillator())
        for host in (self.host, 'localhost:' + self.port):
            status, _, answer = ask(self.daemon, 'POST', '/v1/instances/%s/step' % i,
                                    'Host: ' + host, 'Origin: http://' + host, body=b'{"count": 1}')
            self.assertEqual(status, 200, answer)

    def test_a_name_that_leads_here_is_not_the_name_of_this_server(self):
        """DNS rebinding: for the browser the page and the daemon are of one origin."""
        for host in ('evil.example:' + self.port, 'evil.example', '127.0.0.1.evil.example',
                     'localhost.evil.example', 'notlocalhost', '10.0.0.1', '192.168.1.1:80',
                     '[::2]', '[::1', '::1', 'localhost:80:80', 'localhost:x', '1270.0.1', '.',
                     'localhost@evil.example', 'evil.example#localhost', 'a' * 300):
            with self.subTest(host):
                for origin in ((), ('Origin: http://' + host,)):
                    status, _, answer = ask(self.daemon, 'GET', '/v1/instances', 'Host: ' + host,
                                            *origin)
                    self.assertEqual((status, json.loads(answer)['code']), (403, 'forbidden'))

    def test_the_names_of_this_machine_are(self):
        for host in ('localhost', 'localhost.', 'Localhost.:80', 'LOCALHOST:80', 'rig.localhost',
                     '127.0.0.1', '127.255.3.1:9',
                     '[::1]', '[::1]:8080', self.host):
            with self.subTest(host):
                self.assertEqual(ask(self.daemon, 'GET', '/v1', 'Host: ' + host)[0], 200)

    def test_preflights_are_refused_without_headers(self):
        status, headers, _ = ask(self.daemon, 'OPTIONS', '/v1/instances', 'Host: ' + self.host,
                                 'Origin: ' + OTHER, 'Access-Control-Request-Method: POST')
        self.assertEqual(status, 403)
        self.assertFalse([name for name in headers if name.startswith('access-control')])


    def test_a_preflight_leaves_the_connection_open(self):
        lines = 'Host: %s\r\nOrigin: http://%s\r\nAccess-Control-Request-Method: POST\r\n\r\n'
        request = ('OPTIONS /v1/instances HTTP/1.1\r\n' + lines % (self.host, self.host)).encode()
        with raw.connect(self.daemon) as s:
            s.sendall(2 * request + b'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
            answers = raw.Answers(s)
            for _ in range(2):
                status, headers, _ = answers.next()
                self.assertEqual(status, 204)
                self.assertNotIn('connection', headers)
            self.assertEqual(answers.next()[0], 200)


class Names(unittest.TestCase):
    def test_further_names_are_a_choice(self):
        with Daemon('--host', 'rig.lab', '--host', 'other.lab.') as daemon:
            for host, status in (('rig.lab', 200), ('rig.lab.', 200), ('other.lab.:80', 200),
                                 ('RIG.LAB:443', 200), ('other.lab', 200),
                                 ('localhost', 200), ('third.lab', 403), ('rig.lab.evil', 403)):
                self.assertEqual(ask(daemon, 'GET', '/v1', 'Host: ' + host)[0], status)

    def test_with_tokens_any_name_will_do(self):
        """A page that has been led here holds no token."""
        token, line = make('rig', 'step')
        file, path = tempfile.mkstemp(prefix='mechd-tokens-')
        self.addCleanup(os.unlink, path)
        os.write(file, line.encode() + b'\n')
        os.close(file)
        bearer = 'Authorization: Bearer ' + token
        with Daemon('--tokens', path) as daemon:
            self.assertEqual(ask(daemon, 'GET', '/v1', 'Host: rig.lab', bearer)[0], 200)
            self.assertEqual(ask(daemon, 'GET', '/v1', 'Host: rig.lab')[0], 401)
            self.assertEqual(ask(daemon, 'GET', '/v1', 'Host: rig.lab', bearer,
                                 'Origin: ' + OTHER)[0], 403)

    def test_unix_sockets_have_no_names(self):
        with Daemon('--listen', 'unix:http.socket') as daemon, \
                socket.socket(socket.AF_UNIX) as s:
            s.connect(os.path.join(daemon.folder, 'http.socket'))
            s.sendall(b'GET /v1 HTTP/1.1\r\nHost: anything.example\r\n\r\n')
            self.assertEqual(raw.Answers(s).next()[0], 200)


class Cors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon('--cors', SITE, '--cors', 'http://127.0.0.1:3000')
        cls.host = 'Host: ' + cls.daemon.base.split('//')[1]

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def allowed(self, method, target, headers):
        """What the Fetch standard has a browser look at: may a script of SITE send this?"""
        asked = ask(self.daemon, 'OPTIONS', target, self.host, 'Origin: ' + SITE,
                    'Access-Control-Request-Method: ' + method,
                    'Access-Control-Request-Headers: ' + headers)
        self.assertEqual(asked[0], 204)
        self.assertEqual(asked[1]['access-control-allow-origin'], SITE)
        self.assertIn('origin', asked[1]['vary'].lower())
        methods = asked[1]['access-control-allow-methods'].split(', ')
        known = asked[1]['access-control-allow-headers'].lower().split(', ')
        return method in methods and all(h in known for h in headers.lower().split(', '))

    def test_a_named_site_creates_steps_and_reads(self):
        self.assertTrue(self.allowed('POST', '/v1/instances', 'Content-Type, Authorization'))
        status, headers, body = ask(self.daemon, 'POST', '/v1/instances', self.host,
                                    'Origin: ' + SITE, body=b'{"example": "mass1d"}')
        self.assertEqual(status, 201)
        self.assertEqual(headers['access-control-allow-origin'], SITE)
        exposed = headers['access-control-expose-headers'].lower().split(', ')
        for name in ('etag', 'location', 'traceparent', 'retry-after'):
            self.assertIn(name, exposed)
        self.assertNotIn('access-control-allow-credentials', headers)
        step = '/v1/instances/%s/step' % json.loads(body)['id']
        self.assertTrue(self.allowed('POST', step, 'content-type, if-match, idempotency-key'))
        self.assertFalse(self.allowed('DELETE', step, 'content-type'))
        self.assertFalse(self.allowed('POST', step, 'x-unknown'))
        status, headers, _ = ask(self.daemon, 'POST', step, self.host, 'Origin: ' + SITE,
                                 body=b'{"count": 1}')
        self.assertEqual((status, headers['access-control-allow-origin']), (200, SITE))

    def test_every_route_answers_a_preflight(self):
        for operation, (method, path) in harness.routes().items():
            target = re.sub(r'\{\w+\}', 'x', path)
            with self.subTest(operation):
                self.assertTrue(self.allowed(method, target, 'authorization'))

    def test_refusals_can_be_read_too(self):
        for target, status in (('/v1/nowhere', 404), ('/v1/instances/no', 404)):
            found = ask(self.daemon, 'GET', target, self.host, 'Origin: ' + SITE)
            self.assertEqual((found[0], found[1]['access-control-allow-origin']), (status, SITE))

    def test_answers_vary_by_origin_and_others_stay_out(self):
        for lines in ((), ('Origin: ' + SITE,)):
            found = ask(self.daemon, 'GET', '/v1', self.host, *lines)
            self.assertEqual(found[0], 200)
            self.assertIn('origin', found[1]['vary'].lower())
        self.assertNotIn('access-control-allow-origin', ask(self.daemon, 'GET', '/v1',
                                                            self.host)[1])
        for origin in (OTHER, SITE + ':8443', SITE + '.evil.example', 'http://rig.example',
                       'http://127.0.0.1:3001'):
            found = ask(self.daemon, 'GET', '/v1', self.host, 'Origin: ' + origin)
            self.assertEqual(found[0], 403)
            self.assertNotIn('access-control-allow-origin', found[1])

    def test_live_events_and_the_page_can_be_read(self):
        i = self.daemon.create(models.oscillator())
        with raw.connect(self.daemon) as s:
            s.sendall(('GET /v1/instances/%s/events HTTP/1.1\r\n%s\r\nOrigin: %s\r\n\r\n'
                       % (i, self.host, SITE)).encode())
            answers = raw.Answers(s)
            answers.until(lambda: b'data: ' in answers.bytes)
            self.assertIn(b'Access-Control-Allow-Origin: ' + SITE.encode(), answers.bytes)

    def test_a_private_network_may_be_asked_for(self):
        found = ask(self.daemon, 'OPTIONS', '/v1', self.host, 'Origin: ' + SITE,
                    'Access-Control-Request-Method: GET',
                    'Access-Control-Request-Private-Network: true')
        self.assertEqual(found[1]['access-control-allow-private-network'], 'true')

    def test_all_sites_are_let_in_without_credentials(self):
        with Daemon('--cors', '*') as daemon:
            host = 'Host: ' + daemon.base.split('//')[1]
            status, headers, _ = ask(daemon, 'GET', '/v1', host, 'Origin: ' + OTHER)
            self.assertEqual((status, headers['access-control-allow-origin']), (200, '*'))
            self.assertNotIn('vary', headers)
            self.assertNotIn('access-control-allow-credentials', headers)
            # a name that leads here is still none of this server
            self.assertEqual(ask(daemon, 'GET', '/v1', 'Host: evil.example')[0], 403)

    def test_what_is_no_origin_is_refused_at_the_start(self):
        for origin in ('rig.example', 'https://rig.example/', 'https://', '*,https://rig.example'):
            with self.assertRaisesRegex(AssertionError, '--cors'):
                Daemon('--cors', origin)
        for name in ('https://rig.lab', 'rig.lab:80', 'a/b'):
            with self.assertRaisesRegex(AssertionError, '--host'):
                Daemon('--host', name)


if __name__ == '__main__':
    unittest.main()
