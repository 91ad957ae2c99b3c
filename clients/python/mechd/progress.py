"""A progress bar for long work; none where stderr is not a terminal, unless it is asked for
(progress=True, as in notebooks). It is that of tqdm where that is installed."""
from __future__ import annotations

import shutil
import sys
import time
from typing import Any, Callable, Optional, Union

try:
    from tqdm.auto import tqdm
except ImportError:  # it is a convenience
    tqdm = None

Progress = Union[None, bool, Callable[[float], None]]

_LEAST = 0.1  # s between two pictures


class Bar:
    """Shows a fraction from 0 to 1. `wanted`: True or False; None: where stderr is a terminal; or a
    function that is called with the fraction instead."""

    def __init__(self, wanted: Progress, text: str):
        self._call: Optional[Callable[[float], None]] = wanted if callable(wanted) else None
        self._shown = sys.stderr.isatty() if wanted is None else wanted is True
        self._text, self._start, self._last, self._drawn = text, time.monotonic(), 0.0, False
        self._bar: Any = None

    def __enter__(self) -> 'Bar':
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._drawn:
            sys.stderr.write('\r\033[K')
            sys.stderr.flush()

    def show(self, fraction: float) -> None:
        """Draw, ten times a second at most."""
        fraction = min(max(fraction, 0.0), 1.0)
        if self._call:
            self._call(fraction)
        now = time.monotonic()
        if not self._shown or now - self._last < _LEAST:
            return
        self._last, self._drawn = now, True
        if tqdm is not None:
            if self._bar is None:
                # how often is decided above: each update is drawn
                self._bar = tqdm(total=1.0, desc=self._text, leave=False, file=sys.stderr,
                                 mininterval=0, miniters=0,
                                 bar_format='{desc} {percentage:3.0f} % |{bar}| {remaining} left')
            self._bar.update(fraction - self._bar.n)
            return
        spent = now - self._start
        left = '' if fraction <= 0 else ' %4.0f s left' % (spent / fraction - spent)
        width = max(shutil.get_terminal_size().columns - len(self._text) - 24, 8)
        full = int(fraction * width)
        sys.stderr.write('\r%s [%s%s] %3d %%%s\033[K' % (self._text, '#' * full,
                                                       '.' * (width - full), 100 * fraction, left))
        sys.stderr.flush()
