"""FMUs that connect to a server: the same bits as the server and as the FMU with the solver, how
they find the server, and what a server that is gone leaves."""
import contextlib
import ctypes
import io
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile
import fmu_steps
import harness
import importing
import models
import tokens
from fmu_steps import bits
from harness import SLOW, Daemon, program, wait_until
from importing import DOUBLE, SIZE, Refused, references
from proxied import PLAIN, TCP, Fmu, get, instances


@PLAIN
class ByPath(fmu_steps.Steps):
    """All that holds of the FMU with the solver, over a Unix socket."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix='mechd-lane-', dir='/tmp')
        cls.OPTIONS = ('--lane', 'unix:%s/s' % cls.folder.name)
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.folder.cleanup()

    def fmu(self, path, version):
        return Fmu(get(self.daemon, path, version))

    def test_two_versions_give_the_server_s_bits(self):
        before = instances(self.daemon)
        super().test_two_versions_give_the_server_s_bits()
        self.assertEqual(instances(self.daemon), before)


class Download(harness.Served):
    OPTIONS = TCP

    def setUp(self):
        self.path = '/v1/instances/' + self.daemon.create(models.oscillator())

    def test_it_holds_the_model_and_no_libraries(self):
        for version, folder in ((2, 'linux64'), (3, 'x86_64-linux')):
            with self.subTest(version=version):
                data = get(self.daemon, self.path, version)
                with zipfile.ZipFile(io.BytesIO(data)) as z:
                    names = z.namelist()
                    text = z.read('modelDescription.xml').decode()
                    table = z.read('resources/proxy.json').decode()
                self.assertIn('resources/model.json', names)
                self.assertNotIn('documentation/licenses/libraries.txt', names)
                if os.uname().machine == 'x86_64':
                    self.assertIn('binaries/%s/driven_oscillator.so' % folder, names)
                dll = 'binaries/%s/driven_oscillator.dll' % {
                    2: 'win64', 3: 'x86_64-windows'}[version]
                built = os.path.join(harness.BUILD, 'clients', 'fmu', 'mechd-proxy.dll')
                self.assertEqual(dll in names, os.path.exists(built))
                self.assertIn('name="proxy:server"', text)
                self.assertIn(self.daemon.info['lane'], text)
                self.assertIn(self.daemon.info['lane'], table)
                self.assertEqual(get(self.daemon, self.path, version), data)
                alone = get(self.daemon, self.path, version, 'standalone')
                with zipfile.ZipFile(io.BytesIO(alone)) as z:
                    self.assertNotIn('proxy', z.read('modelDescription.xml').decode())
                    self.assertNotIn('resources/proxy.json', z.namelist())

    @PLAIN
    def test_it_does_not_take_the_description_of_another(self):
        data = {kind: get(self.daemon, self.path, 3, kind) for kind in ('proxy', 'standalone')}
        token = {}
        for kind in data:
            with Fmu(data[kind]) as f:
                token[kind] = f.token
        self.assertNotEqual(token['proxy'], token['standalone'])
        with self.assertRaises(Refused) as refused:
            Other.own = token['standalone']
            Other(data['proxy'])
        self.assertIn('token', str(refused.exception))


class Other(Fmu):
    """With the token of another FMU."""
    own = b''

    def _instantiate(self):
        self.token = self.own
        return super()._instantiate()


class WithEvents(Fmu):
    """Of 3.0, with event mode and early return."""

    def _instantiate(self):
        self._log = importing.LOG_3(lambda _, status, category, text: self.messages.append(text))
        instantiate = self._library.fmi3InstantiateCoSimulation
        instantiate.restype = importing.POINTER
        return importing.POINTER(instantiate(
            b'one', self.token, os.path.join(self.folder, 'resources/').encode(), False, True, True,
            True, None, SIZE(0), None, self._log, None))

    def step_with_events(self, size):
        """(time reached, early, event) of a step out of the event mode and back."""
        event, terminate, early = [ctypes.c_bool() for _ in range(3)]
        last = DOUBLE()
        self.call('EnterStepMode')
        self.call('DoStep', DOUBLE(self.time), DOUBLE(size), False, ctypes.byref(event),
                  ctypes.byref(terminate), ctypes.byref(early), ctypes.byref(last))
        self.call('EnterEventMode')
        self.time = last.value
        return self.time, early.value, event.value


class WithUpdates(Fmu):
    """Of 3.0, with intermediate updates that set the load, read x and end steps early."""
    UPDATE = ctypes.CFUNCTYPE(None, importing.POINTER, DOUBLE, *[ctypes.c_bool] * 4,
                              ctypes.POINTER(ctypes.c_bool), ctypes.POINTER(DOUBLE))

    def _instantiate(self):
        self._log = importing.LOG_3(lambda _, status, category, text: self.messages.append(text))
        self._update, self.seen = self.UPDATE(self.update), []
        used = [self.variables['force'], self.variables['x']]
        instantiate = self._library.fmi3InstantiateCoSimulation
        instantiate.restype = importing.POINTER
        return importing.POINTER(instantiate(
            b'one', self.token, os.path.join(self.folder, 'resources/').encode(), False, True,
            False, True, references(used), SIZE(2), None, self._log, self._update))

    def update(self, _, time, may_set, may_get, over, may_return, early, wanted):
        self.seen.append((time, may_set, may_get, over, may_return,
                          self.get([self.variables['x']])[0]))
        if may_set:
            self.set({'force': 100 * time})
        if may_return and len(self.seen) % 7 == 0:
            early[0], wanted[0] = True, time


@PLAIN
class Alike(harness.Served):
    """Beside the FMU with the solver, call by call."""
    OPTIONS = TCP

    def pair(self, name, version):
        path = '/v1/instances/' + self.daemon.create(example=name)
        both = [Fmu(get(self.daemon, path, version, kind)) for kind in ('standalone', 'proxy')]
        self.daemon.call('DELETE', path)
        return both

    def same(self, both, what, *arguments):
        """The result of a method of both, which is the same."""
        a, b = (getattr(f, what)(*arguments) for f in both)
        if a is not None and not isinstance(a, tuple):
            self.assertEqual(bits(a), bits(b), what)
        return a, b

    def values(self, both):
        for f in both:
            f.all = [v for v in f.variables.values() if not v.name.startswith('proxy:')]
        a, b = (f.get(f.all) for f in both)
        self.assertEqual(bits(a), bits(b))

    def slopes(self, f, dice):
        """Derivatives of outputs by continuous inputs, along a direction, adjoint, and by time."""
        dice = random.Random(dice)
        inputs = [v for v in f.variables.values()
                  if v.causality == 'input' and v.variability == 'continuous']
        outputs, found = f.outputs(), []
        names = ('GetDirectionalDerivative', 'GetAdjointDerivative')
        for name in names[:1 if f.version == 2 else 2]:
            knowns, unknowns = (outputs, inputs) if 'Adjoint' in name else (inputs, outputs)
            n, m = sum(v.size for v in knowns), sum(v.size for v in unknowns)
            seed, out = (DOUBLE * n)(*[dice.uniform(-1, 1) for _ in range(n)]), (DOUBLE * m)()
            more = ((), ()) if f.version == 2 else ((SIZE(n),), (SIZE(m),))
            f.call(name, references(outputs), SIZE(len(outputs)), references(inputs),
                   SIZE(len(inputs)), seed, *more[0], out, *more[1])
            found += list(out)
        n = sum(v.size for v in outputs)
        orders, out = (ctypes.c_int32 * len(outputs))(*[1] * len(outputs)), (DOUBLE * n)()
        if f.version == 2:
            f.call('GetRealOutputDerivatives', references(outputs), SIZE(len(outputs)), orders, out)
        else:
            f.call('GetOutputDerivatives', references(outputs), SIZE(len(outputs)), orders, out,
                   SIZE(n))
        return found + list(out)

    def rates(self, f, dice):
        """FMI 2.0: derivatives of all continuous inputs."""
        dice = random.Random(dice)
        inputs = [v for v in f.variables.values()
                  if v.causality == 'input' and v.variability == 'continuous']
        n = len(inputs)
        f.call('SetRealInputDerivatives', references(inputs), SIZE(n), (ctypes.c_int * n)(*[1] * n),
               (DOUBLE * n)(*[dice.uniform(-0.01, 0.01) for _ in range(n)]))

    def walk(self, name, version):
        dice = random.Random(name)
        with contextlib.ExitStack() as stack:
            both = [stack.enter_context(f) for f in self.pair(name, version)]
            self.assertEqual(len(instances(self.daemon)), 0)
            for f in both:
                f.initialize({v.name: 1.01 * x for v, x in self.starts(f)})
            self.assertEqual(len(instances(self.daemon)), 1)
            self.values(both)
            saved = self.same(both, 'save')
            for n in range(100):
                size = both[0].step_size * dice.choice((1, 2, dice.uniform(0.1, 3)))
                given = {v.name: [dice.uniform(-0.1, 0.1) for _ in range(v.size)]
                         for v in both[0].variables.values()
                         if v.causality == 'input' and v.variability == 'continuous'}
                if dice.random() < 0.3:
                    self.same(both, 'set', given)
                if version == 2 and dice.random() < 0.3:
                    for f, seed in zip(both, [n, n]):
                        self.rates(f, seed)
                self.same(both, 'step', size)
                self.values(both)
                if dice.random() < 0.1:
                    self.assertEqual(bits(self.slopes(both[0], n)), bits(self.slopes(both[1], n)))
                if dice.random() < 0.1:
                    for f, s in zip(both, saved):
                        f.restore(s)
                    self.values(both)
                if dice.random() < 0.1:
                    self.same(both, 'through_bytes')
                if n == 50:
                    for f in both:
                        f.set({v.name: 0.99 * x for v, x in self.starts(f)})
                    self.values(both)
            for f, s in zip(both, saved):
                f.forget(s)
            for f in both:
                f.call('Terminate')
                f.call('Reset')
                f.time = 0.0
                f.initialize()
                f.step(f.step_size)
            self.values(both)
        self.assertEqual(instances(self.daemon), [])

    def starts(self, f):
        """Tunable parameters with their starts."""
        root = importing.ElementTree.parse(os.path.join(f.folder, 'modelDescription.xml')).getroot()
        for e in root.find('ModelVariables'):
            if e.get('variability') == 'tunable':
                inner = e.find('Real') if f.version == 2 else e
                yield f.variables[e.get('name')], float(inner.get('start'))

    def test_all_calls_give_the_same(self):
        for name in ('driven-oscillator', 'slider-crank', 'robot-arm'):
            for version in (2, 3):
                with self.subTest(example=name, version=version):
                    self.walk(name, version)

    def test_parameters_of_the_initialization_shape_the_start(self):
        with contextlib.ExitStack() as stack:
            both = [stack.enter_context(f) for f in self.pair('slider-crank', 3)]
            for f in both:
                f.call('EnterInitializationMode', False, DOUBLE(0), DOUBLE(0), False, DOUBLE(0))
                f.before = f.save()
                f.set({v.name: 1.05 * x for v, x in self.starts(f)})
            self.values(both)
            self.assertEqual(len(instances(self.daemon)), 1)
            # that of the other parameters has another document
            for f in both:
                f.restore(f.before)
                f.forget(f.before)
            self.values(both)
            self.assertEqual(len(instances(self.daemon)), 1)
        self.assertEqual(instances(self.daemon), [])

    def test_a_value_that_no_model_has_is_discarded(self):
        with contextlib.ExitStack() as stack:
            both = [stack.enter_context(f) for f in self.pair('spring-mass-damper', 3)]
            for f in both:
                f.initialize()
                with self.assertRaises(Refused) as refused:
                    f.set({'m': 0.0})
                self.assertIn('SetFloat64: 2', str(refused.exception))
                self.assertTrue(f.messages)
                f.step(f.step_size)
            self.values(both)

    def test_events_end_steps_early(self):
        path = '/v1/instances/' + self.daemon.create(example='bouncing-ball')
        found = []
        for kind in ('standalone', 'proxy'):
            with WithEvents(get(self.daemon, path, 3, kind)) as f:
                f.initialize()
                steps = [f.step_with_events(0.5) for _ in range(8)]
                found.append((steps, bits(f.get(f.outputs())), f.messages))
        self.assertEqual(found[0], found[1])
        self.assertTrue([s for s in found[0][0] if s[1]])
        self.daemon.call('DELETE', path)

    def test_intermediate_updates_are_the_same(self):
        path = '/v1/instances/' + self.daemon.create(models.oscillator())
        found = []
        for kind in ('standalone', 'proxy'):
            with WithUpdates(get(self.daemon, path, 3, kind)) as f:
                f.initialize()
                ends = []
                for _ in range(10):
                    f.step(0.0045)
                    ends.append(f.time)
                found.append((ends, f.seen, f.messages))
        self.assertEqual(found[0], found[1])
        self.assertGreater(len(found[0][1]), 30)
        self.daemon.call('DELETE', path)

    def test_several_in_threads(self):
        path = '/v1/instances/' + self.daemon.create(example='slider-crank')
        data, found = get(self.daemon, path), []

        def work():
            with Fmu(data) as f, Fmu(data) as g:
                for one in (f, g):
                    one.initialize()
                for _ in range(50):
                    f.step(f.step_size)
                    g.step(g.step_size)
                found.append(bits(f.get(f.outputs()) + g.get(g.outputs())))
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(found), 4)
        self.assertEqual(len(set(found)), 1)
        self.daemon.call('DELETE', path)


@PLAIN
class Settings(unittest.TestCase):
    def setUp(self):
        self.daemon = self.enter(Daemon(*TCP))
        self.lane = self.daemon.info['lane']
        self.made = self.daemon.create(models.oscillator())
        self.data = get(self.daemon, '/v1/instances/' + self.made)

    def enter(self, context):
        value = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return value

    def refused(self, texts, word, data=None):
        with Fmu(data or self.data, texts) as f:
            with self.assertRaises(Refused) as refused:
                f.initialize()
            self.assertIn(word, str(refused.exception))

    def test_a_server_that_is_not_there_is_an_error(self):
        for version in (2, 3):
            data = get(self.daemon, '/v1/instances/' + self.made, version)
            self.refused({'proxy:server': 'tcp://127.0.0.1:1'}, 'tcp://127.0.0.1:1', data)
            self.refused({'proxy:server': 'unix:/tmp/no-such-socket'}, 'no-such-socket', data)
            self.refused({'proxy:server': 'http://127.0.0.1'}, 'not an address of a lane', data)
            self.refused({'proxy:timeout': 'long'}, 'proxy:timeout', data)

    def test_settings_are_read_and_set_before_the_initialization(self):
        for version in (2, 3):
            data = get(self.daemon, '/v1/instances/' + self.made, version)
            with Fmu(data, {'proxy:token': 'secret'}) as f:
                f.call(*(['EnterInitializationMode'] if version == 2 else
                         ['EnterInitializationMode', False, DOUBLE(0), DOUBLE(0), False,
                          DOUBLE(0)]))
                self.assertEqual(f.texts(['proxy:server', 'proxy:token', 'proxy:timeout']),
                                 [self.lane, '', '60'])
                f.set_texts({'proxy:timeout': '30'})
                f.call('ExitInitializationMode')
                f.step(0.01)
                with self.assertRaises(Refused):
                    f.set_texts({'proxy:server': ''})

    def test_a_token_comes_by_parameter_file_or_environment(self):
        token, line = tokens.make('importer', 'step')
        with tempfile.TemporaryDirectory(prefix='mechd-tokens-') as folder:
            listed, own = os.path.join(folder, 'tokens'), os.path.join(folder, 'own')
            for path, text in ((listed, line), (own, token + '\n')):
                with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), 'w',
                          encoding='utf-8') as f:
                    f.write(text)
            with Daemon(*TCP, '--tokens', listed) as d:
                head = tokens.bearer(token)
                made = d.call('POST', '/v1/instances', {'model': models.oscillator()}, head)
                data = get(d, '/v1/instances/' + made['id'], headers=head)
                with zipfile.ZipFile(io.BytesIO(data)) as z:
                    self.assertFalse([n for n in z.namelist() if token.encode() in z.read(n)])
                self.refused({}, 'token', data)
                self.refused({'proxy:token': token + 'x'}, 'token', data)
                self.refused({'proxy:tokenFile': os.path.join(folder, 'none')}, 'none', data)
                edited = os.path.join(folder, 'edited')

                def edit(content):
                    with open(edited, 'wb') as f:
                        f.write(content)
                for content, words in ((b'', 'no token in'), (b'\xef\xbb\xbf \n', 'no token in'),
                                       (token.encode('utf-16'), 'is UTF-16'),
                                       (token.encode('utf-16-be'), 'is UTF-16'),
                                       (token[:9].encode() + b'\xe2\x80\x8b' + token[9:].encode(),
                                        'character 10 of the token is U+200B')):
                    edit(content)
                    self.refused({'proxy:tokenFile': edited}, words, data)
                edit(b'\xef\xbb\xbf' + token.encode() + b'\r\nits name')
                for texts in ({'proxy:token': token}, {'proxy:tokenFile': own},
                              {'proxy:tokenFile': edited}):
                    with Fmu(data, texts) as f:
                        f.initialize()
                        f.step(0.01)
                        self.assertNotIn(token.encode(), b' '.join(f.messages))
                script = ('import sys, importing\n'
                          'f = importing.Fmu(open(sys.argv[1], "rb").read(), '
                          'texts={"proxy:server": ""})\n'
                          'with f:\n    f.initialize()\n    f.step(0.01)\n    print(f.time)\n')
                path = os.path.join(folder, 'one.fmu')
                with open(path, 'wb') as f:
                    f.write(data)
                out = subprocess.run(
                    [sys.executable, '-c', script, path], stdout=subprocess.PIPE, check=True,
                    cwd=os.path.dirname(os.path.abspath(__file__)),
                    env={**os.environ, 'MECHD_TOKEN': token, 'MECHD_LANE': d.info['lane']})
                self.assertEqual(out.stdout, b'0.01\n')


@PLAIN
class Lost(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon(*TCP)
        self.addCleanup(self.daemon.stop, check=False)
        self.data = get(self.daemon, '/v1/instances/' + self.daemon.create(models.oscillator()))

    def test_a_server_that_dies_is_an_error_with_a_message(self):
        with Fmu(self.data) as f, Daemon(*TCP) as other:
            f.initialize()
            f.step(0.01)
            saved = f.save()
            f.step(0.02)
            expected = f.get(f.outputs())
            os.kill(self.daemon.pid(), signal.SIGKILL)
            with self.assertRaises(Refused) as refused:
                f.step(0.02)
            self.assertIn('DoStep: 3', str(refused.exception))
            self.assertIn(self.daemon.info['lane'], str(refused.exception))
            with self.assertRaises(Refused) as refused:
                f.step(0.02)
            self.assertIn('not allowed in this state', str(refused.exception))
            # another server takes its place, and goes on from the saved state
            f.call('Reset')
            f.set_texts({'proxy:server': other.info['lane']})
            f.time = 0.0
            f.initialize()
            f.restore(saved)
            f.step(0.02)
            self.assertEqual(bits(f.get(f.outputs())), bits(expected))
            f.forget(saved)

    def test_a_server_that_does_not_answer_ends_a_call(self):
        with Fmu(self.data, {'proxy:timeout': '0.2'}) as f:
            f.initialize()
            os.kill(self.daemon.pid(), signal.SIGSTOP)
            os.waitpid(self.daemon.pid(), os.WUNTRACED)
            try:
                with self.assertRaises(Refused) as refused:
                    f.step(0.01)
                self.assertIn('no answer for 0.2 s', str(refused.exception))
            finally:
                os.kill(self.daemon.pid(), signal.SIGCONT)

    def test_an_idle_connection_is_opened_again(self):
        with Daemon(*TCP, '--idle-seconds', '1') as daemon:
            with Fmu(self.data, {'proxy:server': daemon.info['lane']}) as f:
                f.initialize()
                wait_until(lambda: harness.gauge(daemon, 'connections{socket="lane"}') == 0,
                           'the connection has been closed')
                f.step(0.01)
                self.assertEqual(f.time, 0.01)


@PLAIN
class OwnDaemon(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with Daemon() as d:
            cls.data = get(d, '/v1/instances/' + d.create(models.oscillator()))

    def children(self):
        path = '/proc/self/task/%d/children' % threading.get_native_id()
        with open(path, encoding='ascii') as f:
            return f.read().split()

    def test_it_starts_with_the_component_and_ends_with_it(self):
        before = self.children()
        with Fmu(self.data, {'proxy:daemon': program('mechd')}) as f:
            f.initialize()
            f.step(0.01)
            self.assertEqual(f.time, 0.01)
            self.assertEqual(len(self.children()), len(before) + 1)
        self.assertEqual(self.children(), before)

    def test_a_program_that_does_not_start_is_an_error(self):
        for path in ('/no/such/mechd', '/bin/false'):
            with Fmu(self.data, {'proxy:daemon': path}) as f:
                with self.assertRaises(Refused) as refused:
                    f.initialize()
                self.assertIn('%s has not started' % path, str(refused.exception))

    def test_it_ends_with_an_importer_that_is_killed(self):
        script = ('import sys, time, importing\n'
                  'f = importing.Fmu(open(sys.argv[1], "rb").read(), '
                  'texts={"proxy:daemon": sys.argv[2]})\n'
                  'f.initialize()\nf.step(0.01)\n'
                  'print(open("/proc/self/task/%d/children" % __import__("os").getpid()).read(), '
                  'flush=True)\n'
                  'sys.stdin.read()\n')
        with tempfile.NamedTemporaryFile(suffix='.fmu') as file:
            file.write(self.data)
            file.flush()
            p = subprocess.Popen([sys.executable, '-c', script, file.name, program('mechd')],
                                 cwd=os.path.dirname(os.path.abspath(__file__)),
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            try:
                guard = p.stdout.readline().split()[0].decode()
            finally:
                p.kill()
                p.wait(20 * SLOW)
                p.stdin.close()
                p.stdout.close()
            wait_until(lambda: not os.path.exists('/proc/%s' % guard), 'the daemon has ended')


if __name__ == '__main__':
    unittest.main()
