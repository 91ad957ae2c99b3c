"""Many at once: batches over instances, sweeps over parameters, requests answered later."""
from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence

from . import pictures
from .errors import MechdError, interrupted, refusal
from .progress import Bar, Progress
from .transport import label_list
from .values import array, listed, rows

if TYPE_CHECKING:
    from .server import Server

_LONGEST = 0.2  # s between two polls


class Table:
    """Rows of numbers: `names` of the columns, `rows` [n, columns], NaN where there is none."""

    def __init__(self, names: Sequence[str], rows: Sequence[Sequence[Any]]):
        self.names = list(names)
        self.rows = array(rows) if rows else array([[0.0] * len(self.names)])[:0]

    def __getitem__(self, name: str) -> Any:
        """A column by its name: [n]."""
        k = self.names.index(name)
        return array([row[k] for row in self.rows])

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return '%s(%r, %s)' % (type(self).__name__, self.names, rows(len(self)))

    def to_pandas(self) -> Any:
        """A DataFrame; needs pandas."""
        return pictures.needed('pandas', 'to_pandas()').DataFrame(
            [list(row) for row in self.rows], columns=self.names)

    def plot(self, x: str, *names: str, axes: Any = None) -> Any:
        """Graphs over the column `x` of the columns named, or of all others, on these axes of
        matplotlib or on new ones, which are returned."""
        chosen = pictures.flat({n: self[n] for n in names or self.names if n != x})
        return pictures.graph((x, pictures.flat({x: self[x]})[x]), chosen, axes)

    def _repr_html_(self) -> str:
        """For notebooks: the first and the last rows."""
        return pictures.table(self.names, [[float(v) for v in row] for row in self.rows])


class BatchTable(Table):
    """time, step and outputs of each of the instances `ids` after its operation. errors: for those
    that failed, {'index', 'id', 'status', 'error'}."""

    def __init__(self, reply: Mapping[str, Any]):
        super().__init__(reply['columns'], reply['rows'])
        self.ids: List[str] = reply['ids']
        self.errors: List[Dict[str, Any]] = reply['errors']


def batch_body(operation: Optional[str], instances: Any, label: Any,
               items: Optional[Sequence[Mapping[str, Any]]], results: str,
               body: Mapping[str, Any]) -> Dict[str, Any]:
    """The request of a batch: one of instances, label and items."""
    if items is not None:
        return {'items': list(items), 'results': results}
    label = label_list(label) if isinstance(label, Mapping) else label
    chosen = {'label': label} if instances is None else [getattr(i, 'id', i) for i in instances]
    return {'instances': chosen, 'operation': operation, 'body': dict(body), 'results': results}


class _Awaited:
    """Work in the server that is polled until it is over."""
    state = 'running'
    _ends_it = ''  # its method

    def look(self) -> Any:
        raise NotImplementedError

    def _wait(self, bar: Bar, timeout: Optional[float]) -> None:
        started, pause = time.monotonic(), 0.002
        with interrupted(self._left):
            self._look_until(bar, timeout, started, pause)

    def _left(self) -> str:
        """What is said when the wait for it is interrupted."""
        return '%r continues in the server; its %s() ends it' % (self, self._ends_it)

    def _look_until(self, bar: Bar, timeout: Optional[float], started: float,
                    pause: float) -> None:
        while self.look().state == 'running':
            bar.show(self._fraction())
            if timeout is not None and time.monotonic() - started > timeout:
                raise TimeoutError('not over after %g s' % timeout)
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST)
        bar.show(1.0)

    def _fraction(self) -> float:
        return 0.0


