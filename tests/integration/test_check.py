"""--check-config: the faults of a start, reported together, with nothing bound, and nothing
left of what is made."""
import os
import shutil
import sqlite3
import subprocess
import tempfile
import unittest
from harness import SLOW, Daemon, program


def check(*arguments):
    done = subprocess.run([program('mechd'), *arguments, '--check-config'], capture_output=True,
                          text=True, timeout=60 * SLOW)
    return done.returncode, done.stdout, done.stderr


class Check(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='mechd-check-')
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, 'w', encoding='utf-8') as f:
                f.write(text)
        return path

    def test_a_sound_configuration_is_reported_and_nothing_is_made(self):
        tokens = self.path('tokens', 'rig step %s\n' % ('0' * 64))
        code, out, err = check('--listen', '127.0.0.1:8080', '--listen',
                               'unix:' + self.path('http'), '--listen', '[::1]:0', '--control',
                               'tcp://127.0.0.1:*', '--stream', 'ipc://' + self.path('stream'),
                               '--forces', 'none', '--state', self.path('state'), '--tokens',
                               tokens, '--ready-file', self.path('ready'), '--durability',
                               'checkpoint', '--workers', '3')
        self.assertEqual((code, err), (0, ''))
        for line in ('listen     127.0.0.1:8080', 'stream     ipc://' + self.path('stream'),
                     'state      %s (will be created), durability checkpoint' % self.path('state'),
                     'tokens     %s: 1' % tokens, 'workers    3', 'log-level  info',
                     'the configuration is valid'):
            self.assertIn(line, out.splitlines())
        self.assertEqual(os.listdir(self.folder), ['tokens'])

    def test_the_settings_in_effect_are_printed_as_a_file(self):
        """Of all sources, and as the daemon reads them: a mark of UTF-8, comments, quotes."""
        path = self.path('conf', '\ufefftokens = /a/tokens # of my own\nlog-level = debug\n'
                         'check-config = on\nlisten = "unix:/tmp/a,b"\nlisten = 127.0.0.1:1\n')
        names = {'MECHD_CONFIG': path, 'MECHD_LOG_LEVEL': 'error', 'MECHD_DEFAULT_WORKERS': '3',
                 'MECHD_DEFAULT_TOKENS': '/none', 'MECHD_DEFAULT_STREAM': 'none'}
        words = [program('mechd'), '--workers=2', '--print', 'settings']
        out = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True,
                             timeout=60 * SLOW, env={**os.environ, **names}).stdout
        for line in ('tokens = /a/tokens', 'log-level = error', 'check-config = on',
                     'listen = "unix:/tmp/a,b",127.0.0.1:1', 'workers = 2', 'stream = none',
                     'access-log = off', 'state = none'):
            self.assertIn(line, out.splitlines())
        self.assertNotIn('curve-key', out)
        # read again, it is the same
        again = [program('mechd'), '--config', self.path('again', out), '--print', 'settings']
        self.assertEqual(subprocess.run(again, stdout=subprocess.PIPE, text=True, check=True,
                                        timeout=60 * SLOW).stdout, out)

    def test_each_fault_is_reported_with_its_option(self):
        file = self.path('file', 'not a line\n')
        missing = self.path('missing')
        os.symlink(missing, self.path('dangling'))
        for option, value, why in (
                ('listen', '127.0.0.1:70000', 'the port must be a number'),
                ('listen', '127.0.0.1:http', 'the port must be a number'),
                ('listen', '127.0.0.1:-1', 'the port must be a number'),
                ('listen', '127.0.0.1:', 'no port'),
                ('listen', '127.0.0.1.1.1:80', ''),
                ('listen', 'unix:%s/http' % missing, 'No such file'),
                ('listen', 'unix:' + file, 'not a socket'),
                ('listen', 'unix:/' + 'x' * 200, '1 to 107 bytes'),
                ('control', 'tcp://127.0.0.1:x', 'the port must be a number'),
                ('stream', 'inproc://stream', 'tcp://'),
                ('forces', 'ipc://%s/forces' % missing, 'No such file'),
                ('quota', 'instances=10 memory=1TB', "'memory=1TB' is not a limit"),
                ('state', file, 'Not a directory'),
                ('state', missing + '/state', 'No such file'),
                ('state', file + '/state', 'Not a directory'),
                ('state', self.path('dangling'), 'a symbolic link to a path'),
                ('tokens', missing, 'missing'),
                ('tokens', file, 'line 1'),
                ('tokens', self.folder, 'Is a directory'),
                ('config', self.folder, 'Is a directory'),
                ('ready-file', self.folder, 'Is a directory'),
                ('ready-file', file + '/ready', 'Not a directory'),
                ('ready-file', missing + '/ready', 'No such file')):
            code, out, err = check('--' + option, value)
            self.assertEqual(code, 1, (option, value))
            named = 'cannot read the configuration' if option == 'config' else '--' + option
            self.assertRegex(err, r'^mechd: %s .*%s.*\n$' % (named, why))
            self.assertNotIn('is valid', out)

    def test_a_folder_in_which_nothing_can_be_made_is_reported(self):
        # no user may make a file in /proc, whatever its permissions are
        for option, value in (('state', '/proc/mechd'), ('state', '/proc/self'),
                              ('ready-file', '/proc/mechd.json'), ('listen', 'unix:/proc/mechd'),
                              ('control', 'ipc:///proc/mechd')):
            code, out, err = check('--' + option, value)
            self.assertEqual(code, 1, (option, value, out))
            self.assertRegex(err, r'^mechd: --%s %s: .+\n$' % (option, value))
            done = subprocess.run([program('mechd'), '--listen', '127.0.0.1:0', '--control', 'none',
                                   '--stream', 'none', '--forces', 'none', '--' + option, value],
                                  capture_output=True, text=True, timeout=60 * SLOW)
            self.assertEqual(done.returncode, 1, (option, value, done.stderr))

    def test_a_file_of_the_state_that_cannot_be_written_is_reported(self):
        for name in ('lock', 'mechd.sqlite'):
            state = self.path('state-of-' + name)
            os.makedirs(os.path.join(state, name))
            code, _, err = check('--state', state)
            self.assertEqual(code, 1, name)
            self.assertIn('%s: Is a directory' % name, err)
            self.assertEqual(os.listdir(state), [name])

    def test_all_faults_are_reported_at_once(self):
        missing = self.path('missing')
        code, _, err = check('--listen', '127.0.0.1:x', '--control', 'tcp://127.0.0.1:x',
                             '--state', missing + '/state', '--tokens', missing)
        self.assertEqual((code, len(err.splitlines())), (1, 4))

    def test_what_is_no_address_is_reported_before_its_reach(self):
        port = 'tcp://127.0.0.1:5655'
        for arguments, why in (
                (('--listen', '8080'), '--listen 8080: it must be HOST:PORT, '),
                (('--listen', 'here'), '--listen here: it must be HOST:PORT, '),
                (('--control', '5555'), '--control 5555: it must be tcp://HOST:PORT'),
                (('--control', port, '--stream', port),
                 '--stream %s: already used by --control' % port),
                (('--listen', '127.0.0.1:9', '--listen', '127.0.0.1:9'),
                 '--listen 127.0.0.1:9: already used by --listen')):
            with self.subTest(arguments):
                code, _, err = check(*arguments)
                self.assertEqual((code, why in err), (1, True), err)
        ports = ('--listen', '127.0.0.1:0') * 2 + ('--control', 'tcp://127.0.0.1:*',
                                                   '--stream', 'tcp://127.0.0.1:*')
        self.assertEqual(check(*ports, '--forces', 'none', '--state', 'none')[0], 0)

    def test_a_database_that_would_be_quarantined_is_reported(self):
        state = self.path('state')
        with Daemon('--state', state):
            pass
        database = os.path.join(state, 'mechd.sqlite')
        self.assertEqual(check('--state', state)[0], 0)
        connection = sqlite3.connect(database)
        connection.execute('PRAGMA user_version = 1000')
        connection.close()
        before = os.listdir(state)
        code, _, err = check('--state', state)
        self.assertEqual(code, 1)
        self.assertIn('a newer version of mechd wrote mechd.sqlite', err)
        for content, wrong in ((b'no database' * 100, True), (b'SQLite', True), (b'', False)):
            with open(database, 'wb') as f:
                f.write(content)
            code, _, err = check('--state', state)
            self.assertEqual((code, 'damaged' in err), (int(wrong), wrong), content)
        self.assertEqual(os.listdir(state), before)

    def test_it_may_be_asked_beside_a_daemon_that_runs(self):
        state = self.path('state')
        with Daemon('--state', state) as d:
            address = d.base.split('//')[1]
            self.assertEqual(check('--listen', address, '--state', state, '--control',
                                   d.info['control'])[0], 0)
            self.assertEqual(d.call('GET', '/readyz').status, 200)


if __name__ == '__main__':
    unittest.main()
