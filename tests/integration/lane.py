"""The lane from outside: messages behind their length over a stream socket, JSON calls, and a
partner whose frames go there."""
import json
import socket
import struct
from harness import KINDS, SLOW, FrameError, Verbs, as_query, pack, routes, unpack

LENGTH = struct.Struct('<I')


def behind(*messages):
    """Bytes of these messages, each behind its length."""
    return b''.join(LENGTH.pack(len(m)) + m for m in messages)


class Lane:
    """One connection."""
    name = 'lane'

    def __init__(self, daemon):
        endpoint = daemon.info['lane']
        if endpoint.startswith('unix:'):
            self.socket = socket.socket(socket.AF_UNIX)
            where = endpoint[len('unix:'):]
        else:
            host, port = endpoint[len('tcp://'):].rsplit(':', 1)
            self.socket = socket.socket(socket.AF_INET)
            where = host, int(port)
        self.socket.settimeout(60 * SLOW)
        self.socket.connect(where)
        self.rest = b''

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def write(self, data):
        self.socket.sendall(data)

    def take(self, n):
        """The next n bytes; None at the end of the connection."""
        while len(self.rest) < n:
            try:
                piece = self.socket.recv(1 << 16)
            except ConnectionResetError:
                piece = b''
            if not piece:
                return None
            self.rest += piece
        taken, self.rest = self.rest[:n], self.rest[n:]
        return taken

    def message(self):
        """The next message; None at the end of the connection."""
        length = self.take(LENGTH.size)
        return None if length is None else self.take(LENGTH.unpack(length)[0])

    def send(self, op, **fields):
        if routes().get(op, ('',))[0] == 'GET':
            fields = as_query(fields)
        self.write(behind(json.dumps({'op': op, **fields}).encode()))

    def call(self, op, **fields):
        """(status, body) as harness.ZmqDoor's."""
        self.send(op, **fields)
        return self.receive(201 if op == 'create' else 200)

    def receive(self, success=200):
        body = json.loads(self.message())
        if isinstance(body, dict) and body.get('ok') is False:
            return body['error']['status'], body['error']
        return success, body


class LanePartner(Lane, Verbs):
    """harness.Partner over the lane."""

    def __init__(self, daemon, instance, inputs=(), outputs=(), order=0, **hello):
        super().__init__(daemon)
        self.sequence, self.instance, self.lease = 0, 0, 0
        self.hello_text = json.dumps({'instance': instance, 'inputs': list(inputs),
                                      'inputOrder': order, 'outputs': list(outputs),
                                      **hello}).encode()
        header, second = self.ask('hello', extra=[self.hello_text])
        self.hello, self.lease = json.loads(second), header['lease']
        self.instance = self.hello['instance']

    def framed(self, kind, values=(), extra=(), **header):
        """The bytes of the next request."""
        self.sequence += 1
        return behind(pack(kind, values, instance=self.instance, lease=self.lease,
                           sequence=self.sequence, **header), *extra)

    def frame(self):
        """(header with values, the JSON message behind it or None) of the next reply."""
        header = unpack(self.message())
        second = header['kind'] in (KINDS['hello'], KINDS['error'])
        return header, self.message() if second else None

    def ask(self, kind, values=(), extra=(), **header):
        self.write(self.framed(kind, values, extra, **header))
        return self.expect()

    def expect(self):
        """The reply to the last request; FrameError if it is an error."""
        header, second = self.frame()
        assert header['magic'] == b'MCHD' and header['sequence'] == self.sequence, header
        if header['kind'] == KINDS['error']:
            raise FrameError(header, second)
        return header, second
