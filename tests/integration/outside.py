"""Programs outside that take part in couplings: they answer the server's questions, over ZeroMQ or
the lane."""
import json
import select
import threading

import zmq

from harness import KINDS, SLOW, TEXT, pack, unpack
from lane import Lane, behind


class Refused(Exception):
    def __init__(self, header, problem):
        super().__init__(problem)
        self.header, self.problem = header, problem


class LaneSocket:
    """The lane with the methods of a socket of ZeroMQ that a program uses."""

    def __init__(self, daemon):
        self.lane = Lane(daemon)

    def send_multipart(self, parts):
        self.lane.write(behind(*parts[1:]))

    def poll(self, milliseconds):
        return self.lane.rest or select.select([self.lane.socket], [], [], milliseconds / 1e3)[0]

    def recv_multipart(self):
        """EOFError: the connection has ended."""
        parts = [b'', self.lane.message()]
        if parts[1] is None:
            raise EOFError
        if unpack(parts[1])['kind'] in (KINDS['hello'], KINDS['error']):
            parts.append(self.lane.message())
        return parts

    def close(self):
        self.lane.close()


def over_zeromq(daemon):
    socket = zmq.Context.instance().socket(zmq.DEALER)
    socket.linger = 0
    socket.rcvtimeo = int(20000 * SLOW)
    socket.connect(daemon.info['control'])
    return socket


class Program:
    """Says hello, and answers questions on a thread of its own: each by answer(question), which
    returns the values, or None for no answer, or frames (with a text: pairs) to be sent as they
    are."""

    def __init__(self, daemon, coupling, participant, answer, door=over_zeromq, **hello):
        self.answer, self.asked, self.window = answer, [], hello.get('window', 0)
        self.socket = door(daemon)
        text = json.dumps({'coupling': coupling, 'participant': participant, **hello})
        self.socket.send_multipart([b'', pack('hello', sequence=7), text.encode()])
        parts = self.socket.recv_multipart()[1:]
        header = unpack(parts[0])
        if header['kind'] != KINDS['hello']:
            self.socket.close()
            raise Refused(header, json.loads(parts[1]))
        self.hello, self.lease = json.loads(parts[1]), header['lease']
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def frame(self, question, values, **other):
        same = {k: question[k] for k in ('kind', 'step', 'iteration', 'sequence')}
        return pack(same.pop('kind'), values, lease=self.lease, **{**same, **other})

    def send(self, *parts):
        self.socket.send_multipart([b'', *parts])

    def serve(self):
        while not self.ends.is_set():
            if not self.socket.poll(20):
                continue
            try:
                question = unpack(self.socket.recv_multipart()[-1])
            except EOFError:
                return
            self.asked.append(question)
            if question['kind'] == KINDS['bye']:
                return
            found = self.answer(question)
            if found is None:
                continue
            if question['kind'] == KINDS['commit']:
                self.window = question['step']
            for one in found if found and isinstance(found[0], (bytes, tuple)) else [
                    self.frame(question, found)]:
                self.send(*(one if isinstance(one, tuple) else [one]))

    def fails(self, question, text=None, status=2002):
        """The answer of one that fails, and says why."""
        frame = self.frame({**question, 'kind': KINDS['error']}, [], status=status,
                           flags=TEXT if text is not None else 0)
        return [frame if text is None else (frame, text)]

    def close(self):
        self.ends.set()
        self.thread.join()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
