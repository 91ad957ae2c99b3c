"""The server: calls that belong to no instance."""
from __future__ import annotations

import base64
import os
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union, cast
from urllib.parse import urlsplit

from . import replies
from .couplings import Coupling, couple_body
from .curve import Keys
from .errors import interrupted
from .fmus import Fmus
from .instance import Instance, Snapshot
from .many import BatchTable, Operation, Sweep, batch_body, sweep_parameters
from .participant import Participant
from .progress import Progress
from .transport import Transport, label_list
from .values import content, document, integer, values


class Problems:
    """Complementarity, friction and mixed problems without a model."""

    def __init__(self, transport: Transport):
        self._transport = transport

    def __repr__(self) -> str:
        return 'Problems(%r)' % self._transport.name

    def solve(self, problem: Optional[Mapping[str, Any]] = None,
              **members: Any) -> replies.SolveReply:
        """Solve {"N", "r", …} or {"H", "f", "G", "b", …} by any solver; solution and `report`. M
        and q (w = M z + q) are other names of N and r; `l` is z then, and `c` is w. Members may
        be given by name: solve(M=…, q=…)."""
        given = {**(problem or {}), **members}
        for other, name in (('M', 'N'), ('q', 'r')):
            # beside its other name it is refused by the server, which says where
            if other in given and name not in given:
                given[name] = given.pop(other)
        reply = self._transport.call('POST', 'v1', 'problems', 'solve',
                                     body={'problem': given}).json
        return cast(replies.SolveReply, values(reply))


