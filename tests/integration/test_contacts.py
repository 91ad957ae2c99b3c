"""Bodies that touch by their shapes: documents, the contacts that are reported, snapshots."""
import json
import math
import unittest
from harness import Served

GRAVITY = 9.81


def sphere_on_floor(**more):
    """A sphere that slides without spin over a floor."""
    model = {
        'mechd': 1, 'gravity': [0, 0, -GRAVITY], 'parameters': {'mu': 0.2},
        'materials': [{'name': 'ice', 'friction': '=mu'}],
        'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',
                   'referenceCoordinates': [0, 0, 0.1, 1, 0, 0, 0],
                   'initialVelocities': [1, 0, 0, 0, 0, 0, 0]}],
        'objects': [
            {'name': 'floor', 'type': 'Ground',
             'geometry': [{'shape': 'Plane', 'name': 'top', 'material': 'ice'}]},
            {'name': 'ball', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 2,
             'physicsInertia': [0.008, 0.008, 0.008, 0, 0, 0],
             'geometry': [{'shape': 'Sphere', 'radius': 0.1}]}],
        'sensors': [
            {'name': 'force', 'type': 'SensorBody', 'object': 'ball',
             'outputVariable': 'ContactForce'},
            {'name': 'torque', 'type': 'SensorBody', 'object': 'ball',
             'outputVariable': 'ContactTorque'},
            {'name': 'load', 'type': 'SensorObject', 'object': 'floor',
             'outputVariable': 'ContactForce'},
            {'name': 'v', 'type': 'SensorBody', 'object': 'ball', 'outputVariable': 'Velocity'}],
        'solver': {'integrator': 'MoreauJean', 'stepSize': 1e-3}}
    model.update(more)
    return model


def heap():
    """Boxes and spheres that fall on each other between two walls."""
    model = {'mechd': 1, 'gravity': [0, 0, -GRAVITY], 'nodes': [], 'objects': [
        {'name': 'walls', 'type': 'Ground', 'geometry': [
            {'shape': 'Plane'}, {'shape': 'Plane', 'normal': [1, 0, 0], 'position': [-0.3, 0, 0]},
            {'shape': 'Box', 'size': [0.1, 1, 1], 'position': [0.35, 0, 0.5]}]}],
        'solver': {'integrator': 'MoreauJean', 'stepSize': 2e-3,
                   'vi': {'tolerance': 1e-6, 'maxIterations': 300, 'onFailure': 'accept'}}}
    for k in range(6):
        model['nodes'].append({
            'name': 'n%d' % k, 'type': 'NodeRigidBodyEP',
            'referenceCoordinates': [0.05 * k - 0.1, 0.01 * k, 0.15 + 0.2 * k, 1, 0, 0, 0]})
        model['objects'].append({
            'name': 'b%d' % k, 'type': 'RigidBody', 'node': 'n%d' % k, 'physicsMass': 1,
            'physicsInertia': [0.004, 0.004, 0.004, 0, 0, 0],
            'geometry': [{'shape': 'Sphere', 'radius': 0.08} if k % 2 else
                         {'shape': 'Box', 'size': [0.15, 0.15, 0.15]}]})
    return model


