"""FMUs of models: what is downloaded, and that an importer steps them to the same bits as the
server does."""
import hashlib
import io
import os
import random
import re
import struct
import unittest
import zipfile
import harness
import models
from harness import Served
from importing import Fmu

# linear, with joints, with impacts, with friction, flexible
EXAMPLES = ('spring-mass-damper', 'slider-crank', 'bouncing-ball', 'tilted-table',
            'flexible-cantilever')
STEPS = 1000


def bits(numbers):
    return struct.pack('<%dd' % len(numbers), *numbers)


class Download(Served):
    def setUp(self):
        self.path = '/v1/instances/' + self.daemon.create(models.oscillator())

    def get(self, query='', status=200):
        reply = self.daemon.call('GET', self.path + '/fmu' + query)
        self.assertEqual(reply.status, status, reply)
        return reply

    def test_it_is_an_archive_with_a_name_and_a_tag(self):
        for query, folder in (('', 'x86_64-linux'), ('?version=3', 'x86_64-linux'),
                              ('?version=2&kind=standalone', 'linux64')):
            with self.subTest(query=query):
                reply = self.get(query)
                self.assertEqual(reply.headers['Content-Type'], 'application/vnd.fmi')
                self.assertRegex(reply.headers['ETag'], r'^"fmu\.[0-9a-f]{16}"$')
                self.assertEqual(reply.headers['Content-Disposition'],
                                 'attachment; filename="driven_oscillator.fmu"')
                with zipfile.ZipFile(io.BytesIO(reply.raw)) as z:
                    self.assertIsNone(z.testzip())
                    names = z.namelist()
                self.assertIn('modelDescription.xml', names)
                self.assertIn('resources/model.json', names)
                self.assertIn('documentation/index.html', names)
                self.assertIn('documentation/licenses/libraries.txt', names)
                if os.uname().machine == 'x86_64':
                    self.assertIn('binaries/%s/driven_oscillator.so' % folder, names)

    def test_the_same_model_gives_the_same_bytes(self):
        first = self.get()
        other = '/v1/instances/' + self.daemon.create(models.oscillator())
        self.daemon.call('POST', self.path + '/step', {'size': 0.01})
        for path in (self.path, other):
            again = self.daemon.call('GET', path + '/fmu')
            self.assertEqual(hashlib.sha256(again.raw).digest(),
                             hashlib.sha256(first.raw).digest())
            self.assertEqual(again.headers['ETag'], first.headers['ETag'])
        two = self.get('?version=2')
        self.assertNotEqual(two.headers['ETag'], first.headers['ETag'])

    def test_what_there_is_not_is_refused(self):
        missing = self.daemon.call('GET', '/v1/instances/none/fmu')
        self.assertEqual((missing.status, missing.json['code']), (404, 'instance-not-found'))
        for query, pointer in (('?version=1', '/version'), ('?version=3.0', '/version'),
                               ('?kind=proxy', '/kind'), ('?kind=large', '/kind')):
            with self.subTest(query=query):
                reply = self.get(query, 422)
                self.assertEqual(reply.json['code'], 'invalid-request')
                self.assertEqual([e['pointer'] for e in reply.json['errors']], [pointer])
        self.assertIn('standalone', self.get('?kind=proxy', 422).json['errors'][0]['message'])
        self.get('?compressed=yes', 400)

    def test_a_model_that_has_no_start_any_more_is_refused(self):
        model = models.clutch('TrapezoidalIndex2', masses=(1, 1), speeds=(0, 1), level=False,
                              markers=['ground', 'x1'], active=False, offset=0.25)
        model['markers'].append({'name': 'ground', 'type': 'MarkerGroundCoordinate'})
        self.path = '/v1/instances/' + self.daemon.create(model)
        self.get()
        reply = self.daemon.call('PUT', self.path + '/objects/clutch/fields/active',
                                 {'value': True, 'positions': 'assembled'})
        self.assertEqual(reply.status, 200, reply)
        reply = self.get('', 422)
        self.assertEqual(reply.json['code'], 'invalid-model')


