"""Sweeps of couplings: each point is, bit for bit, what a coupling of instances with its values
gives; faults of a request have their places, faults of a point the name of its participant."""
import copy
import json
import shutil
import tempfile
import unittest

from asking import sweep, sweep_over
from coupled import K, K12, OSCILLATORS, half
from forms import F64, NDJSON
from harness import Daemon, Served, ZmqDoor, wait_until
from keeping import Kept

RACES = True

BOND = {'connections': [], 'scheme': {'type': 'Energy', 'relativeTolerance': 1e-14},
        'bonds': [{'name': 'spring', 'effort': ['left.F', 'right.F'],
                   'flow': ['left.x', 'right.x'],
                   'law': {'stiffness': 100, 'damping': 0.5}}]}

# forces of the oscillators are up to 160 N
ADAPTIVE = {'relativeTolerance': 1e-3, 'absoluteTolerance': 1e-3, 'minimum': 1e-6, 'maximum': 0.01}


def tunable(x, h=1e-3, **parameters):
    """A half of the oscillator whose mass and spring are parameters."""
    model = half(x, k=1., h=h)
    model['parameters'] = {'k': K + K12, 'm': 1., **parameters}
    model['objects'][0]['physicsMass'] = '=m'
    model['objects'][1]['stiffness'] = '=k'
    return model


def coupling(**more):
    return {'name': 'halves',
            'participants': [{'name': 'left', 'model': tunable(1.)},
                             {'name': 'right', 'model': tunable(0.)}],
            'connections': copy.deepcopy(OSCILLATORS),
            'scheme': {'type': 'IQN-ILS', 'maxIterations': 50, 'relaxation': 1},
            'stepSize': 0.01, **more}


def with_values(document, point):
    """The document with the values of a point, by hand."""
    made = copy.deepcopy(document)
    for name, value in point.items():
        if name.startswith('/'):
            *path, last = name[1:].split('/')
            node = made
            for key in path:
                node = node[int(key) if isinstance(node, list) else key]
            node[last] = value
        else:
            part, parameter = name.split('/')
            item = next(p for p in made['participants'] if p['name'] == part)
            item['model']['parameters'][parameter] = value
    return made


