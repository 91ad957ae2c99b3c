"""What the walk through the OpenAPI document (test_openapi_walk.py) cannot read from the document.
A new route that needs something before its example works, or that has a refusal of its own, gets
its line here. Operations are named by their operationId."""
import base64
import http.client
import json

import fmus
import models
from harness import SLOW, wait_until
from long_models import chain

# options of the daemon for routes that are closed without them
ON = fmus.ON

# --- what a route needs before its example works --------------------------------------------------

# each is given a client and the rig's path; what it returns is shown with the request: values of
# the path, headers, another example of a body. Numbers go on when the rig is made again.

def a_trial(client, root):
    trial = client.call('POST', root + '/step', {'size': 0.01, 'commit': False})['trial']
    return {'example': {'trial': trial}}


def a_snapshot(client, root):
    return {'sid': client.call('POST', root + '/snapshots', {})['id']}


def a_kept_trial(client, root):
    a_trial(client, root)
    client.call('POST', root + '/trials', {'name': 'best'})


def a_named_trial(client, root):
    a_trial(client, root)


def two_snapshots(client, root):
    made = a_snapshot(client, root)
    return {**made, 'example': {'to': a_snapshot(client, root)['sid'], 'absoluteTolerance': 1e-9}}


def a_run(client, root):
    reply = client.call('POST', root + '/runs', {'until': 0.01, 'period': 0.002, 'record': {}})
    wait_until(lambda: client.call('GET', reply.headers['Location']).json['state'] != 'running',
               'the run is over')
    return {'rid': reply['id']}


def a_slow_run(client, root):
    """One period is over, and the next is far away."""
    reply = client.call('POST', root + '/runs', {'pace': 1e-6, 'period': 0.02})
    wait_until(lambda: client.call('GET', reply.headers['Location'])['periods'] == 1,
               'the first period is over')
    return {'rid': reply['id']}


def nothing(client, root):
    client.call('DELETE', root)


def nothing_else(client, root):
    for item in client.call('GET', '/v1/instances?limit=1000').json['items']:
        if not root.endswith('/' + item['id']):
            client.call('DELETE', '/v1/instances/' + item['id'])


def a_lease(client, root):
    reply = client.call('POST', root + '/lease', {'role': 'owner'})
    return {'headers': {'Lease': str(reply['lease'])}}


def a_stream(client, root):
    return {'name': client.call('POST', root + '/streams', {'name': 'slow'})['name']}


def a_sweep(client, _):
    body = {'example': 'mass1d', 'parameters': {'list': [{}]}, 'count': 5}
    where = client.call('POST', '/v1/sweeps', body).headers['Location']
    wait_until(lambda: client.call('GET', where).json['state'] == 'finished', 'the sweep is over')
    return {'wid': where.split('/')[-1]}


def an_fmu():
    return {'fmu': base64.b64encode(fmus.archive()).decode()}


def an_upload(_client, _root):
    return {'example': an_fmu()}


def an_uploaded_fmu(client, _root):
    for other in client.call('GET', '/v1/fmus')['items']:
        client.call('DELETE', '/v1/fmus/' + other['id'])
    return {'fid': client.call('POST', '/v1/fmus', an_fmu())['id']}


def one_fmu(client, root):
    an_uploaded_fmu(client, root)


def a_coupling(client, root):
    reply = client.call('POST', '/v1/couplings', {
        'participants': [{'name': 'cart', 'instance': root.split('/')[-1]}],
        'connections': [{'from': 'cart.x', 'to': 'cart.force', 'factor': -10}],
        'scheme': {'type': 'IQN-ILS'}, 'stepSize': 0.01})
    return {'cid': reply['id']}


def one_coupling(client, root):
    """Without those that other tests leave."""
    for other in client.call('GET', '/v1/couplings')['items']:
        client.call('DELETE', '/v1/couplings/' + other['id'])
    a_coupling(client, root)


