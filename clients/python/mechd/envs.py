"""Many copies of a model as an environment of reinforcement learning, with reset, step
and close as `gymnasium.vector.VectorEnv` has them (which need not be installed), without its
spaces: one request steps all of them.

    import mechd
    from mechd.envs import VectorEnv

    with mechd.Server() as server:
        envs = VectorEnv(server, 'driven-oscillator', 64, period=0.01, most_steps=500,
                         reward=lambda seen, action: -seen[:, 0] ** 2)
        seen, _ = envs.reset(seed=1)
        for _ in range(1000):
            seen, reward, ended, cut, _ = envs.step(policy(seen))
        envs.close()

Needs numpy. Observations [n, outputs] and actions [n, inputs] are float64 arrays, scalars in the
order of `envs.outputs` and `envs.inputs`.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .instance import Instance
from .server import Server
from .pictures import needed
from .values import integer, number

_MOST_COPIES = 10000  # of one batch

Seen = Any  # numpy.ndarray [n, outputs]


class VectorEnv:
    """`count` copies of a model (a document, or the name of an example); each action lasts
    `period` s.

    inputs, outputs: their names (default: all scalar ones). reward(seen, action) -> [n];
    terminated(seen) -> bool [n] (default: never). most_steps: actions after which an episode is
    truncated. start(rng) -> a state {'q': …, 'v': …} with which an episode begins (default: the
    initial state of the model). A copy whose episode has ended begins the next one with the
    following `step`, whose action it ignores, as gymnasium's AutoresetMode.NEXT_STEP. A step that
    fails terminates its episode, with `infos['failed']`.
    """

    def __init__(self, server: Server, model: Union[str, Mapping[str, Any]], count: int, *,
                 period: float, reward: Callable[[Seen, Any], Any],
                 terminated: Optional[Callable[[Seen], Any]] = None,
                 inputs: Optional[Sequence[str]] = None, outputs: Optional[Sequence[str]] = None,
                 most_steps: Optional[int] = None,
                 start: Optional[Callable[[Any], Mapping[str, Any]]] = None):
        self.numpy = needed('numpy', 'mechd.envs')
        self.num_envs = integer(count, 'count')
        if self.num_envs < 1:
            raise ValueError('count: at least one copy is needed, not %d' % self.num_envs)
        if self.num_envs > _MOST_COPIES:
            raise ValueError('count: %d copies; a request steps at most %d' %
                             (self.num_envs, _MOST_COPIES))
        self.period = float(number(period, 'period'))
        self._server, self._reward, self._terminated = server, reward, terminated
        self._start, self._most = start, most_steps
        self._rng = self.numpy.random.default_rng()
        self._instances: List[Instance] = []
        try:
            self._create(model, inputs, outputs)
        except BaseException:
            self.close()
            raise
        self._steps = self.numpy.zeros(self.num_envs, dtype=int)
        self._over = self.numpy.ones(self.num_envs, dtype=bool)
        self._seen = self.numpy.zeros((self.num_envs, len(self.outputs)))

    def _create(self, model: Union[str, Mapping[str, Any]], inputs: Optional[Sequence[str]],
                outputs: Optional[Sequence[str]]) -> None:
        first = self._server.create(example=model) if isinstance(model, str) else \
            self._server.create(model)
        self._instances.append(first)
        sizes = {v['name']: v['shape'] for v in first.variables()}
        info = first.info()
        scalars = {n for n, shape in sizes.items() if not shape}
        self.inputs = [n for n in info['inputs'] if n in scalars] if inputs is None else \
            list(inputs)
        self.outputs = [n for n in info['outputs'] if n in scalars] if outputs is None else \
            list(outputs)
        for name in self.inputs + self.outputs:
            if name not in sizes:
                raise ValueError('%r is neither an input nor an output of the model' % name)
            if name not in scalars:
                raise ValueError('%r has several components: name a scalar' % name)
        while len(self._instances) < self.num_envs:
            self._instances.append(first.clone())

    def __enter__(self) -> 'VectorEnv':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return 'VectorEnv(%d, inputs=%r, outputs=%r)' % (self.num_envs, self.inputs, self.outputs)

    def close(self) -> None:
        """Delete the copies."""
        if self._instances:
            self._batch([{'op': 'delete', 'id': i.id} for i in self._instances], 'full')
        self._instances = []

    def _batch(self, items: List[Dict[str, Any]], results: str) -> Dict[str, Any]:
        found: Dict[str, Any] = self._server.transport.call(
            'POST', 'v1', 'batch', body={'items': items, 'results': results}).json
        return found

    def _begin(self, which: Sequence[int]) -> None:
        """Begin episodes: the initial state, or that of `start`."""
        ids = [self._instances[k].id for k in which]
        replies = self._batch([{'op': 'reset', 'id': i} for i in ids], 'full')['results']
        if self._start is not None:
            replies += self._batch([{'op': 'set-state', 'id': i, **self._start(self._rng)}
                                    for i in ids], 'full')['results']
        for reply in replies:
            if 'error' in reply:
                raise RuntimeError('an episode cannot begin: %s' % reply['error'])
        rows = self._rows([{'op': 'outputs', 'id': i} for i in ids])[0]
        for k, row in zip(which, rows):
            self._seen[k] = row
            self._steps[k] = 0
            self._over[k] = False

    def _rows(self, items: List[Dict[str, Any]]) -> Tuple[Any, Dict[int, Any]]:
        """[n, outputs] after these operations, NaN where one failed, and the faults by index."""
        table = self._batch(items, 'table')
        places = [table['columns'].index(name) for name in self.outputs]
        rows = self.numpy.array([[row[k] for k in places] for row in table['rows']], dtype=float)
        return rows, {e['index']: e['error'] for e in table['errors']}

    def reset(self, *, seed: Optional[int] = None,
              options: Optional[Mapping[str, Any]] = None) -> Tuple[Seen, Dict[str, Any]]:
        """Begin an episode in each copy: (observations, infos). seed: of the random numbers that
        `start` draws."""
        del options
        if seed is not None:
            self._rng = self.numpy.random.default_rng(seed)
        self._begin(range(self.num_envs))
        return self._seen.copy(), {}

    def step(self, actions: Any) -> Tuple[Seen, Any, Any, Any, Dict[str, Any]]:
        """One action in each copy: observations, rewards, terminated, truncated [n], infos.
        actions: [n, inputs], or [n] where there is one input."""
        np = self.numpy
        acted = np.asarray(actions, dtype=float)
        if acted.shape == (self.num_envs, ) and len(self.inputs) == 1:
            acted = acted[:, None]
        if acted.shape != (self.num_envs, len(self.inputs)):
            raise ValueError('actions are [%d, %d] (copies, inputs), not %s' % (
                self.num_envs, len(self.inputs), list(acted.shape)))
        if not np.isfinite(acted).all():
            raise ValueError('an action is not finite')
        fresh = np.flatnonzero(self._over)
        going = np.flatnonzero(~self._over)
        before = self._over.copy()
        faults: Dict[int, Any] = {}
        if len(going):
            rows, faults = self._rows([
                {'op': 'step', 'id': self._instances[k].id, 'size': self.period,
                 'inputs': dict(zip(self.inputs, acted[k].tolist()))} for k in going])
            failed = np.isin(np.arange(len(going)), list(faults))
            self._seen[going[~failed]] = rows[~failed]
            self._steps[going] += 1
        if len(fresh):
            self._begin(fresh.tolist())
        rewards = np.array(self._reward(self._seen, acted), dtype=float).reshape(self.num_envs)
        ended = np.zeros(self.num_envs, dtype=bool) if self._terminated is None else \
            np.array(self._terminated(self._seen), dtype=bool).reshape(self.num_envs)
        cut = np.zeros(self.num_envs, dtype=bool) if self._most is None else \
            self._steps >= self._most
        ended[[going[k] for k in faults]] = True
        # the first step of an episode has neither a reward nor an end
        rewards[before], ended[before] = 0.0, False
        cut &= ~before & ~ended
        self._over = ended | cut
        infos = {'failed': {int(going[k]): fault for k, fault in faults.items()}} if faults else {}
        return self._seen.copy(), rewards, ended, cut, infos
