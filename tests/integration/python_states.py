"""Snapshots as a tree and trials that are kept, for the tests of the Python package."""
from package import mechd


class StateTests:
    """Tests of a class with `created` and `server`."""

    def test_snapshots_are_a_tree_and_are_compared(self):
        i = self.created()
        first, second = i.snapshot(), (i.step(0.05), i.snapshot())[1]
        self.assertEqual((first.parent, second.parent), (None, first.id))
        self.assertEqual([s.parent for s in i.snapshots()], [None, first.id])
        hashes = [i.hash()] + [(s.restore(), i.hash())[1] for s in (first, second)]
        self.assertEqual((hashes[0], len(set(hashes))), (hashes[2], 2))
        found = first.compare(second)
        self.assertEqual({item['kind'] for item in found['items']}, {'coordinate', 'velocity'})
        self.assertEqual(first.compare(second.id, absolute=1e9)['items'], [])
        self.assertEqual(first.compare(second, relative=2, most=1)['counts']['velocity'], 0)

    def test_a_snapshot_of_another_instance_is_put_into_this_one(self):
        one, two = self.created(), self.created()
        two.snapshot()
        one.step(0.05, inputs={'force': 3})
        kept = one.snapshot()
        for given in (kept, kept.data()):
            two.reset()
            two.restore(given)
            self.assertEqual((two.time, two.outputs), (one.time, one.outputs))
        with self.server.create(example='mass1d') as other:
            with self.assertRaises(mechd.Invalid) as refused:
                other.restore(kept)
        self.assertEqual(refused.exception.code, 'snapshot-mismatch')

    def test_trials_are_kept_under_names(self):
        i = self.created()
        first = i.trial(0.02, inputs={'force': 1})
        first.keep('low')
        i.trial(0.02, inputs={'force': 9}).keep('high')
        self.assertEqual([t['name'] for t in i.trials()], ['low', 'high'])
        i.drop_trial('high')
        with self.assertRaises(mechd.Conflict):
            i.commit('high')
        self.assertEqual(i.commit('low')['outputs'], first.outputs)
        self.assertEqual(i.trials(), [])
