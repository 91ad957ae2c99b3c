"""Runs in the server and what they record."""
from __future__ import annotations

import struct
import time
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence

from .errors import MechdError, interrupted
from .progress import Bar, Progress
from .sse import Event, events
from .transport import run_ended
from .values import array, integer, numpy, rows, values

if TYPE_CHECKING:
    from .instance import Instance


class Record:
    """Outputs over time: `time` [n] and columns by name, [n] or [n, components]."""

    def __init__(self, times: Sequence[float], columns: Mapping[str, Sequence[Any]]):
        self.time = array(times if hasattr(times, 'dtype') else list(times))
        self.columns: Dict[str, Any] = {
            name: array(c if hasattr(c, 'dtype') else list(c)) for name, c in columns.items()}

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        return 'Record(%r, %s)' % (list(self.columns), rows(len(self)))


class Run:
    """A run in the server. state: running, finished, stopped, failed or interrupted; time, periods,
    overruns, fraction (None: it has no end), elapsed and remaining (s of the clock), recorded
    (rows), reason as of the last update."""

    def __init__(self, instance: 'Instance', reply: Dict[str, Any]):
        self._instance = instance
        self._take(reply)

    def __repr__(self) -> str:
        return 'Run(%r, %s, time=%r)' % (self.id, self.state, self.time)

    def _take(self, reply: Dict[str, Any]) -> 'Run':
        self.raw = reply
        self.id: str = reply['id']
        self.state: str = reply['state']
        self.time: float = reply['time']
        self.periods: int = reply['periods']
        self.overruns: int = reply['overruns']
        self.fraction: Optional[float] = reply['fraction']
        self.elapsed: float = reply['elapsed']
        self.remaining: Optional[float] = reply['remaining']
        self.recorded: int = reply.get('recorded', 0)
        self.reason: Optional[str] = reply.get('reason')
        return self

    def look(self) -> 'Run':
        """Fetch its present state."""
        return self._take(self._instance.get('runs', self.id))

    def stop(self) -> 'Run':
        """Stop at a step boundary."""
        return self._take(self._instance.call('DELETE', 'runs', self.id).json)

    def ended(self) -> str:
        """Stop it, because the wait for it ended early; returns the outcome as text."""
        try:
            return run_ended(self.stop().raw)
        except MechdError as fault:
            return 'the run %s may go on in the server: %s' % (self.id, fault)

    def results(self, outputs: Optional[Sequence[str]] = None, *, start: Optional[float] = None,
                end: Optional[float] = None, limit: Optional[int] = None) -> Record:
        """The data that a run with `record` stored: times, and a column for each value of
        each output, all or those named, from `start` to `end` (s)."""
        where: Dict[str, Any] = {'from': start, 'to': end, 'outputs': outputs}
        names = self._instance.get('runs', self.id, 'results', **{**where, 'limit': 1})['columns']
        raw = self._instance.call('GET', 'runs', self.id, 'results', format='f64',
                                  limit=limit, **where).raw
        if numpy is not None:
            table = numpy.frombuffer(raw, dtype='<f8').reshape(-1, len(names))
            columns: List[Any] = [table[:, k] for k in range(len(names))]
        else:  # pragma: no cover - numpy is a convenience
            flat = struct.unpack('<%dd' % (len(raw) // 8), raw)
            columns = [flat[k::len(names)] for k in range(len(names))]
        return Record(columns[0], dict(zip(names[1:], columns[1:])))

    def delete_results(self) -> None:
        """Delete its recorded rows."""
        self._instance.call('DELETE', 'runs', self.id, 'results')

    def events(self, after: int = 0, rate: Optional[float] = None) -> Iterator[Event]:
        """Events of the run in progress: 'row' for each recorded row (time and outputs; its id is
        its number), 'progress', and 'end' at last. Reconnects when the connection is lost. after:
        rows already received; rate: progress, at most so often a second."""
        path = ('v1', 'instances', self._instance.id, 'runs', self.id, 'events')
        last = str(integer(after, 'after'))
        for event in events(self._instance.server.transport, path, last, rate=rate):
            if event.name == 'row':
                # its number; the part after it identifies the instance, for clients that reconnect
                number = event.id.partition('-')[0] if event.id else None
                yield event._replace(id=number, data={**event.data,
                                           'outputs': values(event.data['outputs'])})
            else:
                self._take(event.data)
                yield event

    def wait(self, progress: Progress = None, timeout: Optional[float] = None) -> 'Run':
        """Wait until it is over, with a bar on a terminal. A failed run raises MechdError."""
        started, pause = time.monotonic(), 0.005
        words = 'the run %s goes on in the server; its stop() ends it' % self.id
        with interrupted(lambda: words), \
                Bar(progress if self.fraction is not None else False, self._instance.id) as bar:
            while self.look().state == 'running':
                if self.fraction is not None:
                    bar.show(self.fraction)
                if timeout is not None and time.monotonic() - started > timeout:
                    raise TimeoutError('the run is at %g s after %g s' % (self.time, timeout))
                time.sleep(pause)
                pause = min(2 * pause, 0.2)
            bar.show(1.0)
        if self.state == 'failed':
            raise MechdError('the run failed at %g s: %s' % (self.time, self.reason))
        return self
