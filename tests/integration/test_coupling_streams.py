"""Topics of couplings that a client chooses, and the hash of their state."""
import subprocess
import unittest

from coupled import K, K12, OSCILLATORS, Couplings, half
from harness import REPEAT, SLOW, Stream, program
from outside import Program


class Chosen(Couplings):
    def setUp(self):
        super().setUp()
        self.left, self.right, self.cid = self.oscillators()
        self.root = '/v1/couplings/%s/streams' % self.cid

    def choose(self, status=201, **body):
        reply = self.daemon.call('POST', self.root, body)
        self.assertEqual(reply.status, status, reply)
        return reply

    def watch(self, name):
        stream = Stream(self.daemon, '%s/%s' % (self.cid, name), 'pick')
        self.addCleanup(stream.socket.close)
        return stream

    def test_frames_have_the_chosen_outputs_of_every_second_window(self):
        chosen = self.choose(name='slow', outputs=['right.v', 'left.x'], every=2)
        self.assertEqual(chosen.headers['Location'], self.root + '/slow')
        self.assertEqual(chosen['topic'], 'pick/%s/slow/' % self.cid)
        self.assertEqual(chosen['layout'], [{'name': 'right.v', 'offset': 0, 'count': 1},
                                            {'name': 'left.x', 'offset': 1, 'count': 1}])
        self.good(self.cid, count=1)
        stream = self.watch('slow')
        topic, frame = stream.next()
        self.assertEqual((topic, frame['sequence'], frame['flags'] & REPEAT),
                         ('pick/%s/slow/' % self.cid, 1, REPEAT))
        for sequence in (2, 4):
            reply = self.good(self.cid, count=1 if sequence == 2 else 2)
            _, frame = stream.next()
            self.assertEqual((frame['sequence'], frame['time'], frame['values']),
                             (sequence, reply['time'],
                              (reply['outputs']['right.v'], reply['outputs']['left.x'])))

    def test_they_are_listed_shown_and_deleted(self):
        self.choose(name='all')
        self.assertEqual(self.daemon.call('GET', self.root + '/all')['every'], 1)
        self.assertEqual([s['name'] for s in self.daemon.call('GET', self.root)['items']], ['all'])
        self.assertEqual(self.daemon.call('DELETE', self.root + '/all').status, 204)
        self.assertEqual(self.daemon.call('GET', self.root + '/all').status, 404)
        self.assertEqual(self.daemon.call('GET', '/v1/couplings/c-99/streams').status, 404)

    def test_faults_have_their_places(self):
        reply = self.choose(422, name='a b', outputs=['left.x', 'left.y', 'left.x'], every=0)
        self.assertEqual(sorted(e['pointer'] for e in reply['errors']),
                         ['/every', '/name', '/outputs/1', '/outputs/2'])


class Commands(Couplings):
    """The same by mechctl."""

    def mechctl(self, *arguments):
        done = subprocess.run([program('mechctl'), '--server', self.daemon.base, *arguments],
                              capture_output=True, text=True, timeout=100 * SLOW)
        self.assertEqual((done.returncode, done.stderr), (0, ''), done)
        return done.stdout

    def test_windows_are_watched(self):
        """A subscriber gets the last window at once."""
        _, _, cid = self.oscillators()
        reply = self.good(cid, count=1)
        lines = self.mechctl('watch', cid, '--coupling', '--follow', '--count', '1').splitlines()
        self.assertEqual(lines[0].split('\t'), ['time', *reply['outputs']])
        self.assertEqual([float(x) for x in lines[1].split('\t')],
                         [reply['time'], *reply['outputs'].values()])

    def test_streams_are_chosen(self):
        _, _, cid = self.oscillators()
        self.mechctl('streams', cid, 'slow', '--coupling', '--outputs', 'left.x', '--every', '3')
        self.assertIn('pick/%s/slow/' % cid, self.mechctl('streams', cid, '--coupling'))
        self.mechctl('streams', cid, 'slow', '--coupling', '--delete')
        self.assertNotIn('slow', self.mechctl('streams', cid, '--coupling'))


class Hashes(Couplings):
    def hashes(self, cid, count):
        with Stream(self.daemon, cid, 'hash') as stream, Stream(self.daemon, cid) as state:
            found = []
            self.good(cid, count=1)  # the subscriptions have arrived when its frame comes
            self.assertEqual(state.next()[1]['sequence'], 1)
            for _ in range(count):
                self.good(cid, count=1)
                topic, frame = stream.next()
                while frame['sequence'] < 2 + len(found):
                    topic, frame = stream.next()
                self.assertEqual(topic, 'hash/%s/' % cid)
                found.append(frame['values'])
        return found

    def test_equal_couplings_have_equal_ones_and_others_have_not(self):
        _, _, cid = self.oscillators()
        found = self.hashes(cid, 3)
        self.assertEqual([len(h) for h in found], [2] * 3)
        self.assertEqual(len(set(found)), 3)
        _, _, same = self.oscillators()
        self.assertEqual(self.hashes(same, 3), found)
        left, right = (self.daemon.create(half(x, k=K + K12)) for x in (1., 1e-15))
        other = self.couple(left, right, OSCILLATORS)['id']
        self.assertFalse(set(self.hashes(other, 3)) & set(found))

    def test_there_is_none_where_a_program_takes_part(self):
        """Its state is its own: a subscriber gets nothing, and the windows are done."""
        left = self.daemon.create(half(1., k=K + K12))
        cid = self.daemon.call('POST', '/v1/couplings', {
            'participants': [{'name': 'left', 'instance': left},
                             {'name': 'p', 'partner': {'inputs': ['F'], 'outputs': ['x']}}],
            'connections': [{'from': 'left.x', 'to': 'p.F'}], 'scheme': {'type': 'Jacobi'},
            'stepSize': 0.01})['id']
        with Program(self.daemon, cid, 'p', lambda q: [0.]), \
                Stream(self.daemon, cid, 'hash') as stream, Stream(self.daemon, cid) as state:
            self.good(cid, count=1)
            self.assertEqual(state.next()[1]['sequence'], 1)
            self.good(cid, count=1)
            self.assertEqual(state.next()[1]['sequence'], 2)
            self.assertEqual(stream.socket.poll(0), 0)


if __name__ == '__main__':
    unittest.main()
