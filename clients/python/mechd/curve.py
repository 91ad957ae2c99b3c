"""CURVE: keys of ZeroMQ's sockets. A key is 32 bytes, written as 64 hexadecimal digits or as 40
characters of Z85."""
from __future__ import annotations

import re
from typing import Any, Optional

import zmq
from zmq.utils import z85

from .errors import Unreachable
from .values import content, decoded, shown, unseen


def key_of(text: str) -> bytes:
    """A key as Z85, from either form; ValueError: it is not a key."""
    try:
        if len(text) == 40:
            z85.decode(text.encode())  # type: ignore[no-untyped-call]
            return text.encode()
        if len(text) == 64:
            return bytes(z85.encode(bytes.fromhex(text)))  # type: ignore[no-untyped-call]
    except (KeyError, ValueError):
        pass
    raise ValueError('a key must have 64 hexadecimal digits, or 40 characters of Z85')


def secret_of(path: str) -> bytes:
    """The secret of a file as `mechd --make-curve-key` prints it."""
    text = decoded(content(path), path)
    for line in text.split('\n'):
        words = re.findall('[^ \t\r]+', line)
        if len(words) > 1 and words[0] == 'secret' and words[1].isascii():
            return key_of(words[1])
    raise ValueError('%s has no line "secret KEY" as mechd --make-curve-key prints it%s' % (
        shown(path), unseen(text)))


class Keys:
    """The keys of one Server: its own pair, and the public key of the server (None: the server
    reports it over HTTP)."""

    def __init__(self, server_key: Optional[str], file: Optional[str]):
        self._given = key_of(server_key) if server_key else None
        self._secret = secret_of(file) if file else None
        self._server = self._given

    def learn(self, told: Optional[str]) -> None:
        """The public key that the server reports; None: its sockets require none."""
        if self._given is None:
            self._server = key_of(told) if told else None

    def lock(self, socket: Any) -> None:
        """Set the keys of a socket before it is connected."""
        if self._server is None:
            return
        if self._secret is None:
            raise Unreachable('ZeroMQ requires a key here: give curve_key=, the file that mechd '
                              '--make-curve-key printed (MECHD_CLIENT_KEY)')
        socket.curve_secretkey = self._secret
        socket.curve_publickey = zmq.curve_public(self._secret)
        socket.curve_serverkey = self._server
