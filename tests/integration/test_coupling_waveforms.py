"""Cubic holds and waveforms through substeps: orders, and what a window in pieces leaves."""
import math
import threading
import unittest

import raw
from coupled import K, K12, OSCILLATORS, Couplings, half
from harness import Http, wait_until


class Waveforms(Couplings):
    def coupled(self, H, **more):
        """Five substeps of a scheme of fourth order in each window."""
        ids = []
        for x in (1., 0.):
            model = half(x, k=K + K12, h=H / 5)
            model['solver'] = {'integrator': 'RK44', 'stepSize': H / 5}
            ids.append(self.daemon.create(model))
        scheme = {'type': 'IQN-ILS', 'relativeTolerance': 1e-12, 'absoluteTolerance': 1e-13}
        reply = self.couple(*ids, OSCILLATORS, **{'scheme': scheme, 'stepSize': H, **more})
        self.assertEqual(reply.status, 201, reply)
        return ids[0], ids[1], reply['id']

    def error(self, H, **more):
        _, _, cid = self.coupled(H, **more)
        worst = 0.
        for _ in range(round(1 / H)):
            reply = self.good(cid, count=1)
            exact = [(math.cos(2 * math.pi * reply['time']) + s *
                      math.cos(6 * math.pi * reply['time'])) / 2 for s in (1, -1)]
            worst = max(worst, *(abs(reply['outputs'][n + '.x'] - x)
                                 for n, x in zip(('left', 'right'), exact)))
        return worst

    def test_orders(self):
        """A cubic hold, and cubic splines through substeps, are of fourth order; piecewise linear
        waveforms of second."""
        for more, order in (({'hold': 3}, 4), ({'waveform': {'degree': 3}}, 4),
                            ({'hold': 3, 'waveform': {'degree': 3}}, 4),
                            ({'waveform': {'degree': 1, 'substeps': True}}, 2)):
            with self.subTest(more):
                coarse, fine = self.error(0.025, **more), self.error(0.0125, **more)
                self.assertAlmostEqual(math.log2(coarse / fine), order, delta=0.35)

    def test_a_window_that_fails_leaves_nothing(self):
        scheme = {'type': 'JacobiIterated', 'maxIterations': 2}
        for more in ({'hold': 3}, {'waveform': {'degree': 3}}):
            left, right, cid = self.coupled(0.05, scheme=scheme, **more)
            before = self.state(left), self.state(right)
            reply = self.step(cid, count=5)
            self.assertEqual((reply.status, reply['code']), (422, 'coupling-not-converged'), reply)
            self.assertEqual((self.state(left), self.state(right)), before)

    def test_trials_of_them(self):
        for more in ({'hold': 3}, {'waveform': {'degree': 2}},
                     {'hold': 3, 'waveform': {'degree': 2}}):
            left, right, cid = self.coupled(0.05, **more)
            _, _, other = self.coupled(0.05, **more)
            before = self.state(left), self.state(right)
            trial = self.good(cid, count=3, commit=False)
            self.assertEqual((self.state(left), self.state(right)), before)
            step = self.good(other, count=3)
            self.assertEqual(trial['outputs'], step['outputs'])
            reply = self.daemon.call('POST', '/v1/couplings/%s/commit' % cid,
                                     {'trial': trial['trial']})
            self.assertEqual(reply['outputs'], step['outputs'])
            self.assertEqual(self.good(cid, count=2)['outputs'],
                             self.good(other, count=2)['outputs'])

    def test_work_through_a_cubic_hold(self):
        """It is the growth of the participants' energy, to second order of the internal steps."""
        _, _, cid = self.coupled(0.01, hold=3)
        before = self.good(cid, count=4, want=['energy'])['energy']
        reply = self.good(cid, count=5, want=['interface', 'energy'])
        work = sum(f['energy'] for f in reply['report']['interface'].values())
        self.assertAlmostEqual(work, reply['energy'] - before, delta=1e-3 * abs(work))
        _, _, cid = self.coupled(0.01, waveform={'degree': 3})
        reply = self.step(cid, count=1, want=['interface'])
        self.assertEqual((reply.status, reply['code']), (422, 'invalid-request'), reply)

    def test_readers_are_served_between_windows(self):
        left, _, cid = self.coupled(0.01, waveform={'degree': 3})
        door = raw.connect(self.daemon)
        door.sendall(raw.request('/v1/couplings/%s/step' % cid, {'count': 10 ** 12}))
        times = set()

        def another_time():
            one = self.daemon.call('GET', '/v1/instances/%s/state' % left)
            self.assertEqual(one.status, 200)
            times.add(one['time'])
            return len(times) > 3
        wait_until(another_time, 'readers see it go on', 30)
        # the ends of windows alone
        self.assertEqual([t for t in times if abs(t / 0.01 - round(t / 0.01)) > 1e-6], [])
        door.close()
        wait_until(lambda: not self.daemon.call('GET', '/v1/couplings/' + cid)['busy'], 'ended', 30)
        self.assertEqual(self.good(cid, count=1)['report']['windows'], 1)

    def test_a_window_of_many_pieces_ends_when_it_is_deleted(self):
        """Ten thousand internal steps, none of which is long, ten thousand times: corrections this
        small do not lead anywhere."""
        left, right = (self.daemon.create(half(x, k=K + K12, h=1e-4)) for x in (1., 0.))
        scheme = {'type': 'JacobiIterated', 'relaxation': 1e-9, 'maxIterations': 10000}
        cid = self.couple(left, right, OSCILLATORS, scheme=scheme, hold=3, stepSize=0.99)['id']
        told = []
        thread = threading.Thread(target=lambda: told.append(
            Http(self.daemon.base).call('POST', '/v1/couplings/%s/step' % cid, {'count': 1})))
        thread.start()
        wait_until(lambda: self.daemon.call('GET', '/v1/couplings/' + cid)['busy'], 'it works', 30)
        self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + cid).status, 204)
        thread.join(60)
        self.assertEqual((told[0].status, told[0]['code']), (409, 'cancelled'))
        times = [self.daemon.call('GET', '/v1/instances/%s/state' % i)['time']
                 for i in (left, right)]
        self.assertEqual(times, [0, 0])

    def test_what_is_refused(self):
        left, right = (self.daemon.create(half(k=K + K12, h=1e-7)) for _ in range(2))
        reply = self.couple(left, right, OSCILLATORS, hold=3)
        self.assertEqual((reply.status, reply['code']), (422, 'invalid-request'), reply)
        for waveform in ({'degree': 4}, {'substeps': False}, {'steps': 1}):
            reply = self.couple(left, right, OSCILLATORS, waveform=waveform)
            self.assertEqual((reply.status, reply['code']), (422, 'invalid-request'), reply)


if __name__ == '__main__':
    unittest.main()
