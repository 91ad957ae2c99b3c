"""What tests ask a container of the image."""
import json
import os
import re
import shutil
import tempfile
import unittest
import harness
import models
from harness import wait_until
from places import Contained

MOST = 80e6  # bytes of all layers of an image, compressed
USER = 10001


class Containers(unittest.TestCase):
    """Containers of the image TAG in `engine`, each test with a volume of its own."""
    TAG = engine = None

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
                    self.TAG, '--ready-file', '/var/lib/mechd/ready.json', *options)

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

    def do_the_main_job(self, name):
        """A container of that name: ready, create, step, stream, a stop in order and a restart with
        what is on the volume. The state before and the reply to a step after it."""
        self.begin(name)
        d = self.contained(self.token(name))
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
        self.stream(d, i, name)

        # mechctl asks through the socket, with a token
        listed = self.podman('exec', '-e', 'MECHD_TOKEN=' + d.token, name, 'mechctl', 'list')
        self.assertIn(i, listed)

        # SIGTERM ends it in order, and what it did is on the volume
        before = d.call('GET', '/v1/instances/%s/state' % i).json
        self.podman('stop', '-t', '60', name)
        self.assertEqual(self.state(name)['ExitCode'], 0, self.logs(name))
        self.assertFalse(os.path.exists(self.ready))
        self.podman('start', name)
        d.refresh()
        self.assertEqual(d.call('GET', '/v1/instances/%s/state' % i).json, before)
        again = d.call('POST', '/v1/instances/%s/step' % i, {'count': 1})
        self.assertEqual(again.json['step'], before['step'] + 1)
        self.assertEqual(self.logs(name).count('#token='), 1)
        return before, again.json

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

    def check_size(self):
        place = tempfile.mkdtemp(prefix='mechd-layers-')
        self.addCleanup(shutil.rmtree, place)
        self.engine.buildah('push', '-q', self.TAG, 'oci:%s:ship' % place)
        blobs = os.path.join(place, 'blobs', 'sha256')
        size = sum(os.path.getsize(os.path.join(blobs, b)) for b in os.listdir(blobs))
        print('    %.1f MB compressed' % (size / 1e6))
        self.assertLessEqual(size, MOST)
