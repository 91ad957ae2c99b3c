"""Frames that say at which time they begin, and snapshots by frame, over ZeroMQ and the lane."""
import shutil
import tempfile
import unittest

import models
from harness import Daemon, FrameError, Partner, ZmqDoor
from keeping import Kept
from lane import LanePartner
from package import mechd

EXPECT, SIZE = 32, 0.01
MISMATCH = 1012


class Expected(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.daemon = Daemon('--lane', 'tcp://127.0.0.1:0')

    def tearDown(self):
        self.daemon.stop()

    def doors(self, **more):
        for door in (Partner, LanePartner):
            with self.subTest(door.__name__):
                yield door, self.daemon.create(models.oscillator(), **more)

    def refused(self, partner, kind, now, **header):
        with self.assertRaises(FrameError) as caught:
            partner.ask(kind, size=SIZE, flags=EXPECT, **header)
        header = caught.exception.header
        self.assertEqual((header['status'], header['time']), (MISMATCH, now))

    def test_a_frame_that_is_sent_again_after_a_cut_connection_is_not_done_twice(self):
        for door, i in self.doors():
            one = door(self.daemon, i, ['force'], ['x'])
            first = one.step(SIZE, [1.0], flags=EXPECT, time=0.)
            one.socket.close()  # as if the answer had been lost
            with self.again(door, one) as two:
                self.refused(two, 'step', first['time'], values=[1.0], time=0.)
                self.refused(two, 'trial', first['time'], time=0.)
                self.assertEqual(two.ask('outputs')[0]['values'], first['values'])
                second = two.step(SIZE, [1.0], flags=EXPECT, time=first['time'])
                self.assertEqual(second['time'], 2 * SIZE)
                # without the flag the time says nothing
                self.assertEqual(two.step(SIZE, time=17.)['time'], 3 * SIZE)

    def again(self, door, one):
        """Another connection, under the lease of the one before."""
        two = door(self.daemon, self.daemon.create(models.oscillator()), ['force'], ['x'])
        two.instance, two.lease = one.instance, one.lease
        return two

    def test_a_step_that_was_lost_is_seen(self):
        for door, i in self.doors():
            with door(self.daemon, i, ['force'], ['x']) as partner:
                self.refused(partner, 'step', 0., time=SIZE)
                self.assertEqual(partner.ask('outputs')[0]['time'], 0.)

    def test_a_sum_of_steps_is_the_time(self):
        """A client's own sum differs in the last digits."""
        for door, i in self.doors():
            with door(self.daemon, i, ['force'], ['x']) as partner:
                time = 0.
                for _ in range(1000):
                    partner.step(SIZE, flags=EXPECT, time=time)
                    time += SIZE

    def test_the_python_partner_expects_a_time(self):
        i = self.daemon.create(models.oscillator())
        with mechd.Server(self.daemon.base) as server, \
                server.instance(i).connect(['force'], ['x']) as partner:
            partner.step(SIZE, [1.0], expect_time=0.)
            with self.assertRaisesRegex(mechd.Conflict, 'time 0.01'):
                partner.step(SIZE, [1.0], expect_time=0.)
            with self.assertRaisesRegex(mechd.Conflict, 'time 0.01'):
                partner.trial(SIZE, expect_time=0.)
            partner.trial(SIZE, expect_time=0.01)
            partner.commit()

    def test_a_snapshot_by_frame_is_stored_where_the_instance_is(self):
        self.daemon.stop()
        for door in (Partner, LanePartner):
            self.daemon = Kept(self.folder, '--lane', 'tcp://127.0.0.1:0')
            for durability in ('every-step', {'mode': 'checkpoint', 'steps': 1000000}):
                with self.subTest(door.__name__, durability=durability):
                    i = self.daemon.create(models.oscillator(), durability=durability)
                    with door(self.daemon, i, ['force'], ['x']) as partner:
                        kept = partner.step(SIZE, [1.0])
                        number = partner.ask('snapshot')[0]['iteration']
                        partner.step(SIZE)
                    self.daemon.kill()
                    self.daemon = Kept(self.folder, '--lane', 'tcp://127.0.0.1:0')
                    with door(self.daemon, i, ['force'], ['x']) as partner:
                        partner.ask('restore', iteration=number)
                        found = partner.ask('outputs')[0]
                        self.assertEqual((found['values'], found['time']),
                                         (kept['values'], kept['time']))
            with self.daemon.full_disk(), Partner(self.daemon, i, ['force'], ['x']) as partner, \
                    self.assertRaisesRegex(FrameError, 'storage-failed'):
                partner.ask('snapshot')
            self.daemon.stop()
        self.daemon = Daemon()

    def test_json_over_zeromq_counts_the_same(self):
        i = self.daemon.create(models.oscillator())
        with Partner(self.daemon, i, ['force'], ['x']) as partner, ZmqDoor(self.daemon) as door:
            number = partner.ask('snapshot')[0]['iteration']
            self.assertEqual(door.call('snapshots', id=i)[1]['items'][0]['id'], 's-%d' % number)


if __name__ == '__main__':
    unittest.main()
