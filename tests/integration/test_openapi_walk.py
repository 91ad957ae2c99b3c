"""Every route is called through what its OpenAPI says, and each documented status is seen: success,
in every form and with every parameter of the query; and each refusal. What is documented and not
seen fails, and so does what is seen and not documented; bodies are held against their schemas,
codes against those listed, headers against those promised.

Requests are made of the document's own examples; walk_plan.py has what a route needs beside that.

Answers are recorded in protocol/recorded.json, from which the document takes its examples; they are
compared with what the daemon answers now. To record anew, then build and print the document:

    MECHD_TESTS_BUILD=build python3 tests/integration/test_openapi_walk.py --write
    ninja -C build && tests/tools/printed.py --write"""
import http.client
import json
import os
import resource
import signal
import socket
import sys
import tempfile
import threading
import unittest
import models
from harness import (ROOT, SANITIZED, Daemon, FrameError, Partner, Reply, ZmqDoor, again_where_slow,
                     gauge, resident, wait_until)
from held import HeldThread, busiest_thread
from walk import Api, Client, alike, name_of
from walk_plan import BEYOND, FAILURES, FULL, GIVEN, NEVER, ON, PREPARE, QUOTA, REFUSALS
from walk_plan import a_body_without_its_end, a_snapshot, an_operation, changes_a_coupling
from walk_plan import disturbs_a_coupling, is_of_couplings, only_the_rig, waits_for_a_coupling
from walk_refusals import Refusals
from tokens import bearer, make

RACES = WHOLE = True

RECORDED = os.path.join(ROOT, 'protocol', 'recorded.json')
# bytes of an example: longer answers are not recorded
LONGEST = 4000
SNAPSHOT = 'application/vnd.mechd.snapshot'


