"""Static analysis of the C sources: clang-tidy (its analyzer and the checks of .clang-tidy) and
gcc's -fanalyzer, with the flags of a build.

    analyze.py BUILD [--only PART] [--tidy | --gcc]

PART of the path: the sources that have it. A finding that tests/tools/analyzed.txt does not list is
a failure; so is a line there that nothing finds any more, when all sources are analyzed. Ends
with "N passed, N failed", a source and an analyzer each. It takes long: `tests/run --all` has
it."""
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from tree import ROOT

LIST = os.path.join(ROOT, 'tests', 'tools', 'analyzed.txt')
ROOMS = ('solver', 'protocol', 'server', 'clients')
FOUND = re.compile(r'^(/[^:\n]+|[^:\s]+):(\d+):\d+: (?:warning|error): (.*) '
                   r'\[([\w.,=+-]+)\]$', re.M)
LIMIT = 1200  # seconds of one source
CLANG = 'clang-tidy-14'
# leaks are LeakSanitizer's, values without a first one clang's: gcc 12 reports what a struct keeps,
# and what it has itself made of a loop
GCC = ['-fanalyzer', '-Wno-analyzer-malloc-leak', '-Wno-analyzer-use-of-uninitialized-value',
       '-fdiagnostics-color=never', '-fdiagnostics-plain-output', '-c', '-o', os.devnull]
# what each analyzer must see
PLANTED = '''#include <stdlib.h>
int planted(int n);
int planted(int n)
{
    int *const at = calloc((size_t)n, sizeof *at);
    if (at == NULL) {
        return 0;
    }
    free(at);
    return at[0];
}
'''
# options of gcc that clang does not know, and the other way round, have no part in an analysis
DROPPED = re.compile(r'-(?:o|MF|MQ|MT)$')


def sources(build, part):
    """[(path, words of its compiler's command)]"""
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as f:
        entries = json.load(f)
    seen = set()
    for entry in entries:
        path = os.path.relpath(os.path.join(entry['directory'], entry['file']), ROOT)
        if path.split(os.sep)[0] in ROOMS and path.endswith('.c') and part in path \
                and path not in seen:
            seen.add(path)
            yield path, shlex.split(entry['command'])


def triaged():
    """{(path, check): how many} of findings that are none; a line is `path check number reason`."""
    found = {}
    with open(LIST, encoding='utf-8') as f:
        for line in f:
            if line.strip() and not line.startswith('#'):
                path, check, number, _ = line.split(None, 3)
                found[path, check] = int(number)
    return found


def tidy(build, path, _):
    # both print places from the folder of the build
    return [CLANG, '--quiet', '-p', build, os.path.join(ROOT, path)], build


def gcc(build, path, words):
    kept, skip = [], False
    for word in words:
        if not skip and not DROPPED.match(word) and word not in ('-c', '-MD', '-Werror'):
            kept.append(word)
        skip = not skip and bool(DROPPED.match(word))
    kept = [w for w in kept if os.path.basename(w) not in ('ccache',)]
    del path
    return kept + GCC, build


ANALYZERS = {'tidy': (tidy, CLANG), 'gcc': (gcc, 'gcc')}


def is_here(name):
    """Whether the analyzer is installed; a word where it is not, or is another version of it, whose
    findings are others."""
    program = ANALYZERS[name][1]
    if not shutil.which(program):
        print('skipped: %s is not installed (Debian package of that name)' % program)
        return False
    if name == 'gcc':
        version = subprocess.run([program, '-dumpversion'], stdout=subprocess.PIPE,
                                 check=True).stdout.decode().strip()
        if version.split('.')[0] != '12':
            print('skipped: gcc %s; the findings of gcc 12 are listed' % version)
            return False
    return True


def sees(name):
    """Whether an analyzer finds the planted fault, and its report is read."""
    with tempfile.TemporaryDirectory(prefix='mechd-analyze-') as folder:
        path = os.path.join(folder, 'planted.c')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(PLANTED)
        command = ['gcc', '-std=c17', '-O2', path, *GCC] if name == 'gcc' else \
            [CLANG, '--quiet', '--config-file=' + os.path.join(ROOT, '.clang-tidy'), path, '--',
             '-std=c17']
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=LIMIT)
    return [line for _, line, _, _ in FOUND.findall(done.stdout.decode())] == ['10']


def analyze(job):
    """(name of the job, {(path, check): lines})"""
    name, build, path, words = job
    command, folder = ANALYZERS[name][0](build, path, words)
    try:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return job, {(path, 'time-limit'): ['%s: not over after %d s' % (path, LIMIT)]}
    text = done.stdout.decode(errors='replace')
    found = {}
    for where, line, what, check in FOUND.findall(text):
        place = os.path.relpath(os.path.join(folder, where), ROOT)
        check = re.sub('^-W', '', check.split(',')[0])
        if not place.startswith('..'):
            found.setdefault((place, check), []).append('%s:%s: %s' % (place, line, what))
    if done.returncode != 0:
        # it has not looked at all of the source, whatever it has found before
        found.setdefault((path, 'failed'), []).append(text[-400:])
    return job, found


def main(words):
    build, part = os.path.abspath(words[0]), ''
    if '--only' in words:
        part = words[words.index('--only') + 1]
    chosen = [n for n in ANALYZERS if '--' + n in words] or list(ANALYZERS)
    names = [n for n in chosen if is_here(n)]
    known, used, passed, failed, told = triaged(), set(), 0, 0, set()
    for name in names:
        is_seen = sees(name)
        passed, failed = passed + is_seen, failed + (not is_seen)
        if not is_seen:
            print('FAILED %s does not find the planted fault' % name)
    jobs = [(n, build, path, command) for path, command in sources(build, part) for n in names]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for k, (job, found) in enumerate(pool.map(analyze, jobs), 1):
            used |= set(found) & set(known)
            # a header's finding is found from every source that includes it
            fresh = {key: lines for key, lines in found.items()
                     if len(set(lines)) > known.get(key, 0) and (job[0], key) not in told}
            told |= {(job[0], key) for key in fresh}
            passed, failed = passed + (not fresh), failed + bool(fresh)
            for (_, check), lines in sorted(fresh.items()):
                print('FAILED %s: %s' % (check, lines[0]))
                for line in lines[1:]:
                    print('    ' + line)
            if k % 5 == 0:
                print('%d of %d' % (k, len(jobs)), flush=True)
    if not part and len(names) == len(ANALYZERS):
        for path, check in sorted(set(known) - used):
            failed += 1
            print('FAILED tests/tools/analyzed.txt: nothing finds %s in %s' % (check, path))
    if not jobs:
        failed += 1
        print('FAILED nothing was analyzed')
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
