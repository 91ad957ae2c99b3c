"""Partners outside before the first window of their coupling is done."""
import unittest

from harness import KINDS, SLOW
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
