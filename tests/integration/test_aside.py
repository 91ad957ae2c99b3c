"""Instances that cannot be loaded: they are retained in the database, and no other is affected."""
import contextlib
import os
import shutil
import sqlite3
import tempfile
import unittest

import models
from keeping import Kept
from long_models import chain


class Aside(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def state(self, daemon, i):
        reply = daemon.call('GET', '/v1/instances/%s/state' % i)
        self.assertEqual(reply.status, 200, reply)
        return reply.json

    def step(self, daemon, i, count):
        reply = daemon.call('POST', '/v1/instances/%s/step' % i, {'count': count})
        self.assertEqual(reply.status, 200, reply)

    def rows(self, text, *values):
        """What the database answers; changes are kept."""
        path = os.path.join(self.folder, 'mechd.sqlite')
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            return connection.execute(text, values).fetchall()

    def test_an_instance_that_cannot_be_loaded_is_kept_aside(self):
        """All of it stays, its id is free, and it can be put back."""
        bad = '/v1/instances/bad'
        d = Kept(self.folder)
        for i in ('good', 'bad'):
            made = d.call('PUT', '/v1/instances/' + i, {'model': chain(),
                                                        'durability': 'every-step'})
            self.assertEqual(made.status, 201, made)
        self.assertEqual(d.call('POST', bad + '/snapshots').status, 201)
        self.step(d, 'bad', 3)
        before = self.state(d, 'bad')
        d.kill()
        model = self.rows("SELECT model FROM instances WHERE id = 'bad'")[0][0]
        self.rows("UPDATE instances SET model = '{\"mechd\": 1, \"objects\": 3}' WHERE id = 'bad'")
        for _ in range(2):
            with Kept(self.folder) as d:
                items = d.call('GET', '/v1/instances').json['items']
                self.assertEqual([x['id'] for x in items], ['good'])
        (key, name, why), = self.rows('SELECT key, id, aside FROM instances '
                                      'WHERE aside IS NOT NULL')
        self.assertEqual(name, 'bad (%d)' % key)
        self.assertIn('/objects', why)
        for table in ('states', 'commands', 'snapshots'):
            with self.subTest(table):
                count = self.rows('SELECT count(*) FROM %s WHERE key = ?' % table, key)
                self.assertEqual(count, [(1,)])
        with Kept(self.folder) as d:
            self.assertEqual(d.call('PUT', bad, {'model': models.oscillator(),
                                                 'durability': 'every-step'}).status, 201)
            self.assertEqual(d.call('DELETE', bad).status, 204)
        self.rows("UPDATE instances SET aside = NULL, id = 'bad', model = ? WHERE key = ?",
                  model, key)
        with Kept(self.folder) as d:
            self.assertEqual(self.state(d, 'bad'), before)
            self.assertEqual(len(d.call('GET', bad + '/snapshots').json['items']), 1)

    def test_what_can_be_neither_loaded_nor_set_aside_is_in_nobodys_way(self):
        """As on a disk that is full at the start: others go on, and are written again later."""
        with Kept(self.folder) as d:
            for i in ('good', 'bad'):
                self.assertEqual(d.call('PUT', '/v1/instances/' + i,
                                        {'model': models.oscillator(),
                                         'durability': 'every-step'}).status, 201)
        self.rows("UPDATE instances SET model = '{}' WHERE id = 'bad'")
        for what in ('UPDATE', 'DELETE'):
            self.rows("CREATE TRIGGER no_%s BEFORE %s ON instances WHEN OLD.model = '{}' "
                      "BEGIN SELECT RAISE(FAIL, 'no room'); END" % (what, what))
        with Kept(self.folder) as d:
            self.assertIn('no room', d.log())
            items = d.call('GET', '/v1/instances').json['items']
            self.assertEqual([x['id'] for x in items], ['good'])
            self.step(d, 'good', 1)
            # what is left in the database is not overwritten either
            made = d.call('PUT', '/v1/instances/bad', {'model': models.oscillator(),
                                                       'durability': 'every-step'})
            self.assertEqual((made.status, made.json['code']), (507, 'storage-failed'))
            for what in ('UPDATE', 'DELETE'):
                self.rows('DROP TRIGGER no_%s' % what)
            made = d.call('PUT', '/v1/instances/bad', {'model': models.oscillator(),
                                                       'durability': 'every-step'})
            self.assertEqual(made.status, 201, made)
        aside = self.rows("SELECT model, aside FROM instances WHERE id LIKE 'bad (%'")
        self.assertEqual(aside, [('{}', 'its id was used again')])

    def test_an_id_that_no_request_could_name_is_kept_aside(self):
        with Kept(self.folder) as d:
            d.create(models.oscillator(), durability='every-step')
        for bad in ('a b', 'a/b', '', 'x' * 200, 'a\n'):
            self.rows('UPDATE instances SET id = ? WHERE aside IS NULL', bad)
            with Kept(self.folder) as d:
                self.assertEqual(d.call('GET', '/v1/instances').json['items'], [])
                self.assertIn('its id is not', d.log())
                d.create(models.oscillator(), durability='every-step')
            found = [r[0] for r in self.rows('SELECT id FROM instances WHERE aside IS NOT NULL '
                                             'ORDER BY key DESC LIMIT 1')]
            self.assertTrue(found[0].startswith(bad + ' ('), found)


if __name__ == '__main__':
    unittest.main()
