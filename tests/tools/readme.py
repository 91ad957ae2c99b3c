"""Runs README.md as written, and that of the Python package: every sh and python block in order, in
an empty folder, against a running daemon; what a sh block exports holds in those after it, as in a
terminal. Ports and the folders of the build and the clients are the only words that are replaced.
The two commands at the top (an indented block) are run by tests/tools/clean_root."""
import os
import re
import subprocess
import sys
import tempfile
from tree import ROOT

sys.path.insert(0, os.path.join(ROOT, 'tests', 'integration'))
from harness import BUILD, SLOW, Daemon  # noqa: E402

# page, and the commands that it has at least: one without commands would pass for nothing
PAGES = (('README.md', 4), ('clients/python/README.md', 4))
FAULTS = re.compile(r'"code":|Traceback|^curl: |error:|command not found', re.M)


def blocks(text):
    """[(line, language, code)] of the fenced blocks."""
    for match in re.finditer(r'^```(\w+)\n(.*?)^```$', text, re.M | re.S):
        yield text[:match.start()].count('\n') + 1, match.group(1), match.group(2)


def localised(code, daemon):
    """The same words with the daemon's ports and this build."""
    http = daemon.base.split('//')[1]
    control, stream = (daemon.info[name].split('//')[1] for name in ('control', 'stream'))
    return code.replace('127.0.0.1:8080', http).replace('127.0.0.1:5555', control) \
        .replace('127.0.0.1:5556', stream).replace('$PWD/build/run', os.path.abspath(BUILD)) \
        .replace('$PWD/clients', os.path.join(ROOT, 'clients'))


def run_block(language, code, daemon, folder):
    """The complaint about a block, or None."""
    command = {'sh': ['bash', '-eu', '-o', 'pipefail'], 'python': [sys.executable, '-']}[language]
    environment = {**os.environ, 'PYTHONPATH': os.path.join(ROOT, 'clients', 'python'),
                   'PATH': os.path.dirname(sys.executable) + ':' + os.environ['PATH']}
    exports = os.path.join(folder, '.exports')
    if language == 'sh':
        server = 'export MECHD_SERVER=%s\n' % daemon.base  # what is set there already
        again = '. %s\n: ${MECHD_SERVER:=%s}\nexport MECHD_SERVER\n' % (exports, daemon.base)
        code = '%s%s\nexport -p > %s\n' % (again if os.path.exists(exports) else server, code,
                                          exports)
    done = subprocess.run(command, cwd=folder, env=environment, timeout=120 * SLOW,
                          input=localised(code, daemon).encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    text = done.stdout.decode()
    if done.returncode != 0 or FAULTS.search(text) or not text.strip():
        return 'ended with %d: %s' % (done.returncode, text[-1500:])
    return None


def check_links(page, text):
    """Links into the tree that lead nowhere."""
    for target in re.findall(r'\]\(([^)#:]+)\)', text):
        if not os.path.exists(os.path.join(ROOT, os.path.dirname(page), target)):
            yield '%s: %s is not there' % (page, target)


def run_page(page, least):
    """(blocks that ran well, complaints) of one page."""
    with open(os.path.join(ROOT, page), encoding='utf-8') as f:
        text = f.read()
    passed, faults = 0, list(check_links(page, text))
    passed += not faults
    with tempfile.TemporaryDirectory(prefix='mechd-readme-') as folder, Daemon() as daemon:
        for line, language, code in blocks(text):
            fault = run_block(language, code, daemon, folder)
            passed += not fault
            if fault:
                faults.append('%s:%d: %s' % (page, line, fault))
    if passed < least and not faults:
        faults.append('%s has too few commands' % page)
    return passed, faults


def main():
    passed, failed = 0, 0
    for page, least in PAGES:
        good, faults = run_page(page, least)
        for fault in faults:
            print('FAILED ' + fault)
        passed, failed = passed + good, failed + len(faults)
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
