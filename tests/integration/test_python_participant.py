"""The Python package's side of programs that take a partner's place of a coupling."""
import math
import os
import socket
import subprocess
import sys
import tempfile
import threading
from decimal import Decimal as D
from fractions import Fraction as F

import numpy

from harness import SLOW, Daemon, wait_until
from package import mechd
from partnered import H, K, K12, Partners, half
from proxy import Relay

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'participating.py')


class Behind:
    """An instance of any daemon behind a place, by trial and commit."""

    def __init__(self, instance, hook=lambda what: None):
        self.instance, self.hook, self.commits = instance, hook, 0

    def outputs(self, _, u):
        self.instance.inputs.set(u)
        return self.instance.outputs

    def trial(self, _, size, u):
        self.hook('trial')
        self.tried = self.instance.trial(size, inputs=u)
        return self.tried.outputs

    def commit(self):
        self.hook('commit')
        self.tried.commit()
        self.commits += 1


class Serving:
    """serve() on a thread; what it raised is in `raised`."""

    def __init__(self, place, *program, **functions):
        self.place, self.raised = place, None
        self.thread = threading.Thread(target=self.run, args=program, kwargs=functions)
        self.thread.start()

    def run(self, *program, **functions):
        try:
            self.place.serve(*program, **functions)
        except Exception as fault:  # the test looks at it
            self.raised = fault

    def join(self):
        self.thread.join()
        return self.raised


