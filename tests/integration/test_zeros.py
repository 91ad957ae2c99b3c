"""An input of -0.0 stays -0.0: through every door, as a value, a polynomial or samples, over steps,
and in the state's hash."""
import decimal
import os
import struct
import subprocess
import unittest

import models
from harness import SLOW, Daemon, Forces, Partner, ZmqDoor, program, wait_until
from lane import Lane, LanePartner
from package import mechd

H = 0.01


class Zeros(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon('--lane', 'unix:' + os.path.join('/tmp', 'zeros-%d' % os.getpid()))

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def path(self, i):
        return '/v1/instances/' + i

    def good(self, method, path, body=None):
        reply = self.daemon.call(method, path, body)
        self.assertLess(reply.status, 300, reply)
        return reply

    def sign(self, i):
        """The sign of the input as the server writes it."""
        raw = self.good('GET', self.path(i) + '/inputs').raw.decode().replace(' ', '')
        self.assertTrue('"force":-0.0' in raw or '"force":0' in raw, raw)
        return -1 if '"force":-0.0' in raw else 1

    def hash_of(self, i):
        """Of the state as it is."""
        where = self.good('POST', self.path(i) + '/runs', {
            'count': 1, 'period': H, 'record': {'hash': True}}).headers['Location']
        wait_until(lambda: self.daemon.call('GET', where)['state'] == 'finished', 'the run')
        return self.good('GET', where + '/results')['rows'][0][-2:]

    def doors(self):
        """Name, and what sets the input of an instance to a zero."""
        def sent(text):
            return lambda i, zero: self.good('PUT', self.path(i) + '/inputs',
                                             ('{"inputs": {"force": %s}}' % text(zero)).encode())

        def framed(kind, step):
            def set_it(i, zero):
                with kind(self.daemon, i, ['force'], ['x']) as partner:
                    if step:
                        partner.step(H, [zero])
                    else:
                        partner.ask('inputs', [zero])
                    partner.bye()
            return set_it

        def spoken(door):
            def set_it(i, zero):
                talker = door(self.daemon)
                status, reply = talker.call('set-inputs', id=i, inputs={'force': zero})
                talker.close()
                self.assertEqual(status, 200, reply)
            return set_it

        def pushed(i, zero):
            with Partner(self.daemon, i, ['force'], ['x']) as partner:
                forces = Forces(self.daemon, partner)
                partner.ask('inputs', [1.])
                forces.push([zero], 0.)
                wait_until(lambda: self.good('GET', self.path(i) + '/inputs')['inputs'][
                    'force'] == 0., 'the force is there')
                forces.socket.close()
                partner.bye()

        def stepped(i, zero):
            self.good('POST', self.path(i) + '/step', {'size': H, 'inputs': {'force': zero}})

        def by_hand(i, zero):
            subprocess.run([program('mechctl'), 'set', i, 'force=%r' % zero], check=True,
                           env={**os.environ, 'MECHD_SERVER': self.daemon.base},
                           timeout=60 * SLOW, stdout=subprocess.DEVNULL)

        def python(i, zero):
            with mechd.Server(self.daemon.base) as server:
                server.instance(i).inputs['force'] = decimal.Decimal(repr(zero))

        return {'json': sent(repr), 'whole': sent(lambda zero: '-0' if str(zero) < '0' else '0'),
                'step': stepped, 'zmq': spoken(ZmqDoor), 'lane': spoken(Lane),
                'frame': framed(Partner, False), 'frame step': framed(Partner, True),
                'lane frame': framed(LanePartner, False), 'forces': pushed, 'mechctl': by_hand,
                'python': python}

    def test_every_door_keeps_it(self):
        hashes = {}
        for name, set_it in self.doors().items():
            for zero in (-0.0, 0.0):
                with self.subTest(name, zero=zero):
                    i = self.daemon.create(models.nonlinear_oscillator())
                    set_it(i, zero)
                    sign = -1 if str(zero) < '0' else 1
                    self.assertEqual(self.sign(i), sign)
                    hashes.setdefault(('step' in name, sign), []).append(self.hash_of(i))
                    self.assertEqual(self.sign(i), sign)
        found = [same[0] for same in hashes.values()]
        for same in hashes.values():
            self.assertEqual([h for h in same if h != same[0]], [])
        self.assertEqual(len({tuple(h) for h in found}), 4)

    def test_inputs_over_a_step_end_with_it(self):
        for signal in ({'polynomial': [-0.0]}, {'polynomial': [-0.0, 0.0]},
                       {'polynomial': [-0.0, 0, 0.0]},
                       {'samples': {'times': [0], 'values': [-0.0]}},
                       {'samples': {'times': [0, 1], 'values': [-0.0, -0.0]}},
                       {'samples': {'times': [0, H], 'values': [1, -0.0]}},
                       {'samples': {'times': [-H, H, 1], 'values': [1, -0.0, 5]}}):
            with self.subTest(signal):
                i = self.daemon.create(models.nonlinear_oscillator())
                self.good('POST', self.path(i) + '/step', {
                    'size': H, 'inputSignals': {'force': signal}})
                self.assertEqual(self.sign(i), -1)

    def test_derivatives_of_zero_change_nothing(self):
        hashes = []
        for zero in (0.0, -0.0):
            i = self.daemon.create(models.nonlinear_oscillator())
            self.good('POST', self.path(i) + '/step', {
                'size': H, 'inputs': {'force': -0.0}, 'inputDerivatives': {'force': zero}})
            self.assertEqual(self.sign(i), -1)
            hashes.append(self.hash_of(i))
        self.assertEqual(hashes[0], hashes[1])

    def test_bytes_and_states_keep_it(self):
        i = self.daemon.create(models.nonlinear_oscillator())
        state = self.good('GET', self.path(i) + '/state').json
        self.good('PUT', self.path(i) + '/state', {'q': [-0.0], 'v': [-0.0]})
        self.assertIn(b'-0.0', self.good('GET', self.path(i) + '/state').raw)
        with Partner(self.daemon, i, [], ['x']) as partner:
            for values in ([0.0, -0.0], [-0.0, 0.0]):
                partner.ask('state', values + [0.] * (len(state['x']) + len(state['z'])))
                reply = partner.ask('state')[0]
                self.assertEqual(struct.pack('<2d', *reply['values'][:2]),
                                 struct.pack('<2d', *values))
            partner.bye()


if __name__ == '__main__':
    unittest.main()
