"""What outlives the process: instances in the state directory, after SIGTERM, after SIGKILL at any
moment, with a damaged or newer database, with a disk that is full or can only be read.

MECHD_TESTS_KILLS: how often the daemon is killed while three partners step (10)."""
import contextlib
import glob
import os
import random
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import threading
import unittest
import harness
import held
import models
from harness import Daemon, Http, Partner, wait_until
from keeping import KILLS, Kept
from long_models import chain

RACES = True

# what is held for ever is stuck soon
STUCK = ('--stuck-ms', '500')

# the schema as its first version was
VERSION_1 = """
CREATE TABLE instances (key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
  serial INTEGER NOT NULL, labels TEXT, durability TEXT NOT NULL, model TEXT NOT NULL);
CREATE TABLE states (key INTEGER PRIMARY KEY REFERENCES instances ON DELETE CASCADE,
  revision INTEGER NOT NULL, sequence INTEGER NOT NULL, bytes BLOB NOT NULL);
CREATE TABLE commands (key INTEGER NOT NULL REFERENCES instances ON DELETE CASCADE,
  number INTEGER NOT NULL, revision INTEGER NOT NULL, sequence INTEGER NOT NULL,
  bytes BLOB NOT NULL, PRIMARY KEY (key, number)) WITHOUT ROWID;
CREATE TABLE snapshots (key INTEGER NOT NULL REFERENCES instances ON DELETE CASCADE,
  number INTEGER NOT NULL, time REAL NOT NULL, bytes BLOB NOT NULL,
  PRIMARY KEY (key, number)) WITHOUT ROWID;
CREATE TABLE receipts (scope TEXT PRIMARY KEY, created INTEGER NOT NULL, body INTEGER NOT NULL,
  status INTEGER NOT NULL, location TEXT NOT NULL, bytes BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX receipts_by_age ON receipts (created);
CREATE TABLE aside (id TEXT NOT NULL, reason TEXT NOT NULL, labels TEXT, durability TEXT NOT NULL,
  model TEXT NOT NULL, revision INTEGER, sequence INTEGER, bytes BLOB);
PRAGMA user_version = 1;
"""


