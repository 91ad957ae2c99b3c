"""Hosted FMUs with others: coupled with a model and with each other, stepped by partners, streamed,
batched. The FMU is the tests' own (tests/fmus)."""
import unittest
import fmus
import models
from harness import Partner, Stream

H = 0.01


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
