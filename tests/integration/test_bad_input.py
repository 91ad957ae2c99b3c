"""Bad input is refused with code, pointer and reason; the daemon lives and no instance changes."""
import gzip
import json
import socket
import unittest
import harness
import models
from harness import Daemon, HttpDoor, ZmqDoor


def changed(path, value):
    """The oscillator with one place of its document set; path is a JSON pointer."""
    model = models.oscillator()
    at, keys = model, path.split('/')[1:]
    for key in keys[:-1]:
        at = at[int(key) if isinstance(at, list) else key]
    at[int(keys[-1]) if isinstance(at, list) else keys[-1]] = value
    return model


def generic(matrix):
    model = models.generic_ode2()
    model['objects'][0]['massMatrix'] = matrix
    return model


def system(mass, rows=((1,),), law=None, b=None):
    relation = {'type': 'LagrangianLinearTIR', 'H': rows}
    if b is not None:
        relation['b'] = b
    return {'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': mass}],
            'interactions': [{'name': 'c', 'systems': ['s'], 'relation': relation,
                              'law': law or {'type': 'NewtonImpact'}}],
            'solver': {'integrator': 'MoreauJean'}}


# what is wrong, the document, the pointer that the refusal names
MODELS = [
    ('an unknown key', changed('/gravty', [0, 0, 0]), '/gravty'),
    ('an unknown key of an item', changed('/objects/1/stifness', 1), '/objects/1/stifness'),
    ('a wrong type', changed('/nodes/0/referenceCoordinates', 'one'),
     '/nodes/0/referenceCoordinates'),
    ('a number as a name', changed('/name', 5), '/name'),
    ('a number out of range', changed('/objects/0/physicsMass', -1), '/objects/0/physicsMass'),
    ('a step of zero', changed('/solver/stepSize', 0), '/solver/stepSize'),
    ('a radius over one', changed('/solver/spectralRadius', 1.5), '/solver/spectralRadius'),
    ('a dangling name', changed('/objects/0/node', 'nowhere'), '/objects/0/node'),
    ('a dangling marker', changed('/objects/1/markers', ['g', 'y']), '/objects/1/markers/1'),
    ('a marker too few', changed('/objects/1/markers', ['g']), '/objects/1/markers'),
    ('a coordinate that is not there', changed('/markers/0/coordinate', 3),
     '/markers/0/coordinate'),
    ('an unknown type', changed('/objects/0/type', 'Mass9D'), '/objects/0/type'),
    ('an unknown integrator', changed('/solver/integrator', 'Magic'), '/solver/integrator'),
    ('a name used twice', changed('/objects/1/name', 'mass'), '/objects/1/name'),
    ('a name with a blank', changed('/objects/1/name', 'a b'), '/objects/1/name'),
    ('a missing field', changed('/objects/0', {'name': 'mass', 'type': 'Mass1D', 'node': 'n'}),
     '/objects/0'),
    ('another version', changed('/mechd', 7), '/mechd'),
    ('an expression that does not parse', changed('/objects/1/stiffness', '=k*('),
     '/objects/1/stiffness'),
    ('an expression of an unknown name', changed('/objects/1/stiffness', '=nothing*2'),
     '/objects/1/stiffness'),
    ('a matrix of the wrong shape', generic([[1, 0], [0, 1]]), '/objects/0/massMatrix'),
    ('a ragged matrix', generic([[1, 0], [0]]), '/objects/0/massMatrix'),
    ('a singular mass', generic({'diag': [1, 1, 1, 1, 1, 0]}), '/objects/0'),
    ('a huge shape', generic({'shape': [2000000000, 2000000000], 'coo': []}),
     '/objects/0/massMatrix'),
    ('a mass below zero', system([[-1]]), '/objects/0'),
    ('an indefinite mass', system([[1, 2], [2, 1]], [[1, 0]]), '/objects/0'),
    ('an H of other columns', system([[1]], [[1, 0]]), '/interactions/0/relation/H'),
    ('a ragged H', system([[1, 0], [0, 1]], [[1, 0], [1]]), '/interactions/0/relation/H/1'),
    ('an H and b of other rows', system([[1]], [[1], [1]], b=[0]), '/interactions/0/relation/b'),
    ('an H with no whole contacts', system([[1]], law={'type': 'NewtonImpactFriction', 'mu': 0.1}),
     '/interactions/0/relation/H'),
    ('a restitution over one', system([[1]], law={'type': 'NewtonImpact', 'e': 1.1}),
     '/interactions/0/law/e'),
    ('a restitution below zero', system([[1]], law={'type': 'NewtonImpact', 'e': -0.1}),
     '/interactions/0/law/e'),
    ('a name of a law', system([[1]], law={'type': 'NewtonImpact', 'name': 'floor'}),
     '/interactions/0/law/name'),
    ('a friction below zero', system([[1, 0], [0, 1]], [[1, 0], [0, 1]], law={
        'type': 'NewtonImpactFriction', 'dimension': 2, 'mu': -0.1}), '/interactions/0/law/mu'),
    ('a tangential restitution over one', system([[1, 0], [0, 1]], [[1, 0], [0, 1]], law={
        'type': 'NewtonImpactFriction', 'dimension': 2, 'mu': 0.1, 'et': 2}),
     '/interactions/0/law/et'),
    ('an entry outside', generic({'shape': [6, 6], 'coo': [[6, 0, 1]]}), '/objects/0/massMatrix'),
]

