"""Runs the C test programs of a build directory, several at a time, and sums them up.

    run.py BUILD [--only PROGRAM] unit conformance verify

Prints what failing programs print, and how each is run alone; ends with "N passed, N failed". A
program that crashes, hangs (its stacks are printed) or ends without its count is one failure."""
import concurrent.futures
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'tools'))
import stacks  # noqa: E402

REPORT = re.compile(r'(?:ERROR|WARNING): \w+Sanitizer|runtime error: |Assertion .* failed')
SHOWN = 6000  # characters of what a failed program prints
LIMIT = 400  # seconds of one program, far more than the longest takes under a sanitizer


def programs(build, suites):
    """[(name, command, environment)] of meson's tests in these suites."""
    text = subprocess.run(['meson', 'introspect', '--tests', build], check=True,
                          stdout=subprocess.PIPE).stdout
    for test in json.loads(text):
        names = {suite.split(':')[-1] for suite in test['suite']}
        if names & set(suites):
            yield test['name'], test['cmd'], {**os.environ, **test['env']}


def telling(text):
    """The report of a sanitizer from its head, which names the place, or the end of the text."""
    found = REPORT.search(text)
    return text[max(0, found.start() - 200):][:SHOWN] if found else text[-SHOWN:]


def run(job):
    name, command, environment = job
    try:
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as e:
        return 0, 1, '%s: cannot be run: %s' % (name, e)
    try:
        output, _ = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        where = stacks.report([process.pid])
        stacks.end(process.pid)
        output, _ = process.communicate()
        return 0, 1, '%s: not over after %d s\n%s\n%s' % (name, LIMIT, output.decode(
            errors='replace')[-2000:], where)
    text = output.decode(errors='replace')
    count = re.search(r'^(\d+) passed, (\d+) failed\s*\Z', text, re.M)
    if not count:
        return 0, 1, '%s: ended with %d, without a count\n%s' % (name, process.returncode,
                                                                telling(text))
    passed, failed = int(count.group(1)), int(count.group(2))
    if process.returncode != 0 and failed == 0:
        failed = 1
    return passed, failed, '%s:\n%s' % (name, telling(text)) if failed else ''


def main(build, *suites):
    only = None
    if suites[:1] == ('--only',):
        only, suites = suites[1], suites[2:]
    jobs = sorted(job for job in programs(build, suites) if only in (None, job[0]))
    passed, failed, faulty = 0, 0 if jobs else 1, []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (name, *_), (good, bad, text) in zip(jobs, pool.map(run, jobs)):
            passed, failed = passed + good, failed + bad
            if bad:
                print('FAILED ' + text, flush=True)
                faulty.append(name)
    for name in faulty:
        print('FAILED %s: alone: tests/run %s:%s' % (
            name, os.environ.get('MECHD_TESTS_SUITE', suites[0]), name))
    print('%d programs' % len(jobs))
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
