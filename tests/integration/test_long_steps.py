"""One internal step that takes very long: it can be stopped, is bounded by the quota, ends with the
daemon, and delays no other client."""
import signal
import threading
import time
import unittest

import models
from harness import SLOW, Daemon, Partner, Served, ZmqDoor, cpu_seconds, wait_until
from asking import ASYNC, Asked, is_busy
from long_models import driven_chain, pinched

RACES = True

ONE = {'count': 1}


def substeps():
    """A thousand million seconds in substeps of hundredths of one: it takes very long, until these
    are too many."""
    model = driven_chain(300)
    model['solver'] = {'integrator': 'DOPRI5', 'stepSize': 1e9}
    return model


MODELS = {'complementarity': pinched, 'substeps': substeps}


class LongSteps(Served):
    def make(self, model, daemon=None):
        return '/v1/instances/' + (daemon or self.daemon).create(model)

    def begin(self, one, path='/step', body=None, daemon=None):
        """It is in progress when this returns."""
        daemon = daemon or self.daemon
        asked = Asked(daemon, 'POST', one + path, body or ONE)
        wait_until(lambda: is_busy(daemon, one), 'it is in progress')
        return asked

    def check_cancelled(self, reply):
        self.assertEqual((reply.status, reply['code']), (409, 'cancelled'), reply)

    def test_it_is_stopped_and_leaves_no_trace(self):
        for name, model in MODELS.items():
            with self.subTest(name):
                one = self.make(model())
                before = self.daemon.call('GET', one + '/state')
                asked = self.begin(one)
                self.assertTrue(self.daemon.call('POST', one + '/stop')['stopped'])
                self.check_cancelled(asked.answer())
                after = self.daemon.call('GET', one + '/state')
                self.assertEqual(after.json, before.json)
                self.assertEqual(after.headers['ETag'], before.headers['ETag'])

    def test_it_goes_with_its_instance_and_with_its_operation(self):
        one = self.make(pinched())
        asked = self.begin(one)
        self.assertEqual(self.daemon.call('DELETE', one).status, 204)
        self.check_cancelled(asked.answer())
        one = self.make(pinched())
        where = self.daemon.call('POST', one + '/step', ONE, ASYNC).headers['Location']
        wait_until(lambda: is_busy(self.daemon, one), 'it is in progress')
        self.assertIn(self.daemon.call('DELETE', where).status, (200, 202, 204))
        wait_until(lambda: not is_busy(self.daemon, one), 'it is over', 5)

    def test_runs_and_sweeps_end(self):
        one = self.make(pinched())
        run = self.daemon.call('POST', one + '/runs', {'until': 1}).headers['Location']
        before = cpu_seconds(self.daemon.pid())
        wait_until(lambda: cpu_seconds(self.daemon.pid()) > before + 0.1,
                   'it is in its first period')
        self.assertLess(self.daemon.call('DELETE', run).status, 300)
        wait_until(lambda: self.daemon.call('GET', run)['state'] == 'stopped', 'it is over', 5)
        sweep = self.daemon.call('POST', '/v1/sweeps', {
            'model': models.oscillator(integrator='DOPRI5', stepSize=1e9), 'count': 1,
            'outputs': ['x'], 'parameters': {'grid': {'k': list(range(100, 150))}}})
        self.assertEqual(sweep.status, 202, sweep)
        sweep = sweep.headers['Location']
        self.assertEqual(self.daemon.call('GET', sweep)['state'], 'running')
        self.assertLess(self.daemon.call('DELETE', sweep).status, 300)
        # the lanes are free: a step of another has its turn
        self.assertEqual(self.daemon.call('POST', self.make(models.oscillator()) + '/step',
                                          {'count': 50000}).status, 200)

    def test_the_end_of_another_run_takes_nothing_of_this_one(self):
        one = self.make(models.oscillator(integrator='DOPRI5', stepSize=2e4))
        made = self.daemon.call('POST', one + '/runs', {'pace': 0, 'until': 1e9})
        self.assertEqual(made.status, 202, made)
        run = made.headers['Location']

        def goes_on():
            self.assertEqual(self.daemon.call('DELETE', one + '/runs/r-77').status, 404)
            return self.daemon.call('GET', run)['periods'] > 3
        wait_until(goes_on, 'it goes on', 60)
        told = self.daemon.call('DELETE', run)
        self.assertEqual((told.status, told['state']), (200, 'stopped'))

    def test_a_quota_bounds_it(self):
        with Daemon('--quota', 'step-cpu=50ms') as daemon:
            for name, model in MODELS.items():
                with self.subTest(name):
                    one = self.make(model(), daemon)
                    reply = daemon.call('POST', one + '/step', ONE)
                    self.assertEqual((reply.status, reply['code']), (429, 'quota-exceeded'))
                    self.assertIn('step-cpu', reply['detail'])

    def test_an_equilibrium_is_stopped(self):
        model = driven_chain()
        model['loads'][0]['load'] = 1
        one = self.make(model)
        asked = self.begin(one, '/statics', {'loadSteps': 10000})
        self.assertTrue(self.daemon.call('POST', one + '/stop')['stopped'])
        self.check_cancelled(asked.answer())

    def test_the_end_does_not_wait_for_it(self):
        daemon = Daemon('--state', 'state')
        one = '/v1/instances/' + daemon.create(pinched(), durability='every-step')
        asked = self.begin(one, daemon=daemon)
        daemon.stop()
        reply = asked.answer()
        self.assertEqual((reply.status, reply['code']), (503, 'draining'), reply)

    def test_others_are_served(self):
        """Also by the thread that took the request, before it could know how long it takes."""
        with Daemon('--workers', '2') as daemon:
            other = self.make(models.oscillator(), daemon)
            for _ in range(8):
                one = self.make(pinched(), daemon)
                asked = self.begin(one, daemon=daemon)
                for _ in range(10):
                    self.assertEqual(daemon.call('GET', '/livez').status, 200)
                    self.assertEqual(daemon.call('POST', other + '/step', ONE).status, 200)
                daemon.call('POST', one + '/stop')
                self.check_cancelled(asked.answer())

    def test_other_partners_are_served(self):
        with Daemon('--workers', '2') as daemon:
            slow, quick = daemon.create(pinched()), daemon.create(models.oscillator())
            with Partner(daemon, slow, outputs=[]) as partner, ZmqDoor(daemon) as door:
                told = []

                def drive():
                    try:
                        partner.step(0.01)
                    except Exception as e:  # pylint: disable=broad-except
                        told.append(e)
                thread = threading.Thread(target=drive)
                thread.start()
                wait_until(lambda: is_busy(daemon, '/v1/instances/' + slow), 'it works')
                self.assertEqual(door.call('step', id=quick, count=3)[1]['step'], 3)
                self.assertTrue(door.call('stop', id=slow)[1]['stopped'])
                thread.join(10 * SLOW)
                self.assertEqual(told[0].header['status'], 2007)

    def test_the_lease_of_a_partner_lasts_as_long_as_ever(self):
        """Though the step was begun twice."""
        who = self.daemon.create(pinched())
        one = '/v1/instances/' + who
        with Partner(self.daemon, who, outputs=[], role='owner', seconds=0.5) as partner:
            partner.send('step', size=0.01)
            wait_until(lambda: is_busy(self.daemon, one), 'it is in progress')
            time.sleep(1)  # steady: two of its times of inactivity, in which it must not end
            with ZmqDoor(self.daemon) as door:
                stopped = door.call('stop', id=who, lease=partner.lease)[1]
            self.assertTrue(stopped['stopped'])
            self.assertEqual(partner.receive()[0]['status'], 2007)
        lease = {'role': 'owner'}
        wait_until(lambda: self.daemon.call('POST', one + '/lease', lease).status == 201,
                   'the instance is free', 3)

    def test_frames_that_wait_at_the_shutdown_are_refused_with_a_reason(self):
        daemon = Daemon()
        with Partner(daemon, daemon.create(pinched()), outputs=[]) as partner:
            for _ in range(4):
                partner.send('step', size=0.01)
            wait_until(lambda: 'mechd_queued_commands 4' in
                       daemon.call('GET', '/metrics').raw.decode(), 'they wait')
            daemon.process.send_signal(signal.SIGTERM)
            told = [partner.receive()[0]['status'] for _ in range(4)]
        daemon.stop()
        self.assertEqual(sorted(told), [1025, 1025, 1025, 1025])


if __name__ == '__main__':
    unittest.main()
