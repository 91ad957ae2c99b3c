"""Sweeps of hosted FMUs: each point is a process of its own with its own start values."""
import os
import subprocess
import sys
import unittest
import fmus
from fmus import processes
from harness import ROOT, SLOW, program, wait_until

sys.path.insert(0, os.path.join(ROOT, 'clients', 'python'))
import mechd  # noqa: E402


class Sweeps(fmus.Uploaded):
    def sweep(self, status=202, **body):
        reply = self.daemon.call('POST', '/v1/sweeps', {'fmu': self.fid, **body})
        self.assertEqual(reply.status, status, reply)
        return reply

    def ended(self, sweep):
        path = '/v1/sweeps/' + sweep['id']
        wait_until(lambda: self.daemon.call('GET', path)['state'] == 'finished', 'it is over')
        return self.daemon.call('GET', path), self.daemon.call('GET', path + '/results')

    def test_points_are_instances_with_their_start_values(self):
        grid = {'gain': [1, 2, 3], 'u': {'from': 1, 'to': 2, 'count': 2}}
        done, table = self.ended(self.sweep(parameters={'grid': grid}, count=5,
                                            start={'gain': 7}, outputs=['y']))
        self.assertEqual((done['name'], done['points'], done['failed']), ('a controller', 6, 0))
        self.assertEqual(table['columns'], ['point', 'gain', 'u', 'time', 'y'])
        self.assertEqual([row[:3] for row in table['rows']],
                         [[k, g, u] for k, (g, u) in enumerate(
                             (g, u) for g in (1, 2, 3) for u in (1, 2))])
        for row in table['rows']:
            # y = gain (u + x), and x grows by u in each second: the same as of an instance
            path = fmus.hosted(self.daemon, gain=row[1], u=row[2])
            one = self.daemon.call('POST', path + '/step', {'count': 5})
            self.assertEqual(row[3:], [one['time'], one['outputs']['y']])
            self.daemon.call('DELETE', path)
        wait_until(lambda: not processes(self.daemon), 'their processes have ended')

    def test_rows_are_recorded_to_an_end(self):
        points = [{'u': 1}, {'u': 2, 'gain': 3}]
        _, table = self.ended(self.sweep(parameters={'list': points}, until=0.45,
                                         start={'gain': 2}, record={'every': 2}))
        self.assertEqual(table['columns'], ['point', 'u', 'gain', 'time', 'y'])
        for k, (u, gain) in enumerate(((1, 2), (2, 3))):
            rows = [row[3:] for row in table['rows'] if row[0] == k]
            self.assertEqual(len(rows), 4)
            for (time, y), expected in zip(rows, (0, 0.2, 0.4, 0.45)):
                self.assertAlmostEqual(time, expected, 14)
                self.assertAlmostEqual(y, gain * u * (1 + expected), 12)

    def test_clients_ask_for_them(self):
        done = subprocess.run(
            [program('mechctl'), '--server', self.daemon.base, 'sweep', '--fmu', self.fid,
             'gain=1,2', 'u=3', '--count', '1'], capture_output=True, text=True,
            timeout=100 * SLOW, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ''), done)
        lines = done.stdout.split()
        self.assertEqual(lines[0], 'point,gain,u,time,y')
        self.assertEqual([line.split(',')[:3] for line in lines[1:]],
                         [['0', '1', '3'], ['1', '2', '3']])
        with mechd.Server(self.daemon.base).sweep(fmu=self.fid, start={'u': 3},
                                                  grid={'gain': [1, 2]}, count=1) as sweep:
            self.assertEqual(list(sweep.results()['y']),
                             [float(line.split(',')[-1]) for line in lines[1:]])

    def test_points_that_fail_are_reported_and_the_others_continue(self):
        done, table = self.ended(self.sweep(
            parameters={'list': [{'mood': 0}, {'mood': fmus.ABORTS}, {'mood': 0.5}, {'mood': 0}]},
            start={'u': 1}, count=1))
        self.assertEqual(done['failed'], 2)
        told = {e['point']: (e['code'], e['message']) for e in done['errors']}
        self.assertEqual(told[1][0], 'fmu-failed')
        self.assertIn('aborted', told[1][1])
        self.assertEqual(told[2][0], 'invalid-request')
        self.assertIn('whole number', told[2][1])
        self.assertEqual([row[-1] is None for row in table['rows']], [False, True, True, False])

    def test_a_sweep_that_is_deleted_ends_its_processes(self):
        sweep = self.sweep(parameters={'list': [{'mood': fmus.LOOPS}]}, count=1)
        wait_until(lambda: processes(self.daemon), 'its process has begun')
        deleted = self.daemon.call('DELETE', '/v1/sweeps/' + sweep['id'])
        self.assertEqual(deleted.status, 204, deleted)
        wait_until(lambda: not processes(self.daemon), 'its process has ended')

    def test_what_cannot_be_swept_is_refused_with_its_place(self):
        grid = {'grid': {'gain': [1]}}
        for body, pointer in (({'parameters': {'grid': {'gian': [1]}}}, '/parameters/grid/gian'),
                              ({'parameters': grid, 'start': {'gian': 1}}, '/start/gian'),
                              ({'parameters': grid, 'outputs': ['z']}, '/outputs/0'),
                              ({'parameters': grid, 'example': 'mass1d'}, '')):
            refused = self.sweep(422, count=1, **body)
            self.assertEqual(refused['code'], 'invalid-request', refused)
            self.assertEqual(refused['errors'][0]['pointer'], pointer, refused)
        self.fid, good = 'f-99', self.fid
        self.assertEqual(self.sweep(404, parameters=grid, count=1)['code'], 'not-found')
        self.fid = good
        refused = self.daemon.call('POST', '/v1/sweeps', {
            'example': 'mass1d', 'start': {}, 'parameters': {'list': [{}]}, 'count': 1})
        self.assertEqual(refused['errors'][0]['pointer'], '/start', refused)


if __name__ == '__main__':
    unittest.main()
