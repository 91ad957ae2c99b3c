"""What an instance that takes part in a coupling refuses, by the name of the coupling."""
import json
import unittest

from coupled import OSCILLATORS, Couplings, half
from harness import KINDS, pack, unpack, wait_until
from outside import over_zeromq


class Participants(Couplings):
    def setUp(self):
        super().setUp()
        self.left, self.right, self.cid = self.oscillators()

    def held(self, reply, status=409):
        self.assertEqual((reply.status, reply['code']), (status, 'in-coupling'), reply)
        self.assertIn('coupling %s' % self.cid, reply['detail'])

    def test_every_change_is_refused_by_the_name_of_the_coupling(self):
        for method, path, body in (
                ('DELETE', '', None), ('POST', '/step', {'count': 1}), ('POST', '/reset', None),
                ('PUT', '/inputs', {'F': 1}), ('POST', '/stop', {}),
                ('PATCH', '', {'ttl': 1}), ('POST', '/runs', {'until': 1}),
                ('PUT', '/state', {'time': 0, 'q': [0.], 'v': [0.]}),
                ('PUT', '/objects/m/fields/physicsMass', {'value': 2}),
                ('POST', '/lease', {'role': 'owner'})):
            with self.subTest(method=method, path=path):
                self.held(self.daemon.call(method, '/v1/instances/%s%s' % (self.left, path), body))
        self.held(self.couple(self.left, self.daemon.create(half()), OSCILLATORS))

    def test_one_of_its_id_is_not_put_in_its_place(self):
        self.held(self.daemon.call('PUT', '/v1/instances/' + self.left, {'model': half()}))

    def test_a_batch_that_deletes_spares_it(self):
        other = self.daemon.create(half())
        reply = self.daemon.call('POST', '/v1/batch', {
            'op': 'delete', 'instances': [self.left, other]})
        self.assertEqual(reply.status, 200, reply)
        first, second = reply['results']
        self.assertEqual((first['status'], second['status']), (409, 204), reply)
        self.assertEqual(first['error']['code'], 'in-coupling')
        self.assertIn(self.cid, first['error']['detail'])
        self.good(self.cid, count=1)

    def test_frames_are_refused_so_too(self):
        """A hello of an owner, and a step of a partner without a role."""
        socket = over_zeromq(self.daemon)
        self.addCleanup(socket.close)
        for hello in ({'role': 'owner'}, {}):
            socket.send_multipart([b'', pack('hello'), json.dumps(
                {'instance': self.left, **hello}).encode()])
            parts = socket.recv_multipart()[1:]
            if not hello:
                same = {k: unpack(parts[0])[k] for k in ('instance', 'lease')}
                socket.send_multipart([b'', pack('step', size=1., **same)])
                parts = socket.recv_multipart()[1:]
            self.assertEqual(unpack(parts[0])['kind'], KINDS['error'])
            problem = json.loads(parts[1])
            self.assertEqual(problem['code'], 'in-coupling', problem)
            self.assertIn('coupling %s' % self.cid, problem['detail'])

    def test_its_leases_show_the_coupling(self):
        items = self.daemon.call('GET', '/v1/instances/%s/lease' % self.left)['items']
        self.assertEqual([(x['role'], x['name']) for x in items], [('owner', self.cid)])

    def test_all_may_change_it_when_the_coupling_is_over(self):
        self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + self.cid).status, 204)
        self.assertEqual(self.daemon.call('DELETE', '/v1/instances/' + self.left).status, 204)
        self.assertEqual(
            self.daemon.call('PUT', '/v1/instances/' + self.left, {'model': half()}).status, 201)


class Lifetime(Couplings):
    def test_its_time_to_live_does_not_end_while_it_takes_part(self):
        """Another one with the same time to live, made behind it, ends; and so does itself, when
        the coupling is over."""
        mine = self.daemon.call('POST', '/v1/instances', {'model': half(), 'ttl': 0.2})['id']
        reply = self.couple(mine, self.daemon.create(half()), OSCILLATORS)
        self.assertEqual(reply.status, 201, reply)
        for _ in range(2):
            other = self.daemon.call('POST', '/v1/instances', {'model': half(), 'ttl': 0.2})['id']
            self.gone(other)
        self.assertEqual(self.daemon.call('GET', '/v1/couplings/' + reply['id']).status, 200)
        self.good(reply['id'], count=1)
        self.daemon.call('DELETE', '/v1/couplings/' + reply['id'])
        self.gone(mine)

    def gone(self, instance):
        """Awaited without using it: by the list."""
        wait_until(lambda: instance not in [
            x['id'] for x in self.daemon.call('GET', '/v1/instances')['items']], 'it is gone')


if __name__ == '__main__':
    unittest.main()
