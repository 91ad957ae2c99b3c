"""FMUs that connect to a server and step an instance that exists there, under its owner's lease."""
import unittest
import harness
import models
from fmu_steps import bits
from importing import Refused
from proxied import PLAIN, TCP, Fmu, get, instances


@PLAIN
class Attached(harness.Served):
    OPTIONS = TCP

    def setUp(self):
        self.made = self.daemon.create(models.oscillator())
        self.addCleanup(self.daemon.call, 'DELETE', '/v1/instances/' + self.made)
        self.data = get(self.daemon, '/v1/instances/' + self.made)

    def refused(self, texts, word, data=None):
        with Fmu(data or self.data, texts) as f:
            with self.assertRaises(Refused) as refused:
                f.initialize()
            self.assertIn(word, str(refused.exception))

    def test_an_instance_that_exists_is_stepped_and_stays(self):
        path = '/v1/instances/' + self.made
        with Fmu(self.data, {'proxy:instance': self.made}) as f:
            f.initialize({'force': 2.0})
            f.step(0.01)
            mine = f.get(f.outputs())
            there = self.daemon.call('GET', path + '/outputs')
            self.assertEqual(there['time'], f.time)
            self.assertEqual(bits(mine), bits([float(x) for x in there['outputs'].values()]))
            self.assertIn(self.made, instances(self.daemon))
            # another client may not step it
            reply = self.daemon.call('POST', path + '/step', {'size': 0.01})
            self.assertEqual((reply.status, reply['code']), (409, 'foreign-lease'))
            self.assertIn('held by fmu (owner)', reply['detail'])
        self.assertEqual(self.leases(), [])
        self.assertIn(self.made, instances(self.daemon))
        self.refused({'proxy:instance': self.made}, 'start time')
        self.refused({'proxy:instance': 'none'}, 'none')
        other = self.daemon.create(models.oscillator(spectralRadius=0.5))
        self.refused({'proxy:instance': other}, 'another model')

    def leases(self):
        path = '/v1/instances/' + self.made + '/lease'
        return [(i['name'], i['role']) for i in self.daemon.call('GET', path)['items']]

    def revoke(self):
        path = '/v1/instances/' + self.made + '/lease?of=owner'
        self.assertEqual(self.daemon.call('DELETE', path).status, 204)

    def take(self):
        reply = self.daemon.call('POST', '/v1/instances/' + self.made + '/lease',
                                 {'role': 'owner', 'name': 'rig'})
        self.assertEqual(reply.status, 201, reply)

    def test_an_instance_with_another_owner_is_refused(self):
        self.take()
        for version in (2, 3):
            data = get(self.daemon, '/v1/instances/' + self.made, version)
            self.refused({'proxy:instance': self.made}, 'held by rig (owner)', data)
        self.assertEqual(self.leases(), [('rig', 'owner')])
        # its state too
        self.revoke()
        with Fmu(self.data, {'proxy:instance': self.made}) as f:
            f.initialize()
            saved = f.save()
            f.call('Reset')
            self.take()
            with self.assertRaises(Refused) as refused:
                f.restore(saved)
            self.assertIn('held by rig (owner)', str(refused.exception))
            f.forget(saved)

    def test_a_lease_that_has_ended_is_taken_again_if_it_is_free(self):
        with Fmu(self.data, {'proxy:instance': self.made}) as f:
            f.initialize()
            f.step(0.01)
            self.revoke()
            f.step(0.01)
            self.assertEqual(f.time, 0.02)
            self.assertEqual(self.leases(), [('fmu', 'owner')])
            self.assertTrue([t for t in f.messages if b'a new one was taken' in t])
            # the server notes what others have done meanwhile
            self.revoke()
            self.daemon.call('POST', '/v1/instances/' + self.made + '/step', {'size': 0.01})
            with self.assertRaises(Refused) as refused:
                f.step(0.01)
            self.assertIn('at time', str(refused.exception))
        self.assertEqual(self.leases(), [])

    def test_a_lease_that_another_has_taken_meanwhile_is_an_error(self):
        with Fmu(self.data, {'proxy:instance': self.made}) as f:
            f.initialize()
            self.revoke()
            self.take()
            with self.assertRaises(Refused) as refused:
                f.step(0.01)
            self.assertIn('held by rig (owner)', str(refused.exception))
        self.assertEqual(self.leases(), [('rig', 'owner')])


if __name__ == '__main__':
    unittest.main()
