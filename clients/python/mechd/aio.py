"""The client for programs with asyncio: the same objects, whose requests are awaited.

    import asyncio
    import mechd.aio

    async def main():
        async with mechd.aio.Server('http://127.0.0.1:8080') as server:
            a, b = await asyncio.gather(server.create(example='double-pendulum'),
                                        server.create(example='driven-oscillator'))
            steps = await asyncio.gather(a.step(0.01), b.step(0.01))
            print([s.time for s in steps])

    asyncio.run(main())

Each request runs in a thread of this module on a connection of its own; at most 64 run at a time,
further ones wait. When a task is cancelled, what it waits for in the server is stopped where that
is possible (a step, a run, a sweep), and the task ends when that has ended; a request that has not
been sent is not sent. Stopping applies to the instance: where several tasks step one instance, the
command in progress ends, whichever task has sent it. `plain` is the underlying object of `mechd`,
for everything that is not here: `await mechd.aio.call(instance.plain.modes, count=2)`.
"""
from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import os
from typing import (Any, Callable, Dict, Generic, List, Mapping, Optional, Sequence, TypeVar,
                    Union)

from . import instance as plain_instance
from . import replies
from . import runs as plain_runs
from . import server as plain_server
from .errors import Refused
from .many import BatchTable, Sweep, Table
from .runs import Record

T = TypeVar('T')
P = TypeVar('P')


_CALLS: concurrent.futures.ThreadPoolExecutor
_STOPS: concurrent.futures.ThreadPoolExecutor  # they wait for no call
_AGAIN = 0.05  # s between two requests to stop what may only just reach the server
_LEAST, _MOST = 0.005, 0.2  # s between two looks at a run


def _begin() -> None:
    """Threads of this process: a forked one has none of those of its parent."""
    global _CALLS, _STOPS
    _CALLS = concurrent.futures.ThreadPoolExecutor(64, 'mechd-aio')
    _STOPS = concurrent.futures.ThreadPoolExecutor(4, 'mechd-aio-stop')


_begin()
if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_begin)


async def call(function: Callable[..., T], *given: Any, **named: Any) -> T:
    """function(…) in a thread."""
    return await asyncio.get_running_loop().run_in_executor(
        _CALLS, functools.partial(function, *given, **named))


async def stoppable(stop: Callable[[], object], function: Callable[..., T], *given: Any,
                    **named: Any) -> T:
    """The same; a cancelled task calls stop() until the work has ended, or withdraws work that has
    not begun."""
    begun = _CALLS.submit(functools.partial(function, *given, **named))
    work = asyncio.wrap_future(begun)
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        if not begun.cancel():
            await _stop_all(stop, work)
        raise


async def _stop_all(stop: Callable[[], object], work: 'asyncio.Future[Any]') -> None:
    loop = asyncio.get_running_loop()
    while not work.done():
        try:
            await loop.run_in_executor(_STOPS, stop)
        except Exception:  # the work says what there is to say
            pass
        await asyncio.wait({work}, timeout=_AGAIN)
    work.exception()  # seen


class _Wrapped(Generic[P]):
    """What all of these have: the object beneath."""

    def __init__(self, plain: P):
        self.plain = plain

    def __repr__(self) -> str:
        return 'aio.%r' % (self.plain,)


class Run(_Wrapped[plain_runs.Run]):
    """A run in the server: `plain` has its state as of the last look()."""

    async def look(self) -> plain_runs.Run:
        """Fetch its present state."""
        return await call(self.plain.look)

    async def stop(self) -> plain_runs.Run:
        """Stop at a step boundary."""
        return await call(self.plain.stop)

    async def wait(self) -> plain_runs.Run:
        """Wait until it is over; a failed run raises MechdError."""
        pause = _LEAST
        try:
            while (await self.look()).state == 'running':
                await asyncio.sleep(pause)
                pause = min(2 * pause, _MOST)
        except asyncio.CancelledError:
            await asyncio.get_running_loop().run_in_executor(_STOPS, self.plain.stop)
            raise
        return await call(self.plain.wait, progress=False)  # it is over: its reason, if it failed

    async def results(self, outputs: Optional[Sequence[str]] = None, **part: Any) -> Record:
        """The recorded rows; part: start, end (s), limit."""
        return await call(self.plain.results, outputs, **part)


