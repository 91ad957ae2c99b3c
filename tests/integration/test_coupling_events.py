"""What couplings publish while they step: rows and progress of a run, live events, and the
stream."""
import unittest

from harness import REPEAT, REWOUND, Stream, wait_until
from coupled import Couplings
from sse import Events

RACES = True
NAMES = ['left.x', 'left.v', 'right.x', 'right.v']


class CouplingEvents(Couplings):
    def run_of(self, cid, **body):
        reply = self.daemon.call('POST', '/v1/couplings/%s/runs' % cid, body)
        self.assertEqual(reply.status, 202, reply)
        return reply.headers['Location']

    def test_rows_of_a_run_come_all_and_once(self):
        _, _, cid = self.oscillators()
        where = self.run_of(cid, count=50, record={'outputs': ['right.x']})
        with Events(self.daemon, where + '/events') as events:
            rows, ends = [], []
            for name, number, data in events:
                if name == 'row':
                    self.assertEqual(number.partition('-')[0], str(len(rows) + 1))
                    rows.append([data['time'], data['outputs']['right.x']])
                    last = number
                elif name == 'end':
                    ends.append(data['state'])
        self.assertEqual(ends, ['finished'])
        self.assertEqual(rows, self.daemon.call('GET', where + '/results')['rows'])
        with Events(self.daemon, where + '/events', last) as events:
            self.assertEqual([name for name, _, _ in events], ['end'])

    def test_events_of_a_run_end_with_the_coupling(self):
        _, _, cid = self.oscillators()
        where = self.run_of(cid, count=10 ** 9)
        with Events(self.daemon, where + '/events?rate=60') as events:
            kinds = iter(name for name, _, _ in events)
            self.assertEqual(next(kinds), 'progress')
            self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + cid).status, 204)
            self.assertEqual([name for name in kinds if name != 'progress'], ['end'])

    def test_live_events_show_the_last_window(self):
        _, _, cid = self.oscillators()
        with Events(self.daemon, '/v1/couplings/%s/events?rate=60' % cid) as events:
            live = iter(events)
            _, _, first = next(live)
            self.assertEqual((first['time'], first['step'], first['running']), (0, 0, False))
            self.assertEqual(list(first['outputs']), NAMES)
            done = self.good(cid, count=3)
            found = next(d for _, _, d in live if d['step'] == 3)
            self.assertEqual((found['time'], found['outputs'], found['sequence']),
                             (done['time'], done['outputs'], 3))
            trial = self.good(cid, count=1, commit=False)
            self.assertEqual(self.daemon.call('POST', '/v1/couplings/%s/reset' % cid).status, 200)
            _, _, back = next(live)
            self.assertEqual((back['rewound'], back['step'], back['sequence']), (True, 0, 3))
            self.assertNotEqual(back['outputs'], trial['outputs'])
            self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + cid).status, 204)
            self.assertEqual(next(live)[0], 'end')

    def test_a_frame_for_each_committed_window(self):
        _, _, cid = self.oscillators()
        layout = self.daemon.call('GET', '/v1/couplings/' + cid)['layout']
        self.assertEqual(layout, [{'name': name, 'offset': k, 'count': 1}
                                  for k, name in enumerate(NAMES)])
        first = self.good(cid, count=1)
        with Stream(self.daemon, cid) as stream, Stream(self.daemon, cid, 'json') as text:
            topic, frame = stream.next()
            self.assertEqual((topic, frame['flags'] & REPEAT, frame['sequence'], frame['step']),
                             ('state/%s/' % cid, REPEAT, 1, 1))
            self.assertEqual(list(frame['values']), list(first['outputs'].values()))
            self.assertEqual(text.next()[1]['outputs'], first['outputs'])
            self.good(cid, count=1, commit=False)  # which no event reports
            done = self.good(cid, count=4)
            frames = [stream.next()[1] for _ in range(4)]
            self.assertEqual([f['sequence'] for f in frames], [2, 3, 4, 5])
            self.assertEqual([f['step'] for f in frames], [2, 3, 4, 5])
            self.assertEqual((list(frames[-1]['values']), frames[-1]['time']),
                             (list(done['outputs'].values()), done['time']))
            self.assertEqual([text.next()[1]['step'] for _ in range(4)], [2, 3, 4, 5])
            self.daemon.call('POST', '/v1/couplings/%s/reset' % cid)
            self.good(cid, count=1)
            frame = stream.next()[1]
            self.assertEqual((frame['flags'] & REWOUND, frame['sequence'], frame['step']),
                             (REWOUND, 6, 1))
            where = self.run_of(cid, count=7)
            self.assertEqual([stream.next()[1]['step'] for _ in range(7)], list(range(2, 9)))
            wait_until(lambda: self.daemon.call('GET', where)['state'] == 'finished', 'it is over')

    def test_a_committed_trial_and_a_restored_snapshot_are_events(self):
        _, _, cid = self.oscillators()
        path = '/v1/couplings/' + cid
        self.good(cid, count=2)
        sid = self.daemon.call('POST', path + '/snapshots')['id']
        with Stream(self.daemon, cid) as stream:
            self.assertEqual(stream.next()[1]['step'], 2)
            trial = self.good(cid, count=3, commit=False)
            self.assertEqual(self.daemon.call('POST', path + '/commit',
                                              {'trial': trial['trial']}).status, 200)
            frame = stream.next()[1]
            self.assertEqual((frame['step'], list(frame['values'])),
                             (5, list(trial['outputs'].values())))
            self.assertEqual(self.daemon.call('POST', path + '/snapshots/%s/restore' % sid).status,
                             200)
            self.good(cid, count=1)
            frame = stream.next()[1]
            self.assertEqual((frame['flags'] & REWOUND, frame['step']), (REWOUND, 3))

    def test_a_prefix_brings_couplings_too(self):
        _, _, cid = self.oscillators()
        with Stream(self.daemon, cid, 'json') as text:
            text.socket.unsubscribe('json/%s/' % cid)
            text.socket.subscribe('json/c')

            def step_comes():
                self.good(cid, count=1)
                return text.socket.poll(100)
            wait_until(step_comes, 'a step comes')
            self.assertEqual(text.next()[1]['instance'], cid)
            _, _, other = self.oscillators()
            self.good(other, count=1)
            wait_until(lambda: text.socket.recv_multipart()[0].decode() == 'json/%s/' % other,
                       'of the other one, which is newer than the subscription')


if __name__ == '__main__':
    unittest.main()
