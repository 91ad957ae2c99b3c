"""Runs and what they record: bounds, lists, progress, events that go on where they were, pacing,
and what is left of them after the end of the process, however it came.

MECHD_TESTS_KILLS: how often the daemon is killed during a run (10)."""
import http.client
import json
import os
import random
import re
import shutil
import sqlite3
import tempfile
import threading
import unittest
import models
from harness import SLOW, Daemon, Forces, Partner, Served, resident, wait_until
from keeping import KILLS, Kept
from long_models import chain

RACES = True


class Stream:
    """Server-sent events, one after the other: (name, id, data)."""

    def __init__(self, daemon, path, last=None):
        self.connection = http.client.HTTPConnection(daemon.http.address.hostname,
                                                     daemon.http.address.port, timeout=30 * SLOW)
        self.connection.request('GET', path, headers={} if last is None
                                else {'Last-Event-ID': str(last)})
        self.answer = self.connection.getresponse()
        self.status = self.answer.status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.connection.close()

    def __iter__(self):
        found = {}
        for line in self.answer:
            name, _, value = line.decode().rstrip('\n').partition(': ')
            if name and not name.startswith(':'):
                found[name] = value
            elif found:
                yield (found.get('event', 'message'), found.get('id'),
                       json.loads(found['data']))
                found = {}


def rows_of(table):
    return [tuple(row) for row in table['rows']]


