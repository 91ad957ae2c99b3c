"""Partners outside when a window, a token, a connection or the daemon ends."""
import json
import tempfile
import threading
import unittest

import heap
import raw
from harness import KINDS, SLOW, Daemon, Http, pack, unpack, wait_until
from lane import Lane, behind
from outside import LaneSocket, Program
from package import mechd
from partnered import H, OSCILLATORS, Partners


def trials(program):
    return [q['step'] for q in program.asked if q['kind'] == KINDS['trial']]


def raw_step(cid):
    body = b'{"count": 1}'
    return (b'POST /v1/couplings/%s/step HTTP/1.1\r\nHost: localhost\r\n'
            b'Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s'
            % (cid.encode(), len(body), body))


class Forward(Partners):
    """Without rollback."""

    def couple(self, **more):
        return super().couple(**{'scheme': 'GaussSeidel', 'rollback': False, **more})

    def test_a_window_that_was_not_committed_is_not_stepped_twice(self):
        cid, right, quiet = self.couple(), self.right(), []

        def answers(question):
            if question['kind'] == KINDS['trial'] and question['step'] == 2 and not quiet:
                quiet.append(question)
                return None
            return right(question)
        expected = self.expected(3, scheme={'type': 'GaussSeidel'})
        with self.program(cid, answers) as program:
            found, client = self.found(cid, 1), raw.connect(self.daemon)
            client.sendall(raw_step(cid))
            wait_until(lambda: quiet, 'its trial is asked')
            client.close()
            wait_until(lambda: not self.daemon.call('GET', '/v1/couplings/' + cid)['busy'],
                       'the step has ended with its client')
            for _ in range(2):
                reply = self.step(cid, 502)
                self.assertEqual(reply['code'], 'partner-fault')
                self.assertIn('roll back', reply['detail'])
            self.assertEqual(trials(program), [1, 2])
        # started again, from the window that was committed
        right.trial = None
        with self.program(cid, right, window=1):
            self.assertEqual(found + self.found(cid, 2), expected)

    def test_one_that_fails_ends_the_window_for_those_behind_it(self):
        names = ('a', 'b')
        cid = self.daemon.call('POST', '/v1/couplings', {
            'participants': [{'name': 'left', 'instance': self.left}] + [
                {'name': n, 'partner': {'inputs': ['F'], 'outputs': ['x'], 'rollback': False,
                                        'patience': 20 * SLOW}} for n in names],
            'connections': [{'from': 'left.x', 'to': n + '.F'} for n in names],
            'scheme': {'type': 'Jacobi'}, 'stepSize': H})['id']

        def wrong(question):
            return [1., 2.] if question['kind'] == KINDS['trial'] else [0.]
        # one that has stepped although the window is undone is named
        with Program(self.daemon, cid, 'a', lambda _: [0.]), Program(self.daemon, cid, 'b', wrong):
            self.assertIn('; a has stepped this window and cannot roll back',
                          self.step(cid, 502)['detail'])
        with Program(self.daemon, cid, 'a', wrong) as a:
            with Program(self.daemon, cid, 'b', lambda _: [0.]) as b:
                self.assertEqual(self.step(cid, 502)['code'], 'partner-fault')
                self.assertIn('participant a', self.step(cid, 502)['detail'])
                self.assertEqual((trials(a), trials(b)), ([1], []))


class Quota(Partners):
    """Work of the instance uses up the quota of a command."""

    arguments = ('--quota', 'step-cpu=0.002')

    def test_no_trial_is_begun_when_the_command_must_end(self):
        cid = self.couple(scheme='GaussSeidel', rollback=False)
        with self.program(cid, lambda _: [0.]) as program:
            # wherever its quota ends it
            reply = self.step(cid, 429, count=10 ** 9)
            self.assertEqual(reply['code'], 'quota-exceeded')
            commits = [q['step'] for q in program.asked if q['kind'] == KINDS['commit']]
            self.assertEqual(trials(program), commits)
            wait_until(lambda: Http(self.daemon.base).call(
                'POST', '/v1/couplings/%s/step' % cid, {'count': 1}).status == 200,
                       'the quota allows the next window')


