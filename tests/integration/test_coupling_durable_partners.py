"""Couplings with programs outside, of a daemon that is killed: a window is committed by the program
only when it is on disk, so that a program that rolls back finds all others where it stands.

MECHD_TESTS_KILLS: how often the daemon is killed in the midst of a window (10)."""
import contextlib
import os
import random
import shutil
import signal
import tempfile
import threading
import harness
from coupled import K, K12, OSCILLATORS, Couplings, half
from harness import KINDS, SLOW, Daemon, Http, wait_until
from keeping import KILLS, Kept
from outside import Program

RACES = True
WINDOWS = 6


class Mass:
    """A program: a mass with a spring, which ends the daemon when it is asked this."""

    def __init__(self):
        self.now = self.tried = (0., 0.)
        self.window, self.kills, self.loses = 0, None, False
        self.spares = 0  # questions of that kind before the one at which it kills

    def __call__(self, question):
        x, v = self.now
        kind = {KINDS[k]: k for k in ('outputs', 'trial', 'commit')}[question['kind']]
        pid = None
        if self.kills and self.kills[:2] == (kind, question['step']):
            self.spares -= 1
            if self.spares < 0:
                pid, self.kills = self.kills[2], None
        if kind == 'trial':
            h, force = question['size'], question['values'][0]
            a = force - (K + K12) * x
            self.tried = (x + h * v + h * h / 2 * a, v + h * a)
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            if kind == 'commit' and self.loses:
                return None
        if kind == 'commit' and question['step'] == self.window + 1:
            self.now, self.window = self.tried, question['step']
        return [self.tried[0] if kind == 'trial' else self.now[0]]


