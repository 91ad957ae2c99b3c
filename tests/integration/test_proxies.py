"""Live events through proxies as they come, nginx and haproxy: each event arrives before the next
is made, with compression switched on too."""
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import unittest
import urllib.parse
import harness
import models
from harness import Daemon, wait_until, with_us

NGINX = '''
daemon off; master_process off; pid %(folder)s/pid; error_log %(folder)s/error;
events { worker_connections 64; }
http {
    access_log off; gzip on; gzip_proxied any; gzip_min_length 0;
    client_body_temp_path %(folder)s/body; proxy_temp_path %(folder)s/proxy;
    fastcgi_temp_path %(folder)s/fastcgi; uwsgi_temp_path %(folder)s/uwsgi;
    scgi_temp_path %(folder)s/scgi;
    server { listen unix:%(socket)s; location / { proxy_pass http://%(daemon)s; } }
}
'''

def shipped_location():
    """What the file of deploy/ says of the daemon, for another address of it."""
    with open(os.path.join(harness.ROOT, 'deploy', 'proxies', 'nginx.conf'), encoding='utf-8') as f:
        block = re.search(r'location / \{\n(.*?)\n    \}', f.read(), re.S).group(1)
    assert 'http://mechd;' in block, block
    return block.replace('http://mechd;', 'http://%(daemon)s;')


# another one in front of the one that deploy/ has, which is asked for no buffers too
CHAIN = NGINX.replace('''location / { proxy_pass http://%(daemon)s; }''', '''
        location / { proxy_pass http://unix:%(folder)s/inner; }
    }
    server { listen unix:%(folder)s/inner;
        location / {
''' + shipped_location() + '''
        }''')

HAPROXY = '''
defaults
    mode http
    timeout connect 10s
    timeout client 60s
    timeout server 60s
    compression algo gzip
    compression type text/event-stream application/json
frontend all
    bind unix@%(socket)s
    default_backend mechd
backend mechd
    server one %(daemon)s
'''


def found(name):
    return shutil.which(name) or shutil.which(name, path='/usr/sbin:/sbin')


class Reader:
    """The answer to a GET over a Unix socket, as it comes."""

    def __init__(self, path, target):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20 * harness.SLOW)
        self.socket.connect(path)
        self.socket.sendall(('GET %s HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n' %
                             target).encode())
        self.text = b''
        self.head = self.until(b'\r\n\r\n').decode('latin-1').lower()

    def until(self, end):
        """What comes up to these bytes."""
        while end not in self.text:
            more = self.socket.recv(65536)
            assert more, 'the stream ends: %r' % self.text[-200:]
            self.text += more
        piece, self.text = self.text.split(end, 1)
        return piece

    def data(self):
        """The data of the next event."""
        self.until(b'data: ')
        return json.loads(self.until(b'\n'))

    def close(self):
        self.socket.close()


class Proxies(unittest.TestCase):
    def through(self, name, text, *command):
        """(daemon, path of the proxy's socket)"""
        if not found(name):
            self.skipTest('%s is not installed (Debian package %s)' % (
                name, {'nginx': 'nginx-light'}.get(name, name)))
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        daemon = Daemon()
        self.addCleanup(daemon.stop)
        places = {'folder': folder, 'socket': os.path.join(folder, 'socket'),
                  'daemon': urllib.parse.urlsplit(daemon.base).netloc}
        path = os.path.join(folder, 'configuration')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text % places)
        process = subprocess.Popen(with_us() + [found(name), *command, path],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(lambda: process.poll() is not None or self.answers(places['socket']),
                   'it serves')
        self.assertIsNone(process.poll(), 'it has ended')
        return daemon, places['socket']

    def answers(self, path):
        try:
            reader = Reader(path, '/livez')
        except (OSError, AssertionError):
            return False
        reader.close()
        return ' 200 ' in reader.head

    def arrive(self, daemon, path):
        """Events one by one, of an instance and of a run; no other would push one out."""
        i = daemon.create(models.oscillator())
        reader = Reader(path, '/v1/instances/%s/events?rate=60' % i)
        self.assertIn('text/event-stream', reader.head)
        self.assertNotIn('content-encoding', reader.head)
        self.assertEqual(reader.data()['step'], 0)
        for k in range(1, 6):
            self.assertEqual(
                daemon.call('POST', '/v1/instances/%s/step' % i, {'count': 1}).status, 200)
            self.assertEqual(reader.data()['step'], k)
        reader.close()

        run = daemon.call('POST', '/v1/instances/%s/runs' % i,
                          {'record': {'every': 1}, 'period': 0.25, 'until': 1}).json
        reader = Reader(path, '/v1/instances/%s/runs/%s/events' % (i, run['id']))
        self.assertIn('text/event-stream', reader.head)
        reader.until(b'event: end')
        reader.close()
        self.coupling_arrives(daemon, path)

    def coupling_arrives(self, daemon, path):
        made = daemon.call('POST', '/v1/couplings', {
            'participants': [{'instance': daemon.create(models.oscillator())}], 'connections': [],
            'scheme': {'type': 'Jacobi'}, 'stepSize': 0.25})
        self.assertEqual(made.status, 201, made)
        coupling = '/v1/couplings/' + made['id']
        reader = Reader(path, coupling + '/events?rate=60')
        self.assertEqual(reader.data()['step'], 0)
        for k in range(1, 4):
            self.assertEqual(daemon.call('POST', coupling + '/step', {'count': 1}).status, 200)
            self.assertEqual(reader.data()['step'], k)
        reader.close()
        run = daemon.call('POST', coupling + '/runs',
                          {'record': {'every': 1}, 'pace': 1, 'until': 100}).json
        reader = Reader(path, '%s/runs/%s/events' % (coupling, run['id']))
        reader.until(b'event: row')
        reader.until(b'event: row')
        self.assertEqual(daemon.call('DELETE', '%s/runs/%s' % (coupling, run['id'])).status, 200)
        reader.until(b'event: end')
        reader.close()

    def test_nginx(self):
        self.arrive(*self.through('nginx', NGINX, '-e', '/dev/null', '-c'))

    def test_nginx_behind_nginx(self):
        self.arrive(*self.through('nginx', CHAIN, '-e', '/dev/null', '-c'))

    def test_haproxy(self):
        self.arrive(*self.through('haproxy', HAPROXY, '-db', '-f'))


if __name__ == '__main__':
    unittest.main()
