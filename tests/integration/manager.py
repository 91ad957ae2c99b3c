"""A substitute for systemd."""
import socket
from harness import wait_until


class Manager:
    """A socket in the place of systemd's; `told` is what has been received so far."""

    def __init__(self, name):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.setblocking(False)
        self.socket.bind('\0' + name[1:] if name[0] == '@' else name)
        self.told = []

    def listen(self):
        while True:
            try:
                self.told.append(self.socket.recv(4096).decode().split('\n'))
            except BlockingIOError:
                return self.told

    def wait(self, line, after=0):
        """Place behind the first message with that line."""
        def place():
            found = [k for k, m in enumerate(self.listen()) if k >= after and line in m]
            return found[0] + 1 if found else None
        return wait_until(place, line)

    def close(self):
        self.socket.close()
