"""State and outputs in the form that Accept asks for, and compressed answers."""
import array
import csv
import gzip
import io
import json
import unittest
import numpy
import models
from harness import Daemon, HttpDoor, ZmqDoor
from forms import CSV, F64, NDJSON, NPY, load_npy, numbers

def flat(value):
    return [x for v in value.values() for x in (v if isinstance(v, list) else [v])]


def masses(n):
    return {'mechd': 1, 'name': 'many', 'objects': [
        {'name': 'm', 'type': 'LagrangianLinearTIDS', 'M': {'diag': [1 + k / n for k in range(n)]},
         'K': {'diag': [1] * n}, 'q0': [k / 7 for k in range(n)], 'v0': [1 / 3] * n}],
        'solver': {'integrator': 'MoreauJean', 'stepSize': 1e-3}}


class Forms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        reply = cls.daemon.call('POST', '/v1/instances', {'example': 'double-pendulum'})
        cls.one = '/v1/instances/' + reply['id']
        cls.daemon.call('POST', cls.one + '/step', {'count': 100})

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def get(self, path, accept=None, status=200, **headers):
        if accept:
            headers['Accept'] = accept
        reply = self.daemon.call('GET', path, None, headers)
        self.assertEqual(reply.status, status, reply)
        return reply

    def test_every_form_has_the_same_numbers_in_the_same_order(self):
        for part in ('/state', '/outputs'):
            with self.subTest(part):
                whole = self.get(self.one + part).json
                plain = dict(whole)
                named = plain.pop('outputs', {})
                expected = flat(plain) + flat(named)
                self.assertGreater(len(expected), 2)
                self.assertTrue(any(x != round(x, 3) for x in expected))
                self.assertEqual(numbers(self.get(self.one + part, F64).raw), expected)
                shape, values = load_npy(self.get(self.one + part, NPY).raw)
                self.assertEqual((shape, values), ((1, len(expected)), expected))
                rows = list(csv.reader(io.StringIO(self.get(self.one + part, CSV).raw.decode())))
                self.assertEqual([len(r) for r in rows], [len(expected)] * 2)
                self.assertEqual([float(x) for x in rows[1]], expected)
                columns = []
                for name, value in {**plain, **named}.items():
                    columns += ['%s[%d]' % (name, k) for k in range(len(value))] if isinstance(
                        value, list) else [name]
                self.assertEqual(rows[0], columns)
                lines = self.get(self.one + part, NDJSON).raw.decode().split('\n')
                self.assertEqual((json.loads(lines[0]), lines[1:]), (whole, ['']))

    def test_the_header_is_read_as_the_standard_has_it(self):
        for accept, kind in ((None, 'application/json'), ('*/*', 'application/json'),
                             ('application/*', 'application/json'), ('text/*', CSV),
                             ('text/html, application/xhtml+xml, */*;q=0.8', 'application/json'),
                             ('application/json;q=0.5, text/csv', CSV),
                             ('text/csv;q=0.2, application/x-npy; q=0.3', NPY),
                             ('*/*, text/csv', CSV), ('TEXT/CSV', CSV),
                             ('application/json;q=0, */*;q=0.1', NDJSON)):
            with self.subTest(str(accept)):
                reply = self.get(self.one + '/state', accept)
                self.assertEqual(reply.headers['Content-Type'], kind)
        for accept in ('text/html', 'image/png, text/html;q=0.5', 'application/json;q=0'):
            for part in ('/state', '/outputs'):
                refused = self.get(self.one + part, accept, 406)
                self.assertEqual(refused['code'], 'not-acceptable')

    def test_the_query_stands_above_the_header(self):
        self.assertEqual(self.get(self.one + '/state?format=csv', NPY).headers['Content-Type'], CSV)
        self.get(self.one + '/state?format=xml', status=406)

    def test_a_state_is_set_from_the_row_that_it_was_given_as(self):
        for example in ('double-pendulum', 'bridge-rectifier'):
            one, other = ('/v1/instances/' + self.daemon.create(example=example) for _ in 'ab')
            self.assertEqual(self.daemon.call('POST', one + '/step', {'count': 100}).status, 200)
            whole = self.get(one + '/state').json
            row = numpy.load(io.BytesIO(self.get(one + '/state', NPY).raw))
            bodies = [(kind, self.get(one + '/state', kind).raw) for kind in (F64, NPY)]
            # NumPy's own files: flat, and with the longer heads
            for shaped, version in ((row.ravel(), (1, 0)), (row, (2, 0)), (row.T, (3, 0))):
                file = io.BytesIO()
                numpy.lib.format.write_array(file, shaped, version)
                bodies.append((NPY, file.getvalue()))
            for kind, body in bodies:
                with self.subTest('%s %s %r' % (example, kind, body[:10])):
                    self.assertEqual(self.daemon.call('POST', other + '/reset').status, 200)
                    self.assertNotEqual(self.get(other + '/state').json, whole)
                    reply = self.daemon.call('PUT', other + '/state', body, {'Content-Type': kind})
                    self.assertEqual(reply.status, 200, reply)
                    for name in ('time', 'q', 'v', 'x', 'z'):
                        self.assertEqual(reply[name], whole[name], name)

    def test_a_row_that_is_none_of_the_state_is_refused(self):
        before = self.get(self.one + '/state').raw
        row = self.get(self.one + '/state', F64).raw
        npy = self.get(self.one + '/state', NPY).raw
        infinite = row[:16] + array.array('d', [float('inf')]).tobytes() + row[24:]
        for kind, body, what in (
                (F64, row[:-8], 'numbers'), (F64, row + row, 'numbers'), (F64, row[:-3], 'numbers'),
                (NPY, npy[:-8], 'numbers'), (NPY, row, 'head'), (NPY, npy[:9], 'head'),
                (NPY, npy[:70], 'head'), (NPY, npy.replace(b'NUMPY\1', b'NUMPY\7'), 'head'),
                (NPY, npy.replace(b'<f8', b'>f8'), 'float64'),
                (NPY, npy.replace(b'descr', b'other'), 'float64'),
                (F64, infinite, 'finite')):
            with self.subTest('%s %r' % (kind, body[:12])):
                reply = self.daemon.call('PUT', self.one + '/state', body, {'Content-Type': kind})
                self.assertEqual(reply.status, 422, reply)
                self.assertIn(what, reply.raw.decode())
        self.assertEqual(self.get(self.one + '/state').raw, before)
        reply = self.daemon.call('POST', self.one + '/step', row, {'Content-Type': F64})
        self.assertEqual(reply.status, 415)

    def test_over_zeromq_it_is_json(self):
        i = HttpDoor(self.daemon).call('create', model=models.oscillator())[1]['id']
        door = ZmqDoor(self.daemon)
        self.assertEqual(door.call('get-state', id=i, format='json')[0], 200)
        self.assertEqual(door.call('outputs', id=i, format='csv')[1]['code'], 'not-acceptable')
        door.close()

    def test_large_text_is_compressed_for_clients_that_accept_it(self):
        i = '/v1/instances/' + self.daemon.create(masses(20000))
        plain = self.get(i + '/state', **{'Accept-Encoding': 'identity'})
        self.assertNotIn('Content-Encoding', plain.headers)
        for takes in ('gzip', 'deflate, gzip;q=0.5', '*', 'br, GZIP'):
            packed = self.daemon.call('GET', i + '/state', None, {'Accept-Encoding': takes})
            self.assertEqual(packed.headers['Content-Encoding'], 'gzip', takes)
            self.assertLess(len(packed.raw), len(plain.raw) / 1.5)
            self.assertEqual(gzip.decompress(packed.raw), plain.raw)
        for takes in ('gzip;q=0', 'br', '*;q=0', 'gzip;q=0, *', ''):
            reply = self.daemon.call('GET', i + '/state', None, {'Accept-Encoding': takes})
            self.assertNotIn('Content-Encoding', reply.headers, takes)
        # numbers as they lie do not become smaller
        reply = self.daemon.call('GET', i + '/state', None,
                                 {'Accept-Encoding': 'gzip', 'Accept': F64})
        self.assertNotIn('Content-Encoding', reply.headers)

    def test_small_answers_and_refusals_are_sent_as_they_are(self):
        for path in (self.one + '/outputs', '/v1/instances/nobody'):
            reply = self.daemon.call('GET', path, None, {'Accept-Encoding': 'gzip'})
            self.assertNotIn('Content-Encoding', reply.headers)

    def test_what_its_own_thread_answers_is_compressed_too(self):
        plain = self.get('/openapi.json', **{'Accept-Encoding': 'identity'})
        packed = self.daemon.call('GET', '/openapi.json', None, {'Accept-Encoding': 'gzip'})
        self.assertEqual(packed.headers['Content-Encoding'], 'gzip')
        self.assertLess(len(packed.raw), len(plain.raw) / 4)
        self.assertEqual(gzip.decompress(packed.raw), plain.raw)


if __name__ == '__main__':
    unittest.main()
