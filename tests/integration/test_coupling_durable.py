"""What outlives the process of couplings: with a state directory a coupling is as durable as its
participants, and after a kill at any moment these are all at the same window.

MECHD_TESTS_KILLS: how often the daemon is killed (10)."""
import contextlib
import random
import re
import sqlite3
import threading
from concurrent import futures
import harness
from asking import is_busy
from coupled import K, K12, OSCILLATORS, half
from coupled_kept import RARE, KeptCouplings
from harness import Daemon, Http, wait_until
from keeping import KILLS, Kept

RACES = True

# schemes whose next window reads what those before have left
SCHEMES = {'IQN-ILS': {'scheme': {'type': 'IQN-ILS', 'reuse': 3}},
           'Gauss-Seidel': {'scheme': 'GaussSeidel', 'hold': 1}}


class Durable(KeptCouplings):
    def twin(self, windows, one_by_one=True, **more):
        """Outputs and states of a coupling in a process that was never killed."""
        with Daemon() as other:
            here, self.daemon = self.daemon, other
            try:
                left, right, cid = self.pair('none', **more)
                for _ in range(windows if one_by_one else 1):
                    self.good(cid, count=1 if one_by_one else windows)
                return self.all_of(left, right, cid)
            finally:
                self.daemon = here

    # --- a process ends between two windows

    def test_a_coupling_goes_on_in_the_next_process_with_the_same_bits(self):
        for name, more in SCHEMES.items():
            for kill in (True, False):
                with self.subTest(name, kill=kill):
                    left, right, cid = self.pair('every-step', **more)
                    for _ in range(7):
                        self.good(cid, count=1)
                    before = self.shown(cid)
                    self.assertEqual(before['durability'], 'every-step')
                    self.again(kill)
                    self.assertEqual(self.shown(cid), dict(before, last=None))
                    for _ in range(5):
                        self.good(cid, count=1)
                    self.assertEqual(self.all_of(left, right, cid), self.twin(12, **more))

    def test_a_checkpoint_is_one_of_all_participants(self):
        """By steps of one of them; what came after it is lost for both."""
        left, right, cid = self.pair(({'mode': 'checkpoint', 'steps': 5}, RARE))
        self.assertEqual(self.shown(cid)['durability'], 'checkpoint')
        self.good(cid, count=5)
        wait_until(lambda: self.rows('SELECT sequence FROM couplings') == [(5,)], 'a checkpoint')
        self.good(cid, count=3)
        self.again()
        self.assertEqual(self.all_of(left, right, cid), self.twin(5, one_by_one=False))
        self.good(cid, count=3)
        self.again(kill=False)  # at its end a process stores all
        self.assertEqual(self.shown(cid)['windows'], 8)
        self.assertEqual(self.step(cid, count=1).status, 200)

    def test_a_checkpoint_comes_by_the_clock_also_within_a_command(self):
        more = SCHEMES['IQN-ILS']
        left, right, cid = self.pair({'mode': 'checkpoint', 'seconds': 0.05}, **more)
        door = Http(self.daemon.base)

        def step():
            with contextlib.suppress(OSError, ValueError, harness.http.client.HTTPException):
                door.call('POST', '/v1/couplings/%s/step' % cid, {'count': 10 ** 9})
        worker = threading.Thread(target=step)
        worker.start()
        wait_until(lambda: self.rows('SELECT sequence FROM couplings')[0][0] > 3, 'a checkpoint')
        self.daemon.kill()
        worker.join()
        door.close()
        self.daemon = Kept(self.folder)
        windows = self.shown(cid)['windows']
        self.assertGreater(windows, 3)
        self.assertEqual(self.rows('SELECT sequence FROM states'), [(windows,), (windows,)])
        self.good(cid, count=3)
        self.assertEqual(self.all_of(left, right, cid),
                         self.twin(windows + 3, one_by_one=False, **more))

    def test_every_participant_is_at_the_last_acknowledged_window_after_a_kill(self):
        """At random moments, most of them within a window; or one command further, if that was on
        disk before its answer was on its way."""
        dice = random.Random(5)
        pair = self.pair(('every-step', RARE), **SCHEMES['IQN-ILS'])
        done, twin = 0, None
        with Daemon() as other:
            for _ in range(KILLS):
                told = self.step_until_killed(pair[2], done, dice.randrange(40))
                self.daemon = other
                twin = twin or self.pair('none', **SCHEMES['IQN-ILS'])
                self.daemon = Kept(self.folder)
                found = self.shown(pair[2])['windows']
                self.assertIn(found, (told, told + 1))
                self.assertEqual(set(self.rows('SELECT sequence FROM states')), {(found,)})
                here, self.daemon = self.daemon, other
                for _ in range(found - done):
                    self.good(twin[2], count=1)
                expected = self.all_of(*twin)
                self.daemon = here
                self.assertEqual(self.all_of(*pair), expected)
                done = found
        self.assertGreater(done, 0)

    def step_until_killed(self, cid, done, more):
        """The number of windows that were acknowledged: so many more, one by one, or a few."""
        door, told = Http(self.daemon.base), [done]

        def step():
            with contextlib.suppress(OSError, harness.http.client.HTTPException):
                while True:
                    reply = door.call('POST', '/v1/couplings/%s/step' % cid, {'count': 1})
                    assert reply.status == 200, reply
                    told[0] = reply['window']
        worker = threading.Thread(target=step)
        worker.start()
        wait_until(lambda: told[0] >= done + more, 'it steps', 60)
        self.daemon.kill()
        worker.join()
        door.close()
        return told[0]

    # --- a participant changes alone

    def test_what_a_client_changes_of_one_participant_takes_no_window_ahead(self):
        """A co-driver sets an input that no connection drives: with checkpoints all participants
        are stored with it, also where the coupling's own checkpoint is far."""
        windows = 3
        for durability in ('every-step', {'mode': 'checkpoint', 'seconds': 0.05}):
            with self.subTest(durability):
                left = self.daemon.create(half(1., k=K), durability=durability)
                right = self.daemon.create(half(0., k=K), durability=RARE)
                cid = self.couple(left, right, OSCILLATORS[:1])['id']
                for _ in range(windows):
                    self.good(cid, count=1)
                path = '/v1/instances/' + left
                lease = self.daemon.call('POST', path + '/lease',
                                         {'role': 'co-driver', 'channels': ['F']})
                self.assertEqual(lease.status, 201, lease)
                reply = self.daemon.call('PUT', path + '/inputs', {'F': 2.5},
                                         {'Lease': str(lease['lease'])})
                self.assertEqual(reply.status, 200, reply)
                number = int(re.search(r'[.](\d+)', reply.headers['ETag'])[1])
                wait_until(lambda i=left, n=number: self.revision(i) >= n, 'it is stored')
                self.again()
                self.assertEqual((self.sequence(left), self.sequence(right)), (windows, windows))
                self.assertEqual(self.shown(cid)['windows'], windows)
                inputs = self.daemon.call('GET', path + '/inputs')
                self.assertRegex(inputs.raw.decode(), '"F": ?2.5')
                self.good(cid, count=1)

    def revision(self, i):
        return self.rows('SELECT revision FROM states JOIN instances USING (key) WHERE id = ?',
                         i)[0][0]

    # --- inputs that a start gives

    def start(self, left, right, status=201, **more):
        """Without a step: "left" is at 0 and gets its input from "right", which is at 1."""
        first = self.daemon.create(half(0., k=K), durability=left)
        other = self.daemon.create(half(1., k=K), durability=right)
        before = self.revision(first)
        reply = self.couple(first, other, OSCILLATORS, hold=0, **more)
        self.assertEqual(reply.status, status, reply)
        return first, before, reply.json

    def inputs(self, i):
        return self.daemon.call('GET', '/v1/instances/%s/inputs' % i)['inputs']

    def test_inputs_that_a_start_gives_are_stored_with_it(self):
        """Where they are held, no window has to follow; also where the coupling is not stored."""
        for other in ('none', 'every-step', RARE):
            for scheme in ('Jacobi', 'IQN-ILS'):
                with self.subTest(other, scheme=scheme):
                    left, before, _ = self.start('every-step', other, scheme=scheme)
                    given = self.inputs(left)
                    self.assertAlmostEqual(given['F'], K12)
                    self.assertGreater(self.revision(left), before)
                    self.again()
                    self.assertEqual(self.inputs(left), given)

    def test_inputs_of_a_reset_are_stored_with_it(self):
        left, _, made = self.start('every-step', 'none')
        self.good(made['id'], count=20)
        reply = self.daemon.call('POST', '/v1/couplings/%s/reset' % made['id'])
        self.assertEqual(reply.status, 200, reply)
        given = self.inputs(left)
        self.assertAlmostEqual(given['F'], K12)
        self.again()
        self.assertEqual(self.inputs(left), given)

    def test_inputs_of_a_start_that_cannot_be_stored_are_undone(self):
        """And there is no coupling, also where it would not be stored itself."""
        for other in ('none', 'every-step'):
            with self.subTest(other):
                left = self.daemon.create(half(0., k=K), durability='every-step')
                right = self.daemon.create(half(1., k=K), durability=other)
                with self.daemon.full_disk():
                    reply = self.couple(left, right, OSCILLATORS, hold=0)
                    self.assertEqual((reply.status, reply['code']), (507, 'storage-failed'), reply)
                    wait_until(lambda: not self.daemon.call('GET', '/v1/couplings')['items'],
                               'it is gone')
                    wait_until(lambda i=left: self.inputs(i)['F'] == 0., 'it is undone')
                reply = self.couple(left, right, OSCILLATORS, hold=0)
                self.assertEqual(reply.status, 201, reply)
                self.assertAlmostEqual(self.inputs(left)['F'], K12)
                self.again()
                self.assertAlmostEqual(self.inputs(left)['F'], K12)

    # --- what is not stored

    def test_a_coupling_with_a_participant_that_is_not_stored_is_not_stored(self):
        left, _, cid = self.pair(('checkpoint', 'none'))
        self.assertEqual(self.shown(cid)['durability'], 'none')
        self.good(cid, count=4)
        self.again(kill=False)
        self.shown(cid, status=404)
        reply = self.daemon.call('GET', '/v1/instances/%s/state' % left)
        self.assertEqual(reply['time'], 0.04, reply)
        # its lease has ended with the process, and its id is not given again
        late = self.daemon.create(half(0., k=K))
        self.daemon.call('POST', '/v1/instances/%s/step' % late, {'until': 0.04})
        reply = self.couple(left, late, OSCILLATORS)
        self.assertEqual(reply.status, 201, reply)
        self.assertNotEqual(reply['id'], cid)

    def test_a_deleted_coupling_stays_away_and_its_participants_at_one_window(self):
        for kill in (True, False):
            with self.subTest(kill=kill):
                left, right, cid = self.pair(RARE)
                self.good(cid, count=6)
                self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + cid).status, 204)
                self.again(kill)
                self.shown(cid, status=404)
                self.assertEqual(self.sequence(left), self.sequence(right))
                self.assertEqual(self.sequence(left), 6)
                self.assertEqual(
                    self.daemon.call('POST', '/v1/instances/%s/step' % left, {'count': 1}).status,
                    200)

    def test_a_coupling_without_one_of_its_participants_is_set_aside(self):
        """With its reason in the log; the others stay."""
        left, right, cid = self.pair(RARE)
        self.good(cid, count=2)
        for path in ('/lease?of=owner', ''):
            reply = self.daemon.call('DELETE', '/v1/instances/%s%s' % (right, path))
            self.assertEqual(reply.status, 204, reply)
        # another one under its id takes no part
        reply = self.daemon.call('PUT', '/v1/instances/' + right,
                                 {'model': half(0., k=K + K12), 'durability': RARE})
        self.assertEqual(reply.status, 201, reply)
        self.again(kill=False)
        self.assertRegex(self.daemon.log(), 'event=set-aside coupling=%s reason="[^"]*%s'
                         % (cid, right))
        self.shown(cid, status=404)
        self.assertEqual(self.daemon.call('GET', '/v1/couplings')['items'], [])
        self.assertEqual(self.daemon.call('GET', '/v1/instances/%s/state' % left)['time'], 0.02)
        self.assertNotIn('set-aside', self.restarted_log())

    def restarted_log(self):
        self.again(kill=False)
        return self.daemon.log()

    def change(self, sql, *values):
        connection = sqlite3.connect(self.folder + '/mechd.sqlite')
        try:
            connection.execute(sql, values)
            connection.commit()
        finally:
            connection.close()

    def test_a_coupling_that_is_damaged_is_set_aside_and_its_instances_are_there(self):
        damages = ("bytes = substr(bytes, 1, 60) || x'ff' || substr(bytes, 62)",
                   "bytes = x'00'", "bytes = bytes || x'00'", "document = '[1, 2'",
                   "document = '{}'", "document = replace(document, 'IQN-ILS', 'Jacobi')")
        for damage in damages:
            with self.subTest(damage):
                left, _, cid = self.pair(RARE)
                self.good(cid, count=2)
                self.daemon.stop()
                self.change('UPDATE couplings SET %s WHERE number = ?' % damage, int(cid[2:]))
                self.daemon = Kept(self.folder)
                self.assertIn('event=set-aside coupling=%s reason=' % cid, self.daemon.log())
                self.shown(cid, status=404)
                self.assertEqual(self.rows('SELECT aside IS NULL FROM couplings WHERE number = ?',
                                           int(cid[2:])), [(0,)])
                reply = self.daemon.call('POST', '/v1/instances/%s/step' % left, {'count': 1})
                self.assertEqual(reply.status, 200, reply)

    # --- a disk that is full

    def test_a_full_disk_undoes_the_windows_of_all(self):
        left, right, cid = self.pair('every-step', **SCHEMES['IQN-ILS'])
        for _ in range(4):
            self.good(cid, count=1)
        before = self.all_of(left, right, cid)
        other = self.daemon.create(half(1., k=K))
        with self.daemon.full_disk(), self.busy(other):
            for _ in range(20):
                reply = self.step(cid, count=1)
                self.assertEqual((reply.status, reply['code']), (507, 'storage-failed'), reply)
                self.assertEqual(self.shown(cid)['windows'], 4)
                self.assertEqual(self.all_of(left, right, cid), before)
            reply = self.daemon.call('DELETE', '/v1/couplings/' + cid)
            self.assertEqual((reply.status, reply['code']), (507, 'storage-failed'), reply)
            self.assertEqual(self.all_of(left, right, cid), before)
        for _ in range(3):
            self.good(cid, count=1)
        after = self.all_of(left, right, cid)
        self.assertEqual(after, self.twin(7, **SCHEMES['IQN-ILS']))
        self.again()
        self.assertEqual(self.all_of(left, right, cid), after)
        self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + cid).status, 204)

    def test_each_of_several_clients_on_a_full_disk_is_answered(self):
        left, right, cid = self.pair('every-step')
        self.good(cid, count=1)
        before, codes = self.all_of(left, right, cid), []

        def ask():
            with contextlib.closing(Http(self.daemon.base)) as http:
                for _ in range(40):
                    reply = http.call('POST', '/v1/couplings/%s/step' % cid, {'count': 1})
                    codes.append((reply.status, reply['code']))
        with self.daemon.full_disk(), futures.ThreadPoolExecutor(4) as clients:
            for done in [clients.submit(ask) for _ in range(4)]:
                done.result()
            self.assertEqual((set(codes), len(codes)), ({(507, 'storage-failed')}, 160))
            self.assertEqual(self.all_of(left, right, cid), before)
        self.good(cid, count=1)

    @contextlib.contextmanager
    def busy(self, *instances):
        """The pool has other work meanwhile: endless steps."""
        doors = [Http(self.daemon.base) for _ in instances]
        steps = [threading.Thread(target=door.call, args=(
            'POST', '/v1/instances/%s/step' % i, {'count': 10 ** 12}))
            for door, i in zip(doors, instances)]
        for step in steps:
            step.start()
        for i in instances:
            wait_until(lambda n=i: is_busy(self.daemon, '/' + n), 'it steps')
        try:
            yield
        finally:
            for i in instances:
                self.daemon.call('POST', '/v1/instances/%s/stop' % i)
            for step, door in zip(steps, doors):
                step.join()
                door.close()

    def test_what_one_participant_could_not_store_is_undone_before_the_answer(self):
        left, _, _ = self.pair('every-step', connections=OSCILLATORS[:1])
        path = '/v1/instances/' + left
        lease = self.daemon.call('POST', path + '/lease', {'role': 'co-driver', 'channels': ['F']})
        with self.daemon.full_disk():
            for _ in range(20):
                reply = self.daemon.call('PUT', path + '/inputs', {'F': 2.5},
                                         {'Lease': str(lease['lease'])})
                self.assertEqual((reply.status, reply['code']), (507, 'storage-failed'), reply)
                self.assertEqual(self.inputs(left)['F'], 0.)

    def test_a_full_disk_ends_a_command_whose_windows_would_be_lost(self):
        """And a run: without that, both would never be over."""
        left, right, cid = self.pair({'mode': 'checkpoint', 'seconds': 0.05})
        replies = []
        self.good(cid, count=3)

        def step():
            replies.append(Http(self.daemon.base).call(
                'POST', '/v1/couplings/%s/step' % cid, {'count': 10 ** 9}))
        worker = threading.Thread(target=step)
        worker.start()
        wait_until(lambda: self.rows('SELECT sequence FROM couplings')[0][0] > 3, 'a checkpoint')
        with self.daemon.full_disk():
            worker.join(60 * harness.SLOW)
            self.assertEqual([(r.status, r['code']) for r in replies], [(507, 'storage-failed')])
            self.assertEqual(self.shown(cid)['windows'],
                             self.rows('SELECT sequence FROM couplings')[0][0])
            # what it reports is what is left of it
            self.assertEqual(replies[0]['report']['windows'] + 3, self.shown(cid)['windows'])
        self.assertEqual(self.sequence(left), self.sequence(right))
        run = self.daemon.call('POST', '/v1/couplings/%s/runs' % cid, {'until': 1e9})
        self.assertEqual(run.status, 202, run)
        with self.daemon.full_disk():
            wait_until(lambda: self.daemon.call('GET', run.headers['Location'])['state'] ==
                       'failed', 'the run fails', 60)
        self.good(cid, count=1)

    def test_a_coupling_that_cannot_be_stored_is_none(self):
        left = self.daemon.create(half(1., k=K), durability='every-step')
        right = self.daemon.create(half(0., k=K), durability='every-step')
        with self.daemon.full_disk():
            reply = self.couple(left, right, OSCILLATORS)
            self.assertEqual((reply.status, reply['code']), (507, 'storage-failed'), reply)
            wait_until(lambda: not self.daemon.call('GET', '/v1/couplings')['items'], 'it is gone')
        reply = self.couple(left, right, OSCILLATORS)
        self.assertEqual(reply.status, 201, reply)
        self.good(reply['id'], count=1)

    # --- answers that are retained

    def test_a_step_and_its_receipt_are_both_there_or_neither(self):
        for durability, kept in (('every-step', True), (RARE, False)):
            with self.subTest(kept=kept):
                left, right, cid = self.pair(durability)
                key = {'Idempotency-Key': 'window-' + cid}
                path = '/v1/couplings/%s/step' % cid
                first = self.daemon.call('POST', path, {'count': 2}, key)
                self.assertEqual(first.status, 200, first)
                self.again()
                self.assertEqual(self.shown(cid)['windows'], 2 if kept else 0)
                again = self.daemon.call('POST', path, {'count': 2}, key)
                self.assertEqual(again.json, first.json)
                self.assertEqual(self.shown(cid)['windows'], 2)
                self.again(kill=False)
                again = self.daemon.call('POST', path, {'count': 2}, key)
                self.assertEqual(again.json, first.json)
                self.assertEqual(self.all_of(left, right, cid), self.twin(2, one_by_one=False))

    def test_a_receipt_is_stored_though_its_windows_were_before_it(self):
        """A checkpoint that is due at the last window is on its way before there is an answer."""
        for steps in (1, 5):
            with self.subTest(steps):
                _, _, cid = self.pair({'mode': 'checkpoint', 'steps': steps})
                path, once = '/v1/couplings/%s/step' % cid, {'Idempotency-Key': '"%d"' % steps}
                first = self.daemon.call('POST', path, {'count': 5}, once)
                self.assertEqual(first.status, 200, first)
                self.again()
                again = self.daemon.call('POST', path, {'count': 5}, once)
                self.assertEqual((again.raw, self.shown(cid)['windows']), (first.raw, 5))

    def test_a_step_that_is_sent_again_is_refused_where_it_was_done(self):
        """As after a kill between two windows of a command, behind which its receipt would be."""
        left, right, cid = self.pair('every-step')
        for _ in range(2):
            self.good(cid, count=2, expectTime=self.shown(cid)['time'])
        self.again()
        before = self.all_of(left, right, cid)
        for body in ({'count': 2}, {'until': 0.06}, {'count': 1, 'commit': False}):
            reply = self.step(cid, expectTime=0.02, **body)
            self.assertEqual((reply.status, reply['code']), (409, 'time-mismatch'), reply)
            self.assertRegex(reply['detail'], r'at time 0.04\d*, window 4, 0.02 s after 0.02')
        reply = self.step(cid, count=1, expectTime='now')
        self.assertEqual((reply.status, reply['errors'][0]['pointer']), (422, '/expectTime'))
        self.assertEqual(self.all_of(left, right, cid), before)
        # what names its end does not need that
        for _ in range(2):
            self.assertEqual(self.good(cid, until=0.06)['window'], 6)

    def test_a_quota_that_has_become_smaller_sets_no_coupling_aside(self):
        _, _, cid = self.pair('every-step')
        self.good(cid, count=2)
        self.daemon.stop()
        self.daemon = Kept(self.folder, '--quota', 'memory=1KiB')
        self.assertEqual(self.shown(cid)['windows'], 2)

    def test_a_coupling_is_made_and_deleted_once(self):
        """Under keys that are sent again to the next process."""
        left, right = (self.daemon.create(half(1., k=K), durability='every-step')
                       for _ in range(2))
        body = {'participants': [{'instance': left}, {'instance': right}], 'connections': [],
                'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01}

        def make():
            return self.daemon.call('POST', '/v1/couplings', body, {'Idempotency-Key': 'make'})

        def end(cid):
            return self.daemon.call('DELETE', '/v1/couplings/' + cid, None,
                                    {'Idempotency-Key': 'end'})
        first = make()
        self.assertEqual(first.status, 201, first)
        self.again()
        self.assertEqual(make().json, first.json)
        self.assertEqual(len(self.daemon.call('GET', '/v1/couplings')['items']), 1)
        self.assertEqual(end(first['id']).status, 204)
        self.again()
        self.assertEqual(end(first['id']).status, 204)
        self.assertEqual(self.daemon.call('GET', '/v1/couplings')['items'], [])


if __name__ == '__main__':
    harness.unittest.main()
