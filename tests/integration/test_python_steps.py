"""The Python client's steps with events, early returns and inputs over a step, and derivatives at a
point; frames without the part that is due behind them."""
import threading
import unittest
import models
import zmq
from harness import SLOW, Served
from package import mechd


class PythonSteps(Served):
    def setUp(self):
        self.server = mechd.Server(self.daemon.base)
        self.addCleanup(self.server.close)

    def test_events_and_the_early_return(self):
        instance = self.server.create(models.ball())
        step = instance.step(2.0, early_return=True)
        self.assertEqual(step.ended['by'], 'event')
        self.assertEqual(step.ended['lastSuccessfulTime'], step.time)
        self.assertEqual(step.events[-1]['kind'], 'impact')
        self.assertEqual(step.more_events, 0)
        quiet = instance.step(until=0.6, want=['events'])
        self.assertEqual((quiet.events, quiet.ended), ([], None))
        self.assertIsNone(instance.step(0.1).events)

    def test_a_partner_has_the_flag(self):
        instance = self.server.create(models.ball())
        with instance.connect([], [], want=['events'], early_return=True) as partner:
            self.assertEqual(list(partner.wanted.named(partner.step(0.4)))[0], 'events')
            self.assertFalse(partner.event)
            partner.step(2.0)
            self.assertTrue(partner.event)
            self.assertLess(partner.time, 0.5)

    def test_derivatives_at_a_point(self):
        instance = self.server.create(models.oscillator())
        reply = instance.derivatives(direction={'inputs': {'force': 3}, 'v': [0]},
                                     seed={'vdot': [2]})
        self.assertAlmostEqual(reply['derivative']['vdot'][0], 3, 9)
        self.assertAlmostEqual(reply['sensitivity']['inputs']['force'], 2, 9)
        step = instance.step(0.1, want=['derivatives'])
        self.assertEqual(instance.derivatives(rates=True)['rates'], step.derivatives)

    def test_inputs_over_a_step(self):
        instance = self.server.create(models.oscillator())
        other = self.server.create(models.oscillator())
        a = instance.step(0.1, input_signals={'force': {'polynomial': [2.0]}})
        b = other.step(0.1, inputs={'force': 2.0})
        self.assertEqual(a.outputs, b.outputs)


class Bare(unittest.TestCase):
    def hello(self, kind, status=0):
        """A partner's, which is answered by a frame of this kind alone."""
        def answer(socket):
            peer, _, frame, _ = socket.recv_multipart()
            sequence = mechd.frames.header(frame).sequence
            socket.send_multipart([peer, b'', mechd.frames.pack(kind, status=status,
                                                                sequence=sequence)])
        with zmq.Context() as context, context.socket(zmq.ROUTER) as socket:
            port = socket.bind_to_random_port('tcp://127.0.0.1')
            answering = threading.Thread(target=answer, args=(socket,))
            answering.start()
            try:
                mechd.partner.Partner({'control': 'tcp://127.0.0.1:%d' % port},
                                      {'instance': 'i-1'}, 60 * SLOW)
            finally:
                answering.join()

    def test_an_error_is_a_refusal_and_a_hello_no_reply(self):
        with self.assertRaises(mechd.Refused) as caught:
            self.hello(mechd.frames.ERROR, status=1024)
        self.assertEqual(caught.exception.number, 1024)
        self.assertIn('error 1024', str(caught.exception))
        with self.assertRaises(mechd.BadReply):
            self.hello(mechd.frames.HELLO)


if __name__ == '__main__':
    unittest.main()
