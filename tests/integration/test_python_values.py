"""Numbers, lists and paths of any type in the Python package, and what is refused by its place."""
import array
import collections
import decimal
import fractions
import json
import os
import pathlib
import tempfile
import unittest

import models
from harness import Served
from package import mechd
from mechd import frames, values
from mechd.runs import recorded

numpy, D, F = values.numpy, decimal.Decimal, fractions.Fraction


class Own:
    """A number of a type of one's own."""

    def __float__(self):
        return 0.5


class Values(Served):
    def setUp(self):
        self.server = mechd.Server(self.daemon.base)
        self.addCleanup(self.server.close)

    def created(self, **more):
        instance = self.server.create(models.oscillator(), **more)
        self.addCleanup(instance.delete)
        return instance

    def test_numbers_of_any_type(self):
        for given, plain in ((numpy.float32(0.5), 0.5), (numpy.float64(2), 2.0), (D('0.25'), 0.25),
                             (numpy.int8(3), 3), (numpy.uint64(2**64 - 1), 2**64 - 1),
                             (numpy.bool_(True), True), (numpy.longdouble(0.5), 0.5),
                             (numpy.array(7), 7), (numpy.array(0.5), 0.5), (F(1, 4), 0.25),
                             (F(6, 2), 3), (D('5'), 5), (D('1e30'), 1e30), (Own(), 0.5)):
            with self.subTest(repr(given)):
                found = values.plain({'a': [given]})['a'][0]
                self.assertEqual((found, type(found)), (plain, type(plain)))
                self.assertEqual(json.loads(json.dumps(found)), plain)

    def test_lists_of_any_type(self):
        names = {'x': 1.0, 'v': 2.0}
        for given, plain in ((range(3), [0, 1, 2]), (names.keys(), ['x', 'v']),
                             (names.values(), [1.0, 2.0]),
                             (names.items(), [['x', 1.0], ['v', 2.0]]),
                             ((n for n in 'ab'), ['a', 'b']), (map(abs, [-1]), [1]),
                             (collections.deque([1, 2]), [1, 2]), (array.array('d', [1]), [1.0]),
                             (memoryview(array.array('d', [1, 2])), [1.0, 2.0]),
                             (numpy.array([[1, 2], [3, 4]], dtype=numpy.int16), [[1, 2], [3, 4]]),
                             (numpy.array([D('0.5'), F(1, 2)], dtype=object), [0.5, 0.5]),
                             (numpy.ones((2, 2))[:, 0], [1.0, 1.0]), ({'b', 'a'}, ['a', 'b']),
                             (collections.UserList([numpy.int64(1)]), [1])):
            with self.subTest(repr(given)):
                self.assertEqual(values.plain({'a': given}), {'a': plain})

    def test_what_json_does_not_hold_is_refused_by_its_place(self):
        nan, inf = float('nan'), float('inf')
        for given, told in (
                ({'inputs': {'force': nan}}, '/inputs/force: nan is not a finite number'),
                ({'model': {'nodes': [{'q': [0, -inf]}]}},
                 '/model/nodes/0/q/1: -inf is not a finite number'),
                ({'N': numpy.array([[1, 2], [inf, 3]])}, '/N/1/0: inf is not a finite number'),
                ({'a/b': {'c~d': D('NaN')}}, "/a~1b/c~0d: Decimal('NaN') is not a finite number"),
                ({'a': D('1e999')}, "/a: Decimal('1E+999') is not a finite number"),
                ({'a': numpy.float32(nan)}, '/a: nan is not a finite number'),
                ({'a': numpy.array(inf)}, '/a: inf is not a finite number'),
                ({'a': 1j}, '/a: 1j cannot be written as JSON'),
                ({'a': numpy.array([1j])}, '/a/0: 1j cannot be written as JSON'),
                ({'a': b'x'}, "/a: b'x' cannot be written as JSON"),
                ({'a': [object]}, "/a/0: <class 'object'> cannot be written as JSON"),
                ({'a': {1, 2}}, '/a: a set has no order; a list is needed'),
                ({'a': {1: 0, '1': 0}}, '/a/1: there are two members of this name')):
            with self.subTest(told), self.assertRaises(ValueError) as refused:
                values.plain(given)
            self.assertEqual(str(refused.exception), told)

    def test_in_every_place_of_a_session(self):
        i = self.created(ttl=numpy.int64(500))
        self.assertEqual(i.step(numpy.float32(0.5), inputs={'force': numpy.array(2)}).time, 0.5)
        self.assertEqual(i.step(until=F(3, 4), outputs={'x': 0}.keys()).outputs.keys(), {'x'})
        self.assertEqual(i.step(count=D(2), want=(n for n in ['energy'])).step, 752)
        i.inputs = {'force': D('1.5')}
        i.inputs['force'] = F(1, 2)
        self.assertEqual(i.inputs['force'], 0.5)
        i.parameters.update(k=numpy.array(4000))
        i.set_state(time=numpy.float32(2), q=range(1), v={'v': D('0.25')}.values())
        self.assertEqual((i.time, i.state.q.tolist(), i.state.v.tolist()), (2, [0], [0.25]))
        i.set_state(q=memoryview(array.array('d', [0.125])))
        self.assertEqual(i.outputs['x'], i.state.q[0] + i.outputs['x'] - 0.125)
        self.assertEqual(len(i.modes(numpy.int64(1))['modes']), 1)
        i.output('mass', 'Position', local_position=range(3))
        self.assertIn('forces', i.evaluate({'forces': 1}.keys(), q=range(1)))
        trial = i.trial(D('0.25'))
        i.commit(numpy.int64(trial.trial))
        i.edit(ttl=D(600))
        with i.lease('owner', seconds=F(60)) as lease:
            lease.renew(seconds=numpy.int32(70))
        next(i.events(rate=D(5)))
        with mechd.Server(self.daemon.base, timeout=D(60), retries=numpy.array(1)) as server:
            self.assertEqual(server.instance(i.id).time, i.time)

    def test_in_runs_and_records(self):
        i = self.created()
        for record, count in ((numpy.int64(2), 6), (numpy.array(2), 6), (D(2), 6), (F(1, 50), 6),
                              ({'x': 1}.keys(), 11)):
            with self.subTest(repr(record)):
                run = i.run(count=D(10), period=F(1, 100), record=record)
                self.assertEqual(len(run.results(start=D(0), limit=numpy.int64(100))), count)
                self.assertEqual(len(list(run.events(after=numpy.array(count)))), 1)
                i.reset()
        self.assertEqual(recorded(numpy.float32(0.5)), {'seconds': 0.5})
        found = i.record(until=F(1, 2), period=D('0.25'), outputs={'x': 0}.keys())
        self.assertEqual((len(found), list(found.columns)), (3, ['x']))

    def test_records_end_where_they_shall(self):
        for start in (0.0, -1.0, 1e6):
            model = models.oscillator()
            model['solver'] = dict(model['solver'], startTime=start)
            for end, times in ((0.5, [0.25, 0.5]), (0.6, [0.25, 0.5, 0.6]),
                               (0.7, [0.25, 0.5, 0.7]), (0.1, [0.1]), (0, []), (-0.1, [])):
                with self.subTest(start=start, end=end), self.server.create(model) as i:
                    found = i.record(until=start + end, period=0.25)
                    self.assertEqual(list(found.time), [start] + [start + t for t in times])
                    self.assertEqual(i.time, start + max(times, default=0))
        i = self.created()
        self.assertEqual(len(i.record(until=0.3, period=0.1)), 4)
        for period in (0, -0.1):
            with self.assertRaisesRegex(ValueError, '^period: .* is not a positive number'):
                i.record(1, period)

    def test_in_what_is_done_to_many(self):
        many = {k: self.created() for k in 'ab'}
        found = self.server.batch('step', many.values(), count=numpy.int64(4))
        self.assertEqual([r['body']['step'] for r in found], [4, 4])
        model = models.oscillator()
        for grid in ({'k': range(1, 4)}, {'k': numpy.arange(1, 4)}, {'k': map(D, (1, 2, 3))},
                     {'k': {'from': F(1), 'to': D(3), 'count': numpy.int64(3)}},
                     {'k': numpy.array(1), 'd': {1: 0, 2: 0, 3: 0}.keys()}):
            with self.server.sweep(model, grid=grid, count=numpy.int8(2)) as sweep:
                self.assertEqual(len(sweep.results()), 3)
        points = [{'k': k} for k in numpy.array([1.0, 2.0])]
        with self.server.sweep(model, points=iter(points), until=F(1, 100),
                               outputs={'x': 0}.keys(), every=D(5)) as sweep:
            self.assertEqual(len(sweep.results()), 6)
        with self.server.couple(many, [('a.x', 'b.force', F(1, 2))],
                                step_size=D('0.01')) as pair:
            self.assertEqual(pair.step(numpy.float64(0.02)).time, many['a'].time)
        found = self.server.problems.solve({'N': [[D(2), F(1)], range(1, 3)],
                                            'r': numpy.array([-5, -6])})
        self.assertLess(abs(found['l'] - [4 / 3, 7 / 3]).max(), 1e-14)

    def test_in_frames(self):
        i, twin = self.created(), self.created()
        with i.connect({'force': 0}.keys(), numpy.array(['x', 'v']), order=numpy.int64(0),
                       timeout=D(60)) as partner, i.stream(timeout=F(60)) as stream:
            for given in ([2], range(2, 3), numpy.array(2), numpy.int64(2), 2, D(2), F(4, 2),
                          {'n': 2}.values(), iter([D(2)]), memoryview(array.array('d', [2])),
                          numpy.array([D(2)], dtype=object), {'force': numpy.array(2)},
                          {'force': range(2, 3)}):
                with self.subTest(repr(given)):
                    y = partner.step(D('0.01'), given)
                    expected = twin.step(0.01, inputs={'force': 2}).outputs
                    self.assertEqual(list(y), [expected['x'], expected['v']])
            self.assertEqual(next(stream).step, 10)
            partner.trial(F(1, 100), [1], iteration=numpy.array(1))
            partner.set_state({'q': 1, 'v': D(0)}.values(), time=F(1, 2))
            self.assertEqual((partner.get_state().tolist(), i.time), ([1, 0], 0.5))
            partner.restore(numpy.int64(partner.snapshot()))
            for size, given, told in (
                    (0.01, [float('nan')], '/0: nan is not'), (0.01, ['1'], "/0: '1' is given"),
                    (0.01, numpy.array([numpy.inf]), '/0: inf is not'),
                    (0.01, numpy.array([1j]), '/0: 1j is given where numbers are needed'),
                    (0.01, numpy.array(['1']), "/0: '1' is given where numbers are needed"),
                    (0.01, {'force': D('NaN')}, r"/force: Decimal\('NaN'\) is not"),
                    (float('nan'), [1], 'size: nan is not')):
                with self.assertRaisesRegex(ValueError, told):
                    partner.step(size, given)
            with partner.forces() as forces, self.assertRaisesRegex(ValueError, 'time: inf is not'):
                forces.push([1], time=float('inf'))
        self.assertEqual(frames.pack(frames.STEP, (1, 2)), frames.pack(frames.STEP, range(1, 3)))

    def test_paths(self):
        with tempfile.TemporaryDirectory(prefix='mechd-') as folder:
            path = pathlib.Path(folder)
            (path / 'model.json').write_text('\ufeff' + json.dumps(models.oscillator()),
                                             encoding='utf-8')
            with self.server.create(path / 'model.json') as i:
                i.step(count=5)
                i.snapshot().save(path / 'kept')
                with self.server.create(snapshot=path / 'kept') as other:
                    self.assertEqual(other.outputs, i.outputs)
                raw, there = (path / 'kept').read_bytes(), i.outputs
                for kept in (path / 'kept', raw, bytearray(raw), memoryview(raw),
                             numpy.frombuffer(raw, dtype=numpy.uint8)):
                    i.step(count=1)
                    i.restore(kept)
                    self.assertEqual(i.outputs, there, type(kept))
            self.assertTrue(self.server.check(path / 'model.json')['ok'])
            with self.server.sweep(path / 'model.json', grid={'k': [1, 2]}, count=1) as sweep:
                self.assertEqual(len(sweep.results()['k']), 2)
            with self.assertRaisesRegex(ValueError, 'there is no file .*/none.pem'):
                mechd.Server('https://127.0.0.1:1', verify=path / 'none.pem')
            self.assertEqual(repr(mechd.Server(path / 's')), "Server('unix:%s')" % (path / 's'))
        self.assertEqual(values.plain({'file': path}), {'file': os.fspath(path)})

    def test_whole_numbers_of_any_type_are_counts(self):
        i = self.created()
        run = i.run(count=numpy.float64(4), record=1)
        for count in (1, 1.0, numpy.float32(1), D('1'), F(2, 2), numpy.array(1.0)):
            self.assertEqual(len(i.modes(count)['modes']), 1, repr(count))
            self.assertEqual(len(run.results(limit=count).time), 1, repr(count))
        with self.assertRaisesRegex(mechd.Invalid, 'count'):
            i.modes(1.5)

    def test_bytes_of_any_type(self):
        i, j = self.created(), self.created()
        pair = self.server.couple({'a': i, 'b': j}, step_size=0.01, scheme='Jacobi')
        self.addCleanup(pair.delete)
        raw = pair.data()
        for kept in (bytearray(raw), memoryview(raw)):
            pair.step(count=1)
            self.assertEqual(pair.restore(kept).time, 0)
        for send in (self.server.fmus.upload, self.server.couple_package):
            for given in (b'PK', bytearray(b'PK'), memoryview(b'PK')):
                with self.assertRaises(mechd.Refused):  # the server has them off
                    send(given)
            with self.assertRaisesRegex(TypeError, 'int'):
                send(7)
        with self.assertRaisesRegex(TypeError, 'NoneType'):
            i.restore(None)

    def test_numbers_that_are_none_are_refused_before_anything_is_sent(self):
        i = self.created()
        revision = i.info()['revision']
        for call, told in ((lambda: i.step(float('inf')), '^/size: inf is not'),
                           (lambda: i.inputs.update(force=float('nan')), '^/inputs/force: nan is'),
                           (lambda: i.set_state(q=[numpy.nan]), '^/q/0: nan is not'),
                           (lambda: i.output('mass', 'Position', local_position=[0, 0, D('inf')]),
                            "^/localPosition/2: Decimal.'Infinity'. is not"),
                           (lambda: i.run(count=1, record=float('nan')), '^/record: nan is not'),
                           (lambda: i.record(float('nan'), 1), '^until: nan is not'),
                           (lambda: next(i.runs()[0].events(after=0.5)) if i.runs() else
                            values.integer(0.5, 'after'), '^after: 0.5 is not a whole number'),
                           (lambda: mechd.Server(timeout=float('nan')), '^timeout: nan is not'),
                           (lambda: mechd.Server(timeout=0), '^timeout: 0 is not a positive'),
                           (lambda: i.connect(order=float('nan')), '^/inputOrder: nan is not'),
                           (lambda: self.server.sweep(models.oscillator(), grid={'k': [numpy.inf]},
                                                      count=1), '^/parameters/grid/k/0: inf is')):
            with self.subTest(told), self.assertRaisesRegex(ValueError, told):
                call()
        self.assertEqual((i.time, i.info()['revision']), (0.0, revision))


if __name__ == '__main__':
    unittest.main()
