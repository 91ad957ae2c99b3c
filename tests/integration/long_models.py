"""Models that several test modules share: large states, steps without end, parameters."""
import models


def driven_chain(n=3000):
    """Coordinates of one object in a row of springs, the first driven by an input."""
    rows = [[0 if k == 0 else -100, 200, 0 if k == n - 1 else -100] for k in range(n)]
    return {'mechd': 1, 'name': 'chain', 'nodes': [
        {'name': 'n', 'type': 'NodeGenericODE2', 'referenceCoordinates': [0] * n,
         'initialCoordinates_t': [1] + [0] * (n - 1)}],
        'objects': [{'name': 'o', 'type': 'GenericODE2', 'nodes': ['n'],
                     'massMatrix': {'diag': [1] * n},
                     'stiffnessMatrix': {'banded': {'lower': 1, 'upper': 1, 'rows': rows}}}],
        'markers': [{'name': 'm', 'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 0}],
        'loads': [{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'm', 'load': 0}],
        'inputs': [{'name': 'force', 'load': 'F'}],
        'sensors': [{'name': 'p', 'type': 'SensorNode', 'node': 'n',
                     'outputVariable': 'Coordinates'}],
        'outputs': [{'name': 'x', 'sensor': 'p', 'component': 0}],
        'solver': {'integrator': 'GeneralizedAlpha', 'stepSize': 1e-3}}


def pinched():
    """A mass that one row lets leave at once and the other only backwards: no impulses do both,
    and the solver would try a thousand million times."""
    def row(name, h, e):
        return {'name': name, 'systems': ['m'],
                'relation': {'type': 'LagrangianLinearTIR', 'H': [[h]], 'b': [-1]},
                'law': {'type': 'NewtonImpact', 'e': e}}
    return {'mechd': 1, 'name': 'pinched', 'objects': [
        {'name': 'm', 'type': 'LagrangianLinearTIDS', 'M': {'diag': [1]}, 'q0': [0], 'v0': [1]}],
        'interactions': [row('a', 1, 0), row('b', -1, 1)],
        'solver': {'integrator': 'MoreauJean', 'stepSize': 0.01,
                   'vi': {'type': 'psor', 'tolerance': 1e-12, 'maxIterations': 10 ** 9}}}


def resting():
    """A mass on many stops, for whose forces at the start a solver would look for hours: rows that
    act on each other let no iterate stand still, and none meets the tolerance."""
    def stop(k):
        return {'name': 's%d' % k, 'systems': ['m'],
                'relation': {'type': 'LagrangianLinearTIR', 'H': [[1 + 1e-3 * k]]},
                'law': {'type': 'NewtonImpact', 'e': 0.5}}
    return {'mechd': 1, 'name': 'resting', 'objects': [
        {'name': 'm', 'type': 'LagrangianLinearTIDS', 'M': {'diag': [1]}, 'q0': [0], 'v0': [0],
         'Fext': [-9.81]}],
        'interactions': [stop(k) for k in range(64)],
        'solver': {'integrator': 'EventDriven', 'stepSize': 0.01,
                   'vi': {'type': 'jacobi', 'tolerance': 1e-300, 'maxIterations': 10 ** 9}}}


def full(n=1500):
    """Coordinates of one object whose masses all act on each other."""
    model = driven_chain(n)
    model['objects'][0]['massMatrix'] = [[1 + 999 * (r == c) for c in range(n)] for r in range(n)]
    return model


def chain(n=3000):
    """A state of 100 kB, so that step commands are written down in its place."""
    rows = [[0 if k == 0 else -100, 200, 0 if k == n - 1 else -100] for k in range(n)]
    banded = {'lower': 1, 'upper': 1, 'rows': rows}
    return {'mechd': 1, 'name': 'chain', 'objects': [
        {'name': 'chain', 'type': 'LagrangianLinearTIDS', 'M': {'diag': [1] * n},
         'K': {'banded': banded}, 'q0': [0] * n, 'v0': [1] + [0] * (n - 1),
         'Fext': [0] * (n - 1) + ['=0.1*sin(t)']}],
        'solver': {'integrator': 'MoreauJean', 'stepSize': 1e-3}}


def tuned():
    """An oscillator whose stiffness, first place and mass are parameters."""
    found = models.oscillator()
    found['parameters'] = {**found.get('parameters', {}), 'k': 100, 'x0': 0.5, 'm': 1}
    found['nodes'][0]['initialCoordinates'] = ['=x0']
    for item in found['objects']:
        if item['type'] == 'Mass1D':
            item['physicsMass'] = '=m'
        if 'stiffness' in item:
            item['stiffness'] = '=k'
    return found
