"""Every example moves alike to the last bit: in each of several instances that are stepped at the
same time, with one worker and with two, from one process to the next."""
import struct
import threading
import unittest
import harness
from harness import Daemon, Http

RACES = True

COPIES, ROUNDS = 3, 6
# short commands run on the thread that carries them, long ones on the workers
COUNTS = (1, 7, 150)
PARTS = ('q', 'v', 'vdot', 'a', 'lambda', 'impulse', 'x', 'z')


def bits(state):
    """The numbers of a state as bytes; JSON carries all digits that a float64 needs."""
    numbers = [state['time']] + [n for part in PARTS for n in state.get(part) or []]
    return struct.pack('<%dd' % len(numbers), *numbers)


class Determinism(unittest.TestCase):
    def examples_of(self, daemon):
        return sorted(e['name'] for e in daemon.call('GET', '/v1/examples').json['items'])

    def run_all(self, workers):
        """{example: {bits of the trajectory}} with all copies of all examples at the same time."""
        found, faults = {}, []

        def work(copy, names, daemon):
            try:
                http = Http(daemon.base)
                ids = {n: http.call('POST', '/v1/instances', {'example': n})['id'] for n in names}
                paths = {n: b'' for n in names}
                for k in range(ROUNDS):
                    # each copy takes the examples in another order
                    for name in names[copy:] + names[:copy]:
                        path = '/v1/instances/%s' % ids[name]
                        reply = http.call('POST', path + '/step',
                                          {'count': COUNTS[k % len(COUNTS)]})
                        if reply.status != 200:
                            raise AssertionError('%s: %s' % (name, reply))
                        paths[name] += bits(http.call('GET', path + '/state').json)
                for name in names:
                    found.setdefault(name, set()).add(paths[name])
            except Exception as e:  # pylint: disable=broad-except
                faults.append(repr(e))

        with Daemon('--workers', str(workers)) as daemon:
            names = self.examples_of(daemon)
            threads = [threading.Thread(target=work, args=(copy, names, daemon))
                       for copy in range(COPIES)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(120 * harness.SLOW)
                self.assertFalse(thread.is_alive(), 'a thread hangs')
        self.assertEqual(faults, [])
        return found

    def test_one_and_two_workers_give_the_same_bits(self):
        runs = [self.run_all(workers) for workers in (1, 2, 2)]
        self.assertGreaterEqual(len(runs[0]), 5)
        for name, paths in runs[0].items():
            with self.subTest(name):
                self.assertEqual(len(paths), 1)
                # ROUNDS states of more than the time alone, and not all the same
                path = next(iter(paths))
                self.assertGreater(len(path), 8 * 2 * ROUNDS)
                self.assertNotEqual(path[8:len(path) // ROUNDS],
                                    path[-len(path) // ROUNDS:][8:])
                for run in runs[1:]:
                    self.assertEqual(run[name], paths)


if __name__ == '__main__':
    unittest.main()
