"""Partners outside: programs that take part in a coupling and are called by the server."""
import contextlib
import json
import threading
import unittest

from harness import KINDS, SLOW, wait_until
from outside import LaneSocket, Program, Refused
from partnered import H, K, K12, Partners, again_where_slow, half

PATIENCE = 0.3  # s, of those whose end is the subject


class Works(Partners):
    def test_a_half_outside_gives_the_digits_of_one_inside(self):
        for scheme in ('IQN-ILS', 'GaussSeidel', 'Jacobi', 'Aitken'):
            with self.subTest(scheme):
                self.left = self.daemon.create(half(1., k=K + K12))
                cid = self.couple(scheme=scheme)
                with self.program(cid, self.right()) as program:
                    self.assertEqual(program.hello['inputs'], ['F'])
                    self.assertEqual(self.found(cid, 12),
                                     self.expected(12, scheme={'type': scheme}))
                    commits = [q['step'] for q in program.asked
                               if q['kind'] == KINDS['commit']]
                    self.assertEqual(commits, list(range(1, 13)))
                    self.assertEqual(program.asked[0]['kind'], KINDS['outputs'])

    def test_a_partner_without_rollback_is_stepped_once_a_window(self):
        cid = self.couple(scheme='GaussSeidel', rollback=False)
        with self.program(cid, self.right()) as program:
            self.assertEqual(self.found(cid, 5),
                             self.expected(5, scheme={'type': 'GaussSeidel'}))
            trials = [q['step'] for q in program.asked if q['kind'] == KINDS['trial']]
            self.assertEqual(trials, [1, 2, 3, 4, 5])
        reply = self.daemon.call('POST', '/v1/couplings', {
            'participants': [{'name': 'rig', 'partner': {'inputs': ['F'], 'outputs': ['x'],
                                                         'rollback': False}}],
            'connections': [{'from': 'rig.x', 'to': 'rig.F'}], 'scheme': {'type': 'IQN-ILS'},
            'stepSize': H})
        self.assertEqual(reply.status, 422)
        self.assertIn('rig', json.dumps(reply.json))

    def test_it_may_come_while_the_first_step_waits(self):
        cid = self.couple()
        done = []
        thread = threading.Thread(target=lambda: done.append(self.step(cid)))
        thread.start()
        wait_until(lambda: self.daemon.call('GET', '/v1/couplings/' + cid)['busy'], 'it waits')
        # readers of its instances are served meanwhile
        self.assertEqual(self.daemon.call('GET', '/v1/instances/%s/state' % self.left).status, 200)
        self.assertEqual(done, [])
        with self.program(cid, self.right()):
            thread.join()
        self.assertEqual(done[0]['window'], 1)

    def test_one_that_returns_goes_on_where_it_stands(self):
        cid, right = self.couple(), self.right()
        with self.program(cid, right) as program:
            found = self.found(cid, 4)
            self.assertEqual(program.window, 4)
        done = []
        thread = threading.Thread(target=lambda: done.append(self.found(cid, 1)))
        thread.start()
        wait_until(lambda: self.daemon.call('GET', '/v1/couplings/' + cid)['busy'], 'it waits')
        for window in (None, 3, 5):
            with self.assertRaises(Refused) as refused:
                self.program(cid, right, **({'window': window} if window else {}))
            self.assertEqual(refused.exception.problem['code'], 'time-mismatch')
        with self.program(cid, right, window=4) as program:
            thread.join()
            self.assertEqual(program.hello['window'], 4)
            self.assertEqual(found + done[0] + self.found(cid, 3), self.expected(8))

    def test_a_commit_whose_answer_was_lost_is_done_once(self):
        for does in (True, False):
            with self.subTest(does=does):
                self.left = self.daemon.create(half(1., k=K + K12))
                cid, right = self.couple(), self.right()
                lost = threading.Event()

                def loses(question, right=right, lost=lost, does=does):
                    if question['kind'] == KINDS['commit'] and question['step'] == 3:
                        if does:
                            right(question)
                        lost.set()
                        return None
                    return right(question)
                done = []
                program = self.program(cid, loses)
                thread = threading.Thread(
                    target=lambda done=done, cid=cid: done.append(self.found(cid, 5)))
                thread.start()
                lost.wait(20 * SLOW)
                program.close()
                if not does:
                    right.trial = None  # of a process that is no more
                with self.program(cid, right, window=3 if does else 2):
                    thread.join()
                self.assertEqual(done[0], self.expected(5))

    def owes_a_commit(self, lost, timed):
        """The second window's commit is not answered; `lost`: nor done, and the program ends."""
        self.left = self.daemon.create(half(1., k=K + K12))
        cid, right = self.couple(patience=PATIENCE), self.right()
        quiet = []

        def answers(question):
            if question['kind'] == KINDS['commit'] and question['step'] == 2 and not quiet:
                quiet.append(question)
                return None
            return right(question)
        with contextlib.ExitStack() as programs:
            program = programs.enter_context(self.program(cid, answers))
            found = timed(self.found, cid, 1)
            reply = timed(self.step, cid, 504, count=3, waits=1)
            self.assertEqual((reply['code'], reply['report']['windows']), ('commit-owed', 1))
            self.assertEqual(round(self.time() / H), 2)
            if lost:
                program.close()
                right.trial = None
                programs.pop_all()
                programs.enter_context(self.program(cid, right, window=1))
            expected = self.expected(5)
            for _ in range(3):
                found += timed(self.found, cid, 1)
            self.assertEqual(found, expected[:1] + expected[2:])

    def test_a_commit_that_is_not_answered_in_time_is_owed(self):
        for lost in (False, True):
            with self.subTest(lost=lost):
                again_where_slow(PATIENCE, lambda timed, lost=lost: self.owes_a_commit(lost, timed))


    def test_the_document_has_the_members_of_a_reply(self):
        reply = self.daemon.call('GET', '/v1/couplings/' + self.couple()).json
        schemas = self.daemon.call('GET', '/openapi.json')['components']['schemas']

        def described(value, schema):
            schema = schemas[schema['$ref'].rsplit('/', 1)[1]] if '$ref' in schema else schema
            if isinstance(value, list):
                for one in value:
                    described(one, schema['items'])
            elif isinstance(value, dict):
                for key, one in value.items():
                    self.assertIn(key, schema.get('properties', {}))
                    described(one, schema['properties'][key])
        described(reply, schemas['Coupling'])


