"""CURVE: which keys connect to ZeroMQ's sockets, for what, and until when; keys as files."""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import harness
import models
from harness import SLOW, Daemon, Forces, FrameError, Partner, Stream, ZmqDoor, program, wait_until

RACES = True

SOON = 300  # ms in which nothing comes that must not come


def make(name, scopes='step'):
    """{'secret', 'public', 'line'} as --make-curve-key prints them, and the text."""
    text = subprocess.run([program('mechd'), '--make-curve-key', name, '--scopes', scopes],
                          check=True, capture_output=True, text=True).stdout
    return {**dict(line.split(None, 1) for line in text.splitlines()), 'text': text}


class Curve(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = make('server')
        cls.keys = {scope: make('the-' + scope, scope) for scope in ('read', 'step', 'admin')}
        cls.stranger = make('stranger')

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='mechd-curve-')
        self.addCleanup(shutil.rmtree, self.folder)
        self.key = self.write('server.key', self.server['text'])
        self.clients = self.write('clients', ''.join(k['line'] + '\n' for k in self.keys.values()))

    def write(self, name, text, mode=0o600):
        path = os.path.join(self.folder, name)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def options(self):
        return ['--curve-key', self.key, '--curve-clients', self.clients]

    def daemon(self, *more):
        return Daemon(*self.options(), *more)

    def pair(self, who):
        return harness.Keys(self.server['public'], self.stranger if who == 'stranger'
                            else self.keys[who])

    def door(self, d, who):
        return ZmqDoor(d, self.pair(who))

    def refusals(self, d):
        metrics = d.call('GET', '/metrics').raw.decode()
        return int(re.search(r'^mechd_peers_refused_total (\d+)', metrics, re.M).group(1))

    def refused(self, door):
        """Nothing is answered: the connection is never made."""
        door.socket.rcvtimeo = door.socket.sndtimeo = SOON
        with self.assertRaises(harness.zmq_again()):
            door.call('instances')
        door.close()

    def test_a_listed_key_is_served_and_others_are_not(self):
        with self.daemon() as d:
            i = d.create(models.oscillator())
            door = self.door(d, 'step')
            self.assertEqual(door.call('step', id=i, count=1)[0], 200)
            door.close()
            self.refused(self.door(d, 'stranger'))
            self.refused(ZmqDoor(d))
            wrong = harness.Keys(self.stranger['public'], self.keys['step'])
            self.refused(ZmqDoor(d, wrong))
            wait_until(lambda: 'event=peer-refused' in d.log(), 'the refusal is logged')
            self.assertIn('the key is not known', d.log())
            self.assertGreaterEqual(self.refusals(d), 1)

    def test_the_server_reports_its_public_key(self):
        with self.daemon() as d:
            self.assertEqual(d.info['serverKey'], self.server['public'])
            self.assertEqual(d.call('GET', '/v1')['serverKey'], self.server['public'])
        with Daemon() as d:
            self.assertIsNone(d.info['serverKey'])
            self.assertNotIn('serverKey', d.call('GET', '/v1').json)

    def test_the_scopes_of_a_key_count_as_those_of_a_token(self):
        with self.daemon() as d:
            i = d.create(models.oscillator())
            for who, step, level in (('read', 403, 403), ('step', 200, 403), ('admin', 200, 200)):
                door = self.door(d, who)
                self.assertEqual(door.call('outputs', id=i)[0], 200, who)
                self.assertEqual(door.call('step', id=i, count=1)[0], step, who)
                status, body = door.call('log-level', level='info')
                self.assertEqual(status, level, who)
                if status == 403:
                    self.assertIn('the-' + who, body['detail'])
                door.close()
            with Partner(d, i, outputs=['x'], keys=self.pair('step')) as partner:
                self.assertEqual(partner.step(1e-3)['step'], 3)
            with self.assertRaisesRegex(FrameError, 'scope'):
                Partner(d, i, outputs=['x'], keys=self.pair('read'))

    def test_a_token_counts_beside_a_key(self):
        out = subprocess.run([program('mechd'), '--make-token', 'chief', '--scopes', 'admin'],
                             check=True, capture_output=True, text=True).stdout
        lines = dict(line.split(None, 1) for line in out.splitlines())
        tokens = self.write('tokens', lines['line'] + '\n')
        with self.daemon('--tokens', tokens) as d:
            door = self.door(d, 'read')
            self.assertEqual(door.call('log-level', level='info')[0], 403)
            self.assertEqual(door.call('log-level', level='info', token=lines['token'])[0], 200)
            self.assertEqual(door.call('log-level', level='info', token='no')[0], 401)
            door.close()
        # where no tokens are needed, one opens nothing
        with self.daemon() as d:
            door = self.door(d, 'read')
            self.assertEqual(door.call('log-level', level='info', token=lines['token'])[0], 403)
            door.close()

    def test_the_stream_is_for_listed_keys_only(self):
        with self.daemon() as d:
            i = d.create(models.oscillator())
            with Stream(d, i, keys=self.pair('read')) as good, \
                    Stream(d, i, keys=self.pair('stranger')) as bad, Stream(d, i) as bare:
                wait_until(lambda: 'event=peer-refused' in d.log(), 'the stranger is refused')
                d.call('POST', '/v1/instances/%s/step' % i, {'count': 1})
                self.assertEqual(good.next()[1]['step'], 1)
                for stream in (bad, bare):
                    stream.socket.rcvtimeo = SOON
                    with self.assertRaises(harness.zmq_again()):
                        stream.next()

    def test_forces_take_the_scope_step(self):
        with self.daemon() as d:
            i = d.create(models.oscillator())
            with Partner(d, i, inputs=['force'], outputs=['x'], keys=self.pair('step')) as partner:
                def force():
                    return d.call('GET', '/v1/instances/%s/inputs' % i)['inputs']['force']

                forces = Forces(d, partner, self.pair('step'))
                forces.push([3.0], 0.0)
                wait_until(lambda: force() == 3.0, 'the force is there')
                forces.close()
                for count, who in enumerate(('read', 'stranger'), 1):
                    forces = Forces(d, partner, self.pair(who))
                    forces.socket.linger = 0
                    forces.socket.sndtimeo = SOON
                    with contextlib.suppress(harness.zmq_again()):
                        forces.push([9.0], 0.0)  # refused before it is sent, or after
                    wait_until(lambda n=count: self.refusals(d) >= n, '%s is refused' % who)
                    forces.close()
                self.assertEqual(force(), 3.0)

    def test_a_key_that_is_taken_out_is_refused_at_once(self):
        with self.daemon() as d:
            i = d.create(models.oscillator())
            door = self.door(d, 'step')
            kept = self.door(d, 'read')
            partner = Partner(d, i, inputs=['force'], outputs=['x'], keys=self.pair('step'))
            forces = Forces(d, partner, self.pair('step'))
            stream = Stream(d, i, keys=self.pair('step'))
            other = Stream(d, i, keys=self.pair('read'))
            path = '/v1/instances/%s/step' % i
            d.call('POST', path, {'count': 1})
            stream.next(), other.next()
            forces.push([1.0], 0.0)
            self.assertEqual(door.call('outputs', id=i)[0], 200)
            self.write('clients', self.keys['read']['line'] + '\n')
            os.kill(d.pid(), signal.SIGHUP)
            wait_until(lambda: 'keys=1' in d.log(), 'the file is read')
            # connections are ended, and not made again
            wait_until(lambda: 'event=peer-refused' in d.log(), 'it has tried again')
            d.call('POST', path, {'count': 1})
            self.assertEqual(other.next()[1]['step'], 2)
            stream.socket.rcvtimeo = SOON
            with self.assertRaises(harness.zmq_again()):
                stream.next()
            self.refused(door)
            partner.socket.rcvtimeo = partner.socket.sndtimeo = SOON
            with self.assertRaises(harness.zmq_again()):
                partner.step(1e-3)
            self.assertEqual(kept.call('outputs', id=i)[0], 200)
            # and back again
            self.write('clients', ''.join(k['line'] + '\n' for k in self.keys.values()))
            os.kill(d.pid(), signal.SIGHUP)
            wait_until(lambda: 'keys=3' in d.log(), 'the file is read again')
            back = self.door(d, 'step')
            self.assertEqual(back.call('step', id=i, count=1)[0], 200)
            for socket in (back, kept, forces):
                socket.close()
            for socket in (partner, stream, other):
                socket.socket.close()

    def test_a_faulty_file_changes_nothing(self):
        with self.daemon() as d:
            self.write('clients', 'rig step 12\n')
            os.kill(d.pid(), signal.SIGHUP)
            wait_until(lambda: 'line 1: the key must have' in d.log(), 'the fault is reported')
            door = self.door(d, 'read')
            self.assertEqual(door.call('instances')[0], 200)
            door.close()

    def test_keys_may_be_written_in_z85(self):
        import zmq.utils.z85
        def z85(text):
            return zmq.utils.z85.encode(bytes.fromhex(text)).decode()

        key = self.write('z85.key', '# the server\nsecret %s\n' % z85(self.server['secret']))
        clients = self.write('clients', '# name scopes key\nrig step %s # of the rig\n' %
                             z85(self.keys['step']['public']))
        with Daemon('--curve-key', key, '--curve-clients', clients) as d:
            self.assertEqual(d.info['serverKey'], self.server['public'])
            door = self.door(d, 'step')
            self.assertEqual(door.call('instances')[0], 200)
            door.close()

    def test_files_that_do_not_fit_are_refused_at_the_start(self):
        good = self.server['text']
        for key, clients, why in (
                (self.write('a', good, 0o640), self.clients, 'chmod 600'),
                (self.write('b', good, 0o604), self.clients, 'chmod 600'),
                (self.write('c', 'public 12\n'), self.clients, 'secret KEY'),
                (self.write('d', 'secret %s\n' % ('g' * 64)), self.clients, 'secret KEY'),
                (self.folder + '/none', self.clients, 'cannot read the key'),
                (self.key, self.folder + '/none', 'cannot read the keys'),
                (self.key, self.write('e', 'rig step\n'), 'a name, scopes and a public key'),
                (self.key, self.write('f', 'rig all %s\n' % ('0' * 64)), 'scopes are'),
                (self.key, self.write('g', '\na step %s\nb read %s\n' % (2 * ('0' * 64,))),
                 'line 3: the key is that of line 2')):
            with self.assertRaisesRegex(AssertionError, why):
                Daemon('--curve-key', key, '--curve-clients', clients)
        with self.assertRaisesRegex(AssertionError, 'must both be given'):
            Daemon('--curve-key', self.key)

    def test_check_config_reports_the_keys(self):
        done = subprocess.run([program('mechd'), *self.options(), '--check-config'],
                              capture_output=True, text=True, timeout=60 * SLOW)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('public key ' + self.server['public'], done.stdout)
        self.assertIn('clients    %s: 3' % self.clients, done.stdout)
        self.assertNotIn(self.server['secret'], done.stdout)
        os.chmod(self.key, 0o644)
        done = subprocess.run([program('mechd'), *self.options(), '--check-config'],
                              capture_output=True, text=True, timeout=60 * SLOW)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, '^mechd: --curve-key .*chmod 600')

    def test_other_machines_reach_zeromq_with_curve_only(self):
        for option in ('--control', '--stream', '--forces'):
            with self.assertRaisesRegex(AssertionError, '--curve-key FILE'):
                Daemon(option, 'tcp://0.0.0.0:*')
        with self.daemon('--control', 'tcp://0.0.0.0:*', '--stream', 'tcp://0.0.0.0:*') as d:
            d.info['control'] = d.info['control'].replace('0.0.0.0', '127.0.0.1')
            door = self.door(d, 'step')
            self.assertEqual(door.call('instances')[0], 200)
            door.close()

    def test_a_key_is_made_with_a_name_and_scopes(self):
        made = make('rig', 'read,step')
        name, scopes, public = made['line'].split()
        self.assertEqual((name, scopes, public), ('rig', 'read,step', made['public']))
        self.assertRegex(made['secret'], '^[0-9a-f]{64}$')
        self.assertNotEqual(made['secret'], make('rig')['secret'])
        for name, scopes, why in (('a/b', 'step', 'not a name'), ('rig', 'all', 'scopes are')):
            done = subprocess.run([program('mechd'), '--make-curve-key', name, '--scopes', scopes],
                                  capture_output=True, text=True, timeout=60 * SLOW)
            self.assertEqual(done.returncode, 1)
            self.assertIn(why, done.stderr)


