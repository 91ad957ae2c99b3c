"""The Python package as people expect it: results in notebooks, frames and graphs, bars of tqdm,
types that a checker knows, a wheel, awaited requests, and copies as an environment."""
import asyncio
import contextlib
import importlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
import zipfile
from email.parser import Parser
from unittest import mock
from xml.etree import ElementTree
import harness
import models
from harness import Daemon, wait_until
from package import PACKAGE, copied, imported, mechd, pip  # first: finds the modules below
import mechd.aio  # noqa: E402
import mechd.progress  # noqa: E402
from mechd.envs import VectorEnv  # noqa: E402



def there(name):
    """A module that the package can use; None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


numpy, pandas, tqdm = (there(name) for name in ('numpy', 'pandas', 'tqdm'))
pyplot = there('matplotlib') and there('matplotlib.pyplot')

# each line has a member that an answer has not
ANALYSES = ''.join('%s["nothing"]\n' % call for call in (
    'server.problems.solve(M=[[1]], q=[1])', 'server.instance("a").statics()',
    'server.instance("a").modes()["modes"][0]', 'server.instance("a").linearization()',
    'server.instance("a").contacts()[0]', 'server.instance("a").evaluate(["lhs"])',
    'server.instance("a").jvp(1.0)', 'server.instance("a").derivatives()',
    'server.instance("a").system.info()', 'server.instance("a").system.blocks()',
    'server.instance("a").system.product([1.0])', 'server.instance("a").system.project([1.0])',
    'server.instance("a").system.schur_product([1.0])',
    'server.instance("a").system.feasibility([1.0], [1.0])',
    'server.couplings()[0].stability()', 'server.couplings()[0].snapshots()[0]',
    'server.couplings()[0].show_snapshot("a")'))
MODULES = sorted(n for n in os.listdir(os.path.join(PACKAGE, 'mechd')) if n.endswith('.py'))


class FakeAxes:
    """Axes of matplotlib, as far as graphs need them."""

    def __init__(self):
        self.curves, self.label = {}, None

    def plot(self, x, y, label):
        self.curves[label] = (list(x), list(y))

    def set_xlabel(self, text):
        self.label = text

    def legend(self):
        """Called last."""


class FakeBar:
    """A bar of tqdm."""
    made = []

    def __init__(self, **given):
        self.given, self.n, self.closed = given, 0.0, False
        self.made.append(self)

    def update(self, more):
        self.n += more

    def close(self):
        self.closed = True


class Shown(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.server = mechd.Server(cls.daemon.base)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        cls.daemon.stop()

    def created(self):
        instance = self.server.create(models.oscillator())
        self.addCleanup(instance.delete)
        return instance

    # --- results for people -----------------------------------------------------------------------

    def recorded(self):
        i = self.created()
        i.inputs['force'] = 20
        return i.record(until=0.1, period=0.01)

    def test_a_record_becomes_a_frame_of_pandas(self):
        record, pandas = self.recorded(), types.ModuleType('pandas')
        pandas.Index = lambda values, name: (name, values)
        pandas.DataFrame = lambda columns, index: (columns, index)
        with mock.patch.dict(sys.modules, pandas=pandas):
            columns, index = record.to_pandas()
        self.assertEqual(index, ('time', list(record.time)))
        self.assertEqual(columns, {n: list(record[n]) for n in ('x', 'v')})

    def test_a_table_becomes_a_frame_of_pandas(self):
        with self.server.sweep(models.oscillator(), grid={'k': [50, 100]}, count=3) as sweep:
            table, pandas = sweep.results(), types.ModuleType('pandas')
        pandas.DataFrame = lambda rows, columns: (rows, columns)
        with mock.patch.dict(sys.modules, pandas=pandas):
            rows, columns = table.to_pandas()
        self.assertEqual(columns, table.names)
        self.assertEqual(rows, [list(row) for row in table.rows])
        self.assertIn('<td>50</td>', table._repr_html_())

    def test_what_is_missing_is_named_with_how_it_is_installed(self):
        with mock.patch.dict(sys.modules, pandas=None):
            with self.assertRaisesRegex(ImportError, 'to_pandas.* needs pandas: pip install'):
                self.recorded().to_pandas()

    def test_a_record_is_drawn_by_matplotlib(self):
        record, axes = self.recorded(), FakeAxes()
        self.assertIs(record.plot(axes=axes), axes)
        self.assertEqual(axes.curves, {n: (list(record.time), list(record[n]))
                                       for n in ('x', 'v')})
        self.assertEqual(axes.label, 'time in s')
        axes = FakeAxes()
        record.plot('v', axes=axes)
        self.assertEqual(list(axes.curves), ['v'])

    def test_a_record_is_a_picture_and_a_table_in_a_notebook(self):
        page = self.recorded()._repr_html_()
        picture = ElementTree.fromstring(page[:page.index('</svg>') + 6])
        curves = picture.findall('{http://www.w3.org/2000/svg}polyline')
        self.assertEqual([len(c.get('points').split()) for c in curves], [11, 11])
        table = ElementTree.fromstring(page[page.index('<table'):page.index('</table>') + 8])
        self.assertEqual([h.text for h in table.iter('th')], ['time', 'x', 'v'])
        # the first and the last five rows, and a row between them
        self.assertEqual(len(list(table.iter('tr'))), 12)
        # nothing, a constant and what is no number are drawn too
        for record in (mechd.Record([], {'x': []}), mechd.Record([0, 1], {'x': [2, 2]}),
                       mechd.Record([0, 1], {'<x>': [float('nan'), 1]})):
            page = record._repr_html_()
            ElementTree.fromstring(page[:page.index('</svg>') + 6])

    def test_a_bar_is_that_of_tqdm_where_it_is_installed(self):
        FakeBar.made, i = [], self.created()
        with mock.patch.object(mechd.progress, 'tqdm', FakeBar), \
                mock.patch.object(mechd.progress, '_LEAST', -1.0):
            i.run(count=10, progress=True)
        bar, = FakeBar.made
        self.assertEqual((bar.given['total'], bar.given['desc']), (1.0, i.id))
        self.assertAlmostEqual(bar.n, 1.0)
        self.assertTrue(bar.closed)

    # --- the same with pandas, matplotlib and tqdm themselves -------------------------------------

    @unittest.skipUnless(pandas, 'pandas is not installed (Debian package python3-pandas)')
    def test_pandas_takes_records_and_tables(self):
        record = self.recorded()
        frame = record.to_pandas()
        self.assertEqual((frame.index.name, list(frame.columns)), ('time', ['x', 'v']))
        self.assertEqual(list(frame.index), list(record.time))
        self.assertEqual(list(frame['x']), list(record['x']))
        self.assertEqual({str(kind) for kind in frame.dtypes}, {'float64'})
        with self.server.sweep(models.oscillator(), grid={'k': [50, 100]}, count=3) as sweep:
            table = sweep.results()
        frame = table.to_pandas()
        self.assertEqual(list(frame.columns), table.names)
        self.assertEqual(frame.values.tolist(), [list(row) for row in table.rows])

    @unittest.skipUnless(pyplot, 'matplotlib is not installed (Debian package python3-matplotlib)')
    def test_matplotlib_draws_records_and_tables(self):
        record = self.recorded()
        pyplot.switch_backend('agg')
        axes = record.plot()
        self.addCleanup(pyplot.close, 'all')
        for line, name in zip(axes.get_lines(), ('x', 'v')):
            self.assertEqual(line.get_label(), name)
            self.assertEqual(list(line.get_xdata()), list(record.time))
            self.assertEqual(list(line.get_ydata()), list(record[name]))
        self.assertEqual(axes.get_xlabel(), 'time in s')
        self.assertEqual([text.get_text() for text in axes.get_legend().get_texts()], ['x', 'v'])
        picture = io.BytesIO()
        axes.figure.savefig(picture, format='png')
        self.assertTrue(picture.getvalue().startswith(b'\x89PNG'))
        with self.server.sweep(models.oscillator(), grid={'k': [50, 100]}, count=3) as sweep:
            table = sweep.results()
        line, = table.plot('k', 'x').get_lines()
        self.assertEqual(list(line.get_xdata()), [50, 100])

    @unittest.skipUnless(tqdm, 'tqdm is not installed (Debian package python3-tqdm)')
    def test_tqdm_draws_the_bar(self):
        i, text = self.created(), io.StringIO()
        with contextlib.redirect_stderr(text), mock.patch.object(mechd.progress, '_LEAST', -1.0):
            i.run(count=10, progress=True)
        self.assertRegex(text.getvalue(), re.escape(i.id) + r' +\d+ % \|')
        self.assertIn('100 % |', text.getvalue())

    # --- types and the wheel ----------------------------------------------------------------------

    @unittest.skipUnless(shutil.which('mypy'), 'mypy is not installed (Debian package mypy)')
    def test_a_type_checker_has_no_remark_and_knows_the_answers(self):
        with tempfile.TemporaryDirectory(prefix='mechd-mypy-') as folder:
            wrong = os.path.join(folder, 'wrong.py')
            with open(wrong, 'w', encoding='utf-8') as f:
                f.write('import mechd\nimport mechd.aio\nserver = mechd.Server()\n'
                        'number: int = server.about()["version"]\n'
                        'server.instance("a").info()["nothing"]\n' + ANALYSES)

            def check(*what):
                return subprocess.run(
                    ['mypy', '--strict', '--no-error-summary', '--cache-dir', folder, *what],
                    cwd=PACKAGE, capture_output=True, text=True, timeout=300 * harness.SLOW,
                    env={**os.environ, 'MYPYPATH': PACKAGE})
            done = check('mechd')
            self.assertEqual(done.stdout + done.stderr, '')
            remarks = re.findall(r'wrong\.py:(\d+): error', check(wrong).stdout)
            self.assertEqual(remarks, [str(4 + k) for k in range(2 + ANALYSES.count('\n'))])

    def test_a_wheel_has_all_modules_and_says_what_it_is(self):
        with tempfile.TemporaryDirectory(prefix='mechd-wheel-') as folder:
            pip(folder, 'wheel', '--wheel-dir', folder, copied(folder))
            wheel, = (n for n in os.listdir(folder) if n.endswith('.whl'))
            with zipfile.ZipFile(os.path.join(folder, wheel)) as packed:
                names = packed.namelist()
                meta = Parser().parsestr(packed.read(next(
                    n for n in names if n.endswith('METADATA'))).decode())
            self.assertEqual(sorted(n[6:] for n in names if n.startswith('mechd/')),
                             sorted(MODULES + ['py.typed']))
            self.assertEqual((meta['Name'], meta['Version']), ('mechd', mechd.__version__))
            self.assertIn('Typing :: Typed', meta.get_all('Classifier'))
            for name in ('Summary', 'Author', 'License', 'Requires-Python', 'Keywords'):
                self.assertTrue(meta[name], name)
            self.assertIn('First steps', meta.get_payload())
            self.assertEqual(set(meta.get_all('Provides-Extra')),
                             {'numpy', 'pandas', 'plot', 'progress'})
            # as installed it is imported without what is optional
            target = os.path.join(folder, 'there')
            pip(folder, 'install', '--target', target, os.path.join(folder, wheel))
            code = 'import sys\nfor name in ("numpy", "pandas", "tqdm", "matplotlib"):\n' \
                   '    sys.modules[name] = None\nimport mechd.aio, mechd.envs, mechd.replies\n' \
                   'print(mechd.__file__)'
            found = imported(target, code)
            self.assertTrue(found.startswith(target), found)

    # --- awaited ----------------------------------------------------------------------------------

    def test_requests_are_awaited_together(self):
        async def both():
            async with mechd.aio.Server(self.daemon.base) as server:
                async with await server.create(models.oscillator()) as a, \
                        await server.create(models.oscillator()) as b:
                    steps = await asyncio.gather(a.step(0.01), b.step(0.02))
                    run = await a.run(count=5, period=0.01, record=1)
                    await run.wait()
                    table = await server.batch_table('outputs', [a, b])
                    await b.set_inputs(force=3)
                    return [s.time for s in steps], len(await run.results()), len(table), \
                        await b.inputs()
        self.assertEqual(asyncio.run(both()), ([0.01, 0.02], 6, 2, {'force': 3}))

    def test_more_tasks_than_threads_are_cancelled(self):
        """Those that wait for a thread too: their steps are never sent."""
        async def cancelled():
            async with mechd.aio.Server(self.daemon.base) as server:
                some = [await server.create(models.nonlinear_oscillator()) for _ in range(80)]
                steps = [asyncio.ensure_future(i.step(count=10 ** 9)) for i in some]
                await asyncio.get_running_loop().run_in_executor(
                    None, wait_until, lambda: some[0].plain.info()['busy'], 'they are at work')
                for step in steps:
                    step.cancel()
                ended = await asyncio.gather(*steps, return_exceptions=True)
                states = [(await i.state()).time for i in some]
                for i in some:
                    await i.delete()
                return ended, states
        ended, times = asyncio.run(cancelled())
        self.assertEqual({type(e) for e in ended}, {asyncio.CancelledError})
        self.assertEqual(set(times), {0})

    def test_a_cancelled_task_stops_its_step(self):
        plain = self.created()

        async def begin_and_cancel():
            async with mechd.aio.Server(self.daemon.base) as server:
                instance = server.instance(plain.id)
                task = asyncio.ensure_future(instance.step(count=10 ** 9))
                await mechd.aio.call(wait_until, lambda: plain.info()['busy'], 'it is at work')
                task.cancel()
                try:
                    await task
                except asyncio.CancelledError:
                    return (await instance.step(0.01)).time
                return None
        self.assertEqual(asyncio.run(begin_and_cancel()), 0.01)

    # --- an environment ---------------------------------------------------------------------------

    @unittest.skipUnless(numpy, 'numpy is not installed (Debian package python3-numpy)')
    def test_copies_are_an_environment(self):
        before = len(list(self.server.instances()))
        with VectorEnv(self.server, models.oscillator(), 3, period=0.01, most_steps=4,
                       reward=lambda seen, action: -seen[:, 0] ** 2,
                       terminated=lambda seen: seen[:, 0] > 2) as envs:
            self.assertEqual((envs.inputs, envs.outputs), (['force'], ['x', 'v']))
            seen, infos = envs.reset(seed=1)
            self.assertEqual((seen.shape, infos), ((3, 2), {}))
            # each copy steps as an instance by itself does, to the last bit
            alone, actions = [self.created() for _ in range(3)], numpy.array([[0.], [20.], [-5.]])
            for k in range(4):
                seen, rewards, ended, cut, _ = envs.step(actions)
                wanted = [i.step(0.01, inputs={'force': float(a[0])}).outputs
                          for i, a in zip(alone, actions)]
                self.assertEqual(seen.tolist(), [[w['x'], w['v']] for w in wanted])
                self.assertEqual(rewards.tolist(), [-w['x'] ** 2 for w in wanted])
                self.assertFalse(ended.any())
                self.assertEqual(cut.tolist(), [k == 3] * 3)
            # the episodes were cut: the next action begins others
            seen, rewards, ended, cut, _ = envs.step(actions)
            self.assertEqual(seen.tolist(), [[1.5, 0.5]] * 3)
            self.assertEqual((rewards.tolist(), ended.any(), cut.any()), ([0.0] * 3, False, False))
            with self.assertRaisesRegex(ValueError, 'not finite'):
                envs.step([[numpy.nan]] * 3)
            # an action of one input may be a number; rows are copies, not inputs
            for i in alone:
                i.reset()
            wanted = [i.step(0.01, inputs={'force': float(a[0])}).outputs
                      for i, a in zip(alone, actions)]
            self.assertEqual(envs.step([0., 20., -5.])[0].tolist(),
                             [[w['x'], w['v']] for w in wanted])
            for wrong in ([[0., 0., 0.]], 0., [[0.] * 2] * 3):
                with self.assertRaisesRegex(ValueError, 'copies, inputs'):
                    envs.step(wrong)
        self.assertEqual(len(list(self.server.instances())), before + 3)

    @unittest.skipUnless(numpy, 'numpy is not installed (Debian package python3-numpy)')
    def test_episodes_of_an_environment_begin_at_the_given_state_and_end_where_they_fail(self):
        # a root of what is negative beyond 9 m
        model = models.oscillator()
        model['objects'][1] = models.spring(springForceUserFunction='=100*u + sqrt(81 - u*u)')
        with VectorEnv(self.server, model, 2, period=0.01,
                       reward=lambda seen, action: numpy.ones(2),
                       start=lambda rng: {'q': [float(rng.uniform(0, 1))]}) as envs:
            first = envs.reset(seed=7)[0].tolist()
            self.assertNotEqual(first[0], first[1])
            self.assertEqual(envs.reset(seed=7)[0].tolist(), first)
            # a force that drives one copy there fails in it alone
            seen, _, ended, _, infos = envs.step([[1e9], [0.0]])
            self.assertEqual((ended.tolist(), list(infos['failed'])), ([True, False], [0]))
            self.assertTrue(numpy.isfinite(seen).all())
            self.assertFalse(envs.step([[0.0], [0.0]])[2].any())

    @unittest.skipUnless(numpy, 'numpy is not installed (Debian package python3-numpy)')
    def test_an_environment_takes_the_scalars_of_a_model_with_vectors(self):
        with VectorEnv(self.server, 'double-pendulum', 2, period=0.01,
                       reward=lambda seen, action: seen[:, 0]) as envs:
            self.assertIn('x', envs.outputs)
            self.assertNotIn('hinge', envs.outputs)
            self.assertEqual(envs.reset()[0].shape, (2, len(envs.outputs)))
        with self.assertRaisesRegex(ValueError, "'hinge' has several components"):
            VectorEnv(self.server, 'double-pendulum', 2, period=0.01, outputs=['hinge'],
                      reward=lambda seen, action: 0)

    def test_an_environment_of_what_is_not_there_is_refused_and_leaves_nothing(self):
        before = len(list(self.server.instances()))
        for wrong in ({'outputs': ['y']}, {'inputs': ['y']}):
            with self.assertRaisesRegex(ValueError, "'y' is neither"):
                VectorEnv(self.server, models.oscillator(), 2, period=0.01,
                          reward=lambda seen, action: 0, **wrong)
        self.assertEqual(len(list(self.server.instances())), before)


if __name__ == '__main__':
    unittest.main()
