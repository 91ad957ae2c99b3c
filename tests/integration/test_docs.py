"""The document for people: every route has its place, a call by curl that works, and all is there
without a network."""
import base64
import html.parser
import json
import os
import re
import shlex
import subprocess
import tempfile
import unittest
import urllib.parse
import fmus
import models
from harness import ROOT, SERIES, SLOW, Daemon, Served

with open(os.path.join(ROOT, 'protocol', 'wire', 'routes.def'), encoding='utf-8') as f:
    # symbol, method, path
    ROUTES = re.findall(r'^MECHP_ROUTE\((\w+), "(\w+)", "([^"]+)"', f.read(), re.M)
EMPTY = {'meta', 'link', 'br', 'td', 'th'}


class Page(html.parser.HTMLParser):
    """Ids, links, calls, addresses that are loaded, and elements that are not closed."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded, self.open, self.faults = [], [], [], [], []
        self.calls, self.article, self.icons = {}, None, []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids += [attrs['id']] if 'id' in attrs else []
        self.links += [attrs['href']] if tag == 'a' else []
        if tag in ('script', 'img', 'iframe') or tag == 'link' and attrs.get('rel') != 'icon':
            self.loaded.append(tag)
        self.icons += [attrs['href']] if attrs.get('rel') == 'icon' else []
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


def call_of(text):
    """(method, path, body) of a call by curl, the last one where others lead to it."""
    line = text.split('\n')[-1]
    if line.startswith('LEASE=$('):
        line = line[len('LEASE=$('):line.index(' | ')]
    words = shlex.split(line)
    assert words.pop(0) == 'curl', line
    method, body = None, None
    while len(words) > 1:
        word = words.pop(0)
        if word == '-X':
            method = words.pop(0)
        elif word == '--json':
            body = json.loads(words.pop(0))
        elif word in ('-o', '-H', '--max-time', '--data-binary'):
            words.pop(0)
        else:
            assert word in ('-N', '-s'), line
    url = urllib.parse.urlsplit(words[0])
    return method or ('GET' if body is None else 'POST'), url.path, body


class Docs(Served):
    def setUp(self):
        reply = self.daemon.call('GET', '/docs')
        self.assertEqual((reply.status, reply.headers['Content-Type']),
                         (200, 'text/html; charset=utf-8'))
        self.text = html.unescape(reply.raw.decode())
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

    def test_calls_for_bytes_name_a_file(self):
        named = {symbol: line.split(' -o ')[1].split()[0]
                 for symbol, line in self.page.calls.items() if ' -o ' in line}
        self.assertEqual(named, {'COUPLING_SSP': 'coupling.ssp', 'COUPLING_STATE': 'coupling.mechd',
                                 'FMU': 'model.fmu', 'SET_COUPLING_STATE': 'coupling.mechd',
                                 'SNAPSHOT': 'snapshot.mechd'})

    def test_parameters_show_what_they_accept(self):
        self.assertIn("<code>configuration</code><td>Configuration (default current). <small>"
                      "'current'|'reference'|'initial'|'startOfStep'</small>", self.text)

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

    def test_calls_work_from_top_to_bottom(self):
        # each in the same shell; what it answers, and how curl ended
        script = 'set -o pipefail\ncurl() { command curl -sS --fail-with-body "$@"; ' \
                 'local ended=$?; echo "$route $ended" >> ended; return $ended; }\n'
        # the first bytes of an archive stand for a whole one
        whole = base64.b64encode(fmus.archive()).decode()
        with Daemon(*fmus.ON) as d, tempfile.TemporaryDirectory(prefix='mechd-docs-') as folder:
            page = Page(d.call('GET', '/docs').raw.decode())
            for symbol, text in page.calls.items():
                text = text.replace('UEsDBBQAAAAIAA==', whole)
                script += 'route=%s\n%s\n' % (symbol, text.replace('http://127.0.0.1:8080', d.base))
            told = subprocess.run(['bash', '-c', script], cwd=folder, timeout=120 * SLOW,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            with open(os.path.join(folder, 'ended'), encoding='ascii') as f:
                ended = [line.split() for line in f]
        self.assertEqual({symbol for symbol, _ in ended}, set(page.calls))
        for symbol, code in ended:
            # live events go on for as long as they are read: 28, the time is over
            with self.subTest(page.calls[symbol]):
                self.assertEqual(code, '28' if symbol in ('EVENTS', 'COUPLING_EVENTS') else '0',
                                 re.findall(rb'\{"type":"/docs#.*', told.stdout))

    def test_ids_are_those_that_the_server_assigns_first(self):
        """With the series of a process without a state directory, whatever the others are."""
        def shown(d):
            calls = Page(d.call('GET', '/docs').raw.decode()).calls
            return {shown for symbol, _, path in ROUTES if re.search(r'\{[cfow]id\}', path)
                    for shown in re.findall(r'/([cfow]-[^/\s]+)', calls[symbol])}
        check = {'model': models.oscillator()}
        with Daemon() as d:
            given = d.call('POST', '/v1/models/check', check, {'Prefer': 'respond-async'})['id']
            self.assertRegex(given, '^o-%s-1$' % SERIES)
            self.assertEqual(shown(d), {letter + given[1:] for letter in 'cfow'})
        with tempfile.TemporaryDirectory(prefix='mechd-docs-') as folder, \
                Daemon('--state', folder) as d:
            self.assertEqual(shown(d), {'c-1', 'o-1', 'w-1', 'f-1'})

    def test_the_icon_is_there(self):
        for icon in self.page.icons:
            self.assertEqual(self.daemon.call('GET', icon).headers['Content-Type'],
                             'image/svg+xml')
        self.assertEqual(len(self.page.icons), 1)

    def test_the_page_is_whole_and_loads_nothing(self):
        page = self.page
        self.assertEqual((page.faults, page.open, page.loaded), ([], [], []))
        self.assertEqual(len(page.ids), len(set(page.ids)))
        for link in page.links:
            self.assertTrue(link[0] == '/' or link[1:] in page.ids, link)


if __name__ == '__main__':
    unittest.main()
