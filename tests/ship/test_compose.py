"""deploy/compose.yaml, brought up by podman-compose in a network of its own: mechd and a Prometheus
of Debian's package. The first start prints the login address, a model is stepped, Prometheus
scrapes with the token that it finds on the shared volume and has the alerts, and what was done is
there after a stop and another start. Grafana is no package of Debian and is left out."""
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import unittest
import harness
import yaml
from harness import wait_until, with_us
from places import CONFIGURATION, DEPLOY, Engine, need, run

TAG = 'localhost/mechd:ship'
PROMETHEUS = 'localhost/prometheus:ship'
FILE = os.path.join(DEPLOY, 'compose.yaml')
NOBODY = 65534  # who runs Prometheus in its own image, too
# networks with names, as compose files have them
NETWORK = CONFIGURATION + '''
[network]
network_backend = "netavark"
network_config_dir = "%s"
'''
# what netavark and podman keep beside their storage is of this network alone
OWN = 'ip link set lo up && mount -t tmpfs tmpfs /run && echo there && exec sleep infinity'


class Composed(Engine):
    """Podman and podman-compose in a network of their own, which ends with close()."""

    def __init__(self):
        super().__init__()
        with open(self.environment['CONTAINERS_CONF'], 'w', encoding='utf-8') as f:
            f.write(NETWORK % os.path.join(self.runs, 'networks'))
        self.process = subprocess.Popen(
            with_us() + ['unshare', '--net', '--mount', 'sh', '-c', OWN],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == b'there\n', 'there is no network of its own'
        self.inside = ['nsenter', '-t', str(self.process.pid), '--net', '--mount']
        # podman-compose takes a program, and no options for it
        self.program = os.path.join(self.runs, 'podman')
        with open(self.program, 'w', encoding='utf-8') as f:
            f.write('#!/bin/sh\nexec podman %s "$@"\n' % shlex.join(
                [*self.options, '--tmpdir', self.runs]))
        os.chmod(self.program, 0o755)

    def close(self):
        self.process.stdout.close()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(60 * harness.SLOW)
        super().close()

    def run(self, *words):
        return run(*self.inside, *words, env={**self.environment, 'MECHD_IMAGE': TAG})

    def podman(self, *words):
        return self.run(self.program, *words)

    def prometheus(self):
        """Makes the image: the program of Debian's package on nothing but its libraries."""
        program = shutil.which('prometheus')
        libraries = re.findall(r'(/\S+) \(', run('ldd', program))
        made = self.buildah('from', 'scratch').strip()
        place = self.buildah('mount', made).strip()
        for path, to in [(program, '/bin/prometheus'), *((p, p) for p in libraries)]:
            run('install', '-D', os.path.realpath(path), place + to)
        for name in ('etc/prometheus', 'prometheus', 'tmp'):
            os.makedirs(os.path.join(place, name))
        os.chown(os.path.join(place, 'prometheus'), NOBODY, NOBODY)
        self.buildah('umount', made)
        self.buildah('config', '--entrypoint', '["/bin/prometheus"]', '--user', str(NOBODY), made)
        self.buildah('commit', '-q', made, PROMETHEUS)
        self.buildah('rm', made)


class Compose(unittest.TestCase):
    def setUp(self):
        need(buildah='buildah', podman='podman', runc='runc', mmdebstrap='mmdebstrap',
             conmon='conmon', prometheus='prometheus', curl='curl', ip='iproute2',
             iptables='iptables', **{
                 'podman-compose': 'podman-compose', '/usr/lib/podman/netavark': 'netavark',
                 '/usr/lib/podman/aardvark-dns': 'aardvark-dns'})
        self.engine = Composed()
        self.addCleanup(self.engine.close)
        if not self.engine.has(TAG):
            self.engine.image(TAG)
        if not self.engine.has(PROMETHEUS):
            self.engine.prometheus()
        # what this machine has instead of a registry, and limits as of CONFIGURATION, both: where a
        # file sets one, podman raises the others
        self.path = os.path.join(self.engine.runs, 'here.yaml')
        with open(self.path, 'w', encoding='utf-8') as f:
            yaml.safe_dump({'services': {
                'mechd': {'ulimits': {'nofile': 20000, 'nproc': 4096}},
                'prometheus': {'image': PROMETHEUS}}}, f)
        # a run that was ended has left its volumes
        self.compose('down', '-v')
        self.addCleanup(self.compose, 'down', '-v')

    def compose(self, *words):
        return self.engine.run('podman-compose', '--podman-path', self.engine.program,
                               '-p', 'mechd', '-f', FILE, '-f', self.path, *words)

    def logs(self):
        return subprocess.run([*self.engine.inside, self.engine.program, 'logs', 'mechd_mechd_1'],
                              env=self.engine.environment, stdin=subprocess.DEVNULL, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=60 * harness.SLOW).stdout.decode(errors='replace')

    def ask(self, address, *words):
        """(status, what is answered) to curl in the network; 0 where there is no answer."""
        done = subprocess.run([*self.engine.inside, 'curl', '-s', '-w', '\n%{http_code}', *words,
                               address], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              timeout=60 * harness.SLOW, check=False)
        text, _, status = done.stdout.decode().rpartition('\n')
        return int(status), text

    def call(self, path, token, body=None):
        """What the port answers that the file publishes."""
        words = ['-H', 'Authorization: Bearer ' + token] + (
            ['-H', 'Content-Type: application/json', '-d', json.dumps(body)] if body else [])
        status, text = self.ask('http://127.0.0.1:8080' + path, *words)
        self.assertLess(status, 300, text)
        return json.loads(text)

    def metrics(self, path):
        """What Prometheus answers, which has no port outside of the network."""
        shown = json.loads(self.engine.podman('inspect', 'mechd_prometheus_1'))[0]
        address, = (n['IPAddress'] for n in shown['NetworkSettings']['Networks'].values())
        status, text = self.ask('http://%s:9090/api/v1/%s' % (address, path))
        return json.loads(text)['data'] if status == 200 else {}

    def value(self, expression):
        found = self.metrics('query?query=' + expression).get('result')
        return float(found[0]['value'][1]) if found else None

    def is_ready(self):
        return self.ask('http://127.0.0.1:8080/readyz')[0] == 200

    def test_the_main_job_by_the_file(self):
        self.compose('up', '-d', 'mechd', 'prometheus')
        token = wait_until(lambda: re.search(r'http://localhost:8080/#token=(\S+)', self.logs()),
                           'the login address is printed', 60).group(1)
        wait_until(self.is_ready, 'it is ready', 60)
        self.assertEqual(self.ask('http://127.0.0.1:8080/v1/instances')[0], 401)
        i = self.call('/v1/instances', token, {'example': 'four-bar'})['id']
        self.call('/v1/instances/%s/step' % i, token, {'count': 10})

        # each service finds the other by its name, and the token on the volume of both
        wait_until(lambda: (self.value('sum(mechd_steps_total)') or 0) >= 10, 'it is scraped', 120)
        self.assertEqual(self.value('up'), 1)
        with open(os.path.join(DEPLOY, 'prometheus', 'alerts.yml'), encoding='utf-8') as f:
            alerts = {r['alert'] for g in yaml.safe_load(f)['groups'] for r in g['rules']}
        found = {r['name'] for g in self.metrics('rules')['groups'] for r in g['rules']}
        self.assertEqual(found, alerts)

        # what the file takes away
        shown = json.loads(self.engine.podman('inspect', 'mechd_mechd_1'))[0]
        self.assertTrue(shown['HostConfig']['ReadonlyRootfs'])
        self.assertFalse(shown['EffectiveCaps'])

        # a stop in order, and another start with what is on the volumes
        state = self.call('/v1/instances/%s/state' % i, token)
        self.compose('stop', '-t', '30', 'mechd')
        stopped = json.loads(self.engine.podman('inspect', 'mechd_mechd_1'))[0]['State']
        self.assertEqual(stopped['ExitCode'], 0, self.logs())
        self.compose('down')
        self.compose('up', '-d', 'mechd', 'prometheus')
        wait_until(self.is_ready, 'it is ready', 60)
        self.assertEqual(self.call('/v1/instances/%s/state' % i, token), state)
        self.assertNotIn('#token=', self.logs())


if __name__ == '__main__':
    unittest.main()
