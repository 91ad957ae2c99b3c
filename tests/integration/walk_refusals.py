"""Refusals of single routes in the walk through the OpenAPI document."""
import shutil
import tempfile
import threading

import fmus
import ssps
from harness import KINDS, SLOW, Daemon, program, wait_until
from asking import ASYNC, is_busy
from long_models import pinched
from outside import Program
from tokens import bearer, make
from walk import Client
from walk_plan import ON, disturbs_a_coupling, hold, is_no_command_of_a_coupling, let_go
from walk_plan import waits_for_a_coupling


class Refusals:
    """Tests of test_openapi_walk.Walk."""

    def test_a_snapshot_whose_model_is_gone_is_not_given_out(self):
        more = self.ready(operation := self.api.operations['snapshot'])
        self.assertEqual(self.send(self.api.operations['setField']).status, 200)
        self.check(operation, self.send(operation, **more), 422, 'snapshot-mismatch')

    def test_a_coupling_whose_lease_is_revoked_goes_on_no_more(self):
        for name in ('stepCoupling', 'resetCoupling', 'couplingStability', 'commitCoupling',
                     'couplingSsp', 'takeCouplingSnapshot', 'restoreCoupling', 'couplingState',
                     'setCouplingState'):
            more = self.ready(operation := self.api.operations[name])
            self.client.call('DELETE', '/v1/instances/rig/lease?of=owner')
            self.check(operation, self.send(operation, **more), 409, 'foreign-lease')

    def test_a_server_without_the_binary_of_fmus_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = shutil.copy(program('mechd'), folder)
            with Daemon(program_path=alone) as d, Client(d.base) as client:
                for name, query in (('fmu', ''), ('fmu', '?kind=proxy'), ('couplingSsp', '')):
                    more = self.ready(operation := self.api.operations[name], client)
                    reply = self.send(operation, client, query=query, **more)
                    self.check(operation, reply, 501, 'not-installed')

    def test_uploaded_fmus_go_only_to_tokens_that_may_upload(self):
        operation = self.api.operations['couplingSsp']
        owner, reader = make('the-one', 'fmu'), make('the-other', 'read')
        with tempfile.NamedTemporaryFile('w', suffix='.tokens') as f:
            f.write('%s\n%s\n' % (owner[1], reader[1]))
            f.flush()
            with Daemon(*ON, '--tokens', f.name) as d, Client(d.base) as client:
                made = ssps.upload(d, ssps.package(ssps.PAIR), '', bearer(owner[0]))
                reply = self.send(operation, client, cid=made['id'], headers=bearer(reader[0]))
                self.check(operation, reply, 403, 'forbidden')

    def test_a_coupling_keeps_other_changes_of_its_instances_away(self):
        more = self.ready(self.api.operations['getCoupling'])
        # a lease is changed by its holder
        for operation in self.having(409, 'in-coupling', lambda o: o.id == 'changeLease'):
            with self.subTest(str(operation)):
                body = {'as': 'rig'} if operation.id == 'clone' else None
                self.check(operation, self.send(operation, body=body), 409, 'in-coupling')
        self.client.call('DELETE', '/v1/couplings/' + more['cid'])

    def test_a_coupling_whose_queue_is_full_says_so(self):
        for operation in self.having(429, 'queue-full', is_no_command_of_a_coupling):
            with self.subTest(str(operation)):
                more = self.ready(operation)
                path = '/v1/couplings/' + more['cid']
                for _ in range(64):
                    reply = self.client.call('POST', path + '/step', {'count': 10 ** 12}, ASYNC)
                    self.assertEqual(reply.status, 202, reply)
                self.check(operation, self.send(operation, **more), 429, 'queue-full')
                self.assertEqual(self.client.call('DELETE', path).status, 204)

    def held(self):
        """A coupling that a step without end keeps, with a run behind it: what is shown."""
        more = self.ready(self.api.operations['couplingRun'])
        path = '/v1/couplings/' + more['cid']

        def time():
            return self.client.call('GET', '/v1/instances/rig/state')['time']
        before = time()
        reply = self.client.call('POST', path + '/step', {'count': 10 ** 12}, ASYNC)
        self.assertEqual(reply.status, 202, reply)
        # it may wait behind the end of the run, before which the coupling takes other requests
        wait_until(lambda: time() > before, 'it steps')
        return more, path

    def test_what_waits_for_a_coupling_goes_on_by_itself(self):
        for name in ('startCouplingRun', 'stopCouplingRun', 'deleteCouplingResults',
                     'chooseCouplingStream', 'deleteCouplingStream'):
            more, path = self.held()
            operation = self.api.operations[name]
            reply = self.send(operation, headers=ASYNC, **more)
            self.check(operation, reply, 202)
            self.assertEqual(reply['operation'], operation.entry['x-zeromq-operation'])
            self.assertEqual(self.client.call('DELETE', path).status, 204)

    def test_a_coupling_for_which_too_many_wait_says_so(self):
        for operation in self.having(429, 'queue-full', lambda o: not waits_for_a_coupling(o)):
            with self.subTest(str(operation)):
                more, path = self.held()
                # starts of runs wait for the coupling, all else for its face
                for _ in range(64):
                    self.client.call('POST', path + '/runs', {'count': 1}, ASYNC)
                    self.client.call('DELETE', path + '/runs/r-1/results', headers=ASYNC)
                self.check(operation, self.send(operation, **more), 429, 'queue-full')
                self.assertEqual(self.client.call('DELETE', path).status, 204)

    def test_a_run_of_a_coupling_keeps_other_changes_of_its_state_away(self):
        more = self.ready(self.api.operations['stopCouplingRun'])
        for operation in self.having(409, 'run-in-progress', lambda o: not disturbs_a_coupling(o)):
            with self.subTest(str(operation)):
                self.check(operation, self.send(operation, **more), 409, 'run-in-progress')

    def test_a_coupling_that_does_not_converge_is_refused(self):
        operation = self.api.operations['stepCoupling']
        self.ready(self.api.operations['couple'])
        made = self.client.call('POST', '/v1/couplings', {
            'participants': [{'name': 'cart', 'instance': 'rig'}],
            'connections': [{'from': 'cart.x', 'to': 'cart.force', 'factor': -10, 'offset': 1}],
            'scheme': {'type': 'JacobiIterated', 'maxIterations': 1}, 'stepSize': 0.01})
        self.check(operation, self.send(operation, cid=made['id']), 422, 'coupling-not-converged')

    def test_a_partner_that_is_missing_or_wrong_is_named(self):
        operation = self.api.operations['stepCoupling']
        self.ready(self.api.operations['couple'])

        def couple(patience):
            made = self.client.call('POST', '/v1/couplings', {
                'participants': [{'name': 'cart', 'instance': 'rig'},
                                 {'name': 'p', 'partner': {'inputs': ['u'], 'outputs': ['y'],
                                                           'patience': patience}}],
                'connections': [{'from': 'cart.x', 'to': 'p.u'}], 'scheme': {'type': 'Jacobi'},
                'stepSize': 0.01})
            return made['id']
        cid = couple(0.01)
        self.check(operation, self.send(operation, cid=cid), 504, 'partner-timeout')
        self.client.call('DELETE', '/v1/couplings/' + cid)
        cid = couple(20 * SLOW)
        with Program(self.daemon, cid, 'p', lambda _: [float('nan')]):
            self.check(operation, self.send(operation, cid=cid), 502, 'partner-fault')
        self.client.call('DELETE', '/v1/couplings/' + cid)
        cid = couple(20 * SLOW)

        def commits_not(question):
            return [0.] if question['kind'] != KINDS['commit'] else [
                program.frame({**question, 'kind': KINDS['error']}, [], status=2002)]
        with Program(self.daemon, cid, 'p', commits_not) as program:
            self.check(operation, self.send(operation, cid=cid), 504, 'commit-owed')

    def test_a_program_has_a_state_of_its_own(self):
        operation = self.api.operations['couplingState']
        cid = self.client.call('POST', '/v1/couplings', {
            'participants': [{'name': 'cart', 'instance': self.rig().split('/')[-1]},
                             {'name': 'p', 'partner': {'inputs': ['u'], 'outputs': ['y']}}],
            'connections': [{'from': 'cart.x', 'to': 'p.u'}], 'scheme': {'type': 'Jacobi'},
            'stepSize': 0.01})['id']
        self.check(operation, self.send(operation, cid=cid), 422, 'invalid-request')
        self.client.call('DELETE', '/v1/couplings/' + cid)

    def test_a_sum_of_connections_is_in_no_package(self):
        operation = self.api.operations['couplingSsp']
        link = {'from': 'cart.x', 'to': 'cart.force', 'factor': -10}
        cid = self.client.call('POST', '/v1/couplings', {
            'participants': [{'name': 'cart', 'instance': self.rig().split('/')[-1]}],
            'connections': [link, link], 'scheme': {'type': 'Jacobi'}, 'stepSize': 0.01})['id']
        self.check(operation, self.send(operation, cid=cid), 422, 'invalid-request')
        self.client.call('DELETE', '/v1/couplings/' + cid)

    def test_the_end_of_the_process_of_an_fmu_has_a_reason(self):
        operation = self.api.operations['step']
        root = fmus.hosted(self.daemon, u=1)
        self.client.call('PUT', root + '/parameters', {'mood': fmus.ABORTS})
        reply = self.send(operation, id=root.split('/')[-1], body={'size': 0.1})
        self.check(operation, reply, 422, 'fmu-failed')
        self.client.call('DELETE', root)

    def test_an_operation_that_has_been_done_is_described_when_it_is_deleted(self):
        root, operation = self.rig(), self.api.operations['forgetOperation']
        other = hold(self.client, root)
        step = self.client.call('POST', root + '/step', {'count': 1}, ASYNC)
        self.assertEqual(step.status, 202, step)
        let_go(self.client, root, other)
        wait_until(lambda: self.client.call('GET', root + '/state')['step'] == 1, 'it is done')
        self.check(operation, self.send(operation, oid=step['id']), 200)

    def test_what_is_stopped_in_the_queue_is_cancelled(self):
        with Daemon('--workers', '1') as d, Client(d.base) as client, Client(d.base) as other:
            rig, long = '/v1/instances/rig', '/v1/instances/' + d.create(pinched())
            for operation in self.having(409, 'cancelled'):
                # a short step is done at once, by the thread that reads it
                if operation.is_on_instance and operation.id != 'step':
                    with self.subTest(str(operation)):
                        self.stopped(operation, self.ready(operation, client), d, other, rig, long)

    def stopped(self, operation, more, d, other, rig, long):
        """While the only worker is at a step without end of `long`, and when it has that behind."""
        self.assertEqual(d.call('POST', long + '/step', {'count': 1}, ASYNC).status, 202)
        wait_until(lambda: is_busy(d, long), 'the only worker has work')
        told = []
        asked = threading.Thread(target=lambda: told.append(self.send(operation, other, **more)))
        asked.start()
        wait_until(lambda: is_busy(d, rig) or told, 'it waits')
        self.assertTrue(d.call('POST', rig + '/stop')['stopped'])
        d.call('POST', long + '/stop')
        asked.join(20)
        self.check(operation, told[0], 409, 'cancelled')
        wait_until(lambda: not is_busy(d, long), 'it is over')