class Runs(Served):
    def call(self, method, path, body=None, status=200, **headers):
        reply = self.daemon.call(method, '/v1/instances/' + path, body, headers or None)
        self.assertEqual(reply.status, status, reply)
        return reply

    def start(self, i, **body):
        return '%s/runs/%s' % (i, self.call('POST', i + '/runs', body, 202)['id'])

    def end(self, path):
        def look():
            run = self.call('GET', path).json
            return run if run['state'] != 'running' else None
        return wait_until(look, 'the run is over')

    def run_to_end(self, i, **body):
        path = self.start(i, **body)
        self.end(path)
        return path

    # --- what is asked for ------------------------------------------------------------------------

    def test_a_run_of_so_many_periods_ends_there(self):
        i = self.daemon.create(models.oscillator())
        self.call('POST', i + '/step', {'until': 0.25})
        run = self.end(self.start(i, count=30, period=0.01))
        self.assertEqual((run['start'], run['until'], run['time'], run['periods']),
                         (0.25, 0.25 + 30 * 0.01, 0.25 + 30 * 0.01, 30))
        self.assertEqual((run['fraction'], run['remaining']), (1, 0))
        self.assertGreater(run['elapsed'], 0)
        for body, pointer in (({'count': 0}, '/count'), ({'count': 1.5}, '/count'),
                              ({'count': 3, 'until': 9}, '/count'), ({}, '/until'),
                              ({'until': 0.1}, '/until'), ({'until': 1, 'period': 0}, '/period'),
                              ({'pace': 1, 'period': 1e-4}, '/period')):
            with self.subTest(str(body)):
                reply = self.call('POST', i + '/runs', body, 422)
                self.assertEqual([e['pointer'] for e in reply['errors']], [pointer], reply)

    def test_a_long_period_can_be_watched_and_stopped(self):
        """A period of some minutes: how far it is, and its end, come at once; it is undone."""
        i = self.daemon.create(models.nonlinear_oscillator())
        self.call('POST', i + '/step', {'count': 3})
        start = self.call('GET', i)['time']
        path = self.start(i, count=2, period=1e8)
        first = wait_until(lambda: self.call('GET', path)['fraction'] or None, 'it goes on', 10)
        wait_until(lambda: self.call('GET', path)['fraction'] > first, 'it goes on', 10)
        run = self.call('GET', path)
        self.assertGreater(run['time'], start)
        self.assertEqual((run['state'], run['periods']), ('running', 0))
        stopped = self.call('DELETE', path)
        self.assertEqual((stopped['state'], stopped['periods'], stopped['time']),
                         ('stopped', 0, start))
        self.assertEqual(self.call('GET', i)['time'], start)
        self.assertEqual(self.call('POST', i + '/step', {'count': 1})['step'], 4)

    def test_a_period_with_forces_ahead_can_be_stopped_too(self):
        i = self.daemon.create(models.oscillator())
        with Partner(self.daemon, i, ['force'], ['x']) as partner:
            forces = Forces(self.daemon, partner)
            forces.push([1.0], 5e7)
            wait_until(lambda: re.search(r'^mechd_forces_total [1-9]', self.daemon.call(
                'GET', '/metrics').raw.decode(), re.M), 'it is taken')
            forces.close()
            path = self.start(i, count=2, period=1e8)
            wait_until(lambda: self.call('GET', path)['fraction'] or None, 'it goes on', 10)
            self.assertEqual(self.call('DELETE', path)['state'], 'stopped')
            self.assertEqual(self.call('GET', i)['time'], 0)

    def test_others_have_their_turn_between_periods(self):
        """Periods of many slices, of a run that has no end: a request waits for the end of one."""
        i = self.daemon.create(models.nonlinear_oscillator())
        path = self.start(i, count=10 ** 9, period=3000.)
        times = [self.call('PUT', i + '/inputs', {'force': f})['time'] for f in range(5)]
        self.call('POST', i + '/snapshots', {}, 201)
        self.assertEqual([t % 3000 for t in times], [0] * 5, times)
        self.assertEqual(times, sorted(times))
        self.assertEqual(self.call('DELETE', path)['state'], 'stopped')

    def test_rows_by_seconds_and_of_some_outputs(self):
        i, other = (self.daemon.create(models.oscillator()) for _ in range(2))
        a = self.run_to_end(i, until=1, period=0.01, record={'seconds': 0.05, 'outputs': ['v']})
        b = self.run_to_end(other, until=1, period=0.01, record={'every': 5})
        self.assertEqual(self.call('GET', a)['record'], {'every': 5, 'outputs': ['v']})
        part, whole = (self.call('GET', p + '/results').json for p in (a, b))
        self.assertEqual(part['columns'], ['time', 'v'])
        self.assertEqual(part['rows'], [[t, v] for t, x, v in whole['rows']])
        self.assertEqual(len(part['rows']), 21)
        # of those recorded, some
        some = self.call('GET', b + '/results?outputs=x').json
        self.assertEqual(some['columns'], ['time', 'x'])
        self.assertEqual(some['rows'], [[t, x] for t, x, v in whole['rows']])
        for query, pointer in (('outputs=x', '/outputs'), ('outputs=', '/outputs'),
                               ('limit=0', '/limit'), ('limit=-1', '/limit'),
                               ('limit=x', '/limit'), ('to=nan', '/to')):
            with self.subTest(query):
                reply = self.call('GET', '%s/results?%s' % (a, query), status=422)
                self.assertEqual(reply['errors'][0]['pointer'], pointer)
        for record, pointer in (({'seconds': 0.015}, '/record/seconds'),
                                ({'seconds': 0}, '/record/seconds'),
                                ({'seconds': 1, 'every': 1}, '/record/seconds'),
                                ({'outputs': []}, '/record/outputs'),
                                ({'outputs': ['x', 'nobody']}, '/record/outputs/1'),
                                ({'outputs': ['x', 'x']}, '/record/outputs/1')):
            with self.subTest(str(record)):
                reply = self.call('POST', i + '/runs', {'until': 2, 'period': 0.01,
                                                        'record': record}, 422)
                self.assertEqual(reply['errors'][0]['pointer'], pointer)

    def test_a_limit_cuts_and_the_reply_has_where_the_rest_begins(self):
        i = self.daemon.create(models.oscillator())
        path = self.run_to_end(i, count=100, period=0.01, record={})
        whole = self.call('GET', path + '/results').json
        self.assertIsNone(whole['next'])
        found, start = [], ''
        for turn in range(5):
            part = self.call('GET', '%s/results?limit=24%s' % (path, start)).json
            found += part['rows']
            start = '&from=%r' % part['next']
        self.assertIsNone(part['next'])
        self.assertEqual(found, whole['rows'])

    def test_long_results_come_in_pieces_and_whole(self):
        i = self.daemon.create(models.oscillator())
        path = self.run_to_end(i, count=50000, period=0.01, record={})
        table = self.call('GET', path + '/results').json
        self.assertEqual(len(table['rows']), 50001)
        raw = self.call('GET', path + '/results?format=f64')
        self.assertEqual(raw.headers['Transfer-Encoding'], 'chunked')
        self.assertEqual(len(raw.raw), 50001 * 24)
        from forms import load_npy, numbers
        flat = [x for row in table['rows'] for x in row]
        self.assertEqual(numbers(raw.raw), flat)
        npy = self.call('GET', path + '/results?format=npy').raw
        self.assertEqual(load_npy(npy), ((50001, 3), flat))
        text = self.call('GET', path + '/results?format=csv')
        self.assertEqual(text.raw.count(b'\r\n'), 50002)
        # and the daemon goes on with the same connection
        self.call('GET', path)

    # --- several runs -----------------------------------------------------------------------------

    def test_the_last_runs_are_kept_and_listed(self):
        i = self.daemon.create(models.oscillator())
        paths = [self.run_to_end(i, count=3, period=0.01, record={}) for _ in range(18)]
        items = self.call('GET', i + '/runs').json
        self.assertEqual([r['id'] for r in items['items']],
                         ['r-%d' % k for k in range(18, 2, -1)])
        self.assertIsNone(items['next'])
        for k, path in enumerate(paths):
            reply = self.call('GET', path + '/results', status=404 if k < 2 else 200)
            if k >= 2:
                self.assertEqual(reply['rows'][0][0], items['items'][17 - k]['start'])
        times = [self.call('GET', p)['time'] for p in paths[2:]]
        self.assertEqual(times, sorted(set(times)))

    def test_results_are_deleted_alone(self):
        i = self.daemon.create(models.oscillator())
        path = self.start(i, pace=1, until=1e3, record={})
        self.call('DELETE', path + '/results', status=409)
        self.assertEqual(self.call('DELETE', path)['state'], 'stopped')
        self.call('DELETE', path + '/results', status=204)
        self.assertNotIn('recorded', self.call('GET', path).json)
        self.call('GET', path + '/results', status=404)
        self.call('DELETE', path + '/results', status=404)
        self.call('DELETE', i + '/runs/r-9/results', status=404)

    def test_memory_of_rows_is_bounded_over_all_instances(self):
        """16 of 64 MiB fill the daemon's 1 GiB; the memory is only touched as rows come."""
        full = {'until': 2796000 * 0.01, 'pace': 1e-4, 'period': 0.01, 'record': {}}
        with Daemon() as d:
            def start(i):
                return d.call('POST', '/v1/instances/%s/runs' % i, full)
            instances = [d.create(models.oscillator()) for _ in range(17)]
            for i in instances[:16]:
                self.assertEqual(start(i).status, 202)
            reply = start(instances[16])
            self.assertEqual(reply.status, 429, reply)
            self.assertIn(str(1 << 30), reply['detail'])
            runs = d.call('GET', '/v1/instances/%s/runs' % instances[16])
            self.assertEqual(runs['items'], [])
            self.assertEqual(d.call('DELETE', '/v1/instances/' + instances[0]).status, 204)
            wait_until(lambda: start(instances[16]).status == 202, 'the room is free again')

    # --- events -----------------------------------------------------------------------------------

    def test_events_have_every_row_once_and_then_the_end(self):
        i = self.daemon.create(models.oscillator())
        path = self.start(i, until=1, period=0.01, pace=5, record={'every': 2})
        with Stream(self.daemon, '/v1/instances/%s/events?rate=60' % path) as s:
            told = list(s)
        rows = [e for e in told if e[0] == 'row']
        table = self.call('GET', path + '/results').json
        self.assertEqual([(e[2]['time'], e[2]['outputs']['x'], e[2]['outputs']['v']) for e in rows],
                         rows_of(table))
        self.assertEqual([e[1].split('-')[0] for e in rows], [str(k + 1) for k in range(51)])
        self.assertEqual((told[-1][0], told[-1][2]['state']), ('end', 'finished'))
        parts = [e[2]['fraction'] for e in told if e[0] == 'progress']
        self.assertEqual(parts, sorted(parts))

    def test_events_report_the_progress_of_a_run(self):
        i = self.daemon.create(models.oscillator())
        path = self.start(i, until=1e4, period=0.01, pace=5)
        parts = []
        with Stream(self.daemon, '/v1/instances/%s/events?rate=60' % path) as s:
            for name, _, data in s:
                parts += [data['fraction']] if name == 'progress' else []
                if len(parts) > 3 and parts[-1] > 0:
                    break
        self.assertEqual(parts, sorted(parts))
        self.assertLess(parts[-1], 1)
        self.assertEqual(self.daemon.call('DELETE', '/v1/instances/' + path).status, 200)

    def test_events_go_on_after_the_last_one_seen(self):
        i = self.daemon.create(models.oscillator())
        path = self.start(i, until=1, period=0.01, pace=4, record={})
        seen, last = [], None
        for turn in range(4):
            with Stream(self.daemon, '/v1/instances/%s/events?rate=60' % path, last) as s:
                for name, number, data in s:
                    if name == 'row':
                        seen.append(data['time'])
                        last = number
                    if name == 'end' or (name == 'row' and len(seen) == 20 * (turn + 1)):
                        break
        with Stream(self.daemon, '/v1/instances/%s/events' % path, last) as s:
            seen += [e[2]['time'] for e in s if e[0] == 'row']
        self.end(path)
        table = self.call('GET', path + '/results').json
        self.assertEqual(seen, [r[0] for r in table['rows']])
        with Stream(self.daemon, '/v1/instances/%s/events' % path, 101) as s:
            self.assertEqual([e[0] for e in s], ['end'])
        with Stream(self.daemon, '/v1/instances/%s/events' % path, 'x') as s:
            self.assertEqual(s.status, 400)
        with Stream(self.daemon, '/v1/instances/%s/runs/r-9/events' % i) as s:
            self.assertEqual(s.status, 404)

    def test_events_of_a_run_without_record_and_of_a_deleted_instance_end(self):
        i = self.daemon.create(models.oscillator())
        path = self.run_to_end(i, count=5, period=0.01)
        with Stream(self.daemon, '/v1/instances/%s/events' % path) as s:
            self.assertEqual([e[0] for e in s], ['end'])
        path = self.start(i, pace=1)
        with Stream(self.daemon, '/v1/instances/%s/events?rate=60' % path) as s:
            names = iter(s)
            self.assertEqual(next(names)[0], 'progress')
            self.call('DELETE', i, status=204)
            self.assertEqual([e[0] for e in names][-1], 'end')

    def test_live_events_wait_for_news_after_the_last_one_seen(self):
        i = self.daemon.create(models.oscillator())
        path = '/v1/instances/%s/events?rate=60' % i
        with Stream(self.daemon, path) as s:
            name, last, data = next(iter(s))
            self.assertEqual(data['time'], 0)
        with Stream(self.daemon, path, last) as s:
            self.call('POST', i + '/step', {'size': 0.25})
            self.assertEqual(next(iter(s))[2]['time'], 0.25)
        # another one, or one of another process, counts as none
        with Stream(self.daemon, path, 'abc.1') as s:
            self.assertEqual(next(iter(s))[2]['time'], 0.25)

    # --- pacing -----------------------------------------------------------------------------------

    def test_late_periods_are_counted_and_the_schedule_moves(self):
        """Periods that take longer than the clock gives them."""
        i = self.daemon.create(chain(20000))
        path = self.start(i, count=40, period=0.02, pace=20)
        run = self.end(path)
        self.assertEqual((run['state'], run['periods']), ('finished', 40))
        self.assertGreater(run['overruns'], 10)
        text = self.daemon.call('GET', '/metrics').raw.decode()
        counted = [float(x.split()[-1]) for x in text.splitlines()
                   if x.startswith('mechd_run_overruns_total ')]
        self.assertGreaterEqual(counted[0], run['overruns'])

    def test_a_pace_beyond_any_clock_waits_for_ever(self):
        for pace in (1e-16, 1e-300):
            slow, other = (self.daemon.create(models.oscillator()) for _ in range(2))
            path = self.start(slow, count=2, period=0.01, pace=pace)
            wait_until(lambda: self.call('GET', slow + '/state')['step'] == 10, 'one period')
            self.end(self.start(other, count=2, period=0.01, pace=0.1))
            run = self.call('GET', path)
            self.assertEqual((run['state'], run['periods']), ('running', 1), run)
            self.call('DELETE', path)

    def test_a_paced_run_does_not_drift(self):
        """200 periods of 5 ms: none begins before its time. How late they are is measured by the
        benchmarks."""
        i = self.daemon.create(models.oscillator())
        run = self.end(self.start(i, count=200, period=0.005, pace=1))
        self.assertEqual(run['periods'], 200)
        self.assertGreaterEqual(run['elapsed'], 199 * 0.005)


