"""Bonds over the server: by displacements or velocities, of instances and of programs, as springs,
rigid, and as lines."""
import math
import unittest

import coupled
from coupled import Couplings
from harness import KINDS, SLOW
from outside import Program


def half(*arguments, **more):
    """Its sensors are those of the body, whose values have units."""
    model = coupled.half(*arguments, **more)
    model['sensors'] = [{'name': n, 'type': 'SensorBody', 'object': 'm', 'outputVariable': v}
                        for n, v in (('q', 'Position'), ('p', 'Velocity'))]
    return model


class Free:
    """A free mass of 1 kg under a held force; it shows its velocity."""

    def __init__(self, v):
        self.x, self.v, self.tried = 0., v, None

    def __call__(self, question):
        if question['kind'] == KINDS['trial']:
            h, (force,) = question['size'], question['values']
            self.tried = self.x + h * self.v + h * h * force / 2, self.v + h * force
            return [self.tried[1]]
        if question['kind'] == KINDS['commit']:
            self.x, self.v = self.tried
        return [self.v]


class Bonds(Couplings):
    def bonded(self, flow, law, scheme='Energy', ends=None, **more):
        """The benchmark's two masses, or `ends`, and a coupling of them; its id."""
        ends = ends or [self.daemon.create(half(0., v, k=k))
                        for v, k in ((100., 10.), (-100., 1e3))]
        step_size = more.pop('stepSize', 0.01)
        return self.daemon.call('POST', '/v1/couplings', {
            'participants': [{'name': n, 'instance' if isinstance(e, str) else 'partner': e}
                             for n, e in zip(('left', 'right'), ends)],
            'scheme': {'type': scheme, 'relativeTolerance': 1e-14}, 'stepSize': step_size,
            'bonds': [{'effort': ['left.F', 'right.F'], 'flow': flow, 'law': law, **more}]})

    def test_a_spring_by_velocities_begins_with_its_gap(self):
        reply = self.bonded(['left.v', 'right.v'], {'stiffness': 100}, gap=0.5)
        self.assertEqual(reply.status, 201, reply)
        for _ in range(5):
            step = self.good(reply['id'], count=20, want=['energy'])
            gap = 0.5 + step['outputs']['left.x'] - step['outputs']['right.x']
            self.assertAlmostEqual(step['energy'] + 50 * gap ** 2, 10012.5, delta=1e-7)

    def test_a_rigid_bond_holds_two_masses_together(self):
        ends = [self.daemon.create(half(0., 100., k=k)) for k in (10., 1e3)]
        reply = self.bonded(['left.x', 'right.x'], 'rigid', ends=ends, stepSize=1e-3)
        self.assertEqual(reply.status, 201, reply)
        step = self.good(reply['id'], until=0.2, want=['energy'])
        left, right = step['outputs']['left.x'], step['outputs']['right.x']
        self.assertAlmostEqual(left, right, 10)
        self.assertAlmostEqual(step['energy'], 10000, delta=1e-6)
        omega = math.sqrt(505)
        self.assertAlmostEqual(left, 100 * math.sin(0.2 * omega) / omega, delta=0.02)

    def test_a_short_line_is_the_benchmark_s_spring(self):
        """x of the closed form at 1 s, to the mass of the line and the size of the window."""
        off = []
        for windows in (1000, 2000):
            reply = self.bonded(['left.x', 'right.x'], {
                'delay': 1 / windows, 'impedance': 100 / windows}, 'TransmissionLine',
                [self.daemon.create(half(0., v, k=k, h=1 / windows))
                 for v, k in ((100., 10.), (-100., 1e3))], stepSize=1 / windows)
            self.assertEqual(reply.status, 201, reply)
            step = self.good(reply['id'], count=windows, want=['interface'])
            off.append(abs(step['outputs']['left.x'] + 4.53844886412))
            self.assertAlmostEqual(step['report']['interface']['bond-1']['balance'], 0, 6)
        self.assertLess(off[1], 0.05)
        self.assertLess(off[1], 0.75 * off[0])

    def test_a_velocity_with_a_displacement_is_refused(self):
        for flow in (['left.x', 'right.v'], ['left.v', 'right.x']):
            reply = self.bonded(flow, {'stiffness': 100})
            self.assertEqual((reply.status, reply['code']), (422, 'invalid-request'), reply)
            self.assertEqual([e['pointer'] for e in reply['errors']], ['/bonds/0'])
            self.assertIn('velocity', reply['errors'][0]['message'])

    def end(self, variable, body=None):
        """A mass, or the body given, whose output "y" is a variable of its node."""
        model = coupled.half(0., 1.)
        model['objects'][0] = {k: v for k, v in {**model['objects'][0], **(body or {})}.items()
                               if v is not None}
        model['sensors'].append({'name': 'y', 'type': 'SensorNode', 'node': 'n',
                                 'outputVariable': variable})
        model['outputs'].append({'name': 'y', 'sensor': 'y', 'component': 0})
        return self.daemon.create(model)

    def refused(self, *words, pointer='/bonds/0', **more):
        reply = self.bonded(['left.y', 'right.y'], {'stiffness': 100}, **more)
        self.assertEqual((reply.status, reply['code']), (422, 'invalid-request'), reply)
        self.assertEqual([e['pointer'] for e in reply['errors']], [pointer])
        for word in words:
            self.assertIn(word, reply['errors'][0]['message'])

    def test_coordinates_have_no_unit_and_are_known(self):
        """Coordinates_t of a node are velocities, its Coordinates displacements."""
        said = []
        for kind in (half, coupled.half):
            for name in 'vx':
                reply = self.bonded(['left.' + name, 'right.' + name], {'stiffness': 100}, ends=[
                    self.daemon.create(kind(0., v, k=k)) for v, k in ((100., 10.), (-100., 1e3))])
                self.assertEqual(reply.status, 201, reply)
                out = self.good(reply['id'], count=20)['outputs']
                said.append([out[n] for n in ('left.x', 'left.v', 'right.x', 'right.v')])
                self.daemon.call('DELETE', '/v1/couplings/' + reply['id'])
        self.assertEqual(said[:2], said[2:])
        for one, other in zip(*said[:2]):
            self.assertAlmostEqual(one, other, delta=1e-6)

    def test_what_is_neither_needs_to_be_said(self):
        ends = [self.end('Coordinates_tt') for _ in range(2)]
        self.refused('left.y', '"kind"', ends=ends)
        ends = [{'inputs': ['F'], 'outputs': ['y']} for _ in range(2)]
        self.refused('left.y', '"kind"', ends=ends)
        for kind in 'displacement', 'velocity':
            reply = self.bonded(['left.y', 'right.y'], {'stiffness': 100}, ends=ends, kind=kind)
            self.assertEqual(reply.status, 201, reply)
            document = self.daemon.call('GET', '/v1/couplings/' + reply['id'])['document']
            self.assertEqual(document['bonds'][0]['kind'], kind)
        self.refused(pointer='/bonds/0/kind', ends=ends, kind='force')

    def test_a_kind_that_is_another_one_is_refused(self):
        ends = [self.end('Coordinates_t') for _ in range(2)]
        self.refused('left.y is a velocity', ends=ends, kind='displacement')
        self.assertEqual(self.bonded(['left.y', 'right.y'], {'stiffness': 100}, ends=ends,
                                     kind='velocity').status, 201)

    def test_two_programs_by_their_velocities(self):
        """The energy of two free masses and the spring between them is kept."""
        programs = [Free(2.), Free(-1.)]
        reply = self.bonded(['left.v', 'right.v'], {'stiffness': 100}, kind='velocity', ends=[
            {'inputs': ['F'], 'outputs': ['v'], 'patience': 20 * SLOW} for _ in range(2)])
        self.assertEqual(reply.status, 201, reply)
        with Program(self.daemon, reply['id'], 'left', programs[0]), \
                Program(self.daemon, reply['id'], 'right', programs[1]):
            for _ in range(3):
                self.good(reply['id'], count=10)
                one, other = programs
                energy = (one.v ** 2 + other.v ** 2 + 100 * (one.x - other.x) ** 2) / 2
                self.assertAlmostEqual(energy, 2.5, delta=1e-9)
            self.assertGreater(abs(one.x - other.x), 0.1)
            self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + reply['id']).status, 204)

    def test_a_rotor_and_a_mass_have_no_bond(self):
        rotor = {'type': 'Rotor1D', 'physicsMass': None, 'physicsInertia': 1}
        rotor = self.end('Coordinates', body=rotor)
        self.refused('N m', ends=[self.end('Coordinates'), rotor])

    def test_a_flow_of_a_program_is_what_the_other_one_is(self):
        """Its outputs have no units. A window is one internal step: the velocity of a program is
        known at the ends of windows alone."""
        for names in (('left', 'right'), ('right', 'left')):
            program = Free(-1.)
            ends = {names[0]: self.daemon.create(half(0., 2., k=10., h=0.01)),
                    names[1]: {'inputs': ['F'], 'outputs': ['v'], 'patience': 20 * SLOW}}
            reply = self.bonded(['left.v', 'right.v'], {'stiffness': 100},
                                ends=[ends['left'], ends['right']])
            self.assertEqual(reply.status, 201, reply)
            with Program(self.daemon, reply['id'], names[1], program):
                for _ in range(3):
                    out = self.good(reply['id'], count=10)['outputs']
                    x, v = out[names[0] + '.x'], out[names[0] + '.v']
                    energy = (v ** 2 + 10 * x ** 2 + program.v ** 2 +
                              100 * (x - program.x) ** 2) / 2
                    self.assertAlmostEqual(energy, 2.5, delta=1e-9)
                self.assertEqual(self.daemon.call(
                    'DELETE', '/v1/couplings/' + reply['id']).status, 204)


if __name__ == '__main__':
    unittest.main()
