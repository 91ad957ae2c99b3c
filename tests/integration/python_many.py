"""Tests of the Python package that test_python.py runs: batches, sweeps, answers that come later,
problems that stand alone."""
import coupled
import mechd
import models
from mechd import values


class ManyTests:
    """With `server`, a mechd.Server, and `created`, which makes an instance."""

    def test_a_batch_gives_results_or_a_table(self):
        many = [self.created() for _ in range(3)]
        found = self.server.batch('step', many[:2] + ['nobody'], count=4)
        self.assertEqual([r['status'] for r in found], [200, 200, 404])
        self.assertEqual(found[1]['body']['step'], 4)
        table = self.server.batch_table('step', [i.id for i in many] + ['nobody'], count=1)
        self.assertEqual(table.names, ['time', 'step', 'x', 'v'])
        self.assertEqual(table['step'][:3].tolist(), [5, 5, 1])
        self.assertEqual(table['x'][2], many[2].outputs['x'])
        self.assertTrue(values.numpy.isnan(table.rows[3]).all())
        self.assertEqual([e['id'] for e in table.errors], ['nobody'])
        items = [{'op': 'outputs', 'id': many[0].id}]
        self.assertEqual(self.server.batch(items=items)[0]['body']['outputs'], many[0].outputs)
        self.assertEqual(self.server.batch('delete', label='no=one'), [])

    def test_a_sweep_gives_a_table(self):
        seen = []
        model = models.oscillator()
        with self.server.sweep(model, grid={'k': {'from': 1, 'to': 3, 'count': 3}}, count=20,
                               progress=seen.append) as sweep:
            table = sweep.results()
            self.assertIn(sweep.id, [s.id for s in self.server.sweeps()])
            self.assertEqual((sweep.state, sweep.done, sweep.failed), ('finished', 3, 0))
        self.assertEqual(table.names, ['point', 'k', 'time', 'x', 'v'])
        self.assertEqual(table['k'].tolist(), [1, 2, 3])
        self.assertEqual(seen[-1], 1.0)
        self.assertNotIn(sweep.id, [s.id for s in self.server.sweeps()])
        with self.server.sweep(model, points=[{'k': 2}], until=0.1, outputs=['v'], every=10,
                               wait=False) as sweep:
            recorded = sweep.wait().results()
            self.assertEqual(len(recorded), 11)
            self.assertLess(abs(recorded['time'][-1] - 0.1), 1e-12)
        self.assertRaises(ValueError, self.server.sweep, model, count=1)

    def test_a_sweep_of_a_coupling_gives_a_table(self):
        pair = {'participants': [{'name': 'left', 'model': coupled.half(1., k=3.)},
                                 {'name': 'right', 'model': coupled.half(0., k=3.)}],
                'connections': coupled.OSCILLATORS, 'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01}
        pair['participants'][0]['model']['parameters'] = {'unused': 1.}
        grid = {'left/unused': [2, 3], '/stepSize': [0.01, 0.02]}
        with self.server.sweep(coupling=pair, grid=grid, count=3, outputs=['right.x']) as sweep:
            table = sweep.results()
        self.assertEqual(table.names, ['point', 'left/unused', '/stepSize', 'time', 'right.x'])
        self.assertEqual(table['left/unused'].tolist(), [2, 2, 3, 3])
        self.assertEqual(table['right.x'][1], table['right.x'][3])
        self.assertNotEqual(table['right.x'][0], table['right.x'][1])

    def test_an_answer_may_come_later(self):
        i = self.created()
        path = ('v1', 'instances', i.id, 'step')
        self.assertEqual(self.server.later('POST', *path, body={'count': 2})['step'], 2)
        operation = self.server.later('POST', *path, body={'count': 50000})
        self.assertEqual(operation.wait()['step'], 50002)
        wrong = self.server.later('POST', 'v1', 'models', 'check', body={'model': {'mechd': 2}})
        self.assertRaises(mechd.Invalid, wrong.wait)
        long = self.server.later('POST', *path, body={'count': 10**9})
        long.cancel()
        self.assertEqual(i.step(count=1).step, 50003)

    def test_a_problem_that_stands_alone(self):
        found = self.server.problems.solve({'N': values.numpy.array([[2, 1], [1, 2]]),
                                            'r': [-5, -6]})
        self.assertLess(abs(found['l'] - [4 / 3, 7 / 3]).max(), 1e-14)
        self.assertTrue(found['report']['converged'])

    def test_a_problem_under_the_names_of_the_literature(self):
        m, q = [[2, 1], [1, 2]], [-5, -6]
        expected = self.server.problems.solve({'N': m, 'r': q})['l']
        for found in (self.server.problems.solve({'M': m, 'q': q}),
                      self.server.problems.solve(M=m, q=q), self.server.problems.solve(N=m, q=q),
                      self.server.problems.solve({'M': m}, q=q)):
            self.assertEqual(list(found['l']), list(expected))
        given = {'M': m, 'q': q}
        self.server.problems.solve(given)
        self.assertEqual(given, {'M': m, 'q': q})
        for twice in ({'N': m, 'M': m, 'r': q}, {'M': m, 'q': q, 'r': q}):
            with self.assertRaisesRegex(mechd.Invalid, "unknown key '[Mq]'"):
                self.server.problems.solve(twice)
