"""What the tests of this folder share: programs and their packages, folders, containers."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest
import urllib.parse
import harness

ROOT = harness.ROOT
DEPLOY = os.path.join(ROOT, 'deploy')
# commands of minutes: builds, and programs that install packages
LONG = 3600 * harness.SLOW


def need(**packages):
    """Skips the test where a program is missing, and names the package that has it."""
    missing = [p for program, p in packages.items()
               if not (shutil.which(program) or shutil.which(program, path='/usr/sbin:/sbin'))]
    if missing:
        raise unittest.SkipTest('apt-get install ' + ' '.join(missing))
    if os.getuid() != 0:
        raise unittest.SkipTest('needs root')


def run(*command, seconds=LONG, **more):
    """What a command prints; AssertionError with its end if it fails."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=seconds, check=False, **more)
    assert done.returncode == 0, '%s ended with %d:\n%s\n%s' % (
        ' '.join(command)[:300], done.returncode, done.stdout.decode(errors='replace')[-3000:],
        done.stderr.decode(errors='replace')[-6000:])
    return done.stdout.decode(errors='replace')


def folder(name):
    """A folder of the builds that stays for the next run: build/tests/ship/NAME."""
    path = os.path.join(os.path.dirname(os.path.abspath(harness.BUILD)), 'ship', name)
    os.makedirs(path, exist_ok=True)
    return path


# what podman needs where there is no systemd, and where limits of a process cannot be raised
CONFIGURATION = '''
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
events_logger = "file"
'''


class Engine:
    """buildah and podman with storage of their own, which needs no driver of the kernel."""

    def __init__(self):
        self.place = folder('storage')
        self.runs = tempfile.mkdtemp(prefix='mechd-ship-')
        path = os.path.join(self.runs, 'containers.conf')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(CONFIGURATION)
        self.environment = {**os.environ, 'CONTAINERS_CONF': path, 'DISABLE_HC_SYSTEMD': 'true'}
        self.options = ['--storage-driver', 'vfs', '--root', os.path.join(self.place, 'images'),
                        '--runroot', os.path.join(self.place, 'run')]

    def close(self):
        shutil.rmtree(self.runs, ignore_errors=True)

    def buildah(self, *words):
        return run('buildah', *self.options, *words, env=self.environment)

    def podman(self, *words):
        return run('podman', *self.options, '--tmpdir', self.runs, *words, env=self.environment)

    def logs(self, name):
        """What a container has printed on both of its outputs."""
        return subprocess.run(['podman', *self.options, '--tmpdir', self.runs, 'logs', name],
                              env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LONG,
                              check=False).stdout.decode(errors='replace')

    def image(self, tag, *options, **environment):
        """Builds the image of this tree on Debian's packages; its digest."""
        run(os.path.join(DEPLOY, 'image'), '--base', 'packages', '--storage', self.place,
            '--tag', tag, *options, env={**self.environment, **environment})
        return self.digest(tag)

    def digest(self, tag):
        return json.loads(self.podman('image', 'inspect', tag))[0]['Digest']

    def has(self, tag):
        return subprocess.run(['buildah', *self.options, 'inspect', '--type', 'image', tag],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False).returncode == 0


class Contained:
    """A daemon in a container, to be asked as one of harness.Daemon: over HTTP with its token."""

    def __init__(self, ready, token=None):
        self.ready, self.token, self.http = ready, token, None
        self.refresh()

    def close(self):
        if self.http:
            self.http.close()

    def refresh(self):
        """Reads the endpoints again, which a restart changes."""
        self.info = harness.wait_until(lambda: harness.read_json(self.ready), 'it is ready', 60)
        addresses = self.info['http']
        self.base = addresses if isinstance(addresses, str) else addresses[0]
        self.close()
        self.http = harness.Http(self.base)

    def call(self, method, path, body=None, headers=None):
        token = {'Authorization': 'Bearer ' + self.token} if self.token else {}
        return self.http.call(method, path, body, {**token, **(headers or {})})

    def events(self, path):
        """Lines of an answer that does not end."""
        address = urllib.parse.urlsplit(self.base)
        connection = harness.http.client.HTTPConnection(address.hostname, address.port,
                                                        timeout=60 * harness.SLOW)
        connection.request('GET', path, headers={'Authorization': 'Bearer ' + self.token})
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        try:
            while True:
                yield answer.readline().decode().rstrip('\n')
        finally:
            connection.close()
