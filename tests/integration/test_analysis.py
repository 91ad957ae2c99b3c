"""Statics, modes, linearization, derivatives of steps and live fields over both doors."""
import math
import unittest
import models
from harness import Daemon, HttpDoor, ZmqDoor


def driven(**solver):
    """m = 1.6, d = 8, k = 4000 about 0.5, a force as input."""
    return models.document(
        'driven', parameters={'k': 4000}, nodes=[models.node_1d(
            referenceCoordinates=[0.5], initialCoordinates=[-0.08], initialVelocities=[1])],
        markers=models.markers(),
        objects=[{'name': 'mass', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 1.6},
                 models.spring(stiffness='=k', damping=8)],
        loads=[{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 80}],
        sensors=[{'name': 'p', 'type': 'SensorBody', 'object': 'mass',
                  'outputVariable': 'Position'}],
        inputs=[{'name': 'force', 'load': 'F'}],
        outputs=[{'name': 'x', 'sensor': 'p', 'component': 0}],
        solver={'integrator': 'GeneralizedAlpha', 'stepSize': 1e-3, **solver})


class Analysis(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.doors = [HttpDoor(cls.daemon), ZmqDoor(cls.daemon)]

    @classmethod
    def tearDownClass(cls):
        for door in cls.doors:
            door.close()
        cls.daemon.stop()

    def near(self, found, expected, tolerance=1e-12):
        self.assertLess(abs(found - expected), tolerance, (found, expected))

    def good(self, door, op, **members):
        status, reply = door.call(op, **members)
        self.assertEqual(status, 200, reply)
        return reply

    def test_statics(self):
        for door in self.doors:
            i = self.daemon.create(driven())
            reply = self.good(door, 'statics', id=i, loadSteps=4, commit=False)
            self.near(reply['q'][0], 0.52)
            self.near(reply['outputs']['x'], 0.52)
            self.assertEqual(reply['report']['loadSteps'], 4)
            self.near(self.good(door, 'outputs', id=i)['outputs']['x'], 0.42)
            self.good(door, 'statics', id=i)
            state = self.good(door, 'get-state', id=i)
            self.near(state['q'][0], 0.52)
            self.assertEqual(state['v'], [0])

    def test_a_mechanism_has_no_equilibrium(self):
        free = driven()
        free['objects'].pop()
        i = self.daemon.create(free)
        before = self.good(self.doors[0], 'get-state', id=i)
        reply = self.daemon.call('POST', '/v1/instances/%s/statics' % i, {})
        self.assertEqual((reply.status, reply.json.get('code')), (422, 'singular-system'))
        self.assertIn('/objects/0', reply.json['detail'])
        self.assertEqual(self.good(self.doors[0], 'get-state', id=i), before)

    def test_modes(self):
        for door in self.doors:
            i = self.daemon.create(driven())
            mode = self.good(door, 'modes', id=i)['modes']
            self.assertEqual(len(mode), 1)
            self.near(mode[0]['frequency'], 50 / (2 * math.pi))
            self.near(mode[0]['shape'][0], 1 / math.sqrt(1.6))
        one = '/v1/instances/%s' % i
        mode = self.daemon.call('GET', one + '/modes?count=3&complex=true').json['modes'][0]
        self.near(mode['frequency'] - 50 / (2 * math.pi) + mode['damping'], 0.0400465912833907)
        for query in ('count=0', 'count=x', 'count=99999', 'complex=1'):
            self.assertEqual(self.daemon.call('GET', one + '/modes?' + query).status, 422, query)

    def test_linearization(self):
        for door in self.doors:
            i = self.daemon.create(driven())
            reply = self.good(door, 'linearization', id=i)
            self.assertEqual((reply['inputs'], reply['outputs']), (['force'], ['x']))
            found = sum(reply['A'] + reply['B'] + reply['C'] + reply['D'], [])
            for x, y in zip(found, [0, 1, -2500, -5, 0, 0.625, 1, 0, 0]):
                self.near(x, y, 1e-10)
            self.assertEqual(len(found), 9)

    def test_derivatives_of_a_step(self):
        for door in self.doors:
            i, j = self.daemon.create(driven()), self.daemon.create(driven())
            reply = self.good(door, 'jvp', id=i, size=0.05, inputs={'force': 1})
            self.assertEqual(reply['steps'], 50)
            a = self.good(door, 'step', id=i, size=0.05, inputs={'force': 80})
            b = self.good(door, 'step', id=j, size=0.05, inputs={'force': 81})
            self.near(reply['outputs']['x'], b['outputs']['x'] - a['outputs']['x'], 1e-14)
        i = self.daemon.create(driven())
        both = [self.good(self.doors[0], 'jvp', id=i, inputs={'force': 1}, **length)
                for length in ({'size': 0.0625}, {'until': 0.0625})]
        self.assertEqual([r['steps'] for r in both], [63, 63])
        self.assertEqual(both[0]['outputs'], both[1]['outputs'])
        counted = self.good(self.doors[0], 'jvp', id=i, inputs={'force': 1}, count=3)
        self.assertEqual(counted['steps'], 3)
        i = self.daemon.create(driven(integrator='DOPRI5'))
        for body in ({'size': 0.1}, {'size': -1}, {}, {'size': 1, 'count': 1},
                     {'size': 0.1, 'q': [1, 2]}, {'size': 0.1, 'q': []},
                     {'size': 0.1, 'inputs': {'absent': 1}}):
            reply = self.daemon.call('POST', '/v1/instances/%s/jvp' % i, body)
            self.assertEqual(reply.status, 422, body)
            self.assertTrue(reply.json['errors'], body)

    def test_what_a_step_brings_beside_its_outputs(self):
        def again(door, force):
            i = self.daemon.create(driven())
            self.good(door, 'step', id=i, size=0.02, inputs={'force': force})
            return self.good(door, 'step', id=i, size=0.05, inputs={'force': force})['outputs']['x']
        for door in self.doors:
            i = self.daemon.create(driven())
            self.good(door, 'step', id=i, size=0.02, inputs={'force': 80})
            for commit in (False, True):
                reply = self.good(door, 'step', id=i, size=0.05, inputs={'force': 80},
                                  want=['derivatives', 'jacobian', 'energy'], commit=commit)
                v = self.good(door, 'get-state', id=i)['v'][0] if commit else None
                if commit:
                    # the output is a position
                    self.near(reply['derivatives']['x'], v, 1e-8)
                self.assertIn('energy', reply)
                j = reply['jacobian']
                self.assertEqual((j['inputs'], j['outputs'], j['differenced'], j['kinked']),
                                 (['force'], ['x'], False, False))
            # the first step starts with other forces: only the second's input is varied
            k = self.daemon.create(driven())
            self.good(door, 'step', id=k, size=0.02, inputs={'force': 80})
            other = self.good(door, 'step', id=k, size=0.05, inputs={'force': 90})
            self.near(j['matrix'][0][0], (other['outputs']['x'] - again(door, 80)) / 10, 1e-7)
        reply = self.daemon.call('POST', '/v1/instances/%s/step' % i,
                                 {'size': 0.01, 'want': ['jacobian'], 'forces': {'x': [1]}})
        self.assertEqual(reply.status, 422, reply.raw)

    def test_derivatives_by_a_parameter_are_differenced(self):
        model = driven()
        model['inputs'].append({'name': 'stiffness', 'parameter': 'k'})
        for door in self.doors:
            i, ends = self.daemon.create(model), []
            reply = self.good(door, 'jvp', id=i, size=0.05, inputs={'stiffness': 1})
            self.assertTrue(reply['differenced'])
            self.near(self.good(door, 'get-parameters', id=i)['parameters']['k'], 4000)
            for k in (3999, 4001):
                j = self.daemon.create(model)
                ends.append(self.good(door, 'step', id=j, size=0.05,
                                      inputs={'stiffness': k})['outputs']['x'])
            slope = (ends[1] - ends[0]) / 2
            self.near(reply['outputs']['x'] / slope, 1, 1e-6)
            # and the instance goes on as if nothing had been
            other = self.daemon.create(model)
            self.assertEqual(self.good(door, 'step', id=i, size=0.05)['outputs'],
                             self.good(door, 'step', id=other, size=0.05)['outputs'])

    def test_small_motions_within_joints(self):
        swing = models.document(
            'swing', gravity=[0, -9.81, 0],
            nodes=[{'name': 'n', 'type': 'NodePoint2D', 'referenceCoordinates': [0, -2]},
                   {'name': 'o', 'type': 'NodePointGround'}],
            objects=[{'name': 'b', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 3},
                     {'name': 'd', 'type': 'DistanceConstraint', 'markers': ['m', 'c'],
                      'distance': 2}],
            markers=[{'name': 'm', 'type': 'MarkerNodePosition', 'node': 'o'},
                     {'name': 'c', 'type': 'MarkerNodePosition', 'node': 'n'}])
        for door in self.doors:
            i = self.daemon.create(swing)
            reply = self.good(door, 'linearization', id=i)
            self.assertEqual(reply['sizes'], {'q': 1, 'v': 1, 'x': 0})
            self.assertEqual([len(row) for row in reply['basis']], [1, 1])
            self.near(reply['A'][1][0], -9.81 / 2, 1e-12)
            modes = self.good(door, 'modes', id=i, complex='true')
            self.near(modes['modes'][0]['im'], math.sqrt(9.81 / 2), 1e-12)
            self.assertEqual(modes['speed'], 0)
            self.assertLess(modes['modes'][0]['residual'], 1e-13)

    def test_a_field_changes_while_the_state_goes_on(self):
        for door in self.doors:
            i = self.daemon.create(driven())
            before = self.good(door, 'step', id=i, count=7)
            self.assertEqual(self.good(door, 'set-field', id=i, name='spring', field='stiffness',
                                       value=8000)['value'], 8000)
            state = self.good(door, 'get-state', id=i)
            self.assertEqual(state['time'], before['time'])
            self.near(self.good(door, 'outputs', id=i)['outputs']['x'], before['outputs']['x'])
            self.near(self.good(door, 'statics', id=i, commit=False)['q'][0], 0.51)
            # an expression, which follows its parameter; loads by their category
            self.good(door, 'set-field', id=i, name='spring', field='stiffness', value='=k/2')
            self.good(door, 'set-field', id=i, name='F', field='load', value=20, category='loads')
            self.good(door, 'set-parameters', id=i, parameters={'k': 2000})
            self.near(self.good(door, 'statics', id=i, commit=False)['q'][0], 0.52)
            model = self.good(door, 'model', id=i)
            self.assertEqual(model['objects'][1]['stiffness'], '=k/2')

    def test_a_plain_number_forgets_its_expression(self):
        i, door = self.daemon.create(driven()), self.doors[0]
        self.good(door, 'set-field', id=i, name='spring', field='stiffness', value=8000)
        self.good(door, 'set-parameters', id=i, parameters={'k': 1})
        self.near(self.good(door, 'statics', id=i, commit=False)['q'][0], 0.51)
        self.assertEqual(self.good(door, 'model', id=i)['objects'][1]['stiffness'], 8000)

    def test_matrices_of_a_live_system(self):
        i, door = self.daemon.create(models.document(
            'two', objects=[{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': {'diag': [1, 1]},
                             'K': [[2, -1], [-1, 2]], 'q0': [0, 0], 'v0': [0, 0],
                             'Fext': [1, '=t']}])), self.doors[0]
        self.good(door, 'set-field', id=i, name='s', field='K', value=[[4, 0], [0, 8]])
        self.good(door, 'set-field', id=i, name='s', field='Fext', value=['=2+t', 4])
        q = self.good(door, 'statics', id=i, commit=False)['q']
        self.near(q[0], 0.5)
        self.near(q[1], 0.5)

    def test_impossible_fields_change_nothing(self):
        i, door = self.daemon.create(driven()), self.doors[0]
        state, model = self.good(door, 'get-state', id=i), self.good(door, 'model', id=i)
        where = '/v1/instances/%s/objects/' % i
        for path, body, status in (
                ('nobody/fields/stiffness', {'value': 1}, 404),
                ('spring/fields/nothing', {'value': 1}, 404),
                ('spring/fields/stiffness', {'value': 'four'}, 422),
                ('spring/fields/stiffness', {'value': '=nobody'}, 422),
                ('spring/fields/stiffness', {}, 422),
                ('spring/fields/markers', {'value': ['g', 'nobody']}, 422),
                ('mass/fields/physicsMass', {'value': 0}, 422),
                ('mass/fields/physicsMass', {'value': '=k-4000'}, 422),
                ('mass/fields/visualization', {'value': {}}, 422),
                ('n/fields/initialCoordinates?category=nodes', {'value': [1, 2]}, 422),
                ('n/fields/initialCoordinates?category=node', {'value': [1]}, 422)):
            with self.subTest('%s %s' % (path, body)):
                reply = self.daemon.call('PUT', where + path, body)
                self.assertEqual(reply.status, status, reply.raw)
                self.assertEqual(self.good(door, 'get-state', id=i), state)
                self.assertEqual(self.good(door, 'model', id=i), model)
        reply = self.good(door, 'step', id=i, count=100)
        other = self.daemon.create(driven())
        self.assertEqual(self.good(door, 'step', id=other, count=100)['outputs'],
                         reply['outputs'])


if __name__ == '__main__':
    unittest.main()
