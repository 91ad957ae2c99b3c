"""Ctrl-C in mechctl: what it has asked for ends on the server, with a lease too, and it says so."""
import os
import signal
import subprocess
import unittest

import models
from harness import SLOW, Served, program, wait_until


class Interrupted(Served):
    def press(self, one, lease):
        """What is said when Ctrl-C ends an endless step; again where the machine was too slow to
        cancel it within a second."""
        path = '/v1/instances/' + one
        environment = {**os.environ, **({'MECHD_LEASE': lease['Lease']} if lease else {})}
        while True:
            with subprocess.Popen([program('mechctl'), '--server', self.daemon.base, 'step', one,
                                   '--count', '1000000000'], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, env=environment) as mechctl:
                wait_until(lambda: self.daemon.call('GET', path)['busy'], 'it is in progress')
                mechctl.send_signal(signal.SIGINT)
                out, said = mechctl.communicate(timeout=60 * SLOW)
            self.assertEqual((mechctl.returncode, out), (-signal.SIGINT, ''), said)
            if 'has no answer either' not in said:
                return said
            self.daemon.call('POST', path + '/stop', None, lease)

    def test_a_step_ends_on_the_server(self):
        one = self.daemon.create(models.nonlinear_oscillator())
        path, lease = '/v1/instances/' + one, {}
        for words in ('the server ends what is not waited for', 'it has been cancelled and is '
                      'undone'):
            if 'cancelled' in words:
                number = self.daemon.call('POST', path + '/lease', {'role': 'owner'})['lease']
                lease = {'Lease': str(number)}
            self.assertEqual(self.press(one, lease), 'mechctl: %s: interrupted; %s\n' %
                             (self.daemon.base, words))
            reply = self.daemon.call('POST', path + '/step', {'count': 1}, lease)
            self.assertEqual(reply.status, 200, reply)
        self.assertEqual(self.daemon.call('GET', path)['step'], 2)


if __name__ == '__main__':
    unittest.main()