class Instance(_Wrapped[plain_instance.Instance]):
    """An instance on a server. An async with-statement deletes it at its end."""

    @property
    def id(self) -> str:
        return self.plain.id

    async def __aenter__(self) -> 'Instance':
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.delete()

    async def delete(self) -> None:
        """Delete it."""
        await call(self.plain.delete)

    async def step(self, size: Optional[float] = None, **more: Any) -> plain_instance.Step:
        """A communication step, as `mechd.Instance.step`."""
        return await stoppable(self.plain.stop, self.plain.step, size, **more)

    async def trial(self, size: Optional[float] = None, **more: Any) -> plain_instance.Step:
        """A trial step, which does not change the state; `commit(step.trial)` commits it."""
        return await stoppable(self.plain.stop, self.plain.trial, size, **more)

    async def commit(self, trial: Union[int, str]) -> replies.CommitReply:
        """Commit a trial by its number or name."""
        return await call(self.plain.commit, trial)

    async def run(self, until: Optional[float] = None, **more: Any) -> Run:
        """Let the server step by itself, as `mechd.Instance.run`. Returns when the run has begun;
        `await run.wait()` waits for its end."""
        return Run(await call(self.plain.run, until, **{**more, 'wait': False}))

    async def outputs(self) -> Dict[str, Any]:
        """All present outputs, by name."""
        return await call(lambda: self.plain.outputs)

    async def inputs(self) -> Dict[str, Any]:
        """All inputs, by name."""
        return await call(self.plain.inputs.all)

    async def set_inputs(self, **given: Any) -> None:
        """Several inputs in one request."""
        await call(self.plain.inputs.set, given)

    async def set_parameters(self, **given: Any) -> None:
        """Several parameters in one request."""
        await call(self.plain.parameters.set, given)

    async def state(self) -> plain_instance.State:
        """The whole present state."""
        return await call(lambda: self.plain.state)

    async def set_state(self, **parts: Any) -> None:
        """Set the given parts of the state."""
        await call(self.plain.set_state, **parts)

    async def snapshot(self) -> plain_instance.Snapshot:
        """Store the present state in the server."""
        return await call(self.plain.snapshot)

    async def fmu(self, path: Optional[str] = None, version: int = 3,
                  kind: str = 'standalone') -> bytes:
        """The model as an FMU: with the solver, or (kind='proxy') one that connects to a server."""
        return await call(self.plain.fmu, path, version, kind)

    async def restore(self, snapshot: Union[plain_instance.Snapshot, str, bytes]) -> None:
        """Restore a state, to the last bit."""
        await call(self.plain.restore, snapshot)

    async def reset(self) -> None:
        """Reset to the initial state."""
        await call(self.plain.reset)

    async def stop(self) -> bool:
        """Cancel the command in progress."""
        return await call(self.plain.stop)


class Server(_Wrapped[plain_server.Server]):
    """A mechd server: the arguments are those of `mechd.Server`."""

    def __init__(self, url: Optional[str] = None, **more: Any):
        super().__init__(plain_server.Server(url, **more))

    async def __aenter__(self) -> 'Server':
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections; instances stay."""
        await call(self.plain.close)

    async def about(self) -> replies.About:
        """Version, libraries, limits, endpoints."""
        return await call(self.plain.about)

    async def create(self, model: Optional[Mapping[str, Any]] = None, **more: Any) -> Instance:
        """A new instance, as `mechd.Server.create`."""
        return Instance(await call(self.plain.create, model, **more))

    def instance(self, id: str) -> Instance:
        """An instance that exists, by its id."""
        return Instance(self.plain.instance(id))

    async def instances(self, **which: Any) -> List[Instance]:
        """The existing instances, as `mechd.Server.instances`."""
        return [Instance(i) for i in await call(lambda: list(self.plain.instances(**which)))]

    async def batch(self, operation: str, instances: Sequence[Union[str, Instance]],
                    **body: Any) -> List[replies.BatchItemResult]:
        """One operation on many instances in one request."""
        ids = [i if isinstance(i, str) else i.id for i in instances]
        return await call(self.plain.batch, operation, ids, **body)

    async def batch_table(self, operation: str, instances: Sequence[Union[str, Instance]],
                          **body: Any) -> BatchTable:
        """The same, as one array."""
        ids = [i if isinstance(i, str) else i.id for i in instances]
        return await call(self.plain.batch_table, operation, ids, **body)

    async def sweep(self, model: Optional[Mapping[str, Any]] = None, **more: Any) -> Table:
        """The table of a sweep, as `mechd.Server.sweep`, once it is over."""
        found = await call(self.plain.sweep, model, **{**more, 'wait': False})
        try:
            await stoppable(found.delete, found.wait, progress=False)
            return await call(found.results)
        finally:
            await call(_delete, found)


def _delete(sweep: Sweep) -> None:
    """If a cancelled task has not deleted it."""
    try:
        sweep.delete()
    except Refused as e:
        if e.code != 'not-found':
            raise
