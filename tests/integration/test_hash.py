"""The state's hash of each communication step, in recorded runs and on the stream: the same for the
same model and inputs, here and on another daemon; another one as soon as a bit differs."""
import json
import shutil
import tempfile
import unittest

import harness
import models
from harness import Daemon, Stream, wait_until
from keeping import Kept


class Hash(unittest.TestCase):
    def call(self, d, method, path, body=None, status=200):
        reply = d.call(method, path, body)
        self.assertEqual(reply.status, status, reply)
        return reply

    def make(self, d, **more):
        return '/v1/instances/' + d.create(models.nonlinear_oscillator(), **more)

    def record(self, d, path, until=0.5, record=None, **more):
        """The path of a run that is over."""
        body = dict(more, until=until, record={'hash': True} if record is None else record)
        where = self.call(d, 'POST', path + '/runs', body, 202).headers['Location']
        wait_until(lambda: d.call('GET', where)['state'] != 'running', 'the run')
        return where

    def rows(self, d, where, query=''):
        found = self.call(d, 'GET', where + '/results' + query).json
        return found['columns'], found['rows']

    def test_the_same_steps_have_the_same_hashes_everywhere(self):
        with Daemon() as one, Daemon() as two:
            paths = [(one, self.make(one)), (one, self.make(one)), (two, self.make(two))]
            found = [self.rows(d, self.record(d, path)) for d, path in paths]
            self.assertEqual(found[0], found[1])
            self.assertEqual(found[0], found[2])
            columns, rows = found[0]
            self.assertEqual(columns[-2:], ['state:hash[0]', 'state:hash[1]'])
            hashes = [(row[-2], row[-1]) for row in rows]
            self.assertEqual(len(set(hashes)), len(hashes))
            for half in (half for pair in hashes for half in pair):
                self.assertTrue(half == int(half) and 0 <= half < 2 ** 32, half)

    def test_what_no_output_shows_is_in_it(self):
        with Daemon() as d:
            paths = [self.make(d) for _ in range(4)]
            self.call(d, 'PUT', paths[1] + '/inputs', {'force': 1e-300})
            self.call(d, 'PUT', paths[2] + '/parameters', {'d': 1 + 2 ** -52})
            # to what it is: no difference
            state = self.call(d, 'GET', paths[3] + '/state').json
            self.call(d, 'POST', paths[3] + '/snapshots', None, 201)
            self.call(d, 'POST', paths[3] + '/step', {'count': 3})
            self.call(d, 'POST', paths[3] + '/snapshots/s-1/restore')
            self.assertEqual(self.call(d, 'GET', paths[3] + '/state').json, state)
            first = [self.rows(d, self.record(d, path))[1][0][-2:] for path in paths]
            self.assertNotEqual(first[0], first[1])
            self.assertNotEqual(first[0], first[2])
            self.assertEqual(first[0], first[3])

    def test_columns_are_chosen_and_stored(self):
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        with Kept(folder, '--durability', 'every-step') as d:
            path = self.make(d)
            plain = self.record(d, path, 0.1, {})
            self.assertFalse(any('hash' in name for name in self.rows(d, plain)[0]))
            where = self.record(d, path, 0.4, {'hash': True, 'outputs': ['v']})
            whole = self.rows(d, where)
            self.assertEqual(whole[0], ['time', 'v', 'state:hash[0]', 'state:hash[1]'])
            self.assertTrue(self.call(d, 'GET', where).json['record']['hash'])
            self.assertEqual(self.rows(d, where, '?outputs=state:hash')[1],
                             [[row[0]] + row[2:] for row in whole[1]])
            self.assertEqual(self.rows(d, where, '?outputs=v')[0], ['time', 'v'])
            line = self.call(d, 'GET', where + '/results?format=ndjson').raw.splitlines()[3]
            self.assertEqual(json.loads(line)['state:hash'], whole[1][3][2:])
            self.call(d, 'GET', plain + '/results?outputs=state:hash', None, 422)
            self.call(d, 'POST', path + '/runs', {'count': 1, 'record': {'hash': 1}}, 422)
        with Kept(folder) as d:
            self.assertEqual(self.rows(d, where), whole)

    def test_the_stream_has_it_while_it_is_asked_for(self):
        with Daemon() as d:
            path, twin = self.make(d), self.make(d)
            i = path.split('/')[-1]
            recorded = self.rows(d, self.record(d, twin, 0.1, period=0.02))[1]
            with Stream(d, i, 'hash') as stream:
                # in this order: with the first frame of the second, the first has arrived too
                stream.socket.subscribe('state/%s/' % i)
                self.call(d, 'POST', path + '/step', {'until': recorded[1][0]})
                while not stream.socket.recv_multipart()[0].startswith(b'state/'):
                    pass
                for row in recorded[2:]:
                    self.call(d, 'POST', path + '/step', {'until': row[0]})
                    topic = b''
                    while topic != b'hash/%s/' % i.encode() or frame['time'] < row[0]:
                        topic, data = stream.socket.recv_multipart()
                        frame = harness.unpack(data)
                    self.assertEqual((frame['time'], frame['values']), (row[0], tuple(row[-2:])))


if __name__ == '__main__':
    unittest.main()
