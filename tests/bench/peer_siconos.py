"""Siconos beside the benchmark of linear systems: the same models, steps and laws in the same run.

    /usr/bin/python3 tests/bench/peer_siconos.py BUILD

Prints the time of a step of both, in microseconds, and their ratio, without any bar."""
import importlib.metadata
import os
import sys
import time
import peers

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')  # as ours

try:
    import numpy
    import siconos.kernel as sk
except ImportError:
    sk = None

NAME = 'Siconos'
MISSING = 'Debian package python3-siconos'
HOW = ('called from Python, two calls a step, on one thread; its complementarity solver is the '
       'default one (Lemke), whose time grows by orders once the beads lie on each other: the '
       'column is compared over its first 0.5 s. A step is the mean CPU time of computeOneStep and '
       'nextStep behind a first step; both step by Moreau-Jean with θ = 0.5')


def springs(n, dense):
    """K of the chain of scenes.c: springs of 1000 N/m to both neighbours, the first to the wall;
    dense: also 1/(1 + (i - j)^2) between all"""
    i = numpy.arange(n)
    apart = numpy.abs(i[:, None] - i[None, :])
    coupling = numpy.where(apart == 1, 1000., 0.)
    if dense:
        coupling = coupling + 1. / (1. + apart.astype(float) ** 2)
    numpy.fill_diagonal(coupling, 0.)
    k = -coupling
    numpy.fill_diagonal(k, coupling.sum(axis=1))
    k[0, 0] += 1000.
    return k


def chain(n, dense):
    k = springs(n, dense)
    force = numpy.zeros(n)
    force[-1] = 1.
    v = 1e-3 * (numpy.arange(n) % 5 - 2.)
    row = numpy.zeros((1, n))
    row[0, -1] = -1.
    return {'q': numpy.zeros(n), 'v': v, 'K': k, 'C': k * (1e-3 if dense else 1e-4), 'F': force,
            'rows': [(row, 1e-3, 0.5)], 'h': 1e-3}


def column(n):
    rows = []
    for i in range(n):
        row = numpy.zeros((1, n))
        row[0, i] = 1.
        if i:
            row[0, i - 1] = -1.
        rows.append((row, -0.2 if i else -0.1, 0.9))
    return {'q': 1. + 0.25 * numpy.arange(n), 'v': numpy.zeros(n), 'F': numpy.full(n, -9.81),
            'rows': rows, 'h': 5e-4}


def ball():
    return {'q': numpy.array([1.]), 'v': numpy.zeros(1), 'F': numpy.array([-9.81]),
            'rows': [(numpy.array([[1.]]), 0., 0.9)], 'h': 5e-3}


def timed(model, steps):
    """Seconds of a step"""
    n = len(model['q'])
    if 'K' in model:
        system = sk.LagrangianLinearTIDS(model['q'], model['v'], numpy.eye(n), model['K'],
                                         model['C'])
    else:
        system = sk.LagrangianLinearTIDS(model['q'], model['v'], numpy.eye(n))
    system.setFExtPtr(model['F'])
    whole = sk.NonSmoothDynamicalSystem(0., (steps + 0.5) * model['h'])
    whole.insertDynamicalSystem(system)
    keep = [system]
    for row, b, e in model['rows']:
        relation = sk.LagrangianLinearTIR(row, numpy.array([b]))
        contact = sk.Interaction(sk.NewtonImpactNSL(e), relation)
        whole.link(contact, system)
        keep.append(contact)
    simulation = sk.TimeStepping(whole, sk.TimeDiscretisation(0., model['h']),
                                 sk.MoreauJeanOSI(0.5), sk.LCP())
    simulation.computeOneStep()
    simulation.nextStep()
    start = time.thread_time()
    for _ in range(steps - 1):
        simulation.computeOneStep()
        simulation.nextStep()
    return (time.thread_time() - start) / (steps - 1)


def version(_):
    return sk and importlib.metadata.version('siconos') + peers.packaged('python3-siconos')


def rows(build):
    found = []
    for name, steps, model, count in (
            ('bouncing ball', 1, ball(), 20000),
            ('column of 100 beads, 1000 steps', 1000, column(100), 1000),
            ('100 coordinates, dense, one stop', 1, chain(100, True), 2000),
            ('chain 1000 banded', 1, chain(1000, False), 30)):
        ours, theirs = peers.in_turns(
            lambda name=name, steps=steps: 1e-3 * peers.bench(build, 'lti', name)['ns'] / steps,
            lambda model=model, count=count: 1e6 * timed(model, count))
        found.append(peers.row(name, 'µs a step', ours, theirs))
    return found


if __name__ == '__main__':
    peers.main(sys.modules[__name__])
