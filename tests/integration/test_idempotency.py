"""Idempotency-Key: a request that is sent again is done once and answered as the first time, also
by the next process when the first answer was on disk."""
import os
import shutil
import sqlite3
import tempfile
import threading
import unittest
import models
from harness import Daemon, Http, gauge, wait_until
from keeping import Kept

RACES = True


def key(text):
    return {'Idempotency-Key': text}


class Idempotency(unittest.TestCase):
    def test_a_repeated_step_is_done_once(self):
        with Daemon() as d:
            i = d.create(models.oscillator())
            path = '/v1/instances/%s/step' % i
            first = d.call('POST', path, {'count': 3}, key('a'))
            self.assertEqual(first.status, 200, first)
            again = d.call('POST', path, {'count': 3}, key('a'))
            self.assertEqual((again.status, again.raw, again.headers['ETag']),
                             (200, first.raw, first.headers['ETag']))
            self.assertEqual(d.call('GET', '/v1/instances/%s/state' % i).json['step'], 3)
            self.assertEqual(d.call('POST', path, {'count': 3}, key('b'))['step'], 6)

    def test_a_repeated_creation_makes_one_instance(self):
        with Daemon() as d:
            first = d.call('POST', '/v1/instances', {'model': models.oscillator()}, key('a'))
            again = d.call('POST', '/v1/instances', {'model': models.oscillator()}, key('a'))
            self.assertEqual((first.status, again.status), (201, 201))
            self.assertEqual(first.raw, again.raw)
            self.assertEqual(first.headers['Location'], again.headers['Location'])
            self.assertEqual(len(d.call('GET', '/v1/instances').json['items']), 1)

    def test_another_body_under_the_key_is_refused(self):
        with Daemon() as d:
            i = d.create(models.oscillator())
            path = '/v1/instances/%s/step' % i
            d.call('POST', path, {'count': 3}, key('a'))
            reply = d.call('POST', path, {'count': 4}, key('a'))
            self.assertEqual((reply.status, reply['code']), (422, 'key-reused'), reply)

    def test_a_key_belongs_to_its_path(self):
        with Daemon() as d:
            for i in (d.create(models.oscillator()), d.create(models.oscillator())):
                reply = d.call('POST', '/v1/instances/%s/step' % i, {'count': 3}, key('a'))
                self.assertEqual(reply.status, 200, reply)
                self.assertEqual(d.call('GET', '/v1/instances/%s/state' % i).json['step'], 3)

    def test_a_refused_request_may_be_sent_again(self):
        with Daemon() as d:
            path = '/v1/instances/later/step'
            self.assertEqual(d.call('POST', path, {'count': 1}, key('a')).status, 404)
            d.call('PUT', '/v1/instances/later', {'model': models.oscillator()})
            self.assertEqual(d.call('POST', path, {'count': 1}, key('a')).status, 200)

    def test_keys_that_are_none_are_refused(self):
        with Daemon() as d:
            i = d.create(models.oscillator())
            for wrong in ('', 'x' * 256, 'caf\xe9'):
                reply = d.call('POST', '/v1/instances/%s/step' % i, {'count': 1}, key(wrong))
                self.assertEqual(reply.status, 400, reply)

    def test_repetitions_at_the_same_time_wait_for_the_first(self):
        with Daemon() as d:
            i = d.create(models.nonlinear_oscillator())
            path, answers = '/v1/instances/%s/step' % i, []

            def ask():
                http = Http(d.base)
                answers.append(http.call('POST', path, {'count': 50000}, key('a')))
                http.close()

            threads = [threading.Thread(target=ask) for _ in range(6)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertEqual({(a.status, a.raw) for a in answers}, {(200, answers[0].raw)})
            self.assertEqual(d.call('GET', '/v1/instances/%s/state' % i).json['step'], 50000)

    def test_a_repetition_that_waited_for_a_refusal_gets_the_same(self):
        with Daemon() as d:
            i = d.create(models.nonlinear_oscillator())
            path, answers = '/v1/instances/%s/step' % i, []

            def ask(body, *headers):
                http = Http(d.base)
                reply = http.call('POST', path, body, *headers)
                http.close()
                return reply

            def refused():
                answers.append(ask({'until': 1.0, 'inputs': {'none': 1}, 'outputs': ['no']},
                                   key('w')))

            long = threading.Thread(target=ask, args=({'count': 10 ** 9},))
            long.start()
            wait_until(lambda: waiting(d) >= 1, 'the long step')
            threads = [threading.Thread(target=refused) for _ in range(3)]
            for t in threads:
                t.start()
            wait_until(lambda: in_flight(d) >= 5, 'all wait, and this question')
            d.call('POST', path[:-4] + 'stop')
            for t in threads + [long]:
                t.join()
            self.assertEqual(answers[0].status, 422)
            self.assertTrue(answers[0]['errors'])
            self.assertEqual({(a.status, a.raw) for a in answers}, {(422, answers[0].raw)})

    def test_a_key_outlives_the_process_with_its_step(self):
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        d = Kept(folder, '--durability', 'every-step')
        made = d.call('POST', '/v1/instances', {'model': models.oscillator()}, key('make'))
        path = '/v1/instances/%s/step' % made['id']
        first = d.call('POST', path, {'count': 3}, key('a'))
        snapped = d.call('POST', path[:-4] + 'snapshots', None, key('s'))
        d.kill()
        with Kept(folder, '--durability', 'every-step') as d:
            again = d.call('POST', path, {'count': 3}, key('a'))
            self.assertEqual((again.status, again.raw), (200, first.raw))
            self.assertEqual(again.headers['ETag'], first.headers['ETag'])
            resnapped = d.call('POST', path[:-4] + 'snapshots', None, key('s'))
            self.assertEqual((resnapped.status, resnapped.raw, resnapped.headers['ETag']),
                             (201, snapped.raw, snapped.headers['ETag']))
            remade = d.call('POST', '/v1/instances', {'model': models.oscillator()}, key('make'))
            self.assertEqual((remade.status, remade.raw, remade.headers['Location']),
                             (201, made.raw, made.headers['Location']))
            self.assertEqual(remade.headers['ETag'], made.headers['ETag'])
            self.assertEqual(d.call('GET', path[:-4] + 'state').json['step'], 3)
            self.assertEqual(len(d.call('GET', '/v1/instances').json['items']), 1)

    def kept(self, *arguments):
        """A folder, and daemons on it one after the other."""
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        return folder, lambda: Kept(folder, *arguments)

    def checkpointed(self, steps):
        """Of an oscillator with a checkpoint every so many steps: the folder, what starts the next
        daemon on it, this one, and the oscillator's path."""
        folder, start = self.kept()
        d = start()
        return folder, start, d, '/v1/instances/' + d.create(
            models.oscillator(), durability={'mode': 'checkpoint', 'steps': steps})

    def test_a_key_is_stored_with_the_checkpoint_that_holds_its_change(self):
        changes = [('step', 'POST', '/step', {'count': 3}),
                   ('inputs', 'PUT', '/inputs', {'force': 2}),
                   ('reset', 'POST', '/reset', None), ('more', 'POST', '/step', {'count': 4}),
                   ('run', 'POST', '/runs', {'count': 3})]
        _, start = self.kept()
        for durability in ('checkpoint', {'mode': 'checkpoint', 'steps': 100000},
                           {'mode': 'checkpoint', 'steps': 1}):
            d = start()
            path = '/v1/instances/' + d.create(models.oscillator(), durability=durability)
            answers = [d.call(method, path + what, body, key(name))
                       for name, method, what, body in changes]
            wait_until(lambda: d.call('GET', path + '/runs/r-1')['state'] == 'finished', 'the run')
            state = d.call('GET', path + '/state').json
            d.stop()
            with start() as d:
                self.assertEqual(d.call('GET', path + '/state').json, state)
                for (name, method, what, body), first in zip(changes, answers):
                    again = d.call(method, path + what, body, key(name))
                    self.assertEqual((again.status, again.raw), (first.status, first.raw), name)
                    self.assertEqual(again.headers['ETag'], first.headers['ETag'])
                self.assertEqual(d.call('GET', path + '/state').json, state)

    def test_a_change_and_its_key_are_lost_together(self):
        folder, start, d, path = self.checkpointed(25)
        for k in range(33):
            self.assertEqual(d.call('POST', path + '/step', {'count': 4}, key(str(k))).status, 200)
        wait_until(lambda: rows(folder, 'receipts') > 0, 'the checkpoint')
        d.kill()
        with start() as d:
            # 25 commands lead to the one checkpoint, and 8 are lost
            self.assertEqual(d.call('GET', path + '/state').json['step'], 100)
            for k in range(33):
                reply = d.call('POST', path + '/step', {'count': 4}, key(str(k)))
                self.assertEqual((reply.status, reply['step']), (200, 4 * (k + 1)))

    def test_keys_that_wait_for_a_checkpoint_make_one(self):
        _, start, d, path = self.checkpointed(1000000000)
        for k in range(1500):
            d.call('POST', path + '/step', {'count': 1}, key(str(k)))
        d.kill()
        with start() as d:
            step = d.call('GET', path + '/state').json['step']
            self.assertGreaterEqual(step, 1000)
            for k in (0, step - 1, step):
                reply = d.call('POST', path + '/step', {'count': 1}, key(str(k)))
                self.assertEqual((reply.status, reply['step']), (200, k + 1))

    def test_items_of_a_batch_are_done_once_across_a_checkpoint(self):
        _, start = self.kept()
        d = start()
        ids = [d.create(models.oscillator(), durability='checkpoint') for _ in range(3)]
        batch = {'instances': ids, 'op': 'step', 'body': {'count': 2}}
        first = d.call('POST', '/v1/batch', batch, key('b'))
        d.stop()
        with start() as d:
            again = d.call('POST', '/v1/batch', batch, key('b'))
            self.assertEqual((again.status, again.raw), (200, first.raw))


def waiting(daemon):
    """Commands in queues and at work."""
    return gauge(daemon, 'queued_commands')


def in_flight(daemon):
    """Requests that are not answered, the one for this number among them."""
    return gauge(daemon, 'in_flight')


def rows(folder, table):
    """How many the database has."""
    connection = sqlite3.connect(os.path.join(folder, 'mechd.sqlite'))
    count = connection.execute('SELECT count(*) FROM ' + table).fetchone()[0]
    connection.close()
    return count


if __name__ == '__main__':
    unittest.main()
