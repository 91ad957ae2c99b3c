"""Interactions between systems are suspended and made active again while an instance lives: the
sizes stay, a suspended law does nothing, and an active one holds from the next step on."""
import unittest

from harness import Served


def second(law, H, v0, integrator='MoreauJean', b=0, force=None, q0=None):
    """Masses of 1 kg in a row, at rest at 0 or as given, and one interaction between them."""
    n = len(v0)
    relation = {'type': 'LagrangianLinearTIR', 'H': H, 'b': [b] + [0] * (len(H) - 1)}
    return {'mechd': 1,
            'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': {'diag': [1] * n},
                         'q0': q0 or [0] * n, 'v0': v0, 'Fext': force or [0] * n}],
            'sensors': [{'name': 'v', 'type': 'SensorObject', 'object': 's',
                         'outputVariable': 'Coordinates_t'}],
            'outputs': [{'name': 'v', 'sensor': 'v'}],
            'interactions': [{'name': 'law', 'systems': ['s'], 'relation': relation, 'law': law}],
            'solver': {'integrator': integrator, 'stepSize': 0.01}}


def first(law, A=-1, x0=1, e=0):
    """x' = A x + λ with the law between x + e and λ."""
    relation = {'type': 'FirstOrderLinearTIR', 'C': [[1]], 'B': [[1]], 'D': [[0]], 'e': [e]}
    return {'mechd': 1,
            'objects': [{'name': 's', 'type': 'FirstOrderLinearTIDS', 'A': [[A]], 'x0': [x0]}],
            'sensors': [{'name': 'x', 'type': 'SensorObject', 'object': 's',
                         'outputVariable': 'Coordinates'}],
            'outputs': [{'name': 'v', 'sensor': 'x'}],
            'interactions': [{'name': 'law', 'systems': ['s'], 'relation': relation, 'law': law}],
            'solver': {'integrator': 'EulerMoreau', 'stepSize': 0.01}}


IMPACT = {'type': 'NewtonImpact', 'e': 0.5}
CASES = {
    'equality': second({'type': 'Equality'}, [[1, -1]], [1, 0]),
    'equality, event-driven': second({'type': 'Equality'}, [[1, -1]], [1, 0], 'EventDriven'),
    'contact': second(IMPACT, [[1]], [0], b=-0.1, force=[-9.81], q0=[0.2]),
    # it meets the floor late, since EventDriven does not begin with an overlap
    'contact, event-driven': second(IMPACT, [[1]], [0], 'EventDriven', b=-0.1, force=[-9.81],
                                    q0=[1.1]),
    'friction': second({'type': 'NewtonImpactFriction', 'dimension': 2, 'mu': 0.5},
                       [[1, 0], [0, 1]], [0, 1], force=[-9.81, 0]),
    'relay': second({'type': 'Relay', 'lb': -2, 'ub': 2}, [[1]], [1]),
    'relay of first order': first({'type': 'Relay', 'lb': -2, 'ub': 2}),
    'relay beside 0': first({'type': 'Relay', 'lb': 1, 'ub': 2}),
    'equality of first order': first({'type': 'Equality'}),
    'complementarity': first({'type': 'Complementarity'}, A=0.5, x0=-1),
}


