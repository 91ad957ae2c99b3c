"""Runs the C test programs of a build directory, several at a time, and sums them up.

    run.py BUILD [--only PROGRAM] [--parts | --wholes] unit conformance verify

--parts runs of the programs of tests/sanitized.def what that says, --wholes these alone, whole.
Prints what failing programs print, and how each is run alone; ends with "N passed, N failed". A
program that crashes, hangs (its stacks are printed) or ends without its count is one failure. It
hangs when it has used more processor time than any may, or next to none for as long: a machine that
is busy with other work makes no program fail."""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'tools'))
import stacks  # noqa: E402

REPORT = re.compile(r'(?:ERROR|WARNING): \w+Sanitizer|runtime error: |Assertion .* failed')
SHOWN = 6000  # characters of what a failed program prints
LIMIT = 400  # seconds of processor time, far more than the longest takes under a sanitizer
STILL = 400  # seconds in which a program that works uses at least a hundredth of a processor
LOOKS = 1  # seconds between two looks at a program
TOLD = 5  # of the longest programs that are named at the end
PARTS = os.path.join(HERE, '..', 'sanitized.def')
Job = collections.namedtuple('Job', 'suite name command environment')


def parts():
    """{(suite, program): words of its command line} by tests/sanitized.def."""
    words, found = {'FIRST': '%s=%s', 'EACH': '%s/%s', 'NONE': '-%s%s'}, {}
    with open(PARTS, encoding='utf-8') as f:
        for kind, row in re.findall(r'^(\w+)\((.*)\)$', f.read(), re.M):
            program, test, number = [word.strip() for word in (row + ',').split(',')][:3]
            found.setdefault(tuple(program.split('/', 1)), []).append(words[kind] % (test, number))
    return found


def programs(build, suites):
    """Meson's tests in these suites."""
    text = subprocess.run(['meson', 'introspect', '--tests', build], check=True,
                          stdout=subprocess.PIPE).stdout
    for test in json.loads(text):
        for suite in {suite.split(':')[-1] for suite in test['suite']} & set(suites):
            yield Job(suite, test['name'], test['cmd'], {**os.environ, **test['env']})
            break


def telling(text):
    """The report of a sanitizer from its head, which names the place, or the end of the text."""
    found = REPORT.search(text)
    return text[max(0, found.start() - 200):][:SHOWN] if found else text[-SHOWN:]


def past_file(build):
    return os.path.join(build, 'program-seconds.json')


def read_past(build):
    """{suite/program: seconds of its last run in this build, else in the release beside it}"""
    past = {}
    for folder in (os.path.join(os.path.dirname(os.path.abspath(build)), 'release'), build):
        try:
            with open(past_file(folder), encoding='utf-8') as f:
                past.update(json.load(f))
        except (OSError, ValueError):
            pass
    return past


def key_of(job):
    return '%s/%s' % (job.suite, job.name)


def longest_first(jobs, past):
    """By the seconds they took the last time; before them those without, verification first."""
    return sorted(jobs, key=lambda job: (-past.get(key_of(job), 1e9), job.suite != 'verify',
                                         job.name))


def spent(pid):
    """Seconds of processor time of a process, of all below it, and of those that have ended."""
    ticks = 0
    for one in stacks.family(pid):
        fields = stacks.read('/proc/%d/stat' % one).rpartition(')')[2].split()
        ticks += sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime
    return ticks / os.sysconf('SC_CLK_TCK')


class Hung(Exception):
    pass


def output_of(process, limit=LIMIT, still=STILL):
    """What a process prints until it ends; Hung with the reason if it hangs."""
    at, before = time.monotonic(), 0.0  # the begin of what may be a standstill
    while True:
        try:
            return process.communicate(timeout=LOOKS)[0]
        except subprocess.TimeoutExpired:
            used, now = spent(process.pid), time.monotonic()
        if used > limit:
            raise Hung('not over after %d s of processor time' % limit)
        if used - before > still / 100:
            at, before = now, used
        elif now - at > still:
            raise Hung('has done nothing for %d s' % still)


def run(job):
    """(passed, failed, text of a failure, seconds) of a program"""
    begin = time.monotonic()
    return *judged(job), time.monotonic() - begin


def judged(job):
    name = job.name
    try:
        process = subprocess.Popen(job.command, env=job.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as e:
        return 0, 1, '%s: cannot be run: %s' % (name, e)
    try:
        output = output_of(process)
    except Hung as e:
        where = stacks.report([process.pid])
        stacks.end(process.pid)
        output, _ = process.communicate()
        return 0, 1, '%s: %s\n%s\n%s' % (name, e, output.decode(errors='replace')[-2000:], where)
    text = output.decode(errors='replace')
    count = re.search(r'^(\d+) passed, (\d+) failed\s*\Z', text, re.M)
    if not count:
        return 0, 1, '%s: ended with %d, without a count\n%s' % (name, process.returncode,
                                                                telling(text))
    passed, failed = int(count.group(1)), int(count.group(2))
    if process.returncode != 0 and failed == 0:
        failed = 1
    return passed, failed, '%s:\n%s' % (name, telling(text)) if failed else ''


def chosen(o):
    """The jobs that the command line asks for, and programs of the table that are not there."""
    rows = parts() if o.parts or o.wholes else {}
    jobs = []
    for job in programs(o.build, o.suites):
        words = rows.pop((job.suite, job.name), [])
        if o.only in (None, job.name) and (words or not o.wholes):
            jobs.append(job._replace(command=job.command + (words if o.parts else [])))
    return jobs, ['/'.join(row) for row in rows]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('build')
    parser.add_argument('--only')
    parser.add_argument('--parts', action='store_true')
    parser.add_argument('--wholes', action='store_true')
    parser.add_argument('suites', nargs='+')
    o = parser.parse_args()
    past = read_past(o.build)
    jobs, unknown = chosen(o)
    jobs = longest_first(jobs, past)
    passed, failed, faulty, seconds = 0, len(unknown) if jobs else 1, [], {}
    for name in unknown:
        print('FAILED tests/sanitized.def: there is no program %s' % name)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for job, (good, bad, text, took) in zip(jobs, pool.map(run, jobs)):
            passed, failed, seconds[key_of(job)] = passed + good, failed + bad, round(took, 2)
            if bad:
                print('FAILED ' + text, flush=True)
                faulty.append(job.name)
    with open(past_file(o.build), 'w', encoding='utf-8') as f:
        json.dump({**past, **seconds}, f, indent=1, sort_keys=True)
    print('longest: ' + ', '.join('%s %.1f s' % (name, seconds[name]) for name in sorted(
        seconds, key=seconds.get, reverse=True)[:TOLD]))
    for name in faulty:
        print('FAILED %s: alone: tests/run %s:%s' % (
            name, os.environ.get('MECHD_TESTS_SUITE', o.suites[0]), name))
    print('%d programs' % len(jobs))
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
