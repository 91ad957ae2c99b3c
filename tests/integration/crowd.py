"""A hundred couplings at once whose programs are bad, in processes of their own (crowding.py): what
the tests share."""
import glob
import json
import os
import signal
import subprocess
import sys
import threading

from harness import Http, wait_until, with_us
from partnered import K, K12, Partners, half

HERE = os.path.dirname(os.path.abspath(__file__))
EACH = 20  # couplings of a kind
ENDLESS = 3600  # s, patience


class Process:
    """One process of crowding.py, with a place of each of these couplings."""

    def __init__(self, daemon, kind, doors, couplings):
        self.process = subprocess.Popen(
            with_us() + [sys.executable, os.path.join(HERE, 'crowding.py'), kind, doors,
                         daemon.base, daemon.info['lane'], daemon.info['control'], *couplings],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.couplings, self.steps = couplings, []
        line = self.process.stdout.readline()
        assert line == 'ready\n', line

    def tell(self, line):
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()

    def statuses(self):
        """What the windows of each were answered with that were stepped from there."""
        self.tell('end')
        return json.loads(self.process.stdout.readline())

    def stop(self):
        """When this returns none of its threads runs: the signal alone does not wait for that."""
        os.kill(self.process.pid, signal.SIGSTOP)
        wait_until(lambda: all(state == 'T' for state in self.states()), 'it is stopped')

    def states(self):
        """Of its threads (proc(5))."""
        for path in glob.glob('/proc/%d/task/*/stat' % self.process.pid):
            with open(path, encoding='ascii') as f:
                yield f.read().rsplit(')', 1)[1].split()[0]

    def resume(self):
        os.kill(self.process.pid, signal.SIGCONT)

    def close(self):
        self.resume()
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Hanging:
    """A step of each of these couplings, on a thread and a connection of its own."""

    def __init__(self, daemon, couplings):
        self.daemon, self.couplings, self.replies = daemon, couplings, {}
        self.threads = [threading.Thread(target=self.step, args=(cid,)) for cid in couplings]
        for thread in self.threads:
            thread.start()

    def step(self, cid):
        http = Http(self.daemon.base)
        self.replies[cid] = http.call('POST', '/v1/couplings/%s/step' % cid, {'count': 1})
        http.close()

    def hang(self):
        """Whether all of them wait; none of them may have been answered."""
        assert not self.replies, self.replies
        return all(self.daemon.call('GET', '/v1/couplings/' + cid)['busy']
                   for cid in self.couplings)

    def join(self):
        """The statuses, each with its code, of all that have ended."""
        for thread in self.threads:
            thread.join()
        return {(r.status, r['code'] if r.status >= 400 else None)
                for r in self.replies.values()}


class Crowd(Partners):
    arguments = ('--lane', 'tcp://127.0.0.1:*')

    def crowd(self, kind, count=EACH, doors='lane', patience=ENDLESS):
        """So many couplings with programs of this kind. ZeroMQ takes one that is stopped for long
        for lost, so that those that are to go on are on the lane."""
        couplings = []
        for _ in range(count):
            self.left = self.daemon.create(half(1., k=K + K12))
            couplings.append(self.couple(scheme='Jacobi', patience=patience))
        process = Process(self.daemon, kind, doors, couplings)
        self.addCleanup(process.close)
        return process
