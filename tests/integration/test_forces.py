"""Forces stamped with a time within a command act from the first substep that starts at or after
their stamp: the same bits as stopping there and setting the input. A command that fails undoes
them."""
import re
import unittest

import harness
import models
from harness import Partner, Served

RACES = True


def oscillator():
    model = models.oscillator()
    model['solver']['stepSize'] = 1e-3
    return model


class StampedForces(Served):
    def taken(self):
        page = self.daemon.call('GET', '/metrics').raw.decode()
        return int(re.search(r'^mechd_forces_total (\d+)$', page, re.M).group(1))

    def push(self, partner, *stamped):
        """Send forces and wait until all have been taken."""
        before = self.taken()
        forces = harness.Forces(self.daemon, partner)
        for value, stamp in stamped:
            forces.push([value], stamp)
        harness.wait_until(lambda: self.taken() == before + len(stamped), 'the forces are taken')
        forces.close()

    def values(self, instance):
        state = self.door.call('get-state', id=instance)[1]
        return [state['time']] + state['q'] + state['v'] + state['vdot'] + state['a']

    def by_hand(self, parts, end):
        """Stop at each time, set the input there, and go on to the end."""
        i = self.daemon.create(oscillator())
        for value, at in parts:
            self.assertEqual(self.door.call('step', id=i, until=at)[0], 200)
            self.assertEqual(self.door.call('set-inputs', id=i, inputs={'force': value})[0], 200)
        self.assertEqual(self.door.call('step', id=i, until=end)[0], 200)
        return self.values(i)

    def test_they_act_from_the_next_substep(self):
        expected = self.by_hand([(7.0, 0.004), (-3.0, 0.008)], 0.016)
        self.assertNotEqual(expected, self.by_hand([(7.0, 0.005), (-3.0, 0.008)], 0.016))
        i = self.daemon.create(oscillator())
        with Partner(self.daemon, i, ['force'], ['x']) as partner:
            # in any order; 0.008 is the start of a substep itself, 0.0032 lies within one
            self.push(partner, (-3.0, 0.008), (7.0, 0.0032))
            reply = partner.step(0.016)
        self.assertEqual(reply['step'], 16)
        self.assertEqual(self.values(i), expected)

    def test_the_report_counts_all_parts(self):
        i = self.daemon.create(oscillator())
        with Partner(self.daemon, i, ['force'], ['x']) as partner:
            self.push(partner, (1.0, 0.0045), (2.0, 0.0105))
            status, reply = self.door.call('step', id=i, count=20)
        self.assertEqual((status, reply['report']['steps'], reply['step']), (200, 20, 20))
        self.assertAlmostEqual(reply['time'], 0.02, delta=1e-15)

    def test_a_later_command_takes_those_beyond_this_one(self):
        i = self.daemon.create(oscillator())
        with Partner(self.daemon, i, ['force'], ['x']) as partner:
            self.push(partner, (7.0, 0.012))
            partner.step(0.008)
            self.assertEqual(self.door.call('get-inputs', id=i)[1]['inputs']['force'], 0)
            partner.step(0.008)
        self.assertEqual(self.door.call('get-inputs', id=i)[1]['inputs']['force'], 7)
        j = self.daemon.create(oscillator())
        self.assertEqual(self.door.call('step', id=j, size=0.008)[0], 200)
        self.assertEqual(self.door.call('step', id=j, until=0.012)[0], 200)
        self.assertEqual(self.door.call('set-inputs', id=j, inputs={'force': 7.0})[0], 200)
        self.assertEqual(self.door.call('step', id=j, until=0.016)[0], 200)
        self.assertEqual(self.values(i), self.values(j))

    def test_going_back_in_time_drops_those_that_wait(self):
        i = self.daemon.create(oscillator())
        with Partner(self.daemon, i, ['force'], ['x']) as partner:
            for back in ('reset', 'restore', 'set-state'):
                fields = {}
                if back == 'restore':
                    fields = {'sid': self.door.call('snapshot', id=i)[1]['id']}
                elif back == 'set-state':
                    fields = {'time': 0.0}
                self.push(partner, (7.0, 0.012))
                partner.step(0.004)
                self.assertEqual(self.door.call(back, id=i, **fields)[0], 200, back)
                partner.step(0.016)
                inputs = self.door.call('get-inputs', id=i)[1]['inputs']
                self.assertEqual(inputs['force'], 0, back)
                self.assertEqual(self.door.call('reset', id=i)[0], 200)

    def test_a_failing_command_undoes_its_parts(self):
        # the first force is harmless, the second beyond what the cubic spring can take
        model = models.nonlinear_oscillator()
        model['solver']['stepSize'] = 1e-3
        i = self.daemon.create(model)
        before = self.values(i)
        with Partner(self.daemon, i, ['force'], ['x']) as partner:
            self.push(partner, (1.0, 0.0045), (1e300, 0.0065))
            status, reply = self.door.call('step', id=i, size=0.1)
        self.assertEqual(status, 422, reply)
        self.assertEqual(reply['report']['steps'], 7)
        self.assertEqual(self.values(i), before)
        self.assertEqual(self.door.call('get-inputs', id=i)[1]['inputs']['force'], 0)


if __name__ == '__main__':
    unittest.main()
