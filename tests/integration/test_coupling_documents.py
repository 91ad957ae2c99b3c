"""What a coupling shows can make it again; what is wrong in a request for one is said at once."""
import unittest

from coupled import K, K12, OSCILLATORS, Couplings, half
from harness import wait_until


class Documents(Couplings):
    WHOLE = {'name': 'two halves', 'hold': 1, 'stepSize': 0.02,
             'scheme': {'type': 'GaussSeidelIterated', 'relativeTolerance': 1e-7,
                        'absoluteTolerance': 1e-11, 'maxIterations': 200, 'relaxation': 0.5,
                        'order': ['right', 'left']}}

    def get(self, cid):
        return self.daemon.call('GET', '/v1/couplings/' + cid).json

    def request(self, **more):
        return {'participants': [{'name': 'left', 'instance': self.left},
                                 {'name': 'right', 'instance': self.right}],
                'connections': OSCILLATORS, 'stepSize': 0.01, 'scheme': {'type': 'IQN-ILS'},
                **more}

    def setUp(self):
        super().setUp()
        self.left = self.daemon.create(half(1., k=K + K12))
        self.right = self.daemon.create(half(0., k=K + K12))

    def made(self, request):
        reply = self.daemon.call('POST', '/v1/couplings', request)
        self.assertEqual(reply.status, 201, reply)
        return reply.json

    def again(self, request):
        """The document of the coupling makes one with the same document, whose steps give the same
        bits as those of the first one."""
        made = self.made(request)
        document = self.get(made['id'])['document']
        self.assertEqual(made['document'], document)
        first = self.good(made['id'], count=5)
        self.daemon.call('DELETE', '/v1/couplings/' + made['id'])
        for i in (self.left, self.right):
            self.daemon.call('POST', '/v1/instances/%s/reset' % i)
        other = self.made(document)
        self.assertEqual(other['document'], document)
        self.assertEqual(self.good(other['id'], count=5), first)
        self.daemon.call('DELETE', '/v1/couplings/' + other['id'])
        for i in (self.left, self.right):
            self.daemon.call('POST', '/v1/instances/%s/reset' % i)
        return document

    def test_what_the_last_command_ended_with_is_shown(self):
        cid = self.made(self.request(scheme={'type': 'GaussSeidelIterated', 'maxIterations': 3,
                                             'relativeTolerance': 1e-12}, stepSize=0.1))['id']
        self.assertIsNone(self.get(cid)['last'])
        reply = self.step(cid, count=2)
        self.assertEqual(reply.status, 422, reply)
        last = self.get(cid)['last']
        self.assertEqual((last['command'], last['windows'], last['code'], last['detail']),
                         ('step', 0, reply['code'], reply['detail']))
        self.assertGreater(last['residual'], 1)
        cid = self.made(self.request(participants=[
            {'name': 'left', 'instance': self.daemon.create(half(1., k=K + K12))},
            {'name': 'right', 'instance': self.daemon.create(half(0., k=K + K12))}]))['id']
        for body, command, windows in (({'count': 3}, 'step', 3),
                                       ({'count': 2, 'commit': False}, 'trial', 2)):
            report = self.good(cid, **body)['report']
            last = self.get(cid)['last']
            self.assertLessEqual(last.pop('residual'), 1)
            self.assertEqual(last, {'command': command, 'windows': windows,
                                    'iterations': report['iterations'],
                                    'evaluations': report['evaluations']})
        self.daemon.call('POST', '/v1/couplings/%s/reset' % cid)
        self.assertEqual((self.get(cid)['last']['command'], self.get(cid)['last']['windows']),
                         ('reset', 0))
        # a run steps
        where = self.daemon.call('POST', '/v1/couplings/%s/runs' % cid, {'count': 4})
        wait_until(lambda: self.daemon.call('GET', where.headers['Location'])['state'] ==
                   'finished', 'the run is over')
        self.assertEqual(self.get(cid)['last']['command'], 'step')

    def test_all_that_was_asked_is_shown(self):
        request = self.request(**self.WHOLE)
        document = self.again(request)
        for key in ('name', 'participants', 'hold', 'stepSize'):
            self.assertEqual(document[key], request[key], key)
        self.assertEqual(document['scheme'], {**request['scheme'], 'reuse': 0, 'filter': 0})
        self.assertEqual([{k: c[k] for k in ('from', 'to', 'factor')}
                          for c in document['connections']], OSCILLATORS)

    def test_waveforms_adaptive_windows_and_bonds(self):
        document = self.again(self.request(waveform={'degree': 3}))
        self.assertEqual(document['waveform'], {'degree': 3, 'substeps': True})
        document = self.again(self.request(adaptive={'relativeTolerance': 1e-6}))
        self.assertEqual(document['adaptive'], {
            'relativeTolerance': 1e-6, 'absoluteTolerance': 1e-9, 'minimum': 1e-9, 'maximum': 1e9})
        bond = {'name': 'spring', 'effort': ['left.F', 'right.F'], 'flow': ['left.x', 'right.x'],
                'law': {'stiffness': 100}}
        document = self.again(self.request(connections=[], bonds=[bond], scheme={'type': 'Energy'}))
        self.assertEqual(document['bonds'], [bond])

    def test_what_was_left_out_has_the_preset_that_acts(self):
        document = self.again(self.request())
        self.assertEqual(document['hold'], 0)
        self.assertEqual(document['scheme'], {
            'type': 'IQN-ILS', 'relativeTolerance': 1e-9, 'absoluteTolerance': 1e-12,
            'maxIterations': 50, 'relaxation': 1, 'reuse': 0, 'filter': 0})
        self.assertNotIn('waveform', document)
        self.assertNotIn('adaptive', document)

    def test_a_partner_is_shown_too_and_the_list_is_short(self):
        cid = self.made(self.request(participants=[
            {'name': 'left', 'instance': self.left},
            {'name': 'right', 'partner': {'inputs': ['F'], 'outputs': ['x']}}]))['id']
        self.assertEqual(self.get(cid)['document']['participants'][1]['partner'], {
            'inputs': ['F'], 'outputs': ['x'], 'rollback': True, 'patience': 5})
        for one in self.daemon.call('GET', '/v1/couplings')['items']:
            self.assertNotIn('document', one)


