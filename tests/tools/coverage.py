"""Lines of C that the tests run, by gcov, folder by folder: builds with counters, runs what
the gate runs of them (C programs, integration, READMEs, browser), prints lines, lines run and
their share.

    coverage.py BUILD [--tree FOLDER] [--all] [--write FILE] [--against FILE] [--missing FOLDER]

BUILD is made once and kept; its counters begin at zero. --all runs generated models and requests
too. --tree measures another checkout by that checkout's own tests; --write keeps the figures as
JSON, and --against prints those of such a file beside them: each folder, and each file that has
fallen by over 2 % of its lines. --missing lists the lines of a folder that were not run. A daemon
that is killed writes no counters. A room with a bar (BARS) that is below it is a failure, and so
is a command that fails; the last line is "N passed, N failed", a room or a command each.
`tests/run --all` has it; a share of lines is no proof."""
import argparse
import collections
import json
import os
import subprocess
import sys
import records
from tree import ROOT

ROOMS = ('solver/', 'protocol/', 'server/', 'clients/')
BARS = {'solver/': 90., 'protocol/': 95., 'server/': 85.}  # per cent of the lines of a room
FALL = 2.  # per cent of the lines, beyond which a folder is marked


def commands_of(tree, build, everything):
    yield from ((sys.executable, 'tests/unit/run.py', build, 'unit', 'conformance', 'verify',
                 'corpus'),
                (sys.executable, 'tests/integration/run.py'),
                (sys.executable, 'tests/tools/readme.py'), ('tests/browser/run',))
    sessions = os.path.join(build, 'tests/sessions')
    if everything and os.path.exists(sessions):
        yield sessions, '--census', '300', '--seed', '1'
        yield sessions, '--requests', '20000', '--seed', '1'
        yield (sys.executable, 'tests/fuzz/served.py', '--requests', '20000', '--clients', '8',
               '--seed', '1')


def run(tree, build, everything):
    """Builds, and runs the tests; the lines of what fails count too. Yields what is said of each
    command, or None where it passed."""
    environment = {'MECHD_TESTS_DEADLINE': '10', **os.environ, 'MECHD_TESTS_BUILD': build}
    if not os.path.exists(os.path.join(build, 'build.ninja')):
        subprocess.run(['meson', 'setup', build, '-Db_coverage=true', '-Dwerror=false',
                        '--buildtype=debugoptimized', '-Doptimization=1'],
                       cwd=tree, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(['ninja', '-C', build], check=True, stdout=subprocess.DEVNULL)
    for path in counters(build):
        os.unlink(path)
    for command in commands_of(tree, build, everything):
        done = subprocess.run(command, cwd=tree, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        print('%s: %s' % (command[:2], done.stdout.decode(errors='replace')[-400:]), flush=True)
        bad = done.returncode != 0
        yield '%s ended with %d' % (' '.join(command[:2]), done.returncode) if bad else None


def counters(build):
    """What runs have written, of the tests' own objects too: to count on for an object that was
    compiled anew is an error that the program prints behind its last line."""
    return [os.path.join(folder, name) for folder, _, names in os.walk(build) for name in names
            if name.endswith('.gcda')]


def notes(build):
    """What the compiler has written of each object of the rooms that this build has. A kept folder
    also has those of objects that went to another target: of lines as they were then."""
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as f:
        made = [os.path.splitext(row['output'])[0] + '.gcno' for row in json.load(f)]
    return [path for path in (os.path.join(build, name) for name in made if name.startswith(ROOMS))
            if os.path.exists(path)]


def lines(tree, build):
    """{file: {line: whether it was run}} of the rooms, over all objects that have the line."""
    found = collections.defaultdict(dict)
    for path in notes(build):
        text = subprocess.run(['gcov', '--json-format', '--stdout', path], cwd=build, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        for source in (f for line in text.splitlines() for f in json.loads(line)['files']):
            name = os.path.relpath(os.path.join(build, source['file']), tree)
            if name.startswith(ROOMS):
                for line in source['lines']:
                    known = found[name].get(line['line_number'], False)
                    found[name][line['line_number']] = known or line['count'] > 0
    return found


def shares(found):
    """{file, folder or "all": [lines, lines run]}; folders two levels deep, with a slash."""
    sums = collections.defaultdict(lambda: [0, 0])
    for name, rows in found.items():
        parts = os.path.dirname(name).split('/')
        for group in {name, '/'.join(parts[:2]) + '/', parts[0] + '/', 'all'}:
            sums[group][0] += len(rows)
            sums[group][1] += sum(rows.values())
    return dict(sums)


def percent(row):
    return 100. * row[1] / row[0]


def below(now):
    """What is said of each room that is below its bar, or has no lines."""
    for room, bar in BARS.items():
        if room not in now or percent(now[room]) < bar:
            yield '%s: %s of the lines were run, fewer than %g %%' % (
                room, '%.1f %%' % percent(now[room]) if room in now else 'none', bar)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('build')
    parser.add_argument('--tree', default=ROOT)
    parser.add_argument('--all', action='store_true')
    parser.add_argument('--write')
    parser.add_argument('--against')
    parser.add_argument('--missing')
    o = parser.parse_args()
    tree, build = os.path.abspath(o.tree), os.path.abspath(o.build)
    ran = list(run(tree, build, o.all))
    found = lines(tree, build)
    now, before = shares(found), {}
    if o.against:
        with open(o.against, encoding='utf-8') as f:
            before = json.load(f)
    for name in sorted(now):
        old = before.get(name)
        fallen = old is not None and percent(now[name]) < percent(old) - FALL
        if fallen or name == 'all' or name.endswith('/'):
            print('%-44s %6d %6d %6.1f %%%s' % (
                name, *now[name], percent(now[name]), '' if old is None else
                '  was %6.1f %%%s' % (percent(old), '  fallen' if fallen else '')))
    if o.write:
        with open(o.write, 'w', encoding='utf-8') as f:
            json.dump(now, f, indent=1, sort_keys=True)
    for name in sorted(found):
        missing = [n for n in sorted(found[name]) if not found[name][n]]
        if o.missing and name.startswith(o.missing) and missing:
            print('%s: %s' % (name, ' '.join(map(str, missing))))
    faults = [*filter(None, ran), *below(now)]
    if tree == ROOT:
        records.record('tests/run coverage', 'lines of C that the gate runs', ', '.join(
            '%s %.1f %%' % (room, percent(now[room])) for room in ROOMS if room in now))
    for fault in faults:
        print('FAILED ' + fault)
    print('%d passed, %d failed' % (len(ran) + len(BARS) - len(faults), len(faults)))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
