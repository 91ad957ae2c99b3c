"""One instance: steps, values by name, state, snapshots, runs, analyses."""
from __future__ import annotations

import base64
import os
from collections.abc import MutableMapping
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Mapping,
                    NamedTuple, Optional, Sequence, Tuple, Union, cast)

from . import replies
from .lease import Lease
from .partner import Layout, Partner, Stream
from .progress import Bar, Progress
from .runs import Record, Runner, periods
from .system import System
from .values import array, content, is_number, listed, number, value, values

if TYPE_CHECKING:
    from .server import Server


class State(NamedTuple):
    """The whole state; arrays where numpy is installed."""
    time: float
    step: int
    q: Any
    v: Any
    vdot: Any
    a: Any
    lambda_: Any
    impulse: Any
    x: Any
    z: Any


class Step:
    """The result of a step or a trial. time (s), step (internal steps since the start), outputs by
    name, report; energy, derivatives, events, intermediate (columns, rows) and jacobian if
    requested; ended: where it has ended and by what, if it was allowed to return early; trial: its
    number, or None."""

    def __init__(self, instance: 'Instance', reply: Dict[str, Any]):
        self._instance, self.raw = instance, reply
        self.time: float = reply['time']
        self.step: int = reply['step']
        self.outputs: Dict[str, Any] = values(reply['outputs'])
        self.report: replies.Report = reply.get('report', {})
        self.trial: Optional[int] = reply.get('trial')
        self.energy: Optional[float] = reply.get('energy')
        self.events: Optional[List[replies.StepEvent]] = reply.get('events')
        self.more_events: int = reply.get('moreEvents', 0)
        self.ended: Optional[replies.StepEnded] = reply.get('ended')
        derivatives, jacobian = reply.get('derivatives'), reply.get('jacobian')
        self.derivatives: Optional[Dict[str, Any]] = derivatives and values(derivatives)
        within = reply.get('intermediate')
        self.intermediate: Optional[Dict[str, Any]] = within and \
            {**within, 'rows': array(within['rows'])}
        self.jacobian: Optional[Dict[str, Any]] = jacobian and \
            {**jacobian, 'matrix': array(jacobian['matrix'])}

    def __repr__(self) -> str:
        return 'Step(time=%r, step=%r, outputs=%r)' % (self.time, self.step, self.outputs)

    def keep(self, name: str) -> None:
        """Keep this trial, which must be the last one, under a name: it can be committed until
        the state changes, also after further trials."""
        if self.trial is None:
            raise ValueError('this step is not a trial')
        self._instance.post('trials', name=name, trial=self.trial)

    def commit(self) -> replies.CommitReply:
        """Commit this trial."""
        if self.trial is None:
            raise ValueError('this step is not a trial')
        return self._instance.commit(self.trial)


class Snapshot:
    """A state that the server stores for its instance."""

    def __init__(self, instance: 'Instance', reply: Mapping[str, Any]):
        self._instance = instance
        self.id: str = reply['id']
        self.parent: Optional[str] = reply.get('parent')
        self.time: float = reply['time']

    def __repr__(self) -> str:
        return 'Snapshot(%r, time=%r)' % (self.id, self.time)

    def restore(self) -> None:
        """Restore the instance to this state, to the last bit."""
        self._instance.post('snapshots', self.id, 'restore')

    def data(self) -> bytes:
        """The snapshot as bytes, model included, for `create(snapshot=…)` of any server."""
        return cast(bytes, self._instance.call('GET', 'snapshots', self.id).raw)

    def compare(self, to: Union['Snapshot', str], *, absolute: Optional[float] = None,
                relative: Optional[float] = None, most: Optional[int] = None
                ) -> replies.Comparison:
        """What differs between this one and another of the same instance: `items` by name, each
        with `kind`, `name`, `index`, `from`, `to` and `difference`, and `counts` by kind.

        absolute, relative: numbers differ beyond absolute + relative times the larger one. most:
        items of each kind (default 100).
        """
        return cast(replies.Comparison, self._instance.post(
            'snapshots', self.id, 'compare', to=to.id if isinstance(to, Snapshot) else to,
            absoluteTolerance=absolute, relativeTolerance=relative, most=most))

    def save(self, path: str) -> None:
        """Write the bytes to a file."""
        with open(path, 'wb') as f:
            f.write(self.data())

    def delete(self) -> None:
        """Delete it."""
        self._instance.call('DELETE', 'snapshots', self.id)


