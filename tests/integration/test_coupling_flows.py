"""Power and energy through the connections of a coupling, and what its holds add to the energy."""
import unittest

from coupled import K12, Couplings, half, point

SPRING = [{'name': 'spring', 'effort': ['left.F', 'right.F'], 'flow': ['left.x', 'right.x'],
           'law': {'stiffness': 100, 'damping': 0.5}}]


class Flows(Couplings):
    def energy(self, reply):
        """With that of the spring between them: a force K12 x of the other one."""
        return reply['energy'] - K12 * reply['outputs']['left.x'] * reply['outputs']['right.x']

    def test_the_balance_is_the_growth_of_energy(self):
        """What an explicit hold adds, or an implicit one takes, to rounding. Inputs that vary over
        a window do work that the report has to second order of the internal steps."""
        for more, tolerance in (({'scheme': 'Jacobi'}, 1e-11), ({'scheme': 'GaussSeidel'}, 1e-11),
                                ({'scheme': 'IQN-ILS'}, 1e-11), ({'hold': 1}, 1e-4)):
            with self.subTest(more):
                _, _, cid = self.oscillators(**more)
                energy = self.energy(self.good(cid, count=1, want=['energy']))
                for count in (1, 7, 20):
                    reply = self.good(cid, count=count, want=['interface', 'energy'])
                    flows = reply['report']['interface']
                    self.assertEqual(list(flows), ['left.x -> right.F', 'right.x -> left.F'])
                    grown = self.energy(reply) - energy
                    added = sum(f['balance'] for f in flows.values())
                    self.assertAlmostEqual(grown, added, delta=tolerance * 100)
                    # in turn, one connection adds what the other one takes
                    if more.get('scheme') in ('Jacobi', 'IQN-ILS'):
                        self.assertGreater(abs(grown), 1e-4)
                    if 'scheme' in more:
                        self.assertGreater(min(abs(f['balance']) for f in flows.values()), 1e-5)
                    energy += grown

    def test_energy_is_work_and_power_its_rate_in_the_last_window(self):
        left, _, cid = self.oscillators(scheme='Jacobi')
        before = self.good(cid, count=3, want=['energy'])['energy']
        reply = self.good(cid, count=1, want=['interface', 'energy'])
        flows = reply['report']['interface'].values()
        self.assertAlmostEqual(sum(f['energy'] for f in flows), reply['energy'] - before, 9)
        for flow in flows:
            self.assertAlmostEqual(flow['power'] * 0.01, flow['energy'], 12)
        # a trial reports what its step does, and a step that does not ask has none
        trial = self.good(cid, count=2, commit=False, want=['interface'])['report']
        step = self.good(cid, count=2, want=['interface'])['report']
        self.assertEqual(trial, step)
        self.assertNotIn('interface', self.good(cid, count=1)['report'])
        self.assertEqual(self.daemon.call('GET', '/v1/instances/' + left).status, 200)

    def test_work_through_components_of_vectors(self):
        left, right = self.daemon.create(point()), self.daemon.create(point())
        reply = self.couple(left, right, [
            {'from': 'left.p[0]', 'to': 'right.F[2]', 'factor': 40},
            {'from': 'left.y', 'to': 'right.E[0]', 'factor': 30},
            {'from': 'right.v[2]', 'to': 'left.F[1]', 'factor': 20}], scheme='Jacobi')
        self.assertEqual(reply.status, 201, reply)
        before = self.good(reply['id'], count=3, want=['energy'])['energy']
        reply = self.good(reply['id'], count=20, want=['interface', 'energy'])
        flows = [f['energy'] for f in reply['report']['interface'].values()]
        self.assertAlmostEqual(sum(flows), reply['energy'] - before, 9)
        self.assertGreater(min(map(abs, flows)), 1e-3)

    def test_the_work_of_an_offset_is_exact(self):
        """A constant force, whatever the output is: a hold adds nothing to it."""
        left, right = self.daemon.create(half(1., k=50.)), self.daemon.create(half(0., k=50.))
        cid = self.couple(left, right, [
            {'from': 'left.x', 'to': 'right.F', 'factor': 0, 'offset': 5}], scheme='Jacobi')['id']
        before = self.good(cid, count=1, want=['energy'])['energy']
        reply = self.good(cid, count=20, want=['interface', 'energy'])
        flow, = reply['report']['interface'].values()
        self.assertAlmostEqual(flow['energy'], reply['energy'] - before, 9)
        self.assertGreater(abs(flow['energy']), 0.01)
        self.assertAlmostEqual(flow['balance'], 0, 12)

    def test_a_bond_balances(self):
        """Its work, what it has stored and what its damper has taken."""
        left, right = (self.daemon.create(half(0., v, k=k)) for v, k in ((100., 10.), (-100., 1e3)))
        scheme = {'type': 'Energy', 'relativeTolerance': 1e-14}
        cid = self.couple(left, right, bonds=SPRING, scheme=scheme)['id']

        def whole(reply):
            gap = reply['outputs']['left.x'] - reply['outputs']['right.x']
            return reply['energy'] + 50 * gap ** 2
        start = self.good(cid, count=1, want=['energy'])
        before = start['energy']
        reply = self.good(cid, count=50, want=['interface', 'energy'])
        self.assertLess(whole(reply), whole(start) - 100)
        flow = reply['report']['interface']['spring']
        self.assertAlmostEqual(flow['energy'], reply['energy'] - before, delta=1e-8)
        self.assertAlmostEqual(flow['balance'], 0, delta=1e-8)
        self.assertGreater(abs(flow['energy']), 10)

    def test_a_spring_has_a_length_at_rest(self):
        """Two masses at one place: the spring pushes them apart by its energy."""
        left, right = self.daemon.create(half(k=10.)), self.daemon.create(half(k=1e3))
        spring = dict(SPRING[0], law={'stiffness': 100, 'rest': 0.5})
        scheme = {'type': 'Energy', 'relativeTolerance': 1e-14}
        cid = self.couple(left, right, bonds=[spring], scheme=scheme)['id']
        for _ in range(5):
            reply = self.good(cid, count=20, want=['energy'])
            gap = reply['outputs']['left.x'] - reply['outputs']['right.x']
            self.assertAlmostEqual(reply['energy'] + 50 * (gap - 0.5) ** 2, 12.5, delta=1e-10)
            self.assertGreater(reply['energy'], 0.1)

    def test_what_is_not_known_is_refused(self):
        left, right, cid = self.oscillators()
        reply = self.step(cid, count=1, want=['interface', 'peace'])
        self.assertEqual((reply.status, reply['errors'][0]['pointer']), (422, '/want/1'), reply)
        reply = self.couple(*(self.daemon.create(half()) for _ in range(2)), scheme='Energy',
                            bonds=SPRING * 2)
        self.assertEqual((reply.status, reply['errors'][0]['pointer']), (422, '/bonds/1'), reply)
        self.assertEqual(self.state(left), self.state(left))
        self.assertNotEqual(left, right)


if __name__ == '__main__':
    unittest.main()
