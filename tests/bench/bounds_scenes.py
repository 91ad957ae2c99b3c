"""Models and problems of bounds.py: what touches, what has no solution, what is badly scaled."""
import random

PLANE = {'name': 'ground', 'type': 'Ground', 'geometry': [{'shape': 'Plane', 'material': 'm'}]}


def document(**parts):
    return {'mechd': 1, **parts}


def moreau(**settings):
    return {'integrator': 'MoreauJean', **settings}


def box_inertia(mass, size):
    """About the centre, with the products, which are 0."""
    a, b, c = (mass / 12 * x * x for x in size)
    return [b + c, a + c, a + b, 0, 0, 0]


# --- requests -------------------------------------------------------------------------------------

ENDLESS = {'N': {'shape': [3, 3], 'coo': [[0, 2, 1e16]]}, 'r': [-2, 1, -0.5]}
MASS = {'nodes': [{'name': 'n', 'type': 'Node1D'}],
        'objects': [{'name': 'm', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 1}]}
GROUND = {'name': 'g', 'type': 'MarkerGroundCoordinate'}
AT = {'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 0}
FAULTY = {'name': 'j', 'type': 'CoordinateVectorConstraint', 'markers': ['x', 'g'],
          'scalingMarker0': [[1, 2, 3]]}
HELD = {'name': 'j', 'type': 'CoordinateConstraint', 'markers': ['g', 'x']}
CHECKED = {
    'an input on a ground coordinate': document(
        **MASS, markers=[GROUND], inputs=[{'name': 'u', 'marker': 'g'}]),
    'a load on a ground coordinate': document(
        **MASS, markers=[GROUND],
        loads=[{'name': 'l', 'type': 'LoadCoordinate', 'marker': 'g', 'load': 1}]),
    'a faulty joint beside a marker sensor': document(
        nodes=MASS['nodes'], objects=MASS['objects'] + [FAULTY], markers=[GROUND, AT],
        sensors=[{'name': 's', 'type': 'SensorMarker', 'marker': 'x',
                  'outputVariable': 'Coordinates'}]),
    'EventDriven where every joint is a pin': document(
        nodes=MASS['nodes'], objects=MASS['objects'] + [HELD], markers=[GROUND, AT],
        solver={'integrator': 'EventDriven'})}
FIRST_ORDER = document(
    nodes=[{'name': 'n', 'type': 'NodeGenericODE1', 'numberOfODE1Coordinates': 2,
            'referenceCoordinates': [1, 0]}],
    objects=[{'name': 'o', 'type': 'GenericODE1', 'nodes': ['n'],
              'systemMatrix': [[0, 1], [-1, 0]]}])


# --- contacts -------------------------------------------------------------------------------------

def sphere(theta, h):
    """Dropped 1 m, without restitution; its speed upwards is the output."""
    return document(
        gravity=[0, 0, -9.81], materials=[{'name': 'm'}],
        nodes=[{'name': 'n', 'type': 'NodeRigidBodyEP',
                'referenceCoordinates': [0, 0, 1.1, 1, 0, 0, 0]}],
        objects=[PLANE, {'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,
                         'physicsInertia': [0.004] * 3 + [0] * 3,
                         'geometry': [{'shape': 'Sphere', 'radius': 0.1, 'material': 'm'}]}],
        sensors=[{'name': 'v', 'type': 'SensorBody', 'object': 'b',
                  'outputVariable': 'Velocity'}],
        outputs=[{'name': 'up', 'sensor': 'v', 'component': 2}],
        solver=moreau(theta=theta, stepSize=h))


def rod(theta, h):
    """On a hinge, let go from the horizontal: a ball at its end meets a box under it."""
    return document(
        gravity=[0, -9.81, 0],
        nodes=[{'name': 'n', 'type': 'NodeRigidBody2D', 'referenceCoordinates': [0.5, 0, 0]}],
        objects=[{'name': 'ground', 'type': 'Ground', 'geometry': [
                     {'shape': 'Box', 'size': [0.2, 2, 2], 'position': [0, -1.2, 0]}]},
                 {'name': 'b', 'type': 'RigidBody2D', 'node': 'n', 'physicsMass': 1,
                  'physicsInertia': 0.0833, 'geometry': [
                      {'shape': 'Sphere', 'radius': 0.05, 'position': [0.5, 0, 0]}]},
                 {'name': 'j', 'type': 'RevoluteJoint2D', 'markers': ['mg', 'm']}],
        markers=[{'name': 'mg', 'type': 'MarkerBodyRigid', 'object': 'ground'},
                 {'name': 'm', 'type': 'MarkerBodyRigid', 'object': 'b',
                  'localPosition': [-0.5, 0, 0]}],
        sensors=[{'name': 'w', 'type': 'SensorNode', 'node': 'n',
                  'outputVariable': 'Coordinates_t'}],
        outputs=[{'name': 'up', 'sensor': 'w', 'component': 2}],
        solver=moreau(theta=theta, stepSize=h))


def thrown(seed, theta, h, mu, e, shapes=True):
    """Four spheres and four cubes without gravity, thrown at each other, the ground and a wall; of
    every second seed, hinged in pairs of a sphere and a cube, which begin with one velocity.
    Without shapes nothing touches."""
    dice = random.Random(seed)
    surface = {'friction': mu, 'restitution': e}
    nodes, objects, markers = [], [], []
    for i in range(8):
        if i % 2 == 0 or seed % 2 == 0:
            velocity = [dice.uniform(-4, 4) for _ in range(6)]
        if seed % 2:
            velocity[3:] = [0] * 3
        place = [1.1 * (i % 4) + dice.uniform(-0.1, 0.1), 1.1 * (i // 4) + dice.uniform(-0.1, 0.1),
                 dice.uniform(0.5, 0.7)]
        mass = dice.uniform(0.5, 3)
        shape = ({'shape': 'Box', 'size': [0.9] * 3} if i % 2 else
                 {'shape': 'Sphere', 'radius': 0.5})
        nodes.append({'name': 'n%d' % i, 'type': 'NodeRigidBodyRotVecLG',
                      'referenceCoordinates': place + [0] * 3, 'initialVelocities': velocity[:]})
        objects.append({'name': 'b%d' % i, 'type': 'RigidBody', 'node': 'n%d' % i,
                        'physicsMass': mass, 'physicsInertia': [0.1 * mass] * 3 + [0] * 3,
                        'geometry': [{**shape, 'material': surface}] if shapes else []})
        if seed % 2 and i % 2:
            arm = [(b - a) / 2 for a, b in zip(nodes[i - 1]['referenceCoordinates'], place)]
            for k, sign in ((i - 1, 1), (i, -1)):
                markers.append({'name': 'm%d' % k, 'type': 'MarkerBodyRigid', 'object': 'b%d' % k,
                                'localPosition': [sign * a for a in arm]})
            objects.append({'name': 'j%d' % i, 'type': 'SphericalJoint',
                            'markers': ['m%d' % (i - 1), 'm%d' % i]})
    ground = {'name': 'ground', 'type': 'Ground', 'geometry': [
        {'shape': 'Plane', 'material': surface},
        {'shape': 'Box', 'size': [1, 9, 9], 'position': [-1.2, 0, 0], 'material': surface}]}
    if not shapes:
        del ground['geometry']
    return document(nodes=nodes, objects=[ground] + objects, markers=markers,
                    contact={'minBounceSpeed': 0},
                    solver=moreau(theta=theta, stepSize=h, vi={'tolerance': 1e-12}))


def lid(**settings):
    """A ball on the ground under a lid that is led down at 0.5 m/s: they meet at t = 0.2."""
    def body(name, node, shape):
        return {'name': name, 'type': 'RigidBody', 'node': node, 'physicsMass': 1,
                'physicsInertia': [0.1] * 3 + [0] * 3, 'geometry': [shape]}
    return document(
        nodes=[{'name': 'bn', 'type': 'NodeRigidBodyEP',
                'referenceCoordinates': [0, 0, 0.5, 1, 0, 0, 0]},
               {'name': 'ln', 'type': 'NodeRigidBodyEP',
                'referenceCoordinates': [0, 0, 1.2, 1, 0, 0, 0],
                'initialVelocities': [0, 0, -0.5, 0, 0, 0, 0]}],
        markers=[GROUND, {'name': 'm', 'type': 'MarkerNodeCoordinate', 'node': 'ln',
                          'coordinate': 2}],
        materials=[{'name': 'm'}],
        objects=[PLANE, body('ball', 'bn', {'shape': 'Sphere', 'radius': 0.5}),
                 body('lid', 'ln', {'shape': 'Box', 'size': [1, 1, 0.2]}),
                 {'name': 'down', 'type': 'CoordinateConstraint', 'markers': ['g', 'm'],
                  'offsetUserFunction': '=-0.5*t', 'offsetUserFunction_t': '=-0.5+0*t'}],
        contact={'jointed': True}, solver=moreau(stepSize=0.01, **settings))


def walls(**settings):
    """A bead between two walls that are led together at 0.5 m/s each: they meet it at t = 0.4."""
    def led(side, sign):
        node, marker = side[0] + 'n', side[0]
        speed = '%g' % (-0.5 * sign)
        return ({'name': node, 'type': 'NodePoint', 'referenceCoordinates': [0.4 * sign, 0, 0],
                 'initialVelocities': [-0.5 * sign, 0, 0]},
                {'name': marker, 'type': 'MarkerNodeCoordinate', 'node': node, 'coordinate': 0},
                {'name': side, 'type': 'MassPoint', 'node': node, 'physicsMass': 1,
                 'geometry': [{'shape': 'Box', 'size': [0.2, 1, 1]}]},
                {'name': 'lead-' + side, 'type': 'CoordinateConstraint', 'markers': ['g', marker],
                 'offsetUserFunction': '=%s*t' % speed,
                 'offsetUserFunction_t': '=%s+0*t' % speed})
    left, right = led('left', -1), led('right', 1)
    return document(
        nodes=[{'name': 'bn', 'type': 'NodePoint'}, left[0], right[0]],
        markers=[GROUND, left[1], right[1]],
        objects=[{'name': 'bead', 'type': 'MassPoint', 'node': 'bn', 'physicsMass': 0.1,
                  'geometry': [{'shape': 'Sphere', 'radius': 0.1}]},
                 left[2], right[2], left[3], right[3]],
        contact={'jointed': True}, solver=moreau(stepSize=0.01, **settings))


def led(**settings):
    """A ball without a turn that is led into the ground at 0.5 m/s: it meets it at t = 0.2."""
    return document(
        nodes=[{'name': 'n', 'type': 'NodePoint', 'referenceCoordinates': [0, 0, 0.3],
                'initialVelocities': [0, 0, -0.5]}],
        markers=[GROUND, {'name': 'm', 'type': 'MarkerNodeCoordinate', 'node': 'n',
                          'coordinate': 2}],
        materials=[{'name': 'm'}],
        objects=[PLANE, {'name': 'b', 'type': 'MassPoint', 'node': 'n', 'physicsMass': 1,
                         'geometry': [{'shape': 'Sphere', 'radius': 0.2}]},
                 {'name': 'down', 'type': 'CoordinateConstraint', 'markers': ['g', 'm'],
                  'offsetUserFunction': '=-0.5*t', 'offsetUserFunction_t': '=-0.5+0*t'}],
        contact={'jointed': True}, solver=moreau(stepSize=0.01, **settings))


STOPPED = document(
    objects=[{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': {'diag': [1, 3]}, 'q0': [0.1, 0],
              'v0': [-0.5, 0], 'prescribed': [{'coordinate': 0, 'velocity': -0.5}]}],
    interactions=[{'name': 'stop', 'systems': ['s'], 'law': {'type': 'NewtonImpact', 'e': 0},
                   'relation': {'type': 'LagrangianLinearTIR', 'H': [[1, 0]]}}],
    solver=moreau(stepSize=0.01))


def dominoes(theta):
    """Six of 20 x 100 x 200 mm, 80 mm apart, the first pushed over."""
    nodes = [{'name': 'n%d' % i, 'type': 'NodeRigidBodyEP',
              'referenceCoordinates': [0.08 * i, 0, 0.1, 1, 0, 0, 0],
              'initialVelocities': [0 if i else 0.2, 0, 0, 0, 0, 0 if i else 2, 0]}
             for i in range(6)]
    bodies = [{'name': 'b%d' % i, 'type': 'RigidBody', 'node': 'n%d' % i, 'physicsMass': 0.4,
               'physicsInertia': [1.67e-3, 1.35e-3, 3.47e-4, 0, 0, 0],
               'geometry': [{'shape': 'Box', 'size': [0.02, 0.1, 0.2], 'material': 'm'}]}
              for i in range(6)]
    return document(gravity=[0, 0, -9.81], materials=[{'name': 'm', 'friction': 0.4}],
                    nodes=nodes, objects=[PLANE] + bodies,
                    solver=moreau(theta=theta, stepSize=0.005))


def drop(count, width=0.8, radius=0.05):
    """Spheres in layers above a box of planes, each a little off its place."""
    dice, side = random.Random(1), int(width / (2.2 * radius))
    mass = 4 / 3 * 3.141592653589793 * radius ** 3 * 1000
    planes = [{'shape': 'Plane', 'material': 'm'}]
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        planes.append({'shape': 'Plane', 'material': 'm', 'normal': [-x, -y, 0],
                       'position': [x * width / 2, y * width / 2, 0]})
    nodes, bodies = [], []
    for i in range(count):
        a, b, layer = i // side % side, i % side, i // side ** 2
        at = [(k + 0.5) * width / side - width / 2 + dice.uniform(-1e-3, 1e-3) for k in (a, b)]
        nodes.append({'name': 'n%d' % i, 'type': 'NodeRigidBodyEP',
                      'referenceCoordinates': at + [0.08 + 2.3 * radius * layer, 1, 0, 0, 0]})
        bodies.append({'name': 'b%d' % i, 'type': 'RigidBody', 'node': 'n%d' % i,
                       'physicsMass': mass, 'physicsInertia': [0.4 * mass * radius ** 2] * 3 +
                       [0] * 3, 'geometry': [{'shape': 'Sphere', 'radius': radius,
                                              'material': 'm'}]})
    return document(gravity=[0, 0, -9.81], materials=[{'name': 'm', 'friction': 0.4}],
                    nodes=nodes, objects=[{'name': 'box', 'type': 'Ground', 'geometry': planes}] +
                    bodies, solver=moreau(stepSize=0.005))


# --- what balances --------------------------------------------------------------------------------

def cables(count, axial=1e8, bending=50, length=4, density=3):
    """A clamped cable under its weight, whose rounding is beyond a residual of fixed size."""
    each = length / count
    nodes = [{'name': 'n%d' % k, 'type': 'NodePoint2DSlope1',
              'referenceCoordinates': [k * each, 0, 1, 0]} for k in range(count + 1)]
    elements = [{'name': 'c%d' % k, 'type': 'ANCFCable2D', 'nodes': ['n%d' % k, 'n%d' % (k + 1)],
                 'physicsLength': each, 'physicsMassPerLength': density,
                 'physicsAxialStiffness': axial, 'physicsBendingStiffness': bending}
                for k in range(count)]
    clamp = [{'name': 'k%d' % k, 'type': 'CoordinateConstraint', 'markers': ['g', 'h%d' % k]}
             for k in (0, 1, 3)]
    held = [{'name': 'h%d' % k, 'type': 'MarkerNodeCoordinate', 'node': 'n0', 'coordinate': k}
            for k in (0, 1, 3)]
    return document(gravity=[0, -9.81, 0], nodes=nodes, objects=elements + clamp,
                    markers=[GROUND] + held,
                    solver={'integrator': 'GeneralizedAlpha', 'stepSize': 1e-3})


def on_spring(integrator='GeneralizedAlpha', **law):
    """A mass at rest on a spring."""
    spring = {'name': 'k', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'], **law}
    return document(nodes=MASS['nodes'], objects=MASS['objects'] + [spring],
                    markers=[GROUND, AT], solver={'integrator': integrator, 'stepSize': 0.01})


POINT = [{'name': 'n', 'type': 'NodePoint', 'initialVelocities': [0.6, 0, 0.8]}]
POINTS = [{'name': 'a', 'type': 'MarkerBodyPosition', 'object': 'ground'},
          {'name': 'b', 'type': 'MarkerBodyPosition', 'object': 'b'}]


def point_and(joint, **fields):
    """A mass point, and an object between it and the origin; begins at the place (x, 0, 0)."""
    return document(
        nodes=[{**POINT[0], **fields}], markers=POINTS,
        objects=[{'name': 'ground', 'type': 'Ground'},
                 {'name': 'b', 'type': 'MassPoint', 'node': 'n', 'physicsMass': 1},
                 {'name': 'o', 'markers': ['a', 'b'], **joint}],
        solver={'integrator': 'GeneralizedAlpha', 'stepSize': 5e-4})


SPRING = point_and({'type': 'SpringDamper', 'stiffness': 4, 'damping': 0.5})
ROD = point_and({'type': 'DistanceConstraint', 'distance': 1},
                referenceCoordinates=[1, 0, 0], initialVelocities=[2, 1, 0])
WRENCH = document(
    nodes=[{'name': 'n', 'type': 'NodeRigidBodyEP'}],
    objects=[{'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,
              'physicsInertia': [1, 1, 1, 0, 0, 0]}],
    markers=[{'name': 'm', 'type': 'MarkerBodyRigid', 'object': 'b'}],
    inputs=[{'name': 'w', 'marker': 'm'}, {'name': 'f', 'marker': 'm', 'component': 0},
            {'name': 't', 'marker': 'm', 'component': 3}])
