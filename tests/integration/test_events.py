"""Impacts found by the event-driven scheme, through the daemon, over both doors."""
import math
import unittest
from harness import HttpDoor, Served, ZmqDoor

RACES = True

FIRST = math.sqrt(2 / 9.81)


class Events(Served):
    def test_impacts_are_counted_when_they_happen(self):
        for door in (HttpDoor(self.daemon), ZmqDoor(self.daemon)):
            i = door.call('create', example='ball-at-rest')[1]['id']
            time, flight = FIRST, 2 * 0.9 * FIRST
            for _ in range(8):
                report = door.call('step', id=i, until=time - 1e-12)[1]['report']
                self.assertEqual(report['impacts'], 0)
                report = door.call('step', id=i, until=time + 1e-12)[1]['report']
                self.assertEqual(report['impacts'], 1)
                self.assertEqual(report['vi'], 'lemke')
                time, flight = time + flight, 0.9 * flight
            # t (1 + e)/(1 − e) is the end of the series
            report = door.call('step', id=i, until=19 * FIRST * (1 + 1e-9))[1]['report']
            self.assertGreater(report['impacts'], 100)
            self.assertEqual(report['contacts'], 1)
            status, reply = door.call('step', id=i, size=1)
            self.assertEqual(status, 200, reply)
            self.assertEqual(reply['report']['impacts'], 0)
            self.assertEqual(reply['outputs']['speed'], 0)
            self.assertAlmostEqual(reply['outputs']['height'], 0.1, delta=1e-14)

    def test_trials_and_snapshots_repeat_their_bits(self):
        door = HttpDoor(self.daemon)
        i = door.call('create', example='ball-at-rest')[1]['id']
        door.call('step', id=i, until=8.5)
        trial = door.call('step', id=i, size=0.07, commit=False)[1]
        saved = self.daemon.call('POST', '/v1/instances/%s/snapshots' % i, {}).json
        ends = []
        for _ in range(2):
            reply = door.call('step', id=i, size=0.07)[1]
            self.assertEqual(reply['outputs'], trial['outputs'])
            self.assertEqual(reply['report']['impacts'], trial['report']['impacts'])
            door.call('step', id=i, size=1)
            state = door.call('get-state', id=i)[1]
            ends.append((state['q'], state['v'], state['impulse']))
            self.daemon.call('POST', '/v1/instances/%s/snapshots/%s/restore' % (i, saved['id']))
        self.assertEqual(ends[0], ends[1])

    def test_a_state_inside_of_a_contact_is_refused_and_undone(self):
        door = HttpDoor(self.daemon)
        i = door.call('create', example='ball-at-rest')[1]['id']
        self.assertEqual(self.daemon.call('PUT', '/v1/instances/%s/state' % i, {'q': [-1]}).status,
                         200)
        before = door.call('get-state', id=i)[1]
        status, reply = door.call('step', id=i, count=1)
        self.assertEqual(status, 422)
        self.assertIn('cannot begin with an overlap', reply['detail'])
        self.assertEqual(door.call('get-state', id=i)[1], before)
        self.daemon.call('PUT', '/v1/instances/%s/state' % i, {'q': [0.1], 'v': [-1]})
        self.assertEqual(door.call('step', id=i, count=1)[1]['report']['impacts'], 1)


if __name__ == '__main__':
    unittest.main()
