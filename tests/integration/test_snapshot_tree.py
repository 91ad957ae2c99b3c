"""Snapshots of an instance as a tree: from which one each descends, also after a restart and after
the deletion of one between."""
import shutil
import tempfile
import unittest

import models
from harness import Daemon, Partner
from keeping import Kept
from long_models import chain


class Tree(unittest.TestCase):
    def call(self, d, method, path, body=None, status=200):
        reply = d.call(method, path, body)
        self.assertEqual(reply.status, status, reply)
        return reply

    def take(self, d, path):
        return self.call(d, 'POST', path + '/snapshots', None, 201).json

    def restore(self, d, path, sid):
        self.call(d, 'POST', '%s/snapshots/%s/restore' % (path, sid))

    def step(self, d, path, count=1):
        self.call(d, 'POST', path + '/step', {'count': count})

    def tree(self, d, path):
        """{id: its parent}, and the one from which the present state descends."""
        found = self.call(d, 'GET', path + '/snapshots').json
        return {s['id']: s['parent'] for s in found['items']}, found['current']

    def test_each_has_the_one_from_which_its_state_descends(self):
        with Daemon() as d:
            path = '/v1/instances/' + d.create(models.oscillator())
            self.step(d, path)
            self.assertEqual(self.tree(d, path), ({}, None))
            self.assertIsNone(self.take(d, path)['parent'])
            self.step(d, path)
            self.assertEqual(self.take(d, path)['parent'], 's-1')
            # a branch: a trial from the first, committed
            self.restore(d, path, 's-1')
            trial = self.call(d, 'POST', path + '/step', {'count': 2, 'commit': False})['trial']
            self.assertEqual(self.take(d, path)['parent'], 's-1')       # s-3 is of no trial
            self.call(d, 'POST', path + '/commit', {'trial': trial})
            self.assertEqual(self.take(d, path)['parent'], 's-3')
            self.call(d, 'PUT', path + '/inputs', {'force': 2})
            self.call(d, 'PUT', path + '/parameters', {'k': 3000})
            self.assertEqual(self.take(d, path)['parent'], 's-4')
            # a step that fails, and a restore that does, change nothing
            self.call(d, 'POST', path + '/step', {'until': -1}, 422)
            self.call(d, 'POST', path + '/snapshots/s-9/restore', None, 404)
            self.assertEqual(self.tree(d, path)[1], 's-5')
            self.call(d, 'POST', path + '/reset')
            self.assertEqual(self.tree(d, path)[1], None)
            self.assertIsNone(self.take(d, path)['parent'])
            self.assertEqual(self.tree(d, path)[0],
                             {'s-1': None, 's-2': 's-1', 's-3': 's-1', 's-4': 's-3', 's-5': 's-4',
                              's-6': None})
            # another instance begins a tree of its own
            twin = '/v1/instances/' + self.call(d, 'POST', path + '/clone', {}, 201)['id']
            self.assertEqual(self.tree(d, twin), ({}, None))

    def test_what_descends_from_one_that_is_deleted_descends_from_its_parent(self):
        with Daemon() as d:
            path = '/v1/instances/' + d.create(models.oscillator())
            for _ in range(3):
                self.take(d, path)
            self.call(d, 'DELETE', path + '/snapshots/s-2', None, 204)
            self.assertEqual(self.tree(d, path), ({'s-1': None, 's-3': 's-1'}, 's-3'))
            self.call(d, 'DELETE', path + '/snapshots/s-3', None, 204)
            self.assertEqual(self.tree(d, path), ({'s-1': None}, 's-1'))
            self.call(d, 'DELETE', path + '/snapshots/s-1', None, 204)
            self.assertEqual(self.tree(d, path), ({}, None))

    def test_frames_take_part(self):
        with Daemon() as d:
            i = d.create(models.oscillator())
            with Partner(d, i) as partner:
                self.assertEqual(partner.ask('snapshot')[0]['iteration'], 1)
                partner.ask('step', size=0.01)
                self.assertEqual(partner.ask('snapshot')[0]['iteration'], 2)
                partner.ask('restore', iteration=1)
                path = '/v1/instances/' + i
                self.assertEqual(self.take(d, path)['parent'], 's-1')
                self.assertEqual(self.tree(d, path)[0], {'s-1': None, 's-2': 's-1', 's-3': 's-1'})

    def compare(self, d, path, a, b, **more):
        return self.call(d, 'POST', '%s/snapshots/%s/compare' % (path, a), dict(more, to=b)).json

    def test_two_are_compared_by_name(self):
        with Daemon() as d:
            model = models.oscillator()
            path = '/v1/instances/' + d.create(model)
            node = model['nodes'][0]['name']
            states, keys = [], ('kind', 'name', 'index')
            for change in (None, ('/inputs', {'force': 2}), ('/parameters', {'k': 3000})):
                if change:
                    self.call(d, 'PUT', path + change[0], change[1])
                self.take(d, path)
            self.step(d, path, 3)
            self.take(d, path)
            for k in range(1, 5):
                self.restore(d, path, 's-%d' % k)
                states.append(self.call(d, 'GET', path + '/state').json)
            # with itself
            same = self.compare(d, path, 's-1', 's-1')
            self.assertEqual((same['identical'], same['items'], sum(same['counts'].values())),
                             (True, [], 0))
            found = self.compare(d, path, 's-1', 's-3')
            self.assertEqual((found['from'], found['to'], found['identical']),
                             ('s-1', 's-3', False))
            k = model['parameters']['k']
            self.assertEqual(found['items'], [
                {'kind': 'parameter', 'name': 'k', 'index': 0, 'from': k, 'to': 3000,
                 'difference': 3000 - k},
                {'kind': 'input', 'name': 'force', 'index': 0, 'from': None, 'to': 2,
                 'difference': None}])
            # what a step changes: exactly what the states say
            found = self.compare(d, path, 's-3', 's-4')
            self.assertEqual(found['time'], {'from': 0, 'to': states[3]['time']})
            self.assertEqual(found['step'], {'from': 0, 'to': 3})
            self.assertEqual([[item[key] for key in keys] for item in found['items']],
                             [['coordinate', node, 0], ['velocity', node, 0]])
            for item, part in zip(found['items'], 'qv'):
                a, b = states[2][part][0], states[3][part][0]
                self.assertEqual((item['from'], item['to'], item['difference']), (a, b, b - a))
            # tolerances and bounds
            moved = [abs(item['difference']) for item in found['items']]
            wide = self.compare(d, path, 's-3', 's-4', absoluteTolerance=max(moved))
            self.assertEqual((wide['items'], wide['identical']), ([], False))
            near = self.compare(d, path, 's-3', 's-4', absoluteTolerance=min(moved))
            self.assertEqual(len(near['items']), 1)
            self.assertEqual(
                self.compare(d, path, 's-3', 's-4', relativeTolerance=2)['items'], [])
            none = self.compare(d, path, 's-3', 's-4', most=0)
            self.assertEqual((none['items'], none['counts']), ([], found['counts']))
            for body in ({}, {'to': 's-9'}, {'to': 's-1', 'most': -1}, {'to': 's-1', 'least': 1},
                         {'to': 's-1', 'relativeTolerance': -1}):
                self.call(d, 'POST', path + '/snapshots/s-1/compare', body,
                          404 if body == {'to': 's-9'} else 422)
            self.call(d, 'POST', path + '/snapshots/s-9/compare', {'to': 's-1'}, 404)

    def test_the_largest_difference_of_each_kind_is_first(self):
        with Daemon() as d:
            path = '/v1/instances/' + d.create(chain(5))
            self.take(d, path)
            self.step(d, path, 30)
            self.take(d, path)
            found = self.compare(d, path, 's-1', 's-2', most=3)
            self.assertEqual((found['counts']['coordinate'], found['counts']['velocity']), (5, 5))
            self.assertEqual([item['kind'] for item in found['items']],
                             ['coordinate'] * 3 + ['velocity'] * 3)
            state = self.call(d, 'GET', path + '/state').json
            moved = sorted(range(5), key=lambda k: -abs(state['q'][k]))
            self.assertEqual([item['index'] for item in found['items'][:3]], moved[:3])
            self.assertEqual({item['name'] for item in found['items']}, {'chain'})

    def test_a_joint_that_lets_go_is_a_difference(self):
        with Daemon() as d:
            path = '/v1/instances/' + d.create({
                'mechd': 1,
                'nodes': [{'name': 'a', 'type': 'NodePoint', 'referenceCoordinates': [1, 0, 0]}],
                'objects': [
                    {'name': 'mass', 'type': 'MassPoint', 'node': 'a', 'physicsMass': 1},
                    {'name': 'floor', 'type': 'Ground'},
                    {'name': 'rope', 'type': 'DistanceConstraint', 'markers': ['o', 'm'],
                     'distance': 1}],
                'markers': [{'name': 'o', 'type': 'MarkerBodyPosition', 'object': 'floor'},
                            {'name': 'm', 'type': 'MarkerBodyPosition', 'object': 'mass'}],
                'solver': {'integrator': 'GeneralizedAlpha', 'stepSize': 1e-3}})
            self.take(d, path)
            self.call(d, 'PUT', path + '/objects/rope/fields/active', {'value': False})
            self.take(d, path)
            self.assertEqual(self.compare(d, path, 's-1', 's-2')['items'], [
                {'kind': 'joint', 'name': 'rope', 'index': 0, 'from': 'acts', 'to': 'deactivated',
                 'difference': None}])

    def grow(self, d, path):
        self.step(d, path)
        self.take(d, path)
        self.step(d, path)
        self.take(d, path)
        self.take(d, path)
        self.call(d, 'DELETE', path + '/snapshots/s-2', None, 204)
        self.restore(d, path, 's-1')
        self.take(d, path)
        self.step(d, path, 2)
        return {'s-1': None, 's-3': 's-1', 's-4': 's-1'}

    def check_restart(self, model, durability, end):
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        d = Kept(folder)
        path = '/v1/instances/' + d.create(model, durability=durability)
        grown = self.grow(d, path)
        self.assertEqual(self.tree(d, path), (grown, 's-4'))
        end(d)
        d = Kept(folder)
        self.assertEqual(self.tree(d, path), (grown, 's-4'))
        # the newest is one of the stored state itself
        self.take(d, path)
        end(d)
        d = Kept(folder)
        self.assertEqual(self.tree(d, path), (dict(grown, **{'s-5': 's-4'}), 's-5'))
        self.call(d, 'DELETE', path + '/snapshots/s-5', None, 204)
        end(d)
        with Kept(folder) as d:
            self.assertEqual(self.tree(d, path), (grown, 's-4'))
            self.step(d, path)
            self.assertEqual(self.take(d, path)['parent'], 's-4')

    def test_the_tree_is_there_after_a_restart(self):
        # the state of the chain is stored as commands
        for name, model in (('states', models.oscillator()), ('commands', chain(600))):
            for end in (Kept.stop, Kept.kill):
                with self.subTest(name, end=end.__name__):
                    self.check_restart(model, 'every-step', end)
        with self.subTest('checkpoint'):
            self.check_restart(models.oscillator(), {'mode': 'checkpoint', 'steps': 10 ** 6},
                               Kept.stop)

    def test_a_state_that_was_lost_is_no_base(self):
        """After a kill the state is the last one that was stored, and descends from what that
        did."""
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        rare = {'mode': 'checkpoint', 'steps': 3, 'seconds': 1e6}
        d = Kept(folder)
        path = '/v1/instances/' + d.create(models.oscillator(), durability=rare)
        self.take(d, path)
        for _ in range(3):
            self.step(d, path)
        self.take(d, path)          # s-2: of the stored state
        self.step(d, path)
        self.take(d, path)          # s-3: of one that is not
        d.kill()
        with Kept(folder) as d:
            self.assertEqual(self.tree(d, path),
                             ({'s-1': None, 's-2': 's-1', 's-3': 's-2'}, 's-2'))


if __name__ == '__main__':
    unittest.main()
