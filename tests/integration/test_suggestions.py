"""A misspelled option, command, operation, route or example comes with what was meant."""
import os
import subprocess
import tempfile
import unittest
from harness import Served, ZmqDoor, program


def told(*command):
    """The exit code and what was said on standard error."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith('MECHD_')}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    return done.returncode, done.stderr


class Suggestions(Served):
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
                             (('step', '--untli', '1', 'i-1'), '--until')):
            code, text = told(*ctl, *words)
            self.assertEqual(code, 2, words)
            self.assertIn('did you mean %s?' % meant, text)
        code, text = told(*ctl, 'frobnicate')
        self.assertEqual((code, 'did you mean' in text), (2, False))

    def test_routes(self):
        i = self.daemon.create(example='mass1d')
        for path, meant in (('/v1/instances/%s/stpe' % i, '/v1/instances/{id}/step'),
                            ('/v1/instnaces/%s/outputs' % i, '/v1/instances/{id}/outputs'),
                            ('/v1/exampels', '/v1/examples'), ('/metric', '/metrics')):
            reply = self.daemon.call('GET', path)
            self.assertEqual((reply.status, reply['code']), (404, 'route-not-found'), path)
            self.assertTrue(reply['detail'].endswith('did you mean %s?' % meant), reply['detail'])
        for path in ('/v1/instances/%s/nothing' % i, '/v2', '/v1//', '/v1/' + 'x' * 500):
            reply = self.daemon.call('GET', path)
            self.assertEqual(reply.status, 404, path)
            self.assertNotIn(b'did you mean', reply.raw, path)

    def test_integrators(self):
        for given, told_so in (('GeneralisedAlpha', 'did you mean "GeneralizedAlpha"?'),
                               ('Midpoint!', 'GET /v1/types lists them')):
            model = {'mechd': 1, 'solver': {'integrator': given}}
            reply = self.daemon.call('POST', '/v1/models/check', {'model': model})
            self.assertEqual(reply.status, 422, reply)
            self.assertTrue(reply['errors'][0]['message'].endswith(told_so), reply)

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