# bodies that are no documents: bytes, status
BODIES = [
    (b'{"model": ', 400), (b'', 400), (b'[' * 100000, 400), (b'[' * (10 << 20), (400, 413)),
    (b'{"a":' * 200000 + b'1' + b'}' * 200000, 400), (b'{"model": {"mechd": NaN}}', 400),
    (b'{"model": {"mechd": 1e999}}', (400, 422)), (b'\xff\xfe', 400), (b'{"model": 1} x', 400),
    (b'{"a": 1, "a": 2}', (400, 422)), (b'"text"', (400, 422)), (b'{"model": null}', (400, 422)),
    (b'{"example": "no-such-example"}', (404, 422)), (b'{"unknown": 1}', (400, 422)),
    (b'{"snapshot": "AAAA"}', (400, 422)), (b'{"model": {}, "example": "ball"}', (400, 422)),
]


class BadInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.http = HttpDoor(cls.daemon)
        cls.instance = cls.daemon.create(models.oscillator())
        cls.http.call('step', id=cls.instance, count=3)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def setUp(self):
        self.before = self.everything()

    def tearDown(self):
        """The daemon lives, the instance is as it was, and nothing was created."""
        self.assertTrue(self.daemon.is_alive())
        self.assertEqual(self.daemon.call('GET', '/livez').status, 200)
        self.assertEqual(self.everything(), self.before)

    def everything(self):
        state = self.http.call('get-state', id=self.instance)[1]
        names = [i['id'] for i in self.http.call('instances')[1]['items']]
        return state, self.http.call('get-inputs', id=self.instance)[1], sorted(names)

    def is_problem(self, reply, status, pointer=None):
        statuses = status if isinstance(status, tuple) else (status,)
        self.assertIn(reply.status, statuses, reply)
        self.assertTrue(reply.headers['Content-Type'].startswith('application/problem+json'), reply)
        self.assertTrue(reply.json['code'] and reply.json['title'], reply)
        self.assertEqual(reply.json['status'], reply.status)
        if pointer is not None:
            named = [e['pointer'] for e in reply.json.get('errors', []) if e['message']]
            self.assertTrue(any(p.startswith(pointer) for p in named),
                            '%s is not named by %s' % (pointer, reply))

    def test_impossible_models_are_refused_with_their_pointers(self):
        for what, model, pointer in MODELS:
            with self.subTest(what):
                reply = self.daemon.call('POST', '/v1/instances', {'model': model})
                self.is_problem(reply, 422, '/model' + pointer)
                check = self.daemon.call('POST', '/v1/models/check', {'model': model})
                self.assertIn(check.status, (200, 422))
                errors = check.json.get('errors') or []
                self.assertTrue(any(pointer in e['pointer'] for e in errors), check)

    def test_impossible_models_are_refused_over_zeromq(self):
        door = ZmqDoor(self.daemon)
        for what, model, pointer in MODELS:
            with self.subTest(what):
                status, body = door.call('create', model=model)
                self.assertEqual(status, 422, body)
                named = [e['pointer'] for e in body['errors']]
                self.assertTrue(any(p.startswith('/model' + pointer) for p in named), body)

    def test_all_faults_are_reported_at_once(self):
        model = changed('/objects/0/physicsMass', -1)
        model['nodes'][0]['colour'] = 'red'
        model['solver']['stepSize'] = 'fast'
        model['objects'][1]['stiffness'] = '=nothing*2'
        model['objects'][1]['damping'] = '=d*('
        reply = self.daemon.call('POST', '/v1/instances', {'model': model})
        for pointer in ('/model/objects/0/physicsMass', '/model/nodes/0/colour',
                        '/model/solver/stepSize', '/model/objects/1/stiffness',
                        '/model/objects/1/damping'):
            self.is_problem(reply, 422, pointer)

    def test_faults_of_text_and_of_physics_are_reported_at_once(self):
        model = changed('/gravty', [0, 0, 0])
        model['nodes'].append({'name': 'bare', 'type': 'Node1D'})
        model['outputs'][0]['component'] = 7
        model['solver']['integrator'] = 'Magic'
        reply = self.daemon.call('POST', '/v1/instances', {'model': model})
        for pointer in ('/model/gravty', '/model/nodes/1', '/model/solver/integrator'):
            self.is_problem(reply, 422, pointer)
        del model['nodes'][1]
        model['objects'][0]['physicsMass'] = -1
        reply = self.daemon.call('POST', '/v1/instances', {'model': model})
        for pointer in ('/model/objects/0/physicsMass', '/model/outputs/0/component'):
            self.is_problem(reply, 422, pointer)

    def test_all_faults_of_a_request_are_reported_at_once(self):
        path = '/v1/instances/' + self.instance
        for method, where, body, pointers in (
                ('POST', '/step', {'count': 0, 'sise': 1, 'expectTime': 99, 'commit': 1,
                                   'inputs': {'no': 1, 'a/b~': 2, 'force': 'x'},
                                   'outputs': ['no'], 'forces': {'a/b': [1]}, 'want': ['magic']},
                 ('/count', '/sise', '/commit', '/inputs/no', '/inputs/a~1b~0', '/inputs/force',
                  '/outputs/0', '/forces/a~1b', '/want/0')),
                ('PUT', '/inputs', {'inputs': {'no': 1, 'force': 'x'}, 'what': 1},
                 ('/inputs/no', '/inputs/force', '/what')),
                ('PUT', '/parameters', {'parameters': {'no': 1, 'k': 'x'}, 'what': 1},
                 ('/parameters/no', '/parameters/k', '/what')),
                ('PUT', '/state', {'q': ['a', None], 'v': [1, 2, 3], 'w': 1, 'time': 'x'},
                 ('/q', '/v', '/w', '/time')),
                ('POST', '/evaluate', {'q': ['a'], 'w': 1, 'want': ['no', 'lhs', 'rsh']},
                 ('/q/0', '/w', '/want/0', '/want/2'))):
            with self.subTest(where):
                reply = self.daemon.call(method, path + where, body)
                self.is_problem(reply, 422)
                named = [e['pointer'] for e in reply.json['errors']]
                self.assertEqual([p for p in pointers if p not in named], [], reply)
                self.assertEqual(len(named), len(set(named)), reply)

    def test_parameters_take_no_unknown_key(self):
        path = '/v1/instances/%s/parameters' % self.instance
        before = self.daemon.call('GET', path).json
        reply = self.daemon.call('PUT', path, {'parameters': {'k': 1.0}, 'paramters': {}})
        self.is_problem(reply, 422, '/paramters')
        self.assertEqual(self.daemon.call('GET', path).json, before)

    def test_parameters_are_numbers_and_expressions_stand_at_their_use(self):
        model = models.oscillator()
        model['parameters'] = {'c': '=2*k', 'k': 1}
        for method, path, body, pointer in (
                ('POST', '/v1/models/check', {'model': model}, '/model/parameters/c'),
                ('PUT', '/v1/instances/%s/parameters' % self.instance,
                 {'parameters': {'k': '=2*k'}}, '/parameters/k')):
            reply = self.daemon.call(method, path, body)
            self.is_problem(reply, 422, pointer)
            self.assertIn('is an expression: use it where an item uses the parameter',
                          reply['errors'][0]['message'])

    def test_a_misspelt_key_brings_a_hint(self):
        reply = self.daemon.call('POST', '/v1/instances',
                                 {'model': changed('/objects/1/stifness', 1)})
        self.assertIn('stiffness', reply.raw.decode())

    def test_the_refusal_of_a_bare_model_names_where_it_belongs(self):
        for method, path in (('POST', '/v1/instances'), ('PUT', '/v1/instances/bare'),
                             ('POST', '/v1/models/check')):
            reply = self.daemon.call(method, path, models.oscillator())
            self.is_problem(reply, 422, '/mechd')
            self.assertIn('{"model": {...}}', reply.json['errors'][0]['message'])
            self.assertEqual(len(reply.json['errors']), 1)

    def test_bodies_that_are_no_documents(self):
        for body, status in BODIES:
            with self.subTest(body[:40]):
                reply = self.daemon.call('POST', '/v1/instances', body)
                self.is_problem(reply, status)

    def test_a_truncated_body_is_dropped(self):
        """A body shorter than its announced length changes nothing and affects no client."""
        host, port = self.daemon.base.split('//')[1].split(':')
        for _ in range(20):
            with socket.create_connection((host, int(port)), 5) as s:
                s.sendall(b'POST /v1/instances HTTP/1.1\r\nHost: localhost\r\n'
                          b'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n'
                          b'{"model": {')
        text = json.dumps({'model': models.oscillator()}).encode()
        for cut in range(0, len(text), 97):
            self.is_problem(self.daemon.call('POST', '/v1/instances', text[:cut]), 400)

    def test_wrong_methods_and_paths(self):
        path = '/v1/instances/' + self.instance
        for method, where, status in (
                ('DELETE', '/v1/examples', 405), ('PATCH', path + '/step', 405),
                ('POST', '/livez', 405), ('GET', '/v1/nowhere', 404), ('GET', path + '/no', 404),
                ('GET', '/v1/types/NoSuchType', 404), ('GET', '/v1/examples/no-such', 404)):
            with self.subTest(method + ' ' + where):
                reply = self.daemon.call(method, where)
                self.is_problem(reply, status)
                if status == 405:
                    self.assertTrue(reply.headers['Allow'])

    def test_unknown_and_deleted_instances(self):
        gone = self.daemon.create(models.oscillator())
        self.assertEqual(self.http.call('delete', id=gone)[0] // 100, 2)
        for door in (self.http, ZmqDoor(self.daemon)):
            for i in ('i-999999', gone, 'i-0', 'x' * 64):
                for op, more in (('step', {'count': 1}), ('get-state', {}), ('reset', {}),
                                 ('delete', {}), ('snapshot', {})):
                    with self.subTest(door=door.name, id=i, op=op):
                        status, body = door.call(op, id=i, **more)
                        self.assertEqual((status, body['code']), (404, 'instance-not-found'))

    def test_steps_that_make_no_sense(self):
        for body, pointer in (
                ({}, None), ({'size': -1}, '/size'), ({'size': 0}, '/size'),
                ({'until': -1}, '/until'), ({'count': 0}, '/count'), ({'count': 1.5}, '/count'),
                ({'size': 'big'}, '/size'), ({'count': 1, 'size': 1}, None),
                ({'count': 1, 'sise': 1}, '/sise'), ({'count': 1, 'inputs': {'no': 1}}, '/inputs'),
                ({'count': 1, 'inputs': {'force': 'x'}}, '/inputs/force'),
                ({'count': 1, 'inputs': {'force': [1, 2]}}, '/inputs/force'),
                ({'count': 1, 'outputs': ['no']}, '/outputs/0'),
                ({'count': 1, 'forces': {'no': [1]}}, '/forces'),
                ({'count': 1, 'forces': {'m%d' % k: [1] for k in range(257)}}, '/forces'),
                ({'count': 1, 'inputs': {'force': 1}, 'inputDerivatives': {'force': [1, 2, 3]}},
                 '/inputDerivatives/force'),
                ({'count': 1, 'inputs': {'force': 1}, 'inputDerivatives': {'torque': [1]}},
                 '/inputDerivatives'),
                ({'count': 10 ** 18}, '/count')):
            with self.subTest(str(body)):
                reply = self.daemon.call('POST', '/v1/instances/%s/step' % self.instance, body)
                self.is_problem(reply, (400, 422), pointer)

    def test_a_step_from_another_time_is_refused(self):
        status, body = self.http.call('step', id=self.instance, size=0.1, expectTime=55.0)
        self.assertEqual((status, body['code']), (409, 'time-mismatch'))

    def test_states_and_inputs_that_do_not_fit(self):
        path = '/v1/instances/' + self.instance
        self.is_problem(self.daemon.call('PUT', path + '/state'), 400)
        for where, body in (('/state', {'q': [1, 2]}), ('/state', {'q': 'x'}),
                            ('/state', {'w': [1]}), ('/state', {'q': [None]}),
                            ('/inputs', {'inputs': {'no': 1}}),
                            ('/inputs', {'inputs': {'force': None, 'no': 1}}),
                            ('/parameters', {'parameters': {'no': 1}}),
                            ('/parameters', {'parameters': {'k': 'stiff'}})):
            with self.subTest(where=where, body=body):
                self.is_problem(self.daemon.call('PUT', path + where, body), (400, 422))

    def test_a_wrong_media_type_is_refused(self):
        reply = self.daemon.call('POST', '/v1/instances', b'a: 1',
                                 {'Content-Type': 'application/yaml'})
        self.is_problem(reply, 415)

    def test_a_packed_body_is_refused(self):
        path = '/v1/instances/%s/step' % self.instance
        reply = self.daemon.call('POST', path, gzip.compress(b'{"count": 1}'),
                                 {'Content-Encoding': 'gzip'})
        self.is_problem(reply, 415)
        self.assertIn('gzip', reply.json['detail'])
        reply = self.daemon.call('POST', '/v1/models/check', {'model': models.oscillator()},
                                 {'Content-Encoding': 'identity'})
        self.assertEqual(reply.status, 200, reply)

    def test_a_body_over_the_limit_is_refused(self):
        reply = self.daemon.call('POST', '/v1/instances/%s/step' % self.instance, b' ' * (3 << 20))
        self.is_problem(reply, 413)

    def test_unknown_operations_over_zeromq(self):
        door = ZmqDoor(self.daemon)
        for body in ({'op': 'dance'}, {}, {'op': 5}, {'op': 'step'}, {'op': 'step', 'id': 7}):
            with self.subTest(str(body)):
                door.socket.send_multipart([b'', json.dumps(body).encode()])
                status, reply = door.receive()
                self.assertGreaterEqual(status, 400)
                self.assertTrue(reply['code'])
        door.socket.send_multipart([b'', b'{"op": '])
        self.assertEqual(door.receive()[1]['code'], 'malformed-json')

    def test_frames_that_make_no_sense(self):
        good = harness.pack('step', [1.0], size=0.01)
        for frame in (b'MCHD', good[:63], good[:-1], good + b'x', b'XCHD' + good[4:],
                      harness.pack('step', [], count=2 ** 32 - 1, size=0.01),
                      harness.pack(99), harness.pack('step', size=0.01, instance=4000000000),
                      harness.pack('step', [float('nan')], size=0.01), b'', b'\0' * 200):
            with self.subTest(frame[:20]):
                door = ZmqDoor(self.daemon)
                door.socket.send_multipart([b'', frame])
                parts = door.socket.recv_multipart(flags=0)
                head = parts[1] if parts[0] == b'' else parts[0]
                if head[:4] == b'MCHD':
                    reply = harness.unpack(head)
                    self.assertEqual(reply['kind'], harness.KINDS['error'])
                    self.assertNotEqual(reply['status'], 0)
                else:
                    self.assertIn('code', json.loads(head)['error'])
                door.close()

    def test_the_answer_to_a_bad_frame_carries_its_sequence(self):
        good = harness.pack('step', [1.0], size=0.01, sequence=77)
        version = good[:4] + b'\x07' + good[5:]
        for frame in (harness.pack(99, sequence=77), harness.pack(0, sequence=77), version,
                      version[:32], good[:32], good[:-1], good + b'x'):
            with self.subTest(frame[:40]), ZmqDoor(self.daemon) as door:
                door.socket.send_multipart([b'', frame])
                reply = harness.unpack(door.socket.recv_multipart()[1])
                self.assertEqual((reply['kind'], reply['sequence']), (harness.KINDS['error'], 77))

    def test_nan_in_a_frame_is_refused(self):
        i = self.daemon.create(models.oscillator())
        with harness.Partner(self.daemon, i, ['force'], ['x', 'v']) as partner:
            for values, size in (([float('nan')], 0.01), ([float('inf')], 0.01),
                                 ([1.0], float('nan')), ([1.0], -1.0), ([1.0, 2.0], 0.01)):
                with self.subTest(values=values, size=size), self.assertRaises(harness.FrameError):
                    partner.step(size, values)
        state = self.http.call('get-state', id=i)[1]
        self.assertEqual(state['time'], 0)
        self.http.call('delete', id=i)


class FailingSteps(unittest.TestCase):
    """A step that fails leaves the state untouched and says why."""

    def test_a_step_that_blows_up_is_undone(self):
        model = models.nonlinear_oscillator(integrator='RK44', stepSize=0.5)
        model['parameters']['k'] = 1e9
        with Daemon() as daemon:
            for door in (HttpDoor(daemon), ZmqDoor(daemon)):
                with self.subTest(door.name):
                    i = door.call('create', model=model)[1]['id']
                    before = door.call('get-state', id=i)[1]
                    status, body = door.call('step', id=i, count=2000)
                    self.assertEqual((status, body['code']), (422, 'not-finite'), body)
                    self.assertRegex(
                        body['detail'],
                        r'coordinate 0, of /objects/0, became .*; the step began at t = [\d.]+; '
                        r'.*need steps below about \d[\d.e-]* s')
                    self.assertEqual(door.call('get-state', id=i)[1], before)
                    self.assertEqual(door.call('outputs', id=i)[0], 200)

    def test_newton_that_does_not_converge_is_undone(self):
        model = models.nonlinear_oscillator(stepSize=0.1, newton={'maxIterations': 1})
        with Daemon() as daemon:
            door = HttpDoor(daemon)
            i = daemon.create(model)
            before = door.call('get-state', id=i)[1]
            status, body = door.call('step', id=i, count=10)
            self.assertEqual((status, body['code']), (422, 'newton-not-converged'), body)
            self.assertRegex(body['detail'],
                             r'residual .*, most of it at "mass"; the step began at t = 0')
            self.assertEqual(door.call('get-state', id=i)[1], before)

    def test_a_step_that_would_be_too_small_is_undone(self):
        """Substeps are reported; below the least of them the step ends, with what asked for it."""
        for solver in ({'integrator': 'DOPRI5'}, {'adaptive': {'mode': 'error'}},
                       {'adaptive': {'mode': 'failure'}, 'newton': {'maxIterations': 1}}):
            with self.subTest(solver), Daemon() as daemon:
                model = models.nonlinear_oscillator(**{'stepSize': 0.5, **solver})
                adaptive = model['solver'].setdefault('adaptive', {})
                door = HttpDoor(daemon)
                status, body = door.call('step', id=daemon.create(model), count=2,
                                         inputs={'force': 1e3})
                self.assertEqual(status, 200, body)
                report = body['report']
                self.assertEqual(report['steps'], 2)
                self.assertGreater(report['substeps'], 2)
                self.assertGreater(report['refusedSubsteps'], 0)
                adaptive['minimumStepSize'] = 0.3
                i = daemon.create(model)
                before = door.call('get-state', id=i)[1]
                status, body = door.call('step', id=i, count=2, inputs={'force': 1e3})
                self.assertEqual((status, body['code']), (422, 'step-too-small'), body)
                self.assertIn('substeps under 0.3 s at t = 0', json.dumps(body))
                self.assertGreater(body['report']['refusedSubsteps'], 0)
                self.assertEqual(door.call('get-state', id=i)[1], before)

    def test_inputs_of_a_failed_step_are_undone(self):
        model = models.nonlinear_oscillator(stepSize=0.1, newton={'maxIterations': 1})
        with Daemon() as daemon:
            door = HttpDoor(daemon)
            i = daemon.create(model)
            before = door.call('get-inputs', id=i)[1]
            status, _ = door.call('step', id=i, count=10, inputs={'force': 1e6})
            self.assertEqual(status, 422)
            self.assertEqual(door.call('get-inputs', id=i)[1], before)


class Bounds(unittest.TestCase):
    def test_all_bodies_in_flight_are_bounded_together(self):
        """Five bodies of 60 MB at once are too many; four, and one again later, are not."""
        part, size = b' ' * (1 << 20), 60
        with Daemon() as daemon:
            address = daemon.http.address
            open_ones = []
            for _ in range(5):
                s = socket.create_connection((address.hostname, address.port), 20 * harness.SLOW)
                open_ones.append(s)
                s.sendall(b'POST /v1/models/check HTTP/1.1\r\nHost: localhost\r\n'
                          b'Content-Length: %d\r\n\r\n' % (size * len(part)))
                for _ in range(size - 1):
                    s.sendall(part)
            # each but the last byte has been sent: the fifth does not fit
            last = open_ones[-1]
            last.sendall(part)
            answer = last.recv(4096)
            self.assertIn(b' 429 ', answer.split(b'\r\n')[0])
            self.assertIn(b'limit-reached', answer)
            for s in open_ones:
                s.close()

            def taken():
                model = json.dumps({'model': models.oscillator()}).encode()
                return daemon.call('POST', '/v1/models/check', part * size + model).status
            harness.wait_until(lambda: taken() == 200, 'the room is given back')

    def test_the_size_of_models_is_a_choice(self):
        """2 MB of a banded matrix: too large for 1 MiB, taken with 4; both doors and /v1 say so."""
        n = 80000
        rows = [[0, 2, -1]] + [[-1, 2, -1]] * (n - 2) + [[-1, 1, 0]]
        model = {'mechd': 1, 'objects': [
            {'name': 'o', 'type': 'LagrangianLinearTIDS', 'M': {'diag': [1] * n},
             'K': {'banded': {'lower': 1, 'upper': 1, 'rows': rows}}, 'q0': [1] + [0] * (n - 1)}]}
        for size, status, outcome in (('1', 413, 'body-too-large'), ('4', 201, None)):
            with Daemon('--model-size', size) as daemon:
                about = daemon.call('GET', '/v1').json
                self.assertEqual(about['limits']['model'], int(size) << 20)
                for door in (HttpDoor(daemon), ZmqDoor(daemon)) if outcome is None else (
                        HttpDoor(daemon),):
                    found, reply = door.call('create', model=model)
                    self.assertEqual((found, reply.get('code')), (status, outcome))


if __name__ == '__main__':
    unittest.main()
