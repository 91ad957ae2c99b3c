"""Hosted FMUs with others: coupled with a model and with each other, stepped by partners, streamed,
batched. The FMU is the tests' own (tests/fmus)."""
import unittest
import fmus
import models
from harness import Partner, Stream

H = 0.01
# what their base units are
FORCE = 'kg="1" m="1" s="-2"'
UNITS = {'N': FORCE, 'kg.m/s2': FORCE, 'kN': FORCE + ' factor="1000"', 'm': 'm="1"',
         'metre': 'm="1"', 'mm': 'm="1" factor="0.001"',
         'knot': 'm="1" s="-1" factor="0.514444"', 'K': 'K="1"',
         'degC': 'K="1" offset="273.15"'}


class Coupled(fmus.Uploaded):
    def hosted(self, **start):
        made = self.daemon.call('POST', '/v1/instances', {'fmu': self.fid, 'start': start})
        self.assertEqual(made.status, 201, made)
        return made['id']

    def post(self, path, body=None, status=200):
        reply = self.daemon.call('POST', path, {} if body is None else body)
        self.assertEqual(reply.status, status, reply)
        return reply

    def couple(self, scheme, plant, rig):
        return '/v1/couplings/' + self.post('/v1/couplings', {
            'participants': [{'name': 'plant', 'instance': plant},
                             {'name': 'rig', 'instance': rig}],
            'connections': [{'from': 'plant.x', 'to': 'rig.u', 'factor': 1},
                            {'from': 'rig.y', 'to': 'plant.force', 'factor': -1}],
            'scheme': {'type': scheme}, 'stepSize': H}, 201)['id']

    def test_a_coupling_does_what_a_master_does_by_hand(self):
        plant, rig = self.daemon.create(models.oscillator()), self.hosted(gain=50)
        path = self.couple('Jacobi', plant, rig)
        together = self.post(path + '/step', {'count': 20})['outputs']
        # the same by hand: values of the last point act over the next step
        plant, rig = self.daemon.create(models.oscillator()), self.hosted(gain=50)
        x = self.daemon.call('GET', '/v1/instances/%s/outputs' % plant)['outputs']['x']
        y = self.daemon.call('GET', '/v1/instances/%s/outputs' % rig)['outputs']['y']
        for k in range(1, 21):
            until = {'until': H * k}
            new_x = self.post('/v1/instances/%s/step' % plant,
                              {**until, 'inputs': {'force': -y}})['outputs']['x']
            new_y = self.post('/v1/instances/%s/step' % rig,
                              {**until, 'inputs': {'u': x}})['outputs']['y']
            x, y = new_x, new_y
        # ends of windows are sums, k H here a product: they differ by their rounding
        self.assertNotEqual(x, 0)
        self.assertAlmostEqual(together['plant.x'], x, 13)
        self.assertAlmostEqual(together['rig.y'] / y, 1, 13)

    def test_windows_that_iterate_are_undone_and_done_again(self):
        plant, rig = self.daemon.create(models.oscillator()), self.hosted(gain=50)
        path = self.couple('IQN-ILS', plant, rig)
        trial = self.post(path + '/step', {'count': 3, 'commit': False})
        self.assertEqual(self.daemon.call('GET', path)['time'], 0)
        done = self.post(path + '/step', {'count': 3})
        self.assertGreater(done['report']['iterations'], 3)
        self.assertEqual(done['outputs'], trial['outputs'])
        taken = self.post(path + '/snapshots', status=201)['id']
        there = self.post(path + '/step', {'count': 3})['outputs']
        self.post('%s/snapshots/%s/restore' % (path, taken))
        self.assertEqual(self.post(path + '/step', {'count': 3})['outputs'], there)
        self.post(path + '/reset')
        self.assertEqual(self.post(path + '/step', {'count': 3})['outputs'], done['outputs'])

    def test_an_fmu_that_ends_fails_its_window_which_is_undone(self):
        plant, rig = self.daemon.create(models.oscillator()), self.hosted(gain=50)
        path = self.couple('IQN-ILS', plant, rig)
        before = self.post(path + '/step', {'count': 2})
        self.daemon.call('DELETE', path)
        self.daemon.call('PUT', '/v1/instances/%s/parameters' % rig, {'mood': fmus.ABORTS})
        path = self.couple('IQN-ILS', plant, rig)
        failed = self.daemon.call('POST', path + '/step', {'count': 2})
        self.assertEqual((failed.status, failed['code']), (422, 'fmu-failed'), failed)
        self.assertIn('rig', failed['detail'])
        self.assertIn('abort', failed['detail'])
        for name in (plant, rig):
            self.assertEqual(self.daemon.call('GET', '/v1/instances/' + name)['time'],
                             before['time'])

    def test_two_fmus_are_coupled(self):
        one, other = self.hosted(gain=0.5, u=1), self.hosted(gain=0.5)
        path = '/v1/couplings/' + self.post('/v1/couplings', {
            'participants': [{'name': 'a', 'instance': one}, {'name': 'b', 'instance': other}],
            'connections': [{'from': 'a.y', 'to': 'b.u'}],
            'scheme': {'type': 'GaussSeidel', 'order': ['a', 'b']}, 'stepSize': 0.1}, 201)['id']
        done = self.post(path + '/step', {'count': 2})['outputs']
        # a: 0.5 (1 + x), x = 0.1, 0.2; b takes it at the end of each window
        self.assertAlmostEqual(done['a.y'], 0.6, 14)
        self.assertAlmostEqual(done['b.y'], 0.5 * (0.6 + 0.055 + 0.06), 14)

    def test_names_of_variables_may_have_brackets(self):
        # as elements of arrays have them in FMI 2.0, and names of 3.0 may have them
        variables = (fmus.VARIABLES[3].replace('name="u"', 'name="u[1]"')
                     .replace('name="y"', 'name="arm.y[1]"'))
        fid = fmus.upload(self.daemon, fmus.archive(variables=variables))['id']
        one, other = (self.post('/v1/instances', {'fmu': fid, 'start': start}, 201)['id']
                      for start in ({'u[1]': 1}, {}))
        made = self.post('/v1/couplings', {
            'participants': [{'name': 'a', 'instance': one}, {'name': 'b', 'instance': other}],
            'connections': [{'from': 'a.arm.y[1]', 'to': 'b.u[1]'}],
            'scheme': {'type': 'Jacobi'}, 'stepSize': 0.1}, 201)
        self.assertEqual(made['connections'], ['a.arm.y[1] -> b.u[1]'])
        done = self.post('/v1/couplings/%s/step' % made['id'], {'count': 1})['outputs']
        self.assertAlmostEqual(done['b.arm.y[1]'], 1.1, 14)

    def units(self, u, y, difference='', **redefined):
        """A new instance, whose input and output have these units; its variable of that causality
        is a difference."""
        variables = (fmus.VARIABLES[3].replace('unit="N"', 'unit="%s"' % u)
                     .replace('causality="output"', 'causality="output" unit="%s"' % y)
                     .replace('causality="%s"' % difference,
                              'causality="%s" relativeQuantity="true"' % difference))
        units = ''.join('<Unit name="%s"><BaseUnit %s/></Unit>' % unit
                        for unit in {**UNITS, **redefined}.items())
        xml = fmus.description(variables=variables).replace('<Unit name="N"/>', units)
        fid = fmus.upload(self.daemon, fmus.packed(3, xml, 'controller'))['id']
        return self.post('/v1/instances', {'fmu': fid}, 201)['id']

    def join(self, one, other, reason, **links):
        """A coupling of two, or this reason for which there is none."""
        reply = self.daemon.call('POST', '/v1/couplings', {
            'participants': [{'name': 'a', 'instance': one}, {'name': 'b', 'instance': other}],
            'stepSize': 0.1, **links})
        if reason is None:
            self.assertEqual(reply.status, 201, reply)
            self.daemon.call('DELETE', '/v1/couplings/' + reply['id'])
        else:
            self.assertEqual((reply.status, reply['code']), (422, 'invalid-request'), reply)
            self.assertIn(reason, str(reply['errors']))

    def test_units_of_bonds_are_compared_by_their_base_units(self):
        links = {'bonds': [{'effort': ['a.u', 'b.u'], 'flow': ['a.y', 'b.y'],
                            'law': {'stiffness': 100}}], 'scheme': {'type': 'Energy'}}
        plain = self.units('N', 'm')
        for u, y, reason in (
                ('kg.m/s2', 'metre', None),
                ('kN', 'm', 'b.u in kN: the efforts of a bond must have the same unit'),
                ('N', 'mm', 'a.y is in m, b.y in mm: the flows of a bond must have the same unit'),
                ('N', 'knot', 'one flow is a displacement and the other one a velocity')):
            with self.subTest(u=u, y=y):
                self.join(plain, self.units(u, y), reason, **links)
        self.join(plain, self.units('N', 'm', N=UNITS['kN']),
                  'a.u is in N, b.u in N, a different unit of that name', **links)

    def test_a_connection_of_units_that_differ_is_refused_with_the_factor_it_needs(self):
        for y, u, reason in (
                ('m', 'metre', None),
                ('mm', 'N', 'a.y is in mm, b.u in N: these units measure different quantities'),
                ('m', 'fathom', 'the conversion of these units is not known: a factor is needed'),
                ('mm', 'm', 'a factor of 0.001 is needed'),
                ('degC', 'K', 'a factor of 1 and an offset of 273.15 are needed')):
            one, other = self.units('N', y), self.units(u, 'm')
            for given, expected in (({}, reason), ({'factor': 1}, None)):
                with self.subTest(y=y, u=u, given=given):
                    self.join(one, other, expected, scheme={'type': 'Jacobi'},
                              connections=[{'from': 'a.y', 'to': 'b.u', **given}])

    def test_differences_have_no_offset(self):
        for y, of, u, to, reason in (
                ('degC', 'output', 'K', 'input', None), ('K', 'output', 'degC', 'input', None),
                ('degC', 'output', 'K', '', None),
                ('degC', '', 'K', 'input', 'one is a difference (relativeQuantity)'),
                ('K', 'output', 'degC', '', 'one is a difference (relativeQuantity)')):
            with self.subTest(y=y, of=of, u=u, to=to):
                self.join(self.units('N', y, of), self.units(u, 'm', to), reason,
                          scheme={'type': 'Jacobi'}, connections=[{'from': 'a.y', 'to': 'b.u'}])

    def test_a_partner_steps_it_by_frames_and_its_steps_are_streamed(self):
        rig = self.hosted(gain=2)
        with Stream(self.daemon, rig) as stream, \
                Partner(self.daemon, rig, ['u'], ['y']) as partner:
            values = partner.step(0.1, [3])['values']
            self.assertAlmostEqual(values[0], 2 * (3 + 0.3), 14)
            _, frame = stream.next()
            self.assertAlmostEqual(frame['values'][0], values[0], 14)
            self.assertAlmostEqual(frame['time'], 0.1, 14)

    def test_a_batch_steps_many(self):
        made = [self.hosted(u=k) for k in range(4)]
        body = {'instances': made, 'op': 'step', 'body': {'size': 0.5}, 'results': 'full'}
        results = self.post('/v1/batch', body)['results']
        self.assertEqual([r['body']['outputs']['y'] for r in results], [0, 1.5, 3, 4.5])


if __name__ == '__main__':
    unittest.main()
