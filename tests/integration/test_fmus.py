"""Hosted FMUs: uploading, listing and deleting them; instances of them; and what their faults
leave. The FMUs are the tests' own (tests/fmus)."""
import base64
import glob
import math
import os
import tempfile
import unittest
import fmus
import tokens
from fmus import processes, ticks
from harness import SLOW, Daemon, Partner, ZmqDoor, wait_until

SHORT = 21  # mood of the controller: it discards questions for derivatives of outputs


class Uploads(unittest.TestCase):
    def test_an_fmu_is_uploaded_listed_shown_and_deleted(self):
        content = fmus.archive()
        with Daemon(*fmus.ON) as d:
            self.assertIs(d.call('GET', '/v1')['enabled']['fmus'], True)
            self.assertIn('fmu', d.call('GET', '/v1')['enabled']['engines'])
            made = fmus.upload(d, content)
            self.assertEqual(made.status, 201, made)
            self.assertEqual(made.headers['Location'], '/v1/fmus/' + made['id'])
            self.assertEqual(made['modelName'], 'a controller')
            self.assertEqual(made['fmiVersion'], '3.0')
            self.assertEqual(made['bytes'], len(content))
            self.assertIs(made['canSaveState'], True)
            variables = {v['name']: v for v in made['variables']}
            self.assertEqual(variables['u']['causality'], 'input')
            self.assertEqual(variables['u']['unit'], 'N')
            self.assertEqual(variables['gain']['maximum'], 100)
            # texts and binaries are listed, and no instance has them
            self.assertNotIn('start', variables['label'])
            self.assertEqual([n for n in variables if not variables[n]['shown']],
                             ['label', 'blob'])
            one = d.call('GET', '/v1/fmus/' + made['id'])
            self.assertEqual(one.json, made.json)
            listed = d.call('GET', '/v1/fmus')['items']
            self.assertEqual([x['id'] for x in listed], [made['id']])
            self.assertNotIn('variables', listed[0])
            # as base64, as over ZeroMQ
            text = base64.b64encode(content).decode()
            with ZmqDoor(d) as door:
                _, again = door.call('upload-fmu', fmu=text)
                self.assertEqual(again['modelName'], 'a controller')
                self.assertNotEqual(again['id'], made['id'])
            self.assertEqual(d.call('DELETE', '/v1/fmus/' + made['id']).status, 204)
            self.assertEqual(d.call('DELETE', '/v1/fmus/' + made['id']).status, 404)
            self.assertEqual(d.call('GET', '/v1/fmus/' + made['id'])['code'], 'not-found')
            lines = d.log()
            self.assertRegex(lines, r'fmu-uploaded fmu=%s token=- .*bytes=%d' % (
                made['id'], len(content)))
            self.assertRegex(lines, r'fmu-deleted fmu=%s token=-' % made['id'])

    def test_a_server_hosts_none_without_the_option(self):
        with Daemon() as d:
            self.assertIs(d.call('GET', '/v1')['enabled']['fmus'], False)
            self.assertNotIn('fmu', d.call('GET', '/v1')['enabled']['engines'])
            refused = fmus.upload(d, fmus.archive())
            self.assertEqual((refused.status, refused['code']), (403, 'forbidden'))
            self.assertIn('--fmus on', refused['detail'])
            self.assertEqual(d.call('POST', '/v1/instances', {'fmu': 'f-1'}).status, 404)
            self.assertEqual(d.call('GET', '/v1/fmus')['items'], [])

    def test_what_cannot_be_hosted_is_refused_with_its_place(self):
        with tempfile.TemporaryDirectory() as folder, \
                Daemon(*fmus.ON, environment={'TMPDIR': folder}) as d:
            for content, part in (
                    (b'no archive', ''),
                    (fmus.archive(variables='<Float64 name="y"/>'), 'modelDescription.xml'),
                    (fmus.archive(more=[('../out', b'x')]), '..'),
                    (fmus.archive().replace(b'controller.so', b'contriller.so'), 'binaries')):
                refused = fmus.upload(d, content)
                self.assertEqual((refused.status, refused['code']), (422, 'invalid-fmu'), refused)
                self.assertIn(part, refused['detail'])
            refused = d.call('POST', '/v1/fmus', {'fmu': 'not base64!'})
            self.assertEqual(refused['code'], 'invalid-request')
            self.assertEqual(os.listdir(folder), [])

    def test_uploading_needs_a_scope_of_its_own_and_has_quotas(self):
        step, line_step = tokens.make('rig', 'step')
        one, line_one = tokens.make('one', 'fmu')
        other, line_other = tokens.make('other', 'fmu')
        admin, line_admin = tokens.make('boss', 'admin')
        content = fmus.archive()
        with tempfile.NamedTemporaryFile('w', suffix='.tokens') as file:
            file.write('%s\n%s fmus=2 fmu-bytes=1MiB\n%s\n%s\n'
                       % (line_step.strip(), line_one.strip(), line_other.strip(),
                          line_admin.strip()))
            file.flush()
            with Daemon(*fmus.ON, '--tokens', file.name) as d:
                refused = fmus.upload(d, content, tokens.bearer(step))
                self.assertEqual((refused.status, refused['code']), (403, 'forbidden'))
                self.assertIn('scope fmu', refused['detail'])
                made = fmus.upload(d, content, tokens.bearer(one))
                self.assertEqual(made.status, 201, made)
                self.assertEqual(made['owner'], 'one')
                # other tokens make instances of it, and do not delete it
                path = '/v1/fmus/' + made['id']
                i = d.call('POST', '/v1/instances', {'fmu': made['id']}, tokens.bearer(step))
                self.assertEqual(i.status, 201, i)
                refused = d.call('DELETE', path, None, tokens.bearer(other))
                self.assertEqual(refused['code'], 'forbidden')
                self.assertEqual(fmus.upload(d, content, tokens.bearer(one)).status, 201)
                full = fmus.upload(d, content, tokens.bearer(one))
                self.assertEqual((full.status, full['code']), (429, 'quota-exceeded'))
                self.assertIn('fmus', full['detail'])
                self.assertEqual(d.call('DELETE', path, None, tokens.bearer(admin)).status, 204)

                def used():
                    return d.call('GET', '/v1/quota', None, tokens.bearer(one))['used']['fmus']
                # it counts until its instance is deleted
                self.assertEqual(used(), 2)
                self.assertEqual(fmus.upload(d, content, tokens.bearer(one)).status, 429)
                gone = d.call('DELETE', '/v1/instances/' + i['id'], None, tokens.bearer(step))
                self.assertEqual(gone.status, 204)
                wait_until(lambda: used() == 1, 'the deleted FMU is charged no longer')
                big = fmus.archive(more=[('resources/big', os.urandom(2 << 20))])
                full = fmus.upload(d, big, tokens.bearer(one))
                self.assertEqual(full['code'], 'quota-exceeded')
                self.assertIn('fmu-bytes', full['detail'])


    def test_its_files_are_in_the_state_directory_and_go_with_it(self):
        with tempfile.TemporaryDirectory() as folder:
            state = ['--state', folder]
            bare = {'TMPDIR': ''}

            def left():
                return glob.glob(os.path.join(folder, 'mechd-fmu-*'))
            d = Daemon(*fmus.ON, *state, environment=bare)
            path = fmus.hosted(d, u=1)
            old = d.call('GET', '/v1/fmus')['items'][0]['id']
            self.assertEqual(len(left()), 1)
            hosting, = processes(d)
            d.process.kill()
            d.process.wait()
            wait_until(lambda: not os.path.exists('/proc/%d' % hosting), 'its process has ended')
            d.stop(check=False)
            self.assertEqual(len(left()), 1)
            # what a process that was killed has left is removed by the next one
            with Daemon(*fmus.ON, *state, environment=bare) as d:
                self.assertEqual(left(), [])
                self.assertEqual(d.call('GET', '/v1/fmus')['items'], [])
                self.assertEqual(d.call('GET', path).status, 404)
                fmus.hosted(d, u=1)
                self.assertEqual(len(left()), 1)
                # its id does not mean another one
                self.assertNotEqual(d.call('GET', '/v1/fmus')['items'][0]['id'], old)
                self.assertEqual(d.call('GET', '/v1/fmus/' + old).status, 404)
            self.assertEqual(left(), [])


