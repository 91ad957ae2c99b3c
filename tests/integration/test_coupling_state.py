"""The state of a coupling as bytes, put into a coupling of the same participants, here or on
another server: it goes on with the same bits. What is damaged, of another coupling or does not
fit is refused with the reason, and nothing changes."""
import base64
import os
import shutil
import struct
import subprocess
import tempfile
import unittest

import harness
from coupled import K, K12, OSCILLATORS, Couplings, half
from harness import Daemon
from keeping import Kept

TYPE = {'Content-Type': 'application/vnd.mechd.coupling'}
BOND = {'connections': [], 'bonds': [{'effort': ['left.F', 'right.F'], 'law': {'stiffness': 100},
                                      'flow': ['left.v', 'right.v']}]}
ODD = 0x6a09e667f3bcc909, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1
MASK = 2 ** 64 - 1


def hashed(data, seed=0):
    """mech_hash of solver/base/hash.h: what makes changed bytes sound."""
    def mix(lane, word, odd):
        m = (lane ^ word) * odd & MASK
        return (m << 29 | m >> 35) & MASK
    lane = [seed ^ ODD[1], seed + ODD[2] & MASK, seed ^ ODD[3], seed + ODD[0] & MASK]
    whole = data + bytes(-len(data) % 32)
    for block in range(0, len(whole), 32):
        words = struct.unpack_from('<4Q', whole, block)
        lane = [mix(*three) for three in zip(lane, words, ODD)]
    h = len(data) * ODD[0] & MASK
    for k in range(4):
        h = mix(h, lane[k], ODD[(k + 1) % 4])
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9 & MASK
    h = (h ^ h >> 27) * 0x94d049bb133111eb & MASK
    return h ^ h >> 31


def opened(raw):
    """Document, parts, state of the scheme."""
    document, scheme, count = struct.unpack_from('<3Q', raw, 24)
    sizes = struct.unpack_from('<%dQ' % count, raw, 48)
    at, out = 48 + 8 * count, []
    for size in (document, *sizes, scheme):
        out.append(raw[at:at + size])
        at += size
    return out[0], out[1:-1], out[-1]


def sealed(document, parts, scheme, count=None):
    """Bytes with a hash that is right, whatever is in them."""
    rest = struct.pack('<3Q', len(document), len(scheme),
                       len(parts) if count is None else count)
    rest += b''.join(struct.pack('<Q', len(part)) for part in parts)
    rest += document + b''.join(parts) + scheme
    return b'MCHDCOUP' + struct.pack('<2Q', 1, hashed(rest)) + rest


def with_state(part, state):
    """The part of an instance with another state."""
    size = struct.unpack_from('<Q', part, 16)[0]
    rest = part[40:40 + size] + state
    return part[:24] + struct.pack('<2Q', len(state), hashed(rest, size)) + rest


def halves(d=0., **more):
    return [half(x, k=K + K12, d=d, **more) for x in (1., 0.)]


