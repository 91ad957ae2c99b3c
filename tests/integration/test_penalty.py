"""Contact by penalty forces: closed forms of a spring and damper, friction that sticks, momentum,
and what is refused."""
import math
import unittest
from harness import Served

SOFT = {'friction': 0.5, 'compliance': 1e-4, 'damping': 0}


def body(k, shape, position, velocity=(0, 0, 0), mass=1.0, material=SOFT):
    inertia = [0.004, 0.004, 0.004, 0, 0, 0]
    return ({'name': 'n%d' % k, 'type': 'NodeRigidBodyEP',
             'referenceCoordinates': list(position) + [1, 0, 0, 0],
             'initialVelocities': list(velocity) + [0, 0, 0, 0]},
            {'name': 'b%d' % k, 'type': 'RigidBody', 'node': 'n%d' % k, 'physicsMass': mass,
             'physicsInertia': inertia, 'geometry': [{**shape, 'material': material}]})


def model(bodies, ground=None, gravity=(0, 0, 0), **solver):
    objects = [b[1] for b in bodies]
    if ground is not None:
        # the compliances of both sides add up: all of it is the bodies'
        objects.insert(0, {'name': 'ground', 'type': 'Ground', 'geometry': [
            {'shape': 'Plane', 'material': {**ground, 'compliance': 1e-12}}]})
    return {'mechd': 1, 'name': 'penalty', 'gravity': list(gravity),
            'nodes': [b[0] for b in bodies], 'objects': objects,
            'contact': {'method': 'penalty'},
            'solver': {'integrator': 'RK44', 'stepSize': 1e-4, **solver}}


BALL = {'shape': 'Sphere', 'radius': 0.1}
BOX = {'shape': 'Box', 'size': [0.2, 0.2, 0.2]}


