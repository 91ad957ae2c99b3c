"""Sweeps in the state directory: what has ended is there after any end of the process, what had not
is interrupted, and they count for the token that began them."""
import os
import shutil
import tempfile
import unittest
from harness import Daemon, wait_until
from asking import GRID, sweep, sweep_over
from forms import CSV, F64, NPY
from keeping import Kept
from long_models import tuned
from tokens import bearer, make

RACES = True

LONG = {'example': 'chain-100', 'count': 10 ** 9, 'parameters': {'list': [{}] * 50}}


class KeptSweeps(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def look(self, daemon, path):
        """Everything that it reports."""
        rows = [daemon.call('GET', path + '/results', headers={'Accept': form}).raw
                for form in ('application/json', CSV, F64, NPY)]
        return daemon.call('GET', path).json, rows

    def test_a_finished_sweep_is_there_after_a_kill_with_its_rows_and_errors(self):
        points = [{'m': 1}, {'m': 0}, {'m': 2, 'k': 0.1}]
        daemon = Kept(self.folder)
        small = sweep(daemon, {'model': tuned(), 'parameters': {'list': points}, 'count': 20})
        small = small.headers['Location']
        # several chunks: 3 MB of rows
        large = sweep(daemon, {'model': tuned(), 'count': 5000, 'record': {'every': 1},
                               'parameters': GRID}).headers['Location']
        for path in (small, large):
            self.assertEqual(sweep_over(daemon, path)['stored'], True)
        before = [self.look(daemon, path) for path in (small, large)]
        self.assertEqual(before[0][0]['errors'][0]['code'], 'invalid-model')
        self.assertEqual(len(before[1][1][2]), 15 * 5001 * 6 * 8)
        used = daemon.call('GET', '/v1/quota')['used']
        self.assertEqual(used['stored'], sum(len(found[1][2]) for found in before))
        self.assertEqual((used['instances'], used['runs']), (0, 0))
        daemon.kill()
        daemon = Kept(self.folder)
        self.assertEqual([self.look(daemon, path) for path in (small, large)], before)
        self.assertEqual([s['id'] for s in daemon.call('GET', '/v1/sweeps')['items']],
                         [small.split('/')[-1], large.split('/')[-1]])
        self.assertEqual(daemon.call('GET', '/v1/quota')['used']['stored'], used['stored'])
        # deleted is deleted, and no id is given twice
        self.assertEqual(daemon.call('DELETE', large).status, 204)
        daemon.kill()
        with Kept(self.folder) as daemon:
            self.assertEqual(daemon.call('GET', large).status, 404)
            self.assertEqual(self.look(daemon, small), before[0])
            self.assertEqual(daemon.call('GET', '/v1/quota')['used']['stored'],
                             len(before[0][1][2]))
            other = sweep(daemon, {'model': tuned(), 'parameters': GRID, 'count': 1})
            self.assertNotIn(other.headers['Location'], (small, large))

    def test_one_that_ran_at_a_kill_is_interrupted_and_takes_a_retry(self):
        key = {'Idempotency-Key': 'once'}
        daemon = Kept(self.folder)
        first = daemon.call('POST', '/v1/sweeps', LONG, key)
        self.assertEqual((first.status, first['state'], first['stored']), (202, 'running', False))
        daemon.kill()
        with Kept(self.folder) as daemon:
            path = first.headers['Location']
            found = daemon.call('GET', path)
            self.assertEqual((found['state'], found['points'], found['done']),
                             ('interrupted', 50, 0))
            self.assertEqual(daemon.call('GET', path + '/results')['rows'], [])
            again = daemon.call('POST', '/v1/sweeps', LONG, key)
            self.assertEqual((again.status, again['id']), (202, first['id']))
            self.assertEqual(len(daemon.call('GET', '/v1/sweeps')['items']), 1)

    def test_at_the_end_of_the_server_points_that_are_over_are_kept(self):
        # steady: there are 100,000 points, which are more than an hour's work
        body = {'model': tuned(), 'count': 200000, 'parameters': {'grid': {
            'k': {'from': 1, 'to': 2, 'count': 100}, 'm': {'from': 1, 'to': 2, 'count': 1000}}}}
        with Kept(self.folder, '--workers', '1') as daemon:
            path = sweep(daemon, body).headers['Location']
            wait_until(lambda: daemon.call('GET', path)['done'] >= 2, 'two points are over', 60)
            rows = daemon.call('GET', path + '/results')['rows']
        with Kept(self.folder) as daemon:
            found = daemon.call('GET', path)
            self.assertEqual(found['state'], 'interrupted')
            self.assertGreaterEqual(found['done'], 2)
            self.assertLess(found['done'], 100000)
            kept = daemon.call('GET', path + '/results')['rows']
            self.assertEqual(len(kept), found['done'])
            self.assertEqual(kept[:len(rows)], rows)

    def test_a_full_disk_refuses_the_start_and_reports_rows_that_are_lost(self):
        body = {'model': tuned(), 'parameters': GRID, 'count': 1}
        with Kept(self.folder) as daemon:
            used = max(os.path.getsize(os.path.join(self.folder, f))
                       for f in os.listdir(self.folder))
            # there is room for what begins a sweep, and none for 3 MB of rows
            with daemon.full_disk(used + 200000):
                path = sweep(daemon, {**body, 'count': 5000,
                                      'record': {'every': 1}}).headers['Location']
                end = sweep_over(daemon, path)
                self.assertEqual((end['state'], end['stored']), ('finished', False))
                rows = daemon.call('GET', path + '/results', headers={'Accept': F64}).raw
                self.assertEqual(len(rows), 15 * 5001 * 6 * 8)
                self.assertEqual(daemon.call('GET', '/v1/quota')['used']['stored'], 0)
            wait_until(lambda: daemon.call('GET', '/readyz').status == 200, 'the disk is back')
            with daemon.full_disk():
                reply = daemon.call('POST', '/v1/sweeps', body)
                self.assertEqual((reply.status, reply['code']), (507, 'storage-failed'), reply)
                self.assertEqual(len(daemon.call('GET', '/v1/sweeps')['items']), 1)
            wait_until(lambda: daemon.call('GET', '/readyz').status == 200, 'the disk is back')
            other = sweep(daemon, body).headers['Location']
            self.assertEqual(sweep_over(daemon, other)['stored'], True)


class Accounts(unittest.TestCase):
    def refused(self, reply, which):
        self.assertEqual((reply.status, reply['code']), (429, 'quota-exceeded'), reply)
        self.assertEqual(reply['quota']['which'], which)

    def test_a_sweep_holds_what_its_lanes_need_while_it_works_and_its_rows_until_it_goes(self):
        with Daemon('--workers', '2') as d:
            path = sweep(d, LONG).headers['Location']
            used = d.call('GET', '/v1/quota')['used']
            self.assertEqual((used['instances'], used['coordinates'], used['runs']), (2, 200, 1))
            self.assertGreater(used['memory'], 2 * 100 * 8)
            wait_until(lambda: d.call('GET', '/v1/quota')['used']['cpu'] > 0.05, 'it pays')
            d.call('DELETE', path)
            wait_until(lambda: not any(d.call('GET', '/v1/quota')['used'][k] for k in
                                       ('instances', 'coordinates', 'runs', 'memory')),
                       'all is given back')
            path = sweep(d, {'model': tuned(), 'parameters': GRID, 'count': 1})
            path = path.headers['Location']
            sweep_over(d, path)
            used = d.call('GET', '/v1/quota')['used']
            self.assertEqual((used['instances'], used['coordinates'], used['runs']), (0, 0, 0))
            self.assertGreaterEqual(used['memory'], 15 * 6 * 8)
            d.call('DELETE', path)
            wait_until(lambda: d.call('GET', '/v1/quota')['used']['memory'] == 0, 'given back')

    def test_what_goes_beyond_is_refused_and_less_room_means_fewer_lanes(self):
        body = {'model': tuned(), 'parameters': GRID, 'count': 1}
        rows = {**body, 'count': 10000, 'record': {'every': 1}}
        for limits, asked, which in (
                ('coordinates=99', LONG, 'coordinates'), ('memory=1KiB', body, 'memory'),
                ('memory=1MiB', rows, 'memory')):
            with self.subTest(limits), Daemon('--quota', limits) as d:
                self.refused(d.call('POST', '/v1/sweeps', asked), which)
                self.assertEqual(set(d.call('GET', '/v1/quota')['used'].values()), {0})
                self.assertEqual(d.call('GET', '/v1/sweeps')['items'], [])
        with Daemon('--workers', '2', '--quota', 'instances=2 runs=1') as d:
            d.create(tuned())
            path = sweep(d, LONG).headers['Location']
            self.assertEqual(d.call('GET', '/v1/quota')['used']['instances'], 2)
            self.refused(d.call('POST', '/v1/sweeps', body), 'runs')
            d.call('DELETE', path)
            wait_until(lambda: d.call('GET', '/v1/quota')['used']['runs'] == 0, 'given back')
            d.create(tuned())
            self.refused(d.call('POST', '/v1/sweeps', body), 'instances')
        with Daemon('--quota', 'cpu=0.001') as d:
            # steady: a millisecond is less than they take anywhere
            path = sweep(d, {**body, 'count': 300000}).headers['Location']
            wait_until(lambda: d.call('GET', path)['state'] == 'finished', 'not cut short', 60)
            self.refused(d.call('POST', '/v1/sweeps', body), 'cpu')

    def test_stored_rows_are_on_the_account_of_the_token_also_after_a_restart(self):
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        a, line_a = make('a', 'step')
        b, line_b = make('b', 'step')
        tokens = os.path.join(folder, 'tokens')
        with open(tokens, 'w', encoding='utf-8') as f:
            f.write('%s stored=4KiB\n%s\n' % (line_a, line_b))
        body = {'model': tuned(), 'parameters': GRID, 'count': 1}
        state = os.path.join(folder, 'state')

        def start(daemon, token):
            return daemon.call('POST', '/v1/sweeps', body, bearer(token))

        def stored(daemon, token):
            return daemon.call('GET', '/v1/quota', headers=bearer(token))['used']['stored']
        daemon = Kept(state, '--tokens', tokens)
        for n in range(1, 6):
            path = start(daemon, a)
            self.assertEqual(path.status, 202, path)
            path = path.headers['Location']
            wait_until(lambda: daemon.call('GET', path, headers=bearer(a))['state'] == 'finished',
                       'it is over')
            self.assertEqual(stored(daemon, a), n * 15 * 6 * 8)
        self.refused(start(daemon, a), 'stored')
        daemon.kill()
        with Kept(state, '--tokens', tokens) as daemon:
            self.assertEqual((stored(daemon, a), stored(daemon, b)), (5 * 15 * 6 * 8, 0))
            self.refused(start(daemon, a), 'stored')
            self.assertEqual(start(daemon, b).status, 202)
            daemon.call('DELETE', path, headers=bearer(b))
            wait_until(lambda: stored(daemon, a) == 4 * 15 * 6 * 8, 'its rows are given back')


if __name__ == '__main__':
    unittest.main()
