"""More published references through the daemon: joints in space against ADAMS, plane mechanisms,
modes, integrators; and closed forms of the same models. tests/verify/book.py lists the source of
each."""
import math
import unittest
from harness import Served
from nearness import Near

S = math.sqrt(0.5)
ABOUT_Y = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
ALONG_45 = [[0, 1, 0], [S, 0, S], [S, 0, -S]]

# joint, its place, where the centre starts, positions by ADAMS; the peers' bar is an RMS error of
# 1e-3 over the flight, here each sample keeps it
FLIGHTS = {
    'revolute': ({'type': 'RevoluteJointZ', 'rotationMarker0': ABOUT_Y,
                  'rotationMarker1': ABOUT_Y}, (0, 0, 0), (2, 0, 0),
                 [(0.5, (1.66081, 0, -1.11432)), (1, (-0.892381, 0, -1.78988)),
                  (2, (-1.95112, 0, -0.439479)), (5, (-1.99968, 0, -0.0355587))]),
    'prismatic': ({'type': 'PrismaticJointX', 'rotationMarker0': ALONG_45,
                   'rotationMarker1': ALONG_45}, (1, 2, 3), (3, 2, 3),
                  [(0.5, (3, 1.38708, 2.38708)), (1, (3, -0.451662, 0.548338)),
                   (2, (3, -7.80665, -6.80665)), (5, (3, -59.2916, -58.2916))]),
    'spherical': ({'type': 'SphericalJoint'}, (1, 2, 3), (3, 2, 3),
                  [(0.5, (2.66081, 2, 1.88568)), (1, (0.107619, 2, 1.21012)),
                   (2, (-0.951117, 2, 2.56052)), (5, (-0.999684, 2, 2.96444))]),
    'distance': ({'type': 'DistanceConstraint', 'distance': 2}, (0, 0, 0), (0, 2, 0),
                 [(0.5, (0, 1.64457, -1.138152)), (1, (0, -0.956545, -1.756423)),
                  (2, (0, -1.933289, -0.5122448)), (5, (0, -1.999998, -0.00277958))]),
}


def flight(joint, place, centre):
    local = [0, 0, 0] if joint['type'] == 'DistanceConstraint' else [
        p - c for p, c in zip(place, centre)]
    return {'mechd': 1, 'gravity': [0, 0, -9.80665],
            'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',
                       'referenceCoordinates': list(centre) + [1, 0, 0, 0]}],
            'objects': [{'name': 'ground', 'type': 'Ground'},
                        {'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,
                         'physicsInertia': [0.04, 0.1, 0.1, 0, 0, 0]},
                        dict(joint, name='j', markers=['at', 'on'])],
            'markers': [{'name': 'at', 'type': 'MarkerBodyRigid', 'object': 'ground',
                         'localPosition': list(place)},
                        {'name': 'on', 'type': 'MarkerBodyRigid', 'object': 'b',
                         'localPosition': local}],
            'solver': {'stepSize': 0.001}}


def line(objects, node=None, **more):
    """One coordinate on a Node1D with its marker, and the ground's."""
    return dict({'mechd': 1, 'nodes': [dict({'name': 'n', 'type': 'Node1D'}, **(node or {}))],
                 'objects': objects,
                 'markers': [{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n'},
                             {'name': 'g', 'type': 'MarkerGroundCoordinate'}]}, **more)


def mass(m):
    return {'name': 'm', 'type': 'Mass1D', 'node': 'n', 'physicsMass': m}


def spring(**fields):
    return dict({'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x']}, **fields)


def point_2d():
    return {'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodePoint2D',
                                   'referenceCoordinates': [1, 1],
                                   'initialCoordinates': [0.5, 0], 'initialVelocities': [0.5, 0]}],
            'objects': [{'name': 'm', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 1}],
            'solver': {'stepSize': 0.01}}


def plate():
    return {'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBody2D',
                                   'referenceCoordinates': [1, 1, math.pi / 4],
                                   'initialCoordinates': [0.5, 0, 0],
                                   'initialVelocities': [0.5, 0, 0.75 * math.pi]}],
            'objects': [{'name': 'b', 'type': 'RigidBody2D', 'node': 'n', 'physicsMass': 1,
                         'physicsInertia': 2}], 'solver': {'stepSize': 0.01}}


def falling():
    return {'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type': 'NodePoint'}],
            'objects': [{'name': 'm', 'type': 'MassPoint', 'node': 'n', 'physicsMass': 2}],
            'solver': {'stepSize': 0.01}}


def prescribed():
    return line([mass(5), {'name': 'c', 'type': 'CoordinateConstraint', 'markers': ['g', 'x'],
                           'offset': '=0.05*(1-cos(pi*t/2))'}], solver={'stepSize': 0.01})


