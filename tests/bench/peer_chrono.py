"""Chrono beside the chains of links in space of bench-scaling: the same bodies, hinges about y and
z in turns, and step size in the same run.

    /usr/bin/python3 tests/bench/peer_chrono.py BUILD

Prints the time of a step of both, in microseconds, and their ratio, without any bar. The names are
those of its Python binding from version 9 on."""
import os
import re
import sys
import time
import peers

try:
    import pychrono
except ImportError:
    pychrono = None

NAME = 'Chrono'
MISSING = 'conda install projectchrono::pychrono'
LINKS = (16, 64, 256)
STEP, STEPS = 1e-3, 300
HOW = ('its system of complementarity (NSC) called from Python, one call a step, on one thread, '
       'its default integrator (linearized implicit Euler, first order, one linear solve a step '
       'without iterations) and its direct solver (SparseLU, its pattern locked), which here takes '
       'a third of the time of 200 iterations of Barzilai-Borwein. A step is the mean CPU time of '
       '%d calls behind a first one, with all that a call does; mechd steps by generalized-α, '
       'second order, to its default tolerance' % STEPS)
HALF = 0.5 ** 0.5
# from the package: of a tree it was built in, of one it is installed in
HEADERS = ('../../chrono/ChVersion.h', '../../../../include/chrono/ChVersion.h')


def place(x):
    return pychrono.ChVector3d(x, 0, 0)


def chain(n):
    """n rods of 1 m and 1 kg that hang on each other, horizontal and at rest (chains.c); hinges of
    a lock turn about the frame's z."""
    system = pychrono.ChSystemNSC()
    system.SetGravitationalAcceleration(pychrono.ChVector3d(0, 0, -9.81))
    system.SetNumThreads(1)
    solver = pychrono.ChSolverSparseLU()
    solver.LockSparsityPattern(True)
    system.SetSolver(solver)
    last = pychrono.ChBody()
    last.SetFixed(True)
    system.AddBody(last)
    for i in range(n):
        body = pychrono.ChBody()
        body.SetPos(place(i + 0.5))
        body.SetMass(1)
        body.SetInertiaXX(pychrono.ChVector3d(0.01, 0.0833, 0.0833))
        body.EnableCollision(False)
        system.AddBody(body)
        # a quarter of a turn about x brings z to -y
        turn = pychrono.ChQuaterniond(1, 0, 0, 0) if i % 2 else \
            pychrono.ChQuaterniond(HALF, HALF, 0, 0)
        hinge = pychrono.ChLinkLockRevolute()
        hinge.Initialize(last, body, pychrono.ChFramed(place(i), turn))
        system.AddLink(hinge)
        last = body
    return system


def timed(n):
    """CPU time of a step, s."""
    system = chain(n)
    system.DoStepDynamics(STEP)
    begin = time.thread_time()
    for _ in range(STEPS):
        system.DoStepDynamics(STEP)
    return (time.thread_time() - begin) / STEPS


def version(_):
    """Its binding does not have it; a header in the same package does."""
    if not pychrono:
        return None
    package = os.path.dirname(pychrono.__file__)
    for header in (*(os.path.join(package, name) for name in HEADERS),
                   os.path.join(sys.prefix, 'include', 'chrono', 'ChVersion.h')):
        if os.path.exists(header):
            with open(header, encoding='utf-8') as f:
                told = re.search(r'#define CHRONO_VERSION "(.*?)"', f.read())
            if told:
                return told.group(1)
    return 'of unknown version'


def rows(build):
    found = []
    for n in LINKS:
        what = 'links in space: %d' % n
        ours, theirs = peers.in_turns(
            lambda what=what: 1e-3 * peers.bench(build, 'scaling', what)['ns'],
            lambda n=n: 1e6 * timed(n))
        found.append(peers.row('%d links in space' % n, 'µs a step', ours, theirs))
    return found


if __name__ == '__main__':
    peers.main(sys.modules[__name__])
