"""FMUs beside instances of the same model on the server that they came from: the same bits."""
import os
import random
import re
import struct
from harness import Served
from importing import Fmu

# linear, with joints, with impacts, with friction, flexible
EXAMPLES = ('spring-mass-damper', 'slider-crank', 'bouncing-ball', 'tilted-table',
            'flexible-cantilever')
STEPS = 1000


def bits(numbers):
    return struct.pack('<%dd' % len(numbers), *numbers)


class Steps(Served):
    """Random steps of an FMU and of an instance, with rollbacks and states as bytes in between."""

    def fmu(self, path, version):
        return Fmu(self.daemon.call('GET', '%s/fmu?version=%d' % (path, version)).raw)

    def call(self, method, path, body=None):
        reply = self.daemon.call(method, path, body)
        self.assertLess(reply.status, 300, reply)
        return reply.json

    def outputs(self, f, reply):
        """Bits of the FMU's outputs, and of the server's in the same order."""
        expected = []
        for v in f.outputs():
            name, element, part = re.fullmatch(r'(?:output:)?([^\[:]+)(?:\[(\d+)\])?(?::(\d))?',
                                               v.name).groups()
            value = reply['outputs'][name]
            value = value if isinstance(value, list) else [value]
            if element is not None:
                value = [value[int(element) - 1]]
            elif part is not None:
                value = value[(int(part) - 1) * v.size:int(part) * v.size]
            expected += value
        return bits(f.get(f.outputs())), bits([float(x) for x in expected])

    def inputs(self, f, dice):
        """Random loads as both take them, small enough for the flexible one."""
        both = {}, {}
        for v in f.variables.values():
            if v.causality != 'input' or v.variability != 'continuous':
                continue
            name = re.sub(r'\[\d+\]$', '', v.name)
            value = [dice.uniform(-0.1, 0.1) for _ in range(v.size)]
            both[0][v.name] = value
            both[1].setdefault(name, []).extend(value)
        return both[0], {n: v if len(v) > 1 else v[0] for n, v in both[1].items()}

    def walk(self, name, version):
        dice = random.Random('%s %d' % (name, version))
        path = '/v1/instances/' + self.call('POST', '/v1/instances', {'example': name})['id']
        saved = kept = None
        counts = {'restored': 0, 'bytes': 0}
        with self.fmu(path, version) as f:
            f.initialize()
            for n in range(STEPS):
                if n % 97 == 0:
                    if saved is not None:
                        f.forget(saved)
                        self.call('DELETE', '%s/snapshots/%s' % (path, kept))
                    saved, kept = f.save(), self.call('POST', path + '/snapshots')['id']
                if dice.random() < 0.02:
                    f.restore(saved)
                    self.call('POST', '%s/snapshots/%s/restore' % (path, kept))
                    counts['restored'] += 1
                if dice.random() < 0.02:
                    f.through_bytes()
                    counts['bytes'] += 1
                mine, theirs = self.inputs(f, dice) if dice.random() < 0.2 else ({}, {})
                size = f.step_size * dice.choice((1, 2, 0.5, dice.uniform(0.1, 3)))
                f.set(mine)
                f.step(size)
                reply = self.call('POST', path + '/step', {'size': size, 'inputs': theirs})
                self.assertEqual(bits([f.time]), bits([reply['time']]), n)
                mine, theirs = self.outputs(f, reply)
                self.assertEqual(mine, theirs, (name, version, n))
            f.forget(saved)
        self.assertGreater(min(counts.values()), 5, counts)
        self.call('DELETE', path)

    def test_reference_results_are_repeated(self):
        path = '/v1/instances/' + self.call('POST', '/v1/instances', {'example': 'four-bar'})['id']
        for version in (2, 3):
            with self.fmu(path, version) as f:
                place = os.path.join(f.folder, 'extra', 'org.fmi-standard.fmi-ls-ref')
                with open(os.path.join(place, 'results.csv'), encoding='utf-8') as lines:
                    rows = [[float(x) for x in line.split(',')] for line in list(lines)[1:]]
                f.initialize()
                self.assertEqual(len(rows), 101)
                for n, row in enumerate(rows):
                    if n > 0:
                        f.step(10 * f.step_size)
                    self.assertEqual(bits([f.time] + f.get(f.outputs())), bits(row), n)

    def test_two_versions_give_the_server_s_bits(self):
        for name in EXAMPLES:
            for version in (2, 3):
                with self.subTest(example=name, version=version):
                    self.walk(name, version)
