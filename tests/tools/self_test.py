"""Every check of this folder sees the fault it is there for: each is run on a small tree with a
planted fault, which it must report, and on the same tree without it, which it must pass."""
import importlib
import json
import os
import subprocess
import sys
import tempfile
import coverage
import records
from faults import FAULTS, GONE
from tree import ROOT, Tree

MODULES = ('layers', 'sizes', 'headers', 'format', 'names', 'exports', 'idioms', 'registries',
           'routes', 'states', 'bars', 'steady', 'deploy', 'texts', 'options', 'keywords',
           'page_types', 'wire')
STYLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '.clang-format')


def faults_in(check, files):
    """What a check says about a tree of these files."""
    with tempfile.TemporaryDirectory(prefix='mechd-tools-') as root:
        with open(STYLE, encoding='utf-8') as f:
            files = {**files, '.clang-format': f.read()}
        for path, text in files.items():
            at = os.path.join(root, path)
            os.makedirs(os.path.dirname(at), exist_ok=True)
            with open(at, 'w', encoding='utf-8', newline='') as f:
                f.write(text)
        return list(check(Tree(root)))


def skipped():
    """What tests/integration/run.py prints of a module whose test is skipped."""
    with tempfile.TemporaryDirectory(prefix='mechd-self-') as folder:
        with open(os.path.join(folder, 'test_gone.py'), 'w', encoding='utf-8') as f:
            f.write(GONE)
        return subprocess.run(
            [sys.executable, os.path.join(ROOT, 'tests', 'integration', 'run.py'), '--here',
             'test_gone'], env={**os.environ, 'PYTHONPATH': folder}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout


def kept_build():
    """What coverage.py reads and what it removes in a folder in which an object of now.p was one
    of once.p, and one of new.p is not compiled yet."""
    with tempfile.TemporaryDirectory(prefix='mechd-self-') as folder:
        for name in ('compile_commands.json', 'server/now.p/a.c.gcno', 'server/once.p/a.c.gcno',
                     'tests/t.p/t.c.gcno', 'tests/t.p/t.c.gcda', 'server/now.p/a.c.gcda'):
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
                json.dump([{'output': 'server/%s.p/a.c.o' % n} for n in ('now', 'new')] +
                          [{'output': 'tests/t.p/t.c.o'}], f)
        return [sorted(os.path.relpath(path, folder) for path in find(folder))
                for find in (coverage.notes, coverage.counters)]


def main():
    passed, failed = 0, 0

    def say(is_good, text):
        nonlocal passed, failed
        passed, failed = passed + is_good, failed + (not is_good)
        if not is_good:
            print('FAILED ' + text)

    for module in (importlib.import_module(m) for m in MODULES):
        for check in module.CHECKS.values():
            name = '%s.%s' % (module.__name__, check.__name__)
            say(bool(FAULTS.get(name)), name + ' has no planted fault')
            for good, change in FAULTS.get(name, []):
                clean = faults_in(check, good)
                say(not clean, '%s complains about a clean tree: %s' % (name, clean[:1]))
                say(bool(faults_in(check, {**good, **change})),
                    '%s does not see %s' % (name, sorted(change)))
    good = {room: [1000, int(10 * bar)] for room, bar in coverage.BARS.items()}
    say(not list(coverage.below(good)), 'coverage complains about rooms at their bars')
    for room, (lines, run) in good.items():
        low = {**good, room: [lines, run - 1]}
        say(len(list(coverage.below(low))) == 1, 'coverage does not see that %s is low' % room)
        del low[room]
        say(len(list(coverage.below(low))) == 1, 'coverage does not see that %s is gone' % room)
    notes, counters = kept_build()
    say(notes == ['server/now.p/a.c.gcno'], 'coverage reads the notes %s' % notes)
    say(counters == ['server/now.p/a.c.gcda', 'tests/t.p/t.c.gcda'],
        'coverage begins at zero for %s alone' % counters)
    rows = [records.line('run ' + name, 'a', 'b', '2026-11-2%d' % day)
            for day, name in enumerate(('x', 'y', 'x'))]
    page = 'a\n\n' + records.HEAD + '%s\n| `run x` | other |\n'
    say(records.with_line(page % (rows[0] + rows[1]), rows[2]) == page % (rows[1] + rows[2]),
        'records does not replace the line of a command, and this alone')
    said = skipped()
    say('test_gone.Gone.test_one skipped: nothing (Debian package none)\n' in said,
        'integration/run.py does not say what it skips: ' + said)
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
