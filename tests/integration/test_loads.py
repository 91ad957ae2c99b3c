"""Loads and prescribed motions by tables, through the daemon, against closed forms."""
import unittest
from harness import HttpDoor, Served, ZmqDoor

RAMP = {'table': {'t': [0, 1], 'values': [0, '=a']}}
BEND = {'table': {'t': [0, 1, 2, 3], 'values': [0, 2, 1, 0], 'interpolation': 'cubic'}}


def driven(load, offset=0, **solver):
    return {'mechd': 1, 'parameters': {'a': 6},
            'nodes': [{'name': 'n', 'type': 'NodePoint'}, {'name': 'k', 'type': 'Node1D'}],
            'objects': [{'name': 'm', 'type': 'MassPoint', 'node': 'n', 'physicsMass': 2},
                        {'name': 'l', 'type': 'Mass1D', 'node': 'k', 'physicsMass': 3},
                        {'name': 'c', 'type': 'CoordinateConstraint', 'markers': ['g', 'y'],
                         'offset': offset}],
            'markers': [{'name': 'p', 'type': 'MarkerNodePosition', 'node': 'n'},
                        {'name': 'y', 'type': 'MarkerNodeCoordinate', 'node': 'k'},
                        {'name': 'g', 'type': 'MarkerGroundCoordinate'}],
            'loads': [{'name': 'F', 'type': 'LoadForceVector', 'marker': 'p', 'load': load}],
            'solver': dict({'integrator': 'RK44', 'stepSize': 0.125}, **solver)}


class Loads(Served):
    def test_a_component_by_points(self):
        """F = a t on 2 kg: x = a t³/12, and after the last point the force holds."""
        for door in (HttpDoor(self.daemon), ZmqDoor(self.daemon)):
            i = door.call('create', model=driven([RAMP, 0, '=a']))[1]['id']
            door.call('step', id=i, size=1)
            q = door.call('get-state', id=i)[1]['q']
            self.assertAlmostEqual(q[0], 0.5, delta=1e-14)
            self.assertAlmostEqual(q[2], 1.5, delta=1e-14)
            door.call('step', id=i, size=1)
            q = door.call('get-state', id=i)[1]['q']
            self.assertAlmostEqual(q[0], 0.5 + 1.5 + 1.5, delta=1e-14)
            # another parameter moves the points
            door.call('reset', id=i)
            status, reply = door.call('set-parameters', id=i, parameters={'a': 12})
            self.assertEqual(status, 200, reply)
            door.call('step', id=i, size=1)
            self.assertAlmostEqual(door.call('get-state', id=i)[1]['q'][0], 1.0, delta=1e-14)

    def test_a_motion_by_points(self):
        """Spline by hand: second derivatives -4.8 and 1.2 at the inner points."""
        door = HttpDoor(self.daemon)
        i = door.call('create', model=driven([0, 0, 0], BEND))[1]['id']
        door.call('step', id=i, size=0.5)
        state = door.call('get-state', id=i)[1]
        self.assertAlmostEqual(state['q'][3], 1.3, delta=1e-12)
        self.assertAlmostEqual(state['v'][3], 2.2, delta=1e-12)
        self.assertAlmostEqual(state['lambda'][0], -7.2, delta=1e-12)

    def test_the_model_comes_back_and_a_live_load_takes_a_table(self):
        door = HttpDoor(self.daemon)
        model = driven([RAMP, 0, '=a'], BEND)
        i = door.call('create', model=model)[1]['id']
        back = door.call('model', id=i)[1]
        self.assertEqual(back['loads'][0]['load'], model['loads'][0]['load'])
        self.assertEqual(back['objects'][2]['offset'], BEND)
        status, reply = door.call('set-field', id=i, category='loads', name='F', field='load',
                                  value=[0, {'table': {'t': [-1, 1], 'values': [4, 4]}}, 0])
        self.assertEqual(status, 200, reply)
        door.call('step', id=i, size=1)
        self.assertAlmostEqual(door.call('get-state', id=i)[1]['q'][1], 1.0, delta=1e-14)

    def test_bad_tables_have_their_places(self):
        door = HttpDoor(self.daemon)
        for load, place in (([0, {'table': {'t': [0, 0], 'values': [1, 1]}}, 0], '1/table/t/1'),
                            ([{'table': {'t': [0], 'values': [1]}}, 0, 0], '0/table/t'),
                            ([{'table': {'t': [0, 1], 'values': [1]}}, 0, 0], '0/table/values'),
                            ([{'table': {'t': [0, 1]}}, 0, 0], '0/table'),
                            ([{'tables': {}}, 0, 0], '0/tables'),
                            ([{'table': {'t': [0, 1], 'values': [1, 2], 'outside': 'wrap'}}, 0, 0],
                             '0/table/outside')):
            status, reply = door.call('check', model=driven(load))
            self.assertEqual(status, 422, reply)
            self.assertIn('/loads/0/load/' + place,
                          [e['pointer'].removeprefix('/model') for e in reply['errors']])

    def test_a_step_beyond_a_table_that_ends_is_refused(self):
        door = HttpDoor(self.daemon)
        ends = {'table': {'t': [0, 1], 'values': [1, 1], 'outside': 'error'}}
        i = door.call('create', model=driven([ends, 0, 0]))[1]['id']
        self.assertEqual(door.call('step', id=i, size=1)[0], 200)
        status, reply = door.call('step', id=i, size=1)
        self.assertEqual((status, reply['code']), (422, 'not-finite'))
        self.assertIn('table of "F"', reply['detail'])
        self.assertEqual(door.call('get-state', id=i)[1]['time'], 1)
        ends['table']['values'][0] = 0
        for integrator in ('RK44', 'GeneralizedAlpha'):
            i = door.call('create', model=driven([0, 0, 0], ends, integrator=integrator))[1]['id']
            self.assertEqual(door.call('step', id=i, size=1)[0], 200)
            status, reply = door.call('step', id=i, size=1)
            self.assertEqual((status, reply['code']), (422, 'not-finite'))
            self.assertEqual(door.call('get-state', id=i)[1]['time'], 1)


if __name__ == '__main__':
    unittest.main()
