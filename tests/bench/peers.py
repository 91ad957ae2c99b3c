"""What the adapters of other programs (peer_*.py) have in common. An adapter has

    NAME       the program
    MISSING    what to install, where it is not there
    HOW        what is run, through which interface and to which tolerance, what is counted as a
               step, and what differs from mechd's run
    version(build) its version; None where it is not installed
    rows(build) what was measured: [row(…)], mechd and the program in turns in one run

and prints its rows when it is run itself: peer_NAME.py BUILD [--json]."""
import json
import os
import statistics
import subprocess
import sys

ADAPTERS = ('peer_siconos', 'peer_envs', 'peer_exudyn', 'peer_chrono')
REPEATS = 3
LIMIT = 900  # seconds of one program


def packaged(name):
    """" (Debian package 1.2-3)" for what is installed as a package of Debian, else ""."""
    try:
        done = subprocess.run(['dpkg-query', '-W', '-f=${Version}', name], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60,
                              check=False)
    except FileNotFoundError:
        return ''
    return ' (Debian package %s)' % done.stdout.decode() if done.returncode == 0 else ''


def row(what, unit, ours, theirs, more_is_better=False):
    """`times`: how many times as long mechd takes as the other program."""
    return {'what': what, 'unit': unit, 'ours': ours, 'theirs': theirs,
            'times': theirs / ours if more_is_better else ours / theirs}


def bench(build, program, what):
    """A row of a benchmark (README.md); ends all where it has none of this name."""
    path = os.path.join(build, 'tests', 'bench', 'bench-' + program)
    done = subprocess.run([path, '--quick', '--json', '--only', what], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, timeout=LIMIT, check=False)
    for found in json.loads(done.stdout)['rows']:
        if found['what'] == what:
            return found
    sys.exit('%s measures no %s' % (path, what))


def in_turns(*works):
    """Medians of what each work returns, REPEATS times in turns."""
    return [statistics.median(values) for values in zip(*[[work() for work in works]
                                                          for _ in range(REPEATS)])]


def measured(adapter, build):
    """What the book keeps of an adapter."""
    build = os.path.abspath(build)
    version = adapter.version(build)
    if version is None:
        return {'name': adapter.NAME, 'version': None, 'missing': adapter.MISSING}
    return {'name': adapter.NAME, 'version': version, 'how': adapter.HOW,
            'rows': adapter.rows(build)}


def not_run(found):
    """Why a program has no rows."""
    return '%s is not installed (%s)' % (found['name'], found['missing'])


def show(found):
    if found['version'] is None:
        print('skipped: %s' % not_run(found))
        return
    print('%s %s: %s' % (found['name'], found['version'], found['how']))
    print('%-44s %-24s %12s %12s %9s' % ('', 'unit', 'mechd', found['name'][:12], 'times'))
    for r in found['rows']:
        print('%-44s %-24s %12.4g %12.4g %9.3g' % (r['what'], r['unit'], r['ours'], r['theirs'],
                                                   r['times']), flush=True)


def main(adapter):
    if len(sys.argv) < 2 or sys.argv[1].startswith('-') or sys.argv[2:] not in ([], ['--json']):
        sys.exit(adapter.__doc__)
    found = measured(adapter, sys.argv[1])
    if sys.argv[2:]:
        print(json.dumps(found))
    else:
        show(found)
