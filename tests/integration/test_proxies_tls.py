"""The configurations of deploy/proxies in the real nginx and haproxy: TLS outside, pages of the
proxy's own name, live events one by one, an answer of megabytes, and a stream over ZeroMQ."""
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import unittest
import urllib.parse
import harness
import models
from certificates import authority, certificate
from harness import Daemon, wait_until, with_us

PLACE = os.path.join(harness.ROOT, 'deploy', 'proxies')
NAME = 'mechd.example.org'
NGINX = '''
daemon off; master_process off; pid %(folder)s/pid; error_log %(folder)s/error;
events { worker_connections 64; }
http {
    access_log off;
    client_body_temp_path %(folder)s/body; proxy_temp_path %(folder)s/proxy;
    fastcgi_temp_path %(folder)s/fastcgi; uwsgi_temp_path %(folder)s/uwsgi;
    scgi_temp_path %(folder)s/scgi;
    include %(folder)s/mechd.conf;
}
'''


def found(name):
    return shutil.which(name) or shutil.which(name, path='/usr/sbin:/sbin')


class Line:
    """HTTP over TLS over a Unix socket: one request, its head, and its answer as it comes."""

    def __init__(self, folder, method, target, body=b'', headers=()):
        context = ssl.create_default_context(cafile=os.path.join(folder, 'ca.pem'))
        plain = socket.socket(socket.AF_UNIX)
        plain.settimeout(20 * harness.SLOW)
        plain.connect(os.path.join(folder, 'socket'))
        self.socket = context.wrap_socket(plain, server_hostname='localhost')
        self.version = self.socket.version()
        lines = ['%s %s HTTP/1.1' % (method, target), 'Host: ' + NAME,
                 'Content-Type: application/json', 'Content-Length: %d' % len(body), *headers]
        self.socket.sendall('\r\n'.join(lines + ['', '']).encode() + body)
        self.text = b''
        self.head = self.until(b'\r\n\r\n').decode('latin-1')
        self.status = int(self.head.split()[1])

    def until(self, end):
        while end not in self.text:
            more = self.socket.recv(65536)
            assert more, 'the answer ends: %r' % self.text[-200:]
            self.text += more
        piece, self.text = self.text.split(end, 1)
        return piece

    def body(self):
        """All of it, by its length or in chunks."""
        length = re.search(r'(?i)^content-length: *(\d+)', self.head, re.M)
        if length:
            while len(self.text) < int(length.group(1)):
                self.text += self.socket.recv(65536)
            return self.text
        parts = []
        while True:
            size = int(self.until(b'\r\n'), 16)
            while len(self.text) < size + 2:
                more = self.socket.recv(65536)
                assert more, 'the answer ends within a chunk'
                self.text += more
            parts.append(self.text[:size])
            self.text = self.text[size + 2:]
            if size == 0:
                return b''.join(parts)

    def data(self):
        """The data of the next event."""
        self.until(b'data: ')
        return json.loads(self.until(b'\n'))

    def close(self):
        self.socket.close()


