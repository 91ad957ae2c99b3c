"""The query: what an operation does not have, has twice, or cannot take is refused, not ignored."""
import http.client
import json
import unittest
import models
from harness import SLOW, Served, ZmqDoor, routes


class Query(Served):
    def test_unknown_names_are_refused_on_every_route_that_reads(self):
        i = self.daemon.create(models.oscillator())
        for operation, (method, path) in routes().items():
            if method == 'GET' and '{' not in path.replace('{id}', '') and path != '/':
                with self.subTest(operation):
                    reply = self.daemon.call('GET', path.replace('{id}', i) + '?sausage=1')
                    self.assertEqual((reply.status, reply['code']), (400, 'malformed-request'),
                                     reply)
                    self.assertIn('sausage', reply['detail'])

    def test_what_is_accepted_is_listed_and_nothing_is_accepted_twice(self):
        reply = self.daemon.call('GET', '/v1/instances?limt=3')
        self.assertIn('limit, after, label', reply['detail'])
        self.assertEqual(self.daemon.call('GET', '/v1/instances?limit=3&limit=4').status, 400)
        self.assertEqual(self.daemon.call('GET', '/v1/instances?limit=3&after=4').status, 200)
        i = '/v1/instances/' + self.daemon.create(models.oscillator())
        self.assertEqual(self.daemon.call('POST', i + '/step?count=3', {'count': 1}).status, 400)
        self.assertEqual(self.daemon.call('DELETE', i + '?force').status, 400)
        self.assertEqual(self.daemon.call('GET', i)['step'], 0)

    def test_numbers_out_of_their_range_are_not_made_to_fit(self):
        i = '/v1/instances/' + self.daemon.create(models.oscillator())
        run = self.daemon.call('POST', i + '/runs', {'until': 1}).headers['Location']
        for path, name, values in (
                ('/v1/instances', 'limit', ('0', '1001', '-1', '1e2', '', 'x', '%201', '9' * 40)),
                ('/v1/instances', 'after', ('-1', '1.5', 'x', '9' * 20)),
                (i + '/events', 'rate', ('abc', '0', '61', 'nan', 'inf', '0x10', '', '1,5')),
                (run + '/events', 'rate', ('abc', '0.05', '1e9'))):
            for value in values:
                with self.subTest(path=path, value=value):
                    reply = self.daemon.call('GET', '%s?%s=%s' % (path, name, value))
                    self.assertEqual((reply.status, reply['code']), (422, 'invalid-request'))
                    self.assertEqual(reply['errors'][0]['pointer'], '/' + name)

    def test_more_arguments_than_any_route_has_are_refused_at_once(self):
        address = self.daemon.base.split('/')[-1]
        for text, counts in (('limit=1', (65, 225, 235, 340, 1900)), ('x', (65, 340, 7500)),
                             ('', (65, 235, 15000)), ('a=%41', (235,))):
            for count in counts:
                with self.subTest(text=text, count=count):
                    there = http.client.HTTPConnection(address, timeout=5 * SLOW)
                    self.addCleanup(there.close)
                    there.request('GET', '/v1/instances?' + '&'.join([text] * count))
                    answer = there.getresponse()
                    told = json.loads(answer.read())
                    self.assertEqual((answer.status, told['code'], told['detail']),
                                     (400, 'malformed-request',
                                      'a query must have at most 64 arguments'))
        label = ','.join('k%d=v' % k for k in range(64))
        self.assertEqual(self.daemon.call('GET', '/v1/instances?label=' + label).status, 200)

    def test_zeromq_gets_the_same_refusals(self):
        door = ZmqDoor(self.daemon)
        for limit in (0, 1001, '3x'):
            status, reply = door.call('instances', limit=limit)
            self.assertEqual((status, reply['code']), (422, 'invalid-request'), reply)
        self.assertEqual(door.call('instances', limit=1000)[0], 200)
        door.close()


if __name__ == '__main__':
    unittest.main()
