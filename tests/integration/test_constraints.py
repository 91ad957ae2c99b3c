"""Constraints through the daemon: gears, ropes and discs against closed forms; joints that repeat
or contradict each other, and what else cannot be; drift."""
import math
import unittest
from harness import Served
from models import bar, pendulum


def shafts():
    return {'mechd': 1, 'nodes': [{'name': 'n0', 'type': 'Node1D'},
                                  {'name': 'n1', 'type': 'Node1D'}],
            'objects': [{'name': 'b0', 'type': 'Rotor1D', 'node': 'n0', 'physicsInertia': 10},
                        {'name': 'b1', 'type': 'Rotor1D', 'node': 'n1', 'physicsInertia': 100},
                        {'name': 'gear', 'type': 'CoordinateVectorConstraint',
                         'markers': ['m0', 'm1'], 'scalingMarker0': [[-0.1]],
                         'scalingMarker1': [[1]]}],
            'markers': [{'name': 'm0', 'type': 'MarkerNodeCoordinates', 'node': 'n0'},
                        {'name': 'm1', 'type': 'MarkerNodeCoordinates', 'node': 'n1'},
                        {'name': 'at', 'type': 'MarkerNodeCoordinate', 'node': 'n0'}],
            'loads': [{'name': 'T', 'type': 'LoadCoordinate', 'marker': 'at', 'load': 6}],
            'solver': {'stepSize': 0.01}}


def rope(unilateral=True):
    return {'mechd': 1, 'gravity': [0, -10, 0],
            'nodes': [{'name': 'g', 'type': 'NodePointGround'},
                      {'name': 'n', 'type': 'NodePoint2D', 'referenceCoordinates': [0.1, 0.9]}],
            'objects': [{'name': 'b', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 1},
                        {'name': 'rope', 'type': 'DistanceConstraint', 'markers': ['mg', 'mn'],
                         'distance': 1, 'unilateral': unilateral}],
            'markers': [{'name': 'mg', 'type': 'MarkerNodePosition', 'node': 'g'},
                        {'name': 'mn', 'type': 'MarkerNodePosition', 'node': 'n'}],
            'solver': {'stepSize': 0.001}}


class Case(Served):
    def make(self, model):
        status, made = self.door.call('create', model=model)
        self.assertEqual(status, 201, made)
        return made['id']

    def step(self, i, **size):
        status, reply = self.door.call('step', id=i, **size)
        self.assertEqual(status, 200, reply)
        return reply

    def value(self, i, name, variable):
        status, reply = self.door.call('item-output', id=i, name=name, variable=variable)
        self.assertEqual(status, 200, reply)
        return reply['value']


class Constraints(Case):
    def test_shafts_accelerate_by_their_ratio(self):
        i = self.make(shafts())
        self.step(i, count=100)
        state = self.door.call('get-state', id=i)[1]
        for found, expected in zip(state['q'] + state['v'], [3 / 11, -0.3 / 11, 6 / 11, -0.6 / 11]):
            self.assertAlmostEqual(found, expected, delta=1e-9)

    def test_initial_velocities_that_part_a_joint_have_a_warning(self):
        joins = {'velocityProjection': True}
        for model, told in ((bar([0, 0, 2]), 'give consistent velocities'), (bar([0, 2, 2]), None),
                            (bar([0, 0, 2], **joins), 'they are replaced')):
            with self.subTest(str(model['nodes'][0]) + str(model['solver'])):
                status, made = self.door.call('create', model=model)
                self.assertEqual((status, 'warnings' in made), (201, told is not None))
                if told is not None:
                    self.assertEqual(made['warnings'][0]['pointer'], '/model/objects/2')
                    self.assertIn('"pin" by 2: ' + told, made['warnings'][0]['message'])
                if told != 'give consistent velocities':
                    self.step(made['id'], count=1000)
                    speed = math.hypot(*self.door.call('get-state', id=made['id'])[1]['v'][:2])
                    self.assertAlmostEqual(speed, 2 if model['solver'].keys() == {'stepSize'}
                                           else 2 * 0.1 / 1.1, delta=1e-6)

    def test_a_rope_catches_without_rebound(self):
        caught = math.sqrt(2 * (0.9 + math.sqrt(0.99)) / 10)
        self.assertAlmostEqual(caught, 0.615628, delta=5e-7)
        i = self.make(rope())
        self.step(i, until=0.615)
        state = self.door.call('get-state', id=i)[1]
        self.assertAlmostEqual(state['q'][1], 0.9 - 5 * 0.615 ** 2, delta=1e-12)
        reply = self.step(i, until=0.616)
        self.assertEqual(reply['report']['contacts'], 1)
        for _ in range(30):
            self.step(i, size=0.01)
            q, v = (self.door.call('get-state', id=i)[1][k] for k in 'qv')
            self.assertAlmostEqual(math.hypot(*q), 1, delta=1e-10)
            self.assertAlmostEqual(q[0] * v[0] + q[1] * v[1], 0, delta=1e-5)
        # the tangential speed of the catch, and what the fall along the circle adds
        height = q[1] + math.sqrt(0.99)
        self.assertAlmostEqual(v[0] ** 2 + v[1] ** 2, caught ** 2 - 20 * height, delta=1e-5)

    def test_a_rope_that_begins_too_long_is_refused(self):
        model = rope()
        model['nodes'][1]['referenceCoordinates'] = [0.1, 1.1]
        status, reply = self.door.call('create', model=model)
        self.assertEqual(status, 422, reply)
        self.assertEqual(reply['errors'][0]['pointer'], '/model/objects/1')