class Server:
    """A mechd server.

        with Server('http://127.0.0.1:8080') as server:
            instance = server.create(example='double-pendulum')

    url: http://host:port, https://…, or unix:/path; None: MECHD_SERVER, or http://127.0.0.1:8080.
    token: bearer token, if the server requires one; None: MECHD_TOKEN. verify: PEM file with the
    authorities that an https:// server is checked against; None: MECHD_CA, or those of the package
    requests. timeout: longest wait for an answer, s. retries: attempts after a connection is lost;
    a request is still executed once. curve_key: where ZeroMQ requires keys, the file of the
    client's pair; None: MECHD_CLIENT_KEY. server_key: public key that the server must have; None:
    MECHD_SERVER_KEY, or as the server reports it over HTTP. Threads and forked processes may share
    a Server: each request uses its own connection.
    """

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None,
                 timeout: float = 60.0, retries: int = 3, verify: Optional[str] = None,
                 curve_key: Optional[str] = None, server_key: Optional[str] = None):
        url = url or os.environ.get('MECHD_SERVER') or 'http://127.0.0.1:8080'
        token = token or os.environ.get('MECHD_TOKEN') or None
        self.transport = Transport(url, token, timeout, retries)
        self.transport.verify(verify or os.environ.get('MECHD_CA') or None)
        self.problems = Problems(self.transport)
        self.fmus = Fmus(self)
        self.keys = Keys(server_key or os.environ.get('MECHD_SERVER_KEY'),
                         curve_key or os.environ.get('MECHD_CLIENT_KEY'))
        self._endpoints: Optional[Dict[str, str]] = None

    def __enter__(self) -> 'Server':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return 'Server(%r)' % self.transport.name

    def close(self) -> None:
        """Close the connections; instances stay."""
        self.transport.close()

    def about(self) -> replies.About:
        """Version, libraries, limits, endpoints."""
        return cast(replies.About, self._get('v1'))

    def ready(self) -> bool:
        """Whether the server accepts work."""
        return bool(self.transport.call('GET', 'readyz').status == 200)

    def metrics(self) -> str:
        """Prometheus metrics as text."""
        return str(self.transport.call('GET', 'metrics').raw.decode())

    def set_log_level(self, level: str) -> None:
        """The daemon's log: error, warning, info or debug."""
        self.transport.call('PUT', 'v1', 'log-level', body={'level': level})

    def quota(self) -> replies.Quota:
        """Limits of this token and their current use."""
        return cast(replies.Quota, self._get('v1', 'quota'))

    def openapi(self) -> Dict[str, Any]:
        """The interface as OpenAPI 3.1."""
        return cast(Dict[str, Any], self._get('openapi.json'))

    def types(self) -> List[replies.TypeEntry]:
        """Every item, solver and integrator type."""
        return cast(List[replies.TypeEntry], self._get('v1', 'types')['items'])

    def type(self, name: str) -> replies.TypeEntry:
        """One type with its fields."""
        return cast(replies.TypeEntry, self._get('v1', 'types', name))

    def examples(self) -> Dict[str, str]:
        """Example models: name and title."""
        return {e['name']: e['title'] for e in self._get('v1', 'examples')['items']}

    def example(self, name: str) -> Dict[str, Any]:
        """The model document of one example."""
        return cast(Dict[str, Any], self._get('v1', 'examples', name))

    def check(self, model: Mapping[str, Any]) -> replies.CheckReply:
        """Validate a model without an instance; Invalid lists all its faults."""
        return cast(replies.CheckReply, self.transport.call(
            'POST', 'v1', 'models', 'check', body={'model': document(model)}).json)

    def create(self, model: Optional[Mapping[str, Any]] = None, *, example: Optional[str] = None,
               snapshot: Union[None, bytes, Snapshot] = None, fmu: Optional[str] = None,
               start: Optional[Mapping[str, Any]] = None, id: Optional[str] = None,
               durability: Union[None, str, Mapping[str, Any]] = None,
               labels: Optional[Mapping[str, str]] = None, ttl: Optional[float] = None,
               **more: Any) -> Instance:
        """A new instance from exactly one of a model document, the name of an example, a snapshot
        and the id of an uploaded FMU.

        snapshot: one of an instance, or its bytes. id: of your choice (Conflict if it is taken).
        durability may be {"mode", "steps", "seconds"}, too. more: further members of the request.
        Warnings about the model are in `instance.warnings`.

        Keywords, of POST /v1/instances:
            model: a model document
            example: name of one of /v1/examples
            fmu: id of an uploaded FMU
            start: with fmu: start values of its inputs and parameters, by name
            labels: labels: names and texts chosen by the client
            ttl: idle time after which the instance is deleted, s
            durability: when the state is stored on disk (default that of the server); one of none,
                checkpoint, every-step
        """
        if isinstance(snapshot, Snapshot):
            snapshot = snapshot.data()
        body: Dict[str, Any] = {
            'model': document(model), 'example': example, 'fmu': fmu, 'start': start,
            'durability': durability, 'labels': labels, 'ttl': ttl,
            'snapshot': None if snapshot is None else base64.b64encode(content(snapshot)).decode(),
            **more}
        body = {name: value for name, value in body.items() if value is not None}
        path = ('v1', 'instances') if id is None else ('v1', 'instances', id)
        reply = self.transport.call('POST' if id is None else 'PUT', *path, body=body).json
        return Instance(self, reply['id'], reply.get('warnings', []))

    def instance(self, id: str) -> Instance:
        """An instance that exists."""
        info = self._get('v1', 'instances', id)
        return Instance(self, info['id'], info.get('warnings', []))

    def instances(self, **labels: Optional[str]) -> Iterator[Instance]:
        """All instances, or those with all these labels (None: any text), page by page."""
        label = label_list(labels) or None
        after: Optional[int] = None
        while True:
            page = self._get('v1', 'instances', after=after, label=label)
            for entry in page['items']:
                yield Instance(self, entry['id'], entry.get('warnings', []))
            after = page.get('next')
            if after is None:
                return

    def batch(self, operation: Optional[str] = None,
              instances: Optional[Sequence[Union[str, Instance]]] = None, *,
              label: Union[str, Mapping[str, Optional[str]], None] = None,
              items: Optional[Sequence[Mapping[str, Any]]] = None,
              **body: Any) -> List[replies.BatchItemResult]:
        """One operation on many instances in one request, or `items` {'op', 'id', ...}.

        operation: its name over ZeroMQ, such as 'step'; instances: them or their ids; label: those
        with all of 'name=value,name', or of {name: value or None}; body: of the operation. Results
        {'id', 'status', 'body' or 'error'} in that order: failures are not raised.

            server.batch('step', instances, count=10)
        """
        request = batch_body(operation, instances, label, items, 'full', body)
        return cast(List[replies.BatchItemResult], self.transport.call(
            'POST', 'v1', 'batch', body=request).json['results'])

    def batch_table(self, operation: str,
                    instances: Optional[Sequence[Union[str, Instance]]] = None, *,
                    label: Union[str, Mapping[str, Optional[str]], None] = None,
                    **body: Any) -> BatchTable:
        """The same with time, step and all outputs of each instance after its operation as one
        array; the instances have the same outputs."""
        request = batch_body(operation, instances, label, None, 'table', body)
        return BatchTable(self.transport.call('POST', 'v1', 'batch', body=request).json)

    def sweep(self, model: Optional[Mapping[str, Any]] = None, *, example: Optional[str] = None,
              coupling: Optional[Mapping[str, Any]] = None, fmu: Optional[str] = None,
              start: Optional[Mapping[str, Any]] = None,
              grid: Optional[Mapping[str, Any]] = None,
              points: Optional[Sequence[Mapping[str, float]]] = None,
              until: Optional[float] = None, count: Optional[int] = None,
              outputs: Optional[Sequence[str]] = None, every: Optional[int] = None,
              wait: bool = True, progress: Progress = None) -> Sweep:
        """A model, a hosted FMU, or a coupling, over many sets of parameters, on all workers.

        grid: values, or {'from', 'to', 'count'}, by parameter, the last one fastest; points: a
        list of {parameter: value}. every: rows of every so many internal steps, not only of the
        end. wait: until it is over, with a progress bar on a terminal; Ctrl-C deletes it then.

        coupling: as for POST /v1/couplings, with a 'model' or an 'example' for each participant;
        its parameters are 'left/k', or pointers such as '/stepSize', its steps are windows.

        fmu: the id of an uploaded FMU, with start values; its parameters are those that have start
        values, inputs too.

            with server.sweep(example='spring-mass-damper', grid={'k': [1e3, 2e3]}, until=1) as s:
                print(s.results()['k'])

        Keywords, of POST /v1/sweeps:
            model: a model document
            example: or the name of one of /v1/examples
            fmu: or the id of an uploaded FMU
            start: with fmu: start values of inputs and parameters, by name
            coupling: or a coupling of several models
            until: end time, s
            count: or the number of internal steps; of a coupling, the number of windows
            outputs: outputs to record (default all)
        """
        body = {'model': document(model), 'example': example, 'coupling': coupling, 'fmu': fmu,
                'start': start, 'until': until, 'count': count,
                'parameters': sweep_parameters(grid, points), 'outputs': outputs,
                'record': None if every is None else {'every': every}}
        body = {name: value for name, value in body.items() if value is not None}
        sweep = Sweep(self, self.transport.call('POST', 'v1', 'sweeps', body=body).json)
        if not wait:
            return sweep
        with interrupted(sweep.ended):
            return sweep.wait(progress)

    def sweeps(self) -> List[Sweep]:
        """All running or stored sweeps."""
        return [Sweep(self, entry) for entry in self._get('v1', 'sweeps')['items']]

    def couple(self, participants: Mapping[str, Union[str, Instance, Mapping[str, Any]]],
               connections: Sequence[Any] = (), *, step_size: float,
               scheme: Union[str, Mapping[str, Any]] = 'IQN-ILS', **more: Any) -> Coupling:
        """Instances, by their names in the coupling, that exchange values and step together; a
        mapping {'inputs': …, 'outputs': …} describes an external program, which connects by
        `participate`.

        connections: ('left.x', 'right.force'), ('left.x', 'right.force', factor), or objects with
        from, to, factor, offset. more: hold, bonds, adaptive, name, and outputs, those that its
        steps, streams and runs have (default all).

            with server.couple({'left': a, 'right': b}, [('left.x', 'right.force', 100)],
                               step_size=0.01) as pair:
                print(pair.step(until=1).outputs['left.x'])
        """
        body = couple_body(participants, connections, scheme, step_size, more)
        return Coupling(self, self.transport.call('POST', 'v1', 'couplings', body=body).json)

    def couple_package(self, package: Union[str, 'os.PathLike[str]', bytes], *,
                       window: Optional[float] = None, scheme: Optional[str] = None) -> Coupling:
        """A system structure package (.ssp): its FMUs as instances, coupled; a file, or its bytes.
        The server must have been started with --fmus on, and the token needs the scope fmu.

        window: size of a window, s; scheme: how values are exchanged. By default those of the
        package, or the least step size of its FMUs and Jacobi.
        """
        return Coupling(self, self.transport.call(
            'POST', 'v1', 'couplings', body=content(package),
            headers={'Content-Type': 'application/zip'}, window=window, type=scheme).json)

    def couplings(self) -> List[Coupling]:
        """All couplings of the server."""
        return [Coupling(self, entry) for entry in self._get('v1', 'couplings')['items']]

    def participate(self, coupling: Union[str, Coupling], participant: str, *,
                    door: str = 'control', order: int = 0, window: Optional[int] = None,
                    timeout: float = 10.0, returns: float = 30.0,
                    jacobian: bool = False) -> Participant:
        """Connect as an external program of a coupling: the server asks, `Participant.serve`
        answers.

        door: 'control' is ZeroMQ, 'lane' a separate stream socket with less latency. order:
        derivatives of the inputs, the coupling's `hold`. window: the last window that the program
        has committed, if it has been restarted. timeout: longest wait for the reply to the hello,
        s. returns: s for which it tries to reconnect after a lost connection. jacobian: the program
        has a function of that name, whose values Newton schemes use instead of difference
        quotients.

            with server.participate(coupling, 'rig') as rig:
                rig.serve(outputs=…, trial=…, commit=…)
        """
        id = coupling if isinstance(coupling, str) else coupling.id
        entry: Dict[str, Any] = next((p for p in self._get('v1', 'couplings', id)['participants']
                      if p['name'] == participant and 'partner' in p), {})
        hello: Dict[str, Any] = {'coupling': id, 'participant': participant,
                                 'inputOrder': integer(order, 'order')}
        given = {'token': self.transport.token or None,
                 'window': None if window is None else integer(window, 'window'),
                 'want': ['jacobian'] if jacobian else None}
        hello.update({k: v for k, v in given.items() if v is not None})
        return Participant(self.endpoints(), hello, door, (timeout, returns), self.keys,
                           entry.get('partner', {}).get('rollback', True))

    def operation(self, oid: str) -> Operation:
        """A request of `later` by its id, in this or another program."""
        return Operation(self, self.transport.call('GET', 'v1', 'operations', oid).json)

    def later(self, method: str, *parts: str, body: Any = None) -> Union[Operation, Any]:
        """A request that the server may answer later: returns an Operation, or the answer at once.

            server.later('POST', 'v1', 'instances', 'i-1', 'step', body={'until': 100}).wait()
        """
        reply = self.transport.call(method, *parts, body=body,
                                    headers={'Prefer': 'respond-async'})
        if 'Preference-Applied' in reply.headers:
            return Operation(self, reply.json)
        return reply.json if reply.raw else None

    def endpoints(self) -> Dict[str, str]:
        """Addresses of the ZeroMQ sockets as seen from this host."""
        if self._endpoints is None:
            about = self.about()
            given = cast(Dict[str, str], about.get('endpoints', {}))
            self.keys.learn(about.get('serverKey'))
            self._endpoints = {name: self._reached(address) for name, address in given.items()}
        return self._endpoints

    def _reached(self, address: str) -> str:
        # a socket that listens on all addresses is reached at the host of HTTP
        parts = urlsplit(address)
        if parts.scheme == 'tcp' and parts.hostname in ('0.0.0.0', '::', '*'):
            host = self.transport.host
            return 'tcp://%s:%s' % ('[%s]' % host if ':' in host else host, parts.port)
        return address

    def _get(self, *parts: Any, **fields: Any) -> Any:
        return self.transport.call('GET', *parts, **fields).json
