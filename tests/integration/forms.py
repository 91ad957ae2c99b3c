"""The forms of state, outputs and tables, and how two of them are read."""
import array
import ast

NDJSON, CSV = 'application/x-ndjson', 'text/csv'

NPY, F64 = 'application/x-npy', 'application/octet-stream'


def numbers(raw):
    values = array.array('d')
    values.frombytes(raw)
    return list(values)


def load_npy(raw):
    """(shape, values) of a file of version 1."""
    assert raw[:8] == b'\x93NUMPY\x01\x00', raw[:8]
    size = raw[8] + 256 * raw[9]
    head = raw[10:10 + size]
    assert (10 + size) % 64 == 0 and head.endswith(b'\n'), head
    told = ast.literal_eval(head.decode())
    assert (told['descr'], told['fortran_order']) == ('<f8', False), told
    return told['shape'], numbers(raw[10 + size:])
