"""Joints that follow a parameter: the reply that takes them up has their impulses."""
import unittest

import models
from harness import Served


def led(integrator='GeneralizedAlpha', **more):
    """A clutch that follows a parameter, on which there is an input, and a force beside it."""
    model = models.clutch(integrator, **{'active': '=grip > 0.5', **more})
    model['parameters'] = {'grip': 0, 'other': 1}
    model['loads'] = [{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x0'}]
    model['inputs'] = [{'name': 'pedal', 'parameter': 'grip'}, {'name': 'force', 'load': 'F'}]
    return model


class Led(Served):
    def call(self, method, path, body=None, status=200):
        reply = self.daemon.call(method, path, body)
        self.assertEqual(reply.status, status, reply)
        return reply.json

    def create(self, model):
        path = '/v1/instances/' + self.daemon.create(model)
        self.call('POST', path + '/step', {'count': 10})
        return path

    def impulse_of(self, reply):
        """2 (4 - 1) = 6 N s go from one mass to the other."""
        self.assertEqual(list(reply['impulses']), ['clutch'])
        impulse, = reply['impulses']['clutch']
        self.assertAlmostEqual(abs(impulse), 6, delta=1e-12)
        return impulse

    def test_all_ways_report_the_same_impulse(self):
        for integrator in models.IMPLICIT:
            with self.subTest(integrator=integrator):
                path = self.create(led(integrator))
                field = self.call('PUT', path + '/objects/clutch/fields/active', {'value': True})
                told = [field['impulse'][0]]
                for body in ('parameters', 'inputs', 'trial', 'step'):
                    path = self.create(led(integrator))
                    if body == 'parameters':
                        reply = self.call('PUT', path + '/parameters', {'grip': 1})
                    elif body == 'inputs':
                        reply = self.call('PUT', path + '/inputs', {'pedal': 1, 'force': 0})
                    else:
                        reply = self.call('POST', path + '/step', {
                            'count': 2, 'inputs': {'pedal': 1}, 'commit': body == 'step'})
                        self.assertEqual(reply['report']['impacts'], 1)
                    told.append(self.impulse_of(reply))
                for impulse in told:
                    self.assertAlmostEqual(impulse, told[0], delta=1e-12)

    def test_what_takes_none_up_reports_none(self):
        path = self.create(led())
        self.impulse_of(self.call('PUT', path + '/parameters', {'grip': 1}))
        for what, body in (('parameters', {'grip': 1}), ('parameters', {'other': 2}),
                           ('inputs', {'force': 1}), ('inputs', {'pedal': 1}),
                           ('parameters', {'grip': 0}), ('inputs', {'pedal': 0})):
            self.assertNotIn('impulses', self.call('PUT', path + '/' + what, body), body)
        self.impulse_of_none(path)

    def impulse_of_none(self, path):
        for body in ({'count': 1}, {'count': 1, 'inputs': {'force': 0}},
                     {'count': 1, 'inputs': {'pedal': 0}}):
            reply = self.call('POST', path + '/step', body)
            self.assertNotIn('impulses', reply)
            self.assertEqual(reply['report']['impacts'], 0)
        for what in ('parameters', 'inputs'):
            self.assertNotIn('impulses', self.call('GET', path + '/' + what))

    def test_what_is_refused_reports_none_later(self):
        path = self.create(led(level=False))
        for method, what, body in (('PUT', 'parameters', {'grip': 1}),
                                   ('PUT', 'inputs', {'pedal': 1}),
                                   ('POST', 'step', {'count': 1, 'inputs': {'pedal': 1}})):
            self.call(method, '%s/%s' % (path, what), body, 422)
            self.impulse_of_none(path)

    def test_several_are_reported_by_name(self):
        model = led()
        model['nodes'].append({'name': 'n2', 'type': 'Node1D', 'initialVelocities': [7]})
        model['markers'].append({'name': 'x2', 'type': 'MarkerNodeCoordinate', 'node': 'n2',
                                 'coordinate': 0})
        model['objects'] += [
            {'name': 'm2', 'type': 'Mass1D', 'node': 'n2', 'physicsMass': 5},
            dict(model['objects'][2], name='second', markers=['x1', 'x2'])]
        path = self.create(model)
        reply = self.call('PUT', path + '/parameters', {'grip': 1})
        self.assertEqual(list(reply['impulses']), ['clutch', 'second'])
        # 2 * 4 - 3 + 5 * 7 = 40 = 10 * 4: the first keeps its speed, the last loses 15 N s
        for v in self.call('GET', path + '/state')['v']:
            self.assertAlmostEqual(v, 4, delta=1e-12)
        self.assertAlmostEqual(reply['impulses']['clutch'][0], 0, delta=1e-12)
        self.assertAlmostEqual(abs(reply['impulses']['second'][0]), 15, delta=1e-12)

    def test_a_spring_of_coordinates_follows_a_parameter(self):
        """Taken up, it is as one of the document, by linear schemes and those of nonlinear models;
        let go, it leaves a mass with the speed 0.5 m/s."""
        for law in ({}, {'springForceUserFunction': '=0.1*k*u + 3*k*u^3 + d*v'}):
            for integrator in (*models.IMPLICIT, 'MoreauJean', 'RK44', 'DOPRI5'):
                with self.subTest(integrator=integrator, law=law):
                    model = models.oscillator()
                    model['solver'] = {'integrator': integrator, 'stepSize': 1e-3}
                    model['parameters']['on'] = 0
                    model['objects'][1].update(active='=on', **law)
                    path = '/v1/instances/' + self.daemon.create(model)
                    free = self.call('POST', path + '/step', {'count': 100})['outputs']
                    self.assertAlmostEqual(free['x'], 1.55, delta=1e-12)
                    self.call('POST', path + '/reset')
                    self.call('PUT', path + '/parameters', {'on': 1})
                    model['parameters']['on'] = 1
                    plain = '/v1/instances/' + self.daemon.create(model)
                    for where in (path, plain):
                        self.call('POST', where + '/step', {'count': 100})
                    one, two = (self.call('GET', p + '/state') for p in (path, plain))
                    self.assertEqual([one['q'], one['v']], [two['q'], two['v']])
                    self.call('PUT', path + '/parameters', {'on': 0})
                    gone = self.call('POST', path + '/step', {'count': 10})['outputs']
                    self.assertAlmostEqual(gone['v'], one['v'][0], delta=1e-12)

    def test_joints_are_assembled_in_any_unit_of_length(self):
        """Two rods between the same points, of which one repeats the other."""
        def hung(length):
            path = '/v1/instances/' + self.daemon.create({
                'mechd': 1, 'gravity': [0, 0, -9.81 * length], 'nodes': [
                    {'name': 'n', 'type': 'NodePoint',
                     'referenceCoordinates': [0.3 * length, 0, -0.4 * length]},
                    {'name': 'o', 'type': 'NodePointGround'}],
                'objects': [{'name': 'b', 'type': 'MassPoint', 'node': 'n', 'physicsMass': 1}] + [
                    {'name': name, 'type': 'DistanceConstraint', 'markers': ['mo', 'mn'],
                     'distance': 0.5 * length} for name in ('one', 'two')],
                'markers': [{'name': 'mo', 'type': 'MarkerNodePosition', 'node': 'o'},
                            {'name': 'mn', 'type': 'MarkerNodePosition', 'node': 'n'}],
                'solver': {'integrator': integrator, 'stepSize': 1e-3}})
            field = path + '/objects/%s/fields/active'
            self.call('POST', path + '/step', {'count': 30})
            for name in ('one', 'two'):
                self.call('PUT', field % name, {'value': False})
            self.call('POST', path + '/step', {'count': 50})
            self.call('PUT', field % 'one', {'value': True}, 422)
            for name in ('one', 'two'):
                self.call('PUT', field % name, {'value': True, 'positions': 'assembled'})
            self.call('POST', path + '/step', {'count': 20})
            state = self.call('GET', path + '/state')
            self.daemon.call('DELETE', path)
            return [x / length for x in state['q'] + state['v']]
        for integrator in ('GeneralizedAlpha', 'TrapezoidalIndex2', 'MoreauJean'):
            here = hung(1)
            for length in (1e-12, 1e-6, 1e6, 1e9, 1e12):
                with self.subTest(integrator=integrator, length=length):
                    for one, two in zip(hung(length), here):
                        self.assertAlmostEqual(one, two, delta=1e-9)


if __name__ == '__main__':
    unittest.main()
