"""A program that fails says why, and the coupling's error has it, as a text of that program."""
import unittest

from harness import KINDS, wait_until
from outside import LaneSocket
from partnered import Partners


class Words(Partners):
    def error(self, text, kind='trial', status=502, code='partner-fault'):
        """What a step says when the answer to its first question of that kind is an error with this
        text. The next step is done."""
        cid, right, told = self.couple(), self.right(), []

        def answers(question):
            if question['kind'] == KINDS[kind] and not told:
                told.append(question)
                return program.fails(question, text)
            return right(question)
        with self.program(cid, answers) as program:
            reply = self.step(cid, status)
            self.assertEqual(reply['code'], code, reply)
            window = self.step(cid)['window']
            self.assertEqual(window, 2 if code == 'commit-owed' else 1)
        self.daemon.call('DELETE', '/v1/couplings/' + cid)
        return reply['detail']

    def test_of_a_trial(self):
        self.assertEqual(self.error(b'the valve sticks at 3.5 mm'),
                         'participant right: it has failed with status 2002: '
                         '"the valve sticks at 3.5 mm"')

    def test_of_outputs_and_commits(self):
        self.assertIn(': "no power"', self.error(b'no power', 'outputs'))
        self.assertIn(': "disk full"', self.error(b'disk full', 'commit', 504, 'commit-owed'))

    def test_none_is_as_before(self):
        self.assertEqual(self.error(None),
                         'participant right: it has failed with status 2002')
        self.assertEqual(self.error(b''), 'participant right: it has failed with status 2002')

    def test_what_is_not_seen_is_named(self):
        self.assertIn(': "a<U+000A>b<U+001B>[31m <0xFF>"', self.error(b'a\nb\x1b[31m \xff'))

    def test_a_long_one_is_cut_between_characters(self):
        detail = self.error('é€'.encode() * 20000)
        self.assertRegex(detail, 'status 2002: "(é€)+é?…"$')
        self.assertLess(len(detail.encode()), 256)

    def test_a_step_of_a_run_has_it_too(self):
        cid, right = self.couple(), self.right()
        with self.program(cid, lambda q: program.fails(q, b'too hot') if q['step'] == 3
                          and q['kind'] == KINDS['trial'] else right(q)) as program:
            run = self.daemon.call('POST', '/v1/couplings/%s/runs' % cid,
                                   {'until': 1, 'period': 0.01})
            self.assertIn(run.status, (200, 202), run)
            path = '/v1/couplings/%s/runs/%s' % (cid, run['id'])
            wait_until(lambda: self.daemon.call('GET', path)['state'] != 'running', 'it has failed')
            reply = self.daemon.call('GET', path)
            self.assertEqual(reply['state'], 'failed', reply)
            self.assertIn('"too hot"', str(reply.json))


class LaneWords(Words):
    """The same over the lane: the text is the message behind the frame."""

    arguments, door = ('--lane', 'tcp://127.0.0.1:*'), LaneSocket


if __name__ == '__main__':
    unittest.main()
