"""deploy/run as a newcomer meets it: lines of progress while packages come and while it builds, a
port of its own, and what the examples in Python need. Programs of the system are replaced where
they would install or build; the daemon is the one of this build."""
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import unittest
import urllib.request
import harness
from harness import ROOT, program, wait_until, with_us

# holds until the test lets it go on
HELD = 'until [ -e "$GO" ] || [ ! -e "$FOLDER" ]; do sleep 0.05; done'  # steady: between two looks
NINJA = '#!/bin/sh\necho "[1/2] Compiling a part"\n%s\necho "[2/2] Linking"\n' % HELD
APT = '#!/bin/sh\ncase "$*" in\n*install*) echo "Unpacking libheld"; %s ;;\nesac\n' % HELD
# no package is installed, and no command makes one unnecessary
QUERY = '#!/bin/sh\necho "${MISSING:-}"\n'
PYTHON = '#!/bin/sh\ncase "$2" in "import zmq"*) exit 1 ;; esac\nexec /usr/bin/env -i ' \
         'PATH=/usr/bin:/bin python3 "$@"\n'
REFUSING = '''
import socket


class Refusing(socket.socket):
    def bind(self, address):
        if address[1] == %d:
            raise PermissionError(13, 'Permission denied')
        super().bind(address)


socket.socket = Refusing
'''


def lives(pid):
    """Whether there is such a process, and not only its end to be read."""
    try:
        with open('/proc/%d/stat' % pid, encoding='utf-8') as f:
            return f.read().rsplit(')', 1)[1].split()[0] != 'Z'
    except FileNotFoundError:
        return False


