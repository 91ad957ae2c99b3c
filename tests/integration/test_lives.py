"""An id that is deleted and created again: what a consumer compares is of one life of it."""
import itertools
import subprocess
import threading
import unittest

import models
from coupled import K, K12, OSCILLATORS, half
from harness import SLOW, Daemon, Served, Stream, program, wait_until
from package import mechd
from sse import Events

REWOUND = 2


class Lives(Served):
    def again(self, i, delete=True, model=None):
        path = '/v1/instances/' + i
        if delete:
            self.assertEqual(self.daemon.call('DELETE', path).status, 204)
        reply = self.daemon.call('PUT', path, {'model': model or models.oscillator()})
        self.assertEqual(reply.status, 201, reply)
        return path

    def step(self, path):
        reply = self.daemon.call('POST', path + '/step', {'count': 1})
        self.assertEqual(reply.status, 200, reply)

    def test_a_stream_goes_on_with_the_next_life(self):
        path = self.again('stream', delete=False)
        with mechd.Server(self.daemon.base, timeout=10 * SLOW) as server:
            with server.instance('stream').stream() as stream:
                self.step(path)
                first = next(stream)
                for _ in range(5):
                    self.step(path)
                    last = next(stream)
                self.assertEqual((first.sequence, first.rewound, last.sequence, last.rewound),
                                 (1, False, 6, False))
                self.again('stream')
                self.step(path)
                sample = next(stream)
                self.assertEqual((sample.sequence, sample.step, sample.rewound), (1, 1, True))
                self.step(path)
                sample = next(stream)
                self.assertEqual((sample.sequence, sample.rewound), (2, False))

    def test_a_chosen_stream_is_chosen_again(self):
        path, model = self.again('picked', delete=False), models.oscillator()
        with mechd.Server(self.daemon.base, timeout=30 * SLOW) as server:
            with server.instance('picked').stream(outputs=['v'], timeout=30 * SLOW) as stream:
                self.step(path)
                before = next(stream)
                self.assertEqual(list(before.outputs), ['v'])
                model['outputs'].reverse()
                self.again('picked', model=model)
                found = []
                reader = threading.Thread(target=lambda: found.append(next(stream)))
                reader.start()
                wait_until(lambda: len(server.instance('picked').streams()) == 1, 'it is chosen')
                self.step(path)
                reader.join()
                self.assertEqual((found[0].rewound, found[0].outputs), (True, before.outputs))
            self.assertEqual(server.instance('picked').streams(), [])

    def test_names_of_a_stream_are_those_of_the_life(self):
        path, model = self.again('named', delete=False), models.oscillator()
        with mechd.Server(self.daemon.base, timeout=10 * SLOW) as server:
            with server.instance('named').stream() as stream:
                self.step(path)
                before = next(stream)
                model['outputs'].reverse()
                self.again('named', model=model)
                self.step(path)
                after = next(stream)
                # the values have changed places, and the names with them
                self.assertEqual(list(after.values), list(before.values)[::-1])
                self.assertEqual(after.outputs, before.outputs)
                del model['outputs'][0]
                self.again('named', model=model)
                self.step(path)
                self.assertEqual(list(next(stream).outputs), [model['outputs'][0]['name']])

    def test_mechctl_watch_names_the_outputs_of_the_life(self):
        path, model = self.again('watched', delete=False), models.oscillator()
        names = [output['name'] for output in model['outputs']]
        self.step(path)
        mechctl = subprocess.Popen([program('mechctl'), '--server', self.daemon.base, 'watch',
                                    'watched', '--follow', '--count', '4'], text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(mechctl.communicate)
        self.addCleanup(mechctl.kill)

        def line():
            return mechctl.stdout.readline().rstrip('\n').split('\t')
        self.assertEqual(line(), ['time'] + names)
        self.assertEqual(len(line()), 1 + len(names))
        # the same names again: no other head
        self.again('watched')
        self.step(path)
        before = line()
        self.assertEqual(before[0], '0.001')
        model['outputs'].reverse()
        self.again('watched', model=model)
        self.step(path)
        self.assertEqual(line(), ['time'] + names[::-1])
        self.assertEqual(line()[1:], before[:0:-1])
        del model['outputs'][0]
        self.again('watched', model=model)
        self.step(path)
        self.assertEqual(line(), ['time', names[0]])
        self.assertEqual(line()[1:], before[1:2])
        out, said = mechctl.communicate(timeout=60 * SLOW)
        self.assertEqual((mechctl.returncode, out), (0, ''), said)

    def test_frames_and_json_say_which_life_they_are_of(self):
        path = self.again('both', delete=False)
        with Stream(self.daemon, 'both') as frames, Stream(self.daemon, 'both', 'json') as texts:
            seen = []
            for life in range(3):
                for k in range(2):
                    self.step(path)
                    frame, text = frames.next()[1], texts.next()[1]
                    seen.append((frame['instance'], text['life']))
                    for told in (frame, text):
                        self.assertEqual(bool(told['flags'] & REWOUND), k == 0 and life > 0)
                self.again('both')
            self.assertEqual([len(set(x)) for x in zip(*seen)], [3, 3])
            self.assertEqual(seen[0::2], seen[1::2])

    def test_rows_of_a_run_are_not_passed_over_for_those_of_another_life(self):
        path = self.again('run', delete=False)

        def run(count):
            reply = self.daemon.call('POST', path + '/runs', {
                'count': count, 'period': 0.01, 'record': {'every': 1}})
            self.assertEqual(reply.status, 202, reply)
            return path + '/runs/%s/events' % reply['id']
        first = run(20)
        with Events(self.daemon, first) as s:
            told = list(s)
        rows = [e for e in told if e[0] == 'row']
        self.assertEqual([e[1].split('-')[0] for e in rows], [str(k + 1) for k in range(21)])
        with Events(self.daemon, first, rows[9][1]) as s:
            self.assertEqual([e for e in s if e[0] == 'row'], rows[10:])
        self.again('run')
        events = run(30)
        with Events(self.daemon, events, rows[-1][1]) as s:
            told = list(s)
        self.assertEqual((told[0][0], told[0][2]['id']), ('rewound', events.split('/')[-2]))
        self.assertEqual(len([e for e in told if e[0] == 'row']), 31)
        with Events(self.daemon, events, '12') as s:
            self.assertEqual(len([e for e in s if e[0] == 'row']), 19)
        for last in ('x', '1-', '1.5', '-1', '1-' + 'a' * 40):
            with Events(self.daemon, events, last) as s:
                self.assertEqual(s.answer.status, 400, last)

    def test_numbers_of_what_it_had_go_on_in_the_next_life(self):
        path = self.again('parts', delete=False)

        def made(what, body=None):
            reply = self.daemon.call('POST', path + what, body)
            self.assertIn(reply.status, (200, 201, 202), reply)
            return reply['trial'] if what == '/step' else reply['id']

        def make():
            run = made('/runs', {'count': 3, 'record': {}})
            wait_until(lambda: self.daemon.call('GET', '%s/runs/%s' % (path, run))['state'] ==
                       'finished', 'the run')
            return {'snapshots': [made('/snapshots') for _ in range(2)], 'runs': [run],
                    'trials': [made('/step', {'count': 1, 'commit': False}) for _ in range(2)]}
        before = make()
        for _ in range(2):
            self.again('parts')
            after = make()
            for what, ids in after.items():
                self.assertFalse(set(ids) & set(before[what]), (what, ids, before))
            for method, of, code in (
                    ('GET', '/snapshots/' + before['snapshots'][0], 'not-found'),
                    ('POST', '/snapshots/%s/restore' % before['snapshots'][1], 'not-found'),
                    ('GET', '/runs/' + before['runs'][0], 'not-found'),
                    ('GET', '/runs/%s/results?from=0.001' % before['runs'][0], 'not-found'),
                    ('POST', '/commit', 'no-trial')):
                body = {'trial': before['trials'][1]} if of == '/commit' else None
                reply = self.daemon.call(method, path + of, body)
                self.assertEqual(reply['code'], code, reply)
                self.assertRegex(reply['detail'], r': numbers up to \d+ were assigned before this '
                                                  r'instance was created or mechd was started$')
            before = {what: before[what] + ids for what, ids in after.items()}
        reply = self.daemon.call('GET', path + '/snapshots/s-1000000')
        self.assertEqual(reply['detail'], 'there is no snapshot s-1000000')

    def test_a_stream_that_is_chosen_again_says_so(self):
        path, hashes, frames = self.again('chosen', delete=False), [], []
        self.step(path)
        with Stream(self.daemon, 'chosen/s', 'pick') as stream:
            stream.socket.subscribe('ready/chosen/')
            self.assertEqual(stream.socket.recv_multipart(), [b'ready/chosen/', b''])
            for outputs in (['x'], ['v'], ['x'], ['v', 'x'], ['x', 'v'], None):
                body = {'name': 's', 'outputs': outputs} if outputs else {'name': 's'}
                reply = self.daemon.call('POST', path + '/streams', body)
                self.assertEqual(reply.status, 201, reply)
                self.step(path)
                frames.append(stream.next()[1]['lease'])
                hashes.append(int(reply['layoutHash'], 16))
                listed = self.daemon.call('GET', path + '/streams')['items']
                self.assertEqual(listed[0]['layoutHash'], reply['layoutHash'])
                self.daemon.call('DELETE', path + '/streams/s')
        self.assertEqual(frames, hashes)
        # all are x and v in their order
        self.assertEqual(len(set(hashes)), 4)
        self.assertEqual((hashes[0], hashes[4]), (hashes[2], hashes[5]))

    def test_live_events_report_another_life_to_a_client(self):
        path = self.again('live', delete=False)
        self.step(path)
        with Events(self.daemon, path + '/events?rate=60') as s:
            _, last, data = next(iter(s))
            self.assertNotIn('rewound', data)
            life = data['life']
        self.again('live')
        self.step(path)
        with Events(self.daemon, path + '/events?rate=60', last) as s:
            told = iter(s)
            _, now, data = next(told)
            self.assertEqual((data['rewound'], data['life'] == life), (True, False))
            self.step(path)
            self.assertNotIn('rewound', next(told)[2])
            self.daemon.call('POST', path + '/reset')
            self.assertEqual(next(told)[2]['rewound'], True)
        with Events(self.daemon, path + '/events?rate=60', now) as s:
            self.assertNotIn('rewound', next(iter(s))[2])

    def test_a_key_of_another_life_is_another_request(self):
        path = self.again('key', delete=False)
        for _ in range(3):
            for _ in range(2):
                reply = self.daemon.call('POST', path + '/step', {'count': 2},
                                         {'Idempotency-Key': 'the same'})
                self.assertEqual((reply.status, reply['step']), (200, 2))
            tag = reply.headers['ETag']
            self.again('key')
            reply = self.daemon.call('POST', path + '/step', {'count': 1}, {'If-Match': tag})
            self.assertEqual(reply.status, 412)


class OfCouplings(unittest.TestCase):
    """Without a state directory each process has other ids of couplings, and other lives."""

    def couple(self, daemon):
        ends = [daemon.create(half(x, k=K + K12)) for x in (1., 0.)]
        reply = daemon.call('POST', '/v1/couplings', {
            'participants': [{'name': n, 'instance': i} for n, i in zip(('left', 'right'), ends)],
            'connections': OSCILLATORS, 'scheme': {'type': 'IQN-ILS'}, 'stepSize': 0.01})
        self.assertEqual(reply.status, 201, reply)
        return reply['id']

    def run_of(self, daemon, cid, windows):
        """Its path, when it is over."""
        run = daemon.call('POST', '/v1/couplings/%s/runs' % cid, {
            'count': windows, 'period': 0.01, 'record': {'every': 1}})
        path = run.headers['Location']
        self.assertEqual(path, '/v1/couplings/%s/runs/r-1' % cid, run)
        wait_until(lambda: daemon.call('GET', path)['state'] == 'finished', 'the run')
        return path

    def events(self, daemon, path, last=None, count=None):
        with Events(daemon, path, last) as s:
            return list(itertools.islice(s, count))

    def test_rows_and_events_of_a_process_before_are_not_those_of_this_one(self):
        seen, before = [], []
        for windows in (20, 30):
            with Daemon() as d:
                cid = self.couple(d)
                with Stream(d, cid) as frames, Stream(d, cid, 'json') as texts:
                    run = self.run_of(d, cid, windows)
                    rows = self.events(d, run + '/events')
                    self.assertEqual([e[0] for e in rows], ['row'] * (windows + 1) + ['end'])
                    live = self.events(d, '/v1/couplings/%s/events?rate=60' % cid, count=1)[0]
                    self.assertNotIn('rewound', live[2])
                    seen.append((cid, rows[windows][1], live[1], frames.next()[1]['instance'],
                                 texts.next()[1]['life'], live[2]['life']))
                for path, last in before:
                    reply = d.call('GET', path, None, {'Last-Event-ID': last} if last else None)
                    self.assertEqual((reply.status, reply['code']), (404, 'not-found'), reply)
                before += (('/v1/couplings/%s' % cid, None), (run, None),
                           (run + '/events', rows[windows][1]),
                           ('/v1/couplings/%s/events?rate=60' % cid, live[1]))
        self.assertEqual([len(set(x)) for x in zip(*seen)], [2] * 6)
        self.assertEqual([s[4] for s in seen], [s[5] for s in seen])


if __name__ == '__main__':
    unittest.main()