class Works(Partners):
    arguments, word = ('--lane', 'tcp://127.0.0.1:*'), 'control'

    def setUp(self):
        super().setUp()
        self.server = mechd.Server(self.daemon.base, timeout=60 * SLOW)
        self.addCleanup(self.server.close)

    def place(self, cid, **more):
        return self.server.participate(cid, 'right', door=self.word,
                                       **{'timeout': 20 * SLOW, **more})

    def instance(self, daemon=None):
        server = self.server
        if daemon is not None:
            server = mechd.Server(daemon.base, timeout=60 * SLOW)
            self.addCleanup(server.close)
        return server.create(half(0., k=K + K12))

    def end(self, cid, serving):
        """The coupling's end ends the program."""
        self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + cid).status, 204)
        self.assertIsNone(serving.join())

    def test_the_digits_of_two_instances_here_and_over_two_daemons(self):
        with Daemon('--workers', '1') as other:
            for scheme, daemon in (('IQN-ILS', None), ('IQN-ILS', other), ('GaussSeidel', other),
                                   ('Aitken', None)):
                with self.subTest((scheme, daemon)):
                    self.left = self.daemon.create(half(1., k=K + K12))
                    cid, program = self.couple(scheme=scheme), Behind(self.instance(daemon))
                    with self.place(cid) as place:
                        self.assertEqual((place.inputs, place.outputs, place.window),
                                         (['F'], ['x'], 0))
                        serving = Serving(place, program)
                        self.assertEqual(self.found(cid, 12),
                                         self.expected(12, scheme={'type': scheme}))
                        self.end(cid, serving)
                        self.assertEqual((place.window, program.commits), (12, 12))
                        self.assertAlmostEqual(place.time, 12 * H, delta=1e-12)

    def test_numbers_of_any_type(self):
        for given in (D('0.5'), numpy.float32(0.5), numpy.array(0.5), {'x': D('0.5')}):
            with self.subTest(repr(given)):
                self.left = self.daemon.create(half(1., k=K + K12))
                cid, seen = self.couple(hold=1), []

                def trial(_, size, u, given=given, seen=seen):
                    for tau in (D(size), F(size), numpy.array(size)):
                        self.assertAlmostEqual(u.at(tau)['F'], u.at(size)['F'], delta=1e-12)
                    for order in (numpy.int64(1), D(1), 1.0):
                        seen.append(u.derivative(order)[0] - u.derivative(1)[0])
                    return given
                with self.place(cid, order=D(1), returns=D(1), timeout=D(20 * SLOW)) as place:
                    serving = Serving(place, outputs=lambda _, u, given=given: given, trial=trial,
                                      commit=lambda: None, windows=D(1), timeout=D(20 * SLOW))
                    self.assertEqual(self.step(cid)['outputs']['right.x'], 0.5)
                    self.assertIsNone(serving.join())
                self.assertEqual(set(seen), {0.0})

    def test_a_status_of_any_type_and_no_other(self):
        for status, told in ((D(2002), 2002), (numpy.int64(2003), 2003)):
            with self.subTest(repr(status)):
                self.assertEqual(mechd.Discard('', status).status, told)
        for status in (float('nan'), 0.5, 'x', 2 ** 31):
            with self.subTest(repr(status)), self.assertRaisesRegex(ValueError, '^status: '):
                mechd.Discard('', status)

    def test_derivatives_of_inputs_are_known(self):
        for order in (1, 2):
            with self.subTest(order):
                self.left = self.daemon.create(half(1., k=K + K12))
                cid, instance = self.couple(hold=order), self.instance()
                seen = []
                with instance.connect(['F'], ['x'], order=order) as inner, \
                        self.place(cid, order=order) as place:
                    def trial(_, size, u, inner=inner, order=order, seen=seen):
                        seen.append((u['F'], u.at(0)['F'], u.at(size)['F'], u.order))
                        return inner.trial(size, [v for r in range(order + 1)
                                                  for v in u.derivative(r)])

                    serving = Serving(
                        place, trial=trial, commit=inner.commit,
                        outputs=lambda _, u: instance.inputs.set(u) or instance.outputs)
                    self.assertEqual(self.found(cid, 8), self.expected(8, hold=order))
                    self.end(cid, serving)
                self.assertTrue(all(s[0] == s[1] and s[3] == order for s in seen), seen)
                self.assertTrue(any(s[2] != s[0] for s in seen), seen)

    def jacobian(self, found):
        """Steps of a coupling with a mass in closed form, whose Jacobian is `found` of its number;
        its trials, and the outputs."""
        omega, state, trials = math.sqrt(K + K12), [0., 0.], []

        def trial(_, size, u):
            trials.append(size)
            mean, c, s = u['F'] / omega ** 2, math.cos(omega * size), math.sin(omega * size)
            x, v = state[:2]
            state[2:] = [mean + (x - mean) * c + v / omega * s,
                         v * c - (x - mean) * omega * s]
            return state[2]
        cid = self.couple(scheme='InterfaceNewton')
        with self.place(cid, jacobian=found is not None) as place:
            functions = {} if found is None else {
                'jacobian': lambda _, size, u: found((1 - math.cos(omega * size)) / omega ** 2)}
            serving = Serving(place, trial=trial, outputs=lambda *_: state[0], windows=5,
                              commit=lambda: state.__setitem__(slice(0, 2), state[2:]), **functions)
            outputs = self.found(cid, 5)
            self.assertIsNone(serving.join())
        self.left = self.daemon.create(half(1., k=K + K12))
        return len(trials), outputs

    def test_a_jacobian_is_taken(self):
        """In any form of a row and a column; a window of a linear coupling takes two trials."""
        trials, expected = self.jacobian(None)
        self.assertGreater(trials, 10)
        for form in (lambda x: x, lambda x: [x], lambda x: [[x]]):
            trials, outputs = self.jacobian(form)
            self.assertEqual(trials, 10)
            for one, other in zip(outputs, expected):
                self.assertAlmostEqual(one[0], other[0], delta=1e-8)
                self.assertAlmostEqual(one[1], other[1], delta=1e-8)

    def test_a_jacobian_that_is_missing_or_wrong_is_refused(self):
        cid, program = self.couple(scheme='InterfaceNewton'), Behind(self.instance())
        with self.place(cid, jacobian=True) as place:
            with self.assertRaisesRegex(ValueError, 'no function jacobian'):
                place.serve(program)
            program.jacobian = lambda *_: [[1., 2.]]
            serving = Serving(place, program)
            self.assertIn('jacobian returned 2 values; it has 1 rows of 1',
                          self.step(cid, 502)['detail'])
            self.assertIsInstance(serving.join(), ValueError)

    def test_an_exception_fails_the_window_and_the_program_may_go_on(self):
        cid, program = self.couple(), Behind(self.instance())
        expected, wrong = self.expected(4), []

        def fails(what):
            if what == 'trial' and program.commits == 1 and wrong:
                raise wrong.pop()
        program.hook = fails
        with self.place(cid) as place:
            serving = Serving(place, program)
            found = self.found(cid, 1)
            wrong.append(ZeroDivisionError('the rig is hot'))
            reply = self.step(cid, 502)
            self.assertEqual(reply['code'], 'partner-fault')
            self.assertIn('participant right: it has failed with status 1024: '
                          '"ZeroDivisionError: the rig is hot"', reply['detail'])
            self.assertIsInstance(serving.join(), ZeroDivisionError)
            serving = Serving(place, program)
            # one that asks for another try remains
            wrong.append(mechd.Discard('too far'))
            self.assertIn('status 2002: "too far"', self.step(cid, 502)['detail'])
            self.assertEqual(found + self.found(cid, 3), expected)
            self.end(cid, serving)

    def test_a_commit_that_fails_is_owed_and_done_later(self):
        cid, program = self.couple(), Behind(self.instance())
        expected, wrong = self.expected(4), [OSError('full')]

        def fails(what):
            if what == 'commit' and program.commits == 1 and wrong:
                raise wrong.pop()
        program.hook = fails
        with self.place(cid) as place:
            serving = Serving(place, program)
            found = self.found(cid, 1)
            reply = self.step(cid, 504)
            self.assertEqual(reply['code'], 'commit-owed')
            self.assertIn('"OSError: full"', reply['detail'])
            self.assertIsInstance(serving.join(), OSError)
            serving = Serving(place, program)
            self.assertEqual(found + self.found(cid, 2), expected[:1] + expected[2:])
            self.end(cid, serving)
            self.assertEqual((place.window, program.commits), (4, 4))

    def test_what_is_no_answer_is_refused_with_its_place(self):
        for wrong, words in (([1., 2.], 'returned 2 values; the outputs are x'),
                             (float('nan'), '/trial: nan is not a finite number'),
                             ({'y': 1.}, 'unknown name y; x is missing'),
                             ({'x': [float('inf')]}, '/x/0: inf'), (None, 'None')):
            with self.subTest(wrong):
                self.left = self.daemon.create(half(1., k=K + K12))
                cid = self.couple()
                with self.place(cid) as place:
                    serving = Serving(place, outputs=lambda *_: 0., commit=lambda: None,
                                      trial=lambda *_, wrong=wrong: wrong)
                    self.assertEqual(self.step(cid, 502)['code'], 'partner-fault')
                    raised = serving.join()
                    self.assertIsInstance(raised, ValueError)
                    self.assertIn(words, str(raised))

    def test_a_lost_connection_is_made_again(self):
        relay = Relay(self.daemon.info[self.word])
        self.addCleanup(relay.close)
        self.server.endpoints()[self.word] = relay.endpoint
        for where in ('trial', 'commit'):
            for rollback in (True, False):
                with self.subTest((where, rollback)):
                    scheme = {'type': 'IQN-ILS' if rollback else 'GaussSeidel'}
                    self.left = self.daemon.create(half(1., k=K + K12))
                    cid = self.couple(scheme=scheme['type'], rollback=rollback)
                    program, calls = Behind(self.instance()), []

                    def cuts(what, where=where, calls=calls, program=program):
                        calls.append((what, program.commits))
                        if what == where and calls.count((what, 2)) == 1 and program.commits == 2:
                            relay.cut()
                    program.hook = cuts
                    with self.place(cid, returns=60 * SLOW) as place:
                        serving = Serving(place, program)
                        self.assertEqual(self.found(cid, 5), self.expected(5, scheme=scheme))
                        self.end(cid, serving)
                        self.assertEqual((place.window, program.commits), (5, 5))
                    self.assertEqual([c for c in calls if c[0] == 'commit'],
                                     [('commit', n) for n in range(5)])
                    if not rollback:
                        self.assertEqual([c for c in calls if c[0] == 'trial'],
                                         [('trial', n) for n in range(5)])

    def test_a_connection_that_does_not_come_back_is_reported(self):
        relay = Relay(self.daemon.info[self.word])
        self.server.endpoints()[self.word] = relay.endpoint
        cid = self.couple()
        # steady: the time in which it may return is the subject
        with self.place(cid, returns=0.05) as place:
            place._timeout = 0.05
            serving = Serving(place, Behind(self.instance()))
            self.found(cid, 1)
            relay.close()
            raised = serving.join()
            self.assertIsInstance(raised, mechd.Unreachable)
            self.assertIn('right has not returned within 0.05 s', str(raised))

    def test_one_that_could_not_return_can_be_served_again(self):
        relay = Relay(self.daemon.info[self.word])
        self.addCleanup(relay.close)
        self.server.endpoints()[self.word] = relay.endpoint
        cid, program = self.couple(), Behind(self.instance())
        expected = self.expected(2)
        with self.place(cid, returns=0) as place:
            serving = Serving(place, program)
            found = self.found(cid, 1)
            relay.cut()
            self.assertIsInstance(serving.join(), mechd.Unreachable)
            place._returns = 60 * SLOW
            serving = Serving(place, program)
            self.assertEqual(found + self.found(cid, 1), expected)
            self.end(cid, serving)

    def test_a_return_ends_in_its_time_where_the_server_is_silent(self):
        relay = Relay(self.daemon.info[self.word])
        self.addCleanup(relay.close)
        self.server.endpoints()[self.word] = relay.endpoint
        cid = self.couple()
        with socket.create_server(('127.0.0.1', 0)) as silent:
            # steady: that the wait ends, and not after the place's hour, is the subject
            with self.place(cid, returns=5, timeout=3600) as place:
                serving = Serving(place, Behind(self.instance()))
                self.found(cid, 1)
                relay.target = silent.getsockname()
                relay.cut()
                with silent.accept()[0]:
                    raised = serving.join()
                self.assertIsInstance(raised, mechd.Unreachable)
                self.assertIn('right has not returned within 5 s', str(raised))

    def test_serve_returns_where_another_thread_closes(self):
        cid, instance = self.couple(), self.instance()
        place = self.place(cid)
        serving = Serving(place, Behind(instance))
        self.found(cid, 1)
        place.close()
        self.assertIsNone(serving.join())
        wait_until(lambda: not self.daemon.call(
            'GET', '/v1/couplings/' + cid)['participants'][1]['partner']['connected'], 'it is left')
        place.close()

    def test_a_forked_process_leaves_the_place_to_its_parent(self):
        cid, program = self.couple(), Behind(self.instance())
        expected = self.expected(2)
        with self.place(cid) as place:
            child = os.fork()
            if child == 0:
                place.close()
                os._exit(0)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            serving = Serving(place, program)
            self.assertEqual(self.found(cid, 2), expected)
            self.end(cid, serving)

    def started(self, cid, state, *dies):
        process = subprocess.Popen(
            [sys.executable, PROGRAM, self.daemon.base, cid, self.word, state, *dies],
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_a_program_that_is_killed_in_a_window_comes_back(self):
        found = []
        for dies in ((), ('1', 'commit'), ('3', 'trial'), ('3', 'commit'), ('3', 'answer')):
            with self.subTest(dies), tempfile.TemporaryDirectory() as folder:
                self.left = self.daemon.create(half(1., k=K + K12))
                cid, state, digits = self.couple(), os.path.join(folder, 'state'), []
                process = self.started(cid, state, *dies)
                thread = threading.Thread(target=lambda cid=cid, digits=digits: digits.extend(
                    self.found(cid, 6)))
                thread.start()
                if dies:
                    self.assertEqual(process.wait(), -9)
                    process = self.started(cid, state)
                thread.join()
                self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + cid).status, 204)
                said = process.stdout.read().split('\n')
                self.assertEqual(process.wait(), 0)
                self.assertEqual(said[-2], 'bye')
                if dies:
                    window, done = int(dies[0]), dies[1] == 'answer'
                    self.assertEqual(said[0], 'hello %d' % (window if done else window - 1))
                    self.assertNotIn('commit %d' % (window - 1), said)
                    self.assertEqual(said.count('commit %d' % window), 0 if done else 1)
                found.append(digits)
        self.assertEqual(len(found[0]), 6)
        self.assertEqual(found, [found[0]] * 5)

    def test_what_cannot_take_a_place_is_refused(self):
        cid = self.couple(hold=1)
        for coupling, name, more, kind, words in (
                ('c-99', 'right', {}, mechd.NotFound, 'c-99'),
                (cid, 'left', {'order': 1}, mechd.NotFound, 'no partner left'),
                (cid, 'right', {}, mechd.Invalid, 'have order 1'),
                (cid, 'right', {'order': 1, 'window': 3}, mechd.Conflict, 'window 3'),
                (cid, 'right', {'order': 1.5}, ValueError, 'order: 1.5'),
                (cid, 'right', {'order': 1, 'timeout': 0}, ValueError, 'timeout')):
            with self.subTest((name, more)), self.assertRaises(kind) as refused:
                self.server.participate(coupling, name, door=self.word, **more)
            self.assertIn(words, str(refused.exception))
        with self.place(cid, order=1) as place:
            with self.assertRaisesRegex(ValueError, 'no function trial, commit'):
                place.serve(outputs=lambda *_: 0.)
            # steady: that the wait ends is the subject
            with self.assertRaisesRegex(mechd.TimedOut, 'no request'):
                place.serve(Behind(None), timeout=0.05)
        with self.assertRaisesRegex(ValueError, 'closed'):
            place.serve(Behind(None))

    def test_a_place_that_was_left_is_free(self):
        cid, instance = self.couple(), self.instance()
        expected = self.expected(4)
        with self.place(cid) as place:
            serving = Serving(place, Behind(instance), windows=2)
            found = self.found(cid, 2)
            self.assertIsNone(serving.join())
        wait_until(lambda: not self.daemon.call(
            'GET', '/v1/couplings/' + cid)['participants'][1]['partner']['connected'], 'it is left')
        with self.place(cid, window=2) as place:
            serving = Serving(place, Behind(instance))
            self.assertEqual(found + self.found(cid, 2), expected)
            self.end(cid, serving)


