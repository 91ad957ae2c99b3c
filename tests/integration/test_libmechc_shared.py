"""libmechc in several processes: a handle after a fork, with what it has opened; and steps that are
not waited for any more."""
import ctypes
import os
import threading
import unittest

import models
from forking import TYPES, Child
from harness import Served, wait_until
from mechc import BAD_ARGUMENT, IN_USE, INTERRUPTED, TIMEOUT, Exchange, Handle


class LibmechcShared(Served):
    def asked(self, handle, name):
        return sum(handle.get('/v1/types/' + name)['type'] != name for _ in range(150))

    def test_forked_processes_have_connections_of_their_own(self):
        handle = Handle(self.daemon.base)
        self.addCleanup(handle.close)
        handle.get('/v1')

        def work(name):
            wrong = self.asked(handle, name)
            handle.close()
            return wrong
        children = [Child(lambda name=name: work(name)) for name in TYPES[1:]]
        own = self.asked(handle, TYPES[0])
        self.assertEqual([c.result() for c in children] + [own], [0] * len(TYPES))
        self.assertEqual(self.asked(handle, TYPES[0]), 0)

    def test_a_forked_process_must_open_its_own_partner_and_stream(self):
        instance = self.daemon.create(models.oscillator())
        handle = Handle(self.daemon.base)
        library = handle.library
        partner, stream = handle.partner(instance), handle.stream(instance)
        uses = {'partner': [lambda p, x=x: x(p, ctypes.byref(Exchange(size=0.001))) for x in (
            library.mechc_partner_step, library.mechc_partner_outputs)] + [
                lambda p: library.mechc_partner_push(p, ctypes.c_double(0.0), None, 0)],
                'stream': [lambda s: library.mechc_stream_next(s, 5.0, ctypes.byref(
                    (ctypes.c_char * 128)()))]}

        def work():
            told = [(use(at), handle.said()) for what, at in (('partner', partner),
                                                              ('stream', stream))
                    for use in uses[what]]
            library.mechc_stream_close(stream)
            library.mechc_partner_close(partner)
            own = handle.partner(instance)
            told.append((library.mechc_partner_outputs(own, ctypes.byref(Exchange())), ''))
            library.mechc_partner_close(own)
            handle.close()
            return told
        told = [Child(work).result() for _ in range(2)]
        said = 'this %s belongs to process %d, which has opened it; a forked process opens ' \
               'another one'
        expected = [[BAD_ARGUMENT, said % (what, os.getpid())]
                    for what in ('partner', 'partner', 'partner', 'stream')]
        self.assertEqual(told, [expected + [[0, '']]] * 2)
        for _ in range(2):
            self.assertEqual(uses['partner'][0](partner), 0, handle.said())
        self.assertEqual(uses['stream'][0](stream), 0, handle.said())
        library.mechc_stream_close(stream)
        library.mechc_partner_close(partner)
        handle.close()

    def late(self, handle, instance, lease):
        """What is said of an endless step; again where the machine was too slow to cancel it."""
        library, endless = handle.library, ctypes.c_uint64(10 ** 9)
        while True:
            library.mechc_set_timeout(handle.at, 0.3)
            self.assertEqual(library.mechc_step_count(handle.at, instance.encode(), endless, None),
                             TIMEOUT)
            said = handle.said()
            library.mechc_set_timeout(handle.at, 60.0)
            if 'has no answer either' not in said:
                return said
            self.daemon.call('POST', '/v1/instances/%s/stop' % instance, None, lease)

    def test_a_step_that_is_late_ends_on_the_server(self):
        instance = self.daemon.create(models.nonlinear_oscillator())
        path = '/v1/instances/' + instance
        for words in ('the server cancels abandoned requests', 'it has been cancelled and is '
                      'undone'):
            handle, lease = Handle(self.daemon.base), {}
            if 'cancelled' in words:
                number = self.daemon.call('POST', path + '/lease', {'role': 'owner'})['lease']
                handle.library.mechc_set_lease(handle.at, ctypes.c_uint64(number))
                lease = {'Lease': str(number)}
            self.assertEqual(self.late(handle, instance, lease),
                             '%s: no answer within 0.3 s; %s' % (self.daemon.base, words))
            self.assertEqual(handle.library.mechc_step_count(handle.at, instance.encode(),
                                                             ctypes.c_uint64(1), None), 0,
                             handle.said())
            handle.close()
        wait_until(lambda: self.daemon.call('GET', path)['step'] == 2, 'two steps are done')

    def test_windows_of_a_step_that_is_late_remain(self):
        instance = self.daemon.create(models.nonlinear_oscillator())
        made = self.daemon.call('POST', '/v1/couplings', {
            'participants': [{'name': 'one', 'instance': instance}], 'connections': [],
            'scheme': {'type': 'Jacobi'}, 'stepSize': 1e-3})
        handle = Handle(self.daemon.base)
        step = handle.library.mechc_coupling_step_count
        # a request under a lease continues when its client is gone
        handle.library.mechc_set_lease(handle.at, ctypes.c_uint64(1))
        while True:
            handle.library.mechc_set_timeout(handle.at, 0.3)
            self.assertEqual(step(handle.at, made['id'].encode(), ctypes.c_uint64(10 ** 9), None),
                             TIMEOUT, handle.said())
            if 'has no answer either' not in handle.said():
                break
        self.assertEqual(handle.said(), '%s: no answer within 0.3 s; it has been cancelled; '
                         'windows that are committed remain' % self.daemon.base)
        handle.close()
        self.assertEqual(self.daemon.call('DELETE', '/v1/couplings/' + made['id']).status, 204)

    def test_a_partner_that_is_late_stops_its_step(self):
        instance = self.daemon.create(models.nonlinear_oscillator())
        handle = Handle(self.daemon.base)
        library, partner = handle.library, handle.partner(instance)
        while True:
            library.mechc_set_timeout(handle.at, 0.3)
            result = library.mechc_partner_step(partner, ctypes.byref(Exchange(size=1e6)))
            self.assertEqual(result, TIMEOUT)
            said = handle.said()
            library.mechc_set_timeout(handle.at, 60.0)
            if 'may be in progress' not in said:
                break
            self.daemon.call('POST', '/v1/instances/%s/stop' % instance)
        self.assertEqual(said, 'no answer on the control socket within 0.3 s; the step has been '
                         'stopped and is undone')
        done = Exchange(size=0.001)
        self.assertEqual(library.mechc_partner_step(partner, ctypes.byref(done)), 0, handle.said())
        self.assertEqual(done.step, 1)
        library.mechc_partner_close(partner)
        handle.close()

    def test_a_second_thread_must_open_its_own(self):
        instance = self.daemon.create(models.nonlinear_oscillator())
        handle, results = Handle(self.daemon.base), []
        step, name = handle.library.mechc_step_count, instance.encode()
        partner = handle.partner(instance)

        def endless():
            results.append(step(handle.at, name, ctypes.c_uint64(10 ** 9), None))
        thread = threading.Thread(target=endless)
        thread.start()
        wait_until(lambda: self.daemon.call('GET', '/v1/instances/' + instance)['busy'], 'it works')
        results += [step(handle.at, name, ctypes.c_uint64(1), None),
                    handle.library.mechc_partner_step(partner, ctypes.byref(Exchange(size=1.0)))]
        handle.library.mechc_interrupt(handle.at)
        thread.join()
        self.assertEqual(results, [IN_USE, IN_USE, INTERRUPTED])
        self.assertEqual(step(handle.at, name, ctypes.c_uint64(1), None), 0, handle.said())
        handle.library.mechc_partner_close(partner)
        handle.close()

    def test_numbers_that_are_none_are_refused_by_their_place(self):
        instance, handle = self.daemon.create(models.oscillator()), Handle(self.daemon.base)
        library, nan = handle.library, float('nan')
        partner, values = handle.partner(instance), (ctypes.c_double * 2)(1, nan)
        step = library.mechc_partner_step
        for call, told in (
                (lambda: library.mechc_set_state(handle.at, instance.encode(), b'q', values,
                                                 ctypes.c_size_t(2)), r'^q\[1\] must be finite$'),
                (lambda: step(partner, ctypes.byref(Exchange(size=nan))), '^size must be finite$'),
                (lambda: step(partner, ctypes.byref(Exchange(0.01, values, 2))),
                 r'^inputs\[1\] must be finite$'),
                (lambda: library.mechc_partner_push(partner, ctypes.c_double(float('inf')), None,
                                                    ctypes.c_size_t(0)), '^time must be finite$'),
                (lambda: library.mechc_partner_push(partner, ctypes.c_double(0), values,
                                                    ctypes.c_size_t(2)),
                 r'^inputs\[1\] must be finite$')):
            self.assertEqual(call(), BAD_ARGUMENT)
            self.assertRegex(handle.said(), told)
        self.assertEqual(step(partner, ctypes.byref(Exchange(size=0.01))), 0, handle.said())
        library.mechc_partner_close(partner)
        handle.close()


if __name__ == '__main__':
    unittest.main()
