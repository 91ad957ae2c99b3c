"""libmechc's side of programs that take a partner's place of a coupling: mechc-half, and its
functions by ctypes."""
import ctypes
import math
import os
import socket
import subprocess
import threading

import harness
import mechc
from harness import SLOW, Daemon
from partnered import H, K, K12, Partners, half
from proxy import Relay

OMEGA = math.sqrt(K + K12)
REFUSED, UNREACHABLE, FAILED = 1, 2, 8


class Place(ctypes.Structure):
    _fields_ = [('coupling', ctypes.c_char_p), ('participant', ctypes.c_char_p),
                ('door', ctypes.c_int), ('order', ctypes.c_int), ('window', ctypes.c_uint64),
                ('cannot_roll_back', ctypes.c_int), ('returns', ctypes.c_double),
                ('gives_jacobian', ctypes.c_int)]


class Window(ctypes.Structure):
    _fields_ = [('number', ctypes.c_uint64), ('iteration', ctypes.c_uint32),
                ('time', ctypes.c_double), ('size', ctypes.c_double),
                ('inputs', ctypes.POINTER(ctypes.c_double))]


ANSWER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Window),
                          ctypes.POINTER(ctypes.c_double))
COMMIT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
REASON = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


class Functions(ctypes.Structure):
    _fields_ = [('self', ctypes.c_void_p), ('outputs', ANSWER), ('trial', ANSWER),
                ('commit', COMMIT), ('reason', REASON), ('jacobian', ANSWER)]


class Mass:
    """1 kg between springs, in closed form under a force that is held; hook(what) gives the number
    that a function returns; `why` is the text of a failure."""

    why = None

    def __init__(self, hook=lambda what: 0):
        self.hook, self.x, self.v, self.commits, self.trials = hook, 0., 0., 0, 0
        self.functions = Functions(None, ANSWER(self.outputs), ANSWER(self.trial),
                                   COMMIT(self.commit), REASON(self.reason),
                                   ANSWER(self.jacobian))

    def reason(self, _):
        self.words = ctypes.create_string_buffer(self.why) if self.why is not None else None
        return ctypes.addressof(self.words) if self.words is not None else None

    def outputs(self, _, window, y):
        y[0] = self.x
        return 0

    def trial(self, _, window, y):
        found, w = self.hook('trial'), window.contents
        if found:
            return found
        self.trials += 1
        mean, c, s = w.inputs[0] / OMEGA ** 2, math.cos(OMEGA * w.size), math.sin(OMEGA * w.size)
        self.tried = (mean + (self.x - mean) * c + self.v / OMEGA * s,
                      self.v * c - (self.x - mean) * OMEGA * s)
        y[0] = self.tried[0]
        return 0

    def jacobian(self, _, window, slopes):
        found = self.hook('jacobian')
        if found == 0:
            slopes[0] = (1 - math.cos(OMEGA * window.contents.size)) / OMEGA ** 2
        return found

    def commit(self, _):
        found = self.hook('commit')
        if found == 0:
            self.commits += 1
            self.x, self.v = self.tried
        return found


class Programs(Partners):
    """mechc-half, which has an instance of another daemon behind it."""

    arguments = ('--lane', 'tcp://127.0.0.1:*')

    def half(self, cid, other, instance, *window, **environment):
        process = subprocess.Popen(
            [os.path.join(harness.BUILD, 'clients', 'c', 'mechc-half'), self.daemon.base, cid,
             'right', other.base, instance, *window], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
        for stream in (process.stdout, process.stderr):
            self.addCleanup(stream.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def ended(self, cid, process, windows):
        self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + cid).status, 204)
        said = process.communicate(timeout=60 * SLOW)
        self.assertEqual((process.returncode, *said), (0, '%d\n' % windows, ''))

    def test_the_digits_of_two_instances_over_two_daemons(self):
        with Daemon(*self.arguments) as other:
            for hold, environment in ((0, {}), (0, {'MECHC_LANE': '1'}), (1, {'MECHC_LANE': '1'}),
                                      (2, {})):
                with self.subTest((hold, environment)):
                    self.left = self.daemon.create(half(1., k=K + K12))
                    cid, right = self.couple(hold=hold), other.create(half(0., k=K + K12))
                    process = self.half(cid, other, right, MECHC_ORDER=str(hold), **environment)
                    self.assertEqual(self.found(cid, 12), self.expected(12, hold=hold))
                    self.ended(cid, process, 12)

    def test_one_that_is_killed_comes_back(self):
        with Daemon(*self.arguments) as other:
            cid, right = self.couple(), other.create(half(0., k=K + K12))
            process = self.half(cid, other, right)
            found = self.found(cid, 4)
            process.kill()
            process.wait()
            process = self.half(cid, other, right, '4', MECHC_LANE='1')
            self.assertEqual(found + self.found(cid, 4), self.expected(8))
            self.ended(cid, process, 8)

    def test_a_refusal_is_printed(self):
        with Daemon(*self.arguments) as other:
            cid, right = self.couple(), other.create(half(0., k=K + K12))
            for arguments, environment, words in (
                    ((cid, other, right, '3'), {}, 'window 3'),
                    (('c-99', other, right), {'MECHC_LANE': '1'}, 'c-99'),
                    ((cid, other, 'i-99'), {}, 'i-99'),
                    ((cid, other, right), {'MECHC_ORDER': '1'}, 'order 0')):
                process = self.half(*arguments, **environment)
                self.assertIn(words, process.communicate(timeout=60 * SLOW)[1])
                self.assertEqual(process.returncode, 1)


