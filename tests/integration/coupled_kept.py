"""Couplings of a daemon whose state directory stays when it ends."""
import shutil
import sqlite3
import tempfile

from coupled import K, K12, OSCILLATORS, Couplings, half
from keeping import Kept

RARE = {'mode': 'checkpoint', 'steps': 1000000}


class KeptCouplings(Couplings):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.daemon = Kept(self.folder)

    def again(self, kill=True):
        """Another process on the same directory."""
        if kill:
            self.daemon.kill()
        else:
            self.daemon.stop()
        self.daemon = Kept(self.folder)

    def pair(self, durability, cid=None, **more):
        """Two halves of an oscillator: "left" and "right" of the coupling that is returned."""
        both = durability if isinstance(durability, tuple) else (durability, durability)
        left = self.daemon.create(half(1., k=K + K12), durability=both[0])
        right = self.daemon.create(half(0., k=K + K12), durability=both[1])
        reply = self.couple(left, right, **{'connections': OSCILLATORS, **more})
        self.assertEqual(reply.status, 201, reply)
        return left, right, reply['id']

    def all_of(self, left, right, cid):
        shown = self.shown(cid)
        states = [self.daemon.call('GET', '/v1/instances/%s/state' % i).json for i in (left, right)]
        return shown['windows'], shown['time'], [dict(s, id=None, step=None) for s in states]

    def shown(self, cid, status=200):
        reply = self.daemon.call('GET', '/v1/couplings/' + cid)
        self.assertEqual(reply.status, status, reply)
        return reply.json

    def rows(self, sql, *values):
        connection = sqlite3.connect('file:%s/mechd.sqlite?mode=ro' % self.folder, uri=True)
        try:
            return connection.execute(sql, values).fetchall()
        finally:
            connection.close()

    def sequence(self, i):
        """Windows of an instance that the database has."""
        return self.rows('SELECT sequence FROM states JOIN instances USING (key) WHERE id = ?',
                         i)[0][0]