def a_coupling_run(client, root):
    made = a_coupling(client, root)
    a_run(client, '/v1/couplings/' + made['cid'])
    return made


def a_coupling_stream(client, root):
    made = a_coupling(client, root)
    return {**made, **a_stream(client, '/v1/couplings/' + made['cid'])}


def a_slow_coupling_run(client, root):
    made = a_coupling(client, root)
    a_slow_run(client, '/v1/couplings/' + made['cid'])
    return made


def a_coupling_trial(client, root):
    made = a_coupling(client, root)
    client.call('POST', '/v1/couplings/%s/step' % made['cid'], {'count': 1, 'commit': False})
    return made


def a_coupling_snapshot(client, root):
    made = a_coupling(client, root)
    client.call('POST', '/v1/couplings/%s/snapshots' % made['cid'], {})
    return made


def the_state_of_a_coupling(client, root):
    made = a_coupling(client, root)
    raw = client.call('GET', '/v1/couplings/%s/state' % made['cid']).raw
    return {**made, 'example': {'snapshot': base64.b64encode(raw).decode()}}


def use_up_numbers_of_runs(client, cid):
    """Those that are recorded: on a full disk the next one is refused."""
    for _ in range(2000):
        reply = client.call('POST', '/v1/couplings/%s/runs' % cid, {'count': 1})
        if reply.status != 202:
            break
        where = reply.headers['Location']
        wait_until(lambda w=where: client.call('GET', w)['state'] != 'running', 'it is over')


def a_body_without_its_end(http):
    http.putrequest('POST', '/v1/instances')
    http.putheader('Content-Type', 'application/json')
    http.putheader('Content-Length', str(1 << 20))
    http.endheaders(b' ' * ((1 << 20) - 1))


def is_of_couplings(operation):
    return operation.template.startswith('/v1/couplings')


def changes_a_coupling(operation):
    return is_of_couplings(operation) and operation.method != 'GET'


def waits_for_a_coupling(operation):
    return operation.template.startswith(('/v1/couplings/{cid}/runs', '/v1/couplings/{cid}/events',
                                          '/v1/couplings/{cid}/streams'))


def is_no_command_of_a_coupling(operation):
    return not disturbs_a_coupling(operation) or waits_for_a_coupling(operation)


def disturbs_a_coupling(operation):
    return is_of_couplings(operation) and operation.id != 'couple'


def hold(client, root):
    """A step without end in the instance's queue, on a connection of its own, which is returned:
    what is asked next waits behind it until it is stopped."""
    other = http.client.HTTPConnection(client.http.host, client.http.port, timeout=60 * SLOW)
    other.request('POST', root + '/step', json.dumps({'count': 10 ** 12}),
                  {'Content-Type': 'application/json'})
    wait_until(lambda: client.call('GET', root).json['busy'], 'it steps')
    return other


def let_go(client, root, other):
    client.call('POST', root + '/stop')
    other.getresponse().read()
    other.close()


def an_operation(client, _, accept='application/json'):
    root = '/v1/instances/rig'
    other = hold(client, root)
    # steady: as long as it is, the answer comes later because the rig is held
    body = {'instances': ['rig'], 'op': 'step', 'body': {'count': 500000}, 'results': 'table'}
    reply = client.call('POST', '/v1/batch', body, {'Prefer': 'respond-async', 'Accept': accept})
    let_go(client, root, other)
    where = reply.headers['Location']

    def is_over():
        reply = client.call('GET', where)
        return reply.json is None or reply['state'] == 'finished'
    wait_until(is_over, 'the operation is over')
    return {'oid': where.split('/')[-1]}


def only_the_rig(_client, _root):
    pass


