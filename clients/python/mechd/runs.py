"""Runs in the server and what they record."""
from __future__ import annotations

import secrets
import struct
import sys
import time
from typing import (TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple,
                    Union)

from . import pictures
from .errors import Invalid, MechdError, NotFound, interrupted
from .partner import Layout, Stream
from .progress import Bar, Progress
from .sse import Event, events
from .transport import run_ended
from .values import array, integer, is_number, listed, number, numpy, rows, values

if TYPE_CHECKING:
    from .server import Server


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

    def _flat(self) -> Tuple[List[float], Dict[str, List[float]]]:
        return pictures.flat({'time': self.time})['time'], pictures.flat(self.columns)

    def to_pandas(self) -> Any:
        """A DataFrame with the time as index; needs pandas."""
        pandas = pictures.needed('pandas', 'to_pandas()')
        time, columns = self._flat()
        return pandas.DataFrame(columns, index=pandas.Index(time, name='time'))

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Graphs over time of the columns named, or of all, on these axes of matplotlib or on new
        ones, which are returned."""
        time, columns = self._flat()
        chosen = {n: c for n, c in columns.items()
                  if not names or n in names or n.partition('[')[0] in names}
        return pictures.graph(('time in s', time), chosen, axes)

    def _repr_html_(self) -> str:
        """For notebooks: a picture, and the first and the last rows."""
        time, columns = self._flat()
        rows_ = list(zip(time, *columns.values()))
        return pictures.svg(time, columns) + pictures.table(['time', *columns], rows_)


class Run:
    """A run in the server. state: running, finished, stopped, failed or interrupted; time, periods,
    overruns, fraction (None: it has no end), elapsed and remaining (s of the clock), recorded
    (rows), reason as of the last update."""

    def __init__(self, owner: 'Runner', reply: Dict[str, Any]):
        self._owner = owner
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
        return self._take(self._owner.get('runs', self.id))

    def stop(self) -> 'Run':
        """Stop at a step boundary."""
        return self._take(self._owner.call('DELETE', 'runs', self.id).json)

    def ended(self) -> str:
        """Stop it, because the wait for it ended early; returns the outcome as text."""
        try:
            return run_ended(self.stop().raw)
        except MechdError as fault:
            return 'the run %s may continue in the server: %s' % (self.id, fault)

    def results(self, outputs: Optional[Sequence[str]] = None, *, start: Optional[float] = None,
                end: Optional[float] = None, limit: Optional[int] = None) -> Record:
        """The data that a run with `record` stored: times, and a column for each value of
        each output, all or those named, from `start` to `end` (s)."""
        where: Dict[str, Any] = {'from': start, 'to': end, 'outputs': outputs}
        names = self._owner.get('runs', self.id, 'results', **{**where, 'limit': 1})['columns']
        raw = self._owner.call('GET', 'runs', self.id, 'results', format='f64',
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
        self._owner.call('DELETE', 'runs', self.id, 'results')

    def events(self, after: int = 0, rate: Optional[float] = None) -> Iterator[Event]:
        """Events of the run in progress: 'row' for each recorded row (time and outputs; its id is
        its number), 'progress', and finally 'end'. Reconnects when the connection is lost. after:
        rows already received; rate: at most so many 'progress' events a second."""
        path = (*self._owner.place, 'runs', self.id, 'events')
        last = str(integer(after, 'after'))
        for event in events(self._owner.server.transport, path, last, rate=rate):
            if event.name == 'row':
                # its number; the part after it identifies the instance, for clients that reconnect
                number = event.id.partition('-')[0] if event.id else None
                yield event._replace(id=number, data={**event.data,
                                           'outputs': values(event.data['outputs'])})
            else:
                self._take(event.data)
                yield event

    def wait(self, progress: Progress = None, timeout: Optional[float] = None) -> 'Run':
        """Wait until it is over, with a progress bar on a terminal. A failed run raises
        MechdError."""
        started, pause = time.monotonic(), 0.005
        words = 'the run %s continues in the server; its stop() ends it' % self.id
        with interrupted(lambda: words), \
                Bar(progress if self.fraction is not None else False, self._owner.id) as bar:
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


def periods(start: float, until: float, period: float) -> int:
    """The number of periods to a time, of which the last one may be shorter; a rest that is
    rounding of the times is none."""
    if period <= 0:
        raise ValueError('period: %r is not a positive number of seconds' % (period,))
    whole = max(int(round((until - start) / period)), 0)
    rounding = 4 * sys.float_info.epsilon * max(abs(start), abs(until))
    return whole if until - (start + whole * period) <= rounding else whole + 1


def recorded(given: Any) -> Optional[Dict[str, Any]]:
    """`record` of a run in the form of the server."""
    if given is None or isinstance(given, Mapping):
        return given  # type: ignore[return-value]
    if is_number(given, '/record'):
        found = number(given, '/record')
        return {'seconds': found} if isinstance(found, float) else {'every': int(found)}
    return {'outputs': listed(given, '/record/outputs')}


class Runner:
    """What the server runs by itself: an instance, or a coupling."""

    id: str
    server: 'Server'

    @property
    def place(self) -> Tuple[str, ...]:
        """The words of its path."""
        raise NotImplementedError

    def call(self, method: str, *parts: Any, **more: Any) -> Any:
        """A request below its place; see Transport.call."""
        return self.server.transport.call(method, *self.place, *parts, **more)

    def get(self, *parts: Any, **query: Any) -> Any:
        """GET below its place: the JSON."""
        return self.call('GET', *parts, **query).json

    def post(self, *parts: Any, **body: Any) -> Any:
        """POST below its place: the JSON; None is left out of the body."""
        return self.call('POST', *parts,
                         body={k: v for k, v in body.items() if v is not None}).json

    def streams(self, name: Optional[str] = None) -> Any:
        """The streams that clients have chosen, oldest first: name, topic, every, watched, layout;
        or the one of this name."""
        return self.get('streams')['items'] if name is None else self.get('streams', name)

    def _chosen(self, timeout: Optional[float], outputs: Optional[Sequence[str]],
                every: Optional[int]) -> Stream:
        name = 'python-' + secrets.token_hex(8)
        names = None if outputs is None else listed(outputs, '/outputs')
        # to look counts as a use, and would keep an instance with a time to live
        lasts = self.call('GET').json.get('ttl') is None
        chosen = self.post('streams', name=name, every=every, outputs=names)

        def renew() -> Optional[Layout]:
            try:
                try:
                    self.streams(name)
                except NotFound:
                    return Layout(self.post('streams', name=name, every=every,
                                            outputs=names)['layout'])
            except Invalid:
                raise  # the outputs are not those of the next life
            except MechdError:
                pass  # its owner or the server is gone, and may come back
            return None

        def end() -> None:
            try:
                self.call('DELETE', 'streams', name)
            except NotFound:
                pass  # with its owner
        try:
            return Stream(self.server.endpoints()['stream'], self.id, Layout(chosen['layout']),
                          timeout, self.server.keys, chosen['topic'], end,
                          self.server.transport.timeout, renew=renew if lasts else None)
        except BaseException:
            end()
            raise

    def run(self, until: Optional[float] = None, *, count: Optional[int] = None,
            pace: Optional[float] = None, period: Optional[float] = None,
            record: Union[None, int, float, str, Sequence[str], Mapping[str, Any]] = None,
            wait: Optional[bool] = None, progress: Progress = None) -> Run:
        """Let the server step by itself, as fast as possible, or `pace` simulated seconds a second,
        in communication steps of `period` s, `until` a time or `count` periods.

        record: the data for `Run.results`: an int n, all outputs of every n-th period; a float,
        of every so many simulated seconds; names of outputs, of every period; or {'every' or
        'seconds', 'outputs'}. wait: until it is over (default if there is an end); Ctrl-C
        stops it then. progress: a bar on a terminal (None), always, never, or a function of the
        fraction done.

        Keywords, of POST /v1/instances/{id}/runs:
            pace: simulated seconds per second (default 0: as fast as possible)
            period: communication step, s
            until: end time, s (default none: until it is stopped)
            count: number of periods, instead of until
        """
        run = Run(self, self.post('runs', until=until, count=count, pace=pace, period=period,
                                  record=recorded(record)))
        ends = until is not None or count is not None
        if not (wait or (wait is None and ends)):
            return run
        with interrupted(run.ended):
            return run.wait(progress)

    def runs(self) -> List[Run]:
        """The last runs, newest first."""
        return [Run(self, reply) for reply in self.get('runs')['items']]

    def events(self, rate: Optional[float] = None) -> Iterator[Dict[str, Any]]:
        """Live outputs over HTTP (server-sent events), at most `rate` a second: time, step,
        outputs. Reconnects when the connection is lost; ends with the instance or coupling."""
        for event in events(self.server.transport, (*self.place, 'events'), rate=rate):
            if event.name == 'end':
                return
            yield {**event.data, 'outputs': values(event.data.get('outputs', {}))}
