"""TLS: https:// addresses, with a certificate that the test makes; every client checks it, SIGHUP
has it read again, and what is wrong with it is named."""
import http.client
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest
import harness
import models
import raw
from certificates import authority, certificate
from forking import TYPES, Child
from harness import Daemon, program, wait_until
from manager import Manager
from mechc import Handle
from package import mechd
from tokens import make

RACES = True

CLIENTS = os.path.join(harness.ROOT, 'clients', 'python')


class Secure(Daemon):
    """A daemon that speaks TLS on its first address."""

    def __init__(self, folder, name='server', *more):
        self.files = folder
        super().__init__('--tls-certificate', os.path.join(folder, name + '.pem'),
                         '--tls-key', os.path.join(folder, name + '.key'), *more,
                         first='https://127.0.0.1:0')
        self.http = Https(self.base, os.path.join(folder, 'ca.pem'))


class Https(harness.Http):
    def __init__(self, base, ca):
        super().__init__(base)
        self.context = ssl.create_default_context(cafile=ca)

    def connect(self):
        return http.client.HTTPSConnection(self.address.hostname, self.address.port,
                                           timeout=60 * harness.SLOW, context=self.context)


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='mechd-tls-')
        authority(cls.folder)
        for name in ('server', 'other'):
            certificate(cls.folder, name)
        certificate(cls.folder, 'old', '-1')

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def copy(self, name, suffixes=('.pem', '.key')):
        """The files that the daemon reads become those of that name."""
        for suffix in suffixes:
            shutil.copy(self.path(name + suffix), self.path('used' + suffix))

    def serial(self, daemon):
        """Serial number of the certificate that a new connection is shown."""
        context = ssl.create_default_context(cafile=self.path('ca.pem'))
        with raw.connect(daemon) as s, context.wrap_socket(s, server_hostname='localhost') as t:
            return t.getpeercert()['serialNumber']

    def test_every_client_steps_through_tls_and_checks_the_certificate(self):
        with Secure(self.folder) as daemon:
            self.assertTrue(daemon.info['http'].startswith('https://127.0.0.1:'))
            i = daemon.create(models.oscillator())
            step = '%s/v1/instances/%s/step' % (daemon.base, i)
            done = subprocess.run(['curl', '-sS', '--cacert', self.path('ca.pem'), '--json',
                                   '{"count": 1}', step], capture_output=True, text=True)
            self.assertIn('"step":1', done.stdout, done)
            refused = subprocess.run(['curl', '-sS', step], capture_output=True, text=True)
            self.assertEqual(refused.returncode, 60, refused)

            mechctl = [program('mechctl'), '--server', daemon.base]
            done = subprocess.run(mechctl + ['--ca', self.path('ca.pem'), '--json', 'step', i,
                                             '--count', '1'], capture_output=True, text=True)
            self.assertIn('"step":2', done.stdout.replace(' ', ''), done)
            done = subprocess.run(mechctl + ['about'], capture_output=True, text=True,
                                  env={**os.environ, 'MECHD_CA': self.path('ca.pem')})
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual(subprocess.run(mechctl + ['about'], capture_output=True).returncode, 3)

            sys.path.insert(0, CLIENTS)
            import mechd
            with mechd.Server(daemon.base, verify=self.path('ca.pem')) as server:
                self.assertEqual(server.instance(i).step(count=1).step, 3)
            with mechd.Server(daemon.base, retries=0) as server:
                with self.assertRaises(mechd.Unreachable):
                    server.about()

    def test_old_versions_and_plain_text_are_refused(self):
        with Secure(self.folder) as daemon:
            for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
                context = ssl.create_default_context(cafile=self.path('ca.pem'))
                context.minimum_version = context.maximum_version = version
                with raw.connect(daemon) as s, context.wrap_socket(s, server_hostname='localhost') \
                        as t:
                    t.sendall(b'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
                    self.assertEqual(raw.Answers(t).next()[0], 200)
            context = ssl.create_default_context(cafile=self.path('ca.pem'))
            context.set_ciphers('DEFAULT:@SECLEVEL=0')
            with self.assertWarns(DeprecationWarning):
                context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
            with raw.connect(daemon) as s, self.assertRaises((ssl.SSLError, OSError)):
                context.wrap_socket(s, server_hostname='localhost')
            with raw.connect(daemon) as s:
                s.sendall(b'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
                self.assertNotIn(b'HTTP', b''.join(iter(lambda: s.recv(4096), b'')))
            self.assertEqual(daemon.call('GET', '/livez').status, 200)

    def test_the_certificate_is_read_again_and_no_connection_is_lost(self):
        self.copy('server')
        with Secure(self.folder, 'used') as daemon:
            i = daemon.create(models.oscillator())
            first = self.serial(daemon)
            faults, stop, counts = [], threading.Event(), [0]

            def ask():
                door = Https(daemon.base, self.path('ca.pem'))
                while not stop.is_set():
                    reply = door.call('POST', '/v1/instances/%s/step' % i, {'count': 1})
                    counts[0] += 1
                    if reply.status != 200:
                        faults.append(reply)
                door.close()
            asking = threading.Thread(target=ask)
            asking.start()
            try:
                for name in ('other', 'server', 'other'):
                    before, n = self.serial(daemon), counts[0]
                    self.copy(name)
                    daemon.process.send_signal(signal.SIGHUP)
                    wait_until(lambda: self.serial(daemon) != before, 'the new one is shown')
                    wait_until(lambda: counts[0] > n + 5, 'requests go on')
            finally:
                stop.set()
                asking.join()
            self.assertEqual(faults, [])
            self.assertNotEqual(self.serial(daemon), first)
            self.assertEqual(daemon.call('GET', '/v1/instances/' + i)['step'], counts[0])

            # a pair that does not fit changes nothing
            before = self.serial(daemon)
            self.copy('server', ('.key',))
            daemon.process.send_signal(signal.SIGHUP)
            wait_until(lambda: 'is not the key of' in daemon.log(), 'the log says so')
            self.assertEqual(self.serial(daemon), before)
            self.assertEqual(daemon.call('GET', '/livez').status, 200)

    def test_a_handshake_has_a_deadline(self):
        with Secure(self.folder, 'server', '--head-seconds', '1', '--idle-seconds', '2') as daemon:
            for sent in (b'', b'\x16\x03\x01'):
                with raw.connect(daemon) as s:
                    s.sendall(sent)
                    self.assertTrue(raw.Answers(s).ends())
            context = ssl.create_default_context(cafile=self.path('ca.pem'))
            with raw.connect(daemon) as s, context.wrap_socket(s, server_hostname='localhost') as t:
                t.sendall(b'GET /livez HTTP/1.1\r\n')
                answers = raw.Answers(t)
                try:
                    self.assertTrue(answers.ends())
                except ssl.SSLError:
                    pass

    def test_the_watchdog_is_fed_where_there_is_only_tls(self):
        manager = Manager(self.path('notify'))
        self.addCleanup(manager.close)
        files = ('--tls-certificate', self.path('server.pem'), '--tls-key', self.path('server.key'))
        with Daemon(*files, first='https://127.0.0.1:0', environment={
                'NOTIFY_SOCKET': self.path('notify'), 'WATCHDOG_USEC': '300000'}):
            at = manager.wait('WATCHDOG=1')
            manager.wait('WATCHDOG=1', at)

    def test_live_events_come_through_tls(self):
        with Secure(self.folder) as daemon:
            i = daemon.create(models.oscillator())
            context = ssl.create_default_context(cafile=self.path('ca.pem'))
            with raw.connect(daemon) as s, context.wrap_socket(s, server_hostname='localhost') as t:
                t.sendall(b'GET /v1/instances/%s/events HTTP/1.1\r\nHost: localhost\r\n\r\n'
                          % i.encode())
                answers = raw.Answers(t)
                answers.until(lambda: b'"step":0,' in answers.bytes)
                daemon.call('POST', '/v1/instances/%s/step' % i, {'count': 7})
                self.assertTrue(answers.until(lambda: b'"step":7,' in answers.bytes))

    def test_other_machines_need_tokens_all_the_same(self):
        files = ('--tls-certificate', self.path('server.pem'), '--tls-key', self.path('server.key'))
        with self.assertRaisesRegex(AssertionError, '--tokens'):
            Daemon('--listen', 'https://0.0.0.0:0', *files)
        token, line = make('rig', 'step')
        with open(self.path('tokens'), 'w', encoding='utf-8') as f:
            f.write(line + '\n')
        with Daemon('--listen', 'https://0.0.0.0:0', '--tokens', self.path('tokens'), *files):
            pass

    def check(self, *flags):
        done = subprocess.run([program('mechd'), '--check-config', *flags], capture_output=True,
                              text=True)
        return done.returncode, done.stdout + done.stderr

    def test_check_config_looks_at_pair_and_dates(self):
        listen = ('--listen', 'https://127.0.0.1:8443')

        def files(pem, key):
            return listen + ('--tls-certificate', self.path(pem), '--tls-key', self.path(key))
        code, text = self.check(*files('server.pem', 'server.key'))
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r'tls +\S+server\.pem, until 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ')
        # the date is the one that openssl reads
        end = subprocess.run(['openssl', 'x509', '-in', self.path('server.pem'), '-noout',
                              '-enddate', '-dateopt', 'iso_8601'], capture_output=True, text=True)
        self.assertIn(end.stdout.strip().split('=')[1].replace(' ', 'T'), text)
        for pem, key, why in (('server.pem', 'other.key', 'is not the key of'),
                              ('old.pem', 'old.key', 'expired'),
                              ('no.pem', 'server.key', 'cannot read'),
                              ('server.key', 'server.key', 'no certificate'),
                              ('server.pem', 'no.key', 'cannot read')):
            with self.subTest(pem + ' ' + key):
                code, text = self.check(*files(pem, key))
                self.assertNotEqual(code, 0)
                self.assertIn(why, text)
        code, text = self.check(*listen)
        self.assertNotEqual(code, 0)
        self.assertIn('--tls-certificate', text)

    def forked_clients_leave_the_connection(self, ask, close):
        """ask(type's name): its description, over a client's connection; close() the client."""
        def sockets():
            links = (os.path.join('/proc/self/fd', n) for n in os.listdir('/proc/self/fd'))
            return sorted(os.readlink(at) for at in links
                          if os.path.islink(at) and os.readlink(at).startswith('socket:'))

        def work(name):
            wrong = sum(ask(name)['type'] != name for _ in range(30))
            close()
            return wrong
        ask(TYPES[0])
        before = sockets()
        children = [Child(lambda name=name: work(name)) for name in TYPES[:2]]
        self.assertEqual([c.result() for c in children], [0, 0])
        self.assertEqual(ask(TYPES[0])['type'], TYPES[0])
        self.assertEqual(sockets(), before)
        close()

    def test_forked_servers_leave_the_connection_to_their_parent(self):
        with Secure(self.folder) as daemon:
            server = mechd.Server(daemon.base, verify=self.path('ca.pem'))
            self.forked_clients_leave_the_connection(server.type, server.close)

    def test_forked_handles_leave_the_connection_to_their_parent(self):
        with Secure(self.folder) as daemon:
            handle = Handle(daemon.base)
            handle.library.mechc_set_ca(handle.at, self.path('ca.pem').encode())
            self.forked_clients_leave_the_connection(
                lambda name: handle.get('/v1/types/' + name), handle.close)

    def test_an_expired_certificate_is_served_and_logged(self):
        self.copy('old')
        with Daemon('--tls-certificate', self.path('old.pem'), '--tls-key', self.path('old.key'),
                    '--listen', 'https://127.0.0.1:0') as daemon:
            self.assertIn('expired', daemon.log())
        with self.assertRaisesRegex(AssertionError, 'is not the key of'):
            Daemon('--tls-certificate', self.path('old.pem'), '--tls-key',
                   self.path('server.key'), '--listen', 'https://127.0.0.1:0')


if __name__ == '__main__':
    unittest.main()
