"""A mass between two springs that takes a partner's place of a coupling, for tests that kill it:

    participating.py URL COUPLING DOOR STATE [DIES WINDOW WHERE]

It keeps its state in the file STATE at each commit and begins from there, so that it may be killed
and started again. With DIES it kills itself in that window: in the trial, before the commit is
kept, or after that, before it is answered. Each call is a line on standard output."""
import json
import math
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'clients',
                                'python'))
import mechd  # noqa: E402

OMEGA = math.sqrt(20 * math.pi ** 2)  # 1 kg between springs of 4 π² and 16 π² N/m


class Mass:
    """Solved in closed form under a force that is held over the window."""

    def __init__(self, path, dies):
        self.path, self.dies = path, dies
        self.window, self.x, self.v = 0, 0., 0.
        if os.path.exists(path):
            with open(path, encoding='utf-8') as f:
                self.window, self.x, self.v = json.load(f)
        self.tried = (self.x, self.v)

    def die(self, where):
        if self.dies == [str(self.window + 1), where]:
            os.kill(os.getpid(), signal.SIGKILL)

    def outputs(self, time, u):
        print('outputs', time, list(u), flush=True)
        return {'x': self.x}

    def trial(self, time, size, u):
        print('trial', self.window + 1, flush=True)
        self.die('trial')
        mean, c, s = u['F'] / OMEGA ** 2, math.cos(OMEGA * size), math.sin(OMEGA * size)
        self.tried = (mean + (self.x - mean) * c + self.v / OMEGA * s,
                      self.v * c - (self.x - mean) * OMEGA * s)
        return self.tried[0]

    def commit(self):
        print('commit', self.window + 1, flush=True)
        self.die('commit')
        self.window, (self.x, self.v) = self.window + 1, self.tried
        with open(self.path + '.new', 'w', encoding='utf-8') as f:
            json.dump([self.window, self.x, self.v], f)
        os.replace(self.path + '.new', self.path)
        self.window -= 1
        self.die('answer')
        self.window += 1


def main():
    url, coupling, door, path = sys.argv[1:5]
    mass = Mass(path, sys.argv[5:])
    with mechd.Server(url) as server, \
            server.participate(coupling, 'right', door=door, window=mass.window or None) as place:
        print('hello', place.window, flush=True)
        place.serve(mass)
        print('bye', flush=True)


if __name__ == '__main__':
    main()
