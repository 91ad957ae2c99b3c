"""Every output variable of ObjectMass1D (and of a rotor) in every configuration and at any local
position, over both doors, against the closed form: p = p_ref + R0 ([q, 0, 0] + local)."""
import math
import unittest
import models
from harness import HttpDoor, Served, ZmqDoor

P_REF = (10.0, 20.0, 30.0)
R0 = ((0, 0, 1), (1, 0, 0), (0, 1, 0))
REFERENCE, START_Q, START_V = 1.0, 1.5, 0.5
CONFIGURATIONS = ('reference', 'initial', 'current', 'startOfStep')
LOCALS = ((0, 0, 0), (0.25, -1, 3), (0, 0, 1e-3))


def turned(vector):
    return [sum(R0[i][j] * vector[j] for j in range(3)) for i in range(3)]


def rotor():
    model = models.rotor1d()
    model['objects'][0].update(referencePosition=list(P_REF),
                               referenceRotation=[list(r) for r in R0])
    return model


class Outputs(Served):
    def coordinates(self, door, i):
        """q and v of each configuration: the state before the last communication step too."""
        door.call('step', id=i, size=0.1)
        start = door.call('get-state', id=i)[1]
        door.call('step', id=i, size=0.1)
        now = door.call('get-state', id=i)[1]
        self.assertNotEqual(start['q'], now['q'])
        return {'reference': (REFERENCE, 0.0), 'initial': (START_Q, START_V),
                'current': (now['q'][0], now['v'][0]),
                'startOfStep': (start['q'][0], start['v'][0])}

    def value(self, door, i, name, variable, **more):
        status, reply = door.call('item-output', id=i, name=name, variable=variable, **more)
        self.assertEqual(status, 200, reply)
        value = reply['value']
        return value if isinstance(value, list) else [value]

    def near(self, found, expected, what):
        self.assertEqual(len(found), len(expected), what)
        for a, b in zip(found, expected):
            self.assertLess(abs(a - b), 1e-13 * max(1.0, abs(b)), '%s: %s, %s' % (what, found,
                                                                               expected))

    def test_mass_in_every_configuration_and_place(self):
        for door in (HttpDoor(self.daemon), ZmqDoor(self.daemon)):
            i = door.call('create', model=models.turned_mass())[1]['id']
            by_name = self.coordinates(door, i)
            for name in CONFIGURATIONS:
                q, v = by_name[name]
                for local in LOCALS:
                    moved = turned([q + local[0], local[1], local[2]])
                    expected = {
                        'Position': [a + b for a, b in zip(P_REF, moved)],
                        'Displacement': turned([q - REFERENCE, 0, 0]),
                        'Velocity': turned([v, 0, 0]),
                        'RotationMatrix': [float(x) for row in R0 for x in row],
                        # Tait-Bryan angles of R0 = Rx(90 deg) Ry(90 deg): the xyz sequence is
                        # singular there, and its rotation matrix is what is compared
                        'AngularVelocity': [0, 0, 0],
                        'AngularVelocityLocal': [0, 0, 0],
                    }
                    for variable, value in expected.items():
                        with self.subTest(door=door.name, variable=variable, configuration=name,
                                          local=local):
                            found = self.value(door, i, 'mass', variable, configuration=name,
                                               localPosition=list(local))
                            self.near(found, value, variable)

    def test_rotation_angles_of_a_mass(self):
        """R = Rx(a) Ry(b) Rz(c) with angles away from the singular one."""
        a, b, c = 0.3, -0.5, 1.1
        ca, sa, cb, sb, cc, sc = (f(x) for x in (a, b, c) for f in (math.cos, math.sin))
        matrix = [[cb * cc, -cb * sc, sb],
                  [ca * sc + sa * sb * cc, ca * cc - sa * sb * sc, -sa * cb],
                  [sa * sc - ca * sb * cc, sa * cc + ca * sb * sc, ca * cb]]
        model = models.oscillator()
        model['objects'][0]['referenceRotation'] = matrix
        i = self.daemon.create(model)
        found = self.value(HttpDoor(self.daemon), i, 'mass', 'Rotation')
        for x, y in zip(found, (a, b, c)):
            self.assertLess(abs(x - y), 1e-14)

    def test_rotor_in_every_configuration(self):
        """The rotor turns about its local z: its point moves on a circle, velocity is omega x r."""
        for door in (HttpDoor(self.daemon), ZmqDoor(self.daemon)):
            i = door.call('create', model=rotor())[1]['id']
            by_name = self.coordinates(door, i)
            for name in CONFIGURATIONS:
                q, v = by_name[name]
                c, s = math.cos(q), math.sin(q)
                for local in LOCALS:
                    x = [c * local[0] - s * local[1], s * local[0] + c * local[1], local[2]]
                    expected = {
                        'Position': [p + r for p, r in zip(P_REF, turned(x))],
                        'Velocity': turned([-v * x[1], v * x[0], 0]),
                        'AngularVelocity': turned([0, 0, v]),
                        'AngularVelocityLocal': [0, 0, v],
                    }
                    for variable, value in expected.items():
                        with self.subTest(door=door.name, variable=variable, configuration=name,
                                          local=local):
                            found = self.value(door, i, 'rotor', variable, configuration=name,
                                               localPosition=list(local))
                            self.near(found, value, variable)

    def test_unknown_outputs_are_refused(self):
        i = self.daemon.create(models.oscillator())
        door = HttpDoor(self.daemon)
        for fields in ({'name': 'nothing', 'variable': 'Position'},
                       {'name': 'mass', 'variable': 'Colour'},
                       {'name': 'mass', 'variable': 'Position', 'configuration': 'yesterday'},
                       {'name': 'mass', 'variable': 'Position', 'category': 'planets'},
                       {'name': 'mass', 'variable': 'Position', 'localPosition': [1, 2]},
                       {'name': 'mass', 'variable': 'Position', 'localPosition': 'a,b,c'}):
            with self.subTest(str(fields)):
                status, reply = door.call('item-output', id=i, **fields)
                self.assertIn(status, (400, 404, 422))
                self.assertTrue(reply['code'])
                if 'category' in fields:
                    (fault,) = reply['errors']
                    self.assertEqual(fault['pointer'], '/category')
                    self.assertIn('nodes, objects, markers', fault['message'])

    def test_variables_list_inputs_outputs_and_parameters(self):
        i = self.daemon.create(models.oscillator())
        body = HttpDoor(self.daemon).call('variables', id=i)[1]
        by_name = {v['name']: v for v in body.get('items', body.get('variables'))}
        self.assertEqual(by_name['force']['causality'], 'input')
        self.assertEqual(by_name['x']['causality'], 'output')
        self.assertEqual(by_name['k']['causality'], 'parameter')
        self.assertEqual(by_name['k']['start'], 100)
        self.assertEqual(by_name['time']['causality'], 'independent')

    def test_parameters_change_the_motion_from_then_on(self):
        """k = 0 and d = 0 leave a free mass: x grows by v t exactly enough."""
        door = HttpDoor(self.daemon)
        i = self.daemon.create(models.oscillator())
        status, reply = door.call('set-parameters', id=i, parameters={'k': 0, 'd': 0})
        self.assertEqual(status // 100, 2, reply)
        self.assertEqual(door.call('get-parameters', id=i)[1]['parameters'], {'k': 0, 'd': 0})
        door.call('step', id=i, count=1000)
        state = door.call('get-state', id=i)[1]
        self.assertLess(abs(state['q'][0] - (START_Q + START_V)), 1e-12)

    def test_reset_goes_back(self):
        door = HttpDoor(self.daemon)
        i = self.daemon.create(models.oscillator())
        before = door.call('get-state', id=i)[1]
        door.call('step', id=i, count=10, inputs={'force': 3})
        self.assertEqual(door.call('reset', id=i)[0] // 100, 2)
        self.assertEqual(door.call('get-state', id=i)[1], before)
        self.assertEqual(door.call('get-inputs', id=i)[1]['inputs']['force'], 0)


    def test_the_scene_has_coordinates_where_there_is_no_place(self):
        """Reference plus displacement, of systems that have no position."""
        door = HttpDoor(self.daemon)
        model = models.generic_ode2()
        i = self.daemon.create(model)
        door.call('step', id=i, count=5)
        scene = door.call('scene', id=i)[1]
        self.assertEqual(scene['bodies'], [])
        (system,) = scene['systems']
        self.assertEqual((system['name'], system['type']), ('o', 'GenericODE2'))
        u = door.call('get-state', id=i)[1]['q']
        reference = [x for n in model['nodes'] for x in n['referenceCoordinates']]
        self.assertNotEqual(u, reference)
        for found, x in zip(system['coordinates'], u, strict=True):
            self.assertAlmostEqual(found, x, delta=1e-15)
        # a mass has a place, and is a body
        scene = door.call('scene', id=self.daemon.create(models.mass1d()))[1]
        self.assertEqual((len(scene['bodies']), scene['systems']), (1, []))

    def test_markers_and_sensors_have_outputs_too(self):
        model = models.turned_mass()
        model['sensors'] = [{'name': 'a', 'type': 'SensorMarker', 'marker': 'x',
                             'outputVariable': 'Coordinates_t'},
                            {'name': 'b', 'type': 'SensorNode', 'node': 'n',
                             'outputVariable': 'CoordinatesTotal'}]
        model.pop('outputs', None)
        for door in (HttpDoor(self.daemon), ZmqDoor(self.daemon)):
            i = door.call('create', model=model)[1]['id']
            at = self.coordinates(door, i)
            for configuration in CONFIGURATIONS[1:]:
                q, v = at[configuration]
                for category, name, variable, expected in (
                        ('markers', 'x', 'Coordinates', q - REFERENCE),
                        ('markers', 'x', 'Coordinates_t', v), ('sensors', 'a', 'Coordinates_t', v),
                        ('sensors', 'b', 'CoordinatesTotal', q)):
                    self.near(self.value(door, i, name, variable, category=category,
                                         configuration=configuration), [expected], configuration)
            # a model without outputs gives all of its sensors
            q, v = at['current']
            outputs = door.call('outputs', id=i)[1]['outputs']
            self.assertEqual(sorted(outputs), ['a', 'b'])
            self.near([outputs['a'], outputs['b']], [v, q], 'outputs')
            self.assertEqual(door.call('model', id=i)[1].get('outputs'), None)
            # an empty list stays empty
            i = door.call('create', model=dict(model, outputs=[]))[1]['id']
            self.assertEqual(door.call('outputs', id=i)[1]['outputs'], {})

    def test_torques_are_in_newton_metres(self):
        """Of coordinates that turn a body, of torques, and of the torque components of a marker."""
        model = {'mechd': 1,
                 'nodes': [{'name': 'p', 'type': 'NodeRigidBody2D'},
                           {'name': 'r', 'type': 'Node1D'}, {'name': 'm', 'type': 'Node1D'}],
                 'objects': [{'name': 'plate', 'type': 'RigidBody2D', 'node': 'p',
                              'physicsMass': 3, 'physicsInertia': 1},
                             {'name': 'rotor', 'type': 'Rotor1D', 'node': 'r',
                              'physicsInertia': 1},
                             {'name': 'mass', 'type': 'Mass1D', 'node': 'm', 'physicsMass': 1}],
                 'markers': [{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'p'},
                             {'name': 'phi', 'type': 'MarkerNodeCoordinate', 'node': 'p',
                              'coordinate': 2},
                             {'name': 'r', 'type': 'MarkerNodeCoordinate', 'node': 'r'},
                             {'name': 'm', 'type': 'MarkerNodeCoordinate', 'node': 'm'},
                             {'name': 'body', 'type': 'MarkerBodyRigid', 'object': 'plate'}],
                 'loads': [{'name': n, 'type': 'LoadCoordinate', 'marker': n}
                           for n in ('x', 'phi', 'r', 'm')] +
                          [{'name': 'T', 'type': 'LoadTorqueVector', 'marker': 'body'}],
                 'sensors': [{'name': 'of-' + n, 'type': 'SensorMarker', 'marker': n,
                              'outputVariable': 'Coordinates_t'} for n in ('x', 'phi', 'r')],
                 'inputs': [{'name': n, 'load': n} for n in ('x', 'phi', 'r', 'm', 'T')] +
                           [{'name': 'mr', 'marker': 'r'},
                            {'name': 'f2', 'marker': 'body', 'component': 2},
                            {'name': 't2', 'marker': 'body', 'component': 5}]}
        door = HttpDoor(self.daemon)
        i = self.daemon.create(model)
        units = {v['name']: v['unit'] for v in door.call('variables', id=i)[1]['items']
                 if v['causality'] == 'input'}
        self.assertEqual(units, {'x': 'N', 'phi': 'N m', 'r': 'N m', 'm': 'N', 'T': 'N m',
                                 'mr': 'N m', 'f2': 'N', 't2': 'N m'})
        outputs = {v['name']: v['unit'] for v in door.call('variables', id=i)[1]['items']
                   if v['causality'] == 'output'}
        self.assertEqual(outputs, {'of-x': '', 'of-phi': 'rad/s', 'of-r': 'rad/s'})
        # the plate is drawn as a rod of its inertia, the others as blocks
        sizes = {b['name']: b['graphics'][0]['size'] for b in door.call('scene', id=i)[1]['bodies']}
        length = math.sqrt(12 / (1.01 * 3))
        self.near(sizes['plate'], [length, length / 10, length / 10], 'plate')
        self.assertEqual(sizes['mass'], [0.1, 0.1, 0.1])

    def test_a_rigid_body_is_drawn_as_its_inertia_box(self):
        m, a, b, c, s = 2.0, 0.5, 0.25, 1.0, 0.3
        jyy, jzz = m / 12 * (a * a + c * c) + m * s * s, m / 12 * (a * a + b * b) + m * s * s
        model = {'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP'}],
                 'objects': [{'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': m,
                              'physicsCenterOfMass': [s, 0, 0],
                              'physicsInertia': [m / 12 * (b * b + c * c), jyy, jzz, 0, 0, 0]}]}
        (graphic,) = HttpDoor(self.daemon).call(
            'scene', id=self.daemon.create(model))[1]['bodies'][0]['graphics']
        for found, x in zip(graphic['size'] + graphic['center'], (a, b, c, s, 0, 0)):
            self.assertAlmostEqual(found, x, delta=1e-12)


if __name__ == '__main__':
    unittest.main()