class Clients(unittest.TestCase):
    """mechctl, libmechc and the Python package with keys."""
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='mechd-curve-')
        cls.server, cls.rig, cls.stranger = make('server'), make('rig'), make('stranger')
        paths = {}
        for name, text in (('server.key', cls.server['text']), ('clients', cls.rig['line'] + '\n'),
                           ('rig.key', cls.rig['text']), ('stranger.key', cls.stranger['text'])):
            paths[name] = os.path.join(cls.folder, name)
            with open(paths[name], 'w', encoding='utf-8') as f:
                f.write(text)
            os.chmod(paths[name], 0o600)
        cls.rig_file, cls.stranger_file = paths['rig.key'], paths['stranger.key']
        cls.daemon = Daemon('--curve-key', paths['server.key'], '--curve-clients',
                            paths['clients'])

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()
        shutil.rmtree(cls.folder)

    def run_client(self, *command, **environment):
        clean = {k: v for k, v in os.environ.items() if not k.startswith('MECHD_')}
        return subprocess.run(command, capture_output=True, text=True, timeout=60 * harness.SLOW,
                              env={**clean, **environment})

    def watch(self, *options, **environment):
        """One frame of an instance, as a late subscriber gets it."""
        i = self.daemon.create(models.oscillator())
        self.daemon.call('POST', '/v1/instances/%s/step' % i, {'count': 3})
        return self.run_client(program('mechctl'), '--server', self.daemon.base, *options, 'watch',
                               i, '--count', '1', '--json', **environment)

    def test_mechctl_takes_keys_from_options_and_environment(self):
        done = self.watch('--curve-key', self.rig_file)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertIn('"step":3', done.stdout)
        done = self.watch(MECHD_CLIENT_KEY=self.rig_file, MECHD_SERVER_KEY=self.server['public'])
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        done = self.watch('--curve-key', self.rig_file, '--server-key', 'nonsense')
        self.assertEqual(done.returncode, 2)
        self.assertIn('64 hexadecimal digits', done.stderr)
        done = self.watch('--curve-key', os.path.join(self.folder, 'clients'))
        self.assertEqual(done.returncode, 2)
        self.assertIn('secret KEY', done.stderr)
        done = self.watch()
        self.assertEqual(done.returncode, 2)
        self.assertIn('requires a key', done.stderr)

    def test_mechctl_reports_a_key_that_is_not_known(self):
        for more in (['--curve-key', self.stranger_file],
                     ['--curve-key', self.rig_file, '--server-key', self.stranger['public']]):
            done = self.watch(*more, '--timeout', '3')
            self.assertEqual((done.returncode, done.stdout), (3, ''))
            self.assertIn('key', done.stderr)

    def test_libmechc_steps_and_pushes_with_keys(self):
        i = self.daemon.create(models.oscillator())
        example = os.path.join(harness.BUILD, 'clients', 'c', 'mechc-example')
        for mode in ('MECHC_PUSH', 'MECHC_FOLLOW'):
            done = self.run_client(example, self.daemon.base, i, 'force', '0.01', '5',
                                   MECHD_CLIENT_KEY=self.rig_file, **{mode: '1'})
            self.assertEqual((done.returncode, done.stderr), (0, ''), mode)
            self.assertGreater(len(done.stdout.splitlines()), 0)
        done = self.run_client(example, self.daemon.base, i, 'force', '0.01', '5')
        self.assertEqual(done.returncode, 1)
        self.assertIn('requires a key', done.stderr)

    def test_the_python_package_takes_keys(self):
        sys.path.insert(0, os.path.join(harness.ROOT, 'clients', 'python'))
        import mechd
        for more in ({}, {'server_key': self.server['public']}):
            with mechd.Server(self.daemon.base, curve_key=self.rig_file, **more) as server, \
                    server.create(models.oscillator()) as instance, instance.connect() as partner, \
                    instance.stream() as stream:
                partner.step(0.001)
                self.assertEqual(next(stream).step, 1)
                with partner.forces() as forces:
                    forces.push([2.0])
                    wait_until(lambda i=instance: i.inputs['force'] == 2.0, 'the force is there')
        with mechd.Server(self.daemon.base) as server, \
                server.create(models.oscillator()) as instance:
            with self.assertRaisesRegex(mechd.Unreachable, 'requires a key'):
                instance.connect()
        with mechd.Server(self.daemon.base, curve_key=self.stranger_file) as server, \
                server.create(models.oscillator()) as instance:
            with self.assertRaisesRegex(mechd.Unreachable, 'no answer'):
                instance.connect(timeout=0.5)
        with self.assertRaisesRegex(ValueError, '64 hexadecimal digits'):
            mechd.Server(self.daemon.base, server_key='nonsense')


if __name__ == '__main__':
    unittest.main()
