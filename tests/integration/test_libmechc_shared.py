"""libmechc in several processes: a handle after a fork, with what it has opened."""
import ctypes
import json
import os
import unittest

import harness
import models
from forking import TYPES, Child
from harness import Served

BAD_ARGUMENT = 5


class Request(ctypes.Structure):
    _fields_ = [('method', ctypes.c_char_p), ('path', ctypes.c_char_p), ('body', ctypes.c_char_p),
                ('size', ctypes.c_size_t), ('type', ctypes.c_char_p)]


class Reply(ctypes.Structure):
    _fields_ = [('status', ctypes.c_int), ('body', ctypes.c_char_p), ('size', ctypes.c_size_t)]


class Hello(ctypes.Structure):
    _fields_ = [('inputs', ctypes.POINTER(ctypes.c_char_p)), ('input_count', ctypes.c_size_t),
                ('outputs', ctypes.POINTER(ctypes.c_char_p)), ('output_count', ctypes.c_size_t),
                ('order', ctypes.c_int)]


class Exchange(ctypes.Structure):
    _fields_ = [('size', ctypes.c_double), ('inputs', ctypes.POINTER(ctypes.c_double)),
                ('input_count', ctypes.c_size_t), ('iteration', ctypes.c_uint32),
                ('outputs', ctypes.POINTER(ctypes.c_double)), ('capacity', ctypes.c_size_t),
                ('output_count', ctypes.c_size_t), ('time', ctypes.c_double),
                ('step', ctypes.c_uint64)]


class Error(ctypes.Structure):
    _fields_ = [('result', ctypes.c_int), ('status', ctypes.c_int), ('code', ctypes.c_char_p),
                ('text', ctypes.c_char_p)]


def loaded():
    library = ctypes.CDLL(os.path.join(harness.BUILD, 'clients', 'c', 'libmechc.so'))
    library.mechc_last_error.restype = ctypes.POINTER(Error)
    library.mechc_stream_next.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p]
    library.mechc_set_timeout.argtypes = [ctypes.c_void_p, ctypes.c_double]
    for name in ('mechc_close', 'mechc_partner_close', 'mechc_stream_close'):
        getattr(library, name).restype = None
    return library


class Handle:
    """A struct mechc."""

    def __init__(self, base):
        self.library, self.at = loaded(), ctypes.c_void_p()
        self.check(self.library.mechc_open(base.encode(), ctypes.byref(self.at)))
        self.check(self.library.mechc_set_timeout(self.at, 20.0))

    def check(self, result):
        if result != 0:
            raise RuntimeError('%d: %s' % (result, self.said()))

    def said(self):
        return self.library.mechc_last_error(self.at).contents.text.decode()

    def get(self, path):
        request, reply = Request(b'GET', path.encode()), Reply()
        self.check(self.library.mechc_call(self.at, ctypes.byref(request), ctypes.byref(reply)))
        return json.loads(reply.body)

    def partner(self, instance):
        out, name = ctypes.c_void_p(), (ctypes.c_char_p * 1)(b'x')
        hello = Hello(None, 0, name, 1, 0)
        self.check(self.library.mechc_partner_open(self.at, instance.encode(), ctypes.byref(hello),
                                                   ctypes.byref(out)))
        return out

    def stream(self, instance):
        out = ctypes.c_void_p()
        self.check(self.library.mechc_stream_open(self.at, instance.encode(), ctypes.byref(out)))
        return out

    def close(self):
        self.library.mechc_close(self.at)


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

    def test_a_process_is_told_to_open_its_own_partner_and_stream(self):
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


if __name__ == '__main__':
    unittest.main()
