"""Couplings: instances that exchange outputs and inputs and step together in the server."""
from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union, cast

from . import replies
from .partner import Layout, Stream
from .runs import Runner
from .values import content, listed, values

if TYPE_CHECKING:
    from .instance import Instance
    from .server import Server


class CouplingStep:
    """The state after a step: time (s), window (number of windows so far), outputs by
    'participant.output', report (with want 'interface' also power, energy and balance of each
    connection); trial: its number, if it was a trial; energy (J), if it was requested."""

    def __init__(self, reply: Mapping[str, Any]):
        self.time: float = reply['time']
        self.window: int = reply['window']
        self.outputs: Dict[str, Any] = values(reply['outputs'])
        self.report: Dict[str, Any] = reply.get('report', {})
        self.trial: Optional[int] = reply.get('trial')
        self.energy: Optional[float] = reply.get('energy')

    def __repr__(self) -> str:
        return 'CouplingStep(time=%r, window=%r, %r)' % (self.time, self.window, self.outputs)


class Coupling(Runner):
    """A coupling; a with-statement deletes it at its end, which releases its instances."""

    def __init__(self, server: 'Server', reply: Mapping[str, Any]):
        self.server = server
        self._take(reply)

    def __repr__(self) -> str:
        return 'Coupling(%r, %s, %s)' % (self.id, self.scheme, ', '.join(self.participants))

    @property
    def place(self) -> Tuple[str, ...]:
        """The words of its path."""
        return 'v1', 'couplings', self.id

    def __enter__(self) -> 'Coupling':
        return self

    def __exit__(self, *_: object) -> None:
        self.delete()

    def _take(self, reply: Mapping[str, Any]) -> 'Coupling':
        self.id: str = reply['id']
        self.name: str = reply['name']
        self.time: float = reply['time']
        self.windows: int = reply['windows']
        self.busy: bool = reply['busy']
        self.running: bool = reply['running']
        self.scheme: str = reply['scheme']
        self.step_size: float = reply['stepSize']
        self.participants: Dict[str, Union[str, Dict[str, Any]]] = {
            p['name']: p.get('instance', p.get('partner')) for p in reply['participants']}
        self.connections: List[str] = reply['connections']
        self.layout: List[Dict[str, Any]] = reply['layout']
        return self

    def look(self) -> 'Coupling':
        """Fetch its present state."""
        return self._take(self.call('GET').json)

    def step(self, size: Optional[float] = None, *, until: Optional[float] = None,
             count: Optional[int] = None, commit: bool = True,
             want: Sequence[replies.CouplingWant] = (),
             expect_time: Optional[float] = None) -> CouplingStep:
        """Step by `size` s, `until` a time, or by `count` windows; one window if none is given.
        With commit=False it is a trial, which changes nothing until it is committed. At another
        time than expect_time it raises Conflict.

        Keywords, of POST /v1/couplings/{cid}/step:
            size: duration, s; in equal windows of at most stepSize
            until: end time, s
            count: windows of stepSize
            commit: False: a trial, which does not change the state
            expect_time: the step is refused unless the coupling is at this time, s
            want: what the response has besides outputs, of the words of replies.CouplingWant
        """
        given = {'size': size, 'until': until, 'count': count}
        body: Dict[str, Any] = {name: value for name, value in given.items()
                                if value is not None} or {'count': 1}
        if not commit:
            body['commit'] = False
        if expect_time is not None:
            body['expectTime'] = expect_time
        if want:
            body['want'] = listed(want, '/want')
        return CouplingStep(self.call('POST', 'step', body=body).json)

    def commit(self, trial: Union[int, CouplingStep]) -> CouplingStep:
        """Make the end of a trial the state of all its instances."""
        number = trial.trial if isinstance(trial, CouplingStep) else trial
        return CouplingStep(self.call('POST', 'commit', body={'trial': number}).json)

    def snapshot(self) -> str:
        """Save its state and those of all its instances in the server; the id of the snapshot."""
        return str(self.call('POST', 'snapshots').json['id'])

    def snapshots(self) -> List[replies.CouplingSnapshot]:
        """Its snapshots, oldest first: id, time, window, bytes."""
        return list(self.call('GET', 'snapshots').json['items'])

    def show_snapshot(self, snapshot: str) -> replies.CouplingSnapshot:
        """One of them, as `snapshots` lists it."""
        return cast(replies.CouplingSnapshot, self.call('GET', 'snapshots', snapshot).json)

    def data(self) -> bytes:
        """Its present state and those of all its instances as bytes, models included, for
        `restore` of a coupling of the same participants anywhere."""
        return cast(bytes, self.call('GET', 'state').raw)

    def restore(self, snapshot: Union[str, bytes, 'os.PathLike[str]']) -> CouplingStep:
        """Return to a snapshot, with all its instances; or to the state of another coupling of the
        same participants, given as its bytes (`data`) or by the path of its file."""
        if isinstance(snapshot, str):
            return CouplingStep(self.call('POST', 'snapshots', snapshot, 'restore').json)
        body = {'snapshot': base64.b64encode(content(snapshot)).decode()}
        return CouplingStep(self.call('PUT', 'state', body=body).json)

    def delete_snapshot(self, snapshot: str) -> None:
        """Delete a snapshot."""
        self.call('DELETE', 'snapshots', snapshot)

    def stability(self, size: Optional[float] = None) -> replies.CouplingStability:
        """Spectral radius of a window of this size (default stepSize), and the largest stable
        size; reports of later steps with larger windows have `warnings`."""
        return cast(replies.CouplingStability, self.call('GET', 'stability', size=size).json)

    def ssp(self, path: Optional[str] = None) -> bytes:
        """The coupling as a system structure package (SSP), which other tools can open, and
        `couple_package`: models as FMUs, parameters, connections. Written to `path`, if given.

        It starts from the models, not from the present state.
        """
        data = cast(bytes, self.call('GET', 'ssp').raw)
        if path is not None:
            with open(path, 'wb') as f:
                f.write(data)
        return data

    def stream(self, timeout: Optional[float] = None, *, outputs: Optional[Sequence[str]] = None,
               every: Optional[int] = None) -> Stream:
        """Windows as they are committed, over ZeroMQ: the outputs that the coupling shows;
        timeout: longest wait for a frame, s. outputs, every: as for an instance."""
        if outputs is not None or every is not None:
            return self._chosen(timeout, outputs, every)

        def layout() -> Layout:
            return Layout(self.look().layout)
        return Stream(self.server.endpoints()['stream'], self.id, layout(), timeout,
                      self.server.keys, opening=self.server.transport.timeout, look=layout)

    def reset(self) -> CouplingStep:
        """Reset all its instances to their states after creation."""
        return CouplingStep(self.call('POST', 'reset').json)

    def delete(self) -> None:
        """Delete it; its instances keep their states, and are released."""
        self.call('DELETE')


def couple_body(participants: Mapping[str, Union[str, 'Instance', Mapping[str, Any]]],
                connections: Sequence[Union[Sequence[Any], Mapping[str, Any]]],
                scheme: Union[str, Mapping[str, Any]], step_size: float,
                more: Mapping[str, Any]) -> Dict[str, Any]:
    """The request: connections are ('left.x', 'right.force') or ('left.x', 'right.force', factor),
    or whole objects; a participant that is a mapping describes a partner."""
    links = [dict(c) if isinstance(c, Mapping) else dict(zip(('from', 'to', 'factor', 'offset'), c))
             for c in connections]
    return {'participants': [{'name': name, 'partner': dict(i)} if isinstance(i, Mapping) else
                             {'name': name, 'instance': getattr(i, 'id', i)}
                             for name, i in participants.items()],
            'connections': links,
            'scheme': {'type': scheme} if isinstance(scheme, str) else dict(scheme),
            'stepSize': step_size, **more}