PREPARE = {'commit': a_trial, 'keepTrial': a_named_trial, 'dropTrial': a_kept_trial,
           'deleteSnapshot': a_snapshot, 'snapshot': a_snapshot,
           'restore': a_snapshot, 'compare': two_snapshots, 'stopRun': a_slow_run,
           'run': a_run, 'results': a_run, 'runEvents': a_run, 'deleteResults': a_run,
           'createAs': nothing, 'instances': nothing_else, 'changeLease': a_lease,
           'dropLease': a_lease, 'stream': a_stream, 'deleteStream': a_stream,
           'uploadFmu': an_upload, 'fmus': one_fmu, 'getFmu': an_uploaded_fmu,
           'deleteFmu': an_uploaded_fmu, 'getSweep': a_sweep, 'deleteSweep': a_sweep,
           'sweepResults': a_sweep, 'couple': only_the_rig, 'couplings': one_coupling,
           'getCoupling': a_coupling, 'couplingStreams': a_coupling_stream,
           'chooseCouplingStream': a_coupling, 'couplingStream': a_coupling_stream,
           'deleteCouplingStream': a_coupling_stream,
           'couplingSsp': a_coupling, 'couplingStability': a_coupling,
           'couplingState': a_coupling, 'setCouplingState': the_state_of_a_coupling,
           'commitCoupling': a_coupling_trial,
           'couplingSnapshots': a_coupling_snapshot,
           'couplingSnapshot': a_coupling_snapshot,
           'takeCouplingSnapshot': a_coupling_snapshot, 'restoreCoupling': a_coupling_snapshot,
           'deleteCouplingSnapshot': a_coupling_snapshot,
           'startCouplingRun': a_coupling, 'couplingRuns': a_coupling_run,
           'couplingEvents': a_coupling,
           'couplingRun': a_coupling_run, 'stopCouplingRun': a_slow_coupling_run,
           'couplingRunEvents': a_coupling_run, 'couplingResults': a_coupling_run,
           'deleteCouplingResults': a_coupling_run,
           'stepCoupling': a_coupling, 'resetCoupling': a_coupling,
           'deleteCoupling': a_coupling, 'batch': only_the_rig, 'operation': an_operation,
           'forgetOperation': an_operation}

# what makes a full disk known, or numbers short
FULL = {'readyz': lambda client, root: client.call('POST', root + '/step', {'count': 1}),
        'startCouplingRun': use_up_numbers_of_runs}

# names that a route gives: an unknown one is what it makes
GIVEN = {'keepTrial': 'tid', 'createAs': 'id'}

# --- refusals that are a route's own: operation, status, code, query, body ------------------------

REFUSALS = [
    ('instances', 422, 'invalid-request', '?limit=many', None),
    ('events', 422, 'invalid-request', '?rate=abc', None),
    ('runEvents', 422, 'invalid-request', '?rate=0', None),
    ('couplingEvents', 422, 'invalid-request', '?rate=0', None),
    ('couplingRunEvents', 422, 'invalid-request', '?rate=0', None),
    ('couplingResults', 422, 'invalid-request', '?from=never', None),
    ('createAs', 409, 'id-taken', '', {'model': {'mechd': 1}}),
    ('create', 422, 'invalid-model', '', {'model': {'mechd': 1, 'nodes': [{'type': 'Node1D'}]}}),
    ('create', 422, 'snapshot-mismatch', '', {'snapshot': 'bm9uZQ=='}),
    ('create', 404, 'not-found', '', {'fmu': 'f-0'}),
    ('createAs', 404, 'not-found', '', {'fmu': 'f-0'}),
    ('uploadFmu', 422, 'invalid-fmu', '', {'fmu': 'bm9uZQ=='}),
    ('create', 400, 'malformed-json', '', b'{"model": '),
    ('check', 422, 'invalid-model', '', {'model': {}}),
    ('clone', 409, 'id-taken', '', {'as': 'rig'}),
    ('fmu', 422, 'invalid-request', '?version=7', None),
    ('dropLease', 422, 'invalid-request', '?of=king', None),
    ('commit', 409, 'no-trial', '', {'trial': 7}),
    ('couplingStability', 422, 'invalid-request', '?size=0', None),
    ('commitCoupling', 409, 'no-trial', '', {'trial': 7}),
    ('setCouplingState', 422, 'snapshot-mismatch', '', {'snapshot': 'bm9uZQ=='}),
    ('step', 409, 'time-mismatch', '', {'size': 1, 'expectTime': 5}),
    ('modes', 422, 'invalid-request', '?count=0', None),
    ('itemOutput', 422, 'invalid-request', '?configuration=never', None),
    ('results', 422, 'invalid-request', '?from=never', None),
    ('system', 422, 'invalid-request', '?level=force', None),
    ('systemBlocks', 422, 'invalid-request', '?level=force', None),
    ('systemPart', 422, 'invalid-request', '?level=force', None),
    ('systemSchurProduct', 422, 'invalid-request', '', {'l': [1]}),
    ('getState', 422, 'invalid-request', '?snapshot=perhaps', None),
    ('setState', 422, 'snapshot-mismatch', '', {'snapshot': 'bm9uZQ=='}),
    ('compare', 422, 'invalid-request', '', {'to': 's-1', 'absoluteTolerance': -1}),
    ('evaluate', 422, 'invalid-request', '', {'want': ['nothing']}),
    ('solve', 422, 'vi-not-converged', '', {'problem': {'N': [[0, 0], [0, 1]], 'r': [-1, 1]}}),
]


