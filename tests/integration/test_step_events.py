"""Events of a step and its early return: over HTTP, as JSON over ZeroMQ and the lane, in frames of
both, on the stream, with forces for later, and from the disk after a kill."""
import math
import shutil
import tempfile
import unittest
import models
from harness import Daemon, Forces, FrameError, HttpDoor, Partner, Stream, ZmqDoor, wait_until
from keeping import Kept
from lane import Lane, LanePartner

RACES = True

EVENT = 4
FALL = math.sqrt(2 / 9.81)


def ball(**solver):
    """It falls 1 m onto the floor; `up` pushes it upwards, `y` is its height."""
    return models.document(
        'ball', objects=[{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': [[1]], 'q0': [1],
                  'Fext': ['=push - 9.81']}],
        parameters={'push': 0},
        interactions=[{'name': 'floor', 'systems': ['s'],
                       'relation': {'type': 'LagrangianLinearTIR', 'H': [[1]], 'b': [0]},
                       'law': {'type': 'NewtonImpact', 'e': 0.9}}],
        sensors=[{'name': 'p', 'type': 'SensorObject', 'object': 's',
                  'outputVariable': 'Coordinates'}],
        inputs=[{'name': 'up', 'parameter': 'push'}],
        outputs=[{'name': 'y', 'sensor': 'p', 'component': 0}],
        solver={'integrator': 'MoreauJean', 'stepSize': 0.01, **solver})


