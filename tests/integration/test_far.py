"""Numbers beyond the range of doubles: no answer of any door has null in place of a number. A
change that would lead to one is refused and changes nothing; a reader is refused with the place. A
disk turns; its rim is so far out that the speed there overflows long before the turn rate does."""
import json
import unittest
from harness import FrameError, HttpDoor, Partner, Served, ZmqDoor

NOT_FINITE = 2005
SPEED = 'the output \\"speed\\"'  # in JSON


def disk(rate=1., torque=0., **solver):
    return {'mechd': 1, 'parameters': {'far': 1e200}, 'nodes': [
        {'name': 'n', 'type': 'NodeRigidBody2D', 'initialVelocities': [0, 0, rate]}],
        'objects': [{'name': 'd', 'type': 'RigidBody2D', 'node': 'n', 'physicsMass': 1,
                     'physicsInertia': 1}],
        'markers': [{'name': 'rim', 'type': 'MarkerBodyPosition', 'object': 'd',
                     'localPosition': ['=far', 0, 0]},
                    {'name': 'hub', 'type': 'MarkerBodyRigid', 'object': 'd'}],
        'loads': [{'name': 'push', 'type': 'LoadTorqueVector', 'marker': 'hub',
                   'load': [0, 0, torque]}],
        'sensors': [{'name': 'speed', 'type': 'SensorMarker', 'marker': 'rim',
                     'outputVariable': 'Velocity'}],
        'outputs': [{'name': 'speed', 'sensor': 'speed'}],
        'inputs': [{'name': 'torque', 'load': 'push'}],
        'solver': {'integrator': 'ExplicitEuler', 'stepSize': 0.01, **solver}}


class Far(Served):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.doors = (cls.door, ZmqDoor(cls.daemon))

    @classmethod
    def tearDownClass(cls):
        cls.doors[1].close()
        super().tearDownClass()

    def look(self, i):
        """What a reader sees, published values too."""
        return [self.daemon.call('GET', '/v1/instances/' + i + part).json
                for part in ('', '/state', '/outputs')]

    def refuse(self, op, place, model, **fields):
        """Both doors refuse it with the place, and nothing changes."""
        for door in self.doors:
            with self.subTest(door=door.name, fields=fields):
                i = self.daemon.create(model)
                before = self.look(i)
                status, reply = door.call(op, id=i, **fields)
                self.assertEqual((status, reply['code']), (422, 'not-finite'), reply)
                self.assertIn(place, json.dumps(reply), reply)
                self.assertEqual(self.look(i), before)

    def test_a_state_with_an_infinite_output_is_refused(self):
        self.refuse('set-state', SPEED, disk(), v=[0, 0, 1e150])

    def test_a_step_to_an_infinite_output_is_undone(self):
        self.refuse('step', SPEED, disk(torque=1e112), count=1)
        self.refuse('step', SPEED, disk(torque=1e112), count=1, commit=False)

    def test_parameters_that_make_an_output_infinite_are_refused(self):
        self.refuse('set-parameters', SPEED, disk(rate=1e10), parameters={'far': 1e300})

    def test_a_field_that_makes_an_output_infinite_is_refused(self):
        self.refuse('set-field', SPEED, disk(rate=1e10), name='rim', category='markers',
                    field='localPosition', value=[1e300, 0, 0])

    def test_a_reader_is_refused_with_the_place(self):
        self.refuse('item-output', '"/value/', disk(rate=1e10), name='d', variable='Velocity',
                    localPosition='1e308,0,0')

    def test_frames_are_refused_too(self):
        i = self.daemon.create(disk(torque=1e112))
        with Partner(self.daemon, i, outputs=['speed']) as partner:
            was = partner.ask('outputs')[0]
            for ask in (lambda: partner.ask('state', [0] * 5 + [1e150]),
                        lambda: partner.step(0.01), lambda: partner.trial(0.01)):
                with self.assertRaises(FrameError) as caught:
                    ask()
                self.assertEqual(caught.exception.header['status'], NOT_FINITE)
                self.assertIn(SPEED.encode(), caught.exception.problem[0])
            now = partner.ask('outputs')[0]
            self.assertEqual([was[k] for k in ('values', 'time', 'step')],
                             [now[k] for k in ('values', 'time', 'step')])
            partner.bye()

    def test_a_run_ends_where_an_output_becomes_infinite(self):
        i = self.daemon.create(disk(torque=1e109))
        path = '/v1/instances/' + i
        run = self.daemon.call('POST', path + '/runs', {
            'until': 1, 'period': 0.01, 'record': {'every': 1}})
        self.assertEqual(run.status, 202, run)
        self.daemon.call('GET', '%s/runs/%s/events' % (path, run['id']))
        end = self.daemon.call('GET', '%s/runs/%s' % (path, run['id']))
        self.assertEqual(end['state'], 'failed', end)
        self.assertIn('the output "speed" became infinite', end['reason'])
        rows = self.daemon.call('GET', '%s/runs/%s/results' % (path, run['id']))['rows']
        self.assertTrue(rows and all(x is not None for row in rows for x in row), rows)

    def test_what_a_step_is_asked_for_besides_is_null(self):
        """½ J ω² is beyond doubles, and so is nothing that the state has."""
        path = '/v1/instances/' + self.daemon.create(disk())
        step = {'count': 1, 'want': ['energy']}
        self.assertEqual(self.daemon.call('POST', path + '/step', step)['energy'], 0.5)
        self.daemon.call('PUT', path + '/parameters', {'far': 1})
        reply = self.daemon.call('PUT', path + '/state', {'v': [0, 0, 1e160]})
        self.assertEqual(reply.status, 200, reply)
        reply = self.daemon.call('POST', path + '/step', step)
        self.assertEqual((reply.status, reply['energy']), (200, None), reply)


if __name__ == '__main__':
    unittest.main()
