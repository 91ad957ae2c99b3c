"""Stability of couplings as the server reports it, against closed forms and against what the
coupling does."""
import math
import unittest

from coupled import Couplings, half, point
from harness import wait_until


def joined(k, c, outputs=('x', 'v'), force='F'):
    """A spring and a damper between two masses."""
    return [{'from': '%s.%s' % (a, y), 'to': '%s.%s' % (b, force),
             'factor': (-1 if a == b else 1) * g}
            for a in ('left', 'right') for b in ('left', 'right')
            for y, g in zip(outputs, (k, c))]


class Stability(Couplings):
    def stability(self, cid, query=''):
        return self.daemon.call('GET', '/v1/couplings/%s/stability%s' % (cid, query))

    def masses(self, k, c, **more):
        left, right = (self.daemon.create(half(x)) for x in (0.01, 0.))
        reply = self.couple(left, right, joined(k, c), **{'scheme': 'Jacobi', **more})
        self.assertEqual(reply.status, 201, reply)
        return left, right, reply['id']

    def test_the_closed_form_is_reported_within_a_percent(self):
        """Free masses, Jacobi, zero-order hold: H < 2 c/k and H < 2 m/c, m the reduced mass."""
        for k, c in ((100., 1.), (1., 10.), (1e4, 3.)):
            bound = min(2 * c / k, 2 * 0.5 / c)
            with self.subTest(bound):
                left, right, cid = self.masses(k, c)
                states = self.state(left), self.state(right)
                for part, stable in ((0.99, True), (1.01, False)):
                    reply = self.stability(cid, '?size=%.17g' % (part * bound))
                    self.assertEqual((reply.status, reply['stable']), (200, stable), reply)
                    self.assertAlmostEqual(reply['largestStable'] / bound, 1, delta=0.01)
                    self.assertEqual(reply['recommended'], reply['largestStable'] / 2)
                self.assertEqual((self.state(left), self.state(right)), states)

    def test_components_of_vectors_have_the_same_closed_form(self):
        left, right = (self.daemon.create(point(None)) for _ in range(2))
        reply = self.couple(left, right, joined(100., 1., ('p[2]', 'v[2]'), 'F[2]'),
                            scheme='Jacobi')
        self.assertEqual(reply.status, 201, reply)
        for size, stable in ((0.0198, True), (0.0202, False)):
            found = self.stability(reply['id'], '?size=%g' % size)
            self.assertEqual((found.status, found['stable']), (200, stable), found)
            self.assertAlmostEqual(found['largestStable'] / 0.02, 1, delta=0.01)

    def test_the_radius_is_the_growth_of_what_is_done(self):
        _, _, cid = self.masses(-30., 0.5, stepSize=0.05)
        radius = self.stability(cid)['spectralRadius']
        gaps = []
        for count in (60, 1):
            out = self.good(cid, count=count)['outputs']
            gaps.append(out['left.x'] - out['right.x'])
        self.assertAlmostEqual(gaps[1] / gaps[0], radius, 6)
        self.assertGreater(radius, 1.1)

    def test_what_cannot_be_distinguished_from_rounding_has_a_reason(self):
        """2 c/k is 2e-7 s, where a window grows or fades by 1e-12; with no damper there is none."""
        for c in (1e-5, 0.):
            _, _, cid = self.masses(100., c)
            reply = self.stability(cid, '?size=1e-6')
            self.assertEqual((reply.status, reply['stable'], reply['largestStable']),
                             (200, False, None), reply)
            self.assertIsNone(reply['recommended'])
            self.assertIn('rounding', reply['reason'])
            reply = self.stability(cid, '?size=0.01')
            self.assertEqual((reply['stable'], reply['largestStable']), (False, 0.), reply)
            self.assertNotIn('reason', reply.json)

    def test_what_iterates_is_stable_where_explicit_coupling_is_not(self):
        for scheme, stable in (('IQN-ILS', True), ('Jacobi', False)):
            _, _, cid = self.masses(100., 1., scheme=scheme, stepSize=0.05)
            reply = self.stability(cid)
            self.assertEqual((reply['stable'], reply['size']), (stable, 0.05), scheme)
            self.good(cid, count=40)
            out = self.good(cid, count=1)['outputs']
            self.assertEqual(abs(out['left.x'] - out['right.x']) < 0.01, stable, scheme)

    def test_a_step_beyond_it_is_done_and_warned_of(self):
        _, _, cid = self.masses(100., 1., stepSize=0.05)  # up to 0.02 s
        first = self.good(cid, count=2)
        self.assertNotIn('warnings', first['report'])  # not requested
        done = first['window']
        bound = self.stability(cid, '?size=0.001')['largestStable']
        for body, warned in (({'count': 2}, True), ({'size': 0.02 * 0.99}, False),
                             ({'until': 0.5}, True), ({'count': 1, 'commit': False}, True)):
            report = self.good(cid, **body)['report']
            self.assertEqual('warnings' in report, warned, body)
            for warning in report.get('warnings', ()):
                self.assertEqual(warning['pointer'], '/stepSize')
                self.assertIn('windows of 0.05 s', warning['message'])
                self.assertIn('%.9g s is the largest stable size' % bound, warning['message'])
                self.assertIn('of window %d' % done, warning['message'])
        _, _, cid = self.masses(100., -1., stepSize=0.05)
        self.assertEqual(self.stability(cid)['largestStable'], 0)
        warnings = self.good(cid, count=1)['report']['warnings']
        self.assertEqual([w['message'] for w in warnings], [
            'windows of 0.05 s are unstable: '
            'no size is stable by the stability report of window 0'])
        # stable for all sizes; unknown; sized by their errors
        for k, c, more in ((100., 1., {'scheme': 'IQN-ILS'}), (100., 1e-5, {'stepSize': 1e-6}),
                           (100., 1., {'stepSize': 0.05, 'adaptive': {}})):
            _, _, cid = self.masses(k, c, **more)
            self.assertEqual(self.stability(cid).status, 200)
            self.assertNotIn('warnings', self.good(cid, count=1)['report'], more)

    def over(self, cid, **body):
        """A run of the coupling, when it is over, and the answer to its start."""
        first = self.daemon.call('POST', '/v1/couplings/%s/runs' % cid, body)
        self.assertEqual(first.status, 202, first)
        where = '/v1/couplings/%s/runs/%s' % (cid, first['id'])
        wait_until(lambda: self.daemon.call('GET', where)['state'] != 'running', 'the run is over',
                   60)
        last = self.daemon.call('GET', where)
        self.assertEqual(last['state'], 'finished', last)
        return first.json, last.json

    def test_a_run_beyond_it_is_done_and_warned_of(self):
        _, _, cid = self.masses(100., 1., stepSize=0.05)  # up to 0.02 s
        for run in self.over(cid, count=2):
            self.assertNotIn('warnings', run)  # before the first stability report
        bound = self.stability(cid)['largestStable']
        text = ('windows of %s s are unstable: %.9g s is the largest stable size by the '
                'stability report of window 2')
        for body, size in (({'count': 2}, '0.05'), ({'count': 2, 'period': 0.1}, '0.05'),
                           ({'count': 2, 'period': 0.03}, '0.03'),
                           ({'count': 2, 'period': 0.01}, None)):
            for run in self.over(cid, **body):
                self.assertEqual(run.get('warnings'), size and [
                    {'pointer': '/stepSize', 'message': text % (size, bound)}], body)

    def test_a_run_that_ends_before_a_window_does_is_warned_of_its_own(self):
        _, _, cid = self.masses(100., 1., stepSize=0.05)  # up to 0.02 s
        self.assertEqual(self.stability(cid).status, 200)
        for span, size in ((0.01, None), (0.03, '0.03'), (0.07, '0.05')):
            time = self.daemon.call('GET', '/v1/couplings/' + cid)['time']
            for run in self.over(cid, until=time + span):
                warnings = run.get('warnings')
                self.assertEqual(bool(warnings), size is not None, run)
                if size:
                    self.assertIn('windows of %s s are unstable' % size, warnings[0]['message'])

    def test_a_report_within_a_run_warns_of_it(self):
        _, _, cid = self.masses(100., 1., stepSize=0.05)
        run = self.daemon.call('POST', '/v1/couplings/%s/runs' % cid, {'pace': 1})
        where = '/v1/couplings/%s/runs/%s' % (cid, run['id'])
        self.assertNotIn('warnings', run.json)
        self.assertEqual(self.stability(cid).status, 200)
        wait_until(lambda: 'warnings' in self.daemon.call('GET', where).json, 'it is warned', 60)
        self.assertEqual(self.daemon.call('DELETE', where)['state'], 'stopped')

    def test_what_it_cannot_say(self):
        left, right = self.daemon.create(half()), self.daemon.create(half())
        cid = self.couple(left, right, scheme='Energy', bonds=[
            {'effort': ['left.F', 'right.F'], 'flow': ['left.x', 'right.x'],
             'law': {'stiffness': 100}}])['id']
        reply = self.stability(cid)
        self.assertEqual((reply.status, reply['code']), (422, 'invalid-request'), reply)
        self.assertIn('bonds', reply['detail'])
        self.assertEqual(self.stability(cid, '?size=-1').status, 422)
        self.assertEqual(self.stability('c-99').status, 404)
        self.assertTrue(math.isfinite(self.good(cid, count=1)['time']))


if __name__ == '__main__':
    unittest.main()