def wheel():
    """A disc of 1 kg, radius 0.5, that rolls upright along y at 1 m/s, driven by 3 N m."""
    return {'mechd': 1, 'gravity': [0, 0, -9.81],
            'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',
                       'referenceCoordinates': [0, 0, 0.5, 1, 0, 0, 0],
                       'initialVelocities': [0, 1, 0, 0, -1, 0, 0]}],
            'objects': [{'name': 'g', 'type': 'Ground'},
                        {'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,
                         'physicsInertia': [0.125, 0.0625, 0.0625, 0, 0, 0]},
                        {'name': 'roll', 'type': 'RollingDisc', 'markers': ['mg', 'mb'],
                         'discRadius': 0.5}],
            'markers': [{'name': 'mg', 'type': 'MarkerBodyRigid', 'object': 'g'},
                        {'name': 'mb', 'type': 'MarkerBodyRigid', 'object': 'b'},
                        {'name': 'axle', 'type': 'MarkerNodeRotationCoordinate', 'node': 'n',
                         'rotationCoordinate': 0}],
            'loads': [{'name': 'T', 'type': 'LoadCoordinate', 'marker': 'axle', 'load': -3}],
            'solver': {'stepSize': 0.01}}


def inclined():
    """1 kg, 4 m, hinged at its end about an axis at 45 degrees, released from the horizontal."""
    c = math.sqrt(0.5)
    frame = [[1, 0, 0], [0, c, c], [0, -c, c]]
    return {'mechd': 1, 'gravity': [0, 0, -9.80665],
            'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',
                       'referenceCoordinates': [2, 0, 0, 1, 0, 0, 0]}],
            'objects': [{'name': 'g', 'type': 'Ground'},
                        {'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,
                         'physicsInertia': [0.04, 0.1, 0.1, 0, 0, 0]},
                        {'name': 'j', 'type': 'RevoluteJointZ', 'markers': ['m0', 'm1'],
                         'rotationMarker0': frame, 'rotationMarker1': frame}],
            'markers': [{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'g'},
                        {'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b',
                         'localPosition': [-2, 0, 0]}],
            'solver': {'stepSize': 0.001}}


