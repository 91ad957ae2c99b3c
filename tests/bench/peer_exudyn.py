"""Exudyn beside the chains of links in the plane of bench-scaling: the same bodies, joints and step
size in the same run, both by generalized-α.

    /usr/bin/python3 tests/bench/peer_exudyn.py BUILD

Prints the time of a step of both, in microseconds, and their ratio, without any bar."""
import sys
import time
import peers

try:
    import exudyn
    import exudyn.itemInterface as items
except ImportError:
    exudyn = None

NAME = 'Exudyn'
MISSING = 'pip install exudyn'
LINKS = (16, 64, 256)
STEP, MANY, FEW = 1e-3, 600, 100
HOW = ('called from Python, all steps in one call on one thread: generalized-α of spectral radius '
       '0.9, index 3, Newton to its default tolerance (1e-8 of the first residual) with the '
       'Jacobian of each iteration anew, as by default, and Eigen\'s sparse solver, without files; '
       'as imported by default, with checks of ranges. A step is a part of the CPU time of %d '
       'steps less that of %d, so that what a call costs beside its steps is not in it; mechd '
       'steps by generalized-α of spectral radius 0.9, too, to its default tolerance' % (MANY, FEW))


def chain(n):
    """n rods of 1 m and 1 kg that hang on each other, horizontal and at rest (chains.c); and the
    container that must last as long."""
    container = exudyn.SystemContainer()
    system = container.AddSystem()
    last = system.AddMarker(items.MarkerBodyPosition(
        bodyNumber=system.AddObject(items.ObjectGround()), localPosition=[0, 0, 0]))
    for i in range(n):
        node = system.AddNode(items.NodeRigidBody2D(referenceCoordinates=[i + 0.5, 0, 0]))
        body = system.AddObject(items.ObjectRigidBody2D(nodeNumber=node, physicsMass=1,
                                                        physicsInertia=0.0833))
        first = system.AddMarker(items.MarkerBodyPosition(bodyNumber=body,
                                                          localPosition=[-0.5, 0, 0]))
        system.AddObject(items.ObjectJointRevolute2D(markerNumbers=[last, first]))
        system.AddLoad(items.LoadMassProportional(
            markerNumber=system.AddMarker(items.MarkerBodyMass(bodyNumber=body)),
            loadVector=[0, -9.81, 0]))
        last = system.AddMarker(items.MarkerBodyPosition(bodyNumber=body,
                                                         localPosition=[0.5, 0, 0]))
    system.Assemble()
    return container, system


def seconds(n, steps):
    """CPU time of a call with so many steps."""
    _container, system = chain(n)
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps = steps
    settings.timeIntegration.endTime = steps * STEP
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    settings.timeIntegration.verboseMode = 0
    settings.solutionSettings.writeSolutionToFile = False
    settings.linearSolverType = exudyn.LinearSolverType.EigenSparse
    settings.parallel.numberOfThreads = 1
    begin = time.thread_time()
    if system.SolveDynamic(settings) is False:
        sys.exit('Exudyn did not solve the chain of %d links' % n)
    return time.thread_time() - begin


def version(_):
    # the function that older versions have is deprecated in newer ones
    return exudyn and (getattr(exudyn, '__version__', None) or exudyn.GetVersionString())


def rows(build):
    found = []
    for n in LINKS:
        what = 'links in the plane: %d' % n
        ours, theirs = peers.in_turns(
            lambda what=what: 1e-3 * peers.bench(build, 'scaling', what)['ns'],
            lambda n=n: 1e6 * (seconds(n, MANY) - seconds(n, FEW)) / (MANY - FEW))
        found.append(peers.row('%d links in the plane' % n, 'µs a step', ours, theirs))
    return found


if __name__ == '__main__':
    peers.main(sys.modules[__name__])