class FirstRun(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='mechd-first-')
        self.addCleanup(shutil.rmtree, self.folder)
        self.build, self.go = self.at('build'), self.at('go')
        os.makedirs(os.path.join(self.build, 'server'))
        os.symlink(os.path.abspath(program('mechd')), os.path.join(self.build, 'server', 'mechd'))
        self.write('build/build.ninja', '')
        os.mkdir(self.at('bin'))
        self.program('ninja', NINJA)

    def at(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        with open(self.at(name), 'w', encoding='utf-8') as f:
            f.write(text)

    def program(self, name, text):
        self.write('bin/' + name, text)
        os.chmod(self.at('bin', name), stat.S_IRWXU)

    def said(self):
        with open(self.at('said'), encoding='utf-8') as f:
            return f.read()

    def start(self, *words, **environment):
        given = {**os.environ, 'MECHD_RUN_BUILD': self.build, 'MECHD_RUN_SIGN': '0.1',
                 'GO': self.go, 'FOLDER': self.folder,
                 'PATH': self.at('bin') + ':' + os.environ['PATH'], **environment}
        with open(self.at('said'), 'wb') as said:
            return subprocess.Popen(
                with_us() + [os.path.join(ROOT, 'deploy', 'run'), *words], stdout=said,
                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=given)

    def ended(self, process):
        return process.wait(60 * harness.SLOW), self.said()

    def begin(self, *words, **environment):
        """(exit code, what it prints) of a start in the background; what it starts is stopped."""
        self.write('go', '')
        self.addCleanup(lambda: self.ended(self.start('--stop')))
        return self.ended(self.start('--no-install', '--background', *words, **environment))

    def test_a_build_prints_where_it_is_as_long_as_it_lasts(self):
        process = self.start('--no-install', '--background')
        try:
            wait_until(lambda: self.said().count('build: [1/2] Compiling a part\n') >= 3,
                       'three lines of progress')
        finally:
            self.write('go', '')
            code, said = self.ended(process)
            self.ended(self.start('--stop'))
        self.assertEqual(code, 0, said)

    def test_packages_print_where_they_are_as_long_as_they_come(self):
        for name, text in (('apt-get', APT), ('dpkg-query', QUERY), ('sudo', '#!/bin/sh\n"$@"\n'),
                           ('apt-cache', '#!/bin/sh\n')):
            self.program(name, text)
        process = self.start('--background')
        wait_until(lambda: self.said().count('packages: Unpacking libheld\n') >= 3,
                   'three lines of progress')
        self.write('go', '')
        code, said = self.ended(process)
        self.ended(self.start('--stop'))
        self.assertEqual(code, 0, said)
        self.assertIn('packages: installing ', said)

    def test_a_build_that_fails_prints_the_end_of_its_log(self):
        self.program('ninja', '#!/bin/sh\necho "error: planted"\nexit 1\n')
        code, said = self.ended(self.start('--no-install', '--background'))
        self.assertEqual(code, 1)
        self.assertIn('error: planted', said)

    def test_what_waits_for_the_next_line_of_progress_ends_with_the_work(self):
        self.program('sleep', '#!/bin/sh\necho $$ >"$FOLDER/slept"\nexec /bin/sleep "$@"\n')
        self.program('ninja', '#!/bin/sh\nuntil [ -s "$FOLDER/slept" ]; do /bin/sleep 0.01; done\n'
                              'exit 1\n')
        code, said = self.ended(self.start('--no-install', '--background', MECHD_RUN_SIGN='3600'))
        self.assertEqual(code, 1, said)
        with open(self.at('slept'), encoding='utf-8') as f:
            pid = int(f.read())
        try:
            wait_until(lambda: not lives(pid), 'the end of its sleep')
        finally:
            if lives(pid):
                os.kill(pid, signal.SIGKILL)

    def test_a_port_is_that_one_or_none(self):
        with socket.socket() as taken:
            taken.bind(('127.0.0.1', 0))
            taken.listen()
            port = taken.getsockname()[1]
            code, said = self.begin('--port', str(port))
            self.assertEqual(code, 1, said)
            self.assertIn('port %d is taken' % port, said)
        # the one that it proposes, which another program may have got meanwhile
        for _ in range(20):
            free = re.search(r'deploy/run --port (\d+)', said).group(1)
            code, said = self.begin('--port', free)
            if 'is taken' not in said:
                break
        self.assertEqual(code, 0, said)
        page = re.search(r'dashboard +(\S+)', said).group(1)
        self.assertIn(':%s/' % free, page)
        with urllib.request.urlopen(page, timeout=20 * harness.SLOW) as reply:
            self.assertEqual(reply.status, 200)

    def test_a_port_that_is_none_is_refused_before_anything_is_built(self):
        for words in (('--port', '0'), ('--port', '65536'), ('--port=x',), ('--port',),
                      ('--port=',), ('--port', '')):
            code, said = self.ended(self.start('--no-install', *words))
            self.assertEqual(code, 2, said)
            self.assertIn('--port takes a number from 1 to 65535', said)
            self.assertNotIn('build:', said)

    def test_a_port_that_may_not_be_used_is_distinguished_from_one_in_use(self):
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            port = free.getsockname()[1]
        # as for those below 1024 of a user who is not root
        self.write('sitecustomize.py', REFUSING % port)
        self.write('go', '')
        code, said = self.ended(self.start('--no-install', '--background', '--port', str(port),
                                           PYTHONPATH=self.folder))
        self.assertEqual(code, 1, said)
        self.assertIn('port %d cannot be used: Permission denied; ' % port, said)
        self.assertRegex(said, r'\d+ is free: deploy/run --port \d+')
        self.assertNotIn('is taken', said)

    def test_what_is_not_installed_is_reported(self):
        code, said = self.begin('--python')
        self.assertEqual(code, 0, said)
        self.assertIn('packages: --python installs nothing with --no-install: python3-zmq '
                      'python3-requests\n', said)

    def test_the_examples_in_python_are_offered_what_they_lack(self):
        self.program('python3', PYTHON)
        code, said = self.begin(MECHD_RUN_PYTHON='false')
        self.assertEqual(code, 0, said)
        self.assertIn('deploy/run --python installs them', said)

    def test_a_python_without_the_packages_is_distinguished_from_theirs(self):
        self.program('python3', PYTHON)
        code, said = self.begin(MECHD_RUN_PYTHON='true')
        self.assertEqual(code, 0, said)
        self.assertIn('true has them, %s has not' % self.at('bin', 'python3'), said)
        self.assertNotIn('--python installs', said)


if __name__ == '__main__':
    unittest.main()
