"""Each number of a coupling's scheme, waveform and error control reaches the solver: another one
makes a difference of the kind that it is for."""
import unittest

from coupled import Couplings


class Settings(Couplings):
    def done(self, **more):
        """The reply to a step of one second."""
        _, _, cid = self.oscillators(**{'stepSize': 0.05, **more})
        return self.good(cid, until=1)

    def iterations(self, **scheme):
        return self.done(scheme=scheme)['report']['iterations']

    def test_more_iterations(self):
        for same, fewer, more in (
                ({'type': 'JacobiIterated'}, {'relaxation': 1}, {'relaxation': 0.5}),
                ({'type': 'JacobiIterated'}, {'relativeTolerance': 1e-3},
                 {'relativeTolerance': 1e-10}),
                ({'type': 'JacobiIterated', 'relativeTolerance': 0},
                 {'absoluteTolerance': 1e-2}, {'absoluteTolerance': 1e-10}),
                ({'type': 'IQN-ILS'}, {'reuse': 5}, {'reuse': 0}),
                ({'type': 'IQN-ILS', 'reuse': 5}, {'filter': 0}, {'filter': 0.99})):
            with self.subTest(more):
                self.assertLess(self.iterations(**same, **fewer), self.iterations(**same, **more))

    def test_other_outputs(self):
        for one, other in (
                ({'scheme': {'type': 'GaussSeidel', 'order': ['left', 'right']}},
                 {'scheme': {'type': 'GaussSeidel', 'order': ['right', 'left']}}),
                ({'hold': 1}, {'hold': 2}),
                ({'waveform': {'degree': 1}}, {'waveform': {'degree': 3}})):
            with self.subTest(other):
                self.assertNotEqual(self.done(**one)['outputs'], self.done(**other)['outputs'])

    def test_more_windows(self):
        """Relative tolerances are of values that pass through 0, which the absolute ones allow."""
        for same, fewer, more in (
                ({'absoluteTolerance': 1e-9}, {'relativeTolerance': 1e-2},
                 {'relativeTolerance': 1e-3}),
                ({'relativeTolerance': 0}, {'absoluteTolerance': 1e-1},
                 {'absoluteTolerance': 1e-2}),
                ({'relativeTolerance': 1}, {'maximum': 0.5}, {'maximum': 0.01})):
            with self.subTest(more):
                windows = [self.done(scheme={'type': 'GaussSeidel'}, hold=1,
                                     adaptive={**same, **part})['report']['windows']
                           for part in (fewer, more)]
                self.assertLess(*windows)

    def test_no_windows_below_the_minimum(self):
        for minimum, status in ((1e-4, 200), (0.05, 422)):
            _, _, cid = self.oscillators(hold=1, scheme={'type': 'GaussSeidel'}, adaptive={
                'relativeTolerance': 0, 'absoluteTolerance': 1e-2, 'minimum': minimum})
            reply = self.step(cid, until=1)
            self.assertEqual(reply.status, status, reply)
        self.assertIn('minimum', reply['detail'])


if __name__ == '__main__':
    unittest.main()
