"""Ids and revisions are never given twice, also not by the next process, and what was answered of
a thing that is gone is no answer about another one that has its id."""
import os
import shutil
import sqlite3
import tempfile
import unittest

import fmus
import models
from harness import SERIES, Daemon, wait_until
from keeping import Kept

RACES = True

CHANGES = [('POST', '/step', {'count': 2}), ('PUT', '/inputs', {'force': 3}),
           ('POST', '/snapshots', None), ('POST', '/reset', None)]


def key(text):
    return {'Idempotency-Key': text}


def alone(daemon, instance=None):
    """The reply to the creation of a coupling of one participant."""
    return daemon.call('POST', '/v1/couplings', {
        'participants': [{'name': 'a', 'instance': instance or daemon.create(models.oscillator())}],
        'connections': [], 'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01})


class Serials(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def start(self, *arguments):
        return Kept(self.folder, *arguments)

    def made(self, daemon, path, body=None, headers=None):
        """The number in the id of what a POST makes."""
        reply = daemon.call('POST', path, body, headers or {})
        self.assertIn(reply.status, (201, 202), reply)
        return int(reply.headers['Location'].rsplit('-', 1)[1])

    def test_ids_go_on_above_those_of_what_is_gone(self):
        for durability in ('every-step', 'checkpoint', 'none'):
            for end in (Kept.stop, Kept.kill):
                with self.subTest(durability=durability, end=end.__name__):
                    self.go_on(durability, end)

    def go_on(self, durability, end):
        new = {'model': models.oscillator(), 'durability': durability}
        sweep = {'model': models.oscillator(), 'count': 3, 'parameters': {'grid': {'k': [1, 2]}}}
        later = {'Prefer': 'respond-async'}
        before, after = [], []
        for numbers in (before, after):
            d = self.start()
            numbers.append(self.made(d, '/v1/instances', new))
            i = '/v1/instances/i-%d' % numbers[0]
            numbers.append(self.made(d, '/v1/sweeps', sweep))
            wait_until(lambda: d.call('GET', '/v1/sweeps/w-%d' % numbers[1])['state'] != 'running',
                       'the sweep')
            d.call('DELETE', '/v1/sweeps/w-%d' % numbers[1])
            numbers.append(self.made(d, i + '/step', {'count': 10 ** 9}, later))
            d.call('DELETE', '/v1/operations/o-%d' % numbers[2])
            d.call('DELETE', i)
            end(d)
        for last, first in zip(before, after):
            self.assertGreater(first, last, (before, after))

    def test_snapshots_and_runs_go_on_above_those_that_are_gone(self):
        d = self.start('--durability', 'every-step')
        path = '/v1/instances/' + d.create(models.oscillator())
        for _ in range(3):
            last = self.made(d, path + '/snapshots')
        d.call('DELETE', path + '/snapshots/s-%d' % last)
        for _ in range(2):
            run = self.made(d, path + '/runs', {'count': 2})
            wait_until(lambda: d.call('GET', path + '/runs/r-%d' % run)['state'] == 'finished',
                       'the run')
        d.stop()
        # as when the rows of later runs needed its place
        connection = sqlite3.connect(os.path.join(self.folder, 'mechd.sqlite'))
        connection.execute('DELETE FROM runs WHERE number = ?', (run,))
        connection.commit()
        connection.close()
        with self.start('--durability', 'every-step') as d:
            self.assertEqual(self.made(d, path + '/snapshots'), last + 1)
            self.assertEqual(self.made(d, path + '/runs', {'count': 2}), run + 1)

    def test_a_trial_of_a_process_before_is_none_of_this_one(self):
        d, trials = self.start('--durability', 'every-step'), []
        path = '/v1/instances/' + d.create(models.oscillator())
        for end in (Kept.stop, Kept.kill, Kept.stop):
            for _ in range(2):
                reply = d.call('POST', path + '/step', {'count': 1, 'commit': False})
                self.assertNotIn(reply['trial'], trials)
                for old in trials:
                    gone = d.call('POST', path + '/commit', {'trial': old})
                    self.assertEqual((gone.status, gone['code']), (409, 'no-trial'), gone)
                trials.append(reply['trial'])
            reply = d.call('POST', path + '/commit', {'trial': trials[-1]})
            self.assertEqual(reply.status, 200, reply)
            end(d)
            d = self.start('--durability', 'every-step')
        d.stop()

    def test_answers_about_an_instance_go_with_it(self):
        for durability in ('none', 'checkpoint', 'every-step'):
            new = {'model': models.oscillator(), 'durability': durability}
            with self.start() as d, self.subTest(durability=durability):
                self.answer_anew(d, new)

    def test_answers_about_an_instance_go_with_it_on_the_disk(self):
        for durability in ('checkpoint', 'every-step'):
            new = {'model': models.oscillator(), 'durability': durability}
            with self.subTest(durability=durability):
                d, gone = self.start(), key('gone ' + durability)
                path = self.ask(d, new, [])
                self.assertEqual(d.call('DELETE', path, None, gone).status, 204)
                d.stop()
                with self.start() as d:
                    self.assertEqual(d.call('DELETE', path, None, gone).status, 204)
                    answers = []
                    self.ask(d, new, answers)
                    self.assertEqual([a.status for a in answers], [200, 200, 201, 200])
                    # nor is its snapshot's
                    number = int(d.call('GET', path + '/snapshots')['items'][0]['id'][2:])
                    self.assertGreater(number, 1)
                    d.call('DELETE', path)

    def ask(self, d, new, answers):
        """Changes of an instance, each under its key."""
        self.assertEqual(d.call('PUT', '/v1/instances/mine', new).status, 201)
        for k, (method, what, body) in enumerate(CHANGES):
            answers.append(d.call(method, '/v1/instances/mine' + what, body, key('k%d' % k)))
            if what == '/step':
                self.assertEqual(d.call('GET', '/v1/instances/mine/state')['step'], 2)
        return '/v1/instances/mine'

    def answer_anew(self, d, new):
        first, second = [], []
        path = self.ask(d, new, first)
        again = d.call('POST', path + '/step', {'count': 2}, key('k0'))
        self.assertEqual(again.raw, first[0].raw)
        gone = key('gone ' + new['durability'])
        self.assertEqual(d.call('DELETE', path, None, gone).status, 204)
        # the deletion itself is known
        self.assertEqual(d.call('DELETE', path, None, gone).status, 204)
        self.ask(d, new, second)
        self.assertEqual([a.status for a in second], [200, 200, 201, 200])
        self.assertNotEqual(first[0].headers['ETag'], second[0].headers['ETag'])
        self.assertEqual(d.call('DELETE', path).status, 204)

    def test_answers_about_an_instance_go_with_its_time_to_live(self):
        with Daemon() as d:
            new = {'model': models.oscillator(), 'ttl': 0.05}
            self.ask(d, new, [])
            wait_until(lambda: d.call('GET', '/v1/instances')['items'] == [], 'its end')
            self.ask(d, {'model': models.oscillator()}, [])

    def revision(self, reply):
        """Of an ETag: greater is later."""
        first, second = reply.headers['ETag'].strip('"').split('.')
        return int(first, 16), int(second)

    def test_a_revision_never_falls(self):
        d = self.start()
        path = '/v1/instances/' + d.create(
            models.oscillator(), durability={'mode': 'checkpoint', 'steps': 1000})
        last = (0, 0)
        for _ in range(5):
            for _ in range(3):
                now = self.revision(d.call('POST', path + '/step', {'count': 1}))
                self.assertGreater(now, last)
                last = now
            d.kill()
            d = self.start()
            # what was not stored is lost, and has another revision when it is made again
            self.assertGreater(self.revision(d.call('GET', path)), last)
        d.stop()

    def test_a_revision_does_not_fall_with_the_clock(self):
        with self.start('--durability', 'every-step') as d:
            path = '/v1/instances/' + d.create(models.oscillator())
            early = self.revision(d.call('GET', path))
        # as by a clock that was a day ahead then
        ahead = early[0] + (86400 << 20)
        connection = sqlite3.connect(os.path.join(self.folder, 'mechd.sqlite'))
        connection.execute("INSERT OR REPLACE INTO numbers VALUES ('incarnation', ?)", (ahead,))
        connection.commit()
        connection.close()
        last = (ahead, 0)
        for _ in range(2):
            with self.start('--durability', 'every-step') as d:
                now = self.revision(d.call('GET', path))
                self.assertGreater(now[0], last[0])
                last = now

    def test_a_snapshot_that_could_not_be_stored_is_none(self):
        with self.start('--durability', 'every-step') as d:
            path = '/v1/instances/' + d.create(models.oscillator())
            parent = 's-%d' % self.made(d, path + '/snapshots')
            d.call('POST', path + '/step', {'count': 1})
            with d.full_disk():
                for _ in range(5):
                    reply = d.call('POST', path + '/snapshots')
                    self.assertEqual((reply.status, reply['code']), (507, 'storage-failed'), reply)
                    listed = d.call('GET', path + '/snapshots').json
                    self.assertEqual([s['id'] for s in listed['items']], [parent])
                    self.assertEqual(listed['current'], parent)
            self.made(d, path + '/snapshots')
            listed = d.call('GET', path + '/snapshots').json
            self.assertEqual([s['parent'] for s in listed['items']], [None, parent])
        with self.start('--durability', 'every-step') as d:
            self.assertEqual(d.call('GET', path + '/snapshots').json, listed)

    def test_numbers_of_trials_do_not_fall_with_the_clock(self):
        d = self.start('--durability', 'every-step')
        path = '/v1/instances/' + d.create(models.oscillator())
        d.stop()
        connection = sqlite3.connect(os.path.join(self.folder, 'mechd.sqlite'))
        connection.execute("UPDATE numbers SET value = value + (86400 << 20) "
                           "WHERE name = 'incarnation'")
        connection.commit()
        connection.close()
        trials = []
        for end in (Kept.kill, Kept.stop):
            d = self.start('--durability', 'every-step')
            first = d.call('POST', path + '/step', {'count': 1, 'commit': False})['trial']
            self.assertNotIn(first, trials)
            # more than numbers of instances are recorded ahead
            batch = {'items': [{'op': 'step', 'id': path.rsplit('/', 1)[1], 'count': 1,
                                'commit': False}] * 2000}
            reply = d.call('POST', '/v1/batch', batch)
            self.assertEqual(reply.status, 200, reply)
            trials += [first] + [r['body']['trial'] for r in reply['results']]
            end(d)
        self.assertEqual(len(set(trials)), len(trials))

    def test_failed_conditions_of_a_request_are_reported_before_its_faults(self):
        with Daemon() as d:
            i = d.create(models.oscillator())
            path = '/v1/instances/' + i
            first = d.call('POST', path + '/step', {'until': 0.01, 'expectTime': 0})
            self.assertEqual(first.status, 200, first)
            again = d.call('POST', path + '/step', {'until': 0.01, 'expectTime': 0})
            self.assertEqual((again.status, again['code']), (409, 'time-mismatch'), again)
            late = d.call('POST', path + '/step', {'until': 0.01})
            self.assertEqual((late.status, late['code']), (422, 'invalid-request'), late)
            batch = {'instances': [i], 'op': 'step', 'body': {'count': 1}}
            for tag in ('"x"', '*'):
                reply = d.call('POST', '/v1/batch', batch, {'If-Match': tag})
                self.assertEqual((reply.status, reply['code']), (400, 'malformed-request'), reply)
                reply = d.call('PUT', '/v1/instances/new', {'model': models.oscillator()},
                               {'If-Match': tag})
                self.assertEqual((reply.status, reply['code']), (412, 'revision-mismatch'), reply)
            self.assertEqual(d.call('GET', '/v1/instances/new').status, 404)
            self.assertEqual(d.call('GET', path + '/state')['step'], 10)
            # nothing else has a revision: a guard that cannot hold is no guard
            pair = alone(d, i)
            self.assertEqual(pair.status, 201, pair)
            pair = pair.headers['Location']
            for method, at, body in (('POST', pair + '/step', {'count': 1}),
                                     ('POST', pair + '/reset', {}),
                                     ('POST', pair + '/runs', {'count': 1}),
                                     ('POST', pair + '/streams', {'name': 's'}),
                                     ('DELETE', pair, None),
                                     ('POST', '/v1/instances', {'model': models.oscillator()})):
                for tag in ('"x"', '*', first.headers['ETag']):
                    reply = d.call(method, at, body, {'If-Match': tag})
                    self.assertEqual((reply.status, reply['code']), (400, 'malformed-request'),
                                     (method, at, reply))
                    self.assertIn('If-Match', reply['detail'])
            self.assertEqual(d.call('GET', path + '/state')['step'], 10)
            self.assertEqual(len(d.call('GET', '/v1/instances')['items']), 1)
            self.assertEqual(d.call('DELETE', pair).status, 204)

    def test_a_process_without_a_state_directory_has_no_id_of_one_before(self):
        new, later = {'model': models.oscillator()}, {'Prefer': 'respond-async'}
        sweep = {'model': models.oscillator(), 'count': 3, 'parameters': {'grid': {'k': [1, 2]}}}
        before, tag = [], None
        for _ in range(3):
            with Daemon(*fmus.ON) as d:
                made = d.call('POST', '/v1/instances', new)
                path = made.headers['Location']
                now = [alone(d).headers['Location'],
                       d.call('POST', '/v1/sweeps', sweep).headers['Location'],
                       '/v1/fmus/' + fmus.upload(d, fmus.archive())['id'],
                       d.call('POST', path + '/step', {'count': 10 ** 9}, later)
                       .headers['Location']]
                for gone in before:
                    for method in ('GET', 'DELETE'):
                        reply = d.call(method, gone)
                        self.assertEqual((reply.status, reply['code']), (404, 'not-found'), reply)
                for one in now:
                    self.assertEqual(d.call('GET', one).status, 200)
                if tag is not None:
                    # the id is the same, and its life another one
                    for old in (tag, tag.split('.')[0] + '.*"'):
                        reply = d.call('DELETE', path, None, {'If-Match': old})
                        self.assertEqual((reply.status, reply['code']), (412, 'revision-mismatch'))
                before, tag = before + now, made.headers['ETag']
                life = tag.split('.')[0] + '.*"'
                d.call('POST', path + '/stop')
                self.assertEqual(d.call('DELETE', path, None, {'If-Match': life}).status, 204)
        self.assertEqual(len(set(before)), len(before))
        for k, kind in enumerate(('/v1/couplings/c', '/v1/sweeps/w', '/v1/fmus/f',
                                  '/v1/operations/o')):
            for one in before[k::4]:
                self.assertRegex(one, '^%s-%s-1$' % (kind, SERIES))
        # what is assigned in a process has the same series
        self.assertEqual(len({one.split('-')[1] for one in before}), 3)

    def test_with_a_state_directory_ids_are_numbers(self):
        d = self.start(*fmus.ON)
        path = '/v1/instances/' + d.create(models.oscillator())
        sweep = {'model': models.oscillator(), 'count': 3, 'parameters': {'grid': {'k': [1, 2]}}}
        self.assertEqual(alone(d)['id'], 'c-1')
        self.assertEqual(d.call('POST', '/v1/sweeps', sweep)['id'], 'w-1')
        self.assertEqual(fmus.upload(d, fmus.archive())['id'], 'f-1')
        reply = d.call('POST', path + '/step', {'count': 10 ** 9}, {'Prefer': 'respond-async'})
        self.assertEqual((reply['id'], reply.headers['Location']), ('o-1', '/v1/operations/o-1'))
        d.call('POST', path + '/stop')
        d.stop()

    def test_a_guard_holds_for_a_life_of_the_id(self):
        with Daemon() as d:
            path, new = '/v1/instances/one', {'model': models.oscillator()}
            lives = []
            for _ in range(2):
                tag = d.call('PUT', path, new).headers['ETag']
                lives.append(tag.split('.')[0] + '.*"')
                for _ in range(2):
                    reply = d.call('POST', path + '/step', {'count': 1}, {'If-Match': lives[-1]})
                    self.assertEqual(reply.status, 200, reply)
                for other in (lives[-1][:-1], 'W/' + lives[-1], lives[-1][:-2] + '"',
                              lives[-1].replace('.*', '*'), lives[-1][:-1] + '*"'):
                    reply = d.call('POST', path + '/step', {'count': 1}, {'If-Match': other})
                    self.assertEqual(reply.status, 412, (other, reply))
                self.assertEqual(d.call('GET', path)['step'], 2)
                d.call('DELETE', path)
            d.call('PUT', path, new)
            reply = d.call('POST', path + '/step', {'count': 1}, {'If-Match': ', '.join(lives)})
            self.assertEqual(reply.status, 412, reply)

    def test_a_creation_in_the_background_has_its_name(self):
        with Daemon() as d:
            reply = d.call('PUT', '/v1/instances/new', {'model': models.oscillator()},
                           {'Prefer': 'respond-async'})
            self.assertEqual((reply.status, reply['operation']), (202, 'create'), reply)

    def test_the_answer_of_a_creation_stays(self):
        with Daemon() as d:
            made = d.call('POST', '/v1/instances', {'model': models.oscillator()}, key('c'))
            self.assertEqual(d.call('DELETE', made.headers['Location']).status, 204)
            again = d.call('POST', '/v1/instances', {'model': models.oscillator()}, key('c'))
            self.assertEqual((again.status, again.raw), (201, made.raw))


if __name__ == '__main__':
    unittest.main()
