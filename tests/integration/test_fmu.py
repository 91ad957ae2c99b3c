"""FMUs of models: what is downloaded, and that an importer steps them to the same bits as the
server does."""
import hashlib
import io
import os
import unittest
import zipfile
import fmu_steps
import harness
import models
from harness import Served


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
                               ('?kind=large', '/kind')):
            with self.subTest(query=query):
                reply = self.get(query, 422)
                self.assertEqual(reply.json['code'], 'invalid-request')
                self.assertEqual([e['pointer'] for e in reply.json['errors']], [pointer])
        self.assertIn('proxy', self.get('?kind=large', 422).json['errors'][0]['message'])
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
class Stepped(fmu_steps.Steps):
    """The importer beside the server."""


if __name__ == '__main__':
    unittest.main()
