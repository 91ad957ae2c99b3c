"""Quotas: what a token may hold and compute, what is released, and which reason is reported."""
import os
import shutil
import signal
import tempfile
import unittest
import heap
import models
from coupled import point
from harness import Daemon, Partner, FrameError, wait_until
from asking import DERIVATIVES
from keeping import Kept
from long_models import chain, driven_chain
from tokens import bearer, make

RACES = True


class Quotas(unittest.TestCase):
    def refused(self, reply, which):
        self.assertEqual((reply.status, reply['code']), (429, 'quota-exceeded'), reply)
        self.assertEqual(reply['quota']['which'], which)

    def test_what_is_held_is_bounded_and_given_back(self):
        model = {'model': models.oscillator()}
        with Daemon('--quota', 'instances=2 snapshots=1') as d:
            one = d.call('POST', '/v1/instances', model)['id']
            two = d.call('POST', '/v1/instances', model)['id']
            self.refused(d.call('POST', '/v1/instances', model), 'instances')
            self.refused(d.call('POST', '/v1/instances/%s/clone' % one, {}), 'instances')
            where = '/v1/instances/%s/snapshots' % one
            sid = d.call('POST', where, {})['id']
            self.refused(d.call('POST', where, {}), 'snapshots')
            d.call('DELETE', '%s/%s' % (where, sid))
            self.assertEqual(d.call('POST', where, {}).status, 201)
            self.assertEqual(d.call('GET', '/v1/quota')['used']['instances'], 2)
            d.call('DELETE', '/v1/instances/' + two)
            self.assertEqual(d.call('POST', '/v1/instances', model).status, 201)
        for limits, which in (('memory=1KiB', 'memory'), ('coordinates=1', None)):
            with Daemon('--quota', limits) as d:
                reply = d.call('POST', '/v1/instances', model)
                if which:
                    self.refused(reply, which)
                else:
                    self.assertEqual(reply.status, 201)
                    self.refused(d.call('POST', '/v1/instances', model), 'coordinates')

    def test_partners_are_charged_what_they_take(self):
        with tempfile.NamedTemporaryFile() as counts:
            environment = heap.counted(counts.name)
            if not environment:
                self.skipTest('this build has an allocator of its own')
            with Daemon(environment=environment) as d:
                def used():
                    memory = d.call('GET', '/v1/quota')['used']['memory']
                    return heap.read(counts.name)['in_use'], memory

                def couple(count, inputs, outputs):
                    parts = [{'name': 'p%d' % k, 'partner': {
                        'inputs': ['%064d' % j for j in range(inputs)],
                        'outputs': ['%064d' % j for j in range(outputs)]}} for k in range(count)]
                    reply = d.call('POST', '/v1/couplings', {
                        'participants': parts, 'connections': [], 'scheme': {'type': 'Jacobi'},
                        'hold': 2, 'stepSize': 0.1})
                    self.assertEqual(reply.status, 201, reply)
                for _ in range(2):  # the first ones take what is kept for all
                    couple(64, 0, 1)
                for sizes in ((64, 0, 0), (64, 0, 1), (64, 16, 16), (2, 0, 4096), (2, 4096, 0)):
                    with self.subTest(sizes):
                        before = used()
                        couple(*sizes)
                        takes, charged = (b - a for a, b in zip(before, used()))
                        self.assertGreater(charged, 0.9 * takes)
                        self.assertLess(charged, 3 * takes)

    def test_partners_of_couplings_take_memory_of_the_account(self):
        def couple(d, count):
            return d.call('POST', '/v1/couplings', {
                'participants': [{'name': 'p', 'partner': {
                    'inputs': [], 'outputs': ['x%d' % k for k in range(count)]}}],
                'connections': [], 'scheme': {'type': 'Jacobi'}, 'stepSize': 0.1})
        with Daemon('--quota', 'memory=100KiB') as d:
            reply = couple(d, 1000)
            self.assertEqual((reply.status, reply['code']), (429, 'quota-exceeded'), reply)
            self.assertEqual(d.call('GET', '/v1/quota')['used']['memory'], 0)
            made = couple(d, 100)
            self.assertEqual(made.status, 201, made)
            self.assertGreater(d.call('GET', '/v1/quota')['used']['memory'], 100 * 8)
            d.call('DELETE', '/v1/couplings/' + made['id'])
            wait_until(lambda: d.call('GET', '/v1/quota')['used']['memory'] == 0, 'it is refunded')

    def test_names_of_connections_take_memory_of_the_account(self):
        with Daemon('--quota', 'memory=1MiB') as d:
            def takes(one, two, of=''):
                instances = [d.create(point()) for _ in range(2)]
                before = d.call('GET', '/v1/quota')['used']['memory']
                made = d.call('POST', '/v1/couplings', {
                    'participants': [{'name': name, 'instance': i}
                                     for name, i in zip((one, two), instances)],
                    'connections': [{'from': one + '.p' + of, 'to': two + '.F' + of,
                                     'factor': 1}],
                    'scheme': {'type': 'Jacobi'}, 'stepSize': 0.1})
                self.assertEqual(made.status, 201, made)
                return d.call('GET', '/v1/quota')['used']['memory'] - before
            # the names of three values and of one; documents have them as often in both
            long, short = ([takes(*names), takes(*names, '[0]')]
                           for names in (('c' * 64, 'd' * 64), ('c', 'd')))
            self.assertGreaterEqual((long[0] - long[1]) - (short[0] - short[1]), 2 * 2 * 63)

    def test_runs_at_work_are_bounded(self):
        with Daemon('--quota', 'runs=1') as d:
            one, two = ('/v1/instances/%s/runs' % d.create(models.oscillator()) for _ in '12')
            run = d.call('POST', one, {'pace': 1, 'period': 0.01})
            self.assertEqual(run.status, 202, run)
            reply = d.call('POST', two, {'until': 1, 'period': 0.1})
            self.refused(reply, 'runs')
            self.assertEqual((reply['quota']['used'], reply['quota']['limit']), (1, 1))
            self.assertEqual(d.call('GET', two)['items'], [])
            self.assertEqual(d.call('DELETE', run.headers['Location']).status, 200)
            self.assertEqual(d.call('GET', '/v1/quota')['used']['runs'], 0)
            other = d.call('POST', two, {'until': 1, 'period': 0.1})
            self.assertEqual(other.status, 202, other)
            wait_until(lambda: d.call('GET', other.headers['Location'])['state'] == 'finished',
                       'the run is over')
            self.assertEqual(d.call('GET', '/v1/quota')['used']['runs'], 0)
            # one that is deleted with its instance
            run = d.call('POST', one, {'pace': 1, 'period': 0.01})
            self.assertEqual(d.call('GET', '/v1/quota')['used']['runs'], 1)
            d.call('DELETE', one[:-len('/runs')])
            self.assertEqual(d.call('GET', '/v1/quota')['used']['runs'], 0)

    def test_rows_in_memory_count_as_memory(self):
        with Daemon('--quota', 'memory=1MiB') as d:
            one = '/v1/instances/' + d.create(models.oscillator())
            before = d.call('GET', '/v1/quota')['used']['memory']
            body = {'until': 1000, 'period': 0.01, 'record': {}}
            reply = d.call('POST', one + '/runs', body)
            self.refused(reply, 'memory')
            body['until'] = 10
            run = d.call('POST', one + '/runs', body)
            self.assertEqual(run.status, 202, run)
            held = d.call('GET', '/v1/quota')['used']['memory'] - before
            self.assertGreaterEqual(held, 1001 * 3 * 8)
            wait_until(lambda: d.call('GET', run.headers['Location'])['state'] == 'finished',
                       'the run is over')
            d.call('DELETE', run.headers['Location'] + '/results')
            self.assertEqual(d.call('GET', '/v1/quota')['used']['memory'], before)

    def test_what_is_stored_is_bounded_and_counts_the_same_after_a_restart(self):
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        small = {'model': models.oscillator(), 'durability': 'every-step'}
        large = {'model': chain(), 'durability': 'every-step'}

        def used(daemon):
            return daemon.call('GET', '/v1/quota')['used']['stored']
        daemon = Kept(folder, '--quota', 'stored=400KiB')
        self.assertEqual(daemon.call('POST', '/v1/instances', {**small, 'durability': 'none'})
                         .status, 201)
        self.assertEqual(used(daemon), 0)
        one = daemon.call('POST', '/v1/instances', large)
        self.assertEqual(one.status, 201, one)
        alone = used(daemon)
        self.assertGreater(alone, 3000 * 3 * 8)
        # what cannot be stored is not there
        reply = daemon.call('PUT', '/v1/instances/second', large)
        self.refused(reply, 'stored')
        self.assertNotIn('ETag', reply.headers)
        self.assertEqual(daemon.call('GET', '/v1/instances/second').status, 404)
        self.assertEqual(used(daemon), alone)
        # commands in place of states count until a state follows
        one = '/v1/instances/' + one['id']
        for _ in range(3):
            self.assertEqual(daemon.call('POST', one + '/step', {'count': 1}).status, 200)
        commands = used(daemon) - alone
        self.assertGreater(commands, 0)
        self.assertLess(commands, 1000)
        # snapshots
        two = '/v1/instances/' + daemon.call('POST', '/v1/instances', small)['id']
        before = used(daemon)
        taken = daemon.call('POST', two + '/snapshots', {})
        self.assertEqual(used(daemon) - before, taken['bytes'])
        # recorded rows: what they may become, then what there is
        body = {'until': 1000, 'period': 0.01, 'record': {}}
        reply = daemon.call('POST', two + '/runs', body)
        self.refused(reply, 'stored')
        body['until'] = 1
        before = used(daemon)
        run = daemon.call('POST', two + '/runs', body)
        self.assertEqual(run.status, 202, run)
        wait_until(lambda: daemon.call('GET', run.headers['Location'])['state'] == 'finished',
                   'the run is over')
        rows = daemon.call('GET', run.headers['Location'])['recorded']
        self.assertEqual(used(daemon) - before, rows * 3 * 8)
        # what is acknowledged is on the disk, and the rows with it
        self.assertEqual(daemon.call('PUT', two + '/inputs', {'inputs': {}}).status, 200)
        last = used(daemon)
        daemon.kill()
        with Kept(folder, '--quota', 'stored=400KiB') as daemon:
            self.assertEqual(used(daemon), last)
            # a state takes the place of the commands
            reply = daemon.call('PUT', one + '/inputs', {'inputs': {}})
            self.assertEqual(reply.status, 200, reply)
            self.assertEqual(used(daemon), last - commands)
            last = used(daemon)
            daemon.call('DELETE', run.headers['Location'] + '/results')
            self.assertEqual(used(daemon), last - rows * 3 * 8)
            daemon.call('DELETE', two + '/snapshots/' + taken['id'])
            daemon.call('DELETE', one)
            daemon.call('DELETE', two)
            self.assertEqual(used(daemon), 0)

    def test_the_quota_of_the_file_is_read_again(self):
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        path = os.path.join(folder, 'mechd.conf')

        def write(limits):
            with open(path, 'w', encoding='utf-8') as f:
                f.write('quota = %s\n' % limits)
        write('instances=1 snapshots=5')
        with Daemon('--config', path) as d:
            limits = lambda: d.call('GET', '/v1/quota')['limits']  # noqa: E731
            self.assertEqual(limits(), {'instances': 1, 'snapshots': 5})
            write('instances=2')
            os.kill(d.pid(), signal.SIGHUP)
            wait_until(lambda: limits() == {'instances': 2}, 'the file is read again')
            write('instances=3 sausages=2')
            os.kill(d.pid(), signal.SIGHUP)
            wait_until(lambda: 'sausages=2' in d.log(), 'the fault is reported')
            self.assertEqual(limits(), {'instances': 2})

    def test_work_is_bounded(self):
        with Daemon('--quota', 'step-cpu=2') as d:
            one = '/v1/instances/' + d.create(models.oscillator())
            self.refused(d.call('POST', one + '/step', {'count': 10 ** 9}), 'step-cpu')
            self.assertEqual(d.call('GET', one)['step'], 0)
            self.assertEqual(d.call('POST', one + '/step', {'count': 10}).status, 200)
        with Daemon('--quota', 'cpu=0.001') as d:
            one = '/v1/instances/' + d.create(models.oscillator())
            # steady: a millisecond is less than a million steps take anywhere
            self.assertEqual(d.call('POST', one + '/step', {'count': 1000000}).status, 200)
            reply = d.call('POST', one + '/step', {'count': 1})
            self.refused(reply, 'cpu')
            self.refused(d.call('POST', one + '/runs', {'until': 9999}), 'cpu')
            self.assertGreater(int(reply.headers['Retry-After']), 0)
            self.assertEqual(d.call('GET', one + '/outputs').status, 200)

    def test_derivatives_are_work(self):
        with Daemon('--quota', 'step-cpu=2') as d:
            one = '/v1/instances/' + d.create(driven_chain())
            for kind, body in DERIVATIVES:
                before = d.call('GET', '/v1/quota')['used']['cpu']
                self.refused(d.call('POST', one + kind, body), 'step-cpu')
                self.assertGreater(d.call('GET', '/v1/quota')['used']['cpu'], before + 1.9)
                body = {**body, 'count': 2}
                self.assertEqual(d.call('POST', one + kind, body).status, 200)
        with Daemon('--quota', 'cpu=0.001') as d:
            one = '/v1/instances/' + d.create(models.oscillator())
            kind, body = DERIVATIVES[0]
            self.assertEqual(d.call('POST', one + kind, body).status, 200)
            for kind, body in DERIVATIVES:
                self.refused(d.call('POST', one + kind, body), 'cpu')

    def test_each_token_has_its_own_also_after_a_restart(self):
        a, line_a = make('a', 'step')
        b, line_b = make('b', 'step')
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        path = os.path.join(folder, 'tokens')
        with open(path, 'w', encoding='utf-8') as f:
            f.write('%s instances=1\n%s\n' % (line_a, line_b))
        body = {'model': models.oscillator(), 'durability': 'every-step'}
        state = os.path.join(folder, 'state')
        daemon = Kept(state, '--tokens', path)
        self.assertEqual(daemon.call('POST', '/v1/instances', body, bearer(a)).status, 201)
        self.refused(daemon.call('POST', '/v1/instances', body, bearer(a)), 'instances')
        self.assertEqual(daemon.call('POST', '/v1/instances', body, bearer(b)).status, 201)
        daemon.kill()
        with Kept(state, '--tokens', path) as daemon:
            self.refused(daemon.call('POST', '/v1/instances', body, bearer(a)), 'instances')
            self.assertEqual(daemon.call('GET', '/v1/quota', headers=bearer(a))['limits'],
                             {'instances': 1})

    def test_limits_are_read_again_and_what_is_there_stays(self):
        token, line = make('a', 'step')
        body = {'model': models.oscillator(), 'durability': 'every-step'}
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        path, state = os.path.join(folder, 'tokens'), os.path.join(folder, 'state')

        def write(limits):
            with open(path, 'w', encoding='utf-8') as f:
                f.write('%s %s\n' % (line, limits))

        def quota(daemon):
            return daemon.call('GET', '/v1/quota', headers=bearer(token))

        def create(daemon):
            return daemon.call('POST', '/v1/instances', body, bearer(token))
        write('instances=2')
        options = ('--tokens', path, '--quota', 'snapshots=3')
        daemon = Kept(state, *options)
        one = [create(daemon)['id'] for _ in range(2)][0]
        where = '/v1/instances/%s/snapshots' % one
        for _ in range(2):
            self.assertEqual(daemon.call('POST', where, {}, bearer(token)).status, 201)
        self.refused(create(daemon), 'instances')
        # one more, fewer than there are, none but those of everybody
        for limits, wanted in (('instances=3', 3), ('instances=1', 1), ('', None)):
            write(limits)
            os.kill(daemon.pid(), signal.SIGHUP)
            wait_until(lambda: quota(daemon)['limits'].get('instances') == wanted, limits)
            self.assertEqual(quota(daemon)['limits']['snapshots'], 3)
            if wanted == 3:
                self.assertEqual(create(daemon).status, 201)
            self.assertEqual(quota(daemon)['used']['instances'], 3)
            if wanted == 1:
                self.refused(create(daemon), 'instances')
        # a line with a fault changes nothing
        write('instances=many')
        os.kill(daemon.pid(), signal.SIGHUP)
        wait_until(lambda: 'a limit is written as' in daemon.log(), 'the fault is reported')
        self.assertNotIn('instances', quota(daemon)['limits'])
        daemon.kill()
        write('instances=1 snapshots=1')
        with Kept(state, *options) as daemon:
            self.assertEqual(quota(daemon)['used']['instances'], 3)
            self.assertEqual(quota(daemon)['used']['snapshots'], 2)
            self.refused(daemon.call('POST', where, {}, bearer(token)), 'snapshots')
            restored = daemon.call('POST', where + '/s-2/restore', {}, bearer(token))
            self.assertEqual(restored.status, 200, restored)
            self.refused(create(daemon), 'instances')
            daemon.call('DELETE', '/v1/instances/' + one, headers=bearer(token))
            self.assertEqual(quota(daemon)['used']['instances'], 2)

    def test_binary_frames_are_refused_with_the_code_and_runs_go_on(self):
        with Daemon('--quota', 'step-cpu=1ms cpu=0.001') as d:
            one = d.create(models.oscillator())
            run = d.call('POST', '/v1/instances/%s/runs' % one, {'until': 3000, 'period': 1000})
            where = run.headers['Location']
            wait_until(lambda: d.call('GET', where)['state'] != 'running', 'the run is over')
            self.assertEqual(d.call('GET', where)['state'], 'finished')
            self.assertGreater(d.call('GET', '/v1/quota')['used']['cpu'], 0.001)
            with Partner(d, one, ['force'], ['x']) as partner:
                with self.assertRaises(FrameError) as refused:
                    partner.step(0.01, [1])
            self.assertIn('quota-exceeded', str(refused.exception.problem))
            self.assertIn('cpu', str(refused.exception.problem))


if __name__ == '__main__':
    unittest.main()