class CoupledSweeps(Served):
    def run_to_end(self, document, **body):
        path = sweep(self.daemon, {'coupling': document, **body}).headers['Location']
        self.addCleanup(self.daemon.call, 'DELETE', path)
        return path, sweep_over(self.daemon, path)

    def rows(self, path):
        return self.daemon.call('GET', path + '/results')['rows']

    def alone(self, document, point, steps):
        """Time and outputs of a coupling of instances with these values, after each of the
        steps."""
        made = with_values(document, point)
        ids = [self.daemon.create(p.pop('model')) for p in made['participants']]
        for p, i in zip(made['participants'], ids):
            p['instance'] = i
        reply = self.daemon.call('POST', '/v1/couplings', made)
        self.assertEqual(reply.status, 201, reply)
        cid, found = reply['id'], []
        for step in steps:
            if step:
                now = self.daemon.call('POST', '/v1/couplings/%s/step' % cid, step)
                self.assertEqual(now.status, 200, now)
                found.append([now['time'], *now['outputs'].values()])
            else:
                outputs = [list(self.daemon.call('GET', '/v1/instances/%s/outputs' % i)[
                    'outputs'].values()) for i in ids]
                found.append([reply['time'], *sum(outputs, [])])
        self.daemon.call('DELETE', '/v1/couplings/' + cid)
        for i in ids:
            self.daemon.call('DELETE', '/v1/instances/' + i)
        return found

    def test_each_point_is_what_a_coupling_with_its_values_gives(self):
        grid = {'left/k': [100, 197.5], '/stepSize': [0.01, 0.02], '/scheme/relaxation': [0.9]}
        names = list(grid)
        for more in ({}, {'hold': 2}, {'hold': 3}, {'waveform': {'degree': 2}},
                     {'scheme': {'type': 'InterfaceNewton', 'relaxation': 1}},
                     {'scheme': {'type': 'GaussSeidel', 'relaxation': 1,
                                 'order': ['right', 'left']}},
                     {**BOND, 'scheme': {**BOND['scheme'], 'relaxation': 1}},
                     {'hold': 1, 'adaptive': ADAPTIVE}):
            with self.subTest(more):
                document = coupling(**more)
                path, end = self.run_to_end(document, parameters={'grid': grid}, count=7,
                                            record={'every': 3})
                self.assertEqual((end['state'], end['points'], end['failed'], end['name']),
                                 ('finished', 4, 0, 'halves'), end)
                self.assertEqual(end['parameters'], names)
                self.assertEqual(end['outputs'], ['left.x', 'left.v', 'right.x', 'right.v'])
                expected = []
                for n in range(4):
                    values = [grid['left/k'][n // 2], grid['/stepSize'][n % 2], 0.9]
                    steps = [None, {'count': 3}, {'count': 3}, {'count': 1}]
                    expected += [[n, *values, *row] for row in
                                 self.alone(document, dict(zip(names, values)), steps)]
                self.assertEqual(self.rows(path), expected)

    def test_until_ends_within_a_window_and_rows_count_windows(self):
        document = coupling(hold=1)
        points = [{'/stepSize': 0.01}, {'/stepSize': 0.004}, {'right/m': 2}]
        steps = [[{'until': 0.045}]] * 3
        path, _ = self.run_to_end(document, parameters={'list': points}, until=0.045,
                                  outputs=['right.x', 'left.v'])
        found = self.rows(path)
        for n, (point, step) in enumerate(zip(points, steps)):
            time_, _, v, x, _ = self.alone(document, point, step)[-1]
            own = {'/stepSize': 0.01, 'right/m': 1, **point}
            self.assertEqual(found[n], [n, own['/stepSize'], own['right/m'], time_, x, v])
        path, _ = self.run_to_end(document, parameters={'list': points}, until=0.045,
                                  record={'every': 2})
        times = [[row[3] for row in self.rows(path) if row[0] == n] for n in range(3)]
        self.assertEqual([len(t) for t in times], [4, 7, 4])
        self.assertEqual([t[-1] for t in times], [0.045] * 3)

    def test_numbers_of_bonds_connections_and_error_control_are_swept(self):
        for document, point in (
                (coupling(**BOND), {'/bonds/0/law/stiffness': 25, '/bonds/0/law/damping': 0}),
                (coupling(), {'/connections/1/factor': -3.5}),
                (coupling(hold=1, adaptive=ADAPTIVE), {'/adaptive/absoluteTolerance': 1e-2}),
                (coupling(hold=1), {'/hold': 2, '/scheme/maxIterations': 30})):
            path, end = self.run_to_end(document, parameters={'list': [point]}, count=5)
            self.assertEqual(end['failed'], 0, end)
            self.assertEqual(self.rows(path), [
                [0, *point.values(), *self.alone(document, point, [{'count': 5}])[0]]])

    def test_points_that_fail_name_their_participant(self):
        document = coupling(scheme={'type': 'GaussSeidelIterated', 'maxIterations': 50})
        points = [{}, {'left/m': 0}, {'/stepSize': 0}, {'/scheme/maxIterations': 1},
                  {'/stepSize': 0.02}]
        path, end = self.run_to_end(document, parameters={'list': points}, count=3)
        self.assertEqual((end['done'], end['failed']), (5, 3), end)
        errors = {e['point']: (e['code'], e['message']) for e in end['errors']}
        self.assertEqual(errors[1][0], 'invalid-model')
        self.assertTrue(errors[1][1].startswith('participant left: '), errors)
        self.assertIn('mass', errors[1][1].lower())
        self.assertEqual(errors[2][0], 'invalid-request')
        self.assertTrue(errors[2][1].startswith('/stepSize: '), errors)
        self.assertEqual(errors[3][0], 'coupling-not-converged', errors)
        rows = self.rows(path)
        self.assertEqual([row[-1] is None for row in rows], [False, True, True, True, False])
        self.assertEqual(rows[4][-5:], self.alone(document, points[4], [{'count': 3}])[0])

    def test_a_failure_on_the_way_ends_the_rows_of_its_point(self):
        document = coupling(scheme={'type': 'Jacobi'})
        document['participants'][1]['model']['solver'] = {'integrator': 'RK44', 'stepSize': 1e-3}
        points = [{'right/k': 1e9}, {}]  # unstable beyond k = 8 / h²
        path, end = self.run_to_end(document, parameters={'list': points}, count=100,
                                    record={'every': 1})
        self.assertEqual([(e['point'], e['code']) for e in end['errors']], [(0, 'not-finite')])
        self.assertTrue(end['errors'][0]['message'].startswith('participant right: '), end)
        rows = [[row for row in self.rows(path) if row[0] == n] for n in range(2)]
        self.assertEqual(rows[0][-1][2:], [None] * 5)
        self.assertIsNotNone(rows[0][-2][2])
        self.assertEqual(len(rows[1]), 101)

    def test_participants_at_unequal_times_are_a_fault_of_the_point(self):
        document = coupling()
        for p in document['participants']:
            p['model']['solver']['startTime'] = 1.
        _, end = self.run_to_end(document, parameters={'list': [{}]}, count=1)
        self.assertEqual(end['failed'], 0, end)
        document['participants'][1]['model']['solver']['startTime'] = 2.
        _, end = self.run_to_end(document, parameters={'list': [{}]}, count=1)
        self.assertEqual(end['errors'][0]['code'], 'time-mismatch')
        self.assertEqual(end['errors'][0]['message'], 'left is at 1 s, right at 2 s')

    def test_the_same_bits_for_any_number_of_workers(self):
        found = set()
        for workers in ('1', '2', '5'):
            with Daemon('--workers', workers) as d:
                body = {'coupling': coupling(), 'count': 20, 'record': {'every': 5},
                        'parameters': {'grid': {'left/k': {'from': 1, 'to': 400, 'count': 13}}}}
                path = sweep(d, body).headers['Location']
                self.assertEqual(sweep_over(d, path)['failed'], 0)
                found.add(d.call('GET', path + '/results', headers={'Accept': F64}).raw)
        self.assertEqual(len(found), 1)
        self.assertEqual(len(found.pop()), 8 * 13 * 5 * 7)

    def test_examples_take_part_and_sweeps_come_through_zeromq_too(self):
        document = {'participants': [{'name': 'a', 'example': 'driven-oscillator'},
                                     {'name': 'b', 'example': 'mass1d'}],
                    'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01}
        door = ZmqDoor(self.daemon)
        reply = door.call('sweep', coupling=document, parameters={'list': [{'a/k': 50}]},
                          count=3)[1]
        wait_until(lambda: door.call('get-sweep', wid=reply['id'])[1]['state'] == 'finished',
                   'the sweep is over')
        rows = door.call('sweep-results', wid=reply['id'])[1]['rows']
        self.assertAlmostEqual(rows[0][2], 0.03)
        self.assertTrue(door.call('delete-sweep', wid=reply['id'])[1]['ok'])
        door.close()
        path, _ = self.run_to_end(coupling(), parameters={'list': [{'left/k': 3}]}, count=1)
        row = json.loads(self.daemon.call('GET', path + '/results',
                                          headers={'Accept': NDJSON}).raw.splitlines()[0])
        self.assertEqual(row['parameters'], {'left/k': 3})
        self.assertEqual(list(row['outputs']), ['left.x', 'left.v', 'right.x', 'right.v'])

    def test_faults_are_reported_with_their_places(self):
        good = {'coupling': coupling(), 'parameters': {'grid': {'left/k': [1]}}, 'count': 1}

        def wrong(**change):
            document = coupling(**change)
            return {k: v for k, v in document.items() if v is not None}

        def part(**change):
            document = coupling()
            document['participants'][1] = {**document['participants'][1], **change}
            return document

        many = coupling()
        many['participants'][0]['model']['parameters'].update({'p%d' % k: 0 for k in range(15)})
        for change, pointer in (
                ({'model': tunable(1.)}, ''), ({'example': 'mass1d'}, ''),
                ({'coupling': 7}, '/coupling'), ({'coupling': wrong(extra=1)}, '/coupling/extra'),
                ({'coupling': wrong(participants=None)}, '/coupling/participants'),
                ({'coupling': wrong(participants=[])}, '/coupling/participants'),
                ({'coupling': wrong(participants=[7])}, '/coupling/participants/0'),
                ({'coupling': part(partner={})}, '/coupling/participants/1/partner'),
                ({'coupling': part(instance='i-1')}, '/coupling/participants/1/instance'),
                ({'coupling': part(example='mass1d')}, '/coupling/participants/1'),
                ({'coupling': part(example=5)}, '/coupling/participants/1'),
                ({'coupling': wrong(participants=[{'name': 'left', 'example': 5}])},
                 '/coupling/participants/0/example'),
                ({'coupling': wrong(participants=[{'name': 'left', 'example': 'nope'}])},
                 '/coupling/participants/0/example'),
                ({'coupling': part(name='left')}, '/coupling/participants/1'),
                ({'coupling': part(name='a/b')}, '/coupling/participants/1'),
                ({'coupling': part(more=1)}, '/coupling/participants/1/more'),
                ({'coupling': part(model={**tunable(1.), 'extra': 1})},
                 '/coupling/participants/1/model/extra'),
                ({'coupling': part(model=tunable(1., m=0))},
                 '/coupling/participants/1/model/objects/0/physicsMass'),
                ({'coupling': wrong(scheme=None)}, '/coupling/scheme'),
                ({'coupling': wrong(scheme={'type': 'Magic'})}, '/coupling/scheme/type'),
                ({'coupling': wrong(stepSize=0)}, '/coupling/stepSize'),
                ({'coupling': wrong(connections=[{'from': 'left.y', 'to': 'right.F'}])},
                 '/coupling/connections/0'),
                ({'parameters': {'grid': {'k': [1]}}}, '/parameters/grid/k'),
                ({'parameters': {'grid': {'left/x': [1]}}}, '/parameters/grid/left~1x'),
                ({'parameters': {'grid': {'middle/k': [1]}}}, '/parameters/grid/middle~1k'),
                ({'parameters': {'grid': {'/hold': [1]}}}, '/parameters/grid/~1hold'),
                ({'parameters': {'grid': {'/name': [1]}}}, '/parameters/grid/~1name'),
                ({'parameters': {'grid': {'/scheme': [1]}}}, '/parameters/grid/~1scheme'),
                ({'parameters': {'grid': {'/connections/2/factor': [1]}}},
                 '/parameters/grid/~1connections~12~1factor'),
                ({'parameters': {'grid': {'/connections/01/factor': [1]}}},
                 '/parameters/grid/~1connections~101~1factor'),
                ({'parameters': {'grid': {'/participants/0/model/parameters/k': [1]}}},
                 '/parameters/grid/~1participants~10~1model~1parameters~1k'),
                ({'parameters': {'grid': {'/scheme/maxIterations': [4, 2.5]}}},
                 '/parameters/grid/~1scheme~1maxIterations/1'),
                ({'parameters': {'grid': {'/scheme/maxIterations':
                                          {'from': 1, 'to': 2, 'count': 3}}}},
                 '/parameters/grid/~1scheme~1maxIterations'),
                ({'parameters': {'list': [{}, {'/scheme/maxIterations': 1e300}]}},
                 '/parameters/list/1/~1scheme~1maxIterations'),
                ({'coupling': many, 'parameters': {'list': [dict.fromkeys(
                    ('left/' + p for p in many['participants'][0]['model']['parameters']), 1)]}},
                 '/parameters/list/0/left~1p14'),
                ({'outputs': ['x']}, '/outputs/0'), ({'outputs': ['left.y']}, '/outputs/0'),
                ({'outputs': [7]}, '/outputs/0'), ({'outputs': ['left.x'] * 5}, '/outputs'),
                ({'until': 1}, ''), ({'count': None, 'until': 0}, '/until'),
                ({'record': {'every': 0}}, '/record/every'),
                ({'count': None, 'until': 1e6, 'record': {},
                  'coupling': wrong(hold=1, adaptive={'minimum': 1e-9})}, '')):
            with self.subTest(str(change)[:90]):
                body = {k: v for k, v in {**good, **change}.items() if v is not None}
                reply = sweep(self.daemon, body, 422)
                self.assertIn(pointer, [e['pointer'] for e in reply['errors']], reply)

    def test_rows_of_the_smallest_windows_must_have_room(self):
        reply = sweep(self.daemon, {
            'coupling': coupling(hold=1, adaptive={**ADAPTIVE, 'minimum': 1e-9}), 'until': 1.,
            'record': {}, 'parameters': {'grid': {'left/k': [1]}}}, 422)
        self.assertIn('the smallest size, 1e-09 s (stepSize, or adaptive.minimum)',
                      reply['errors'][0]['message'], reply)

    def test_whole_numbers_of_a_range_come_out_whole(self):
        path, end = self.run_to_end(coupling(), count=1, parameters={
            'grid': {'/scheme/maxIterations': {'from': 10, 'to': 59, 'count': 50}}})
        self.assertEqual(end['failed'], 0, end)
        self.assertEqual([row[1] for row in self.rows(path)], list(range(10, 60)))

    def test_no_instance_and_no_coupling_is_left_and_the_owner_is_charged(self):
        with Daemon() as d:
            endless = sweep(d, {'coupling': coupling(), 'count': 10 ** 12,
                                'parameters': {'list': [{}]}}).headers['Location']
            used = d.call('GET', '/v1/quota')['used']
            self.assertEqual((used['instances'], used['coordinates'], used['runs']), (2, 2, 1))
            self.assertGreater(used['memory'], 0)
            self.assertEqual(d.call('GET', '/v1/instances')['items'], [])
            self.assertEqual(d.call('GET', '/v1/couplings')['items'], [])
            self.assertEqual(d.call('DELETE', endless).status, 204)
            kinds = ('instances', 'coordinates', 'runs', 'memory')
            wait_until(lambda: not any(d.call('GET', '/v1/quota')['used'][k] for k in kinds),
                       'the lanes are over, and all is given back')

    def test_a_long_window_ends_with_its_sweep_and_the_daemon_does_not_wait(self):
        long = coupling(stepSize=1e9)
        d = Daemon()
        for _ in range(2):
            path = sweep(d, {'coupling': long, 'count': 1,
                             'parameters': {'list': [{}] * 4}}).headers['Location']
            self.assertEqual(d.call('GET', path)['state'], 'running')
        self.assertEqual(d.call('DELETE', path).status, 204)
        d.stop()


class KeptCoupledSweeps(unittest.TestCase):
    def test_rows_and_names_are_there_after_a_kill(self):
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        daemon = Kept(folder)
        points = [{'left/k': 1}, {'left/m': 0}, {'/stepSize': 0.02}]
        path = sweep(daemon, {'coupling': coupling(), 'count': 4,
                              'parameters': {'list': points}}).headers['Location']
        self.assertEqual(sweep_over(daemon, path)['stored'], True)
        before = [daemon.call('GET', path).json, daemon.call('GET', path + '/results').json]
        self.assertEqual(before[1]['columns'], [
            'point', 'left/k', 'left/m', '/stepSize', 'time', 'left.x', 'left.v', 'right.x',
            'right.v'])
        daemon.kill()
        with Kept(folder) as daemon:
            self.assertEqual([daemon.call('GET', path).json,
                              daemon.call('GET', path + '/results').json], before)


if __name__ == '__main__':
    unittest.main()
