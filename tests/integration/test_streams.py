"""Chosen streams: some outputs, every so many communication steps, under a topic of their own."""
import ctypes
import struct
import threading
import unittest

import mechc
import models
from harness import (REPEAT, REWOUND, SLOW, Daemon, Http, Served, Stream, ZmqDoor, gauge, unpack,
                     wait_until)
from package import mechd
from mechd import frames


def three_outputs():
    """x, v, and a vector."""
    model = models.oscillator()
    model['outputs'].append({'name': 'where', 'sensor': 'p'})
    return model


class Streams(Served):
    def setUp(self):
        self.rig = self.daemon.create(three_outputs())
        self.root = '/v1/instances/' + self.rig

    def choose(self, name, status=201, **more):
        reply = self.daemon.call('POST', self.root + '/streams', {'name': name, **more})
        self.assertEqual(reply.status, status, reply)
        return reply

    def step(self, count=1):
        for _ in range(count):
            reply = self.daemon.call('POST', self.root + '/step', {'count': 1})
            self.assertEqual(reply.status, 200, reply)
        return reply

    def watch(self, name):
        """A subscriber whose subscription has arrived: it has got the last step again."""
        stream = Stream(self.daemon, '%s/%s' % (self.rig, name), 'pick')
        self.addCleanup(stream.socket.close)
        return stream

    def test_frames_have_the_chosen_outputs_of_every_third_step(self):
        chosen = self.choose('few', outputs=['v', 'x'], every=3)
        self.assertEqual(chosen['topic'], 'pick/%s/few/' % self.rig)
        self.assertEqual(chosen['layout'], [{'name': 'v', 'offset': 0, 'count': 1},
                                            {'name': 'x', 'offset': 1, 'count': 1}])
        self.step()
        stream = self.watch('few')
        topic, frame = stream.next()
        self.assertEqual((topic, frame['sequence'], frame['flags'] & REPEAT),
                         ('pick/%s/few/' % self.rig, 1, REPEAT))
        for sequence in (3, 6, 9):
            replies = [self.step() for _ in range(3 if sequence > 3 else 2)]
            outputs = replies[-1]['outputs']
            _, frame = stream.next()
            self.assertEqual((frame['sequence'], frame['time'], frame['flags'], frame['values']),
                             (sequence, replies[-1]['time'], 0, (outputs['v'], outputs['x'])))

    def test_all_outputs_are_the_default(self):
        chosen = self.choose('all')
        self.assertEqual([(part['name'], part['offset'], part['count'])
                          for part in chosen['layout']],
                         [('x', 0, 1), ('v', 1, 1), ('where', 2, 3)])
        outputs = self.step()['outputs']
        _, frame = self.watch('all').next()
        self.assertEqual(frame['values'], (outputs['x'], outputs['v'], *outputs['where']))

    def test_a_reset_between_two_frames_shows_in_the_next(self):
        self.choose('slow', outputs=['x'], every=4)
        self.step()
        stream = self.watch('slow')
        self.assertEqual(stream.next()[1]['sequence'], 1)
        self.daemon.call('POST', self.root + '/reset', {})
        self.step(7)
        frames = [stream.next()[1] for _ in range(2)]
        self.assertEqual([(f['sequence'], f['flags']) for f in frames], [(4, REWOUND), (8, 0)])

    def test_a_subscription_to_all_streams_of_an_instance_gets_each(self):
        self.choose('one', outputs=['x'])
        self.choose('two', outputs=['v'])
        self.step()
        stream = self.watch('one')
        stream.socket.unsubscribe('pick/%s/one/' % self.rig)
        stream.socket.subscribe('pick/%s/' % self.rig)
        topics = set()
        while len(topics) < 2:
            topics.add(stream.socket.recv_multipart()[0].decode())
        self.assertEqual(topics, {'pick/%s/one/' % self.rig, 'pick/%s/two/' % self.rig})

    def test_one_that_is_chosen_after_its_subscription_is_sent(self):
        self.step()
        stream = self.watch('later')
        # the subscriptions of a connection arrive in their order
        stream.socket.subscribe('state/%s/' % self.rig)
        self.assertEqual(stream.next()[0], 'state/%s/' % self.rig)
        stream.socket.unsubscribe('state/%s/' % self.rig)
        self.assertIs(self.choose('later', outputs=['x'])['watched'], True)
        outputs = self.step()['outputs']
        found = {}
        while 'pick/%s/later/' % self.rig not in found:
            topic, frame = stream.socket.recv_multipart()
            found[topic.decode()] = unpack(frame)['values']
        self.assertEqual(found['pick/%s/later/' % self.rig], (outputs['x'],))

    def test_nothing_is_encoded_for_one_without_a_subscriber(self):
        self.choose('unread', outputs=['x'])
        before = gauge(self.daemon, 'stream_frames_total')
        self.step(5)
        self.assertEqual(gauge(self.daemon, 'stream_frames_total'), before)
        self.assertIs(self.daemon.call('GET', self.root + '/streams/unread')['watched'], False)
        stream = self.watch('unread')
        self.assertEqual(stream.next()[1]['sequence'], 5)
        stream.socket.close()
        wait_until(lambda: not self.daemon.call('GET', self.root + '/streams/unread')['watched'],
                   'its subscriber is gone')

    def test_what_cannot_be_chosen_is_refused_by_its_place(self):
        self.choose('taken')
        for body, pointers in (
                ({}, ['/name']), ({'name': 'a b'}, ['/name']), ({'name': 'taken'}, ['/name']),
                ({'name': 5, 'every': 0}, ['/name', '/every']),
                ({'name': 'n', 'every': 1.5}, ['/every']),
                ({'name': 'n', 'outputs': []}, ['/outputs']),
                ({'name': 'n', 'outputs': ['x'] * 4}, ['/outputs']),
                ({'name': 'n', 'outputs': ['y', 'x', 'x']}, ['/outputs/0', '/outputs/2']),
                ({'name': 'n', 'output': ['x']}, ['/output'])):
            with self.subTest(body):
                reply = self.daemon.call('POST', self.root + '/streams', body)
                self.assertEqual(reply.status, 422, reply)
                self.assertEqual([e['pointer'] for e in reply['errors']], pointers)
        listed = self.daemon.call('GET', self.root + '/streams')['items']
        self.assertEqual([s['name'] for s in listed], ['taken'])

    def test_their_number_is_bounded_and_a_deleted_one_makes_room(self):
        for k in range(16):
            self.choose('s%d' % k)
        self.assertEqual(self.choose('more', 429)['code'], 'limit-reached')
        self.assertEqual(self.daemon.call('DELETE', self.root + '/streams/s3').status, 204)
        self.assertEqual(self.daemon.call('DELETE', self.root + '/streams/s3').status, 404)
        self.choose('more')
        listed = self.daemon.call('GET', self.root + '/streams')['items']
        self.assertEqual([s['name'] for s in listed],
                         ['s%d' % k for k in range(16) if k != 3] + ['more'])

    def test_frames_end_with_its_deletion(self):
        self.choose('a', outputs=['x'])
        self.choose('b', outputs=['x'])
        self.step()
        a, b = self.watch('a'), self.watch('b')
        self.assertEqual([a.next()[1]['sequence'], b.next()[1]['sequence']], [1, 1])
        self.daemon.call('DELETE', self.root + '/streams/a')
        before = gauge(self.daemon, 'stream_frames_total')
        self.step(3)
        self.assertEqual([b.next()[1]['sequence'] for _ in range(3)], [2, 3, 4])
        self.assertEqual(gauge(self.daemon, 'stream_frames_total') - before, 3)

    def test_a_run_is_thinned_too_and_one_may_be_chosen_meanwhile(self):
        reply = self.daemon.call('POST', self.root + '/runs', {'pace': 1, 'period': 0.01})
        self.assertEqual(reply.status, 202)
        self.choose('during', outputs=['x'], every=2)
        stream = self.watch('during')
        sequences = []
        while len(sequences) < 4:
            frame = stream.next()[1]
            if not frame['flags'] & REPEAT:
                sequences.append(frame['sequence'])
        self.daemon.call('DELETE', reply.headers['Location'])
        self.assertEqual([s % 2 for s in sequences], [0] * 4)
        self.assertEqual([b - a for a, b in zip(sequences, sequences[1:])], [2] * 3)

    def test_a_step_in_progress_does_not_delay_a_choice(self):
        done = []
        thread = threading.Thread(target=lambda: done.append(Http(self.daemon.base).call(
            'POST', self.root + '/step', {'count': 10 ** 12})))
        thread.start()
        wait_until(lambda: self.daemon.call('GET', self.root)['busy'], 'it steps')
        self.choose('meanwhile')
        self.assertEqual(done, [])
        self.daemon.call('POST', self.root + '/stop')
        thread.join()

    def test_over_zeromq_too(self):
        door = ZmqDoor(self.daemon)
        self.addCleanup(door.close)
        status, reply = door.call('choose-stream', id=self.rig, name='z', outputs=['x'])
        self.assertEqual((status, reply['topic']), (200, 'pick/%s/z/' % self.rig))
        self.assertEqual(len(door.call('streams', id=self.rig)[1]['items']), 1)
        door.call('delete-stream', id=self.rig, name='z')
        self.assertEqual(door.call('streams', id=self.rig)[1]['items'], [])


