"""ZMTP over a bare socket."""
import socket
import struct
import urllib.parse
import harness


class Raw:
    """ZMTP 3.0 by hand over TCP, mechanism NULL: what a well-behaved library would not send."""

    def __init__(self, endpoint, kind=None, receive=None):
        address = urllib.parse.urlsplit(endpoint)
        self.socket = socket.socket()
        if receive:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        self.socket.settimeout(20 * harness.SLOW)
        self.socket.connect((address.hostname, address.port))
        if kind:
            self.greet(kind)

    def greet(self, kind):
        self.socket.sendall(b'\xff' + 8 * b'\0' + b'\x7f\x03\0' + b'NULL'.ljust(20, b'\0') +
                            32 * b'\0')
        self.take(64)
        name, value = b'Socket-Type', kind.encode()
        ready = b'\x05READY' + bytes([len(name)]) + name + struct.pack('>I', len(value)) + value
        self.socket.sendall(b'\x04' + bytes([len(ready)]) + ready)
        flags, size = self.take(2)
        self.take(size)
        assert flags == 4

    def take(self, n):
        found = b''
        while len(found) < n:
            piece = self.socket.recv(n - len(found))
            if not piece:
                raise ConnectionError('closed')
            found += piece
        return found

    @staticmethod
    def frame(body, more=False):
        if len(body) < 256:
            return bytes([more, len(body)]) + body
        return bytes([2 | more]) + struct.pack('>Q', len(body)) + body

    def send(self, *bodies):
        self.socket.sendall(b''.join(self.frame(b, k + 1 < len(bodies))
                                     for k, b in enumerate(bodies)))

    def is_closed(self):
        """True once the other side has ended the connection; what it sends is thrown away."""
        self.socket.settimeout(0.01)
        try:
            while self.socket.recv(1 << 16):
                pass
            return True
        except (socket.timeout, BlockingIOError):
            return False
        except OSError:
            return True

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
