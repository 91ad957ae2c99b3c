"""How long another instance's request takes beside a hundred couplings whose programs are stopped,
slow, cut off, lying or answer twice: the times are printed, the longest one of the best of some
rounds is a promise."""
import time
import unittest

from crowd import Crowd, Hanging
from harness import wait_until
from lane import LanePartner
from partnered import K, half

ALONE = TIMED = True
REQUESTS, ROUNDS = 2000, 5
LONGEST = 0.05  # s


class Times(Crowd):
    def measure(self, what, ask):
        """The longest of so many requests, s, one after the other."""
        took = []
        for _ in range(REQUESTS):
            before = time.monotonic()
            ask()
            took.append(time.monotonic() - before)
        took.sort()
        print('%-44s median %.2f ms, 99 of 100 within %.2f ms, the longest %.2f ms' % (
            what, *(1e3 * t for t in (took[REQUESTS // 2], took[-REQUESTS // 100], took[-1]))))
        return took[-1]

    def test_the_longest_request_is_short(self):
        one, two = (self.daemon.create(half(1., k=K)) for _ in range(2))
        lane = LanePartner(self.daemon, two, ['F'], ['x'])
        self.addCleanup(lane.close)
        asks = {'a step over HTTP': lambda: self.daemon.call(
            'POST', '/v1/instances/%s/step' % one, {'count': 1}),
                'a step over the lane': lambda: lane.step(1e-3, [1.])}
        for what, ask in asks.items():
            self.measure(what + ', alone', ask)
        stopped, slow, cut, lying, twice = [
            self.crowd(kind) for kind in ('honest', 'slow', 'cut', 'lying', 'twice')]
        stopped.stop()
        waits = [Hanging(self.daemon, p.couplings) for p in (stopped, slow, cut)]
        for w in waits:
            wait_until(w.hang, 'they hang')
        for p in (lying, twice):
            p.tell('go')
        for what, ask in asks.items():
            best = min(self.measure(what + ', beside 100 bad partners', ask)
                       for _ in range(ROUNDS))
            self.assertLess(best, LONGEST)
        for p in (lying, twice):
            p.statuses()
        for p in (stopped, slow, cut):
            for cid in p.couplings:
                self.daemon.call('DELETE', '/v1/couplings/' + cid)
        for w in waits:
            w.join()


if __name__ == '__main__':
    unittest.main()
