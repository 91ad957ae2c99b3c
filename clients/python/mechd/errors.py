"""The exceptions of the package. A refusal by the server carries its code, its text and the
places of its faults."""
from __future__ import annotations

import contextlib
import functools
import inspect
import signal
from types import CodeType, FrameType, TracebackType
from typing import (Any, Callable, Dict, Iterator, List, NamedTuple, NoReturn, Optional, Set,
                    Tuple)


class MechdError(Exception):
    """Base of all exceptions that this package defines."""


class Unreachable(MechdError):
    """There is no server, the connection was lost for good, or no answer came in time."""


class TimedOut(Unreachable, TimeoutError):
    """No answer came in time; the text states what became of the request."""


class BadReply(MechdError):
    """The answer does not come from mechd."""


class Fault(NamedTuple):
    """One fault of a request or a model: its place (JSON pointer, RFC 6901) and the reason."""
    pointer: str
    message: str


class Refused(MechdError):
    """The server refused the request, and the state has not changed.

    status: HTTP status. code, number: of the table of errors in the protocol's README. title: the
    code in words. detail: the reason of this refusal. faults: all places at once. report: of a
    step that failed and was undone, or None. problem: the whole answer (RFC 9457).
    """

    def __init__(self, problem: Dict[str, Any]):
        self.problem = problem
        self.status: int = problem.get('status', 0)
        self.code: str = problem.get('code', '')
        self.number: int = problem.get('number', 0)
        self.title: str = problem.get('title', '')
        self.detail: str = problem.get('detail', self.title)
        self.faults: List[Fault] = [Fault(e.get('pointer', ''), e.get('message', ''))
                                    for e in problem.get('errors', [])]
        self.report: Optional[Dict[str, Any]] = problem.get('report')
        super().__init__(self._text())

    @property
    def pointers(self) -> List[str]:
        """The places of all faults."""
        return [f.pointer for f in self.faults]

    def _text(self) -> str:
        lines = ['%s (%s)' % (self.title if self.faults else self.detail, self.code)]
        lines += ['%s: %s' % f if f.pointer else f.message for f in self.faults]
        return '\n  '.join(lines)


class NotFound(Refused):
    """404: no such instance, example, snapshot, …"""


class Conflict(Refused):
    """409, 412: another time or revision, a run in progress, an id that is taken, a stale lease."""


class Invalid(Refused):
    """400, 413, 415, 422: an invalid request or model; `faults` has the places."""


class Forbidden(Refused):
    """401, 403: no valid token, or one without the permission."""


class Busy(Refused):
    """429, 503, 507: a full queue, a limit, shutting down, no storage; a later attempt may
    succeed."""


class StepFailed(Refused):
    """A step or another computation failed or was cancelled; a step is undone. `report`: of a step,
    with time and reason."""


# --- what the handlers of signals raise


def by_handler(fault: BaseException) -> bool:
    """Whether a signal has raised it: Ctrl-C, the end of the program, or anything that a handler of
    the program raises."""
    if not isinstance(fault, Exception):
        return not isinstance(fault, GeneratorExit)
    return _handler_in(fault.__traceback__, _handlers()) is not None


def of_signal(fault: BaseException, before: Optional[BaseException]) -> Optional[BaseException]:
    """What a signal has raised: the fault itself, or one beneath it, where a library has taken that
    for a fault of its own. None: nothing. before: what was being handled when the call began; it
    and what is beneath it are none of the call's."""
    if not isinstance(fault, Exception):
        return fault if by_handler(fault) else None
    codes = _handlers()
    left: List[BaseException] = [fault]
    seen: List[BaseException] = [] if before is None else [before]
    found: List[Tuple[BaseException, TracebackType]] = []
    while left:
        at = left.pop(0)
        if any(at is b for b in seen):
            continue
        seen.append(at)
        entry = _handler_in(at.__traceback__, codes)
        if entry is not None:
            found.append((at, entry))
        beneath = [getattr(at, 'reason', None), at.__cause__, at.__context__, *at.args]
        left += [b for b in beneath if isinstance(b, BaseException)]
    # the outermost is what has left the handler; a library may raise its own with that traceback
    own = [at for at, entry in found if entry is found[0][1]]
    return own[-1] if own else None


def raise_as_it_is(own: BaseException) -> NoReturn:
    """Raise what a handler has raised as if no library had seen it."""
    context = own.__context__
    try:
        raise own
    finally:
        own.__context__ = context


def _handlers() -> Set[CodeType]:
    """The code of the functions that handle signals."""
    codes = set()
    for number in signal.valid_signals():
        handler: Any = signal.getsignal(number)
        while isinstance(handler, functools.partial):
            handler = handler.func
        # a function, a method, or an object that can be called
        for one in (handler, type(handler).__call__) if callable(handler) else ():
            code = getattr(getattr(one, '__func__', one), '__code__', None)
            if isinstance(code, CodeType):
                codes.add(code)
    return codes


def _handler_in(trace: Optional[TracebackType], codes: Set[CodeType]) -> Optional[TracebackType]:
    """The entry of a handler in a traceback, also of one that is installed no longer."""
    while trace is not None:
        if trace.tb_frame.f_code in codes or _is_called_as_handler(trace.tb_frame):
            return trace
        trace = trace.tb_next
    return None


def _is_called_as_handler(frame: FrameType) -> bool:
    """Whether its arguments are the number of a signal and a frame, behind an object or not."""
    code = frame.f_code
    names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount +
                             bool(code.co_flags & inspect.CO_VARARGS)]
    given: List[Any] = []
    for name in names:
        value = frame.f_locals.get(name)
        given += value if isinstance(value, tuple) else [value]
    return any(isinstance(number, int) and isinstance(where, FrameType)
               for number, where in zip(given[:2], given[1:3]))


@contextlib.contextmanager
def interrupted(words: Callable[[], str]) -> Iterator[None]:
    """Ctrl-C within it carries these words about the work in the server, which they may end; so
    may they when another signal raises."""
    try:
        yield
    except BaseException as fault:
        if by_handler(fault):
            with contextlib.suppress(MechdError):  # the program's is the one that counts
                told = words()
                if isinstance(fault, KeyboardInterrupt):
                    fault.args = (told,)
        raise


_BY_STATUS = {400: Invalid, 401: Forbidden, 403: Forbidden, 404: NotFound, 409: Conflict,
              412: Conflict, 413: Invalid, 415: Invalid, 422: Invalid, 429: Busy, 503: Busy,
              507: Busy}


def refusal(problem: Dict[str, Any]) -> Refused:
    """The exception for a problem document."""
    if problem.get('number', 0) >= 2000:
        return StepFailed(problem)
    return _BY_STATUS.get(problem.get('status', 0), Refused)(problem)