class Lane(Works):
    """The same over the lane."""

    arguments, door = ('--lane', 'tcp://127.0.0.1:*'), LaneSocket

    def test_a_hello_that_is_long_is_read_elsewhere(self):
        cid = self.couple()
        with self.program(cid, self.right(), token='x' * 40000) as program:
            self.assertEqual(self.found(cid, 2), self.expected(2))
            self.assertEqual(program.window, 2)

    def test_a_connection_that_is_cut_is_seen(self):
        cid, right = self.couple(), self.right()
        with self.program(cid, right) as program:
            self.found(cid, 1)
            program.ends.set()
            program.thread.join()
            self.assertTrue(self.daemon.call(
                'GET', '/v1/couplings/' + cid)['participants'][1]['partner']['connected'])
            program.socket.close()
            wait_until(lambda: not self.daemon.call(
                'GET', '/v1/couplings/' + cid)['participants'][1]['partner']['connected'],
                       'it is gone')


class Faults(Partners):
    def wrong(self, answer, code, status=502, part='right', timed=None, **more):
        """A window that fails by this answer to its first trial is undone; the next one is done."""
        self.left = self.daemon.create(half(1., k=K + K12))
        cid, right = self.couple(**more), self.right()
        expected = self.expected(3)
        bad, in_time = [], timed or (lambda f, *arguments: f(*arguments))

        def answers(question):
            if question['kind'] == KINDS['trial'] and question['step'] == 2 and not bad:
                bad.append(question)
                return answer(program, question, right)
            return right(question)
        with Program(self.daemon, cid, 'right', answers) as program:
            found = in_time(self.found, cid, 1)
            before = self.daemon.call('GET', '/v1/instances/%s/state?format=f64' % self.left).raw
            reply = in_time(self.step, cid, status, **({'waits': 1} if timed else {}))
            self.assertEqual(reply['code'], code)
            self.assertIn(part, reply['detail'])
            self.assertEqual(self.daemon.call(
                'GET', '/v1/instances/%s/state?format=f64' % self.left).raw, before)
            for _ in range(2):
                found += in_time(self.found, cid, 1)
            self.assertEqual(found, expected)
        return reply

    def test_a_wrong_length(self):
        self.assertIn('2 values', self.wrong(lambda *_: [1.0, 2.0], 'partner-fault')['detail'])

    def test_a_number_that_is_none(self):
        self.assertIn('x', self.wrong(lambda *_: [float('nan')], 'partner-fault')['detail'])

    def test_another_window(self):
        self.wrong(lambda p, q, _: [p.frame(q, [1.0], step=1)], 'partner-fault')

    def test_another_trial(self):
        self.wrong(lambda p, q, _: [p.frame(q, [1.0], iteration=q['iteration'] + 1)],
                   'partner-fault')

    def test_an_error(self):
        self.wrong(lambda p, q, _: [p.frame({**q, 'kind': KINDS['error']}, [], status=2002)],
                   'partner-fault')

    def test_none_in_time(self):
        again_where_slow(PATIENCE, lambda timed: self.wrong(
            lambda *_: None, 'partner-timeout', 504, timed=timed, patience=PATIENCE))

    def late(self, timed):
        self.left = self.daemon.create(half(1., k=K + K12))
        cid, right = self.couple(patience=PATIENCE), self.right()
        held = []

        def answers(question):
            if question['kind'] == KINDS['trial'] and question['step'] == 2 and not held:
                held.append(program.frame(question, [99.0]))
                return None
            values = right(question)
            return [held.pop(), program.frame(question, values)] if held and held[0] else values
        with Program(self.daemon, cid, 'right', answers) as program:
            found = timed(self.found, cid, 1)
            self.assertEqual(timed(self.step, cid, 504, waits=1)['code'], 'partner-timeout')
            late, held[0] = held[0], None
            program.send(late)
            for _ in range(2):
                found += timed(self.found, cid, 1)
            self.assertEqual(found, self.expected(3))

    def test_one_that_is_late_is_passed_over(self):
        again_where_slow(PATIENCE, self.late)

    def test_one_given_twice(self):
        cid, right = self.couple(), self.right()
        twice = []

        def answers(question):
            values = right(question)
            if question['kind'] == KINDS['commit'] and question['step'] == 2 and not twice:
                twice.append(question)
                return [program.frame(question, values)] * 2
            return values
        with Program(self.daemon, cid, 'right', answers) as program:
            self.found(cid, 2)
            reply = self.step(cid, 502)
            self.assertEqual(reply['code'], 'partner-fault')
            self.assertIn('right', reply['detail'])
            self.assertEqual(self.step(cid)['window'], 3)

    def test_it_never_came(self):
        cid = self.couple(patience=0.05)
        reply = self.step(cid, 504)
        self.assertEqual(reply['code'], 'partner-timeout')
        self.assertIn('right', reply['detail'])
        self.assertEqual(self.time(), 0)

    def test_a_hello_that_does_not_fit_is_refused(self):
        cid = self.couple()
        for coupling, name, more, code in (
                ('c-99', 'right', {}, 'not-found'), (cid, 'absent', {}, 'not-found'),
                (cid, 'left', {}, 'not-found'),
                (cid, 'right', {'inputOrder': 1}, 'invalid-request'),
                (cid, 'right', {'outputs': ['x']}, 'invalid-request'),
                (cid, 'right', {'window': 1}, 'time-mismatch')):
            with self.subTest((coupling, name, more)), self.assertRaises(Refused) as refused:
                Program(self.daemon, coupling, name, None, **more)
            self.assertEqual(refused.exception.problem['code'], code)

    def test_what_cannot_be_a_partner_is_refused_by_its_place(self):
        for partner, place in (
                ({'inputs': ['F', 'F'], 'outputs': ['x']}, '/participants/1/partner/inputs/1'),
                ({'inputs': 'F', 'outputs': ['x']}, '/participants/1/partner/inputs'),
                ({'inputs': ['F'], 'outputs': ['a b']}, '/participants/1/partner/outputs/0'),
                ({'inputs': ['F'], 'outputs': ['x'], 'patience': 0},
                 '/participants/1/partner/patience'),
                ({'inputs': ['F'], 'outputs': ['x'], 'order': 1}, '/participants/1/partner/order')):
            reply = self.daemon.call('POST', '/v1/couplings', {
                'participants': [{'name': 'left', 'instance': self.left},
                                 {'name': 'right', 'partner': partner}],
                'connections': [], 'scheme': {'type': 'Jacobi'}, 'stepSize': H})
            self.assertEqual(reply.status, 422, reply)
            self.assertEqual([e['pointer'] for e in reply['errors']], [place])


