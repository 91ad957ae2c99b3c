"""A hundred couplings at once whose programs are stopped, slow, cut off, lying or answer twice:
requests of others are answered while these hang, and every wait ends."""
import unittest

from crowd import EACH, Crowd, Hanging
from harness import Partner, ZmqDoor, wait_until
from lane import LanePartner
from outside import LaneSocket, Program
from partnered import K, half

RACES = True
ROUNDS = 20


class Bad(Crowd):
    def others(self):
        """Requests through every door, of instances that take no part: each would wait for ever
        behind one that hangs."""
        one, two, three, four = (self.daemon.create(half(1., k=K)) for _ in range(4))
        with ZmqDoor(self.daemon) as door, Partner(self.daemon, two, ['F'], ['x']) as zeromq, \
                LanePartner(self.daemon, three, ['F'], ['x']) as lane:
            for _ in range(ROUNDS):
                reply = self.daemon.call('POST', '/v1/instances/%s/step' % one, {'count': 10})
                self.assertEqual(reply.status, 200, reply)
                self.assertEqual(door.call('step', id=four, count=10)[0], 200)
                zeromq.step(1e-3, [1.])
                lane.step(1e-3, [1.])

    def test_they_delay_no_other_and_every_wait_ends(self):
        stopped, slow, cut, lying, twice = crowd = [
            self.crowd(kind) for kind in ('honest', 'slow', 'cut', 'lying', 'twice')]
        self.assertEqual(sum(len(p.couplings) for p in crowd), 5 * EACH)
        stopped.stop()
        waits = [Hanging(self.daemon, p.couplings) for p in (stopped, slow, cut)]
        for p in (lying, twice):
            p.tell('go')
        for w in waits:
            wait_until(w.hang, 'they hang')
        self.others()
        for w in waits:
            self.assertTrue(w.hang())
        # a wrong or doubled answer fails its window at once; these requests do not hang
        for p in (lying, twice):
            for statuses in p.statuses():
                self.assertIn(502, statuses)
                self.assertLessEqual(set(statuses), {200, 502})
        # a stopped program that is continued, and a slow one that answers, end the wait for them
        stopped.resume()
        self.assertEqual(waits[0].join(), {(200, None)})
        slow.tell('go')
        self.assertEqual(waits[1].join(), {(200, None)})
        # so does a program that takes the place of a cut one, or the end of the coupling
        back = cut.couplings[0]
        with Program(self.daemon, back, 'right', lambda question: [0.5], door=LaneSocket):
            wait_until(lambda: back in waits[2].replies, 'it goes on')
        self.assertEqual(waits[2].replies[back].status, 200)
        for cid in cut.couplings[1:]:
            self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + cid).status, 204)
        self.assertEqual(waits[2].join(), {(200, None), (409, 'cancelled')})

    def test_each_wait_ends_with_its_patience(self):
        """Also for programs that never go on."""
        stopped = self.crowd('honest', 50, 'both', patience=0.05)
        cut = self.crowd('cut', 50, patience=0.05)
        stopped.stop()
        for p in (stopped, cut):
            self.assertEqual(Hanging(self.daemon, p.couplings).join(), {(504, 'partner-timeout')})
        self.others()

    def test_the_daemon_ends_while_all_of_them_hang(self):
        stopped, cut = self.crowd('honest', 50, 'both'), self.crowd('cut', 50)
        stopped.stop()
        waits = [Hanging(self.daemon, p.couplings) for p in (stopped, cut)]
        for w in waits:
            wait_until(w.hang, 'they hang')
        self.daemon.stop()
        for w in waits:
            self.assertEqual({status for status, _ in w.join()}, {503})


if __name__ == '__main__':
    unittest.main()
