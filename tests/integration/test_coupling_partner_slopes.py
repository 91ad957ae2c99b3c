"""Programs that return the Jacobian of their windows: schemes of Newton's kind take it."""
import contextlib
import math
import unittest

from harness import KINDS, SLOW
from outside import LaneSocket, Program, Refused
from partnered import H, K, K12, OSCILLATORS, Partners, half

OMEGA = math.sqrt(K + K12)


class Exact:
    """1 kg between springs in closed form, under a force of order 0 to 2 in time; `slopes` of an
    answer by its values, or none."""

    def __init__(self, order=0, slopes=True, x=0.):
        self.order, self.slopes, self.x, self.v, self.trials = order, slopes, x, 0., 0

    def forced(self, h):
        """x and v at h from rest by a force of 1, τ, τ²/2."""
        w, c, s = OMEGA, math.cos(OMEGA * h), math.sin(OMEGA * h)
        x = [(1 - c) / w ** 2, (h - s / w) / w ** 2, (h * h / 2 - (1 - c) / w ** 2) / w ** 2]
        return x[:self.order + 1], [s / w, x[0], x[1]][:self.order + 1]

    def __call__(self, question):
        if question['kind'] == KINDS['trial']:
            self.trials += 1
            h, w = question['size'], OMEGA
            x, v = self.forced(h)
            c, s = math.cos(w * h), math.sin(w * h)
            self.tried = (self.x * c + self.v / w * s + sum(map(_product, x, question['values'])),
                          self.v * c - self.x * w * s + sum(map(_product, v, question['values'])))
            return [self.tried[0], *(x if self.slopes else [])]
        if question['kind'] == KINDS['commit']:
            self.x, self.v = self.tried
        return [self.x]


def _product(a, b):
    return a * b


class Slopes(Partners):
    def steps(self, program, count=10, scheme='InterfaceNewton', **more):
        cid = self.couple(scheme=scheme, hold=program.order, **more)
        want = {'want': ['jacobian']} if program.slopes else {}
        with self.program(cid, program, inputOrder=program.order, **want) as place:
            self.assertEqual(place.hello['want'], want.get('want', []))
            reply = self.step(cid, count=count)
        self.left = self.daemon.create(half(1., k=K + K12))
        return reply

    def test_linear_couplings_converge_in_one_correction(self):
        """As two instances: the first evaluation has the Jacobians, the second confirms its end;
        one more iteration is the start."""
        program = Exact()
        report = self.steps(program)['report']
        self.assertEqual((report['iterations'], report['evaluations']), (21, 40))
        self.assertEqual(program.trials, 20)

    def test_so_do_those_of_inputs_that_vary_over_a_window(self):
        """Two programs; the start takes one iteration, and order^2 trials of each for its past."""
        for order in (0, 1, 2):
            with self.subTest(order):
                pair = Exact(order, x=1.), Exact(order)
                cid = self.daemon.call('POST', '/v1/couplings', {
                    'participants': [{'name': n, 'partner': {
                        'inputs': ['F'], 'outputs': ['x'], 'patience': 20 * SLOW}}
                        for n in ('left', 'right')],
                    'connections': OSCILLATORS, 'scheme': {'type': 'InterfaceNewton'},
                    'stepSize': H, 'hold': order})['id']
                with contextlib.ExitStack() as programs:
                    for name, program in zip(('left', 'right'), pair):
                        programs.enter_context(Program(
                            self.daemon, cid, name, program, door=type(self).door,
                            inputOrder=order, want=['jacobian']))
                    self.assertEqual(self.step(cid, count=10)['report']['iterations'], 21)
                self.assertEqual([p.trials for p in pair], [20 + order ** 2] * 2)

    def test_the_values_are_those_by_differences(self):
        for order in (0, 1, 2):
            with self.subTest(order):
                given, differenced = Exact(order), Exact(order, slopes=False)
                one, other = self.steps(given), self.steps(differenced)
                for name, value in one['outputs'].items():
                    self.assertAlmostEqual(value, other['outputs'][name], delta=1e-8)
                self.assertLess(given.trials, differenced.trials)

    def test_other_schemes_leave_it(self):
        one, other = (self.steps(Exact(slopes=s), scheme='IQN-ILS') for s in (True, False))
        self.assertEqual(one['outputs'], other['outputs'])

    def test_one_that_returns_without_it_is_differenced_from_the_next_window_on(self):
        program = Exact()
        cid = self.couple(scheme='InterfaceNewton')
        with self.program(cid, program, want=['jacobian']):
            self.step(cid, count=2)
        program.slopes, program.trials = False, 0
        with self.program(cid, program, window=2):
            report = self.step(cid, count=2)['report']
        self.assertEqual(report['iterations'], 4)
        self.assertGreater(program.trials, 4)

    def test_a_wrong_one_is_a_fault_of_that_partner(self):
        """One that is too short, too long, or no number: the window is undone, the next is done."""
        for wrong, words in (([], '1 values'), ([0., 0.], '3 values'),
                             ([math.nan], 'is not finite')):
            with self.subTest(words):
                program, told = Exact(), []

                def answers(question, program=program, told=told, wrong=wrong):
                    found = program(question)
                    if question['kind'] == KINDS['trial'] and question['step'] == 2 and not told:
                        told.append(question)
                        return [found[0], *wrong]
                    return found
                cid = self.couple(scheme='InterfaceNewton')
                with self.program(cid, answers, want=['jacobian']):
                    self.step(cid)
                    reply = self.step(cid, 502)
                    self.assertEqual(reply['code'], 'partner-fault')
                    self.assertIn('participant right', reply['detail'])
                    self.assertIn(words, reply['detail'])
                    self.assertEqual(self.step(cid)['window'], 2)
                self.daemon.call('DELETE', '/v1/couplings/' + cid)
                self.left = self.daemon.create(half(1., k=K + K12))

    def test_what_cannot_be_returned_is_refused(self):
        cid = self.couple()
        for want, pointer in ((['energy'], '/want/0'), ('jacobian', '/want'),
                              (['jacobian', 1], '/want/1')):
            with self.assertRaises(Refused) as refused:
                self.program(cid, Exact(), want=want)
            self.assertEqual([e['pointer'] for e in refused.exception.problem['errors']], [pointer])

    def test_a_large_one_is_refused(self):
        names = ['x%d' % k for k in range(1000)]
        cid = self.daemon.call('POST', '/v1/couplings', {
            'participants': [{'name': 'right', 'partner': {'inputs': names, 'outputs': names}}],
            'connections': [], 'scheme': {'type': 'Jacobi'}, 'stepSize': H})['id']
        with self.assertRaises(Refused) as refused:
            self.program(cid, Exact(), want=['jacobian'])
        self.assertEqual([e['pointer'] for e in refused.exception.problem['errors']], ['/want'])


class LaneSlopes(Slopes):
    """The same over the lane."""

    arguments, door = ('--lane', 'tcp://127.0.0.1:*'), LaneSocket


if __name__ == '__main__':
    unittest.main()
