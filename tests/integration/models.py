"""Model documents of the tests. The reference values stand in test_references.py."""
import copy
import math
import os
import re
from harness import ROOT

ALPHA = {'integrator': 'GeneralizedAlpha', 'spectralRadius': 0.9, 'stepSize': 0.01}


def document(name, **parts):
    return {'mechd': 1, 'name': name, 'solver': dict(ALPHA), **copy.deepcopy(parts)}


def node_1d(**fields):
    return {'name': 'n', 'type': 'Node1D', **fields}


def markers():
    """The node's coordinate 'x' and the ground 'g'."""
    return [{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 0},
            {'name': 'g', 'type': 'MarkerGroundCoordinate'}]


def spring(**fields):
    return {'name': 'spring', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'], **fields}


def mass1d():
    return document(
        'mass1d',
        nodes=[node_1d(referenceCoordinates=[1], initialCoordinates=[0.5],
                       initialVelocities=[0.5])],
        objects=[{'name': 'mass', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 1}],
        sensors=[{'name': 'p', 'type': 'SensorBody', 'object': 'mass',
                  'outputVariable': 'Position'}],
        outputs=[{'name': 'x', 'sensor': 'p', 'component': 0}])


def rotor1d():
    return document(
        'rotor1d',
        nodes=[node_1d(referenceCoordinates=[1], initialCoordinates=[0.5],
                       initialVelocities=[0.5])],
        objects=[{'name': 'rotor', 'type': 'Rotor1D', 'node': 'n', 'physicsInertia': 1}])


def spring_damper():
    """A mass at 1.05 m on a spring of free length 1 m to the origin."""
    return document(
        'spring and damper', nodes=[node_1d(referenceCoordinates=[1.05])], markers=markers(),
        objects=[{'name': 'mass', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 1},
                 spring(stiffness=100, damping=1, offset=-0.05)])


def point(position, name='n', body='mass', kind='NodePoint', **fields):
    """A node of a point and its mass, as (nodes, objects)."""
    return ([{'name': name, 'type': kind, 'referenceCoordinates': position, **fields}],
            [{'name': body, 'type': kind.replace('NodePoint', 'MassPoint'), 'node': name,
              'physicsMass': 1}])


def mass_point():
    nodes, objects = point([1, 1], kind='NodePoint2D', initialCoordinates=[0.5, 0],
                           initialVelocities=[0.5, 0])
    return document('mass point', nodes=nodes, objects=objects)


def spring_between_points():
    nodes, objects = point([1.05, 0, 0])
    nodes.append({'name': 'g', 'type': 'NodePointGround'})
    objects.append({'name': 'spring', 'type': 'SpringDamper', 'markers': ['m0', 'm1'],
                    'referenceLength': 1, 'stiffness': 100, 'damping': 1})
    return document('spring between points', nodes=nodes, objects=objects, markers=[
        {'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'g'},
        {'name': 'm1', 'type': 'MarkerNodePosition', 'node': 'n'}])


def revolute_z():
    """An inertia of 1 on a hinge in space, turned by a torque of 1 about z: half a radian, of which
    the last Euler parameter is the sine of the half."""
    return document(
        'revolute z', nodes=[{'name': 'n', 'type': 'NodeRigidBodyEP'}],
        objects=[{'name': 'g', 'type': 'Ground'},
                 {'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,
                  'physicsInertia': [1, 1, 1, 0, 0, 0]},
                 {'name': 'hinge', 'type': 'RevoluteJointZ', 'markers': ['m0', 'm1']}],
        markers=[{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'g'},
                 {'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b'}],
        loads=[{'name': 'T', 'type': 'LoadTorqueVector', 'marker': 'm1', 'load': [0, 0, 1]}])


def revolute_z_vector():
    """The same with a rotation vector, whose z is the angle."""
    model = revolute_z()
    model['nodes'] = [{'name': 'n', 'type': 'NodeRigidBodyRotVecLG'}]
    return model


def geared_rotors():
    """Two rotors of 1 and 2 kg m², the second turns against the first at a tenth of its rate."""
    return {'mechd': 1,
            'nodes': [{'name': 'n0', 'type': 'Node1D', 'initialVelocities': [10]},
                      {'name': 'n1', 'type': 'Node1D', 'initialVelocities': [-1]}],
            'objects': [{'name': 'a', 'type': 'Rotor1D', 'node': 'n0', 'physicsInertia': 1},
                        {'name': 'b', 'type': 'Rotor1D', 'node': 'n1', 'physicsInertia': 2},
                        {'name': 'gear', 'type': 'GenericAE', 'nodes': ['n0', 'n1'],
                         'constraintMatrix': [[0.1, 1]]}],
            'solver': {'stepSize': 1e-3}}


def modal_cantilever():
    """Three points, clamped at the first; the one mode is the deflection z of the last, of 3 kg on
    a stiffness of 50."""
    points = [[0, 0, 0], [1, 0, 0], [0.3, 0.8, 0.2]]
    return document(
        'modal cantilever', gravity=[0, 0, -9.81],
        nodes=[{'name': 'f', 'type': 'NodeRigidBodyRotVecLG'},
               {'name': 'a', 'type': 'NodeGenericODE2', 'numberOfODE2Coordinates': 1}],
        objects=[{'name': 'g', 'type': 'Ground'},
                 {'name': 'b', 'type': 'FlexibleBodyModal', 'nodes': ['f', 'a'],
                  'referencePositions': points, 'massMatrix': {'diag': [1, 1, 1, 2, 2, 2, 3, 3, 3]},
                  'stiffnessMatrix': {'diag': [0, 0, 0, 40, 0, 0, 30, 20, 50]},
                  'modes': [[0]] * 8 + [[1]]},
                 {'name': 'clamp', 'type': 'GenericJoint', 'markers': ['m0', 'm1']}],
        markers=[{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'g'},
                 {'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b'}],
        sensors=[{'name': 'tip', 'type': 'SensorBody', 'object': 'b', 'localPosition': points[2],
                  'outputVariable': 'Position'}],
        outputs=[{'name': 'tip', 'sensor': 'tip', 'component': 2}])


def inclined_pendulum():
    """A rod of mass 1 and length 4 on a hinge at its end whose axis is inclined by 45 degrees,
    described about the hinge: J = 0.1 + 1 * 2^2 across it."""
    half = math.sqrt(0.5)
    frame = [[1, 0, 0], [0, half, -half], [0, half, half]]
    return dict(document(
        'inclined pendulum', nodes=[{'name': 'n', 'type': 'NodeRigidBodyEP'}],
        objects=[{'name': 'g', 'type': 'Ground'},
                 {'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,
                  'physicsInertia': [0.04, 4.1, 4.1, 0, 0, 0], 'physicsCenterOfMass': [2, 0, 0]},
                 {'name': 'hinge', 'type': 'RevoluteJointZ', 'markers': ['m0', 'm1'],
                  'rotationMarker0': frame, 'rotationMarker1': frame}],
        markers=[{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'g'},
                 {'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b'}]),
        gravity=[0, 0, -9.80665], solver={'stepSize': 1e-6})


def jointed_body(name, joint, spring, load):
    """A body with a mass and inertia of 1 on the ground 'm0', with one joint, spring and load."""
    return document(
        name, nodes=[{'name': 'n', 'type': 'NodeRigidBodyEP'}],
        objects=[{'name': 'g', 'type': 'Ground'},
                 {'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,
                  'physicsInertia': [1, 1, 1, 0, 0, 0]},
                 {'name': 'joint', 'markers': ['m0', 'm1'], **joint},
                 {'name': 'spring', 'markers': ['m0', 'm1'], 'stiffness': 2000, 'damping': 20,
                  **spring}],
        markers=[{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'g'},
                 {'name': 'm1', 'type': 'MarkerNodeRigid', 'node': 'n'}],
        loads=[{'name': 'F', 'marker': 'm1', **load}])


def linear_spring():
    return jointed_body('spring on a slide', {'type': 'PrismaticJointX'},
                        {'type': 'LinearSpringDamper'},
                        {'type': 'LoadForceVector', 'load': [1, 0, 0]})


def torsional_spring():
    """The last Euler parameter is the sine of half the angle."""
    return jointed_body('spring on a hinge', {'type': 'RevoluteJointZ'},
                        {'type': 'TorsionalSpringDamper'},
                        {'type': 'LoadTorqueVector', 'load': [0, 0, 1]})


def cartesian_spring():
    """A mass of 5 kg, pushed down by 5 N."""
    nodes, objects = point([0, 0, 0])
    nodes.append({'name': 'g', 'type': 'NodePointGround'})
    objects[0]['physicsMass'] = 5
    objects.append({'name': 'spring', 'type': 'CartesianSpringDamper', 'markers': ['m0', 'm1'],
                    'stiffness': [5000] * 3, 'damping': [0, 250, 0]})
    return document('springs along the axes', nodes=nodes, objects=objects, markers=[
        {'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'g'},
        {'name': 'm1', 'type': 'MarkerNodePosition', 'node': 'n'}],
        loads=[{'name': 'F', 'type': 'LoadForceVector', 'marker': 'm1', 'load': [0, -5, 0]}])


def six_way_spring():
    """A body of 1 kg that leaves the origin at 1000 m/s."""
    def diagonal(*values):
        return [[v if i == j else 0 for j in range(6)] for i, v in enumerate(values)]
    model = jointed_body('springs in six directions', {'type': 'SphericalJoint'},
                         {'type': 'RigidBodySpringDamper',
                          'stiffness': diagonal(500, 500, 500, 0, 0, 0),
                          'damping': diagonal(0, 5, 0, 0, 0, 0)},
                         {'type': 'LoadForceVector', 'load': [0, 0, 0]})
    model['nodes'][0]['initialVelocities'] = [0, 1000, 0, 0, 0, 0, 0]
    model['objects'] = [o for o in model['objects'] if o['name'] != 'joint']
    return model


def hung_body(position, spring, local, *joints):
    """A body of 1 kg in a field of gravity, released at rest; its marker 'm1' at a local position,
    the ground's 'm0' at the origin."""
    return document(
        'hung body', gravity=[0, 0, -9.80665],
        nodes=[{'name': 'n', 'type': 'NodeRigidBodyEP',
                'referenceCoordinates': [*position, 1, 0, 0, 0]}],
        objects=[{'name': 'g', 'type': 'Ground'},
                 {'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,
                  'physicsInertia': [0.04, 0.1, 0.1, 0, 0, 0]},
                 *({'name': 'joint%d' % i, 'markers': ['m0', 'm1'], **joint}
                   for i, joint in enumerate(joints)),
                 {'name': 'spring', 'markers': ['m0', 'm1'], **spring}],
        markers=[{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'g'},
                 {'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition': local}],
        solver={'stepSize': 1e-3})


def spring_point():
    return hung_body([0, 2, 0], {'type': 'SpringDamper', 'referenceLength': 2, 'stiffness': 100,
                                 'damping': 5}, [0, 0, 0])


def torsion_hinge():
    z_is_y = {'rotationMarker%d' % k: [[1, 0, 0], [0, 0, 1], [0, -1, 0]] for k in range(2)}
    return hung_body([2, 0, 0], {'type': 'TorsionalSpringDamper', 'stiffness': 200, 'damping': 10,
                                 **z_is_y}, [-2, 0, 0], {'type': 'RevoluteJointZ', **z_is_y})


def static_by_damping():
    model = document(
        'rest by damping', nodes=[node_1d(referenceCoordinates=[0.5], initialCoordinates=[-0.08],
                                          initialVelocities=[1])], markers=markers(),
        objects=[{'name': 'mass', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 1.6},
                 spring(stiffness=4000, damping=8)],
        loads=[{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 80}])
    model['solver'] = {'integrator': 'ExplicitEuler', 'stepSize': 1e-4}
    return model


def newton_gravity():
    """A quarter of a circle around a mass of 1e25 kg, in units of 100 km: radius, time of the end
    from the circular speed."""
    radius, mass = 1e5, 1e25
    speed = math.sqrt(6.6743e-11 * mass / radius)
    nodes, objects = point([radius, 0, 0], initialVelocities=[0, speed, 0])
    nodes.append({'name': 'sun', 'type': 'NodePointGround'})
    objects[0]['physicsMass'] = 1e3
    objects.append({'name': 'pull', 'type': 'Gravity', 'markers': ['m0', 'm1'], 'mass0': mass,
                    'mass1': 1e3})
    model = document('orbit', nodes=nodes, objects=objects, markers=[
        {'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'sun'},
        {'name': 'm1', 'type': 'MarkerNodePosition', 'node': 'n'}])
    model['solver'] = {'integrator': 'RK67', 'stepSize': radius * math.pi / 2 / speed / 100}
    return model


def nonlinear_spring():
    return document(
        'spring with a law', nodes=[node_1d(referenceCoordinates=[0])], markers=markers(),
        objects=[{'name': 'mass', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 5},
                 spring(stiffness=5000, damping=80,
                        springForceUserFunction='=0.1*k*u + k*u^3 + d*v')],
        loads=[{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 1}])


def generic_ode2():
    """Two masses of 0.5 kg with three coordinates each, coupled by springs along each axis."""
    def coupled(diagonal, beside):
        return [[diagonal * (2 if i < 3 else 1) if i == j else -beside if abs(i - j) == 3 else 0
                 for j in range(6)] for i in range(6)]
    model = document(
        'two masses',
        nodes=[{'name': 'a', 'type': 'NodeGenericODE2', 'referenceCoordinates': [0.5, 0, 0]},
               {'name': 'b', 'type': 'NodeGenericODE2', 'referenceCoordinates': [1, 0, 0]}],
        objects=[{'name': 'o', 'type': 'GenericODE2', 'nodes': ['a', 'b'],
                  'massMatrix': {'diag': [0.5] * 6}, 'stiffnessMatrix': coupled(5000, 5000),
                  'dampingMatrix': coupled(50, 50), 'forceVector': [0, 0, 0, 10, 0, 0]}])
    model['solver'] = {'integrator': 'TrapezoidalIndex2', 'stepSize': 0.01}
    return model


def independent_masses(n):
    """n masses of 1 kg, each on a spring of its own; one output holds all their coordinates."""
    model = document(
        'independent masses',
        nodes=[{'name': 'n', 'type': 'NodeGenericODE2', 'referenceCoordinates': [0.1] * n,
                'initialCoordinates_t': [1] * n}],
        objects=[{'name': 'o', 'type': 'GenericODE2', 'nodes': ['n'],
                  'massMatrix': {'diag': [1] * n}, 'stiffnessMatrix': {'diag': [100] * n}}],
        sensors=[{'name': 'all', 'type': 'SensorNode', 'node': 'n',
                  'outputVariable': 'Coordinates'}],
        outputs=[{'name': 'all', 'sensor': 'all'}])
    model['solver'] = {'integrator': 'RK44', 'stepSize': 0.001}
    return model


def generic_ode1():
    model = document(
        'oscillator of first order',
        nodes=[{'name': 'n', 'type': 'NodeGenericODE1', 'referenceCoordinates': [0, 0],
                'initialCoordinates': [1, 0]}],
        objects=[{'name': 'o', 'type': 'GenericODE1', 'nodes': ['n'],
                  'systemMatrix': [[0, 1], [-100, 0]], 'rhsVector': [0, 1]}])
    model['solver'] = {'integrator': 'RK44', 'stepSize': 0.01}
    return model


def oscillator(**solver):
    """A mass on a spring with the input 'force', the outputs x and v and the parameter k."""
    return document(
        'driven oscillator', parameters={'k': 100, 'd': 1},
        nodes=[node_1d(referenceCoordinates=[1], initialCoordinates=[0.5],
                       initialVelocities=[0.5])],
        objects=[{'name': 'mass', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 1},
                 spring(stiffness='=k', damping='=d')],
        markers=markers(),
        loads=[{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 0}],
        sensors=[{'name': 'p', 'type': 'SensorBody', 'object': 'mass',
                  'outputVariable': 'Position'},
                 {'name': 'v', 'type': 'SensorBody', 'object': 'mass',
                  'outputVariable': 'Velocity'}],
        inputs=[{'name': 'force', 'load': 'F'}],
        outputs=[{'name': 'x', 'sensor': 'p', 'component': 0},
                 {'name': 'v', 'sensor': 'v', 'component': 0}],
        solver={**ALPHA, 'stepSize': 1e-3, **solver})


def nonlinear_oscillator(**solver):
    model = oscillator(**solver)
    model['objects'][1]['springForceUserFunction'] = '=0.1*k*u + 3*k*u^3 + d*v'
    return model


def turned_mass():
    """A Mass1D whose line is turned, with a spring, so that every output variable differs."""
    model = oscillator()
    # the local x axis points along y, the local y along z, the local z along x
    model['objects'][0].update(referencePosition=[10, 20, 30],
                               referenceRotation=[[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    return model


def driven():
    """The oscillator under a load that is an expression in time."""
    model = oscillator()
    model['loads'][0]['load'] = '=10*sin(7*t)'
    del model['inputs']
    return model


def ball():
    return lti(next(c for c in lti_cases() if c['name'] == 'ball'))


# linear systems with impacts: what their samples in tests/verify/nonsmooth_lti.inc were taken from
CHAIN = {'n': 10, 'h': 1e-3, 'b': [1e-3], 'e': 0.5}
LTI = {
    'ball': {'h': 5e-3, 'b': [0.0], 'e': 0.9},
    'ball_radius': {'h': 5e-3, 'b': [-0.1], 'e': 0.9},
    'chain10_none': {**CHAIN, 'free': True},
    'chain10_last': CHAIN,
    'beads10': {'n': 10, 'h': 5e-4, 'e': 0.9},
    'impacting_bar': {'n': 100, 'h': 2e-6, 'e': 0.0, 'gamma': 0.0, 't0': 1e-8, 'E': 210e9,
                      'S': 0.000314, 'rho': 7800.0, 'L': 1.0, 'q0': 5e-5, 'v0': -0.1},
}


def dense_masses(n):
    """Coordinates of which each acts on every other: modes take n³."""
    stiffness = [[round(100 / (1 + abs(j - k)), 3) for j in range(n)] for k in range(n)]
    return document('dense', objects=[
        {'name': 'o', 'type': 'LagrangianLinearTIDS', 'M': {'diag': [1] * n}, 'K': stiffness,
         'q0': [0] * n, 'v0': [0] * n}], solver={'integrator': 'MoreauJean', 'stepSize': 1e-3})


def endless_fall():
    """A box that falls for 0.45 s: the step in which it meets the floor takes minutes (a thousand
    million sweeps for what no rounding fulfils)."""
    return document('endless', gravity=[0, 0, -9.81], nodes=[
        {'name': 'n', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': [0, 0, 1.1, 1, 0, 0, 0]}],
        objects=[
            {'name': 'ground', 'type': 'Ground', 'geometry': [{'shape': 'Plane'}]},
            {'name': 'box', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,
             'physicsInertia': [0.01, 0.01, 0.01, 0, 0, 0],
             'geometry': [{'shape': 'Box', 'size': [0.2, 0.2, 0.2]}]}],
        solver={'integrator': 'MoreauJean', 'stepSize': 1e-3,
                'vi': {'type': 'jacobi', 'tolerance': 1e-300, 'maxIterations': 10**9}})


def lti_cases():
    """[{name, model, samples: [{step, q, v, impulse}]}]"""
    path = os.path.join(ROOT, 'tests', 'verify', 'nonsmooth_lti.inc')
    with open(path, encoding='utf-8') as f:
        text = f.read()
    number = r'[-+0-9.e]+'
    row = re.compile(r'\{(\d+),' + r'\s*\{([^{}]*)\},' * 2 + r'\s*\{([^{}]*)\}\}', re.S)
    for name, model in LTI.items():
        body = re.search(r'%s_samples\[\] = \{(.*?)\};' % name, text, re.S).group(1)
        rows = int(re.search(r'%s_rows = (\d+)' % name, text).group(1))
        samples = []
        for match in row.finditer(body):
            q, v, impulse = ([float(x) for x in re.findall(number, part)]
                             for part in match.groups()[1:])
            samples.append({'step': int(match.group(1)), 'q': q, 'v': v,
                            'impulse': impulse[:rows]})
        yield {'name': name, 'model': model, 'samples': samples}


def tridiagonal(n, scale, first, inner, last, beside):
    """Written as the upper triangle, the diagonal and the lower one of a coo matrix."""
    rows = []
    for i in range(n):
        value = first if i == 0 else last if i == n - 1 else inner
        rows += [[i, j, scale * (value if i == j else beside)]
                 for j in (i - 1, i, i + 1) if 0 <= j < n]
    return {'shape': [n, n], 'coo': rows}


def lti(case):
    """A case of lti_cases as a model document."""
    m, name = case['model'], case['name']
    n = m.get('n', 1)
    kind = name.split('1')[0] if name != 'impacting_bar' else name
    system, rows, b = {}, None, [0.0]
    if kind == 'chain':
        system = {'M': {'diag': [1.0] * n}, 'K': tridiagonal(n, 1000.0, 2.0, 2.0, 1.0, -1.0),
                  'C': tridiagonal(n, 0.1, 2.0, 2.0, 1.0, -1.0), 'q0': [0.0] * n,
                  'v0': [0.0] * n, 'Fext': [0.0] * (n - 1) + [1.0]}
        rows = None if 'free' in m else {'shape': [1, n], 'coo': [[0, n - 1, -1.0]]}
        b = m['b']
    elif kind == 'beads':
        system = {'M': {'diag': [1.0] * n}, 'q0': [1 + 0.25 * i for i in range(n)],
                  'v0': [0.0] * n, 'Fext': [-9.81] * n}
        rows = {'shape': [n, n], 'coo': [[i, j, 1.0 if i == j else -1.0] for i in range(n)
                                         for j in (i - 1, i) if j >= 0]}
        b = [-0.1] + [-0.2] * (n - 1)
    elif kind == 'impacting_bar':
        length = m['L'] / n
        system = {'M': tridiagonal(n, m['rho'] * m['S'] * length, 1 / 3, 2 / 3, 1 / 3, 1 / 6),
                  'K': tridiagonal(n, m['E'] * m['S'] / length, 1.0, 2.0, 1.0, -1.0),
                  'q0': [m['q0']] * n, 'v0': [m['v0']] * n}
        rows = {'shape': [1, n], 'coo': [[0, 0, 1.0]]}
    else:
        system = {'M': [[1.0]], 'q0': [1.0], 'v0': [0.0], 'Fext': [-9.81]}
        rows, b = [[1.0]], m['b']
    model = {'mechd': 1, 'name': name,
             'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', **system}],
             'solver': {'integrator': 'MoreauJean', 'stepSize': m['h'], 'theta': 0.5,
                        'gamma': m.get('gamma', 0.5), 'startTime': m.get('t0', 0.0)}}
    if rows:
        model['interactions'] = [{'name': 'c', 'systems': ['s'],
                                  'relation': {'type': 'LagrangianLinearTIR', 'H': rows, 'b': b},
                                  'law': {'type': 'NewtonImpact', 'e': m['e']}}]
    return model


def picked(case, values):
    """The coordinates that a sample of the case lists."""
    n, listed = len(values), len(case['samples'][0]['q'])
    return [values[0], values[n // 2], values[n - 1]] if listed == 3 and n > 3 else values


def bar(velocities, **solver):
    """A pendulum of length 1 m, its body's velocities given."""
    return {'mechd': 1,
            'nodes': [{'name': 'n', 'type': 'NodeRigidBody2D', 'referenceCoordinates': [1, 0, 0],
                       'initialVelocities': velocities}],
            'objects': [{'name': 'b', 'type': 'RigidBody2D', 'node': 'n', 'physicsMass': 1,
                         'physicsInertia': 0.1}, {'name': 'g', 'type': 'Ground'},
                        {'name': 'pin', 'type': 'RevoluteJoint2D', 'markers': ['fixed', 'end']}],
            'markers': [{'name': 'fixed', 'type': 'MarkerBodyPosition', 'object': 'g'},
                        {'name': 'end', 'type': 'MarkerBodyPosition', 'object': 'b',
                         'localPosition': [-1, 0, 0]}],
            'solver': {'stepSize': 0.001, **solver}}


def pendulum(rods, **solver):
    """1.5 kg at (2, 0) on rods of these lengths to the origin."""
    return {'mechd': 1, 'gravity': [0, -10, 0],
            'nodes': [{'name': 'g', 'type': 'NodePointGround'},
                      {'name': 'n', 'type': 'NodePoint2D', 'referenceCoordinates': [2, 0]}],
            'objects': [{'name': 'b', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 1.5}] +
                       [{'name': 'rod%d' % k, 'type': 'DistanceConstraint',
                         'markers': ['mg', 'mn'], 'distance': length}
                        for k, length in enumerate(rods)],
            'markers': [{'name': 'mg', 'type': 'MarkerNodePosition', 'node': 'g'},
                        {'name': 'mn', 'type': 'MarkerNodePosition', 'node': 'n'}],
            'solver': {'stepSize': 0.01, **solver}}


IMPLICIT = ('GeneralizedAlpha', 'HHT', 'Newmark', 'TrapezoidalIndex2', 'ImplicitEuler',
            'MoreauJean')


def clutch(integrator, masses=(2, 3), speeds=(4, -1), level=True, **more):
    """Two masses on a line, and a constraint between their coordinates."""
    return {
        'mechd': 1,
        'nodes': [{'name': 'n%d' % k, 'type': 'Node1D', 'initialVelocities': [speeds[k]]}
                  for k in (0, 1)],
        'objects': [{'name': 'm%d' % k, 'type': 'Mass1D', 'node': 'n%d' % k,
                     'physicsMass': masses[k]} for k in (0, 1)] + [
            {'name': 'clutch', 'type': 'CoordinateConstraint', 'markers': ['x0', 'x1'],
             'velocityLevel': level, 'active': False, **more}],
        'markers': [{'name': 'x%d' % k, 'type': 'MarkerNodeCoordinate', 'node': 'n%d' % k,
                     'coordinate': 0} for k in (0, 1)],
        'solver': {'integrator': integrator, 'stepSize': 1e-3,
                   **({'spectralRadius': 0.9} if integrator == 'GeneralizedAlpha' else {})}}
