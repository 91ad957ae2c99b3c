"""Schemes of Newton's kind take the exact derivatives of their participants' steps."""
import unittest

from coupled import Couplings, half, point

SPRING = [{'name': 'spring', 'effort': ['left.F', 'right.F'], 'flow': ['left.x', 'right.x'],
           'law': {'stiffness': 100, 'damping': 0.5}}]


class Derivatives(Couplings):
    def one_correction(self, cid):
        """Two evaluations of each participant a window, and no trial beside them."""
        report = self.good(cid, count=20)['report']
        self.assertEqual((report['iterations'], report['evaluations']), (40, 80))
        return report

    def test_linear_couplings_converge_in_one_correction(self):
        """The first evaluation of a window has the Jacobians; the second confirms its end."""
        for scheme in ('InterfaceNewton', {'type': 'InterfaceNewton', 'order': ['right', 'left']}):
            with self.subTest(scheme):
                _, _, cid = self.oscillators(scheme=scheme)
                for residual in self.one_correction(cid)['residual'].values():
                    self.assertLess(residual, 1e-9)

    def test_each_component_has_its_own_derivatives(self):
        """Components of vectors that cross, another output before them."""
        connections = [{'from': 'left.p[%d]' % a, 'to': 'right.F[%d]' % b, 'factor': 60 + 10 * a}
                       for a, b in ((0, 2), (1, 0), (2, 1))]
        connections += [{'from': 'right.p[%d]' % a, 'to': 'left.F[%d]' % b, 'factor': -50}
                        for a, b in ((2, 1), (0, 0))]
        connections.append({'from': 'right.y', 'to': 'left.F[2]', 'factor': 40})
        left, right = self.daemon.create(point()), self.daemon.create(point())
        reply = self.couple(left, right, connections, scheme='InterfaceNewton')
        self.assertEqual(reply.status, 201, reply)
        self.one_correction(reply['id'])

    def test_bonds_too(self):
        left, right = (self.daemon.create(half(0., v, k=k)) for v, k in ((100., 10.), (-100., 1e3)))
        reply = self.couple(left, right, bonds=SPRING, scheme='Energy')
        self.assertEqual(reply.status, 201, reply)
        self.one_correction(reply['id'])

    def test_what_is_not_linear_converges_with_fewer_trials_than_by_differences(self):
        """A cubic spring: Newton's method takes some iterations, each with its own derivatives."""
        model = half(1.)
        model['objects'].append({
            'name': 'cubic', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],
            'springForceUserFunction': '=100*u + 4000*u^3'})
        ends = []
        for scheme in ('InterfaceNewton', 'IQN-ILS'):
            left, right = self.daemon.create(model), self.daemon.create(half(k=50.))
            cid = self.couple(left, right, [{'from': 'left.x', 'to': 'right.F', 'factor': 300},
                                            {'from': 'right.x', 'to': 'left.F', 'factor': 300}],
                              scheme=scheme)['id']
            reply = self.good(cid, count=30)
            ends.append(reply['outputs'])
            if scheme == 'InterfaceNewton':
                # quadratic: no window takes more than four, and no trial is for differences
                self.assertLessEqual(reply['report']['iterations'], 4 * 30)
                self.assertEqual(reply['report']['evaluations'], 2 * reply['report']['iterations'])
        for name, value in ends[0].items():
            self.assertAlmostEqual(value, ends[1][name], delta=1e-7 * max(1, abs(value)))

    def test_extrapolated_inputs_are_differenced(self):
        """Derivatives by inputs that vary over a step are not there; difference quotients are."""
        _, _, cid = self.oscillators(scheme='InterfaceNewton', hold=1)
        self.assertGreater(self.good(cid, count=5)['report']['evaluations'], 20)


if __name__ == '__main__':
    unittest.main()
