"""Every route that can take long, and a request to it that would take minutes or for ever."""
import collections

import models
from asking import DERIVATIVES
from harness import gauge
from long_models import driven_chain, full, pinched, resting

SIZE = 64
# no iterate meets this tolerance, and rows that act on each other let none stand still
PROBLEM = {'N': [[1 + (r == c) * 1e-9 for c in range(SIZE)] for r in range(SIZE)],
           'r': [(-1) ** k for k in range(SIZE)],
           'solver': {'type': 'jacobi', 'tolerance': 1e-300, 'maxIterations': 2 * 10**7}}


def loaded_chain():
    model = driven_chain(30000)
    model['loads'][0]['load'] = 1
    return model


def on(model):
    """The path of an instance of it."""
    return lambda daemon: '/v1/instances/' + daemon.create(model())


def alone(_):
    """It is about nothing that is there."""
    return ''


def pair(daemon):
    """The path of a coupling of two."""
    ids = [daemon.create(models.oscillator()) for _ in range(2)]
    made = daemon.call('POST', '/v1/couplings', {
        'participants': [{'name': n, 'instance': i} for n, i in zip('ab', ids)],
        'connections': [{'from': 'a.x', 'to': 'b.force', 'factor': 1}],
        'scheme': {'type': 'GaussSeidel'}, 'stepSize': 0.01})
    assert made.status == 201, made
    return '/v1/couplings/' + made['id']


# `route`: its operationId; `begin`: makes what it is about on a daemon, and returns the path that
# `path` is behind; `stop`: method and path, behind that one, which end it, or None
Long = collections.namedtuple('Long', 'name route begin method path body stop')
STOP = ('POST', '/stop')
LONG = [
    Long('internal steps without end', 'step', on(models.nonlinear_oscillator), 'POST', '/step',
         {'count': 10**9}, STOP),
    Long('one internal step', 'step', on(pinched), 'POST', '/step', {'count': 1}, STOP),
    Long('jacobian of a step', 'step', on(driven_chain), 'POST', *DERIVATIVES[1], STOP),
    Long('adjoint', 'derivatives', on(full), 'POST', '/derivatives',
         {'seed': {'outputs': {'x': 1}}}, STOP),
    Long('derivative', 'jvp', on(driven_chain), 'POST', *DERIVATIVES[0], STOP),
    Long('statics', 'statics', on(loaded_chain), 'POST', '/statics', {'loadSteps': 10000}, STOP),
    Long('modes', 'modes', on(lambda: driven_chain(20000)), 'GET', '/modes?count=200', None, STOP),
    Long('windows without end', 'stepCoupling', pair, 'POST', '/step', {'count': 10**12},
         ('DELETE', '')),
    Long('problem', 'solve', alone, 'POST', '/v1/problems/solve', {'problem': PROBLEM}, None),
    Long('creation', 'create', alone, 'POST', '/v1/instances', {'model': resting()}, None),
    Long('check', 'check', alone, 'POST', '/v1/models/check', {'model': resting()}, None),
    Long('start of a sweep', 'sweep', alone, 'POST', '/v1/sweeps',
         {'model': {**resting(), 'parameters': {'p': 1}}, 'parameters': {'list': [{'p': 1}]},
          'count': 1}, None)]

# that can be cancelled as well, and why none takes more than seconds
BOUNDED = {
    'linearization': 'at most 1,000 states: 1.1 s where all act on each other, beside other load; '
                     'it asks before each column (unit solver/sim/interrupt)',
    'couple': 'the files of a package, bounded in number and bytes, and a start of each of them',
    'couplingSsp': 'the description of each model; the bytes are sent piece by piece',
    'commitCoupling': 'a copy of the state of each participant',
    'couplingState': 'a copy of the state of each participant',
    'setCouplingState': 'the bytes of a body, and a copy of the state of each participant',
    'takeCouplingSnapshot': 'a copy of the state of each participant',
    'restoreCoupling': 'a copy of the state of each participant',
    'couplingStability': 'at most 200 numbers, at 160 sizes',
    'resetCoupling': 'one evaluation of each participant an iteration, and few iterations',
    'system': 'one evaluation of the model',
    'systemBlocks': 'one evaluation of the model',
    'systemPart': 'one evaluation of the model',
    'systemFeasibility': 'products with vectors of the body, one factorization',
    'systemProduct': 'products with a vector of the body',
    'systemProject': 'one pass over the rows of the body',
    'systemSchurProduct': 'a product with a vector of the body, one factorization'}


def all_at_work(daemon, count):
    """So many requests are taken, and none of them waits for a thread."""
    return gauge(daemon, 'in_flight') == count + 1 and gauge(daemon, 'pool_waiting') == 0
