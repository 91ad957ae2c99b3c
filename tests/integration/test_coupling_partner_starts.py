"""Partners outside before the first window of their coupling is done."""
import contextlib
import threading
import unittest

from harness import KINDS, SLOW, wait_until
from outside import Program
from partnered import H, OSCILLATORS, Partners


def first_trial(program):
    return next(q for q in program.asked if q['kind'] == KINDS['trial'])


class Restored(Partners):
    """A snapshot that is taken before the first step has been asked for outputs."""

    def fails_once(self):
        """Answers wrong to the first trial only."""
        wrong = [1]

        def answers(question):
            if question['kind'] == KINDS['trial'] and wrong:
                return [0.] * (1 + wrong.pop())
            return [0.]
        return answers

    def test_a_snapshot_before_the_start_is_one_that_can_be_started(self):
        cid = self.daemon.call('POST', '/v1/couplings', {
            'participants': [{'name': n, 'partner': {'inputs': ['u'], 'outputs': ['y'],
                                                     'patience': 20 * SLOW}} for n in 'ab'],
            'connections': [{'from': 'a.y', 'to': 'b.u'}], 'scheme': {'type': 'Jacobi'},
            'stepSize': H})['id']
        root = '/v1/couplings/%s/snapshots' % cid
        taken = self.daemon.call('POST', root)
        self.assertEqual(taken.status, 201, taken)
        with Program(self.daemon, cid, 'a', lambda _: [7.]), \
                Program(self.daemon, cid, 'b', self.fails_once()) as b:
            self.assertEqual(self.step(cid, 502)['code'], 'partner-fault')
            reply = self.daemon.call('POST', '%s/%s/restore' % (root, taken['id']))
            self.assertEqual((reply.status, reply['time']), (200, 0.), reply)
            del b.asked[:]
            self.assertEqual(self.step(cid)['window'], 1)
            self.assertEqual(list(first_trial(b)['values']), [7.])

    def test_at_the_time_of_its_instances(self):
        self.daemon.call('POST', '/v1/instances/%s/step' % self.left, {'until': 5})
        cid = self.couple(scheme='Jacobi')
        root = '/v1/couplings/%s/snapshots' % cid
        taken = self.daemon.call('POST', root)
        self.assertEqual(taken['time'], 5)
        with self.program(cid, self.fails_once()):
            self.assertEqual(self.step(cid, 502)['code'], 'partner-fault')
            reply = self.daemon.call('POST', '%s/%s/restore' % (root, taken['id']))
            self.assertEqual((reply.status, reply['time']), (200, 5), reply)
            reply = self.step(cid, count=2)
            self.assertEqual((reply['window'], round((reply['time'] - 5) / H)), (2, 2))


class Together(Partners):
    """What partners of one batch can do beside each other."""

    NAMES = 'abc'

    def three(self, **more):
        return self.daemon.call('POST', '/v1/couplings', {
            'participants': [{'name': n, 'partner': {'inputs': ['u'], 'outputs': ['y'],
                                                     'patience': 20 * SLOW, **more}}
                             for n in self.NAMES],
            'connections': [{'from': 'a.y', 'to': 'b.u'}], 'scheme': {'type': 'Jacobi'},
            'stepSize': H})['id']

    def test_all_are_asked_before_the_first_has_answered(self):
        all_asked = threading.Barrier(len(self.NAMES))

        def answers(question):
            if question['kind'] != KINDS['outputs']:  # those follow the connections
                all_asked.wait(15 * SLOW)
            return [1.]
        cid = self.three()
        with contextlib.ExitStack() as programs:
            for name in self.NAMES:
                programs.enter_context(Program(self.daemon, cid, name, answers))
            # each trial and each commit is answered when all have been asked
            self.assertEqual(self.step(cid, count=3)['window'], 3)

    def test_one_that_fails_ends_the_questions_to_the_others(self):
        cid, others = self.three(), []
        wrong = [1]

        def fails(question):
            if question['kind'] == KINDS['trial'] and wrong:
                return [0.] * (1 + wrong.pop())
            return [1.]

        def late(question):
            if question['kind'] == KINDS['trial'] and len(others) < 2:
                others.append(question)
                return None
            return [1.]
        with contextlib.ExitStack() as programs:
            for name, answers in zip(self.NAMES, (fails, late, late)):
                programs.enter_context(Program(self.daemon, cid, name, answers))
            reply = self.step(cid, 502)
            self.assertIn('participant a', reply['detail'])
            wait_until(lambda: len(others) == 2, 'both have been asked')
            self.assertEqual(self.step(cid, count=2)['window'], 2)


class Times(Partners):
    def test_the_time_of_the_instances_is_that_of_the_coupling_before_its_first_step(self):
        self.daemon.call('POST', '/v1/instances/%s/step' % self.left, {'until': 5})
        made = self.daemon.call('POST', '/v1/couplings', {
            'participants': [{'name': 'left', 'instance': self.left},
                             {'name': 'right', 'partner': {'inputs': ['F'], 'outputs': ['x']}}],
            'connections': OSCILLATORS, 'scheme': {'type': 'Jacobi'}, 'stepSize': H})
        cid = made['id']
        reply = self.daemon.call('GET', '/v1/couplings/' + cid)
        self.assertEqual((made['time'], reply['time'], reply['windows']), (5, 5, 0))
        with self.program(cid, lambda _: [0.]) as program:
            self.assertEqual((program.hello['time'], program.hello['window']), (5, 0))
            self.assertEqual(program.hello['time'], reply['time'])
            self.step(cid)
            self.assertEqual(first_trial(program)['time'], 5)


if __name__ == '__main__':
    unittest.main()
