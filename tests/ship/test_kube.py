"""deploy/kubernetes: what kustomize renders is whole (selectors, names, ports and volumes meet),
and a pod of the set's template does the main job under podman."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import harness
import models
import yaml
from places import DEPLOY, Contained, Engine, need

FOLDER = os.path.join(DEPLOY, 'kubernetes')
TAG = 'localhost/mechd:ship'
USER = 10001
POD = 'statefulset.kubernetes.io/pod-name'


def documents(text):
    return [d for d in yaml.safe_load_all(text) if d is not None]


def render():
    """{kind/name: document} as kustomize makes them of the folder."""
    with open(os.path.join(FOLDER, 'kustomization.yaml'), encoding='utf-8') as f:
        plan = yaml.safe_load(f)
    images = {i['name']: '%s:%s' % (i['newName'], i['newTag']) for i in plan['images']}
    found = {}
    for name in plan['resources']:
        with open(os.path.join(FOLDER, name), encoding='utf-8') as f:
            for d in documents(f.read()):
                found['%s/%s' % (d['kind'], d['metadata']['name'])] = d
    for d in found.values():
        for c in d['spec'].get('template', {}).get('spec', {}).get('containers', []):
            c['image'] = images.get(c['image'], c['image'])
    return found


class Manifests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.all = render()
        cls.set = cls.all['StatefulSet/mechd']
        cls.template = cls.set['spec']['template']
        cls.pod = cls.template['spec']
        cls.container = cls.pod['containers'][0]

    def test_every_file_is_rendered(self):
        with open(os.path.join(FOLDER, 'kustomization.yaml'), encoding='utf-8') as f:
            listed = set(yaml.safe_load(f)['resources'])
        self.assertEqual(listed, set(os.listdir(FOLDER)) - {'kustomization.yaml'})
        self.assertEqual({k.split('/')[0] for k in self.all}, {
            'StatefulSet', 'Service', 'PodDisruptionBudget', 'NetworkPolicy'})

    def test_kubectl_renders_the_same(self):
        if not shutil.which('kubectl'):
            self.skipTest('apt-get install kubernetes-client')
        text = subprocess.run(['kubectl', 'kustomize', FOLDER], check=True, stdout=subprocess.PIPE,
                              timeout=60 * harness.SLOW).stdout.decode()
        rendered = {'%s/%s' % (d['kind'], d['metadata']['name']): d for d in documents(text)}
        self.assertEqual(rendered, self.all)

    def test_selectors_find_the_pod(self):
        # the second label is given by the set to its first pod
        labels = {**self.template['metadata']['labels'], POD: 'mechd-0'}
        for name, d in self.all.items():
            spec = d['spec']
            selector = spec.get('podSelector') or spec['selector']
            wanted = selector.get('matchLabels', selector)
            self.assertTrue(wanted and wanted.items() <= labels.items(), name)
        self.assertIn('Service/' + self.set['spec']['serviceName'], self.all)
        self.assertEqual(self.all['Service/mechd-members']['spec']['clusterIP'], 'None')
        # instances live in one replica: a service of several would mix them
        self.assertEqual(self.all['Service/mechd']['spec']['selector'][POD], 'mechd-0')
        self.assertNotIn(POD, self.all['Service/mechd-members']['spec']['selector'])

    def test_ports_are_those_of_the_container(self):
        ports = {p['name']: p['containerPort'] for p in self.container['ports']}
        for name, d in self.all.items():
            if d['kind'] == 'Service':
                found = {p['targetPort']: p['port'] for p in d['spec']['ports']}
                self.assertEqual(found, ports, name)
        for rule in self.all['NetworkPolicy/mechd']['spec']['ingress']:
            self.assertEqual({p['port'] for p in rule['ports']}, set(ports))
        with open(os.path.join(DEPLOY, 'Containerfile'), encoding='utf-8') as f:
            exposed = re.search(r'^EXPOSE (.*)$', f.read(), re.M).group(1)
        self.assertEqual(sorted(ports.values()), sorted(map(int, exposed.split())))

    def test_probes_ask_for_routes_that_need_no_token(self):
        with open(os.path.join(harness.ROOT, 'protocol', 'openapi.json'), encoding='utf-8') as f:
            paths = json.load(f)['paths']
        for kind in ('startupProbe', 'readinessProbe', 'livenessProbe'):
            get = self.container[kind]['httpGet']
            self.assertEqual(get['port'], 'http')
            self.assertIn(get['path'], paths)
            self.assertEqual(paths[get['path']]['get'].get('security', []) or [], [])

    def test_it_has_no_rights(self):
        self.assertEqual(self.pod['securityContext']['runAsUser'], USER)
        self.assertTrue(self.pod['securityContext']['runAsNonRoot'])
        self.assertFalse(self.pod['automountServiceAccountToken'])
        context = self.container['securityContext']
        self.assertTrue(context['readOnlyRootFilesystem'])
        self.assertFalse(context['allowPrivilegeEscalation'])
        self.assertEqual(context['capabilities'], {'drop': ['ALL']})

    def test_limits_fit_those_of_the_pod(self):
        limits = self.container['resources']['limits']
        given = {e['name']: e for e in self.container['env']}
        # the processors of the node are no measure; a reference without a limit means them too
        self.assertEqual(given['MECHD_WORKERS']['valueFrom']['resourceFieldRef']['resource'],
                         'limits.cpu')
        self.assertGreaterEqual(int(limits['cpu']), 1)
        memory = {'Mi': 1, 'Gi': 1024}[limits['memory'][-2:]] * int(limits['memory'][:-2])
        quota = re.search(r'\bmemory=(\d+)MiB', given['MECHD_QUOTA']['value'])
        # what reading a model of this size takes (deploy/README.md)
        reading = 30 * int(given['MECHD_MODEL_SIZE']['value'])
        # which each worker may do at once, beside the instances of one token
        self.assertLess(int(quota.group(1)) + int(limits['cpu']) * reading, memory)

    def test_volumes_are_claimed_where_they_are_mounted(self):
        claims = {c['metadata']['name'] for c in self.set['spec']['volumeClaimTemplates']}
        mounts = {m['name']: m['mountPath'] for m in self.container['volumeMounts']}
        self.assertEqual(claims, set(mounts))
        with open(os.path.join(DEPLOY, 'Containerfile'), encoding='utf-8') as f:
            volume = re.search(r'^VOLUME (\S+)$', f.read(), re.M).group(1)
        self.assertIn(volume, mounts.values())


class Pod(unittest.TestCase):
    """The set's template as a pod, its claim a folder, on ports that the kernel gives."""

    def setUp(self):
        need(buildah='buildah', podman='podman', runc='runc', mmdebstrap='mmdebstrap',
             conmon='conmon')
        self.engine = Engine()
        self.addCleanup(self.engine.close)
        if not self.engine.has(TAG):
            self.engine.image(TAG)
        self.folder = tempfile.mkdtemp(prefix='mechd-kube-')
        self.addCleanup(shutil.rmtree, self.folder)
        self.volume = os.path.join(self.folder, 'state')
        os.mkdir(self.volume)
        os.chown(self.volume, USER, USER)
        template = render()['StatefulSet/mechd']['spec']['template']
        template['spec']['hostNetwork'] = True
        template['spec']['volumes'] = [
            {'name': 'state', 'hostPath': {'path': self.volume, 'type': 'Directory'}}]
        container = template['spec']['containers'][0]
        container['image'] = TAG
        container['args'] = ['--ready-file', '/var/lib/mechd/ready.json']
        container['env'] += [{'name': n, 'value': v} for n, v in (
            ('MECHD_LISTEN', '127.0.0.1:0,unix:/var/lib/mechd/mechd.sock'),
            ('MECHD_CONTROL', 'none'), ('MECHD_STREAM', 'none'), ('MECHD_FORCES', 'none'))]
        # probes ask at fixed ports, which the kernel does not give
        for kind in ('startupProbe', 'readinessProbe', 'livenessProbe'):
            del container[kind]
        del container['ports']
        self.path = os.path.join(self.folder, 'pod.yaml')
        with open(self.path, 'w', encoding='utf-8') as f:
            yaml.safe_dump({'apiVersion': 'v1', 'kind': 'Pod',
                            'metadata': {'name': 'mechd-kube', **template['metadata']},
                            'spec': template['spec']}, f)

    def test_play_kube_serves(self):
        self.addCleanup(self.engine.podman, 'pod', 'rm', '-f', '-i', 'mechd-kube')
        self.engine.podman('play', 'kube', self.path)
        name = 'mechd-kube-mechd'
        found = harness.wait_until(lambda: re.search(
            r'#token=(\S+)', self.engine.logs(name)), 'it prints the login address', 60)
        d = Contained(os.path.join(self.volume, 'ready.json'), found.group(1))
        self.addCleanup(d.close)
        i = d.call('POST', '/v1/instances', {'model': models.oscillator()})['id']
        self.assertEqual(d.call('POST', '/v1/instances/%s/step' % i, {'count': 3}).status, 200)
        # a pod that is moved: it ends in order, and another one continues on its volume
        self.engine.podman('pod', 'stop', 'mechd-kube')
        self.assertFalse(os.path.exists(os.path.join(self.volume, 'ready.json')))
        self.engine.podman('pod', 'rm', 'mechd-kube')
        self.engine.podman('play', 'kube', self.path)
        d.refresh()
        self.assertEqual(d.call('GET', '/v1/instances/%s/state' % i).json['step'], 3)


if __name__ == '__main__':
    unittest.main()
