"""mechd.envs beside MuJoCo: actions a second of many copies of the double pendulum of
server/examples, an action being a torque for 10 ms in 10 internal steps, alternately in one run.

    /usr/bin/python3 tests/bench/peer_envs.py BUILD

Prints medians without any bar. mechd is asked over HTTP, one request an action of all copies, from
this process, by generalized-α with two joints in redundant coordinates; MuJoCo is called in its own
process on one thread (peer_envs.c), by semi-implicit Euler in minimal coordinates. A last column
has the internal steps of mechd alone: one instance, 5,000 steps in one request. Skipped with a
message where numpy is missing; where MuJoCo is (libmujoco-dev, before the build), its column is
empty."""
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COPIES = (1, 16, 64, 256)
REPEATS = 5
ACTIONS = 3200  # of all copies, a repeat; ten times as many of the peer
INNER = 5000
MODEL = 'double-pendulum'


def measured(envs, numpy):
    """Actions of a copy a second."""
    actions = max(ACTIONS // envs.num_envs, 10)
    torques = numpy.sin(numpy.arange(actions)[:, None] + numpy.arange(envs.num_envs))[..., None]
    begin = time.perf_counter()
    for torque in torques:
        envs.step(torque)
    return actions * envs.num_envs / (time.perf_counter() - begin)


def peer(build, count):
    """The same of MuJoCo; NaN where it is not built."""
    path = os.path.join(build, 'tests', 'bench', 'peer-envs')
    if not os.path.exists(path):
        return float('nan')
    done = subprocess.run([path, str(count), str(max(10 * ACTIONS // count, 10))], check=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=600)
    return float(done.stdout)


def inner(server):
    """Internal steps of one instance a second, in one request."""
    with server.create(example=MODEL) as instance:
        begin = time.perf_counter()
        instance.step(count=INNER)
        return INNER / (time.perf_counter() - begin)


def main(build):
    os.environ['MECHD_TESTS_BUILD'] = build = os.path.abspath(build)
    sys.path[:0] = [os.path.join(ROOT, 'tests', 'integration'),
                    os.path.join(ROOT, 'clients', 'python')]
    try:
        import numpy
    except ImportError:
        print('skipped: numpy is not installed (Debian package python3-numpy)')
        return
    import mechd
    from harness import Daemon
    from mechd.envs import VectorEnv
    print('actions of a copy a second; an action is 10 internal steps of 1 ms')
    print('%8s %14s %14s %8s %22s' % ('copies', 'mechd.envs', 'MuJoCo', 'ratio',
                                      'mechd, internal steps'))
    with Daemon() as daemon, mechd.Server(daemon.base) as server:
        for count in COPIES:
            rows = []
            with VectorEnv(server, MODEL, count, period=0.01, inputs=['torque'],
                           outputs=['upper', 'lower', 'x', 'y'],
                           reward=lambda seen, action: seen[:, 3]) as envs:
                envs.reset(seed=1)
                measured(envs, numpy)
                for _ in range(REPEATS):
                    rows.append((measured(envs, numpy), peer(build, count), inner(server)))
            ours, theirs, steps = (statistics.median(column) for column in zip(*rows))
            print('%8d %14.0f %14.0f %8.4f %22.0f' % (count, ours, theirs, ours / theirs, steps))


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
