"""Angles that count turns over HTTP: clones, trials, sweeps, snapshots, also those of earlier
builds, and steps that end where a law does not hold."""
import base64
import copy
import math
import unittest
import zlib

from asking import sweep_over
from harness import Served

H, TURN = 0.01, 2 * math.pi
BUSHING = [[0] * 6] * 3 + [[0, 0, 0, 3, 0, 0], [0, 0, 0, 0, 3, 0], [0, 0, 0, 0, 0, 3]]

# A body at speed 2 + t about z after 1 s, 2.5 rad, beside springs: a snapshot by a build that kept
# the angle of the TorsionalSpringDamper alone.
EARLIER = '''
eNq1Uz1s00AUTtpKdARRIbFU0Q2VoMayE4nBUpWmaUkrNaXU0KVK0SW+JAf2nXV3DkpCJkAMsMDCwMLIxIjYmBDsUAlGZhBi64Y4
/yi2E6o2IM6S707fe99773vvquX1VXOrtJ3NhOvjdLi/nAr3w/nKhadnxUYfOJDdRowDY68PCHQQMEAPMQoUILquf6sGBhVGPWKV
KWUWJlAgMFCG9o42ar1Cre4ObmFLArR+CzWEhFopH/1EPvWkDyQtG426bVEL7VABBaYkkZ4CiASkFZFHNo4b+UFNAQ5qtC1g6KF1
SgQSBwpC+Jn5Ka5tSwATLDC0d5FNG/IUeGpK/Ok1nz2sIsXaillDRZP11WNwGC5diNvuctzgGwQxGV8S64r/BUFrQ7gKuQyqJ5i5
yzBJxL5OGZd6QNsMgFXouIhJOB6GsKmyS5KWC9xsEuST5hOkFsOdRDticcuUcMEgJiJNGc1V2EZfn2aTI3GDI3bFIw2/QTf9ni/l
F33HTihudxPJEzAE81BSK4+3UyUNFZu0pL1k52rKCW6FEawwYlmoBe3niHCaflkOgtxjyIrTNgOjqNOJsZcXT7ie2IUMw7odVBhN
MQjIqd2R9Rl9WQpyTdyTFpqq6YNBNXr6/oufmZ7Ktl5czHae2QuZ6Olrqq5qmaPXVReRlc2SmdPUgprXlZyUjyA7tw75HWTbmX9d
6PXB2/drfD+8/SxaI3h/7lXla+9+8Tge88ujz0vqpzG7x6Uzv+b2fxT/LrvZ5Uk9PkR1TOp3Ovtnv/PBf/GYPGaWM/953Tu89O7u
uYOx/J7PLjx5eHlyfb9fezP/4NupYd6/AfpRcRc='''


def driven(axis=2):
    """A body that is turned by w t² / 2 about an axis, a bushing and a sensor."""
    return {'mechd': 1, 'parameters': {'w': 7}, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP'}],
            'objects': [
                {'name': 'g', 'type': 'Ground'},
                {'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,
                 'physicsInertia': [1, 1, 1, 0, 0, 0]},
                {'name': 'drive', 'type': 'CoordinateConstraint', 'markers': ['zero', 'angle'],
                 'offsetUserFunction': '=w*t^2/2'},
                {'name': 'bushing', 'type': 'RigidBodySpringDamper', 'markers': ['m0', 'm1'],
                 'stiffness': copy.deepcopy(BUSHING)}],
            'markers': [
                {'name': 'zero', 'type': 'MarkerGroundCoordinate'},
                {'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'g'},
                {'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b'},
                {'name': 'angle', 'type': 'MarkerNodeRotationCoordinate', 'node': 'n',
                 'rotationCoordinate': axis}],
            'sensors': [
                {'name': 'measured', 'type': 'SensorBody', 'object': 'b',
                 'outputVariable': 'Rotation'},
                {'name': 'torque', 'type': 'SensorObject', 'object': 'bushing',
                 'outputVariable': 'TorqueLocal'}],
            'solver': {'stepSize': H}}


class Turns(Served):
    def step(self, one, count, **more):
        return self.daemon.call('POST', '/v1/instances/%s/step' % one, {'count': count, **more})

    def near(self, outputs, axis, angle):
        for name, factor in (('measured', 1), ('torque', 3)):
            for k in range(3):
                self.assertLess(abs(outputs[name][k] - factor * angle * (k == axis)), 1e-7,
                                (outputs, angle))

    def test_in_the_third_turn(self):
        for axis in range(3):
            one = self.daemon.create(driven(axis))
            path = '/v1/instances/' + one
            self.near(self.step(one, 200)['outputs'], axis, 14)
            state = self.daemon.call('GET', path + '/state').json
            kept = self.daemon.call('POST', path + '/snapshots').json['id']
            twin = self.daemon.call('POST', path + '/clone', {}).json['id']
            bits = self.daemon.call('GET', '%s/snapshots/%s' % (path, kept)).raw
            other = self.daemon.call('POST', '/v1/instances', {
                'snapshot': base64.b64encode(bits).decode()}).json['id']
            trial = self.step(one, 300, commit=False)['outputs']
            self.assertEqual(self.daemon.call('GET', path + '/state').json, state)
            far = self.step(one, 300)['outputs']
            self.near(far, axis, 87.5)
            self.daemon.call('POST', '%s/snapshots/%s/restore' % (path, kept))
            self.assertEqual(self.daemon.call('GET', path + '/state').json, state)
            for instance in (one, twin, other):
                self.assertEqual(self.step(instance, 300)['outputs'], far)
            self.assertEqual(trial, far)

    def test_a_sweep_to_many_turns(self):
        path = self.daemon.call('POST', '/v1/sweeps', {
            'model': driven(), 'count': 500,
            'parameters': {'list': [{'w': w} for w in (1, -7, 14)]}}).headers['Location']
        sweep_over(self.daemon, path)
        table = self.daemon.call('GET', path + '/results').json
        column = table['columns'].index('measured[2]')
        for row, w in zip(table['rows'], (1, -7, 14)):
            self.assertLess(abs(row[column] - 12.5 * w), 1e-6)

    def test_a_step_beyond_a_quarter_turn_about_y_warns(self):
        one = self.daemon.create(driven(1))
        self.assertNotIn('warnings', self.step(one, 60)['report'])
        report = self.step(one, 20)['report']
        self.assertEqual([w['pointer'] for w in report['warnings']], ['/model/objects/3'])
        self.assertRegex(report['warnings'][0]['message'], 'beyond a quarter turn about y')
        self.near(self.step(one, 420)['outputs'], 1, 87.5)

    def test_a_snapshot_of_an_earlier_build_is_read(self):
        bits = zlib.decompress(base64.b64decode(EARLIER))
        one = self.daemon.call('POST', '/v1/instances', {
            'snapshot': base64.b64encode(bits).decode()})
        self.assertEqual(one.status, 201, one)
        outputs = self.daemon.call('GET', '/v1/instances/%s/outputs' % one['id'])['outputs']
        self.assertLess(abs(outputs['measured'][2] - 2.5), 1e-9)
        outputs = self.step(one['id'], 300)['outputs']
        # 2 t + t²/2 at 4 s; the driven speed is held, its integral is of order 2
        self.assertLess(abs(outputs['measured'][2] - 16), 1e-3)
        state = self.daemon.call('GET', '/v1/instances/%s/state' % one['id']).json
        self.assertLess(max(abs(state['z'][k] - outputs['measured'][2]) for k in (0, 3, 6, 9)),
                        1e-9)


if __name__ == '__main__':
    unittest.main()
