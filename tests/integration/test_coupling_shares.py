"""Participants of one batch at the same time: the threads of the pool, and programs that answer
late."""
import unittest

import raw
from asking import Asked
from coupled import K, K12, OSCILLATORS, Couplings, half
from harness import KINDS, SLOW, Daemon, Http, gauge, wait_until
from long_models import driven_chain, pinched
from outside import Program

RACES = True


def broken(h=1e-3):
    """A half whose spring has no value from 0.2 s on."""
    model = half(1., h=h)
    model['objects'].append({'name': 'f', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],
                             'springForceUserFunction': '=log(0.2 - t)'})
    return model


class Shares(Couplings):
    def pair(self, left, right, **more):
        """Ids of two instances and of their coupling without connections."""
        ids = [self.daemon.create(m) for m in (left, right)]
        reply = self.couple(*ids, [], **{'scheme': 'Jacobi', **more})
        self.assertEqual(reply.status, 201, reply)
        return (*ids, reply['id'])

    def ask(self, cid, **body):
        return Asked(self.daemon, 'POST', '/v1/couplings/%s/step' % cid, body)

    def end(self, cid):
        """A step in progress ends with the coupling."""
        self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + cid).status, 204)

    def test_one_works_while_the_one_before_it_does_not_end(self):
        left, right, cid = self.pair(pinched(), half(1., k=K))
        before = self.state(left), self.state(right)
        steps = gauge(self.daemon, 'steps_total')
        asked = self.ask(cid, count=1)
        # the internal steps of the right one: the left one is within its first
        wait_until(lambda: gauge(self.daemon, 'steps_total') >= steps + 10, 'the right one works')
        self.end(cid)
        reply = asked.answer()
        self.assertEqual((reply.status, reply['code']), (409, 'cancelled'), reply)
        self.assertEqual((self.state(left), self.state(right)), before)

    def test_one_that_fails_ends_those_behind_it(self):
        # the right one never ends by itself, and begins while the left one does two million steps
        _, right, cid = self.pair(broken(1e-7), pinched(), stepSize=0.5)
        before = self.state(right)
        reply = self.step(cid, count=1)
        self.assertEqual((reply.status, reply['code']), (422, 'not-finite'), reply)
        self.assertIn('participant left', reply['detail'])
        self.assertEqual(self.state(right), before)

    def test_the_first_in_order_is_named_whichever_fails_first(self):
        for h in (1e-6, 1e-3):
            _, _, cid = self.pair(broken(h), broken(1e-3 * 1e-6 / h), stepSize=0.5)
            reply = self.step(cid, count=1)
            self.assertEqual((reply.status, reply['code']), (422, 'not-finite'), reply)
            self.assertIn('participant left', reply['detail'])

    def test_one_that_fails_does_not_end_those_before_it(self):
        _, _, cid = self.pair(pinched(), broken(1e-6), stepSize=0.5)
        steps = gauge(self.daemon, 'steps_total')
        asked = self.ask(cid, count=1)
        wait_until(lambda: gauge(self.daemon, 'steps_total') > steps, 'the right one works')
        self.assertTrue(self.daemon.call('GET', '/v1/couplings/' + cid)['busy'])
        self.end(cid)
        self.assertEqual(asked.answer()['code'], 'cancelled')

    def test_threads_of_requests_do_not_wait_for_a_step_without_end(self):
        cids = [self.pair(pinched(), pinched())[2] for _ in range(8)]
        asked = [self.ask(cid, count=1) for cid in cids]
        for cid in cids:
            wait_until(lambda cid=cid: self.daemon.call('GET', '/v1/couplings/' + cid)['busy'],
                       'it steps')
        for _ in range(20):
            # each on a connection of its own: of the threads for requests, none is busy
            door = Http(self.daemon.base)
            self.assertEqual(door.call('GET', '/livez').status, 200)
            door.close()
        for cid in cids:
            self.end(cid)
        self.assertEqual({a.answer()['code'] for a in asked}, {'cancelled'})

    def test_the_daemon_ends_while_two_do_not(self):
        _, _, cid = self.pair(pinched(), pinched())
        asked = self.ask(cid, count=1)
        wait_until(lambda: gauge(self.daemon, 'coupling_shared_total') > 0, 'both work')
        self.daemon.stop()
        reply = asked.answer()
        self.assertEqual((reply.status, reply['code']), (503, 'draining'), reply)

    def test_a_client_that_leaves_ends_both(self):
        left, right, cid = self.pair(pinched(), pinched())
        before = self.state(left), self.state(right)
        client = raw.connect(self.daemon)
        client.sendall(raw.request('/v1/couplings/%s/step' % cid, {'count': 1}))
        wait_until(lambda: gauge(self.daemon, 'coupling_shared_total') > 0, 'both work')
        client.close()
        self.assertEqual((self.state(left), self.state(right)), before)

    def test_a_quota_bounds_all_of_them_together(self):
        with Daemon('--workers', '3', '--quota', 'step-cpu=50ms') as daemon:
            ids = [daemon.create(pinched()) for _ in range(3)]
            cid = daemon.call('POST', '/v1/couplings', {
                'participants': [{'name': 'p%d' % n, 'instance': i} for n, i in enumerate(ids)],
                'connections': [], 'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01})['id']
            reply = daemon.call('POST', '/v1/couplings/%s/step' % cid, {'count': 1})
            self.assertEqual((reply.status, reply['code']), (429, 'quota-exceeded'), reply)


class Bits(unittest.TestCase):
    def results(self, workers, body, models):
        with Daemon('--workers', str(workers)) as daemon:
            ids = [daemon.create(m) for m in models]
            names = ['p%d' % n for n in range(len(ids))]
            made = daemon.call('POST', '/v1/couplings', {
                'participants': [{'name': n, 'instance': i} for n, i in zip(names, ids)],
                'connections': [{'from': a + '.x', 'to': b + '.' + force, 'factor': K12}
                                for (a, b, force) in zip(names, names[1:] + names[:1],
                                                         body['forces'])],
                **{k: v for k, v in body.items() if k != 'forces'}})
            self.assertEqual(made.status, 201, made)
            path = '/v1/couplings/%s/step' % made['id']
            replies = [daemon.call('POST', path, {'count': 4}) for _ in range(3)]
            for reply in replies:
                self.assertEqual(reply.status, 200, reply)
            states = [daemon.call('GET', '/v1/instances/%s/state?format=f64' % i).raw
                      for i in ids]
            return [(r['time'], r['outputs'], r['report']['evaluations']) for r in replies], \
                states, gauge(daemon, 'coupling_shared_total')

    def test_they_are_the_same_for_any_number_of_threads(self):
        """Participants whose windows take long."""
        long = [half(1. / (1 + n), k=K + K12, h=1e-6) for n in range(4)]
        chains = [driven_chain(40 + n) for n in range(3)]
        for chain in chains:
            chain['solver']['stepSize'] = 1e-4
        for more, models, forces in (
                ({'scheme': {'type': 'Jacobi'}}, long, ['F'] * 4),
                ({'scheme': {'type': 'Jacobi'}, 'hold': 2}, long, ['F'] * 4),
                ({'scheme': {'type': 'IQN-ILS'}, 'hold': 1}, long, ['F'] * 4),
                ({'scheme': {'type': 'InterfaceNewton'}}, chains, ['force'] * 3),
                ({'scheme': {'type': 'JacobiIterated', 'maxIterations': 40},
                  'waveform': {'degree': 2}}, [half(1., k=K + K12, h=1e-5)] * 3, ['F'] * 3)):
            with self.subTest(more):
                body = {'stepSize': 0.01, 'forces': forces, **more}
                one = self.results(1, body, models)
                four = self.results(4, body, models)
                self.assertEqual(one[0], four[0])
                self.assertEqual(one[1], four[1])

    def test_a_thread_of_the_pool_takes_part(self):
        with Daemon('--workers', '4') as daemon:
            ids = [daemon.create(half(1., k=K, h=1e-7)) for _ in range(4)]
            cid = daemon.call('POST', '/v1/couplings', {
                'participants': [{'name': 'p%d' % n, 'instance': i} for n, i in enumerate(ids)],
                'connections': [], 'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01})['id']
            asked = Asked(daemon, 'POST', '/v1/couplings/%s/step' % cid, {'count': 10 ** 9})
            wait_until(lambda: gauge(daemon, 'coupling_shared_total') > 10, 'it takes part')
            self.assertEqual(daemon.call('DELETE', '/v1/couplings/' + cid).status, 204)
            self.assertEqual(asked.answer()['code'], 'cancelled')


class Behind(Couplings):
    """An instance in turn behind a program that has answered."""

    def test_the_patience_with_a_program_that_has_answered_ends_no_instance(self):
        long = pinched()
        long['solver']['vi']['maxIterations'] = 40000000  # some seconds
        cid = self.daemon.call('POST', '/v1/couplings', {
            'participants': [
                {'name': 'right', 'partner': {'outputs': ['x'], 'patience': SLOW}},
                {'name': 'left', 'instance': self.daemon.create(long)}],
            'connections': [], 'scheme': {'type': 'GaussSeidel'}, 'stepSize': 0.01})['id']
        with Program(self.daemon, cid, 'right', lambda question: [0.]):
            reply = self.daemon.call('POST', '/v1/couplings/%s/step' % cid, {'count': 1})
        self.assertEqual((reply.status, reply['code']), (422, 'vi-not-converged'), reply)


class Beside(Couplings):
    """A program that answers when the instance behind it has worked."""

    def test_instances_work_while_a_program_is_asked(self):
        for rollback in (True, False):
            with self.subTest(rollback=rollback):
                left = self.daemon.create(half(1., k=K + K12))
                cid = self.daemon.call('POST', '/v1/couplings', {
                    'participants': [
                        {'name': 'right', 'partner': {'inputs': ['F'], 'outputs': ['x'],
                                                      'rollback': rollback,
                                                      'patience': 20 * SLOW}},
                        {'name': 'left', 'instance': left}],
                    'connections': OSCILLATORS, 'scheme': {'type': 'Jacobi'},
                    'stepSize': 0.01})['id']
                door = Http(self.daemon.base)
                steps = gauge(door, 'steps_total')

                def answers(question, door=door, steps=steps):
                    if question['kind'] == KINDS['trial']:
                        wait_until(lambda: gauge(door, 'steps_total') > steps, 'it has worked')
                    return [0.]
                with Program(self.daemon, cid, 'right', answers):
                    self.good(cid, count=1)
                door.close()

    def test_the_patience_with_a_program_ends_while_an_instance_works_without_end(self):
        left = self.daemon.create(pinched())
        cid = self.daemon.call('POST', '/v1/couplings', {
            'participants': [
                {'name': 'right', 'partner': {'outputs': ['x'], 'patience': 0.3}},
                {'name': 'left', 'instance': left}],
            'connections': [], 'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01})['id']

        def answers(question):
            return None if question['kind'] == KINDS['trial'] else [0.]
        with Program(self.daemon, cid, 'right', answers):
            reply = self.step(cid, count=1)
            self.assertEqual((reply.status, reply['code']), (504, 'partner-timeout'), reply)
            self.assertIn('participant right', reply['detail'])


if __name__ == '__main__':
    unittest.main()