@unittest.skipIf(harness.SANITIZED, 'a sanitizer must be there before the FMU is loaded')
class Stepped(Served):
    """The importer beside the server."""

    def fmu(self, path, version):
        return Fmu(self.daemon.call('GET', '%s/fmu?version=%d' % (path, version)).raw)

    def call(self, method, path, body=None):
        reply = self.daemon.call(method, path, body)
        self.assertLess(reply.status, 300, reply)
        return reply.json

    def outputs(self, f, reply):
        """Bits of the FMU's outputs, and of the server's in the same order."""
        expected = []
        for v in f.outputs():
            name, element, part = re.fullmatch(r'(?:output:)?([^\[:]+)(?:\[(\d+)\])?(?::(\d))?',
                                               v.name).groups()
            value = reply['outputs'][name]
            value = value if isinstance(value, list) else [value]
            if element is not None:
                value = [value[int(element) - 1]]
            elif part is not None:
                value = value[(int(part) - 1) * v.size:int(part) * v.size]
            expected += value
        return bits(f.get(f.outputs())), bits([float(x) for x in expected])

    def inputs(self, f, dice):
        """Random loads as both take them, small enough for the flexible one."""
        both = {}, {}
        for v in f.variables.values():
            if v.causality != 'input' or v.variability != 'continuous':
                continue
            name = re.sub(r'\[\d+\]$', '', v.name)
            value = [dice.uniform(-0.1, 0.1) for _ in range(v.size)]
            both[0][v.name] = value
            both[1].setdefault(name, []).extend(value)
        return both[0], {n: v if len(v) > 1 else v[0] for n, v in both[1].items()}

    def walk(self, name, version):
        dice = random.Random('%s %d' % (name, version))
        path = '/v1/instances/' + self.call('POST', '/v1/instances', {'example': name})['id']
        saved = kept = None
        counts = {'restored': 0, 'bytes': 0}
        with self.fmu(path, version) as f:
            f.initialize()
            for n in range(STEPS):
                if n % 97 == 0:
                    if saved is not None:
                        f.forget(saved)
                        self.call('DELETE', '%s/snapshots/%s' % (path, kept))
                    saved, kept = f.save(), self.call('POST', path + '/snapshots')['id']
                if dice.random() < 0.02:
                    f.restore(saved)
                    self.call('POST', '%s/snapshots/%s/restore' % (path, kept))
                    counts['restored'] += 1
                if dice.random() < 0.02:
                    f.through_bytes()
                    counts['bytes'] += 1
                mine, theirs = self.inputs(f, dice) if dice.random() < 0.2 else ({}, {})
                size = f.step_size * dice.choice((1, 2, 0.5, dice.uniform(0.1, 3)))
                f.set(mine)
                f.step(size)
                reply = self.call('POST', path + '/step', {'size': size, 'inputs': theirs})
                self.assertEqual(bits([f.time]), bits([reply['time']]), n)
                mine, theirs = self.outputs(f, reply)
                self.assertEqual(mine, theirs, (name, version, n))
            f.forget(saved)
        self.assertGreater(min(counts.values()), 5, counts)
        self.call('DELETE', path)

    def test_reference_results_are_repeated(self):
        path = '/v1/instances/' + self.call('POST', '/v1/instances', {'example': 'four-bar'})['id']
        for version in (2, 3):
            with self.fmu(path, version) as f:
                place = os.path.join(f.folder, 'extra', 'org.fmi-standard.fmi-ls-ref')
                with open(os.path.join(place, 'results.csv'), encoding='utf-8') as lines:
                    rows = [[float(x) for x in line.split(',')] for line in list(lines)[1:]]
                f.initialize()
                self.assertEqual(len(rows), 101)
                for n, row in enumerate(rows):
                    if n > 0:
                        f.step(10 * f.step_size)
                    self.assertEqual(bits([f.time] + f.get(f.outputs())), bits(row), n)

    def test_two_versions_give_the_server_s_bits(self):
        for name in EXAMPLES:
            for version in (2, 3):
                with self.subTest(example=name, version=version):
                    self.walk(name, version)


if __name__ == '__main__':
    unittest.main()
