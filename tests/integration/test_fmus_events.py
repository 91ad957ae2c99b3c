"""Events of hosted FMUs: listed, and steps that end with the first of them; and outputs within
steps. The FMUs are the tests' own (tests/fmus)."""
import math
import unittest
import fmus
from harness import FrameError, Partner, Served
from lane import LanePartner

EVENT = 4  # flag of frames
RETURNS = 18  # mood of the controller: its steps end where 0.25 s are over


class Events(Served):
    OPTIONS = [*fmus.ON, '--lane', 'tcp://127.0.0.1:*']

    def hosted(self, content, **start):
        return fmus.hosted(self.daemon, content, **start)

    def step(self, path, **body):
        reply = self.daemon.call('POST', path + '/step', body)
        self.assertEqual(reply.status, 200, reply)
        return reply

    def test_they_are_listed_with_their_times(self):
        path = self.hosted(fmus.tank(), inflow=4)
        done = self.step(path, size=0.5625, want=['events'])
        self.assertEqual(done['time'], 0.5625)
        self.assertNotIn('ended', done.json)
        self.assertEqual(done['outputs'], {'level': 0.25, 'emptied': 2})
        self.assertEqual(done['events'], [
            {'kind': 'updates', 'of': 'model', 'item': 'a tank', 'since': t, 'time': t}
            for t in (0.25, 0.5)])
        quiet = self.step(path, size=0.125, want=['events'])
        self.assertEqual(quiet['events'], [])
        many = self.step(path, size=64, inputs={'inflow': 64}, want=['events'], commit=False)
        self.assertEqual(len(many['events']), 256)
        # it ticks between the times at which it is full
        self.assertEqual(many['moreEvents'], 64 * (64 + 4) - 256)

    def test_a_step_ends_with_the_first_one(self):
        path = self.hosted(fmus.tank(), inflow=8)
        for commit in (False, True):
            done = self.step(path, size=20, earlyReturn=True, commit=commit)
            self.assertEqual(done['ended'], {
                'by': 'event', 'lastSuccessfulTime': 0.125,
                'reason': 'updates of a tank at 0.125'})
            self.assertEqual((done['time'], done['outputs']['emptied']), (0.125, 1))
        self.assertEqual(self.daemon.call('GET', path)['time'], 0.125)
        done = self.step(path, until=0.1875, earlyReturn=True)
        self.assertEqual(done['ended'], {'by': 'request', 'lastSuccessfulTime': 0.1875})
        refused = self.daemon.call('POST', path + '/step',
                                   {'size': 1, 'earlyReturn': True, 'want': ['jacobian']})
        self.assertEqual([e['pointer'] for e in refused['errors']], ['/earlyReturn'])
        # the events are those of the step, not of the runs for its jacobian
        done = self.step(path, size=0.0625, want=['events', 'jacobian'])
        self.assertEqual(len(done['events']), 1)

    def test_one_without_event_mode_returns_early_without_an_event(self):
        path = self.hosted(fmus.archive(3, ' '.join(
            (fmus.SAVES, fmus.VARIES, 'mightReturnEarlyFromDoStep="true"'))), u=1, mood=RETURNS)
        done = self.step(path, size=2, earlyReturn=True)
        self.assertEqual(done['ended'], {
            'by': 'event', 'lastSuccessfulTime': 0.25, 'reason': 'returns of a controller at 0.25'})
        self.assertEqual([e['kind'] for e in done['events']], ['returns'])
        self.assertAlmostEqual(done['outputs']['y'], 1.25, 14)
        self.assertEqual(self.step(path, size=0.5)['time'], 0.75)

    def test_what_an_fmu_cannot_report_is_refused_with_the_reason(self):
        for content, body, pointer, reason in (
                (fmus.archive(), {'want': ['events']}, '/want', 'no event mode'),
                (fmus.archive(), {'earlyReturn': True}, '/earlyReturn', 'no event mode'),
                (fmus.archive(2, fmus.VARIES), {'want': ['events']}, '/want', 'reports no events'),
                (fmus.archive(2, fmus.VARIES), {'earlyReturn': True}, '/earlyReturn',
                 'get and set its state')):
            path = self.hosted(content)
            refused = self.daemon.call('POST', path + '/step', {'size': 0.1, **body})
            self.assertEqual((refused.status, refused['code']), (422, 'invalid-request'))
            self.assertEqual([e['pointer'] for e in refused['errors']], [pointer])
            self.assertIn(reason, refused['errors'][0]['message'])
            self.assertEqual(self.daemon.call('GET', path)['time'], 0)

    def test_outputs_within_a_step_are_those_of_the_fmu(self):
        path = self.hosted(fmus.archive(3, ' '.join(
            (fmus.SAVES, fmus.VARIES, 'providesIntermediateUpdate="true"'))), u=1)
        # four internal steps in each step of 0.1 s; undone, then done
        for commit in (False, True):
            within = self.step(path, size=0.1, want=['intermediate'], commit=commit)['intermediate']
            self.assertEqual(within['columns'], ['time', 'y'])
            self.assertEqual(len(within['rows']), 4)
            for k, row in enumerate(within['rows']):
                for found, sought in zip(row, (0.025 * (k + 1), 1 + 0.025 * (k + 1))):
                    self.assertAlmostEqual(found, sought, 12)
        self.assertNotIn('intermediate', self.step(path, size=0.1).json)
        within = self.step(path, size=30, want=['intermediate'], outputs=['y'])['intermediate']
        self.assertEqual((len(within['rows']), within['more']), (1000, 200))
        often = self.step(path, size=0.1, want=['intermediate'], outputs=['y'] * 64)
        self.assertEqual(often['intermediate']['columns'], ['time'] + ['y'] * 64)
        model = self.daemon.call('POST', '/v1/instances', {'example': 'mass1d'})['id']
        for other, reason in ((self.hosted(fmus.archive()), 'has intermediate update'),
                              ('/v1/instances/' + model, 'smaller steps')):
            refused = self.daemon.call('POST', other + '/step',
                                       {'size': 0.1, 'want': ['intermediate']})
            self.assertEqual((refused.status, refused['code']), (422, 'invalid-request'))
            self.assertEqual([e['pointer'] for e in refused['errors']], ['/want'])
            self.assertIn(reason, refused['errors'][0]['message'])

    def test_frames_have_the_jacobian_of_a_step(self):
        for kind in (Partner, LanePartner):
            i = self.hosted(fmus.archive(), gain=2, u=1).split('/')[-1]
            with self.subTest(kind.__name__), \
                    kind(self.daemon, i, ['u'], ['y'], want=['jacobian']) as partner:
                for count in (1, 2):
                    # y = gain (u + x), and x grows by u in each second
                    y, slope = partner.step(0.4, [3])['values']
                    self.assertAlmostEqual(y, 2 * (3 + count * 0.4 * 3), 12)
                    self.assertAlmostEqual(slope, 2 * 1.4, 8)
            i = self.hosted(fmus.archive(2, fmus.VARIES)).split('/')[-1]
            with kind(self.daemon, i, ['u'], ['y'], want=['jacobian']) as partner, \
                    self.assertRaisesRegex(FrameError, 'cannot save its state'):
                partner.step(0.4, [3])

    def test_frames_have_them(self):
        for kind in (Partner, LanePartner):
            i = self.hosted(fmus.tank(), inflow=4).split('/')[-1]
            with self.subTest(kind.__name__), \
                    kind(self.daemon, i, ['inflow'], ['level'], want=['events']) as partner:
                quiet = partner.step(0.125, [4])
                self.assertEqual((quiet['flags'] & EVENT, quiet['values'][1]), (0, 0))
                self.assertTrue(math.isnan(quiet['values'][2]))
                loud = partner.step(0.5, [4])
                self.assertEqual(loud['flags'] & EVENT, EVENT)
                self.assertEqual(loud['values'], (0.5, 2, 0.25))
            i = self.hosted(fmus.tank(), inflow=8).split('/')[-1]
            with kind(self.daemon, i, ['inflow'], ['level'], earlyReturn=True) as partner:
                self.assertEqual(partner.step(2, [8])['time'], 0.125)
            for more in ({'want': ['events']}, {'earlyReturn': True}):
                with self.assertRaisesRegex(FrameError, 'no event mode'):
                    kind(self.daemon, self.hosted(fmus.archive()).split('/')[-1], ['u'], ['y'],
                         **more)


if __name__ == '__main__':
    unittest.main()
