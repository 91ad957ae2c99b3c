"""The lane: the messages of ZeroMQ's control socket over a Unix socket or TCP, each preceded by its
length. Frames are those of `frames`; the part of a hello, and of a reply of kind hello or error,
that is JSON is a message of its own."""
from __future__ import annotations

import socket
import struct
from typing import List, Optional, Sequence
from urllib.parse import urlsplit

import zmq

from . import frames
from .errors import BadReply, Unreachable, by_handler

_LENGTH = struct.Struct('<I')


class LaneSocket:
    """One connection, with the methods of a socket of ZeroMQ that a partner uses. It raises
    zmq.Again when no message arrives in time, and Unreachable when the connection has ended."""

    def __init__(self, endpoint: str, timeout: Optional[float], patience: Optional[float] = None):
        if not endpoint or endpoint == 'none':
            raise BadReply('this server has no lane: start it with --lane')
        self.closed, self._rest = False, b''
        patience = timeout if patience is None else patience  # of the connection alone
        try:
            if endpoint.startswith('unix:'):
                self._socket = socket.socket(socket.AF_UNIX)
                self._socket.settimeout(patience)
                self._socket.connect(endpoint[len('unix:'):])
            else:
                parts = urlsplit(endpoint)
                self._socket = socket.create_connection((parts.hostname or '', parts.port or 0),
                                                        patience)
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket.settimeout(timeout)
        except OSError as fault:
            if by_handler(fault):
                raise
            raise Unreachable('%s cannot be reached: %s' % (endpoint, fault)) from fault
        self._endpoint = endpoint

    def send_multipart(self, parts: Sequence[bytes]) -> None:
        """Send the parts after the first, which is empty, as messages. An interruption in the
        middle closes the connection: the server would take the next message for the rest of
        this one."""
        try:
            self._socket.sendall(b''.join(_LENGTH.pack(len(p)) + p for p in parts[1:]))
        except BaseException as fault:
            self.close()
            raise self._fault(fault)

    def recv_multipart(self) -> List[bytes]:
        """An empty part, and the message or two of the next reply. The bytes of an incomplete one
        are retained at a timeout."""
        at, first = self._message(0)
        kind = first[5] if len(first) > 5 and first[:4] == b'MCHD' else 0
        parts = [b'', first]
        if kind in (frames.HELLO, frames.ERROR):
            at, second = self._message(at)
            parts.append(second)
        self._rest = self._rest[at:]
        return parts

    def wait(self, seconds: float) -> bool:
        """Whether something arrives within so many seconds: bytes, or the end."""
        poller = zmq.Poller()
        poller.register(self._socket, zmq.POLLIN)
        return bool(self._rest) or bool(poller.poll(int(1000 * seconds)))

    def close(self, linger: Optional[int] = None) -> None:
        """End the connection."""
        del linger
        self.closed = True
        self._socket.close()

    def _message(self, at: int) -> tuple[int, bytes]:
        """The message at this place of the received bytes, and the place after it."""
        begin = at + _LENGTH.size
        self._need(begin)
        end = begin + _LENGTH.unpack(self._rest[at:begin])[0]
        self._need(end)
        return end, self._rest[begin:end]

    def _need(self, count: int) -> None:
        while len(self._rest) < count:
            try:
                piece = self._socket.recv(max(1 << 16, count - len(self._rest)))
            except OSError as fault:
                raise self._fault(fault)
            if not piece:
                raise self._ended('the server has closed it')
            self._rest += piece

    def _fault(self, fault: BaseException) -> BaseException:
        """What a fault of the socket means here; one that a signal has raised is itself."""
        if not isinstance(fault, OSError) or by_handler(fault):
            return fault
        found: Exception = self._ended(fault)
        if isinstance(fault, socket.timeout):
            found = zmq.Again()  # type: ignore[no-untyped-call]
        found.__cause__ = fault
        return found

    def _ended(self, why: object) -> Unreachable:
        return Unreachable('the connection to %s has ended: %s' % (self._endpoint, why))
