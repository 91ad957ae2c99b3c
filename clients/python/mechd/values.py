"""Values of the server as numpy arrays where numpy is installed, else as lists of floats; and
values of the caller, of any type, as JSON values: `plain`, `number`, `integer`, `listed`.

Numbers are: int, float, bool, numpy's numbers and arrays without a dimension,
Decimal, Fraction, objects with __index__ or __float__. Lists are: lists, tuples, ranges, views of
a dict, iterators, deques, arrays and memoryviews; sets of texts, sorted. A path is its text. Other
types, and NaN and infinity, which JSON cannot express, are a ValueError with the place.
"""
from __future__ import annotations

import codecs
import collections
import json
import math
import numbers
import operator
import os
import unicodedata
from collections.abc import ItemsView, Iterator, KeysView, Set, ValuesView
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

try:
    import numpy as numpy  # others have it from here
except ImportError:  # pragma: no cover - numpy is a convenience
    numpy = None  # type: ignore[assignment]


def array(value: Any) -> Any:
    """A list of numbers, or of rows of numbers; null is NaN."""
    if numpy is None:
        return value
    return numpy.array(value, dtype=float)


def value(given: Any) -> Any:
    """A scalar unchanged, a vector or matrix as an array."""
    return array(given) if isinstance(given, list) else given


def values(given: Mapping[str, Any]) -> Dict[str, Any]:
    """The same for every member."""
    return {name: value(v) for name, v in given.items()}


def content(given: Any) -> bytes:
    """The bytes of a file: its path, or what holds them (bytes, bytearray, memoryview)."""
    if isinstance(given, (str, os.PathLike)):
        with open(given, 'rb') as file:
            found = file.read()
        if not found:
            raise ValueError('%s: it is empty' % shown(given))
        return found
    return bytes(memoryview(given))


def document(given: Any) -> Any:
    """A document: itself, or that of a JSON file, given by its path. ValueError: the file and the
    place of what is no JSON; a character that is not seen is named."""
    if not isinstance(given, os.PathLike):
        return given
    text = decoded(content(given), given)
    if not text.strip(_BLANKS):
        raise ValueError('%s: it is empty' % shown(given))
    try:
        return json.loads(text)
    except json.JSONDecodeError as fault:
        at, words = _json_fault(fault, text)
        raise ValueError('%s, %s: %s' % (shown(given), _place(text, at), words)) from None


def _json_fault(fault: json.JSONDecodeError, text: str) -> Tuple[int, str]:
    """Where a text is no JSON, and why: by the name of a character where that is not ASCII."""
    escaped = text[fault.pos:fault.pos + 1] == '\\'
    at = fault.pos + escaped
    letter = text[at:at + 1]
    if fault.msg.startswith('Invalid control character'):
        return at, '%s must be written as an escape in a string' % _named(letter)
    if not letter or ' ' <= letter <= '~' or (letter in _BLANKS and not escaped):
        return fault.pos, fault.msg
    return at, '%s is not allowed %s' % (_named(letter),
                                         'after a backslash' if escaped else 'here')


def decoded(raw: bytes, path: Any) -> str:
    """The text of a file, without a byte order mark. ValueError: it is not UTF-8."""
    wide = _wide(raw[:4])
    if wide:
        raise ValueError('%s: it is %s: save it as UTF-8' % (shown(path), wide))
    body = raw[len(codecs.BOM_UTF8):] if raw.startswith(codecs.BOM_UTF8) else raw
    try:
        return body.decode()
    except UnicodeDecodeError as fault:
        before = body[:fault.start].decode()
        raise ValueError('%s, %s: the byte 0x%02x (not UTF-8) is not allowed here' % (
            shown(path), _place(before, len(before)), body[fault.start])) from None


def unseen(text: str) -> str:
    """The first character of a text that is not seen and its place, behind a semicolon; or
    nothing."""
    for at, letter in enumerate(text):
        if not letter.isprintable() and letter not in _BLANKS:
            return '; %s is %s' % (_place(text, at), _named(letter))
    return ''


def shown(path: Any) -> str:
    """A path in a message: characters that are not seen by their code points."""
    return ''.join(c if c.isprintable() else 'U+%04X' % ord(c) for c in os.fsdecode(path))


_BLANKS = ' \t\r\n'


def _wide(first: bytes) -> str:
    """'UTF-16' or 'UTF-32' of a text that begins so, with a mark or with ASCII; or ''."""
    if first in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE):
        return 'UTF-32'
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return 'UTF-16'
    filled = ''.join('x' if byte else '0' for byte in first)
    if filled in ('x000', '000x', '00x0', '00xx'):
        return 'UTF-32'
    return 'UTF-16' if filled[:2] in ('x0', '0x') else ''


def _place(text: str, at: int) -> str:
    return 'line %d, column %d' % (text.count('\n', 0, at) + 1, at - text.rfind('\n', 0, at))


def _named(letter: str) -> str:
    """A character by its code point, and its name if it has one."""
    name = 'byte order mark' if letter == '\ufeff' else unicodedata.name(letter, '').lower()
    return 'U+%04X%s' % (ord(letter), ' (%s)' % name if name else '')


_LISTS = (list, tuple, range, collections.deque, KeysView, ValuesView, ItemsView, Iterator,
          Sequence)