class Lane(Works):
    """The same over the lane."""

    word = 'lane'


class Tables(Partners):
    """Names and vectors of several values."""

    def test_names_and_arrays_are_in_their_order(self):
        server = mechd.Server(self.daemon.base, timeout=60 * SLOW)
        self.addCleanup(server.close)
        cid = self.daemon.call('POST', '/v1/couplings', {
            'participants': [
                {'name': 'left', 'instance': self.left},
                {'name': 'rig', 'partner': {'inputs': ['a', 'F', 'b'], 'outputs': ['p', 'q', 'r'],
                                            'patience': 20 * SLOW}}],
            'connections': [{'from': 'left.x', 'to': 'rig.F'}, {'from': 'rig.q', 'to': 'left.F'}],
            'scheme': {'type': 'GaussSeidel'}, 'stepSize': H})['id']
        seen = []

        def trial(_, size, u):
            seen.append((dict(u), list(u.array), len(u), size))
            return {'r': 3., 'q': 2., 'p': 1.}
        with server.participate(cid, 'rig') as rig:
            serving = Serving(rig, outputs=lambda *_: (4., 5., 6.), trial=trial,
                              commit=lambda: None, windows=1)
            outputs = self.step(cid)['outputs']
            self.assertIsNone(serving.join())
        self.assertEqual([outputs['rig.' + name] for name in 'pqr'], [1., 2., 3.])
        (named, array, count, size), = seen
        self.assertEqual((list(named), count, size), (['a', 'F', 'b'], 3, H))
        self.assertEqual(array, [0., named['F'], 0.])
        self.assertNotEqual(named['F'], 0.)


if __name__ == '__main__':
    import unittest
    unittest.main()