class Contacts(Served):
    def instance(self, model):
        status, reply = self.door.call('create', model=model)
        self.assertEqual(status, 201, reply)
        return reply['id']

    def good(self, operation, **more):
        status, reply = self.door.call(operation, **more)
        self.assertIn(status, (200, 201), reply)
        return reply

    def contacts(self, i):
        return self.good('contacts', id=i)['items']

    def test_a_contact_is_reported_with_its_bodies_and_forces(self):
        i = self.instance(sphere_on_floor())
        self.assertEqual(self.contacts(i), [])
        step = self.good('step', id=i, count=10)
        self.assertEqual(step['report']['contacts'], 1)
        (c,) = self.contacts(i)
        self.assertEqual((c['bodies'], c['shapes']), (['floor', 'ball'], ['top', 0]))
        self.assertEqual(c['normal'], [0, 0, 1])
        weight = 2 * GRAVITY
        self.assertAlmostEqual(c['normalForce'], weight, delta=1e-9)
        for got, wanted in zip(c['force'], (-0.2 * weight, 0, weight)):
            self.assertAlmostEqual(got, wanted, delta=1e-9)
        for got, force in zip(c['impulse'], c['force']):
            self.assertAlmostEqual(got, force * 1e-3, delta=1e-15)
        self.assertAlmostEqual(c['gap'], 0, delta=1e-9)

    def test_a_pair_of_bodies_is_named_by_both_where_it_acts_and_where_it_meets(self):
        model = sphere_on_floor(inputs=[{'name': 'mu', 'parameter': 'mu'}])
        model['nodes'][0]['referenceCoordinates'][2] = 0.15
        i = self.instance(model)
        pair = {'of': 'bodies', 'item': 'floor', 'with': 'ball'}
        step = self.good('step', id=i, until=0.2, want=['events'])
        self.assertEqual([e['kind'] for e in step['events']], ['impact', 'closes'])
        for event in step['events']:
            self.assertEqual({**event, **pair}, event)
        step = self.good('step', id=i, size=0.01, want=['jacobian'])
        self.assertEqual(step['jacobian']['activeSet'], [pair])
        self.assertTrue(step['jacobian']['activeSetConstant'])

    def test_forces_of_contacts_are_outputs(self):
        i = self.instance(sphere_on_floor())
        out = self.good('step', id=i, count=10)['outputs']
        weight = 2 * GRAVITY
        wanted = {'force': (-0.2 * weight, 0, weight), 'load': (0.2 * weight, 0, -weight),
                  'torque': (0, 0.1 * 0.2 * weight, 0), 'v': (1 - 0.2 * GRAVITY * 0.01, 0, 0)}
        for name, values in wanted.items():
            for got, value in zip(out[name], values):
                self.assertAlmostEqual(got, value, delta=1e-9, msg=name)
        # about a point on the axis about which the ball turns: (0, -0.05, 0) x force beside
        value = self.good('item-output', id=i, name='ball', variable='ContactTorque',
                          localPosition=[0, 0.05, 0])['value']
        for got, value in zip(value, (-0.05 * weight, 0.1 * 0.2 * weight, -0.05 * 0.2 * weight)):
            self.assertAlmostEqual(got, value, delta=1e-9)

    def test_a_parameter_of_a_material_changes_the_friction(self):
        i = self.instance(sphere_on_floor())
        self.good('step', id=i, count=5)
        self.good('set-parameters', id=i, parameters={'mu': 0.05})
        out = self.good('step', id=i, count=1)['outputs']
        self.assertAlmostEqual(out['force'][0], -0.05 * 2 * GRAVITY, delta=1e-9)

    def test_reset_and_a_set_state_have_no_contacts(self):
        i = self.instance(sphere_on_floor())
        for forget in (lambda: self.good('reset', id=i),
                       lambda: self.good('set-state', id=i, v=[0] * 6)):
            self.good('step', id=i, count=2)
            self.assertEqual(len(self.contacts(i)), 1)
            forget()
            self.assertEqual(self.contacts(i), [])

    def test_snapshots_bring_contacts_back_to_the_bit(self):
        i = self.instance(heap())
        self.good('step', id=i, size=0.5)
        taken = self.good('snapshot', id=i)['id']
        before = self.contacts(i)
        self.assertGreater(len(before), 3)

        def rest():
            self.good('step', id=i, size=0.2)
            return json.dumps([self.good('get-state', id=i), self.contacts(i)])
        first = rest()
        self.good('restore', id=i, sid=taken)
        self.assertEqual(self.contacts(i), before)
        self.assertEqual(rest(), first)

    def test_the_same_model_gives_the_same_bits(self):
        ends = []
        for _ in range(2):
            i = self.instance(heap())
            self.good('step', id=i, size=0.6)
            ends.append(json.dumps([self.good('get-state', id=i), self.contacts(i)]))
        self.assertEqual(*ends)

    def test_a_trial_leaves_contacts_alone(self):
        i = self.instance(sphere_on_floor())
        self.good('step', id=i, size=0.01, commit=False)
        self.assertEqual(self.contacts(i), [])
        self.good('commit', id=i, trial=1)
        self.assertEqual(len(self.contacts(i)), 1)

    def refused(self, model, pointer, words):
        status, reply = self.door.call('check', model=model)
        self.assertEqual(status, 422, reply)
        found = {e['pointer']: e['message'] for e in reply['errors']}
        self.assertIn('/model' + pointer, found)
        self.assertIn(words, found['/model' + pointer])

    def test_what_cannot_be_is_refused_at_its_place(self):
        ball = '/objects/1/geometry/0'
        for shape, pointer, words in (
                ({'shape': 'Sphere', 'radius': -1}, ball + '/radius', 'above 0'),
                ({'shape': 'Plane'}, ball, 'belongs on the ground'),
                ({'shape': 'Box', 'size': [1, 0, 1]}, ball + '/size', ''),
                ({'shape': 'Cube'}, ball + '/shape', 'unknown type'),
                ({'shape': 'Sphere', 'radius': 1, 'material': 'mud'}, ball + '/material',
                 'no "mud" in materials'),
                ({'shape': 'Sphere', 'radius': 1, 'material': {'friction': -0.1}},
                 ball + '/material/friction', 'at least 0'),
                ({'shape': 'Sphere', 'radius': 1, 'material': {'restitution': 2}},
                 ball + '/material/restitution', 'at most 1')):
            model = sphere_on_floor()
            model['objects'][1]['geometry'] = [shape]
            with self.subTest(shape=shape):
                status, reply = self.door.call('check', model=model)
                self.assertEqual(status, 422, reply)
                places = [e['pointer'] for e in reply['errors'] if words in e['message']]
                self.assertTrue(any(p.startswith('/model' + pointer) for p in places),
                                reply['errors'])

    def test_settings_that_cannot_be_are_refused(self):
        self.refused(sphere_on_floor(contact={'method': 'soft'}), '/contact/method',
                     'nonsmooth')
        self.refused(sphere_on_floor(contact={'recoverySpeed': -1}), '/contact/recoverySpeed',
                     'at least 0')
        self.refused(sphere_on_floor(materials=[{'name': 'ice', 'friction': '=mu-1'}]),
                     '/materials/0/friction', 'at least 0')
        self.refused(sphere_on_floor(solver={'integrator': 'GeneralizedAlpha'}),
                     '/solver/integrator', 'MoreauJean')

    def test_overlaps_at_the_start_are_refused_where_the_model_says_so(self):
        model = sphere_on_floor(contact={'interpenetration': 'refuse'})
        self.instance(model)
        model['nodes'][0]['referenceCoordinates'][2] = 0.09
        self.refused(model, '/objects/1/geometry/0', 'overlaps "floor" (shape 0) by 0.01 m')
        model['contact']['interpenetrationDepth'] = 0.02
        self.instance(model)
        del model['contact']
        self.instance(model)

    def test_a_step_with_more_contacts_than_there_is_room_for_fails(self):
        i = self.instance(dict(heap(), contact={'capacity': 1}))
        before = self.good('get-state', id=i)
        status, reply = self.door.call('step', id=i, size=0.6)
        self.assertEqual(status, 422, reply)
        self.assertIn('contact', reply['detail'])
        self.assertEqual(self.good('get-state', id=i), before)

    def test_a_pile_is_solved_as_far_as_it_goes_or_fails_where_the_model_says_so(self):
        """Where sweeps stall, up to contact.acceptable is taken; without it the step is undone."""
        model = self.good('example', name='spheres-in-a-box')
        self.assertNotIn('vi', model['solver'])
        i = self.instance(model)
        report = self.good('step', id=i, count=450)['report']
        self.assertGreater(report['residual'], 1e-10)
        self.assertLessEqual(report['residual'], 1e-4)
        self.assertGreater(report['contacts'], 100)
        model['contact'] = {'acceptable': 0}
        i = self.instance(model)
        # which of them is the first depends on the last digits of all before it
        for _ in range(18):
            before = self.good('get-state', id=i)
            status, reply = self.door.call('step', id=i, count=25)
            if status != 200:
                break
        self.assertEqual((status, reply.get('code')), (422, 'vi-not-converged'), reply)
        self.assertIn('contact.acceptable', reply['report']['reason'])
        self.assertEqual(self.good('get-state', id=i), before)

    def test_bodies_are_drawn_by_their_geometry(self):
        scene = self.good('scene', id=self.instance(heap()))
        bodies = {b['name']: b for b in scene['bodies']}
        self.assertEqual(scene['contacts'], 0)
        self.assertTrue(bodies['walls']['fixed'])
        self.assertEqual([g['shape'] for g in bodies['walls']['graphics']],
                         ['Plane', 'Plane', 'Box'])
        self.assertEqual(bodies['walls']['graphics'][1]['normal'], [1, 0, 0])
        (box,) = bodies['b0']['graphics']
        self.assertEqual((box['shape'], box['size']), ('Box', [0.15, 0.15, 0.15]))
        model = sphere_on_floor()
        tilted = {'size': [0.1, 0.2, 0.3], 'rotation': [0.1, 0, 0], 'position': [1, 0, 0]}
        model['objects'][1]['geometry'] = [
            {'shape': 'Capsule', 'radius': 0.1, 'length': 0.4}, dict(tilted, shape='Box')]
        scene = self.good('scene', id=self.instance(model))
        graphics = scene['bodies'][1]['graphics']
        self.assertEqual([g['shape'] for g in graphics],
                         ['Cylinder', 'Sphere', 'Sphere', 'Mesh'])
        mesh = graphics[3]
        self.assertEqual((len(mesh['points']), len(mesh['triangles'])), (8, 12))
        # triangles close a box, seen from outside: its volume by the divergence theorem
        volume = 0.
        for a, b, c in ([mesh['points'][k] for k in t] for t in mesh['triangles']):
            volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                       a[2] * (b[0] * c[1] - b[1] * c[0])) / 6
        self.assertTrue(math.isclose(volume, 0.1 * 0.2 * 0.3, rel_tol=1e-9), volume)

    def test_a_face_of_many_corners_within_a_plane_is_met_at_any_depth(self):
        """All 100 corners of the face are the lowest: more than one search for them holds."""
        around = [2 * math.pi * k / 100 for k in range(100)]
        prism = [[0.1 * math.cos(a), 0.1 * math.sin(a), z] for a in around for z in (-0.1, 0.1)]
        for k in range(8):
            model = sphere_on_floor()
            model['nodes'][0]['referenceCoordinates'][2] = 0.04 - 0.001 * k / 7
            model['objects'][1]['geometry'] = [{'shape': 'ConvexHull', 'points': prism}]
            i = self.instance(model)
            self.good('step', id=i, count=1)
            self.assertEqual(len(self.contacts(i)), 4)

    def test_a_mesh_is_drawn_where_its_body_is(self):
        model = sphere_on_floor()
        points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
        triangles = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
        model['objects'][0]['geometry'] = [{
            'shape': 'Mesh', 'vertices': points, 'triangles': triangles, 'position': [5, 0, -1]}]
        scene = self.good('scene', id=self.instance(model))
        (mesh,) = scene['bodies'][0]['graphics']
        self.assertEqual((mesh['shape'], mesh['triangles']), ('Mesh', triangles))
        self.assertEqual(mesh['points'], [[x + 5, y, z - 1] for x, y, z in points])

    def test_what_is_beyond_the_range_of_doubles_is_not_drawn(self):
        huge, far = sphere_on_floor(), sphere_on_floor()
        huge['objects'][1]['geometry'] = [{'shape': 'Sphere', 'radius': 1.7e308}]
        node = far['nodes'][0]
        node['referenceCoordinates'][0] = 1.7e308
        node['initialCoordinates'] = [1.7e308, 0, 0, 0, 0, 0, 0]
        reply = self.daemon.call('GET', '/v1/instances/%s/scene' % self.instance(huge))
        self.assertEqual((reply.status, reply['code']), (422, 'not-finite'), reply)
        self.assertTrue(reply['detail'].startswith('/bodies/1/graphics/0/'), reply)
        reply = self.daemon.call('POST', '/v1/instances', {'model': far})
        self.assertEqual((reply.status, reply['code']), (422, 'invalid-model'), reply)


if __name__ == '__main__':
    unittest.main()
