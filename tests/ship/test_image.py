"""deploy/Containerfile, built and run: two builds are one image of at most 80 MB, and a container
of it does the main job as a user without rights on a root that is read-only, with its state on a
volume."""
import json
import os
import re
import shutil
import tempfile
import unittest
import harness
import models
from harness import wait_until
from places import DEPLOY, Contained, Engine, folder, need, run

TAG = 'localhost/mechd:ship'
MOST = 80e6  # bytes of all layers, compressed
USER = 10001


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need(buildah='buildah', podman='podman', runc='runc', mmdebstrap='mmdebstrap',
             conmon='conmon')
        cls.engine = Engine()
        cls.addClassCleanup(cls.engine.close)
        # a commit between two builds is no difference
        cls.when = run(os.path.join(DEPLOY, 'epoch')).strip()
        cls.digest = cls.engine.image(TAG, SOURCE_DATE_EPOCH=cls.when)

    def setUp(self):
        self.volume = tempfile.mkdtemp(prefix='mechd-volume-')
        self.addCleanup(shutil.rmtree, self.volume)
        os.chown(self.volume, USER, USER)
        self.ready = os.path.join(self.volume, 'ready.json')

    def podman(self, *words):
        return self.engine.podman(*words)

    def begin(self, name, *options):
        """A container as deploy/README.md starts it, on ports that the kernel gives."""
        self.addCleanup(self.podman, 'rm', '-f', '-i', name)
        self.podman('run', '-d', '--name', name, '--network', 'host', '--read-only',
                    '--read-only-tmpfs=false', '--cap-drop', 'all', '--security-opt',
                    'no-new-privileges', '-v', self.volume + ':/var/lib/mechd',
                    '-e', 'MECHD_LISTEN=127.0.0.1:0',
                    '-e', 'MECHD_CONTROL=tcp://127.0.0.1:*', '-e', 'MECHD_STREAM=tcp://127.0.0.1:*',
                    '-e', 'MECHD_FORCES=tcp://127.0.0.1:*', '-e', 'LOGIN_ADDRESS=http://rig.test/',
                    TAG, '--ready-file', '/var/lib/mechd/ready.json', *options)

    def contained(self, token=None):
        d = Contained(self.ready, token)
        self.addCleanup(d.close)
        return d

    def logs(self, name):
        return self.engine.logs(name)

    def state(self, name):
        return json.loads(self.podman('inspect', name))[0]['State']

    def token(self, name):
        """The token of the login address that the first start prints."""
        found = wait_until(lambda: re.search(r'http://rig\.test/#token=(\S+)', self.logs(name)),
                           'the login address is printed', 60)
        return found.group(1)

    def test_the_main_job_survives_a_restart(self):
        self.begin('mechd-job')
        d = self.contained(self.token('mechd-job'))
        self.assertEqual(d.call('GET', '/readyz').status, 200)
        self.assertEqual(self.contained().call('GET', '/v1/instances').status, 401)
        i = d.call('POST', '/v1/instances', {'model': models.oscillator()})['id']
        step = d.call('POST', '/v1/instances/%s/step' % i, {'count': 10})
        self.assertEqual(step.status, 200, step)

        # live events and the stream, whose keys the first start has made too
        events = d.events('/v1/instances/%s/events' % i)
        found = next(line for line in events if line.startswith('data: '))
        self.assertEqual(json.loads(found[6:])['step'], 10)
        events.close()
        self.stream(d, i, 'mechd-job')

        # mechctl asks through the socket, with a token
        listed = self.podman('exec', '-e', 'MECHD_TOKEN=' + d.token, 'mechd-job', 'mechctl', 'list')
        self.assertIn(i, listed)

        # SIGTERM ends it in order, and what it did is on the volume
        before = d.call('GET', '/v1/instances/%s/state' % i).json
        self.podman('stop', '-t', '60', 'mechd-job')
        self.assertEqual(self.state('mechd-job')['ExitCode'], 0, self.logs('mechd-job'))
        self.assertFalse(os.path.exists(self.ready))
        self.podman('start', 'mechd-job')
        d.refresh()
        self.assertEqual(d.call('GET', '/v1/instances/%s/state' % i).json, before)
        again = d.call('POST', '/v1/instances/%s/step' % i, {'count': 1})
        self.assertEqual(again.json['step'], before['step'] + 1)
        self.assertEqual(self.logs('mechd-job').count('#token='), 1)

    def stream(self, d, i, name):
        """A frame through ZeroMQ for a key that an operator adds while it runs."""
        text = self.podman('exec', name, 'mechd', '--make-curve-key', 'rig', '--scopes', 'read')
        made = dict(line.split(None, 1) for line in text.splitlines())
        with open(os.path.join(self.volume, 'curve.clients'), 'a', encoding='utf-8') as f:
            f.write(made['line'] + '\n')
        self.podman('kill', '-s', 'HUP', name)
        wait_until(lambda: 'event=reload keys=1' in self.logs(name), 'the keys are read again', 60)
        with harness.Stream(d, i, form='json', keys=harness.Keys(d.info['serverKey'], made)) as s:
            # what has been published last comes first
            self.assertEqual(s.next()[1]['step'], 10)

    def test_it_has_no_rights_and_is_healthy(self):
        self.begin('mechd-rights')
        self.token('mechd-rights')
        self.contained()
        self.assertEqual(self.podman('exec', 'mechd-rights', 'id', '-u').strip(), str(USER))
        status = self.podman('exec', 'mechd-rights', 'cat', '/proc/1/status')
        self.assertRegex(status, r'CapEff:\s+0{16}\n')
        self.assertRegex(status, r'NoNewPrivs:\s+1\n')
        with self.assertRaisesRegex(AssertionError, 'Read-only file system'):
            self.podman('exec', 'mechd-rights', 'touch', '/tmp/x')
        self.podman('healthcheck', 'run', 'mechd-rights')
        name = self.podman('exec', 'mechd-rights', 'cat', '/proc/1/comm')
        self.assertEqual(name.strip(), 'mechd')
        for secret in ('tokens', 'curve.key'):
            self.assertEqual(os.stat(os.path.join(self.volume, secret)).st_mode & 0o777, 0o600)

    def test_a_token_for_metrics_and_other_programs(self):
        # another first word runs instead
        out = self.podman('run', '--rm', '--network', 'none', TAG, 'mechctl', '--version')
        self.assertRegex(out, r'^mechctl \d')
        place = folder('metrics')
        shutil.rmtree(place)
        os.makedirs(place)
        os.chown(place, USER, USER)
        self.addCleanup(self.podman, 'rm', '-f', '-i', 'mechd-metrics')
        self.podman('run', '-d', '--name', 'mechd-metrics', '--network', 'host', '--read-only',
                    '-v', self.volume + ':/var/lib/mechd', '-v', place + ':/var/lib/mechd-metrics',
                    '-e', 'METRICS_TOKEN_FILE=/var/lib/mechd-metrics/token',
                    '-e', 'MECHD_LISTEN=127.0.0.1:0', '-e', 'MECHD_CONTROL=none',
                    '-e', 'MECHD_STREAM=none', '-e', 'MECHD_FORCES=none',
                    TAG, '--ready-file', '/var/lib/mechd/ready.json')
        path = os.path.join(place, 'token')
        wait_until(lambda: os.path.exists(path) and os.stat(path).st_mode & 0o777 == 0o444,
                   'the token is there', 60)
        with open(path, encoding='ascii') as f:
            d = self.contained(f.read().strip())
        self.assertEqual(d.call('GET', '/metrics').status, 200)
        self.assertEqual(d.call('POST', '/v1/instances', {'example': 'mass1d'}).status, 403)

    def test_it_is_small(self):
        place = tempfile.mkdtemp(prefix='mechd-layers-')
        self.addCleanup(shutil.rmtree, place)
        self.engine.buildah('push', '-q', TAG, 'oci:%s:ship' % place)
        blobs = os.path.join(place, 'blobs', 'sha256')
        size = sum(os.path.getsize(os.path.join(blobs, b)) for b in os.listdir(blobs))
        print('    %.1f MB compressed' % (size / 1e6))
        self.assertLessEqual(size, MOST)

    def test_no_source_of_this_machine_is_in_it(self):
        """What apt used here for the build has left no trace."""
        sources = run('apt-get', 'indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages')
        text = self.podman('run', '--rm', '--network', 'none', '--user', '0', TAG, 'sh', '-c',
                           'cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null; true')
        for host in set(re.findall(r'//([^/:\s]+)', sources)):
            self.assertFalse(host in text, 'a source of this machine is in the image')

    def test_two_builds_are_one_image(self):
        again = self.engine.image(TAG + '-again', SOURCE_DATE_EPOCH=self.when)
        self.assertEqual(again, self.digest)


if __name__ == '__main__':
    unittest.main()
