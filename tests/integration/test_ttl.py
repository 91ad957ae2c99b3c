"""Labels and time to live: chosen lists page by page, changes that are stored, and instances that
no client uses are deleted by the clock."""
import shutil
import tempfile
import threading
import time
import unittest
import models
from asking import is_busy
from harness import (SCENARIO, Http, Partner, Served, ZmqDoor, again_where_slow, wait_until)
from keeping import Kept

RACES = True

SHORT = 0.5 * SCENARIO  # s


class Ttl(Served):
    def call(self, method, path, body=None, status=200, **headers):
        reply = self.daemon.call(method, '/v1/instances' + path, body, headers or None)
        self.assertEqual(reply.status, status, reply)
        return reply

    def there(self, i):
        """By the list, which is no use."""
        reply = self.call('GET', '?limit=1000')
        return i in [x['id'] for x in reply['items']]

    def expired(self):
        text = self.daemon.call('GET', '/metrics').raw.decode()
        return int(text.split('\nmechd_instances_expired_total ')[1].split()[0])

    def test_an_unused_instance_is_deleted(self):
        before = self.expired()
        start = time.monotonic()
        i = self.daemon.create(models.oscillator(), ttl=SHORT)
        lasts = self.daemon.create(models.oscillator(), ttl=5000)
        shown = [x for x in self.call('GET', '?limit=1000')['items'] if x['id'] == lasts][0]
        self.assertEqual(shown['ttl'], 5000)
        self.assertLessEqual(shown['ttlLeft'], 5000)
        stays = self.daemon.create(models.oscillator())
        self.assertNotIn('ttl', self.call('GET', '/' + stays).json)
        wait_until(lambda: not self.there(i), 'it is gone')
        self.assertGreater(time.monotonic() - start, 0.8 * SHORT)
        self.assertGreaterEqual(self.expired(), before + 1)
        self.assertIn('expired instance=%s ' % i, self.daemon.log())
        self.call('GET', '/' + i, status=404)
        self.assertTrue(self.there(stays))

    def used(self, use, seconds=4 * SHORT):
        """An instance that is used now and then outlives its time; unused it does not."""
        def lives(count):
            i = count(self.daemon.create, models.oscillator(), ttl=SHORT)
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                count(use, i)
                time.sleep(SHORT / 8)  # steady: begins again where the machine is too slow
            return i

        i = again_where_slow(SHORT, lives)
        wait_until(lambda: not self.there(i), 'it is gone')

    def test_any_request_that_names_it_renews_it(self):
        self.used(lambda i: self.call('GET', '/%s/outputs' % i))
        self.used(lambda i: self.call('POST', '/%s/step' % i, {'count': 1}))

    def test_messages_and_frames_renew_it(self):
        door = ZmqDoor(self.daemon)
        self.used(lambda i: self.assertEqual(door.call('outputs', id=i)[0], 200))
        door.close()
        partners = {}

        def frame(i):
            if i not in partners:
                partners[i] = Partner(self.daemon, i, outputs=['x'])
            partners[i].step(1e-3)

        self.used(frame)
        for partner in partners.values():
            partner.socket.close()

    def test_work_is_use(self):
        i, start = self.daemon.create(models.oscillator(), ttl=5000), time.monotonic()
        self.call('POST', '/%s/runs' % i, {'pace': 1, 'until': 4 * SHORT}, 202)
        self.call('PATCH', '/' + i, {'ttl': SHORT})
        wait_until(lambda: not self.there(i), 'it is gone after its run')
        self.assertGreater(time.monotonic() - start, 4 * SHORT)
        j = self.daemon.create(models.oscillator(), ttl=5000)
        door, reply = Http(self.daemon.base), []
        work = threading.Thread(target=lambda: reply.append(door.call(
            'POST', '/v1/instances/%s/step' % j, {'count': 10 ** 9})))
        work.start()
        wait_until(lambda: is_busy(self.daemon, '/v1/instances/' + j), 'it works')
        self.call('PATCH', '/' + j, {'ttl': SHORT})
        time.sleep(3 * SHORT)  # steady: the time in which it must not go
        self.assertEqual(self.call('POST', '/%s/stop' % j)['stopped'], True)
        work.join()
        door.close()
        self.assertEqual(reply[0]['code'], 'cancelled', reply)
        wait_until(lambda: not self.there(j), 'it is gone')

    def test_labels_and_ttl_are_changed(self):
        i = self.daemon.create(models.oscillator(), labels={'a': 'b'}, ttl=100)
        etag = self.call('GET', '/' + i).headers['ETag']
        reply = self.call('PATCH', '/' + i, {'labels': {'team': 'red'}, 'ttl': 50})
        self.assertEqual((reply['labels'], reply['ttl']), ({'team': 'red'}, 50))
        # a client that has seen the earlier labels does not overwrite these
        self.assertNotEqual(reply.headers['ETag'], etag)
        late = self.daemon.call('PATCH', '/v1/instances/' + i, {'labels': {}}, {'If-Match': etag})
        self.assertEqual((late.status, late['code']), (412, 'revision-mismatch'))
        reply = self.call('PATCH', '/' + i, {'ttl': None})
        self.assertEqual((reply['labels'], 'ttl' in reply.json), ({'team': 'red'}, False))
        self.assertNotIn('labels', self.call('PATCH', '/' + i, {'labels': None}).json)
        self.call('PATCH', '/' + i, {'ttl': SHORT})
        wait_until(lambda: not self.there(i), 'it is gone')

    def test_a_clone_has_them_unless_others_are_given(self):
        i = self.daemon.create(models.oscillator(), labels={'a': 'b'}, ttl=100)
        twin = self.call('POST', '/%s/clone' % i, {}, 201)
        self.assertEqual((twin['labels'], twin['ttl']), ({'a': 'b'}, 100))
        twin = self.call('POST', '/%s/clone' % i, {'ttl': 7}, 201)
        self.assertEqual(twin['ttl'], 7)

    def test_a_list_is_chosen_by_labels_page_by_page(self):
        mine = [self.daemon.create(models.oscillator(), labels={
            'set': 'pages', 'k': str(k % 3), 'n%d' % k: ''}) for k in range(12)]

        def pages(choice, limit):
            found, after = [], ''
            while after is not None:
                page = self.call('GET', '?limit=%d&label=%s%s' % (
                    limit, choice, '&after=' + after if after else ''))
                self.assertLessEqual(len(page['items']), limit)
                found.append([x['id'] for x in page['items']])
                after = page['next']
            return found

        self.assertEqual(pages('set=pages', 5), [mine[:5], mine[5:10], mine[10:]])
        self.assertEqual(pages('set=pages,k=1', 100), [mine[1::3]])
        self.assertEqual(pages('k=1,set', 3), [mine[1::3][:3], mine[1::3][3:]])
        self.assertEqual(pages('n7', 3), [[mine[7]]])
        for nothing in ('set=page', 'set=pages2', 'se=pages', 'set=', 'nobody'):
            self.assertEqual(pages(nothing, 3), [[]], nothing)

    def test_faults_are_reported_with_their_places(self):
        i = self.daemon.create(models.oscillator())
        for body, pointer in (({'ttl': 0}, '/ttl'), ({'ttl': -1}, '/ttl'), ({'ttl': 'x'}, '/ttl'),
                              ({'ttl': 1e300}, '/ttl'), ({'labels': {'a': 1}}, '/labels/a'),
                              ({'labels': {'a': 'x' * 257}}, '/labels/a'),
                              ({'labels': {'a/b': 'c'}}, '/labels/a~1b'),
                              ({'labels': 3}, '/labels'), ({'name': 'x'}, '/name')):
            with self.subTest(str(body)):
                reply = self.call('PATCH', '/' + i, body, 422)
                self.assertEqual(reply['errors'][0]['pointer'], pointer)
        reply = self.call('POST', '', {'model': models.oscillator(), 'ttl': 0}, 422)
        self.assertEqual(reply['errors'][0]['pointer'], '/ttl')
        self.call('PATCH', '/' + i, None, 400)
        self.call('PATCH', '/nobody', {'ttl': 1}, 404)

    def test_labels_are_read_while_they_change(self):
        i = self.daemon.create(models.oscillator(), labels={'race': 'x0'})
        stop, faults = threading.Event(), []

        def read():
            door = Http(self.daemon.base)
            while not stop.is_set():
                reply = door.call('GET', '/v1/instances?label=race')
                if [x['id'] for x in reply['items']] != [i]:
                    faults.append(reply)
            door.close()

        threads = [threading.Thread(target=read) for _ in range(3)]
        for t in threads:
            t.start()
        for k in range(200):
            self.call('PATCH', '/' + i, {'labels': {'race': 'x%d' % k, 'more': 'y' * k}})
        stop.set()
        for t in threads:
            t.join()
        self.assertEqual(faults, [])