class Sweep(_Awaited):
    """One model or coupling over many sets of parameters. state: running, finished, stopped, or
    interrupted by the end of the server; points, done, failed, errors ({'point', 'code',
    'message'}) and stored (its rows are there after a restart) as of the last update."""

    _ends_it = 'delete'

    def __init__(self, server: 'Server', reply: Dict[str, Any]):
        self._server = server
        self._take(reply)

    def __repr__(self) -> str:
        return 'Sweep(%r, %s, %d of %d)' % (self.id, self.state, self.done, self.points)

    def __enter__(self) -> 'Sweep':
        return self

    def __exit__(self, *_: object) -> None:
        self.delete()

    def _take(self, reply: Dict[str, Any]) -> 'Sweep':
        self.id: str = reply['id']
        self.state: str = reply['state']
        self.points: int = reply['points']
        self.done: int = reply['done']
        self.failed: int = reply['failed']
        self.stored: bool = reply['stored']
        self.parameters: List[str] = reply['parameters']
        self.outputs: List[str] = reply['outputs']
        self.errors: List[Dict[str, Any]] = reply.get('errors', [])
        return self

    def look(self) -> 'Sweep':
        """Fetch its present state."""
        return self._take(self._server.transport.call('GET', 'v1', 'sweeps', self.id).json)

    def _fraction(self) -> float:
        return self.done / self.points

    def wait(self, progress: Progress = None, timeout: Optional[float] = None) -> 'Sweep':
        """Wait until all points are done, with a progress bar on a terminal."""
        with Bar(progress, self.id) as bar:
            self._wait(bar, timeout)
        return self

    def ended(self) -> str:
        """Delete it, because the wait for it ended early; returns the outcome as text."""
        try:
            self.delete()
            return 'the sweep %s has been stopped and deleted' % self.id
        except MechdError as fault:
            return 'the sweep %s may continue in the server: %s' % (self.id, fault)

    def results(self) -> Table:
        """A table of point, parameters, time and outputs of the points that are done: one row each,
        or the recorded rows."""
        reply = self._server.transport.call('GET', 'v1', 'sweeps', self.id, 'results').json
        return Table(reply['columns'], reply['rows'])

    def delete(self) -> None:
        """Stop it if it runs, and free its rows."""
        self._server.transport.call('DELETE', 'v1', 'sweeps', self.id)


class Operation(_Awaited):
    """An asynchronous request in the server. state: running or finished."""

    def __init__(self, server: 'Server', reply: Dict[str, Any]):
        self._server = server
        self.raw = reply
        self.id: str = reply['id']
        self.state: str = reply['state']

    def __repr__(self) -> str:
        return 'Operation(%r, %s)' % (self.id, self.state)

    def _left(self) -> str:
        # a caller that waited where it was created knows its id alone
        return '%r continues in the server, and other commands to its instance wait for it; ' \
               'server.operation(%r).cancel() ends it' % (self, self.id)

    def look(self) -> 'Operation':
        """Fetch its state: whether it is over."""
        self.raw = self._server.transport.call('GET', 'v1', 'operations', self.id).json
        self.state = self.raw['state']
        return self

    def wait(self, timeout: Optional[float] = None) -> Any:
        """Its answer, once it is over; a refusal is raised, as it would have been."""
        with Bar(False, self.id) as bar:
            self._wait(bar, timeout)
        if self.raw['status'] >= 400:
            raise refusal(self.raw['answer'])
        return self.raw.get('answer')

    def cancel(self) -> bool:
        """Cancel and delete it. False: it was done before, and its answer remains; a further call,
        once it is known to be over, deletes it."""
        reply = self._server.transport.call('DELETE', 'v1', 'operations', self.id)
        if reply.status == 200:
            self.raw = reply.json
            self.state = self.raw['state']
        return bool(reply.status != 200)


def sweep_parameters(grid: Optional[Mapping[str, Any]],
                     points: Optional[Sequence[Mapping[str, float]]]) -> Dict[str, Any]:
    """Exactly one of both, in the form of the server."""
    if (grid is None) == (points is None):
        raise ValueError('exactly one of grid and points is needed')
    if points is not None:
        return {'list': list(points)}
    return {'grid': {name: values if isinstance(values, Mapping)
                     else listed(values, '/parameters/grid/%s' % name)
                     for name, values in (grid or {}).items()}}
