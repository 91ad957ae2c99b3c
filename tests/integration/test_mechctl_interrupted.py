"""Ctrl-C in mechctl: its request ends on the server, with a lease too, and it reports that.
Where it was started with Ctrl-C ignored (by nohup, in the background of a script), it goes on."""
import os
import re
import signal
import subprocess
import unittest

import models
from harness import SERIES, SLOW, Served, program, wait_until


# what a shell does for a program in the background of a script
IGNORED = ['sh', '-c', 'trap "" INT; exec "$@"', 'sh']


def signals(process, name):
    """Whether SIGINT is among those of a line of the process's status: SigIgn, SigCgt."""
    with open('/proc/%d/status' % process.pid, encoding='utf-8') as f:
        mask = re.search(r'^%s:\s*(\w+)' % name, f.read(), re.M).group(1)
    return bool(int(mask, 16) >> (signal.SIGINT - 1) & 1)


class Interrupted(Served):
    def press(self, one, lease, number=signal.SIGINT):
        """What is said when a signal ends an endless step; again where the machine was too slow to
        cancel it within a second."""
        path = '/v1/instances/' + one
        environment = {**os.environ, **({'MECHD_LEASE': lease['Lease']} if lease else {})}
        while True:
            with subprocess.Popen([program('mechctl'), '--server', self.daemon.base, 'step', one,
                                   '--count', '1000000000'], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, env=environment) as mechctl:
                wait_until(lambda: self.daemon.call('GET', path)['busy'], 'it is in progress')
                mechctl.send_signal(number)
                out, said = mechctl.communicate(timeout=60 * SLOW)
            self.assertEqual((mechctl.returncode, out), (-number, ''), said)
            if 'has no answer either' not in said:
                return said
            self.daemon.call('POST', path + '/stop', None, lease)

    def test_a_step_ends_on_the_server(self):
        one = self.daemon.create(models.nonlinear_oscillator())
        path, lease = '/v1/instances/' + one, {}
        for words in ('the server cancels abandoned requests', 'it has been cancelled and is '
                      'undone'):
            if 'cancelled' in words:
                number = self.daemon.call('POST', path + '/lease', {'role': 'owner'})['lease']
                lease = {'Lease': str(number)}
            self.assertEqual(self.press(one, lease), 'mechctl: %s: interrupted; %s\n' %
                             (self.daemon.base, words))
            reply = self.daemon.call('POST', path + '/step', {'count': 1}, lease)
            self.assertEqual(reply.status, 200, reply)
        self.assertEqual(self.daemon.call('GET', path)['step'], 2)

    def test_a_step_ends_on_the_server_after_other_signals(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            # another one: the first may still be busy until its step is cancelled
            one = self.daemon.create(models.nonlinear_oscillator())
            self.assertIn('interrupted; the server cancels', self.press(one, {}, number))
            reply = self.daemon.call('POST', '/v1/instances/%s/step' % one, {'count': 1})
            self.assertEqual((reply.status, reply.json['step']), (200, 1))

    def waiting(self, is_running, *words):
        """What mechctl says when Ctrl-C ends its wait."""
        with subprocess.Popen([program('mechctl'), '--server', self.daemon.base, *words],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as mechctl:
            wait_until(lambda: signals(mechctl, 'SigCgt') and is_running(), 'it is in progress')
            mechctl.send_signal(signal.SIGINT)
            out, said = mechctl.communicate(timeout=60 * SLOW)
        self.assertEqual((mechctl.returncode, out), (-signal.SIGINT, ''), said)
        return said

    def test_a_run_that_is_waited_for_stops(self):
        one = self.daemon.create(models.oscillator())
        path = '/v1/instances/%s/runs' % one

        def states():
            return [run['state'] for run in self.daemon.call('GET', path)['items']]
        said = self.waiting(lambda: states() == ['running'], 'run', one, '--wait')
        self.assertRegex(said, r'^mechctl: interrupted; the run r-1 has been stopped at [\d.]+ s$')
        self.assertEqual(states(), ['stopped'])
        # somebody else's goes on
        run = self.daemon.call('POST', path, {'pace': 1})['id']
        said = self.waiting(lambda: True, 'progress', one, run, '--wait')
        self.assertEqual(said, 'mechctl: interrupted; the run %s continues in the server\n' % run)
        self.assertEqual(states()[0], 'running')
        self.daemon.call('DELETE', '%s/%s' % (path, run))

    def test_a_sweep_that_is_waited_for_is_deleted(self):
        def sweeps():
            return [s['id'] for s in self.daemon.call('GET', '/v1/sweeps')['items']]
        said = self.waiting(lambda: len(sweeps()) == 1, 'sweep', '--example', 'driven-oscillator',
                            'k=1,2', '--count', '1000000000')
        self.assertRegex(said, r'^mechctl: interrupted; the sweep w-%s-\d+ has been stopped and '
                               r'deleted$' % SERIES)
        self.assertEqual(sweeps(), [])

    def test_numbers_that_are_none_start_no_sweep(self):
        for values in ('nan', '1,inf', '0:inf:3'):
            done = subprocess.run(
                [program('mechctl'), '--server', self.daemon.base, 'sweep', '--example',
                 'driven-oscillator', 'k=' + values, '--count', '1'], capture_output=True,
                text=True, timeout=60 * SLOW)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("'k=%s': " % values, done.stderr)
            self.assertIn(' is not a finite number', done.stderr)

    def started_with_it_ignored(self, *words):
        mechctl = subprocess.Popen(
            [*IGNORED, program('mechctl'), '--server', self.daemon.base, *words], text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(mechctl.communicate)
        self.addCleanup(mechctl.kill)
        return mechctl

    def test_a_step_started_with_it_ignored_goes_on(self):
        one = self.daemon.create(models.nonlinear_oscillator())
        path = '/v1/instances/' + one
        mechctl = self.started_with_it_ignored('step', one, '--count', '1000000000')
        wait_until(lambda: self.daemon.call('GET', path)['busy'], 'it is in progress')
        self.assertEqual((signals(mechctl, 'SigIgn'), signals(mechctl, 'SigCgt')), (True, False))
        mechctl.send_signal(signal.SIGINT)
        self.assertTrue(self.daemon.call('GET', path)['busy'])
        self.daemon.call('POST', path + '/stop')
        out, said = mechctl.communicate(timeout=60 * SLOW)
        self.assertEqual((mechctl.returncode, out, said), (
            1, '', 'mechctl: the computation was cancelled (cancelled)\n'))

    def test_a_watch_started_with_it_ignored_goes_on(self):
        one = self.daemon.create(models.nonlinear_oscillator())
        mechctl = self.started_with_it_ignored('watch', one, '--follow', '--count', '2')
        self.assertTrue(mechctl.stdout.readline().startswith('time'))
        mechctl.send_signal(signal.SIGINT)

        def has_ended():
            self.daemon.call('POST', '/v1/instances/' + one + '/step', {'count': 1})
            return mechctl.poll() is not None
        wait_until(has_ended, 'two frames have been shown')
        out, said = mechctl.communicate()
        self.assertEqual((mechctl.returncode, out.count('\n'), said), (0, 2, ''), out)


if __name__ == '__main__':
    unittest.main()
