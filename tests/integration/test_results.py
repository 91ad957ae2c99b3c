"""Recorded outputs of a run: the rows are what stepping by hand gives, in every form."""
import csv
import gzip
import io
import unittest
import models
from harness import Served, wait_until
from forms import CSV, F64, load_npy, numbers

RACES = True


class Results(Served):
    def call(self, method, path, body=None, status=200, **headers):
        reply = self.daemon.call(method, '/v1/instances/' + path, body, headers or None)
        self.assertEqual(reply.status, status, reply)
        return reply

    def run_to_end(self, i, **body):
        rid = self.call('POST', i + '/runs', body, 202)['id']
        path = '%s/runs/%s' % (i, rid)
        wait_until(lambda: self.call('GET', path)['state'] != 'running', 'the run is over')
        return path

    def test_rows_are_what_stepping_by_hand_gives_in_every_form(self):
        i, other = (self.daemon.create(models.oscillator()) for _ in range(2))
        path = self.run_to_end(i, until=0.5, period=0.01, record={'every': 3})
        table = self.call('GET', path + '/results').json
        self.assertEqual(table['columns'], ['time', 'x', 'v'])
        expected = []
        for k in range(51):
            if k > 0:
                until = 0.5 if k == 50 else k * 0.01
                self.call('POST', other + '/step', {'until': until})
            if k % 3 == 0 or k == 50:
                now = self.call('GET', other + '/outputs')
                expected.append([now['time'], now['outputs']['x'], now['outputs']['v']])
        self.assertEqual(table['rows'], expected)
        self.assertEqual(self.call('GET', path)['recorded'], len(expected))
        flat = [x for row in expected for x in row]
        raw = self.call('GET', path + '/results', Accept=F64).raw
        self.assertEqual(numbers(raw), flat)
        raw = self.call('GET', path + '/results?format=npy', Accept=F64).raw
        self.assertEqual(load_npy(raw), ((len(expected), 3), flat))
        text = self.call('GET', path + '/results', Accept=CSV).raw.decode()
        rows = list(csv.reader(io.StringIO(text)))
        self.assertEqual([[float(x) for x in r] for r in rows[1:]], expected)
        lines = self.call('GET', path + '/results?format=ndjson').raw.decode().splitlines()
        self.assertEqual(len(lines), len(expected))
        # a part by time, ends included
        a, b = expected[2][0], expected[5][0]
        part = self.call('GET', '%s/results?from=%r&to=%r' % (path, a, b)).json
        self.assertEqual(part['rows'], expected[2:6])
        self.assertEqual(self.call('GET', path + '/results?from=9').json['rows'], [])
        self.assertEqual(self.call('GET', path + '/results?from=2&to=1').json['rows'], [])

    def test_rows_are_compressed_while_they_are_made(self):
        i = self.daemon.create(models.oscillator())
        path = self.run_to_end(i, until=40, period=0.001, record={'every': 1}) + '/results'
        for accept in ('application/json', CSV, 'application/x-ndjson'):
            plain = self.call('GET', path, Accept=accept)
            packed = self.call('GET', path, Accept=accept, **{'Accept-Encoding': 'gzip'})
            self.assertEqual(packed.headers['Content-Encoding'], 'gzip')
            self.assertEqual(packed.headers['Vary'], 'Accept-Encoding')
            self.assertEqual(gzip.decompress(packed.raw), plain.raw)
            self.assertGreater(len(plain.raw), 1500000)
            self.assertLess(len(packed.raw), len(plain.raw) * 0.6)
        raw = self.call('GET', path, Accept=F64, **{'Accept-Encoding': 'gzip'})
        self.assertNotIn('Content-Encoding', raw.headers)

    def test_a_stopped_run_keeps_its_rows(self):
        i = self.daemon.create(models.oscillator())
        rid = self.call('POST', i + '/runs', {'until': 1e3, 'pace': 1, 'period': 0.01,
                                              'record': {}}, 202)['id']
        path = '%s/runs/%s' % (i, rid)
        wait_until(lambda: self.call('GET', path)['recorded'] > 3, 'there are rows')
        count = self.call('DELETE', path)['recorded']
        rows = self.call('GET', path + '/results').json['rows']
        self.assertEqual(len(rows), count)
        self.assertEqual(sorted(r[0] for r in rows), [r[0] for r in rows])

    def test_what_cannot_be_kept_is_refused_before_the_run(self):
        i = self.daemon.create(models.oscillator())
        for body, pointer in (({'until': 1, 'record': {'every': 0}}, '/record/every'),
                              ({'until': 1, 'record': {'every': 1.5}}, '/record/every'),
                              ({'until': 1, 'record': {'each': 1}}, '/record/each'),
                              ({'until': 1, 'record': 7}, '/record'),
                              ({'pace': 1, 'record': {}}, '/record'),
                              ({'until': 1e9, 'period': 0.001, 'record': {}}, '/record')):
            with self.subTest(str(body)):
                reply = self.call('POST', i + '/runs', body, 422)
                self.assertEqual(reply['errors'][0]['pointer'], pointer, reply)
        path = self.run_to_end(i, until=0.1)
        self.call('GET', path + '/results', status=404)
        path = self.run_to_end(i, until=0.2, record={})
        self.call('GET', path + '/results?from=x', status=422)
        self.call('GET', path + '/results', status=406, Accept='image/png')


if __name__ == '__main__':
    unittest.main()
