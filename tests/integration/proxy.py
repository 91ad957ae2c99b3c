"""A proxy between client and daemon that loses answers."""
import re
import socket
import threading


class Lossy:
    """A proxy that hands requests on and throws the first answers away, with their connections.
    `edit` may change the bytes of a request's head before."""

    def __init__(self, daemon, losses, edit=lambda request: request):
        address = daemon.base.split('//')[1].split(':')
        self.target, self.losses, self.requests = (address[0], int(address[1])), losses, 0
        self.edit = edit
        self.seen = set()  # (method, path) of every request
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.url = 'http://127.0.0.1:%d' % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.carry, args=(client,), daemon=True).start()

    def carry(self, client):
        with client, socket.create_connection(self.target) as server:
            while True:
                request = read_message(client)
                if not request:
                    return
                method, path = request.split(b' ', 2)[:2]
                self.seen.add((method.decode(), path.decode().split('?')[0]))
                server.sendall(self.edit(request))
                answer = read_message(server)
                self.requests += 1
                if self.losses > 0:
                    self.losses -= 1
                    return
                client.sendall(answer)

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def read_message(end):
    """One HTTP message with a Content-Length or without a body; b'' at the end."""
    text = b''
    while b'\r\n\r\n' not in text:
        piece = end.recv(65536)
        if not piece:
            return b''
        text += piece
    head, body = text.split(b'\r\n\r\n', 1)
    length = re.search(rb'(?i)^content-length: *(\d+)', head, re.M)
    while length and len(body) < int(length.group(1)):
        body += end.recv(65536)
    return head + b'\r\n\r\n' + body


class Relay:
    """A TCP proxy that hands bytes on both ways, until its connections are cut."""

    def __init__(self, endpoint):
        host, port = endpoint.split('//')[1].rsplit(':', 1)
        self.target, self.pairs = (host, int(port)), []
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.endpoint = 'tcp://127.0.0.1:%d' % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            pair = (client, socket.create_connection(self.target))
            self.pairs.append(pair)
            for one, other in (pair, pair[::-1]):
                threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

    def carry(self, one, other):
        try:
            while True:
                piece = one.recv(1 << 16)
                other.sendall(piece)
                if not piece:
                    break
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        """End all its connections; new ones are accepted."""
        pairs, self.pairs = self.pairs, []
        for end in (end for pair in pairs for end in pair):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut()