class Instances(unittest.TestCase):
    def test_an_instance_steps_with_inputs_and_parameters(self):
        for version in (2, 3):
            with self.subTest(version), Daemon(*fmus.ON) as d:
                content = fmus.archive(version, fmus.VARIES if version == 2 else
                                       fmus.SAVES + ' ' + fmus.VARIES)
                path = fmus.hosted(d, content, gain=2, u=1)
                shown = d.call('GET', path)
                self.assertEqual(shown['engine'], 'fmu')
                self.assertEqual(shown['stepSize'], 0.1)
                self.assertEqual(shown['durability'], 'none')
                self.assertEqual(shown['inputs'], ['u'])
                self.assertEqual(shown['outputs'], ['y'])
                self.assertEqual(shown['parameters'], ['gain', 'mood'])
                self.assertEqual(d.call('GET', path + '/outputs')['outputs'], {'y': 2})
                reply = d.call('POST', path + '/step', {'size': 0.2, 'inputs': {'u': 3}})
                self.assertEqual(reply.status, 200, reply)
                self.assertAlmostEqual(reply['outputs']['y'], 2 * (3 + 0.6), 12)
                self.assertEqual(reply['report']['steps'], 2)
                self.assertEqual(d.call('GET', path + '/inputs')['inputs'], {'u': 3})
                self.assertEqual(d.call('PUT', path + '/parameters', {'gain': 1}).status, 200)
                reply = d.call('POST', path + '/step', {'until': 0.5})
                self.assertAlmostEqual(reply['outputs']['y'], 3 + 1.5, 12)
                refused = d.call('PUT', path + '/parameters', {'gain': 101})
                self.assertEqual(refused.status, 422)
                self.assertEqual(refused['errors'][0]['pointer'], '/parameters/gain')
                self.assertEqual(d.call('POST', path + '/reset').status, 200)
                self.assertEqual(d.call('GET', path + '/outputs')['outputs'], {'y': 2})
                self.assertEqual(d.call('DELETE', path).status, 204)

    def test_start_values_and_other_members_are_checked(self):
        with Daemon(*fmus.ON) as d:
            fid = fmus.upload(d, fmus.archive())['id']
            for body, pointer in (({'start': {'gain': 101}}, '/start/gain'),
                                  ({'start': {'gain': [1]}}, '/start/gain'),
                                  ({'start': {'mood': 0.5}}, '/start/mood'),
                                  ({'start': {'gian': 1}}, '/start/gian'),
                                  ({'durability': 'every-step'}, '/durability'),
                                  ({'example': 'mass1d'}, '')):
                refused = d.call('POST', '/v1/instances', {'fmu': fid, **body})
                self.assertEqual((refused.status, refused['code']), (422, 'invalid-request'),
                                 refused)
                self.assertEqual(refused['errors'][0]['pointer'], pointer)
            refused = d.call('POST', '/v1/instances', {'example': 'mass1d', 'start': {}})
            self.assertEqual(refused['errors'][0]['pointer'], '/start')
            self.assertEqual(d.call('POST', '/v1/instances', {'fmu': 'f-9'})['code'], 'not-found')

    def test_a_start_value_that_the_fmu_refuses_is_refused_with_its_reason(self):
        with Daemon(*fmus.ON) as d:
            fid = fmus.upload(d, fmus.archive())['id']
            # the description has no minimum, the FMU has one
            refused = d.call('POST', '/v1/instances', {'fmu': fid, 'start': {'gain': -1}})
            self.assertEqual((refused.status, refused['code']), (422, 'fmu-failed'), refused)
            self.assertIn('fmi3SetFloat64', refused['detail'])
            self.assertEqual(d.call('GET', '/v1/instances')['items'], [])
            wait_until(lambda: not processes(d), 'its process has ended')

    def test_a_reset_that_fails_leaves_the_instance_as_it_was(self):
        with tempfile.TemporaryDirectory() as folder, \
                Daemon(*fmus.ON, environment={'TMPDIR': folder}) as d:
            path = fmus.hosted(d, u=1)
            before = d.call('POST', path + '/step', {'size': 0.5})['outputs']
            library, = glob.glob(os.path.join(folder, '*', '**', '*.so'), recursive=True)
            os.unlink(library)
            refused = d.call('POST', path + '/reset')
            self.assertEqual((refused.status, refused['code']), (422, 'fmu-failed'), refused)
            self.assertIn('controller.so', refused['detail'])
            shown = d.call('GET', path)
            self.assertEqual((shown['time'], shown['step']), (0.5, 5))
            self.assertEqual(d.call('GET', path + '/outputs')['outputs'], before)
            self.assertEqual(d.call('POST', path + '/step', {'size': 0.5}).status, 200)

    def test_what_needs_a_model_is_refused(self):
        with Daemon(*fmus.ON) as d:
            path = fmus.hosted(d)
            for method, rest, body in (('GET', '/state', None), ('GET', '/scene', None),
                                       ('POST', '/statics', {}), ('GET', '/modes', None),
                                       ('GET', '/linearization', None), ('GET', '/model', None),
                                       ('GET', '/hash', None), ('POST', '/clone', {}),
                                       ('GET', '/system', None), ('GET', '/contacts', None)):
                refused = d.call(method, path + rest, body)
                self.assertEqual((refused.status, refused['code']), (422, 'invalid-request'),
                                 '%s %s' % (rest, refused))
                self.assertIn('not a model of the solver', refused['detail'])
            for body in ({'want': ['events']}, {'forces': {'a': 1}}, {'earlyReturn': True},
                         {'inputSignals': {'u': {'polynomial': [1]}}}):
                refused = d.call('POST', path + '/step', {'size': 0.1, **body})
                self.assertEqual(refused['code'], 'invalid-request', refused)
            self.assertEqual(d.call('GET', path)['time'], 0)

    def test_the_jacobian_of_a_step_is_that_of_differences(self):
        with Daemon(*fmus.ON) as d:
            path = fmus.hosted(d, gain=2, u=1)
            body = {'size': 0.4, 'inputs': {'u': 3}, 'want': ['jacobian'], 'outputs': ['y']}
            trial = d.call('POST', path + '/step', {**body, 'commit': False})
            self.assertEqual(trial.status, 200, trial)
            done = d.call('POST', path + '/step', body)
            for reply in (trial, done):
                # y = gain (u + x), and x grows by u in each second
                self.assertAlmostEqual(reply['outputs']['y'], 2 * (3 + 0.4 * 3), 12)
                found = reply['jacobian']
                self.assertEqual((found['inputs'], found['outputs']), (['u'], ['y']))
                self.assertAlmostEqual(found['matrix'][0][0], 2 * 1.4, 8)
                self.assertIs(found['differenced'], True)
                self.assertEqual((found['kinked'], found['activeSet']), (False, []))
            self.assertEqual(d.call('GET', path)['time'], 0.4)
            refused = d.call('POST', fmus.hosted(d, fmus.archive(2, fmus.VARIES)) + '/step', body)
            self.assertEqual(refused['code'], 'invalid-request', refused)
            self.assertIn('cannot save its state', refused['detail'])

    def test_directional_derivatives_are_those_of_the_fmu(self):
        ask = {'direction': {'inputs': {'u': 3}}}
        with Daemon(*fmus.ON) as d:
            for version, ability in ((2, 'providesDirectionalDerivative'),
                                     (3, 'providesDirectionalDerivatives')):
                content = fmus.archive(version, '%s %s %s="true"' % (
                    fmus.SAVES if version == 3 else '', fmus.VARIES, ability))
                path, other = (fmus.hosted(d, content, gain=0.5, u=1) for _ in range(2))
                step = {'size': 0.5, 'inputs': {'u': 2}}
                for one in (path, other):
                    self.assertEqual(d.call('POST', one + '/step', step).status, 200)
                # of y = gain (u + x), with x held
                found = d.call('POST', path + '/derivatives', ask)
                self.assertEqual(found.json, {'time': 0.5, 'derivative': {'outputs': {'y': 1.5}},
                                              'kinked': False})
                for one in (path, other):
                    d.call('PUT', one + '/parameters', {'parameters': {'gain': 2}})
                found = d.call('POST', path + '/derivatives', ask)
                if version == 3:
                    self.assertEqual(found['derivative'], {'outputs': {'y': 6}})
                else:
                    # it would have to be passed to an FMU that cannot be put back
                    self.assertEqual((found.status, found['code']), (422, 'invalid-request'))
                    self.assertIn('only the next step passes to the FMU', str(found['errors']))
                # nothing has changed
                done = [d.call('POST', one + '/step', step).json for one in (path, other)]
                self.assertEqual(done[0]['outputs'], done[1]['outputs'])
            # a trial, of the one that saves its state, is not lost
            trial = d.call('POST', path + '/step', {**step, 'commit': False})
            refused = d.call('POST', path + '/derivatives', ask)
            self.assertEqual(refused['code'], 'invalid-request', refused)
            self.assertIn('at the end of a trial step', str(refused['errors']))
            kept = d.call('POST', path + '/commit', {'trial': trial['trial']})
            self.assertEqual(kept.status, 200, kept)
            self.assertEqual(d.call('POST', path + '/derivatives', ask).status, 200)

    def test_derivatives_that_an_fmu_does_not_have_are_refused_with_their_place(self):
        with Daemon(*fmus.ON) as d:
            ask = {'direction': {'inputs': {'u': 3}}}
            path = fmus.hosted(d, fmus.archive(3, 'providesDirectionalDerivatives="true"'))
            for body, pointer in (({**ask, 'at': {'time': 1}}, '/at'), ({'rates': True}, '/rates'),
                                  ({'seed': {'outputs': {'y': 1}}}, '/seed'),
                                  ({'direction': {'q': [1]}}, '/direction/q'),
                                  ({'direction': {'inputs': {'none': 1}}},
                                   '/direction/inputs/none'),
                                  ({'direction': {'inputs': {'u': [1, 2]}}},
                                   '/direction/inputs/u'), ({}, ''), ({'direction': {}}, '')):
                refused = d.call('POST', path + '/derivatives', body)
                self.assertEqual((refused.status, refused['code']), (422, 'invalid-request'))
                self.assertIn(pointer, [e['pointer'] for e in refused['errors']])
            refused = d.call('POST', fmus.hosted(d) + '/derivatives', ask)
            self.assertIn('provides no directional derivatives', str(refused['errors']))

    def test_adjoint_derivatives_are_those_of_the_fmu(self):
        ask = {'seed': {'outputs': {'y': 3}}}
        with Daemon(*fmus.ON) as d:
            path = fmus.hosted(d, fmus.archive(3, ' '.join((
                fmus.VARIES, fmus.SAVES, 'maxOutputDerivativeOrder="1"',
                'providesDirectionalDerivatives="true"',
                'providesAdjointDerivatives="true"'))), gain=0.5)
            # of y = gain (u + x), with x held
            found = d.call('POST', path + '/derivatives', ask)
            self.assertEqual(found.json, {'time': 0, 'sensitivity': {'inputs': {'u': 1.5}},
                                          'kinked': False})
            d.call('POST', path + '/step', {'size': 0.5, 'inputs': {'u': 2}})
            d.call('PUT', path + '/parameters', {'parameters': {'gain': 2}})
            found = d.call('POST', path + '/derivatives', {
                **ask, 'rates': True, 'direction': {'inputs': {'u': 4}}})
            # rates are those at the end of the step
            self.assertEqual(found.json, {
                'time': 0.5, 'kinked': False, 'sensitivity': {'inputs': {'u': 6}},
                'derivative': {'outputs': {'y': 8}}, 'rates': {'y': 1}})
            for body, pointer in (({'seed': {'outputs': {'none': 1}}}, '/seed/outputs/none'),
                                  ({'seed': {'qdot': [1]}}, '/seed/qdot'),
                                  ({'seed': {}, 'rates': True}, '')):
                refused = d.call('POST', path + '/derivatives', body)
                self.assertEqual((refused.status, refused['code']), (422, 'invalid-request'))
                self.assertIn(pointer, [e['pointer'] for e in refused['errors']])

    def test_derivatives_of_outputs_are_those_of_the_fmu(self):
        want = {'size': 0.5, 'want': ['derivatives']}
        with Daemon(*fmus.ON) as d:
            for version in (2, 3):
                path = fmus.hosted(d, fmus.archive(version, '%s maxOutputDerivativeOrder="1"' % (
                    fmus.VARIES if version == 2 else fmus.SAVES + ' ' + fmus.VARIES)), u=3, gain=2)
                refused = d.call('POST', path + '/derivatives', {'rates': True})
                self.assertEqual((refused.status, refused['code']), (422, 'invalid-request'))
                self.assertIn('before a step', str(refused.json))
                # of y = gain (u + x), x' = u
                done = d.call('POST', path + '/step', want)
                self.assertEqual(done['derivatives'], {'y': 6}, done)
                found = d.call('POST', path + '/derivatives', {'rates': True})
                self.assertEqual(found['rates'], {'y': 6}, found)
                if version == 3:
                    trial = d.call('POST', path + '/step', {**want, 'inputs': {'u': 1},
                                                            'commit': False})
                    self.assertEqual(trial['derivatives'], {'y': 2})
                    found = d.call('POST', path + '/derivatives', {'rates': True})
                    self.assertEqual(found['rates'], {'y': 6})
                    kept = d.call('POST', path + '/snapshots', {})['id']
                    d.call('POST', path + '/step', {**want, 'inputs': {'u': 1}})
                    d.call('POST', '%s/snapshots/%s/restore' % (path, kept))
                    found = d.call('POST', path + '/derivatives', {'rates': True})
                    self.assertEqual(found['rates'], {'y': 6})
            # one that has none, and one that does not compute them
            done = d.call('POST', fmus.hosted(d) + '/step', want)
            self.assertIsNone(done['derivatives'])
            d.call('PUT', path + '/parameters', {'parameters': {'mood': SHORT}})
            self.assertIsNone(d.call('POST', path + '/step', want)['derivatives'])
            with Partner(d, path.rsplit('/', 1)[1], ['u'], ['y'],
                         want=['derivatives']) as partner:
                self.assertTrue(math.isnan(partner.step(0.5, [3])['values'][1]))

    def test_inputs_over_a_step_are_followed_or_refused(self):
        ramp = {'inputSignals': {'u': {'polynomial': [1, 2]}}}
        samples = {'inputSignals': {'u': {'samples': {'times': [0, 1], 'values': [1, 3]}}}}
        with Daemon(*fmus.ON) as d:
            for version, ability in ((2, 'canInterpolateInputs'),
                                     (3, fmus.SAVES + ' providesIntermediateUpdate')):
                path = fmus.hosted(d, fmus.archive(version, '%s %s="true"' % (fmus.VARIES,
                                                                              ability)))
                done = d.call('POST', path + '/step', {'size': 1, **ramp})
                self.assertEqual(done.status, 200, done)
                # x has grown by the integral of 1 + 2 t, and u is 3 at the end; of 3.0 u is that of
                # the middle of the last quarter of the last of ten steps
                last = 3 if version == 2 else 3 - 2 * 0.1 / 8
                self.assertAlmostEqual(done['outputs']['y'], last + 2, 12)
                held = d.call('GET', path + '/inputs')
                self.assertAlmostEqual(held['inputs']['u'], 3, 12)
                done = d.call('POST', path + '/step', {'size': 1, **samples})
                if version == 3:
                    self.assertAlmostEqual(done['outputs']['y'], last + 4, 12)
                else:
                    self.assertEqual((done.status, done['code']), (422, 'invalid-request'), done)
                    self.assertEqual([e['pointer'] for e in done['errors']], ['/inputSignals/u'])
                    self.assertIn('interpolates only polynomials', done['errors'][0]['message'])
            refused = d.call('POST', fmus.hosted(d) + '/step', {'size': 1, **ramp})
            self.assertEqual((refused.status, refused['code']), (422, 'invalid-request'), refused)
            self.assertIn('providesIntermediateUpdate', str(refused.json))

    def test_trials_and_snapshots_of_an_fmu_that_saves_its_state(self):
        with Daemon(*fmus.ON) as d:
            path = fmus.hosted(d, u=1)
            step = {'size': 0.5}
            d.call('POST', path + '/step', step)
            taken = d.call('POST', path + '/snapshots')
            self.assertEqual(taken.status, 201, taken)
            trial = d.call('POST', path + '/step', {**step, 'commit': False})
            self.assertAlmostEqual(trial['outputs']['y'], 2, 12)
            self.assertEqual(d.call('GET', path)['time'], 0.5)
            done = d.call('POST', path + '/commit', {'trial': trial['trial']})
            self.assertEqual(done.status, 200, done)
            d.call('POST', path + '/step', {**step, 'inputs': {'u': 5}})
            back = d.call('POST', '%s/snapshots/%s/restore' % (path, taken['id']))
            self.assertEqual(back.status, 200, back)
            self.assertEqual(back['time'], 0.5)
            self.assertAlmostEqual(d.call('GET', path + '/outputs')['outputs']['y'], 1.5, 12)
            again = d.call('POST', path + '/step', step)
            self.assertAlmostEqual(again['outputs']['y'], 2, 12)

    def test_they_are_refused_of_one_that_does_not(self):
        with Daemon(*fmus.ON) as d:
            path = fmus.hosted(d, fmus.archive(2, ''))
            refused = d.call('POST', path + '/step', {'size': 0.1, 'commit': False})
            self.assertEqual(refused['code'], 'invalid-request')
            self.assertIn('cannot save its state', refused['detail'])
            refused = d.call('POST', path + '/snapshots')
            self.assertIn('cannot save its state', refused['detail'])
            refused = d.call('POST', path + '/step', {'size': 0.15})
            self.assertIn('only by multiples', refused['detail'])
            refused = d.call('POST', '/v1/couplings', {
                'participants': [{'name': 'a', 'instance': path.split('/')[-1]}],
                'connections': [], 'scheme': {'type': 'Jacobi'}, 'stepSize': 0.1})
            self.assertEqual(refused.status, 422)
            self.assertIn('cannot save its state', str(refused.json))
            self.assertEqual(d.call('POST', path + '/step', {'size': 0.2}).status, 200)

    def test_it_runs_with_recorded_outputs(self):
        with Daemon(*fmus.ON) as d:
            path = fmus.hosted(d, u=1)
            run = d.call('POST', path + '/runs', {'until': 1, 'period': 0.1, 'record': {}})
            self.assertEqual(run.status, 202, run)
            at = '%s/runs/%s' % (path, run['id'])
            wait_until(lambda: d.call('GET', at)['state'] == 'finished', 'the run is over')
            rows = d.call('GET', at + '/results').json['rows']
            self.assertEqual(len(rows), 11)
            self.assertAlmostEqual(rows[-1][0], 1, 12)
            self.assertAlmostEqual(rows[-1][1], 2, 12)

    def test_a_run_reports_that_its_stop_has_ended_the_fmu(self):
        with Daemon(*fmus.ON) as d:
            for abilities in (fmus.VARIES, fmus.SAVES + ' ' + fmus.VARIES):
                path = fmus.hosted(d, fmus.archive(3, abilities), u=1)
                hosting, = processes(d)
                run = d.call('POST', path + '/runs', {'until': 1e6, 'period': 0.1})
                d.call('PUT', path + '/parameters', {'mood': fmus.LOOPS})
                before = ticks(hosting)
                wait_until(lambda: ticks(hosting) > before + 10, 'the FMU is in its step')
                stopped = d.call('DELETE', '%s/runs/%s' % (path, run['id']))
                self.assertEqual(stopped['state'], 'stopped', stopped)
                if abilities == fmus.VARIES:
                    self.assertIn('was ended; reset starts it again', stopped['reason'])
                else:
                    self.assertNotIn('reason', stopped.json)
                shown = d.call('GET', '%s/runs/%s' % (path, run['id']))
                self.assertEqual(shown.json.get('reason'), stopped.json.get('reason'))
                d.call('PUT', path + '/parameters', {'mood': 0})
                done = d.call('POST', path + '/step', {'size': 0.1})
                self.assertEqual(done.status, 422 if abilities == fmus.VARIES else 200, done)

    def test_a_stop_that_is_refused_ends_no_fmu(self):
        """One that cannot be put back, in the middle of its step."""
        with Daemon(*fmus.ON, '--fmu-seconds', '86400') as d:
            path = fmus.hosted(d, fmus.archive(3, fmus.VARIES), u=1)
            hosting, = processes(d)
            own = {'Lease': str(d.call('POST', path + '/lease', {'role': 'owner'})['lease'])}
            run = d.call('POST', path + '/runs', {'until': 1e6, 'period': 0.1}, own)
            at = '%s/runs/%s' % (path, run['id'])
            d.call('PUT', path + '/parameters', {'mood': fmus.LOOPS}, own)
            before = ticks(hosting)
            wait_until(lambda: ticks(hosting) > before + 10, 'the FMU is in its step')
            for headers, code in 10 * [({}, 'foreign-lease'), ({'Lease': '1'}, 'foreign-lease'),
                                       ({**own, 'If-Match': '"1-1"'}, 'revision-mismatch')]:
                self.assertEqual(d.call('DELETE', at, headers=headers)['code'], code)
            before = ticks(hosting)
            wait_until(lambda: ticks(hosting) > before + 10, 'it is still in its step')
            self.assertEqual(processes(d), [hosting])
            stopped = d.call('DELETE', at, headers={**own, 'If-Match': '*'})
            self.assertEqual(stopped['state'], 'stopped', stopped)
            self.assertIn('was ended', stopped['reason'])

    def test_its_fmu_may_be_deleted_while_it_lives(self):
        with Daemon(*fmus.ON) as d:
            path = fmus.hosted(d, u=1)
            one, = d.call('GET', '/v1/fmus')['items']
            self.assertEqual(d.call('DELETE', '/v1/fmus/' + one['id']).status, 204)
            self.assertEqual(d.call('POST', path + '/step', {'size': 0.5}).status, 200)
            self.assertEqual(d.call('POST', path + '/reset').status, 200)
            self.assertEqual(len(processes(d)), 1)
            d.call('DELETE', path)
            wait_until(lambda: not processes(d), 'its process has ended')


