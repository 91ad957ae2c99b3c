"""The exceptions of the package. A refusal by the server carries its code, its text and the
places of its faults."""
from __future__ import annotations

import contextlib
from types import FrameType, TracebackType
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional


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
    """The solver gave up and undid the step; `report` gives time and reason."""


_VARARGS = 4  # inspect.CO_VARARGS


def of_signal(fault: BaseException) -> Optional[BaseException]:
    """What a signal has raised, KeyboardInterrupt or anything that a handler of the program raises:
    the fault itself, or one beneath it, where a library has taken it for its own. None: nothing."""
    if not isinstance(fault, Exception):
        return None if isinstance(fault, GeneratorExit) else fault
    left: List[BaseException] = [fault]
    seen: List[BaseException] = []
    while left:
        at = left.pop(0)
        seen.append(at)
        wraps = type(at).__module__.partition('.')[0] in ('requests', 'urllib3')
        if not wraps and _by_handler(at.__traceback__):
            return at
        beneath = [getattr(at, 'reason', None), at.__cause__, at.__context__, *at.args]
        left += [b for b in beneath if isinstance(b, BaseException) and b not in seen]
    return None


def _by_handler(trace: Optional[TracebackType]) -> bool:
    """Whether a function in it is a handler: it was called with a number and a frame."""
    while trace is not None:
        frame = trace.tb_frame
        code = frame.f_code
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & _VARARGS)
        given = [frame.f_locals.get(name) for name in code.co_varnames[:count]]
        given += [g for one in given if isinstance(one, tuple) for g in one]
        if any(isinstance(g, FrameType) for g in given):
            return True
        trace = trace.tb_next
    return False


@contextlib.contextmanager
def interrupted(words: Callable[[], str]) -> Iterator[None]:
    """Ctrl-C within it carries these words about the work in the server, which they may end; so
    may they when another signal raises."""
    try:
        yield
    except BaseException as fault:
        if of_signal(fault) is None:
            raise
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
