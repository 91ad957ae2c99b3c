"""Where a process and all that it has started are: the stacks of their threads. For what takes too
long and will be ended.

    stacks.py PID…          prints them
    stacks.py --end PID…    ends all of these processes instead

Python prints its own (faulthandler on SIGUSR1, by programs that call stacks.register()), others are
asked by gdb; where it is missing or may not, the kernel's word for what each thread waits for."""
import faulthandler
import os
import re
import shutil
import signal
import subprocess
import sys
import time

MOST = 12000  # bytes of one process


def read(path):
    try:
        with open(path, 'rb') as f:
            return f.read().decode(errors='replace')
    except OSError:
        return ''


def register():
    """SIGUSR1 prints the stacks of this process to stderr from now on."""
    faulthandler.register(signal.SIGUSR1, all_threads=True)


def parents():
    """{pid: parent} of all processes."""
    found = {}
    for pid in filter(str.isdigit, os.listdir('/proc')):
        fields = read('/proc/%s/stat' % pid).rpartition(')')[2].split()
        if len(fields) > 1:
            found[int(pid)] = int(fields[1])
    return found


def family(pid):
    """The process and all below it, parents first."""
    known, found = parents(), [pid]
    for one in found:
        found.extend(child for child, parent in known.items() if parent == one)
    return [one for one in found if one in known]


def command(pid):
    return read('/proc/%d/cmdline' % pid).replace('\0', ' ').strip()


def catches(pid, number):
    """Whether the process has a handler for the signal."""
    for line in read('/proc/%d/status' % pid).split('\n'):
        if line.startswith('SigCgt:'):
            return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


def waits(pid):
    """A line a thread: its name and what it waits for in the kernel."""
    lines = []
    for tid in sorted(os.listdir('/proc/%d/task' % pid), key=int):
        at = '/proc/%d/task/%s/' % (pid, tid)
        lines.append('%s %s %s' % (tid, read(at + 'comm').strip(), read(at + 'wchan').strip()))
    return '\n'.join(lines)


def stacks(pid):
    """The text of one process; a Python that has registered prints to its own stderr instead."""
    program = os.path.basename(command(pid).split(' ')[0])
    if program.startswith('python') and catches(pid, signal.SIGUSR1):
        os.kill(pid, signal.SIGUSR1)
        time.sleep(0.5)
        return '(printed by itself)'
    if shutil.which('gdb') and program not in ('bash', 'sh', 'timeout', 'node', 'chromium'):
        try:
            done = subprocess.run(['gdb', '-p', str(pid), '-batch', '-nx', '-ex',
                                   'thread apply all backtrace 30'], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60)
            text = done.stdout.decode(errors='replace')
            if '#0' in text:
                return text[text.index('\nThread '):].strip() if '\nThread ' in text else text
        except subprocess.TimeoutExpired:
            pass
    return waits(pid)


def short(pid):
    """A line a thread of one process: the functions that it is in, from the innermost."""
    found = []
    for part in re.split(r'^Thread \d+ \(', stacks(pid), flags=re.M)[1:]:
        names = re.findall(r'^#\d+ +(?:0x[0-9a-f]+ in )?(\w+)', part, re.M)
        found.append(' < '.join(names[:8]))
    return '\n'.join(found) or waits(pid)


def report(pids):
    """The text for these processes and all below them."""
    found = []
    for pid in pids:
        for one in family(pid):
            if one == os.getpid():
                continue
            found.append('--- %d: %s' % (one, command(one)[:300]))
            try:
                found.append(stacks(one)[:MOST])
            except OSError as e:
                found.append(str(e))
    return '\n'.join(found)


def end(pid):
    """Ends the process and all that it has started, children first."""
    for one in reversed(family(pid)):
        try:
            os.kill(one, signal.SIGKILL)
        except OSError:
            pass


def main(words):
    if words[:1] == ['--end']:
        for word in words[1:]:
            end(int(word))
    else:
        print(report([int(word) for word in words]))


if __name__ == '__main__':
    main(sys.argv[1:])
