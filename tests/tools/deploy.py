"""Files for operators (deploy/) agree with the daemon: they parse; the options, variables, ports
and metrics that they name exist; the version is the same everywhere. These are quick checks of
text: the suites `ship` and `package` run the files themselves."""
import configparser
import json
import re
import subprocess
import sys
from tree import report

try:
    import yaml
except ImportError:
    yaml = None

OPTIONS = 'server/daemon/options.c'
# what the clients, the script in the image and the tests read from the environment
OTHERS = {'server', 'token', 'ca', 'lease', 'image', 'version', 'run-build', 'run-example',
          'run-python', 'run-sign', 'config'}
# options of mechd that are no settings
MORE = {'config', 'make-token', 'make-curve-key', 'scopes', 'print', 'version', 'help'}
# ports of other programs: HTTPS, Prometheus, Grafana
FOREIGN = {443, 9090, 3000}
SCRIPTS = ('deploy/start', 'deploy/epoch', 'deploy/image', 'deploy/run', 'deploy/package',
           'deploy/release', 'deploy/packages.sh')


def deployed(tree, *suffixes):
    return tree.files(*suffixes, under='deploy/')


def options(tree):
    """Names of the daemon's options, from its table."""
    return set(re.findall(r'\b[A-Z]+\(\s*"([a-z-]+)"', tree.text(OPTIONS))) \
        if OPTIONS in tree.paths else set()


def documents(tree, path):
    return [d for d in yaml.safe_load_all(tree.text(path)) if d is not None]


