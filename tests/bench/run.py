"""Runs the benchmarks of a build directory and checks their bars (bars.def; README.md says how they
are set and read).

    run.py BUILD                  each program shortly
    run.py BUILD --plant 1.5      each with a slowdown of 1.5 planted: every bar must turn red
    run.py BUILD --measure [RUNS] measures all cases (7 runs) and rewrites measured, spread, bar and
                                  date of bars.def; on a quiet machine (--quick: from
                                  short runs)
    run.py BUILD … --only NAME    one program
    run.py BUILD --table          bars.def as a table, with the distance to each goal

Peers that are installed are measured beside, without bars. Ends with "N passed, N failed": a
program counts once, and each planted bar once; one that could not judge its promises beside
other work (it ends with 77) is "NOT JUDGED", and neither; a run that judges nothing has failed.
Noise that lasts longer than a row is met by another try of a program, up to three; a bar that is
broken three times is broken."""
import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time
from peers import ADAPTERS

TRIES = 3
NOT_JUDGED = 77  # exit code
ALLOWED = 1.1  # a bar over what was measured
HERE = os.path.dirname(os.path.abspath(__file__))
BARS = os.path.join(HERE, 'bars.def')
LINE = re.compile(r'BAR\("(?P<program>[^"]*)", "(?P<case>[^"]*)", "(?P<floor>[^"]*)", '
                  r'(?P<measured>[\d.e+-]+), (?P<spread>[\d.e+-]+), (?P<bar>[\d.e+-]+), '
                  r'(?P<goal>[\d.e+-]+), "(?P<when>[^"]*)"\)$')
FORM = 'BAR("%s", "%s", "%s", %.4g, %.2g, %.4g, %.3g, "%s")\n'


def programs(build, only):
    folder = os.path.join(build, 'tests', 'bench')
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    for name in names:
        path = os.path.join(folder, name)
        if name.startswith('bench-') and os.path.isfile(path) and os.access(path, os.X_OK):
            if only in (None, name[len('bench-'):]):
                yield name[len('bench-'):], path


def run(path, *options, seconds=900):
    """Its exit code, and the rows of a program or None where it has failed otherwise."""
    done = subprocess.run([path, '--json', *options], timeout=seconds, stdout=subprocess.PIPE)
    try:
        return done.returncode, json.loads(done.stdout)['rows']
    except ValueError:
        return done.returncode, None


def show(name, rows):
    print('%-44s %12s %12s %9s %6s %9s %7s' % (name, 'ns', 'floor ns', 'ratio', '+-%', 'bar',
                                               'goal'))
    for row in rows:
        def number(key, form, row=row):
            return form % row[key] if row.get(key) else ''
        around = ''
        if row['kind'] == 'pair':
            around = '%.1f' % (50 * (row['high'] - row['low']) / row['value'])
        verdict = 'BROKEN' if row.get('broken') else row['kind'] if row['kind'] in (
            'skipped', 'promise') else ''
        print('%-44s %12s %12s %9s %6s %9s %7s %s' % (
            row['what'], number('ns', '%.1f'), number('floorNs', '%.1f'),
            number('value', '%.4g'), around, number('bar', '%.4g'), number('goal', '%.3g'),
            verdict))
    print(flush=True)


def check(name, path):
    """Whether it is good, or None: not judged."""
    code = 0
    for attempt in range(TRIES):
        code, rows = run(path, '--quick')
        show(name, rows or [])
        if code == 0:
            return True
        print('%s: %s, try %d of %d' % (name, 'not judged' if code == NOT_JUDGED else 'broken',
                                        attempt + 1, TRIES), flush=True)
    print('%s %s' % ('NOT JUDGED' if code == NOT_JUDGED else 'FAILED', name))
    return None if code == NOT_JUDGED else False