class Penalty(Served):
    def create(self, document):
        return self.daemon.create(document)

    def step(self, i, count):
        reply = self.daemon.call('POST', '/v1/instances/%s/step' % i, {'count': count})
        self.assertEqual(reply.status, 200, reply)
        return self.state(i)

    def state(self, i):
        return self.daemon.call('GET', '/v1/instances/%s/state' % i).json

    def contacts(self, i):
        return self.daemon.call('GET', '/v1/instances/%s/contacts' % i).json['items']

    def test_a_ball_rebounds_as_the_damped_oscillator_does(self):
        """The force ends where spring and damper balance (T. Schwager, T. Poeschel, Granular
        Matter 9, 2007): e = exp(-(b/w) (pi - atan(2 b w/(w^2 - b^2))))."""
        for damping in (0.0, 20.0, 60.0):
            material = {**SOFT, 'damping': damping}
            i = self.create(model([body(0, BALL, (0, 0, 0.1), (0, 0, -1), material=material)],
                                  {**SOFT, 'damping': 1e9}, stepSize=2e-6))
            b = damping / 2
            w = math.sqrt(1e4 - b * b)
            lasts = math.pi - math.atan2(2 * b * w, w * w - b * b)
            e = math.exp(-b / w * lasts)
            after = self.step(i, 25000)
            self.assertAlmostEqual(after['v'][2], e, delta=2e-5)
            self.assertEqual(self.contacts(i), [])

    def test_a_ball_rests_where_its_weight_compresses_the_ground(self):
        material = {**SOFT, 'damping': 100}
        i = self.create(model([body(0, BALL, (0, 0, 0.1), material=material)],
                              {**SOFT, 'damping': 1e9}, gravity=(0, 0, -9.81)))
        self.assertAlmostEqual(self.step(i, 30000)['q'][2], 0.1 - 9.81e-4, delta=1e-9)
        [contact] = self.contacts(i)
        self.assertAlmostEqual(contact['normalForce'], 9.81, delta=1e-6)
        self.assertAlmostEqual(contact['gap'], -9.81e-4, delta=1e-9)

    def incline(self, slope, **solver):
        """A box on a plane, with gravity turned by the slope; it has come to rest by 0.5 s."""
        g = (9.81 * math.sin(slope), 0, -9.81 * math.cos(slope))
        # flat, so that it does not tip over
        box = {'shape': 'Box', 'size': [0.4, 0.4, 0.05]}
        material = {**SOFT, 'damping': 50}
        return self.create(model([body(0, box, (0, 0, 0.025), material=material)],
                                 {**SOFT, 'damping': 1e9}, gravity=g, **solver))

    def test_a_box_below_the_angle_of_friction_does_not_creep(self):
        i = self.incline(math.atan(0.5) - math.radians(1))
        early = self.step(i, 20000)['q'][0]
        self.assertLess(abs(self.step(i, 40000)['q'][0] - early), 1e-8)

    def test_a_box_above_the_angle_of_friction_slides_as_coulomb_says(self):
        slope = math.atan(0.5) + math.radians(5)
        i = self.incline(slope)
        early = self.step(i, 10000)['v'][0]
        rate = self.step(i, 10000)['v'][0] - early
        self.assertAlmostEqual(rate, 9.81 * (math.sin(slope) - 0.5 * math.cos(slope)), delta=1e-4)

    def test_two_balls_keep_their_momentum(self):
        material = {**SOFT, 'damping': 5}
        i = self.create(model([body(0, BALL, (0, 0, 0), (1, 0.1, 0), 2, material),
                               body(1, BALL, (0.21, 0.05, 0), (-1, 0, 0.3), 1, material)]))
        before = self.state(i)['v']
        self.assertGreater(len([1 for _ in range(300) if self.touching(i)]), 0)
        after = self.step(i, 1000)['v']
        self.assertNotAlmostEqual(after[0], before[0], delta=0.1)
        for k in range(3):
            self.assertAlmostEqual(2 * after[k] + after[6 + k], 2 * before[k] + before[6 + k],
                                   delta=1e-12)

    def touching(self, i):
        self.step(i, 5)
        return self.contacts(i)

    def test_implicit_and_explicit_schemes_agree(self):
        ends = []
        for solver in ({'integrator': 'RK44', 'stepSize': 1e-5},
                       {'integrator': 'GeneralizedAlpha', 'stepSize': 2e-5}):
            material = {**SOFT, 'damping': 20}
            i = self.create(model([body(0, BALL, (0, 0, 0.11), (0.5, 0, -1), material=material)],
                                  {**SOFT, 'damping': 1e9}, (0, 0, -9.81), **solver))
            ends.append(self.step(i, round(0.1 / solver['stepSize'])))
        for name in ('q', 'v'):
            for a, b in zip(ends[0][name], ends[1][name]):
                self.assertAlmostEqual(a, b, delta=2e-4, msg=name)

    def test_energy_is_kept_without_damping_and_friction(self):
        i = self.create(model([body(0, BALL, (0, 0, 0.15), (0.2, 0, 0),
                                    material={**SOFT, 'friction': 0})],
                              {**SOFT, 'friction': 0}, (0, 0, -9.81), stepSize=1e-5))
        path, energies = '/v1/instances/%s/step' % i, []
        for _ in range(40):
            reply = self.daemon.call('POST', path, {'count': 1000, 'want': ['energy']})
            energies.append(reply['energy'])
        self.assertLess(max(energies) - min(energies), 1e-5 * abs(energies[0]))
        self.assertGreater(self.state(i)['q'][2], -0.2)

    def test_a_restored_contact_goes_on_to_the_same_bits(self):
        i = self.incline(math.atan(0.5) + math.radians(5))
        self.step(i, 5000)
        sid = self.daemon.call('POST', '/v1/instances/%s/snapshots' % i).json['id']
        first = self.step(i, 500)
        reply = self.daemon.call('POST', '/v1/instances/%s/snapshots/%s/restore' % (i, sid))
        self.assertEqual(reply.status, 200, reply)
        self.assertEqual(self.step(i, 500), first)

    def test_what_it_cannot_take_is_refused_with_its_place(self):
        rigid = model([body(0, BALL, (0, 0, 1), material={**SOFT, 'compliance': 0})], SOFT)
        rolling = model([body(0, BALL, (0, 0, 1), material={**SOFT, 'rollingFriction': 0.1})], SOFT)
        many = model([body(k, BALL, (k, 0, 1)) for k in range(33)], SOFT,
                     integrator='GeneralizedAlpha')
        for document, pointer in ((rigid, '/model/objects/1/geometry/0/material'),
                                  (rolling, '/model/objects/1/geometry/0/material'),
                                  (many, '/model/solver/integrator')):
            reply = self.daemon.call('POST', '/v1/models/check', {'model': document})
            self.assertEqual(reply.status, 422, reply)
            self.assertEqual(reply['errors'][0]['pointer'], pointer, reply)
        many['solver']['integrator'] = 'RK44'
        self.step(self.create(many), 10)


if __name__ == '__main__':
    unittest.main()
