"""The benchmark book: runs the benchmarks and the other programs that are installed in turns, and
prints tables, plots and slopes of what they measured.

    book.py BUILD [--budget SECONDS] [--write] [--built NAME=TEXT]…    measures; prints the page,
                                                                       or writes all
    book.py --print [--write]                     the same from the data of the last --write

--built says of another program that is no package how it was built, as "Exudyn=from its source with
gcc at -O3"; the page has it beside the version.

--write writes the data (book.json), the page (between the marks of README.md), its plots
(plots/*.svg), the summary (between the marks of the README at the top) and what operators plan with
(between those of deploy/README.md). The benchmarks of all
sections run once, one after the other, then again as long as the time of their section lasts;
medians of these rounds are printed. A program begins only while its section has time left, so that
the book takes about --budget seconds (1200); one that did not begin is listed as not measured."""
import argparse
import importlib
import json
import os
import re
import statistics
import subprocess
import sys
import time
import book_page
from peers import ADAPTERS
from run import run

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(HERE, 'book.json')
BUDGET = 1200
LIMIT = 900  # seconds of one program
RUNS = 7  # of a program, at most
TRIES = 2  # of one that fails
# what is measured, and its part of the time
SECTIONS = {
    'kernels': (('lti', 'contacts', 'friction', 'text', 'call'), 0.15),
    'models': (('joints', 'closed', 'couple', 'fmu'), 0.15),
    'contacts': (('spheres', 'detection'), 0.1),
    'scaling': (('scaling', ), 0.15),
    'http': (('service', 'service-scaling', 'batch', 'service-start', 'service-couple'), 0.175),
    'zmq': (('service-zmq', 'service-lane'), 0.075),
    'storage': (('service-storage', ), 0.05),
    'peers': (ADAPTERS, 0.15),
}
# what the figures depend on, by the name that pkg-config knows
LIBRARIES = {'OpenBLAS': 'openblas', 'libmicrohttpd': 'libmicrohttpd', 'ZeroMQ': 'libzmq',
             'jansson': 'jansson', 'SQLite': 'sqlite3'}
MEDIANS = ('ns', 'nsPerCoordinate', 'floorNs', 'value', 'low', 'high', 'ours', 'theirs', 'times')


