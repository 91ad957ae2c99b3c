"""Matrices of a model as binary parts, through every door."""
import json
import struct
import unittest

import models
from harness import Daemon, ZmqDoor
from lane import LENGTH, Lane
from parts import TYPE, packed

M = [[2.0, 0.5, 0], [0.5, 3.0, 0.25], [0, 0.25, 1.5]]
K = [[9.0, -4.0, 0], [-4.0, 7.0, -1 / 3], [0, -1 / 3, 5e-324]]
Q = [0.1, -0.2, 1e-300]


def flat(rows):
    return [x for row in rows for x in row]


def three_masses(mass, stiffness, start):
    model = models.independent_masses(3)
    model['nodes'][0].update(referenceCoordinates=start, initialCoordinates_t=[0, 0, 0])
    model['objects'][0].update(massMatrix=mass, stiffnessMatrix=stiffness)
    return model


def in_parts():
    """The same model as three_masses(M, K, Q): rows, entries of a sparse matrix, a vector."""
    entries = [(i, j, K[i][j]) for i in range(3) for j in range(3) if K[i][j]]
    return [{'model': three_masses({'part': 2, 'shape': [3, 3]},
                                   {'shape': [3, 3], 'coo': {'part': 0, 'shape': [7, 3]}},
                                   {'part': 1})}, flat(entries), Q, flat(M)]


