"""What surrounds the programs: manual pages, completion in shells, colours and bars on a
terminal, and a command of mechctl for every route."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest
import fmus
import models
from harness import BUILD, ROOT, SLOW, Daemon, program, wait_until
from proxy import Lossy
from terminals import lines_of, on_terminal
from tokens import make

# events come to mechctl as the stream, the page is for browsers
OTHERWISE = {('GET', '/'), ('GET', '/v1/instances/{id}/events'),
             ('GET', '/v1/instances/{id}/runs/{rid}/events'),
             ('GET', '/v1/couplings/{cid}/events'),
             ('GET', '/v1/couplings/{cid}/runs/{rid}/events'),
             ('GET', '/v1/couplings/{cid}/snapshots/{sid}'),
             ('GET', '/v1/couplings/{cid}/ssp'),
             ('GET', '/v1/instances/{id}/fmu')}


def wait_for_full_terminal(pid):
    """Until a process is in a call that writes to its standard output at five looks in turn."""
    looks = []

    def stays():
        with open('/proc/%d/syscall' % pid, encoding='ascii') as f:
            looks.append(f.read())
        return looks[-1].startswith(('1 0x1 ', '64 0x1 ')) and looks[-5:] == 5 * looks[-1:]
    wait_until(stays, 'a full terminal')


def drained(terminal):
    """What the last program on a terminal writes until it ends."""
    while True:
        try:
            yield os.read(terminal, 4096).decode(errors='replace')
        except OSError:  # no process has it open
            return


class Terminal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(*fmus.ON)
        cls.mechctl = program('mechctl')
        cls.environment = {
            'MECHD_SERVER': cls.daemon.base, 'LC_ALL': 'C.UTF-8',
            'PATH': os.path.dirname(os.path.abspath(cls.mechctl)) + ':' + os.environ['PATH']}
        cls.daemon.call('PUT', '/v1/instances/pendulum', {'example': 'double-pendulum'})

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def words(self, *arguments):
        return lines_of([self.mechctl] + list(arguments), **self.environment)

    def created(self):
        i = self.daemon.create(models.oscillator())
        self.addCleanup(self.daemon.call, 'DELETE', '/v1/instances/' + i)
        return i

    # --- manual pages -----------------------------------------------------------------------------

    def test_manual_pages_have_no_faults_and_name_every_option(self):
        for command, helped in (([program('mechd'), '--print', 'man'],
                                 [program('mechd'), '--help']),
                                ([self.mechctl, 'help', '--man'], [self.mechctl, 'help'])):
            page = '\n'.join(lines_of(command))
            with tempfile.NamedTemporaryFile('w', suffix='.1') as f:
                f.write(page)
                f.flush()
                done = subprocess.run(['man', '--warnings', '-E', 'UTF-8', '-l', '-Tutf8', f.name],
                                      capture_output=True, text=True, timeout=60 * SLOW,
                                      env={**os.environ, 'LC_ALL': 'C.UTF-8', 'MANPAGER': 'cat',
                                           'MANWIDTH': '100'})
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            shown = re.sub('.\b', '', done.stdout)
            options = re.findall(r'^ +(--[a-z-]+)', '\n'.join(lines_of(helped)), re.M)
            self.assertGreater(len(options), 5)
            for option in options:
                self.assertIn(option, shown)
            self.assertIn('EXIT STATUS', shown)

    def test_the_manual_of_mechctl_has_every_command_with_its_options(self):
        page = '\n'.join(self.words('help', '--man')).replace('\\-', '-')
        for name in self.commands():
            self.assertIn('\n.SS ' + name, page)
            for option in re.findall(r'^  --([a-z-]+)', '\n'.join(self.words('help', name)), re.M):
                self.assertIn('--' + option, page)
        # and every variable that the options name
        texts = [self.words('help'), *(self.words('help', name) for name in self.commands())]
        variables = set(re.findall(r'\bdefault\s+(MECHD_\w+)', '\n'.join(sum(texts, []))))
        self.assertIn('MECHD_ON_TOKEN', variables)
        for name in variables:
            self.assertIn('\n.B %s\n' % name, page.split('.SH ENVIRONMENT')[1])

    def commands(self):
        text = '\n'.join(self.words('help'))
        names = re.findall(r'^  ([a-z]+) ', text.split('commands:')[1].split('options')[0], re.M)
        self.assertGreater(len(names), 30)
        return names

    # --- completion -------------------------------------------------------------------------------

    def bash(self, line):
        """What bash offers behind the line."""
        code = '''
source <(mechctl completion bash)
complete -p mechctl | grep -q -- '-F _mechctl' || exit 3
COMP_LINE=$1 COMP_POINT=${#1}
_mechctl mechctl '' ''
printf '%s\\n' "${COMPREPLY[@]}"
'''
        return self.offered(['bash', '--norc', '-c', code, 'bash', line])

    def zsh(self, line):
        """What zsh would add: its two functions stand for the menu."""
        code = '''
compdef() { : }
compadd() { shift; for w in $@; do [[ $w == ${words[CURRENT]}* ]] && print -r -- $w; done; true }
_files() { print -rl -- ${words[CURRENT]}*(N) }
source <(mechctl completion zsh)
words=(${=1}); [[ $1 == *' ' ]] && words+=('')
CURRENT=${#words}
_mechctl
'''
        return self.offered(['zsh', '-f', '-c', code, 'zsh', line])

    def fish(self, line):
        """What fish offers behind the line."""
        code = '''
mechctl completion fish | source
complete -C $argv[1] | string replace -r '\\t.*' ''
true
'''
        return self.offered(['fish', '--no-config', '-c', code, line])

    def shells(self):
        """Those that are here; tests/run installs all."""
        return [s for s in (self.bash, self.zsh, self.fish) if shutil.which(s.__name__)]

    def offered(self, command):
        return sorted(filter(None, lines_of(command, **self.environment)))

    def test_every_shell_completes_commands_options_and_names(self):
        for shell in self.shells():
            with self.subTest(shell=shell.__name__):
                self.assertEqual(shell('mechctl '), sorted(self.commands()))
                self.assertEqual(shell('mechctl sta'), ['state', 'statics'])
                self.assertEqual(shell('mechctl --server http://x:1 --json sho'), ['show'])
                self.assertEqual(shell('mechctl step i-1 --c'),
                                 ['--ca', '--color', '--count', '--curve-key'])
                self.assertEqual(shell('mechctl step --count 3 pen'), ['pendulum'])
                self.assertEqual(shell('mechctl show '), ['pendulum'])
                self.assertEqual(shell('mechctl show pendulum '), [])
                self.assertEqual(shell('mechctl --color '), ['always', 'auto', 'never'])
                self.assertEqual(shell('mechctl step --size '), [])
                self.assertEqual(shell('mechctl completion '), ['bash', 'fish', 'zsh'])
                self.assertIn('four-bar', shell('mechctl create --example '))
                self.assertEqual(shell('mechctl help com'), ['commit', 'compare', 'completion'])
                self.assertIn('GeneralizedAlpha', shell('mechctl types Gen'))
                with tempfile.TemporaryDirectory(prefix='mechd-words-') as folder:
                    path = os.path.join(folder, 'a-model.json')
                    open(path, 'w', encoding='utf-8').close()
                    for line in ('mechctl check ', 'mechctl evaluate pendulum ',
                                 'mechctl create --snapshot '):
                        self.assertEqual(shell(line + folder + '/a-'), [path])

    def test_every_shell_completes_the_words_that_an_argument_may_be(self):
        forms = ['csv', 'f64', 'json', 'ndjson', 'npy']
        for shell in self.shells():
            for line, words in (('lease pendulum ', ['co-driver', 'observer', 'owner']),
                                ('lease pendulum o', ['observer', 'owner']),
                                ('lease pendulum --break ', ['co-driver', 'observer', 'owner',
                                                             'partner']),
                                ('log ', ['debug', 'error', 'info', 'warning']),
                                ('about l', ['livez']), ('results pendulum r-1 --format ', forms),
                                ('sweep --format n', ['ndjson', 'npy']),
                                ('sweeps --results ', forms),
                                ('system pendulum --level ', ['acceleration', 'velocity']),
                                ('system pendulum --format m', ['mtx']),
                                ('lease pendulum --name ', [])):
                with self.subTest(shell=shell.__name__, line=line):
                    self.assertEqual(shell('mechctl ' + line), words)
        # readers get the same report
        for command, told in (('lease', 'ROLE is owner, co-driver or observer'),
                              ('log', 'LEVEL is error, warning, info or debug'),
                              ('system', 'LEVEL is acceleration or velocity'),
                              ('results', 'FORMAT is json, ndjson, csv, npy or f64')):
            self.assertIn(told, '\n'.join(self.words('help', command)))
            self.assertIn(told, '\n'.join(self.words('help', '--man')).replace('\\-', '-'))

    def test_pages_and_scripts_are_installed(self):
        with open(os.path.join(BUILD, 'meson-info', 'intro-buildoptions.json'),
                  encoding='utf-8') as f:
            options = {o['name']: o['value'] for o in json.load(f)}
        if options['b_sanitize'] != 'none':
            self.skipTest('sanitized programs print nothing at build time')
        with open(os.path.join(BUILD, 'meson-info', 'intro-installed.json'),
                  encoding='utf-8') as f:
            installed = set(json.load(f).values())
        for end in ('share/man/man1/mechd.1', 'share/man/man1/mechctl.1',
                    'bash-completion/completions/mechctl', 'zsh/site-functions/_mechctl',
                    'fish/vendor_completions.d/mechctl.fish',
                    'bash-completion/completions/mechd', 'zsh/site-functions/_mechd',
                    'fish/vendor_completions.d/mechd.fish', 'lib/systemd/system/mechd.service',
                    'lib/sysusers.d/mechd.conf', 'lib/tmpfiles.d/mechd.conf',
                    'pkgconfig/mechc.pc', 'cmake/mechc/mechc-config.cmake',
                    'share/licenses/mechd/LICENSE'):
            self.assertTrue(any(p.endswith(end) for p in installed), (end, installed))
        for name, first in (('mechctl', '# completion'), ('_mechctl', '#compdef mechctl'),
                            ('mechctl.fish', '# completion')):
            with open(os.path.join(BUILD, 'clients', 'cli', 'completion', name),
                      encoding='utf-8') as f:
                self.assertTrue(f.readline().startswith(first))

    # --- colours and bars -------------------------------------------------------------------------

    def test_colours_are_for_terminals(self):
        command = [self.mechctl, 'show', 'pendulum']
        self.assertIn('\033[', on_terminal(command, **self.environment)[1])
        self.assertNotIn('\033[', on_terminal(command, NO_COLOR='1', **self.environment)[1])
        self.assertNotIn('\033[', on_terminal(command + ['--color', 'never'],
                                              **self.environment)[1])
        self.assertNotIn('\033[', '\n'.join(self.words('show', 'pendulum')))
        self.assertIn('\033[', '\n'.join(self.words('show', 'pendulum', '--color', 'always')))

    def test_waiting_for_a_run_shows_a_bar_on_a_terminal(self):
        i = self.created()
        command = [self.mechctl, 'run', i, '--until', '1000', '--pace', '20', '--wait']
        text = on_terminal(command, seen=self.stop_once('#', i), **self.environment)[1]
        self.assertIn('] ', text)
        self.assertIn('#', text)
        command = [self.mechctl, 'run', i, '--until', '1001', '--fast', '--wait']
        code, text = on_terminal(command, **self.environment)
        self.assertEqual(code, 0, text)
        self.assertIn('finished', text)
        done = json.loads(self.words('--json', 'run', i, '--fast', '--until', '1002', '--wait')[0])
        self.assertEqual((done['state'], done['time']), ('finished', 1002))
        done = json.loads(self.words('--json', 'progress', i, done['id'])[0])
        self.assertEqual(done['state'], 'finished')

    def stop_once(self, what, i):
        """Ends the run of an instance once this has been written."""
        def seen(text):
            if what in text:
                self.daemon.call('DELETE', '/v1/instances/%s/runs/%s' % (i, self.run_of(i)))
        return seen

    def run_of(self, i):
        return self.daemon.call('GET', '/v1/instances/%s/runs' % i)['items'][0]['id']

    def pictures(self, command, columns, seen=None, **environment):
        """The lines that are drawn, over each other or not, as they stand on the screen."""
        code, text = on_terminal([self.mechctl] + command, columns, seen,
                                 **{**self.environment, **environment})
        if not seen:
            self.assertEqual(code, 0, text)
        return re.split('[\r\n]+', re.sub('\033\\[[0-9;?]*[a-zA-Z]', '', text))

    def assert_fits(self, lines, columns):
        # a character in the last column would make some terminals go on to the next line
        self.assertEqual([line for line in lines if len(line) >= columns], [])

    def test_watch_fits_the_width_of_the_terminal(self):
        i = self.created()
        self.words('run', i, '--pace', '1')
        for columns, bar, step in ((80, True, True), (40, True, True), (30, False, None),
                                   (20, False, False), (9, False, False)):
            for size, environment in ((columns, {}), (200, {'COLUMNS': str(columns)})):
                with self.subTest(columns=columns, **environment):
                    lines = self.pictures(['watch', i, '--count', '12'], size, **environment)
                    self.assert_fits(lines, columns)
                    text = '\n'.join(lines)
                    self.assertEqual(bool(re.search('[▁-█]{8}', text)), bar, text)
                    self.assertIn('step' in text, (step, step is None), text)
                    self.assertRegex(text, r'(?m)^x +-?[0-9]')
        self.words('stop', i)

    def test_watch_leaves_the_terminal_to_the_shell_and_comes_back(self):
        i = self.created()
        self.words('run', i, '--pace', '1')
        inside, outside = '\033[?1049h', '\033[?1049l'
        # what is typed when this has been written: Ctrl-Z, commands of the shell, Ctrl-\\
        steps = [('$ ', "stty -a | grep -o -e '-\\?icanon' | tr a-z A-Z; mechctl watch %s\r" % i),
                 (inside, '\x1a'), (outside, ''), ('Stopped', ''),
                 ('$ ', "stty -a | grep -o -e '-\\?icanon'; bg; jobs -x kill -0 %1; echo back\r"),
                 ('\nback', 'fg\r'), (inside, ''), ('time', 'q'), (outside, ''),
                 ('$ ', 'mechctl watch %s & echo behind\r' % i), ('\nbehind', 'fg\r'),
                 (inside, ''), ('time', 'q'), (outside, ''),
                 ('$ ', 'mechctl watch %s\r' % i), (inside, '\x1c'), (outside, ''),
                 ('$ ', 'exit 0\r')]
        at = 0

        def keys(text):
            nonlocal at
            typed = ''
            while steps and not typed and text.find(steps[0][0], at) >= 0:
                at = text.find(steps[0][0], at) + len(steps[0][0])
                typed = steps.pop(0)[1]
            return typed
        code, text = on_terminal(['setsid', '--ctty', 'bash', '--norc', '--noediting', '-i'],
                                 keys=keys, **{**self.environment, 'PS1': '$ '})
        self.assertEqual((code, steps), (0, []), text)
        self.assertIn('\nICANON', text)
        # while it is stopped the keys are the shell's, and in the background nothing is drawn
        between = text.split('Stopped')[1].split('\nback')[0]
        self.assertIn('\nicanon', between)
        self.assertNotIn('\033[', between.replace('\033[?2004', ''))
        self.assertEqual((text.count(inside), text.count(outside)), (4, 4))
        self.words('stop', i)

    def test_a_stop_in_the_middle_of_a_picture_loses_nothing(self):
        i = self.created()
        self.words('run', i, '--pace', '1')
        master, slave = os.openpty()
        self.addCleanup(os.close, master)
        watch = subprocess.Popen([self.mechctl, 'watch', i], stdin=slave, stdout=slave,
                                 stderr=slave, start_new_session=True,
                                 env={**os.environ, **self.environment})
        self.addCleanup(watch.wait)
        self.addCleanup(watch.kill)
        os.close(slave)
        # no process reads: the terminal is full, and a picture is written in part; where a signal
        # comes again nothing of the rest has been written
        for _ in range(3):
            wait_for_full_terminal(watch.pid)
            os.kill(watch.pid, signal.SIGTSTP)
        text = ''
        # in a session of its own it is not stopped, but leaves the screen and comes back
        while text.count('\033[?1049h') < 2 and 'mechctl:' not in text:
            text += os.read(master, 4096).decode(errors='replace')
        self.assertFalse('mechctl:' in text, text[-600:])
        os.kill(watch.pid, signal.SIGINT)
        for chunk in drained(master):
            text += chunk
        self.assertEqual(text.count('\033[?1049l'), 2, text[-600:])
        self.assertFalse('mechctl:' in text, text[-600:])
        self.words('stop', i)

    def test_a_bar_fits_the_width_of_the_terminal(self):
        i = self.created()
        for columns, bar, left in ((80, True, True), (40, True, True), (30, True, True),
                                   (20, False, True), (9, False, False)):
            with self.subTest(columns=columns):
                lines = self.pictures(['run', i, '--count', '1000000', '--period', '0.001',
                                       '--pace', '1', '--wait'], columns,
                                      self.stop_once('left' if left else '%', i))
                drawn = [line for line in lines if '%' in line]
                self.assertGreater(len(drawn), 0, lines)
                self.assert_fits(drawn, columns)
                self.assertEqual(all('[' in line for line in drawn), bar, drawn)
                self.assertEqual(all(line.endswith('left') for line in drawn), left, drawn)

    def test_a_recorded_run_is_listed_and_saved(self):
        i = self.created()
        rid = json.loads(self.words('--json', 'run', i, '--fast', '--count', '50', '--period',
                                    '0.01', '--record', '5', '--wait')[0])
        self.assertEqual((rid['recorded'], rid['record']['every']), (11, 5))
        rid = json.loads(self.words('--json', 'run', i, '--fast', '--count', '4', '--outputs', 'v',
                                    '--wait')[0])['id']
        heads = self.words('runs', i)
        self.assertEqual([x.split()[0] for x in heads], ['RUN', 'r-2', 'r-1'])
        self.assertIn('finished', heads[1])
        with tempfile.TemporaryDirectory(prefix='mechd-cli-') as folder:
            path = os.path.join(folder, 'out.csv')
            self.words('results', i, rid, '--save', path)
            with open(path, encoding='ascii') as f:
                self.assertEqual(f.readline().strip(), 'time,v')
                self.assertEqual(len(f.readlines()), 5)
            self.words('results', i, 'r-1', '--save', path, '--format', 'f64', '--outputs', 'x',
                       '--limit', '3')
            self.assertEqual(os.path.getsize(path), 3 * 2 * 8)
        self.words('results', i, rid, '--delete')
        self.assertEqual(self.daemon.call('GET', '/v1/instances/%s/runs/%s/results' % (i, rid))
                         .status, 404)

    # --- routes and tokens ------------------------------------------------------------------------

    def test_a_trial_is_kept_by_commit(self):
        i = self.created()
        trial = json.loads(self.words('--json', 'step', i, '--size', '0.01', '--trial')[0])
        state = '/v1/instances/%s/state' % i
        self.assertEqual(self.daemon.call('GET', state)['time'], 0)
        self.words('commit', i, str(trial['trial']))
        self.assertEqual(self.daemon.call('GET', state)['time'], 0.01)

    def test_tokens_are_shown(self):
        token, line = make('me', 'step')
        with tempfile.NamedTemporaryFile('w') as f:
            f.write(line + '\n')
            f.flush()
            with Daemon('--tokens', f.name) as d:
                environment = {**os.environ, 'MECHD_SERVER': d.base}
                command = [self.mechctl, 'create', '--example', 'four-bar']
                for more, variables, code in (([], {}, 1), (['--token', token + 'x'], {}, 1),
                                              (['--token', token], {}, 0),
                                              ([], {'MECHD_TOKEN': token}, 0)):
                    done = subprocess.run(command + more, env={**environment, **variables},
                                          capture_output=True, text=True, timeout=60 * SLOW)
                    self.assertEqual(done.returncode, code, done)

    def test_every_route_has_a_command(self):
        with open(os.path.join(ROOT, 'protocol', 'wire', 'routes.def'), encoding='utf-8') as f:
            known = re.findall(r'^MECHP_ROUTE\(\w+, "(\w+)", "([^"]+)"', f.read(), re.M)
        proxy = Lossy(self.daemon, 0)
        self.addCleanup(proxy.close)
        self.environment = {**self.environment, 'MECHD_SERVER': proxy.url}
        self.run_everything()
        used = set()
        for method, path in proxy.seen:
            fits = [r for r in known if r[0] == method and
                    re.fullmatch(re.sub(r'\{\w+\}', '[^/]+', r[1]), path)]
            # what has no braces in its end is meant before what has
            used |= set(sorted(fits, key=lambda r: r[1].count('{'))[:1])
        self.assertEqual(set(known) - used - OTHERWISE, set())

    def run_fmus(self, folder):
        path = os.path.join(folder, 'controller.fmu')
        with open(path, 'wb') as f:
            f.write(fmus.archive())
        fid = self.words('fmus', '--upload', path)[0]
        self.assertIn(fid, ' '.join(self.words('fmus')))
        self.assertIn('gain', ' '.join(self.words('fmus', fid)))
        made = self.words('create', '--fmu', fid, 'gain=2', 'u=1', '--label', 'rig=a')[0]
        self.assertIn('y  2', ' '.join(self.words('outputs', made)))
        self.words('delete', made)
        self.words('fmus', fid, '--delete')

    def run_coupling(self, saved):
        """One of the instance a; its state goes to the file `saved`."""
        pair = json.dumps({'participants': [{'name': 'p', 'instance': 'a'}],
                           'connections': [{'from': 'p.x', 'to': 'p.force', 'factor': -1}],
                           'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01})
        coupling = lines_of([self.mechctl, 'couple', '-'], pair, **self.environment)[0]
        for line in ('couplings', 'couplings ' + coupling, 'couplings %s --count 3' % coupling,
                     'couplings %s --reset --until 0.02' % coupling,
                     'couplings %s --snapshot --stability' % coupling,
                     'couplings %s --restore s-1 --count 2' % coupling,
                     'couplings %s --count 2 --trial' % coupling,
                     'couplings %s --commit 1 --snapshots' % coupling):
            self.assertIn('0.0', ' '.join(self.words(*line.split())))
        self.assertIn('bytes', ' '.join(self.words('couplings', coupling, '--save', saved)))
        self.words('couplings', coupling, '--load', saved)
        self.words('call', 'GET', '/v1/couplings/%s/snapshots/s-1' % coupling)
        self.words('couplings', coupling, '--forget', 's-1')
        run, = self.words('run', coupling, '--coupling', '--fast', '--count', '3', '--record', '1')
        for line in ('progress %s %s --wait', 'results %s %s', 'runs %s', 'stop %s %s'):
            self.words(*(line % (coupling, run)[:line.count('%')]).split(), '--coupling')
        self.words('results', coupling, run, '--coupling', '--delete')
        for line in (('slow', '--every', '2'), (), ('slow',), ('slow', '--delete')):
            self.words('streams', coupling, *line, '--coupling')
        self.words('couplings', coupling, '--delete')

    def run_everything(self):
        folder = tempfile.TemporaryDirectory(prefix='mechd-cli-')
        self.addCleanup(folder.cleanup)
        model, saved = (os.path.join(folder.name, n) for n in ('model.json', 'saved.mechd'))
        self.run_fmus(folder.name)
        with open(model, 'w', encoding='utf-8') as f:
            json.dump(models.oscillator(), f)
        for page in ('docs', 'livez', 'metrics', 'openapi.json', 'readyz'):
            self.words('about', page)
        self.words('create', model, '--id', 'a')
        self.words('delete', self.words('create', '--example', 'four-bar')[0])
        self.words('snapshot', 'a', '--save', saved)
        self.words('snapshot', 'a')
        self.words('snapshots', 'a')
        for line in ('about', 'check ' + model, 'examples', 'examples four-bar', 'types',
                     'types Mass1D', 'list', 'show a', 'contacts a', 'inputs a', 'outputs a',
                     'parameters a', 'set a force=1', 'parameters a k=90', 'variables a', 'model a',
                     'modes a', 'linearize a', 'scene a', 'state a', 'state a --hash',
                     'state a q=1', 'statics a', 'field a spring stiffness 80',
                     'item a mass Position', 'step a --trial', 'trials a --keep best',
                     'trials a', 'commit a 1', 'step a --trial', 'trials a --keep best',
                     'trials a --drop best',
                     'system a', 'system a blocks', 'system a M', 'restore a s-2',
                     'compare a s-2 s-2', 'snapshot a --delete s-2', 'run a', 'stop a',
                     'progress a r-1', 'reset a',
                     'streams a slow --outputs x,v --every 10', 'streams a', 'streams a slow',
                     'streams a slow --delete', 'clone a --id b', 'delete b', 'log info', 'quota',
                     'edit a --label rig=b --ttl 900',
                     'lease a observer --seconds 9', 'lease a',
                     'batch step a --body {"count":1}', 'sweeps',
                     'sweep %s k=1,2 --count 1' % model):
            self.words(*line.split())
        self.assertEqual(self.daemon.call('GET', '/v1/instances/a')['labels'], {'rig': 'b'})
        idle = subprocess.run([self.mechctl, 'stop', 'a'], env=self.environment,
                              capture_output=True, text=True, timeout=60 * SLOW)
        self.assertIn('nothing in progress', idle.stderr)
        number = self.words('lease', 'a', 'owner')[0]
        self.words('lease', 'a', 'owner', '--renew', '--seconds', '30', '--lease', number)
        self.words('lease', 'a', '--release', '--lease', number)
        later = self.daemon.call('POST', '/v1/models/check', {'model': models.oscillator()},
                                 {'Prefer': 'respond-async'})
        wait_until(lambda: 'finished' in str(self.words('operation', later['id'])), 'it is over')
        self.words('operation', later['id'], '--cancel')
        for line, body in (('evaluate a -', {'want': ['mass']}),
                           ('jvp a -', {'size': 0.01, 'inputs': {'force': 1}}),
                           ('derivatives a -', {'direction': {'inputs': {'force': 1}}}),
                           ('solve -', {'N': [[2, 1], [1, 2]], 'r': [-5, -6]}),
                           ('system a product --input -', {'x': [1]}),
                           ('system a schur-product --input -', {'l': []}),
                           ('system a project --input -', {'l': []}),
                           ('system a feasibility --input -', {'w': [0], 'l': []})):
            found = lines_of([self.mechctl, '--json'] + line.split(), json.dumps(body),
                             **self.environment)
            self.assertIsInstance(json.loads(found[0]), dict)
        self.run_coupling(saved)
        answer = self.daemon.call('POST', '/v1/instances/a/runs', {'until': 9, 'record': {}})
        self.words('progress', 'a', answer['id'], '--wait')
        self.assertIn('time', self.words('results', 'a', answer['id'], '--format', 'csv')[0])
        self.assertIn('finished', ' '.join(self.words('runs', 'a')))
        self.words('results', 'a', answer['id'], '--delete')
        self.words('delete', 'a')


if __name__ == '__main__':
    unittest.main()