class Lasting(unittest.TestCase):
    """On a state directory."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def get(self, d, path, status=200, **headers):
        reply = d.call('GET', '/v1/instances/' + path, None, headers or None)
        self.assertEqual(reply.status, status, reply)
        return reply

    def start(self, d, i, **body):
        reply = d.call('POST', '/v1/instances/%s/runs' % i, body)
        self.assertEqual(reply.status, 202, reply)
        return '%s/runs/%s' % (i, reply['id'])

    def end(self, d, path):
        wait_until(lambda: self.get(d, path)['state'] != 'running', 'the run is over', 30)
        return self.get(d, path).json

    def expected(self, model, rows):
        """The rows of such a run, by a daemon that keeps nothing."""
        with Daemon() as d:
            i = d.create(model)
            path = self.start(d, i, count=rows - 1, period=0.01, record={})
            self.end(d, path)
            return self.get(d, path + '/results').json['rows']

    def test_finished_runs_and_their_results_survive(self):
        for durability in ('every-step', 'checkpoint'):
            with self.subTest(durability):
                with Kept(self.folder) as d:
                    i = d.create(models.nonlinear_oscillator(), durability=durability)
                    first = self.start(d, i, count=5000, period=0.01, record={})
                    self.end(d, first)
                    second = self.start(d, i, count=20, period=0.01,
                                        record={'outputs': ['x'], 'every': 4})
                    self.end(d, second)
                    third = self.start(d, i, count=3, period=0.01)
                    self.end(d, third)
                    paths = (first, second, third)
                    runs = [self.get(d, p).json for p in paths]
                    tables = [self.get(d, p + '/results').json for p in paths[:2]]
                    self.assertEqual([len(t['rows']) for t in tables], [5001, 6])
                with Kept(self.folder) as d:
                    self.assertEqual([self.get(d, p).json for p in paths], runs)
                    self.assertEqual([self.get(d, p + '/results').json for p in paths[:2]], tables)
                    part = self.get(d, first + '/results?from=%r&to=%r' % (
                        tables[0]['rows'][3000][0], tables[0]['rows'][3010][0])).json
                    self.assertEqual(part['rows'], tables[0]['rows'][3000:3011])
                    # the next one has the next number
                    self.assertEqual(self.start(d, i, count=1, period=0.01), i + '/runs/r-4')
                    self.end(d, i + '/runs/r-4')
                    reply = d.call('DELETE', '/v1/instances/%s/results' % first)
                    self.assertEqual(reply.status, 204, reply)
                with Kept(self.folder) as d:
                    self.get(d, first + '/results', 404)
                    self.assertEqual(self.get(d, second + '/results').json, tables[1])
                    self.assertEqual(len(self.get(d, i + '/runs')['items']), 4)

    def test_a_killed_run_is_interrupted_and_its_rows_agree_with_the_state(self):
        rows = self.expected(models.nonlinear_oscillator(), 3001)
        for durability in ('every-step', {'mode': 'checkpoint', 'steps': 50}):
            for fast in (False, True):
                with self.subTest('%s %s' % (durability, fast)):
                    self.kill_a_run(durability, fast, rows)

    def kill_a_run(self, durability, fast, rows):
        d = Kept(self.folder)
        i = d.create(models.nonlinear_oscillator(), durability=durability)
        # steady: more than an hour's work, and as many rows as may be recorded
        path = self.start(d, i, count=100000000 // 3 if fast else 3000, period=0.01, record={},
                          **({} if fast else {'pace': 10}))
        told = []
        with Stream(d, '/v1/instances/%s/events?rate=60' % path) as s:
            for name, number, data in s:
                if name == 'row':
                    told.append(number)
                if len(told) >= 150:
                    break
            d.kill()
        with Kept(self.folder) as d:
            run = self.get(d, path).json
            self.assertEqual(run['state'], 'interrupted')
            now = self.get(d, i + '/state')['time']
            self.assertEqual(run['time'], now)
            table = self.get(d, path + '/results?limit=3001').json
            self.assertEqual(table['rows'], rows[:len(table['rows'])])
            self.assertEqual(len(table['rows']), min(run['recorded'], 3001))
            last = self.get(d, path + '/results?from=%r' % now).json['rows']
            self.assertEqual([r[0] for r in last], [now])
            self.assertEqual(run['recorded'], run['periods'] + 1)
            self.assertGreaterEqual(run['recorded'], len(told))
            self.assertAlmostEqual(now, run['periods'] * 0.01, delta=1e-9 * now)
            # the events go on where they were, and end
            with Stream(d, '/v1/instances/%s/events' % path, told[-1]) as s:
                self.assertEqual([e[1].split('-')[0] for e, _ in zip(s, range(50))
                                  if e[0] == 'row'],
                                 [str(k) for k in range(151, run['recorded'] + 1)][:50])
            before = max(150, run['recorded'] - 100)
            with Stream(d, '/v1/instances/%s/events' % path, before) as s:
                rest = list(s)
            self.assertEqual([e[1].split('-')[0] for e in rest[:-1]],
                             [str(k) for k in range(before + 1, run['recorded'] + 1)])
            self.assertEqual((rest[-1][0], rest[-1][2]['state']), ('end', 'interrupted'))
            # a command takes the instance on from there
            self.assertEqual(d.call('POST', '/v1/instances/%s/step' % i, {'size': 0.01}).status,
                             200)
            d.call('DELETE', '/v1/instances/' + i)

    def test_rows_of_killed_runs_are_those_of_runs_that_were_not(self):
        """Free runs of one instance, each killed at some moment: where one ended the next begins,
        and a daemon that makes runs of the same lengths gives the same bits."""
        d = Kept(self.folder)
        i = d.create(models.nonlinear_oscillator(), durability='every-step')
        dice = random.Random(11)
        runs, now = [], 0
        for k in range(KILLS):
            # steady: a minute's work, of which it does a thousand periods
            path = self.start(d, i, count=10 ** 7, period=0.01, record={'every': 7})
            # some are killed before their first row, others after many
            periods = dice.choice([0, 1, 10, 1000]) if k > 0 else 100
            wait_until(lambda d=d, path=path, periods=periods:
                       self.get(d, path)['periods'] >= periods, 'it has come so far')
            d.kill()
            d = Kept(self.folder)
            run = self.get(d, path).json
            rows = self.get(d, path + '/results').json['rows']
            self.assertEqual((run['state'], run['start']), ('interrupted', now))
            self.assertEqual(len(rows), run['recorded'])
            self.assertEqual(len(rows), 1 + run['periods'] // 7)
            now = self.get(d, i + '/state')['time']
            self.assertEqual(run['time'], now)
            runs.append((run['periods'], rows))
        state = self.get(d, i + '/state').json
        d.stop()
        with Daemon() as d:
            twin = d.create(models.nonlinear_oscillator())
            for periods, rows in runs:
                if periods == 0:
                    continue
                path = self.start(d, twin, count=periods, period=0.01, record={'every': 7})
                self.end(d, path)
                # its end is one more row where no seventh period ends there
                self.assertEqual(self.get(d, path + '/results').json['rows'][:len(rows)], rows)
            last = self.get(d, twin + '/state').json
            self.assertEqual((last['q'], last['v']), (state['q'], state['v']))
        self.assertGreater(max(len(rows) for _, rows in runs), 10)

    def test_a_run_at_the_end_of_the_daemon_is_interrupted(self):
        with Kept(self.folder) as d:
            i = d.create(models.oscillator(), durability='every-step')
            path = self.start(d, i, pace=1, until=1e3, period=0.01, record={})
            wait_until(lambda: self.get(d, path)['recorded'] > 5, 'there are rows')
        with Kept(self.folder) as d:
            run = self.get(d, path).json
            self.assertEqual(run['state'], 'interrupted')
            self.assertIn('shut down', run['reason'])
            table = self.get(d, path + '/results').json
            self.assertEqual(len(table['rows']), run['recorded'])
            self.assertEqual(table['rows'][-1][0], self.get(d, i + '/state')['time'])

    def test_deleting_an_instance_deletes_its_runs(self):
        with Kept(self.folder) as d:
            i = d.create(models.oscillator(), durability='every-step')
            path = self.start(d, i, count=1000, period=0.01, record={})
            self.end(d, path)
            self.assertEqual(d.call('DELETE', '/v1/instances/' + i).status, 204)
        connection = sqlite3.connect(os.path.join(self.folder, 'mechd.sqlite'))
        self.addCleanup(connection.close)
        for table in ('runs', 'results'):
            self.assertEqual(connection.execute('SELECT count(*) FROM %s' % table).fetchone()[0], 0)

    def test_the_oldest_runs_go_from_the_disk_too(self):
        with Kept(self.folder) as d:
            i = d.create(models.oscillator(), durability='every-step')
            for _ in range(18):
                self.end(d, self.start(d, i, count=2, period=0.01, record={}))
        with Kept(self.folder) as d:
            self.assertEqual([r['id'] for r in self.get(d, i + '/runs')['items']],
                             ['r-%d' % k for k in range(18, 2, -1)])
        connection = sqlite3.connect(os.path.join(self.folder, 'mechd.sqlite'))
        self.addCleanup(connection.close)
        self.assertEqual(connection.execute('SELECT min(number), count(*) FROM results')
                         .fetchone(), (3, 16))

    def test_more_rows_than_memory_holds_go_through_a_window(self):
        """82 MB of rows, more than an instance may have in memory; the daemon stays small."""
        model, rows, width = models.oscillator(), 250001, 41
        model['outputs'] = [{**model['outputs'][0], 'name': 'x%d' % k} for k in range(width - 1)]
        with Kept(self.folder) as d:
            i = d.create(model, durability='checkpoint')
            before, room = resident(d), 48e6
            path = self.start(d, i, count=rows - 1, period=0.01, record={})
            wait_until(lambda: self.get(d, path)['state'] != 'running', 'the run is over', 120)
            run = self.get(d, path).json
            self.assertEqual((run['state'], run['recorded']), ('finished', rows))
            self.assertLess(resident(d) - before, room)
            size = 0
            connection = http.client.HTTPConnection(d.http.address.hostname, d.http.address.port)
            connection.request('GET', '/v1/instances/%s/results?format=f64' % path)
            answer = connection.getresponse()
            for part in iter(lambda: answer.read(1 << 20), b''):
                size += len(part)
            connection.close()
            self.assertEqual(size, rows * width * 8)
            self.assertLess(resident(d) - before, room)
            middle = self.get(d, path + '/results?from=2000&limit=3&outputs=x3').json
            self.assertEqual([round(r[0], 6) for r in middle['rows']], [2000, 2000.01, 2000.02])
            reply = d.call('POST', '/v1/instances/%s/runs' % i,
                           {'count': 10 ** 9, 'period': 0.01, 'record': {}})
            self.assertEqual(reply.status, 422)
            self.assertIn(str(1 << 30), reply['errors'][0]['message'])

    def test_what_cannot_be_stored_of_a_run_is_undone(self):
        """A file size limit stands for a full disk."""
        with Kept(self.folder) as d:
            i = d.create(models.oscillator(), durability='every-step')
            path = self.start(d, i, count=10, period=0.01, record={})
            self.end(d, path)
            size = max(os.path.getsize(os.path.join(self.folder, f))
                       for f in os.listdir(self.folder))
            with d.full_disk(size + 200000):
                # steady: rows of 40 MB, which do not fit however long they take
                path = self.start(d, i, count=10 ** 6, period=0.01, record={})
                run = self.end(d, path)
            self.assertEqual(run['state'], 'failed', run)
            self.assertIn('could not be stored', run['reason'])
            table = self.get(d, path + '/results').json
            now = self.get(d, i + '/state')['time']
            self.assertEqual((run['time'], table['rows'][-1][0]), (now, now))
            self.assertEqual(len(table['rows']), run['recorded'])
            wait_until(lambda: d.call('POST', '/v1/instances/%s/step' % i,
                                      {'size': 0.01}).status == 200, 'the disk takes records', 20)
        with Kept(self.folder) as d:
            self.assertEqual(self.get(d, path)['state'], 'failed')
            self.assertEqual(self.get(d, path + '/results').json, table)


if __name__ == '__main__':
    unittest.main()
