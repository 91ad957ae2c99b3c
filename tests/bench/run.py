"""Runs the benchmarks of a build directory shortly and checks their bars (with their margin; the
programs themselves run longer, and with --strict without margin).

    run.py BUILD

A peer that is installed is measured beside, without bars. Ends with "N passed, N failed", a
benchmark program counting once. Noise of a shared machine is met by trying a failed program again,
twice; a bar that is broken three times is broken."""
import os
import subprocess
import sys

TRIES = 3


def main(build):
    folder = os.path.join(build, 'tests', 'bench')
    programs = sorted(p for p in os.listdir(folder) if p.startswith('bench-') and
                      os.access(os.path.join(folder, p), os.X_OK) and
                      os.path.isfile(os.path.join(folder, p))) if os.path.isdir(folder) else []
    passed, failed = 0, 0 if programs else 1
    for name in programs:
        for attempt in range(TRIES):
            done = subprocess.run([os.path.join(folder, name), '--quick'], timeout=600,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            print(done.stdout.decode(errors='replace'), flush=True)
            if done.returncode == 0:
                passed += 1
                break
            print('%s: a bar is broken, try %d of %d' % (name, attempt + 1, TRIES))
        else:
            failed += 1
            print('FAILED ' + name)
    peer = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'peer_siconos.py')
    if subprocess.run(['/usr/bin/python3', peer, build], timeout=600).returncode:
        failed += 1
        print('FAILED peer_siconos')
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
