"""Every type of the registry alive in a model: all of its output variables in all configurations,
and all of its tunable fields set anew. Models are found by trial from what /v1/types lists: bodies
for nodes, markers for bodies and nodes, and for every other object the first seats on which the
daemon's own check lets it stand. A newcomer needs nothing here, unless it asks for more than that
finds: then a function of models.py that takes nothing is looked for that has it."""
import inspect
import itertools
import math
import random
import unittest
import models
from harness import Daemon

CONFIGURATIONS = ('current', 'reference', 'initial', 'startOfStep')
SIZES = (2, 1, 3, 6)  # of matrices and vectors whose size the types do not give


def value_of(field, size):
    """A value that a required field may take."""
    kind = field['kind']
    if kind == 'matrix':
        return {'diag': [2] * size}
    if kind in ('vector', 'values', 'numbers'):
        if 'default' in field and isinstance(field['default'], list):
            return field['default']
        # an inertia tensor is one of positive moments
        return ([1, 1, 1, 0, 0, 0] if field.get('count') == 6 else
                [1] * (field.get('count') or size))
    if kind == 'choice':
        return field['choices'][0]
    return {'boolean': True, 'integer': 1, 'formula': '=1', 'expression': '=1'}.get(kind, 1)


def others(field, value):
    """Another value that a changeable field may take, in a list; empty where its range has none."""
    if field['kind'] == 'boolean':
        return [not value]
    if isinstance(value, list):
        elements = [others(field, x) for x in value]
        return [[x[0] for x in elements]] if elements and all(elements) else []
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        more = value + 0.25 if value == 0 else 1.25 * value
        less = 0.75 * value
        return [x for x in (more, less) if x != value and field.get('minimum', x) <= x <=
                field.get('maximum', x)][:1]
    return []


