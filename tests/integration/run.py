"""Runs the integration tests, or those modules that are named (references doors …), several modules
at a time, each in a process of its own: a line when one has ended, what failed above it. Ends with
"N passed, N failed".

    run.py [--jobs N] [--races] [--timed] [NAME…]

--races runs only the modules that say RACES = True: those where threads of the daemon meet. Modules
that say ALONE = True need both processors; they run after the others, one after another. Those that
say TIMED = True measure rates and belong to the benchmarks: they run with --timed or when named.

A test that fails is run again when all others are over, alone, up to twice: if it passes it counts,
and a line "UNSTEADY n: names" names it. More than three such tests are a failure. A module that
says WHOLE = True is run again as a whole: its tests judge what all of it has done."""
import argparse
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'tools'))
import stacks  # noqa: E402

COUNT = re.compile(r'^(\d+) passed, (\d+) failed, (\d+) skipped\s*\Z', re.M)
# seconds of one module, far more than the longest, which is one of a sanitizer where that is built
LIMIT = float(os.environ.get('MECHD_TESTS_LIMIT', '300'))

AGAIN = re.compile(r'^again (\S+)\n', re.M)

# subtests of one test that are reported
MOST = 4
# tests that may pass only when they are run again
UNSTEADY = 3


class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.passed, self.failed, self.told = 0, set(), {}

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += test.id() not in self.failed

    def fault(self, test, error):
        name = getattr(test, 'test_case', test).id()
        self.failed.add(name)
        self.told[name] = self.told.get(name, 0) + 1
        if self.told[name] > MOST:
            return
        print('FAILED %s' % test.id())
        text = self._exc_info_to_string(error, test)
        print('\n'.join('    ' + line for line in text.rstrip().split('\n')[-14:]), flush=True)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.fault(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self.fault(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.fault(subtest, error)


def run_here(names):
    """One module, or some of its tests, in this process; the last line is the count, before it
    what failed and what was skipped."""
    stacks.register()
    # nohup ignores it, and so would what tests start; they send it
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    result = Result()
    unittest.defaultTestLoader.loadTestsFromNames(names).run(result)
    for test, reason in result.skipped:
        print('%s skipped: %s' % (test.id(), reason))
    # a class whose set-up or tear-down fails counts once, and is run again as a whole
    for name in sorted(result.failed):
        print('again ' + re.sub(r'^\w+ \((.*)\)$', r'\1', name))
    print('%d passed, %d failed, %d skipped' % (result.passed, len(result.failed),
                                                len(result.skipped)))
    return 1 if result.failed else 0


def run_apart(module, names=None):
    """(module, passed, names of what failed, seconds, what it printed) of a module, or of some of
    its tests"""
    start = time.monotonic()
    # a module ends with this program, whatever ends it
    process = subprocess.Popen(['setpriv', '--pdeathsig', 'KILL', sys.executable,
                                os.path.abspath(__file__), '--here'] + (names or [module]),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    try:
        text = process.communicate(timeout=LIMIT)[0].decode(errors='replace')
    except subprocess.TimeoutExpired:
        where = stacks.report([process.pid])
        stacks.end(process.pid)
        text = '%s\nnot over after %d s\n%s\n' % (
            process.communicate()[0].decode(errors='replace')[-6000:], LIMIT, where)
    took, count = time.monotonic() - start, COUNT.search(text)
    if count is None:
        return module, 0, [module], took, 'FAILED %s ended without a count\n%s' % (module,
                                                                                   text[-20000:])
    text = text[:count.start()]
    return (module, int(count.group(1)), AGAIN.findall(text), took, AGAIN.sub('', text).rstrip())


def says(module, word):
    """Whether the module has the line WORD = True."""
    with open(os.path.join(HERE, module + '.py'), encoding='utf-8') as f:
        return re.search(r'^(\w+ = )*%s = (\w+ = )*True$' % word, f.read(), re.M) is not None


def longest_first(modules, past):
    """By the seconds they took the last time; those without go first, long files before short."""
    def size(module):
        return os.path.getsize(os.path.join(HERE, module + '.py'))
    return sorted(modules, key=lambda m: (-past.get(m, 1e9), -size(m)))


def past_file():
    return os.path.join(os.environ['MECHD_TESTS_BUILD'], 'integration-seconds.json') \
        if 'MECHD_TESTS_BUILD' in os.environ else None


def read_past():
    try:
        with open(past_file(), encoding='utf-8') as f:
            return json.load(f)
    except (OSError, TypeError, ValueError):
        return {}


def run_once(wanted, jobs):
    """(passed, [(module, names of what failed)]) of all these modules"""
    past, passed, failed, done = read_past(), 0, [], 0
    alone = [m for m in wanted if says(m, 'ALONE')]
    together = longest_first([m for m in wanted if m not in alone], past)
    for group, most in ((together, jobs), (alone, 1)):
        with concurrent.futures.ThreadPoolExecutor(most) as pool:
            running = [pool.submit(run_apart, module) for module in group]
            for one in concurrent.futures.as_completed(running):
                module, good, bad, took, text = one.result()
                passed, done, past[module] = passed + good, done + 1, took
                if bad:
                    failed.append((module, bad))
                if text:
                    print(text)
                print('%3d of %d  %-16s %3d passed, %d failed, %.1f s' % (
                    done, len(wanted), module[5:], good, len(bad), took), flush=True)
    if past_file():
        with open(past_file(), 'w', encoding='utf-8') as f:
            json.dump(past, f)
    return passed, failed


def run_again(failed):
    """(names that still fail, names that pass now)"""
    lasting, unsteady = [], []
    for module, names in failed:
        first = names
        if says(module, 'WHOLE'):
            names = [module]
        for _ in range(2):
            if names:
                _, _, names, took, text = run_apart(module, names)
                print('again: %s, %.1f s: %s' % (module[5:], took, 'failed: ' + ' '.join(names)
                                                 if names else 'passed'))
                print(text, end='\n' if text else '', flush=True)
        lasting += names
        unsteady += [name for name in first if name not in names and module not in names]
    return lasting, unsteady


def run_all(wanted, jobs):
    passed, failed = run_once(wanted, jobs)
    lasting, unsteady = run_again(failed)
    for name in lasting:
        print('FAILED %s: alone: tests/run %s:%s' % (
            name, os.environ.get('MECHD_TESTS_SUITE', 'integration'), name))
    if unsteady:
        print('UNSTEADY %d: %s' % (len(unsteady), ' '.join(unsteady)))
    passed, failed = passed + len(unsteady), len(lasting)
    if len(unsteady) > UNSTEADY:
        print('FAILED more than %d tests passed only when they were run again' % UNSTEADY)
        failed += 1
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed or not passed else 0


def main(arguments):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--jobs', type=int, default=2 * (os.cpu_count() or 1))
    parser.add_argument('--races', action='store_true')
    parser.add_argument('--timed', action='store_true')
    parser.add_argument('--here', nargs='+')
    parser.add_argument('names', nargs='*')
    o = parser.parse_args(arguments)
    # shells start what runs in the background with Ctrl-C ignored; tests press it
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path.insert(0, HERE)
    if o.here:
        return run_here(o.here)
    modules = sorted(f[:-3] for f in os.listdir(HERE) if re.fullmatch(r'test_\w+\.py', f))
    wanted = [m for m in modules if not o.names or m[5:] in o.names or m in o.names]
    unknown = [n for n in o.names if n not in modules and 'test_' + n not in modules]
    if o.names and all(n.split('.')[0] in modules for n in o.names):
        # tests by their whole names
        return run_here(o.names)
    if not o.names:
        wanted = [m for m in wanted if says(m, 'TIMED') == o.timed]
    if o.races:
        wanted = [m for m in wanted if says(m, 'RACES')]
    if unknown or not wanted:
        print('no such tests: %s; there are: %s' % (' '.join(unknown),
                                                    ' '.join(m[5:] for m in modules)))
        return 2
    return run_all(wanted, o.jobs)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
