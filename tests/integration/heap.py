"""The heap of a daemon that loads count/calls.c: what it allocates, frees and copies."""
import collections
import os
import struct

from harness import BUILD

NUMBERS = 'allocated', 'resized', 'freed', 'copied', 'in_use'
_FORM = struct.Struct('<%dQ' % len(NUMBERS))
_MODULE = os.path.join(BUILD, 'tests', 'mechtests-calls.so')


def counted(path):
    """The environment of a daemon that counts in the file of this path. Empty where it cannot:
    sanitizers, whose builds do not have the module, bring an allocator of their own."""
    return {'LD_PRELOAD': _MODULE, 'MECHD_TESTS_CALLS': path} if os.path.exists(_MODULE) else {}


def read(path):
    """The numbers by their names; none where they are not counted."""
    with open(path, 'rb') as f:
        found = f.read(_FORM.size)
    return collections.Counter(dict(zip(NUMBERS, _FORM.unpack(found))) if found else {})
