"""mechctl watch on a server that answers 429 and 5xx, and what it asks of the server."""
import subprocess
import threading
import unittest

import models
from between import Forwarder
from harness import SLOW, Served, program, wait_until


class Busy(Forwarder):
    """Answers what is asked of instances by the next of `refusals`, a status each, while there are
    some; `asked`: the paths of all requests."""

    def __init__(self, daemon):
        self.refusals, self.asked = [], []
        super().__init__(daemon)

    def answer(self, handler, body):
        self.asked.append(handler.path)
        if self.refusals and handler.path.startswith('/v1/instances/'):
            self.send(handler, self.refusals.pop(0), b'{"title": "not now"}',
                      'application/problem+json')
        else:
            super().answer(handler, body)

    def names(self):
        """How often the names of the outputs have been asked for."""
        return sum(path.endswith('/variables') for path in self.asked)


class Watch(Served):
    def setUp(self):
        self.model = models.oscillator()
        self.names = [output['name'] for output in self.model['outputs']]
        self.again()
        self.busy = self.enterContext(Busy(self.daemon))

    def again(self):
        """Another instance under the id."""
        self.daemon.call('DELETE', '/v1/instances/seen')
        reply = self.daemon.call('PUT', '/v1/instances/seen', {'model': self.model})
        self.assertEqual(reply.status, 201, reply)
        self.step()

    def step(self):
        reply = self.daemon.call('POST', '/v1/instances/seen/step', {'count': 1})
        self.assertEqual(reply.status, 200, reply)

    def watch(self, count):
        """mechctl, and what reads the words of its next line; the first one is there."""
        mechctl = subprocess.Popen([program('mechctl'), '--server', self.busy.url, 'watch', 'seen',
                                    '--follow', '--count', str(count)], text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        limit = threading.Timer(100 * SLOW, mechctl.kill)  # steady: ends what never comes
        limit.start()
        self.addCleanup(mechctl.communicate)
        self.addCleanup(mechctl.kill)
        self.addCleanup(limit.cancel)

        def line():
            return mechctl.stdout.readline().rstrip('\n').split('\t')
        self.assertEqual(line(), ['time'] + self.names)
        self.assertEqual(line()[0], '0.001')
        return mechctl, line

    def is_over(self, mechctl):
        out, said = mechctl.communicate(timeout=100 * SLOW)
        self.assertEqual((mechctl.returncode, out), (0, ''), said)
        return said

    def test_names_are_read_when_the_server_gives_them(self):
        mechctl, line = self.watch(4)
        self.model['outputs'].reverse()
        self.busy.refusals = [429, 503, 502, 500]
        self.again()
        self.assertEqual(line(), ['time'] + self.names[::-1])
        self.assertEqual(line()[0], '0.001')
        self.assertEqual(self.busy.refusals, [])
        # what came meanwhile has waited
        self.busy.refusals = [503]
        del self.model['outputs'][0]
        self.again()
        self.step()
        self.assertEqual([line() for _ in range(3)][0], ['time', self.names[0]])
        self.assertEqual(self.is_over(mechctl), '')

    def test_an_idle_instance_is_asked_for_until_the_server_answers(self):
        mechctl, line = self.watch(2)
        self.busy.refusals = [429, 503]
        wait_until(lambda: self.busy.refusals == [], 'it is asked for', 60)
        asked = len(self.busy.asked)
        wait_until(lambda: len(self.busy.asked) > asked, 'it is asked for again', 60)
        self.step()
        self.assertEqual(line()[0], '0.002')
        self.assertIn('is idle', self.is_over(mechctl))

    def test_a_reset_asks_for_no_names(self):
        mechctl, line = self.watch(6)
        asked = self.busy.names()
        for _ in range(5):
            self.daemon.call('POST', '/v1/instances/seen/reset')
            self.step()
        times = [line()[0] for _ in range(5)]
        self.assertIn('0.001', times)
        self.is_over(mechctl)
        self.assertEqual((self.busy.names(), asked), (1, 1))

    def test_what_will_not_come_ends_it(self):
        mechctl, _ = self.watch(2)
        self.daemon.call('DELETE', '/v1/instances/seen')
        _, said = mechctl.communicate(timeout=100 * SLOW)
        self.assertEqual((mechctl.returncode, 'instance-not-found' in said), (1, True), said)
        self.again()
        for status in (400, 404, 501):
            mechctl, _ = self.watch(2)
            self.busy.refusals = [status]
            _, said = mechctl.communicate(timeout=100 * SLOW)
            self.assertEqual((mechctl.returncode, self.busy.refusals), (1, []), said)


if __name__ == '__main__':
    unittest.main()
