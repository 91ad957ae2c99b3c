"""Runs README.md as written, and that of the Python package: every sh and python block in order,
from the folder of the tree, against a running daemon; what a sh block exports and the folder in
which it ends hold in those after it, as in a terminal. Nothing is left in the tree, and no loop
waits without a bound. Ports and the folder of the build are the only words that are replaced. The
two commands at the top (an indented block) are run by tests/tools/clean_root."""
import os
import re
import subprocess
import sys
import tempfile
import stacks
from tree import ROOT

sys.path.insert(0, os.path.join(ROOT, 'tests', 'integration'))
from harness import BUILD, SLOW, Daemon  # noqa: E402

# page, and the commands that it has at least: one without commands would pass for nothing
PAGES = (('README.md', 4), ('clients/python/README.md', 4))
FAULTS = re.compile(r'"code":|Traceback|^curl: |error:|command not found', re.M)
# folders and files of the tree that any use of it makes, all named in .gitignore
MADE = re.compile(r'build.*|\.git|\.cache|__pycache__|node_modules|.*\.pyc')
# a shell loop until something has happened
LOOP = re.compile(r"(^|[;&|({'\"]|\bdo)\s*(until|while)\s(?!read)")


def blocks(text):
    """[(line, language, code)] of the fenced blocks."""
    for match in re.finditer(r'^```(\w+)\n(.*?)^```$', text, re.M | re.S):
        yield text[:match.start()].count('\n') + 1, match.group(1), match.group(2)


def localised(code, daemon):
    """The same words with the daemon's ports and this build."""
    http = daemon.base.split('//')[1]
    control, stream = (daemon.info[name].split('//')[1] for name in ('control', 'stream'))
    return code.replace('127.0.0.1:8080', http).replace('127.0.0.1:5555', control) \
        .replace('127.0.0.1:5556', stream).replace('$MECHD/build/run', os.path.abspath(BUILD))


class Terminal:
    """What lasts from one block to the next: exported variables and the folder. `place`: where it
    keeps them, and where temporary files are."""

    def __init__(self, place):
        self.place, self.exports = place, os.path.join(place, '.exports')
        self.last = os.path.join(place, '.folder')

    def folder(self):
        if not os.path.exists(self.last):
            return ROOT
        with open(self.last, encoding='utf-8') as f:
            return f.read().rstrip('\n')

    def lasting(self, code, server):
        """The code of a sh block between what restores and what keeps the state."""
        begin = 'export MECHD_SERVER=%s\n' % server  # what is set there already
        if os.path.exists(self.exports):
            begin = '. %s\n: ${MECHD_SERVER:=%s}\nexport MECHD_SERVER\n' % (self.exports, server)
        return '%s%s\nexport -p > %s\npwd > %s\n' % (begin, code, self.exports, self.last)


def run_block(language, code, daemon, terminal):
    """The complaint about a block, or None."""
    command = {'sh': ['bash', '-eu', '-o', 'pipefail'], 'python': [sys.executable, '-']}[language]
    environment = {**os.environ, 'PYTHONPATH': os.path.join(ROOT, 'clients', 'python'),
                   'PATH': os.path.dirname(sys.executable) + ':' + os.environ['PATH'],
                   'TMPDIR': terminal.place}
    if language == 'sh':
        code = terminal.lasting(code, daemon.base)
    done = subprocess.Popen(command, cwd=terminal.folder(), env=environment,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)
    try:
        text = done.communicate(localised(code, daemon).encode(), 120 * SLOW)[0].decode()
    except subprocess.TimeoutExpired:
        stacks.end(done.pid)
        return 'not over after %d s: %s' % (120 * SLOW, done.communicate()[0].decode()[-1500:])
    if done.returncode != 0 or FAULTS.search(text) or not text.strip():
        return 'ended with %d: %s' % (done.returncode, text[-1500:])
    return None


def check_links(page, text):
    """Links into the tree that lead nowhere."""
    for target in re.findall(r'\]\(([^)#:]+)\)', text):
        if not os.path.exists(os.path.join(ROOT, os.path.dirname(page), target)):
            yield '%s: %s is not there' % (page, target)


def check_loops(page, text):
    """Loops that wait for something without a bound: for ever, if it does not happen."""
    for line, language, code in blocks(text):
        for k, words in enumerate(code.split('\n') if language == 'sh' else []):
            if LOOP.search(words) and not re.search(r'\btimeout \d', words):
                yield '%s:%d: a loop that may wait for ever; timeout S sh -c bounds it' % (
                    page, line + k + 1)


def files():
    """Paths of the tree without what any use of it makes."""
    found = set()
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [n for n in folders if not MADE.fullmatch(n)]
        found.update(os.path.join(folder, n) for n in names if not MADE.fullmatch(n))
    return found


def run_page(page, least):
    """(blocks that ran well, complaints) of one page."""
    with open(os.path.join(ROOT, page), encoding='utf-8') as f:
        text = f.read()
    passed, faults = 0, list(check_links(page, text)) + list(check_loops(page, text))
    passed += not faults
    before = files()
    with tempfile.TemporaryDirectory(prefix='mechd-readme-') as place, Daemon() as daemon:
        terminal = Terminal(place)
        for line, language, code in blocks(text):
            fault = run_block(language, code, daemon, terminal)
            passed += not fault
            if fault:
                faults.append('%s:%d: %s' % (page, line, fault))
    faults += ['%s: its commands leave %s in the tree' % (page, os.path.relpath(path, ROOT))
               for path in sorted(files() - before)]
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
