"""The document for people: every route has its place, a call by curl that works, and all is there
without a network."""
import html.parser
import json
import os
import re
import shlex
import unittest
import urllib.parse
from harness import ROOT, Served

with open(os.path.join(ROOT, 'protocol', 'wire', 'routes.def'), encoding='utf-8') as f:
    # symbol, method, path
    ROUTES = re.findall(r'^MECHP_ROUTE\((\w+), "(\w+)", "([^"]+)"', f.read(), re.M)
EMPTY = {'meta', 'link', 'br', 'td', 'th'}


class Page(html.parser.HTMLParser):
    """Ids, links, calls, addresses that are loaded, and elements that are not closed."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded, self.open, self.faults = [], [], [], [], []
        self.calls, self.article = {}, None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids += [attrs['id']] if 'id' in attrs else []
        self.links += [attrs['href']] if tag == 'a' else []
        self.loaded += [tag] if tag in ('script', 'link', 'img', 'iframe') else []
        if tag == 'article':
            self.article = attrs['id']
        if attrs.get('class') == 'curl':
            self.calls[self.article] = ''
            self.open.append('curl')
        elif tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        last = self.open.pop()
        if last != tag and (last, tag) != ('curl', 'pre'):
            self.faults.append((last, tag, self.getpos()))

    def handle_data(self, data):
        if self.open and self.open[-1] == 'curl':
            self.calls[self.article] += data


def call_of(line):
    """(method, path, body) of a call by curl."""
    words = shlex.split(line)
    assert words.pop(0) == 'curl', line
    method, body = None, None
    while len(words) > 1:
        word = words.pop(0)
        if word == '-X':
            method = words.pop(0)
        elif word == '--json':
            body = json.loads(words.pop(0))
        elif word == '-o':
            words.pop(0)
        else:
            assert word == '-N', line
    url = urllib.parse.urlsplit(words[0])
    return method or ('GET' if body is None else 'POST'), url.path, body


class Docs(Served):
    def setUp(self):
        reply = self.daemon.call('GET', '/docs')
        self.assertEqual((reply.status, reply.headers['Content-Type']),
                         (200, 'text/html; charset=utf-8'))
        self.page = Page(reply.raw.decode())

    def test_every_route_has_a_section_and_a_call_that_names_it(self):
        self.assertEqual(len(self.page.calls), len(ROUTES))
        for symbol, method, path in ROUTES:
            called, target, _ = call_of(self.page.calls[symbol])
            self.assertEqual(called, method, symbol)
            parts, wanted = target.split('/'), path.split('/')
            self.assertEqual(len(parts), len(wanted), target)
            for part, want in zip(parts, wanted):
                self.assertTrue(part and want[:1] == '{' or part == want, (target, path))

    def test_calls_are_understood(self):
        calls = [call_of(line) for line in self.page.calls.values()]
        model = next(body for method, path, body in calls
                     if (method, path) == ('PUT', '/v1/instances/rig'))
        for number, (method, path, body) in enumerate(calls):
            if path.endswith('/events') or path == '/v1/log-level':
                continue
            # one of its own for each call, free of leases and runs that others began
            own = '/v1/instances/rig-%d' % number
            if (method, path) != ('PUT', '/v1/instances/rig'):
                self.assertEqual(self.daemon.call('PUT', own, model).status, 201)
            path = path.replace('/v1/instances/rig', own)
            reply = self.daemon.call(method, path, body)
            with self.subTest(call=(method, path)):
                self.assertNotIn(reply.status, (400, 405, 413, 415, 500), reply)
                if reply.status == 404:
                    self.assertNotIn('route', reply.json.get('detail', ''), reply)

    def test_the_page_is_whole_and_loads_nothing(self):
        page = self.page
        self.assertEqual((page.faults, page.open, page.loaded), ([], [], []))
        self.assertEqual(len(page.ids), len(set(page.ids)))
        for link in page.links:
            self.assertTrue(link[0] == '/' or link[1:] in page.ids, link)


if __name__ == '__main__':
    unittest.main()
