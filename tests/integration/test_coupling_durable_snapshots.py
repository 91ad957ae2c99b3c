"""Snapshots of couplings that are stored: on disk before they are answered, with the bits that they
had, and gone with their coupling.

MECHD_TESTS_KILLS: how often the daemon is killed (10)."""
import contextlib
import random
import sqlite3
import threading
import unittest

import harness
from coupled_kept import RARE, KeptCouplings
from harness import Daemon, Http, wait_until
from keeping import KILLS

RACES = True
MORE = {'scheme': {'type': 'IQN-ILS', 'reuse': 3}, 'hold': 1}


class DurableSnapshots(KeptCouplings):
    def call(self, method, cid, rest='', body=None, headers=None):
        return self.daemon.call(method, '/v1/couplings/%s/snapshots%s' % (cid, rest), body, headers)

    def take(self, cid):
        reply = self.call('POST', cid)
        self.assertEqual(reply.status, 201, reply)
        return reply.json

    def restore(self, cid, sid):
        reply = self.call('POST', cid, '/%s/restore' % sid)
        self.assertEqual((reply.status, reply['reproducible']), (200, True), reply)
        return reply.json

    def change(self, sql, *values):
        """What the database has, while no process has it open."""
        connection = sqlite3.connect('%s/mechd.sqlite' % self.folder)
        with connection:
            connection.executescript(sql) if not values else connection.execute(sql, values)
        connection.close()

    def states_of(self, windows, **more):
        """The states after each number of windows, in a process that was never killed."""
        with Daemon() as other:
            here, self.daemon = self.daemon, other
            try:
                pair = self.pair('none', **more)
                states = [self.all_of(*pair)]
                for _ in range(windows):
                    self.good(pair[2], count=1)
                    states.append(self.all_of(*pair))
                return states
            finally:
                self.daemon = here

    def test_a_coupling_goes_back_to_a_snapshot_of_an_earlier_process_with_the_same_bits(self):
        states = self.states_of(9, **MORE)
        for durability in ('every-step', RARE):
            for kill in (True, False):
                with self.subTest(durability, kill=kill):
                    pair = self.pair(durability, **MORE)
                    cid, taken = pair[2], []
                    for windows in (2, 5):
                        while self.shown(cid)['windows'] < windows:
                            self.good(cid, count=1)
                        taken.append(self.take(cid))
                    ahead = self.good(cid, count=1)
                    self.again(kill)
                    self.assertEqual(self.call('GET', cid)['items'], taken)
                    # a checkpoint that is far: a snapshot is one
                    self.assertEqual(self.shown(cid)['windows'],
                                     5 if durability == RARE and kill else ahead['window'])
                    for t in reversed(taken):
                        self.assertEqual(self.restore(cid, t['id'])['window'], t['window'])
                        self.assertEqual(self.all_of(*pair), states[t['window']])
                        for n in range(4):
                            self.good(cid, count=1)
                            self.assertEqual(self.all_of(*pair), states[t['window'] + n + 1])
                    self.assertNotIn(self.take(cid)['id'], [t['id'] for t in taken])

    def test_each_acknowledged_snapshot_is_there_after_a_kill(self):
        """At random moments, between windows or within a snapshot on its way to the disk."""
        dice = random.Random(7)
        pair = self.pair(('every-step', RARE), **MORE)
        cid, told, states = pair[2], {}, []
        for _ in range(KILLS):
            self.snapshots_until_killed(cid, told, dice.randrange(20))
            self.again_killed()
            listed = {t['id']: t for t in self.call('GET', cid)['items']}
            last = self.shown(cid)['windows']
            # one more, if that was on disk before its answer was on its way
            self.assertLessEqual(len(set(listed) - set(told)), 1)
            self.assertEqual({sid: listed.get(sid) for sid in told}, told)
            if len(states) <= last:
                states = self.states_of(2 * last, **MORE)
            for t in dice.sample(sorted(listed.values(), key=lambda t: t['id']),
                                 min(3, len(listed))):
                self.restore(cid, t['id'])
                self.assertEqual(self.all_of(*pair), states[t['window']])
            for sid in listed:
                self.assertEqual(self.call('DELETE', cid, '/' + sid).status, 204)
            told.clear()
        self.assertGreater(len(states), 1)

    def again_killed(self):
        self.daemon = type(self.daemon)(self.folder)

    def snapshots_until_killed(self, cid, told, more):
        """A window, a snapshot, and so on: those that were acknowledged, by their ids."""
        door = Http(self.daemon.base)

        def work():
            with contextlib.suppress(OSError, harness.http.client.HTTPException):
                while True:
                    path = '/v1/couplings/%s/' % cid
                    assert door.call('POST', path + 'step', {'count': 1}).status == 200
                    reply = door.call('POST', path + 'snapshots')
                    assert reply.status in (201, 429), reply
                    if reply.status == 201:
                        told[reply['id']] = reply.json
        worker = threading.Thread(target=work)
        worker.start()
        wait_until(lambda: len(told) >= more, 'it takes them', 60)
        self.daemon.kill()
        worker.join()
        door.close()

    def test_a_deleted_one_is_gone_also_in_the_next_process(self):
        _, _, cid = self.pair('every-step')
        taken = [self.take(cid) for _ in range(3)]
        self.assertEqual(self.call('DELETE', cid, '/' + taken[1]['id']).status, 204)
        self.assertEqual(self.call('GET', cid)['items'], [taken[0], taken[2]])
        self.assertEqual(self.call('DELETE', cid, '/' + taken[1]['id']).status, 404)
        self.again()
        self.assertEqual(self.call('GET', cid)['items'], [taken[0], taken[2]])
        self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + cid).status, 204)
        self.assertEqual(self.rows('SELECT count(*) FROM coupling_snapshots'), [(0,)])

    def test_what_cannot_be_stored_is_not_there(self):
        for durability in ('every-step', RARE):
            with self.subTest(durability):
                _, _, cid = self.pair(durability)
                kept = self.take(cid)
                with self.daemon.full_disk():
                    reply = self.call('POST', cid)
                    self.assertEqual((reply.status, reply['code']), (507, 'storage-failed'), reply)
                    reply = self.call('DELETE', cid, '/' + kept['id'])
                    self.assertEqual((reply.status, reply['code']), (507, 'storage-failed'), reply)
                    self.assertEqual(self.call('GET', cid)['items'], [kept])
                self.assertEqual(self.call('GET', cid)['items'], [kept])
                more = self.take(cid)
                self.again()
                self.assertEqual(self.call('GET', cid)['items'], [kept, more])

    def test_one_that_is_damaged_is_left_out_and_its_number_not_given_again(self):
        _, _, cid = self.pair('every-step')
        good, bad = self.take(cid), self.take(cid)
        number = int(bad['id'][2:])
        bytes_of = bytearray(self.rows('SELECT bytes FROM coupling_snapshots WHERE number = ?',
                                       number)[0][0])
        bytes_of[-1] ^= 1
        self.daemon.kill()
        self.change('UPDATE coupling_snapshots SET bytes = ? WHERE number = ?', bytes(bytes_of),
                    number)
        self.again_killed()
        self.assertIn('snapshot-left-out', self.daemon.log())
        self.assertEqual(self.call('GET', cid)['items'], [good])
        self.assertEqual(self.restore(cid, good['id'])['window'], 0)
        self.assertNotIn(self.take(cid)['id'], (good['id'], bad['id']))

    def test_a_database_of_the_version_before_is_brought_up(self):
        pair = self.pair('every-step', **MORE)
        for _ in range(3):
            self.good(pair[2], count=1)
        before = self.all_of(*pair)
        self.daemon.stop()
        self.change('DROP TABLE IF EXISTS coupling_results; DROP TABLE IF EXISTS coupling_runs;'
                    'DROP TABLE coupling_snapshots; PRAGMA user_version = 9;')
        self.again_killed()
        self.assertEqual(self.all_of(*pair), before)
        taken = self.take(pair[2])
        self.good(pair[2], count=2)
        self.again()
        self.restore(pair[2], taken['id'])
        self.assertEqual(self.all_of(*pair), before)

    def test_they_count_as_stored_and_are_refunded(self):
        def stored():
            return self.daemon.call('GET', '/v1/quota')['used']['stored']
        _, _, cid = self.pair('every-step')
        before = stored()
        taken = self.take(cid)
        self.assertEqual(stored() - before, taken['bytes'])
        self.again()
        self.assertEqual(stored() - before, taken['bytes'])
        self.assertEqual(self.call('DELETE', cid, '/' + taken['id']).status, 204)
        self.assertEqual(stored(), before)

    def test_a_coupling_in_memory_alone_stores_none(self):
        _, _, cid = self.pair(('every-step', 'none'))
        self.take(cid)
        self.assertEqual(self.rows('SELECT count(*) FROM coupling_snapshots'), [(0,)])

    def test_a_request_that_is_sent_again_is_not_done_twice(self):
        _, _, cid = self.pair('every-step')
        key = {'Idempotency-Key': 'one'}
        first = self.call('POST', cid, headers=key)
        self.again()
        self.assertEqual(self.call('POST', cid, headers=key).json, first.json)
        self.assertEqual(self.call('GET', cid)['items'], [first.json])
        key = {'Idempotency-Key': 'two'}
        self.assertEqual(self.call('DELETE', cid, '/' + first['id'], headers=key).status, 204)
        self.again()
        self.assertEqual(self.call('DELETE', cid, '/' + first['id'], headers=key).status, 204)


if __name__ == '__main__':
    unittest.main()
