"""HTTP by hand: bytes over a socket of the daemon's own address, and the answers to them."""
import json
import socket
import harness


def connect(daemon, seconds=20.0):
    address = daemon.http.address
    s = socket.create_connection((address.hostname, address.port), seconds * harness.SLOW)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def request(path, body, *lines, method='POST'):
    """The bytes of a request with a body of JSON, or with none."""
    text = b'' if body is None else json.dumps(body).encode()
    head = ['%s %s HTTP/1.1' % (method, path), 'Host: localhost', *lines]
    if body is not None:
        head += ['Content-Type: application/json', 'Content-Length: %d' % len(text)]
    return '\r\n'.join(head).encode() + b'\r\n\r\n' + text


class Answers:
    """Answers on a socket, one after another; bytes behind one are of the next."""

    def __init__(self, s):
        self.socket, self.bytes, self.is_open = s, b'', True

    def more(self):
        try:
            found = self.socket.recv(65536)
        except ConnectionResetError:
            found = b''
        self.is_open = bool(found)
        self.bytes += found
        return self.is_open

    def until(self, enough):
        while not enough() and self.more():
            pass
        return enough()

    def next(self, head_only=False):
        """(status, headers in lower case, body), or None at the end."""
        if not self.until(lambda: b'\r\n\r\n' in self.bytes):
            return None
        head, self.bytes = self.bytes.split(b'\r\n\r\n', 1)
        lines = head.decode('latin-1').split('\r\n')
        headers = {}
        for line in lines[1:]:
            name, value = line.split(':', 1)
            name, value = name.lower(), value.strip()
            headers[name] = headers[name] + ', ' + value if name in headers else value
        status = int(lines[0].split(' ')[1])
        size = 0 if head_only or status < 200 else int(headers.get('content-length', 0))
        self.until(lambda: len(self.bytes) >= size)
        body, self.bytes = self.bytes[:size], self.bytes[size:]
        return status, headers, body

    def all(self):
        """Every answer up to the end of the connection."""
        found = []
        while True:
            answer = self.next()
            if answer is None:
                return found
            found.append(answer)

    def ends(self):
        """True when the daemon closes without another byte."""
        while self.more():
            pass
        return self.bytes == b''


def ask(daemon, request):
    """All answers to these bytes, until the daemon ends the connection."""
    with connect(daemon) as s:
        s.sendall(request)
        return Answers(s).all()


def code(answer):
    return json.loads(answer[2])['code']