class Faults(unittest.TestCase):
    def test_a_fault_ends_that_instance_alone(self):
        with Daemon(*fmus.ON) as d:
            neighbour = fmus.hosted(d, u=1)
            for mood, part in ((fmus.CRASHES, ''), (fmus.ABORTS, 'abort'), (fmus.EXITS, 'code'),
                               (fmus.BABBLES, 'invalid answer')):
                path = fmus.hosted(d, u=1)
                d.call('POST', path + '/step', {'size': 0.5})
                taken = d.call('POST', path + '/snapshots')['id']
                d.call('PUT', path + '/parameters', {'mood': mood})
                for _ in range(2):
                    failed = d.call('POST', path + '/step', {'size': 0.5})
                    self.assertEqual((failed.status, failed['code']), (422, 'fmu-failed'), failed)
                    self.assertIn(part, failed['detail'])
                self.assertEqual(d.call('GET', path)['time'], 0.5)
                back = d.call('POST', '%s/snapshots/%s/restore' % (path, taken))
                self.assertEqual(back.status, 200, back)
                self.assertEqual(d.call('POST', path + '/step', {'size': 0.5}).status, 200)
                self.assertEqual(d.call('POST', neighbour + '/step', {'size': 0.1}).status, 200)

    def test_what_it_may_not_do_fails_and_is_undone(self):
        with Daemon(*fmus.ON) as d:
            path = fmus.hosted(d, u=1)
            for mood in (fmus.DISCARDS, fmus.WRITES, fmus.READS, fmus.FORKS, fmus.CONNECTS):
                d.call('PUT', path + '/parameters', {'mood': mood})
                failed = d.call('POST', path + '/step', {'size': 0.5})
                self.assertEqual(failed['code'], 'fmu-failed')
                self.assertIn('fmi3DoStep returned status', failed['detail'])
            d.call('PUT', path + '/parameters', {'mood': 0})
            done = d.call('POST', path + '/step', {'size': 0.5})
            self.assertAlmostEqual(done['outputs']['y'], 1.5, 12)

    def test_an_endless_step_ends_in_time_or_by_a_stop(self):
        with Daemon(*fmus.ON, '--fmu-seconds', str(int(3 * SLOW))) as d:
            path = fmus.hosted(d, u=1)
            d.call('PUT', path + '/parameters', {'mood': fmus.LOOPS})
            failed = d.call('POST', path + '/step', {'size': 0.5})
            self.assertEqual(failed['code'], 'fmu-failed')
            self.assertIn('did not answer', failed['detail'])
        with Daemon(*fmus.ON) as d:
            path = fmus.hosted(d, u=1)
            self.stop_an_endless_step(d, path)
            self.assertEqual(d.call('POST', path + '/step', {'size': 0.5}).status, 200)

    def stop_an_endless_step(self, d, path):
        """Of the only instance; its answer."""
        d.call('PUT', path + '/parameters', {'mood': fmus.LOOPS})
        hosting, = processes(d)
        before = ticks(hosting)
        background = d.call('POST', path + '/step', {'size': 0.5}, {'Prefer': 'respond-async'})
        self.assertEqual(background.status, 202, background)
        # the list does not wait for the step, as the instance itself does; busy is also what waits
        busy = lambda: d.call('GET', '/v1/instances')['items'][0]['busy']  # noqa: E731
        wait_until(lambda: ticks(hosting) > before + 10, 'the FMU is in its step')
        self.assertIs(busy(), True)
        self.assertLess(d.call('POST', path + '/stop').status, 300)
        wait_until(lambda: not busy(), 'the step has ended')
        answer = d.call('GET', background.headers['Location'])['answer']
        self.assertEqual(answer['code'], 'cancelled', answer)
        self.assertEqual(d.call('GET', path)['time'], 0)
        d.call('PUT', path + '/parameters', {'mood': 0})
        return answer

    def test_one_that_cannot_be_put_back_says_that_it_has_ended_by_a_quota(self):
        with Daemon(*fmus.ON, '--quota', 'step-cpu=%g' % (0.3 * SLOW)) as d:
            path = fmus.hosted(d, fmus.archive(2, fmus.VARIES), u=1)
            d.call('PUT', path + '/parameters', {'mood': fmus.LOOPS})
            refused = d.call('POST', path + '/step', {'size': 0.5})
            self.assertEqual((refused.status, refused['code']), (429, 'quota-exceeded'), refused)
            self.assertIn('the quota step-cpu is', refused['detail'])
            self.assertIn('; reset starts it again', refused['detail'])

    def test_one_that_cannot_be_put_back_says_that_it_has_ended_by_a_stop(self):
        with Daemon(*fmus.ON) as d:
            path = fmus.hosted(d, fmus.archive(2, fmus.VARIES), u=1)
            answer = self.stop_an_endless_step(d, path)
            self.assertIn('was ended; reset starts it again', answer['detail'])
            refused = d.call('POST', path + '/step', {'size': 0.5})
            self.assertEqual(refused['code'], 'fmu-failed', refused)
            self.assertIn('reset starts it again', refused['detail'])
            self.assertEqual(d.call('POST', path + '/reset').status, 200)
            self.assertEqual(d.call('POST', path + '/step', {'size': 0.5}).status, 200)


if __name__ == '__main__':
    unittest.main()
