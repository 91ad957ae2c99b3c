"""Prefer: respond-async: what is queued is answered with 202 and goes on; its answer is what it
would have been; what can be answered at once is; a deleted one stops."""
import unittest
import models
from harness import Daemon, Served, ZmqDoor, wait_until
from asking import ASYNC, DERIVATIVES
from forms import NPY, load_npy
from long_models import driven_chain

RACES = True

LONG = 10 ** 9


class Background(Served):
    def ask(self, method, path, body=None, **headers):
        return self.daemon.call(method, path, body, {**ASYNC, **headers})

    def accepted(self, method, path, body=None, **headers):
        reply = self.ask(method, path, body, **headers)
        self.assertEqual((reply.status, reply['state']), (202, 'running'), reply)
        self.assertEqual(reply.headers['Preference-Applied'], 'respond-async')
        self.assertEqual(reply.headers['Location'], '/v1/operations/' + reply['id'])
        return reply.headers['Location']

    def answer(self, where, daemon=None):
        return wait_until(lambda: (lambda r: r if r['state'] == 'finished' else None)(
            (daemon or self.daemon).call('GET', where)), 'the operation is over', 30)

    def test_the_answer_is_what_it_would_have_been(self):
        i, twin = (self.daemon.create(models.nonlinear_oscillator()) for _ in range(2))
        found = self.answer(self.accepted('POST', '/v1/instances/%s/step' % i, {'count': 50000}))
        alone = self.daemon.call('POST', '/v1/instances/%s/step' % twin, {'count': 50000})
        self.assertEqual((found['status'], found['answer'], found['operation']),
                         (200, alone.json, 'step'))
        self.assertEqual(found['etag'].split('.')[1], alone.headers['ETag'].split('.')[1])
        made = self.answer(self.accepted('POST', '/v1/instances', {'model': models.oscillator()}))
        self.assertEqual((made['status'], made['location']),
                         (201, '/v1/instances/' + made['answer']['id']))
        wrong = {'model': {'mechd': 1, 'extra': 1}}
        refused = self.answer(self.accepted('POST', '/v1/instances', wrong))
        self.assertEqual((refused['status'], refused['answer']),
                         (422, self.daemon.call('POST', '/v1/instances', wrong).json))

    def test_a_run_that_ends_at_once_is_answered_so(self):
        """Its next period is a quarter of an hour away."""
        i = self.daemon.create(models.oscillator())
        where = self.daemon.call('POST', '/v1/instances/%s/runs' % i,
                                 {'pace': 1e-3, 'period': 1}).headers['Location']
        wait_until(lambda: self.daemon.call('GET', where)['periods'] == 1, 'it waits')
        stopped = self.ask('DELETE', where)
        self.assertEqual((stopped.status, stopped['state']), (200, 'stopped'), stopped)

    def test_what_is_short_is_answered_at_once(self):
        i = self.daemon.create(models.oscillator())
        path = '/v1/instances/%s/step' % i
        short = self.ask('POST', path, {'count': 2})
        self.assertEqual((short.status, short['step']), (200, 2))
        self.assertNotIn('Preference-Applied', short.headers)
        self.assertTrue(short.headers['ETag'])
        refused = self.ask('POST', path, {'count': -1})
        self.assertEqual((refused.status, refused['errors'][0]['pointer']), (422, '/count'))
        self.assertEqual(self.ask('GET', '/v1/instances/' + i).status, 200)
        self.assertEqual(self.ask('POST', path, {'count': 1}, Prefer='wait=5').status, 200)
        for prefer in ('wait=5, Respond-Async', 'respond-async; x', 'respond-async,a'):
            self.accepted('POST', '/v1/models/check', {'model': models.oscillator()}, Prefer=prefer)
        for prefer in ('respond-asynchronously', 'x=respond-async', ''):
            reply = self.ask('POST', '/v1/models/check', {'model': models.oscillator()},
                             Prefer=prefer)
            self.assertEqual(reply.status, 200)

    def test_deleting_cancels(self):
        i = self.daemon.create(models.nonlinear_oscillator())
        path = '/v1/instances/%s/step' % i
        first = self.accepted('POST', path, {'count': LONG})
        second = self.accepted('POST', path, {'count': LONG})
        self.assertEqual(self.daemon.call('GET', first)['state'], 'running')
        for where in (second, first):
            self.assertEqual(self.daemon.call('DELETE', where).status, 204)
            self.assertEqual(self.daemon.call('GET', where).status, 404)
            self.assertEqual(self.daemon.call('DELETE', where).status, 404)
        step = self.daemon.call('POST', path, {'count': 1})
        self.assertEqual((step.status, step['step']), (200, 1))

    def worked(self, daemon):
        return daemon.call('GET', '/v1/quota')['used']['cpu']

    def test_long_derivatives_share_the_pool_and_can_be_cancelled(self):
        with Daemon('--workers', '1') as daemon:
            other = '/v1/instances/' + daemon.create(models.nonlinear_oscillator())
            for kind, body in DERIVATIVES:
                path = '/v1/instances/' + daemon.create(driven_chain())
                reply = daemon.call('POST', path + kind, body, ASYNC)
                self.assertEqual(reply.status, 202, reply)
                with self.subTest(kind, what='others'):
                    # steps for the pool, and readers, have their turn
                    self.assertEqual(daemon.call('POST', other + '/step',
                                                 {'count': 20000}).status, 200)
                    self.assertEqual(daemon.call('GET', path + '/state')['step'], 0)
                with self.subTest(kind, what='cancel'):
                    daemon.call('DELETE', reply.headers['Location'])
                    self.assertEqual(daemon.call('POST', path + '/step', {'count': 1})['step'], 1)
                with self.subTest(kind, what='delete'):
                    before = self.worked(daemon)
                    where = daemon.call('POST', path + kind, body, ASYNC).headers['Location']
                    wait_until(lambda before=before: self.worked(daemon) > before, 'it has begun')
                    self.assertEqual(daemon.call('DELETE', path).status, 204)
                    self.assertEqual(self.answer(where, daemon)['answer']['code'], 'cancelled')

    def test_a_batch_goes_on_by_itself_and_can_be_cancelled(self):
        ids = [self.daemon.create(models.nonlinear_oscillator()) for _ in range(30)]
        body = {'instances': ids, 'op': 'step', 'body': {'count': 20000}}
        found = self.answer(self.accepted('POST', '/v1/batch', body))
        self.assertEqual((found['status'], found['answer']['failed']), (200, 0))
        where = self.accepted('POST', '/v1/batch?format=npy', {**body, 'results': 'table'})
        reply = wait_until(lambda: (lambda r: r if r.headers['Content-Type'] == NPY else None)(
            self.daemon.call('GET', where)), 'the table is there', 30)
        shape, values = load_npy(reply.raw)
        self.assertEqual((shape[0], values[1]), (30, 40000))
        door = ZmqDoor(self.daemon)
        self.assertEqual(door.call('operation', oid=where.split('/')[-1])[0], 406)
        where = self.accepted('POST', '/v1/batch', {**body, 'body': {'count': LONG}})
        self.assertEqual(door.call('forget-operation', oid=where.split('/')[-1])[0], 200)
        door.close()
        for i in ids:
            self.assertEqual(self.daemon.call('POST', '/v1/instances/%s/step' % i,
                                              {'count': 1})['step'], 40001)

    def test_a_key_makes_it_once(self):
        i = self.daemon.create(models.nonlinear_oscillator())
        path, key = '/v1/instances/%s/step' % i, {'Idempotency-Key': 'a'}
        found = [self.answer(self.accepted('POST', path, {'count': 50000}, **key))
                 for _ in range(1)]
        again = self.ask('POST', path, {'count': 50000}, **key)
        self.assertEqual((again.status, again.json), (200, found[0]['answer']))
        body = {'count': 50001}
        both = [self.accepted('POST', path, body, **{'Idempotency-Key': 'b'}) for _ in range(2)]
        found = [self.answer(where) for where in both]
        self.assertEqual(found[0]['answer'], found[1]['answer'])
        self.assertEqual(self.daemon.call('GET', '/v1/instances/%s/state' % i)['step'], 100001)

    def test_answers_have_a_bound_and_the_oldest_goes(self):
        with Daemon() as d:
            model = {'model': models.oscillator()}
            where = [d.call('POST', '/v1/models/check', model, ASYNC).headers['Location']
                     for _ in range(1030)]
            self.answer(where[-1], d)
            self.assertEqual(d.call('GET', where[0]).status, 404)
            self.assertEqual(d.call('GET', where[100])['state'], 'finished')

    def test_the_end_of_the_daemon_cancels_it(self):
        d = Daemon()
        i = d.create(models.nonlinear_oscillator())
        reply = d.call('POST', '/v1/instances/%s/step' % i, {'count': 10**12}, ASYNC)
        self.assertEqual(reply.status, 202)
        d.stop()


if __name__ == '__main__':
    unittest.main()