class Ready(Served):
    """A subscriber that has its answer misses nothing that comes later."""

    def test_the_answer_comes_after_all_that_was_subscribed_before(self):
        paths = ['/v1/instances/' + self.daemon.create(three_outputs()) for _ in range(40)]
        for path in paths:
            with Stream(self.daemon, path.rsplit('/', 1)[1]) as stream:
                stream.socket.subscribe('ready/%s/' % path)
                self.assertEqual(stream.socket.recv_multipart(),
                                 [b'ready/%s/' % path.encode(), b''])
                for sequence in (1, 2):
                    self.daemon.call('POST', path + '/step', {'count': 1})
                    self.assertEqual(stream.next()[1]['sequence'], sequence)

    def test_it_is_asked_again_and_by_several(self):
        with Stream(self.daemon, 'none') as one, Stream(self.daemon, 'none') as two:
            for stream in (one, two, one):
                stream.socket.subscribe('ready/same/')
                self.assertEqual(stream.socket.recv_multipart(), [b'ready/same/', b''])
                stream.socket.unsubscribe('ready/same/')

    def test_what_is_no_question_is_not_answered(self):
        with Stream(self.daemon, 'none') as stream:
            for topic in (b'ready/', b'ready/x', b'ready/\0/', b'ready',
                          b'ready/' + 200 * b'x' + b'/'):
                stream.socket.subscribe(topic)
            stream.socket.subscribe('ready/last/')
            self.assertEqual(stream.socket.recv_multipart(), [b'ready/last/', b''])

    def test_streams_of_python_have_the_first_step(self):
        with mechd.Server(self.daemon.base, timeout=10 * SLOW) as server:
            for _ in range(40):
                with server.create(three_outputs()) as i, i.stream(10 * SLOW) as stream:
                    ends = [i.step(count=1) for _ in range(3)]
                    self.assertEqual([next(stream).step for _ in ends], [1, 2, 3])

    def test_streams_of_libmechc_have_the_first_step(self):
        handle = mechc.Handle(self.daemon.base)
        self.addCleanup(handle.close)
        for _ in range(40):
            i = self.daemon.create(three_outputs())
            stream, sample, steps = handle.stream(i), mechc.Sample(), []
            for _ in range(3):
                self.daemon.call('POST', '/v1/instances/%s/step' % i, {'count': 1})
            while not steps or 0 < steps[-1] < 3:
                result = handle.library.mechc_stream_next(stream, 10.0 * SLOW,
                                                          ctypes.byref(sample))
                steps.append(-result or sample.step)
            handle.library.mechc_stream_close(stream)
            self.assertEqual(steps, [1, 2, 3], handle.said())

    def test_a_stream_that_does_not_answer_is_said_to(self):
        import zmq
        with zmq.Context.instance().socket(zmq.XPUB) as publisher:
            publisher.linger = 0
            port = publisher.bind_to_random_port('tcp://127.0.0.1')
            with self.assertRaisesRegex(mechd.Unreachable, 'not answered within 0.3 s'):
                mechd.Stream('tcp://127.0.0.1:%d' % port, 'i', mechd.Layout([]), 1.0, opening=0.3)


