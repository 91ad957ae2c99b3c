"""A lock-step partner by binary frames over ZeroMQ or the lane, its stamped forces, and the stream
of states.

    with instance.connect(['force'], ['x']) as partner:
        y = partner.step(0.01, [20.0])      # outputs in the order agreed; y[0] is x

One round trip takes some tens of microseconds. Threads may share a partner, forces and a stream:
one call runs at a time. A forked process cannot use those of its parent: it takes its own.
"""
from __future__ import annotations

import json
import os
import secrets
import threading
import time as clock
from typing import (Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence,
                    Tuple, Union)

import zmq

from . import frames, transport
from .curve import Keys
from .errors import BadReply, TimedOut, Unreachable, by_handler, refusal
from .lane import LaneSocket
from .values import listed, plain

_SLICE = 0.1  # s for which a thread waits in one go
_AGAIN = 1.0  # s after which a stream asks once more whether its subscription has arrived
_IDLE = 1.0  # s without a frame after which a chosen stream looks whether the server still has it

Values = Union[Sequence[float], Mapping[str, Any]]


class Layout:
    """The position of each name among the values of a frame."""

    def __init__(self, entries: Sequence[Mapping[str, Any]]):
        self.places: Dict[str, Tuple[int, int]] = {e['name']: (e['offset'], e['count'])
                                                   for e in entries}
        self.count = sum(count for _, count in self.places.values())

    def __repr__(self) -> str:
        return 'Layout(%r)' % list(self.places)

    def named(self, values: Any) -> Dict[str, Any]:
        """name: float, or the part of a vector."""
        return {name: float(values[at]) if count == 1 else values[at:at + count]
                for name, (at, count) in self.places.items()}

    def packed(self, named: Mapping[str, Any]) -> List[float]:
        """Values in their order; every name is needed."""
        strange = set(named) - set(self.places)
        missing = set(self.places) - set(named)
        if strange or missing:
            raise ValueError('; '.join(
                ['unknown name %s' % n for n in sorted(strange)] +
                ['%s is missing' % n for n in sorted(missing)]))
        found: List[float] = []
        for name, (_, count) in sorted(self.places.items(), key=lambda p: p[1]):
            part = listed(named[name], '/' + name)
            if len(part) != count:
                raise ValueError('%s has %d values, not %d' % (name, count, len(part)))
            found += part
        return found


class _Door:
    """A socket: of one process, of one thread at a time."""

    _source = 'its instance'  # what opens another one

    def __init__(self, socket: Any):
        self._process, self._turn, self._ends = os.getpid(), threading.RLock(), False
        self._socket = socket

    @property
    def _closed(self) -> bool:
        return self._ends or self._socket.closed

    def _check(self) -> None:
        """ValueError where it cannot be used. Checked before the lock is taken: a lock that another
        process held at the fork is never released here."""
        name, source = type(self).__name__.lower(), self._source
        if self._process != os.getpid():
            raise ValueError('this %s belongs to process %d, which has opened it; in a forked '
                             'process %s opens another one' % (name, self._process, source))
        if self._closed:
            raise ValueError('this %s has been closed; %s opens another one' % (name, source))

    def _shut(self, linger: Optional[int] = 0) -> None:
        """Close it when its last user has released it; in a forked process it stays open."""
        self._ends = True
        if self._process == os.getpid():
            with self._turn:
                self._socket.close(linger)


