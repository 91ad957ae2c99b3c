"""A clone has the model and the state of its original, bit for bit, and goes its own way."""
import shutil
import tempfile
import unittest
import models
from harness import HttpDoor, Served, ZmqDoor
from keeping import Kept

RACES = True


class Clone(Served):
    def call(self, method, path, body=None, status=200, **headers):
        reply = self.daemon.call(method, '/v1/instances' + path, body, headers or None)
        self.assertEqual(reply.status, status, reply)
        return reply

    def tracks(self, *ids, count=50):
        """States after further steps."""
        out = []
        for i in ids:
            self.call('POST', '/%s/step' % i, {'count': count})
            state = self.call('GET', '/%s/state' % i).json
            state.pop('step')
            out.append(state)
        return out

    def test_examples_and_their_clones_go_on_with_the_same_bits(self):
        for example in ('bouncing-ball', 'double-pendulum', 'four-bar', 'box-stack',
                        'driven-oscillator', 'flexible-cantilever'):
            with self.subTest(example):
                i = self.call('POST', '', {'example': example}, 201)['id']
                self.call('POST', '/%s/step' % i, {'count': 37})
                before = self.call('GET', '/%s/state' % i).json
                twin = self.call('POST', '/%s/clone' % i, status=201)
                self.assertEqual(twin.headers['Location'], '/v1/instances/' + twin['id'])
                self.assertNotEqual(twin['id'], i)
                self.assertEqual(self.call('GET', '/%s/state' % twin['id']).json, before)
                one, other = self.tracks(i, twin['id'])
                self.assertEqual(one, other)

    def test_what_was_set_goes_with_it(self):
        model = models.oscillator()
        i = self.daemon.create(model)
        untouched = self.daemon.create(model)
        self.call('PUT', '/%s/parameters' % i, {'k': 0.1 + 0.2})
        self.call('PUT', '/%s/inputs' % i, {'force': 7.3})
        body = next(o for o in model['objects'] if 'physicsMass' in o)['name']
        self.call('PUT', '/%s/objects/%s/fields/physicsMass' % (i, body), {'value': 1.7})
        twin = self.call('POST', '/%s/clone' % i, {}, 201)['id']
        for part, key in (('parameters', 'parameters'), ('inputs', 'inputs')):
            values = self.call('GET', '/%s/%s' % (twin, part)).json[key]
            self.assertEqual(values, self.call('GET', '/%s/%s' % (i, part)).json[key])
        one, other, third = self.tracks(i, twin, untouched)
        self.assertEqual(one, other)
        self.assertNotEqual(one['q'], third['q'])

    def test_it_is_stored_as_its_request_says(self):
        i = self.daemon.create(models.oscillator())
        self.assertEqual(self.call('POST', '/%s/clone' % i, status=201)['durability'],
                         self.call('GET', '/' + i)['durability'])
        twin = self.call('POST', '/%s/clone' % i, {'durability': 'none'}, 201)
        self.assertEqual(twin['durability'], 'none')
        self.call('POST', '/%s/clone' % i, {'durability': 'sometimes'}, 422)

    def test_a_snapshot_from_before_a_field_changed_says_so(self):
        model = models.oscillator()
        i = self.daemon.create(model)
        body = next(o for o in model['objects'] if 'physicsMass' in o)['name']
        restore = '/%s/snapshots/s-1/restore' % i
        self.call('POST', '/%s/snapshots' % i, status=201)
        self.assertTrue(self.call('POST', restore).json['reproducible'])
        self.call('PUT', '/%s/objects/%s/fields/physicsMass' % (i, body), {'value': 1.7})
        # its model is gone, so that it is no piece to make another instance of
        reply = self.call('GET', '/%s/snapshots/s-1' % i, status=422)
        self.assertEqual(reply.json['code'], 'snapshot-mismatch')
        self.assertFalse(self.call('POST', restore).json['reproducible'])
        # fields stay through restore and reset, also for what is taken from now on
        self.call('POST', '/%s/reset' % i)
        self.assertFalse(self.call('POST', restore).json['reproducible'])
        self.call('POST', '/%s/snapshots' % i, status=201)
        self.assertTrue(self.call('POST', '/%s/snapshots/s-2/restore' % i).json['reproducible'])
        twin = self.call('POST', '', self.call('GET', '/%s/snapshots/s-2' % i).raw, 201,
                         **{'Content-Type': 'application/vnd.mechd.snapshot'})['id']
        self.assertEqual(*self.tracks(i, twin))

    def test_they_are_apart(self):
        i = self.daemon.create(models.oscillator())
        twin = self.call('POST', '/%s/clone' % i, {'as': 'apart', 'labels': {'a': 'b'}}, 201)
        self.assertEqual((twin['id'], twin['labels']), ('apart', {'a': 'b'}))
        before = self.call('GET', '/%s/state' % i).json
        self.call('POST', '/apart/step', {'count': 5})
        self.assertEqual(self.call('GET', '/%s/state' % i).json, before)
        self.call('DELETE', '/' + i, status=204)
        self.call('POST', '/apart/step', {'count': 5})

    def test_labels_are_the_originals_unless_others_are_given(self):
        i = self.daemon.create(models.oscillator(), labels={'team': 'red'})
        self.assertEqual(self.call('POST', '/%s/clone' % i, {}, 201)['labels'], {'team': 'red'})

    def test_faults_are_reported_and_nothing_is_made(self):
        i = self.daemon.create(models.oscillator())
        count = len(self.call('GET', '?limit=1000')['items'])
        for body, status in (({'as': i}, 409), ({'as': 'a b'}, 422), ({'as': '..'}, 422),
                             ({'as': 7}, 422), ({'labels': {'a': 1}}, 422), ({'extra': 1}, 422),
                             ({'durability': 'every-step'}, 422)):
            with self.subTest(str(body)):
                reply = self.call('POST', '/%s/clone' % i, body, status)
                if status == 422:
                    key = 'labels/a' if 'labels' in body else next(iter(body))
                    self.assertEqual(reply['errors'][0]['pointer'], '/' + key)
        self.call('POST', '/nobody/clone', {}, 404)
        self.call('POST', '/%s/clone' % i, {}, 412, **{'If-Match': '"1.1"'})
        self.assertEqual(len(self.call('GET', '?limit=1000')['items']), count)

    def test_if_match_takes_a_list(self):
        i = self.daemon.create(models.oscillator())
        tag = self.daemon.call('GET', '/v1/instances/' + i).headers['ETag']
        for tags in (tag, '*', '"1.1", %s' % tag, '%s ,"a, b"' % tag, '"a, b",\t' + tag):
            with self.subTest(tags):
                self.call('POST', '/%s/clone' % i, {}, 201, **{'If-Match': tags})
        for tags in ('', '"1.1", "2.2"', 'W/' + tag, tag[1:-1], tag[:-1], '"x%s' % tag, '**'):
            with self.subTest(tags):
                self.call('POST', '/%s/clone' % i, {}, 412, **{'If-Match': tags})
                self.call('DELETE', '/' + i, None, 412, **{'If-Match': tags})

    def test_it_works_over_zeromq_and_while_a_run_goes_on(self):
        i = HttpDoor(self.daemon).call('create', model=models.oscillator())[1]['id']
        run = self.call('POST', '/%s/runs' % i, {'pace': 1}, 202)['id']
        door = ZmqDoor(self.daemon)
        status, reply = door.call('clone', id=i, **{'as': 'beside'})
        self.assertEqual((status, reply['id'], reply['running']), (200, 'beside', False), reply)
        door.close()
        self.call('DELETE', '/%s/runs/%s' % (i, run))

    def test_a_clone_of_a_stored_instance_is_stored(self):
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        daemon = Kept(folder)
        i = daemon.create(models.oscillator(), durability='every-step', labels={'x': 'y'})
        one = '/v1/instances/' + i
        daemon.call('POST', one + '/step', {'count': 11})
        twin = daemon.call('POST', one + '/clone', {'as': 'kept'})
        self.assertEqual(twin.status, 201, twin)
        gone = {'as': 'gone', 'durability': 'none'}
        self.assertEqual(daemon.call('POST', one + '/clone', gone).status, 201)
        before = daemon.call('GET', '/v1/instances/kept/state').json
        daemon.kill()
        with Kept(folder) as daemon:
            self.assertEqual(daemon.call('GET', '/v1/instances/kept/state').json, before)
            self.assertEqual(daemon.call('GET', '/v1/instances/kept')['labels'], {'x': 'y'})
            self.assertEqual(daemon.call('GET', '/v1/instances/gone').status, 404)


if __name__ == '__main__':
    unittest.main()