class Python(Served):
    def test_a_chosen_stream_ends_with_its_iterator(self):
        i = self.daemon.create(three_outputs())
        with mechd.Server(self.daemon.base, timeout=10 * SLOW) as server:
            instance = server.instance(i)
            instance.step(0.01)
            with instance.stream(10 * SLOW, outputs=['where', 'v'], every=2) as stream:
                self.assertEqual(next(stream).sequence, 1)
                steps = [instance.step(0.01) for _ in range(4)]
                for step, sequence in ((steps[0], 2), (steps[2], 4)):
                    sample = next(stream)
                    self.assertEqual((sample.sequence, sample.time), (sequence, step.time))
                    self.assertEqual((list(sample.outputs['where']), sample.outputs['v']),
                                     (list(step.outputs['where']), step.outputs['v']))
                self.assertEqual(len(instance.get('streams')['items']), 1)
            self.assertEqual(instance.get('streams')['items'], [])
            with self.assertRaises(mechd.Invalid):
                instance.stream(outputs=['nothing'])
            stream = instance.stream(every=3)
            instance.delete()
            stream.close()

    def test_a_stream_passes_over_repetitions_but_not_over_what_was_rewound(self):
        import zmq
        with zmq.Context.instance().socket(zmq.XPUB) as publisher:
            publisher.linger = 0
            address = 'tcp://127.0.0.1:%d' % publisher.bind_to_random_port('tcp://127.0.0.1')
            layout = mechd.Layout([{'name': 'x', 'offset': 0, 'count': 1}])
            asked = []

            def answer():
                asked.extend(publisher.recv() for _ in range(2))
                publisher.send_multipart([asked[1][1:], b''])
            thread = threading.Thread(target=answer)
            thread.start()
            with mechd.Stream(address, 'i-1', layout, 10 * SLOW) as stream:
                thread.join()
                self.assertEqual((asked[0], asked[1][:7]), (b'\1state/i-1/', b'\1ready/'))
                for sequence, flags in ((5, 0), (5, frames.REPEAT), (3, frames.REWOUND), (4, 0)):
                    frame = bytearray(frames.pack(frames.OUTPUTS, [2.5], sequence=sequence))
                    struct.pack_into('<H', frame, 6, flags)
                    publisher.send_multipart([b'state/i-1/', bytes(frame)])
                samples = [next(stream) for _ in range(3)]
        self.assertEqual([(s.sequence, s.rewound) for s in samples],
                         [(5, False), (3, True), (4, False)])
        self.assertEqual(samples[0].outputs, {'x': 2.5})


class Ends(unittest.TestCase):
    def test_they_end_with_the_instance_and_are_counted(self):
        with Daemon() as d:
            i = d.create(three_outputs())
            for k in range(3):
                d.call('POST', '/v1/instances/%s/streams' % i, {'name': 's%d' % k})
            self.assertEqual(gauge(d, 'streams'), 3)
            d.call('DELETE', '/v1/instances/%s/streams/s1' % i)
            self.assertEqual(gauge(d, 'streams'), 2)
            d.call('DELETE', '/v1/instances/' + i)
            wait_until(lambda: gauge(d, 'streams') == 0, 'they are gone with it')

    def test_a_server_without_a_stream_refuses(self):
        with Daemon('--stream', 'none') as d:
            i = d.create(three_outputs())
            reply = d.call('POST', '/v1/instances/%s/streams' % i, {'name': 's'})
            self.assertEqual((reply.status, reply['code']), (403, 'forbidden'))


if __name__ == '__main__':
    unittest.main()