class Values(MutableMapping[str, Any]):
    """Inputs or parameters by name, read from and written to the server at once."""

    def __init__(self, instance: 'Instance', what: str):
        self._instance, self._what = instance, what

    def all(self) -> Dict[str, Any]:
        """Every value, in one request."""
        return values(self._instance.get(self._what)[self._what])

    def set(self, given: Mapping[str, Any]) -> None:
        """Several values in one request: all of them, or none if one is refused."""
        self._instance.call('PUT', self._what, body={self._what: dict(given)})

    def update(self, *given: Any, **named: Any) -> None:
        """As `dict.update`, in one request."""
        self.set(dict(*given, **named))

    def __getitem__(self, name: str) -> Any:
        return self.all()[name]

    def __setitem__(self, name: str, new: Any) -> None:
        self.set({name: new})

    def __delitem__(self, name: str) -> None:
        raise TypeError('%s of a model cannot be deleted' % self._what)

    def __iter__(self) -> Iterator[str]:
        return iter(self.all())

    def __len__(self) -> int:
        return len(self.all())

    def __repr__(self) -> str:
        return repr(self.all())


class Instance(Runner):
    """An instance on a server. A with-statement deletes it at its end."""

    def __init__(self, server: 'Server', id: str, warnings: Iterable[Mapping[str, Any]] = ()):
        self.server, self.id, self.warnings = server, id, list(warnings)
        self._inputs, self._parameters = Values(self, 'inputs'), Values(self, 'parameters')
        self.system = System(self)
        self._lease: Optional[Lease] = None

    def __enter__(self) -> 'Instance':
        return self

    def __exit__(self, *_: object) -> None:
        self.delete()

    def __repr__(self) -> str:
        return 'Instance(%r)' % self.id

    # --- requests ---------------------------------------------------------------------------------

    def call(self, method: str, *parts: Any, **more: Any) -> Any:
        """A request below /v1/instances/{id}; see Transport.call."""
        if self._lease is not None:
            more['headers'] = {**self._lease.header, **(more.get('headers') or {})}
        return super().call(method, *parts, **more)

    @property
    def place(self) -> Tuple[str, ...]:
        """The words of its path."""
        return 'v1', 'instances', self.id

    # --- life -------------------------------------------------------------------------------------

    def info(self) -> replies.Instance:
        """Name, time, step, sizes, revision, labels, …"""
        return cast(replies.Instance, self.get())

    @property
    def time(self) -> float:
        """Present time, s."""
        return self.info()['time']

    def delete(self) -> None:
        """Delete the instance."""
        self.call('DELETE')

    def clone(self, id: Optional[str] = None, *, labels: Optional[Mapping[str, str]] = None,
              ttl: Optional[float] = None,
              durability: Union[None, str, Mapping[str, Any]] = None) -> 'Instance':
        """A new instance with the same model and state; the given settings replace this one's.

        Keywords, of POST /v1/instances/{id}/clone:
            labels: labels (default those of the original)
            ttl: time to live, s (default that of the original)
            durability: when the state is stored on disk (default that of the original); one of
                none, checkpoint, every-step
        """
        reply = self.post('clone', labels=labels, ttl=ttl, durability=durability, **{'as': id})
        return Instance(self.server, reply['id'], reply.get('warnings', []))

    def edit(self, **changes: Any) -> replies.Instance:
        """Change `labels` (all of them at once) or `ttl` (s); None removes them."""
        return cast(replies.Instance, self.call('PATCH', body=changes).json)

    def reset(self) -> None:
        """Reset to the initial state."""
        self.post('reset')

    def stop(self) -> bool:
        """Cancel the command in progress, which raises StepFailed for its caller; the state is
        the one before it, but the process of a hosted FMU that cannot save its state has ended.
        False: there was none. A run is stopped by its own stop()."""
        return bool(self.post('stop')['stopped'])

    # --- leases -----------------------------------------------------------------------------------

    def lease(self, role: str = 'owner', *channels: str, seconds: Optional[float] = None,
              name: Optional[str] = None) -> Lease:
        """Become its owner, co-driver of the inputs in `channels`, or observer. From here on the
        requests of this object carry the lease. Raises Conflict if another client has it.

        Keywords, of POST /v1/instances/{id}/lease:
            role: role of the holder; one of owner, co-driver, observer
            seconds: idle time after which it expires, 0.01 to 86400 s (default 60)
            name: name of the holder, shown to others (default that of the token)
        """
        reply = self.post('lease', role=role, channels=list(channels) or None, seconds=seconds,
                          name=name)
        self._lease = Lease(self, reply)
        return self._lease

    def show_lease(self, lease: Optional[Lease]) -> None:
        """Send this lease, or none, with each request from here on."""
        self._lease = lease

    def leases(self) -> List[replies.Lease]:
        """The leases of the instance: role, name, channels, seconds, expires, left (s)."""
        return cast(List[replies.Lease], self.get('lease')['items'])

    def break_leases(self, role: str = 'owner') -> None:
        """End the leases of others in this role; needs the scope admin."""
        self.call('DELETE', 'lease', of=role)

    # --- stepping ---------------------------------------------------------------------------------

    def step(self, size: Optional[float] = None, *, until: Optional[float] = None,
             count: Optional[int] = None, inputs: Optional[Mapping[str, Any]] = None,
             input_derivatives: Optional[Mapping[str, Any]] = None,
             input_signals: Optional[Mapping[str, Any]] = None,
             forces: Optional[Mapping[str, Any]] = None,
             outputs: Optional[Sequence[str]] = None,
             want: Optional[Sequence[replies.StepWant]] = None,
             expect_time: Optional[float] = None, trial: bool = False,
             early_return: bool = False) -> Step:
        """Step by `size` s, `until` a time, or `count` internal steps (exactly one of them).

        input_signals: {'polynomial': coefficients} or {'samples': {'times': …, 'values': …}},
        from the start of the step on. trial: do not change the state; `commit()` of the result
        does. A step at another time than expect_time raises Conflict; one that fails is undone and
        raises StepFailed.

        Keywords, of POST /v1/instances/{id}/step:
            size: communication step, s
            until: end time, s
            count: internal steps
            inputs: inputs to set before the step
            input_derivatives: time derivatives for extrapolation
            input_signals: inputs that change over the step; they hold their last value after it
            forces: forces by name of the marker, during this step only
            outputs: outputs in the response (default all)
            expect_time: the step is refused unless the instance is at this time, s
            want: what the response has besides outputs, of the words of replies.StepWant
            early_return: the step ends after the first internal step with an event
        """
        return Step(self, self.post(
            'step', size=size, until=until, count=count, inputs=inputs,
            inputDerivatives=input_derivatives, inputSignals=input_signals, forces=forces,
            outputs=outputs, want=want, expectTime=expect_time, commit=False if trial else None,
            earlyReturn=True if early_return else None))

    def trial(self, size: Optional[float] = None, **more: Any) -> Step:
        """`step` with trial=True."""
        return self.step(size, trial=True, **more)

    def commit(self, trial: Union[int, str]) -> replies.CommitReply:
        """Commit the result of the trial of this number, which must be the last one or be kept,
        or of the one kept under this name."""
        return cast(replies.CommitReply, self.post('commit', trial=trial))

    def hash(self) -> Tuple[int, int]:
        """A hash of all that the next step reads: its upper and its lower 32 bits."""
        high, low = self.get('hash')['hash']
        return int(high), int(low)

    def trials(self) -> List[replies.KeptTrial]:
        """The trials that are kept, oldest first: name, trial, time, bytes."""
        return cast(List[replies.KeptTrial], self.get('trials')['items'])

    def drop_trial(self, name: str) -> None:
        """Drop the trial that is kept under this name."""
        self.call('DELETE', 'trials', name)

    def record(self, until: float, period: float, *, outputs: Optional[Sequence[str]] = None,
               inputs: Optional[Callable[[float], Mapping[str, Any]]] = None,
               progress: Progress = None) -> Record:
        """Step from here `until` a time and record the outputs at the start, after each
        `period` (s) and at the end; inputs: a function of the time that gives the inputs of the
        step that begins there."""
        start, until, period = self.time, number(until, 'until'), number(period, 'period')
        count = periods(start, until, period)
        first = self.outputs
        names = list(first) if outputs is None else listed(outputs, '/outputs')
        times, columns = [start], {name: [first[name]] for name in names}
        with Bar(progress, self.id) as bar:
            for k in range(1, count + 1):
                step = self.step(until=start + k * period if k < count else until, outputs=names,
                                 inputs=None if inputs is None else inputs(times[-1]))
                times.append(step.time)
                for name in names:
                    columns[name].append(step.outputs[name])
                bar.show(k / count)
        return Record(times, columns)

    # --- values -----------------------------------------------------------------------------------

    @property
    def inputs(self) -> Values:
        """`instance.inputs['force'] = 3`; `.update(force=3, torque=1)` in one request."""
        return self._inputs

    @inputs.setter
    def inputs(self, given: Mapping[str, Any]) -> None:
        self._inputs.set(given)

    @property
    def parameters(self) -> Values:
        """`instance.parameters['k'] = 4000`."""
        return self._parameters

    @parameters.setter
    def parameters(self, given: Mapping[str, Any]) -> None:
        self._parameters.set(given)

    @property
    def outputs(self) -> Dict[str, Any]:
        """All present outputs, by name."""
        return values(self.get('outputs')['outputs'])

    @property
    def state(self) -> State:
        """The whole present state."""
        s = self.get('state')
        return State(s['time'], s['step'], *(array(s[name]) for name in (
            'q', 'v', 'vdot', 'a', 'lambda', 'impulse', 'x', 'z')))

    def set_state(self, *, time: Optional[float] = None, q: Optional[Sequence[float]] = None,
                  v: Optional[Sequence[float]] = None, x: Optional[Sequence[float]] = None,
                  z: Optional[Sequence[float]] = None) -> None:
        """Set the given parts; the others stay.

        Keywords, of PUT /v1/instances/{id}/state:
            time: s
            q: total coordinates
            v: velocities
            x: first-order states
            z: data
        """
        given = {'time': time, 'q': q, 'v': v, 'x': x, 'z': z}
        self.call('PUT', 'state', body={k: a for k, a in given.items() if a is not None})

    def variables(self) -> List[replies.Variable]:
        """Inputs, outputs and parameters with units and shapes."""
        return cast(List[replies.Variable], self.get('variables')['items'])

    def output(self, item: str, variable: str, *, category: Optional[str] = None,
               configuration: Optional[str] = None,
               local_position: Optional[Sequence[float]] = None) -> Any:
        """Any output variable of an item.

        Keywords, of GET /v1/instances/{id}/objects/{name}/outputs/{variable}:
            local_position: a point of the body in its local frame: x,y,z in m
            configuration: configuration (default current); one of current, reference, initial,
                startOfStep
            category: category of the item (default objects); one of nodes, objects, markers, loads,
                sensors
        """
        reply = self.get('objects', item, 'outputs', variable, category=category,
                         configuration=configuration, localPosition=local_position)
        return value(reply['value'])

    def set_field(self, item: str, field: str, new: Any, *, category: Optional[str] = None,
                  positions: Optional[str] = None) -> List[float]:
        """Change a field of an item in the model of this instance. Where `active` activates a
        joint, its impulse is returned.

        Keywords, of PUT /v1/instances/{id}/objects/{name}/fields/{field}:
            category: category of the item (default objects); one of nodes, objects, markers, loads,
                sensors, interactions
            positions: when `active` is set to true for a joint: kept (default): positions remain,
                and the request is refused if they violate the joint by more than 1e-6; assembled:
                they are moved to satisfy it; one of kept, assembled
        """
        body = {'value': new, **({'positions': positions} if positions else {})}
        reply = self.call('PUT', 'objects', item, 'fields', field, body=body,
                          category=category).json
        return list(reply.get('impulse', []))

    def model(self) -> Dict[str, Any]:
        """The model document."""
        return cast(Dict[str, Any], self.get('model'))

    def scene(self) -> replies.Scene:
        """Bodies, shapes and frames for a viewer."""
        return cast(replies.Scene, self.get('scene'))

    def fmu(self, path: Optional[str] = None, version: int = 3,
            kind: str = 'standalone') -> bytes:
        """The model with the solver as an FMU for co-simulation, which needs no server and gives
        the same results; FMI 3.0, or 2.0 with version=2. Written to `path`, if given.
        kind='proxy': without the solver; it connects to the lane of a server.

        It starts from the model, not from the present state.
        """
        data = cast(bytes, self.call('GET', 'fmu', version=version, kind=kind).raw)
        if path is not None:
            with open(path, 'wb') as f:
                f.write(data)
        return data

    # --- snapshots --------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Store the state in the server."""
        return Snapshot(self, self.post('snapshots'))

    def snapshots(self) -> List[Snapshot]:
        """The stored snapshots, oldest first."""
        return [Snapshot(self, item) for item in self.get('snapshots')['items']]

    def restore(self, snapshot: Union[Snapshot, str, bytes, 'os.PathLike[str]']) -> None:
        """Restore a snapshot of this instance, given by object or id; or one of another instance
        of the same model, given by object, as its bytes (`Snapshot.data`) or by the path of its
        file."""
        if isinstance(snapshot, Snapshot) and snapshot._instance is not self:
            snapshot = snapshot.data()
        if isinstance(snapshot, (Snapshot, str)):
            sid = snapshot if isinstance(snapshot, str) else snapshot.id
            self.post('snapshots', sid, 'restore')
            return
        data = base64.b64encode(content(snapshot)).decode()
        self.call('PUT', 'state', body={'snapshot': data})

    # --- analyses ---------------------------------------------------------------------------------

    def statics(self, *, load_steps: Optional[int] = None,
                commit: Optional[bool] = None) -> replies.StaticsReply:
        """Static equilibrium.

        Keywords, of POST /v1/instances/{id}/statics:
            load_steps: number of steps in which the loads are applied (default 1)
            commit: False: the state is not changed
        """
        reply = self.post('statics', loadSteps=load_steps, commit=commit)
        return cast(replies.StaticsReply, {**reply, 'outputs': values(reply['outputs']),
                                           'q': array(reply['q'])})

    def modes(self, count: Optional[int] = None, *,
              complex: Optional[bool] = None) -> replies.Modes:
        """The lowest eigenmodes about the present state: `modes` with `frequency` (Hz), `shape`, …

        Keywords, of GET /v1/instances/{id}/modes:
            count: maximum number of modes
            complex: include damping and gyroscopic terms; mode shapes are complex
        """
        reply = self.get('modes', count=count, complex=complex)
        return cast(replies.Modes, {**reply, 'modes': [values(mode) for mode in reply['modes']]})

    def linearization(self) -> replies.Linearization:
        """A, B, C, D about the present state, as arrays."""
        reply = self.get('linearization')
        matrices = {k: array(reply[k])
                    for k in ('A', 'B', 'C', 'D', 'basis', 'velocityBasis') if k in reply}
        return cast(replies.Linearization, {**reply, **matrices})

    def contacts(self) -> List[replies.Contact]:
        """Contacts between bodies in the last step."""
        return [cast(replies.Contact, values(c)) for c in self.get('contacts')['items']]

    def evaluate(self, want: Sequence[replies.Want], *, time: Optional[float] = None,
                 q: Optional[Sequence[float]] = None, v: Optional[Sequence[float]] = None,
                 x: Optional[Sequence[float]] = None, z: Optional[Sequence[float]] = None,
                 sparse: Optional[bool] = None) -> replies.EvaluateReply:
        """The equations at any point (default: the present one), of the words of replies.Want.

        Keywords, of POST /v1/instances/{id}/evaluate:
            want: quantities, of the words of replies.Want
            time: s
            q: coordinates
            v: velocities
            x: first-order states
            z: data of nodes and of linear systems
            sparse: matrices (except rhsJacobian) as shape and coo
        """
        return cast(replies.EvaluateReply, values(self.post(
            'evaluate', want=want, time=time, q=q, v=v, x=x, z=z, sparse=sparse)))

    def jvp(self, size: Optional[float] = None, **more: Any) -> replies.JvpReply:
        """Directional derivatives of a step (size, until or count) along inputs, q, v, x."""
        reply = values(self.post('jvp', size=size, **more))
        return cast(replies.JvpReply, {**reply, 'outputs': values(reply['outputs'])})

    def derivatives(self, *, direction: Optional[Mapping[str, Any]] = None,
                    seed: Optional[Mapping[str, Any]] = None,
                    at: Optional[Mapping[str, Any]] = None,
                    rates: Optional[bool] = None) -> replies.DerivativesReply:
        """Instantaneous derivatives at a point: the answer's 'derivative' has those of qdot, vdot,
        xdot and outputs along the direction, its 'sensitivity' the adjoint of the seed, by q, v,
        x and inputs.

        Keywords, of POST /v1/instances/{id}/derivatives:
            at: the point; omitted values are those of the current state
            direction: direction in the state and the inputs; omitted parts are 0
            seed: weights of the rates and the outputs, for adjoint derivatives; omitted parts are 0
            rates: return the time derivatives of the outputs, as a step does: at the current state,
                even if a point is given
        """
        reply = self.post('derivatives', direction=direction, seed=seed, at=at, rates=rates)
        return cast(replies.DerivativesReply,
                    {key: values(part) if isinstance(part, dict) else part
                     for key, part in reply.items()})

    # --- other interfaces -------------------------------------------------------------------------

    def connect(self, inputs: Optional[Sequence[str]] = None,
                outputs: Optional[Sequence[str]] = None, *, order: int = 0,
                timeout: float = 10.0, role: Optional[str] = None,
                seconds: Optional[float] = None, name: Optional[str] = None,
                want: Sequence[replies.StepWant] = (), door: str = 'control',
                early_return: bool = False) -> Partner:
        """Connect as a lock-step partner, which steps the instance by binary frames; inputs and
        outputs by name (default: all). door: 'control' is ZeroMQ, 'lane' a separate stream socket
        with less latency. want: what steps and trials return after the outputs (Partner.wanted),
        of the words of replies.StepWant. early_return: they end after the first internal
        step with an event (Partner.time, Partner.event). order: 1 or 2: the inputs are followed by
        their first, or first and second derivatives. role, seconds, name: the partner takes its
        own lease (a co-driver: of its inputs); without a role it uses the lease of this object, if
        there is one."""
        info: Mapping[str, Any] = {}
        if inputs is None or outputs is None:
            info = self.info()
        hello: Dict[str, Any] = {
            'instance': self.id, 'inputOrder': order,
            'inputs': listed(info['inputs'] if inputs is None else inputs, '/inputs'),
            'outputs': listed(info['outputs'] if outputs is None else outputs, '/outputs')}
        given = {'token': self.server.transport.token or None, 'role': role, 'seconds': seconds,
                 'name': name, 'want': listed(want, '/want') or None,
                 'earlyReturn': True if early_return else None}
        hello.update({k: v for k, v in given.items() if v is not None})
        lease = self._lease.number if self._lease and role is None else 0
        return Partner(self.server.endpoints(), hello, timeout, lease, self.server.keys, door)

    def stream(self, timeout: Optional[float] = None, *, outputs: Optional[Sequence[str]] = None,
               every: Optional[int] = None) -> Stream:
        """Communication steps as they are committed, over ZeroMQ; timeout: longest wait for a
        frame, s. With outputs or every, only these outputs, and every so many steps: a stream of
        its own, which close() deletes from the server."""
        if outputs is not None or every is not None:
            return self._chosen(timeout, outputs, every)
        return Stream(self.server.endpoints()['stream'], self.id, self._layout(), timeout,
                      self.server.keys, opening=self.server.transport.timeout, look=self._layout)

    def _layout(self) -> Layout:
        """The places of all outputs in a frame of the stream."""
        entries, offset = [], 0
        for v in self.variables():
            if v['causality'] == 'output':
                count = 1
                for n in v['shape']:
                    count *= n
                entries.append({'name': v['name'], 'offset': offset, 'count': count})
                offset += count
        return Layout(entries)
