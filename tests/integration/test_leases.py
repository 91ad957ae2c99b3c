"""Leases: an owner alone changes its instance, co-drivers set their inputs, observers watch;
through every door by one mechanism, and all of them end by the clock."""
import calendar
import json
import re
import shutil
import tempfile
import threading
import time
import unittest
import models
from harness import (SCENARIO, Daemon, Forces, FrameError, Http, Partner, Served, ZmqDoor,
                     again_where_slow, gauge, wait_until)
from keeping import Kept
from package import mechd
from tokens import bearer, make

RACES = True

SHORT = 0.3 * SCENARIO  # s: a lease that is to end within a test


def two_inputs():
    """An oscillator with a second force on the same coordinate."""
    model = models.oscillator()
    load = next(x for x in model['loads'] if x['name'] == model['inputs'][0]['load'])
    model['loads'].append({**load, 'name': 'second'})
    model['inputs'].append({'name': 'torque', 'load': 'second'})
    return model


def show(lease):
    return {'Lease': str(lease)}


class Leases(Served):
    def setUp(self):
        self.one = '/v1/instances/' + self.daemon.create(two_inputs())
        self.who = self.one.rsplit('/', 1)[1]

    def call(self, method, path, body=None, status=200, lease=None, **headers):
        head = {**headers, **(show(lease) if lease else {})}
        reply = self.daemon.call(method, self.one + path, body, head)
        self.assertEqual(reply.status, status, reply)
        return reply

    def take(self, role, *channels, **more):
        body = {'role': role, **({'channels': list(channels)} if channels else {}), **more}
        return self.call('POST', '/lease', body, 201)['lease']

    def refused(self, method, path, body=None, lease=None, says='.'):
        reply = self.call(method, path, body, 409, lease)
        self.assertEqual(reply['code'], 'foreign-lease')
        self.assertRegex(reply['detail'], says)

    def wait_for_steps(self):
        """A long command has begun."""
        before = gauge(self.daemon, 'steps_total')
        wait_until(lambda: gauge(self.daemon, 'steps_total') > before, 'the command goes on')

    def list(self):
        return self.call('GET', '/lease')['items']

    def test_with_an_owner_no_other_client_changes_anything_and_all_read(self):
        snapshot = self.call('POST', '/snapshots', status=201)['id']
        trial = self.call('POST', '/step', {'size': 1e-3, 'commit': False})['trial']
        lease = self.take('owner', name='rig-a')
        state = self.call('GET', '/state').json
        changes = (('POST', '/step', {'count': 1}), ('POST', '/commit', {'trial': trial}),
                   ('PUT', '/inputs', {'force': 1}), ('PUT', '/parameters', {'k': 5}),
                   ('PUT', '/state', {'time': 1}), ('POST', '/reset', {}),
                   ('POST', '/snapshots', {}), ('POST', '/snapshots/%s/restore' % snapshot, {}),
                   ('DELETE', '/snapshots/' + snapshot, None), ('POST', '/statics', {}),
                   ('POST', '/runs', {'until': 1}), ('DELETE', '', None),
                   ('PUT', '/objects/mass/fields/physicsMass', {'value': 2}))
        for method, path, body in changes:
            with self.subTest(path):
                self.refused(method, path, body, says=r'held by rig-a \(owner\) until 20\d\d-')
        for path in ('', '/state', '/outputs', '/inputs', '/model', '/modes', '/linearization',
                     '/lease', '/snapshots/' + snapshot, '/system', '/scene'):
            self.call('GET', path)
        self.call('POST', '/evaluate', {'want': ['lhs']})
        self.call('POST', '/jvp', {'count': 1, 'inputs': {'force': 1}})
        self.call('POST', '/clone', {}, 201)
        self.assertEqual(self.call('GET', '/state').json, state)
        for method, path, body in changes[::-1][2:]:
            with self.subTest('the owner: ' + path):
                reply = self.daemon.call(method, self.one + path, body, show(lease))
                self.assertNotEqual((reply.json or {}).get('code'), 'foreign-lease', reply)
                if path == '/runs':
                    self.call('DELETE', '/runs/' + reply['id'], lease=lease)
        self.call('DELETE', '', status=204, lease=lease)

    def test_what_is_agreed_on_stands_in_the_answer_and_in_the_list(self):
        reply = self.call('POST', '/lease', {'role': 'owner', 'name': 'rig', 'seconds': 30}, 201)
        self.assertEqual(reply.headers['Location'], self.one + '/lease')
        self.assertEqual((reply['role'], reply['name'], reply['channels'], reply['seconds']),
                         ('owner', 'rig', [], 30))
        self.assertTrue(0 < reply['lease'] < 2 ** 52)
        self.assertTrue(29 < reply['left'] <= 30)
        said = calendar.timegm(time.strptime(reply['expires'][:19], '%Y-%m-%dT%H:%M:%S'))
        self.assertAlmostEqual(said, time.time() + 30, delta=3)
        drive = self.take('co-driver', 'torque', name='hand')
        self.take('observer')
        listed = self.list()
        self.assertEqual([(x['role'], x['name'], x['channels'], x['seconds']) for x in listed],
                         [('owner', 'rig', [], 30), ('co-driver', 'hand', ['torque'], 60),
                          ('observer', '', [], 60)])
        raw = self.call('GET', '/lease').raw
        for number in (reply['lease'], drive):
            self.assertNotIn(str(number).encode(), raw)

    def test_an_instance_has_one_owner_and_a_channel_one_co_driver(self):
        self.take('owner', name='first')
        self.refused('POST', '/lease', {'role': 'owner'}, says='first')
        self.take('co-driver', 'force', name='left')
        self.refused('POST', '/lease', {'role': 'co-driver', 'channels': ['torque', 'force']},
                     says='force of .* held by left')
        other = self.take('co-driver', 'torque', name='right')
        self.refused('PATCH', '/lease', {'channels': ['force']}, other, 'left')
        self.refused('PATCH', '/lease', {'role': 'owner'}, other, 'first')
        self.assertEqual(self.list()[2]['channels'], ['torque'])

    def test_a_co_driver_sets_its_inputs_and_nothing_else_under_any_owner(self):
        drive = self.take('co-driver', 'force', name='hand')

        def check():
            self.call('PUT', '/inputs', {'force': 2}, lease=drive)
            self.refused('PUT', '/inputs', {'torque': 2}, drive, 'co-driver')
            self.refused('PUT', '/inputs', {'force': 3, 'torque': 2}, drive, 'co-driver')
            self.assertEqual(self.call('GET', '/inputs')['inputs'], {'force': 2, 'torque': 0})
            for path, body in (('/step', {'count': 1}), ('/reset', {}), ('/snapshots', {})):
                self.refused('POST', path, body, drive, 'may set only its own inputs')
            self.refused('PUT', '/parameters', {'k': 5}, drive)

        check()
        # without an owner everybody steps, but leaves the co-driver's input alone
        self.call('POST', '/step', {'count': 1, 'inputs': {'torque': 0}})
        self.refused('POST', '/step', {'count': 1, 'inputs': {'force': 1}}, says='force .*hand')
        self.refused('PUT', '/inputs', {'force': 1}, says='force .*hand')
        self.refused('POST', '/step', {'count': 1, 'inputSignals': {'force': {}}}, says='force .*h')
        owner = self.take('owner')
        check()
        self.call('PUT', '/inputs', {'force': 4}, lease=owner)

    def test_an_observer_changes_nothing(self):
        watch = self.take('observer', name='eye')
        for method, path, body in (('POST', '/step', {'count': 1}), ('PUT', '/inputs', {}),
                                   ('POST', '/reset', {})):
            self.refused(method, path, body, watch, 'eye is an observer')
        self.call('GET', '/outputs', lease=watch)
        self.call('POST', '/step', {'count': 1})

    def test_a_lease_is_given_up_and_its_number_is_worth_nothing_then(self):
        lease = self.take('owner')
        self.refused('DELETE', '/lease', says='not valid')
        self.call('DELETE', '/lease', status=204, lease=lease)
        self.assertEqual(self.list(), [])
        self.call('POST', '/step', {'count': 1})
        for method, path, body in (('POST', '/step', {'count': 1}), ('PATCH', '/lease', {}),
                                   ('DELETE', '/lease', None)):
            self.refused(method, path, body, lease, 'not valid')
        self.refused('POST', '/step', {'count': 1}, 12345, 'not valid')
        self.call('GET', '/outputs', lease=lease)

    def test_a_lease_is_changed(self):
        lease = self.take('co-driver', 'force')
        reply = self.call('PATCH', '/lease', {'channels': ['torque'], 'seconds': 7, 'name': 'x'},
                          lease=lease)
        self.assertEqual((reply['lease'], reply['channels'], reply['seconds'], reply['name']),
                         (lease, ['torque'], 7, 'x'))
        self.take('co-driver', 'force')
        reply = self.call('PATCH', '/lease', {'role': 'owner'}, lease=lease)
        self.assertEqual((reply['role'], reply['channels']), ('owner', []))
        self.call('POST', '/step', {'count': 1}, lease=lease)
        self.refused('POST', '/step', {'count': 1})
        self.take('co-driver', 'torque')
        for body in ({'role': 'co-driver'}, {'channels': ['force']},
                     {'role': 'observer', 'channels': ['force']}):
            reply = self.call('PATCH', '/lease', body, 422, lease)
            self.assertEqual(reply['errors'][0]['pointer'], '/channels')

    def test_silence_ends_a_lease_without_a_request_and_use_renews_it(self):
        self.take('owner', seconds=SHORT, name='silent')
        wait_until(lambda: re.search('lease-ended.*%s .*role=owner name=silent' % self.who,
                                     self.daemon.log()), 'the log tells of the end')
        self.assertEqual(self.list(), [])
        self.call('POST', '/step', {'count': 1})
        uses = (('GET', '/outputs', None), ('POST', '/step', {'count': 1}), ('PATCH', '/lease', {}),
                ('GET', '/lease', None))

        def renewed(use):
            self.setUp()
            lease = use(self.take, 'owner', seconds=2 * SHORT)
            start = time.monotonic()
            at = 0
            while time.monotonic() < start + 6 * SHORT or at < len(uses):
                method, path, body = uses[at % len(uses)]
                at += 1
                use(self.call, method, path, body, lease=lease)
                self.assertEqual(len(self.list()), 1)
                time.sleep(SHORT / 4)  # steady: a use now and then, an eighth of the lease
            use(self.call, 'POST', '/step', {'count': 1}, lease=lease)

        again_where_slow(2 * SHORT, renewed)

    def test_a_long_command_is_no_silence(self):
        lease = self.take('owner')
        door = Http(self.daemon.base)
        reply = []
        work = threading.Thread(target=lambda: reply.append(door.call(
            'POST', self.one + '/step', {'count': 10 ** 9}, show(lease))))
        work.start()
        self.wait_for_steps()
        self.call('PATCH', '/lease', {'seconds': SHORT}, lease=lease)
        end = time.monotonic() + 3 * SHORT
        while time.monotonic() < end:
            self.assertEqual(self.daemon.call('DELETE', self.one).status, 409)
        self.assertEqual(reply, [])
        self.call('POST', '/stop', lease=lease)
        work.join()
        door.close()
        self.assertEqual(reply[0]['code'], 'cancelled', reply)
        wait_until(lambda: not self.list(), 'then it ends')

    def test_taking_a_lease_does_not_wait_for_a_long_command(self):
        door = Http(self.daemon.base)
        reply = []
        work = threading.Thread(target=lambda: reply.append(door.call(
            'POST', self.one + '/step', {'count': 10 ** 9})))
        work.start()
        self.wait_for_steps()
        lease = self.take('owner')
        self.refused('POST', '/step', {'count': 1})
        self.call('DELETE', '', status=204, lease=lease)
        work.join()
        door.close()
        self.assertEqual(reply[0]['code'], 'cancelled')

    def begin(self, **head):
        """The connection of a step without end that has begun."""
        connection = Http(self.daemon.base).connect()
        connection.request('POST', self.one + '/step', json.dumps({'count': 10 ** 9}),
                           {'Content-Type': 'application/json', **head})
        self.wait_for_steps()
        return connection

    def leave_behind(self, **head):
        """A step without end, whose client closes the connection."""
        self.begin(**head).close()

    def test_commands_of_an_inactive_holder_end_with_its_lease(self):
        def go_on(use):
            self.setUp()
            lease = self.take('owner')
            self.leave_behind(**show(lease))
            self.refused('POST', '/step', {'count': 1})
            # as long as the holder sends requests, it continues
            use(self.call, 'PATCH', '/lease', {'seconds': 3 * SHORT}, lease=lease)
            start = time.monotonic()
            while time.monotonic() < start + 6 * SHORT:
                time.sleep(SHORT)  # steady: a word now and then, a third of the lease
                use(self.call, 'PATCH', '/lease', {}, lease=lease)
            self.assertTrue(use(self.call, 'GET', '')['busy'])
            self.assertEqual(len(use(self.list)), 1)
            return lease

        lease = again_where_slow(3 * SHORT, go_on)
        # then others find it as it was before
        wait_until(lambda: not self.call('GET', '')['busy'], 'the command ends')
        self.assertEqual(self.list(), [])
        self.assertEqual(self.call('POST', '/step', {'count': 1})['step'], 1)
        self.assertEqual(self.call('POST', '/step', {'count': 1}, 409, lease)['code'],
                         'foreign-lease')

    def test_a_command_is_retained_for_a_client_that_reconnects_for_its_answer(self):
        lease = self.take('owner')
        key = {'Idempotency-Key': 'again'}
        first = self.begin(**show(lease), **key)
        door, reply = Http(self.daemon.base), []
        again = threading.Thread(target=lambda: reply.append(door.call(
            'POST', self.one + '/step', {'count': 10 ** 9}, {**show(lease), **key})))
        again.start()
        wait_until(lambda: gauge(self.daemon, 'in_flight') == 3, 'both wait, and this question')
        self.call('PATCH', '/lease', {'seconds': SHORT}, lease=lease)
        first.close()
        time.sleep(5 * SHORT)  # steady: the time in which it must not end
        self.assertTrue(self.call('GET', '')['busy'])
        self.call('POST', '/stop', lease=lease)
        again.join()
        door.close()
        self.assertEqual(reply[0]['code'], 'cancelled')

    def test_without_a_lease_a_command_ends_with_its_client(self):
        self.leave_behind()
        wait_until(lambda: not self.call('GET', '')['busy'], 'it has ended')
        self.assertEqual(self.call('GET', '/state')['time'], 0)

    def test_without_a_lease_a_command_with_a_key_goes_on_without_its_client(self):
        self.leave_behind(**{'Idempotency-Key': 'comes-back'})
        time.sleep(3 * SHORT)  # steady: the time in which it must not end
        self.assertTrue(self.call('GET', '')['busy'])
        self.call('POST', '/stop')

    def test_the_same_leases_hold_over_zeromq(self):
        door = ZmqDoor(self.daemon)
        self.addCleanup(door.close)
        lease = door.call('lease', id=self.who, role='owner', name='zmq')[1]['lease']
        self.refused('POST', '/step', {'count': 1}, says='zmq')
        self.assertEqual(door.call('step', id=self.who, count=1)[0], 409)
        self.assertEqual(door.call('step', id=self.who, count=1, lease=lease)[0], 200)
        self.assertEqual(door.call('set-inputs', id=self.who, inputs={'force': 1},
                                   lease=lease)[0], 200)
        self.call('POST', '/step', {'count': 1}, lease=lease)
        for wrong in ('1', -1, 0, 1.5):
            status, problem = door.call('step', id=self.who, count=1, lease=wrong)
            self.assertEqual((status, problem['errors'][0]['pointer']), (422, '/lease'))
        changed = door.call('change-lease', id=self.who, lease=lease, seconds=5)[1]
        self.assertEqual(changed['seconds'], 5)
        self.assertEqual(door.call('leases', id=self.who)[1]['items'][0]['name'], 'zmq')
        self.assertEqual(door.call('release', id=self.who, lease=lease)[0], 200)
        self.assertEqual(door.call('step', id=self.who, count=1)[0], 200)

    def test_a_batch_shows_leases_for_all_or_for_each(self):
        lease = self.take('owner')
        item = {'op': 'step', 'id': self.who, 'count': 1}

        def statuses(body, **head):
            reply = self.daemon.call('POST', '/v1/batch', body, head)
            self.assertEqual(reply.status, 200, reply)
            return [x['status'] for x in reply['results']]

        self.assertEqual(statuses({'items': [item, {**item, 'lease': lease}]}), [409, 200])
        self.assertEqual(statuses({'items': [item]}, **show(lease)), [200])

    def partner(self, **more):
        partner = Partner(self.daemon, self.who, ['force'], ['x'], **more)
        self.addCleanup(partner.socket.close)
        return partner

    def test_a_partner_without_a_role_changes_what_any_client_may(self):
        first, second = self.partner(), self.partner()
        first.step(1e-3, [1])
        second.step(1e-3, [1])
        self.call('POST', '/step', {'count': 1})
        self.assertEqual([x['role'] for x in self.list()], ['partner', 'partner'])
        self.assertIsNone(self.list()[0]['left'])
        lease = self.take('owner', name='boss')
        for kind, values, header in (('step', [1], {'size': 1e-3}), ('trial', [1], {'size': 1e-3}),
                                     ('inputs', [1], {}), ('snapshot', [], {}), ('commit', [], {})):
            with self.assertRaisesRegex(FrameError, 'held by boss'):
                first.ask(kind, values, **header)
        first.ask('outputs')
        self.call('DELETE', '/lease', status=204, lease=lease)
        first.step(1e-3, [1])
        drive = self.take('co-driver', 'force', name='hand')
        with self.assertRaisesRegex(FrameError, 'force .*hand'):
            first.step(1e-3, [1])
        first.step(1e-3)
        self.call('DELETE', '/lease', status=204, lease=drive)
        first.bye()
        self.assertEqual(len(self.list()), 1)

    def test_a_binary_owner_keeps_others_out_until_it_goes_silent(self):
        def hold(use):
            self.setUp()
            partner = use(self.partner, role='owner', seconds=4 * SHORT, name='plant')
            self.assertEqual((partner.hello['role'], partner.hello['seconds']),
                             ('owner', 4 * SHORT))
            use(self.refused, 'POST', '/step', {'count': 1}, says='plant')
            with self.assertRaisesRegex(FrameError, 'held by plant'):
                self.partner(role='owner')
            for _ in range(8):
                use(partner.step, 1e-3, [1])
                time.sleep(SHORT)  # steady: a step now and then, within the lease
            use(self.refused, 'POST', '/step', {'count': 1}, says='plant')
            return partner

        partner = again_where_slow(4 * SHORT, hold)
        wait_until(lambda: not self.list(), 'it has been silent')
        self.call('POST', '/step', {'count': 1})
        with self.assertRaisesRegex(FrameError, 'not valid'):
            partner.step(1e-3, [1])

    def test_a_binary_co_driver_sends_forces_while_another_owns(self):
        owner = self.take('owner')
        partner = self.partner(role='co-driver')
        self.assertEqual(partner.hello['channels'], ['force'])
        partner.ask('inputs', [3])
        with self.assertRaisesRegex(FrameError, 'may set only its own inputs'):
            partner.step(1e-3, [1])
        forces = Forces(self.daemon, partner)
        forces.push([7], 0)
        wait_until(lambda: self.call('GET', '/inputs')['inputs']['force'] == 7, 'the force acts')
        watch = self.partner(role='observer')
        wrong = Forces(self.daemon, watch)
        refused = 'mechd_forces_refused_total '

        def count():
            text = self.daemon.call('GET', '/metrics').raw.decode()
            return int(re.search(refused + r'(\d+)', text).group(1))

        before = count()
        wrong.push([8], 0)
        wait_until(lambda: count() == before + 1, 'the force of an observer is refused')
        self.assertEqual(self.call('GET', '/inputs')['inputs']['force'], 7)
        self.call('POST', '/step', {'count': 1}, lease=owner)
        forces.close()
        wrong.close()

    def test_forces_for_later_go_with_the_lease_of_their_sender(self):
        partner = self.partner(role='co-driver', seconds=SHORT)
        forces = Forces(self.daemon, partner)
        forces.push([7], 0.5)
        wait_until(lambda: not self.list(), 'the lease has ended')
        self.call('POST', '/step', {'until': 1})
        self.assertEqual(self.call('GET', '/inputs')['inputs']['force'], 0)
        forces.close()

    def test_a_lease_from_http_may_be_used_in_frames(self):
        lease = self.take('owner', name='both')
        with self.assertRaisesRegex(FrameError, 'held by both'):
            self.partner().step(1e-3, [1])
        partner = self.partner()
        partner.lease = lease
        hello = json.dumps({'instance': self.who, 'inputs': ['force'], 'outputs': ['x']}).encode()
        header = partner.ask('hello', extra=[hello])[0]
        self.assertEqual(header['lease'], lease)
        partner.step(1e-3, [1])
        self.call('POST', '/step', {'count': 1}, lease=lease)
        partner.bye()
        self.call('POST', '/step', {'count': 1}, lease=lease)
        partner.ask('hello', extra=[hello])
        self.call('DELETE', '/lease', status=204, lease=lease)
        with self.assertRaisesRegex(FrameError, 'not valid'):
            partner.step(1e-3, [1])

    def test_faults_of_a_hello_are_reported_with_their_places(self):
        for more, pointer in (({'role': 'king'}, '/role'), ({'seconds': 5}, '/seconds'),
                              ({'role': 'owner', 'seconds': 0}, '/seconds'),
                              ({'role': 'owner', 'name': 'a b'}, '/name')):
            with self.assertRaises(FrameError) as caught:
                self.partner(**more)
            self.assertIn(b'"pointer":"%s"' % pointer.encode(), caught.exception.problem[0])
        with self.assertRaises(FrameError) as caught:
            Partner(self.daemon, self.who, [], ['x'], role='co-driver')
        self.assertIn(b'"pointer":"/inputs"', caught.exception.problem[0])

    def test_faults_of_a_request_are_reported_with_their_places(self):
        for body, pointer in (({}, '/role'), ({'role': 'king'}, '/role'),
                              ({'role': 'partner'}, '/role'), ({'role': 'co-driver'}, '/channels'),
                              ({'role': 'owner', 'channels': ['force']}, '/channels'),
                              ({'role': 'co-driver', 'channels': ['nope']}, '/channels/0'),
                              ({'role': 'co-driver', 'channels': ['force', 'force']},
                               '/channels/1'),
                              ({'role': 'co-driver', 'channels': ['force'] * 257}, '/channels'),
                              ({'role': 'owner', 'seconds': 0}, '/seconds'),
                              ({'role': 'owner', 'seconds': 1e9}, '/seconds'),
                              ({'role': 'owner', 'name': 'a b'}, '/name'),
                              ({'role': 'owner', 'more': 1}, '/more')):
            with self.subTest(str(body)):
                reply = self.call('POST', '/lease', body, 422)
                self.assertEqual(reply['errors'][0]['pointer'], pointer)
        self.call('POST', '/lease', None, 400)
        self.call('DELETE', '/lease?of=king', status=422)
        for wrong in ('x', '-1', '1x', ''):
            self.call('POST', '/step', {'count': 1}, 400, Lease=wrong)
        self.assertEqual(self.list(), [])

    def test_there_are_sixty_four_leases_at_most(self):
        for _ in range(64):
            self.take('observer')
        reply = self.call('POST', '/lease', {'role': 'owner'}, 429)
        self.assertEqual(reply['code'], 'limit-reached')

    def test_a_lease_taken_twice_under_a_key_is_one(self):
        key = {'Idempotency-Key': 'lease-' + self.who}
        first = self.call('POST', '/lease', {'role': 'owner'}, 201, **key)
        again = self.call('POST', '/lease', {'role': 'owner'}, 201, **key)
        self.assertEqual(first['lease'], again['lease'])

    def test_of_many_requests_for_ownership_one_succeeds(self):
        taken, refused = [], []

        def want():
            door = Http(self.daemon.base)
            for _ in range(20):
                reply = door.call('POST', self.one + '/lease', {'role': 'owner'})
                if reply.status == 201:
                    taken.append(reply['lease'])
                    steps = [door.call('POST', self.one + '/step', {'count': 1},
                                       show(reply['lease'])).status for _ in range(5)]
                    gone = door.call('DELETE', self.one + '/lease', None, show(reply['lease']))
                    if set(steps) != {200} or gone.status != 204:
                        refused.append((steps, gone))
                elif reply.status != 409:
                    refused.append(reply)
            door.close()

        threads = [threading.Thread(target=want) for _ in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(refused, [])
        self.assertEqual(self.call('GET', '')['step'], 5 * len(taken))
        self.assertGreater(len(taken), 0)


class Python(Served):
    def test_labels_choose_and_change(self):
        server = mechd.Server(self.daemon.base)
        self.addCleanup(server.close)
        i = server.create(models.oscillator(), labels={'a': 'x'}, ttl=600)
        self.assertEqual(i.edit(labels={'a': 'b'}, ttl=60)['ttl'], 60)
        self.assertEqual([e.id for e in server.instances(a='b')], [i.id])
        self.assertEqual(list(server.instances(a='x')), [])

    def test_a_lease_keeps_others_out_within_its_block(self):
        server = mechd.Server(self.daemon.base)
        self.addCleanup(server.close)
        i = server.create(models.oscillator())
        other = server.instance(i.id)
        with i.lease('owner', seconds=30, name='rig') as lease:
            self.assertEqual((lease.role, lease.name, lease.seconds), ('owner', 'rig', 30))
            i.step(0.01)
            with self.assertRaisesRegex(mechd.Conflict, 'held by rig'):
                other.step(0.01)
            with self.assertRaises(mechd.Conflict):
                other.lease('owner')
            with other.lease('co-driver', 'force') as drive:
                self.assertEqual(drive.channels, ['force'])
                other.inputs['force'] = 2
                with self.assertRaises(mechd.Conflict):
                    other.step(0.01)
                self.assertEqual(drive.renew(seconds=5).seconds, 5)
            with i.connect(['force'], ['x']) as partner:
                partner.step(0.01, [1])
                with self.assertRaisesRegex(mechd.Conflict, 'held by rig'):
                    with other.connect(['force'], ['x'], role='owner'):
                        pass
            # a partner that leaves gives up its own lease, not the one that it used
            self.assertEqual([x['role'] for x in i.leases()], ['owner'])
            i.step(0.01)
        other.step(0.01)
        i.lease('owner')
        other.break_leases()
        with self.assertRaisesRegex(mechd.Conflict, 'not valid'):
            i.step(0.01)


class Tokens(unittest.TestCase):
    def test_only_an_admin_breaks_a_lease(self):
        step, step_line = make('rig', 'step')
        admin, admin_line = make('boss', 'admin')
        read, read_line = make('eye', 'read')
        with tempfile.NamedTemporaryFile('w', prefix='mechd-tokens-') as f:
            f.write('\n'.join((step_line, admin_line, read_line)) + '\n')
            f.flush()
            with Daemon('--tokens', f.name) as d:
                one = '/v1/instances/' + d.call('POST', '/v1/instances', {
                    'model': models.oscillator()}, bearer(step))['id']
                lease = d.call('POST', one + '/lease', {'role': 'owner'}, bearer(step))['lease']
                self.assertEqual(d.call('POST', one + '/lease', {'role': 'observer'},
                                        bearer(read)).status, 403)
                listed = d.call('GET', one + '/lease', headers=bearer(read))
                self.assertEqual(listed['items'][0]['name'], 'rig')
                # the number alone is no token
                self.assertEqual(d.call('POST', one + '/step', {'count': 1},
                                        {**bearer(read), **show(lease)}).status, 403)
                of = one + '/lease?of=owner'
                reply = d.call('DELETE', of, headers=bearer(step))
                self.assertEqual((reply.status, reply['code']), (403, 'forbidden'))
                self.assertEqual(d.call('DELETE', of, headers=bearer(admin)).status, 204)
                self.assertEqual(d.call('DELETE', of, headers=bearer(admin)).status, 404)
                self.assertIn('lease-broken', d.log())
                self.assertEqual(d.call('POST', one + '/step', {'count': 1},
                                        {**bearer(step), **show(lease)}).status, 409)
                self.assertEqual(d.call('POST', one + '/step', {'count': 1},
                                        bearer(step)).status, 200)


class Restart(unittest.TestCase):
    def test_a_new_process_knows_no_lease(self):
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        daemon = Kept(folder)
        one = '/v1/instances/' + daemon.create(models.oscillator(), durability='every-step')
        lease = daemon.call('POST', one + '/lease', {'role': 'owner'})['lease']
        daemon.call('POST', one + '/step', {'count': 3}, show(lease))
        daemon.kill()
        with Kept(folder) as daemon:
            self.assertEqual(daemon.call('GET', one + '/lease')['items'], [])
            reply = daemon.call('POST', one + '/step', {'count': 1}, show(lease))
            self.assertEqual((reply.status, reply['code']), (409, 'foreign-lease'))
            self.assertEqual(daemon.call('POST', one + '/step', {'count': 1})['step'], 4)


if __name__ == '__main__':
    unittest.main()
