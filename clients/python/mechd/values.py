"""Values of the server as numpy arrays where numpy is installed, else as lists of floats."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Sequence

try:
    import numpy
except ImportError:  # pragma: no cover - numpy is a convenience
    numpy = None  # type: ignore[assignment]


def array(value: Any) -> Any:
    """A list of numbers, or of rows of numbers; null is NaN."""
    if numpy is None:
        return value
    return numpy.array(value, dtype=float)


def value(given: Any) -> Any:
    """A scalar as it came, a vector or matrix as an array."""
    return array(given) if isinstance(given, list) else given


def values(given: Mapping[str, Any]) -> Dict[str, Any]:
    """The same for every member."""
    return {name: value(v) for name, v in given.items()}


def plain(given: Any) -> Any:
    """What JSON can write: arrays and their scalars as lists and numbers, however deep."""
    if hasattr(given, 'tolist'):
        return given.tolist()
    if isinstance(given, Mapping):
        return {str(k): plain(v) for k, v in given.items()}
    if isinstance(given, (list, tuple)):
        return [plain(v) for v in given]
    return given


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
    """For people."""
    return '%d row%s' % (count, '' if count == 1 else 's')
