"""What a step carries with it leaves with it: inputs of trials and of failed steps, for every door;
a lease that ends while its step runs; times of paced runs."""
import unittest

import harness
import models
from harness import HttpDoor, Partner, Served, Stream, ZmqDoor

RACES = True

SIZE = 0.01


def tuned():
    """An oscillator whose stiffness is an input too."""
    model = models.oscillator()
    model['inputs'].append({'name': 'c', 'parameter': 'k'})
    return model


class Steps(Served):
    def whole(self, i):
        """All that can be seen of an instance."""
        return [self.door.call(op, id=i)[1]
                for op in ('get-state', 'get-inputs', 'get-parameters', 'outputs')]

    def etag(self, i):
        return self.daemon.call('GET', '/v1/instances/' + i).headers['ETag']

    def test_inputs_of_a_dropped_trial_leave_no_trace(self):
        for door in (HttpDoor(self.daemon), ZmqDoor(self.daemon)):
            for inputs in ({'force': 5.0}, {'c': 20.0}, {'force': 5.0, 'c': 20.0}):
                with self.subTest(door=door.name, inputs=inputs):
                    i = self.daemon.create(tuned())
                    j = self.daemon.create(tuned())
                    before, tag = self.whole(i), self.etag(i)
                    status, trial = door.call('step', id=i, size=SIZE, inputs=inputs, commit=False)
                    self.assertEqual(status, 200, trial)
                    self.assertEqual(self.whole(i), before)
                    self.assertEqual(self.etag(i), tag)
                    # the next step is as if there had been no trial
                    door.call('step', id=i, size=SIZE)
                    door.call('step', id=j, size=SIZE)
                    self.assertEqual(self.whole(i), self.whole(j))

    def test_inputs_of_a_dropped_trial_in_frames_leave_no_trace(self):
        i, j = self.daemon.create(tuned()), self.daemon.create(tuned())
        before = self.whole(i)
        with Partner(self.daemon, i, ['force', 'c'], ['x'], order=1) as a, \
                Partner(self.daemon, j, [], ['x']) as b:
            a.trial(SIZE, [5.0, 20.0, 1.0, 0.0])
            self.assertEqual(self.whole(i), before)
            self.assertEqual(a.step(SIZE)['values'], b.step(SIZE)['values'])
        self.assertEqual(self.whole(i), self.whole(j))

    def test_a_committed_trial_keeps_its_inputs(self):
        for inputs in ({'force': 5.0}, {'force': 5.0, 'c': 20.0}):
            i, j = self.daemon.create(tuned()), self.daemon.create(tuned())
            trial = self.door.call('step', id=i, size=SIZE, inputs=inputs, commit=False)[1]
            other = self.door.call('step', id=j, size=SIZE, inputs=inputs)[1]
            self.assertEqual(trial['outputs'], other['outputs'])
            self.assertEqual(self.door.call('commit', id=i, trial=trial['trial'])[0], 200)
            self.assertEqual(self.whole(i), self.whole(j))
            self.assertEqual(self.door.call('get-inputs', id=i)[1]['inputs']['force'], 5.0)

    def test_inputs_of_a_failed_step_leave_no_trace(self):
        for door in (HttpDoor(self.daemon), ZmqDoor(self.daemon)):
            i = self.daemon.create(models.nonlinear_oscillator())
            before = self.whole(i)
            status, reply = door.call('step', id=i, size=0.1, inputs={'force': 1e300})
            self.assertEqual(status, 422, reply)
            self.assertEqual(self.whole(i), before)
        with Partner(self.daemon, i, ['force'], ['x']) as partner:
            with self.assertRaises(harness.FrameError):
                partner.step(0.1, [1e300])
        self.assertEqual(self.whole(i), before)
        # parameters with which there is no model
        i = self.daemon.create(tuned())
        before = self.whole(i)
        status, reply = self.door.call('step', id=i, size=SIZE, inputs={'force': 1.0, 'c': 1e308})
        if status != 200:
            self.assertEqual(self.whole(i), before)

    def test_stamped_forces_and_inputs_of_a_step_meet(self):
        """What is due is set first, then the inputs that came with the step."""
        i = self.daemon.create(models.oscillator())
        with Partner(self.daemon, i, ['force'], ['x']) as partner:
            forces = harness.Forces(self.daemon, partner)
            forces.push([7.0], SIZE)
            page = lambda: self.daemon.call('GET', '/metrics').raw
            harness.wait_until(lambda: b'\nmechd_forces_total 1\n' in page(), 'the force is taken')
            forces.close()
            partner.step(SIZE)
            partner.trial(SIZE, [3.0])
            self.assertEqual(self.door.call('get-inputs', id=i)[1]['inputs']['force'], 7.0)
            partner.step(SIZE, [3.0])
        self.assertEqual(self.door.call('get-inputs', id=i)[1]['inputs']['force'], 3.0)

    def test_a_bye_after_a_long_step_waits_for_it(self):
        """The lease lasts as long as its step: the reply carries the partner's outputs."""
        i = self.daemon.create(models.oscillator())
        with Partner(self.daemon, i, ['force'], ['x', 'v']) as partner, \
                Partner(self.daemon, i, [], ['x']) as other:
            frame = {'instance': partner.instance, 'lease': partner.lease}
            partner.socket.send_multipart([b'', harness.pack(
                'step', [1.0], size=2000 * SIZE * 20, sequence=1, **frame)])
            partner.socket.send_multipart([b'', harness.pack('bye', sequence=2, **frame)])
            # a reader between two slices
            self.assertEqual(len(other.ask('outputs')[0]['values']), 1)
            # replies may overtake each other on their way out: their numbers distinguish them
            replies = {}
            for _ in range(2):
                reply = harness.unpack(partner.socket.recv_multipart()[-1])
                replies[reply['sequence']] = reply
            self.assertEqual((replies[1]['kind'], replies[2]['kind']),
                             (harness.KINDS['step'], harness.KINDS['bye']))
            self.assertEqual(len(replies[1]['values']), 2)
            self.assertAlmostEqual(replies[1]['time'], 2000 * SIZE * 20, places=9)
            with self.assertRaises(harness.FrameError):
                partner.step(SIZE)

    def test_times_of_a_run_are_whole_periods(self):
        """Not a sum of periods, which would drift: 1001.12, never 1001.1199999999991."""
        i = self.daemon.create(models.oscillator())
        start = 0.1
        self.door.call('step', id=i, until=start)
        status, run = self.door.call('run', id=i, period=SIZE, until=start + 20.0)
        self.assertEqual(status, 202, run)
        harness.wait_until(
            lambda: self.door.call('get-run', id=i, rid=run['id'])[1]['state'] != 'running',
            'the end')
        self.assertEqual(self.door.call('get-state', id=i)[1]['time'], start + 20.0)

        # paced, seen on the stream
        i = self.daemon.create(models.oscillator())
        with Stream(self.daemon, i) as stream:
            status, run = self.door.call('run', id=i, period=SIZE, pace=5)
            self.assertEqual(status, 202, run)
            times = [stream.next()[1]['time'] for _ in range(300)]
            self.door.call('stop-run', id=i, rid=run['id'])
        for t in times:
            self.assertEqual(t, round(t / SIZE) * SIZE)


if __name__ == '__main__':
    unittest.main()