class Partner(_Door):
    """A lock-step connection to one instance, whose id is `instance`. After each call `time` (s)
    and `count` (internal steps since the start) are those of its answer; `event`: whether a step
    or trial had an event.

    Its inputs and outputs are agreed on when it begins: `inputs`, `outputs` are their layouts, and
    `wanted` is that of the values which steps and trials return after the outputs.
    """

    def __init__(self, endpoints: Mapping[str, str], hello: Mapping[str, Any], timeout: float,
                 lease: int = 0, keys: Optional[Keys] = None, door: str = 'control'):
        self.time, self.count, self.event = 0.0, 0, False
        self._endpoints, self._keys, self._door = endpoints, keys, door
        self._timeout = transport.wait(timeout)
        self.instance = hello['instance']
        self._token = {'token': hello['token']} if 'token' in hello else {}
        self._sequence, self._number, self._lease, self._torn = 0, 0, lease, False
        super().__init__(self._open(timeout))
        try:
            head, parts = self._ask(frames.HELLO,
                                    extra=json.dumps(plain(hello), allow_nan=False).encode())
            reply = frames.behind(parts)
        except BaseException:
            self._shut()
            raise
        self._number, self._lease = reply['instance'], head.lease
        self.outputs, self.inputs = Layout(reply['layout']), Layout(reply['inputLayout'])
        self.wanted = Layout(reply.get('wantLayout', ()))
        self._order = reply['inputOrder']

    def __repr__(self) -> str:
        if self._closed:
            return 'Partner(%r, closed)' % self.instance
        return 'Partner(%r, inputs=%r, outputs=%r, time=%r)' % (
            self.instance, list(self.inputs.places), list(self.outputs.places), self.time)

    def __enter__(self) -> 'Partner':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self, timeout: Optional[float]) -> Any:
        """A connection to its socket."""
        endpoint = self._endpoints.get(self._door, '')
        return LaneSocket(endpoint, timeout) if self._door == 'lane' else \
            _socket(zmq.DEALER, endpoint, timeout, self._keys)

    def close(self) -> None:
        """End the lease; the instance stays."""
        try:
            if not self._closed:
                self._ask(frames.BYE)
        except Exception as fault:  # the instance or the server may be gone already
            if by_handler(fault):
                raise
        finally:
            self._shut()

    def step(self, size: float, values: Values = (),
             expect_time: Optional[float] = None) -> Any:
        """Step by `size` s with these inputs (none: as they are), and return the outputs: with
        numpy a view of the answer. Inputs may be given by name; the outputs are returned in order,
        `outputs.named` gives their names. expect_time: refuse with Conflict unless it is the
        present time, so that a step that is sent again is not done twice."""
        return self._run(frames.STEP, size, values, 0, expect_time)

    def trial(self, size: float, values: Values = (), iteration: int = 0,
              expect_time: Optional[float] = None) -> Any:
        """Outputs at the end of a step that is discarded unless `commit` follows."""
        return self._run(frames.TRIAL, size, values, iteration, expect_time)

    def commit(self) -> Any:
        """Commit the result of the last trial."""
        return frames.values(self._ask(frames.COMMIT)[1][0])

    def set_inputs(self, values: Values) -> None:
        """Set the inputs from now on."""
        self._ask(frames.INPUTS, self.ordered(values))

    def get_outputs(self) -> Any:
        """The present outputs."""
        return frames.values(self._ask(frames.OUTPUTS)[1][0])

    def get_state(self) -> Any:
        """q, v, x, z, concatenated."""
        return frames.values(self._ask(frames.STATE)[1][0])

    def set_state(self, values: Sequence[float], time: float = 0.0) -> None:
        """Set a new state q, v, x, z; time 0 keeps the time."""
        self._ask(frames.STATE, values, time=time)

    def snapshot(self) -> int:
        """Store the state on the server with its instance; returns a number for `restore`."""
        return self._ask(frames.SNAPSHOT)[0].iteration

    def restore(self, number: int) -> None:
        """Restore a snapshot."""
        self._ask(frames.RESTORE, iteration=number)

    def forces(self) -> 'Forces':
        """A socket that pushes stamped inputs into the running instance."""
        self._check()
        return Forces(self, self._endpoints['forces'], self._number, self._lease, self._keys)

    def ordered(self, values: Values) -> Sequence[float]:
        """Inputs in the order of their layout, given by name or in that order."""
        if not isinstance(values, Mapping):
            return values
        if self._order:
            raise ValueError('with derivatives, values go in the order of the layout')
        return self.inputs.packed(values)

    def _run(self, kind: int, size: float, values: Values, iteration: int,
             expect_time: Optional[float]) -> Any:
        expected: Mapping[str, Any] = {}
        if expect_time is not None:
            expected = {'flags': frames.EXPECT, 'time': expect_time}
        return frames.values(self._ask(kind, self.ordered(values), size=size,
                                       iteration=iteration, **expected)[1][0])

    def _ask(self, kind: int, values: Sequence[float] = (), extra: Optional[bytes] = None,
             **fields: Any) -> Tuple[frames.Header, List[bytes]]:
        self._check()
        with self._turn:
            self._check()
            return self._exchange(kind, values, extra, fields)

    def _exchange(self, kind: int, values: Sequence[float], extra: Optional[bytes],
                  fields: Mapping[str, Any]) -> Tuple[frames.Header, List[bytes]]:
        self._sequence += 1
        body = frames.pack(kind, values, instance=self._number, lease=self._lease,
                           sequence=self._sequence, **fields)
        parts = [b'', body] if extra is None else [b'', body, extra]
        try:
            head, parts = self._answered(parts)
        except BaseException as fault:
            signalled = by_handler(fault)
            late = isinstance(fault, zmq.Again) and not signalled
            self._torn = signalled or (late and self._socket.closed)
            if not signalled and not late:
                raise
            words = self._stop(kind)
            if late:
                raise TimedOut('no answer from %s within %g s%s' % (
                    self._endpoints[self._door], self._timeout or 0, words)) from fault
            if isinstance(fault, KeyboardInterrupt) and not fault.args:
                fault.args = (words.lstrip('; '),)
            raise
        if head.kind == frames.ERROR:
            raise refusal(frames.behind(parts))
        self.time, self.count = head.time, head.step
        self.event = bool(head.flags & frames.EVENT)
        return head, parts

    @property
    def _closed(self) -> bool:
        return self._ends or (self._socket.closed and not self._torn)

    def _answered(self, parts: List[bytes]) -> Tuple[frames.Header, List[bytes]]:
        if self._torn:
            # a message may have been sent or read in part: the next ones go over another connection
            self._socket.close(0)
            self._socket = self._open(self._timeout)
            self._torn = False
        self._socket.send_multipart(parts)
        while True:
            parts = self._socket.recv_multipart()[1:]
            head = frames.header(parts[0] if parts else b'')
            if head.sequence == self._sequence:
                return head, parts  # else: the late answer of a request that was given up

    def _stop(self, kind: int) -> str:
        """Stop an abandoned step, and report what became of it."""
        if kind not in (frames.STEP, frames.TRIAL):
            return ''
        ask = {'op': 'stop', 'id': self.instance, 'lease': self._lease, **self._token}
        try:
            socket = self._open(transport.SOON)
            try:
                socket.send_multipart([b'', json.dumps(ask).encode()])
                reply = json.loads(socket.recv_multipart()[-1])
            finally:
                socket.close(0)
        except (zmq.Again, Unreachable):
            return '; the server does not answer a request to stop it either, so that it may be ' \
                   'in progress there'
        if reply.get('stopped'):
            return '; the step was still in progress there and has been stopped: it is undone'
        if 'error' in reply:
            return '; the step continues there: %s' % refusal(reply['error'])
        return '; the server had made the step before it could be stopped'


