"""Two coupled oscillators (tests/integration/coupled.py) as instances of the server, as hosted FMUs
that the server has exported itself, and as FMUs of an importer of the tests: the same bits. The
window is 2^-7 s, so that sums of it have no rounding."""
import struct
import unittest
import fmus
import harness
from coupled import K, K12, OSCILLATORS, Couplings, half
from harness import Daemon
from importing import Fmu

H, WINDOWS = 2. ** -7, 128


def bits(*numbers):
    return struct.pack('<%dd' % len(numbers), *numbers)


class Oscillators(Couplings):
    def setUp(self):
        self.daemon = Daemon('--workers', '2', *fmus.ON)

    def instances(self):
        return [self.daemon.create(half(x, k=K + K12, h=H / 2)) for x in (1., 0.)]

    def exported(self, version):
        for i in self.instances():
            reply = self.daemon.call('GET', '/v1/instances/%s/fmu?version=%d' % (i, version))
            self.assertEqual(reply.status, 200, reply)
            yield reply.raw

    def hosted(self, version):
        return [fmus.hosted(self.daemon, data).split('/')[-1] for data in self.exported(version)]

    def walk(self, pair, scheme):
        """Positions of both at the end of each window."""
        reply = self.couple(*pair, OSCILLATORS, scheme=scheme, stepSize=H)
        self.assertEqual(reply.status, 201, reply)
        rows = []
        for _ in range(WINDOWS):
            outputs = self.good(reply['id'], count=1)['outputs']
            rows.append((outputs['left.x'], outputs['right.x']))
        return rows

    def by_hand(self, version, order):
        """The same by a master of the tests: 'Jacobi', or 'GaussSeidel' with the left one first."""
        rows = []
        left, right = [Fmu(data) for data in self.exported(version)]
        with left, right:
            for f in (left, right):
                f.initialize()
            x, = left.get([left.variables['x']])
            y, = right.get([right.variables['x']])
            for _ in range(WINDOWS):
                left.set({'F': K12 * y})
                left.step(H)
                new, = left.get([left.variables['x']])
                right.set({'F': K12 * (x if order == 'Jacobi' else new)})
                right.step(H)
                x, (y,) = new, right.get([right.variables['x']])
                rows.append((x, y))
            self.assertEqual((left.time, right.time), (1., 1.))
        return rows

    def same(self, rows, expected):
        for n, (row, other) in enumerate(zip(rows, expected)):
            self.assertEqual(bits(*row), bits(*other), (n, row, other))
        self.assertEqual(len(rows), WINDOWS)

    def test_hosted_fmus_are_coupled_to_the_bits_of_instances(self):
        for scheme in ({'type': 'Jacobi'}, {'type': 'GaussSeidel', 'order': ['left', 'right']},
                       {'type': 'IQN-ILS'}):
            with self.subTest(scheme=scheme['type']):
                expected = self.walk(self.instances(), scheme)
                # the left one alone moves the right one
                self.assertGreater(max(abs(y) for _, y in expected), 0.5)
                for version in (2, 3):
                    self.same(self.walk(self.hosted(version), scheme), expected)

    @unittest.skipIf(harness.SANITIZED, 'a sanitizer must be there before the FMU is loaded')
    def test_a_master_of_their_fmus_has_the_same_bits(self):
        for scheme in ({'type': 'Jacobi'}, {'type': 'GaussSeidel', 'order': ['left', 'right']}):
            expected = self.walk(self.instances(), scheme)
            for version in (2, 3):
                with self.subTest(scheme=scheme['type'], version=version):
                    self.same(self.by_hand(version, scheme['type']), expected)


if __name__ == '__main__':
    unittest.main()