class Walk(Refusals, unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(*ON)
        cls.client = Client(cls.daemon.base)
        cls.api = Api(cls.client.call('GET', '/openapi.json').json)
        cls.seen = {}      # (operation, status): codes
        cls.recorded = {'reply': {}, 'problem': {}}
        cls.rig_model = cls.api.operations['create'].example

    @classmethod
    def tearDownClass(cls):
        cls.client.http.close()
        cls.daemon.stop()

    # --- tools ------------------------------------------------------------------------------------

    def rig(self, client=None, **more):
        """The instance of the examples, as it is after its creation."""
        client = client or self.client
        root = '/v1/instances/rig'
        client.call('DELETE', root + '/lease?of=owner')
        client.call('DELETE', root)
        reply = client.call('PUT', root, {**self.rig_model, **more})
        self.assertEqual(reply.status, 201, reply)
        return root

    def check(self, operation, reply, status=None, code=None, head=False):
        """The answer is documented, and it is the one that is wanted."""
        what = '%s %s: %r' % (operation.method, operation.template, reply)
        self.assertEqual(self.api.faults(operation, reply, head), [], what)
        if status is not None:
            self.assertEqual(reply.status, status, what)
        if code is not None:
            self.assertEqual(reply['code'], code, what)
        codes = self.seen.setdefault((operation.id, reply.status), set())
        if reply.status >= 400 and reply.json is not None:
            codes.add(reply['code'])
            by_chance = 'report' if reply['code'] in ('cancelled', 'quota-exceeded') else None
            told = {k: v for k, v in reply.json.items() if k != by_chance}
            self.recorded['problem'].setdefault(reply['code'], []).append(told)
        return reply

    def send(self, operation, client=None, query='', body=None, **more):
        """The operation with the document's examples where nothing else is given."""
        headers = more.pop('headers', None)
        example = more.pop('example', operation.example)
        body = example if body is None else body
        return (client or self.client).call(operation.method, operation.path(**more) + query,
                                            body, headers)

    def having(self, status, code=None, but=lambda operation: False):
        """Operations that document a status (with this code)."""
        found = [o for o in self.api.operations.values() if status in o.statuses
                 and (code is None or code in o.codes(status)) and not but(o)]
        self.assertTrue(found, (status, code))
        return found

    def ready(self, operation, client=None):
        """The rig as the operation's example wants it: what is to be shown with the request."""
        more = None
        if operation.is_on_instance or operation.id in PREPARE:
            root = self.rig(client)
            more = PREPARE.get(operation.id, lambda *_: None)(client or self.client, root)
        return more or {}

    def is_stepping(self, client, count=1):
        return gauge(client, 'queued_commands') == count

    # --- success ----------------------------------------------------------------------------------

    def test_each_example_of_a_request_is_done_as_documented(self):
        for operation in self.api.operations.values():
            with self.subTest(str(operation)):
                more = self.ready(operation)
                reply = self.check(operation, self.send(operation, **more), operation.success)
                if reply.json is not None and len(reply.raw) <= LONGEST:
                    self.recorded['reply'][name_of(operation)] = [reply.json]
                if operation.success == 201 and '/snapshots' not in operation.template:
                    self.client.call('DELETE', reply.headers['Location'])

    def test_each_form_of_an_answer_comes_when_it_is_asked_for(self):
        asked = 0
        for operation in self.api.operations.values():
            for form in operation.forms()[1:]:
                with self.subTest('%s as %s' % (operation, form)):
                    more = self.ready(operation)
                    if operation.id == 'operation':
                        # it comes as it was asked for
                        more = an_operation(self.client, '', form)
                    reply = self.send(operation, **{**more, 'headers': {'Accept': form}})
                    self.check(operation, reply, operation.success)
                    self.assertEqual(reply.headers['Content-Type'].split(';')[0], form)
                    if form.startswith('text/') and len(reply.raw) <= LONGEST:
                        name = '%s %s' % (name_of(operation), form)
                        self.recorded['reply'][name] = [reply.raw.decode()]
                    asked += 1
        self.assertGreaterEqual(asked, 10)

    def test_each_parameter_of_a_query_is_taken_with_its_example(self):
        for operation in self.api.operations.values():
            for query in operation.query():
                with self.subTest('%s %s' % (operation, query)):
                    more = self.ready(operation)
                    reply = self.send(operation, query='?' + query, **more)
                    self.check(operation, reply, operation.success)

    def test_what_waits_continues_without_its_client_where_preferred(self):
        step = json.dumps({'op': 'step', 'id': 'rig', 'count': 10 ** 12}).encode()
        with tempfile.TemporaryDirectory(prefix='mechd-walk-') as folder, \
                Daemon(*ON, '--state', folder, '--durability', 'every-step') as d, \
                Client(d.base) as client:
            door = ZmqDoor(d)
            for operation in self.having(202, but=waits_for_a_coupling):
                with self.subTest(str(operation)):
                    root = self.rig(client)
                    if operation.id == 'createAs':
                        client.call('DELETE', root)
                    elif operation.is_on_instance or operation.id == 'batch':
                        wait_until(lambda: self.is_stepping(client, 0), 'the last has ended')
                        door.socket.send_multipart([b'', step])
                        wait_until(lambda: self.is_stepping(client), 'it steps')
                    more = self.ready(operation, client) if is_of_couplings(operation) else {}
                    more['headers'] = {'Prefer': 'respond-async'}
                    reply = self.send(operation, client, **more)
                    self.check(operation, reply, 202)
                    where = reply.headers['Location']
                    if operation.id == 'batch':
                        client.call('POST', root + '/stop')
                    if operation.id == 'delete' or not operation.is_on_instance:
                        wait_until(lambda: client.call('GET', where)['state'] == 'finished', 'end')
                    client.call('DELETE', where)
            door.close()

    def test_a_snapshot_is_taken_as_the_whole_body(self):
        root = self.rig()
        taken = self.client.call('POST', root + '/snapshots', {})
        raw = self.client.call('GET', taken.headers['Location']).raw
        for operation in self.api.operations.values():
            if operation.takes_body and SNAPSHOT in operation.entry['requestBody']['content']:
                if operation.success == 201:
                    self.client.call('DELETE', root)
                reply = self.client.call(operation.method, operation.path(), raw,
                                         {'Content-Type': SNAPSHOT})
                self.check(operation, reply, operation.success)

    def test_files_that_the_client_has_are_not_sent_again(self):
        for operation in self.having(304):
            etag = self.send(operation).headers['ETag']
            reply = self.send(operation, headers={'If-None-Match': etag})
            self.check(operation, reply, 304)

    def test_head_is_answered_where_get_is(self):
        for operation in self.api.operations.values():
            if operation.method != 'GET' or 'text/event-stream' in operation.forms():
                continue
            with self.subTest(str(operation)):
                more = self.ready(operation)
                reply = self.client.call('HEAD', operation.path(**more))
                self.assertEqual(reply.raw, b'')
                self.check(operation, reply, operation.success, head=True)

    # --- refusals that every route of a kind has --------------------------------------------------

    def test_two_hosts_are_malformed(self):
        for operation in self.having(400):
            with self.subTest(str(operation)), Client(self.daemon.base) as client:
                reply = client.call(operation.method, operation.path(), operation.example,
                                    double_host=True)
                self.check(operation, reply, 400, 'malformed-request')

    def test_reading_and_deleting_take_no_body(self):
        for operation in self.api.operations.values():
            if operation.method in ('GET', 'DELETE'):
                with self.subTest(str(operation)):
                    self.check(operation, self.send(operation, body={}), 400, 'malformed-request')

    def test_tokens_are_asked_for_and_their_scope_is_enough(self):
        scopes = ['read', 'step', 'fmu', 'admin']
        tokens = {scope: make('the-' + scope, scope) for scope in scopes}
        with tempfile.NamedTemporaryFile('w', suffix='.tokens') as f:
            f.write('\n'.join(line for _, line in tokens.values()) + '\n')
            f.flush()
            with Daemon(*ON, '--tokens', f.name) as d, Client(d.base) as client:
                for operation in self.api.operations.values():
                    with self.subTest(str(operation)):
                        self.with_scopes(operation, client, scopes, tokens)

    def with_scopes(self, operation, client, scopes, tokens):
        if operation.scope is None:
            self.assertNotIn(self.send(operation, client).status, (401, 403))
            return
        self.check(operation, self.send(operation, client), 401, 'unauthorized')
        place = scopes.index(operation.scope)
        for scope in scopes:
            reply = self.send(operation, client, headers=bearer(tokens[scope][0]))
            self.check(operation, reply)
            self.assertEqual(reply.status == 403, scopes.index(scope) < place,
                             '%s with the scope %s: %r' % (operation, scope, reply))

    def test_a_namesake_of_less_scope_ends_no_operation_that_changes(self):
        operation = self.api.operations['forgetOperation']
        owner, twin = make('the-one', 'step'), make('the-one', 'read')
        with tempfile.NamedTemporaryFile('w', suffix='.tokens') as f:
            f.write('%s\n%s\n' % (owner[1], twin[1]))
            f.flush()
            with Daemon('--tokens', f.name) as d, Client(d.base) as client:
                head = bearer(owner[0])
                made = client.call('POST', '/v1/instances', {'example': 'mass1d'}, head)
                long = client.call('POST', '/v1/instances/%s/step' % made['id'],
                                   {'count': 10 ** 9}, {**head, 'Prefer': 'respond-async'})
                reply = self.send(operation, client, oid=long['id'], headers=bearer(twin[0]))
                self.check(operation, reply, 403, 'forbidden')

    def test_names_that_do_not_exist_are_not_found(self):
        for operation in self.having(404):
            for name in operation.names:
                if GIVEN.get(operation.id) == name:
                    continue
                with self.subTest('%s without its %s' % (operation, name)):
                    more = self.ready(operation)
                    self.check(operation, self.send(operation, **{**more, name: 'nobody'}), 404)

    def test_forms_that_do_not_exist_are_not_acceptable(self):
        for operation in self.having(406):
            with self.subTest(str(operation)):
                more = self.ready(operation)
                reply = self.send(operation, **{**more, 'headers': {'Accept': 'image/png'}})
                self.check(operation, reply, 406, 'not-acceptable')

    def test_a_run_keeps_other_changes_of_the_state_away(self):
        made = self.client.call('POST', self.rig() + '/runs', {'pace': 1, 'period': 0.02})
        for operation in self.having(409, 'run-in-progress', disturbs_a_coupling):
            with self.subTest(str(operation)):
                reply = self.send(operation, rid=made['id'])
                self.check(operation, reply, 409, 'run-in-progress')

    def test_the_owner_keeps_other_changes_away(self):
        self.client.call('POST', self.rig() + '/lease', {'role': 'owner', 'seconds': 60})
        for operation in self.having(409, 'foreign-lease'):
            # once it is there, a coupling owns its instances
            if is_of_couplings(operation) and operation.id != 'couple':
                continue
            with self.subTest(str(operation)):
                self.check(operation, self.send(operation), 409, 'foreign-lease')

    def test_another_revision_is_refused(self):
        self.rig()
        for operation in self.having(412):
            with self.subTest(str(operation)):
                reply = self.send(operation, headers={'If-Match': '"0.0"'})
                self.check(operation, reply, 412, 'revision-mismatch')

    def test_bodies_have_a_largest_size(self):
        with Daemon('--model-size', '1') as d, Client(d.base) as client:
            self.rig(client)
            for operation in self.having(413):
                with self.subTest(str(operation)):
                    reply = self.send(operation, client, body=b' ' * (2 << 20))
                    self.check(operation, reply, 413, 'body-too-large')

    def test_bodies_are_json(self):
        self.rig()
        for operation in self.having(415):
            with self.subTest(str(operation)):
                reply = self.send(operation, headers={'Content-Type': 'text/plain'})
                self.check(operation, reply, 415, 'unsupported-media-type')
        for operation in self.having(400, 'malformed-json'):
            with self.subTest(str(operation)):
                self.check(operation, self.send(operation, body=b'{'), 400, 'malformed-json')

    def test_unknown_members_of_a_body_are_refused(self):
        for operation in self.having(422):
            if operation.takes_body:
                with self.subTest(str(operation)):
                    more = self.ready(operation)
                    body = {**operation.example, 'unheardOf': 1}
                    reply = self.check(operation, self.send(operation, body=body, **more), 422)
                    self.assertIn('unheardOf', str(reply['errors']))

    def test_a_key_with_another_body_is_refused(self):
        for number, operation in enumerate(self.having(422, 'key-reused')):
            with self.subTest(str(operation)):
                more = self.ready(operation)
                more['headers'] = {'Idempotency-Key': 'walk-%d' % number,
                                   **more.get('headers', {})}
                self.check(operation, self.send(operation, **more), operation.success)
                reply = self.send(operation, body={'unheardOf': 1}, **more)
                self.check(operation, reply, 422, 'key-reused')

    def test_a_full_queue_is_reported(self):
        root = self.rig()
        door = ZmqDoor(self.daemon)
        request, sent = json.dumps({'op': 'step', 'id': 'rig', 'count': 10 ** 9}).encode(), []

        def one_more_is_too_many():
            sent.append(door.socket.send_multipart([b'', request]))
            return len(sent) > 70 and self.client.call('GET', root).status == 429
        wait_until(one_more_is_too_many, 'the queue is full')
        for operation in self.having(429, 'queue-full', disturbs_a_coupling):
            with self.subTest(str(operation)):
                self.check(operation, self.send(operation), 429, 'queue-full')
        self.client.call('DELETE', root)
        codes = {door.receive()[1]['code'] for _ in sent}
        self.assertEqual(codes, {'queue-full', 'cancelled', 'instance-not-found'})
        self.codes().update(codes)
        door.close()

    def test_large_bodies_on_their_way_are_bounded(self):
        # all of them may have the room of four models
        with Daemon('--model-size', '1') as d, Client(d.base) as client:
            others = [Client(d.base).http for _ in range(4)]
            for other in others:
                a_body_without_its_end(other)
            wait_until(lambda: gauge(client, 'body_bytes') > (4 << 20) - 1024,
                       'the room is taken')
            for operation in self.having(429, 'limit-reached'):
                if operation.takes_body:
                    with self.subTest(str(operation)):
                        reply = self.send(operation, client, body=operation.example or {})
                        self.check(operation, reply, 429, 'limit-reached')
            for other in others:
                other.close()

    def test_what_goes_beyond_a_quota_is_refused(self):
        with Daemon(*ON, '--quota', QUOTA) as d, Client(d.base) as client:
            a_snapshot(client, self.rig(client))
            for operation in sorted(self.having(429, 'quota-exceeded'), key=is_of_couplings):
                with self.subTest(str(operation)):
                    which, body = BEYOND[operation.id]
                    more = self.ready(operation, client) if is_of_couplings(operation) else {}
                    reply = self.send(operation, client, body=body, **more)
                    self.check(operation, reply, 429, 'quota-exceeded')
                    self.assertEqual(reply['quota']['which'], which)
                    if 'cid' in more:
                        client.call('DELETE', '/v1/couplings/' + more['cid'])

    def test_the_shutdown_is_reported(self):
        daemon = Daemon('--workers', '1')
        with Client(daemon.base) as first:
            self.rig(first)
            first.call('PUT', '/v1/instances/endless', {'model': models.endless_fall()})
            door = ZmqDoor(daemon)
            waiting = self.having(503, 'draining')
            clients = {o.id: Client(daemon.base) for o in waiting}
            self.assertEqual({c.call('GET', '/livez').status for c in clients.values()}, {200})
            # a thread that is stuck holds the end up, in which reads are refused too
            door.socket.send_multipart([b'', b'{"op": "step", "id": "endless", "count": 1000}'])
            wait_until(lambda: self.is_stepping(first), 'the step has begun')
            held = HeldThread(busiest_thread(daemon.pid()))
            daemon.process.send_signal(signal.SIGTERM)
            wait_until(lambda: first.call('GET', '/readyz').status == 503, 'the end has begun')
            for operation in sorted(waiting, key=lambda o: o.scope == 'read'):
                with self.subTest(str(operation)):
                    client = clients[operation.id]
                    # what changes something is refused at once, the rest --finish-ms later
                    if operation.scope == 'read':
                        wait_until(lambda o=operation, c=client: self.send(o, c).status == 503, '')
                    self.check(operation, self.send(operation, client), 503, 'draining')
            door.close()
            daemon.process.kill()
            held.wait(10)
        for client in clients.values():
            client.http.close()
        daemon._remove()

    def test_a_full_disk_is_reported(self):
        with tempfile.TemporaryDirectory(prefix='mechd-walk-') as folder, \
                Daemon(*ON, '--state', folder, '--durability', 'every-step') as d, \
                Client(d.base) as client:
            others = [o for o in self.api.operations.values() if changes_a_coupling(o)]
            for operation in self.having(507) + [o for o in others if 507 not in o.statuses]:
                with self.subTest(str(operation)):
                    self.on_a_full_disk(operation, d, client)

    def on_a_full_disk(self, operation, d, client):
        """No file may grow any more: writes fail as on a full disk."""
        root, more = self.rig(client), self.ready(operation, client)
        with d.full_disk():
            FULL.get(operation.id, only_the_rig)(client, more.get('cid', root))
            told = (507, 'storage-failed') if 507 in operation.statuses else ()
            self.check(operation, self.send(operation, client, **more), *told)
        wait_until(lambda: client.call('PUT', root + '/inputs', {}).status != 507, 'it is over')

    # --- refusals of single routes ----------------------------------------------------------------

    def test_each_refusal_of_the_table_comes_as_it_says(self):
        for name, status, code, query, body in REFUSALS:
            operation = self.api.operations[name]
            with self.subTest('%s %s %.60s' % (operation, query, body)):
                self.rig()
                more = self.ready(operation) if operation.id != 'createAs' else {}
                reply = self.send(operation, query=query, body=body, **more)
                self.check(operation, reply, status, code)

    def test_what_fails_has_its_reason(self):
        for model, name, status, code, body in FAILURES:
            operation = self.api.operations[name]
            with self.subTest(code):
                i = self.daemon.create(model())
                reply = self.check(operation, self.send(operation, body=body, id=i), status, code)
                self.assertTrue(reply['detail'])
                self.client.call('DELETE', '/v1/instances/' + i)

    def test_a_deleted_instance_cancels_its_step(self):
        root, operation = self.rig(), self.api.operations['step']
        answers = []

        def step():
            with Client(self.daemon.base) as client:
                answers.append(self.send(operation, client, body={'count': 10 ** 9}))
        thread = threading.Thread(target=step)
        thread.start()
        wait_until(lambda: self.is_stepping(self.client), 'it steps or waits')
        self.client.call('GET', root + '/state')  # behind its first slice
        self.client.call('DELETE', root)
        thread.join()
        self.check(operation, answers[0], 409, 'cancelled')

    def test_other_methods_are_refused_with_those_that_are_taken(self):
        for one in self.api.operations.values():
            path = one.path()
            methods = {o.method for o in self.api.operations.values() if o.matches(path)}
            methods |= {'HEAD'} if 'GET' in methods else set()
            for method in {'GET', 'PUT', 'POST', 'DELETE', 'PATCH'} - methods:
                with self.subTest('%s %s' % (method, path)):
                    reply = self.client.call(method, path)
                    self.assertEqual((reply.status, reply['code']), (405, 'method-not-allowed'))
                    self.assertEqual(set(reply.headers['Allow'].split(', ')), methods)
                    self.problem(reply)

    def problem(self, reply):
        """A refusal that belongs to no operation."""
        schema = {'$ref': '#/components/schemas/Problem'}
        self.assertEqual(reply.headers['Content-Type'], 'application/problem+json')
        self.assertEqual(self.api.misfits(schema, reply.json), [], reply)
        self.codes().add(reply['code'])

    def codes(self):
        return self.seen.setdefault(('', 0), set())

    def test_paths_that_do_not_exist_are_not_found(self):
        for path in ('/v2', '/v1/nothing', '/v1/instances/rig/nothing'):
            reply = self.client.call('GET', path)
            self.assertEqual((reply.status, reply['code']), (404, 'route-not-found'), path)
            self.problem(reply)

    def test_connections_are_counted_and_must_not_be_silent(self):
        def both(use):
            slow = use(socket.create_connection, d.base.split('/')[-1].split(':'))
            self.addCleanup(slow.close)
            use(slow.sendall, b'GET /v1 HT')
            with Client(d.base) as other:
                reply = use(wait_until, lambda: self.refused(other), 'the first one is taken')
                self.assertEqual((reply.status, reply['code']), (503, 'too-many-connections'))
                self.problem(reply)
            return slow
        with Daemon('--connections', '1', '--head-seconds', '2') as d:
            slow = again_where_slow(2, both)
            with http.client.HTTPResponse(slow) as answer:
                answer.begin()
                self.assertEqual(answer.status, 408)
                self.problem(Reply(answer.status, answer.headers, answer.read()))

    def refused(self, client):
        reply = client.call('GET', '/v1')
        return reply if reply.status != 200 else client.http.close()

    def test_what_only_other_doors_refuse_has_its_code(self):
        door = ZmqDoor(self.daemon)
        status, body = door.call('nothing')
        self.assertEqual((status, body['code']), (400, 'unknown-operation'))
        self.codes().add(body['code'])
        door.close()
        self.rig()
        with Partner(self.daemon, 'rig', ['force'], ['x']) as partner:
            for lease, values, code in ((partner.lease, [1, 2, 3], 'malformed-frame'),
                                        (partner.lease + 1, [1], 'foreign-lease')):
                partner.lease = lease
                with self.assertRaises(FrameError) as refused:
                    partner.step(0.01, values)
                problem = json.loads(refused.exception.problem[0])
                self.assertEqual(problem['code'], code)
                self.codes().add(code)

    def test_missing_memory_is_reported(self):
        with Daemon() as d, Client(d.base) as client:
            root = self.rig(client)
            size = resident(d, 'VmData')
            if SANITIZED:
                self.skipTest('a sanitizer keeps all of the address space')
            # 60 MB of rows do not fit any more
            resource.prlimit(d.pid(), resource.RLIMIT_DATA, (size + (16 << 20),) * 2)
            reply = client.call('POST', root + '/runs',
                                {'until': 3750, 'period': 0.001, 'record': {}})
            self.assertEqual((reply.status, reply['code']), (503, 'out-of-memory'))
            self.assertEqual(client.call('GET', root).status, 200)
            self.codes().add('out-of-memory')

    # --- what is left -----------------------------------------------------------------------------

    def test_zz_each_documented_status_has_been_seen(self):
        for operation in self.api.operations.values():
            for status in operation.statuses:
                with self.subTest('%s: %d' % (operation, status)):
                    self.assertTrue(
                        (operation.id, status) in self.seen,
                        'documented and not seen: give REFUSALS in walk_plan.py a line that '
                        'provokes it, or take its code from its row (protocol/wire/routes/)')

    def test_zz_each_code_has_been_seen(self):
        codes = set().union(*self.seen.values())
        everything = set(self.api.document['components']['schemas']['Code']['enum'])
        never = NEVER | ({'out-of-memory'} if SANITIZED else set())
        self.assertEqual(everything - codes, never)

    def test_zz_recorded_answers_are_those_that_come(self):
        with open(RECORDED, encoding='utf-8') as f:
            recorded = json.load(f)
        for kind, answers in self.wanted().items():
            for name in sorted(answers.keys() | recorded[kind].keys()):
                with self.subTest('%s %s' % (kind, name)):
                    self.assertTrue(
                        any(alike(recorded[kind].get(name), a) for a in answers.get(name, [])),
                        'recorded %.500s\nis now %.500s\n%s --write records it' %
                        (recorded[kind].get(name), answers.get(name), os.path.basename(__file__)))

    def wanted(self):
        """What may be recorded, by kind and name: problems only of codes that HTTP has."""
        codes = {c for o in self.api.operations.values() for s in o.statuses if s >= 400
                 for c in o.codes(s)}
        return {'reply': self.recorded['reply'],
                'problem': {c: p for c, p in self.recorded['problem'].items() if c in codes}}


def write():
    """Record anew what is not alike."""
    with open(RECORDED, encoding='utf-8') as f:
        recorded = json.load(f)

    def record(walk):
        for kind, answers in walk.wanted().items():
            old = recorded[kind]
            recorded[kind] = {
                name: old[name] if any(alike(old.get(name), a) for a in found) else found[0]
                for name, found in sorted(answers.items())}
        with open(RECORDED, 'w', encoding='utf-8') as f:
            json.dump(recorded, f, indent=1, sort_keys=True, ensure_ascii=False)
            f.write('\n')
    Walk.test_zz_recorded_answers_are_those_that_come = record


if __name__ == '__main__':
    if '--write' in sys.argv:
        sys.argv.remove('--write')
        write()
    unittest.main()
