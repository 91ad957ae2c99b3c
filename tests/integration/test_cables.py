"""A cable through the daemon: the served cantilever against closed forms, and its picture."""
import math
import unittest
from harness import Daemon, HttpDoor, ZmqDoor

LENGTH, STIFFNESS, AXIAL, WEIGHT = 2.0, 2.0, 3000.0, 0.3 * 9.81


class Cables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        example = cls.daemon.call('GET', '/v1/examples/flexible-cantilever').json
        cls.model = example.get('model', example)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def floating(self, **more):
        return {**self.model, 'gravity': [0, 0, 0], **more}

    def rest(self, door, model, inputs):
        i = door.call('create', model=model)[1]['id']
        for name, value in inputs.items():
            self.assertEqual(door.call('set-inputs', id=i, inputs={name: value})[0], 200)
        status, reply = door.call('statics', id=i)
        self.assertEqual(status, 200, reply)
        return i, door.call('outputs', id=i)[1]['outputs']

    def test_a_torque_bends_it_to_an_arc(self):
        for door in (HttpDoor(self.daemon), ZmqDoor(self.daemon)):
            i, outputs = self.rest(door, self.floating(), {'torque': [0, 0, 1.0]})
            angle = 1.0 * LENGTH / STIFFNESS
            # eight elements of fourth order are 1e-6 off
            self.assertAlmostEqual(outputs['angle'], angle, delta=1e-5)
            self.assertAlmostEqual(outputs['tip'][0], LENGTH * math.sin(angle) / angle, delta=1e-5)
            self.assertAlmostEqual(outputs['tip'][1], LENGTH * (1 - math.cos(angle)) / angle,
                                   delta=1e-5)
            # the mesh bends by elements: its moment is right in the mean
            self.assertAlmostEqual(outputs['moment'], 1.0, delta=1e-2)
            door.call('delete', id=i)

    def test_its_modes_are_those_of_a_clamped_beam(self):
        i = self.daemon.create(self.floating())
        modes = self.daemon.call('GET', '/v1/instances/%s/modes?count=1' % i).json['modes']
        bare = math.sqrt(STIFFNESS / 0.3 / LENGTH ** 4) / (2 * math.pi)
        self.assertAlmostEqual(modes[0]['frequency'], 1.87510406871196 ** 2 * bare, delta=1e-5)

    def test_a_picture_has_the_line_through_its_nodes(self):
        door = HttpDoor(self.daemon)
        i, outputs = self.rest(door, self.floating(), {'torque': [0, 0, 1.0]})
        bodies = door.call('scene', id=i)[1]['bodies']
        self.assertEqual(len(bodies), 8)
        for a, b in zip(bodies, bodies[1:]):
            self.assertEqual(len(a['line']), 9)
            for x, y in zip(a['line'][-1], b['line'][0], strict=True):
                self.assertAlmostEqual(x, y, delta=1e-12)
        for x, y in zip(bodies[-1]['line'][-1], outputs['tip'], strict=True):
            self.assertAlmostEqual(x, y, delta=1e-12)

    def test_faults_have_their_places(self):
        cable = {'name': 'c', 'type': 'ANCFCable2D', 'physicsLength': 1,
                 'physicsMassPerLength': 1, 'physicsAxialStiffness': 1,
                 'physicsBendingStiffness': 1}
        slope = {'type': 'NodePoint2DSlope1'}
        for nodes, change, pointer in (
                ([{'name': 'a', **slope}], {'nodes': ['a', 'a']}, '/model/objects/0/nodes'),
                ([{'name': 'a', **slope}, {'name': 'b', 'type': 'NodePoint2D'}],
                 {'nodes': ['a', 'b']}, '/model/objects/0/nodes'),
                ([{'name': 'a', **slope}, {'name': 'b', **slope}],
                 {'nodes': ['a', 'b'], 'physicsLength': 0}, '/model/objects/0/physicsLength'),
                ([{'name': 'a', **slope}, {'name': 'b', **slope,
                                           'referenceCoordinates': [1, 0, 0, 0]}],
                 {'nodes': ['a', 'b']}, '/model/nodes/1/referenceCoordinates')):
            with self.subTest(pointer=pointer):
                model = {'mechd': 1, 'nodes': nodes, 'objects': [{**cable, **change}]}
                answer = self.daemon.call('POST', '/v1/models/check', {'model': model})
                self.assertEqual(answer.status, 422, answer)
                self.assertIn(pointer, [e['pointer'] for e in answer.json['errors']])

    def test_markers_beyond_its_ends_are_refused(self):
        for x in (-0.01, 0.26):
            model = self.floating(markers=self.model['markers'] + [
                {'name': 'm', 'type': 'MarkerBodyPosition', 'object': 'strip-3',
                 'localPosition': [x, 0, 0]}])
            answer = self.daemon.call('POST', '/v1/models/check', {'model': model})
            self.assertEqual(answer.status, 422, answer)
            (fault,) = answer.json['errors']
            self.assertEqual(fault['pointer'], '/model/markers/5/localPosition')
            self.assertIn('beyond the ends', fault['message'])


if __name__ == '__main__':
    unittest.main()
