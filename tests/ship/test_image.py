"""deploy/Containerfile, built and run: two builds are one image of at most 80 MB, and a container
of it does the main job as a user without rights on a root that is read-only, with its state on a
volume."""
import os
import re
import shutil
import unittest
import fmus
from harness import wait_until
from containers import USER, Containers
from places import DEPLOY, Engine, folder, need, run

TAG = 'localhost/mechd:ship'


class Image(Containers):
    TAG = TAG

    @classmethod
    def setUpClass(cls):
        need(buildah='buildah', podman='podman', runc='runc', mmdebstrap='mmdebstrap',
             conmon='conmon')
        cls.engine = Engine()
        cls.addClassCleanup(cls.engine.close)
        # a commit between two builds is no difference
        cls.when = run(os.path.join(DEPLOY, 'epoch')).strip()
        cls.digest = cls.engine.image(TAG, SOURCE_DATE_EPOCH=cls.when)

    def test_the_main_job_survives_a_restart(self):
        self.do_the_main_job('mechd-job')

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

    def test_a_hosted_fmu_steps_as_its_model(self):
        """Its process has no more rights than the daemon, and the volume is all that it can
        unpack to."""
        self.begin('mechd-fmus', '--fmus', 'on')
        d = self.contained(self.token('mechd-fmus'))
        d.call('PUT', '/v1/instances/model', {'example': 'driven-oscillator'})
        uploaded = fmus.upload(d, d.call('GET', '/v1/instances/model/fmu').raw)
        self.assertEqual(uploaded.status, 201, uploaded)
        i = d.call('POST', '/v1/instances', {'fmu': uploaded['id']})['id']
        hosted, model = [d.call('POST', '/v1/instances/%s/step' % name, {'size': 0.1})
                         for name in (i, 'model')]
        self.assertEqual(hosted['outputs'], model['outputs'])

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
        self.check_size()

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
