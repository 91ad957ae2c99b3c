"""Programs of many couplings in one process, for tests of what bad ones do to others:

    crowding.py KIND DOORS BASE LANE CONTROL COUPLING…

KIND is what they do when they are asked: `honest` ones answer; `slow` ones answer when the line
"go" comes; `cut` ones send half of an answer and close; `lying` ones answer with a value too many;
`twice` ones answer two times. DOORS: all are on the `lane`, or with `both` half of them. Says
"ready" when all have taken their places. From the line "go" on the windows of those that lie or
answer twice are stepped from here, again and again until the line "end"; then a line lists the
statuses of each, JSON. The end of standard input ends the process."""
import json
import sys
import threading
import types

from harness import Http
from lane import behind
from outside import LaneSocket, Program, over_zeromq

HALF = 40  # bytes of an answer, of 84


class Place:
    """One program."""

    def __init__(self, kind, server, coupling, door, goes):
        self.kind, self.goes = kind, goes
        self.program = Program(server, coupling, 'right', self.answer, door=door)

    def answer(self, question):
        frame = self.program.frame(question, [0.5])
        if self.kind == 'slow':
            self.goes.wait()
        elif self.kind == 'cut':
            self.program.socket.lane.write(behind(frame)[:HALF])
            self.program.ends.set()
            self.program.socket.close()
            return None
        elif self.kind == 'lying':
            return [0.5, 0.5]
        elif self.kind == 'twice':
            return [frame, frame]
        return [frame]


def step(base, coupling, ends, statuses):
    http = Http(base)
    while not ends.is_set():
        reply = http.call('POST', '/v1/couplings/%s/step' % coupling, {'count': 1})
        statuses.append(reply.status)
    http.close()


def main():
    kind, doors, base, lane, control = sys.argv[1:6]
    couplings, goes, ends = sys.argv[6:], threading.Event(), threading.Event()
    server = types.SimpleNamespace(info={'lane': lane, 'control': control})
    places = [Place(kind, server, cid, over_zeromq if k % 2 and doors == 'both' else LaneSocket,
                    goes) for k, cid in enumerate(couplings)]
    print('ready', flush=True)
    statuses, steps = [[] for _ in couplings], []
    for line in sys.stdin:
        if line == 'go\n':
            goes.set()
            steps = [threading.Thread(target=step, args=(base, cid, ends, found))
                     for cid, found in zip(couplings, statuses) if kind in ('lying', 'twice')]
            for one in steps:
                one.start()
        if line == 'end\n':
            ends.set()
            for one in steps:
                one.join()
            print(json.dumps(statuses), flush=True)
    goes.set()
    ends.set()
    for one in steps:
        one.join()
    for place in places:
        place.program.ends.set()
    for place in places:
        place.program.thread.join()


if __name__ == '__main__':
    main()