class StepEvents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon('--lane', 'tcp://127.0.0.1:*')
        cls.door = HttpDoor(cls.daemon)

    @classmethod
    def tearDownClass(cls):
        cls.door.close()
        cls.daemon.stop()

    def step(self, door, **body):
        status, reply = door.call('step', **body)
        self.assertEqual(status, 200, reply)
        return reply

    def refused(self, pointer, **body):
        before = self.door.call('get-state', id=body['id'])
        status, reply = self.door.call('step', **body)
        self.assertEqual(status, 422, reply)
        self.assertIn(pointer, [e['pointer'] for e in reply['errors']])
        self.assertEqual(self.door.call('get-state', id=body['id']), before)

    def test_they_are_listed_over_every_door(self):
        lane, control = Lane(self.daemon), ZmqDoor(self.daemon)
        with lane:
            for door in (self.door, control, lane):
                with self.subTest(door.name):
                    i = self.daemon.create(ball())
                    reply = self.step(door, id=i, until=0.4, want=['events'])
                    self.assertEqual(reply['events'], [])
                    self.assertNotIn('ended', reply)
                    reply = self.step(door, id=i, until=0.6, want=['events'])
                    (event,) = reply['events']
                    self.assertEqual({k: event[k] for k in ('kind', 'of', 'item', 'row')}, {
                        'kind': 'impact', 'of': 'interaction', 'item': 'floor', 'row': 0})
                    self.assertAlmostEqual(event['time'] - event['since'], 0.01, 12)
                    self.assertAlmostEqual(event['time'], FALL, delta=0.011)
                    self.assertAlmostEqual(event['speed'], 9.81 * FALL, delta=0.11)
                    self.assertNotIn('events', self.step(door, id=i, size=0.1))

    def test_an_integrator_that_locates_them_says_when(self):
        i = self.daemon.create(ball(integrator='EventDriven'))
        reply = self.step(self.door, id=i, until=0.6, want=['events'])
        (event,) = reply['events']
        self.assertEqual(event['since'], event['time'])
        self.assertAlmostEqual(event['time'], FALL, 11)
        self.assertEqual(reply['report']['impacts'], 1)

    def test_those_beyond_a_limit_are_counted(self):
        # pressed and lifted 318 times
        model = ball()
        model['interactions'][0]['law']['e'] = 0
        model['objects'][0]['Fext'] = ['=-200 - 400*sin(2000*t)']
        i = self.daemon.create({**model, 'solver': {'integrator': 'MoreauJean', 'theta': 1,
                                                    'stepSize': 2e-4}})
        self.assertEqual(self.door.call('set-state', id=i, q=[0], v=[0])[0], 200)
        reply = self.step(self.door, id=i, count=5000, want=['events'])
        self.assertEqual(len(reply['events']), 256)
        self.assertGreater(reply['moreEvents'], 0)
        times = [e['time'] for e in reply['events']]
        self.assertEqual(times, sorted(times))

    def test_an_early_return_ends_at_the_event(self):
        i, j = (self.daemon.create(ball()) for _ in range(2))
        reply = self.step(self.door, id=i, size=2.0, earlyReturn=True)
        self.assertEqual(reply['ended']['by'], 'event')
        self.assertEqual(reply['ended']['lastSuccessfulTime'], reply['time'])
        self.assertIn('impact of floor', reply['ended']['reason'])
        self.assertEqual(reply['events'][-1]['time'], reply['time'])
        self.assertAlmostEqual(reply['time'], FALL, delta=0.011)
        # the state is that of this time
        other = self.step(self.door, id=j, count=reply['step'])
        self.assertEqual((other['time'], other['outputs']), (reply['time'], reply['outputs']))
        self.assertEqual(*(self.door.call('get-state', id=k) for k in (i, j)))
        # and it goes on from there to the end
        reply = self.step(self.door, id=i, until=0.8, earlyReturn=True)
        self.assertEqual(reply['ended'], {'by': 'request', 'lastSuccessfulTime': 0.8})
        self.assertEqual((reply['time'], reply['events']), (0.8, []))

    def test_a_force_law_that_turns_is_one(self):
        """The mass at 0.5 m comes to the spring's stop at 0, and the load begins at 0.3 s."""
        model = models.oscillator()
        model['objects'][1]['springForceUserFunction'] = '=10 + (u < 0 ? 1000*u : 0)'
        model['loads'][0]['load'] = '=t > 0.3005 ? 1 : 0'
        i = self.daemon.create(model)
        reply = self.step(self.door, id=i, until=0.31, want=['events'])
        (event,) = reply['events']
        self.assertEqual({k: event[k] for k in ('kind', 'of', 'item', 'row')}, {
            'kind': 'switches', 'of': 'expression', 'item': 'F', 'row': 0})
        self.assertTrue(event['since'] < 0.3005 < event['time'], event)
        reply = self.step(self.door, id=i, size=1, earlyReturn=True)
        self.assertEqual(reply['ended']['by'], 'event')
        self.assertIn('switches of %s' % model['objects'][1]['name'], reply['ended']['reason'])
        self.assertAlmostEqual(reply['outputs']['x'] - 1, 0, delta=0.01)

    def test_a_trial_returns_early_too(self):
        i = self.daemon.create(ball())
        trial = self.step(self.door, id=i, size=2.0, earlyReturn=True, commit=False)
        self.assertEqual(trial['ended']['by'], 'event')
        self.assertEqual(self.door.call('get-state', id=i)[1]['time'], 0)
        status, reply = self.door.call('commit', id=i, trial=trial['trial'])
        self.assertEqual((status, reply['time']), (200, trial['time']))

    def test_what_cannot_be_is_refused_with_its_place(self):
        i = self.daemon.create(ball())
        self.refused('/earlyReturn', id=i, size=2.0, earlyReturn=True, want=['jacobian'])
        self.refused('/earlyReturn', id=i, size=2.0, earlyReturn=1)
        self.refused('/want/0', id=i, size=2.0, want=['event'])

    def test_frames_have_the_flag_and_the_number(self):
        for kind in (Partner, LanePartner):
            i = self.daemon.create(ball())
            with self.subTest(kind.__name__), \
                    kind(self.daemon, i, [], ['y'], want=['events', 'energy']) as partner:
                self.assertEqual([e['name'] for e in partner.hello['wantLayout']],
                                 ['energy', 'events'])
                quiet = partner.step(0.4)
                self.assertEqual(quiet['flags'] & EVENT, 0)
                self.assertEqual(quiet['values'][2], 0)
                self.assertTrue(math.isnan(quiet['values'][3]))
                trial = partner.trial(0.2)
                loud = partner.step(0.2)
                for found in (trial, loud):
                    self.assertEqual(found['flags'] & EVENT, EVENT)
                    self.assertEqual(found['values'][2], 1)
                    self.assertAlmostEqual(found['values'][3], FALL, delta=0.011)
                self.assertEqual(len(partner.ask('outputs')[0]['values']), 2)
            i = self.daemon.create(ball())
            with kind(self.daemon, i, [], ['y'], earlyReturn=True) as partner:
                found = partner.step(2.0)
                self.assertAlmostEqual(found['time'], FALL, delta=0.011)
                self.assertEqual(found['flags'] & EVENT, EVENT)
            with self.assertRaisesRegex(FrameError, '/earlyReturn'):
                kind(self.daemon, i, [], ['y'], earlyReturn=True, want=['jacobian'])

    def test_the_stream_has_the_flag(self):
        i = self.daemon.create(ball())
        self.step(self.door, id=i, count=1)
        with Stream(self.daemon, i) as stream:
            stream.next()
            for until, flag in ((0.4, 0), (0.6, EVENT), (0.7, 0)):
                self.step(self.door, id=i, until=until, want=['events'])
                self.assertEqual(stream.next()[1]['flags'] & EVENT, flag)

    def test_an_event_before_a_stamped_force_leaves_that_force_waiting(self):
        i = self.daemon.create(ball())
        with Partner(self.daemon, i, ['up'], ['y'], earlyReturn=True) as partner:
            forces = Forces(self.daemon, partner)
            self.addCleanup(forces.socket.close)
            forces.push([100.0], 0.8)
            # it has arrived once one for the present time, sent after it, acts
            forces.push([1.0], 0.0)
            wait_until(lambda: self.door.call('get-inputs', id=i)[1]['inputs']['up'] == 1.0,
                       'it acts')
            self.door.call('set-inputs', id=i, inputs={'up': 0.0})
            found = partner.step(2.0)
            self.assertAlmostEqual(found['time'], FALL, delta=0.011)
            self.assertEqual(self.door.call('get-inputs', id=i)[1]['inputs']['up'], 0.0)
            partner.step(0.8 - found['time'] + 0.05)
            self.assertEqual(self.door.call('get-inputs', id=i)[1]['inputs']['up'], 100.0)


class Stored(unittest.TestCase):
    """States that are stored as the commands that led to them."""

    def test_an_early_return_is_there_after_a_kill(self):
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        n = 2000
        model = ball()
        model['objects'] += [{'name': 'rest', 'type': 'LagrangianLinearTIDS',
                              'M': {'diag': [1] * n}, 'K': {'diag': [100] * n},
                              'q0': [1] * n, 'v0': [0] * n}]
        d = Kept(folder)
        i = d.create(model, durability='every-step')
        status, reply = HttpDoor(d).call('step', id=i, size=2.0, earlyReturn=True)
        self.assertEqual((status, reply['ended']['by']), (200, 'event'))
        before = HttpDoor(d).call('get-state', id=i)[1]
        d.kill()
        with Kept(folder) as d:
            self.assertEqual(HttpDoor(d).call('get-state', id=i)[1], before)


if __name__ == '__main__':
    unittest.main()
