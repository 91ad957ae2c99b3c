"""Endpoints of ZeroMQ by name and of IPv6, as HTTP takes them; and what is said where none can be
listened on."""
import os
import socket
import subprocess
import tempfile
import unittest
import harness
import models
from harness import FREE_PORTS, Daemon, program
from package import mechd


def has_v6():
    """Whether this machine has the loopback of IPv6."""
    try:
        with socket.socket(socket.AF_INET6) as s:
            s.bind(('::1', 0))
            return True
    except OSError:
        return False


def sockets(endpoint):
    return ['--control', endpoint, '--stream', endpoint, '--forces', endpoint]


class Endpoints(unittest.TestCase):
    def serves(self, endpoint, host):
        with Daemon(*sockets(endpoint)) as d:
            for name in ('control', 'stream', 'forces'):
                self.assertTrue(d.info[name].startswith('tcp://%s:' % host), d.info)
            i = d.create(models.oscillator())
            with mechd.Server(d.base) as server:
                instance, seconds = server.instance(i), 20 * harness.SLOW
                with instance.stream(timeout=seconds) as stream, \
                        instance.connect(['force'], ['x'], timeout=seconds) as partner, \
                        partner.forces() as forces:
                    forces.push([1.0])
                    partner.step(0.01, [1.0])
                    self.assertEqual(next(s.step for s in stream if s.step), 10)
            done = subprocess.run([program('mechctl'), '--server', d.base, 'watch', i, '--follow',
                                   '--count', '1'], capture_output=True, text=True,
                                  timeout=60 * harness.SLOW)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_name_is_the_address_that_clients_of_zeromq_look_for(self):
        self.serves('tcp://localhost:*', '127.0.0.1')
        self.serves('tcp://LOCALHOST:0', '127.0.0.1')
        self.serves('tcp://127.1:*', '127.0.0.1')

    def test_localhost_is_the_loopback_without_a_file_that_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (('hosts', ''), ('nsswitch.conf', 'hosts: files\n')):
                with open(os.path.join(folder, name), 'w', encoding='ascii') as f:
                    f.write(text)
            inside = ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c',
                      'mount --bind $0/hosts /etc/hosts && '
                      'mount --bind $0/nsswitch.conf /etc/nsswitch.conf && exec "$@"', folder]
            if subprocess.run(inside + ['true'], stderr=subprocess.DEVNULL).returncode:
                self.skipTest('no mount is permitted here')
            done = subprocess.run(
                inside + [program('mechd'), '--check-config', '--listen', 'localhost:0',
                          *sockets('tcp://localhost:*')], capture_output=True, text=True,
                timeout=60 * harness.SLOW)
            self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(has_v6(), 'no IPv6 here')
    def test_addresses_of_ipv6_are_taken_and_reached(self):
        self.serves('tcp://[::1]:*', '[::1]')
        with Daemon(*sockets('tcp://[::]:*'), '--insecure') as d:
            with mechd.Server(d.base) as server:
                self.assertEqual(server.endpoints()['control'].rsplit(':', 1)[0], 'tcp://127.0.0.1')
        # where HTTP is of IPv6, so are the sockets that listen everywhere
        with Daemon(*sockets('tcp://[::]:*'), '--insecure', first='[::1]:0') as d:
            i = d.create(models.oscillator())
            with mechd.Server(d.base) as server:
                with server.instance(i).connect(['force'], ['x']) as partner:
                    partner.step(0.01, [1.0])

    def test_an_address_that_cannot_be_listened_on_is_named_with_its_option_and_what_to_write(self):
        with socket.socket() as busy, tempfile.TemporaryDirectory() as folder:
            busy.bind(('127.0.0.1', 0))
            busy.listen()
            port = '127.0.0.1:%d' % busy.getsockname()[1]
            place = os.path.join(folder, 'no', 'socket')
            for option, address, why in (
                    ('control', 'tcp://' + port, 'another port, or 0'),
                    ('listen', port, 'another port, or 0'),
                    ('stream', 'tcp://127.0.0.1:99999', 'a number up to 65535'),
                    ('listen', '127.0.0.1:99999', 'a number up to 65535'),
                    ('listen', '127.0.0.1:-1', 'a number up to 65535'),
                    ('forces', 'tcp://127.0.0.1', 'as in 127.0.0.1:8080'),
                    ('control', 'tcp://127.0.0.1:', 'as in 127.0.0.1:8080'),
                    ('listen', '127.0.0.1:', 'as in 127.0.0.1:8080'),
                    ('control', 'tcp://127.0.0.1:80 ', 'a number up to 65535'),
                    ('control', 'tcp://::1:5555', r'in brackets, as in \[::1\]'),
                    ('listen', '::1:8080', r'in brackets, as in \[::1\]'),
                    ('control', 'tcp://[]:1', r'write \[::\] for all'),
                    ('control', 'inproc://x', 'tcp://HOST:PORT'),
                    ('control', 'udp://127.0.0.1:5', 'tcp://HOST:PORT'),
                    ('lane', 'localhost:0', 'it must be unix:PATH, tcp://HOST:PORT'),
                    ('lane', 'tcp://::1:0', r'in brackets, as in \[::1\]'),
                    ('lane', 'unix:' + place, 'the folder of that path'),
                    *[(option, scheme + host, 'the host is not found: .*; write 127.0.0.1 for')
                      for option, scheme in (('listen', ''), ('listen', 'http://'),
                                             ('control', 'tcp://'), ('lane', 'tcp://'))
                      for host in ('nosuch.invalid:0', 'eth.invalid:*')],
                    ('control', 'tcp://192.0.2.7:5', 'write 127.0.0.1 for this machine'),
                    ('listen', '192.0.2.7:5', 'write 127.0.0.1 for this machine'),
                    ('control', 'ipc://' + place, 'the folder of that path'),
                    ('listen', 'unix:' + place, 'the folder of that path'),
                    ('listen', 'unix:/' + 'x' * 200, '1 to 107 bytes'),
                    ('control', 'ipc:///' + 'x' * 200, '1 to 107 bytes')):
                with self.subTest(option=option, address=address):
                    done = subprocess.run(
                        [program('mechd'), '--listen', '127.0.0.1:0', *FREE_PORTS, '--insecure',
                         '--' + option, address],
                        capture_output=True, text=True, timeout=60 * harness.SLOW)
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertIn('--%s %s: ' % (option, address), done.stderr)
                    self.assertRegex(done.stderr, why)

    def check(self, option, address):
        return subprocess.run([program('mechd'), '--check-config', '--state', 'none', *FREE_PORTS,
                               '--' + option, address],
                              capture_output=True, text=True, timeout=60 * harness.SLOW)

    def test_the_reach_of_an_address_does_not_depend_on_how_it_is_written(self):
        missing = 'the host is not found'
        for option, address, why in (
                ('listen', '127.1:0', None), ('listen', 'localhost:0', None),
                ('listen', 'LocalHost:0', None), ('listen', 'localhost.:0', None),
                ('stream', 'tcp://localhost.:*', None),
                ('listen', ' [::1]:0', 'a host name must contain neither'),
                ('control', 'tcp://127.0.0.1:*,tcp://[::1]:*', 'a host name must contain neither'),
                ('control', 'tcp://lo:*', None),
                ('listen', '127.0.0.1.invalid:0', missing), ('listen', '127.invalid:0', missing),
                ('listen', 'localhost.invalid:0', missing),
                ('stream', 'tcp://nosuch.invalid:0', missing),
                ('forces', 'tcp://eth9.invalid:*', missing),
                ('lane', 'tcp://nosuch.invalid:0', missing),
                ('listen', '0.0.0.0:0', 'other machines'), ('listen', '*:0', 'other machines'),
                ('listen', ':0', 'other machines'), ('listen', '[::]:0', 'other machines')):
            with self.subTest(option=option, address=address):
                done = self.check(option, address)
                if why is None:
                    self.assertEqual((done.returncode, done.stderr), (0, ''))
                    continue
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn('--%s %s: %s' % (option, address, why), done.stderr)


if __name__ == '__main__':
    unittest.main()