class Forces(_Door):
    """Stamped inputs of a partner; the server sends no answer."""

    def __init__(self, partner: Partner, endpoint: str, number: int, lease: int,
                 keys: Optional[Keys] = None):
        super().__init__(_socket(zmq.PUSH, endpoint, 5.0, keys))
        self._socket.linger = 1000
        self._partner, self._number, self._lease = partner, number, lease

    def __repr__(self) -> str:
        return 'Forces(%r, inputs=%r%s)' % (self._partner.instance,
                                            list(self._partner.inputs.places),
                                            ', closed' if self._closed else '')

    def __enter__(self) -> 'Forces':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def push(self, values: Values, time: float = 0.0) -> None:
        """Send inputs that hold from the first internal step at or after `time` (0: at once)."""
        self._check()
        frame = frames.pack(frames.INPUTS, self._partner.ordered(values), instance=self._number,
                            lease=self._lease, time=time)
        with self._turn:
            self._check()
            self._socket.send(frame)

    def close(self) -> None:
        self._shut(None)


class Sample(NamedTuple):
    """One communication step of the stream. `sequence` counts them: a gap means lost frames.
    `rewound`: time went back before this (restore, reset), or it is the first one of another
    instance under the same id."""
    time: float
    step: int
    sequence: int
    rewound: bool
    values: Any
    outputs: Dict[str, Any]


