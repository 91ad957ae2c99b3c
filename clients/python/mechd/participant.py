"""An external program of a coupling: the server asks, the program answers.

    class Mass:
        def outputs(self, time, u):             # y at the start, without a step
            return {'x': self.x}

        def trial(self, time, size, u):         # a step from the committed state
            self.tried = advance(self.x, u['F'], size)
            return {'x': self.tried}

        def commit(self):                       # the last trial becomes the state
            self.x = self.tried

    with server.participate(sys.argv[1], 'rig') as rig:     # the id of the coupling
        rig.serve(Mass())                       # until the coupling ends

A window of a coupling is a communication step of FMI: a trial corresponds to fmi3DoStep after the
state was stored, a commit to freeing that state, Discard to fmi3Discard. A program in the manner of
preCICE stores a checkpoint in `commit` and begins each `trial` from it.
"""
from __future__ import annotations

import json
import math
import os
import time as clock
from collections.abc import Mapping as AnyMapping
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple

import zmq

from . import frames, transport
from .curve import Keys
from .errors import BadReply, Busy, MechdError, TimedOut, Unreachable, by_handler, refusal
from .lane import LaneSocket
from .partner import _SLICE, Layout, _Door, _socket
from .values import integer, items_of, listed, number

_PAUSE = 0.1  # s between two attempts to return
_FAILED, _NOT_CONVERGED = 1024, 2002  # numbers of the table of errors
_WORDS = 1000  # bytes of a reason that are sent: the server shows fewer


class Discard(MechdError):
    """Raised by the functions of a program: this request cannot be answered. The step of the
    coupling fails with partner-fault and the window is undone; the program remains and serves the
    next request. text, status: the reason that the coupling's step reports, and its number."""

    def __init__(self, text: str = '', status: int = _NOT_CONVERGED):
        super().__init__(text)
        self.status = integer(status, 'status')
        if not -2 ** 31 <= self.status < 2 ** 31:
            raise ValueError('status: %r does not fit 32 bits' % (status,))