def check_planted(name, path, factor):
    """How many bars turned red, and those that stayed green in every try. Cases that differ too
    much from run to run have no bar: they are named, for another kind of check has to see them."""
    red, seen, told = set(), set(), set()
    for _ in range(TRIES):
        _, rows = run(path, '--quick', '--plant', str(factor))
        for row in rows or []:
            if row['kind'] in ('pair', 'value') and row.get('bar'):
                (seen if row['judged'] else told).add(row['what'])
                if row['broken']:
                    red.add(row['what'])
        if red == seen:
            break
    for what in sorted(told):
        print('%s: %s is for information, its spread is too large for a bar' % (name, what))
    for what in sorted(seen - red):
        print('FAILED %s: %s stays green when it takes %g times as long' % (name, what, factor))
    print('%-20s %d of %d bars turn red with a slowdown of %g' % (name, len(red), len(seen),
                                                                  factor), flush=True)
    return len(red), len(seen - red)


def read_bars():
    with open(BARS, encoding='utf-8') as f:
        return f.read().split('\n')


def round_down(value):
    """To four digits."""
    unit = 10. ** (math.floor(math.log10(value)) - 3)
    return math.floor(value / unit) * unit


def measure(build, only, runs, quick):
    """Medians of several runs of each program, in turns, so that they do not meet one mood of the
    machine; measured, spread (largest over smallest, less 1), bar and date are rewritten."""
    found = {}
    for turn in range(runs):
        for name, path in programs(build, only):
            _, rows = run(path, *(['--quick'] if quick else []))
            for row in rows or []:
                if row['kind'] in ('pair', 'value') and 'bar' in row:
                    found.setdefault((name, row['what']), []).append(row['value'])
            print('run %d of %d: %s, load %s' % (turn + 1, runs, name, os.getloadavg()[0]),
                  flush=True)
    when, lines, known = time.strftime('%Y-%m-%d'), [], set()
    for line in read_bars():
        match = LINE.match(line)
        key = (match['program'], match['case']) if match else None
        known.add(key)
        if match and key in found:
            values = found[key]
            middle = float('%.4g' % statistics.median(values))
            print('%-16s %-44s %9.4g, was %9.4g, spread %.2f' % (
                *key, middle, float(match['measured']), max(values) / min(values) - 1))
            line = (FORM % (*key, match['floor'], middle, max(values) / min(values) - 1,
                            round_down(ALLOWED * middle), float(match['goal']), when)).rstrip('\n')
        lines.append(line)
    with open(BARS, 'w', encoding='utf-8') as f:
        f.write('\n'.join(lines))
    for key in sorted(set(found) - known):
        print('FAILED %s, %s: has no line in bars.def' % key)
    print('build again: the programs contain bars.def')
    return 1 if set(found) - known else 0


def table():
    print('%-14s %-40s %-38s %9s %7s %9s %7s %9s' % (
        'program', 'case', 'floor', 'measured', 'spread', 'bar', 'goal', 'distance'))
    for match in filter(None, map(LINE.match, read_bars())):
        goal, measured = float(match['goal']), float(match['measured'])
        print('%-14s %-40s %-38s %9.4g %7s %9s %7s %9s' % (
            match['program'], match['case'], match['floor'], measured, match['spread'],
            match['bar'], match['goal'] if goal else '',
            '%.2f' % (measured / goal) if goal else ''))
    return 0


def main(arguments):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('build')
    parser.add_argument('--plant', type=float)
    parser.add_argument('--measure', type=int, nargs='?', const=7)
    parser.add_argument('--only')
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--table', action='store_true')
    o = parser.parse_args(arguments)
    if o.table:
        return table()
    if o.measure:
        return measure(o.build, o.only, o.measure, o.quick)
    passed, failed = 0, 0
    for name, path in programs(o.build, o.only) if o.plant is None else ():
        good = check(name, path)
        passed, failed = passed + (good is True), failed + (good is False)
    for name, path in programs(o.build, o.only) if o.plant is not None else ():
        red, green = check_planted(name, path, o.plant)
        passed, failed = passed + red, failed + green
    for name in ADAPTERS if o.plant is None and o.only is None else ():
        if subprocess.run([sys.executable, os.path.join(HERE, name + '.py'), o.build],
                          timeout=3600).returncode:
            failed += 1
            print('FAILED ' + name)
    failed += passed + failed == 0
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
