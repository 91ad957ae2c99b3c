"""What becomes of a coupling whose windows cannot be stored, where some of its participants, and
rows of its runs, are in memory alone: all of it goes back to the same window."""
import contextlib
import shutil
import sqlite3
import tempfile
import unittest

from coupled import K, K12, OSCILLATORS, Couplings, half
from harness import wait_until
from keeping import Kept

RACES = True
SCHEMES = {'IQN-ILS': {'scheme': {'type': 'IQN-ILS', 'reuse': 3}},
           'Gauss-Seidel': {'scheme': 'GaussSeidel', 'hold': 1}}


class Undone(Couplings):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.daemon = Kept(self.folder)

    def pair(self, left, right, **more):
        first = self.daemon.create(half(1., k=K + K12), durability=left)
        other = self.daemon.create(half(0., k=K + K12), durability=right)
        reply = self.couple(first, other, **{'connections': OSCILLATORS, **more})
        self.assertEqual(reply.status, 201, reply)
        return first, other, reply['id']

    def all_of(self, first, other, cid):
        """Window, time and states; without numbers that are of one process."""
        shown = self.daemon.call('GET', '/v1/couplings/' + cid)
        states = [self.daemon.call('GET', '/v1/instances/%s/state' % i).json
                  for i in (first, other)]
        return shown['windows'], shown['time'], [dict(s, id=None, step=None) for s in states]

    # --- participants in memory alone

    def test_a_participant_that_is_not_stored_goes_back_with_the_others(self):
        for name, more in SCHEMES.items():
            for mode in (('every-step', 'none'), ('none', 'every-step')):
                with self.subTest(name, mode=mode):
                    pair = self.pair(*mode, **more)
                    twin = self.pair('none', 'none', **more)
                    for cid in (pair[2], twin[2]):
                        for _ in range(3):
                            self.good(cid, count=1)
                    before = self.all_of(*pair)
                    with self.daemon.full_disk():
                        for _ in range(3):
                            reply = self.step(pair[2], count=2)
                            self.assertEqual((reply.status, reply['code']),
                                             (507, 'storage-failed'), reply)
                            self.assertEqual(self.all_of(*pair), before)
                    for cid in (pair[2], twin[2]):
                        for _ in range(4):
                            self.good(cid, count=1)
                    self.assertEqual(self.all_of(*pair), self.all_of(*twin))

    def test_what_is_lost_before_the_first_record_leads_back_to_the_start(self):
        """With checkpoints nothing of the coupling is stored before the first of them is due."""
        pair = self.pair({'mode': 'checkpoint', 'steps': 4}, 'none')
        before = self.all_of(*pair)
        with self.daemon.full_disk():
            self.step(pair[2], count=4)
            wait_until(lambda: self.all_of(*pair) == before, 'all are back')
        self.assertEqual(self.good(pair[2], count=4)['window'], 4)

    def test_a_checkpoint_that_is_lost_leads_back_to_the_one_before_it(self):
        pair = self.pair({'mode': 'checkpoint', 'steps': 4}, 'none')
        self.good(pair[2], count=4)
        wait_until(lambda: self.stored_steps(pair[0]) == 4, 'the checkpoint is on the disk')
        before = self.all_of(*pair)
        with self.daemon.full_disk():
            self.step(pair[2], count=4)
            wait_until(lambda: self.all_of(*pair) == before, 'all are back')
        self.assertEqual(self.good(pair[2], count=4)['window'], 8)

    def test_what_is_retained_is_charged(self):
        def used(d):
            return d.call('GET', '/v1/quota')['used']['memory']

        def couple(d, durability):
            body = {'participants': [
                {'name': name, 'instance': d.create(half(1., k=K + K12), durability=mode)}
                for name, mode in zip(('left', 'right'), durability)],
                    'connections': OSCILLATORS, 'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01}
            before = used(d)
            return d.call('POST', '/v1/couplings', body), before

        takes = {}
        for other in ('none', 'every-step'):
            made, before = couple(self.daemon, (other, 'none'))
            self.assertEqual(made.status, 201, made)
            takes[other] = used(self.daemon) - before
            self.daemon.call('DELETE', '/v1/couplings/' + made['id'])
            wait_until(lambda b=before: used(self.daemon) == b, 'it is refunded')
        right = '/v1/instances/' + made['participants'][1]['instance']
        state = self.daemon.call('POST', right + '/snapshots', {})
        self.assertEqual(state.status, 201, state)
        self.assertGreater(takes['every-step'] - takes['none'], state['bytes'])
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        with Kept(folder) as d:
            _, before = couple(d, ('every-step', 'none'))
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        most = before + takes['every-step'] - 1
        with Kept(folder, '--quota', 'memory=%d' % most) as d:
            reply, before = couple(d, ('every-step', 'none'))
            self.assertEqual((reply.status, reply['code']), (429, 'quota-exceeded'), reply)
            wait_until(lambda: used(d) == before, 'nothing of it is left')
            self.assertEqual(d.call('GET', '/v1/couplings')['items'], [])

    def stored_steps(self, instance):
        with contextlib.closing(sqlite3.connect(
                'file:%s/mechd.sqlite?mode=ro' % self.folder, uri=True)) as base:
            return base.execute('SELECT sequence FROM states JOIN instances USING (key)'
                                ' WHERE id = ?', (instance,)).fetchone()[0]

    # --- inputs of participants in memory alone

    def drive(self, instance, value):
        """Set F, which no connection drives, as its co-driver."""
        path = '/v1/instances/' + instance
        lease = self.daemon.call('POST', path + '/lease', {'role': 'co-driver', 'channels': ['F']})
        self.assertEqual(lease.status, 201, lease)
        reply = self.daemon.call('PUT', path + '/inputs', {'F': value},
                                 {'Lease': str(lease['lease'])})
        self.assertEqual(reply.status, 200, reply)
        return lease['lease']

    def forces(self, pair):
        return [self.daemon.call('GET', '/v1/instances/%s/inputs' % i)['inputs']['F']
                for i in pair[:2]]

    def test_an_input_that_a_client_has_set_remains(self):
        rare = {'mode': 'checkpoint', 'steps': 4}
        for left, values in (('every-step', (5., 7.)), (rare, None)):
            with self.subTest(left):
                pair = self.pair(left, 'none', connections=[])
                self.good(pair[2], count=4)
                wait_until(lambda p=pair: self.stored_steps(p[0]) == 4, 'it is on the disk')
                self.drive(pair[0], 5.)
                self.drive(pair[1], 7.)
                before = self.all_of(*pair)[0]
                with self.daemon.full_disk():
                    for _ in range(2):
                        self.step(pair[2], count=4)
                        wait_until(lambda p=pair, b=before: self.all_of(*p)[0] == b, 'all are back')
                        # with checkpoints that of the stored one is lost with its windows
                        self.assertEqual(self.forces(pair)[1:], [7.])
                        if values is not None:
                            self.assertEqual(self.forces(pair), list(values))
                self.assertEqual(self.good(pair[2], count=1)['window'], 5)
                self.assertEqual(self.forces(pair)[1:], [7.])

    def test_an_input_that_a_command_has_set_is_undone_with_it(self):
        pair = self.pair('every-step', 'none', connections=[])
        self.good(pair[2], count=1)
        kept = '/v1/couplings/%s/snapshots' % pair[2]
        kept += '/' + self.daemon.call('POST', kept)['id']
        self.drive(pair[1], 7.)
        self.good(pair[2], count=1)
        with self.daemon.full_disk():
            reply = self.daemon.call('POST', kept + '/restore')
            self.assertEqual((reply.status, reply['code']), (507, 'storage-failed'), reply)
            self.assertEqual(self.forces(pair), [0., 7.])
        self.assertEqual(self.daemon.call('POST', kept + '/restore').status, 200)
        self.good(pair[2], count=1)
        with self.daemon.full_disk():
            self.step(pair[2], count=1)
            self.assertEqual(self.forces(pair), [0., 0.])

    # --- rows in memory alone

    def test_rows_of_lost_windows_are_not_in_the_results(self):
        for other in ('every-step', 'none'):
            with self.subTest(other):
                pair = self.pair('every-step', other)
                runs = '/v1/couplings/%s/runs' % pair[2]
                old = self.daemon.call('POST', runs, {'count': 3, 'record': {}})
                self.assertEqual(old.status, 202, old)
                wait_until(lambda p=pair: self.windows(p) == 3, 'it is over')
                kept = self.daemon.call('GET', old.headers['Location'] + '/results').json
                run = self.daemon.call('POST', runs, {'until': 1e4, 'record': {}})
                self.assertEqual(run.status, 202, run)
                where = run.headers['Location']
                wait_until(lambda p=pair: self.stored_steps(p[0]) > 3, 'it is on the disk')
                with self.daemon.full_disk():
                    wait_until(lambda w=where: self.daemon.call('GET', w)['state'] == 'failed',
                               'the run fails')
                    self.step(pair[2], count=1)  # behind what was undone
                    shown = self.daemon.call('GET', where).json
                    rows = self.daemon.call('GET', where + '/results')['rows']
                windows, time, _ = self.all_of(*pair)
                self.assertEqual((rows[-1][0], shown['time']), (time, time))
                self.assertEqual((len(rows), shown['recorded'], shown['periods']),
                                 (windows - 2, windows - 2, windows - 3))
                self.assertEqual(self.daemon.call(
                    'GET', old.headers['Location'] + '/results').json, kept)

    def test_a_run_that_is_over_and_stored_remains_finished(self):
        """Its last window is written down before the run counts it."""
        every = {'mode': 'checkpoint', 'steps': 5}
        for more in ({}, {'record': {}}, {'record': {'every': 2}}):
            with self.subTest(more):
                pair = self.pair(every, every)
                run = self.daemon.call('POST', '/v1/couplings/%s/runs' % pair[2],
                                       {'count': 5, **more})
                self.assertEqual(run.status, 202, run)
                where = run.headers['Location']
                wait_until(lambda p=pair: self.windows(p) == 5, 'it is over')
                wait_until(lambda p=pair: self.stored_steps(p[0]) == 5, 'it is on the disk')
                shown = self.daemon.call('GET', where).json
                self.assertEqual((shown['state'], shown['periods']), ('finished', 5))
                before = self.all_of(*pair)
                with self.daemon.full_disk():
                    self.step(pair[2], count=5)
                    wait_until(lambda p=pair, b=before: self.all_of(*p) == b, 'all are back')
                self.assertEqual(self.daemon.call('GET', where).json, shown)

    def windows(self, pair):
        listed = self.daemon.call('GET', '/v1/couplings/%s/runs' % pair[2])['items']
        return listed[0]['periods'] if listed[0]['state'] == 'finished' else -1


if __name__ == '__main__':
    unittest.main()
