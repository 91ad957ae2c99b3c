"""mechctl against a running daemon: a user's session, output for scripts, errors and exit codes."""
import json
import os
import re
import signal
import subprocess
import unittest
import zipfile
import harness
import models
from harness import Daemon, HttpDoor, wait_until
from outside import Program
from proxy import Lossy

END = 20 * harness.SLOW  # s in which a program ends that has a reason to


class Mechctl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.door = HttpDoor(cls.daemon)
        cls.folder = cls.daemon.folder
        cls.model = os.path.join(cls.folder, 'model.json')
        with open(cls.model, 'w', encoding='utf-8') as f:
            json.dump(models.oscillator(), f)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def run_program(self, *arguments, server=None, stdout=subprocess.PIPE):
        environment = {**os.environ, 'MECHD_SERVER': server or self.daemon.base}
        return subprocess.run([harness.program('mechctl')] + [str(a) for a in arguments],
                              stdout=stdout, stderr=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL, timeout=60 * harness.SLOW,
                              env=environment)

    def good(self, *arguments):
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, 0, (arguments, done.stdout, done.stderr))
        self.assertNotIn('Sanitizer', done.stderr)
        return done.stdout

    def created(self):
        return self.good('create', self.model).split()[-1]

    def test_a_session(self):
        i = self.created()
        self.assertIn(i, self.good('list'))
        self.assertIn('driven oscillator', self.good('show', i))
        text = self.good('step', i, '--size', '0.01', 'force=20')
        self.assertIn('0.01', text)
        self.assertEqual(self.door.call('get-inputs', id=i)[1]['inputs']['force'], 20)
        self.good('set', i, 'force=1.5')
        self.assertIn('1.5', self.good('inputs', i))
        x = self.door.call('outputs', id=i)[1]['outputs']['x']
        self.assertIn(('%.4g' % x)[:5], self.good('outputs', i))
        self.good('reset', i)
        self.assertEqual(self.door.call('get-state', id=i)[1]['time'], 0)
        self.good('delete', i)
        self.assertEqual(self.door.call('instance', id=i)[0], 404)

    def test_instances_are_listed_by_their_labels(self):
        i = self.good('create', self.model, '--label', 'rig=a,old', '--ttl', '600').strip()
        other = self.created()
        shown = self.door.call('instance', id=i)[1]
        self.assertEqual((shown['labels'], shown['ttl']), ({'rig': 'a', 'old': ''}, 600))
        listed = self.good('list', '--label', 'rig=a')
        self.assertIn(i, listed)
        self.assertNotIn(other, listed)
        self.assertEqual(self.run_program('create', self.model, '--ttl', 'x').returncode, 2)
        for one in (i, other):
            self.good('delete', one)

    def test_partners_of_a_coupling_are_shown(self):
        path = os.path.join(self.folder, 'coupling.json')
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({'participants': [
                {'name': 'mass', 'instance': self.created()},
                {'name': 'rig', 'partner': {'inputs': ['u'], 'outputs': ['y'], 'patience': 60}}],
                'connections': [{'from': 'mass.x', 'to': 'rig.u'}], 'scheme': {'type': 'Jacobi'},
                'stepSize': 0.01}, f)
        cid = self.good('couple', path).strip()

        def shown():
            partner = json.loads(self.good('couplings', cid))['participants'][1]['partner']
            return partner['connected'], partner['window']
        self.assertEqual(shown(), (False, 0))
        with Program(self.daemon, cid, 'rig', lambda question: [0.]):
            self.good('couplings', cid, '--count', '3')
            self.assertEqual(shown(), (True, 3))
        self.good('couplings', cid, '--delete')

    def test_a_step_is_refused_unless_it_begins_at_the_time_that_is_expected(self):
        i, path = self.created(), os.path.join(self.folder, 'expected.json')
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({'participants': [{'name': 'mass', 'instance': self.created()}],
                       'connections': [], 'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01}, f)
        cid = self.good('couple', path).strip()
        for words in (('step', i), ('couplings', cid)):
            for size, time in (('0.01', '0'), ('0.02', '0.01')):
                self.good(*words, '--size', size, '--expect-time', time)
                again = self.run_program(*words, '--size', size, '--expect-time', time)
                self.assertEqual((again.returncode, again.stdout), (1, ''), words)
                self.assertIn('time-mismatch', again.stderr)
            wrong = self.run_program(*words, '--size', '1', '--expect-time', 'x')
            self.assertEqual(wrong.returncode, 2, wrong.stderr)
        self.assertEqual(self.run_program('step', i, '--repeat', '2', '--expect-time', '0.03')
                         .returncode, 2)
        self.assertEqual(self.door.call('get-state', id=i)[1]['time'], 0.03)
        self.assertEqual(json.loads(self.good('couplings', cid))['windows'], 3)
        self.good('couplings', cid, '--delete')

    def test_a_lease_is_taken_shown_and_given_up(self):
        i = self.created()
        self.assertIn('any client', self.good('lease', i))
        lease = self.good('lease', i, 'owner', '--name', 'rig', '--seconds', '30').strip()
        listed = self.good('lease', i)
        self.assertIn('rig', listed)
        self.assertNotIn(lease, listed)
        refused = self.run_program('step', i, '--count', '1')
        self.assertEqual(refused.returncode, 1)
        self.assertIn('held by rig', refused.stderr)
        self.good('step', i, '--count', '1', '--lease', lease)
        os.environ['MECHD_LEASE'] = lease
        self.addCleanup(os.environ.pop, 'MECHD_LEASE', None)
        self.good('step', i, '--count', '1')
        renewed = self.good('lease', i, '--renew', '--seconds', '5')
        self.assertEqual(json.loads(renewed)['seconds'], 5)
        self.good('lease', i, '--release')
        del os.environ['MECHD_LEASE']
        self.assertIn('any client', self.good('lease', i))
        self.good('lease', i, 'co-driver', 'force')
        self.assertIn('force', self.good('lease', i))
        self.good('lease', i, '--break', 'co-driver')
        self.assertEqual(self.run_program('lease', i, '--break', 'owner').returncode, 1)
        for wrong in (('lease', i, '--renew', '--release'), ('lease', i, 'owner', '--release'),
                      ('lease', i, '--lease', 'x')):
            self.assertEqual(self.run_program(*wrong).returncode, 2, wrong)
        self.good('delete', i)

    def test_analyses_and_live_fields(self):
        i = self.created()
        self.good('step', i, '--size', '0.05')
        self.good('field', i, 'spring', 'stiffness', '200')
        self.good('field', i, 'spring', 'stiffness', '=100+100')
        self.assertIn('value  20', self.good('field', i, 'F', 'load', '20', '--category', 'loads'))
        before = self.door.call('get-state', id=i)[1]
        shown = json.loads(self.good('--json', 'statics', i, '--show', '--load-steps', '2'))
        self.assertEqual(shown['report']['loadSteps'], 2)
        self.assertEqual(self.door.call('get-state', id=i)[1], before)
        self.good('statics', i)
        self.assertEqual(self.door.call('get-state', id=i)[1]['v'], [0])
        mode = json.loads(self.good('--json', 'modes', i, '--complex'))['modes'][0]
        self.assertIn(('%.4g' % mode['frequency'])[:5], self.good('modes', i, '--complex'))
        self.assertNotEqual(self.run_program('modes', i, '--count', '0').returncode, 0)
        self.assertNotEqual(self.run_program('field', i, 'spring', 'nothing', '1').returncode, 0)

    def test_the_descriptor_is_shown(self):
        i = self.created()
        self.assertIn('velocities', self.good('system', i))
        self.assertIn('shaft', self.good('system', i, 'blocks'))
        H = self.good('system', i, 'H', '--factors', '2,0.5,0')
        self.assertEqual(float(H), 2 * 1 + 0.5 * 100)
        self.assertEqual(json.loads(self.good('--json', 'system', i, 'K'))['rows'], [[100]])
        path = os.path.join(self.folder, 'K.mtx')
        self.good('system', i, 'K', '--format', 'mtx', '--output', path)
        with open(path, encoding='utf-8') as f:
            self.assertEqual(f.read().splitlines()[1:], ['1 1 1', '1 1 100'])
        self.assertNotEqual(self.run_program('system', i, 'Q').returncode, 0)
        self.assertIn('/level', self.run_program('system', i, '--level', 'x').stderr)

    def test_output_for_scripts(self):
        i = json.loads(self.good('--json', 'create', self.model))['id']
        reply = json.loads(self.good('--json', 'step', i, '--count', '5'))
        self.assertEqual(reply['step'], 5)
        reply = json.loads(self.good('--json', 'step', i, '--want', 'derivatives,jacobian'))
        self.assertEqual(set(reply['derivatives']), set(reply['jacobian']['outputs']))
        state = json.loads(self.good('--json', 'state', i))
        self.assertEqual(state, self.door.call('get-state', id=i)[1])
        names = [item['id'] for item in json.loads(self.good('--json', 'list'))['items']]
        self.assertIn(i, names)

    def test_snapshots_are_compared_and_put_into_another_instance(self):
        i, j = self.created(), self.created()
        self.good('snapshot', i)
        self.good('step', i, '--count', '10')
        self.good('snapshot', i)
        kept = json.loads(self.good('--json', 'snapshots', i))['items']
        self.assertEqual([s['parent'] for s in kept], [None, 's-1'])
        self.assertIn('PARENT', self.good('snapshots', i))
        found = self.good('compare', i, 's-1', 's-2')
        self.assertRegex(found, r'KIND +NAME')
        self.assertRegex(found, r'(?m)^velocity ')
        self.assertIn('no difference', self.good('compare', i, 's-1', 's-2', '--absolute', '1e9'))
        few = json.loads(self.good('--json', 'compare', i, 's-1', 's-2', '--most', '0'))
        self.assertEqual((few['items'], few['counts']['velocity'] > 0), ([], True))
        for wrong in (('s-1', 's-9'), ('s-1', 's-2', '--relative', 'x')):
            self.assertNotEqual(self.run_program('compare', i, *wrong).returncode, 0)
        path = os.path.join(self.folder, 'put.mechd')
        self.good('snapshot', i, '--save', path)
        self.good('restore', j, '--file', path)
        self.assertEqual(self.door.call('get-state', id=j)[1], self.door.call('get-state', id=i)[1])
        for wrong in ((), ('s-1', '--file', path)):
            self.assertEqual(self.run_program('restore', j, *wrong).returncode, 2)
        with open(path, 'ab') as f:
            f.write(b'more')
        refused = self.run_program('restore', j, '--file', path)
        self.assertEqual(refused.returncode, 1)
        self.assertIn('damaged', refused.stderr)

    def test_options_of_couplings_that_do_not_go_together_are_refused(self):
        for words, why in ((('c', '--trial'), 'needs --count'),
                           (('c', '--trial', '--reset'), 'needs --count'),
                           (('c', '--expect-time', 1, '--reset'), '--expect-time needs --count'),
                           (('c', '--reset', '--load', 'file'), 'one of --reset'),
                           (('c', '--commit', 1, '--count', 5), 'cannot be combined'),
                           (('c', '--commit', 1, '--trial'), 'cannot be combined'),
                           (('c', '--count', 5, '--until', 1), 'give one of --count'),
                           (('--reset',), 'needs the ID')):
            done = self.run_program('couplings', *words)
            self.assertEqual((done.returncode, done.stdout), (2, ''), words)
            self.assertIn(why, done.stderr)

    def test_trials_are_kept_and_one_is_committed(self):
        i = self.created()
        self.assertIn('--keep', self.good('trials', i))
        self.good('step', i, '--size', '0.01', '--trial')
        self.good('trials', i, '--keep', 'small')
        self.good('step', i, '--size', '0.02', '--trial')
        self.good('trials', i, '--keep', 'large')
        names = [t['name'] for t in json.loads(self.good('--json', 'trials', i))['items']]
        self.assertEqual(names, ['small', 'large'])
        self.good('trials', i, '--drop', 'large')
        self.assertEqual(self.run_program('commit', i, 'large').returncode, 1)
        self.good('commit', i, 'small')
        self.assertEqual(self.door.call('get-state', id=i)[1]['time'], 0.01)

    def test_a_model_is_written_as_an_fmu(self):
        i = self.created()
        path = os.path.join(self.folder, 'rig.fmu')
        for options, version in (((), b'3.0'), (('--version', '2'), b'2.0'),
                                 (('--version=2', '--kind', 'standalone'), b'2.0'),
                                 (('--kind', 'proxy'), b'3.0')):
            with self.subTest(options=options):
                self.assertIn(path, self.good('fmu', i, '-o', path, *options))
                with zipfile.ZipFile(path) as z:
                    self.assertIn(b'fmiVersion="%s"' % version, z.read('modelDescription.xml'))
                    self.assertEqual('proxy' in options, 'resources/proxy.json' in z.namelist())
                os.unlink(path)
        before = self.door.call('instances')[1]['items']
        self.good('fmu', 'slider-crank', '--output', path)
        with zipfile.ZipFile(path) as z:
            self.assertIn(b'modelIdentifier="slider_crank"', z.read('modelDescription.xml'))
        # the example's instance is gone again
        self.assertEqual(self.door.call('instances')[1]['items'], before)
        for arguments, code, words in ((('none',), 1, 'there is no instance none'),
                                       ((i, '--version', '1'), 1, 'expected 2 or 3'),
                                       ((i, '--kind', 'large'), 1, 'standalone or proxy'),
                                       ((i, '-o'), 2, '--output needs a value')):
            done = self.run_program('fmu', *arguments)
            self.assertEqual(done.returncode, code, (arguments, done.stderr))
            self.assertIn(words, done.stderr)
        self.assertIn('mechctl ', self.good('--version'))

    def test_snapshots_in_the_server_and_in_a_file(self):
        i = self.created()
        self.good('step', i, '--count', '10')
        before = self.door.call('get-state', id=i)[1]
        snapshot = self.good('snapshot', i).split()[-1]
        path = os.path.join(self.folder, 'state.mechd')
        self.good('snapshot', i, '--save', path)
        self.assertIn(snapshot, self.good('snapshots', i))
        kept = json.loads(self.good('--json', 'snapshots', i))['items']
        self.assertEqual([(s['id'], s['time']) for s in kept], [(snapshot, before['time'])])
        self.good('step', i, '--count', '10')
        self.good('restore', i, snapshot)
        self.assertEqual(self.door.call('get-state', id=i)[1], before)
        j = self.good('create', '--snapshot', path).split()[-1]
        self.assertEqual(self.door.call('get-state', id=j)[1], before)
        name = self.good('create', '--snapshot', path, '--id', 'revived', '--label', 'a=b,c',
                         '--ttl', '60').strip()
        self.assertEqual(name, 'revived')
        shown = self.door.call('instance', id=name)[1]
        self.assertEqual((shown['labels'], shown['ttl']), ({'a': 'b', 'c': ''}, 60))
        self.assertEqual(self.door.call('get-state', id=name)[1], before)
        taken = self.run_program('create', '--snapshot', path, '--id', 'revived')
        self.assertEqual(taken.returncode, 1)
        j = json.loads(self.good('--json', 'create', '--snapshot', path, '--ttl', '60'))
        self.assertEqual((j['step'], j['ttl']), (shown['step'], 60))
        # of every length that base64 pads in its own way
        for size in range(4):
            with open(path, 'wb') as f:
                f.write(b'nothing'[:4 + size])
            done = self.run_program('create', '--snapshot', path, '--ttl', '60')
            self.assertEqual(done.returncode, 1)
            self.assertNotIn('base64', done.stderr)

    def test_watch_shows_frames_from_the_stream(self):
        i = self.created()
        self.good('run', i, '--pace', '1')
        lines = self.good('watch', i, '--follow', '--count', '3').strip().split('\n')
        rows = [line.split('\t') for line in lines if line[:1].isdigit()]
        self.assertEqual(len(rows), 3, lines)
        times = [float(row[0]) for row in rows]
        self.assertLess(times[0], times[2])
        self.good('stop', i)
        wait_until(lambda: self.door.call('step', id=i, count=1)[0] == 200, 'the run has ended')

    def row_of(self, i):
        """What the list says of an instance, by the heads of its columns."""
        head, *rows = (re.split(r' {2,}', line.strip()) for line in self.good('list').splitlines())
        return dict(zip(head, next(row for row in rows if row[0] == i)))

    def test_stop_ends_a_command_where_there_is_no_run(self):
        i = self.created()
        idle = self.run_program('stop', i)
        self.assertEqual((idle.returncode, idle.stderr),
                         (1, 'mechctl: %s has nothing in progress\n' % i))
        step = subprocess.Popen(
            [harness.program('mechctl'), 'step', i, '--count', '1000000000'],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
            env={**os.environ, 'MECHD_SERVER': self.daemon.base})
        self.addCleanup(step.kill)
        wait_until(lambda: self.row_of(i)['BUSY'] == 'yes', 'it has begun')
        self.good('stop', i)
        wait_until(lambda: self.row_of(i)['BUSY'] == 'no', 'it is over')
        self.assertIn('cancelled', step.communicate(timeout=END)[1])
        self.assertEqual(step.returncode, 1)
        self.assertEqual(self.daemon.call('GET', '/v1/instances/' + i)['step'], 0)

    def watching(self, i, *options, server=None):
        """A mechctl watch that has shown its first line."""
        process = subprocess.Popen(
            [harness.program('mechctl'), 'watch', i, '--follow', *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
            env={**os.environ, 'MECHD_SERVER': server or self.daemon.base})

        def end():
            process.kill()
            process.communicate()

        self.addCleanup(end)
        self.assertTrue(process.stdout.readline().startswith('time'))
        return process

    def test_watch_ends_with_its_instance(self):
        i = self.created()
        process = self.watching(i)
        self.good('step', i, '--count', '1')
        self.assertTrue(process.stdout.readline())
        self.good('delete', i)
        _, told = process.communicate(timeout=END)
        self.assertEqual(process.returncode, 1)
        self.assertIn(i, told)
        self.assertIn('(instance-not-found)', told)

    def test_watch_ends_with_its_server(self):
        with Daemon() as d:
            process = self.watching(d.create(models.oscillator()), server=d.base)
            d.process.send_signal(signal.SIGTERM)
            _, told = process.communicate(timeout=END)
            self.assertEqual(process.returncode, 3)
            self.assertIn(d.base, told)

    def test_an_instance_that_stands_still_is_watched_on(self):
        i = self.created()
        proxy = Lossy(self.daemon, 0)
        self.addCleanup(proxy.close)
        process = self.watching(i, server=proxy.url)
        asked = ('GET', '/v1/instances/' + i)
        wait_until(lambda: asked in proxy.seen and proxy.requests > 5, 'it is asked for again')
        self.assertIsNone(process.poll())
        self.good('step', i, '--count', '1')
        self.assertTrue(process.stdout.readline()[:1].isdigit())
        process.send_signal(signal.SIGINT)
        self.assertRegex(process.communicate(timeout=END)[1], '^mechctl: %s is idle.*\n$' % i)
        self.assertEqual(process.returncode, 0)

    def test_examples_and_types_are_listed(self):
        for example in self.door.call('examples')[1]['items']:
            self.assertIn(example['name'], self.good('examples'))
        self.assertIn('Mass1D', self.good('types'))
        self.assertIn('physicsMass', self.good('types', 'Mass1D'))
        self.assertIn('k', self.good('parameters', self.created()))
        self.assertIn('force', self.good('variables', self.created()))

    def test_errors_name_place_and_reason(self):
        model = models.oscillator()
        model['objects'][1]['stifness'] = 1
        path = os.path.join(self.folder, 'bad.json')
        with open(path, 'w', encoding='utf-8') as f:
            json.dump(model, f)
        for arguments in (['check', path], ['create', path]):
            done = self.run_program(*arguments)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn('/objects/1/stifness', done.stderr)
        self.assertEqual(self.run_program('check', self.model).returncode, 0)

    def test_an_example_that_is_given_as_a_file_is_named(self):
        for arguments in (['create', 'mass1d'], ['sweep', 'mass1d', '--count', '1']):
            done = self.run_program(*arguments)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn('mass1d: No such file or directory', done.stderr)
            self.assertIn('--example mass1d', done.stderr)
        for name in ('mass2d', 'mass1d.json', '/mass1d'):
            self.assertNotIn('--example', self.run_program('create', name).stderr)

    def test_refusals_are_documents_for_scripts(self):
        i = self.created()
        path = os.path.join(self.folder, 'bad.json')
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({**models.oscillator(), 'objekts': []}, f)
        for line in ('check ' + path, 'create ' + path, 'create --snapshot ' + path, 'show nobody',
                     'list --after x', 'delete nobody', 'reset nobody', 'restore nobody s-1',
                     'snapshot nobody', 'snapshot nobody --save -', 'snapshot %s --delete s-9' % i,
                     'stop nobody', 'stop %s r-9' % i, 'modes nobody', 'results %s r-9' % i,
                     'call GET /v1/nothing', 'lease nobody --break owner', 'lease nobody owner',
                     'system nobody', 'watch nobody', 'run nobody', 'types Nothing',
                     'jvp nobody ' + path,
                     'field %s spring nothing 1' % i, 'progress %s r-9 --wait' % i,
                     'sweep %s nothing=1 --count 1' % self.model):
            with self.subTest(line=line):
                done = self.run_program('--json', *line.split())
                self.assertEqual((done.returncode, done.stdout), (1, ''), done.stderr)
                problem = json.loads(done.stderr)
                self.assertTrue(problem['code'] and problem['title'], problem)
                self.assertGreaterEqual(problem['status'], 400)
                told = self.run_program(*line.split())
                self.assertEqual(told.returncode, 1)
                self.assertIn('(%s)' % problem['code'], told.stderr)
        problem = json.loads(self.run_program('--json', 'check', path).stderr)
        self.assertEqual(problem['errors'][0]['pointer'], '/model/objekts')
        self.assertIn('refusals', self.good('help'))
        self.assertIn('RFC 9457', self.good('help', '--man'))

    def test_what_is_no_json_is_reported_with_its_place_in_the_file(self):
        for text, place in (('# x', 'line 1, column 1'),
                            ('{"mechd": 1\n "name" 5}', 'line 2, column'),
                            ('[' * 100, 'line 1, column 32')):
            path = os.path.join(self.folder, 'no.json')
            with open(path, 'w', encoding='utf-8') as f:
                f.write(text)
            for arguments in (['check', path], ['create', path]):
                done = self.run_program(*arguments)
                self.assertEqual(done.returncode, 1, done)
                self.assertTrue(done.stderr.startswith('%s: %s' % (path, place)), done.stderr)
                self.assertIn('(malformed-json)', done.stderr)

    def test_exit_codes(self):
        self.assertEqual(self.run_program('show', 'i-999').returncode, 1)
        self.assertEqual(self.run_program('dance').returncode, 2)
        self.assertEqual(self.run_program('step').returncode, 2)
        self.assertEqual(self.run_program('create', '/no/such/file').returncode, 2)
        done = self.run_program('list', server='http://127.0.0.1:1')
        self.assertEqual(done.returncode, 3)
        self.assertIn('127.0.0.1:1', done.stderr)
        self.assertRegex(done.stderr, 'mechd` starts a server.* MECHD_SERVER')
        for address in ('ftp://x', 'unix:relative', 'https:/x://', 'http://', 'http://:80',
                        'http://[::1', 'http://[]:80', 'http://::1:80', 'http://localhost:',
                        'http://localhost:x', 'http://localhost:0', 'http://localhost:65536',
                        'http://localhost:80x', 'http://localhost:80 ', 'http://local host',
                        'http://localhost:80?x', 'http://localhost/#x'):
            done = self.run_program('list', server=address)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(address, done.stderr)
            self.assertNotIn('starts a server', done.stderr)

    def test_the_scheme_of_an_address_has_no_case(self):
        address = self.daemon.base.replace('http', 'HTTP')
        self.assertEqual(self.run_program('list', server=address).returncode, 0)

    def test_a_path_is_sent_as_it_is_or_not_at_all(self):
        i = self.created()
        for path in ('/v1/instances/%s#x' % i, '/v1/instances/%s ' % i, '/v1/instances/ %s' % i,
                     '/v1/instances?label=a b', '/v1/instances/%s\n' % i, 'v1', '',
                     '/v1/instances/%s\u00a0' % i):
            with self.subTest(path=path):
                done = self.run_program('call', 'DELETE', path)
                self.assertEqual(done.returncode, 2, done)
                self.assertIn('is not a path', done.stderr)
        # curl would take the segments out
        done = self.run_program('call', 'DELETE', '/v1/instances/x/../' + i)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn('a path must not have a segment', done.stderr)
        for method in ('get', 'G T', 'GET\r\nX: y', ''):
            done = self.run_program('call', method, '/v1')
            self.assertEqual(done.returncode, 2, done)
            self.assertIn('it must be GET', done.stderr)
        self.good('show', i)

    def test_output_that_cannot_be_written_is_reported(self):
        i = self.created()
        run = self.good('run', i, '--fast', '--count', '500', '--record', '1').strip()
        self.good('progress', i, run, '--wait')
        self.assertEqual(self.good('results', i, run, '--format', 'csv', '--save', '-'),
                         self.good('results', i, run, '--format', 'csv'))
        for line in ('list', 'list --json', 'show ' + i, 'about', 'about docs', 'help', 'help list',
                     'help --man', '--version', 'completion bash', 'types', 'variables ' + i,
                     'examples four-bar', 'create --example four-bar', 'step %s --count 1' % i,
                     'watch %s --follow' % i, 'snapshot %s --save -' % i, 'call GET /metrics',
                     'results %s %s' % (i, run), 'results %s %s --save -' % (i, run),
                     'system %s M --format mtx' % i, 'sweep %s k=1 --count 1' % self.model,
                     'batch outputs ' + i, 'progress %s %s --wait' % (i, run)):
            with self.subTest(line=line), open('/dev/full', 'wb') as full:
                done = self.run_program(*line.split(), stdout=full)
                self.assertEqual((done.returncode, done.stderr),
                                 (4, 'mechctl: standard output: No space left on device\n'))

    def test_a_reader_that_leaves_is_no_news(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = self.run_program('about', 'docs', stdout=writer)
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (4, ''))

    def test_a_batch_prints_what_became_of_each(self):
        i = self.created()
        shown = self.good('batch', 'step', i, i, '--body', '{"count": 3}').splitlines()
        self.assertEqual([line.split()[:2] for line in shown[1:]], [[i, '200']] * 2)
        self.assertIn('0.006', shown[2])
        done = self.run_program('batch', 'step', 'nobody')
        self.assertEqual(done.returncode, 1)
        self.assertIn('there is no instance nobody', done.stdout)
        labelled = self.good('create', self.model, '--label', 'rig=batch').strip()
        reply = json.loads(self.good('batch', 'outputs', '--label', 'rig=batch', '--json'))
        self.assertEqual([r['id'] for r in reply['results']], [labelled])
        self.assertEqual(self.run_program('batch', 'step').returncode, 2)

    def test_a_sweep_prints_one_table(self):
        rows = self.good('sweep', self.model, 'k=1,2', 'd=0:4:3', '--count', '5').split()
        self.assertEqual(rows[0], 'point,k,d,time,x,v')
        self.assertEqual([r.split(',')[1:3] for r in rows[1:]],
                         [[k, d] for k in '12' for d in '024'])
        table = json.loads(self.good('--json', 'sweep', self.model, 'k=1,2', '--count', '5'))
        self.assertEqual([row[1] for row in table['rows']], [1, 2])
        text = self.good('--json', 'sweep', self.model, 'k=1', '--count', '5', '--format', 'ndjson')
        self.assertEqual(len(text.splitlines()), 1)
        self.assertEqual(self.door.call('sweeps')[1]['items'], [])
        kept = self.good('sweep', self.model, 'k=5', '--until', '0.1', '--every', '50',
                         '--keep').strip()
        wait_until(lambda: 'finished' in self.good('sweeps', kept), 'the sweep is over')
        self.assertIn(kept, self.good('sweeps'))
        table = json.loads(self.good('sweeps', kept, '--results', 'json', '--json'))
        self.assertEqual(len(table['rows']), 3)
        self.good('sweeps', kept, '--delete')
        self.assertEqual(self.run_program('sweeps', kept).returncode, 1)
        for wrong in (['k'], ['k='], ['k=1:2'], ['k=1:2:3:4'], ['k=x']):
            self.assertEqual(self.run_program('sweep', self.model, *wrong).returncode, 2, wrong)
        done = self.run_program('sweep', self.model, 'nothing=1', '--count', '1')
        self.assertEqual(done.returncode, 1)
        self.assertIn('no parameter', done.stderr)

    def test_a_sweep_of_a_coupling_prints_one_table(self):
        path = os.path.join(self.folder, 'pair.json')
        pair = {'participants': [{'name': 'left', 'model': models.oscillator()},
                                 {'name': 'right', 'example': 'mass1d'}],
                'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01}
        with open(path, 'w', encoding='utf-8') as f:
            json.dump(pair, f)
        rows = self.good('sweep', '--coupling', path, 'left/k=1,2', '/stepSize=0.01:0.03:2',
                         '--count', '5').split()
        self.assertEqual(rows[0], 'point,left/k,/stepSize,time,left.x,left.v,right.x,right.v')
        self.assertEqual([r.split(',')[1:3] for r in rows[1:]],
                         [[k, h] for k in '12' for h in ('0.01', '0.03')])
        for wrong, code in ((['left/nothing=1', '--count', '1'], 1), (['k=1', '--count', '1'], 1),
                            (['left/k=1', '--count', '1', '--example', 'mass1d'], 2)):
            self.assertEqual(self.run_program('sweep', '--coupling', path, *wrong).returncode, code)

    def test_a_request_that_is_answered_later(self):
        reply = self.daemon.call('POST', '/v1/models/check', {'model': models.oscillator()},
                                 {'Prefer': 'respond-async'})
        wait_until(lambda: 'finished' in self.good('operation', reply['id']), 'an answer')
        self.good('operation', reply['id'], '--cancel')
        self.assertEqual(self.run_program('operation', reply['id']).returncode, 1)

    def test_help_of_every_command(self):
        listed = self.good('help')
        commands = os.path.join(harness.ROOT, 'clients', 'cli', 'commands.def')
        with open(commands, encoding='utf-8') as f:
            names = harness.re.findall(r'^MECHCTL_COMMAND\((\w+)\)', f.read(), harness.re.M)
        self.assertGreater(len(names), 15)
        for name in names:
            self.assertIn(name, listed)
            self.assertIn(name, self.good('help', name))


if __name__ == '__main__':
    unittest.main()
