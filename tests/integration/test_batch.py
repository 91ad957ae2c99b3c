"""Batches: each item answers what the operation alone answers, in the order of the request; faults
of one item stay with it; long items leave the workers to others; a key is good for the whole."""
import json
import shutil
import tempfile
import unittest
import models
from harness import HttpDoor, Served, ZmqDoor, wait_until
from asking import ASYNC, batch
from forms import CSV, F64, NDJSON, NPY, load_npy, numbers
from keeping import Kept

RACES = True


class Batch(Served):
    def instances(self, count, build=models.oscillator, **more):
        return [self.daemon.create(build(), **more) for _ in range(count)]

    def ask(self, body, status=200, **headers):
        reply = batch(self.daemon, body, **headers)
        self.assertEqual(reply.status, status, reply)
        return reply

    def step_of(self, i):
        return self.daemon.call('GET', '/v1/instances/%s/state' % i)['step']

    def test_every_item_answers_as_its_operation_alone_through_both_doors(self):
        bodies = [{'count': 3}, {'size': 0.25, 'outputs': ['v'], 'want': ['energy']}, {'cound': 1}]
        for door in (HttpDoor(self.daemon), ZmqDoor(self.daemon)):
            for body in bodies:
                together, alone = self.instances(2), self.instances(2)
                together.insert(1, 'nobody')
                alone.insert(1, 'nobody')
                status, reply = door.call('batch', instances=together, operation='step', body=body)
                self.assertEqual((status, len(reply['results'])), (200, 3))
                for one, twin, found in zip(together, alone, reply['results']):
                    expected = self.daemon.call('POST', '/v1/instances/%s/step' % twin, body)
                    self.assertEqual((found['id'], found['status']), (one, expected.status))
                    if expected.status == 200:
                        self.assertEqual(found['body'], expected.json)
                    else:
                        self.assertEqual(found['error'], {**expected.json, 'detail': expected[
                            'detail'].replace(twin, one)})
                self.assertEqual(reply['failed'], sum(r['status'] != 200 for r in
                                                      reply['results']))
            door.close()

    def test_items_on_one_instance_follow_each_other(self):
        i, j = self.instances(2)
        for count in (1, 300000):
            before = self.step_of(i)
            items = [{'op': 'step', 'id': i, 'count': count}, {'op': 'outputs', 'id': i},
                     {'op': 'set-inputs', 'id': j, 'inputs': {'force': 5}},
                     {'op': 'step', 'id': i, 'count': count}, {'op': 'get-inputs', 'id': j},
                     {'op': 'get-state', 'id': i}]
            results = self.ask({'items': items})['results']
            self.assertEqual([r['status'] for r in results], [200] * 6, results)
            self.assertEqual(results[1]['body']['time'], results[0]['body']['time'])
            self.assertEqual(results[0]['body']['step'], before + count)
            self.assertEqual(results[3]['body']['step'], before + 2 * count)
            self.assertEqual(results[5]['body']['step'], before + 2 * count)
            self.assertEqual(results[4]['body']['inputs']['force'], 5)

    def test_operations_of_every_kind_can_be_items(self):
        i = self.instances(1)[0]
        items = [{'op': op, 'id': i, **more} for op, more in (
            ('snapshot', {}), ('step', {'count': 2}), ('restore', {'sid': 's-1'}), ('modes', {}),
            ('modes', {'count': 1}), ('model', {}), ('clone', {'as': i + '-copy'}),
            ('set-parameters', {'parameters': {}}), ('run', {'until': 0.1}), ('delete', {}),
            ('instance', {}))]
        results = self.ask({'items': items})['results']
        self.assertEqual([r['status'] for r in results],
                         [201, 200, 200, 200, 200, 200, 201, 200, 202, 204, 404], results)
        self.assertNotIn('body', results[9])
        self.assertEqual(self.step_of(i + '-copy'), 0)

    def test_a_label_chooses_instances_in_the_order_of_their_age(self):
        red = self.instances(3, labels={'colour': 'red', 'a': 'b'})
        self.instances(1, labels={'colour': 'red2'})
        self.instances(1, labels={'colou': 'red'})
        reply = self.ask({'instances': {'label': 'colour=red'}, 'op': 'step', 'body': {'count': 2}})
        self.assertEqual([r['id'] for r in reply['results']], red)
        # several, as in lists; a name alone whatever its value
        reply = self.ask({'instances': {'label': 'a,colour=red'}, 'op': 'outputs'})
        self.assertEqual([r['id'] for r in reply['results']], red)
        none = self.ask({'instances': {'label': 'colour=blue'}, 'op': 'step'})
        self.assertEqual(none.json, {'failed': 0, 'results': []})

    def test_a_table_has_the_outputs_of_all_in_every_form(self):
        ids = self.instances(40)
        for k, i in enumerate(ids):
            self.daemon.call('PUT', '/v1/instances/%s/inputs' % i, {'force': k})
        asked = ids[:20] + ['nobody'] + ids[20:]
        body = {'instances': asked, 'op': 'step', 'body': {'count': 5}, 'results': 'table'}
        table = self.ask(body).json
        self.assertEqual(table['columns'], ['time', 'step', 'x', 'v'])
        self.assertEqual((table['ids'], table['failed']), (asked, 1))
        self.assertEqual(table['rows'][20], [None] * 4)
        self.assertEqual([(e['index'], e['id'], e['status']) for e in table['errors']],
                         [(20, 'nobody', 404)])
        expected = []
        for i in ids:
            now = self.daemon.call('GET', '/v1/instances/%s/outputs' % i)
            expected.append([now['time'], 5, now['outputs']['x'], now['outputs']['v']])
        self.assertEqual(table['rows'][:20] + table['rows'][21:], expected)
        self.assertEqual(len({r[2] for r in expected}), 40)
        # the same without a change, in the other forms
        body = {'instances': ids, 'op': 'outputs', 'results': 'table'}
        flat = [x for row in expected for x in row]
        self.assertEqual(numbers(self.ask(body, Accept=F64).raw), flat)
        self.assertEqual(load_npy(self.ask(body, Accept=NPY).raw), ((40, 4), flat))
        lines = self.ask(body, Accept=CSV).raw.decode().split('\r\n')
        self.assertEqual(lines[0], 'time,step,x,v')
        self.assertEqual([float(x) for x in lines[40].split(',')], expected[39])
        first = json.loads(self.ask(body, Accept=NDJSON).raw.decode().splitlines()[0])
        self.assertEqual(first, {'time': expected[0][0], 'step': 5, 'outputs': {
            'x': expected[0][2], 'v': expected[0][3]}})
        self.assertEqual(self.ask(body)['rows'], expected)
        # a trial keeps the committed state, and its row shows that
        body = {'instances': ids[:2], 'op': 'step', 'results': 'table',
                'body': {'count': 1, 'commit': False}}
        self.assertEqual(self.ask(body)['rows'], expected[:2])

    def test_a_table_needs_the_same_outputs_of_all(self):
        ids = self.instances(1) + self.instances(1, models.mass1d)
        reply = self.ask({'instances': ids, 'op': 'step', 'body': {'count': 1},
                          'results': 'table'}, 422)
        self.assertEqual(reply['errors'][0]['pointer'], '/results')
        self.assertEqual([self.step_of(i) for i in ids], [0, 0])
        nobody = self.ask({'instances': ['nobody'], 'op': 'step', 'results': 'table'}).json
        self.assertEqual((nobody['columns'], nobody['failed']), (['time', 'step'], 1))

    def test_what_is_wrong_with_the_request_refuses_it_with_its_place(self):
        i = self.instances(1)[0]
        for body, pointer in (
                ({}, '/instances'), ({'instances': [i]}, '/operation'),
                ({'instances': i, 'op': 'step'}, '/instances'),
                ({'instances': [i, 7], 'op': 'step'}, '/instances/1'),
                ({'instances': ['a b'], 'op': 'step'}, '/instances/0'),
                ({'instances': {'label': ''}, 'op': 'step'}, '/instances/label'),
                ({'instances': {'labels': 'x=y'}, 'op': 'step'}, '/instances/labels'),
                ({'instances': [i], 'op': 'stepp'}, '/operation'),
                ({'instances': [i], 'op': 'create'}, '/operation'),
                ({'instances': [i], 'op': 'batch'}, '/operation'),
                ({'instances': [i], 'op': 'step', 'body': 7}, '/body'),
                ({'instances': [i], 'op': 'step', 'body': {'id': 'x'}}, '/body/id'),
                ({'instances': [i], 'op': 'step', 'results': 'some'}, '/results'),
                ({'instances': [i], 'op': 'step', 'more': 1}, '/more'),
                ({'items': 7}, '/items'), ({'items': [7]}, '/items/0/op'),
                ({'items': [{'op': 'step'}]}, '/items/0/id'),
                ({'items': [], 'instances': [i]}, '/instances'),
                ({'items': [{'op': 'types', 'id': i}]}, '/items/0/op'),
                ({'instances': ['x'] * 10001, 'op': 'step'}, '/instances'),
                ({'items': [{}] * 10001}, '/items')):
            with self.subTest(str(body)[:60]):
                reply = self.ask(body, 422)
                self.assertIn(pointer, [e['pointer'] for e in reply['errors']])
        self.assertEqual(self.step_of(i), 0)
        self.ask(b'[]', 400)
        self.ask({'instances': [i], 'op': 'outputs'}, 406, Accept=CSV)

    def test_ten_thousand_items_are_taken_and_the_empty_batch_too(self):
        i = self.instances(1)[0]
        reply = self.ask({'instances': [i] * 10000, 'op': 'step', 'body': {'count': 1}})
        self.assertEqual((len(reply['results']), reply['failed']), (10000, 0))
        self.assertEqual([r['body']['step'] for r in reply['results']], list(range(1, 10001)))
        self.assertEqual(self.ask({'items': []}).json, {'failed': 0, 'results': []})

    def test_results_have_a_bound_beyond_which_nothing_is_begun(self):
        n = 20000
        model = {'mechd': 1, 'name': 'wide', 'objects': [
            {'name': 'c', 'type': 'LagrangianLinearTIDS', 'M': {'diag': [1] * n},
             'q0': [0.123456789012345] * n, 'v0': [0.123456789012345] * n}],
                 'solver': {'integrator': 'MoreauJean', 'stepSize': 1e-3}}
        i, j = self.daemon.create(model), self.instances(1)[0]
        items = [{'op': 'get-state', 'id': i}] * 200 + [{'op': 'step', 'id': i, 'count': 1}]
        results = self.ask({'items': items})['results']
        self.assertEqual(results[0]['status'], 200)
        self.assertEqual((results[-1]['status'], results[-1]['error']['code']),
                         (429, 'limit-reached'))
        self.assertEqual(self.step_of(i), 0)
        self.daemon.call('DELETE', '/v1/instances/' + i)
        self.assertEqual(self.ask({'items': [{'op': 'step', 'id': j, 'count': 1}]})['failed'], 0)

    def test_others_are_served_while_long_items_run(self):
        """The batch has no end: what had to wait for any of it would wait for ever."""
        *ids, other = self.instances(201, models.nonlinear_oscillator)
        reply = self.daemon.call('POST', '/v1/batch', {
            'instances': ids, 'op': 'step', 'body': {'count': 10 ** 9}}, ASYNC)
        self.assertEqual(reply.status, 202, reply)
        for _ in range(20):
            # too long for the carrying thread: it asks the same pool
            self.assertEqual(self.daemon.call('POST', '/v1/instances/%s/step' % other,
                                              {'count': 5000}).status, 200)
            self.assertEqual(self.daemon.call('GET', '/livez').status, 200)
        where = reply.headers['Location']
        self.assertEqual(self.daemon.call('GET', where)['state'], 'running')
        self.assertLess(self.daemon.call('DELETE', where).status, 300)
        wait_until(lambda: not any(i['busy'] for i in self.daemon.call(
            'GET', '/v1/instances?limit=1000')['items']), 'it is over')

    def test_a_key_is_good_for_the_whole(self):
        ids = self.instances(3)
        body = {'instances': ids, 'op': 'step', 'body': {'count': 2}}
        first = self.ask(body, **{'Idempotency-Key': 'whole'})
        again = self.ask(body, **{'Idempotency-Key': 'whole'})
        self.assertEqual(first.raw, again.raw)
        self.assertEqual([self.step_of(i) for i in ids], [2, 2, 2])
        self.ask({**body, 'body': {'count': 3}}, 422, **{'Idempotency-Key': 'whole'})


class StoredBatch(unittest.TestCase):
    def test_a_batch_under_a_key_is_done_once_also_by_the_next_process(self):
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        options = (folder, '--durability', 'every-step')
        d = Kept(*options)
        ids = [d.create(models.oscillator()) for _ in range(20)]
        body = {'instances': ids, 'op': 'step', 'body': {'count': 2}}
        first = batch(d, body, **{'Idempotency-Key': 'a'})
        self.assertEqual(first['failed'], 0)
        table = {**body, 'results': 'table'}
        rows = batch(d, table, **{'Idempotency-Key': 'b'})
        d.kill()
        with Kept(*options) as d:
            again = batch(d, body, **{'Idempotency-Key': 'a'})
            self.assertEqual((again.status, again.json), (200, first.json))
            self.assertEqual(batch(d, table, **{'Idempotency-Key': 'b'}).json, rows.json)
            states = batch(d, {'instances': ids, 'op': 'get-state'})
            self.assertEqual({r['body']['step'] for r in states['results']}, {4})


if __name__ == '__main__':
    unittest.main()
