"""Adding an item type is one new file and one line: plants an item in a copy of the tree, builds
the copy and sees the type in the running daemon's registry and in models of the generator
(tests/fuzz/sessions.c); without the line it is not there."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from tree import ROOT, Tree

sys.path.insert(0, os.path.join(ROOT, 'tests', 'integration'))
from harness import SLOW, Daemon  # noqa: E402

REGISTRY = 'solver/items/items.def'
MODEL_FILE, MODEL_NAME, MODEL_TYPE = 'solver/items/marker/ground_coordinate.c', \
    'marker_ground_coordinate', 'MarkerGroundCoordinate'
NEW_FILE, NEW_NAME, NEW_TYPE = 'solver/items/marker/probe.c', 'marker_probe', 'MarkerProbe'


def copy(tree, into):
    for path in tree.paths:
        os.makedirs(os.path.dirname(os.path.join(into, path)), exist_ok=True)
        shutil.copy2(tree.at(path), os.path.join(into, path))


def add_item(root):
    """A new type from an existing one under another name, and its line in order."""
    with open(os.path.join(root, MODEL_FILE), encoding='utf-8') as f:
        text = f.read().replace(MODEL_NAME, NEW_NAME).replace(MODEL_TYPE, NEW_TYPE)
    with open(os.path.join(root, NEW_FILE), 'w', encoding='utf-8') as f:
        f.write(text)
    with open(os.path.join(root, REGISTRY), encoding='utf-8') as f:
        lines = f.read().splitlines(keepends=True)
    members = [line for line in lines if line.startswith('MECH_ITEM(')]
    rest = [line for line in lines if not line.startswith('MECH_ITEM(')]
    with open(os.path.join(root, REGISTRY), 'w', encoding='utf-8') as f:
        f.writelines(rest + sorted(members + ['MECH_ITEM(%s)\n' % NEW_NAME.replace('_', ', ', 1)]))


def build(root, into):
    """mechd and the generator of that tree, unoptimised: only the registry is looked at."""
    options = ['--buildtype=debug', '-Doptimization=0', '-Ddebug=false', '-Dtests=true']
    for command in (['meson', 'setup', into, root] + options,
                    ['ninja', '-C', into, 'server/mechd', 'tests/sessions']):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise SystemExit(done.stdout.decode()[-3000:])
    return os.path.join(into, 'server', 'mechd')


def types_of(program):
    with Daemon(program_path=program) as daemon:
        url = '%s/v1/types/' % daemon.base
        found = {}
        for name in (MODEL_TYPE, NEW_TYPE):
            try:
                with urllib.request.urlopen(url + name, timeout=20 * SLOW) as reply:
                    found[name] = json.load(reply)
            except urllib.error.HTTPError as e:
                found[name] = e.code
        return found


def sessions(into):
    return os.path.join(into, 'tests', 'sessions')


def generated(program):
    """What the generator says of models made for the new type; None: one holds it."""
    done = subprocess.run([program, '--census', '300', '--type', NEW_TYPE],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return None if done.returncode == 0 else done.stdout.decode(errors='replace')


def main():
    faults = []
    with tempfile.TemporaryDirectory(prefix='mechd-one-line-') as folder:
        root, into = os.path.join(folder, 'tree'), os.path.join(folder, 'build')
        copy(Tree(), root)
        before, without = types_of(build(root, into)), generated(sessions(into))
        add_item(root)
        after = types_of(build(root, into + '-after'))
        beside = generated(sessions(into + '-after'))
    if not isinstance(before[MODEL_TYPE], dict) or before[NEW_TYPE] != 404:
        faults.append('before the line: %s' % before)
    if not isinstance(after[NEW_TYPE], dict) or after[NEW_TYPE].get('type') != NEW_TYPE:
        faults.append('after the line: %s' % str(after[NEW_TYPE])[:300])
    if without is None or 'there is no type' not in without:
        faults.append('before the line the generator has a model of it: %s' % without)
    if beside is not None:
        faults.append('after the line the generator has no model of it: %s' % beside[-300:])
    print('\n'.join(['FAILED an item is one file and one line'] + faults) if faults else
          'a new item type needs %s and one line of %s, and is in generated models' % (
              NEW_FILE, REGISTRY))
    print('%d passed, %d failed' % (not faults, bool(faults)))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