def physical_pendulum():
    m, length = 10, 1
    return line([{'name': 'r', 'type': 'Rotor1D', 'node': 'n',
                  'physicsInertia': m * (length ** 2 + 0.01) / 12 + m * length ** 2 / 4},
                 spring(springForceUserFunction='=10*9.81*0.5*cos(u)')],
                solver={'integrator': 'RK67', 'stepSize': 0.001})


def sweep():
    f1 = math.sqrt(4000 / 1.6) / (2 * math.pi)
    return line([mass(1.6), spring(stiffness=4000, damping=4,
                                   springForceUserFunction='=0.1*k*u + k*u^3 + d*v')],
                {'referenceCoordinates': [0.5]},
                loads=[{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x',
                        'load': '=80*sin(2*pi*(%.17g/50*0.5*t)*t)' % f1}],
                solver={'spectralRadius': 1, 'stepSize': 0.01})


def four_bar():
    def anchor(name, at):
        return {'name': name, 'type': 'NodePointGround', 'referenceCoordinates': at}

    def point(name, at, velocity):
        return {'name': name, 'type': 'NodePoint2D', 'referenceCoordinates': at,
                'initialVelocities': velocity}

    def rod(name, a, b, length):
        return {'name': name, 'type': 'DistanceConstraint', 'markers': [a, b], 'distance': length}
    return {'mechd': 1,
            'nodes': [anchor('a', [0, 0, 0]), anchor('d', [4, 0, 0]), point('b', [0, 2], [4, 0]),
                      point('c', [4, 5], [10, 0])],
            'objects': [{'name': 'mb', 'type': 'MassPoint2D', 'node': 'b', 'physicsMass': 3},
                        {'name': 'mc', 'type': 'MassPoint2D', 'node': 'c', 'physicsMass': 3},
                        rod('r0', 'a', 'b', 2), rod('r1', 'b', 'c', 5), rod('r2', 'c', 'd', 5)],
            'markers': [{'name': n, 'type': 'MarkerNodePosition', 'node': n} for n in 'abcd'],
            'loads': [{'name': n, 'type': 'LoadForceVector', 'marker': n,
                       'load': [0, -3 * 9.81, 0]} for n in 'bc'],
            'solver': {'spectralRadius': 0.5, 'stepSize': 0.001}}


def verlet(i):
    return {'mechd': 1, 'nodes': [{'name': 'g', 'type': 'NodePointGround'},
                                  {'name': 'n', 'type': 'NodePoint',
                                   'referenceCoordinates': [1, 0, 0],
                                   'initialVelocities': [1, 0, 0]}],
            'objects': [{'name': 'm', 'type': 'MassPoint', 'node': 'n', 'physicsMass': 10},
                        {'name': 's', 'type': 'SpringDamper', 'markers': ['g', 'n'],
                         'referenceLength': 1, 'stiffness': 1000}],
            'markers': [{'name': n, 'type': 'MarkerNodePosition', 'node': n} for n in 'gn'],
            'solver': {'integrator': 'VelocityVerlet', 'stepSize': 1e-3 / 2 ** i}}


def second_order():
    return {'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeGenericODE2',
                                   'referenceCoordinates': [0, 0],
                                   'initialCoordinates': [1, 0]}],
            'objects': [{'name': 'o', 'type': 'GenericODE2', 'nodes': ['n'],
                         'massMatrix': {'diag': [2, 2]}, 'stiffnessMatrix': {'diag': [200, 100]},
                         'forceVector': [0, 1]}],
            'solver': {'integrator': 'RK67', 'stepSize': 0.001}}


def first_order():
    return {'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeGenericODE1',
                                   'referenceCoordinates': [0, 0, 0, 0],
                                   'initialCoordinates': [1, 0, 0, 0]}],
            'objects': [{'name': 'o', 'type': 'GenericODE1', 'nodes': ['n'],
                         'systemMatrix': [[0, 0, 1, 0], [0, 0, 0, 1], [-100, 0, 0, 0],
                                          [0, -50, 0, 0]], 'rhsVector': [0, 0, 0, 0.5]}],
            'solver': {'integrator': 'RK67', 'stepSize': 0.001}}


