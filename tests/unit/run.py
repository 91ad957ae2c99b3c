"""Runs the C test programs of a build directory, several at a time, and sums them up.

    run.py BUILD unit conformance verify

Prints what failing programs print; ends with "N passed, N failed". A program that crashes, hangs
or ends without its count is one failure."""
import concurrent.futures
import json
import os
import re
import subprocess
import sys


def programs(build, suites):
    """[(name, command, environment)] of meson's tests in these suites."""
    text = subprocess.run(['meson', 'introspect', '--tests', build], check=True,
                          stdout=subprocess.PIPE).stdout
    for test in json.loads(text):
        names = {suite.split(':')[-1] for suite in test['suite']}
        if names & set(suites):
            yield test['name'], test['cmd'], {**os.environ, **test['env']}


def run(job):
    name, command, environment = job
    try:
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=600)
    except OSError as e:
        return 0, 1, '%s: cannot be run: %s' % (name, e)
    except subprocess.TimeoutExpired as e:
        return 0, 1, '%s: not over after 600 s\n%s' % (name, (e.stdout or b'').decode()[-2000:])
    text = done.stdout.decode(errors='replace')
    count = re.search(r'^(\d+) passed, (\d+) failed\s*\Z', text, re.M)
    if not count:
        return 0, 1, '%s: ended with %d, without a count\n%s' % (name, done.returncode,
                                                                text[-6000:])
    passed, failed = int(count.group(1)), int(count.group(2))
    if done.returncode != 0 and failed == 0:
        failed = 1
    return passed, failed, '%s:\n%s' % (name, text[-6000:]) if failed else ''


def main(build, *suites):
    jobs = sorted(programs(build, suites))
    passed, failed = 0, 0 if jobs else 1
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for good, bad, text in pool.map(run, jobs):
            passed, failed = passed + good, failed + bad
            if bad:
                print('FAILED ' + text, flush=True)
    print('%d programs' % len(jobs))
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