class Faults(Couplings):
    def setUp(self):
        super().setUp()
        self.left, self.right = self.daemon.create(half()), self.daemon.create(half())

    def faults(self, status=422, code='invalid-request', **more):
        reply = self.daemon.call('POST', '/v1/couplings', {
            'participants': [{'name': 'left', 'instance': self.left},
                             {'name': 'right', 'instance': self.right}],
            'connections': OSCILLATORS, 'stepSize': 0.01, 'scheme': {'type': 'IQN-ILS'}, **more})
        self.assertEqual((reply.status, reply['code']), (status, code), reply)
        self.assertEqual(self.daemon.call('GET', '/v1/instances/%s/lease' % self.left)['items'], [])
        return sorted(e['pointer'] for e in reply['errors'])

    def test_of_all_kinds_together(self):
        self.assertEqual(self.faults(
            participants=[{'name': 'left', 'instance': self.left},
                          {'name': 'right', 'instance': self.right},
                          {'name': 'third', 'instance': 'none'}],
            connections=[*OSCILLATORS, {'from': 'left.y', 'to': 'right.F'},
                         {'from': 'left.x', 'to': 'right.F', 'factor': 'no'},
                         {'from': 'third.x', 'to': 'left.F'}],
            bonds=[{'effort': ['left.F', 'right.F'], 'flow': ['left.x', 'right.x'],
                    'law': {'stiffness': -1}}],
            scheme={'type': 'IQN-ILS', 'relaxation': 7, 'maxIterations': 0, 'filter': 1,
                    'absoluteTolerance': 0, 'order': ['left']},
            hold=4, waveform={'degree': 5}, stepSize=0,
            adaptive={'minimum': 2, 'maximum': 1}), [
                '/adaptive/maximum', '/bonds', '/bonds/0/law/stiffness', '/connections/2',
                '/connections/3/factor', '/hold', '/participants/2', '/scheme/absoluteTolerance',
                '/scheme/filter', '/scheme/maxIterations', '/scheme/order', '/scheme/relaxation',
                '/stepSize', '/waveform/degree'])

    def test_those_of_the_request_come_before_those_of_the_moment(self):
        """An instance in a run, another under a lease; and both at once, each at its place."""
        self.assertEqual(self.daemon.call(
            'POST', '/v1/instances/%s/runs' % self.left, {'pace': 1}).status, 202)
        self.assertEqual(self.daemon.call(
            'POST', '/v1/instances/%s/lease' % self.right, {'role': 'owner'}).status, 201)
        wrong = {'scheme': {'type': 'None'}, 'connections': [{'from': 'left.x', 'to': 'right.G'}]}
        self.assertEqual(self.faults(**wrong), ['/connections/0', '/scheme/type'])
        self.assertEqual(self.faults(409, 'run-in-progress'),
                         ['/participants/0', '/participants/1'])

    def test_of_partners_with_the_rest(self):
        partner = {'inputs': ['F'], 'outputs': ['x'], 'rollback': False}
        self.assertEqual(self.faults(
            participants=[{'name': 'left', 'instance': self.left},
                          {'name': 'right', 'partner': partner},
                          {'name': 'third', 'partner': {'inputs': ['u', 'u'], 'patience': -1}}],
            connections=[*OSCILLATORS, {'from': 'right.z', 'to': 'left.F'}], hold=3), [
                '/connections/2', '/participants/1', '/participants/1/partner/rollback',
                '/participants/2/partner/inputs/1', '/participants/2/partner/patience'])


if __name__ == '__main__':
    unittest.main()