class Stored(unittest.TestCase):
    def test_changes_and_ends_outlive_the_process(self):
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        daemon = Kept(folder)
        kept = daemon.create(models.oscillator(), durability='every-step', labels={'a': 'b'},
                             ttl=1000)
        ends = daemon.create(models.oscillator(), durability='every-step', ttl=SHORT)
        later = daemon.create(models.oscillator(), durability='every-step')
        for i, body in ((kept, {'labels': {'c': 'd'}}), (later, {'ttl': 2.0})):
            self.assertEqual(daemon.call('PATCH', '/v1/instances/' + i, body).status, 200)

        def ids(d):
            return [x['id'] for x in d.call('GET', '/v1/instances')['items']]

        def stored():
            text = daemon.call('GET', '/metrics').raw.decode()
            return int(text.split('\nmechd_store_records_total ')[1].split()[0])

        before = stored()
        wait_until(lambda: ends not in ids(daemon), 'it has ended')
        # the clock deletes without waiting for the disk; a slow machine ends `later` first
        gone = 3 - len(ids(daemon))
        wait_until(lambda: stored() >= before + gone, 'its end is stored')
        daemon.kill()
        with Kept(folder) as daemon:
            self.assertNotIn(ends, ids(daemon))
            reply = daemon.call('GET', '/v1/instances/' + kept)
            self.assertEqual((reply['labels'], reply['ttl']), ({'c': 'd'}, 1000))
            wait_until(lambda: later not in ids(daemon), 'its time goes on after the restart')
        with Kept(folder) as daemon:
            self.assertEqual(ids(daemon), [kept])


if __name__ == '__main__':
    unittest.main()