class Proxies(unittest.TestCase):
    def begin(self, name):
        if not found(name):
            self.skipTest('%s is not installed (Debian package %s)' % (
                name, {'nginx': 'nginx-light'}.get(name, name)))
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        authority(self.folder)
        certificate(self.folder, 'server')
        self.daemon = Daemon('--host', NAME, '--host', 'localhost')
        self.addCleanup(self.daemon.stop)

    def shipped(self, name, *changes):
        """The text of a shipped file with each of these places replaced; they must be there."""
        with open(os.path.join(PLACE, name), encoding='utf-8') as f:
            text = f.read()
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        return text

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
        return path

    def serve(self, *command):
        said = os.path.join(self.folder, 'said')
        with open(said, 'wb') as f:
            process = subprocess.Popen(with_us() + list(command), stdout=f, stderr=f)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(lambda: process.poll() is not None or self.is_served(), 'it serves')
        with open(said, encoding='utf-8', errors='replace') as f:
            self.assertIsNone(process.poll(), f.read())

    def is_served(self):
        try:
            line = self.ask('GET', '/readyz')
        except (OSError, AssertionError):
            return False
        line.close()
        return line.status == 200

    def ask(self, method, target, body=None, headers=()):
        text = b'' if body is None else json.dumps(body).encode()
        return Line(self.folder, method, target, text, headers)

    def place(self):
        return urllib.parse.urlsplit(self.daemon.base).netloc

    def nginx(self):
        self.begin('nginx')
        self.write('mechd.conf', self.shipped(
            'nginx.conf', ('127.0.0.1:8080', self.place()),
            ('listen 443 ssl http2', 'listen unix:%s/socket ssl http2' % self.folder),
            ('/etc/mechd/certificate.pem', self.folder + '/server.pem'),
            ('/etc/mechd/key.pem', self.folder + '/server.key')))
        path = self.write('nginx.conf', NGINX % {'folder': self.folder})
        self.serve(found('nginx'), '-e', '/dev/null', '-c', path)

    def haproxy(self):
        self.begin('haproxy')
        with open(os.path.join(self.folder, 'server.pem'), encoding='ascii') as a, \
                open(os.path.join(self.folder, 'server.key'), encoding='ascii') as b:
            both = self.write('both.pem', a.read() + b.read())
        changes = [('127.0.0.1:8080', self.place()), (':443', 'unix@%s/socket' % self.folder),
                   ('/etc/mechd/certificate.pem', both)]
        for door, port in (('control', 5555), ('stream', 5556), ('forces', 5557)):
            changes += [('bind :%d' % port, 'bind unix@%s/%s' % (self.folder, door)),
                        ('127.0.0.1:%d' % port, self.daemon.info[door].split('//')[1])]
        path = self.write('haproxy.cfg', self.shipped('haproxy.cfg', *changes))
        self.serve(found('haproxy'), '-db', '-f', path)

    def check(self):
        """TLS, the origin of the proxy's own pages, events one by one, and a large answer."""
        line = self.ask('POST', '/v1/instances', {'model': models.oscillator()},
                        ['Origin: https://' + NAME])
        self.assertIn(line.version, ('TLSv1.2', 'TLSv1.3'))
        self.assertEqual(line.status, 201, line.head)
        i = json.loads(line.body())['id']
        self.assertEqual(self.ask('GET', '/v1', None, ['Origin: https://other.test']).status, 403)
        events = self.ask('GET', '/v1/instances/%s/events?rate=60' % i)
        self.assertEqual(events.data()['step'], 0)
        for k in range(1, 6):
            self.assertEqual(self.ask('POST', '/v1/instances/%s/step' % i, {'count': 1}).status,
                             200)
            self.assertEqual(events.data()['step'], k)
        events.close()

        body = {'record': {'every': 1}, 'until': 1000}
        run = self.daemon.call('POST', '/v1/instances/%s/runs' % i, body)
        self.assertEqual(run.status, 202, run)
        at = '/v1/instances/%s/runs/%s' % (i, run['id'])
        rows = self.ask('GET', at + '/events')
        self.assertIn(b'event: end', rows.body())
        rows.close()
        results = self.ask('GET', at + '/results?format=csv')
        direct = self.daemon.call('GET', at + '/results?format=csv')
        self.assertEqual(results.body(), direct.raw)
        self.assertGreater(len(direct.raw), 1 << 20)
        return i

    def test_nginx(self):
        self.nginx()
        self.check()

    def test_haproxy(self):
        self.haproxy()
        i = self.check()
        self.daemon.info['stream'] = 'ipc://%s/stream' % self.folder
        with harness.Stream(self.daemon, i, form='json') as stream:
            step = stream.next()[1]['step']
            self.daemon.call('POST', '/v1/instances/%s/step' % i, {'count': 1})
            self.assertEqual(stream.next()[1]['step'], step + 1)


if __name__ == '__main__':
    unittest.main()
