"""Steps, runs and guards at large times: as many internal steps as periods, from any of size, count
and until, and a guard that passes rounding but no step."""
import base64
import os
import unittest

import harness
import models
from coupled import half
from harness import Served, wait_until

H = 0.001
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden', 'snapshots')
STARTS = [0.0, 3600.0, 86400.0, 1e6, 1e9]
BEFORE = [-1.0, -0.1, -0.3]
PERIODS = 400


def at(start, model=None):
    model = model or models.oscillator()
    model['solver'] = dict(model.get('solver', {}), stepSize=H, startTime=start)
    return model


class Times(Served):
    def step(self, i, **body):
        reply = self.daemon.call('POST', '/v1/instances/%s/step' % i, body)
        self.assertEqual(reply.status, 200, (body, reply))
        return reply.json

    def steps(self, i):
        return self.state(i)['step']

    def state(self, i):
        return self.daemon.call('GET', '/v1/instances/%s/state' % i).json

    def inputs(self, i):
        return self.daemon.call('GET', '/v1/instances/%s/inputs' % i)['inputs']

    def test_each_period_is_one_step_and_all_ways_agree(self):
        for start in STARTS:
            with self.subTest(start=start):
                by = [self.daemon.create(at(start)) for _ in range(3)]
                for k in range(1, PERIODS + 1):
                    self.step(by[0], count=1)
                    self.step(by[1], size=H)
                    self.step(by[2], until=start + k * H)
                self.assertEqual([self.steps(i) for i in by], 3 * [PERIODS])
                states = [self.state(i) for i in by]
                self.assertEqual(states[0], states[1])
                self.assertEqual(states[0], states[2])

    def test_each_period_of_a_run_is_one_step(self):
        for start in STARTS:
            with self.subTest(start=start):
                i = self.daemon.create(at(start))
                path = '/v1/instances/%s/runs' % i
                body = {'count': PERIODS, 'period': H, 'record': {'every': 1}}
                run = self.daemon.call('POST', path, body).json['id']

                def over():
                    told = self.daemon.call('GET', '%s/%s' % (path, run)).json
                    return told if told['state'] != 'running' else None
                told = wait_until(over, 'the run is over')
                self.assertEqual((told['state'], told['periods']), ('finished', PERIODS))
                self.assertEqual(self.steps(i), PERIODS)
                rows = self.daemon.call('GET', '%s/%s/results' % (path, run)).json['rows']
                self.assertEqual([row[0] for row in rows],
                                 [start + k * H for k in range(PERIODS + 1)])

    def test_from_a_start_before_0_each_period_is_one_step(self):
        """Near 0 a sum is known to an ulp of what was added, not to one of its own."""
        for start in BEFORE:
            with self.subTest(start=start):
                periods = round(-start / H)
                by = [self.daemon.create(at(start)) for _ in range(3)]
                for k in range(1, periods + 101):
                    self.step(by[0], until=start + k * H, expectTime=start + (k - 1) * H)
                self.assertEqual(self.steps(by[0]), periods + 100)
                # a run and a sweep that end at 0
                path = '/v1/instances/%s/runs' % by[1]
                run = self.daemon.call('POST', path, {'until': 0, 'period': H}).json['id']
                told = wait_until(lambda path='%s/%s' % (path, run): self.over(path), 'it is over')
                self.assertEqual((told['state'], told['periods']), ('finished', periods))
                self.assertEqual(self.steps(by[1]), periods)
                # what has come there by itself is there
                self.step(by[2], count=periods)
                told = self.daemon.call('POST', path.replace(by[1], by[2]),
                                        {'until': H, 'period': H}).json['id']
                told = wait_until(lambda path='%s/%s' % (path.replace(by[1], by[2]), told):
                                  self.over(path), 'it is over')
                self.assertEqual(told['periods'], 1)
                self.assertEqual(self.steps(by[2]), periods + 1)

    def test_windows_from_a_start_before_0(self):
        for start in BEFORE:
            with self.subTest(start=start):
                two = [self.daemon.create(at(start, half(x))) for x in (1, 0)]
                body = {'participants': [{'name': n, 'instance': i} for n, i in zip('ab', two)],
                        'connections': [{'from': 'a.x', 'to': 'b.F'}],
                        'scheme': {'type': 'Jacobi'}, 'stepSize': H}
                made = self.daemon.call('POST', '/v1/couplings', body)
                self.assertEqual(made.status, 201, made)
                path = '/v1/couplings/%s/step' % made['id']
                periods = round(-start / H)
                for k in range(1, periods + 51):
                    reply = self.daemon.call('POST', path, {'until': start + k * H})
                    self.assertEqual(reply.status, 200, reply)
                self.assertEqual(reply['window'], periods + 50)
                self.assertEqual([self.steps(i) for i in two], 2 * [periods + 50])
                self.daemon.call('DELETE', '/v1/couplings/' + made['id'])

    def test_stamps_from_a_start_before_0(self):
        """A stamp that means the present time is neither late nor one to wait for. One that
        waits acts from the first step at or after it, also over what has come since."""
        i = self.daemon.create(at(-1.0))
        late = harness.gauge(self.daemon, 'forces_late_total')

        def push(value, stamp):
            taken = harness.gauge(self.daemon, 'forces_total')
            forces = harness.Forces(self.daemon, partner)
            forces.push([value], stamp)
            wait_until(lambda: harness.gauge(self.daemon, 'forces_total') == taken + 1, 'taken')
            forces.close()
        with harness.Partner(self.daemon, i, ['force'], ['x']) as partner:
            # after 999 steps it is -0.001 s and 2e-17 s, of which an ulp is 2e-19 s
            push(7.0, -H + 1e-16)
            self.step(i, count=999)
            self.assertGreater(self.state(i)['time'], -H)
            push(8.0, -H)
            self.assertEqual(self.inputs(i), {'force': 8.0})
            self.assertEqual(harness.gauge(self.daemon, 'forces_late_total'), late)
            push(9.0, -2 * H)
            self.assertEqual(harness.gauge(self.daemon, 'forces_late_total'), late + 1)
            # the one that waited acts in the step from there
            self.step(i, count=1)
            self.assertEqual(self.inputs(i), {'force': 7.0})

    def test_participants_from_a_start_before_0(self):
        """By steps and by a time they have come to the same one."""
        two = [self.daemon.create(at(-1.0, half(x))) for x in (1, 0)]
        self.step(two[0], count=999)
        self.step(two[1], until=-H)
        times = [self.state(i)['time'] for i in two]
        self.assertNotEqual(*times)
        self.assertAlmostEqual(*times, delta=1e-16)
        body = {'participants': [{'name': n, 'instance': i} for n, i in zip('ab', two)],
                'connections': [{'from': 'a.x', 'to': 'b.F'}],
                'scheme': {'type': 'Jacobi'}, 'stepSize': H}
        made = self.daemon.call('POST', '/v1/couplings', body)
        self.assertEqual(made.status, 201, made)
        path = '/v1/couplings/' + made['id']
        self.assertEqual(self.daemon.call('POST', path + '/step', {'count': 3}).status, 200)
        self.assertEqual([self.steps(i) for i in two], [1002, 1002])

    def test_windows_of_what_has_come_near_0_by_itself(self):
        """Windows end at a time that is known to an ulp of the steps before them, too."""
        two = [self.daemon.create(at(-1.0, half(x))) for x in (1, 0)]
        for i in two:
            self.step(i, count=999)
        body = {'participants': [{'name': n, 'instance': i} for n, i in zip('ab', two)],
                'connections': [{'from': 'a.x', 'to': 'b.F'}],
                'scheme': {'type': 'Jacobi'}, 'stepSize': H}
        path = '/v1/couplings/%s/step' % self.daemon.call('POST', '/v1/couplings', body)['id']
        reply = self.daemon.call('POST', path, {'until': 0})
        self.assertEqual(reply.status, 200, reply)
        self.assertEqual(reply['window'], 1)
        self.assertEqual([self.steps(i) for i in two], [1000, 1000])

    def test_periods_far_below_the_step_size(self):
        """What steps add up to is the time that has passed, not their number by the step size."""
        model = at(0.0)
        model['solver']['stepSize'] = 1.0
        i = self.daemon.create(model)
        path = '/v1/instances/%s/runs' % i
        run = self.daemon.call('POST', path, {'until': 5e-10, 'period': 5e-13}).json['id']
        told = wait_until(lambda: self.over('%s/%s' % (path, run)), 'it is over')
        self.assertEqual((told['state'], told['periods']), ('finished', 1000))

    def over(self, path):
        told = self.daemon.call('GET', path).json
        return told if told['state'] != 'running' else None

    def test_the_guard_passes_rounding_and_no_step(self):
        for start in STARTS:
            i = self.daemon.create(at(start))
            path = '/v1/instances/%s/step' % i
            with self.subTest(start=start):
                own = start
                for k in range(PERIODS):
                    self.step(i, count=1, expectTime=start + k * H if k % 2 else own)
                    own += H
                now = start + PERIODS * H
                for wrong in (now - H, now + H):
                    reply = self.daemon.call('POST', path, {'count': 1, 'expectTime': wrong})
                    self.assertEqual((reply.status, reply['code']), (409, 'time-mismatch'))
                    self.assertIn('%.17g' % wrong, reply['detail'])
                    self.assertIn(' 0.001 s ' + ('after' if wrong < now else 'before'),
                                  reply['detail'])

    def test_snapshots_of_an_earlier_format_go_on(self):
        """Taken at 0.3 s after 30 steps of 0.01 s, by a build whose states did not say what size
        their accelerations belong to. They go on by another size as a run that did not stop."""
        for name in ('fixed', 'adaptive'):
            with self.subTest(name):
                with open(os.path.join(GOLDEN, 'format3_%s.txt' % name)) as f:
                    taken = base64.b64decode(f.read())
                reply = self.daemon.call('POST', '/v1/instances', taken,
                                         {'Content-Type': 'application/vnd.mechd.snapshot'})
                self.assertEqual(reply.status, 201, reply)
                old = reply.json['id']
                model = self.daemon.call('GET', '/v1/instances/%s/model' % old).json
                new = self.daemon.create(model)
                self.step(new, count=30)
                for _ in range(7):
                    self.step(old, size=0.005)
                    self.step(new, size=0.005)
                a, b = self.state(old), self.state(new)
                self.assertEqual(a['step'], b['step'])
                self.assertAlmostEqual(a['time'], b['time'], delta=1e-15)
                for key in ('q', 'v', 'vdot', 'a', 'lambda'):
                    for x, y in zip(a[key], b[key]):
                        self.assertAlmostEqual(x, y, delta=1e-9 * max(1, abs(y)), msg=key)

    def test_the_guard_holds_over_many_steps(self):
        i = self.daemon.create(at(0.0))
        for k in range(9000):
            self.step(i, count=1, expectTime=k * H)


if __name__ == '__main__':
    unittest.main()