class Waits(Partners):
    def test_the_end_of_the_coupling_ends_the_wait(self):
        cid = self.couple()
        with Program(self.daemon, cid, 'right', lambda _: None) as program:
            done = []
            thread = threading.Thread(target=lambda: done.append(self.step(cid, 409)))
            thread.start()
            wait_until(lambda: program.asked, 'it is asked')
            self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + cid).status, 204)
            thread.join()
            self.assertEqual(done[0]['code'], 'cancelled')
            wait_until(lambda: program.asked[-1]['kind'] == KINDS['bye'], 'the bye arrives')

    def test_many_that_wait_delay_no_other(self):
        other = self.daemon.create(half(1., k=K))
        cids = []
        for _ in range(100):
            self.left = self.daemon.create(half(1., k=K + K12))
            cids.append(self.couple(patience=3600))
        threads = [threading.Thread(target=self.step, args=(cid, 409)) for cid in cids]
        for thread in threads:
            thread.start()
        for cid in cids:
            wait_until(lambda cid=cid: self.daemon.call('GET', '/v1/couplings/' + cid)['busy'],
                       'it waits')
        # while all of them wait: each of these would wait for ever behind one of them
        for _ in range(20):
            self.assertEqual(self.daemon.call('POST', '/v1/instances/%s/step' % other,
                                              {'count': 100}).status, 200)
        for cid in cids:
            self.daemon.call('DELETE', '/v1/couplings/' + cid)
        for thread in threads:
            thread.join()

    def test_the_daemon_ends_while_one_waits(self):
        cid = self.couple()
        thread = threading.Thread(target=self.step, args=(cid, 503))
        thread.start()
        wait_until(lambda: self.daemon.call('GET', '/v1/couplings/' + cid)['busy'], 'it waits')
        self.daemon.stop()
        thread.join()


if __name__ == '__main__':
    unittest.main()
