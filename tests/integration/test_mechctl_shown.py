"""What mechctl shows to people: lists that fit the terminal, grouped help, results as tables and
plots, the full view of `watch`, and problems under the names of the literature."""
import json
import os
import re
import struct
import subprocess
import tempfile
import unittest
import zlib
from xml.etree import ElementTree
import coupled
import harness
import models
from harness import Daemon, program
from proxy import Lossy
from terminals import on_terminal

LONG = 'a-name-of-fifty-characters-that-one-line-cannot-hold'
SEQUENCE = re.compile('\033\\[[0-9;?]*[a-zA-Z]')


def png(raw):
    """(width, height, rows of palette indices) of a PNG whose check sums hold."""
    assert raw[:8] == b'\x89PNG\r\n\x1a\n', raw[:8]
    at, chunks = 8, {}
    while at < len(raw):
        size, = struct.unpack_from('>I', raw, at)
        name, data = raw[at + 4:at + 8], raw[at + 8:at + 8 + size]
        assert struct.unpack_from('>I', raw, at + 8 + size)[0] == zlib.crc32(name + data), name
        chunks[name] = data
        at += 12 + size
    width, height, depth, kind = struct.unpack('>IIBB', chunks[b'IHDR'][:10])
    assert (depth, kind) == (8, 3), (depth, kind)
    lines = zlib.decompress(chunks[b'IDAT'])
    assert len(lines) == height * (width + 1)
    rows = [lines[k * (width + 1):(k + 1) * (width + 1)] for k in range(height)]
    assert not any(row[0] for row in rows), 'a filter'
    return width, height, [row[1:] for row in rows], len(chunks[b'PLTE']) // 3


def drifting(place, speed, stiffness=0):
    """A mass at `place`, m, and its place as an output."""
    return models.document(
        'still', nodes=[models.node_1d(referenceCoordinates=[place], initialVelocities=[speed])],
        markers=models.markers(),
        objects=[{'name': 'mass', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 1},
                 models.spring(stiffness=stiffness)],
        sensors=[{'name': 'p', 'type': 'SensorBody', 'object': 'mass',
                  'outputVariable': 'Position'}],
        outputs=[{'name': 'x', 'sensor': 'p', 'component': 0}])


