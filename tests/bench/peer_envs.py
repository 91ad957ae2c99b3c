"""MuJoCo beside mechd: chains of links (bench-joints), and mechd.envs, actions a second of many
copies of the double pendulum of server/examples, an action being a torque for 10 ms in 10 internal
steps, alternately in one run.

    /usr/bin/python3 tests/bench/peer_envs.py BUILD

Prints medians without any bar. MuJoCo is found when the tree is built."""
import os
import subprocess
import sys
import time
import peers

try:
    import numpy
except ImportError:
    numpy = None

NAME = 'MuJoCo'
MISSING = 'Debian packages libmujoco-dev, before `meson setup [--wipe]`, and python3-numpy'
HOW = ('called through its C interface in its own process on one thread, semi-implicit Euler in '
       'minimal coordinates without contacts; mechd steps by generalized-α with joints in '
       'redundant coordinates. Links: both in one process, CPU time. Copies: mechd is asked over '
       'HTTP from Python, one request an action of all copies, by the wall')

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COPIES = (1, 16, 64, 256)
ACTIONS = 3200  # of all copies, a repeat; ten times as many of the peer
MODEL = 'double-pendulum'


def program(build):
    return os.path.join(build, 'tests', 'bench', 'peer-envs')


def measured(envs):
    """Actions of a copy a second."""
    actions = max(ACTIONS // envs.num_envs, 10)
    torques = numpy.sin(numpy.arange(actions)[:, None] + numpy.arange(envs.num_envs))[..., None]
    begin = time.perf_counter()
    for torque in torques:
        envs.step(torque)
    return actions * envs.num_envs / (time.perf_counter() - begin)


def peer(build, count):
    """The same of MuJoCo."""
    done = subprocess.run([program(build), str(count), str(max(10 * ACTIONS // count, 10))],
                          check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          timeout=600)
    return float(done.stdout)


def version(build):
    """The one that peer-envs was built with."""
    if not numpy or not os.path.exists(program(build)):
        return None
    done = subprocess.run([program(build), '--version'], check=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, timeout=60)
    return done.stdout.decode().strip() + peers.packaged('libmujoco-dev')


def rows(build):
    found = []
    for n in (20, 64):
        pair = peers.bench(build, 'joints', '%d links in space / MuJoCo' % n)
        found.append(peers.row('%d links in space' % n, 'µs a step', 1e-3 * pair['ns'],
                               1e-3 * pair['floorNs']))
    os.environ['MECHD_TESTS_BUILD'] = build
    sys.path[:0] = [os.path.join(ROOT, 'tests', 'integration'),
                    os.path.join(ROOT, 'clients', 'python')]
    import mechd
    from harness import Daemon
    from mechd.envs import VectorEnv
    with Daemon() as daemon, mechd.Server(daemon.base) as server:
        for count in COPIES:
            with VectorEnv(server, MODEL, count, period=0.01, inputs=['torque'],
                           outputs=['upper', 'lower', 'x', 'y'],
                           reward=lambda seen, action: seen[:, 3]) as envs:
                envs.reset(seed=1)
                measured(envs)
                ours, theirs = peers.in_turns(lambda: measured(envs), lambda: peer(build, count))
            found.append(peers.row('a double pendulum, %d at a time, over HTTP' % count,
                                   'actions a second', ours, theirs, more_is_better=True))
    return found


if __name__ == '__main__':
    peers.main(sys.modules[__name__])
