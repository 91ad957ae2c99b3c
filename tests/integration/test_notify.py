"""What is reported to a service manager, through a socket of our own in its place."""
import os
import shutil
import signal
import tempfile
import time
import unittest
import models
import raw
from harness import Daemon, wait_until
from long_requests import all_at_work
from manager import Manager


class Notify(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='mechd-notify-')
        self.addCleanup(shutil.rmtree, self.folder)

    def start(self, name=None, **environment):
        name = name or os.path.join(self.folder, 'notify')
        manager = Manager(name)
        self.addCleanup(manager.close)
        return manager, {'NOTIFY_SOCKET': name, **environment}

    def test_ready_reloading_and_stopping_are_sent_in_their_order(self):
        for name in (None, '@mechd-test-%d' % os.getpid()):
            manager, environment = self.start(name)
            with Daemon(environment=environment) as d:
                at = manager.wait('READY=1')
                self.assertEqual(at, 1)
                self.assertIn('STATUS=serving ' + d.base, manager.told[0])
                before = time.monotonic()
                os.kill(d.pid(), signal.SIGHUP)
                at = manager.wait('RELOADING=1', at)
                stamp = [l for l in manager.told[at - 1] if l.startswith('MONOTONIC_USEC=')][0]
                # steady: the order of three clocks' words
                self.assertTrue(before - 1e-6 <= float(stamp.split('=')[1]) * 1e-6 <=
                                time.monotonic())
                at = manager.wait('READY=1', at)
            manager.wait('STOPPING=1', at)
            self.assertFalse([m for m in manager.told[:-1] if 'WATCHDOG=1' in m])

    def test_the_watchdog_is_fed_while_all_turns_and_not_while_the_pool_is_stuck(self):
        manager, environment = self.start(WATCHDOG_USEC='300000')
        with Daemon('--workers', '1', environment=environment) as d:
            at = manager.wait('WATCHDOG=1')
            at = manager.wait('WATCHDOG=1', at)
            # one command that nothing divides: it ends when its client has left
            n = 64
            matrix = [[1 + (r == c) * 1e-9 for c in range(n)] for r in range(n)]
            client = raw.connect(d)
            client.sendall(raw.request('/v1/problems/solve', {'problem': {
                'N': matrix, 'r': [(-1) ** k for k in range(n)],
                'solver': {'type': 'jacobi', 'tolerance': 1e-300, 'maxIterations': 2 * 10**7}}}))

            def missed():
                return d.log().count('event=watchdog pool=0')
            wait_until(lambda: all_at_work(d, 1), 'it has begun')
            before = missed()
            wait_until(lambda: missed() > before + 1, 'the pool is stuck')
            fed, before = len(manager.listen()), missed()
            wait_until(lambda: missed() > before + 3, 'it is stuck for three looks more')
            self.assertEqual(len(manager.listen()), fed)
            client.close()
            manager.wait('WATCHDOG=1', fed)

    def test_the_watchdog_of_another_process_is_not_ours(self):
        manager, environment = self.start(WATCHDOG_USEC='100000', WATCHDOG_PID='1')
        with Daemon(environment=environment) as d:
            manager.wait('READY=1')
            d.create(models.oscillator())
            os.kill(d.pid(), signal.SIGHUP)
            manager.wait('RELOADING=1')
        manager.wait('STOPPING=1')
        self.assertFalse([m for m in manager.told if m == ['WATCHDOG=1']])

    def test_a_silent_manager_holds_nothing_up(self):
        for name in ('/nowhere/at/all', '@nobody-listens-%d' % os.getpid(), 'neither', '',
                     '/' + 'x' * 300):
            d = Daemon(environment={'NOTIFY_SOCKET': name, 'WATCHDOG_USEC': '3600000000'})
            try:
                self.assertEqual(d.call('GET', '/readyz').status, 200)
            finally:
                d.stop()


if __name__ == '__main__':
    unittest.main()
