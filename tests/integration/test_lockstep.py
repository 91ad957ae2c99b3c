"""Lock-step with connections that are cut at random, for half an hour of simulated time:
tests/soak/lockstep does it for days."""
import os
import subprocess
import sys
import unittest

from harness import ROOT, SLOW

RACES = True


class Lockstep(unittest.TestCase):
    def test_no_step_is_lost_or_done_twice(self):
        done = subprocess.run([sys.executable, os.path.join(ROOT, 'tests', 'soak', 'lockstep'),
                               '0.5'], capture_output=True, text=True, timeout=100 * SLOW)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, '^1800 steps, [1-9][0-9]* connections cut, .*: same state$')


if __name__ == '__main__':
    unittest.main()