class Refusals(Partners):
    def refused(self, reply, words):
        self.assertGreaterEqual(reply.status, 400, reply)
        self.assertIn(words, json.dumps(reply.json))

    def test_what_a_partner_cannot_do_is_refused(self):
        cid, right = self.couple(), self.right()
        root = '/v1/couplings/' + cid
        taken = self.daemon.call('POST', root + '/snapshots')
        self.assertEqual(taken.status, 201, taken)
        with self.program(cid, right):
            self.found(cid, 1)
            self.refused(self.step(cid, 422, count=1, commit=False), 'there are no trials')
            for want in ('interface', 'energy'):
                reply = self.step(cid, 422, count=1, want=[want])
                self.assertEqual([e['pointer'] for e in reply['errors']], ['/want/0'])
            self.refused(self.daemon.call(
                'POST', root + '/snapshots/%s/restore' % taken['id']), 'right')
            self.refused(self.daemon.call('POST', root + '/reset'), 'external programs')
            self.assertEqual((self.step(cid)['window'], round(self.time() / H)), (2, 2))

    def test_windows_in_pieces_are_refused(self):
        for more in ({'hold': 3}, {'waveform': {'degree': 1}}, {'waveform': 1}):
            reply = self.daemon.call('POST', '/v1/couplings', {
                'participants': [{'name': 'left', 'instance': self.left},
                                 {'name': 'right', 'partner': {'inputs': ['F'],
                                                               'outputs': ['x']}}],
                'connections': OSCILLATORS, 'scheme': {'type': 'IQN-ILS'}, 'stepSize': H, **more})
            self.assertEqual(reply.status, 422, reply)
            if 'hold' in more:
                self.assertEqual([e['pointer'] for e in reply['errors']], ['/participants/1'])

    def test_a_hold_may_be_written_with_a_point(self):
        cid = self.couple(hold=1.0)
        with self.program(cid, self.right(), inputOrder=1) as program:
            self.assertEqual(program.hello['inputOrder'], 1)

    def test_a_refused_reset_leaves_the_snapshot_that_the_state_descends_from(self):
        path = '/v1/instances/%s/snapshots' % self.left
        self.assertEqual(self.daemon.call('POST', path).status, 201)
        cid = self.couple()
        self.refused(self.daemon.call('POST', '/v1/couplings/%s/reset' % cid), 'external programs')
        self.assertEqual(self.daemon.call('GET', path)['current'], 's-1')

    def test_the_values_of_all_partners_are_bounded(self):
        names = ['x%d' % k for k in range(4096)]
        reply = self.daemon.call('POST', '/v1/couplings', {
            'participants': [{'name': 'p%d' % k, 'partner': {'inputs': [], 'outputs': names}}
                             for k in range(5)],
            'connections': [], 'scheme': {'type': 'Jacobi'}, 'stepSize': H})
        self.assertEqual(reply.status, 422, reply)
        self.assertEqual([e['pointer'] for e in reply['errors']],
                         ['/participants/4/partner/outputs'])

    def test_names_that_two_partners_share_are_refused(self):
        reply = self.daemon.call('POST', '/v1/couplings', {
            'participants': [{'name': n, 'partner': {'inputs': [], 'outputs': o}}
                             for n, o in (('a', ['y', 'b.x']), ('a.b', ['z', 'x']))],
            'connections': [], 'scheme': {'type': 'Jacobi'}, 'stepSize': H})
        self.assertEqual(reply.status, 422, reply)
        self.assertEqual([e['pointer'] for e in reply['errors']], ['/participants/1'])

    def test_the_python_package_knows_partners(self):
        server = mechd.Server(self.daemon.base, timeout=20 * SLOW)
        self.addCleanup(server.close)
        partner = {'inputs': ['F'], 'outputs': ['x'], 'patience': 7}
        made = server.couple({'left': self.left, 'right': partner},
                             [('left.x', 'right.F')], step_size=H, scheme='Jacobi')
        for coupling in [made, *server.couplings()]:
            self.assertEqual(coupling.participants['left'], self.left)
            self.assertEqual(coupling.participants['right']['patience'], 7)


class Ends(Partners):
    # a step that waits would last until its patience ends
    arguments = ('--finish-ms', '600000')

    def test_a_command_that_waits_ends_with_the_clock(self):
        cid = self.couple(patience=3600)
        thread = threading.Thread(target=self.step, args=(cid, 503))
        thread.start()
        wait_until(lambda: self.daemon.call('GET', '/v1/couplings/' + cid)['busy'], 'it waits')
        self.daemon.stop()
        thread.join()


class Places(Partners):
    """The place of a program: another takes it, or it says hello again."""

    def hello(self, socket, cid):
        text = json.dumps({'coupling': cid, 'participant': 'right'})
        socket.send_multipart([b'', pack('hello', sequence=7), text.encode()])
        return self.frame(socket)

    @staticmethod
    def frame(socket):
        return unpack([part for part in socket.recv_multipart() if part][0])

    def test_one_whose_place_is_taken_gets_a_bye(self):
        cid = self.couple()
        first, second = (type(self).door(self.daemon) for _ in range(2))
        before = self.hello(first, cid)
        self.assertEqual(before['kind'], KINDS['hello'])
        self.assertEqual(self.hello(second, cid)['kind'], KINDS['hello'])
        bye = self.frame(first)
        self.assertEqual((bye['kind'], bye['lease']), (KINDS['bye'], before['lease']))
        first.close()
        second.close()

    def test_one_that_says_hello_again_gets_an_answer_alone(self):
        cid = self.couple()
        socket = type(self).door(self.daemon)
        leases = [self.hello(socket, cid) for _ in range(3)]
        self.assertEqual([f['kind'] for f in leases], [KINDS['hello']] * 3)
        self.assertEqual(len({f['lease'] for f in leases}), 3)
        socket.close()


class PlacesOnTheLane(Places):
    arguments, door = ('--lane', 'tcp://127.0.0.1:*'), LaneSocket


class Hellos(unittest.TestCase):
    def test_one_that_is_refused_leaves_nothing_on_the_heap(self):
        with tempfile.NamedTemporaryFile() as counts:
            environment = heap.counted(counts.name)
            if not environment:
                self.skipTest('this build has an allocator of its own')
            with Daemon('--lane', 'tcp://127.0.0.1:*', environment=environment) as daemon:
                lane, used = Lane(daemon), []
                text = json.dumps({'coupling': 'c-9', 'participant': 'p'}).encode()
                for _ in range(3):
                    for _ in range(500):
                        lane.write(behind(pack('hello', sequence=7), text))
                        self.assertEqual(unpack(lane.message())['kind'], KINDS['error'])
                        lane.message()
                    used.append(heap.read(counts.name)['in_use'])
                lane.close()
                # 100 bytes each would be 50,000
                self.assertLess(used[2] - used[1], 5000, used)


if __name__ == '__main__':
    unittest.main()
