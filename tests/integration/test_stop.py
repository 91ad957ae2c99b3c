"""Stopping a command: it answers `cancelled`, the state is that of before, what waits continues,
and a client can see that there is something to stop."""
import json
import re
import socket
import subprocess
import threading
import unittest
import models
from harness import SLOW, Daemon, Http, Partner, Served, ZmqDoor, gauge, program, wait_until
from asking import ASYNC, DERIVATIVES, Asked
from long_models import driven_chain

RACES = True

ENDLESS = {'count': 10 ** 9}


class Stop(Served):
    def setUp(self):
        self.who = self.daemon.create(models.nonlinear_oscillator())
        self.one = '/v1/instances/' + self.who

    def call(self, method, path, body=None, status=200, **headers):
        reply = self.daemon.call(method, self.one + path, body, headers or None)
        self.assertEqual(reply.status, status, reply)
        return reply

    def busy(self):
        """As reported both for one instance and in the list of all."""
        listed = self.daemon.call('GET', '/v1/instances?limit=1000')['items']
        each = next(i['busy'] for i in listed if i['id'] == self.who)
        one = self.call('GET', '')['busy']
        return one if one is each else None

    def ask(self, path, body):
        """It is in progress when this returns."""
        asked = Asked(self.daemon, 'POST', self.one + path, body)
        wait_until(self.busy, 'it is in progress')
        return asked

    def stop(self, stopped=True, **headers):
        self.assertIs(self.call('POST', '/stop', **headers)['stopped'], stopped)

    def check_cancelled(self, reply):
        self.assertEqual((reply.status, reply['code']), (409, 'cancelled'), reply)

    def test_a_step_ends_as_if_it_had_not_begun(self):
        self.call('POST', '/step', {'count': 3})
        before = self.call('GET', '/state')
        asked = self.ask('/step', ENDLESS)
        self.stop()
        self.check_cancelled(asked.answer())
        after = self.call('GET', '/state')
        self.assertEqual(after.json, before.json)
        self.assertEqual(after.headers['ETag'], before.headers['ETag'])
        wait_until(lambda: self.busy() is False, 'it is free')
        self.assertEqual(self.call('POST', '/step', {'count': 1})['step'], 4)

    def test_nothing_to_stop_is_reported_and_stops_nothing_later(self):
        self.assertIs(self.busy(), False)
        self.stop(False)
        self.assertEqual(self.call('POST', '/step', {'count': 50000})['step'], 50000)

    def queued(self):
        text = self.daemon.call('GET', '/metrics').raw.decode()
        return int(re.search(r'\nmechd_queued_commands (\d+)', text).group(1))

    def test_what_waits_goes_on(self):
        first = self.ask('/step', ENDLESS)
        second = Asked(self.daemon, 'POST', self.one + '/step', {'count': 50000})
        wait_until(lambda: self.queued() == 2, 'both are there')
        self.stop()
        self.check_cancelled(first.answer())
        self.assertEqual(second.answer()['step'], 50000)

    def test_what_cannot_be_stopped_does_not_take_the_place_of_what_can(self):
        with Daemon('--workers', '1') as daemon:
            others = [daemon.create(models.nonlinear_oscillator()) for _ in range(30)]
            steps = [Asked(daemon, 'POST', '/v1/instances/%s/step' % i, ENDLESS) for i in others]
            for i in others:
                wait_until(lambda i=i: daemon.call('GET', '/v1/instances/' + i)['busy'], 'it works')
            # the pool reports the model, behind all of them, and the step waits for that
            one = '/v1/instances/' + daemon.create(models.nonlinear_oscillator())
            with ZmqDoor(daemon) as door:
                who = one.rsplit('/', 1)[1]
                door.send('model', id=who)
                door.send('step', id=who, **ENDLESS)
                door.send('stop', id=who)
                told = [door.receive()[1] for _ in range(3)]
            self.assertEqual([t['stopped'] for t in told if 'stopped' in t], [True])
            self.assertEqual([t['code'] for t in told if 'code' in t], ['cancelled'])
            self.assertEqual(len([t for t in told if 'nodes' in t]), 1)
            for i in others:
                self.assertTrue(daemon.call('POST', '/v1/instances/%s/stop' % i)['stopped'])
            for step in steps:
                self.check_cancelled(step.answer())

    def test_readers_are_nothing_to_stop(self):
        done = threading.Event()

        def read(http):
            while not done.is_set():
                http.call('GET', self.one + '/model')
            http.close()
        readers = [threading.Thread(target=read, args=(Http(self.daemon.base),)) for _ in range(3)]
        for reader in readers:
            reader.start()
        told = {self.call('POST', '/stop')['stopped'] for _ in range(300)}
        busy = {self.busy() for _ in range(100)}
        done.set()
        for reader in readers:
            reader.join()
        self.assertEqual((told, busy), ({False}, {False}))

    def test_a_key_stops_once_and_goes_with_the_instance(self):
        self.daemon.call('PUT', '/v1/instances/keyed', {'model': models.nonlinear_oscillator()})
        self.who, self.one = 'keyed', '/v1/instances/keyed'
        key = {'Idempotency-Key': 'once'}
        asked = self.ask('/step', ENDLESS)
        self.stop(**key)
        self.check_cancelled(asked.answer())
        asked = self.ask('/step', ENDLESS)
        self.stop(**key)
        self.assertTrue(self.busy())
        self.call('DELETE', '', status=204)
        self.check_cancelled(asked.answer())
        self.call('POST', '/stop', status=404, **key)
        self.daemon.call('PUT', self.one, {'model': models.nonlinear_oscillator()})
        self.stop(False, **key)
        self.call('DELETE', '', status=204)

    def test_a_repetition_that_is_cancelled_ends_the_first(self):
        key = {'Idempotency-Key': 'endless'}
        before = self.call('GET', '/state').json
        for leased in (False, True):
            how = {} if not leased else {
                'Lease': str(self.call('POST', '/lease', {'role': 'owner'}, 201)['lease'])}
            asked = Asked(self.daemon, 'POST', self.one + '/step', ENDLESS, {**key, **how})
            wait_until(self.busy, 'it is in progress')
            again = self.call('POST', '/step', ENDLESS, 202, **key, **how, **ASYNC)
            waits = Asked(self.daemon, 'POST', self.one + '/step', {'count': 2}, how)
            self.daemon.call('DELETE', again.headers['Location'])
            self.check_cancelled(asked.answer())
            self.assertEqual(waits.answer().status, 200)
            self.assertEqual(self.call('POST', '/reset', **how).json['time'], 0)
            self.assertEqual(self.call('GET', '/state').json, before)

    def test_a_repetition_of_a_batch_that_is_cancelled_ends_its_items(self):
        key = {'Idempotency-Key': 'endless batch'}
        body = {'op': 'step', 'instances': [self.who], 'body': ENDLESS}
        asked = Asked(self.daemon, 'POST', '/v1/batch', body, key)
        wait_until(self.busy, 'it is in progress')
        again = self.daemon.call('POST', '/v1/batch', body, {**key, **ASYNC})
        self.assertEqual(again.status, 202, again)
        self.daemon.call('DELETE', again.headers['Location'])
        reply = asked.answer()
        self.assertEqual(reply['results'][0]['error']['code'], 'cancelled', reply)
        self.assertFalse(self.busy())

    def test_an_old_repetition_ends_nothing(self):
        key = {'Idempotency-Key': 'twice'}
        asked = Asked(self.daemon, 'POST', self.one + '/step', ENDLESS, key)
        wait_until(self.busy, 'it is in progress')
        old = self.call('POST', '/step', ENDLESS, 202, **key, **ASYNC).headers['Location']
        self.stop()
        self.check_cancelled(asked.answer())
        asked = Asked(self.daemon, 'POST', self.one + '/step', ENDLESS, key)
        wait_until(self.busy, 'it is in progress')
        self.daemon.call('DELETE', old)
        self.assertTrue(self.busy())
        self.stop()
        self.check_cancelled(asked.answer())

    def test_what_keeps_no_answer_ends_with_its_client(self):
        for path, body in DERIVATIVES[:1]:
            with socket.create_connection(self.address()) as client:
                text = json.dumps(body).encode()
                client.sendall(b'POST %s%s HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: d\r\n'
                               b'Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s'
                               % (self.one.encode(), path.encode(), len(text), text))
                wait_until(self.busy, 'it is in progress')
            wait_until(lambda: self.busy() is False, 'it is free')

    def address(self):
        host, port = self.daemon.base.rsplit('/', 1)[1].rsplit(':', 1)
        return host, int(port)

    def test_a_full_queue_is_no_hindrance(self):
        with ZmqDoor(self.daemon) as door:
            steps = gauge(self.daemon, 'steps_total')
            sent = [door.send('step', id=self.who, **ENDLESS)]
            wait_until(lambda: gauge(self.daemon, 'steps_total') > steps, 'it has begun')

            def one_more_is_too_many():
                sent.append(door.send('step', id=self.who, **ENDLESS))
                return len(sent) > 70 and self.daemon.call('GET', self.one).status == 429
            wait_until(one_more_is_too_many, 'it is full')
            mechctl = [program('mechctl'), '--server', self.daemon.base, 'stop', self.who]
            codes = []
            self.assertEqual(subprocess.run(mechctl, timeout=60 * SLOW, check=False).returncode, 0)
            codes.append(door.receive()[1]['code'])
            while len(codes) < len(sent):
                self.call('POST', '/stop')
                codes.append(door.receive()[1]['code'])
            self.assertEqual(codes.count('cancelled'), 65)
            self.assertEqual(set(codes), {'cancelled', 'queue-full'})
        wait_until(lambda: self.busy() is False, 'it is free')
        self.assertEqual(self.call('POST', '/step', {'count': 1})['step'], 1)

    def test_derivatives_end_too(self):
        self.who = self.daemon.create(driven_chain())
        self.one = '/v1/instances/' + self.who
        for path, body in DERIVATIVES:
            with self.subTest(path):
                asked = self.ask(path, body)
                self.stop()
                self.check_cancelled(asked.answer())

    def test_a_partner_and_a_client_with_a_late_answer_are_answered(self):
        where = self.daemon.call('POST', self.one + '/step', ENDLESS, ASYNC).headers['Location']
        with ZmqDoor(self.daemon) as door:
            self.assertEqual(door.call('stop', id=self.who)[1]['stopped'], True)
        told = wait_until(lambda: (lambda r: r if r['state'] == 'finished' else None)(
            self.daemon.call('GET', where)), 'it is over')
        self.assertEqual((told['status'], told['answer']['code']), (409, 'cancelled'))
        with Partner(self.daemon, self.who, outputs=[]) as partner:
            partner.send('step', size=1e6)
            wait_until(self.busy, 'it is in progress')
            self.stop()
            self.assertEqual(partner.receive()[0]['status'], 2007)
            self.assertAlmostEqual(partner.step(0.01)['time'], 0.01)

    def test_it_needs_leave_and_the_right_revision(self):
        lease = self.call('POST', '/lease', {'role': 'owner'}, 201)['lease']
        self.assertEqual(self.call('POST', '/stop', status=409)['code'], 'foreign-lease')
        self.stop(False, Lease=str(lease))
        self.call('DELETE', '/lease', status=204, Lease=str(lease))
        asked = self.ask('/step', ENDLESS)
        self.call('POST', '/stop', status=412, **{'If-Match': '"1.1"'})
        self.stop(**{'If-Match': self.call('GET', '/state').headers['ETag']})
        self.check_cancelled(asked.answer())
        self.one = '/v1/instances/nobody'
        self.assertEqual(self.call('POST', '/stop', status=404)['code'], 'instance-not-found')

    def test_a_run_has_a_route_of_its_own(self):
        run = self.call('POST', '/runs', {'pace': 0, 'until': 1e6}, 202)['id']
        self.assertEqual(self.call('POST', '/stop', status=409)['code'], 'run-in-progress')
        self.assertIs(self.busy(), False)
        self.assertEqual(self.call('GET', '/runs/' + run)['state'], 'running')
        self.call('DELETE', '/runs/' + run)

    def test_what_is_asked_beside_a_run_ends_and_the_run_goes_on(self):
        self.who = self.daemon.create(driven_chain())
        self.one = '/v1/instances/' + self.who
        run = self.call('POST', '/runs', {'pace': 0.001}, 202)['id']
        asked = self.ask(*DERIVATIVES[0])
        self.assertTrue(self.call('GET', '')['running'])
        self.stop()
        self.check_cancelled(asked.answer())
        self.assertEqual(self.call('GET', '/runs/' + run)['state'], 'running')
        self.call('DELETE', '/runs/' + run)


if __name__ == '__main__':
    unittest.main()
