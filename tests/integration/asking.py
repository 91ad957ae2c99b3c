"""Requests that several test modules ask: in the background, beside others, batches, sweeps."""
import threading
from harness import SLOW, Http, wait_until

ASYNC = {'Prefer': 'respond-async'}

# derivatives of as many internal steps as one may have: they take minutes
MOST = 10 ** 6
DERIVATIVES = [('/jvp', {'count': MOST, 'inputs': {'force': 1}}),
               ('/step', {'count': MOST, 'want': ['jacobian'], 'commit': False})]

GRID = {'grid': {'k': {'from': 50, 'to': 450, 'count': 5}, 'x0': [0.25, -0.5, 1]}}


def batch(daemon, body, **headers):
    return daemon.call('POST', '/v1/batch', body, headers)


def is_busy(daemon, one):
    """By the list, which does not wait for the instance."""
    listed = daemon.call('GET', '/v1/instances?limit=1000')['items']
    return next(i['busy'] for i in listed if i['id'] == one.rsplit('/', 1)[1])


class Asked:
    """A request of another client, on a connection and a thread of its own."""

    def __init__(self, daemon, method, path, body, headers=None):
        self.door, self.reply = Http(daemon.base), None
        self.thread = threading.Thread(target=self.ask, args=(method, path, body, headers))
        self.thread.start()

    def ask(self, *request):
        self.reply = self.door.call(*request)
        self.door.close()

    def answer(self):
        self.thread.join(20 * SLOW)
        assert self.reply is not None, 'no answer'
        return self.reply


def sweep(daemon, body, status=202):
    reply = daemon.call('POST', '/v1/sweeps', body)
    assert reply.status == status, reply
    return reply


def sweep_over(daemon, path):
    return wait_until(lambda: (lambda r: r if r['state'] != 'running' else None)(
        daemon.call('GET', path).json), 'the sweep is over', 30)