class Partners(Couplings):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.daemon = Kept(self.folder)

    def pair(self, durability, scheme='IQN-ILS', **more):
        left = self.daemon.create(half(1., k=K + K12), durability=durability)
        reply = self.daemon.call('POST', '/v1/couplings', {
            'participants': [{'name': 'left', 'instance': left},
                             {'name': 'right', 'partner': {'inputs': ['F'], 'outputs': ['x'],
                                                           'patience': 20 * SLOW, **more}}],
            'connections': OSCILLATORS, 'scheme': {'type': scheme}, 'stepSize': 0.01})
        self.assertEqual(reply.status, 201, reply)
        return left, reply['id']

    def places(self, left, mass):
        state = self.daemon.call('GET', '/v1/instances/%s/state' % left).json
        return dict(state, id=None, step=None), mass.now, mass.window

    def alone(self):
        """Where all are after so many windows of a daemon that is not killed."""
        with Daemon() as other:
            here, self.daemon = self.daemon, other
            try:
                mass, (left, cid) = Mass(), self.pair('none')
                with Program(other, cid, 'right', mass):
                    for _ in range(WINDOWS):
                        self.good(cid, count=1)
                return self.places(left, mass)
            finally:
                self.daemon = here

    def step_to_the_end_of_the_daemon(self, cid):
        door = Http(self.daemon.base)
        with contextlib.suppress(OSError, harness.http.client.HTTPException):
            reply = door.call('POST', '/v1/couplings/%s/step' % cid, {'count': 1})
            self.fail(reply)
        door.close()

    def test_a_program_finds_the_others_where_it_stands(self):
        expected = self.alone()
        for kind, loses, window in (('trial', False, 3), ('commit', True, 4),
                                    ('commit', False, 4)):
            with self.subTest(kind, loses=loses):
                mass, (left, cid) = Mass(), self.pair('every-step')
                mass.loses = loses
                with Program(self.daemon, cid, 'right', mass):
                    for _ in range(3):
                        self.good(cid, count=1)
                    mass.kills = (kind, 4, self.daemon.pid())
                    self.step_to_the_end_of_the_daemon(cid)
                    wait_until(lambda m=mass: m.kills is None, 'it was asked')
                self.daemon.kill()
                self.daemon = Kept(self.folder)
                shown = self.daemon.call('GET', '/v1/couplings/' + cid).json
                self.assertEqual(shown['windows'], window)
                with Program(self.daemon, cid, 'right', mass, window=mass.window) as program:
                    self.assertEqual(program.hello['window'], window)
                    for _ in range(WINDOWS - window):
                        self.good(cid, count=1)
                    self.assertEqual(self.places(left, mass), expected)

    def killed_in_a_window(self, cid, mass, dice, kinds):
        """Some windows, and the daemon's end in the midst of one: at a trial or at the commit, done
        or not. Windows that the next daemon has, and that it must have."""
        with Program(self.daemon, cid, 'right', mass,
                     **({'window': mass.window} if mass.window else {})):
            for _ in range(dice.randrange(4)):
                self.good(cid, count=1)
            before = self.daemon.call('GET', '/v1/couplings/' + cid)['windows']
            (kind, mass.spares), mass.loses = dice.choice(kinds), dice.random() < 0.5
            mass.kills = (kind, before + 1, self.daemon.pid())
            self.step_to_the_end_of_the_daemon(cid)
            wait_until(lambda: mass.kills is None, 'it was asked')
        self.daemon.kill()
        self.daemon = Kept(self.folder)
        return (self.daemon.call('GET', '/v1/couplings/' + cid)['windows'],
                before + (kind == 'commit'))

    def half_done_at_no_kill(self, scheme, rolls_back, other):
        kinds = [('trial', 0), ('commit', 0)] + ([('trial', 1)] if rolls_back else [])
        dice, mass, twin = random.Random(11), Mass(), Mass()
        left, cid = self.pair('every-step', scheme, rollback=rolls_back)
        here, self.daemon = self.daemon, other
        one, same = self.pair('none', scheme, rollback=rolls_back)
        places = [self.places(one, twin)]  # after each window
        self.daemon = here
        with Program(other, same, 'right', twin):
            for _ in range(KILLS):
                found, expected = self.killed_in_a_window(cid, mass, dice, kinds)
                self.assertEqual(found, expected)
                here, self.daemon = self.daemon, other
                while len(places) <= found:
                    self.good(same, count=1)
                    places.append(self.places(one, twin))
                self.daemon = here
                self.assertEqual(self.places(left, mass)[0], places[found][0])
                self.assertIn(found - mass.window, (0, 1))
                if rolls_back:
                    self.assertEqual(self.places(left, mass)[1:], places[mass.window][1:])
                else:
                    # it starts again where the others are
                    mass.now, mass.window = places[found][1:]

    def test_no_window_is_half_done_at_any_kill(self):
        """But by a program that cannot roll back."""
        with Daemon() as other:
            for scheme, rolls_back in (('IQN-ILS', True), ('GaussSeidel', False)):
                with self.subTest(scheme):
                    self.half_done_at_no_kill(scheme, rolls_back, other)

    def test_a_window_that_cannot_be_stored_is_not_committed(self):
        expected = self.alone()
        mass, (left, cid) = Mass(), self.pair('every-step')
        with Program(self.daemon, cid, 'right', mass) as program:
            for _ in range(3):
                self.good(cid, count=1)
            before = self.places(left, mass)
            with self.daemon.full_disk():
                reply = self.step(cid, count=1)
                self.assertEqual((reply.status, reply['code']), (507, 'storage-failed'), reply)
                wait_until(lambda: self.places(left, mass) == before, 'it is undone')
            self.assertNotIn(4, [q['step'] for q in program.asked
                                 if q['kind'] == KINDS['commit']])
            for _ in range(WINDOWS - 3):
                self.good(cid, count=1)
            self.assertEqual(self.places(left, mass), expected)

    def test_a_program_that_cannot_roll_back_is_not_sent_an_undone_window_again(self):
        _, cid = self.pair('every-step', 'Jacobi', rollback=False)
        with Program(self.daemon, cid, 'right', lambda question: [0.]) as program:
            for _ in range(3):
                self.good(cid, count=1)
            with self.daemon.full_disk():
                reply = self.step(cid, count=1)
                self.assertEqual((reply.status, reply['code']), (507, 'storage-failed'), reply)
                self.assertIn('right has stepped this window', reply['detail'])
                wait_until(lambda: self.daemon.call('GET', '/v1/couplings/' + cid)['windows'] == 3,
                           'it is undone')
            reply = self.step(cid, count=1)
            self.assertEqual((reply.status, reply['code']), (502, 'partner-fault'), reply)
            trials = [q['step'] for q in program.asked if q['kind'] == KINDS['trial']]
        self.assertEqual(len(trials), len(set(trials)))

    def test_the_receipt_of_a_step_is_stored_with_its_last_window(self):
        mass, (_, cid) = Mass(), self.pair('every-step', 'Jacobi')
        path, once = '/v1/couplings/%s/step' % cid, {'Idempotency-Key': '"one"'}
        with Program(self.daemon, cid, 'right', mass):
            first = self.daemon.call('POST', path, {'count': 1}, once)
            self.assertEqual(first.status, 200, first)
        self.daemon.kill()
        self.daemon = Kept(self.folder)
        again = self.daemon.call('POST', path, {'count': 1}, once)
        self.assertEqual((again.status, again.raw), (200, first.raw))
        self.assertEqual(self.daemon.call('GET', '/v1/couplings/' + cid)['windows'], 1)

    def test_a_run_commits_what_is_on_disk(self):
        mass, (left, cid) = Mass(), self.pair('every-step')
        with Program(self.daemon, cid, 'right', mass):
            run = self.daemon.call('POST', '/v1/couplings/%s/runs' % cid, {'until': 0.2})
            self.assertEqual(run.status, 202, run)
            mass.kills = ('commit', 12, self.daemon.pid())
            mass.loses = True
            wait_until(lambda: mass.kills is None, 'it was asked')
        self.daemon.kill()
        self.daemon = Kept(self.folder)
        self.assertEqual(mass.window, 11)
        shown = self.daemon.call('GET', '/v1/couplings/' + cid).json
        self.assertEqual(shown['windows'], 12)
        with Program(self.daemon, cid, 'right', mass, window=11):
            self.good(cid, count=1)
        self.assertEqual(mass.window, 13)
        self.assertEqual(threading.active_count(), 1)
        self.assertEqual(self.daemon.call('GET', '/v1/instances/%s' % left)['durability'],
                         'every-step')


if __name__ == '__main__':
    harness.unittest.main()
