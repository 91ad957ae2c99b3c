"""Sessions with generated models over HTTP: starts the real daemon on a free port and hands its
address and all arguments to the program sessions. The build is MECHD_TESTS_BUILD.

    served.py --requests 200000 --clients 64 --seed 1
"""
import os
import subprocess
import sys
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'integration'))
from fmus import ON  # noqa: E402
from harness import Daemon  # noqa: E402


def main():
    program = os.path.join(os.environ.get('MECHD_TESTS_BUILD', 'build/release'), 'tests',
                           'sessions')
    with Daemon(*ON) as daemon:
        address = urllib.parse.urlsplit(daemon.base).netloc
        return subprocess.run([program, '--http', address] + sys.argv[1:], check=False).returncode


if __name__ == '__main__':
    sys.exit(main())