class Parts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon('--lane', 'tcp://127.0.0.1:*')
        cls.zmq = ZmqDoor(cls.daemon)
        cls.lane = Lane(cls.daemon)

    @classmethod
    def tearDownClass(cls):
        cls.lane.close()
        cls.zmq.close()
        cls.daemon.stop()

    def over_http(self, op, body, *parts):
        path = '/v1/models/check' if op == 'check' else '/v1/instances'
        reply = self.daemon.call('POST', path, packed(body, *parts), {'Content-Type': TYPE})
        return reply.status, reply.json

    def over_zeromq(self, op, body, *parts):
        self.zmq.socket.send_multipart([b'', packed({'op': op, **body}, *parts)])
        return self.zmq.receive(201 if op == 'create' else 200)

    def over_the_lane(self, op, body, *parts):
        message = packed({'op': op, **body}, *parts)
        self.lane.write(LENGTH.pack(len(message)) + message)
        reply = json.loads(self.lane.message())
        if reply['ok']:
            return 201 if op == 'create' else 200, reply
        return reply['error']['status'], reply['error']

    def doors(self):
        return self.over_http, self.over_zeromq, self.over_the_lane

    def test_a_model_in_parts_is_the_model_in_numbers(self):
        plain = self.daemon.create(three_masses(M, K, Q))
        document = self.daemon.call('GET', '/v1/instances/%s/model' % plain).json
        self.daemon.call('POST', '/v1/instances/%s/step' % plain, {'count': 100})
        state = self.daemon.call('GET', '/v1/instances/%s/state?format=f64' % plain).raw
        for door in self.doors():
            status, reply = door('create', *in_parts())
            self.assertEqual(status, 201, reply)
            root = '/v1/instances/' + reply['id']
            self.assertEqual(self.daemon.call('GET', root + '/model').json['objects'],
                             document['objects'])
            self.daemon.call('POST', root + '/step', {'count': 100})
            self.assertEqual(self.daemon.call('GET', root + '/state?format=f64').raw, state)

    def test_a_band_and_a_diagonal_in_parts(self):
        n = 200
        rows = [[-1.0, 2.0 + k, -1.0] for k in range(n)]
        rows[0][0] = rows[-1][2] = 0.0
        model = models.independent_masses(n)
        model['objects'][0].update(
            massMatrix={'diag': {'part': 0}},
            stiffnessMatrix={'banded': {'lower': 1, 'upper': 1,
                                        'rows': {'part': 1, 'shape': [n, 3]}}})
        for door in self.doors():
            status, reply = door('create', {'model': model}, [1.5] * n, flat(rows))
            self.assertEqual(status, 201, reply)
            found = self.daemon.call('GET', '/v1/instances/%s/model' % reply['id']).json
            self.assertEqual(found['objects'][0]['stiffnessMatrix']['banded']['rows'][1:-1],
                             rows[1:-1])

    def test_what_does_not_fit_is_refused_by_its_place(self):
        body, *parts = in_parts()
        where = '/model/objects/0/massMatrix'

        def changed(part, **more):
            model = three_masses({'part': part, **more}, {'diag': [1, 1, 1]}, [0, 0, 0])
            return {'model': model}
        infinite = flat(M)
        infinite[4] = float('inf')
        for door in self.doors():
            for sent, blocks, pointers in (
                    (changed(0, shape=[3, 4]), [flat(M)], [where + '/shape']),
                    (changed(0, shape=[3.5, 3]), [flat(M)], [where + '/shape']),
                    (changed(0, shape=[9]), [flat(M)], [where + '/shape']),
                    (changed(0, shape='3x3'), [flat(M)], [where + '/shape']),
                    (changed(0, shape=[0, 9]), [flat(M)], [where + '/shape']),
                    (changed(1, shape=[3, 3]), [flat(M)], [where + '/part']),
                    (changed(-1, shape=[3, 3]), [flat(M)], [where + '/part']),
                    (changed(0, shape=[3, 3], from_=1), [flat(M)], [where + '/from_']),
                    (changed(0, shape=[3, 3]), [infinite], [where + '/1/1']),
                    (changed(0, shape=[3, 3]), [flat(M), Q], ['']),
                    (three(0, 0), [flat(M)], ['/model/objects/0/stiffnessMatrix/part'])):
                status, reply = door('create', sent, *blocks)
                self.assertEqual((status, reply['code']), (422, 'invalid-request'), reply)
                self.assertEqual([e['pointer'] for e in reply['errors']], pointers, reply)
            # of the right size in itself, but not as a matrix of this model
            status, reply = door('create', changed(0, shape=[9, 1]), flat(M))
            self.assertEqual((status, reply['code']), (422, 'invalid-model'), reply)
            self.assertIn(where, [e['pointer'] for e in reply['errors']])
            self.assertEqual(door('check', body, *parts)[0], 200)

    def test_damaged_bytes_are_refused(self):
        body, *parts = in_parts()
        whole = packed(body, *parts)

        def damaged():
            yield b'x' + whole[1:]
            yield whole[:20]
            yield whole[:-1]
            yield whole + b'\0'
            for at, value in ((8, 2), (12, 2000), (12, 4), (16, 1 << 30), (24, 9), (24, 1 << 31)):
                yield whole[:at] + struct.pack('<I', value) + whole[at + 4:]
            yield whole[:28] + b'\xff' * 4 + whole[32:]
        for bad in damaged():
            reply = self.daemon.call('POST', '/v1/instances', bad, {'Content-Type': TYPE})
            self.assertEqual(reply.status, 400, reply)
        reply = self.daemon.call('POST', '/v1/instances', b'{"model": {}}', {'Content-Type': TYPE})
        self.assertEqual((reply.status, reply['code']), (400, 'malformed-request'))

    def test_operations_without_models_have_no_use_for_parts(self):
        i = self.daemon.create(models.oscillator())
        reply = self.daemon.call('POST', '/v1/instances/%s/step' % i,
                                 packed({'size': 0.01}), {'Content-Type': TYPE})
        self.assertEqual(reply.status, 415)
        for door in (self.over_zeromq, self.over_the_lane):
            status, reply = door('step', {'id': i, 'size': 0.01})
            self.assertEqual((status, reply['code']), (415, 'unsupported-media-type'))

    def test_a_matrix_of_a_live_item_may_be_set_so(self):
        i = self.daemon.create(three_masses(M, K, Q))
        reply = self.daemon.call(
            'PUT', '/v1/instances/%s/objects/o/fields/stiffnessMatrix' % i,
            packed({'value': {'part': 0, 'shape': [3, 3]}}, flat(M)), {'Content-Type': TYPE})
        self.assertEqual(reply.status, 200, reply)
        found = self.daemon.call('GET', '/v1/instances/%s/model' % i).json
        self.assertEqual(found['objects'][0]['stiffnessMatrix'],
                         found['objects'][0]['massMatrix'])


def three(mass, stiffness):
    return {'model': three_masses({'part': mass, 'shape': [3, 3]},
                                  {'part': stiffness, 'shape': [3, 3]}, [0, 0, 0])}


if __name__ == '__main__':
    unittest.main()
