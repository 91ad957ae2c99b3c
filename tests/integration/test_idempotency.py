"""Idempotency-Key: a request that is sent again is done once and answered as the first time, also
by the next process when the first answer was on disk."""
import shutil
import tempfile
import threading
import unittest
import models
from harness import Daemon, Http
from test_storage import Kept


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
                answers.append(http.call('POST', path, {'count': 200000}, key('a')))
                http.close()

            threads = [threading.Thread(target=ask) for _ in range(6)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertEqual({(a.status, a.raw) for a in answers}, {(200, answers[0].raw)})
            self.assertEqual(d.call('GET', '/v1/instances/%s/state' % i).json['step'], 200000)

    def test_a_key_outlives_the_process_with_its_step(self):
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        d = Kept(folder, '--durability', 'every-step')
        made = d.call('POST', '/v1/instances', {'model': models.oscillator()}, key('make'))
        path = '/v1/instances/%s/step' % made['id']
        first = d.call('POST', path, {'count': 3}, key('a'))
        d.kill()
        with Kept(folder, '--durability', 'every-step') as d:
            again = d.call('POST', path, {'count': 3}, key('a'))
            self.assertEqual((again.status, again.raw), (200, first.raw))
            remade = d.call('POST', '/v1/instances', {'model': models.oscillator()}, key('make'))
            self.assertEqual((remade.status, remade.raw, remade.headers['Location']),
                             (201, made.raw, made.headers['Location']))
            self.assertEqual(d.call('GET', path[:-4] + 'state').json['step'], 3)
            self.assertEqual(len(d.call('GET', '/v1/instances').json['items']), 1)


if __name__ == '__main__':
    unittest.main()