class State(Couplings):
    def made(self, daemon=None, models=None, connections=None, scheme='IQN-ILS', **more):
        """A coupling of new instances: its id."""
        daemon = daemon or self.daemon
        bodies = more.pop('participants', None) or [
            {'name': n, 'instance': daemon.create(m)}
            for n, m in zip(('left', 'right'), models or halves())]
        reply = daemon.call('POST', '/v1/couplings', {
            'participants': bodies, 'connections': OSCILLATORS if connections is None
            else connections, 'scheme': scheme if isinstance(scheme, dict) else {'type': scheme},
            'stepSize': 0.01, **more})
        self.assertEqual(reply.status, 201, reply)
        return reply['id']

    def get(self, cid, daemon=None):
        reply = (daemon or self.daemon).call('GET', '/v1/couplings/%s/state' % cid)
        self.assertEqual((reply.status, reply.headers['Content-Type']),
                         (200, TYPE['Content-Type']), reply)
        return reply.raw

    def put(self, cid, raw, daemon=None, headers=None):
        return (daemon or self.daemon).call('PUT', '/v1/couplings/%s/state' % cid, raw,
                                            TYPE if headers is None else headers)

    def steps(self, cid, count, daemon=None):
        reply = (daemon or self.daemon).call('POST', '/v1/couplings/%s/step' % cid,
                                             {'count': count})
        self.assertEqual(reply.status, 200, reply)
        return reply['time'], reply['window'], reply['outputs']

    def states(self, cid, daemon=None):
        daemon = daemon or self.daemon
        parts = daemon.call('GET', '/v1/couplings/' + cid)['participants']
        return [daemon.call('GET', '/v1/instances/%s/%s' % (p['instance'], what)).raw
                for p in parts for what in ('state', 'inputs', 'parameters')]

    def untouched(self, cid):
        """The tags that show other clients whether an instance has changed."""
        parts = self.daemon.call('GET', '/v1/couplings/' + cid)['participants']
        return [self.daemon.call('GET', '/v1/instances/%s/state' % p['instance']).headers['ETag']
                for p in parts if 'instance' in p]

    def refused_unseen(self, cid, raw, *words):
        """And no client sees a change."""
        tags = self.untouched(cid)
        self.refused(cid, raw, *words)
        self.assertEqual(self.untouched(cid), tags)

    def refused(self, cid, raw, *words, code='snapshot-mismatch', status=422):
        before = self.states(cid), self.get(cid)
        reply = self.put(cid, raw)
        self.assertEqual((reply.status, reply['code']), (status, code), reply)
        for word in words:
            self.assertIn(word, reply['detail'])
        self.assertEqual((self.states(cid), self.get(cid)), before)

    def test_it_goes_on_with_the_same_bits_here_and_elsewhere(self):
        with Daemon() as other:
            for more in ({'hold': 2, 'scheme': {'type': 'IQN-ILS', 'reuse': 2}},
                         {'hold': 1, 'scheme': 'GaussSeidel'}, {'scheme': 'InterfaceNewton'},
                         {'scheme': 'JacobiIterated',
                          'waveform': {'degree': 3, 'substeps': True}},
                         {'scheme': 'Energy', **BOND}):
                with self.subTest(more):
                    cid = self.made(**more)
                    self.steps(cid, 5)
                    raw, states = self.get(cid), self.states(cid)
                    ahead = self.steps(cid, 7)
                    for daemon in (self.daemon, other):
                        two = self.made(daemon, **more)
                        self.steps(two, 2, daemon)
                        reply = self.put(two, raw, daemon)
                        self.assertEqual((reply.status, reply['window'], reply['reproducible']),
                                         (200, 5, True), reply)
                        self.assertEqual(self.states(two, daemon), states)
                        self.assertEqual(self.steps(two, 7, daemon), ahead)
                    self.assertEqual(self.put(cid, raw).status, 200)
                    self.assertEqual(self.steps(cid, 7), ahead)

    def test_as_text_and_over_zeromq(self):
        cid = self.made()
        self.steps(cid, 5)
        raw, ahead = self.get(cid), self.steps(cid, 3)
        text = base64.b64encode(raw).decode()
        self.assertEqual(self.put(cid, {'snapshot': text}, headers={}).status, 200)
        self.assertEqual(self.steps(cid, 3), ahead)
        for accept, kind in (('application/json', dict), ('*/*', bytes),
                             ('application/json;q=0.5, application/*', bytes)):
            reply = self.daemon.call('GET', '/v1/couplings/%s/state' % cid,
                                     headers={'Accept': accept})
            self.assertEqual((reply.status, reply.headers['Content-Type']), (
                200, 'application/json' if kind is dict else TYPE['Content-Type']), accept)
            got = base64.b64decode(reply['snapshot']) if kind is dict else reply.raw
            self.assertEqual(got, self.get(cid))
        with harness.ZmqDoor(self.daemon) as door:
            status, reply = door.call('coupling-state', cid=cid)
            self.assertEqual((status, reply['window'], reply['time']), (200, 8, 0.08), reply)
            self.assertEqual(base64.b64decode(reply['snapshot']), self.get(cid))
            status, reply = door.call('set-coupling-state', cid=cid, snapshot=text)
            self.assertEqual((status, reply.get('window')), (200, 5), reply)
        self.assertEqual(self.steps(cid, 3), ahead)
        for wrong in ({'snapshot': '?'}, {'snapshot': 7}, {}):
            reply = self.put(cid, wrong, headers={})
            self.assertEqual((reply.status, reply['code']), (422, 'invalid-request'), reply)
        self.assertEqual(self.put('c-99', raw).status, 404)

    def test_a_trial_of_before_is_gone(self):
        cid = self.made()
        self.steps(cid, 5)
        raw = self.get(cid)
        trial = self.good(cid, count=1, commit=False)['trial']
        self.assertEqual(self.put(cid, raw).status, 200)
        reply = self.daemon.call('POST', '/v1/couplings/%s/commit' % cid, {'trial': trial})
        self.assertEqual((reply.status, reply['code']), (409, 'no-trial'), reply)

    def test_under_a_key_it_is_done_once_and_other_bytes_are_refused(self):
        cid = self.made()
        raw = self.get(cid)
        self.steps(cid, 3)
        other = self.get(cid)
        head = {**TYPE, 'Idempotency-Key': 'state-' + cid}
        first = self.put(cid, raw, headers=head)
        self.assertEqual((first.status, first['window']), (200, 0), first)
        ahead = self.steps(cid, 2)
        again = self.put(cid, raw, headers=head)
        self.assertEqual((again.status, again.raw), (200, first.raw))
        reply = self.put(cid, other, headers=head)
        self.assertEqual((reply.status, reply['code']), (422, 'key-reused'), reply)
        # as text it is another request also
        text = {'snapshot': base64.b64encode(raw).decode()}
        reply = self.put(cid, text, headers={'Idempotency-Key': 'state-' + cid})
        self.assertEqual((reply.status, reply['code']), (422, 'key-reused'), reply)
        self.assertEqual(self.daemon.call('GET', '/v1/couplings/' + cid)['windows'], 2)
        self.assertEqual(ahead[1], 2)

    def test_mechctl_saves_it_to_a_file_and_loads_that(self):
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        path = os.path.join(folder, 'pair.mechd')

        def mechctl(*words):
            return subprocess.run(
                [harness.program('mechctl'), '--server', self.daemon.base, 'couplings', *words],
                capture_output=True, text=True, check=False)
        one, two = self.made(), self.made()
        done = mechctl(one, '--count', '3', '--save', path)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path, 'rb') as f:
            self.assertEqual(f.read(), self.get(one))
        self.assertIn('%s: %d bytes' % (path, os.path.getsize(path)), done.stdout)
        done = mechctl(two, '--load', path, '--count', '2')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.steps(two, 1)[1], 6)
        with open(path, 'ab') as f:
            f.write(b'more')
        for file, code, why in ((path, 1, 'damaged'), (path + '.none', 2, 'No such file')):
            done = mechctl(two, '--load', file)
            self.assertEqual((done.returncode, why in done.stderr), (code, True), done.stderr)

    def test_another_coupling_is_refused_with_the_place(self):
        cid = self.made()
        self.steps(cid, 3)
        factor = [dict(OSCILLATORS[0], factor=1), OSCILLATORS[1]]
        heavy = halves()
        heavy[1]['objects'][0]['physicsMass'] = 2
        for more, place in (({'connections': factor}, '/connections/0/factor'),
                            ({'scheme': 'Aitken'}, '/scheme/type'), ({'hold': 1}, '/hold'),
                            ({'stepSize': 0.02}, '/stepSize'),
                            ({'models': heavy}, 'participant right: ')):
            other = self.made(**more)
            self.refused(cid, self.get(other), 'differ at', place)
        names = [{'name': n, 'instance': self.daemon.create(m)}
                 for n, m in zip(('left', 'west'), halves())]
        links = [{'from': 'left.x', 'to': 'west.F', 'factor': K12},
                 {'from': 'west.x', 'to': 'left.F', 'factor': K12}]
        other = self.made(participants=names, connections=links)
        self.refused(cid, self.get(other), 'differ at /participants/1')
        # without names these are the ids of the instances
        bare = []
        for _ in range(2):
            ids = [self.daemon.create(m) for m in halves()]
            links = [{'from': a + '.x', 'to': b + '.F', 'factor': K12}
                     for a, b in (ids, reversed(ids))]
            bare.append(self.made(participants=[{'instance': i} for i in ids],
                                  connections=links))
        self.refused(bare[0], self.get(bare[1]), 'differ at /participants/0')

    def test_damaged_bytes_are_refused(self):
        cid = self.made()
        self.steps(cid, 3)
        raw = self.get(cid)
        for wrong in (b'none', raw[:-1], raw + b' ', raw[:20], raw[:60] + b'\1' + raw[61:],
                      raw[:-9] + bytes([raw[-9] ^ 1]) + raw[-8:], b'MCHDSNAP' + raw[8:]):
            self.refused(cid, wrong, 'damaged')

    def test_sound_bytes_with_a_wrong_inside_change_nothing(self):
        """The first instance has the new state already when the second one's does not fit."""
        cid = self.made()
        self.steps(cid, 3)
        document, parts, scheme = opened(self.get(cid))
        self.assertEqual(sealed(document, parts, scheme), self.get(cid))
        self.steps(cid, 4)
        later = opened(self.get(cid))[1]
        trial = self.daemon.call('POST', '/v1/couplings/%s/step' % cid,
                                 {'count': 1, 'commit': False})['trial']
        self.refused_unseen(cid, sealed(document, [parts[0], later[1]], scheme),
                            'participant right is of')
        self.refused_unseen(cid, sealed(document, later, scheme), 'participant left is of')
        self.refused_unseen(cid, sealed(document, parts, b'\xff' * len(scheme)), 'scheme')
        self.refused_unseen(cid, sealed(document, [b'part', parts[1]], scheme),
                            'participant left')
        self.refused_unseen(cid, sealed(document, [with_state(parts[0], b'state'), parts[1]],
                                        scheme), 'participant left')
        self.assertEqual(self.daemon.call('POST', '/v1/couplings/%s/commit' % cid,
                                          {'trial': trial}).status, 200)
        wrong = with_state(parts[1], b'state')
        self.refused(cid, sealed(document, [parts[0], wrong], scheme), 'participant right')
        self.refused(cid, sealed(document, [parts[0], b'part'], scheme), 'participant right')
        self.refused(cid, sealed(document, parts, scheme + bytes(8)), 'document')
        self.refused(cid, sealed(document, parts[:1], scheme), 'document')
        self.refused(cid, sealed(b'{', parts, scheme), 'document')
        self.refused(cid, sealed(b'[]', parts, scheme), 'differ at')
        for count in (0, 3, 65, 2 ** 63):
            self.refused(cid, sealed(document, parts, scheme, count), 'damaged')
        self.assertEqual(self.put(cid, sealed(document, parts, scheme)).status, 200)

    def test_outputs_that_are_not_those_of_the_instances_change_nothing(self):
        """Windows begin with them: those of others would drive the instances silently."""
        for more in ({'hold': 2}, {'scheme': 'InterfaceNewton'}, {'scheme': 'GaussSeidel'}):
            with self.subTest(more):
                cid = self.made(**more)
                outputs = self.steps(cid, 4)[2]
                document, parts, scheme = opened(self.get(cid))
                for name in ('left', 'right'):
                    known = struct.pack('<d', outputs[name + '.x'])
                    at = scheme.index(known)
                    for wrong in (float('nan'), float('inf')):
                        self.refused_unseen(cid, sealed(document, parts, scheme[:at] + struct.pack(
                            '<d', wrong) + scheme[at + 8:]), 'scheme')
                    other = struct.pack('<d', outputs[name + '.x'] * (1 + 1e-4))
                    self.refused(cid, sealed(document, parts, scheme.replace(known, other)),
                                 'participant %s: an output is' % name)

    def test_what_has_a_state_of_its_own_is_refused_by_name(self):
        cid = self.made(participants=[
            {'name': 'left', 'instance': self.daemon.create(halves()[0])},
            {'name': 'right', 'partner': {'inputs': ['F'], 'outputs': ['x']}}])
        reply = self.daemon.call('GET', '/v1/couplings/%s/state' % cid)
        self.assertEqual((reply.status, reply['code']), (422, 'invalid-request'), reply)
        self.assertIn('participant right is an external program', reply['detail'])
        self.assertIn('participant right', self.put(cid, b'state').json['detail'])

    def test_a_run_in_progress_keeps_it_out(self):
        cid = self.made()
        raw = self.get(cid)
        path = '/v1/couplings/%s/runs' % cid
        run = self.daemon.call('POST', path, {'count': 10 ** 9})
        self.assertEqual(run.status, 202, run)
        reply = self.put(cid, raw)
        self.assertEqual((reply.status, reply['code']), (409, 'run-in-progress'), reply)
        self.get(cid)
        self.daemon.call('DELETE', run.headers['Location'])

    def test_it_is_stored(self):
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        cid = self.made()
        self.steps(cid, 5)
        raw, states = self.get(cid), self.states(cid)
        ahead = self.steps(cid, 3)
        d = Kept(folder, '--durability', 'every-step')
        two = self.made(d)
        self.assertEqual(self.put(two, raw, d).status, 200)
        d.kill()
        with Kept(folder, '--durability', 'every-step') as d:
            self.assertEqual(self.states(two, d), states)
            self.assertEqual(self.steps(two, 3, d), ahead)


if __name__ == '__main__':
    unittest.main()
