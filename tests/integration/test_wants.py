"""What the replies of partners carry behind their outputs: derivatives, energy and jacobian, over
ZeroMQ and over the lane, the same numbers as over HTTP."""
import unittest
import models
from asking import is_busy
from harness import Daemon, FrameError, HttpDoor, Partner, wait_until
from lane import LanePartner

RACES = True

SIZE = 0.01
WANT = ['jacobian', 'energy', 'derivatives']


def places(partner):
    return {entry['name']: (entry['offset'], entry['offset'] + entry['count'])
            for entry in partner.hello['wantLayout']}


class Wants(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon('--lane', 'tcp://127.0.0.1:*')
        cls.door = HttpDoor(cls.daemon)

    @classmethod
    def tearDownClass(cls):
        cls.door.close()
        cls.daemon.stop()

    def expected(self, i, body, outputs, inputs):
        """Values of a step's reply over HTTP in the order of frames."""
        status, found = self.door.call('step', id=i, want=WANT, **body)
        self.assertEqual(status, 200, found)
        jacobian = found['jacobian']
        rows = [jacobian['matrix'][jacobian['outputs'].index(n)] for n in outputs]
        return tuple([found['outputs'][n] for n in outputs] +
                     [found['derivatives'][n] for n in outputs] + [found['energy']] +
                     [row[jacobian['inputs'].index(n)] for row in rows for n in inputs])

    def test_they_are_those_of_http(self):
        for build in (models.oscillator, models.nonlinear_oscillator):
            for kind in (Partner, LanePartner):
                for outputs in (['x', 'v'], ['v']):
                    i, other = (self.daemon.create(build()) for _ in range(2))
                    with self.subTest((build.__name__, kind.__name__)), \
                            kind(self.daemon, i, ['force'], outputs, want=WANT) as partner:
                        n = len(outputs)
                        self.assertEqual(places(partner), {
                            'derivatives': (n, 2 * n), 'energy': (2 * n, 2 * n + 1),
                            'jacobian': (2 * n + 1, 3 * n + 1)})
                        for force in (3.0, -1.0):
                            trial = partner.trial(SIZE, [force])
                            step = partner.step(SIZE, [force])
                            self.assertEqual(trial['values'], step['values'])
                            self.assertEqual(step['values'], self.expected(
                                other, {'size': SIZE, 'inputs': {'force': force}}, outputs,
                                ['force']))
                        # where no step is, there is no jacobian
                        now = partner.ask('outputs')[0]['values']
                        self.assertEqual(now, step['values'][:2 * n + 1])
                        kept = partner.trial(SIZE, [1.0])['values']
                        self.assertEqual(partner.commit()['values'], kept[:2 * n + 1])

    def test_some_of_them(self):
        i = self.daemon.create(models.oscillator())
        for kind in (Partner, LanePartner):
            with kind(self.daemon, i, ['force'], ['x'], want=['energy']) as partner:
                self.assertEqual(places(partner), {'energy': (1, 2)})
                self.assertEqual(len(partner.step(SIZE)['values']), 2)
            with kind(self.daemon, i, ['force'], ['x'], want=[]) as partner:
                self.assertNotIn('wantLayout', partner.hello)

    def test_what_there_is_not_is_refused_with_its_place(self):
        i = self.daemon.create(models.oscillator())
        for kind in (Partner, LanePartner):
            for want in (['event'], ['energy', 7], 'energy'):
                with self.subTest((kind.__name__, want)), \
                        self.assertRaisesRegex(FrameError, '/want'):
                    kind(self.daemon, i, want=want)

    def test_a_long_jacobian_is_stopped_and_leaves_the_state(self):
        for kind in (Partner, LanePartner):
            i = self.daemon.create(models.oscillator())
            with kind(self.daemon, i, ['force'], ['x'], want=['jacobian']) as partner:
                if kind is Partner:
                    partner.send('step', size=900.0)
                else:
                    partner.write(partner.framed('step', size=900.0))
                wait_until(lambda n=i: is_busy(self.daemon, '/' + n), 'it is in progress')
                self.daemon.call('POST', '/v1/instances/%s/stop' % i)
                header = (partner.receive if kind is Partner else partner.frame)()[0]
                self.assertEqual(header['status'], 2007)
                self.assertEqual(partner.step(SIZE)['time'], SIZE)

    def test_one_of_more_steps_than_are_allowed_is_refused_before_it_begins(self):
        i = self.daemon.create(models.oscillator())
        for kind in (Partner, LanePartner):
            with kind(self.daemon, i, ['force'], ['x'], want=['jacobian']) as partner:
                with self.assertRaises(FrameError):
                    partner.step(1e9)
                self.assertEqual(partner.ask('outputs')[0]['time'], 0.0)


if __name__ == '__main__':
    unittest.main()