# --- quotas: limits, and what goes beyond them: operation, which, body ----------------------------

QUOTA = 'instances=1 snapshots=1 memory=1MiB step-cpu=1ms fmu-bytes=1KiB'
BEYOND = {'create': ('instances', None), 'createAs': ('instances', None),
          'clone': ('instances', {}), 'takeSnapshot': ('snapshots', None),
          'keepTrial': ('snapshots', {'name': 'best'}),
          'startRun': ('memory', {'until': 1000, 'period': 0.01, 'record': {}}),
          # it retains its document
          'couple': ('memory', {
              'name': 'a' * (1 << 20), 'participants': [{'instance': 'rig'}],
              'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01}),
          'stepCoupling': ('step-cpu', {'count': 10 ** 9}),
          'startCouplingRun': ('memory', {'until': 1000, 'record': {}}),
          'takeCouplingSnapshot': ('snapshots', None),
          'uploadFmu': ('fmu-bytes', an_fmu()),
          'sweep': ('instances', None), 'step': ('step-cpu', {'count': 10 ** 9})}


def pushed_mass():
    """A force, and nothing that holds against it."""
    model = models.driven()
    model['objects'] = [o for o in model['objects'] if 'Spring' not in o['type']]
    model['loads'][0]['load'] = 1
    return model


def blowing_up():
    model = models.nonlinear_oscillator(integrator='RK44', stepSize=0.5)
    model['parameters']['k'] = 1e9
    return model


def stiff_adaptive():
    return models.nonlinear_oscillator(integrator='DOPRI5', stepSize=0.5,
                                       adaptive={'minimumStepSize': 0.3})


def beyond_doubles():
    return {'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP'}], 'objects': [
        {'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,
         'physicsInertia': [1, 1, 1, 0, 0, 0],
         'geometry': [{'shape': 'Sphere', 'radius': 1.7e308}]}],
            'solver': {'integrator': 'MoreauJean', 'stepSize': 1e-3}}


# models that fail: model, operation, status, code, body
FAILURES = [
    (blowing_up, 'step', 422, 'not-finite', {'count': 2000}),
    (lambda: models.nonlinear_oscillator(stepSize=0.1, newton={'maxIterations': 1}), 'step', 422,
     'newton-not-converged', {'count': 10}),
    (stiff_adaptive, 'step', 422, 'step-too-small', {'count': 2, 'inputs': {'force': 1e3}}),
    (pushed_mass, 'statics', 422, 'singular-system', {}),
    (beyond_doubles, 'scene', 422, 'not-finite', None),
    # 1000 states at most
    (lambda: chain(600), 'linearization', 422, 'invalid-request', None),
]

# codes that no request brings about: what must never happen has no test
NEVER = {'internal-error'}
