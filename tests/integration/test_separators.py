"""Values with separators: what creation takes can be chosen exactly, wherever a text is a list."""
import os
import subprocess
import tempfile
import unittest
import urllib.parse

import harness
import models
from harness import Daemon, Served, ZmqDoor
from package import mechd

VALUES = ('left,right', 'left', 'right', '', '"', '"left"', 'a"b', 'a=b', ' left ', 'left ', '\\',
          'a\\,"b', 'k=left,right', 'ä,ö', 'x' * 255 + ',', '%2C', ',', ',,', 'left\nright')


def word(text):
    return '"%s"' % text.replace('\\', '\\\\').replace('"', '\\"')


class Separators(Served):
    def listed(self, label):
        path = '/v1/instances?limit=1000&label=' + urllib.parse.quote(label, safe='')
        return [entry['id'] for entry in self.daemon.call('GET', path)['items']]

    def test_every_value_of_a_label_chooses_its_own_instance(self):
        made = {v: self.daemon.create(models.oscillator(), labels={'only': v}) for v in VALUES}
        door = ZmqDoor(self.daemon)
        self.addCleanup(door.close)
        with mechd.Server(self.daemon.base) as server:
            for value, i in made.items():
                with self.subTest(value=value):
                    label = 'only=' + word(value)
                    self.assertEqual(self.listed(label), [i])
                    status, reply = door.call('instances', label=label)
                    self.assertEqual((status, [e['id'] for e in reply['items']]), (200, [i]))
                    self.assertEqual([x.id for x in server.instances(only=value)], [i])
                    self.assertEqual(
                        [r['id'] for r in server.batch('outputs', label={'only': value})], [i])
            self.assertEqual(sorted(self.listed('only')), sorted(made.values()))
            # a delete touches what a list with the same selector shows
            for value, i in made.items():
                label = 'only=' + word(value)
                self.assertEqual(self.listed(label), [i])
                reply = self.daemon.call('POST', '/v1/batch', {
                    'instances': {'label': label}, 'operation': 'delete'})
                self.assertEqual([r['id'] for r in reply['results']], [i])
                self.assertEqual(self.daemon.call('GET', '/v1/instances/' + i).status, 404)
            self.assertEqual(self.listed('only'), [])

    def test_a_selector_that_is_no_list_is_refused_alike(self):
        i = self.daemon.create(models.oscillator(), labels={'a': 'x'})
        for label in ('', 'a=x,,b', ',', '=x', 'a="x', 'a="x"y', 'a b', 'ä=x', 'a' * 65,
                      ','.join('k%d' % k for k in range(65))):
            with self.subTest(label=label):
                path = '/v1/instances?label=' + urllib.parse.quote(label, safe='')
                reply = self.daemon.call('GET', path)
                self.assertEqual((reply.status, reply['errors'][0]['pointer']), (422, '/label'))
                reply = self.daemon.call('POST', '/v1/batch', {
                    'instances': {'label': label}, 'operation': 'delete'})
                self.assertEqual((reply.status, reply['errors'][0]['pointer']),
                                 (422, '/instances/label'))
        self.assertEqual(self.daemon.call('GET', '/v1/instances/' + i).status, 200)

    def test_names_with_separators_choose_no_others(self):
        i = self.daemon.create(models.oscillator())
        with mechd.Server(self.daemon.base) as server:
            run = server.instance(i).run(until=0.05, period=0.01, record=1)
            self.assertEqual(sorted(run.results(['x', 'v']).columns), ['v', 'x'])
            # one name that has a comma is no two names
            with self.assertRaises(mechd.Refused) as caught:
                run.results(['x,v'])
            self.assertIn('x,v', str(caught.exception))

    def test_ids_are_read_exactly(self):
        """A number that is written in another way is no id."""
        i = '/v1/instances/' + self.daemon.create(models.oscillator())
        snapshot = self.daemon.call('POST', i + '/snapshots')['id']
        run = self.daemon.call('POST', i + '/runs', {'count': 2, 'period': 0.01})['id']
        for path in (i + '/snapshots/' + snapshot, i + '/runs/' + run):
            head, number = path.rsplit('-', 1)
            for other in ('0' + number, '+' + number, ' ' + number, number + ' ', '-' + number,
                          number + '.0', '', str(2 ** 64 + int(number))):
                with self.subTest(path=path, other=other):
                    asked = '%s-%s' % (head, urllib.parse.quote(other))
                    reply = self.daemon.call('GET', asked)
                    self.assertEqual(reply.status, 404, reply.raw[:200])
                    self.assertNotIn('any more', reply['detail'])
                    self.assertEqual(self.daemon.call('DELETE', asked).status, 404)
            self.assertEqual(self.daemon.call('GET', path).status, 200)

    def test_headers_divide_at_no_comma_in_quotes(self):
        i = self.daemon.create(models.oscillator())
        run = self.daemon.call('POST', '/v1/instances/%s/runs' % i,
                               {'until': 0.1, 'record': {'every': 1}}).headers['Location']
        harness.wait_until(lambda: self.daemon.call('GET', run)['state'] != 'running', 'it ends')
        for accept, kind in (('text/plain;x="a, text/csv", application/json', 'application/json'),
                             ('application/json;x=";q=0", text/csv;q=0.5', 'application/json'),
                             ('application/json;q=0.1, text/csv;x="\\",";q=0.5', 'text/csv'),
                             ('', 'application/json'), (' , ', 'application/json')):
            with self.subTest(accept=accept):
                reply = self.daemon.call('GET', run + '/results', headers={'Accept': accept})
                self.assertEqual(reply.headers['Content-Type'].split(';')[0], kind)
        reply = self.daemon.call('POST', '/v1/instances/%s/step' % i, {'count': 1},
                                 {'Prefer': 'note="a, respond-async"'})
        self.assertEqual(reply.status, 200)
        reply = self.daemon.call('POST', '/v1/instances/%s/step' % i, {'count': 1},
                                 {'Content-Type': ''})
        self.assertEqual(reply.status, 200)
        reply = self.daemon.call('GET', '/openapi.json', headers={
            'Accept-Encoding': 'br;note="a, gzip"'})
        self.assertNotIn('Content-Encoding', reply.headers)

    def test_participants_with_points_are_distinguished(self):
        ids = [self.daemon.create(model) for model in (self.named('b.c'), self.named('c'),
                                                       self.named('d'))]

        def couple(names, connections):
            reply = self.daemon.call('POST', '/v1/couplings', {
                'participants': [{'name': n, 'instance': i} for n, i in names],
                'connections': connections, 'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01})
            if reply.status == 201:
                self.daemon.call('DELETE', '/v1/couplings/' + reply['id'])
            return reply
        # outputs "b.c" of a and "c" of a.b would both be "a.b.c"
        reply = couple((('a', ids[0]), ('a.b', ids[1])), [])
        self.assertEqual((reply.status, reply['errors'][0]['pointer']), (422, '/participants/1'))
        # a.b has d: b.c is of a, though a.b is longer
        reply = couple((('a', ids[0]), ('a.b', ids[2])), [{'from': 'a.b.c', 'to': 'a.b.force',
                                                   'factor': 1}])
        self.assertEqual(reply.status, 201, reply)

    @staticmethod
    def named(output):
        model = models.oscillator()
        model['outputs'][0]['name'] = output
        return model


class Listed(unittest.TestCase):
    def test_paths_of_sockets_may_have_commas(self):
        with Daemon('--listen', '"unix:a,b.sock"') as daemon:
            path = os.path.join(daemon.folder, 'a,b.sock')
            self.assertTrue(os.path.exists(path))

    def test_values_of_the_configuration_may_have_what_begins_a_comment(self):
        paths = ('a # b', 'a #', '#a', '"a"', 'a,b', 'a "b" # c', 'a\\ #"', 'a', ' a', 'a#b')
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, 'mechd.conf')

            def settings(lines):
                with open(file, 'w', encoding='utf-8') as f:
                    f.write(lines)
                done = subprocess.run([harness.program('mechd'), '--config', file, '--print',
                                       'settings'], capture_output=True, text=True,
                                      timeout=60 * harness.SLOW)
                self.assertEqual(done.returncode, 0, done.stderr)
                return done.stdout
            for path in paths:
                with self.subTest(path=path):
                    given = ('ready-file = %s # no "part" of it\nlisten = %s,127.0.0.1:0\n' %
                             (word(path), word('unix:' + path)))
                    printed = settings(given)
                    # read again they are the same
                    self.assertEqual(settings(printed), printed)
                    for line, text in (('ready-file = ', path), ('listen = ', 'unix:' + path)):
                        found = next(x for x in printed.splitlines() if x.startswith(line))
                        found = found[len(line):].removesuffix(',127.0.0.1:0')
                        self.assertIn(found, (text, word(text)))


if __name__ == '__main__':
    unittest.main()
