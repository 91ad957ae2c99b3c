"""deploy/prometheus and deploy/grafana: a real Prometheus with the configuration as it is shipped
scrapes a daemon that requires tokens, every alert fires on what it is for, and every expression of
alerts and dashboard finds its metrics."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import urllib.parse
import urllib.request
import harness
import models
import yaml
from harness import Daemon, wait_until, with_us
from places import DEPLOY, run
from tokens import bearer, make

RULES = os.path.join(DEPLOY, 'prometheus')


def need(program, package='prometheus'):
    if not shutil.which(program):
        raise unittest.SkipTest('apt-get install ' + package)


def dashboard():
    with open(os.path.join(DEPLOY, 'grafana', 'dashboards', 'mechd.json'), encoding='utf-8') as f:
        return json.load(f)


def expressions():
    """Those of the dashboard, with Grafana's variables replaced, and those of the alerts, each with
    the labels that its text shows."""
    for panel in dashboard()['panels']:
        for target in panel['targets']:
            yield (target['expr'].replace('$__rate_interval', '1m').replace('$instance', '.*'),
                   re.findall(r'\{\{(\w+)\}\}', target['legendFormat']))
    with open(os.path.join(RULES, 'alerts.yml'), encoding='utf-8') as f:
        for group in yaml.safe_load(f)['groups']:
            for rule in group['rules']:
                yield rule['expr'], re.findall(r'\$labels\.(\w+)', str(rule['annotations']))


class Monitoring(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='mechd-monitoring-')
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def test_alerts_fire_on_what_they_are_for(self):
        need('promtool')
        run('promtool', 'check', 'rules', os.path.join(RULES, 'alerts.yml'))
        run('promtool', 'test', 'rules', 'alerts_test.yml', cwd=RULES)
        with open(os.path.join(RULES, 'alerts.yml'), encoding='utf-8') as f:
            names = {r['alert'] for g in yaml.safe_load(f)['groups'] for r in g['rules']}
        with open(os.path.join(RULES, 'alerts_test.yml'), encoding='utf-8') as f:
            fires = {t['alertname'] for test in yaml.safe_load(f)['tests']
                     for t in test['alert_rule_test'] if t['exp_alerts']}
        self.assertEqual(names, fires)
        with open(os.path.join(DEPLOY, 'README.md'), encoding='utf-8') as f:
            page = f.read()
        for name in names:
            self.assertIn('`%s`' % name, page)

    def test_grafana_finds_its_files(self):
        place = os.path.join(DEPLOY, 'grafana', 'provisioning')
        with open(os.path.join(place, 'datasources', 'prometheus.yaml'), encoding='utf-8') as f:
            sources = {s['uid'] for s in yaml.safe_load(f)['datasources']}
        with open(os.path.join(place, 'dashboards', 'mechd.yaml'), encoding='utf-8') as f:
            folder = yaml.safe_load(f)['providers'][0]['options']['path']
        with open(os.path.join(DEPLOY, 'compose.yaml'), encoding='utf-8') as f:
            compose = yaml.safe_load(f)
        mounts = [v.split(':') for v in compose['services']['grafana']['volumes']]
        self.assertIn(folder, [m[1] for m in mounts])
        for service in compose['services'].values():
            for volume in service['volumes']:
                name = volume.split(':')[0]
                self.assertTrue(name in compose['volumes'] or
                                os.path.exists(os.path.join(DEPLOY, name)), volume)
        used = [p['datasource']['uid'] for p in dashboard()['panels']]
        self.assertEqual(set(used), sources)

    def test_docker_compose_reads_its_file(self):
        """Debian's docker-compose, which knows less than the later `docker compose`."""
        need('docker-compose', 'docker-compose')
        read = yaml.safe_load(run('docker-compose', '-p', 'mechd', '-f',
                                  os.path.join(DEPLOY, 'compose.yaml'), 'config'))
        self.assertEqual(set(read['services']), {'mechd', 'prometheus', 'grafana'})
        self.assertEqual(set(read['volumes']), {'state', 'metrics', 'prometheus', 'grafana'})
        build = read['services']['mechd']['build']
        self.assertTrue(os.path.exists(os.path.join(build['context'], build['dockerfile'])))
        self.assertEqual({port.split(':')[0] for service in read['services'].values()
                          for port in service.get('ports', [])}, {'127.0.0.1'})

    def configured(self, daemon, token):
        """The configuration as shipped, but for the daemon's address and the token's place."""
        shutil.copy(os.path.join(RULES, 'alerts.yml'), self.folder)
        path = os.path.join(self.folder, 'token')
        with open(path, 'w', encoding='ascii') as f:
            f.write(token + '\n')
        with open(os.path.join(RULES, 'prometheus.yml'), encoding='utf-8') as f:
            text = f.read()
        for old, new in (('/var/lib/mechd-metrics/token', path), ('15s', '1s'),
                         ('mechd:8080', urllib.parse.urlsplit(daemon.base).netloc)):
            self.assertIn(old, text)
            text = text.replace(old, new)
        config = os.path.join(self.folder, 'prometheus.yml')
        with open(config, 'w', encoding='utf-8') as f:
            f.write(text)
        run('promtool', 'check', 'config', config)
        return config

    def prometheus(self, config):
        """Its address, once it is ready: it takes port 0, and its log has the one it got."""
        log = os.path.join(self.folder, 'log')
        with open(log, 'wb') as f:
            process = subprocess.Popen(
                with_us() + ['prometheus', '--config.file', config, '--storage.tsdb.path',
                             os.path.join(self.folder, 'data'), '--web.listen-address',
                             '127.0.0.1:0'], stdout=f, stderr=subprocess.STDOUT)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

        def address():
            self.assertIsNone(process.poll(), 'prometheus has ended')
            with open(log, encoding='utf-8', errors='replace') as f:
                text = f.read()
            found = re.search(r'Listening on" address=(127\.0\.0\.1:\d+)', text)
            return found and 'Server is ready' in text and 'http://' + found.group(1)
        return wait_until(address, 'prometheus is ready', 60)

    def test_every_expression_finds_its_metrics(self):
        need('prometheus')
        token, line = make('metrics', 'read')
        admin, second = make('admin', 'admin')
        tokens = os.path.join(self.folder, 'tokens')
        with open(tokens, 'w', encoding='utf-8') as f:
            f.write(line + '\n' + second + '\n')
        daemon = Daemon('--tokens', tokens, '--state', os.path.join(self.folder, 'state'))
        self.addCleanup(daemon.stop)
        base = self.prometheus(self.configured(daemon, token))

        def ask(expression):
            query = urllib.parse.urlencode({'query': expression})
            with urllib.request.urlopen('%s/api/v1/query?%s' % (base, query),
                                        timeout=60 * harness.SLOW) as answer:
                return json.load(answer)['data']['result']

        made = daemon.call('POST', '/v1/instances', {'model': models.oscillator()}, bearer(admin))
        daemon.call('POST', '/v1/instances/%s/step' % made['id'], {'count': 5}, bearer(admin))
        wait_until(lambda: any(float(r['value'][1]) > 0 for r in ask('mechd_steps_total')),
                   'the daemon is scraped', 60)
        self.assertEqual(ask('up{job="mechd"}')[0]['value'][1], '1')
        for expression, labels in expressions():
            # a comparison filters, and these conditions hold not here: what is compared is there
            found = re.sub(r' (==|>) [0-9.]+$', '', expression)
            found = found.replace('code=~"5.."', 'code=~".+"')
            with self.subTest(expression):
                # a rate needs two scrapes
                values = wait_until(lambda found=found: ask(found), 'there are values', 60)
                for label in labels:
                    self.assertIn(label, values[0]['metric'])
                ask(expression)


if __name__ == '__main__':
    unittest.main()
