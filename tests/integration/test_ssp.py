"""System structure packages: FMUs that become instances and their coupling, all or nothing."""
import os
import tempfile
import unittest

import fmus
import harness
import ssps
import tokens
from harness import Daemon


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
        refused = self.daemon.call('POST', '/v1/couplings?window=1', {})
        self.assertIn('/window', [e['pointer'] for e in refused['errors']])

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
            self.assertRegex(d.log(), 'fmu-uploaded fmu=f-1 ')

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


if __name__ == '__main__':
    unittest.main()
