"""Server-sent events, as they come."""
import http.client
import json

from harness import SLOW


class Events:
    """Server-sent events of one request: (name, id, data)."""

    def __init__(self, daemon, path, last=None):
        address = daemon.base.split('/')[-1]
        self.connection = http.client.HTTPConnection(address, timeout=30 * SLOW)
        self.connection.request('GET', path, headers={'Last-Event-ID': last} if last else {})
        self.answer = self.connection.getresponse()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def __iter__(self):
        found = {}
        for line in self.answer:
            name, _, value = line.decode().rstrip('\n').partition(': ')
            if name and not name.startswith(':'):
                found[name] = value
            elif found:
                yield found.get('event', 'message'), found.get('id'), json.loads(found['data'])
                found = {}
