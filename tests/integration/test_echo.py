"""What a client sends to find its answer again, or to know its own by, comes back byte for byte or
is refused: sequences over ZeroMQ as they were written, names and labels through every door."""
import json
import unittest

import models
from harness import Served, ZmqDoor, wait_until

SEQUENCES = ('0', '7', '-0', '1.0', '1e2', '1E+2', '0.1', '9007199254740993', '-9007199254740993',
             '1764084000123456789', '9223372036854775807', '9223372036854775808',
             '18446744073709551615', '1' * 40, '0.1000000000000000055511151231257827',
             '3.14159265358979323846264338327950288', '"a"', '"%s"' % ('x' * 78),
             '"%s"' % ('x' * 79), '"%s"' % ('x' * 4094), '"\\u00e9\\/\\n"', '"é"', 'null', 'true',
             '[1, 2.50,"]"]',
             '{"a" : {"sequence":1e0}, "b":"}" }')
TEXTS = ('x' * 127, 'x' * 128, 'ö' * 64, 'ö' * 512, 'a\\b"c', ' a ', '\t\n\u2028\u007f', 'a\ufeff',
         '\U0001f9f2' * 40)


class Echo(Served):
    def setUp(self):
        super().setUp()
        self.door = ZmqDoor(self.daemon)
        self.addCleanup(self.door.close)

    def raw(self, text):
        self.door.socket.send_multipart([b'', text.encode()])
        return self.door.socket.recv_multipart()[-1].decode()

    def test_a_sequence_comes_back_as_it_was_written(self):
        i = self.daemon.create(models.oscillator())
        for sequence in SEQUENCES:
            for text in ('{"op": "step", "id": "%s", "count": 1, "sequence": %s}' % (i, sequence),
                         '{"sequence":%s,"op":"nothing"}' % sequence,
                         '{"op":"step","id":"%s", "sequ\\u0065nce" : %s ,"count":-1}' % (
                             i, sequence)):
                with self.subTest(text=text[:200]):
                    reply = self.raw(text)
                    self.assertIn('"sequence":%s,' % sequence, reply)
                    json.loads(reply)

    def test_one_that_is_too_long_is_refused(self):
        i = self.daemon.create(models.oscillator())
        reply = json.loads(self.raw('{"op":"step","id":"%s","count":1,"sequence":"%s"}' % (
            i, 'x' * 4095)))
        self.assertEqual((reply['ok'], reply['error']['code']), (False, 'malformed-request'))
        self.assertEqual(self.daemon.call('GET', '/v1/instances/' + i)['step'], 0)

    def test_an_integer_of_64_bits_beside_it_stays_one(self):
        i = self.daemon.create(models.oscillator())
        lease = self.door.call('lease', id=i, role='owner', seconds=60)[1]['lease']
        for sequence in ('1764084000123456789', '-0', '1' * 30):
            reply = json.loads(self.raw(
                '{"op":"step","id":"%s","lease":%d,"count":1,"sequence":%s}' % (
                    i, lease, sequence)))
            self.assertTrue(reply['ok'], reply)

    def test_numbers_of_a_query_are_not_passed_over(self):
        for limit, status in ((1, 200), (1.0, 200), (1.5, 422), (None, 422), ([1], 422),
                              (True, 422)):
            with self.subTest(limit=limit):
                reply = json.loads(self.raw(json.dumps({'op': 'instances', 'limit': limit})))
                self.assertEqual(reply.get('error', {'status': 200})['status'], status, reply)

    def test_names_and_labels_come_back_whole(self):
        for text in TEXTS:
            with self.subTest(text=text[:40]):
                model = {**models.oscillator(), 'name': text}
                reply = self.daemon.call('POST', '/v1/instances', {
                    'model': model, 'labels': {'note': text[:60]}})
                self.assertEqual(reply.status, 201, reply)
                path = '/v1/instances/' + reply['id']
                for shown in (reply.json, self.daemon.call('GET', path).json,
                              self.door.call('instance', id=reply['id'])[1]):
                    self.assertEqual((shown['name'], shown['labels']), (text, {'note': text[:60]}))
                listed = self.daemon.call('GET', '/v1/instances?limit=1000')['items']
                self.assertIn(text, [entry['name'] for entry in listed])
                self.assertEqual(self.daemon.call('GET', path + '/model')['name'], text)
                sweep = self.daemon.call('POST', '/v1/sweeps', {
                    'model': model, 'parameters': {'grid': {'k': [1, 2]}}, 'count': 1})
                self.assertEqual(sweep['name'], text)
                pair = self.daemon.call('POST', '/v1/couplings', {
                    'name': text, 'participants': [{'name': 'a', 'instance': reply['id']}],
                    'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01})
                self.assertEqual((pair.status, pair['name']), (201, text))
                self.daemon.call('DELETE', '/v1/couplings/' + pair['id'])

    def test_seconds_come_back_to_the_last_digit(self):
        for seconds in (2.01, 4.35, 1 / 3, 86400.000000001, 1e8 + 1 / 7):
            with self.subTest(seconds=seconds):
                made = self.daemon.call('POST', '/v1/instances', {
                    'model': models.oscillator(), 'ttl': seconds + 60})
                path = '/v1/instances/' + made['id']
                copy = self.daemon.call('POST', path + '/clone', {})
                for shown in (made, self.daemon.call('GET', path), copy,
                              self.daemon.call('PATCH', path, {'ttl': seconds + 60})):
                    self.assertEqual(shown['ttl'], seconds + 60)
                patience = min(seconds, 3600)
                pair = self.daemon.call('POST', '/v1/couplings', {
                    'participants': [{'instance': made['id']}, {'name': 'rig', 'partner': {
                        'outputs': ['y'], 'patience': patience}}], 'connections': [],
                    'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01})
                self.assertEqual(pair.status, 201, pair)
                self.assertEqual(pair['participants'][1]['partner']['patience'], patience)
                self.assertEqual(pair['document']['participants'][1]['partner']['patience'],
                                 patience)
                self.daemon.call('DELETE', '/v1/couplings/' + pair['id'])

    def test_the_shortest_time_to_live_ends(self):
        made = self.daemon.call('POST', '/v1/instances', {
            'model': models.oscillator(), 'ttl': 1e-10})
        self.assertEqual((made.status, made['ttl']), (201, 1e-10))
        wait_until(lambda: self.daemon.call('GET', '/v1/instances/' + made['id']).status == 404,
                   'it expires')


if __name__ == '__main__':
    unittest.main()