class Stream(_Door):
    """Iterates over an instance's communication steps as they are committed by any client; from its
    creation on, none is missing. If threads share it, each sample goes to one of them. opening:
    longest wait for the server to have its subscription, s. look: fetches the layout of the
    instance that has the id now; another one under the same id may have other outputs. renew: asked
    while no frame arrives; chooses the stream again where the server has it no more, and returns
    its layout, or None."""

    def __init__(self, endpoint: str, instance: str, layout: Layout, timeout: Optional[float],
                 keys: Optional[Keys] = None, topic: str = '',
                 ended: Optional[Callable[[], None]] = None, opening: Optional[float] = 60.0,
                 look: Optional[Callable[[], Layout]] = None,
                 renew: Optional[Callable[[], Optional[Layout]]] = None):
        timeout = transport.wait(timeout)
        self._ended, self._look, self._renew = ended, look, renew
        self._heard = clock.monotonic()  # of a frame, or that there is none
        self._layout, self._sequence, self._timeout = layout, 0, timeout
        self._number: Optional[int] = None
        self.instance = instance
        super().__init__(_socket(zmq.SUB, endpoint, timeout, keys))
        try:
            self._socket.subscribe(topic or 'state/%s/' % instance)
            self._arrive(opening)
        except BaseException:
            self._shut()
            raise

    def _arrive(self, seconds: Optional[float]) -> None:
        """Wait until the subscription has reached the server. It answers another one, which is
        behind it on the connection; and any frame shows the same."""
        until = None if seconds is None else clock.monotonic() + seconds
        question = 'ready/%s/' % secrets.token_hex(8)
        while True:
            left = _AGAIN if until is None else until - clock.monotonic()
            self._socket.subscribe(question)
            arrived = self._socket.poll(int(1000 * min(max(left, 0.0), _AGAIN)))
            self._socket.unsubscribe(question)
            if arrived:
                return
            if left <= 0:
                raise Unreachable('the stream has not answered within %g s' % (seconds or 0))

    def __repr__(self) -> str:
        return 'Stream(%r, outputs=%r%s)' % (self.instance, list(self._layout.places),
                                             ', closed' if self._closed else '')

    def __enter__(self) -> 'Stream':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Sample]:
        return self

    def __next__(self) -> Sample:
        begin = clock.monotonic()
        until = None if self._timeout is None else begin + self._timeout
        while True:
            self._check()
            left = 1.0 if until is None else until - clock.monotonic()
            with self._turn:
                self._check()
                # in slices: close() of another thread can run between them
                sample = self._sample(min(max(left, 0.0), _SLICE))
            if sample is not None:
                self._heard = clock.monotonic()
                return sample
            if self._renew and clock.monotonic() - self._heard > _IDLE:
                layout = self._renew()
                with self._turn:
                    self._layout = layout or self._layout
                self._heard = clock.monotonic()
            if left <= 0:
                raise Unreachable('no frame arrived within %g s' % (self._timeout or 0))

    def _sample(self, seconds: float) -> Optional[Sample]:
        """The next one; None: there was none, it is a repetition, or an answer to the question of
        the beginning."""
        try:
            parts = self._socket.recv_multipart(zmq.NOBLOCK)
        except zmq.Again:
            self._socket.poll(int(1000 * seconds))
            return None
        topic, frame = parts[0], parts[-1]
        # or the rest of one in whose reading a signal has raised
        if topic.startswith(b'ready/') or len(parts) != 2:
            return None
        head = frames.header(frame)
        # another number: a new instance with the id, whose steps are counted from 1 again
        another = self._number not in (None, head.instance)
        rewound = another or bool(head.flags & frames.REWOUND)
        # a client that subscribes while a step is published may get its frame twice
        if head.sequence <= self._sequence and not rewound:
            return None
        values = frames.values(frame)
        if self._look is not None and (another or len(values) != self._layout.count):
            self._layout = self._look()
        if len(values) != self._layout.count:
            raise BadReply('a frame of %s has %d values, and its outputs are %s' % (
                self.instance, len(values), ', '.join(self._layout.places)))
        self._sequence, self._number = head.sequence, head.instance
        return Sample(head.time, head.step, head.sequence, rewound, values,
                      self._layout.named(values))

    def close(self) -> None:
        first = not self._closed and self._process == os.getpid()
        self._shut()
        if first and self._ended is not None:
            self._ended()


def _socket(kind: int, endpoint: str, timeout: Optional[float], keys: Optional[Keys]) -> Any:
    if not endpoint or endpoint == 'none':
        raise BadReply('this server has closed that ZeroMQ socket')
    socket = zmq.Context.instance().socket(kind)
    socket.linger = 0
    socket.ipv6 = '[' in endpoint
    if timeout is not None:
        socket.rcvtimeo = socket.sndtimeo = int(1000 * timeout)
    if keys is not None:
        try:
            keys.lock(socket)
        except BaseException:
            socket.close(0)
            raise
    socket.connect(endpoint)
    return socket
