"""Counts what speed is made of, where a clock would give each time another verdict: instructions of
the benchmarks' rows under callgrind (tests/bench/counts.def), each the difference of two numbers of
units, so that starting and setting up have no part in it; and system calls, blocks of the heap and
bytes of a step request (tests/count/service.def; service.py).

    run.py BUILD                checks every figure against its file
    run.py BUILD --write        renews the files, and prints old and new of what has changed by more
                                than a sixth of its tolerance, which is centred on it then
    run.py BUILD --plant 1.2    every row costs 1.2 times as much: each must fail (requests have
                                their planted faults in tests/tools/planted.py)
    run.py BUILD … --only TEXT  only rows whose "program: name" contains it

A figure that has fallen by more than its tolerance fails too: commit the better one with the
change, where less is better.
The figures are those of the compiler and libraries of Debian 12 on processors with AVX2; elsewhere
nothing is counted, and the last line reports that."""
import argparse
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import service

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COUNTS = os.path.join(ROOT, 'tests', 'bench', 'counts.def')
REQUESTS = os.path.join(HERE, 'service.def')
LINE = re.compile(r'COUNT\("(?P<program>[^"]*)", "(?P<row>[^"]*)", (?P<units>\d+), '
                  r'(?P<cost>\d+), (?P<percent>[\d.]+)\)$')
# of a tolerance: smaller changes are left when the files are renewed
SIXTH = 1 / 6
# the same kernels of OpenBLAS everywhere, and one thread
ENVIRONMENT = {**os.environ, 'OPENBLAS_CORETYPE': 'Haswell', 'OPENBLAS_NUM_THREADS': '1'}


class Figure:
    """One line: what it costs by the file, and what was counted."""

    def __init__(self, line, match):
        self.line, self.cost = line, int(match['cost'])
        self.program, self.row = match['program'], match['row']
        self.units, self.percent = int(match.groupdict().get('units') or 0), float(match['percent'])
        self.now = None

    def name(self):
        return '%s: %s' % (self.program, self.row)

    def fault(self, part=1.):
        """What is wrong with it, or None; part of its tolerance."""
        if self.now is None:
            return 'was not counted'
        if abs(self.now - self.cost) <= part * self.percent / 100 * self.cost:
            return None
        # fewer blocks freed may be a leak, and a shorter answer one that lacks something
        less = self.now < self.cost and not self.row.startswith(('freed', 'sent'))
        better = '; commit the better figure' if less else ''
        if not self.percent:
            return '%d, was %d (exact)%s' % (self.now, self.cost, better)
        change = 'is new' if not self.cost else '%+.1f %%' % (100 * (self.now / self.cost - 1))
        return '%d, was %d (%s, tolerance %g %%)%s' % (self.now, self.cost, change, self.percent,
                                                      better)

    def renewed(self):
        """The line with what was counted."""
        return re.sub(r'\d+(, [\d.]+\)\n)$', '%d\\1' % self.now, self.line)


def read(path):
    """All lines of a file, and the figures among them."""
    with open(path, encoding='utf-8') as f:
        lines = f.readlines()
    found = []
    for k, line in enumerate(lines):
        match = LINE.match(line)
        if match:
            found.append((k, Figure(line, match)))
    return lines, found


def why_not():
    """Why nothing can be counted here, or None."""
    with open('/etc/os-release', encoding='utf-8') as f:
        system = f.read()
    if not re.search(r'^ID=debian$', system, re.M) or 'VERSION_ID="12"' not in system:
        return 'the figures are those of Debian 12'
    with open('/proc/cpuinfo', encoding='utf-8') as f:
        if ' avx2 ' not in f.read():
            return 'the figures are those of processors with AVX2'
    for name in ('valgrind', 'strace'):
        if not shutil.which(name):
            return 'there is no %s (package %s)' % (name, name)
    return None


def marks(folder):
    """{mark: instructions} of callgrind's files: of the first thread, which does the work."""
    found = {}
    for path in glob.glob(os.path.join(folder, 'out*')):
        with open(path, encoding='utf-8', errors='replace') as f:
            text = f.read()
        mark = re.search(r'^desc: Trigger: Client Request: (.*)$', text, re.M)
        total = re.search(r'^(?:summary|totals): (\d+)', text, re.M)
        if mark and total and re.search(r'^thread: 1$', text, re.M):
            found[mark.group(1)] = int(total.group(1))
    return found


def count_program(build, program, plant, only):
    """{row: instructions of a unit, how many} of a benchmark."""
    with tempfile.TemporaryDirectory(prefix='mechd-count-') as folder:
        command = ['valgrind', '--tool=callgrind', '--quiet', '--instr-atstart=no',
                   '--separate-threads=yes',
                   '--callgrind-out-file=' + os.path.join(folder, 'out'),
                   os.path.join(build, 'tests', 'bench', 'bench-' + program), '--count']
        command += ['--plant', str(plant)] if plant != 1 else []
        command += ['--only', only] if only else []
        done = subprocess.run(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
        if done.returncode != 0:
            print('FAILED bench-%s --count ended with %d\n%s' % (
                program, done.returncode, done.stdout.decode(errors='replace')[-2000:]))
        return marks(folder)


def count_instructions(build, figures, plant):
    programs = sorted({f.program for f in figures})
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {p: pool.submit(count_program, build, p, plant, None) for p in programs}
    for figure in figures:
        found = jobs[figure.program].result()
        one, two = (found.get('%s|%d' % (figure.row, k * figure.units)) for k in (1, 2))
        if one is not None and two is not None:
            figure.now = round((two - one) / figure.units)


def count_requests(build, figures, known):
    """`known`: all figures of the file."""
    found = service.count(build) if figures else {}
    for figure in figures:
        figure.now = found.get((figure.program, figure.row))
    for door, what in sorted(set(found) - {(f.program, f.row) for f in known}):
        print('not in the file: %s: %s: %d' % (door, what, found[door, what]))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('build')
    parser.add_argument('--write', action='store_true')
    parser.add_argument('--plant', type=float, default=1)
    parser.add_argument('--only', default='')
    o = parser.parse_args()
    reason = why_not()
    if reason:
        print('nothing is counted here: %s\n0 passed, 0 failed' % reason)
        return 0
    files, figures = {path: read(path) for path in (COUNTS, REQUESTS)}, []
    for path, (_, found) in files.items():
        wanted = [f for _, f in found if o.only in f.name()]
        if path == COUNTS:
            count_instructions(o.build, wanted, o.plant)
        elif o.plant == 1:
            count_requests(o.build, wanted, [f for _, f in found])
        else:
            wanted = []
        figures += wanted
    passed = 0
    for figure in figures:
        fault = figure.fault(SIXTH if o.write else 1.)
        if o.plant != 1:
            # here it must be seen
            fault = None if fault and figure.now is not None else 'the slowdown is not seen'
        passed += not fault
        if fault and o.write and figure.now is not None:
            print('%s: %s' % (figure.name(), fault))
        elif fault:
            print('FAILED %s: %s' % (figure.name(), fault))
        else:
            print('%s: %d' % (figure.name(), figure.now))
    if o.write and o.plant == 1:
        for path, (lines, found) in files.items():
            for k, figure in found:
                if figure.now is not None and figure.fault(SIXTH):
                    lines[k] = figure.renewed()
            with open(path, 'w', encoding='utf-8') as f:
                f.writelines(lines)
    print('%d passed, %d failed' % (passed, len(figures) - passed))
    return 0 if passed == len(figures) else 1


if __name__ == '__main__':
    sys.exit(main())
