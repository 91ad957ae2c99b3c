"""The hash of the states of all participants in the rows of a coupling's runs, and the order of its
runs among its other commands."""
import unittest

from asking import ASYNC
from coupled import K, K12, OSCILLATORS, Couplings, half
from harness import Stream, ZmqDoor, wait_until

RACES = True
ENDLESS = 10 ** 9
HASH = ['state:hash[0]', 'state:hash[1]']


class Hashes(Couplings):
    def rows(self, cid, count, **record):
        """Of a run of so many windows, which is over."""
        reply = self.daemon.call('POST', '/v1/couplings/%s/runs' % cid,
                                 {'count': count, 'record': {'hash': True, **record}})
        self.assertEqual(reply.status, 202, reply)
        where = reply.headers['Location']
        wait_until(lambda: self.daemon.call('GET', where)['state'] == 'finished', 'it is over')
        self.assertIs(self.daemon.call('GET', where)['record']['hash'], True)
        return self.daemon.call('GET', where + '/results').json

    def test_each_row_has_the_hash_of_all_participants(self):
        for more in ({'scheme': 'GaussSeidel'}, {'hold': 1},
                     {'scheme': 'JacobiIterated', 'waveform': {'degree': 2}}):
            with self.subTest(more):
                _, _, cid = self.oscillators(**more)
                _, _, same = self.oscillators(**more)
                _, _, other = self.oscillators(d=0.1, **more)
                found = self.rows(cid, 8)
                self.assertEqual(found['columns'][-2:], HASH)
                self.assertEqual(self.rows(same, 8), found)
                hashes = [tuple(row[-2:]) for row in found['rows']]
                self.assertEqual((len(hashes), len(set(hashes))), (9, 9))
                another = {tuple(row[-2:]) for row in self.rows(other, 8)['rows']}
                self.assertEqual(another & set(hashes), {hashes[0]})

    def test_the_hash_at_the_start_is_that_of_the_state_of_then(self):
        """Also before a run, where no window publishes it, and where one participant is apart."""
        _, right, cid = self.oscillators()
        root = '/v1/couplings/' + cid
        self.good(cid, count=3)
        sid = self.daemon.call('POST', root + '/snapshots')['id']
        first = self.rows(cid, 5, outputs=['left.x'])
        self.assertEqual(first['columns'], ['time', 'left.x'] + HASH)
        for _ in range(2):
            reply = self.daemon.call('POST', '%s/snapshots/%s/restore' % (root, sid))
            self.assertEqual(reply.status, 200, reply)
            self.assertEqual(self.rows(cid, 5, outputs=['left.x']), first)
        self.assertEqual(self.daemon.call('POST', '%s/snapshots/%s/restore' % (root, sid)).status,
                         200)
        self.good(cid, count=2)
        self.assertEqual(self.rows(cid, 1)['rows'][0][-2:], first['rows'][2][-2:])

    def test_it_is_the_hash_that_the_stream_has(self):
        _, _, cid = self.oscillators()
        with Stream(self.daemon, cid, 'hash') as stream, Stream(self.daemon, cid) as state:
            self.good(cid, count=1)  # the subscriptions have arrived when its frame comes
            self.assertEqual(state.next()[1]['sequence'], 1)
            hashes = [tuple(row[-2:]) for row in self.rows(cid, 4)['rows']]
            found = []
            while len(found) < 4:
                frame = stream.next()[1]
                found += [frame['values']] if frame['sequence'] > 1 else []
        self.assertEqual(found, hashes[1:])

    def test_inputs_of_all_participants_are_recorded(self):
        """Of a co-driver as of connections; null where the model's own value acts."""
        left, right = (self.daemon.create(half(x, k=K)) for x in (1., 0.))
        cid = self.couple(left, right, OSCILLATORS[:1], scheme='Jacobi', hold=0)['id']
        found = self.rows(cid, 2, inputs=True)
        self.assertEqual(found['columns'][5:], ['input:left.F', 'input:right.F'] + HASH)
        for row, after in zip(found['rows'], found['rows'][1:]):
            self.assertIsNone(row[5])
            self.assertAlmostEqual(after[6], K12 * row[1], delta=1e-12 * K12)
        path = '/v1/instances/' + left
        lease = self.daemon.call('POST', path + '/lease', {'role': 'co-driver', 'channels': ['F']})
        for value in (2.5, -3.):
            reply = self.daemon.call('PUT', path + '/inputs', {'F': value},
                                     {'Lease': str(lease['lease'])})
            self.assertEqual(reply.status, 200, reply)
            self.assertEqual({row[5] for row in self.rows(cid, 2, inputs=True)['rows']}, {value})

    def test_the_hash_of_a_program_is_not_known(self):
        left = self.daemon.create(half(1., k=K + K12))
        body = {'participants': [{'name': 'left', 'instance': left},
                                 {'name': 'right', 'partner': {'inputs': ['F'],
                                                               'outputs': ['x']}}],
                'connections': OSCILLATORS, 'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01}
        made = self.daemon.call('POST', '/v1/couplings', body)
        self.assertEqual(made.status, 201, made)
        reply = self.daemon.call('POST', '/v1/couplings/%s/runs' % made['id'],
                                 {'count': 1, 'record': {'hash': True}})
        self.assertEqual((reply.status, reply['errors'][0]['pointer']), (422, '/record/hash'))

    def test_a_run_begins_after_the_commands_that_were_sent_before_it(self):
        left, right = (self.daemon.create(half(1., k=K)) for _ in range(2))
        cid = self.couple(left, right, [], scheme='Jacobi')['id']
        endless = self.daemon.call('POST', '/v1/couplings/%s/step' % cid, {'count': ENDLESS}, ASYNC)
        self.assertEqual(endless.status, 202, endless)
        with ZmqDoor(self.daemon) as door:
            door.send('step-coupling', cid=cid, count=2)
            door.send('run-coupling', cid=cid, count=3)
            door.send('step-coupling', cid=cid, count=1)
            # its answer shows that all of them have been read
            door.send('instance', id=left)
            answers = [door.receive()]
            self.assertEqual(self.daemon.call('DELETE', endless.headers['Location']).status, 204)
            answers += [door.receive() for _ in range(3)]
        found = [(body.get('code'), body.get('id'), body.get('report', {}).get('windows'))
                 for _, body in answers]
        self.assertCountEqual(found, [(None, left, None), (None, None, 2), (None, 'r-1', None),
                                      ('run-in-progress', None, 0)])


if __name__ == '__main__':
    unittest.main()
