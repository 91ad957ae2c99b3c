"""Runs whose instance or coupling is deleted while they go on."""
import unittest

import models
from coupled import Couplings
from sse import Events

ENDLESS = 10 ** 9


class Deleted(Couplings):
    def ends_as_stopped(self, of, more):
        """The last event of a run that is deleted with what it steps."""
        reply = self.daemon.call('POST', of + '/runs', more)
        self.assertEqual(reply.status, 202, reply)
        with Events(self.daemon, reply.headers['Location'] + '/events?rate=60') as events:
            events = iter(events)
            next(events)
            self.assertEqual(self.daemon.call('DELETE', of).status, 204)
            name, _, run = list(events)[-1]
            self.assertEqual((name, run['state'], run.get('reason')), ('end', 'stopped', None))

    def test_the_run_of_a_deleted_instance_ends_as_stopped(self):
        for more in ({'pace': 1}, {'pace': 1, 'period': 1.}, {'until': 1e9},
                     {'pace': 1, 'until': 1e9, 'record': {'every': 10 ** 6}}):
            with self.subTest(more):
                i = self.daemon.create(models.oscillator())
                self.ends_as_stopped('/v1/instances/' + i, more)

    def test_the_run_of_a_deleted_coupling_ends_as_stopped(self):
        for more in ({'pace': 1, 'period': 0.01}, {'pace': 1, 'period': 1.}, {}):
            with self.subTest(more):
                _, _, cid = self.oscillators()
                self.ends_as_stopped('/v1/couplings/' + cid, {'count': ENDLESS, **more})


if __name__ == '__main__':
    unittest.main()
