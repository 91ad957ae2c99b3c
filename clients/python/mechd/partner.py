"""ZeroMQ: a lock-step partner by binary frames, its stamped forces, and the stream of states.

    with instance.connect(['force'], ['x']) as partner:
        y = partner.step(0.01, [20.0])      # outputs in the order agreed; y[0] is x

One round trip takes some tens of microseconds. A partner belongs to one thread.
"""
from __future__ import annotations

import json
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import zmq

from . import frames
from .curve import Keys
from .errors import BadReply, Unreachable, refusal

Values = Union[Sequence[float], Mapping[str, Any]]


class Layout:
    """Where each name stands among the values of a frame."""

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
                ['there is no %s here' % n for n in sorted(strange)] +
                ['%s is missing' % n for n in sorted(missing)]))
        found: List[float] = []
        for name, (_, count) in sorted(self.places.items(), key=lambda p: p[1]):
            part = [named[name]] if count == 1 and not hasattr(named[name], '__len__') \
                else list(named[name])
            if len(part) != count:
                raise ValueError('%s has %d values, not %d' % (name, count, len(part)))
            found += part
        return found


class Partner:
    """A partnership with one instance, whose id is `instance`. After each call `time` (s) and
    `count` (internal steps since the start) are those of its answer.

    Its inputs and outputs are agreed on when it begins: `inputs`, `outputs` are their layouts.
    """

    def __init__(self, endpoints: Mapping[str, str], hello: Mapping[str, Any], timeout: float,
                 lease: int = 0, keys: Optional[Keys] = None):
        self.time, self.count = 0.0, 0
        self._endpoints, self._timeout, self._keys = endpoints, timeout, keys
        self.instance = hello['instance']
        self._sequence, self._number, self._lease = 0, 0, lease
        self._socket = _socket(zmq.DEALER, endpoints['control'], timeout, keys)
        try:
            head, parts = self._ask(frames.HELLO, extra=json.dumps(hello).encode())
            reply = json.loads(parts[1])
        except BaseException:
            self._socket.close(0)
            raise
        self._number, self._lease = reply['instance'], head.lease
        self.outputs, self.inputs = Layout(reply['layout']), Layout(reply['inputLayout'])
        self._order = reply['inputOrder']

    def __repr__(self) -> str:
        if self._socket.closed:
            return 'Partner(%r, closed)' % self.instance
        return 'Partner(%r, inputs=%r, outputs=%r, time=%r)' % (
            self.instance, list(self.inputs.places), list(self.outputs.places), self.time)

    def __enter__(self) -> 'Partner':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the lease; the instance stays."""
        if not self._socket.closed:
            try:
                self._ask(frames.BYE)
            except Exception:  # the instance or the server may be gone already
                pass
            self._socket.close(0)

    def step(self, size: float, values: Values = ()) -> Any:
        """Step by `size` s with these inputs (none: as they are), and return the outputs: with
        numpy
        a view of the answer. Values by name go and do not come by name; `outputs.named` does
        that."""
        return self._run(frames.STEP, size, values, 0)

    def trial(self, size: float, values: Values = (), iteration: int = 0) -> Any:
        """Outputs at the end of a step that is not kept unless `commit` follows."""
        return self._run(frames.TRIAL, size, values, iteration)

    def commit(self) -> Any:
        """Keep the end of the last trial."""
        return frames.values(self._ask(frames.COMMIT)[1][0])

    def set_inputs(self, values: Values) -> None:
        """Inputs from now on."""
        self._ask(frames.INPUTS, self.ordered(values))

    def get_outputs(self) -> Any:
        """Outputs now."""
        return frames.values(self._ask(frames.OUTPUTS)[1][0])

    def get_state(self) -> Any:
        """q, v, x, z, one behind the other."""
        return frames.values(self._ask(frames.STATE)[1][0])

    def set_state(self, values: Sequence[float], time: float = 0.0) -> None:
        """A new state q, v, x, z; time 0 leaves the time."""
        self._ask(frames.STATE, values, time=time)

    def snapshot(self) -> int:
        """Keep the state in the server's memory; its number is for `restore`."""
        return self._ask(frames.SNAPSHOT)[0].iteration

    def restore(self, number: int) -> None:
        """Back to a snapshot."""
        self._ask(frames.RESTORE, iteration=number)

    def forces(self) -> 'Forces':
        """A socket that pushes stamped inputs into the running instance."""
        _open(self, self._socket)
        return Forces(self, self._endpoints['forces'], self._number, self._lease, self._keys)

    def ordered(self, values: Values) -> Sequence[float]:
        """Inputs in the order of their layout, by name or as they are."""
        if not isinstance(values, Mapping):
            return values
        if self._order:
            raise ValueError('with derivatives, values go in the order of the layout')
        return self.inputs.packed(values)

    def _run(self, kind: int, size: float, values: Values, iteration: int) -> Any:
        return frames.values(self._ask(kind, self.ordered(values), size=size,
                                       iteration=iteration)[1][0])

    def _ask(self, kind: int, values: Sequence[float] = (), extra: Optional[bytes] = None,
             **fields: Any) -> Tuple[frames.Header, List[bytes]]:
        _open(self, self._socket)
        self._sequence += 1
        body = frames.pack(kind, values, instance=self._number, lease=self._lease,
                           sequence=self._sequence, **fields)
        parts = [b'', body] if extra is None else [b'', body, extra]
        self._socket.send_multipart(parts)
        while True:
            try:
                parts = self._socket.recv_multipart()[1:]
            except zmq.Again as fault:
                raise Unreachable('no answer from %s within %g s' %
                                  (self._endpoints['control'], self._timeout)) from fault
            head = frames.header(parts[0] if parts else b'')
            if head.sequence == self._sequence:
                break  # else: the late answer of a request that was given up
        if head.kind == frames.ERROR:
            raise refusal(json.loads(parts[1]))
        self.time, self.count = head.time, head.step
        return head, parts