def check_parse(tree):
    """YAML, JSON, units and scripts."""
    if yaml is None:
        yield 'python3-yaml is not installed'
        return
    for path in deployed(tree, '.yaml', '.yml') + tree.files('.yml', '.yaml', under='.github/'):
        try:
            documents(tree, path)
        except yaml.YAMLError as e:
            yield '%s: %s' % (path, ' '.join(str(e).split()))
    for path in deployed(tree, '.json'):
        try:
            json.loads(tree.text(path))
        except ValueError as e:
            yield '%s: %s' % (path, e)
    for path in deployed(tree, '.service', '.service.in'):
        unit = configparser.RawConfigParser(strict=False)
        unit.optionxform = str
        try:
            unit.read_string(tree.text(path))
        except configparser.Error as e:
            yield '%s: %s' % (path, ' '.join(str(e).split()))
    for path in SCRIPTS:
        if path in tree.paths and not tree.text(path).startswith('#!/usr/bin/env python3'):
            shell = 'sh' if tree.text(path).startswith('#!/bin/sh') else 'bash'
            done = subprocess.run([shell, '-n', tree.at(path)], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
            if done.returncode:
                yield '%s: %s' % (path, done.stdout.decode(errors='replace').strip()[:200])


def named_options(line):
    """Options of mechd in a command, or in a sentence that says whose they are."""
    found = re.findall(r'\boptions? `?--([a-z-]+)|--([a-z-]+)`? of mechd', line)
    found = [a or b for a, b in found]
    for command in re.findall(r'(?<!/lib/)(?<!--name )\bmechd'
                              r'((?: --[a-z-]+(?:[ =][^\s|;&>-]\S*)?)+)', line):
        found += re.findall(r' --([a-z-]+)', command)
    return found


def check_options(tree):
    """Options and variables of mechd that are named exist in its table."""
    known = options(tree)
    if not known:
        return
    for path in deployed(tree, ''):
        if path.startswith('deploy/pictures/'):
            continue
        for number, line in enumerate(tree.text(path).split('\n'), 1):
            named = [n.lower().replace('_', '-')
                     for n in re.findall(r'\bMECHD_(?:DEFAULT_)?([A-Z_]+)\b', line)]
            unknown = [n for n in named if n not in known | OTHERS
                       and n != 'default-' and not n.startswith('tests-')]
            unknown += [n for n in named_options(line) if n not in known | MORE]
            for name in unknown:
                yield '%s:%d: mechd has no option %s' % (path, number, name)


def defaults(tree):
    """Ports that the daemon listens on if it is not configured."""
    text = tree.text(OPTIONS) if OPTIONS in tree.paths else ''
    return {int(p) for p in re.findall(r'\((?:tcp://)?127\.0\.0\.1:(\d+)\)', text)}


def check_ports(tree):
    """Ports of the image, manifests and proxies are those of the daemon's table."""
    known = defaults(tree)
    pattern = re.compile(r'(?:^EXPOSE |[.0-9a-z\]]:|:|[Pp]ort: )(\d{3,5})\b(?!\.)')
    files = [p for p in deployed(tree, '') if p.endswith(
        ('Containerfile', '.yaml', '.yml', '.cfg', '.conf')) and 'alerts' not in p]
    for path in files if known else []:
        for number, line in enumerate(tree.text(path).split('\n'), 1):
            for found in pattern.findall(re.sub(r'#.*|image: .*|USER .*|.*[Uu]ser: .*', '', line)):
                if int(found) not in known | FOREIGN:
                    yield '%s:%d: no port of mechd: %s' % (path, number, found)
    path = 'deploy/Containerfile'
    if known and path in tree.paths:
        exposed = re.search(r'^EXPOSE (.*)$', tree.text(path), re.M)
        if not exposed or {int(p) for p in exposed.group(1).split()} != known:
            yield '%s: EXPOSE is not the list of the ports of mechd' % path


def metrics(tree):
    """Names of the metrics, from the strings of the files that write them."""
    found = set()
    for path in tree.files('.c', under='server/'):
        text = tree.text(path)
        if 'metrics' in text:
            found.update(re.findall(r'"([a-z_]{4,})"', text))
            found.update(re.findall(r'mechd_([a-z_]+)', text))
            found.update(re.findall(r'(process_[a-z_]+)', text))
    return found


def check_metrics(tree):
    """What the dashboard and the alerts ask for exists."""
    known = metrics(tree)
    for path in deployed(tree, '.json', 'alerts.yml', 'alerts_test.yml'):
        text = tree.text(path)
        names = set(re.findall(r'\bmechd_([a-z_]+)', text)) | set(
            re.findall(r'\b(process_[a-z_]+)', text))
        for name in sorted(names):
            if name not in known and re.sub(r'_(bucket|sum|count)$', '', name) not in known:
                yield '%s: mechd has no metric %s' % (path, name)


def check_versions(tree):
    """The version is that of meson.build, in every file that has one."""
    if 'meson.build' not in tree.paths:
        return
    version = re.search(r"version: '([^']+)'", tree.text('meson.build')).group(1)
    places = {'clients/python/pyproject.toml': r'^version = "([^"]+)"',
              'clients/python/mechd/__init__.py': r"^__version__ = '([^']+)'",
              'deploy/compose.yaml': r'localhost/mechd:([0-9.]+)',
              'deploy/README.md': r'localhost/mechd:([0-9.]+)',
              'deploy/kubernetes/kustomization.yaml': r'newTag: (\S+)'}
    for path, pattern in places.items():
        if path in tree.paths:
            found = re.search(pattern, tree.text(path), re.M)
            if not found or found.group(1) != version:
                yield '%s: its version is not %s as in meson.build' % (path, version)
    if 'CHANGELOG.md' in tree.paths and not re.search(
            r'^## (%s|Unreleased)\b' % re.escape(version), tree.text('CHANGELOG.md'), re.M):
        yield 'CHANGELOG.md: no section of version %s' % version


def check_workflows(tree):
    """They run programs of the tree, the two commands among them, on the systems that README.md
    names: "Debian 12 and Ubuntu 24.04" are the images debian:12 and ubuntu:24.04."""
    for path in tree.files('.yaml', '.yml', under='.github/workflows/'):
        text = tree.text(path)
        programs = set(re.findall(r'(?<![\w/.])((?:deploy|tests|\.ci)/\w+)',
                                  '\n'.join(re.findall(r'\brun: (.*)$', text, re.M))))
        for name in sorted(programs - set(tree.paths)):
            yield '%s: %s is not there' % (path, name)
        if 'deploy/run' not in programs or not programs & {'tests/run', '.ci/run'}:
            yield '%s: does not run both commands' % path
        for system, release in re.findall(r'\b(Debian|Ubuntu) ([\d.]*\d)', tree.text('README.md')):
            if '%s:%s' % (system.lower(), release) not in text:
                yield '%s: does not run on %s %s' % (path, system, release)


CHECKS = {
    'files for operators parse': check_parse,
    'options that they name exist': check_options,
    'ports are those of the daemon': check_ports,
    'metrics that they name exist': check_metrics,
    'the version is the same everywhere': check_versions,
    'workflows run the two commands on the systems of README.md': check_workflows,
}

if __name__ == '__main__':
    sys.exit(report(CHECKS))
