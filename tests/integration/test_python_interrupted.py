"""Ctrl-C and time-outs of the Python package: what was asked for ends on the server, the next call
works, and the message says what has become of the request."""
import contextlib
import functools
import itertools
import random
import signal
import socket
import sys
import threading
import time
import unittest
import unittest.mock

import requests
import zmq
import models
from asking import MOST
from harness import SLOW, Served, wait_until
from package import mechd
from mechd import lane, transport

ENDLESS = {'count': 10 ** 9}
CANCELLED = 'it was still in progress there and has been cancelled; what it had begun is undone'
ITEMS = 'it was still in progress there and has been cancelled; items that are done remain'
WINDOWS = 'it was still in progress there and has been cancelled; windows that are committed remain'
STOPPED = 'the step was still in progress there and has been stopped: it is undone'


class Own(Exception):
    """Of a program."""


class Lost(OSError):
    """Of a program, and of the kind of a lost connection."""


class Handler:
    """Handlers of the forms that a program may install."""

    def __init__(self, kind):
        self.kind = kind

    def method(self, number, frame):
        raise self.kind('of the program')

    def __call__(self, *given):
        self.method(*given)

    def last(self, number, frame):
        """As the first Ctrl-C is often taken: the second one ends the program."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise self.kind('of the program')

    def of_another(self, number, _):
        """It has no argument that is a frame any more."""
        _ = None
        try:
            raise ConnectionResetError('within the handler')
        except OSError as fault:
            raise self.kind('of the program') from fault


def ctrl_c():
    """In the main thread, also while it waits."""
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def hasten(partner, seconds):
    """From here on it waits so long."""
    partner._timeout, partner._socket.rcvtimeo = seconds, int(1000 * seconds)


class Interrupted(Served):
    OPTIONS = ['--lane', 'tcp://127.0.0.1:*']

    def setUp(self):
        soon, transport.SOON = transport.SOON, 60.0
        self.addCleanup(setattr, transport, 'SOON', soon)
        self.server, self.other = mechd.Server(self.daemon.base), mechd.Server(self.daemon.base)
        self.addCleanup(self.server.close)
        self.addCleanup(self.other.close)
        self.instance = self.server.create(models.nonlinear_oscillator())
        self.addCleanup(self.instance.delete)

    def busy(self):
        return self.other.instance(self.instance.id).info()['busy']

    def when(self, condition, call):
        """What Ctrl-C in `call` says, once the condition holds, which it does not before: the
        signal would come before the call."""
        def wait_and_press():
            wait_until(condition, 'it is in progress')
            ctrl_c()
        presser = threading.Thread(target=wait_and_press)
        self.assertFalse(condition())
        presser.start()
        with self.assertRaises(KeyboardInterrupt) as pressed:
            call()
            time.sleep(60)  # steady: a call that has ended is interrupted here, which fails below
        presser.join()
        return str(pressed.exception)

    def press(self, call):
        """Ctrl-C in `call`, once the instance works."""
        return self.when(self.busy, call)

    def check_free(self, step=1):
        wait_until(lambda: not self.busy(), 'it is free')
        self.assertEqual(self.instance.step(count=1).step, step)

    def test_a_step_ends_on_the_server(self):
        self.assertEqual(self.press(lambda: self.instance.step(**ENDLESS)), CANCELLED)
        self.check_free()

    def test_a_step_under_a_lease_does_too(self):
        with self.instance.lease('owner'):
            self.assertEqual(self.press(lambda: self.instance.step(**ENDLESS)), CANCELLED)
            self.check_free()

    def test_the_command_of_another_client_continues(self):
        told = []

        def foreign():
            try:
                self.other.instance(self.instance.id).step(**ENDLESS)
            except mechd.StepFailed as fault:
                told.append(fault.code)
        thread = threading.Thread(target=foreign)
        thread.start()
        wait_until(self.busy, 'it is in progress')
        begun, attempt = threading.Event(), self.server.transport._attempt
        with unittest.mock.patch.object(self.server.transport, '_attempt',
                                        lambda *request: (begun.set(), attempt(*request))[1]):
            self.assertEqual(self.when(begun.is_set, lambda: self.instance.step(count=1)),
                             CANCELLED)
        self.assertTrue(self.busy())
        self.assertEqual(told, [])
        self.assertTrue(self.instance.stop())
        thread.join()
        self.assertEqual(told, ['cancelled'])
        self.check_free()

    def test_other_long_requests_end_too(self):
        one = self.server.create(models.nonlinear_oscillator())
        self.addCleanup(one.delete)
        for call, said in ((lambda: self.instance.jvp(inputs={'force': 1}, count=MOST), CANCELLED),
                           (lambda: self.server.batch('step', [self.instance, one], **ENDLESS),
                            ITEMS)):
            self.assertEqual(self.press(call), said)
            wait_until(lambda: not self.busy(), 'it is free')
            wait_until(lambda: not one.info()['busy'], 'it is free')
        self.check_free()
        self.assertEqual(one.time, 0)

    def test_a_coupling_ends_its_windows(self):
        with self.server.create(models.nonlinear_oscillator()) as two, \
                self.server.couple({'a': self.instance, 'b': two}, [('a.x', 'b.force', 1)],
                                   step_size=0.001) as pair:
            def wait_and_press():
                wait_until(lambda: self.other.couplings()[0].busy, 'it is in progress')
                ctrl_c()
            presser = threading.Thread(target=wait_and_press)
            presser.start()
            with self.assertRaisesRegex(KeyboardInterrupt, WINDOWS):
                pair.step(count=10 ** 9)
            presser.join()
            self.assertEqual(pair.step(count=1).window, pair.look().windows)

    def test_a_run_that_is_waited_for_stops(self):
        def running():
            return any(r.state == 'running' for r in self.other.instance(self.instance.id).runs())
        self.assertRegex(self.when(running, lambda: self.instance.run(until=1e9)),
                         r'^the run r-1 has been stopped at \d')
        self.assertFalse(running())
        self.instance.reset()
        self.check_free()
        run, looked = self.instance.run(pace=1), threading.Event()
        look = run.look
        run.look = lambda: (look(), looked.set())[0]
        self.assertEqual(self.when(looked.is_set, run.wait),
                         'the run r-2 continues in the server; its stop() ends it')
        self.assertTrue(running())
        run.stop()

    def begun_and_pressed(self, call):
        """What Ctrl-C says once the server has begun, before `call` has its answer."""
        attempt = self.server.transport._attempt

        def pressed(*request):
            attempt(*request)
            raise KeyboardInterrupt
        with unittest.mock.patch.object(self.server.transport, '_attempt', pressed), \
                self.assertRaises(KeyboardInterrupt) as told:
            call()
        return str(told.exception)

    def test_a_run_whose_answer_was_not_read_stops(self):
        for ask in ({'until': 1e9}, {'pace': 1}):
            words = self.begun_and_pressed(lambda: self.instance.run(**ask))
            self.assertRegex(words, r'^the run r-\d+ has been stopped at \d')
            self.assertEqual(self.other.instance(self.instance.id).runs()[0].state, 'stopped')
        words = self.begun_and_pressed(lambda: self.server.sweep(
            models.nonlinear_oscillator(), points=[{}] * 2, count=10 ** 9))
        self.assertEqual(words, CANCELLED)
        self.assertEqual(self.other.sweeps(), [])

    def test_a_sweep_that_is_waited_for_is_deleted(self):
        looked, look = threading.Event(), mechd.Sweep.look
        with unittest.mock.patch.object(mechd.Sweep, 'look',
                                        lambda s: (look(s), looked.set())[0]):
            self.assertRegex(
                self.when(looked.is_set, lambda: self.server.sweep(
                    models.nonlinear_oscillator(), points=[{}] * 2, count=10 ** 9)),
                '^the sweep .* has been stopped and deleted$')
        self.assertEqual(self.other.sweeps(), [])

    def test_what_is_waited_for_later_goes_on_and_its_end_is_named(self):
        operation = self.server.later('POST', 'v1', 'instances', self.instance.id, 'step',
                                      body=ENDLESS)
        looked, look = threading.Event(), operation.look
        operation.look = lambda: (look(), looked.set())[0]
        words = self.when(looked.is_set, operation.wait)
        self.assertEqual(words, "Operation(%r, running) continues in the server, and other "
                                'commands to its instance wait for it; '
                                'server.operation(%r).cancel() ends it'
                                % (operation.id, operation.id))
        self.assertEqual(self.server.operation(operation.id).state, 'running')
        self.server.operation(operation.id).cancel()
        self.check_free()

    def test_a_time_out_says_so_and_ends_the_step(self):
        with mechd.Server(self.daemon.base) as hasty:
            one = hasty.instance(self.instance.id)
            hasty.transport.timeout = 0.2
            with self.assertRaises(mechd.TimedOut) as told:
                one.step(**ENDLESS)
            self.assertEqual(str(told.exception), 'no answer from %s within 0.2 s; %s' %
                             (self.daemon.base, CANCELLED))
        self.check_free()

    def raised_in(self, call, kind, condition=None, handler=None):
        """What the handler of a signal has raised, once the condition holds, or else the instance
        works, in `call`."""
        def simple(*_):
            raise kind('of the program')
        before = signal.signal(signal.SIGINT, handler or simple)
        presser = threading.Thread(target=lambda: (
            wait_until(condition or self.busy, 'it is in progress'), ctrl_c()))
        try:
            presser.start()
            with self.assertRaises(kind) as told:
                call()
                time.sleep(60)  # steady: as in `when`
        finally:
            presser.join()
            signal.signal(signal.SIGINT, before)
        self.assertIs(type(told.exception), kind)
        self.assertEqual(told.exception.args, ('of the program',))
        return told.exception

    def test_whatever_a_handler_raises_ends_the_step(self):
        for kind in (RuntimeError, OSError, TimeoutError, ConnectionResetError, Own, SystemExit):
            with self.subTest(kind.__name__):
                done = self.instance.info()['step']
                self.raised_in(lambda: self.instance.step(**ENDLESS), kind)
                self.check_free(done + 1)

    def test_handlers_of_every_form_end_the_step(self):
        own = Handler(Lost)
        for handler in (own.method, own, own.last, functools.partial(own.method), own.of_another):
            with self.subTest(handler):
                done = self.instance.info()['step']
                told = self.raised_in(lambda: self.instance.step(**ENDLESS), Lost,
                                      handler=handler)
                # urllib3 takes away its cause
                self.assertEqual(isinstance(told.__context__, ConnectionResetError),
                                 handler == own.of_another)
                self.assertNotIsInstance(told.__context__, requests.RequestException)
                self.check_free(done + 1)

    def test_what_no_signal_raises_is_what_it_was(self):
        def refused():
            with mechd.Server('http://127.0.0.1:1', retries=0) as nobody:
                with self.assertRaises(mechd.Unreachable):
                    nobody.instance('i-1').step(count=1)
            with self.instance.connect(['force'], ['x'], door='lane') as partner:
                partner._socket._socket.shutdown(socket.SHUT_RDWR)
                with self.assertRaises(mechd.Unreachable):
                    partner.step(0.001, [1])
        refused()
        # nor beneath what was being handled before
        try:
            Handler(Lost).method(1, sys._getframe())
        except Lost:
            refused()
        before = signal.signal(signal.SIGINT, Handler(Lost).method)
        try:
            ctrl_c()
            time.sleep(60)  # steady: as in `when`
        except Lost:
            refused()
        finally:
            signal.signal(signal.SIGINT, before)

    def test_whatever_a_handler_raises_ends_what_is_waited_for(self):
        for kind in (RuntimeError, OSError):
            self.raised_in(lambda: self.instance.run(until=self.instance.time + 1e9), kind,
                           lambda: self.other.instance(self.instance.id).info()['running'])
            self.assertEqual(self.instance.runs()[0].state, 'stopped')

    def test_whatever_a_handler_raises_ends_the_step_of_a_partner(self):
        for kind, door in itertools.product((RuntimeError, OSError, TimeoutError),
                                            ('control', 'lane')):
            with self.subTest(kind.__name__, door=door), \
                    self.instance.connect(['force'], ['x'], timeout=30 * SLOW,
                                          door=door) as partner:
                before = self.instance.info()['step']
                self.raised_in(lambda p=partner: p.step(1e6, [1]), kind)
                partner.step(0.001, [1])
                self.assertEqual(partner.count, before + 1)

    def torn(self, partner, kind, name, after):
        """A signal raises in a step of this partner once so many parts are sent or read."""
        done, method = [], getattr(kind, name)

        def called(*given, **named):
            if len(done) == after:
                raise KeyboardInterrupt
            done.append(method(*given, **named))
            return done[-1]
        with unittest.mock.patch.object(kind, name, called), \
                unittest.mock.patch.object(partner, '_stop', lambda _: ''), \
                self.assertRaises(KeyboardInterrupt):
            partner.step(0.001, [1])

    def test_a_message_in_parts_does_not_begin_the_next_one(self):
        for door, kind, name in (('control', zmq.Socket, 'send'), ('control', zmq.Socket, 'recv'),
                                 ('lane', lane.LaneSocket, '_need')):
            for after in (0, 1):
                with self.subTest(name, after=after), \
                        self.instance.connect(['force'], ['x'], timeout=30 * SLOW,
                                              door=door) as partner:
                    self.torn(partner, kind, name, after)
                    begun = self.instance.info()['step']
                    partner.step(0.001, [1])
                    self.assertIn(partner.count, (begun + 1, begun + 2))
        with self.instance.connect(['force'], ['x'], timeout=30 * SLOW, door='lane') as partner:
            # a part of a message has been sent
            whole = lane.LaneSocket.send_multipart

            def half(door, parts):
                door._socket.sendall(b'\x40\0\0')
                with unittest.mock.patch.object(door, '_socket') as broken:
                    broken.sendall.side_effect = KeyboardInterrupt
                    whole(door, parts)
            begun = self.instance.info()['step']
            with unittest.mock.patch.object(lane.LaneSocket, 'send_multipart', half), \
                    unittest.mock.patch.object(partner, '_stop', lambda _: ''), \
                    self.assertRaises(KeyboardInterrupt):
                partner.step(0.001, [1])
            partner.step(0.001, [1])
            self.assertEqual(partner.count, begun + 1)

    def test_a_request_takes_no_lock_that_a_signal_may_leave_locked(self):
        for server in (self.server, mechd.Server(self.daemon.base)):
            with unittest.mock.patch.object(threading.Condition, '__enter__', self.fail):
                server.instance(self.instance.id).step(count=1)
            server.close()

    @contextlib.contextmanager
    def steps_of(self, door):
        """A function that makes one step over it."""
        if door == 'http':
            yield lambda: self.instance.step(count=1)
            return
        with self.instance.connect(['force'], ['x'], timeout=60 * SLOW, door=door) as partner:
            yield lambda: partner.step(0.001, [1])

    def test_signals_at_any_time_leave_what_works(self):
        dice, fired = random.Random(7), []

        def handler(*_):
            fired.append(dice.choice((Lost, RuntimeError, KeyboardInterrupt)))
            raise fired[-1]('of the program')
        before = signal.signal(signal.SIGALRM, handler)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)
        look = self.other.instance(self.instance.id).info
        for door in ('http', 'control', 'lane'):
            with self.subTest(door), self.steps_of(door) as step:
                arrived = 0
                for _ in range(30):
                    fired.clear()
                    try:
                        signal.setitimer(signal.ITIMER_REAL, dice.uniform(1e-5, 2e-3))
                        while not fired:
                            step()
                    except (Lost, RuntimeError, KeyboardInterrupt) as fault:
                        self.assertEqual((type(fault), fault.args),
                                         (fired[0], ('of the program',)))
                        arrived += 1
                    begun = look()['step']
                    step()
                    self.assertGreater(look()['step'], begun)
                # Python itself discards what is raised in a __del__
                self.assertGreater(arrived, 0)

    def test_a_partner_stops_its_step(self):
        with self.instance.connect(['force'], ['x'], timeout=30 * SLOW) as partner:
            self.assertEqual(self.press(lambda: partner.step(1e6, [1])), STOPPED)
            partner.step(0.001, [1])
            self.assertEqual(partner.count, 1)
        with self.instance.connect(['force'], ['x']) as partner:
            hasten(partner, 0.2)
            with self.assertRaisesRegex(mechd.TimedOut, 'within 0.2 s; ' + STOPPED):
                partner.step(1e6, [1])
            hasten(partner, 60)
            self.assertEqual(len(partner.get_outputs()), 1)


if __name__ == '__main__':
    unittest.main()