class Shown(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.environment = {'MECHD_SERVER': cls.daemon.base, 'LC_ALL': 'C.UTF-8'}

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def run_program(self, *arguments, text=None, **environment):
        return subprocess.run([program('mechctl'), *(str(a) for a in arguments)], input=text,
                              capture_output=True, text=True, timeout=60 * harness.SLOW,
                              env={**os.environ, **self.environment, **environment})

    def good(self, *arguments, text=None):
        done = self.run_program(*arguments, text=text)
        self.assertEqual(done.returncode, 0, (arguments, done.stdout, done.stderr))
        return done.stdout

    def on_terminal(self, *arguments, columns=80, **more):
        code, text = on_terminal([program('mechctl'), *arguments], columns, **more,
                                 **self.environment)
        self.assertEqual(code, 0, text)
        return text

    def created(self, model=None, **more):
        i = self.daemon.create(model or models.oscillator(), **more)
        self.addCleanup(self.daemon.call, 'DELETE', '/v1/instances/' + i)
        return i

    def recorded(self, count=400):
        """An instance and its run, of which every second period is recorded."""
        i = self.created()
        self.good('set', i, 'force=20')
        run = self.good('run', i, '--fast', '--count', count, '--period', '0.01', '--record', '2')
        self.good('progress', i, run.strip(), '--wait')
        return i, run.strip()

    # --- lists and help ---------------------------------------------------------------------------

    def test_labels_are_listed_as_they_are_chosen(self):
        values = ('left,right', 'a, b=c', '"x"', 'a\\b', ' a', 'a=b', '', 'plain text')
        for value in values:
            i = self.created(labels={'only': value})
            with self.subTest(value=value):
                line = next(l for l in self.good('list').splitlines() if l.split()[0] == i)
                label = line[line.index('only='):].strip()
                chosen = self.good('list', '--label', label).splitlines()[1:]
                self.assertEqual([l.split()[0] for l in chosen], [i], label)

    def test_names_of_others_do_not_move_the_cursor(self):
        for odd in '\x1b\n\t\x7f\x9b\x85\u202e\u2066\u2028\u200f\u061c':
            model = {**models.oscillator(), 'name': 'a%sb' % odd}
            i = self.created(model, labels={'note': odd + ','})
            with self.subTest(odd=ascii(odd)):
                for text in (self.good('list'), self.good('show', i)):
                    self.assertIn('a b', text)
                    self.assertEqual([c for c in text if c == odd and c != '\n'], [])

    def test_a_list_fits_the_terminal_and_is_whole_elsewhere(self):
        model = {**models.oscillator(), 'name': LONG}
        i = self.created(model, labels={'rig': 'a-label-that-is-long-too'})
        for columns in (70, 58):
            lines = SEQUENCE.sub('', self.on_terminal('list', columns=columns)).splitlines()
            self.assertEqual([x for x in lines if len(x) >= columns], [])
            row = next(x for x in lines if x.startswith(i))
            self.assertIn('…', row)
            self.assertNotIn(LONG, row)
        self.assertIn(LONG, self.good('list'))
        self.assertNotIn('…', self.good('list'))

    def test_a_list_of_many_shows_how_to_continue(self):
        all_of_them = {self.created() for _ in range(5)}
        # two a page, which are a thousand
        proxy = Lossy(self.daemon, 0, lambda request: request.replace(b'limit=1000', b'limit=2'))
        self.addCleanup(proxy.close)
        seen, after, pages = [], [], 0
        while pages == 0 or after:
            done = self.run_program('list', *after, MECHD_SERVER=proxy.url)
            self.assertEqual(done.returncode, 0, done.stderr)
            _, *rows = done.stdout.splitlines()
            told = re.match('^there are more: (--after) (\\d+)$', rows[-1])
            after = list(told.groups()) if told else []
            seen += [row.split()[0] for row in (rows[:-1] if told else rows)]
            self.assertEqual(len(seen), len(set(seen)))
            pages += 1
        self.assertEqual(set(seen) & all_of_them, all_of_them)
        self.assertGreaterEqual(pages, 3)

    def test_options_that_no_request_can_have_are_refused(self):
        for words, part in ((('list', '--label', 'x' * 1000), 'the options are too long'),
                            (('stop', self.created(), '--coupling'), 'mechctl runs ID')):
            done = self.run_program(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ''))
            self.assertIn(part, done.stderr)

    def test_quotas_progress_and_steps_of_couplings_are_lines(self):
        i, run = self.recorded(count=10)
        pair = self.good('couple', '-', text=json.dumps({
            'participants': [{'name': 'mass', 'instance': self.created()}], 'connections': [],
            'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01})).strip()
        for words, begin in (
                (('quota', ), '^token'), (('progress', i, run), '^id +%s\nstate +finished\n' % run),
                (('couplings', pair, '--count', 3), r'^time 0\.03 s  windows 3  .*\nmass\.x +')):
            with self.subTest(words=words):
                text = self.good(*words)
                self.assertRegex(text, begin)
                self.assertNotIn('"', text)
                self.assertIsInstance(json.loads(self.good(*words, '--json')), dict)
        self.good('couplings', pair, '--delete')

    def test_warnings_of_steps_and_runs_of_couplings_are_printed(self):
        """Two masses, joined by a spring and a damper that is exchanged: stable up to 0.02 s."""
        left, right = (self.daemon.create(coupled.half(x)) for x in (0.01, 0.))
        joined = [{'from': '%s.%s' % (a, y), 'to': b + '.F', 'factor': -g if a == b else g}
                  for a in ('left', 'right') for b in ('left', 'right')
                  for y, g in (('x', 100), ('v', 1))]
        pair = self.good('couple', '-', text=json.dumps({
            'participants': [{'name': 'left', 'instance': left},
                             {'name': 'right', 'instance': right}],
            'connections': joined, 'scheme': {'type': 'Jacobi'}, 'stepSize': 0.05})).strip()
        self.good('couplings', pair, '--stability')
        warned = r'^mechctl: /stepSize: warning: windows of 0\.05 s are unstable: .* window 0\n$'
        for words in (('couplings', pair, '--count', 2),
                      ('run', pair, '--coupling', '--fast', '--count', 2)):
            done = self.run_program(*words)
            self.assertEqual(done.returncode, 0, done)
            self.assertRegex(done.stderr, warned)
            self.assertEqual(self.run_program(*words, '--json').stderr, '')
        shown = self.good('run', pair, '--coupling', '--fast', '--count', 2, '--wait')
        self.assertIn('windows of 0.05 s are unstable', shown)
        self.good('couplings', pair, '--delete')

    def test_help_lists_commands_by_what_they_are_about(self):
        found, group = {}, None
        for line in self.good('help').split('options, before')[0].splitlines():
            if re.match('[A-Z]', line):
                group = line
            elif line.startswith('  '):
                found.setdefault(group, []).append(line.split()[0])
        self.assertEqual(found['Runs, results and the stream'],
                         sorted(['plot', 'progress', 'replay', 'results', 'run', 'runs', 'streams',
                                 'watch']))
        self.assertEqual(len(found), 6)
        names = sum(found.values(), [])
        self.assertEqual(len(names), len(set(names)))
        for group, of in found.items():
            self.assertEqual(of, sorted(of), group)

    # --- results ----------------------------------------------------------------------------------

    # --- options that are keys of requests --------------------------------------------------------

    def test_keys_of_requests_are_options_with_their_texts(self):
        with open(os.path.join(harness.ROOT, 'protocol', 'openapi.json'), encoding='utf-8') as f:
            document = json.load(f)
        schemas, plain = document['components']['schemas'], ('boolean', 'integer', 'number')
        of = {'clone': 'CloneRequest', 'run': 'RunRequest', 'step': 'StepRequest',
              'statics': 'StaticsRequest', 'streams': 'StreamRequest', 'sweep': 'SweepRequest'}
        found = [(command, key, schema['description']) for command, name in of.items()
                 for key, schema in schemas[name]['properties'].items()
                 if schema.get('type') in plain and key not in ('commit', 'pace')]
        paths = {'item': '/v1/instances/{id}/objects/{name}/outputs/{variable}',
                 'fmu': '/v1/instances/{id}/fmu', 'system': '/v1/instances/{id}/system/{what}',
                 'results': '/v1/instances/{id}/runs/{rid}/results'}
        found += [(command, p['name'], p['description']) for command, path in paths.items()
                  for p in document['paths'][path]['get']['parameters']
                  if p.get('in') == 'query' and 'Factor' not in p['name']
                  and p['name'] not in ('bilateral', 'contacts', 'format', 'localPosition')]
        self.assertGreater(len(found), 20)
        for command, key, text in found:
            with self.subTest(command=command, key=key):
                # as an option is written: without the marks of sentences and of names
                text = re.sub('^true: |`', '', text).rstrip('.')
                option = '  --%s ' % re.sub('[A-Z]', lambda m: '-' + m.group().lower(), key)
                helped = self.good('help', command)
                self.assertIn(option, helped)
                helped = ' '.join(helped.split())  # whose lines are broken
                self.assertIn(text[:1].lower() + text[1:], helped)

    def test_keys_that_no_command_names_reach_the_server(self):
        path = os.path.join(self.daemon.folder, 'keys.json')
        with open(path, 'w', encoding='utf-8') as f:
            json.dump(models.oscillator(), f)
        i = self.good('create', path, '--durability', 'none', '--label', 'of=keys').strip()
        self.addCleanup(self.daemon.call, 'DELETE', '/v1/instances/' + i)
        shown = json.loads(self.good('show', i, '--json'))
        self.assertEqual((shown['durability'], shown['labels']), ('none', {'of': 'keys'}))
        reply = json.loads(self.good('step', i, '--size', '0.01', '--outputs', 'x',
                                     '--early-return', '--trial', '--json'))
        self.assertEqual((list(reply['outputs']), reply['ended']['by']), (['x'], 'request'))
        kept = ('trials', i, '--keep', 'a', '--trial')
        wrong = self.run_program(*kept, '99')
        self.assertEqual(wrong.returncode, 1, wrong.stderr)
        self.good(*kept, reply['trial'])
        self.assertEqual(self.good('trials', i).split()[4], 'a')
        self.assertEqual(len(self.good('list', '--limit', '1', '--label', 'of=keys')
                             .splitlines()), 2)
        for words, part in ((('list', '--limit', 'x'), 'limit'),
                            (('clone', i, '--ttl', 'x'), "--ttl: 'x' is not a number"),
                            (('clone', i, '--durability', 'never'), 'durability'),
                            (('--keep', '-o', 'x', 'edit', i), '--output: no such option here'),
                            (('trials', i, '--trial', '1'), '--trial needs --keep')):
            with self.subTest(words):
                self.assertIn(part, self.run_program(*words).stderr)

    def test_words_of_keys_are_completed(self):
        lines = self.good('completion', 'fish').splitlines()
        for command, option, words in (
                ('field', 'category', 'nodes objects markers loads sensors interactions'),
                ('results', 'format', 'json ndjson csv npy f64'), ('fmu', 'version', '2 3'),
                ('system', 'format', 'json mtx coo1 archive'),
                ('clone', 'durability', 'none checkpoint every-step')):
            begin = "complete -c mechctl -n '__mechctl_in %s' -l %s -x -a '%s' -d " % (
                command, option, words)
            self.assertEqual(len([line for line in lines if line.startswith(begin)]), 1, begin)

    def test_results_are_a_table_for_people_and_json_for_programs(self):
        i, run = self.recorded(count=10)
        lines = self.good('results', i, run).splitlines()
        reply = json.loads(self.good('results', i, run, '--json'))
        self.assertEqual(lines[0].split(), reply['columns'])
        self.assertEqual(len(set(map(len, lines))), 1, lines)
        self.assertEqual([['%.9g' % x for x in row] for row in reply['rows']],
                         [line.split() for line in lines[1:]])
        self.assertEqual(json.loads(self.good('results', i, run, '--format', 'json')), reply)
        part = self.run_program('results', i, run, '--limit', '2')
        self.assertEqual(len(part.stdout.splitlines()), 3)
        self.assertIn('there are more rows: --from 0.04', part.stderr)

    def test_a_file_of_results_is_what_its_name_says(self):
        i, run = self.recorded(count=10)
        csv = self.good('results', i, run, '--format', 'csv')
        with tempfile.TemporaryDirectory() as folder:
            def saved(name, *more):
                path = os.path.join(folder, name)
                self.good('results', i, run, '--save', path, *more)
                with open(path, encoding='utf-8') as f:
                    return f.read()
            for name in ('a.csv', 'A.CSV', 'of.others.csv'):
                self.assertEqual(saved(name), csv)
            self.assertEqual(saved('a.txt', '--format', 'csv'), csv)
            os.mkdir(os.path.join(folder, 'b.txt'))
            for name in ('plain', '.hidden', 'b.txt/plain'):
                self.assertIn('rows', json.loads(saved(name)))
            path = os.path.join(folder, 'b.dat')
            refused = self.run_program('results', i, run, '--save', path)
            self.assertEqual((refused.returncode, refused.stdout), (2, ''))
            self.assertIn('--format', refused.stderr)
            self.assertFalse(os.path.exists(path))

    def test_a_plot_on_the_terminal_fits_it(self):
        i, run = self.recorded()
        for columns in (100, 40):
            lines = SEQUENCE.sub('', self.on_terminal('plot', i, run,
                                                      columns=columns)).splitlines()
            self.assertEqual([x for x in lines if len(x) >= columns], [])
            self.assertEqual(lines[0], 'x in m')
            self.assertEqual(sum(bool(re.search('[\u2801-\u28ff]', x)) for x in lines), 12)
            self.assertRegex(lines[-1], r'^ +0 s +4 s$')
        # the curve begins where the oscillator does, and is as high as it moves
        reply = json.loads(self.good('results', i, run, '--json', '--outputs', 'x'))
        x = [row[1] for row in reply['rows']]
        lines = self.good('plot', i, run, '--outputs', 'x', '--lines', '9').splitlines()
        self.assertEqual([lines[1].split()[0], lines[9].split()[0]],
                         ['%.4g' % max(x), '%.4g' % min(x)])
        self.assertEqual(len(lines), 11)

    def test_a_plot_is_saved_as_a_picture(self):
        i, run = self.recorded()
        with tempfile.TemporaryDirectory(prefix='mechd-plot-') as folder:
            path = os.path.join(folder, 'out.')
            self.assertIn('bytes', self.good('plot', i, run, '--save', path + 'svg'))
            root = ElementTree.parse(path + 'svg').getroot()
            name = '{http://www.w3.org/2000/svg}'
            texts = [t.text for t in root.iter(name + 'text')]
            for text in ('x', 'v', 'in m', 'in m/s', '0', '4 s'):
                self.assertIn(text, texts)
            curves = [p for p in root.iter(name + 'polyline') if p.get('stroke-width')]
            self.assertEqual(len(curves), 2)
            self.assertEqual([len(c.get('points').split()) for c in curves], [201, 201])
            self.good('plot', i, run, '--save', path + 'png')
            with open(path + 'png', 'rb') as f:
                raw = f.read()
            width, height, rows, colours = png(raw)
            self.assertEqual((width, height), (800, 480))
            self.assertLess(len(raw), width * height / 20)
            used = set(b''.join(rows))
            self.assertLess(max(used), colours)
            # paper, grid, text and, in each of two graphs, the first colour of curves
            self.assertEqual(used, {0, 1, 2, 3})
            for begin in (0, 240):
                columns = {k for row in rows[begin + 26:begin + 208] for k, c in enumerate(row)
                           if c == 3}
                self.assertEqual(columns, set(range(78, 786)))
            self.assertEqual(self.run_program('plot', i, run, '--save', path + 'gif').returncode, 2)

    def test_a_plot_of_nothing_says_so(self):
        i, run = self.recorded()
        self.assertIn('no values', self.good('plot', i, run, '--from', '100'))
        self.assertEqual(self.run_program('plot', i, 'r-9').returncode, 1)
        for lines in ('1', 'x', '1e9'):
            self.assertEqual(self.run_program('plot', i, run, '--lines', lines).returncode, 2)

    def test_a_step_is_repeated_a_whole_number_of_times(self):
        i = self.created()
        self.assertIn('time 0.003 s', self.good('step', i, '--count', '1', '--repeat', '3'))
        for wrong in ('0', '-1', '1.5', '0.5', 'nan', 'inf', '1e10', 'x'):
            with self.subTest(repeat=wrong):
                done = self.run_program('step', i, '--repeat', wrong)
                self.assertEqual(done.returncode, 2, (done.stdout, done.stderr))
                self.assertIn('--repeat', done.stderr)
        self.assertEqual(self.daemon.call('GET', '/v1/instances/%s/state' % i)['step'], 3)

    # --- watch ------------------------------------------------------------------------------------

    def test_labels_distinguish_the_ends_of_an_axis(self):
        """A place that moves by 0.45 mm in 1 m, and by 3 nm."""
        number = r'-?[0-9.]+(?:e[-+][0-9]+)?'
        for speed in (4.5e-4, 3e-9):
            with self.subTest(speed=speed), tempfile.TemporaryDirectory() as folder:
                i = self.created(drifting(1.0, speed))
                run = self.good('run', i, '--fast', '--count', '100', '--period', '0.01',
                                '--record', '1').strip()
                self.good('progress', i, run, '--wait')
                x = [r[1] for r in json.loads(self.good('results', i, run, '--json'))['rows']]
                span = max(x) - min(x)
                self.assertGreater(span, 0)
                for columns in (80, 40):
                    lines = SEQUENCE.sub('', self.on_terminal('plot', i, run, '--lines', '5',
                                                              columns=columns)).splitlines()
                    self.assertEqual([y for y in lines if len(y) >= columns], [])
                    ends = [float(lines[k].split()[0]) for k in (1, 5)]
                    for shown, is_end in zip(ends, (max(x), min(x))):
                        self.assertAlmostEqual(shown, is_end, delta=span / 100)
                    self.assertEqual(len({line.index(c) for line in lines[1:6]
                                          for c in re.findall('[\u2800-\u28ff]', line)[:1]}), 1)
                path = os.path.join(folder, 'out.svg')
                self.good('plot', i, run, '--save', path)
                texts = [t for t in ElementTree.parse(path).getroot().iter(
                    '{http://www.w3.org/2000/svg}text') if t.get('text-anchor') == 'end'
                    and re.fullmatch(number, t.text)]
                self.assertGreater(len(texts), 1)
                self.assertEqual(len({t.text for t in texts}), len(texts))
                # none of 7 pixels a letter begins left of the picture
                self.assertEqual([t.text for t in texts if int(t.get('x')) < 7 * len(t.text)], [])

    def test_a_constant_is_drawn_as_one(self):
        # 0.5 m, but for the last digits of a double
        i = self.created(drifting(0.5, 1e-12, stiffness=2500))
        self.good('run', i, '--pace', '1')
        text = SEQUENCE.sub('', self.on_terminal('watch', i, '--count', '30', columns=70, rows=5))
        self.good('stop', i)
        drawn = set(re.findall('[▁-█]', text))
        self.assertEqual(len(drawn), 1, text)

    def test_watch_takes_the_whole_terminal_and_gives_it_back(self):
        i = self.created()
        self.good('set', i, 'force=20')
        self.good('run', i, '--pace', '1')
        text = self.on_terminal('watch', i, '--count', '12', columns=60, rows=30)
        whole, after = text.split('\033[?1049l')
        self.assertTrue(whole.startswith('\033[?1049h'), text)
        pictures = whole.split('\033[H')[1:]
        self.assertEqual(len(pictures), 12)
        lines = SEQUENCE.sub('', pictures[-1]).split('\r\n')
        self.assertLess(len(lines), 30)
        self.assertEqual([x for x in lines if len(x) >= 60], [])
        # the history of each of the two outputs is higher than a line
        self.assertGreaterEqual(sum(bool(re.search('[▁-█]', x)) for x in lines), 4)
        # the last picture remains below the command
        self.assertRegex(SEQUENCE.sub('', after), r'(?m)^x +-?[0-9]')
        self.assertIn('\033[?25h', text)

    def test_watch_says_once_that_it_waits(self):
        i = self.created()
        watch = subprocess.Popen(
            [program('mechctl'), 'watch', i, '--follow', '--count', '1'], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
            env={**os.environ, **self.environment})
        self.addCleanup(watch.kill)
        self.assertIn('%s is idle: waiting' % i, watch.stderr.readline())
        self.good('step', i, '--count', '1')
        lines, more = watch.communicate(timeout=20 * harness.SLOW)
        self.assertEqual((watch.returncode, more, len(lines.splitlines())), (0, '', 2))

    def test_watch_ends_with_q(self):
        i = self.created()
        self.good('run', i, '--pace', '1')
        typed = []

        def keys(seen):
            if 'time' in seen and not typed:
                typed.append('xq')
                return typed[0]
            return ''
        text = self.on_terminal('watch', i, keys=keys)
        self.assertIn('\033[?1049l', text)
        self.assertNotIn('xq', text)

    # --- problems ---------------------------------------------------------------------------------

    def test_a_problem_may_have_the_names_of_the_literature(self):
        usual = self.good('solve', '-', text='{"N": [[2, 1], [1, 2]], "r": [-5, -6]}')
        self.assertEqual(self.good('solve', '-', text='{"M": [[2, 1], [1, 2]], "q": [-5, -6]}'),
                         usual)
        for given, missing in (('M', 'q'), ('q', 'M')):
            value = '[[1]]' if given == 'M' else '[-1]'
            alone = self.run_program('solve', '-', text='{"%s": %s}' % (given, value))
            self.assertEqual((alone.returncode, alone.stdout), (2, ''))
            self.assertIn('-: %s without %s' % (given, missing), alone.stderr)
        # under both names it is refused, at the one that is not known
        both = self.run_program('solve', '-', text='{"N": [[1]], "M": [[1]], "r": [-1]}')
        self.assertEqual(both.returncode, 1)
        self.assertIn("unknown key 'M'", both.stderr)
        self.assertIn('M and q', self.good('help', 'solve'))


if __name__ == '__main__':
    unittest.main()