class Served(Partners):
    """mechc_serve on a thread, with functions in Python."""

    arguments, word = ('--lane', 'tcp://127.0.0.1:*'), 'control'

    def setUp(self):
        super().setUp()
        self.handle = mechc.Handle(self.daemon.base)
        self.addCleanup(self.handle.close)
        self.library, self.number = self.handle.library, {'control': 0, 'lane': 3}[self.word]
        self.library.mechc_serve.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64]
        self.library.mechc_participant_window.restype = ctypes.c_uint64
        self.library.mechc_participant_window.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        self.library.mechc_participant_close.restype = None
        self.library.mechc_participant_close.argtypes = [ctypes.c_void_p]

    def participate(self, cid, returns=60 * SLOW, **more):
        place = Place(cid.encode(), b'right', self.number, returns=returns, **more)
        out = ctypes.c_void_p()
        return self.library.mechc_participate(self.handle.at, ctypes.byref(place),
                                              ctypes.byref(out)), out

    def place(self, cid, **more):
        result, out = self.participate(cid, **more)
        self.handle.check(result)
        self.addCleanup(self.library.mechc_participant_close, out)
        return out

    def serving(self, place, mass, windows=0):
        """A thread, and the list that gets the result and the error's text."""
        ended = []

        def serve():
            result = self.library.mechc_serve(place, ctypes.byref(mass.functions), windows)
            ended.extend((result, self.handle.said()))
        thread = threading.Thread(target=serve)
        thread.start()
        self.addCleanup(self.finish, thread, ended)
        return thread, ended

    def finish(self, thread, ended):
        """Before the place is closed, also where the test has failed."""
        while not ended:
            self.library.mechc_interrupt(self.handle.at)
            thread.join(0.2)

    def undisturbed(self, count, **more):
        self.left = self.daemon.create(half(1., k=K + K12))
        cid, mass = self.couple(**more), Mass()
        thread, ended = self.serving(self.place(cid), mass, count)
        found = self.found(cid, count)
        thread.join()
        self.assertEqual((ended[0], mass.commits), (0, count))
        self.left = self.daemon.create(half(1., k=K + K12))
        return found

    def test_a_function_that_fails_is_named_and_the_program_goes_on(self):
        expected, returns = self.undisturbed(4), []
        mass = Mass(lambda what: returns.pop() if what == 'trial' and returns else 0)
        cid = self.couple()
        place = self.place(cid)
        thread, ended = self.serving(place, mass)
        found = self.found(cid, 1)
        returns.append(7)
        reply = self.step(cid, 502)
        self.assertEqual(reply['code'], 'partner-fault')
        self.assertTrue(
            reply['detail'].endswith('participant right: it has failed with status 7'), reply)
        found += self.found(cid, 1)
        returns.append(-7)
        mass.why = 'the valve sticks, 5 µm'.encode()
        self.assertIn('status 1024: "the valve sticks, 5 µm"', self.step(cid, 502)['detail'])
        thread.join()
        self.assertEqual(ended, [FAILED, 'right: the function trial returned -7 in window 3: '
                                 'the valve sticks, 5 µm'])
        thread, ended = self.serving(place, mass, 2)
        self.assertEqual(found + self.found(cid, 2), expected)
        thread.join()
        self.assertEqual((ended[0], mass.commits), (0, 4))
        time = ctypes.c_double()
        self.assertEqual(self.library.mechc_participant_window(place, ctypes.byref(time)), 4)
        self.assertAlmostEqual(time.value, 4 * H, delta=1e-12)

    def test_a_commit_that_fails_is_owed_and_done_later(self):
        expected, returns = self.undisturbed(3), [3]
        mass = Mass(lambda what: returns.pop() if what == 'commit' and returns else 0)
        cid = self.couple()
        thread, ended = self.serving(self.place(cid), mass, 3)
        mass.why = b'disk full'
        reply = self.step(cid, 504)
        self.assertEqual(reply['code'], 'commit-owed')
        self.assertIn('status 3: "disk full"', reply['detail'])
        self.assertEqual(self.found(cid, 2), expected[1:])
        thread.join()
        self.assertEqual((ended[0], mass.commits), (0, 3))

    def test_a_jacobian_is_taken(self):
        """A window of a linear coupling needs two trials, by differences three."""
        trials, found = [], []
        for gives in (1, 0):
            mass, cid = Mass(), self.couple(scheme='InterfaceNewton')
            thread, ended = self.serving(self.place(cid, gives_jacobian=gives), mass, 5)
            found.append(self.found(cid, 5))
            thread.join()
            self.assertEqual(ended[0], 0, ended)
            trials.append(mass.trials)
            self.left = self.daemon.create(half(1., k=K + K12))
        self.assertEqual(trials[0], 10)
        self.assertGreater(trials[1], 10)
        for one, other in zip(*found):
            for x, y in zip(one, other):
                self.assertAlmostEqual(x, y, delta=1e-8)

    def test_a_jacobian_that_is_missing_or_fails_is_refused(self):
        mass, cid = Mass(lambda what: 5 if what == 'jacobian' and not mass.commits else 0), \
            self.couple(scheme='InterfaceNewton')
        place, without = self.place(cid, gives_jacobian=1), Mass()
        without.functions.jacobian = ANSWER()
        self.assertEqual(self.library.mechc_serve(place, ctypes.byref(without.functions), 0),
                         mechc.BAD_ARGUMENT)
        self.assertIn('and a jacobian', self.handle.said())
        thread, ended = self.serving(place, mass, 1)
        self.assertIn('status 5', self.step(cid, 502)['detail'])
        mass.hook = lambda what: 0
        self.found(cid, 1)
        thread.join()
        self.assertEqual(ended[0], 0, ended)

    def test_a_number_that_is_not_finite_is_refused(self):
        mass, cid = Mass(), self.couple()
        thread, ended = self.serving(self.place(cid), mass)
        mass.v, mass.x = math.inf, math.nan
        reply = self.step(cid, 502)
        self.assertEqual(reply['code'], 'partner-fault')
        self.assertIn('"output x of the function', reply['detail'])
        thread.join(20 * SLOW)
        self.assertEqual(ended[:1], [mechc.BAD_ARGUMENT])
        self.assertIn('output x of the function', ended[1])

    def test_a_lost_connection_is_made_again(self):
        relay = Relay(self.daemon.info[self.word])
        self.addCleanup(relay.close)
        for where, rollback in (('trial', 1), ('commit', 1), ('trial', 0), ('commit', 0)):
            with self.subTest((where, rollback)):
                more = {} if rollback else {'scheme': 'GaussSeidel', 'rollback': False}
                self.handle.check(self.library.mechc_set_endpoint(
                    self.handle.at, self.number, self.daemon.info[self.word].encode()))
                expected = self.undisturbed(5, **more)
                self.handle.check(self.library.mechc_set_endpoint(
                    self.handle.at, self.number, relay.endpoint.encode()))
                calls = []

                def cuts(what, calls=calls, where=where):
                    calls.append((what, mass.commits))
                    if what == where and calls.count((what, 2)) == 1 and mass.commits == 2:
                        relay.cut()
                    return 0
                mass, cid = Mass(cuts), self.couple(**more)
                thread, ended = self.serving(self.place(cid, cannot_roll_back=1 - rollback), mass,
                                             5)
                self.assertEqual(self.found(cid, 5), expected)
                thread.join()
                self.assertEqual((ended[0], mass.commits), (0, 5), ended)
                if not rollback:
                    self.assertEqual(mass.trials, 5)

    def behind(self, relay):
        self.handle.check(self.library.mechc_set_endpoint(
            self.handle.at, self.number, relay.endpoint.encode()))

    def test_one_that_could_not_return_can_be_served_again_and_closed(self):
        relay = Relay(self.daemon.info[self.word])
        self.addCleanup(relay.close)
        self.behind(relay)
        mass, cid = Mass(), self.couple()
        place = self.place(cid, returns=0.)
        thread, ended = self.serving(place, mass)
        found = self.found(cid, 1)
        relay.cut()
        thread.join()
        self.assertEqual(ended[0], UNREACHABLE)
        self.assertIn('right has not returned within 0 s', ended[1])
        thread, ended = self.serving(place, mass)
        thread.join()
        self.assertEqual(ended[0], UNREACHABLE)
        self.assertIn('not connected; right has not returned', ended[1])
        self.assertEqual(len(found), 1)  # and it is closed at the end

    def silenced(self, returns):
        """A place behind a relay, after one window: its next connection is one without answers, on
        which the handle would wait for an hour. The relay, that connection, and what serve()
        needs."""
        relay = Relay(self.daemon.info[self.word])
        self.addCleanup(relay.close)
        self.behind(relay)
        self.handle.check(self.library.mechc_set_timeout(self.handle.at, ctypes.c_double(3600.)))
        mass, cid = Mass(), self.couple()
        place = self.place(cid, returns=returns)
        serving = self.serving(place, mass)
        found = self.found(cid, 1)
        silent = socket.create_server(('127.0.0.1', 0))
        self.addCleanup(silent.close)
        relay.target = silent.getsockname()
        relay.cut()
        connection = silent.accept()[0]
        self.addCleanup(connection.close)
        return relay, cid, place, mass, serving, found

    def test_a_return_can_be_interrupted_and_goes_on_later(self):
        relay, cid, place, mass, (thread, ended), found = self.silenced(3600.)
        self.library.mechc_interrupt(self.handle.at)
        thread.join()
        self.assertEqual(ended[0], mechc.INTERRUPTED)
        host, port = self.daemon.info[self.word].split('//')[1].rsplit(':', 1)
        relay.target = (host, int(port))
        thread, ended = self.serving(place, mass, 1)
        found += self.found(cid, 1)
        thread.join()
        self.assertEqual((ended[0], mass.commits), (0, 2))
        self.assertEqual(found, self.undisturbed(2))

    def test_a_return_ends_in_its_time_where_the_server_is_silent(self):
        # steady: that the wait ends, and not after the handle's hour, is the subject
        _, _, _, _, (thread, ended), _ = self.silenced(5)
        thread.join()
        self.assertEqual(ended[0], UNREACHABLE)
        self.assertIn('right has not returned within 5 s', ended[1])

    def test_the_wait_for_a_question_can_be_interrupted(self):
        mass, cid = Mass(), self.couple()
        place = self.place(cid)
        thread, ended = self.serving(place, mass)
        found = self.found(cid, 1)
        self.library.mechc_interrupt(self.handle.at)
        thread.join()
        self.assertEqual(ended[0], mechc.INTERRUPTED)
        thread, ended = self.serving(place, mass, 1)
        found += self.found(cid, 1)
        thread.join()
        self.assertEqual(ended[0], 0)
        self.assertEqual(found, self.undisturbed(2))

    def test_what_cannot_take_a_place_is_refused(self):
        cid = self.couple()
        for more, result, words in (
                ({'order': 1}, REFUSED, 'order 0'), ({'window': 2}, REFUSED, 'window 2'),
                ({'order': 3}, mechc.BAD_ARGUMENT, 'input_order')):
            self.assertEqual(self.participate(cid, **more)[0], result)
            self.assertIn(words, self.handle.said())
        self.assertEqual(self.participate('c-99')[0], REFUSED)
        place = self.place(cid)
        self.assertEqual(self.library.mechc_serve(place, ctypes.byref(Functions()), 0),
                         mechc.BAD_ARGUMENT)

    def test_it_belongs_to_the_process_that_has_opened_it(self):
        place = self.place(self.couple())
        child = os.fork()
        if child == 0:
            result = self.library.mechc_serve(place, ctypes.byref(Mass().functions), 0)
            os._exit(0 if result == mechc.BAD_ARGUMENT else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


class Lane(Served):
    """The same over the lane."""

    word = 'lane'


if __name__ == '__main__':
    import unittest
    unittest.main()
