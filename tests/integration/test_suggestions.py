"""A misspelled option, command, operation, route or example comes with what was meant."""
import json
import os
import re
import subprocess
import tempfile
import unittest
import models
from coupled import half
from harness import ROOT, SLOW, FrameError, Partner, Served, ZmqDoor, program


def told(*command):
    """The exit code and what was said on standard error."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith('MECHD_')}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60 * SLOW,
                          env=environment)
    return done.returncode, done.stderr


def many_items(count, letter):
    """A thousand nodes, and so many bodies, on nodes whose long names are of this letter."""
    node = {'type': 'Node1D', 'referenceCoordinates': [0]}
    return {'mechd': 1, 'nodes': [{**node, 'name': 'n%04d%s' % (k, 55 * 'x')} for k in range(1000)],
            'objects': [{'name': 'o%d' % k, 'type': 'Mass1D', 'physicsMass': 1,
                         'node': 'n%04d%s' % (k, 55 * letter)} for k in range(count)]}


class Suggestions(Served):
    def test_of_many_faults_the_first_ones_are_reported(self):
        sound, faulty = (self.daemon.call('POST', '/v1/models/check', {'model': many_items(*how)})
                         for how in ((1000, 'x'), (5000, 'y')))
        self.assertEqual((sound.status, faulty.status), (200, 422))
        self.assertEqual((len(faulty['errors']), faulty['detail']),
                         (100, 'the model has 5000 faults'))

    def test_options_of_the_daemon(self):
        for given, meant in (('--lisen', 'listen'), ('--acess-log', 'access-log'),
                             ('--make-tokne=x', 'make-token'), ('--verison', 'version')):
            code, text = told(program('mechd'), given, 'x')
            self.assertEqual(code, 1)
            self.assertIn('did you mean --%s?' % meant, text)
        code, text = told(program('mechd'), '--gravity', '9.81')
        self.assertEqual((code, 'did you mean' in text), (1, False))
        with tempfile.NamedTemporaryFile('w', suffix='.conf') as file:
            file.write('wrokers = 2\n')
            file.flush()
            code, text = told(program('mechd'), '--config', file.name)
            self.assertEqual(code, 1)
            self.assertIn('line 1: there is no option wrokers, did you mean --workers?', text)

    def test_commands_and_options_of_mechctl(self):
        ctl = (program('mechctl'), '--server', self.daemon.base)
        for words, meant in ((('craete',), 'create'), (('lst',), 'list'),
                             (('--sevrer', 'x', 'list'), '--server'),
                             (('step', 'i-1', '--untli', '1'), '--until'),
                             (('step', '--untli', '1', 'i-1'), '--until'),
                             (('--expect-tme', '0.1', 'step', 'i-1'), '--expect-time')):
            code, text = told(*ctl, *words)
            self.assertEqual(code, 2, words)
            self.assertIn('did you mean %s?' % meant, text)
        code, text = told(*ctl, 'frobnicate')
        self.assertEqual((code, 'did you mean' in text), (2, False))

    def test_an_option_in_front_of_the_command_is_that_of_the_command(self):
        ctl = (program('mechctl'), '--server', self.daemon.base)
        for words, code, meant in (
                (('--trial', '3', 'trials', 'none', '--keep', 'a'), 1, 'no instance none'),
                (('--trial', 'step', 'none', '--size', '1'), 1, 'no instance none'),
                (('--trial', '--size', '1', 'step', 'none'), 1, 'no instance none'),
                (('--trial=3', 'step', 'none'), 2, '--trial takes no value with step: give it '
                 'after the command'),
                (('--trial', '--keep', 'a', 'trials', 'none'), 2, '--trial needs a value with '
                 'trials: give it after the command')):
            given, text = told(*ctl, *words)
            self.assertEqual((given, meant in text), (code, True), (words, text))

    def test_words_of_other_programs_for_commands_of_mechctl(self):
        for word, meant in (('ls', 'list'), ('ps', 'list'), ('dir', 'list'), ('rm', 'delete'),
                            ('cp', 'clone'), ('kill', 'stop'), ('start', 'run'),
                            ('describe', 'show'), ('diff', 'compare')):
            for words in ((word, ), ('help', word)):
                code, text = told(program('mechctl'), *words)
                self.assertEqual((code, text), (
                    2, "mechctl: '%s' is not a command, did you mean %s? mechctl help lists them\n"
                    % (word, meant)))

    def test_a_word_of_other_programs_stands_for_one_command_and_is_none(self):
        folder = os.path.join(ROOT, 'clients', 'cli', 'commands')
        commands = [name[:-2] for name in os.listdir(folder)]
        words = []
        for name in commands:
            with open(os.path.join(folder, name + '.c'), encoding='utf-8') as f:
                words += ' '.join(re.findall(r'\.synonyms = "(.*)"', f.read())).split()
        self.assertEqual(sorted(set(words)), sorted(words))
        self.assertEqual(set(words) & set(commands), set())
        self.assertGreater(len(words), 50)

    def test_routes(self):
        i = self.daemon.create(example='mass1d')
        for path, meant in (('/v1/instances/%s/stpe' % i, '/v1/instances/{id}/step'),
                            ('/v1/instnaces/%s/outputs' % i, '/v1/instances/{id}/outputs'),
                            ('/v1/exampels', '/v1/examples'), ('/metric', '/metrics')):
            reply = self.daemon.call('GET', path)
            self.assertEqual((reply.status, reply['code']), (404, 'route-not-found'), path)
            self.assertTrue(reply['detail'].endswith('did you mean %s?' % meant), reply['detail'])
        for path in ('/v1/couplings/c-1/stop', '/v1/couplings/c-1/clone', '/v1/examples/step',
                     '/v1/instances/%s/nothing' % i, '/v2', '/v1//', '/v1/' + 'x' * 500):
            for method in ('GET', 'POST'):
                reply = self.daemon.call(method, path)
                self.assertIn(reply.status, (404, 405), path)
                self.assertNotIn(b'did you mean', reply.raw, path)

    def test_a_slash_or_the_base_of_a_path_is_no_other_route(self):
        i = self.daemon.create(example='mass1d')
        for method, path, meant in (
                ('GET', '/v1/instances/', '/v1/instances'), ('GET', '/v1/', '/v1'),
                ('GET', '/v1/instances/%s/' % i, '/v1/instances/' + i),
                ('DELETE', '/v1/instances/%s/' % i, '/v1/instances/' + i),
                ('POST', '/v1/instances/%s/step/' % i, '/v1/instances/%s/step' % i),
                ('GET', '/v1/instances/%s/state/' % i, '/v1/instances/%s/state' % i),
                ('GET', '/v1/instances//%s' % i, '/v1/instances/' + i),
                ('GET', '/v1/examples/four-bar/', '/v1/examples/four-bar'),
                ('GET', '/docs/', '/docs'), ('GET', '//v1/instances', '/v1/instances'),
                ('GET', '/instances', '/v1/instances'),
                ('GET', '/V1/Instances', '/v1/instances'), ('GET', '/Livez', '/livez'),
                ('POST', '/v1/INSTANCES/%s/Step' % i, '/v1/instances/%s/step' % i),
                ('GET', '/v1/v1/instances/%s' % i, '/v1/instances/%s' % i),
                ('GET', '/v1/metrics', '/metrics'), ('GET', '/v1/openapi.json', '/openapi.json'),
                ('POST', '/instances/%s/step' % i, '/v1/instances/%s/step' % i)):
            with self.subTest(path=path):
                reply = self.daemon.call(method, path)
                self.assertEqual((reply.status, reply['code']), (404, 'route-not-found'))
                self.assertEqual(reply['detail'], 'there is no %s %s, did you mean %s?' % (
                    method, path, meant))
                self.assertNotEqual(self.daemon.call('GET', meant).status, 404)
        for path in ('/v1/instances/%s/x/' % i, '/v1/instances/%s/s' % i, '/v1/ab', '/v1/step',
                     '/v1/i-1'):
            self.assertNotIn(b'did you mean', self.daemon.call('GET', path).raw, path)

    def test_an_id_that_is_missing_is_reported_as_such(self):
        self.daemon.call('PUT', '/v1/instances/state', {'example': 'mass1d'})
        for method, path, meant in (
                ('PUT', '/v1/instances/', '/v1/instances/{id}'),
                ('DELETE', '/v1/instances/', '/v1/instances/{id}'),
                ('POST', '/v1/instances//step', '/v1/instances/{id}/step'),
                ('GET', '/v1/instances//state', '/v1/instances/{id}/state'),
                ('HEAD', '/v1/instances//state', '/v1/instances/{id}/state'),
                ('POST', '/v1/couplings//step', '/v1/couplings/{cid}/step'),
                ('DELETE', '/v1/sweeps/', '/v1/sweeps/{wid}'),
                ('DELETE', '/v1/operations/', '/v1/operations/{oid}'),
                ('PUT', '/v1/instances//objects//fields/',
                 '/v1/instances/{id}/objects/{name}/fields/{field}')):
            with self.subTest(method=method, path=path):
                reply = self.daemon.call(method, path)
                self.assertEqual(reply.status, 404)
                if method != 'HEAD':
                    self.assertEqual(reply['code'], 'route-not-found')
                    self.assertEqual(reply['detail'],
                                     'there is no %s %s: an id is missing, the route is %s' % (
                                         method, path, meant))
        for method, path, detail in (
                ('PUT', '/v1/instances',
                 '/v1/instances takes GET, HEAD, POST; PUT is for /v1/instances/{id}'),
                ('DELETE', '/v1/sweeps',
                 '/v1/sweeps takes GET, HEAD, POST; DELETE is for /v1/sweeps/{wid}'),
                ('PUT', '/v1/instances/state/step', '/v1/instances/state/step takes POST'),
                ('DELETE', '/livez', '/livez takes GET, HEAD')):
            reply = self.daemon.call(method, path)
            self.assertEqual((reply.status, reply['detail']), (405, detail))

    def test_an_id_that_is_none_gets_a_whole_sentence(self):
        for part in ('%C3%BCber', 'a%2Fb', 'x' * 200, 'a%01'):
            with self.subTest(part=part):
                reply = self.daemon.call('PUT', '/v1/instances/' + part, {'example': 'mass1d'})
                self.assertEqual((reply.status, reply['code']), (400, 'malformed-request'))
                self.assertTrue(reply['detail'].endswith(
                    'ids and names in a path must have 1 to 64 characters of A-Z a-z 0-9 . _ -'))

    def test_an_id_of_a_message_that_is_too_long_is_reported_as_such(self):
        with ZmqDoor(self.daemon) as door:
            for given, told in (('x' * 200, 'ids and names must have 1 to 64 characters of A-Z'),
                                (7, 'a string is needed'), (None, 'a string is needed')):
                status, reply = door.call('step', id=given, count=1)
                self.assertEqual(status, 422)
                self.assertEqual(reply['errors'][0]['pointer'], '/id')
                self.assertIn(told, reply['errors'][0]['message'])

    def test_the_refusal_of_a_misplaced_key_names_its_place(self):
        i = self.daemon.create(example='mass1d')
        path = '/v1/instances/' + i
        pair = self.daemon.call('POST', '/v1/couplings', {
            'participants': [{'name': 'a', 'instance': self.daemon.create(example='mass1d')}],
            'connections': [],
            'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01})
        self.assertEqual(pair.status, 201, pair)
        pair = pair.headers['Location']
        for route, body, key, place in (
                ('/v1/instances', {'id': 'x', 'example': 'mass1d'}, 'id',
                 'PUT /v1/instances/{id}'),
                ('/v1/instances', {'name': 'x', 'example': 'mass1d'}, 'name',
                 'PUT /v1/instances/{id}'),
                (path + '/clone', {'id': 'x'}, 'id', '`as`'),
                (path + '/snapshots', {'sid': 's'}, 'sid', None),
                (path + '/snapshots', {'id': 's'}, 'id',
                 'the server chooses the id of the snapshot'),
                (path + '/runs', {'id': 'r', 'count': 1}, 'id',
                 'the server chooses the id of the run'),
                (path + '/streams', {'id': 's'}, 'id', '`name`'),
                (path + '/trials', {'id': 't'}, 'id', '`name`'),
                (pair + '/step', {'id': 'c', 'count': 1}, 'id', 'it belongs in the path'),
                (pair + '/step', {'cid': 'c', 'count': 1}, 'cid', 'it belongs in the path'),
                (pair + '/runs', {'id': 'r', 'count': 1}, 'id', 'the server chooses the id'),
                ('/v1/batch', {'id': i, 'op': 'reset'}, 'id', '`instances`'),
                ('/v1/models/check', {'id': 'x', 'model': models.oscillator()}, 'id', None),
                ('/v1/sweeps', {'id': 's'}, 'id', 'the server chooses the id'),
                (path + '/step', {'id': i, 'count': 1}, 'id', 'it belongs in the path'),
                (path + '/step', {'op': 'step', 'count': 1}, 'op', 'the path determines'),
                (path + '/step', {'lease': 1, 'count': 1}, 'lease', 'header Lease'),
                (path + '/step', {'token': 'x', 'count': 1}, 'token', 'header Authorization'),
                (path + '/step', {'sequence': 1, 'count': 1}, 'sequence', 'ZeroMQ')):
            with self.subTest(route=route, key=key):
                reply = self.daemon.call('POST', route, body)
                self.assertEqual(reply.status, 422)
                told_so = [e['message'] for e in reply['errors'] if e['pointer'] == '/' + key]
                self.assertEqual(len(told_so), 1)
                self.assertIn(place or 'unknown key', told_so[0])
        reply = self.daemon.call('PUT', '/v1/instances/y', {'name': 'x', 'example': 'mass1d'})
        self.assertIn('a model has a name', reply['errors'][0]['message'])
        with ZmqDoor(self.daemon) as door:
            status, reply = door.call('create', id='x', example='mass1d')
            self.assertEqual(status, 422)
            self.assertIn('PUT /v1/instances/{id}', reply['errors'][0]['message'])

    def test_schemes_and_participants_of_couplings(self):
        def refused(connections=(('left.x', 'right.F'),), scheme='Jacobi', **more):
            body = {'participants': [{'name': name, 'instance': self.daemon.create(half())}
                                     for name in ('left', 'right')],
                    'connections': [{'from': a, 'to': b} for a, b in connections],
                    'scheme': {'type': scheme, **more}, 'stepSize': 0.01}
            reply = self.daemon.call('POST', '/v1/couplings', body)
            self.assertEqual((reply.status, reply['code']), (422, 'invalid-request'), reply)
            return [(e['pointer'], e['message']) for e in reply['errors']]
        for given, meant in (('Jakobi', 'Jacobi'), ('aitken', 'Aitken'), ('IQN_ILS', 'IQN-ILS'),
                             ('GaussSiedel', 'GaussSeidel')):
            self.assertEqual(refused(scheme=given), [(
                '/scheme/type', "there is no scheme '%s', did you mean '%s'?" % (given, meant))])
        (_, text), = refused(scheme='Fixed')
        self.assertRegex(text, '^there are .*Aitken, .*Jacobi')
        self.assertEqual(refused([('lfet.x', 'right.F')]), [(
            '/connections/0', "'lfet.x' does not begin with a participant, did you mean 'left'?")])
        self.assertEqual(refused([('left', 'right.F')]), [(
            '/connections/0', '\'left\' is a participant: "left.VARIABLE" is needed')])
        self.assertEqual(refused([('temperature.x', 'right.F')]), [(
            '/connections/0', "'temperature.x' does not begin with a participant")])
        self.assertEqual(refused(scheme='GaussSeidel', order=['left', 'rihgt']), [(
            '/scheme/order', 'each of the 2 participants must be listed once; '
            "there is no participant 'rihgt', did you mean 'right'?")])

    def test_integrators(self):
        for given, told_so in (('GeneralisedAlpha', 'did you mean "GeneralizedAlpha"?'),
                               ('Midpoint!', 'GET /v1/types lists them')):
            model = {'mechd': 1, 'solver': {'integrator': given}}
            reply = self.daemon.call('POST', '/v1/models/check', {'model': model})
            self.assertEqual(reply.status, 422, reply)
            self.assertTrue(reply['errors'][0]['message'].endswith(told_so), reply)

    def test_names_within_a_model(self):
        for kind, k, field in (('objects', 0, 'node'), ('objects', 1, 'markers'),
                               ('loads', 0, 'marker'), ('sensors', 0, 'object'),
                               ('inputs', 0, 'load'), ('outputs', 0, 'sensor')):
            model = models.oscillator()
            item = model[kind][k]
            meant = item[field][0] if field == 'markers' else item[field]
            wrong = meant + meant[-1]
            item[field] = [wrong, 'x'] if field == 'markers' else wrong
            self.is_told(model, wrong, ", did you mean '%s'?" % meant)
            # beside other faults the reader reports it, not the model
            model['nodes'][0]['initialVelocities'] = [1, 2]
            self.is_told(model, wrong, ", did you mean '%s'?" % meant)

    def test_unknown_names_of_expressions_beside_any_other_fault(self):
        faults = {'/objects/1/wrong': 1, '/objects/1/damping': 'x', '/nodes/0/type': 'Node9',
                  '/nodes/0/initialVelocities': [1, 2], '/objects/0/node': 'nothing',
                  '/solver/stepSize': -1, '/gravity': [1], '/loads/0/load': '=1+'}
        for where, value in faults.items():
            model = models.oscillator()
            model['objects'][1]['stiffness'] = '=2*missing'
            model['loads'].append({'name': 'G', 'type': 'LoadCoordinate', 'marker': 'x',
                                   'load': '=absent*sin(k*t)'})
            model['objects'].append({
                'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],
                'springForceUserFunction': '=k*u + d*v + none'})
            at = model
            *keys, last = where.split('/')[1:]
            for key in keys:
                at = at[int(key) if key.isdigit() else key]
            at[last] = value
            reply = self.daemon.call('POST', '/v1/models/check', {'model': model})
            self.assertEqual(reply.status, 422, reply)
            told = [e['pointer'] for e in reply['errors']]
            with self.subTest(where):
                self.assertEqual(sorted(set(told)), sorted(told))
                self.assertEqual(set(told), {
                    '/model' + path for path in
                    (where, '/objects/1/stiffness', '/loads/1/load',
                     '/objects/2/springForceUserFunction')})

    def test_parameters_and_materials_of_a_model(self):
        model = models.oscillator()
        model['inputs'].append({'name': 'stiffness', 'parameter': 'kk'})
        self.is_told(model, 'kk', ", did you mean 'k'?")
        model = self.daemon.call('GET', '/v1/examples/sliding-sphere').json
        next(o for o in model['objects'] if 'geometry' in o)['geometry'][0]['material'] = 'stele'
        model['materials'] = [{'name': 'wood'}, {'name': 'steel'}]
        self.is_told(model, 'stele', ", did you mean 'steel'?")

    def is_told(self, model, wrong, ending):
        """The only fault that names what is wrong ends like this."""
        reply = self.daemon.call('POST', '/v1/models/check', {'model': model})
        self.assertEqual(reply.status, 422, reply)
        told = [e['message'] for e in reply['errors'] if wrong in e['message']]
        self.assertEqual(len(told), 1, reply)
        self.assertTrue(told[0].endswith(ending), told)

    def test_names_in_requests(self):
        path = '/v1/instances/' + self.daemon.create(models.oscillator())
        self.daemon.call('POST', path + '/runs', {'count': 2, 'record': {'outputs': ['x']}})
        for method, where, body, meant in (
                ('PUT', '/inputs', {'forec': 1}, 'force'),
                ('PUT', '/parameters', {'parameters': {'kk': 1}}, 'k'),
                ('POST', '/step', {'count': 1, 'inputs': {'frce': 1}}, 'force'),
                ('POST', '/step', {'count': 1, 'outputs': ['xx']}, 'x'),
                ('POST', '/step', {'count': 1, 'forces': {'xx': [1]}}, 'x'),
                ('POST', '/lease', {'role': 'co-driver', 'channels': ['fource']}, 'force'),
                ('POST', '/runs', {'count': 1, 'record': {'outputs': ['xx']}}, 'x'),
                ('GET', '/runs/r-1/results?outputs=xx', None, 'x'),
                ('GET', '/objects/mas/outputs/Position', None, 'mass'),
                ('GET', '/objects/mass/outputs/Positon', None, 'Position'),
                ('GET', '/objects/nn/outputs/Position?category=nodes', None, 'n'),
                ('PUT', '/objects/mas/fields/physicsMass', {'value': 1}, 'mass'),
                ('PUT', '/objects/mass/fields/physicMass', {'value': 1}, 'physicsMass')):
            with self.subTest((method, where, body)):
                reply = self.daemon.call(method, path + where, body)
                self.assertIn(reply.status, (404, 422), reply)
                told = (reply.json.get('errors') or [{'message': reply['detail']}])[0]['message']
                self.assertTrue(told.endswith(", did you mean '%s'?" % meant), reply)

    def test_names_that_nothing_is_near_to(self):
        path = '/v1/instances/' + self.daemon.create(models.oscillator())
        for method, where, body in (('PUT', '/inputs', {'temperature': 1}),
                                    ('POST', '/step', {'count': 1, 'outputs': [7]}),
                                    ('GET', '/objects/temperature/outputs/Position', None),
                                    ('PUT', '/objects/mass/fields/temperature', {'value': 1})):
            reply = self.daemon.call(method, path + where, body)
            self.assertIn(reply.status, (404, 422), reply)
            self.assertNotIn(b'did you mean', reply.raw)

    def test_types_sweeps_batches_and_partners(self):
        for name, meant in (('Mas1D', 'Mass1D'), ('Newmrk', 'Newmark')):
            reply = self.daemon.call('GET', '/v1/types/' + name)
            self.assertEqual((reply.status, reply['detail']),
                             (404, "there is no type %s, did you mean '%s'?" % (name, meant)))
        for body, meant in (({'parameters': {'grid': {'kk': [1, 2]}}}, 'k'),
                            ({'parameters': {'list': [{}]}, 'outputs': ['xx']}, 'x')):
            reply = self.daemon.call('POST', '/v1/sweeps',
                                     {'model': models.oscillator(), 'count': 1, **body})
            self.assertEqual(reply.status, 422, reply)
            self.assertTrue(reply['errors'][0]['message'].endswith("mean '%s'?" % meant), reply)
        i = self.daemon.create(models.oscillator())
        reply = self.daemon.call('POST', '/v1/batch', {'instances': [i], 'op': 'setp', 'body': {}})
        self.assertIn("did you mean 'step'?", reply['errors'][0]['message'])
        reply = self.daemon.call('POST', '/v1/batch', {'items': [{'op': 'step-coupling', 'id': i}]})
        self.assertEqual(reply['errors'][0]['message'],
                         "there is no operation 'step-coupling' on an instance")
        for item in ({'id': i}, {'id': i, 'op': 7}):
            reply = self.daemon.call('POST', '/v1/batch', {'items': [item]})
            self.assertEqual((reply['errors'][0]['pointer'], reply['errors'][0]['message']),
                             ('/items/0/op', 'the name of an operation on an instance is needed'))
        with self.assertRaises(FrameError) as refused:
            Partner(self.daemon, i, ['frce'])
        self.assertIn(b"there is no input 'frce', did you mean 'force'?",
                      refused.exception.problem[0])

    def test_what_is_no_message_is_refused_in_terms_of_messages(self):
        door = ZmqDoor(self.daemon)
        self.addCleanup(door.close)
        for text in (b'[{"op":"about"}]', b'"about"', b'about', b'?' * 64, b''):
            with self.subTest(text=text):
                door.socket.send_multipart([b'', text])
                detail = json.loads(door.socket.recv_multipart()[-1])['detail']
                self.assertRegex(detail, '^a message is an object of JSON, which begins with {')
        for body in ('{"a": "x\\u0000"}', '{"x\\u0000": 1}'):
            reply = self.daemon.call('POST', '/v1/models/check', body.encode())
            self.assertEqual((reply.status, reply['code']), (400, 'malformed-json'))
            self.assertRegex(reply['detail'],
                             r'^line 1, column \d+: a string must not contain \\u0000 here$')

    def test_examples_and_operations(self):
        reply = self.daemon.call('GET', '/v1/examples/duoble-pendulum')
        self.assertIn('did you mean double-pendulum?', reply['detail'])
        reply = self.daemon.call('POST', '/v1/instances', {'example': 'mas1d'})
        self.assertEqual(reply.status, 422)
        self.assertIn("did you mean 'mass1d'?", reply['errors'][0]['message'])
        door = ZmqDoor(self.daemon)
        door.socket.send_multipart([b'', b'{"op":"otuputs"}'])
        self.assertIn("did you mean 'outputs'?", door.receive()[1]['detail'])
        door.socket.send_multipart([b'', b'{"op":"gravity"}'])
        self.assertNotIn('did you mean', door.receive()[1]['detail'])
        door.close()


if __name__ == '__main__':
    unittest.main()
