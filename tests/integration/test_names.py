"""Names of variables, of any length that is accepted and with any separator in them, come back
whole and apart: in outputs, columns, reports, labels and streams, of instances and couplings."""
import csv
import ctypes
import io
import json
import subprocess
import unittest
from xml.sax.saxutils import quoteattr

import fmus
import harness
from coupled import half
from harness import wait_until
from mechc import Handle

# participants and variables that differ behind many letters alone
LEFT, RIGHT, F = 'l' * 63 + '1', 'l' * 63 + '2', 'F' * 64
X, V = 'x' * 63 + '1', 'x' * 63 + '2'
# of an FMU: an element of a matrix, one with what CSV quotes, one in a block, one of a deep tree
ELEMENT, QUOTED, SLASHED = 'J[1,2]', 'a"b",c', 'plant/gain.y'
DEEP = 'robot.' + 'axis.' * 60 + 'y'


class Names(fmus.Uploaded):
    def post(self, path, body=None, status=(200, 201, 202)):
        reply = self.daemon.call('POST', path, {} if body is None else body)
        self.assertIn(reply.status, status, reply)
        return reply.json

    def half(self, x):
        model = half(x, k=1.)
        model['inputs'][0]['name'] = F
        for output, name in zip(model['outputs'], (X, V)):
            output['name'] = name
        return model

    def mechctl(self, *words):
        done = subprocess.run([harness.program('mechctl'), '--server', self.daemon.base, *words],
                              capture_output=True, text=True, timeout=60 * harness.SLOW)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check_table(self, path, columns):
        """The table there has these columns, as JSON and as CSV."""
        self.assertEqual(self.daemon.call('GET', path).json['columns'], columns)
        text = self.daemon.call('GET', path + '?format=csv').raw.decode()
        rows = list(csv.reader(io.StringIO(text, newline='')))
        self.assertEqual(rows[0], columns)
        self.assertEqual({len(row) for row in rows}, {len(columns)})

    def run_of(self, path, **more):
        run = '%s/runs/%s' % (path, self.post(path + '/runs', {
            'count': 3, 'period': 0.01, 'record': {'every': 1, **more}})['id'])
        wait_until(lambda: self.daemon.call('GET', run)['state'] == 'finished', 'the run')
        return run

    def test_long_names_in_a_coupling(self):
        ends = [self.daemon.create(self.half(x)) for x in (1., 0.)]
        joined = [(LEFT, X, RIGHT), (LEFT, V, RIGHT), (RIGHT, X, LEFT), (RIGHT, V, LEFT)]
        links = [{'from': '%s.%s' % (a, x), 'to': '%s.%s' % (b, F), 'factor': 1e-3}
                 for a, x, b in joined]
        made = self.post('/v1/couplings', {
            'participants': [{'name': n, 'instance': i} for n, i in zip((LEFT, RIGHT), ends)],
            'connections': links, 'scheme': {'type': 'IQN-ILS'}, 'stepSize': 0.01})
        path = '/v1/couplings/' + made['id']
        labels = ['%s -> %s' % (link['from'], link['to']) for link in links]
        outputs = ['%s.%s' % (end, x) for end in (LEFT, RIGHT) for x in (X, V)]
        self.assertEqual(made['connections'], labels)
        step = self.post(path + '/step', {'count': 1, 'want': ['interface']})
        self.assertEqual(list(step['outputs']), outputs)
        self.assertEqual(list(step['report']['residual']), labels)
        self.assertEqual(list(step['report']['interface']), labels)
        told = self.mechctl('couplings', made['id'], '--count', '1')
        self.assertEqual([x for x in outputs if x not in told.split()], [])
        told = self.mechctl('watch', made['id'], '--coupling', '--follow', '--count', '1')
        self.assertEqual(told.splitlines()[0].split('\t'), ['time'] + outputs)
        run = self.run_of(path)
        self.assertEqual([x for x in outputs if x not in self.mechctl(
            'plot', made['id'], run.rsplit('/', 1)[1], '--coupling').split()], [])
        self.check_table(run + '/results', ['time'] + outputs)
        kept = self.run_of(path, inputs=True)
        self.assertEqual(self.daemon.call('GET', kept + '/results').json['columns'],
                         ['time'] + outputs + ['input:%s.%s' % (end, F) for end in (LEFT, RIGHT)])
        self.daemon.call('DELETE', path)

    def test_long_names_in_a_sweep_of_couplings(self):
        part = {'participants': [{'name': n, 'model': {**self.half(1.), 'parameters': {F: 1}}}
                                 for n in (LEFT, RIGHT)],
                'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01}
        sweep = '/v1/sweeps/' + self.post('/v1/sweeps', {
            'coupling': part, 'count': 2,
            'parameters': {'grid': {'%s/%s' % (n, F): [1, 2] for n in (LEFT, RIGHT)}}})['id']
        wait_until(lambda: self.daemon.call('GET', sweep)['state'] == 'finished', 'the sweep')
        self.check_table(sweep + '/results', [
            'point', *['%s/%s' % (n, F) for n in (LEFT, RIGHT)], 'time',
            *['%s.%s' % (n, x) for n in (LEFT, RIGHT) for x in (X, V)]])

    def hosted(self, u, y):
        variables = fmus.VARIABLES[3].replace('name="u"', 'name=' + quoteattr(u)).replace(
            'name="y"', 'name=' + quoteattr(y))
        return fmus.hosted(self.daemon, fmus.archive(variables=variables))

    def test_names_of_an_fmu(self):
        for u, y in ((ELEMENT, QUOTED), (DEEP[:-1] + 'u', DEEP), (SLASHED, ELEMENT),
                     (QUOTED, SLASHED)):
            with self.subTest(y=y):
                path = self.hosted(u, y)
                self.assertEqual(list(self.daemon.call('GET', path + '/outputs')['outputs']), [y])
                self.check_table(self.run_of(path) + '/results', ['time', y])
                i = path.rsplit('/', 1)[1]
                table = self.post('/v1/batch', {'instances': [i], 'operation': 'outputs',
                                                'results': 'table'})
                self.assertEqual(table['columns'], ['time', 'step', y])
                told = json.loads(self.mechctl('--json', 'streams', i, 's', '--outputs',
                                               '"%s"' % y.replace('"', '\\"')))
                self.assertEqual([c['name'] for c in told['layout']], [y])
                self.post(path + '/reset')
                links = [{'from': 'a.' + y, 'to': 'b.' + u, 'factor': 1}]
                made = self.post('/v1/couplings', {
                    'participants': [{'name': n, 'instance': p.rsplit('/', 1)[1]}
                                     for n, p in (('a', path), ('b', self.hosted(u, y)))],
                    'connections': links, 'scheme': {'type': 'IQN-ILS'}, 'stepSize': 0.01})
                step = self.post('/v1/couplings/%s/step' % made['id'], {'count': 1})
                self.assertEqual(list(step['outputs']), ['a.' + y, 'b.' + y])
                self.assertEqual(list(step['report']['residual']), ['a.%s -> b.%s' % (y, u)])
                self.check_table(self.run_of('/v1/couplings/' + made['id']) + '/results',
                                 ['time', 'a.' + y, 'b.' + y])
                self.daemon.call('DELETE', '/v1/couplings/' + made['id'])

    def test_names_of_an_fmu_in_libmechc(self):
        handle = Handle(self.daemon.base)
        self.addCleanup(handle.close)
        for y in (ELEMENT, QUOTED, SLASHED, DEEP):
            with self.subTest(y=y):
                i = self.hosted('u', y).rsplit('/', 1)[1]
                value, count = ctypes.c_double(), ctypes.c_size_t()
                handle.check(handle.library.mechc_output(
                    handle.at, i.encode(), y.encode(), ctypes.byref(value), 1,
                    ctypes.byref(count)))
                self.assertEqual(count.value, 1)


if __name__ == '__main__':
    unittest.main()
