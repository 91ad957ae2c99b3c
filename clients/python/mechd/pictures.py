"""Results for people: pictures as SVG and tables as HTML for notebooks, frames of pandas and graphs
of matplotlib where these are installed."""
from __future__ import annotations

import importlib
import math
from html import escape
from typing import Any, Dict, List, Optional, Sequence, Tuple

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 220, 70, 12, 24, 28
_COLOURS = ('#1f77b4', '#d66010', '#2c963c', '#be2832', '#825ab4', '#825046', '#c85aaa', '#1496a0')
_MOST_ROWS = 10  # rows of a table in a notebook: the first and the last half of them
_MOST_POINTS = 2000  # points of a curve


def needed(module: str, what: str) -> Any:
    """An optional package; ImportError names what needs it and how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as fault:
        package = module.partition('.')[0]
        raise ImportError('%s needs %s: pip install %s' % (what, package, package)) from fault


def flat(columns: Dict[str, Any]) -> Dict[str, List[float]]:
    """Columns of numbers; a column [n, components] becomes several, `name[k]`."""
    found: Dict[str, List[float]] = {}
    for name, column in columns.items():
        rows = column.tolist() if hasattr(column, 'tolist') else list(column)
        if rows and isinstance(rows[0], (list, tuple)):
            for k in range(len(rows[0])):
                found['%s[%d]' % (name, k)] = [float(row[k]) for row in rows]
        else:
            found[name] = [float(row) for row in rows]
    return found


def _range(values: Sequence[float]) -> Tuple[float, float]:
    """The least and greatest finite value, with room around a constant."""
    finite = [v for v in values if math.isfinite(v)] or [0.0]
    least, most = min(finite), max(finite)
    size = max(abs(least), abs(most))
    if most - least <= 1e-9 * size or most == least:
        room = 0.1 * size or 1.0
        return least - room, most + room
    return least, most


def svg(time: Sequence[float], columns: Dict[str, List[float]]) -> str:
    """Curves over the same time, in one graph."""
    t0, t1 = _range(time)
    y0, y1 = _range([v for c in columns.values() for v in c])

    def x(t: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (t - t0) / (t1 - t0)

    def y(v: float) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * (v - y0) / (y1 - y0)
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" '
             'font-family="sans-serif" font-size="12" fill="#44505c">' % (_WIDTH, _HEIGHT, _WIDTH),
             '<rect width="100%" height="100%" fill="#fff"/>']
    for v in (y0, (y0 + y1) / 2, y1):
        lines.append('<path d="M%d %.1fH%d" stroke="#e4e8ec"/><text x="%d" y="%.1f" '
                     'text-anchor="end">%.4g</text>' % (_LEFT, y(v), _WIDTH - _RIGHT, _LEFT - 6,
                                                        y(v) + 4, v))
    for t, anchor in ((t0, 'start'), (t1, 'end')):
        lines.append('<text x="%.1f" y="%d" text-anchor="%s">%.6g s</text>' % (
            x(t), _HEIGHT - 8, anchor, t))
    every, at = max(len(time) // _MOST_POINTS, 1), _LEFT
    for k, (name, column) in enumerate(columns.items()):
        colour = _COLOURS[k % len(_COLOURS)]
        points = ' '.join('%.1f,%.1f' % (x(t), y(v)) for t, v in zip(time[::every], column[::every])
                          if math.isfinite(v))
        lines.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"/>'
                     '<text x="%d" y="14" fill="%s">%s</text>' % (points, colour, at, colour,
                                                                  escape(name)))
        at += 8 * len(name) + 14
    return '\n'.join(lines + ['</svg>'])


def table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table as HTML: all rows, or the first and the last."""
    half = _MOST_ROWS // 2
    shown: List[Optional[Sequence[Any]]] = list(rows)
    if len(rows) > _MOST_ROWS:
        shown = [*rows[:half], None, *rows[-half:]]
    lines = ['<table><thead><tr>%s</tr></thead><tbody>' % ''.join(
        '<th>%s</th>' % escape(n) for n in names)]
    for row in shown:
        cells = ['…'] * len(names) if row is None else [
            '%.6g' % v if isinstance(v, (int, float)) else escape(str(v)) for v in row]
        lines.append('<tr>%s</tr>' % ''.join('<td>%s</td>' % c for c in cells))
    return '\n'.join(lines + ['</tbody></table>', '<p>%d rows</p>' % len(rows)])


def graph(x: Tuple[str, Sequence[float]], columns: Dict[str, List[float]], axes: Any) -> Any:
    """Curves on axes of matplotlib, on new ones if there are none; returns the axes."""
    if axes is None:
        axes = needed('matplotlib.pyplot', 'plot()').subplots()[1]
    for name, column in columns.items():
        axes.plot(x[1], column, label=name)
    axes.set_xlabel(x[0])
    axes.legend()
    return axes
