"""The Python package of the tree, as `mechd`, and as pip builds and installs it."""
import os
import shutil
import subprocess
import sys
import harness
from harness import ROOT

PACKAGE = os.path.join(ROOT, 'clients', 'python')
sys.path.insert(0, PACKAGE)
import mechd  # noqa: E402,F401


def copied(folder):
    """A copy of the package's sources, since a build writes beside them."""
    return shutil.copytree(PACKAGE, os.path.join(folder, 'python'),
                           ignore=shutil.ignore_patterns('__pycache__'))


def pip(folder, *words):
    """pip without a network and without what the package may use; AssertionError if it fails."""
    done = subprocess.run(
        [sys.executable, '-m', 'pip', words[0], '--quiet', '--no-index', '--no-deps',
         '--no-build-isolation', *words[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=120 * harness.SLOW, env={**os.environ, 'HOME': folder})
    assert done.returncode == 0, done.stdout


def imported(folder, code):
    """What a program prints that finds the package in a folder into which pip has installed it."""
    done = subprocess.run([sys.executable, '-c', code], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, 'PYTHONPATH': folder}, timeout=60 * harness.SLOW)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
