"""Trials that are kept under names: any of them may be committed while the state is that in which
they begin; bounded, and their bytes count."""
import shutil
import tempfile
import unittest

import models
from harness import Daemon, Partner
from keeping import Kept


class Trials(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def call(self, method, path, body=None, status=200, daemon=None):
        reply = (daemon or self.daemon).call(method, path, body)
        self.assertEqual(reply.status, status, reply)
        return reply.json

    def make(self, daemon=None, model=None):
        daemon = daemon or self.daemon
        return '/v1/instances/' + daemon.create(model or models.nonlinear_oscillator())

    def keep(self, path, name, status=201, daemon=None, **more):
        return self.call('POST', path + '/trials', dict(more, name=name), status, daemon)

    def try_step(self, path, force, name=None, daemon=None, **more):
        body = dict({'size': 0.02, 'inputs': {'force': force}, 'commit': False}, **more)
        trial = self.call('POST', path + '/step', body, daemon=daemon)
        if name:
            kept = self.keep(path, name, daemon=daemon, trial=trial['trial'])
            self.assertEqual((kept['name'], kept['trial'], kept['time']),
                             (name, trial['trial'], trial['time']))
        return trial

    def names(self, path):
        return [t['name'] for t in self.call('GET', path + '/trials')['items']]

    def all_of(self, path):
        return [self.call('GET', path + part) for part in ('/state', '/inputs', '/parameters',
                                                           '/outputs')]

    def test_any_of_them_is_committed_to_the_bit(self):
        for which in ('a', 'b', 'c', 2):
            with self.subTest(which):
                path, twin = self.make(), self.make()
                for p in (path, twin):
                    self.call('POST', p + '/step', {'count': 11})
                trials = {name: self.try_step(path, force, name)
                          for name, force in (('a', 1), ('b', 2), ('c', 3))}
                self.try_step(path, 9)
                self.assertEqual(self.names(path), ['a', 'b', 'c'])
                one = trials[which if isinstance(which, str) else 'b']
                done = self.call('POST', path + '/commit', {'trial': which})
                self.assertEqual((done['time'], done['step'], done['outputs']),
                                 (one['time'], one['step'], one['outputs']))
                self.assertEqual(self.names(path), [])
                force = {'a': 1, 'b': 2, 'c': 3}.get(which, 2)
                self.call('POST', twin + '/step', {'size': 0.02, 'inputs': {'force': force}})
                for _ in range(2):
                    self.assertEqual(self.all_of(path), self.all_of(twin))
                    for p in (path, twin):
                        self.call('POST', p + '/step', {'count': 20})

    def test_parameters_among_the_inputs_come_with_it(self):
        model = models.oscillator()
        model['inputs'].append({'name': 'stiff', 'parameter': 'k'})
        path, twin = self.make(model=model), self.make(model=model)
        for name, k in (('soft', 10), ('hard', 1000)):
            self.try_step(path, 1, inputs={'stiff': k})
            self.keep(path, name)
        self.call('POST', path + '/commit', {'trial': 'soft'})
        self.call('POST', twin + '/step', {'size': 0.02, 'inputs': {'stiff': 10}})
        self.assertEqual(self.all_of(path), self.all_of(twin))

    def test_a_change_of_the_state_drops_them(self):
        changes = [('POST', '/step', {'count': 1}), ('PUT', '/inputs', {'force': 2}),
                   ('POST', '/reset', None), ('PUT', '/state', {'v': [1]})]
        for method, what, body in changes:
            with self.subTest(what):
                path = self.make()
                self.try_step(path, 1, 'a')
                before = self.call(method, path + what, body)
                self.assertEqual(self.names(path), [])
                self.call('POST', path + '/commit', {'trial': 'a'}, 409)
                self.call('POST', path + '/commit', {'trial': 1}, 409)
                self.assertTrue(before)

    def test_labels_and_snapshots_drop_nothing(self):
        path = self.make()
        self.try_step(path, 1, 'a')
        self.call('PATCH', path, {'labels': {'x': 'y'}})
        self.call('POST', path + '/snapshots', None, 201)
        self.assertEqual(self.names(path), ['a'])
        self.call('POST', path + '/commit', {'trial': 'a'})

    def test_a_name_is_used_again_and_dropped(self):
        path = self.make()
        self.try_step(path, 1, 'a')
        self.try_step(path, 2, 'b')
        two = self.try_step(path, 3, 'a')
        self.assertEqual(self.names(path), ['b', 'a'])
        self.call('DELETE', path + '/trials/b', None, 204)
        self.call('DELETE', path + '/trials/b', None, 404)
        self.call('POST', path + '/commit', {'trial': 'b'}, 409)
        done = self.call('POST', path + '/commit', {'trial': 'a'})
        self.assertEqual(done['outputs'], two['outputs'])

    def test_a_number_of_a_process_before_is_no_trial_of_this_one(self):
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        path, numbers = '/v1/instances/rig', []
        for k in range(4):
            d = Kept(folder)
            try:
                if k == 0:
                    self.call('PUT', path, {'model': models.nonlinear_oscillator(),
                                            'durability': 'every-step'}, 201, d)
                numbers += [self.try_step(path, 1, daemon=d)['trial'] for _ in range(2)]
                for old in numbers[:-1]:
                    reply = self.call('POST', path + '/commit', {'trial': old}, 409, d)
                    self.assertEqual(reply['code'], 'no-trial')
                if k == 2:
                    self.call('POST', path + '/commit', {'trial': numbers[-1]}, daemon=d)
            finally:
                d.kill()
        self.assertEqual(len(set(numbers)), 8)

    def test_what_is_no_trial_is_not_kept(self):
        path = self.make()
        self.assertEqual(self.keep(path, 'a', 409)['code'], 'no-trial')
        first = self.try_step(path, 1)['trial']
        self.try_step(path, 2)
        self.keep(path, 'a', 409, trial=first)
        self.keep(path, 'a b', 422)
        self.keep(path, 'x' * 33, 422)
        self.keep(path, 'a', 422, trial='x')
        self.assertEqual(self.names(path), [])
        for body in ({}, {'trial': 1.5}, {'trial': None}):
            self.call('POST', path + '/commit', body, 422)

    def test_an_answer_under_a_key_is_the_whole_one_again(self):
        i = 'i' * 64
        self.daemon.call('PUT', '/v1/instances/' + i, {'model': models.oscillator()})
        self.addCleanup(self.daemon.call, 'DELETE', '/v1/instances/' + i)
        path, name = '/v1/instances/' + i, 'n' * 32
        self.try_step(path, 1)
        for _ in range(2):
            reply = self.daemon.call('POST', path + '/trials', {'name': name},
                                     {'Idempotency-Key': 'long'})
            self.assertEqual(reply.headers['Location'], '%s/trials/%s' % (path, name))

    def test_they_are_bounded(self):
        path = self.make()
        for k in range(16):
            self.try_step(path, k, 'n%d' % k)
        self.try_step(path, 7)
        self.assertEqual(self.keep(path, 'more', 429)['code'], 'limit-reached')
        self.keep(path, 'n3')
        self.assertEqual(len(self.names(path)), 16)

    def test_their_bytes_count(self):
        with Daemon('--quota', 'memory=1MiB') as d:
            def used():
                return self.call('GET', '/v1/quota', daemon=d)['used']['memory']
            path = self.make(d)
            alone = used()
            self.try_step(path, 1, 'a', d)
            size = self.call('GET', path + '/trials', daemon=d)['items'][0]['bytes']
            self.assertEqual(used(), alone + size)
            self.try_step(path, 2, 'a', d)
            self.assertEqual(used(), alone + size)
            self.call('POST', path + '/commit', {'trial': 'a'}, daemon=d)
            self.assertEqual(used(), alone)
            self.try_step(path, 1, 'a', d)
            self.call('DELETE', path, None, 204, daemon=d)
            self.assertEqual(used(), 0)
        with Daemon('--quota', 'snapshots=1') as d:
            path = self.make(d)
            for k in range(2):          # in place of the first: not one more
                self.try_step(path, k, 'a', d)
            self.try_step(path, 1, daemon=d)
            told = self.keep(path, 'b', 429, d)
            self.assertEqual((told['code'], told['quota']['which']),
                             ('quota-exceeded', 'snapshots'))
            self.call('POST', path + '/reset', daemon=d)
            self.call('POST', path + '/snapshots', None, 201, d)
        with Daemon('--quota', 'memory=%d' % (alone + size - 1)) as d:
            path = self.make(d)
            self.try_step(path, 1, daemon=d)
            told = self.keep(path, 'a', 429, d)
            self.assertEqual(told['code'], 'quota-exceeded')

    def test_a_trial_of_a_partner_is_kept_too(self):
        path = self.make()
        with Partner(self.daemon, path.split('/')[-1], ['force'], ['x']) as partner:
            one = partner.ask('trial', [2.0], size=0.02)[0]
            self.keep(path, 'mine')
            partner.ask('trial', [3.0], size=0.02)
            self.assertEqual(self.call('POST', path + '/commit', {'trial': 'mine'})['outputs']['x'],
                             one['values'][0])


if __name__ == '__main__':
    unittest.main()
