"""deploy/start, as a container runs it, with the daemon of this build: a folder is mounted at
/var/lib/mechd, where only this program and its daemon see it. The suite `image` runs the image."""
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest
import harness
from harness import wait_until, with_us
from places import DEPLOY, ROOT, need

HOME = '/var/lib/mechd'
SOCKET = 'unix:' + HOME + '/mechd.sock'
# what the image sets (its Containerfile)
with open(os.path.join(DEPLOY, 'Containerfile'), encoding='utf-8') as text:
    IMAGE = dict(re.findall(r'\b(OPENBLAS_\w+|MECHD_\w+)=(\S+)', text.read()))
# on ports that the kernel gives
PORTS = {'MECHD_CONTROL': 'tcp://127.0.0.1:*', 'MECHD_STREAM': 'tcp://127.0.0.1:*',
         'MECHD_FORCES': 'tcp://127.0.0.1:*'}
LISTEN = {'MECHD_LISTEN': '127.0.0.1:0'}


class Start(unittest.TestCase):
    def setUp(self):
        need(unshare='util-linux', setpriv='util-linux')
        self.volume = tempfile.mkdtemp(prefix='mechd-start-')
        self.addCleanup(shutil.rmtree, self.volume)
        self.log = os.path.join(self.volume, 'log')

    def at(self, name):
        return os.path.join(self.volume, name)

    def write(self, name, text):
        with open(self.at(name), 'w', encoding='utf-8') as f:
            f.write(text)
        os.chmod(self.at(name), 0o600)

    def command(self, variables, words):
        enter = 'mount -t tmpfs none /var/lib && mkdir %s && mount --bind "$0" %s && ' \
                'cd %s && exec "$@"' % (HOME, HOME, HOME)
        programs = os.pathsep.join(os.path.join(harness.BUILD, *p) for p in (
            ('server',), ('clients', 'cli')))
        given = {**IMAGE, 'PATH': programs + ':/usr/bin:/bin', **variables}
        return ['unshare', '--mount', 'sh', '-c', enter, self.volume, 'env', '-i',
                *('%s=%s' % pair for pair in given.items()), os.path.join(DEPLOY, 'start'), *words]

    def run_to_end(self, variables, *words):
        """(exit code, what it prints) of words that serve nothing."""
        done = subprocess.run(self.command(variables, words), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              timeout=60 * harness.SLOW)
        return done.returncode, done.stdout.decode()

    def serve(self, variables, *words):
        """Starts it and waits until it is ready; what it reports then."""
        ready = self.at('ready.json')
        with open(self.log, 'wb') as log:
            process = subprocess.Popen(with_us() + self.command(
                variables, ['--ready-file', HOME + '/ready.json', *words]), stdout=log,
                stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        self.addCleanup(self.end, process)

        def ended_or_ready():
            if process.poll() is not None:
                raise AssertionError('it has ended with %d: %s' % (process.returncode, self.said()))
            return harness.read_json(ready)
        return wait_until(ended_or_ready, 'it is ready', 60)

    def end(self, process):
        process.send_signal(signal.SIGTERM)
        process.wait(60 * harness.SLOW)

    def said(self):
        with open(self.log, encoding='utf-8') as f:
            return f.read()

    def key(self):
        """Of a server, as a secret of one's own."""
        self.write('my.key', subprocess.run(
            [harness.program('mechd'), '--make-curve-key', 'server'], check=True,
            stdout=subprocess.PIPE, timeout=60 * harness.SLOW).stdout.decode())

    @contextlib.contextmanager
    def fresh(self, *names):
        """A part of a test with a volume and a daemon of its own."""
        with self.subTest(names):
            try:
                yield
            finally:
                self.doCleanups()
                self.setUp()

    def test_each_file_may_be_given_alone(self):
        for name, variable in (('my.key', 'MECHD_CURVE_KEY'), ('my.clients', 'MECHD_CURVE_CLIENTS'),
                               ('my.tokens', 'MECHD_TOKENS')):
            option = variable[6:].lower().replace('_', '-')
            for how in ('variable', 'option', 'file'):
                with self.fresh(variable, how):
                    self.key()
                    self.write('my.clients', '')
                    self.write('my.tokens', 'rig step %s\n' % ('0' * 64))
                    self.write('conf', '%s = %s/%s # of my own\n' % (option, HOME, name))
                    more = {'variable': {variable: HOME + '/' + name},
                            'file': {'MECHD_CONFIG': HOME + '/conf'}}.get(how, {})
                    words = ['--' + option, HOME + '/' + name] if how == 'option' else []
                    info = self.serve({**PORTS, **LISTEN, **more}, *words)
                    self.assertTrue(info['serverKey'])
                    self.assertEqual('#token=' in self.said(), name != 'my.tokens')
                    made = {'my.key': 'curve.key', 'my.clients': 'curve.clients',
                            'my.tokens': 'tokens'}
                    self.assertEqual({n for n in made.values() if os.path.exists(self.at(n))},
                                     set(made.values()) - {made[name]})

    def test_the_socket_is_always_there(self):
        """Health check and mechctl in the container ask through it."""
        self.write('conf', 'listen = 127.0.0.1:0 # of my own\n')
        for variables, words in ((LISTEN, ()), ({}, ('--listen', '127.0.0.1:0')),
                                 ({}, ('--listen=127.0.0.1:0',)),
                                 ({'MECHD_LISTEN': '127.0.0.1:0,' + SOCKET}, ()),
                                 ({}, ('--listen', '127.0.0.1:0,' + SOCKET)),
                                 ({}, ('--listen', SOCKET, '--listen', '127.0.0.1:0')),
                                 ({'MECHD_CONFIG': HOME + '/conf'}, ())):
            with self.fresh(variables, words):
                self.write('conf', 'listen = 127.0.0.1:0 # of my own\n')
                info = self.serve({**PORTS, **variables}, *words)
                self.assertRegex(info['http'], '^(http://127.0.0.1:[1-9]|%s$)' % SOCKET)
                with socket.socket(socket.AF_UNIX) as s:
                    s.connect(self.at('mechd.sock'))

    def test_a_configuration_file_has_precedence(self):
        self.write('conf', 'control = tcp://127.0.0.1:*\nstream=tcp://127.0.0.1:*\n'
                   '  forces = none\nlisten = 127.0.0.1:0\nstate = %s/mine\n' % HOME)
        for how in ('MECHD_CONFIG', '--config', '-'):
            with self.fresh(how):
                self.write('conf', 'control = tcp://127.0.0.1:*\nstream=tcp://127.0.0.1:*\n'
                           '  forces = none\nlisten = 127.0.0.1:0\nstate = %s/mine\n' % HOME)
                path = HOME + '/conf'
                given = {'MECHD_CONFIG': path, '-': '-' + path}.get(how)
                info = self.serve({'MECHD_CONFIG': given} if given else {},
                                  *([] if given else ['--config', path]))
                self.assertIsNone(info.get('forces'))
                self.assertNotIn(':5555', info['control'])
                self.assertTrue(os.path.exists(self.at('mine')))
                self.assertFalse(os.path.exists(self.at('state')))

    def test_a_file_is_read_as_by_the_daemon(self):
        """Whatever precedes, separates and follows its values."""
        for text in ('\ufefftokens = %s/mine\n', '\ttokens\t=%s/mine\t# of my own\r\n'):
            with self.fresh(text):
                self.write('mine', 'rig step %s\n' % ('0' * 64))
                self.write('conf', text % HOME)
                self.serve({**PORTS, **LISTEN, 'MECHD_CONFIG': HOME + '/conf'})
                self.assertNotIn('#token=', self.said())
                self.assertFalse(os.path.exists(self.at('tokens')))

    def test_a_switch_that_is_off_is_off(self):
        for variables, words in (({'MECHD_CHECK_CONFIG': 'off'}, ()), ({}, ('--check-config=no',)),
                                 ({'MECHD_CHECK_CONFIG': 'on'}, ('--check-config=off',))):
            with self.fresh(variables, words):
                self.serve({**PORTS, **LISTEN, **variables}, *words)
                self.assertIn('#token=', self.said())

    def test_a_file_may_ask_for_a_check(self):
        self.write('conf', 'check-config = on\n')
        _, text = self.run_to_end({**PORTS, **LISTEN, 'MECHD_CONFIG': HOME + '/conf'})
        self.assertNotIn('#token=', text)
        self.assertIn('mechd: the first start will create %s/tokens\n' % HOME, text)
        self.assertEqual(os.listdir(self.volume), ['conf'])

    def test_instances_may_live_in_memory(self):
        for variables, words, text in (({}, ('--state', 'none'), ''), ({}, ('--state=none',), ''),
                                       ({'MECHD_STATE': 'none'}, (), ''),
                                       ({}, (), 'state = none\n')):
            with self.fresh(variables, words, text):
                self.write('conf', text)
                self.serve({**PORTS, **LISTEN, **variables, 'MECHD_CONFIG': HOME + '/conf'},
                           *words)
                self.assertFalse(os.path.exists(self.at('state')))

    def test_an_empty_variable_sets_nothing(self):
        self.serve({**PORTS, **LISTEN, 'MECHD_TOKENS': '', 'MECHD_STATE': ''})
        self.assertIn('#token=', self.said())
        self.assertTrue(os.path.exists(self.at('state')))

    def test_what_serves_nothing_makes_nothing(self):
        for words, pattern in ((('--help',), 'usage: mechd'), (('--version',), r'^mechd \d'),
                               (('--print', 'errors'), 'malformed-json'),
                               (('--make-token', 'rig', '--scopes', 'read'), 'line +rig read'),
                               (('--make-curve-key=rig',), 'secret'),
                               (('--check-config', '--log-level', 'loud'), 'loud'),
                               (('mechctl', '--version'), r'^mechctl \d')):
            code, text = self.run_to_end({**PORTS, **LISTEN}, *words)
            self.assertRegex(text, pattern)
            self.assertEqual(code, 1 if 'loud' in words else 0, text)
            self.assertEqual((os.listdir(self.volume), '#token=' in text), ([], False), words)

    def test_what_would_be_made_is_checked(self):
        """A check makes nothing, and after a first start it is sound."""
        text = self.run_to_end({**PORTS, **LISTEN}, '--check-config')[1]
        for name in ('tokens', 'curve.key', 'curve.clients'):
            self.assertIn('mechd: the first start will create %s/%s\n' % (HOME, name), text)
        self.assertEqual(os.listdir(self.volume), [])
        self.serve({**PORTS, **LISTEN})
        code, text = self.run_to_end({**PORTS, **LISTEN, 'MECHD_CHECK_CONFIG': 'on'})
        self.assertEqual(code, 0, text)
        self.assertIn('state      %s/state, durability checkpoint' % HOME, text)


class Unit(unittest.TestCase):
    """The unit of systemd: what it sets is overruled by the files that it reads."""

    def durability(self, text, **variables):
        with open(os.path.join(DEPLOY, 'mechd.service.in'), encoding='utf-8') as f:
            unit = dict(re.findall(r'^Environment=(\w+)=(.*)$', f.read(), re.M))
        with tempfile.NamedTemporaryFile('w') as f:
            f.write(text)
            f.flush()
            out = subprocess.run(
                [harness.program('mechd'), '--state', '/var/lib/mechd', '--print', 'settings'],
                env={**unit, 'MECHD_CONFIG': f.name, **variables}, stdout=subprocess.PIPE,
                check=True, timeout=60 * harness.SLOW).stdout.decode()
        return re.search('^durability = (.*)$', out, re.M).group(1)

    def test_its_defaults_are_the_weakest(self):
        self.assertEqual(self.durability(''), 'checkpoint')
        self.assertEqual(self.durability('durability = every-step\n'), 'every-step')
        self.assertEqual(self.durability('durability = none\n', MECHD_DURABILITY='every-step'),
                         'every-step')


if __name__ == '__main__':
    unittest.main()
