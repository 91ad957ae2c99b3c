"""Interactions between systems are suspended and made active again while an instance lives: the
sizes stay, a suspended law does nothing, and an active one holds from the next step on."""
import itertools
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


def turned(model, way):
    """With the velocities of its masses turned round where way is -1."""
    system, *others = model['objects']
    if 'v0' in system:
        system = {**system, 'v0': [way * v for v in system['v0']]}
    return {**model, 'objects': [system] + others}


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

    def impulse(self, path):
        return self.call('GET', path + '/state').get('impulse', [])

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

    def test_no_distance_makes_a_suspended_law_act(self):
        # what has states of first order is stepped by the scheme for bodies
        more = {'name': 'x', 'type': 'FirstOrderLinearTIDS', 'A': [[-1]], 'x0': [1]}
        far = second({'type': 'NewtonImpact', 'e': 0}, [[1e100]], [-1], 'EventDriven', q0=[-2])
        cases = {'far within an overlap, event-driven': far,
                 'far within an overlap': {**far, 'solver': CASES['contact']['solver']}}
        for name, model in CASES.items():
            if model['solver']['integrator'] == 'MoreauJean':
                model = {**model, 'solver': {**model['solver'], 'activationThreshold': 1e300}}
                cases[name] = model
                cases[name + ', beside states'] = {**model, 'objects': model['objects'] + [more]}
        for name, model in cases.items():
            for way in (1, -1):
                with self.subTest(name, way=way):
                    model = turned(model, way)
                    none = self.made({**model, 'interactions': []})
                    off = self.made({**model, 'interactions': [
                        dict(model['interactions'][0], active=False)]})
                    self.assertEqual(self.step(off, 30), self.step(none, 30))
                    self.assertEqual(set(self.impulse(off)), {0})

    def test_suspending_a_law_is_no_event(self):
        for name, way in itertools.product(CASES, (1, -1)):
            with self.subTest(name, way=way):
                model = turned(CASES[name], way)
                path = self.made({**model, 'parameters': {'closed': 1},
                                  'inputs': [{'name': 'grip', 'parameter': 'closed'}],
                                  'interactions': [dict(model['interactions'][0],
                                                        active='=closed')]})
                for _ in range(60):
                    self.call('POST', path + '/step', {'count': 1, 'want': ['events']})
                    if any(self.impulse(path)):
                        break
                else:
                    self.fail('the law never acts')
                reply = self.call('POST', path + '/step', {
                    'count': 10, 'inputs': {'grip': 0}, 'want': ['events'], 'earlyReturn': True})
                self.assertEqual((reply['events'], reply['report']['steps']), ([], 10))

    def test_a_law_that_the_scheme_does_not_support_is_refused_while_it_is_suspended(self):
        relay, lemke = CASES['relay'], {'vi': {'type': 'lemke'}}
        for name, model, solver, pointer in (
                ('relay', relay, {'integrator': 'EventDriven'}, '/interactions/0/law'),
                ('friction', CASES['friction'], {'integrator': 'EventDriven'},
                 '/interactions/0/law'),
                ('relay by pivoting', relay, lemke, '/solver/vi/type'),
                ('friction by pivoting', CASES['friction'], lemke, '/solver/vi/type'),
                ('relay of first order by elimination', CASES['relay of first order'],
                 {'vi': {'type': 'bilateral'}}, '/solver/vi/type')):
            for active in (True, False, '=closed'):
                with self.subTest(name, active=active):
                    law = dict(model['interactions'][0], active=active)
                    reply = self.call('POST', '/v1/models/check', {'model': {
                        **model, 'parameters': {'closed': 0}, 'interactions': [law],
                        'solver': {**model['solver'], **solver}}}, 422)
                    self.assertEqual([e['pointer'] for e in reply['errors']],
                                     ['/model' + pointer])

    def test_a_suspended_law_is_no_part_of_the_problem_of_the_others(self):
        # what these solvers need for the diode depends on the largest number of the problem
        model = first({'type': 'Complementarity'}, A=0.5, x0=-1)
        diode, = model['interactions']
        diode = {**diode, 'relation': {**diode['relation'], 'C': [[1e-3]], 'B': [[1e-4]]}}
        for law in (CASES[name]['interactions'][0] for name in (
                'relay beside 0', 'equality of first order', 'complementarity')):
            for vi in ('apgd', 'barzilai', 'jacobi', 'psor', 'semismooth', None):
                with self.subTest(law['law']['type'], vi=vi):
                    alone, beside = (self.made({
                        **model, 'interactions': laws,
                        'solver': {**model['solver'], 'vi': {'type': vi} if vi else {}}})
                        for laws in ([diode], [diode, {**law, 'name': 'off', 'active': False}]))
                    one, two = (self.call('POST', path + '/step', {'count': 20})['report']
                                for path in (alone, beside))
                    self.assertGreater(one['viIterations'], 0)
                    self.assertEqual(two['viIterations'], one['viIterations'])
                    one, two = (self.call('GET', path + '/state') for path in (alone, beside))
                    self.assertEqual(two['x'], one['x'])
                    self.assertEqual(two['impulse'], one['impulse'] + [0])

    def test_laws_are_suspended_each_by_itself(self):
        for scheme, names in (('EulerMoreau', ('relay of first order', 'complementarity',
                                               'equality of first order', 'relay beside 0')),
                              ('MoreauJean', ('relay', 'friction', 'contact', 'equality')),
                              ('EventDriven', ('equality, event-driven',
                                               'contact, event-driven'))):
            solver = {'integrator': scheme, 'stepSize': 0.01}
            objects, laws = [], []
            for k, name in enumerate(names):
                system, = CASES[name]['objects']
                law, = CASES[name]['interactions']
                objects.append({**system, 'name': 's%d' % k})
                laws.append({**law, 'name': 'law%d' % k, 'systems': ['s%d' % k]})
                if scheme == 'EulerMoreau':
                    laws[-1]['relation'] = {**law['relation'], 'D': [[0.1 * (k + 1)]]}
            whole = {'mechd': 1, 'objects': objects, 'interactions': laws, 'solver': solver}
            for off in itertools.product((False, True), repeat=len(names)):
                with self.subTest(scheme, suspended=off):
                    some = {**whole, 'interactions': [
                        law for law, is_off in zip(laws, off) if not is_off]}
                    path = self.made({**whole, 'interactions': [
                        dict(law, active=not is_off) for law, is_off in zip(laws, off)]})
                    none = self.made(some)
                    self.assert_same(self.step(path, 40), self.step(none, 40))
                    # impulses of the others, with 0 in between
                    rows, found = ([len(law['relation'].get('H') or law['relation']['C'])
                                    for law in laws], iter(self.impulse(none)))
                    wanted = [0 if is_off else next(found)
                              for n, is_off in zip(rows, off) for _ in range(n)]
                    self.assert_same(self.impulse(path), wanted)

    def test_a_suspended_floor_does_nothing_where_another_one_is_met(self):
        for integrator in ('MoreauJean', 'EventDriven'):
            model = second(IMPACT, [[1]], [0], integrator, force=[-9.81], q0=[0.1])
            floor, = model['interactions']
            low, high = ({**floor, 'name': 'floor%d' % e, 'law': {**IMPACT, 'e': e}}
                         for e in (0, 1))
            for one, other in ((low, high), (high, low)):
                for both in ([one, {**other, 'active': False}], [{**other, 'active': False}, one]):
                    with self.subTest(integrator, law=one['law'], first=both[0]['name']):
                        alone, beside = (self.made({**model, 'interactions': laws})
                                         for laws in ([one], both))
                        self.assert_same(self.step(beside, 40), self.step(alone, 40))

    def test_rates_of_states_are_without_the_multiplier_of_the_step_before(self):
        for name, model in CASES.items():
            if model['solver']['integrator'] != 'EulerMoreau':
                continue
            with self.subTest(name):
                path = self.led(model, 1)
                x = self.step(path, 1)[-1]
                self.assertNotEqual(self.impulse(path), [0])
                self.set(path, 0)
                rate = self.call('GET', path + '/objects/s/outputs/Coordinates_t')['value']
                self.assert_same(rate, [model['objects'][0]['A'][0][0] * x])

    def test_laws_that_contradict_are_named_behind_a_suspended_one(self):
        model = CASES['complementarity']
        law, = model['interactions']
        never = {'type': 'FirstOrderLinearTIR', 'C': [[0]], 'B': [[0]], 'D': [[0]], 'e': [-1]}
        path = self.made({**model, 'interactions': [
            {**law, 'name': 'off', 'active': False}, {**law, 'name': 'never', 'relation': never}]})
        reply = self.call('POST', path + '/step', {'count': 1}, 422)
        self.assertIn('the laws of these interactions together: "never"', reply['detail'])

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
                    self.step(path, 1)
                    state = self.call('GET', path + '/state')
                    self.assertEqual(set(state['impulse']), {0})
                    other = self.made({**model, 'interactions': []})
                    self.call('PUT', other + '/state',
                              {k: state[k] for k in ('q', 'v', 'x') if k in state})
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
        law = ('kind', 'rows', 'lower', 'upper', 'mu', 'position')
        for name, gap in (('equality', 0), ('contact', 0.1), ('relay', 0)):
            with self.subTest(name):
                path = self.led(CASES[name], 0)
                row, = self.call('GET', path + '/system/blocks')['constraints']
                self.assertEqual((row['active'], 'disabled' in row['flags']), (False, True))
                self.assertAlmostEqual(row['position'], gap, delta=1e-12)
                self.set(path, 1)
                now, = self.call('GET', path + '/system/blocks')['constraints']
                self.assertNotIn('disabled', now['flags'])
                self.assertEqual([now[k] for k in law if k in now],
                                 [row[k] for k in law if k in row])

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
