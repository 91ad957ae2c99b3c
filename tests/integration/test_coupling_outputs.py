"""Outputs that a coupling shows: which of its participants' outputs replies, frames, events and
recorded rows have, and in which order."""
import unittest

from asking import sweep, sweep_over
from coupled import K, K12, OSCILLATORS, Couplings, half, point
from coupled_kept import KeptCouplings
from harness import Served, Stream, wait_until
from sse import Events

CHOSEN = ['right.v', 'left.x', 'right.x']


class Chosen(Couplings):
    def run_over(self, cid, **body):
        where = self.daemon.call('POST', '/v1/couplings/%s/runs' % cid, body)
        self.assertEqual(where.status, 202, where)
        where = where.headers['Location']
        wait_until(lambda: self.daemon.call('GET', where)['state'] == 'finished', 'it is over')
        return self.daemon.call('GET', where + '/results').json

    def test_replies_have_them_in_their_order(self):
        _, _, cid = self.oscillators(outputs=CHOSEN)
        _, _, every = self.oscillators()
        root = '/v1/couplings/' + cid
        kept = None
        for body in ({'count': 2}, {'count': 1, 'commit': False}, {'count': 3}):
            found, all_ = self.good(cid, **body)['outputs'], self.good(every, **body)['outputs']
            self.assertEqual(list(found.items()), [(name, all_[name]) for name in CHOSEN])
            kept = kept or self.daemon.call('POST', root + '/snapshots', {})['id']
        trial = self.good(cid, count=1, commit=False)
        reply = self.daemon.call('POST', root + '/commit', {'trial': trial['trial']})
        self.assertEqual(list(reply['outputs'].items()), list(trial['outputs'].items()))
        reply = self.daemon.call('POST', root + '/snapshots/%s/restore' % kept, {})
        self.assertEqual(list(reply['outputs']), CHOSEN)
        # a change that is no window is published too
        with Events(self.daemon, root + '/events') as events:
            self.assertEqual(next(iter(events))[2]['outputs'], reply['outputs'])
        reply = self.daemon.call('POST', root + '/reset', {})
        self.assertEqual(list(reply['outputs'].values()), [0., 1., 0.])

    def test_frames_events_and_rows_have_them(self):
        _, _, cid = self.oscillators(outputs=CHOSEN)
        shown = self.daemon.call('GET', '/v1/couplings/' + cid)
        self.assertEqual(shown['layout'], [{'name': name, 'offset': n, 'count': 1}
                                           for n, name in enumerate(CHOSEN)])
        self.good(cid, count=1)
        with Stream(self.daemon, cid) as state, Stream(self.daemon, cid, 'json') as text, \
                Events(self.daemon, '/v1/couplings/%s/events?rate=60' % cid) as events:
            expected = self.good(cid, count=1)['outputs']
            for stream in (state, text):
                frame = next(f for _, f in iter(stream.next, None) if f['sequence'] == 2)
                found = frame['outputs'].values() if stream is text else frame['values']
                self.assertEqual(list(found), list(expected.values()))
            found = next(d for _, _, d in events if d['sequence'] == 2)
            self.assertEqual(list(found['outputs'].items()), list(expected.items()))
        results = self.run_over(cid, count=2, record={})
        self.assertEqual(results['columns'], ['time', *CHOSEN])
        self.assertEqual(results['rows'][0][1:], list(expected.values()))

    def test_a_run_or_a_stream_chooses_among_them(self):
        _, _, cid = self.oscillators(outputs=CHOSEN)
        results = self.run_over(cid, count=2, record={'outputs': ['left.x']})
        self.assertEqual(results['columns'], ['time', 'left.x'])
        for path, body, place in (('runs', {'count': 2, 'record': {'outputs': ['left.v']}},
                                   '/record/outputs/0'),
                                  ('streams', {'name': 'a', 'outputs': ['left.v']},
                                   '/outputs/0')):
            reply = self.daemon.call('POST', '/v1/couplings/%s/%s' % (cid, path), body)
            self.assertEqual((reply.status, [e['pointer'] for e in reply['errors']]),
                             (422, [place]), reply)

    def test_vectors_are_whole_and_none_may_be_shown(self):
        ids = [self.daemon.create(point()) for _ in range(2)]
        links = [{'from': 'left.y', 'to': 'right.F[1]', 'factor': 1}]
        reply = self.couple(*ids, links, scheme='Jacobi', outputs=['right.p', 'left.y', 'right.v'])
        self.assertEqual(reply.status, 201, reply)
        self.assertEqual([(p['offset'], p['count']) for p in reply['layout']],
                         [(0, 3), (3, 1), (4, 3)])
        found = self.good(reply['id'], count=3)['outputs']
        whole = [self.daemon.call('GET', '/v1/instances/%s/outputs' % i)['outputs'] for i in ids]
        self.assertEqual(list(found.items()), [('right.p', whole[1]['p']),
                                               ('left.y', whole[0]['y']),
                                               ('right.v', whole[1]['v'])])
        with Stream(self.daemon, reply['id']) as stream:
            self.assertEqual(stream.next()[1]['values'],
                             (*whole[1]['p'], whole[0]['y'], *whole[1]['v']))
        _, _, cid = self.oscillators(outputs=[])
        reply = self.good(cid, count=1)
        self.assertEqual((reply['outputs'], reply['window']), ({}, 1))
        for record in ({}, {'outputs': []}):
            self.assertEqual(self.run_over(cid, count=1, record=record)['columns'], ['time'])

    def test_the_document_has_them_and_a_state_does_not_depend_on_them(self):
        _, _, cid = self.oscillators(outputs=CHOSEN)
        _, _, every = self.oscillators()
        document = self.daemon.call('GET', '/v1/couplings/' + cid)['document']
        self.assertEqual(document['outputs'], CHOSEN)
        self.assertNotIn('outputs', self.daemon.call('GET', '/v1/couplings/' + every)['document'])
        for other in ([], ['left.x']):
            _, _, one = self.oscillators(outputs=other)
            self.assertEqual(self.daemon.call('GET', '/v1/couplings/' + one)['document']['outputs'],
                             other)
        self.good(cid, count=3)
        raw = self.daemon.call('GET', '/v1/couplings/%s/state' % cid).raw
        reply = self.daemon.call('PUT', '/v1/couplings/%s/state' % every, raw,
                                 {'Content-Type': 'application/vnd.mechd.coupling'})
        self.assertEqual((reply.status, reply['window'], list(reply['outputs'])),
                         (200, 3, ['left.x', 'left.v', 'right.x', 'right.v']), reply)

    def test_what_is_wrong_has_its_place(self):
        left, right = self.daemon.create(half()), self.daemon.create(half())
        for outputs, places in ((['left.x', 'left.z', 7, 'x'],
                                 ['/outputs/1', '/outputs/2', '/outputs/3']),
                                (['left.x', 'right.v', 'left.x'], ['/outputs/2']),
                                (['left.F'], ['/outputs/0']), (['left.x[0]'], ['/outputs/0']),
                                ('left.x', ['/outputs']), (['left.x'] * 5, ['/outputs']),
                                (None, ['/outputs'])):
            with self.subTest(outputs):
                reply = self.couple(left, right, OSCILLATORS, outputs=outputs)
                self.assertEqual(
                    (reply.status, sorted(e['pointer'] for e in reply['errors'])),
                    (422, places), reply)
        # how many there are is not known without all instances
        reply = self.couple(left, 'none', OSCILLATORS, outputs=['left.x', 'right.x', 'right.v'])
        self.assertEqual([e['pointer'] for e in reply['errors']], ['/participants/1'], reply)
        self.assertEqual(self.daemon.call('GET', '/v1/instances/%s/lease' % left)['items'], [])
        # an instance with outputs records one at least
        reply = self.daemon.call('POST', '/v1/instances/%s/runs' % left,
                                 {'count': 1, 'record': {'outputs': []}})
        self.assertEqual([e['pointer'] for e in reply['errors']], ['/record/outputs'], reply)

    def test_those_of_a_program_are_chosen_too(self):
        left = self.daemon.create(half(1., k=K + K12))
        for outputs, status in ((['right.x'], 201), (['right.v'], 422)):
            reply = self.daemon.call('POST', '/v1/couplings', {
                'participants': [{'name': 'left', 'instance': left},
                                 {'name': 'right', 'partner': {'inputs': ['F'],
                                                               'outputs': ['x', 'z']}}],
                'connections': OSCILLATORS, 'stepSize': 0.01, 'scheme': {'type': 'Jacobi'},
                'outputs': outputs})
            self.assertEqual(reply.status, status, reply)
            if status == 201:
                self.assertEqual([p['name'] for p in reply['layout']], outputs)
                self.daemon.call('DELETE', '/v1/couplings/' + reply['id'])