def plain(given: Any, at: str = '') -> Any:
    """A value that JSON can write, of any depth. `at`: its place in the document, a JSON pointer
    (RFC 6901), which is in the ValueError for a value that cannot be written."""
    if given is None or isinstance(given, (str, bool)) or type(given) is int:
        return given
    if numpy is not None and isinstance(given, numpy.ndarray) and whole(given):
        return given.tolist()
    if isinstance(given, Mapping):
        return _members(given, at)
    items = items_of(given, at)
    if items is not None:
        return [plain(v, '%s/%d' % (at, k)) for k, v in enumerate(items)]
    found = _scalar(given, at)
    if found is None and isinstance(given, os.PathLike):
        return os.fspath(given)
    if found is None:
        raise ValueError(_told('%.80r cannot be written as JSON' % (given,), at))
    return found


def number(given: Any, at: str = '') -> float:
    """A finite number; ValueError with its place otherwise."""
    if type(given) is int or (type(given) is float and math.isfinite(given)):
        return given
    found = _single(given, at)
    if found is None:
        raise ValueError(_told('%.80r is given where numbers are needed' % (given,), at))
    value: float = found
    return value


def integer(given: Any, at: str = '') -> int:
    """A whole number."""
    if type(given) is int:
        return given
    found = number(given, at)
    if found != int(found):
        raise ValueError(_told('%r is not a whole number' % (given,), at))
    return int(found)


def is_number(given: Any, at: str = '') -> bool:
    """Is it a number of any type? ValueError: it is not finite."""
    return _single(given, at) is not None


def listed(given: Any, at: str = '') -> List[Any]:
    """A list, also of a single number or text."""
    found = plain(given, at)
    return found if isinstance(found, list) else [found]


def whole(given: Any) -> bool:
    """Are these numbers that need no individual check?"""
    return given.dtype.kind in 'iub' or (given.dtype.kind == 'f' and given.dtype.itemsize <= 8 and
                                         bool(numpy.isfinite(given).all()))


def _members(given: Mapping[Any, Any], at: str) -> Dict[str, Any]:
    found: Dict[str, Any] = {}
    for key, v in given.items():
        name = str(key)
        place = '%s/%s' % (at, name.replace('~', '~0').replace('/', '~1'))
        if name in found:
            raise ValueError(_told('there are two members of this name', place))
        found[name] = plain(v, place)
    return found


def items_of(given: Any, at: str) -> Optional[Sequence[Any]]:
    """The elements of a list; None: it is not a list."""
    if isinstance(given, (bytes, bytearray)):
        return None
    if numpy is not None and not hasattr(given, 'tolist') and hasattr(given, '__array__'):
        given = numpy.asarray(given)
    if hasattr(given, 'tolist'):
        try:
            given = given.tolist()
        except NotImplementedError:
            return None
        return given if isinstance(given, list) else None
    if isinstance(given, Set) and not isinstance(given, (KeysView, ItemsView)):
        given = list(given)
        if not all(isinstance(v, str) for v in given):
            raise ValueError(_told('a set has no order; a list is needed', at))
        return sorted(given)
    return list(given) if isinstance(given, _LISTS) and not isinstance(given, str) else None


def _single(given: Any, at: str) -> Any:
    """A number, also of an array without a dimension; None: it is not a number."""
    if isinstance(given, (str, Mapping)) or items_of(given, at) is not None:
        return None
    found = _scalar(given, at)
    return None if isinstance(found, str) else found


def _scalar(given: Any, at: str) -> Any:
    """int, float or bool, finite; None: it is not a number."""
    if hasattr(given, 'tolist'):
        given = given.tolist()
    if isinstance(given, int):
        return given
    if isinstance(given, (bytes, bytearray, complex)) or given is None:
        return None
    try:
        if isinstance(given, float):
            found = given
        elif hasattr(given, '__index__'):
            return operator.index(given)
        elif not isinstance(given, str) and hasattr(given, '__float__'):
            found = float(given)
        else:
            return given if isinstance(given, str) else None
    except (TypeError, ValueError, OverflowError):
        raise ValueError(_told('%r is not a finite number' % (given,), at)) from None
    if not math.isfinite(found):
        raise ValueError(_told('%r is not a finite number' % (given,), at))
    # a whole number of a type that is exact stays one, but for -0, which no int has
    exact = (not isinstance(given, float) and isinstance(given, numbers.Number) and
             not (found == 0. and math.copysign(1., found) < 0.))
    return int(given) if exact and abs(found) <= 2 ** 53 and given == int(given) else found


def _told(words: str, at: str) -> str:
    return '%s: %s' % (at, words) if at else words


def matrix(given: Mapping[str, Any]) -> Any:
    """{"shape", "coo"} or {"shape", "rows"} or {"shape", "values"} as one dense array."""
    if 'rows' in given:
        return array(given['rows']) if given['rows'] else zeros(given['shape'])
    if 'values' in given:
        return array(given['values'])
    dense = zeros(given['shape'])
    for i, j, x in given['coo']:
        dense[int(i)][int(j)] += x
    return dense


def zeros(shape: Sequence[int]) -> Any:
    """A matrix of zeros."""
    if numpy is not None:
        return numpy.zeros([int(n) for n in shape])
    rows: List[List[float]] = [[0.0] * int(shape[1]) for _ in range(int(shape[0]))]
    return rows


def rows(count: int) -> str:
    """The number of rows as text."""
    return '%d row%s' % (count, '' if count == 1 else 's')