def said(*command):
    """What a program prints; '' where it is not there or fails."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60, check=False)
    except FileNotFoundError:
        return ''
    return done.stdout.decode(errors='replace').strip() if done.returncode == 0 else ''


def machine():
    with open('/proc/cpuinfo', encoding='utf-8') as f:
        names = re.findall(r'^model name\s*:\s*(.*)$', f.read(), re.M)
    return {'processor': names[0] if names else os.uname().machine,
            'cores': len(os.sched_getaffinity(0)), 'load': round(os.getloadavg()[0], 1)}


def versions(build):
    found = {name: said('pkg-config', '--modversion', package)
             for name, package in LIBRARIES.items()}
    found['nginx'] = said('nginx', '-v').rpartition('/')[2].split(' ')[0]
    found['MuJoCo'] = said(os.path.join(build, 'tests', 'bench', 'peer-envs'), '--version')
    found['mechd'] = said(os.path.join(build, 'server', 'mechd'), '--version').rpartition(' ')[2]
    found['gcc'] = said('gcc', '-dumpfullversion')
    return {name: version for name, version in sorted(found.items()) if version}


def peer_names():
    """Those of the other programs."""
    return [importlib.import_module(name).NAME for name in ADAPTERS]


def adapter(name, build):
    """What peer_NAME.py has measured; None where it has failed."""
    done = subprocess.run([sys.executable, os.path.join(HERE, name + '.py'), build, '--json'],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=LIMIT,
                          check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def once(name, build):
    """What one run of a program has measured; None where it has failed. A broken bar is no
    failure here: run.py judges bars."""
    if name in ADAPTERS:
        return adapter(name, build)
    rows = run(os.path.join(build, 'tests', 'bench', 'bench-' + name), '--quick',
               seconds=LIMIT)[1]
    return rows and {'name': name, 'rows': rows}


def keyed(rows):
    """The rows by name; one that is set in belongs to the row above it."""
    above = ''
    for row in rows:
        if not row['what'].startswith(' '):
            above = row['what']
        yield (above, row['what']), row


def merged(runs):
    """Medians of several runs of a program, row by row."""
    found = {**runs[0], 'runs': len(runs)}
    if 'rows' not in found:
        return found
    by_name = {}
    for each in runs:
        for key, row in keyed(each['rows']):
            by_name.setdefault(key, []).append(row)
    found['rows'] = [
        {**rows[0], **{k: float('%.5g' % statistics.median(row[k] for row in rows))
                       for k in MEDIANS if k in rows[0]}} for rows in by_name.values()]
    return found


class Book:
    """owner: one run. Programs begin while their section has time left, the first always."""

    def __init__(self, build, budget, built):
        self.build, self.budget = build, budget
        self.built = built  # {name of another program: how}
        self.runs = {name: [] for programs, _ in SECTIONS.values() for name in programs}
        self.took = {}  # the longest run of each, s
        self.left = {section: budget * part for section, (_, part) in SECTIONS.items()}
        self.failures = {name: 0 for name in self.runs}

    def begins(self, section, name):
        if self.failures[name] == TRIES or len(self.runs[name]) == RUNS or not self.is_built(name):
            return False
        if any('rows' not in found for found in self.runs[name]):
            return False  # another program that is not installed
        if name in self.took:
            return self.took[name] <= self.left[section]
        is_first = not any(p in self.took for p in SECTIONS[section][0])
        return is_first or self.left[section] > 0

    def is_built(self, name):
        return name in ADAPTERS or os.path.exists(
            os.path.join(self.build, 'tests', 'bench', 'bench-' + name))

    def measure(self, section, name):
        begin = time.monotonic()
        found = once(name, self.build)
        seconds = time.monotonic() - begin
        self.left[section] -= seconds
        self.took[name] = max(seconds, self.took.get(name, 0))
        if found is None:
            self.failures[name] += 1
        else:
            self.runs[name].append(found)
        print('%-8s %-16s %5.1f s, run %d%s' % (
            section, name, seconds, len(self.runs[name]), '' if found else ', FAILED'),
            file=sys.stderr, flush=True)

    def round(self):
        """Whether anything has begun."""
        begun = False
        for section, (programs, _) in SECTIONS.items():
            for name in programs:
                if self.begins(section, name):
                    self.measure(section, name)
                    begun = True
        return begun

    def described(self, found):
        """The same with how the program was built, where that was given."""
        how = self.built.get(found['name']) if found.get('version') else None
        return {**found, 'built': how} if how else found

    def data(self):
        begin, at = time.monotonic(), machine()
        while self.round():
            pass
        return {'format': 1, 'date': time.strftime('%Y-%m-%d'), 'budget': self.budget,
                'seconds': round(time.monotonic() - begin), 'machine': at,
                'versions': versions(self.build),
                'failed': [name for name, of in self.runs.items()
                           if self.failures[name] and not of],
                'sections': {section: {
                    'programs': [self.described(merged(self.runs[n])) for n in programs
                                 if self.runs[n]],
                    'left': [n for n in programs if not self.runs[n]]}
                    for section, (programs, _) in SECTIONS.items()}}


def read_data():
    with open(DATA, encoding='utf-8') as f:
        return json.load(f)


def text_of(data):
    """One line a row, so that two runs can be compared by their lines."""
    text = json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True)
    return re.sub(r'\{\s+("[^{}\[\]]*?)\s+\}',
                  lambda m: '{' + re.sub(r'\n\s+', ' ', m.group(1)) + '}', text) + '\n'


def write(data):
    with open(DATA, 'w', encoding='utf-8') as f:
        f.write(text_of(data))
    for path, text in book_page.documents(data, ROOT).items():
        os.makedirs(os.path.dirname(os.path.join(ROOT, path)) or '.', exist_ok=True)
        with open(os.path.join(ROOT, path), 'w', encoding='utf-8') as f:
            f.write(text)
        print('%s: written' % path)


def main(arguments):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('build', nargs='?')
    parser.add_argument('--budget', type=float, default=BUDGET)
    parser.add_argument('--built', action='append', default=[])
    parser.add_argument('--print', action='store_true')
    parser.add_argument('--write', action='store_true')
    o = parser.parse_args(arguments)
    if bool(o.build) == o.print or not o.budget > 0:
        parser.error('BUILD or --print, and a budget above 0')
    built = dict(text.partition('=')[::2] for text in o.built)
    names = peer_names() if built else []
    if not set(built) <= set(names) or not all(built.values()):
        parser.error('--built NAME=TEXT, of ' + ', '.join(names))
    data = read_data() if o.print else Book(os.path.abspath(o.build), o.budget, built).data()
    if o.write:
        write(data)
    else:
        print(book_page.page(data))
    return 1 if data['failed'] else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
