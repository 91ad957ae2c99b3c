"""Participants of one batch at the same time: the threads of the pool, and programs that answer
late."""
import unittest

from asking import Asked
from coupled import Couplings
from harness import Http
from long_models import pinched

RACES = True


class Shares(Couplings):
    def pair(self, left, right, **more):
        """Ids of two instances and of their coupling without connections."""
        ids = [self.daemon.create(m) for m in (left, right)]
        reply = self.couple(*ids, [], **{'scheme': 'Jacobi', **more})
        self.assertEqual(reply.status, 201, reply)
        return (*ids, reply['id'])

    def ask(self, cid, **body):
        return Asked(self.daemon, 'POST', '/v1/couplings/%s/step' % cid, body)

    def end(self, cid):
        """A step in progress ends with the coupling."""
        self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + cid).status, 204)

    def test_threads_of_requests_do_not_wait_for_a_step_without_end(self):
        cids = [self.pair(pinched(), pinched())[2] for _ in range(8)]
        asked = [self.ask(cid, count=1) for cid in cids]
        for _ in range(20):
            # each on a connection of its own: of the threads for requests, none is busy
            door = Http(self.daemon.base)
            self.assertEqual(door.call('GET', '/livez').status, 200)
            door.close()
        for cid in cids:
            self.end(cid)
        self.assertEqual({a.answer()['code'] for a in asked}, {'cancelled'})


if __name__ == '__main__':
    unittest.main()