class Stored(KeptCouplings):
    def test_they_are_the_same_in_the_next_process(self):
        _, _, cid = self.pair('every-step', outputs=CHOSEN)
        before = self.good(cid, count=2)['outputs']
        shown = self.shown(cid)
        self.again()
        self.assertEqual(self.shown(cid), dict(shown, last=None))
        after = self.good(cid, count=1)['outputs']
        self.assertEqual(list(after), list(before))


class Swept(Served):
    def test_rows_of_a_sweep_have_them_unless_it_chooses_others(self):
        document = {'participants': [{'name': 'left', 'model': half(1., k=K + K12)},
                                     {'name': 'right', 'model': half(0., k=K + K12)}],
                    'connections': OSCILLATORS, 'scheme': {'type': 'IQN-ILS'}, 'stepSize': 0.01,
                    'outputs': CHOSEN}
        for more, expected in (({}, CHOSEN), ({'outputs': ['left.v']}, ['left.v'])):
            path = sweep(self.daemon, {'coupling': document, 'count': 2, 'parameters': {
                'list': [{'/stepSize': 0.01}]}, **more}).headers['Location']
            self.addCleanup(self.daemon.call, 'DELETE', path)
            self.assertEqual(sweep_over(self.daemon, path)['outputs'], expected)
        reply = self.daemon.call('POST', '/v1/sweeps', {
            'coupling': dict(document, outputs=['left.x', 'left.y']), 'count': 2,
            'parameters': {'list': [{'/stepSize': 0.01}]}})
        self.assertEqual((reply.status, [e['pointer'] for e in reply['errors']]),
                         (422, ['/coupling/outputs/1']), reply)


if __name__ == '__main__':
    unittest.main()