class Interactions(Served):
    def made(self, model):
        return '/v1/instances/' + self.daemon.create(model)

    def call(self, method, path, body=None, status=200):
        reply = self.daemon.call(method, path, body)
        self.assertEqual(reply.status, status, reply)
        return reply.json

    def step(self, path, count):
        self.call('POST', path + '/step', {'count': count})
        state = self.call('GET', path + '/state')
        return state['q'] + state['v'] + state.get('x', [])

    def led(self, model, closed):
        law = dict(model['interactions'][0], active='=closed')
        return self.made({**model, 'parameters': {'closed': closed}, 'interactions': [law]})

    def set(self, path, closed):
        self.call('PUT', path + '/parameters', {'closed': closed})

    def assert_same(self, one, two):
        self.assertEqual(len(one), len(two))
        for x, y in zip(one, two):
            self.assertAlmostEqual(x, y, delta=1e-12)

    def test_every_law_is_among_the_cases(self):
        laws = {t['type'] for t in self.call('GET', '/v1/types')['items']
                if t['category'] == 'law'}
        self.assertEqual({model['interactions'][0]['law']['type'] for model in CASES.values()},
                         laws)

    def test_a_suspended_law_is_none(self):
        for name, model in CASES.items():
            with self.subTest(name):
                none = self.made({**model, 'interactions': []})
                off = self.made({**model, 'interactions': [
                    dict(model['interactions'][0], active=False)]})
                led, plain, on = self.led(model, 0), self.made(model), self.led(model, 1)
                free, held = self.step(none, 50), self.step(plain, 50)
                self.assert_same(self.step(off, 50), free)
                self.assert_same(self.step(led, 50), free)
                self.assertEqual(self.step(on, 50), held)
                self.assertGreater(max(abs(x - y) for x, y in zip(free, held)), 1e-3)

    def test_a_law_follows_a_parameter_both_ways(self):
        for name, model in CASES.items():
            with self.subTest(name):
                sizes = self.call('GET', self.made(model))['sizes']
                path, none = self.led(model, 0), self.made({**model, 'interactions': []})
                self.assert_same(self.step(path, 10), self.step(none, 10))
                for _ in range(2):
                    self.set(path, 1)
                    self.assertEqual(self.call('GET', path)['sizes'], sizes)
                    self.step(path, 10)
                    self.set(path, 0)
                    free = self.step(path, 1)
                    state = self.call('GET', path + '/state')
                    other = self.made({**model, 'interactions': []})
                    self.call('PUT', other + '/state',
                              {k: state[k] for k in ('q', 'v', 'x') if k in state})
                    del free
                    self.assert_same(self.step(path, 10), self.step(other, 10))
                # from the start on, as in the document
                self.set(path, 1)
                self.call('POST', path + '/reset')
                self.set(path, 1)
                self.assertEqual(self.step(path, 20), self.step(self.made(model), 20))

    def test_masses_that_are_joined_keep_their_momentum(self):
        for integrator in ('MoreauJean', 'EventDriven'):
            with self.subTest(integrator):
                model = second({'type': 'Equality'}, [[1, -1]], [1, 0], integrator)
                path = self.led(model, 0)
                self.assert_same(self.step(path, 10), [0.1, 0, 1, 0])
                self.set(path, 1)
                self.assert_same(self.step(path, 10)[2:], [0.5, 0.5])
                self.set(path, 0)
                self.assert_same(self.step(path, 10)[2:], [0.5, 0.5])

    def test_a_floor_that_comes_and_goes(self):
        for integrator in ('MoreauJean', 'EventDriven'):
            with self.subTest(integrator):
                model = second({'type': 'NewtonImpact', 'e': 0}, [[1]], [0], integrator,
                               force=[-9.81], q0=[0.01])
                path = self.led(model, 1)
                q, v = self.step(path, 100)
                self.assertAlmostEqual(v, 0, delta=1e-9)
                self.set(path, 0)
                self.assertAlmostEqual(self.step(path, 10)[1], -0.981, delta=1e-9)
                self.set(path, 1)
                if integrator == 'EventDriven':
                    reply = self.call('POST', path + '/step', {'count': 1}, 422)
                    self.assertIn('cannot begin with an overlap', reply['detail'])
                    self.set(path, 0)
                    self.step(path, 1)
                    continue
                q, v = self.step(path, 2)
                self.assertAlmostEqual(v, 0, delta=1e-9)
                self.assertEqual(self.step(path, 5)[1], v)

    def test_a_state_from_before_follows_the_present_law(self):
        floor = second({'type': 'NewtonImpact', 'e': 0}, [[1]], [0], 'EventDriven',
                       force=[-9.81], q0=[0.01])
        rods = second({'type': 'Equality'}, [[1, -1]], [1, 0], 'EventDriven')
        for name, model, active, wanted in (('floor', floor, False, [-0.981]),
                                            ('rods', rods, True, [0.5, 0.5])):
            with self.subTest(name):
                law = dict(model['interactions'][0], active=not active)
                path = self.made({**model, 'interactions': [law]})
                self.step(path, 100)
                snapshot = self.call('POST', path + '/snapshots', status=201)['id']
                self.call('PUT', path + '/objects/law/fields/active?category=interactions',
                          {'value': active})
                self.call('POST', path + '/snapshots/%s/restore' % snapshot)
                self.assert_same(self.step(path, 10)[len(wanted):], wanted)

    def test_an_input_leads_it_within_a_step_request(self):
        model = CASES['equality']
        model = {**model, 'parameters': {'closed': 0},
                 'inputs': [{'name': 'grip', 'parameter': 'closed'}],
                 'interactions': [dict(model['interactions'][0], active='=closed > 0.5')]}
        path = self.made(model)
        self.call('POST', path + '/step', {'count': 1, 'inputs': {'grip': 0.4}})
        self.assert_same(self.call('GET', path + '/state')['v'], [1, 0])
        self.call('POST', path + '/step', {'count': 1, 'inputs': {'grip': 0.6}})
        self.assert_same(self.call('GET', path + '/state')['v'], [0.5, 0.5])

    def test_the_descriptor_shows_it_as_disabled(self):
        for name, gap in (('equality', 0), ('contact', 0.1), ('relay', 0)):
            with self.subTest(name):
                path = self.led(CASES[name], 0)
                row, = self.call('GET', path + '/system/blocks')['constraints']
                self.assertEqual((row['active'], 'disabled' in row['flags']), (False, True))
                self.assertAlmostEqual(row['position'], gap, delta=1e-12)
                self.set(path, 1)
                row, = self.call('GET', path + '/system/blocks')['constraints']
                self.assertNotIn('disabled', row['flags'])

    def test_its_field_is_changed_in_place(self):
        for name, model in CASES.items():
            with self.subTest(name):
                path = self.made({**model, 'parameters': {'closed': 0}})
                none = self.made({**model, 'interactions': []})
                field = path + '/objects/law/fields/active'
                for value in (True, False):
                    reply = self.call('PUT', field + '?category=interactions', {'value': value})
                    self.assertEqual((reply['name'], reply['value']), ('law', value))
                self.assert_same(self.step(path, 10), self.step(none, 10))
                reply = self.call('PUT', field, {'category': 'interactions', 'value': '=closed'})
                self.assertEqual(reply['value'], '=closed')
                self.assert_same(self.step(path, 10), self.step(none, 10))
                law, = self.call('GET', path + '/model')['interactions']
                self.assertEqual(law['active'], '=closed')
                self.set(path, 1)
                self.call('POST', path + '/reset')
                self.call('PUT', field, {'category': 'interactions', 'value': True})
                self.assertEqual(self.step(path, 10), self.step(self.made(model), 10))

    def test_what_cannot_be_changed_is_refused(self):
        path = self.made(CASES['relay'])
        for item, field, value, status, told in (
                ('law', 'systems', ['s'], 422, 'systems cannot be changed'),
                ('law', 'name', 'x', 422, 'name cannot be changed'),
                ('law', 'activ', True, 404, "did you mean 'active'?"),
                ('lwa', 'active', True, 404, "did you mean 'law'?"),
                ('law', 'active', 1, 422, 'must be true or false or an expression'),
                ('law', 'active', '=nothing', 422, 'nothing')):
            reply = self.daemon.call('PUT', '%s/objects/%s/fields/%s?category=interactions' % (
                path, item, field), {'value': value})
            self.assertEqual(reply.status, status, reply)
            self.assertIn(told.encode(), reply.raw)

    def test_what_is_no_truth_is_refused_with_its_place(self):
        law = dict(CASES['relay']['interactions'][0], active=1)
        reply = self.daemon.call('POST', '/v1/models/check', {
            'model': {**CASES['relay'], 'interactions': [law]}})
        self.assertEqual((reply.status, reply['errors'][0]['pointer']),
                         (422, '/model/interactions/0/active'), reply)


if __name__ == '__main__':
    unittest.main()
