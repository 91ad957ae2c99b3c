"""Whatever can take long ends on request, when its client has gone, and when the operation
that it became is deleted: soon, and as if it had not begun."""
import re
import unittest
import urllib.parse

import raw
from asking import ASYNC, Asked
from harness import Served, ZmqDoor, gauge, wait_until
from long_requests import BOUNDED, LONG, all_at_work

RACES = True

# s; it takes milliseconds, and a quarter of a second until a look finds the clients that have left


def documented(pages, code):
    """operationIds of the routes that can refuse with it."""
    def at(ref):
        found = pages
        for key in ref.split('/')[1:]:
            found = found[key.replace('~1', '/')]
        return found
    found = set()
    for methods in pages['paths'].values():
        for route in methods.values():
            for reply in route['responses'].values() if 'operationId' in route else ():
                reply = at(reply['$ref']) if '$ref' in reply else reply
                if '`%s`' % code in reply.get('description', ''):
                    found.add(route['operationId'])
    return found


class LongRequests(Served):
    def served(self):
        """No request is waiting."""
        return gauge(self.daemon, 'in_flight') == 1

    def begin(self, one, prefix, *lines):
        s = raw.connect(self.daemon)
        s.sendall(raw.request(prefix + one.path, one.body, *lines, method=one.method))
        wait_until(lambda: all_at_work(self.daemon, 1), 'it is at work', 60)
        return s

    def state(self, prefix):
        return self.daemon.call('GET', prefix + '/state').raw if 'instances' in prefix else b''

    def there(self):
        """Ids of what a request could have made."""
        return [[one['id'] for one in self.daemon.call('GET', path)['items']]
                for path in ('/v1/instances?limit=1000', '/v1/sweeps')]

    def ended(self, one, begin, end):
        """`end` is called when the request is at work, which would take minutes or for ever."""
        prefix = one.begin(self.daemon)
        before, there = self.state(prefix), self.there()
        request = begin(prefix)
        end(prefix, request)
        wait_until(self.served, 'it has ended', 20)
        self.assertEqual(self.state(prefix), before)
        if not one.stop or one.stop[0] != 'DELETE':
            self.assertEqual(self.there(), there)

    def test_left_by_the_client(self):
        for one in LONG:
            with self.subTest(one.name):
                self.ended(one, lambda prefix: self.begin(one, prefix),
                           lambda prefix, s: s.close())

    def test_left_by_the_client_of_the_control_socket(self):
        def begin(one, prefix):
            path, _, query = one.path.partition('?')
            partner = ZmqDoor(self.daemon)
            op = re.sub('[A-Z]', lambda m: '-' + m[0].lower(), one.route)
            key = 'cid' if 'couplings' in prefix else 'id'
            partner.send(op, **({key: prefix.rsplit('/', 1)[1]} if prefix else {}),
                         **(one.body or {}), **dict(urllib.parse.parse_qsl(query)))
            wait_until(lambda: all_at_work(self.daemon, 1), 'it is at work', 60)
            return partner
        for one in LONG:
            with self.subTest(one.name):
                self.ended(one, lambda prefix: begin(one, prefix),
                           lambda prefix, partner: partner.close())

    def test_stopped_by_a_request(self):
        def begin(one, prefix):
            asked = Asked(self.daemon, one.method, prefix + one.path, one.body)
            wait_until(lambda: all_at_work(self.daemon, 1), 'it is at work', 60)
            return asked

        def end(one, prefix, asked):
            method, path = one.stop
            self.assertIn(self.daemon.call(method, prefix + path).status, (200, 204))
            reply = asked.answer()
            self.assertEqual((reply.status, reply['code']), (409, 'cancelled'), reply)
        for one in LONG:
            if one.stop == ('POST', '/stop'):
                with self.subTest(one.name):
                    self.ended(one, lambda prefix: begin(one, prefix),
                               lambda prefix, asked: end(one, prefix, asked))

    def test_deleted(self):
        """What goes on behind its answer."""
        def begin(one, prefix):
            reply = self.daemon.call(one.method, prefix + one.path, one.body, ASYNC)
            self.assertEqual(reply.status, 202, reply)
            wait_until(lambda: gauge(self.daemon, 'pool_waiting') == 0, 'it is at work', 60)
            return reply.headers['Location']

        def end(where):
            self.assertLess(self.daemon.call('DELETE', where).status, 300)
            wait_until(lambda: self.daemon.call('GET', where).status == 404 or
                       self.daemon.call('GET', where)['state'] != 'running', 'it is over', 20)
        for one in LONG:
            if one.method == 'POST':
                with self.subTest(one.name):
                    self.ended(one, lambda prefix: begin(one, prefix),
                               lambda prefix, where: end(where))

    def test_none_is_missing(self):
        pages = self.daemon.call('GET', '/openapi.json').json
        known = {one.route for one in LONG if one.stop}
        self.assertEqual(known & set(BOUNDED), set())
        self.assertEqual(documented(pages, 'cancelled'), known | set(BOUNDED))


if __name__ == '__main__':
    unittest.main()
