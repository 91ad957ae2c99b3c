"""Programs on a terminal, as a person sees them."""
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
import harness


def lines_of(command, text=None, **environment):
    done = subprocess.run(command, input=text, capture_output=True, text=True,
                          timeout=60 * harness.SLOW, env={**os.environ, **environment})
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout.splitlines()


def on_terminal(command, columns=0, seen=None, rows=24, keys=None, **environment):
    """(exit code, everything written) of a program whose output and errors are a terminal;
    seen(text), if it is given, is called with all that has been written so far. keys: its input is
    the terminal too, and keys(text) returns what is typed then."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack('4H', rows, columns, 0, 0))
    # a job in the background of a script ignores Ctrl-C and Ctrl-\\, and so would its children
    process = subprocess.Popen(['env', '--default-signal', *command],
                               stdin=follower if keys else subprocess.DEVNULL,
                               stdout=follower, stderr=follower,
                               env={**os.environ, 'TERM': 'xterm', **environment})
    os.close(follower)
    text, end = b'', time.monotonic() + 60 * harness.SLOW
    while time.monotonic() < end and select.select([leader], [], [], 10 * harness.SLOW)[0]:
        try:
            text += os.read(leader, 65536)
        except OSError:
            break
        if seen:
            seen(text.decode(errors='replace'))
        if keys:
            os.write(leader, keys(text.decode(errors='replace')).encode())
    os.close(leader)
    return process.wait(10 * harness.SLOW), text.decode()
