"""libmechc through its example program, which knows only the public header and the shared library:
the same bits as over HTTP, the stream, refusals, and what the library exports."""
import ctypes
import json
import math
import os
import subprocess
import unittest
import unittest.mock
import harness
import mechc
import models
from harness import Daemon, Served
from mechc import REFUSED

H, STEPS = 0.01, 40


class Libmechc(Served):
    def example(self, instance, *outputs, name='force', mode=None, base=None):
        program = os.path.join(harness.BUILD, 'clients', 'c', 'mechc-example')
        environment = {**os.environ, **({mode: '1'} if mode else {})}
        return subprocess.run([program, base or self.daemon.base, instance, name, str(H),
                               str(STEPS)] +
                              list(outputs), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=60 * harness.SLOW, env=environment)

    def rows(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, '')
        return [[float(x) for x in line.split()] for line in done.stdout.split('\n') if line]

    def expected(self, first=0.0):
        """The same forces over HTTP: time, x and v after each step."""
        twin, rows = self.daemon.create(models.oscillator()), []
        for k in range(STEPS):
            force = 20 * math.sin(0.3 * k) if k > 0 else first
            reply = self.daemon.call('POST', '/v1/instances/%s/step' % twin,
                                     {'size': H, 'inputs': {'force': force}})
            rows.append([reply['time'], reply['outputs']['x'], reply['outputs']['v']])
        return rows

    def test_trials_and_commits_give_the_bits_of_http(self):
        rows = self.rows(self.example(self.daemon.create(models.oscillator()), 'x', 'v'))
        self.assertEqual(rows, self.expected())

    def test_outputs_come_in_the_order_that_was_asked_for(self):
        rows = self.rows(self.example(self.daemon.create(models.oscillator()), 'v', 'x'))
        self.assertEqual([[t, x, v] for t, v, x in rows], self.expected())

    def test_the_stream_sends_a_listener_the_same(self):
        rows = self.rows(self.example(self.daemon.create(models.oscillator()), mode='MECHC_FOLLOW'))
        self.assertEqual([row[:3] for row in rows], self.expected())

    def test_pushed_forces_act_from_their_time(self):
        done = self.example(self.daemon.create(models.oscillator()), 'x', 'v', mode='MECHC_PUSH')
        self.assertEqual(self.rows(done), self.expected(first=0.5))

    def test_a_unix_socket_serves_as_well(self):
        with Daemon('--listen', 'unix:http.sock') as daemon:
            base = 'unix:' + os.path.join(daemon.folder, 'http.sock')
            done = self.example(daemon.create(models.oscillator()), 'x', 'v', base=base)
            self.assertEqual(self.rows(done), self.expected())
            done = self.example('i-999', 'x', base=base)
            self.assertEqual((done.returncode, 'i-999' in done.stderr), (1, True), done.stderr)
        done = self.example('i-1', 'x', base='unix:/no/such/socket')
        self.assertEqual(done.returncode, 1)
        self.assertIn('/no/such/socket', done.stderr)

    def test_refusals_carry_their_reason(self):
        done = self.example('i-999', 'x')
        self.assertEqual(done.returncode, 1)
        self.assertIn('i-999', done.stderr)
        done = self.example(self.daemon.create(models.oscillator()), 'x', name='nothing')
        self.assertEqual(done.returncode, 1)
        self.assertIn('nothing', done.stderr)

    def test_a_text_is_one_value_and_keeps_its_lines_and_columns(self):
        handle, made = mechc.Handle(self.daemon.base), ctypes.create_string_buffer(72)
        self.addCleanup(handle.close)
        model = json.dumps(models.oscillator())

        def create(text):
            return handle.library.mechc_create(handle.at, text.encode(), made)
        # as some editors save it
        handle.check(create('\ufeff' + model))
        self.assertEqual(self.daemon.call('GET', '/v1/instances/' + made.value.decode()).status,
                         200)
        before = self.daemon.call('GET', '/v1/instances')['items']
        for text, place in ((model + ',"ttl":1,"labels":{"a":"b"}', None),
                            ('{"mechd": 1,\n  "nodes": nodes}', 'line 2, column 16'), ('', None)):
            with self.subTest(text=text):
                self.assertEqual(create(text), REFUSED)
                error = handle.library.mechc_last_error(handle.at).contents
                self.assertEqual((error.status, error.code),
                                 (400, b'malformed-json' if text else b'malformed-request'))
                self.assertIn(place or '', handle.said())
        self.assertEqual(self.daemon.call('GET', '/v1/instances')['items'], before)

    def test_a_lease_of_the_environment_is_a_number(self):
        for text, good in (('12', True), ('', True), ('12x', False), ('-1', False), (' 1', False),
                           ('0x10', False), ('99999999999999999999', False)):
            with self.subTest(text=text), unittest.mock.patch.dict(os.environ, MECHD_LEASE=text):
                if good:
                    mechc.Handle(self.daemon.base).close()
                    continue
                with self.assertRaisesRegex(RuntimeError, "MECHD_LEASE: '%s' is not the number" %
                                            text):
                    mechc.Handle(self.daemon.base)

    @unittest.skipIf(harness.COUNTED, 'counters of coverage have names of their own')
    def test_the_library_exports_its_own_names_only(self):
        library = os.path.join(harness.BUILD, 'clients', 'c', 'libmechc.so')
        text = subprocess.run(['nm', '-D', '--defined-only', library], stdout=subprocess.PIPE,
                              text=True, check=True).stdout
        names = [line.split()[-1] for line in text.splitlines()]
        names = [n for n in names if not n.startswith(('__asan', '__ubsan', '__sanitizer'))]
        with open(os.path.join(harness.ROOT, 'clients', 'c', 'mechc.h'), encoding='utf-8') as f:
            header = f.read()
        declared = harness.re.findall(r'\*?(mechc_\w+)\(', '\n'.join(
            part.split(';')[0] for part in header.split('MECHC_API ')[1:]))
        self.assertGreater(len(declared), 30)
        self.assertEqual(sorted(set(names)), sorted(set(declared)))


if __name__ == '__main__':
    unittest.main()
