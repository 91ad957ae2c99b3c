"""System structure packages: FMUs that become instances and their coupling, all or nothing; and
couplings that become packages."""
import concurrent.futures
import contextlib
import hashlib
import io
import os
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
import zipfile

import fmus
import harness
import ssps
import tokens
from coupled import K, K12, OSCILLATORS, half
from harness import Daemon
from package import mechd

SSD, SSV, SSC = ('{%s%s}' % (ssps.SPACE, name)
                 for name in ('Description', 'ParameterValues', 'Common'))


def nothing_is_left(test, daemon, headers=None):
    for path in ('/v1/instances', '/v1/couplings', '/v1/fmus'):
        test.assertEqual(daemon.call('GET', path, None, headers)['items'], [], path)


class Reading(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(*fmus.ON)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def tearDown(self):
        for name in ('couplings', 'instances'):
            for item in self.daemon.call('GET', '/v1/' + name)['items']:
                self.daemon.call('DELETE', '/v1/%s/%s' % (name, item['id']))

    def good(self, content, query=''):
        made = ssps.upload(self.daemon, content, query)
        self.assertEqual(made.status, 201, made)
        return made

    def step(self, made, **body):
        reply = self.daemon.call('POST', '/v1/couplings/%s/step' % made['id'], body)
        self.assertEqual(reply.status, 200, reply)
        return reply

    def test_fmus_become_instances_and_their_coupling(self):
        made = self.good(ssps.package(ssps.PAIR))
        self.assertEqual(made.headers['Location'], '/v1/couplings/' + made['id'])
        self.assertEqual((made['name'], made['scheme'], made['stepSize']), ('pair', 'Jacobi', 0.1))
        names = {p['name']: p['instance'] for p in made['participants']}
        self.assertEqual(list(names), ['a', 'b'])
        for instance in names.values():
            shown = self.daemon.call('GET', '/v1/instances/' + instance)
            self.assertEqual(shown['engine'], 'fmu')
        parameters = self.daemon.call('GET', '/v1/instances/%s/parameters' % names['a'])
        self.assertEqual(parameters['parameters']['gain'], 0.5)
        # a: 0.5 (1 + x); b takes 2 a.y + 0.25 of the start of a window over it
        outputs = self.step(made, count=2)['outputs']
        first, second = 2 * 0.5 + 0.25, 2 * 0.6 + 0.25
        self.assertAlmostEqual(outputs['a.y'], 0.6, 14)
        self.assertAlmostEqual(outputs['b.y'], 0.5 * (second - 0.1 + 0.1 * (first + second - 0.1)),
                               14)

    def test_the_query_gives_scheme_and_windows(self):
        made = self.good(ssps.package(ssps.PAIR), '?window=0.05&type=GaussSeidel')
        self.assertEqual((made['scheme'], made['stepSize']), ('GaussSeidel', 0.05))
        for query, pointer in (('?window=0', '/window'), ('?type=Unknown', '/scheme/type')):
            refused = ssps.upload(self.daemon, ssps.package(ssps.PAIR), query)
            self.assertEqual(refused['code'], 'invalid-request', refused)
            self.assertIn(pointer, [e['pointer'] for e in refused['errors']])

    def test_a_query_without_a_coupling_is_refused_as_what_it_is(self):
        without = self.daemon.call('POST', '/v1/couplings')
        for query in ('?type=Jacobi', '?window=0.1'):
            refused = self.daemon.call('POST', '/v1/couplings' + query)
            self.assertEqual((refused.status, refused['code']), (without.status, without['code']))
        for refused in (ssps.upload(self.daemon, ssps.package(ssps.PAIR), '?type=%ff'),
                        self.daemon.call('POST', '/v1/couplings?type=%ff', {'participants': []})):
            self.assertEqual((refused.status, refused['code']), (422, 'invalid-request'), refused)
            self.assertIn('/scheme/type', [e['pointer'] for e in refused['errors']])

    def test_settings_that_are_no_object_are_refused(self):
        made = self.good(ssps.package(ssps.PAIR))
        content = self.daemon.call('GET', '/v1/couplings/%s/ssp' % made['id']).raw
        with zipfile.ZipFile(io.BytesIO(content)) as z:
            ssd = z.read('SystemStructure.ssd').decode()
            values = z.read('resources/parameters.ssv')
        ssd, count = re.subn('settings="[^"]*"', 'settings="[1]"', ssd)
        self.assertEqual(count, 1)
        refused = ssps.upload(self.daemon, ssps.package(
            ssd, [('resources/parameters.ssv', values)]))
        self.assertEqual((refused.status, refused['code']), (422, 'invalid-request'), refused)
        self.assertIn('must be an object', str(refused['errors']))

    def test_instances_go_on_without_the_coupling_and_nothing_stays_behind_them(self):
        with tempfile.TemporaryDirectory() as folder, \
                Daemon(*fmus.ON, environment={'TMPDIR': folder}) as d:
            made = ssps.upload(d, ssps.package(ssps.PAIR))
            self.assertEqual(made.status, 201, made)
            # one FMU, unpacked once, is not in the list
            self.assertEqual(d.call('GET', '/v1/fmus')['items'], [])
            self.assertEqual(len(os.listdir(folder)), 1)
            d.call('DELETE', '/v1/couplings/' + made['id'])
            for p in made['participants']:
                path = '/v1/instances/' + p['instance']
                self.assertEqual(d.call('POST', path + '/step', {'size': 0.1}).status, 200)
                self.assertEqual(d.call('DELETE', path).status, 204)
            harness.wait_until(lambda: os.listdir(folder) == [], 'the folder is removed')
            self.assertRegex(d.log(), r'fmu-uploaded fmu=f-%s-1 ' % harness.SERIES)

    def test_names_of_variables_may_have_brackets(self):
        variables = (fmus.VARIABLES[3].replace('name="u"', 'name="u[1]"')
                     .replace('name="y"', 'name="arm.y[1]"'))
        ssd = ssps.structure(
            (ssps.component('a') + ssps.component('b')).replace('name="u"', 'name="u[1]"')
            .replace('name="y"', 'name="arm.y[1]"'),
            '<ssd:Connection startElement="a" startConnector="arm.y[1]" endElement="b" '
            'endConnector="u[1]"/>')
        made = self.good(ssps.package(ssd, fmu=fmus.archive(variables=variables)))
        self.assertEqual(made['connections'], ['a.arm.y[1] -> b.u[1]'])

    def test_hosted_fmus_are_written_as_they_were_uploaded(self):
        fmu = fmus.archive()
        made = self.good(ssps.package(ssps.PAIR, fmu=fmu), '?type=GaussSeidel')
        a = made['participants'][0]['instance']
        content = self.daemon.call('GET', '/v1/couplings/%s/ssp' % made['id']).raw
        with zipfile.ZipFile(io.BytesIO(content)) as z:
            self.assertEqual(z.namelist(), ['SystemStructure.ssd', 'resources/parameters.ssv',
                                            'resources/controller.fmu'])
            self.assertEqual(z.read('resources/controller.fmu'), fmu)
            root = ElementTree.fromstring(z.read('resources/parameters.ssv'))
        # what is driven has no value of its own
        self.assertEqual({p.get('name'): (p[0].tag, p[0].get('value'))
                          for p in root.iter(SSV + 'Parameter')},
                         {'a.u': (SSV + 'Real', '1'), 'a.gain': (SSV + 'Real', '0.5'),
                          'a.mood': (SSV + 'Integer', '0'), 'b.gain': (SSV + 'Real', '0.5'),
                          'b.mood': (SSV + 'Integer', '0')})
        again = self.good(content)
        self.assertEqual(again['scheme'], 'GaussSeidel')
        self.assertEqual(self.step(again, count=7)['outputs'], self.step(made, count=7)['outputs'])
        self.assertNotEqual(again['participants'][0]['instance'], a)

    def test_uploaded_fmus_go_only_to_tokens_that_upload_some(self):
        read, line_read = tokens.make('eye', 'read')
        step, line_step = tokens.make('rig', 'step')
        fmu, line_fmu = tokens.make('lab', 'fmu')
        with tempfile.NamedTemporaryFile('w', suffix='.tokens') as file:
            file.write(line_read.strip() + '\n' + line_step.strip() + '\n' + line_fmu)
            file.flush()
            with Daemon(*fmus.ON, '--tokens', file.name) as d:
                made = ssps.upload(d, ssps.package(ssps.PAIR), '', tokens.bearer(fmu))
                path = '/v1/couplings/%s/ssp' % made['id']
                for token in (read, step):
                    refused = d.call('GET', path, None, tokens.bearer(token))
                    self.assertEqual((refused.status, refused['code']), (403, 'forbidden'))
                    self.assertIn('scope fmu', refused['detail'])
                self.assertEqual(d.call('GET', path, None, tokens.bearer(fmu)).status, 200)
                # one of models alone is for those that may read these
                model = d.call('POST', '/v1/instances', {'model': half(1., k=K)},
                               tokens.bearer(step))['id']
                alone = d.call('POST', '/v1/couplings', {
                    'participants': [{'name': 'left', 'instance': model}],
                    'connections': [], 'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01},
                               tokens.bearer(step))
                path = '/v1/couplings/%s/ssp' % alone['id']
                self.assertEqual(d.call('GET', path, None, tokens.bearer(read)).status, 200)

    def test_packages_that_are_none_leave_nothing(self):
        bad = fmus.archive(variables='<Float64 name="y"/>')
        good = ssps.package(ssps.PAIR)
        cases = (
            ('no archive', b'PK', ''),
            ('no structure', ssps.package(None), 'SystemStructure.ssd'),
            ('a path that leaves', ssps.package(ssps.PAIR, [('../out', b'x')]), '..'),
            ('no XML', ssps.package('<a'), 'SystemStructure.ssd'),
            ('a document type', ssps.package('<!DOCTYPE a []>' + ssps.PAIR[38:]), 'document type'),
            ('no FMU', ssps.package(ssps.structure(ssps.component('a', 'b.fmu'))), 'b.fmu'),
            ('a bad FMU', ssps.package(ssps.PAIR, fmu=bad), 'resources/controller.fmu'),
            ('a bomb', ssps.package(ssps.PAIR, [('resources/zeros', bytes(64 << 20))]), ''),
            ('no such element',
             ssps.package(ssps.structure(ssps.component('a'), ssps.connection('a.y', 'b.u'))), 'b'),
            ('a value beyond its limits',
             ssps.package(ssps.structure(ssps.component('a', inside=ssps.values(gain=1e3)))),
             'gain'),
            ('cut', good[:len(good) // 2], ''))
        for what, content, part in cases:
            with self.subTest(what=what):
                refused = ssps.upload(self.daemon, content)
                self.assertIn(refused['code'], ('invalid-request', 'invalid-fmu'), refused)
                self.assertIn(part, str(refused.json))
                nothing_is_left(self, self.daemon)

    def test_fmus_that_expand_to_much_more_than_the_package_leave_nothing(self):
        out = io.BytesIO(fmus.archive())
        with zipfile.ZipFile(out, 'a', zipfile.ZIP_DEFLATED) as z:
            z.writestr(zipfile.ZipInfo('resources/stored'), bytes(1 << 16))
            z.writestr('resources/zeros', bytes(10 << 20))
        # by itself it is within the limits of an archive, and so is the package without it
        alone = fmus.upload(self.daemon, out.getvalue())
        self.assertEqual(alone.status, 201, alone)
        self.daemon.call('DELETE', '/v1/fmus/' + alone['id'])
        refused = ssps.upload(self.daemon, ssps.package(ssps.PAIR, fmu=out.getvalue()))
        self.assertEqual((refused.status, refused['code']), (422, 'invalid-request'), refused)
        self.assertEqual(refused['errors'][0]['pointer'], '/resources/controller.fmu')
        self.assertIn('expand to more than', refused['errors'][0]['message'])
        nothing_is_left(self, self.daemon)

    def test_a_key_belongs_to_one_query(self):
        key, content = {'Idempotency-Key': 'window'}, ssps.package(ssps.PAIR)
        first = ssps.upload(self.daemon, content, '?window=0.05', key)
        self.assertEqual(first.status, 201, first)
        again = ssps.upload(self.daemon, content, '?window=0.05', key)
        self.assertEqual((again.status, again.raw), (201, first.raw))
        for query in ('', '?window=0.1', '?window=0.05&type=Jacobi'):
            refused = ssps.upload(self.daemon, content, query, key)
            self.assertEqual((refused.status, refused['code']), (422, 'key-reused'), refused)

    def test_long_names_of_variables_are_written_whole(self):
        long = 'u' * 500
        ssd = ssps.structure(ssps.component('a').replace('name="u"', 'name="%s"' % long))
        made = self.good(ssps.package(ssd, fmu=fmus.archive(
            variables=fmus.VARIABLES[3].replace('name="u"', 'name="%s"' % long))))
        content = self.daemon.call('GET', '/v1/couplings/%s/ssp' % made['id']).raw
        with zipfile.ZipFile(io.BytesIO(content)) as z:
            root = ElementTree.fromstring(z.read('resources/parameters.ssv'))
        self.assertIn('a.' + long, [p.get('name') for p in root.iter(SSV + 'Parameter')])

    def test_an_fmu_that_fails_at_its_start_leaves_nothing(self):
        ssd = ssps.structure(ssps.component('a') + ssps.component('b', inside=ssps.values(
            mood=float(fmus.CRASHES))), ssps.connection('a.y', 'b.u'))
        # it crashes in its first step: the coupling is there, and the step is undone
        made = self.good(ssps.package(ssd))
        failed = self.daemon.call('POST', '/v1/couplings/%s/step' % made['id'], {'count': 1})
        self.assertEqual(failed['code'], 'fmu-failed', failed)
        # one that cannot save its state is in no coupling
        refused = ssps.upload(self.daemon, ssps.package(ssps.PAIR, fmu=fmus.archive(abilities='')))
        self.assertEqual(refused['code'], 'invalid-request', refused)
        self.assertIn('cannot save its state', str(refused.json))
        left = {i['id'] for i in self.daemon.call('GET', '/v1/instances')['items']}
        self.assertEqual(left, {p['instance'] for p in made['participants']})

    def test_one_whose_fmu_is_deleted_meanwhile_leaves_nothing(self):
        # the instance of the FMU is the last one of many
        content = ssps.package(ssps.structure(
            ''.join(ssps.component('a%d' % k) for k in range(40)) +
            ssps.component('b', 'resources/other.fmu')), [('resources/other.fmu', fmus.archive())])

        def couple():
            """While another client deletes the second FMU as soon as it is there."""
            with contextlib.closing(harness.Http(self.daemon.base)) as other, \
                    concurrent.futures.ThreadPoolExecutor() as pool:
                answer = pool.submit(ssps.upload, other, content)
                listed = []
                while len(listed) < 2 and not answer.done():
                    listed = self.daemon.call('GET', '/v1/fmus')['items']
                for item in listed[1:]:
                    self.daemon.call('DELETE', '/v1/fmus/' + item['id'])
                return answer.result()

        answer = couple()
        while answer.status == 201:  # too late
            self.daemon.call('DELETE', '/v1/couplings/' + answer['id'])
            for p in answer['participants']:
                self.daemon.call('DELETE', '/v1/instances/' + p['instance'])
            answer = couple()
        self.assertEqual(answer['code'], 'cancelled', answer)
        self.assertIn('component b: its FMU has been deleted meanwhile', answer['detail'])
        nothing_is_left(self, self.daemon)

    def test_a_coupling_that_cannot_start_leaves_nothing(self):
        # it holds its instances already when it finds them at different times
        late = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(fmus.archive())) as z, zipfile.ZipFile(late, 'w') as to:
            for name in z.namelist():
                to.writestr(name, z.read(name).replace(b'startTime="0"', b'startTime="1"'))
        refused = ssps.upload(self.daemon, ssps.package(
            ssps.structure(ssps.component('a') + ssps.component('b', 'resources/late.fmu')),
            [('resources/late.fmu', late.getvalue())]))
        self.assertEqual(refused['code'], 'time-mismatch', refused)
        nothing_is_left(self, self.daemon)

    def test_what_another_client_has_coupled_meanwhile_remains(self):
        # of the first FMU one can be coupled; the others make the package a bad one, at its end
        names = ['a'] + ['b%d' % k for k in range(40)]
        content = ssps.package(ssps.structure(''.join(
            ssps.component(n, *(() if n == 'a' else ('resources/other.fmu',))) for n in names)),
                               [('resources/other.fmu', fmus.archive(abilities=''))])

        def listed():
            return [i['id'] for i in self.daemon.call('GET', '/v1/instances')['items']]

        def couple():
            """Of the first instance as soon as it is there; too late: None."""
            with contextlib.closing(harness.Http(self.daemon.base)) as other, \
                    concurrent.futures.ThreadPoolExecutor() as pool:
                refused = pool.submit(ssps.upload, other, content)
                made = None
                while made is None and not refused.done():
                    for i in listed()[:1]:
                        made = self.daemon.call('POST', '/v1/couplings', {
                            'participants': [{'name': 'a', 'instance': i}], 'connections': [],
                            'scheme': {'type': 'Jacobi'}, 'stepSize': 0.1})
                self.assertIn(refused.result().status, (409, 422), refused.result())
            return made if made is not None and made.status == 201 else None

        made = None
        while made is None:
            made = couple()
        self.assertEqual(listed(), [made['participants'][0]['instance']])
        self.step(made, count=1)

    def test_quotas_and_scopes_hold_for_all_of_it(self):
        step, line_step = tokens.make('rig', 'step')
        few, line_few = tokens.make('few', 'fmu')
        none, line_none = tokens.make('none', 'fmu')
        with tempfile.NamedTemporaryFile('w', suffix='.tokens') as file:
            file.write('%s\n%s instances=1\n%s fmu-bytes=1KiB\n'
                       % (line_step.strip(), line_few.strip(), line_none.strip()))
            file.flush()
            with Daemon(*fmus.ON, '--tokens', file.name) as d:
                for token, code in ((step, 'forbidden'), (few, 'quota-exceeded'),
                                    (none, 'quota-exceeded')):
                    refused = ssps.upload(d, ssps.package(ssps.PAIR), '', tokens.bearer(token))
                    self.assertEqual(refused['code'], code, refused)
                    nothing_is_left(self, d, tokens.bearer(token))

                def used():
                    told = d.call('GET', '/v1/quota', None, tokens.bearer(few))['used']
                    return [told[name] for name in ('instances', 'fmus', 'fmu-bytes')]
                harness.wait_until(lambda: used() == [0, 0, 0], 'nothing is charged')
        with Daemon() as d:
            refused = ssps.upload(d, ssps.package(ssps.PAIR))
            self.assertEqual((refused.status, refused['code']), (403, 'forbidden'))


class Writing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def couple(self, models, connections=OSCILLATORS, scheme='GaussSeidel', **more):
        made = [self.daemon.create(model) for model in models]
        reply = self.daemon.call('POST', '/v1/couplings', {
            'name': 'two halves', 'participants': [
                {'name': name, 'instance': i} for name, i in zip(('left', 'right'), made)],
            'connections': connections, 'scheme': {'type': scheme}, 'stepSize': 0.01, **more})
        self.assertEqual(reply.status, 201, reply)
        return made, '/v1/couplings/' + reply['id']

    def oscillators(self, **more):
        return self.couple((half(1., k=K + K12), half(0., k=K + K12)), **more)

    def package(self, path):
        reply = self.daemon.call('GET', path + '/ssp')
        self.assertEqual(reply.status, 200, reply)
        return reply

    def again(self, content, **steps):
        """The last outputs of the package's coupling on a daemon of its own."""
        with Daemon(*fmus.ON) as other:
            made = ssps.upload(other, content)
            self.assertEqual(made.status, 201, made)
            done = other.call('POST', '/v1/couplings/%s/step' % made['id'], steps)
            self.assertEqual(done.status, 200, done)
            return made, done['outputs']

    def test_a_package_gives_the_same_digits_on_another_server(self):
        _, path = self.oscillators()
        content = self.package(path).raw
        here = self.daemon.call('POST', path + '/step', {'count': 100})['outputs']
        made, there = self.again(content, count=100)
        self.assertEqual((made['name'], made['scheme'], made['stepSize']),
                         ('two halves', 'GaussSeidel', 0.01))
        self.assertEqual(there, here)
        self.assertNotEqual(here['left.x'], 1)

    def test_inputs_that_vary_over_a_window_vary_within_the_steps_of_its_fmus(self):
        # they hold other numbers for the same lines: what rounds is different
        for hold in (1, 2):
            _, path = self.oscillators(scheme='Jacobi', hold=hold)
            content = self.package(path).raw
            here = self.daemon.call('POST', path + '/step', {'count': 20})['outputs']
            for name, value in self.again(content, count=20)[1].items():
                self.assertAlmostEqual(value, here[name], 11, name)

    def test_parameters_and_free_inputs_are_those_of_now(self):
        model = half(1., k=K)
        model['parameters'] = {'mass': 1.}
        model['objects'][0]['physicsMass'] = '=mass'
        made, path = self.couple((model, half(0., k=K)), [
            {'from': 'left.x', 'to': 'right.F', 'factor': K12, 'offset': 0.5}], 'Jacobi')
        self.daemon.call('DELETE', path)
        for what, body in (('parameters', {'mass': 3.}), ('inputs', {'F': 7.})):
            reply = self.daemon.call('PUT', '/v1/instances/%s/%s' % (made[0], what), body)
            self.assertEqual(reply.status, 200, reply)
        body = {'participants': [{'name': 'left', 'instance': made[0]},
                                 {'name': 'right', 'instance': made[1]}],
                'connections': [{'from': 'left.x', 'to': 'right.F', 'factor': K12, 'offset': 0.5}],
                'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01}
        path = '/v1/couplings/' + self.daemon.call('POST', '/v1/couplings', body)['id']
        content = self.package(path).raw
        with zipfile.ZipFile(io.BytesIO(content)) as z:
            root = ElementTree.fromstring(z.read('resources/parameters.ssv'))
        given = {p.get('name'): float(p.find(SSV + 'Real').get('value'))
                 for p in root.iter(SSV + 'Parameter')}
        self.assertEqual(given, {'left.F': 7, 'left.mass': 3})
        here = self.daemon.call('POST', path + '/step', {'count': 50})['outputs']
        self.assertEqual(self.again(content, count=50)[1], here)

    def test_vectors_are_connected_number_by_number(self):
        model = {'mechd': 1,
                 'nodes': [{'name': 'n', 'type': 'NodePoint', 'initialVelocities': [1, 2, 3]}],
                 'objects': [{'name': 'm', 'type': 'MassPoint', 'node': 'n', 'physicsMass': 1}],
                 'sensors': [{'name': 's', 'type': 'SensorNode', 'node': 'n',
                              'outputVariable': 'Position'}],
                 'outputs': [{'name': 'place', 'sensor': 's'}]}
        _, path = self.couple((model, half(0., k=K)),
                              [{'from': 'left.place[1]', 'to': 'right.F', 'factor': 1}], 'Jacobi')
        content = self.package(path).raw
        here = self.daemon.call('POST', path + '/step', {'count': 20})['outputs']
        _, there = self.again(content, count=20)
        self.assertEqual(there['right.x'], here['right.x'])
        self.assertNotEqual(here['right.x'], 0)
        self.assertEqual([there['left.place[%d]' % k] for k in (1, 2, 3)], here['left.place'])

    def test_its_documents_are_those_of_the_standard(self):
        _, path = self.oscillators()
        reply = self.package(path)
        self.assertEqual(reply.headers['Content-Type'], 'application/x-ssp-package')
        self.assertEqual(reply.headers['Content-Disposition'],
                         'attachment; filename="two_halves.ssp"')
        with zipfile.ZipFile(io.BytesIO(reply.raw)) as z:
            self.assertIsNone(z.testzip())
            # methods and version that every reader has (section 3)
            for info in z.infolist():
                self.assertIn(info.compress_type, (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
                self.assertLessEqual(info.extract_version, 20)
            names = z.namelist()
            root = ElementTree.fromstring(z.read('SystemStructure.ssd'))
            sources = {c.get('source') for c in root.iter(SSD + 'Component')}
            described = {}
            for source in sources:
                self.assertIn(source, names)
                with zipfile.ZipFile(io.BytesIO(z.read(source))) as fmu:
                    self.assertIsNone(fmu.testzip())
                    described[source] = ElementTree.fromstring(fmu.read('modelDescription.xml'))
        # two models that differ in a number
        self.assertEqual(len(sources), 2)
        # order and attributes of the elements (section 5)
        self.assertEqual(root.tag, SSD + 'SystemStructureDescription')
        self.assertEqual((root.get('version'), root.get('name')), ('1.0', 'two halves'))
        self.assertEqual([e.tag for e in root],
                         [SSD + 'System', SSD + 'DefaultExperiment', SSD + 'Annotations'])
        self.assertEqual([e.tag for e in root.find(SSD + 'System')],
                         [SSD + 'ParameterBindings', SSD + 'Elements', SSD + 'Connections'])
        kinds = {}
        for c in root.iter(SSD + 'Component'):
            variables = {v.get('name'): v.get('causality') for v in
                         described[c.get('source')].iter('ScalarVariable')}
            for port in c.iter(SSD + 'Connector'):
                # the causality of the variable is the kind of the connector (section 5.3.2.1)
                self.assertEqual(variables[port.get('name')], port.get('kind'))
                kinds[c.get('name'), port.get('name')] = port.get('kind')
                self.assertEqual([e.tag for e in port], [SSC + 'Real'])
        links = [c.attrib for c in root.iter(SSD + 'Connection')]
        self.assertEqual(len(links), 2)
        for link in links:
            self.assertEqual(kinds[link['startElement'], link['startConnector']], 'output')
            self.assertEqual(kinds[link['endElement'], link['endConnector']], 'input')
        factors = [float(e.get('factor')) for e in root.iter(SSC + 'LinearTransformation')]
        self.assertEqual(factors, [K12, K12])

    def test_equal_models_share_an_fmu_and_two_packages_have_the_same_bytes(self):
        _, path = self.couple((half(1., k=K), half(1., k=K)))
        first = self.package(path)
        self.daemon.call('POST', path + '/step', {'count': 3})
        again = self.package(path)
        self.assertEqual(hashlib.sha256(again.raw).digest(), hashlib.sha256(first.raw).digest())
        with zipfile.ZipFile(io.BytesIO(first.raw)) as z:
            self.assertEqual(len([n for n in z.namelist() if n.endswith('.fmu')]), 1)

    def test_names_that_differ_in_case_alone_give_a_package_that_is_read(self):
        _, path = self.couple(({'name': 'Arm', **half(1., k=K)}, {'name': 'arm', **half(0., k=K)}))
        content = self.package(path).raw
        with zipfile.ZipFile(io.BytesIO(content)) as z:
            self.assertEqual([n for n in z.namelist() if n.endswith('.fmu')],
                             ['resources/Arm.fmu', 'resources/arm_2.fmu'])
        self.again(content, count=1)

    def test_what_a_structure_does_not_have_is_refused_by_name(self):
        self.assertEqual(self.daemon.call('GET', '/v1/couplings/c-0/ssp').status, 404)
        _, path = self.couple((half(1., k=K), half(1., k=K)), [
            {'from': 'left.x', 'to': 'right.F', 'factor': 1},
            {'from': 'left.v', 'to': 'right.F', 'factor': 1}], 'Jacobi')
        refused = self.daemon.call('GET', path + '/ssp')
        self.assertEqual((refused.status, refused['code']), (422, 'invalid-request'), refused)
        self.assertIn('right.F is the sum', refused['detail'])
        _, path = self.couple((half(1., k=K), half(1., k=K)), [], 'Energy', bonds=[
            {'name': 'rod', 'effort': ['left.F', 'right.F'], 'flow': ['left.v', 'right.v'],
             'law': {'stiffness': 100}}])
        refused = self.daemon.call('GET', path + '/ssp')
        self.assertIn('bond rod', refused['detail'])


class Clients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(*fmus.ON)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def pair(self):
        made = [self.daemon.create(half(float(k), k=K)) for k in range(2)]
        return self.daemon.call('POST', '/v1/couplings', {
            'participants': [{'name': name, 'instance': i} for name, i in zip('ab', made)],
            'connections': [{'from': 'a.x', 'to': 'b.F', 'factor': 1}],
            'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01})['id']

    def test_mechctl_writes_and_reads_packages(self):
        def mechctl(*arguments):
            return subprocess.run([harness.program('mechctl'), *arguments], text=True,
                                  capture_output=True, check=False,
                                  env={**os.environ, 'MECHD_SERVER': self.daemon.base})
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'drive.ssp')
            done = mechctl('ssp', self.pair(), '-o', path)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('%s: %d bytes' % (path, os.path.getsize(path)), done.stdout)
            done = mechctl('couple', path, '--window', '0.005', '--scheme', 'GaussSeidel')
            self.assertEqual(done.returncode, 0, done.stderr)
            made = self.daemon.call('GET', '/v1/couplings/' + done.stdout.strip())
            self.assertEqual((made['scheme'], made['stepSize']), ('GaussSeidel', 0.005))
            refused = mechctl('couple', '-', '--window', '1')
            self.assertEqual(refused.returncode, 2)
            self.assertIn('for packages', refused.stderr)
            self.assertEqual(mechctl('ssp', 'c-999').returncode, 1)

    def test_python_writes_and_reads_packages(self):
        with mechd.Server(self.daemon.base) as server, tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'drive.ssp')
            name = self.pair()
            pair = next(c for c in server.couplings() if c.id == name)
            data = pair.ssp(path)
            with open(path, 'rb') as file:
                self.assertEqual(file.read(), data)
            for package in (path, data):
                made = server.couple_package(package, window=0.02, scheme='GaussSeidel')
                self.assertEqual((made.scheme, made.step_size), ('GaussSeidel', 0.02))
                self.assertEqual(list(made.participants), ['a', 'b'])
            self.assertEqual(server.couple_package(data).step_size, 0.01)


if __name__ == '__main__':
    unittest.main()
