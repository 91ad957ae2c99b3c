"""Bodies with binary parts: JSON in which {"part": k} stands for numbers that follow as float64."""
import json
import struct

TYPE = 'application/vnd.mechd.parts'


def packed(body, *parts):
    """The bytes of a body and its parts, each a sequence of numbers."""
    text = json.dumps(body).encode()
    blocks = [struct.pack('<%dd' % len(part), *part) for part in parts]
    head = struct.pack('<8sIIQ', b'MECHPART', 1, len(blocks), len(text))
    return b''.join([head, *(struct.pack('<Q', len(b)) for b in blocks), text, *blocks])
