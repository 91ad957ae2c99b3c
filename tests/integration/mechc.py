"""libmechc by ctypes."""
import ctypes
import json
import os
import unittest

import harness

REFUSED, TIMEOUT, BAD_ARGUMENT, INTERRUPTED, IN_USE = 1, 3, 5, 6, 7


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


class Sample(ctypes.Structure):
    _fields_ = [('id', ctypes.c_char_p), ('values', ctypes.POINTER(ctypes.c_double)),
                ('count', ctypes.c_size_t), ('time', ctypes.c_double), ('step', ctypes.c_uint64),
                ('sequence', ctypes.c_uint64), ('lost', ctypes.c_uint64), ('flags', ctypes.c_uint)]


class Error(ctypes.Structure):
    _fields_ = [('result', ctypes.c_int), ('status', ctypes.c_int), ('code', ctypes.c_char_p),
                ('text', ctypes.c_char_p)]


def loaded():
    """The library; a build with a sanitizer has it for programs that are built so too, which Python
    is not: test_libmechc's are."""
    if harness.SANITIZED:
        raise unittest.SkipTest('Python cannot load a library with a sanitizer')
    library = ctypes.CDLL(os.path.join(harness.BUILD, 'clients', 'c', 'libmechc.so'))
    library.mechc_last_error.restype = ctypes.POINTER(Error)
    library.mechc_stream_next.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p]
    library.mechc_set_timeout.argtypes = [ctypes.c_void_p, ctypes.c_double]
    for name in ('mechc_close', 'mechc_partner_close', 'mechc_stream_close',
                 'mechc_interrupt'):
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