class Joints(Case):
    def test_an_inclined_pendulum_starts_with_the_closed_form(self):
        i = self.make(inclined())
        turn = self.value(i, 'b', 'AngularAcceleration')
        self.assertAlmostEqual(math.hypot(*turn), 3.382609, delta=5e-7)
        force = self.value(i, 'j', 'Force')
        # m (g + a): what falls at ω' l along the slope is not carried
        fall = 2 * 3.382609 * math.sqrt(0.5)
        self.assertAlmostEqual(force[0], 0, delta=1e-9)
        self.assertAlmostEqual(force[2], fall - 9.80665, delta=1e-5)

    def refused(self, model, pointer, words):
        for op in ('check', 'create'):
            status, reply = self.door.call(op, model=model)
            self.assertEqual(status, 422, reply)
            faults = [e for e in reply['errors'] if e['pointer'] == pointer]
            self.assertTrue(any(words in e['message'] for e in faults), reply)

    def test_a_wheel_rolls(self):
        i = self.make(wheel())
        report = self.step(i, count=100)['report']
        a = 3 * 0.5 / (0.125 + 0.25)
        position = self.value(i, 'b', 'Position')
        for found, expected in zip(position, [0, 1 + a / 2, 0.5]):
            self.assertAlmostEqual(found, expected, delta=1e-9)
        force = self.value(i, 'roll', 'ForceLocal')
        self.assertAlmostEqual(force[2], 9.81, delta=1e-9)
        self.assertLess(report['joints']['position'], 1e-9)
        self.assertLess(report['joints']['velocity'], 1e-9)

    def test_a_joint_that_repeats_another_is_left_out_and_reported(self):
        for op, status in (('check', 200), ('create', 201)):
            code, reply = self.door.call(op, model=pendulum([2, 2]))
            self.assertEqual(code, status, reply)
            self.assertEqual([w['pointer'] for w in reply['warnings']], ['/model/objects/2'])
            self.assertIn('"rod1" repeats', reply['warnings'][0]['message'])
        i = reply['id']
        report = self.step(i, count=100)['report']
        self.assertEqual(report['joints']['leftOut'], 1)
        alone = self.make(pendulum([2]))
        self.step(alone, count=100)
        for key in 'qv':
            for a, b in zip(*(self.door.call('get-state', id=k)[1][key] for k in (i, alone))):
                self.assertAlmostEqual(a, b, delta=1e-9)
        self.assertNotIn('warnings', self.door.call('create', model=pendulum([2]))[1])

    def test_what_contradicts_or_cannot_be_assembled_is_refused(self):
        self.refused(pendulum([2, 2.1]), '/model/objects/2',
                     'equation 0 of the joint "rod1" by -0.1')
        model = shafts()
        model['objects'][2] = {'name': 'one', 'type': 'CoordinateConstraint',
                               'markers': ['ground', 'at'], 'offsetUserFunction': '=sin(t)'}
        model['objects'].append({'name': 'two', 'type': 'CoordinateConstraint',
                                 'markers': ['ground', 'at'], 'offsetUserFunction': '=sin(2*t)'})
        model['markers'].append({'name': 'ground', 'type': 'MarkerGroundCoordinate'})
        self.refused(model, '/model/objects/3', '"two" contradicts')

    def test_masses_and_inertias_that_cannot_be_are_refused(self):
        model = pendulum([2])
        model['objects'][0]['physicsMass'] = 0
        self.refused(model, '/model/objects/0/physicsMass', 'must be above 0')
        model = wheel()
        model['objects'][1]['physicsInertia'] = [0.125, -0.1, 0.0625, 0, 0, 0]
        self.refused(model, '/model/objects/1/physicsInertia', 'positive')
        model = wheel()
        model['objects'][2]['discAxis'] = [0, 0, 0]
        self.refused(model, '/model/objects/2/discAxis', 'needs a direction')

    def test_drift_is_reported_and_removed(self):
        i = self.make(pendulum([2]))
        free = self.step(i, count=300)['report']['joints']
        self.assertEqual(free['worstVelocity'], 'rod0')
        self.assertGreater(free['velocity'], 1e-7)
        i = self.make(pendulum([2], velocityProjection=True))
        held = self.step(i, count=300)['report']['joints']
        self.assertLess(held['velocity'], 1e-12)
        self.assertLess(held['position'], 1e-9)

    def test_the_gear_as_equation_of_nodes_is_the_same_gear(self):
        """And a node's data stand in the state, where they can be set."""
        gear, model = self.make(shafts()), shafts()
        model['objects'][2] = {'name': 'gear', 'type': 'GenericAE', 'nodes': ['n0', 'n1'],
                               'constraintMatrix': [[0.1, 1]], 'rhsVector': ['=0*t']}
        model['nodes'].append({'name': 'd', 'type': 'NodeGenericData',
                               'initialCoordinates': [3, 4]})
        model['sensors'] = [{'name': 's', 'type': 'SensorNode', 'node': 'd',
                             'outputVariable': 'Coordinates'}]
        model['outputs'] = [{'name': 'data', 'sensor': 's'}]
        equation = self.make(model)
        self.assertEqual(self.door.call('get-state', id=equation)[1]['z'], [3, 4])
        self.assertEqual(self.door.call('set-state', id=equation, z=[5, 6])[0] // 100, 2)
        for i in (gear, equation):
            self.step(i, count=100)
        one, other = (self.door.call('get-state', id=i)[1] for i in (gear, equation))
        for x, y in zip(one['q'] + one['lambda'], other['q'] + other['lambda'], strict=True):
            self.assertAlmostEqual(x, y, delta=1e-12)
        self.assertEqual(self.door.call('outputs', id=equation)[1]['outputs']['data'], [5, 6])
        model['objects'][2]['nodes'].append('d')
        self.refused(model, '/model/objects/2/nodes/2', 'data')

    def test_matrices_that_do_not_fit_their_markers_are_refused(self):
        model = shafts()
        model['objects'][2]['scalingMarker0'] = [[1, 2]]
        self.refused(model, '/model/objects/2/scalingMarker0', 'is 1 x 2, must be 1 x 1')
        model = shafts()
        model['objects'][2]['offset'] = [1, 2]
        self.refused(model, '/model/objects/2/offset', 'has 2 numbers')



if __name__ == '__main__':
    unittest.main()
