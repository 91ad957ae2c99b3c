"""deploy/run in a minimal root of Debian, as a newcomer calls it: it installs, builds and serves,
and the commands that it prints work. How long its own work takes beside the package manager's, and
between two signs of life, is recorded in tests/README.md; promised are 90 s and 5 s on two free
cores."""
import os
import re
import signal
import subprocess
import threading
import time
import unittest
import harness
import records
from harness import with_us
from places import LONG, ROOT, run
from roots import Root

PROMISE, SIGN = 90, 5  # seconds of its own work, and between two lines


class Run(unittest.TestCase):
    def setUp(self):
        self.root = Root()
        self.addCleanup(self.root.close)
        # what is committed, without the folders of builds
        run('git', '-c', 'safe.directory=*', 'clone', '-q', '--no-hardlinks', ROOT,
            self.root.at('/srv/mechd'))

    def started(self, *words):
        """[(seconds since its start, line)] up to the line that it serves; and the process."""
        # a job in the background of a script ignores Ctrl-C, and so would its children
        process = subprocess.Popen(
            with_us() + ['env', '--default-signal'] + self.root.command(
                'sh', '-c', 'cd /srv/mechd && exec deploy/run "$@"', 'sh', *words),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, 60 * harness.SLOW)
        self.addCleanup(process.send_signal, signal.SIGTERM)
        late = threading.Timer(LONG, process.kill)  # steady: of a build that does not end
        late.start()
        self.addCleanup(late.cancel)
        begin, lines = time.monotonic(), []
        for line in process.stdout:
            lines.append((time.monotonic() - begin, line.rstrip('\n')))
            if 'Ctrl-C stops it' in line:
                return lines, process
        self.fail('it has ended: ' + '\n'.join(line for _, line in lines[-30:]))

    def test_it_installs_builds_and_serves(self):
        lines, process = self.started()
        commands = [line.strip() for _, line in lines if re.match(' +curl ', line)]
        self.assertEqual(len(commands), 3, lines[-20:])
        for command in commands:
            answer = self.root.run('sh', '-c', command.replace('curl ', 'curl -fsS ', 1))
            self.assertIn('{', answer)
        page = next(line.split()[1] for _, line in lines if 'dashboard' in line)
        self.assertIn('<html', self.root.run('curl', '-fsS', page).lower())
        process.send_signal(signal.SIGINT)
        self.assertIn('mechd has stopped', process.communicate(timeout=60 * harness.SLOW)[0])
        self.assertEqual(process.wait(60 * harness.SLOW), 0)

        first, last = (next(when for when, line in lines if line.startswith(word))
                       for word in ('build:', 'mechd is running'))
        most = max(b[0] - a[0] for a, b in zip(lines, lines[1:]))
        records.record(
            'tests/run ship:run', '`deploy/run` in a minimal root of Debian, until it serves',
            '%.0f s for packages, %.0f s of its own work (on two free cores %d at most), at most '
            '%.1f s between two lines (%d); load %.1f' % (
                first, last - first, PROMISE, most, SIGN, os.getloadavg()[0]))
        # the tree has nothing new
        self.assertEqual(run('git', '-c', 'safe.directory=*', '-C', self.root.at('/srv/mechd'),
                             'status', '--porcelain'), '')


if __name__ == '__main__':
    unittest.main()