class Inputs(AnyMapping[str, Any]):
    """Inputs over a window, by name: u['F'] is the value at its start. `array`: the values in the
    order of the coupling's document; order: derivatives that are known (the coupling's hold).

        force = u.at(tau)['F']              # tau s after the start
    """

    def __init__(self, places: Mapping[str, int], order: int, values: Any):
        self._places, self.order, self._values = places, order, values

    def __repr__(self) -> str:
        return 'Inputs(%r)' % dict(self)

    def __getitem__(self, name: str) -> float:
        return float(self._values[self._places[name]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    @property
    def array(self) -> Any:
        """Values at the start, in order."""
        return self.derivative(0)

    def derivative(self, order: int) -> Any:
        """Derivatives of that order at the start, in order; 0: the values."""
        order = integer(order, 'order')
        if not 0 <= order <= self.order:
            raise ValueError('inputs of this coupling have derivatives up to order %d' %
                             self.order)
        n = len(self._places)
        return self._values[order * n:(order + 1) * n]

    def at(self, tau: float) -> Dict[str, float]:
        """The inputs tau s after the start of the window, by name."""
        tau = float(number(tau, 'tau'))
        terms = [(tau ** r / math.factorial(r), self.derivative(r)) for r in range(self.order + 1)]
        return {name: float(sum(factor * values[k] for factor, values in terms))
                for name, k in self._places.items()}


class _Asked(NamedTuple):
    """A request. Two trials that are equal are one that has been sent again."""
    kind: int
    window: int
    iteration: int
    sequence: int
    time: float
    size: float
    values: bytes


class _Lost(Exception):
    """The connection has ended; its reason."""


class Participant(_Door):
    """This program's place in a coupling. inputs, outputs: names in their order; order: derivatives
    of inputs over a window; window, time: of the last commit (if the program connected while the
    commit of the next window was owed, time is NaN until it is asked).

    returns: s for which it tries to reconnect after a lost connection (0: it does not): it says
    hello again from its window, and the server repeats the trial and the commit that were lost.
    """

    _source = 'Server.participate'

    def __init__(self, endpoints: Mapping[str, str], hello: Mapping[str, Any], door: str,
                 waits: Tuple[float, float], keys: Optional[Keys] = None, rollback: bool = True):
        timeout = transport.wait(waits[0])
        self._timeout = 10.0 if timeout is None else timeout
        returns = transport.wait(waits[1], 'returns', 0.0)
        self._returns = math.inf if returns is None else returns
        self._keys, self._door, self._rollback = keys, door, rollback
        self._endpoint, self._hello = endpoints.get(door, ''), dict(hello)
        self.coupling, self.name = hello['coupling'], hello['participant']
        self.window, self._over, self._monitor = int(hello.get('window', 0)), False, None
        self._tried: Optional[_Asked] = None  # the last trial, until it is committed
        self._stepped = 0                     # the window of a trial that cannot be taken back
        self._answer: Any = None              # its outputs
        self._slopes: List[float] = []        # and their derivatives by its values
        self._wants = bool(hello.get('want'))
        self._committed: Any = None           # outputs at the end of `window`
        super().__init__(self._open(self._timeout))
        try:
            reply = self._greet(self._timeout)
        except BaseException:
            self._drop()
            raise
        # the server's is that of a later window where a commit is owed
        self.time: float = reply['time'] if reply['window'] == self.window else math.nan
        self.inputs: List[str] = reply['inputs']
        self.outputs: List[str] = reply['outputs']
        self.order: int = reply['inputOrder']
        self._places = {name: k for k, name in enumerate(self.inputs)}
        self._layout = Layout([{'name': name, 'offset': k, 'count': 1}
                               for k, name in enumerate(self.outputs)])

    def __repr__(self) -> str:
        return 'Participant(%r, %r, window=%d%s)' % (
            self.coupling, self.name, self.window, ', closed' if self._closed else '')

    def __enter__(self) -> 'Participant':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the place; the coupling waits for a program that takes it. A serve() of another
        thread returns. In a forked process the place remains its parent's."""
        left, self._ends = self._ends, True
        if self._process != os.getpid():
            return
        with self._turn:
            try:
                if not left and not self._over and not self._socket.closed:
                    self._send(frames.pack(frames.BYE, lease=self._lease))
            except Exception as fault:  # the server may be gone already
                if by_handler(fault):
                    raise
            finally:
                self._drop(1000)

    def serve(self, program: Any = None, *,
              outputs: Optional[Callable[[float, Inputs], Any]] = None,
              trial: Optional[Callable[[float, float, Inputs], Any]] = None,
              commit: Optional[Callable[[], Any]] = None,
              jacobian: Optional[Callable[[float, float, Inputs], Any]] = None,
              windows: Optional[int] = None, timeout: Optional[float] = None) -> None:
        """Answer the server's requests until the coupling ends, or until so many windows have been
        committed. The functions are those of `program`, or the given ones:

        outputs(time, u): y at that time, without a step.
        trial(time, size, u): step by size s from the committed state; y at the end. It may be
        called several times before a commit, each time from the committed state.
        commit(): the last trial becomes the state. A commit that is sent again is answered without
        a call. May be missing where rollback is false: then a trial is the step.
        jacobian(time, size, u): with participate(…, jacobian=True), called after each trial: a row
        an output, its derivatives at the end by the values of the inputs at the start, then by
        their derivatives (`order`).

        y: a mapping by name, a list in the order of `outputs`, or a number where there is one.
        Discard undoes the window, and the program continues. Any other exception does so too and
        is raised here. The text of either is in the error of the coupling's step. An exception of
        `commit` undoes nothing: the window is done for the others, the coupling's step fails with
        commit-owed, and `commit` is called again before the next request. Without rollback a
        window that was given up has been stepped: close() this, and participate again from the
        state of the last commit.

        timeout: longest wait for a request, s; then TimedOut is raised. Unreachable: the
        connection was lost and could not be restored. After each of these, and after Ctrl-C,
        serve() may be called again: it says hello again if there is no connection. It returns when
        another thread calls close().
        """
        functions = {'outputs': outputs or getattr(program, 'outputs', None),
                     'trial': trial or getattr(program, 'trial', None),
                     'commit': commit or getattr(program, 'commit', None)}
        if not self._rollback and functions['commit'] is None:
            functions['commit'] = lambda: None
        if self._wants:
            functions['jacobian'] = jacobian or getattr(program, 'jacobian', None)
        missing = [name for name, f in functions.items() if not callable(f)]
        if missing:
            raise ValueError('the program has no function %s' % ', '.join(missing))
        timeout = transport.wait(timeout, least=0.0)
        last = None if windows is None else self.window + integer(windows, 'windows')
        self._check()
        while not self._over and (last is None or self.window < last):
            with self._turn:
                if self._ends:
                    return
                parts = self._next(timeout)
                if parts is not None:
                    self._hear(parts, functions)

    # --- requests of the server

    def _hear(self, parts: List[bytes], functions: Mapping[str, Any]) -> None:
        head = frames.header(parts[0])
        if head.kind == frames.ERROR:
            raise refusal(frames.behind(parts))
        if head.kind == frames.BYE:
            self._over = head.lease == self._lease  # another's is of an earlier connection
            return
        asked = _Asked(head.kind, head.step, head.iteration, head.sequence, head.time, head.size,
                       parts[0][frames.HEADER.size:])
        try:
            values = self._answered(asked, frames.values(parts[0]), functions)
            frame = self._frame(asked, head.kind, values)
        except Discard as fault:
            self._fail(asked, str(fault), fault.status)
            return
        except BaseException as fault:
            words = str(fault)
            name = type(fault).__name__
            self._fail(asked, '%s: %s' % (name, words) if words else name, _FAILED)
            raise
        self._reply(frame)

    def _fail(self, asked: _Asked, text: str, status: int) -> None:
        """Answer with an error, and the text behind it if there is one."""
        words = text.encode('utf-8', 'replace')[:_WORDS]
        frame = self._frame(asked, frames.ERROR, (), status, frames.TEXT if words else 0)
        self._reply(*([frame, words] if words else [frame]))

    def _answered(self, asked: _Asked, values: Any, functions: Mapping[str, Any]) -> Any:
        if asked.kind == frames.COMMIT:
            return self._commit(asked, functions)
        if asked.kind not in (frames.OUTPUTS, frames.TRIAL):
            raise BadReply('a request of the unknown kind %d' % asked.kind)
        order = self.order if asked.kind == frames.TRIAL else 0
        if len(values) != len(self.inputs) * (order + 1):
            raise BadReply('a request with %d values' % len(values))
        u = Inputs(self._places, order, values)
        if asked.kind == frames.OUTPUTS:
            self.time = asked.time
            self._committed = self._ordered(functions['outputs'](asked.time, u), 'outputs')
            return self._committed
        return self._trial(asked, u, functions)

    def _trial(self, asked: _Asked, u: Inputs, functions: Mapping[str, Any]) -> Any:
        if asked == self._tried:
            return self._whole()  # sent again: the state that it led to is there
        if asked.window != self.window + 1:
            raise BadReply('a trial of window %d; window %d was committed' % (asked.window,
                                                                              self.window))
        if self._stepped == asked.window:
            raise Discard('window %d has been stepped, and was not committed' % asked.window)
        self._tried, self._stepped = None, 0 if self._rollback else asked.window
        self.time = asked.time
        answer = self._ordered(functions['trial'](asked.time, asked.size, u), 'trial')
        if self._wants:
            self._slopes = self._rows(functions['jacobian'](asked.time, asked.size, u))
        self._tried, self._answer = asked, answer
        return self._whole()

    def _whole(self) -> Any:
        """The answer to a trial."""
        return [*self._answer, *self._slopes] if self._wants else self._answer

    def _rows(self, found: Any) -> List[float]:
        """A Jacobian, row by row."""
        rows, columns = len(self.outputs), len(self.inputs) * (self.order + 1)
        items = items_of(found, '/jacobian')
        flat: List[float] = []
        for k, row in enumerate([found] if items is None else items):
            flat += listed(row, '/jacobian/%d' % k)
        if len(flat) != rows * columns:
            raise ValueError('jacobian returned %d values; it has %d rows of %d' % (
                len(flat), rows, columns))
        return flat

    def _commit(self, asked: _Asked, functions: Mapping[str, Any]) -> Any:
        if asked.window == self.window:
            # done before; what a program that has returned does not know any more is not read
            return [0.0] * len(self.outputs) if self._committed is None else self._committed
        if self._tried is None or asked.window != self._tried.window:
            raise BadReply('a commit of window %d, which has not been stepped' % asked.window)
        functions['commit']()
        self.time = self._tried.time + self._tried.size
        self.window, self._committed, self._tried = asked.window, self._answer, None
        return self._committed

    def _ordered(self, y: Any, name: str) -> Any:
        """Outputs in their order."""
        if isinstance(y, AnyMapping):
            return self._layout.packed(y)
        found = listed(y, '/' + name)
        if len(found) != len(self.outputs):
            raise ValueError('%s returned %d values; the outputs are %s' % (
                name, len(found), ', '.join(self.outputs)))
        return found

    def _frame(self, asked: _Asked, kind: int, values: Any, status: int = 0,
               flags: int = 0) -> bytes:
        return frames.pack(kind, values, lease=self._lease, sequence=asked.sequence,
                           step=asked.window, iteration=asked.iteration, status=status,
                           flags=flags)

    # --- connection

    def _open(self, patience: float) -> Any:
        """A connection, over the lane within `patience` s."""
        if self._door == 'lane':
            return LaneSocket(self._endpoint, self._timeout, patience)
        socket = _socket(zmq.DEALER, self._endpoint, self._timeout, self._keys)
        self._monitor = socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        return socket

    @property
    def _closed(self) -> bool:
        return self._ends  # a connection that was lost is made again

    def _drop(self, linger: int = 0) -> None:
        """Close the socket, and what watches its connection; of the process that opened them."""
        if self._monitor is not None and not self._socket.closed:
            self._socket.disable_monitor()
        self._monitor = None
        self._socket.close(linger)

    def _greet(self, patience: float) -> Dict[str, Any]:
        """Say hello; the reply, which comes within `patience` s."""
        hello = {**self._hello, 'window': self.window} if self.window else self._hello
        until = clock.monotonic() + patience
        try:
            self._send(frames.pack(frames.HELLO, sequence=1), json.dumps(hello).encode())
            while not self._arrived():
                if self._ends or clock.monotonic() >= until:
                    raise zmq.Again()  # type: ignore[no-untyped-call]
            parts = self._socket.recv_multipart()[1:]
        except zmq.Again as fault:
            raise TimedOut('no answer from %s within %g s' % (self._endpoint,
                                                              patience)) from fault
        except _Lost as fault:
            raise Unreachable(str(fault)) from fault
        head = frames.header(parts[0] if parts else b'')
        if head.kind == frames.ERROR:
            raise refusal(frames.behind(parts))
        if head.kind != frames.HELLO:
            raise BadReply('a hello was answered by a frame of kind %d' % head.kind)
        reply = frames.behind(parts)
        self._lease: int = head.lease
        return reply

    def _send(self, *parts: bytes) -> None:
        try:
            self._socket.send_multipart([b'', *parts])
        except BaseException:
            # the rest of a message would begin the next one
            self._drop()
            raise

    def _reply(self, *parts: bytes) -> None:
        """Send an answer; where the connection is lost, the request comes again."""
        if self._ends:
            return
        try:
            self._send(*parts)
        except (zmq.Again, Unreachable) as fault:
            self._return(fault)

    def _next(self, timeout: Optional[float]) -> Optional[List[bytes]]:
        """The next request; None: none yet, or the connection is a new one."""
        until = None if timeout is None else clock.monotonic() + timeout
        try:
            while not self._arrived():
                if until is not None and clock.monotonic() >= until:
                    raise TimedOut('no request of the server within %g s' % (timeout or 0))
                if self._ends:
                    return None
            parts = list(self._socket.recv_multipart())
            if parts[0]:
                raise _Lost('a signal has raised while a request was read')
            return parts[1:]
        except zmq.Again:
            return None  # a message that is not whole yet
        except (_Lost, Unreachable) as fault:
            if isinstance(fault, TimedOut):
                raise
            self._return(fault)
            return None

    def _arrived(self) -> bool:
        """Whether a message is there, after a slice of waiting."""
        if self._socket.closed:
            raise _Lost('%s is not connected' % self.name)
        if self._monitor is None:
            return bool(self._socket.wait(_SLICE))
        poller = zmq.Poller()
        poller.register(self._socket, zmq.POLLIN)
        poller.register(self._monitor, zmq.POLLIN)
        ready = dict(poller.poll(int(1000 * _SLICE)))
        if self._socket in ready:
            return True
        if self._monitor in ready:
            raise _Lost('the connection to %s has ended' % self._endpoint)
        return False

    def _return(self, lost: Exception) -> None:
        """Say hello again, from the window that was committed here, unless close() is called
        meanwhile. After an exception there is no connection."""
        until = clock.monotonic() + self._returns
        while True:
            self._drop()
            left = until - clock.monotonic()
            if self._ends:
                return
            if left <= 0:
                raise Unreachable('%s; %s has not returned within %g s' % (
                    lost, self.name, self._returns)) from lost
            try:
                self._socket = self._open(min(self._timeout, left))
                self._greet(min(self._timeout, left))
                return
            except (Unreachable, Busy):
                clock.sleep(_PAUSE)
            except BaseException:
                self._drop()
                raise
