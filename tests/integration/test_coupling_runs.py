"""Runs of couplings: the server steps the windows, records outputs of participants, and others are
served meanwhile."""
import csv
import io
import struct
import unittest

from harness import Daemon, wait_until
from coupled import K, K12, OSCILLATORS, Couplings, half

RACES = True
ENDLESS = 10 ** 9


class Runs(Couplings):
    def start(self, cid, **body):
        reply = self.daemon.call('POST', '/v1/couplings/%s/runs' % cid, body)
        self.assertEqual(reply.status, 202, reply)
        return reply.headers['Location']

    def wait(self, where, state='finished'):
        wait_until(lambda: self.daemon.call('GET', where)['state'] != 'running', 'the run is over')
        reply = self.daemon.call('GET', where)
        self.assertEqual(reply['state'], state, reply)
        return reply.json

    def begun(self, cid, **body):
        """An endless run that has done some windows."""
        where = self.start(cid, count=ENDLESS, **body)
        wait_until(lambda: self.daemon.call('GET', where)['periods'] > 10, 'it steps')
        return where

    def test_rows_are_what_steps_of_one_window_return(self):
        for more in ({'hold': 2, 'scheme': {'type': 'IQN-ILS', 'reuse': 2}},
                     {'scheme': 'GaussSeidel', 'hold': 1}, {'scheme': 'Jacobi'},
                     {'scheme': 'JacobiIterated', 'waveform': {'degree': 2}},
                     {'scheme': 'GaussSeidel', 'hold': 1,
                      'adaptive': {'relativeTolerance': 1e-3, 'absoluteTolerance': 1e-3}}):
            with self.subTest(more):
                _, _, stepped = self.oscillators(**more)
                rows = []
                for _ in range(20):
                    reply = self.good(stepped, until=0.01 * (len(rows) + 1))
                    rows.append([reply['time'], reply['outputs']['right.x'],
                                 reply['outputs']['left.v']])
                _, _, cid = self.oscillators(**more)
                where = self.start(cid, count=20, record={'outputs': ['right.x', 'left.v']})
                run = self.wait(where)
                self.assertEqual((run['periods'], run['recorded'], run['fraction']), (20, 21, 1))
                reply = self.daemon.call('GET', where + '/results?outputs=right.x,left.v')
                self.assertEqual(reply['columns'], ['time', 'left.v', 'right.x'])
                self.assertEqual([[r[0], r[2], r[1]] for r in reply['rows'][1:]], rows)

    def test_results_come_in_the_formats_of_those_of_an_instance(self):
        _, _, cid = self.oscillators()
        where = self.start(cid, until=0.2, period=0.02, record={'every': 5})
        self.wait(where)
        reply = self.daemon.call('GET', where + '/results')
        names = ['time', 'left.x', 'left.v', 'right.x', 'right.v']
        self.assertEqual(reply['columns'], names)
        rows = reply['rows']
        self.assertEqual([r[0] for r in rows], [0., 0.1, 0.2])
        text = self.daemon.call('GET', where + '/results?format=csv').raw.decode()
        table = list(csv.reader(io.StringIO(text)))
        self.assertEqual(table[0], names)
        self.assertEqual([[float(x) for x in r] for r in table[1:]], rows)
        raw = self.daemon.call('GET', where + '/results?format=f64').raw
        self.assertEqual(list(struct.unpack('<15d', raw)), sum(rows, []))
        part = self.daemon.call('GET', where + '/results?from=0.05&outputs=right.x&limit=1')
        self.assertEqual((part['rows'], part['next']), ([[0.1, rows[1][3]]], 0.2))
        self.assertEqual(self.daemon.call('DELETE', where + '/results').status, 204)
        self.assertEqual(self.daemon.call('GET', where + '/results').status, 404)
        self.assertNotIn('recorded', self.daemon.call('GET', where).json)

    def test_runs_are_listed_newest_first(self):
        _, _, cid = self.oscillators()
        for n in range(1, 18):
            self.wait(self.start(cid, count=1))
        runs = self.daemon.call('GET', '/v1/couplings/%s/runs' % cid)['items']
        self.assertEqual([r['id'] for r in runs], ['r-%d' % n for n in range(17, 1, -1)])
        self.assertEqual(self.daemon.call('GET', '/v1/couplings/%s/runs/r-1' % cid).status, 404)

    def test_windows_that_fill_no_period_are_cut_at_its_end(self):
        _, _, cid = self.oscillators()
        where = self.start(cid, until=0.05, period=0.015, record={})
        self.wait(where)
        times = [r[0] for r in self.daemon.call('GET', where + '/results')['rows']]
        self.assertEqual(len(times), 5)
        for time, expected in zip(times, (0, 0.015, 0.03, 0.045, 0.05)):
            self.assertAlmostEqual(time, expected, delta=1e-15)
        self.assertEqual(self.daemon.call('GET', '/v1/couplings/' + cid)['windows'], 7)

    def test_others_are_served_and_what_would_disturb_is_refused(self):
        left, _, cid = self.oscillators()
        root = '/v1/couplings/' + cid
        sid = self.daemon.call('POST', root + '/snapshots')['id']
        trial = self.good(cid, count=1, commit=False)['trial']
        where = self.begun(cid)
        self.assertEqual(self.daemon.call('GET', root)['running'], True)
        for method, path, body in (('POST', '/step', {'count': 1}), ('POST', '/reset', None),
                                   ('POST', '/step', {'count': 1, 'commit': False}),
                                   ('POST', '/commit', {'trial': trial}), ('POST', '/runs',
                                                                           {'count': 1}),
                                   ('POST', '/snapshots/%s/restore' % sid, None)):
            reply = self.daemon.call(method, root + path, body)
            self.assertEqual((reply.status, reply['code']), (409, 'run-in-progress'), reply)
        reply = self.daemon.call('DELETE', where + '/results')
        self.assertEqual((reply.status, reply['code']), (409, 'run-in-progress'))
        self.assertEqual(self.daemon.call('POST', root + '/snapshots').status, 201)
        self.assertEqual(self.daemon.call('GET', root + '/stability').status, 200)
        self.assertEqual(self.daemon.call('GET', '/v1/instances/%s/outputs' % left).status, 200)
        self.assertEqual(self.daemon.call('GET', root + '/snapshots')['items'][0]['id'], sid)
        self.assertEqual(self.daemon.call('POST', '/v1/instances/%s/stop' % left).status, 409)
        self.assertEqual(self.daemon.call('GET', where)['state'], 'running')
        self.assertEqual(self.daemon.call('DELETE', where)['state'], 'stopped')

    def test_a_stopped_run_has_a_row_of_each_window(self):
        """Also of the last one, behind which the request to stop was seen."""
        _, _, cid = self.oscillators(stepSize=0.001)
        windows = 0
        for _ in range(40):
            now = self.daemon.call('GET', '/v1/couplings/' + cid)['time']
            where = self.start(cid, until=now + 2000, record={'outputs': ['left.x']})
            wait_until(lambda w=where: self.daemon.call('GET', w)['periods'] > 0, 'it steps')
            self.assertEqual(self.daemon.call('DELETE', where).status, 200)
            after = self.good(cid, count=1)['window']
            run = self.daemon.call('GET', where)
            self.assertEqual(run['recorded'], run['periods'] + 1)
            self.assertEqual(after, windows + run['periods'] + 1)
            windows = after

    def test_a_stopped_run_leaves_a_coupling_that_steps_on(self):
        left, right, cid = self.oscillators()
        where = self.begun(cid, record={'every': 10 ** 6})
        reply = self.daemon.call('DELETE', where)
        self.assertEqual((reply.status, reply['state']), (200, 'stopped'), reply)
        after = self.good(cid, count=1)
        self.assertEqual(after['window'], self.daemon.call('GET', where)['periods'] + 1)
        times = {self.daemon.call('GET', '/v1/instances/%s/outputs' % i)['time']
                 for i in (left, right)}
        self.assertEqual(len(times), 1)
        self.assertAlmostEqual(times.pop() / after['time'], 1, delta=1e-12)
        self.assertEqual(self.daemon.call('GET', '/v1/couplings/' + cid)['running'], False)
        self.assertEqual(self.daemon.call('DELETE', where)['state'], 'stopped')
        self.wait(self.start(cid, count=3))

    def test_a_deleted_coupling_ends_its_run_and_frees_its_instances(self):
        left, _, cid = self.oscillators()
        for pace in (0, 1):
            where = self.start(cid, count=ENDLESS, pace=pace, period=0.01)
            self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + cid).status, 204)
            self.assertEqual(self.daemon.call('GET', where).status, 404)
            for method, path in (('GET', '/runs'), ('POST', '/runs')):
                body = {'count': 1} if method == 'POST' else None
                reply = self.daemon.call(method, '/v1/couplings/%s%s' % (cid, path), body)
                self.assertEqual((reply.status, reply['code']), (404, 'not-found'), reply)
            self.assertEqual(self.daemon.call('POST', '/v1/instances/%s/step' % left,
                                              {'count': 1}).status, 200)
            left, _, cid = self.oscillators()

    def test_a_window_that_fails_ends_the_run_with_its_reason(self):
        left, right = (self.daemon.create(half(x, k=K)) for x in (1., 0.))
        cid = self.couple(left, right, OSCILLATORS, scheme={
            'type': 'JacobiIterated', 'maxIterations': 2})['id']
        where = self.start(cid, count=5, record={})
        run = self.wait(where, 'failed')
        self.assertIn('converge', run['reason'])
        self.assertEqual((run['periods'], run['recorded'], run['time']), (0, 1, 0))
        self.assertEqual(self.step(cid, count=1)['code'], 'coupling-not-converged')

    def test_a_revoked_lease_ends_the_run(self):
        left, _, cid = self.oscillators()
        where = self.begun(cid)
        self.daemon.call('DELETE', '/v1/instances/%s/lease?of=owner' % left)
        self.assertIn('revoked', self.wait(where, 'failed')['reason'])

    def test_a_paced_run_keeps_to_the_clock(self):
        _, _, cid = self.oscillators()
        where = self.start(cid, count=10, pace=1, record={})
        run = self.wait(where)
        # not before its last period begins: nine periods of 10 ms
        self.assertGreaterEqual(run['elapsed'], 0.09)
        self.assertEqual((run['periods'], run['recorded']), (10, 11))

    def test_requests_with_faults_are_refused_with_their_places(self):
        _, _, cid = self.oscillators()
        for body, place in (({}, '/until'), ({'until': -1}, '/until'),
                            ({'count': 1, 'until': 1}, '/count'),
                            ({'count': 1, 'period': 0}, '/period'),
                            ({'count': 1, 'record': {'outputs': ['left.y']}}, '/record/outputs/0'),
                            ({'count': 1, 'record': {'outputs': ['x']}}, '/record/outputs/0'),
                            ({'count': 1, 'record': {'hash': 1}}, '/record/hash'),
                            ({'count': 1, 'record': {'inputs': 1}}, '/record/inputs'),
                            ({'count': 10 ** 9, 'record': {}}, '/record'),
                            ({'count': 1, 'windows': 1}, '/windows')):
            reply = self.daemon.call('POST', '/v1/couplings/%s/runs' % cid, body)
            self.assertEqual((reply.status, reply['errors'][0]['pointer']), (422, place), reply)
        self.assertEqual(self.daemon.call('GET', '/v1/couplings/%s/runs' % cid)['items'], [])

    def used(self):
        used = self.daemon.call('GET', '/v1/quota')['used']
        return {name: used[name] for name in used if name != 'cpu'}

    def test_rows_count_in_the_quota_of_memory_until_they_are_deleted(self):
        self.daemon.stop()
        self.daemon = Daemon('--quota', 'memory=1MiB runs=1')
        _, _, cid = self.oscillators()
        reply = self.daemon.call('POST', '/v1/couplings/%s/runs' % cid,
                                 {'count': 50000, 'record': {}})
        self.assertEqual((reply.status, reply['code']), (429, 'quota-exceeded'), reply)
        used = self.used()
        where = self.start(cid, count=1000, record={})
        self.wait(where)
        self.assertEqual(self.used()['memory'], used['memory'] + 1003 * 5 * 8)
        self.assertEqual(self.daemon.call('DELETE', where + '/results').status, 204)
        self.assertEqual(self.used(), used)
        self.begun(cid)
        self.assertEqual(self.used()['runs'], 1)
        self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + cid).status, 204)
        self.assertEqual(self.used()['runs'], 0)

    def test_a_coupling_and_an_instance_have_different_ids(self):
        """Their topics on the stream are alike."""
        new = {'model': half(1., k=K + K12)}
        first = self.oscillators()[2]
        second, third = ('%s-%d' % (first.rpartition('-')[0], k) for k in (2, 3))
        self.assertEqual(self.daemon.call('PUT', '/v1/instances/' + second, new).status, 201)
        self.assertEqual(self.oscillators()[2], third)
        reply = self.daemon.call('PUT', '/v1/instances/' + third, new)
        self.assertEqual((reply.status, reply['code']), (409, 'id-taken'), reply)
        self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + third).status, 204)
        self.assertEqual(self.daemon.call('PUT', '/v1/instances/' + third, new).status, 201)

    def test_the_end_of_the_daemon_ends_a_run(self):
        _, _, cid = self.oscillators()
        self.begun(cid)
        _, _, other = self.oscillators()
        self.start(other, count=ENDLESS, pace=1e-3, period=1)
        self.daemon.stop()
        self.assertEqual(self.daemon.process.returncode, 0)


if __name__ == '__main__':
    unittest.main()