def hinged_bar():
    length, width, m = 0.1, 0.01, 0.1 * 0.001 * 0.01 * 5000
    return {'mechd': 1,
            'nodes': [{'name': 'n', 'type': 'NodeRigidBody2D',
                       'referenceCoordinates': [length / 2, 0, 0]}],
            'objects': [{'name': 'ground', 'type': 'Ground'},
                        {'name': 'b', 'type': 'RigidBody2D', 'node': 'n', 'physicsMass': m,
                         'physicsInertia': m * (length ** 2 + width ** 2) / 12},
                        {'name': 'j', 'type': 'RevoluteJoint2D', 'markers': ['o', 'root']},
                        {'name': 's', 'type': 'CartesianSpringDamper', 'markers': ['at', 'tip'],
                         'stiffness': [0, 10, 0]}],
            'markers': [{'name': 'o', 'type': 'MarkerBodyRigid', 'object': 'ground'},
                        {'name': 'at', 'type': 'MarkerBodyRigid', 'object': 'ground',
                         'localPosition': [length, 0, 0]},
                        {'name': 'root', 'type': 'MarkerBodyRigid', 'object': 'b',
                         'localPosition': [-length / 2, 0, 0]},
                        {'name': 'tip', 'type': 'MarkerBodyRigid', 'object': 'b',
                         'localPosition': [length / 2, 0, 0]}]}


class Published(Served, Near):
    def end(self, model, **size):
        i = self.daemon.create(model)
        status, reply = self.door.call('step', id=i, **size)
        self.assertEqual(status, 200, reply)
        state = self.door.call('get-state', id=i)[1]
        self.door.call('delete', id=i)
        return state

    def test_joints_in_space_fly_as_published(self):
        for name, (joint, place, centre, samples) in FLIGHTS.items():
            i = self.daemon.create(flight(joint, place, centre))
            for t, expected in samples:
                with self.subTest(joint=name, time=t):
                    self.assertEqual(self.door.call('step', id=i, until=t)[0], 200)
                    q = self.door.call('get-state', id=i)[1]['q']
                    for axis, found, x in zip('xyz', q, expected):
                        self.near(found, x, 1e-3, axis)

    def test_free_bodies_in_the_plane_and_falling(self):
        self.near(self.end(point_2d(), count=100)['q'][0], 2, 1e-9, 'x of a mass point')
        q = self.end(plate(), count=100)['q']
        self.near(q[0] + q[2] - math.pi / 4, 4.356194490192344, 1e-9,
                  'way and turn of a plate')
        self.near(self.end(falling(), count=100)['q'][2], -4.905, 1e-9, 'z of a falling mass')

    def test_a_prescribed_coordinate(self):
        self.near(self.end(prescribed(), count=100)['q'][0], 0.05, 1e-9, 'x')

    def test_a_physical_pendulum_and_a_mass_in_a_sweep(self):
        with self.subTest(model='physical pendulum'):
            self.near(self.end(physical_pendulum(), count=1000)['q'][0], -3.134018551808591, 1e-9,
                      'angle')
        with self.subTest(model='mass in a sweep'):
            self.near(self.end(sweep(), count=5000)['q'][0], 0.5062872273010911, 1e-9, 'x')

    def test_four_bar_of_masses(self):
        self.near(self.end(four_bar(), count=2000)['q'][1] - 2, -2.376335780518, 2e-7,
                  'y of the first mass')

    def test_slider_crank(self):
        model = self.daemon.call('GET', '/v1/examples/slider-crank').json
        model = model.get('model', model)
        model['solver'] = {'integrator': 'Newmark', 'stepSize': 0.3 / 5000}
        self.near(self.end(model, count=5000)['q'][6], 0.29485999, 1e-8,
                  'x of the slider')

    def test_verlet_over_four_steps(self):
        total = sum(self.end(verlet(i), count=2000 * 2 ** i)['q'][0] for i in range(4))
        self.near(total, 4.365184132226787, 1e-9, 'sum of x by four step sizes')

    def test_one_system_as_two_kinds(self):
        self.near(self.end(second_order(), count=2000)['q'][0], math.cos(20), 1e-9,
                  'x of second order')
        self.near(self.end(first_order(), count=2000)['x'][0], math.cos(20), 1e-9,
                  'x of first order')

    def test_modes(self):
        i = self.daemon.create(hinged_bar())
        status, modes = self.door.call('modes', id=i)
        self.assertEqual(status, 200, modes)
        m, length, width = 0.1 * 0.001 * 0.01 * 5000, 0.1, 0.01
        inertia = m * (length ** 2 + width ** 2) / 12 + m * length ** 2 / 4
        with self.subTest(model='hinged bar'):
            self.near(modes['modes'][0]['frequency'],
                      math.sqrt(10 * length ** 2 / inertia) / (2 * math.pi), 1e-9, 'frequency')
        i = self.daemon.create(line([mass(1.6), spring(stiffness=4000, damping=8)]))
        status, modes = self.door.call('modes', id=i, complex='true')
        self.assertEqual(status, 200, modes)
        f0 = math.sqrt(4000 / 1.6) / (2 * math.pi)
        with self.subTest(model='damped mass'):
            self.near(modes['modes'][0]['frequency'] - f0 + 0.05, 0.0400465912833907, 1e-9,
                      'change of the frequency')


if __name__ == '__main__':
    unittest.main()