class Registry(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.types = [t for t in cls.daemon.call('GET', '/v1/types').json['items']
                     if 'fields' in t]
        cls.model = {'mechd': 1, 'nodes': [], 'objects': [], 'markers': [], 'loads': [],
                     'gravity': [0, 0, -1]}
        cls.lost, cls.apart = [], []
        cls.standing = set()
        cls.build()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    @classmethod
    def fits(cls, model):
        reply = cls.daemon.call('POST', '/v1/instances', {'model': model})
        if reply.status == 201:
            cls.daemon.call('DELETE', '/v1/instances/%s' % reply.json['id'])
        return reply.status == 201

    @classmethod
    def of(cls, category):
        return [t for t in cls.types if t['category'] == category]

    @classmethod
    def items(cls, entry, references):
        """Possible items of a type on given references."""
        required = [f for f in entry['fields'] if f.get('required')]
        sized = any(f['kind'] in ('matrix', 'vector', 'values', 'numbers') and 'count' not in f
                    for f in required + [g for g in entry['fields']
                                         if g['name'].endswith('Coordinates')])
        for size in SIZES if sized else SIZES[:1]:
            item = {'name': 'i-%d' % len(cls.standing), 'type': entry['type']}
            for f in required:
                if f['kind'] == 'reference':
                    item[f['name']] = references[0]
                elif f['kind'] == 'references':
                    item[f['name']] = list(references)
                else:
                    item[f['name']] = value_of(f, size)
            # forces, factors and coordinates of some kind where none are required
            for f in entry['fields']:
                if f['name'] in ('load', 'scalingMarker0', 'referenceCoordinates',
                                 'initialCoordinates') and \
                        f['name'] not in item and 'default' not in f:
                    item[f['name']] = (value_of(f, size) if f['kind'] != 'matrix' else
                                       {'shape': [1, 1], 'coo': [[0, 0, 1]]})
            yield item

    @classmethod
    def around(cls, category, item):
        """A model of the item and what it stands on, bodies with their nodes."""
        named = {i['name']: (c, i) for c in ('nodes', 'objects', 'markers') for i in cls.model[c]}
        bodies = {i['node']: i['name'] for i in cls.model['objects'] if 'node' in i}
        found, open_ends = {}, [item]
        while open_ends:
            for value in open_ends.pop().values():
                for name in value if isinstance(value, list) else [value]:
                    for wanted in (name, bodies.get(name)) if isinstance(name, str) else ():
                        if wanted in named and wanted not in found:
                            found[wanted] = named[wanted]
                            open_ends.append(named[wanted][1])
        model = {'mechd': 1, 'gravity': [0, 0, -1], 'nodes': [], 'objects': [], 'markers': []}
        for name in named:
            if name in found:
                model[found[name][0]].append(found[name][1])
        if item not in model.setdefault(category, []):
            model[category].append(item)
        return model

    @classmethod
    def place(cls, entry, category, choices):
        """The first item of the type that stands on what is there; it stays."""
        for references in choices:
            for item in cls.items(entry, references):
                if cls.fits(cls.around(category, item)):
                    cls.model = dict(cls.model, **{category: cls.model[category] + [item]})
                    cls.standing.add(item['name'])
                    return item['name']
        return None

    @classmethod
    def build(cls):
        kinds = {t['type']: [f for f in t['fields'] if f.get('required') and
                             f['kind'].startswith('reference')] for t in cls.types}

        def target(entry):
            fields = kinds[entry['type']]
            return fields[0]['of'] if fields else None
        # a node of each kind for each body that may stand on it
        bodies = [t for t in cls.of('objects') if target(t) in ('nodes', None)]
        for body in bodies:
            if target(body) is None:
                cls.lost += [] if cls.place(body, 'objects', [()]) else [body['type']]
                continue
            for node in cls.of('nodes'):
                # where the reference is, and 1 m beside and above it
                for shift in (None, 0, 2):
                    if not cls.place_pair(node, body, shift):
                        break
        for node in cls.of('nodes'):
            if not any(n['type'] == node['type'] for n in cls.model['nodes']):
                cls.lost += [] if cls.place(node, 'nodes', [()]) else [node['type']]
        for marker in cls.of('markers'):
            to = target(marker)
            for seat in cls.model[to] if to else [None]:
                cls.place(marker, 'markers', [(seat['name'],)] if seat else [()])
        markers = [m['name'] for m in cls.model['markers']]
        for entry in cls.of('objects'):
            if target(entry) == 'markers':
                # in no order, so that what fits is found soon wherever it stands
                pairs = list(itertools.permutations(markers, 2))
                random.Random(1).shuffle(pairs)
                if not cls.place(entry, 'objects', pairs):
                    cls.lost.append(entry['type'])
                    continue
                # in a model of its own: joints of one model may contradict each other
                item = cls.model['objects'][-1]
                cls.model = dict(cls.model, objects=cls.model['objects'][:-1])
                cls.apart.append((cls.around('objects', item), 'objects', item))
        for load in cls.of('loads'):
            if not cls.place(load, 'loads', [(m,) for m in markers]):
                cls.lost.append(load['type'])
        for category, entries in (('nodes', cls.of('nodes')), ('objects', bodies)):
            there = {i['type'] for i in cls.model[category]}
            cls.lost += [t['type'] for t in entries
                         if t['type'] not in there and t['type'] not in cls.lost]
        cls.lost = [t for t in cls.lost if not cls.known(t)]

    @classmethod
    def known(cls, name):
        """A type that asks for more than trial finds, in a model of the other tests."""
        for model in (make() for key, make in vars(models).items()
                      if inspect.isfunction(make) and not inspect.signature(make).parameters):
            for category in ('nodes', 'objects') if isinstance(model, dict) else ():
                for item in model.get(category, ()):
                    if item['type'] == name:
                        cls.apart.append((model, category, item))
                        return True
        return False

    @classmethod
    def place_pair(cls, node, body, shift):
        """A body on nodes of its own, as many as it asks for, 1 m apart; one coordinate of the
        first stands at 1."""
        reference = next((f for f in node['fields'] if f['name'] == 'referenceCoordinates'), {})
        at = list(reference.get('default') or [])
        if shift is not None and shift >= len(at):
            return False
        count = next(f.get('count', 1) for f in body['fields'] if f.get('of') == 'nodes')
        for item in cls.items(node, ()):
            nodes = []
            for k in range(count):
                nodes.append(dict(item, name='%s-n%d' % (item['name'], k)))
                if at:
                    nodes[k]['referenceCoordinates'] = [
                        x + (1 if c == shift else 0) + (k if c == 0 else 0)
                        for c, x in enumerate(at)]
            for other in cls.items(body, tuple(n['name'] for n in nodes)):
                if cls.fits({'mechd': 1, 'nodes': nodes, 'objects': [other]}):
                    cls.model = dict(cls.model, nodes=cls.model['nodes'] + nodes,
                                     objects=cls.model['objects'] + [other])
                    cls.standing.update([n['name'] for n in nodes] + [other['name']])
                    return True
        return False

    def models(self):
        """(model, items to look at) – the common model whole, the others for their newest."""
        yield self.model, [(c, i) for c in ('nodes', 'objects', 'loads') for i in self.model[c]]
        for model, category, item in self.apart:
            yield model, [(category, item)]

    def test_every_item_with_two_markers_says_which_less_which_a_difference_is(self):
        pairs = [t for t in self.types if any(
            f['name'] == 'markers' and f.get('count') == 2 for f in t['fields'])]
        self.assertGreater(len(pairs), 10)
        self.assertEqual([t['type'] for t in pairs if ' less ' not in t['doc'] or not (
            'first' in t['doc'] and 'second' in t['doc'])], [])

    def test_every_type_found_its_place(self):
        self.assertEqual(self.lost, [])

    def test_all_outputs_in_all_configurations(self):
        told = {t['type']: t.get('outputs', []) for t in self.types}
        seen = 0
        for model, items in self.models():
            i = self.daemon.create(model)
            for category, item in items:
                for variable in told[item['type']]:
                    for configuration in CONFIGURATIONS:
                        path = '/v1/instances/%s/objects/%s/outputs/%s?category=%s&configuration=%s'
                        reply = self.daemon.call('GET', path % (i, item['name'], variable, category,
                                                                configuration))
                        where = (item['type'], variable, configuration, reply.raw)
                        # accelerations and reactions are known of the present alone
                        allowed = (200,) if configuration == 'current' else (200, 404)
                        self.assertIn(reply.status, allowed, where)
                        if reply.status == 200:
                            self.assertTrue(all(math.isfinite(x) for x in reply.json['value']),
                                            where)
                            seen += 1
        self.assertGreater(seen, 500)

    def test_all_tunable_fields_are_set_anew(self):
        fields = {t['type']: [f for f in t['fields'] if f.get('tunable')] for t in self.types}
        changed, standing = set(), set()
        for model, items in self.models():
            i = self.daemon.create(model)
            before = self.daemon.call('GET', '/v1/instances/%s/state' % i).json
            for category, item in items:
                for f in fields[item['type']]:
                    standing.add((item['type'], f['name']))
                    value = item.get(f['name'], f.get('default', 0))
                    path = '/v1/instances/%s/objects/%s/fields/%s?category=%s'
                    for given in (*others(f, value), value):
                        reply = self.daemon.call('PUT', path % (
                            i, item['name'], f['name'], category), {'value': given})
                        self.assertEqual(reply.status, 200, (item['type'], f['name'], reply.raw))
                        self.assertEqual(reply['value'], given, (item['type'], f['name']))
                        if given != value:
                            changed.add((item['type'], f['name']))
            after = self.daemon.call('GET', '/v1/instances/%s/state' % i).json
            self.assertEqual(after['q'], before['q'])
            for k in ('q', 'v', 'a', 'lambda', 'z'):
                self.assertEqual(len(after[k]), len(before[k]))
            # where joints are taken up again, velocities are those nearest that fit
            for one, two in zip(after['v'], before['v']):
                self.assertAlmostEqual(one, two, delta=1e-9)
        self.assertEqual(standing - changed, set())
        self.assertGreater(len([n for _, n in changed if n == 'active']), 10)

    def after(self, path, steps):
        """q, v and the multipliers after so many steps; None: a step is refused."""
        reply = self.daemon.call('POST', path + '/step', {'count': steps})
        state = self.daemon.call('GET', path + '/state').json
        return [state[k] for k in ('q', 'v', 'lambda')] if reply.status == 200 else None

    def assert_alike(self, one, two, where):
        self.assertEqual(one is None, two is None, where)
        for a, b in zip(one or (), two or ()):
            size = max([1.0] + [abs(x) for x in b])
            for x, y in zip(a, b):
                self.assertAlmostEqual(x / size, y / size, delta=1e-8, msg=where)

    def test_a_changed_field_acts_as_in_a_document(self):
        fields = {t['type']: [f for f in t['fields'] if f.get('tunable')] for t in self.types}
        seen = set()
        for model, items in self.models():
            for category, item in items:
                small = model if model is not self.model else self.around(category, item)
                for f in fields[item['type']]:
                    value = item.get(f['name'], f.get('default', 0))
                    for given in others(f, value):
                        if self.changes_alike(small, category, item, f['name'], (value, given)):
                            seen.add((item['type'], f['name']))
        known = {(i['type'], f['name']) for _, items in self.models() for _, i in items
                 for f in fields[i['type']]}
        # documents are refused where a joint does not fit, or a spring between the same points has
        # no direction
        self.assertEqual(known - seen, {
            ('CoordinateConstraint', 'offset'), ('RollingDisc', 'discRadius'),
            ('SpringDamper', 'force'), ('SpringDamper', 'referenceLength'),
            ('SpringDamper', 'velocityOffset')})

    def changes_alike(self, model, category, item, field, values):
        """Changed in place, and in the document; and back. False: the document is refused."""
        items = [dict(i, **{field: values[1]}) if i['name'] == item['name'] else i
                 for i in model[category]]
        where = (item['type'], field, values)
        plain, live = ('/v1/instances/' + self.daemon.create(model) for _ in range(2))
        put = '%s/objects/%s/fields/%s?category=%s'
        steps = 3

        def change(value):
            return self.daemon.call('PUT', put % (live, item['name'], field, category),
                                    {'value': value}).status

        def reset():
            return self.daemon.call('POST', live + '/reset').status
        self.assertEqual(change(values[1]), 200, where)
        made = self.daemon.call('POST', '/v1/instances',
                                {'model': dict(model, **{category: items})})
        try:
            if made.status == 201:
                made = '/v1/instances/' + made['id']
                self.assert_alike(self.after(live, steps), self.after(made, steps), where)
                self.daemon.call('DELETE', made)
            # what has moved apart is taken up where it begins
            if change(values[0]) != 200:
                self.assertEqual((reset(), change(values[0])), (200, 200), where)
            self.assertEqual(reset(), 200, where)
            self.assert_alike(self.after(live, steps), self.after(plain, steps), where + ('back',))
        finally:
            self.daemon.call('DELETE', live)
            self.daemon.call('DELETE', plain)
        return isinstance(made, str)

    def test_every_joint_follows_a_parameter(self):
        led = set()
        # of interactions test_interactions shows it, for every law
        joints = {t['type'] for t in self.of('objects')
                  if any(f['name'] == 'active' for f in t['fields'])}
        for model, items in self.models():
            for category, item in items:
                if item['type'] not in joints:
                    continue
                small = model if model is not self.model else self.around(category, item)
                small = dict(small, parameters={'closed': 1}, **{category: [
                    dict(i, active='=closed') if i['name'] == item['name'] else i
                    for i in small[category]]})
                path = '/v1/instances/' + self.daemon.create(small)
                before = self.daemon.call('GET', path + '/state').json
                for closed in (0, 1, 0, 1):
                    reply = self.daemon.call('PUT', path + '/parameters', {'closed': closed})
                    self.assertEqual(reply.status, 200, (item['type'], reply.raw))
                    state = self.daemon.call('GET', path + '/state').json
                    self.assertEqual(state['q'], before['q'], item['type'])
                    for one, two in zip(state['v'], before['v']):
                        self.assertAlmostEqual(one, two, delta=1e-9, msg=item['type'])
                    self.assertEqual(len(state['lambda']), len(before['lambda']), item['type'])
                    holds = any(x in item['type'] for x in ('Joint', 'Constraint', 'Rolling'))
                    told = list(reply.json.get('impulses', {}))
                    if holds or not closed:
                        self.assertEqual(told, [item['name']] if closed else [], item['type'])
                    if holds and not closed:
                        self.assertIn(0, state['lambda'], item['type'])
                led.add(item['type'])
                self.daemon.call('DELETE', path)
        self.assertEqual(joints - led, set())


if __name__ == '__main__':
    unittest.main()
