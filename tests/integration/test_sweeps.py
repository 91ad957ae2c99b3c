"""Sweeps: each point is, bit for bit, what an instance with its parameters gives; points that fail
stay by themselves; the rows are the same for any number of workers."""
import json
import math
import unittest
import models
from harness import Daemon, Served, ZmqDoor, wait_until
from asking import GRID, sweep, sweep_over
from forms import CSV, F64, NDJSON, NPY, load_npy, numbers
from long_models import tuned

RACES = True

class Sweeps(Served):
    def run_to_end(self, **body):
        path = sweep(self.daemon, {'model': tuned(), **body}).headers['Location']
        self.addCleanup(self.daemon.call, 'DELETE', path)
        return path, sweep_over(self.daemon, path)

    def results(self, path, status=200, **headers):
        reply = self.daemon.call('GET', path + '/results', headers=headers)
        self.assertEqual(reply.status, status, reply)
        return reply

    def alone(self, values, steps):
        """Time and outputs of an instance with these parameters, after each of the steps."""
        own = tuned()
        own['parameters'].update(values)
        i = self.daemon.create(own)
        found = []
        for step in steps:
            if step:
                reply = self.daemon.call('POST', '/v1/instances/%s/step' % i, step)
                self.assertEqual(reply.status, 200, reply)
            now = self.daemon.call('GET', '/v1/instances/%s/outputs' % i)
            found.append([now['time'], now['outputs']['x'], now['outputs']['v']])
        self.daemon.call('DELETE', '/v1/instances/' + i)
        return found

    def test_each_point_is_what_an_instance_with_its_parameters_gives(self):
        path, end = self.run_to_end(parameters=GRID, count=200)
        self.assertEqual((end['state'], end['points'], end['done'], end['failed']),
                         ('finished', 15, 15, 0))
        self.assertEqual((end['parameters'], end['outputs']), (['k', 'x0'], ['x', 'v']))
        table = self.results(path).json
        self.assertEqual(table['columns'], ['point', 'k', 'x0', 'time', 'x', 'v'])
        expected = []
        for n in range(15):
            k, x0 = (50, 150, 250, 350, 450)[n // 3], (0.25, -0.5, 1)[n % 3]
            expected.append([n, k, x0] + self.alone({'k': k, 'x0': x0}, [{'count': 200}])[0])
        self.assertEqual(table['rows'], expected)
        flat = [x for row in expected for x in row]
        self.assertEqual(numbers(self.results(path, Accept=F64).raw), flat)
        self.assertEqual(load_npy(self.results(path, Accept=NPY).raw), ((15, 6), flat))
        lines = self.results(path, Accept=CSV).raw.decode().split('\r\n')
        self.assertEqual([float(x) for x in lines[15].split(',')], expected[14])
        lines = self.results(path, Accept=NDJSON).raw.decode().splitlines()
        self.assertEqual(json.loads(lines[4]), {
            'point': 4, 'parameters': {'k': 150, 'x0': -0.5}, 'time': expected[4][3],
            'outputs': {'x': expected[4][4], 'v': expected[4][5]}})
        self.results(path, 406, Accept='image/png')

    def test_a_list_takes_what_it_leaves_out_from_the_document(self):
        points = [{'k': 50}, {'x0': 2, 'm': 4}, {}]
        path, _ = self.run_to_end(parameters={'list': points}, until=0.5, outputs=['v'])
        table = self.results(path).json
        self.assertEqual(table['columns'], ['point', 'k', 'x0', 'm', 'time', 'v'])
        for n, (row, point) in enumerate(zip(table['rows'], points)):
            full = {'k': 100, 'x0': 0.5, 'm': 1, **point}
            time_, _, v = self.alone(full, [{'until': 0.5}])[0]
            self.assertEqual(row, [n, full['k'], full['x0'], full['m'], time_, v])

    def test_recorded_rows_are_those_of_stepping_by_hand(self):
        h = tuned()['solver']['stepSize']
        for end, steps in (({'count': 70}, [None] + [{'count': 30}] * 2 + [{'count': 10}]),
                           ({'until': 70 * h}, [None] + [{'until': t * h} for t in (30, 60, 70)])):
            path, _ = self.run_to_end(parameters={'list': [{'k': 50}, {'k': 70}]},
                                      record={'every': 30}, **end)
            expected = [[n, k] + row for n, k in enumerate((50, 70))
                        for row in self.alone({'k': k}, steps)]
            self.assertEqual(self.results(path)['rows'], expected)

    def test_points_that_fail_have_a_row_of_nulls_and_a_reason(self):
        path, end = self.run_to_end(parameters={'list': [{'m': 1}, {'m': 0}, {'m': 2}]}, count=20)
        self.assertEqual((end['done'], end['failed']), (3, 1))
        self.assertEqual([(e['point'], e['code']) for e in end['errors']], [(1, 'invalid-model')])
        self.assertIn('mass', end['errors'][0]['message'].lower())
        rows = self.results(path)['rows']
        self.assertEqual(rows[1], [1, 0, None, None, None])
        self.assertTrue(math.isnan(numbers(self.results(path, Accept=F64).raw)[7]))
        self.assertEqual(rows[2][2:], self.alone({'m': 2}, [{'count': 20}])[0])

    def test_a_failure_on_the_way_ends_the_rows_of_its_point(self):
        wild = tuned()
        wild['solver']['integrator'] = 'RK44'  # unstable beyond k = 8 / h²
        body = {'model': wild, 'parameters': {'list': [{'k': 1e9}, {'k': 1}]}}
        path, end = self.run_to_end(record={'every': 10}, count=100, **body)
        self.assertEqual(end['failed'], 1, end)
        self.assertEqual(end['errors'][0]['code'], 'not-finite')
        rows = self.results(path)['rows']
        last = max(n for n, row in enumerate(rows) if row[0] == 0)
        self.assertEqual(rows[last][2:], [None] * 3)
        self.assertIsNotNone(rows[last - 1][2])
        self.assertGreater(last, 1)
        self.assertEqual(len(rows) - last - 1, 11)

    def test_the_same_bits_for_any_number_of_workers(self):
        found = set()
        for workers in ('1', '2', '5'):
            with Daemon('--workers', workers) as d:
                body = {'model': tuned(), 'count': 3000, 'record': {'every': 500},
                        'parameters': {'grid': {'k': {'from': 1, 'to': 900, 'count': 23}}}}
                path = sweep(d, body).headers['Location']
                sweep_over(d, path)
                found.add(d.call('GET', path + '/results', headers={'Accept': F64}).raw)
        self.assertEqual(len(found), 1)
        self.assertEqual(len(found.pop()), 8 * 23 * 7 * 5)

    def test_a_sweep_can_be_deleted_while_it_runs_and_others_are_served(self):
        reply = sweep(self.daemon, {'example': 'chain-100', 'count': 10 ** 9,
                                    'parameters': {'list': [{}] * 50}})
        path = reply.headers['Location']
        self.assertEqual(reply['state'], 'running')
        other = self.daemon.create(models.nonlinear_oscillator())
        step = self.daemon.call('POST', '/v1/instances/%s/step' % other, {'count': 5000})
        self.assertEqual(step.status, 200)
        listed = self.daemon.call('GET', '/v1/sweeps').json
        self.assertIn(reply['id'], [s['id'] for s in listed['items']])
        self.assertEqual(self.results(path)['rows'], [])
        self.assertEqual(self.daemon.call('DELETE', path).status, 204)
        for method in ('GET', 'DELETE'):
            self.assertEqual(self.daemon.call(method, path).status, 404)
        self.assertEqual(self.daemon.call('GET', path + '/results').status, 404)

    def test_sweeps_come_through_zeromq_too(self):
        door = ZmqDoor(self.daemon)
        reply = door.call('sweep', model=tuned(), parameters={'list': [{'k': 7}]}, count=3)[1]
        wait_until(lambda: door.call('get-sweep', wid=reply['id'])[1]['state'] == 'finished',
                   'the sweep is over')
        rows = door.call('sweep-results', wid=reply['id'])[1]['rows']
        self.assertEqual(rows, [[0, 7] + self.alone({'k': 7}, [{'count': 3}])[0]])
        self.assertTrue(door.call('delete-sweep', wid=reply['id'])[1]['ok'])
        door.close()

    def test_faults_are_reported_with_their_places(self):
        good = {'model': tuned(), 'parameters': GRID, 'count': 1}
        broken = {**tuned(), 'extra': 1}
        many = {'mechd': 1, 'parameters': {'p%d' % k: 0 for k in range(17)}}
        for change, pointer in (
                ({'model': None}, '/model'), ({'example': 'chain-100'}, ''),
                ({'model': broken}, '/model/extra'), ({'parameters': None}, '/parameters'),
                ({'parameters': {}}, '/parameters'),
                ({'parameters': {'grid': {}, 'list': []}}, '/parameters'),
                ({'parameters': {'list': []}}, '/parameters/list'),
                ({'parameters': {'list': [7]}}, '/parameters/list/0'),
                ({'parameters': {'list': [{}, {'k': '7'}]}}, '/parameters/list/1/k'),
                ({'parameters': {'list': [{'c': 7}]}}, '/parameters/list/0/c'),
                ({'model': many, 'parameters': {'list': [dict.fromkeys(many['parameters'], 1)]}},
                 '/parameters/list/0/p16'),
                ({'outputs': ['x'] * 100}, '/outputs'),
                ({'parameters': {'grid': {'c': [1]}}}, '/parameters/grid/c'),
                ({'parameters': {'grid': {'k': []}}}, '/parameters/grid/k'),
                ({'parameters': {'grid': {'k': ['a']}}}, '/parameters/grid/k/0'),
                ({'parameters': {'grid': {'k': {'from': 1, 'to': 2}}}}, '/parameters/grid/k'),
                ({'parameters': {'grid': {'k': {'from': 1, 'to': 2, 'count': 0}}}},
                 '/parameters/grid/k'),
                ({'parameters': {'grid': {'k': {'from': 'a', 'to': 2, 'count': 3}}}},
                 '/parameters/grid/k/from'),
                ({'parameters': {'grid': {'k': {'from': 1, 'to': 2, 'count': 3, 'by': 1}}}},
                 '/parameters/grid/k/by'),
                ({'parameters': {'grid': {'k': {'from': 1, 'to': 2, 'count': 1000},
                                          'm': {'from': 1, 'to': 2, 'count': 1001}}}},
                 '/parameters/grid'),
                ({'until': 1}, ''), ({'count': 0}, '/count'), ({'count': None}, ''),
                ({'count': None, 'until': 0}, '/until'), ({'outputs': ['y']}, '/outputs/0'),
                ({'count': None, 'until': -4, 'record': {}}, '/until'),
                ({'outputs': 'x'}, '/outputs'), ({'record': {'every': 0}}, '/record/every'),
                ({'record': {'each': 1}}, '/record/each'),
                ({'count': 1000000000000, 'record': {}}, ''), ({'more': 1}, '/more')):
            with self.subTest(str(change)[:70]):
                body = {k: v for k, v in {**good, **change}.items() if v is not None}
                reply = sweep(self.daemon, body, 422)
                if change != {'model': None}:
                    self.assertIn(pointer, [e['pointer'] for e in reply['errors']], reply)
        self.assertEqual(sweep(self.daemon, b'{', 400)['code'], 'malformed-json')
        for path in ('/v1/sweeps/w-0', '/v1/sweeps/x'):
            self.assertEqual(self.daemon.call('GET', path).status, 404)

    def test_as_many_as_are_kept_and_no_more(self):
        body = {'model': tuned(), 'count': 1, 'parameters': {'list': [{}]}}
        with Daemon() as d:
            paths = [sweep(d, body).headers['Location'] for _ in range(64)]
            self.assertEqual(sweep(d, body, 429)['code'], 'limit-reached')
            d.call('DELETE', paths[5])
            sweep(d, body)

    def test_the_end_of_the_daemon_does_not_wait_for_a_sweep(self):
        d = Daemon()
        sweep(d, {'model': tuned(), 'count': 10**12, 'parameters': {'list': [{}, {}, {}]}})
        d.stop()


if __name__ == '__main__':
    unittest.main()
