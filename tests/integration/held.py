"""Threads of a daemon that are held while its others go on: where a moment must last."""
import ctypes
import os
from harness import wait_until


def busiest_thread(pid):
    """The thread of a process that is using the processor most."""
    def used():
        found = {}
        for tid in os.listdir('/proc/%d/task' % pid):
            with open('/proc/%d/task/%s/stat' % (pid, tid), encoding='ascii') as f:
                fields = f.read().rsplit(')', 1)[1].split()
            found[int(tid)] = int(fields[11]) + int(fields[12])
        return found
    before = used()

    def busiest():
        after = used()
        ticks, tid = max((after[tid] - before.get(tid, 0), tid) for tid in after)
        return tid if ticks >= 20 else None
    return wait_until(busiest, 'a thread that computes', 20)


def named_thread(pid, name):
    """The only thread of this name of a process, while it waits: it has no lock then."""
    def waiting():
        found = []
        for tid in os.listdir('/proc/%d/task' % pid):
            with open('/proc/%d/task/%s/stat' % (pid, tid), encoding='ascii') as f:
                own, rest = f.read().split('(', 1)[1].rsplit(') ', 1)
            if own == name:
                found.append((int(tid), rest[0]))
        assert len(found) == 1, (name, found)
        return found[0][0] if found[0][1] == 'S' else None
    return wait_until(waiting, 'the thread %s waits' % name, 20)


class HeldThread:
    """One thread of a child stopped by ptrace(2), while its others go on."""
    SEIZE, INTERRUPT, DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000

    def __init__(self, tid):
        self.tid, self.libc = tid, ctypes.CDLL(None, use_errno=True)
        self.trace(self.SEIZE)
        self.trace(self.INTERRUPT)
        _, status = os.waitpid(tid, self.WALL)
        assert os.WIFSTOPPED(status), status

    def trace(self, request):
        if self.libc.ptrace(request, self.tid, None, None) != 0:
            raise OSError(ctypes.get_errno(), 'ptrace')

    def release(self):
        self.trace(self.DETACH)

    def wait(self, seconds):
        """Until its process has ended, which waits for that of us."""
        wait_until(lambda: os.waitpid(self.tid, self.WALL | os.WNOHANG)[0] != 0, 'it ends', seconds)