class Storage(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def database(self):
        return os.path.join(self.folder, 'mechd.sqlite')

    def state(self, daemon, i):
        reply = daemon.call('GET', '/v1/instances/%s/state' % i)
        self.assertEqual(reply.status, 200, reply)
        return reply.json

    def step(self, daemon, i, count=1):
        reply = daemon.call('POST', '/v1/instances/%s/step' % i, {'count': count})
        self.assertEqual(reply.status, 200, reply)
        return reply

    def create(self, daemon, model, durability, **more):
        return daemon.create(model, durability=durability, **more)

    def test_everything_is_there_after_the_end(self):
        with Kept(self.folder) as d:
            i = self.create(d, models.nonlinear_oscillator(), {'mode': 'checkpoint', 'steps': 1000},
                            labels={'rig': 'left'})
            other = d.create(models.oscillator())
            self.step(d, i, 7)
            sid = d.call('POST', '/v1/instances/%s/snapshots' % i).json['id']
            self.step(d, i, 5)
            before, etag = self.state(d, i), d.call('GET', '/v1/instances/%s' % i).json['revision']
        with Kept(self.folder) as d:
            self.assertEqual(self.state(d, i), before)
            shown = d.call('GET', '/v1/instances/%s' % i).json
            self.assertEqual(shown['labels'], {'rig': 'left'})
            self.assertNotEqual(shown['revision'], etag)
            self.assertEqual(d.call('GET', '/v1/instances/%s' % other).status, 404)
            restored = d.call('POST', '/v1/instances/%s/snapshots/%s/restore' % (i, sid))
            self.assertEqual(restored.status, 200, restored)
            self.step(d, i, 5)
            self.assertEqual(self.state(d, i)['q'], before['q'])

    def ends_stuck(self, d):
        """SIGTERM while the thread that computes is held: nothing cuts its step short."""
        self.addCleanup(d._remove)
        busiest = held.HeldThread(held.busiest_thread(d.pid()))
        d.process.send_signal(signal.SIGTERM)
        busiest.wait(30 * harness.SLOW)
        code = d.process.wait(30 * harness.SLOW)
        log = d.log()
        d._remove()
        self.assertEqual(code, 1, log)
        # the step would last for ever
        self.assertRegex(log, r'stuck .*stored=yes not_stored_for_computing=1')

    def test_what_is_stuck_takes_nothing_of_others_with_it(self):
        """A step that does not come to its next question is not waited for by the end, which stores
        what else has changed, also what waits for a thread of the pool."""
        rare = {'mode': 'checkpoint', 'steps': 1000000}
        d = Kept(self.folder, '--workers', '1', *STUCK)
        stuck, quiet, driven = (self.create(d, model, rare) for model in (
            models.endless_fall(), models.oscillator(), models.oscillator()))
        self.step(d, quiet, 777)
        self.step(d, stuck)
        run = '/v1/instances/%s/runs' % driven
        run = d.call('POST', run, {'pace': 1, 'period': 0.01}).headers['Location']
        wait_until(lambda: d.call('GET', run)['periods'] > 3, 'some periods')
        steps = d.call('GET', '/v1/instances/' + driven)['step']

        def ask(door):
            with contextlib.suppress(OSError, harness.http.client.HTTPException):
                door.call('POST', '/v1/instances/%s/step' % stuck, {'count': 1000})
        threads = [threading.Thread(target=ask, args=(harness.Http(d.base),)) for _ in range(20)]
        for thread in threads:
            thread.start()
        wait_until(lambda: re.search(r'^mechd_in_flight (2\d)$',
                                     d.call('GET', '/metrics').raw.decode(), re.M), 'they wait')
        self.ends_stuck(d)
        for thread in threads:
            thread.join(30 * harness.SLOW)
        with Kept(self.folder) as d:
            self.assertEqual(self.state(d, quiet)['step'], 777)
            self.assertGreaterEqual(self.state(d, driven)['step'], steps)
            self.assertEqual(d.call('GET', run)['state'], 'interrupted')
            self.assertEqual(self.state(d, stuck)['step'], 0)

    def test_a_run_in_a_step_without_end_is_not_waited_for(self):
        """Though no call is in flight."""
        rare = {'mode': 'checkpoint', 'steps': 1000000}
        d = Kept(self.folder, '--workers', '2', *STUCK)
        stuck, quiet = (self.create(d, model, rare)
                        for model in (models.endless_fall(), models.oscillator()))
        self.step(d, quiet, 777)
        run = d.call('POST', '/v1/instances/%s/runs' % stuck, {'pace': 0, 'until': 1})
        run = run.headers['Location']
        wait_until(lambda: float(re.search(r'^process_cpu_seconds_total (.*)$', d.call(
            'GET', '/metrics').raw.decode(), re.M).group(1)) > 1, 'it has long met the floor')
        self.ends_stuck(d)
        with Kept(self.folder) as d:
            self.assertEqual(self.state(d, quiet)['step'], 777)
            self.assertEqual(d.call('GET', run)['state'], 'interrupted')

    def test_checkpoints_by_seconds_do_not_wait_for_a_long_command(self):
        d = Kept(self.folder)
        i = self.create(d, models.oscillator(), {'mode': 'checkpoint', 'seconds': 0.3})
        self.step(d, i, 5)
        reply = d.call('POST', '/v1/instances/%s/step' % i, {'size': 1e8},
                       {'Prefer': 'respond-async'})

        def sequence():
            with contextlib.closing(sqlite3.connect(self.database())) as database:
                return database.execute('SELECT sequence FROM states').fetchone()[0]
        wait_until(lambda: sequence() == 1, 'the state is stored', 10)
        self.assertEqual(d.call('GET', reply.headers['Location'])['state'], 'running')
        d.kill()
        with Kept(self.folder) as d:
            self.assertEqual(self.state(d, i)['step'], 5)

    def test_inputs_parameters_and_fields_are_there_after_a_kill(self):
        d = Kept(self.folder)
        i = self.create(d, models.oscillator(), 'every-step')
        root = '/v1/instances/%s' % i
        changes = [('PUT', root + '/inputs', {'force': 3}),
                   ('PUT', root + '/parameters', {'k': 50}),
                   ('PUT', root + '/objects/mass/fields/physicsMass', {'value': 2.5}),
                   ('POST', root + '/step', {'count': 3, 'inputs': {'force': 4}})]
        for method, path, body in changes:
            reply = d.call(method, path, body)
            self.assertEqual(reply.status, 200, reply)
        before = self.state(d, i)
        d.kill()
        with Kept(self.folder) as d:
            self.assertEqual(self.state(d, i), before)
            self.assertEqual(d.call('GET', root + '/inputs').json['inputs']['force'], 4)
            self.assertEqual(d.call('GET', root + '/parameters').json['parameters']['k'], 50)
            self.assertEqual(d.call('GET', root + '/model').json['objects'][0]['physicsMass'], 2.5)

    def test_a_deleted_instance_stays_deleted_and_its_id_is_free(self):
        d = Kept(self.folder, '--durability', 'every-step')
        self.assertEqual(d.call('PUT', '/v1/instances/a', {'model': models.oscillator()}).status,
                         201)
        self.step(d, 'a')
        self.assertEqual(d.call('DELETE', '/v1/instances/a').status, 204)
        d.kill()
        d = Kept(self.folder, '--durability', 'every-step')
        self.assertEqual(d.call('GET', '/v1/instances/a').status, 404)
        self.assertEqual(d.call('PUT', '/v1/instances/a', {'model': models.oscillator()}).status,
                         201)
        d.kill()
        with Kept(self.folder) as d:
            self.assertEqual(self.state(d, 'a')['step'], 0)

    def test_a_checkpoint_by_steps_is_at_most_that_many_steps_old(self):
        d = Kept(self.folder)
        i = self.create(d, models.oscillator(), {'mode': 'checkpoint', 'steps': 10})
        for _ in range(57):
            self.step(d, i)
        wait_until(lambda: self.stored(i) >= 47, 'the checkpoint is on disk')
        d.kill()
        with Kept(self.folder) as d:
            self.assertGreaterEqual(self.state(d, i)['step'], 47)

    def test_a_checkpoint_by_time_comes_without_another_change(self):
        d = Kept(self.folder)
        i = self.create(d, models.oscillator(), {'mode': 'checkpoint', 'seconds': 0.2})
        self.step(d, i, 5)
        wait_until(lambda: self.stored(i) == 1, 'the checkpoint is on disk')
        d.kill()
        with Kept(self.folder) as d:
            self.assertEqual(self.state(d, i)['step'], 5)

    def stored(self, i):
        """Communication steps of what the database has of an instance."""
        connection = sqlite3.connect('file:%s?mode=ro' % self.database(), uri=True)
        try:
            return connection.execute('SELECT sequence FROM states JOIN instances USING (key) '
                                      'WHERE id = ?', (i,)).fetchone()[0]
        finally:
            connection.close()

    def test_no_acknowledged_step_is_lost_and_none_is_done_twice(self):
        """Two clients over HTTP, one of them with a large model, and a partner with frames; what
        is acknowledged counts. After each kill the instance is at the last acknowledged step, or
        one further if that one was on disk before its answer was on its way."""
        instances = {'http': models.nonlinear_oscillator(), 'large': chain(),
                     'frame': models.nonlinear_oscillator()}
        done = dict.fromkeys(instances, 0)
        d = Kept(self.folder, '--durability', 'every-step')
        for i, model in instances.items():
            self.assertEqual(d.call('PUT', '/v1/instances/' + i, {'model': model}).status, 201)
        dice = random.Random(12)
        for _ in range(KILLS):
            self.step_until_killed(d, done, dice.randrange(60))
            d = Kept(self.folder, '--durability', 'every-step')
            for i in instances:
                steps = self.state(d, i)['step']
                self.assertIn(steps, (done[i], done[i] + 1), i)
                done[i] = steps
        for i, model in instances.items():
            # step by step, as it was done: the time of many steps is not summed up
            twin = self.create(d, model, 'none')
            for _ in range(done[i]):
                self.step(d, twin)
            self.assertEqual(self.state(d, twin)['q'], self.state(d, i)['q'], i)
            self.assertEqual(self.state(d, twin)['v'], self.state(d, i)['v'], i)
        self.assertGreater(min(done.values()), 0)
        d.stop()

    def step_until_killed(self, d, done, steps):
        """Once each instance has been stepped, and all of them so many times more."""
        stop, goal = threading.Event(), sum(done.values()) + steps

        def over_http(i):
            http = Http(d.base)
            while not stop.is_set():
                try:
                    reply = http.call('POST', '/v1/instances/%s/step' % i, {'count': 1})
                except (OSError, harness.http.client.HTTPException):
                    break
                if reply.status == 200:
                    done[i] = reply['step']
            http.close()

        def over_frames(i):
            with Partner(d, i, outputs=['x']) as partner:
                partner.socket.rcvtimeo = 1000
                size = d.call('GET', '/v1/instances/%s' % i).json['stepSize']
                ready.set()
                while not stop.is_set():
                    try:
                        done[i] = partner.step(size)['step']
                    except harness.zmq_again():
                        break

        ready = threading.Event()
        threads = [threading.Thread(target=over_http, args=('http',)),
                   threading.Thread(target=over_http, args=('large',)),
                   threading.Thread(target=over_frames, args=('frame',))]
        for t in threads:
            t.start()
        ready.wait(20 * harness.SLOW)
        wait_until(lambda: min(done.values()) > 0 and sum(done.values()) >= goal, 'they step', 60)
        d.kill()
        stop.set()
        for t in threads:
            t.join()

    def test_a_second_daemon_on_the_directory_is_refused(self):
        with Kept(self.folder):
            with self.assertRaisesRegex(AssertionError, 'another mechd uses the state directory'):
                Kept(self.folder)

    def test_a_directory_that_cannot_be_made_is_reported(self):
        blocked = os.path.join(self.folder, 'file')
        with open(blocked, 'w', encoding='utf-8') as f:
            f.write('in the way')
        with self.assertRaisesRegex(AssertionError, 'state directory .*file/state'):
            Kept(os.path.join(blocked, 'state'))

    def test_a_damaged_database_is_set_aside(self):
        with Kept(self.folder) as d:
            self.create(d, models.oscillator(), 'every-step')
        with open(self.database(), 'r+b') as f:
            f.seek(0)
            f.write(b'\xff' * 8192)
        self.is_set_aside('it is damaged')

    def test_a_newer_database_is_set_aside(self):
        with Kept(self.folder) as d:
            self.create(d, models.oscillator(), 'every-step')
        connection = sqlite3.connect(self.database())
        connection.execute('PRAGMA user_version = 1000')
        connection.close()
        self.is_set_aside('a newer version of mechd wrote it')

    def test_a_database_of_the_first_version_is_brought_up(self):
        with Kept(self.folder) as d:
            i = self.create(d, models.nonlinear_oscillator(), 'every-step', labels={'rig': 'left'})
            self.step(d, i, 5)
            sid = d.call('POST', '/v1/instances/%s/snapshots' % i).json['id']
            before = self.state(d, i)
        new = self.database() + '.new'
        os.rename(self.database(), new)
        old = sqlite3.connect(self.database())
        old.executescript(VERSION_1)
        old.execute('ATTACH ? AS new', (new,))
        for table in ('instances', 'states', 'commands', 'snapshots', 'receipts'):
            names = ', '.join(r[1] for r in old.execute('PRAGMA main.table_info(%s)' % table))
            old.execute('INSERT INTO %s SELECT %s FROM new.%s' % (table, names, table))
        old.execute("INSERT INTO aside VALUES ('lost', 'no model', NULL, 'none', '{}', 3, 4, "
                    "x'05')")
        old.execute("INSERT INTO aside VALUES ('more', 'no state', NULL, 'none', '{}', "
                    "NULL, NULL, NULL)")
        old.commit()
        old.close()
        os.unlink(new)
        with Kept(self.folder) as d:
            self.assertEqual(glob.glob(self.database() + '.aside-*'), [])
            self.assertEqual(self.state(d, i), before)
            self.step(d, i, 2)
            root = '/v1/instances/%s' % i
            self.assertEqual(d.call('GET', root).json['labels'], {'rig': 'left'})
            restored = d.call('POST', '%s/snapshots/%s/restore' % (root, sid))
            self.assertEqual(restored.status, 200, restored)
            self.assertEqual(self.state(d, i)['q'], before['q'])
        connection = sqlite3.connect(self.database())
        self.addCleanup(connection.close)
        self.assertGreaterEqual(connection.execute('PRAGMA user_version').fetchone()[0], 2)
        tables = {r[0] for r in connection.execute("SELECT name FROM sqlite_master")}
        self.assertLessEqual({'runs', 'results'}, tables)
        aside = connection.execute('SELECT i.id, aside, model, bytes FROM instances i LEFT JOIN '
                                   'states s ON s.key = i.key WHERE aside IS NOT NULL '
                                   'ORDER BY i.id').fetchall()
        names = [a[0] for a in aside]
        self.assertEqual([a[1:] for a in aside], [('no model', '{}', b'\x05'),
                                                  ('no state', '{}', None)])
        self.assertRegex(' '.join(names), r'^lost \(\d+\) more \(\d+\)$')
        # put back, it is looked at again
        connection.execute("UPDATE instances SET id = 'more', aside = NULL WHERE id = ?",
                           (names[1],))
        connection.commit()
        with Kept(self.folder) as d:
            self.assertIn('set-aside instance=more ', d.log())

    def is_set_aside(self, reason):
        with open(self.database(), 'rb') as f:
            before = f.read()
        with Kept(self.folder) as d:
            self.assertIn(reason, d.log())
            self.assertEqual(d.call('GET', '/v1/instances').json['items'], [])
            self.create(d, models.oscillator(), 'every-step')
            aside = [p for p in glob.glob(self.database() + '.aside-*') if p[-4] != '-']
            self.assertEqual(len(aside), 1)
            self.assertIn(os.path.basename(aside[0]), d.log())
            with open(aside[0], 'rb') as f:
                self.assertEqual(f.read(), before)

    def test_a_full_disk_undoes_the_step_and_reading_goes_on(self):
        """No file may grow any more: writes fail as on a full disk."""
        with Kept(self.folder) as d:
            i = self.create(d, models.oscillator(), 'every-step')
            self.step(d, i, 4)
            before = self.state(d, i)
            with d.full_disk():
                for _ in range(3):
                    reply = d.call('POST', '/v1/instances/%s/step' % i, {'count': 1})
                    self.assertEqual(reply.status, 507, reply)
                    self.assertEqual(reply['code'], 'storage-failed')
                    wait_until(lambda: self.state(d, i) == before, 'the step is undone')
                reply = d.call('PUT', '/v1/instances/new',
                               {'model': models.oscillator(), 'durability': 'every-step'})
                self.assertEqual(reply.status, 507, reply)
                self.assertEqual(d.call('GET', '/v1/instances/new').status, 404)
            self.assertEqual(self.step(d, i)['step'], 5)
            last = self.state(d, i)
        with Kept(self.folder) as d:
            self.assertEqual(self.state(d, i), last)

    def change_fields(self, d, i):
        """Fields of two items, one of them an expression; the statuses of the replies."""
        changes = (('mass/fields/physicsMass', 2), ('spring/fields/stiffness', 55),
                   ('mass/fields/physicsMass', 3))
        return [d.call('PUT', '/v1/instances/%s/objects/%s' % (i, path), {'value': value}).status
                for path, value in changes]

    def test_a_full_disk_undoes_changed_fields(self):
        """In the document too: the steps that follow, and the next process, do without them."""
        for mode, status in (('every-step', 507), ({'mode': 'checkpoint', 'steps': 1}, 200)):
            with self.subTest(mode=mode):
                with Kept(self.folder) as d:
                    i = self.create(d, models.oscillator(), mode)
                    twin = self.create(d, models.oscillator(), 'every-step')
                    sid = d.call('POST', '/v1/instances/%s/snapshots' % i).json['id']
                    # records are written in order: that of i before the twin's
                    self.step(d, i, 4)
                    self.step(d, twin, 4)
                    before = self.state(d, i)
                    model = d.call('GET', '/v1/instances/%s/model' % i).json
                    with d.full_disk():
                        self.assertEqual(self.change_fields(d, i), 3 * [status])
                        if status == 200:
                            self.step(d, i, 2)
                        wait_until(lambda: self.state(d, i) == before, 'the changes are undone')
                        self.assertEqual(d.call('GET', '/v1/instances/%s/model' % i).json, model)
                    for one in (i, twin):
                        reply = d.call('PUT', '/v1/instances/%s/parameters' % one,
                                       {'parameters': {'k': 30}})
                        self.assertEqual(reply.status, 200, reply)
                        self.step(d, one, 4)
                    self.assertEqual(self.state(d, i), self.state(d, twin))
                    restored = d.call('POST', '/v1/instances/%s/snapshots/%s/restore' % (i, sid))
                    self.assertEqual((restored.status, restored['reproducible']), (200, True))
                    self.assertEqual(self.change_fields(d, i), 3 * [200])
                    changed = d.call('GET', '/v1/instances/%s/model' % i).json
                    self.step(d, i, 2)
                    last = self.state(d, i)
                with Kept(self.folder) as d:
                    self.assertEqual(self.state(d, i), last)
                    self.assertEqual(d.call('GET', '/v1/instances/%s/model' % i).json, changed)

    def test_an_instance_that_cannot_be_deleted_on_a_full_disk_goes_on(self):
        with Kept(self.folder) as d:
            i = self.create(d, models.oscillator(), 'every-step')
            self.step(d, i, 4)
            before = self.state(d, i)
            with d.full_disk():
                for _ in range(3):
                    reply = d.call('DELETE', '/v1/instances/' + i)
                    self.assertEqual((reply.status, reply['code']), (507, 'storage-failed'))
                    self.assertEqual(self.state(d, i), before)
                listed = d.call('GET', '/v1/instances')['items']
                self.assertEqual([item['id'] for item in listed], [i])
            self.assertEqual(self.step(d, i)['step'], 5)
            last = self.state(d, i)
        with Kept(self.folder) as d:
            self.assertEqual(self.state(d, i), last)
            self.assertEqual(d.call('DELETE', '/v1/instances/' + i).status, 204)
            self.assertEqual(d.call('GET', '/v1/instances/' + i).status, 404)
        with Kept(self.folder) as d:
            self.assertEqual(d.call('GET', '/v1/instances')['items'], [])

    def test_a_directory_that_can_only_be_read_is_reported_and_not_changed(self):
        before, files = self.one_with_a_state(), self.contents()
        with self.assertRaisesRegex(AssertionError, 'ended with 1: .*cannot write to the state '
                                    'directory %s: Read-only' % self.folder):
            Kept(self.folder, program_path=self.read_only(self.folder))
        self.assertEqual(self.contents(), files)
        with Kept(self.folder) as d:
            self.assertEqual(self.state(d, 'a'), before)

    def test_a_database_that_can_only_be_read_is_read(self):
        before = self.one_with_a_state()
        with Kept(self.folder, program_path=self.read_only(self.database())) as d:
            self.assertEqual(self.state(d, 'a'), before)
            for method, path, body in (
                    ('POST', '/v1/instances/a/step', {'count': 1}),
                    ('PUT', '/v1/instances/new', {'model': models.oscillator(),
                                                  'durability': 'every-step'})):
                reply = d.call(method, path, body)
                self.assertEqual(reply.status, 507, reply)
                self.assertEqual(reply['code'], 'storage-failed')
                self.assertIn('readonly', reply['detail'])
            wait_until(lambda: self.state(d, 'a') == before, 'the step is undone')
        with Kept(self.folder) as d:
            self.assertEqual(glob.glob(self.database() + '.aside-*'), [])
            self.assertEqual(self.state(d, 'a'), before)
            self.assertEqual(self.step(d, 'a')['step'], 5)

    def one_with_a_state(self):
        """Of instance a, on disk when the daemon has ended."""
        with Kept(self.folder) as d:
            reply = d.call('PUT', '/v1/instances/a', {'model': models.oscillator(),
                                                      'durability': 'every-step'})
            self.assertEqual(reply.status, 201, reply)
            self.step(d, 'a', 4)
            return self.state(d, 'a')

    def read_only(self, path):
        """A program: mechd in a mount namespace of its own, where `path` can only be read."""
        script = self.folder + '-program'
        self.addCleanup(lambda: os.path.exists(script) and os.unlink(script))
        start = ['unshare', '--mount', 'sh', '-c', 'mount --bind "$0" "$0" && '
                 'mount -o remount,bind,ro "$0" && exec "$@"', path]
        tried = subprocess.run(start + ['test', '!', '-w', path], capture_output=True, text=True,
                               check=False)
        if tried.returncode:
            self.skipTest('nothing can be mounted for reading only: ' + tried.stderr)
        with open(script, 'w', encoding='utf-8') as f:
            f.write('#!/bin/sh\nexec %s "$@"\n' % shlex.join(start + [harness.program('mechd')]))
        os.chmod(script, 0o700)
        return script

    def contents(self):
        """{name: bytes} of the state directory."""
        found = {}
        for name in os.listdir(self.folder):
            with open(os.path.join(self.folder, name), 'rb') as f:
                found[name] = f.read()
        return found

    def test_durability_without_a_directory_is_refused(self):
        with Daemon() as d:
            reply = d.call('POST', '/v1/instances',
                           {'model': models.oscillator(), 'durability': 'every-step'})
            self.assertEqual(reply.status, 422, reply)
            self.assertEqual(reply['errors'][0]['pointer'], '/durability')
            for wrong in ('always', {'mode': 'none', 'steps': 3}, {'mode': 'checkpoint', 'n': 3},
                          7):
                reply = d.call('POST', '/v1/instances',
                               {'model': models.oscillator(), 'durability': wrong})
                self.assertEqual(reply.status, 422, reply)
                self.assertTrue(reply['errors'][0]['pointer'].startswith('/durability'), reply)
        with self.assertRaisesRegex(AssertionError, 'add --state DIR'):
            Daemon('--durability', 'checkpoint')

    def test_a_run_is_stored_up_to_its_end(self):
        d = Kept(self.folder)
        i = self.create(d, models.oscillator(), 'every-step')
        reply = d.call('POST', '/v1/instances/%s/runs' % i,
                       {'until': 5, 'period': 0.01, 'pace': 0})
        self.assertEqual(reply.status, 202, reply)
        path = '/v1/instances/%s/runs/%s' % (i, reply['id'])
        wait_until(lambda: d.call('GET', path).json['state'] == 'finished', 'the run ends')
        before = self.state(d, i)
        # an acknowledged change behind it, so that what came before is on disk
        reply = d.call('PUT', '/v1/instances/%s/state' % i, {'q': before['q']})
        self.assertEqual(reply.status, 200, reply)
        before = self.state(d, i)
        d.kill()
        with Kept(self.folder) as d:
            self.assertEqual(self.state(d, i), before)


class Modes(unittest.TestCase):
    def test_state_files_are_for_their_owner_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            before = os.umask(0)
            try:
                for turn in range(2):
                    with Kept(folder) as d:
                        modes = {name: oct(os.stat(os.path.join(folder, name)).st_mode & 0o777)
                                 for name in os.listdir(folder)}
                        self.assertEqual(set(modes.values()), {'0o600'}, modes)
                        self.assertIn('mechd.sqlite-wal', modes)
                        self.assertEqual('file-mode' in d.log(), turn == 1)
                        self.assertRegex(d.log(), 'level=warning event=folder-mode .*mode=755')
                    # as an older version left them
                    os.chmod(os.path.join(folder, 'mechd.sqlite'), 0o644)
                    os.chmod(os.path.join(folder, 'lock'), 0o644)
            finally:
                os.umask(before)

    def test_no_warning_for_a_folder_that_only_its_owner_can_read(self):
        with tempfile.TemporaryDirectory() as folder:
            for path in (folder, os.path.join(folder, 'made')):
                with Kept(path) as d:
                    self.assertNotIn('folder-mode', d.log())


if __name__ == '__main__':
    unittest.main()
