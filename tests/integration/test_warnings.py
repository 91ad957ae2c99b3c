"""Warnings of a model: reported at its creation, kept with the instance, shown by every client."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
import harness
from harness import Daemon, Served

sys.path.insert(0, os.path.join(harness.ROOT, 'clients', 'python'))
import mechd  # noqa: E402
from models import bar, pendulum


class Warnings(Served):
    def create(self, model, **more):
        reply = self.daemon.call('POST', '/v1/instances', {'model': model, **more})
        self.assertEqual(reply.status, 201, reply)
        return '/v1/instances/' + reply['id'], reply['warnings']

    def test_they_are_kept_with_the_instance(self):
        for model, words in ((pendulum([2, 2]), 'repeats'), (bar([0, 0, 2]), 'violate')):
            root, told = self.create(model)
            self.assertEqual([w['pointer'] for w in told], ['/model/objects/2'])
            self.assertIn(words, told[0]['message'])
            self.assertEqual(self.daemon.call('POST', root + '/step', {'count': 3}).status, 200)
            self.assertEqual(self.daemon.call('GET', root).json.get('warnings'), told)
            listed = self.daemon.call('GET', '/v1/instances?limit=1000')['items']
            self.assertEqual([i.get('warnings') for i in listed if root.endswith('/' + i['id'])],
                             [told])
            # what is created from it reports the same, at once and later
            sid = self.daemon.call('POST', root + '/snapshots')['id']
            data = self.daemon.call('GET', '%s/snapshots/%s' % (root, sid)).raw
            for reply in (self.daemon.call('POST', root + '/clone', {}),
                          self.daemon.call('POST', '/v1/instances', data, {
                              'Content-Type': 'application/vnd.mechd.snapshot'})):
                self.assertEqual(reply.status, 201, reply)
                self.assertEqual(reply['warnings'], told)
                copy = self.daemon.call('GET', '/v1/instances/' + reply['id'])
                self.assertEqual(copy['warnings'], told)

    def test_a_model_without_has_none(self):
        i = self.daemon.create(pendulum([2]))
        self.assertNotIn('warnings', self.daemon.call('GET', '/v1/instances/' + i).json)

    def test_they_outlive_the_process(self):
        with tempfile.TemporaryDirectory() as folder:
            with Daemon('--state', folder) as d:
                made = d.call('POST', '/v1/instances', {'model': pendulum([2, 2]),
                                                        'durability': 'every-step'})
                self.assertEqual(made.status, 201, made)
            with Daemon('--state', folder) as d:
                shown = d.call('GET', '/v1/instances/' + made['id'])
                self.assertEqual(shown.json.get('warnings'), made['warnings'])

    def test_mechctl_shows_them(self):
        def run(*arguments):
            done = subprocess.run([harness.program('mechctl'), *arguments], text=True,
                                  capture_output=True, timeout=60 * harness.SLOW,
                                  env={**os.environ, 'MECHD_SERVER': self.daemon.base})
            self.assertEqual(done.returncode, 0, done)
            return done.stdout, done.stderr
        with tempfile.NamedTemporaryFile('w', suffix='.json') as f:
            json.dump(pendulum([2, 2]), f)
            f.flush()
            words = '/objects/2: warning: the joint "rod1" repeats other joints'
            out, told = run('create', f.name)
            self.assertIn('%s: %s' % (f.name, words), told)
            i, = out.split()
            self.assertIn('%s: %s' % (f.name, words), run('check', f.name)[1])
            self.assertIn('mechctl: /model' + words, run('clone', i)[1])
            self.assertIn('the joint "rod1" repeats other joints', run('show', i)[0])
            self.assertNotIn('warning', run('--json', 'create', f.name)[1])

    def test_python_has_them(self):
        server = mechd.Server(self.daemon.base)
        made = server.create(pendulum([2, 2]))
        self.assertIn('repeats', made.warnings[0]['message'])
        for same in (server.instance(made.id), made.clone(),
                     *(i for i in server.instances() if i.id == made.id)):
            self.assertEqual(same.warnings, made.warnings)


if __name__ == '__main__':
    unittest.main()
