"""The Python package's partners over the lane."""
import os
import tempfile
import unittest
import models
from harness import SLOW, Daemon
from package import mechd

SIZE = 0.01


class PythonLane(unittest.TestCase):
    def test_a_partner_takes_the_lane(self):
        with tempfile.TemporaryDirectory(prefix='mechd-lane-', dir='/tmp') as folder:
            for endpoint in ('unix:' + os.path.join(folder, 's'), 'tcp://127.0.0.1:*'):
                with self.subTest(endpoint[:4]), Daemon('--lane', endpoint) as daemon, \
                        mechd.Server(daemon.base) as server:
                    one, two = (server.instance(daemon.create(models.oscillator()))
                                for _ in range(2))
                    with one.connect(['force'], door='lane') as partner, \
                            two.connect(['force']) as other:
                        for force in (3.0, -1.0):
                            self.assertEqual(list(partner.trial(SIZE, [force])),
                                             list(other.trial(SIZE, [force])))
                            self.assertEqual(list(partner.commit()), list(other.commit()))
                        number = partner.snapshot()
                        after = list(partner.step(SIZE))
                        partner.restore(number)
                        self.assertEqual(list(partner.step(SIZE)), after)
                        self.assertEqual(partner.time, other.time + SIZE)

    def test_what_is_wanted_has_its_places(self):
        with Daemon('--lane', 'tcp://127.0.0.1:*') as daemon, mechd.Server(daemon.base) as server:
            instance = server.instance(daemon.create(models.oscillator()))
            for door in ('control', 'lane'):
                with instance.connect(['force'], ['x'], door=door,
                                      want=['jacobian', 'energy']) as partner:
                    values = partner.wanted.named(partner.step(SIZE, [1.0]))
                    self.assertEqual(set(values), {'energy', 'jacobian'})
                    self.assertGreater(values['jacobian'], 0)

    def test_a_step_that_takes_too_long_is_stopped_and_the_partner_goes_on(self):
        with Daemon('--lane', 'tcp://127.0.0.1:*') as daemon, mechd.Server(daemon.base) as server:
            instance = server.instance(daemon.create(models.oscillator()))
            with instance.connect(['force'], door='lane', timeout=0.5 * SLOW) as partner:
                with self.assertRaisesRegex(mechd.TimedOut, 'stopped'):
                    partner.step(1e9)
                partner.step(SIZE)
                self.assertEqual(partner.time, SIZE)

    def test_a_step_that_cannot_be_stopped_over_a_lane_that_is_gone(self):
        with tempfile.TemporaryDirectory(prefix='mechd-lane-', dir='/tmp') as folder:
            path = os.path.join(folder, 's')
            with Daemon('--lane', 'unix:' + path) as daemon, mechd.Server(daemon.base) as server:
                instance = server.instance(daemon.create(models.oscillator()))
                with instance.connect(['force'], door='lane', timeout=0.5 * SLOW) as partner:
                    os.unlink(path)
                    with self.assertRaisesRegex(mechd.TimedOut, 'may be in progress there'):
                        partner.step(1e9)
                    self.assertTrue(instance.stop())

    def test_a_lane_that_is_closed_is_reported(self):
        with Daemon() as daemon, mechd.Server(daemon.base) as server:
            instance = server.instance(daemon.create(models.oscillator()))
            with self.assertRaisesRegex(mechd.BadReply, '--lane'):
                instance.connect(door='lane')


if __name__ == '__main__':
    unittest.main()
