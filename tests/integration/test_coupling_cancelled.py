"""DELETE of the operation of a coupling's step: before the last window is committed it is stopped,
and windows that are done remain; from there on it is described, for all of it has been done. A
program that takes part asks for the end at a known place, while the server waits for its answer."""
import shutil
import tempfile
import unittest

from asking import ASYNC
from harness import KINDS, Http, wait_until
from partnered import H, K, K12, Partners, half


class Cancelled(Partners):
    def ended(self, kind, window, body, what='operation'):
        """What the server says to the one that ends the step while it waits for the answer to this
        question of this window; then the windows, and the description of the operation."""
        self.left = self.daemon.create(half(1., k=K + K12))
        right, said, where = self.right(), [], []
        cid = self.couple()

        def answer(question):
            if (question['kind'], question['step']) == (KINDS[kind], window) and not said:
                wait_until(lambda: where, 'the operation has its name')
                http = Http(self.daemon.base)
                if what == 'operation':
                    said.append(http.call('DELETE', where[0]))
                elif what == 'coupling':
                    said.append(http.call('DELETE', '/v1/couplings/' + cid, None, ASYNC))
                else:
                    # the coupling has the lease of its owner
                    path = '/v1/instances/' + self.left
                    http.call('DELETE', path + '/lease?of=owner')
                    said.append(http.call('POST', path + '/stop'))
                http.close()
            return right(question)
        path = '/v1/couplings/' + cid
        with self.program(cid, answer):
            reply = self.daemon.call('POST', path + '/step', body, ASYNC)
            self.assertEqual(reply.status, 202, reply)
            where.append(reply.headers['Location'])
            wait_until(lambda: said and not self.daemon.call('GET', path).json.get('busy') and
                       self.daemon.call('GET', where[0]).json.get('state') != 'running',
                       'it is over')
            windows = round(self.time() / H)
            self.assertIn(self.daemon.call('GET', path).json.get('windows'), (windows, None))
        right.http.close()
        return said[0], windows, self.daemon.call('GET', where[0])

    def test_before_the_last_commit_it_is_stopped_and_windows_that_are_done_remain(self):
        for kind, window, done in (('trial', 1, 0), ('commit', 1, 1), ('trial', 2, 1),
                                   ('commit', 2, 2), ('trial', 3, 2)):
            for body in ({'count': 3}, {'until': 3 * H}):
                with self.subTest(kind=kind, window=window, **body):
                    reply, windows, after = self.ended(kind, window, body)
                    self.assertEqual((reply.status, windows), (204, done), reply)
                    self.assertEqual(after.status, 404, after)

    def test_at_the_last_commit_it_is_described(self):
        for body in ({'count': 3}, {'until': 3 * H}, {'size': 3 * H}):
            with self.subTest(**body):
                reply, windows, after = self.ended('commit', 3, body)
                self.assertEqual((reply.status, reply.json and reply['state'], windows),
                                 (200, 'running', 3), reply)
                self.assertEqual((after['state'], after['status'],
                                  after['answer']['report']['windows']), ('finished', 200, 3))

    def test_nor_does_a_stop_claim_to_have_ended_it(self):
        for kind, stopped, done in (('trial', True, 2), ('commit', False, 3)):
            with self.subTest(kind):
                reply, windows, after = self.ended(kind, 3, {'count': 3}, 'stop')
                self.assertEqual((reply['stopped'], windows), (stopped, done), reply)
                self.assertEqual(after['status'], 409 if stopped else 200, after)


    def test_a_coupling_that_is_deleted_meanwhile_has_done_it(self):
        for kind, status, done in (('trial', 409, 2), ('commit', 200, 3)):
            with self.subTest(kind):
                _, windows, after = self.ended(kind, 3, {'count': 3}, 'coupling')
                self.assertEqual((after['status'], windows), (status, done), after)


class Kept(Cancelled):
    """Programs commit what is on the disk."""

    def setUp(self):
        folder = tempfile.mkdtemp(prefix='mechd-cancelled-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        self.arguments = ('--state', folder, '--durability', 'every-step')
        super().setUp()


if __name__ == '__main__':
    unittest.main()
