"""What a shutdown ends in progress is answered as that, with 503 `draining`, on every route and
through every door: no client has cancelled it, and the next process may be asked for it."""
import signal
import threading
import unittest

import models
from harness import Daemon, Http, Partner, ZmqDoor, wait_until
from long_models import pinched
from long_requests import LONG, PROBLEM, all_at_work

RACES = True

ONE = {'count': 1}


class Drained(unittest.TestCase):
    def asked(self, ask):
        """On a thread of its own; returns it and where the answer will be."""
        told = []
        thread = threading.Thread(target=lambda: told.append(ask()))
        thread.start()
        return thread, told

    def end(self, daemon, count, ask):
        """The answers of requests that are all at work when the end comes."""
        asked = [self.asked(one) for one in ask]
        wait_until(lambda: any(told for _, told in asked) or
                   all_at_work(daemon, count), 'all are at work', 60)
        self.assertEqual([told for _, told in asked], [[] for _ in asked])
        daemon.process.send_signal(signal.SIGTERM)
        for thread, _ in asked:
            thread.join(60)
        self.assertNotIn('stuck', daemon.log())
        daemon.stop()
        return [told[0] for _, told in asked]

    def http(self, daemon, method, path, body):
        def ask():
            door = Http(daemon.base)
            reply = door.call(method, path, body)
            door.close()
            return reply
        return ask

    def test_over_http(self):
        for one in LONG:
            with self.subTest(one.name):
                daemon = Daemon('--workers', '1')
                where = one.begin(daemon) + one.path
                reply, = self.end(daemon, 1, [self.http(daemon, one.method, where, one.body)])
                self.assertEqual((reply.status, reply['code'], reply.headers['Retry-After']),
                                 (503, 'draining', '1'), reply)

    def test_over_zeromq(self):
        daemon = Daemon('--workers', '4')
        one, other = daemon.create(pinched()), daemon.create(models.nonlinear_oscillator())
        third = daemon.create(pinched())

        def ask(**fields):
            with ZmqDoor(daemon) as door:
                return door.call(**fields)

        with Partner(daemon, third, outputs=[]) as partner:
            partner.socket.rcvtimeo = 60000
            partner.send('step', size=0.01)
            told = self.end(daemon, 4, [lambda: ask(op='step', id=one, count=1),
                                        lambda: ask(op='step', id=other, count=10**9),
                                        lambda: ask(op='solve', problem=PROBLEM)])
            for status, reply in told:
                self.assertEqual((status, reply['code']), (503, 'draining'), reply)
            self.assertEqual(partner.receive()[0]['status'], 1025)

    def test_in_a_batch(self):
        daemon = Daemon('--workers', '2')
        ids = [daemon.create(pinched()) for _ in range(2)]
        reply, = self.end(daemon, 1, [self.http(daemon, 'POST', '/v1/batch', {
            'instances': ids, 'op': 'step', 'body': ONE})])
        self.assertEqual([r['error']['code'] for r in reply['results']], ['draining'] * 2, reply)


if __name__ == '__main__':
    unittest.main()
