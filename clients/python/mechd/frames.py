"""The binary frame: a header of 64 bytes, little-endian, and float64 values (version 1)."""
from __future__ import annotations

import json
import math
import struct
from typing import Any, Dict, NamedTuple, Sequence, cast

from .errors import BadReply
from .values import integer, items_of, number, numpy, whole

HEADER = struct.Struct('<4sBBHIIIiQQddQ')
MAGIC, VERSION = b'MCHD', 1
HELLO, STEP, TRIAL, COMMIT, INPUTS, OUTPUTS, STATE, SNAPSHOT, RESTORE, ERROR, BYE = range(1, 12)
REPEAT, REWOUND, EVENT, LATE, TEXT, EXPECT = 1, 2, 4, 8, 16, 32


class Header(NamedTuple):
    """Fields of the header in their order."""
    magic: bytes
    version: int
    kind: int
    flags: int
    instance: int
    count: int  # type: ignore[assignment]  # of a tuple it is a method
    iteration: int
    status: int
    sequence: int
    step: int
    time: float
    size: float
    lease: int


def pack(kind: int, values: Sequence[float] = (), instance: int = 0, lease: int = 0,
         sequence: int = 0, time: float = 0.0, size: float = 0.0, iteration: int = 0,
         step: int = 0, status: int = 0, flags: int = 0) -> bytes:
    """A whole frame."""
    if numpy is not None and isinstance(values, numpy.ndarray) and whole(values):
        tail = numpy.ascontiguousarray(values, dtype='<f8').tobytes()
    else:
        tail = _packed(values)
    return HEADER.pack(MAGIC, VERSION, kind, flags, instance, len(tail) // 8,
                       integer(iteration, 'iteration'), status, sequence, step,
                       number(time, 'time'),
                       number(size, 'size'), lease) + tail


def _packed(values: Any) -> bytes:
    if isinstance(values, (list, tuple)):
        try:
            if math.isfinite(sum(values)):
                return struct.pack('<%dd' % len(values), *values)
        except (TypeError, ValueError, OverflowError, struct.error):
            pass  # looked at one by one
    items = items_of(values, '')
    found = [number(v, '/%d' % k) for k, v in enumerate([values] if items is None else items)]
    return struct.pack('<%dd' % len(found), *found)


def header(frame: bytes) -> Header:
    """The header of a frame, whose length must fit it."""
    if len(frame) < HEADER.size:
        raise BadReply('a frame of %d bytes' % len(frame))
    found = Header(*HEADER.unpack_from(frame))
    if found.magic != MAGIC or found.version != VERSION or \
            len(frame) != HEADER.size + 8 * found.count:
        raise BadReply('a frame that is not of version %d' % VERSION)
    return found


def behind(parts: Sequence[bytes]) -> Dict[str, Any]:
    """The JSON behind a frame; of an error without it, what its header says."""
    if len(parts) > 1:
        return cast(Dict[str, Any], json.loads(parts[1]))
    head = header(parts[0])
    if head.kind != ERROR:
        raise BadReply('a frame of kind %d without its second part' % head.kind)
    return {'number': head.status, 'title': 'the server answered with error %d' % head.status}


def values(frame: bytes) -> Any:
    """The values: with numpy a view of the frame (read only, no copy), else a tuple of floats."""
    if numpy is not None:
        return numpy.frombuffer(frame, dtype='<f8', offset=HEADER.size)
    return struct.unpack_from('<%dd' % ((len(frame) - HEADER.size) // 8), frame, HEADER.size)