class Forces:
    """Stamped inputs of a partner; nothing is answered."""

    def __init__(self, partner: Partner, endpoint: str, number: int, lease: int,
                 keys: Optional[Keys] = None):
        self._socket = _socket(zmq.PUSH, endpoint, 5.0, keys)
        self._socket.linger = 1000
        self._partner, self._number, self._lease = partner, number, lease

    def __repr__(self) -> str:
        return 'Forces(%r, inputs=%r%s)' % (self._partner.instance,
                                            list(self._partner.inputs.places),
                                            ', closed' if self._socket.closed else '')

    def __enter__(self) -> 'Forces':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def push(self, values: Values, time: float = 0.0) -> None:
        """Inputs that hold from the first internal step at or after `time` (0: at once)."""
        _open(self, self._socket)
        self._socket.send(frames.pack(frames.INPUTS, self._partner.ordered(values),
                                      instance=self._number, lease=self._lease, time=time))

    def close(self) -> None:
        self._socket.close()


class Sample(NamedTuple):
    """One communication step of the stream. `sequence` counts them: a gap was dropped on the way.
    `rewound`: time went back before this (restore, reset), or it is the first one of another
    instance under the same id."""
    time: float
    step: int
    sequence: int
    rewound: bool
    values: Any
    outputs: Dict[str, Any]


class Stream:
    """Iterates over an instance's communication steps as they are committed, by whomever."""

    def __init__(self, endpoint: str, instance: str, layout: Layout, timeout: Optional[float],
                 keys: Optional[Keys] = None):
        self._layout, self._sequence, self._timeout = layout, 0, timeout
        self._number: Optional[int] = None
        self.instance = instance
        self._socket = _socket(zmq.SUB, endpoint, timeout, keys)
        self._socket.subscribe('state/%s/' % instance)

    def __repr__(self) -> str:
        return 'Stream(%r, outputs=%r%s)' % (self.instance, list(self._layout.places),
                                             ', closed' if self._socket.closed else '')

    def __enter__(self) -> 'Stream':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Sample]:
        return self

    def __next__(self) -> Sample:
        _open(self, self._socket)
        while True:
            try:
                _, frame = self._socket.recv_multipart()
            except zmq.Again:
                raise Unreachable('nothing came within %g s' % (self._timeout or 0)) from None
            head = frames.header(frame)
            # another number: another life of the id, whose steps are counted from 1 again
            another = self._number not in (None, head.instance)
            rewound = another or bool(head.flags & frames.REWOUND)
            # who subscribes while a step is published may get its frame twice
            if head.sequence > self._sequence or rewound:
                self._sequence, self._number = head.sequence, head.instance
                values = frames.values(frame)
                return Sample(head.time, head.step, head.sequence, rewound, values,
                              self._layout.named(values))

    def close(self) -> None:
        self._socket.close(0)


def _open(door: Any, socket: Any) -> None:
    if socket.closed:
        raise ValueError('this %s has been closed; another one is taken from its instance' %
                         type(door).__name__.lower())


def _socket(kind: int, endpoint: str, timeout: Optional[float], keys: Optional[Keys]) -> Any:
    if not endpoint or endpoint == 'none':
        raise BadReply('this server has closed that ZeroMQ socket')
    socket = zmq.Context.instance().socket(kind)
    socket.linger = 0
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
