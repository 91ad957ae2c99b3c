"""The server: what belongs to no instance."""
from __future__ import annotations

import base64
import os
from typing import Any, Dict, Iterator, List, Mapping, Optional, Union
from urllib.parse import urlsplit

from .instance import Instance, Snapshot
from .transport import Transport
from .values import values


class Problems:
    """Complementarity, friction and mixed problems that stand alone."""

    def __init__(self, transport: Transport):
        self._transport = transport

    def solve(self, problem: Mapping[str, Any]) -> Dict[str, Any]:
        """Solve {"N", "r", …} or {"H", "f", "G", "b", …} by any solver; solution and `report`."""
        reply = self._transport.call('POST', 'v1', 'problems', 'solve',
                                     body={'problem': problem}).json
        return values(reply)


class Server:
    """A mechd server.

        with Server('http://127.0.0.1:8080') as server:
            instance = server.create(example='double-pendulum')

    url: http://host:port, https://…, or unix:/path; None: MECHD_SERVER, or http://127.0.0.1:8080.
    token: bearer token where the server has tokens; None: MECHD_TOKEN. timeout: longest wait for an
    answer, s. retries: attempts after a connection is lost; a request is done once all the same.
    Threads take one Server each.
    """

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None,
                 timeout: float = 60.0, retries: int = 3):
        url = url or os.environ.get('MECHD_SERVER') or 'http://127.0.0.1:8080'
        token = token or os.environ.get('MECHD_TOKEN') or None
        self.transport = Transport(url, token, timeout, retries)
        self.problems = Problems(self.transport)
        self._endpoints: Optional[Dict[str, str]] = None

    def __enter__(self) -> 'Server':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return 'Server(%r)' % self.transport.base

    def close(self) -> None:
        """Close the connections; instances stay."""
        self.transport.close()

    def about(self) -> Dict[str, Any]:
        """Version, libraries, limits, endpoints."""
        return self._get('v1')

    def ready(self) -> bool:
        """Does the server take work?"""
        return self.transport.call('GET', 'readyz').status == 200

    def metrics(self) -> str:
        """Prometheus metrics as text."""
        return self.transport.call('GET', 'metrics').raw.decode()

    def set_log_level(self, level: str) -> None:
        """The daemon's log: error, warning, info or debug."""
        self.transport.call('PUT', 'v1', 'log-level', body={'level': level})

    def openapi(self) -> Dict[str, Any]:
        """The interface as OpenAPI 3.1."""
        return self._get('openapi.json')

    def types(self) -> List[Dict[str, Any]]:
        """Every item, solver and integrator type."""
        return self._get('v1', 'types')['items']

    def type(self, name: str) -> Dict[str, Any]:
        """One type with its fields."""
        return self._get('v1', 'types', name)

    def examples(self) -> Dict[str, str]:
        """Ready models: name and title."""
        return {e['name']: e['title'] for e in self._get('v1', 'examples')['items']}

    def example(self, name: str) -> Dict[str, Any]:
        """The model document of one example."""
        return self._get('v1', 'examples', name)

    def check(self, model: Mapping[str, Any]) -> Dict[str, Any]:
        """Validate a model without an instance; Invalid lists all its faults."""
        return self.transport.call('POST', 'v1', 'models', 'check', body={'model': model}).json

    def create(self, model: Optional[Mapping[str, Any]] = None, *, example: Optional[str] = None,
               snapshot: Union[None, bytes, Snapshot] = None, id: Optional[str] = None,
               durability: Union[None, str, Mapping[str, Any]] = None,
               labels: Optional[Mapping[str, str]] = None, **more: Any) -> Instance:
        """A new instance from exactly one of a model document, an example's name and a snapshot.

        id: of your choice (Conflict if it is taken). durability: none, checkpoint or every-step, or
        {"mode", "steps", "seconds"}. labels: names and texts of your choice. more: further members
        of the request. Warnings about the model stand in `instance.warnings`.
        """
        if isinstance(snapshot, Snapshot):
            snapshot = snapshot.data()
        body: Dict[str, Any] = {
            'model': model, 'example': example, 'durability': durability, 'labels': labels,
            'snapshot': None if snapshot is None else base64.b64encode(snapshot).decode(), **more}
        body = {name: value for name, value in body.items() if value is not None}
        path = ('v1', 'instances') if id is None else ('v1', 'instances', id)
        reply = self.transport.call('POST' if id is None else 'PUT', *path, body=body).json
        return Instance(self, reply['id'], reply.get('warnings', []))

    def instance(self, id: str) -> Instance:
        """An instance that exists."""
        return Instance(self, self._get('v1', 'instances', id)['id'])

    def instances(self) -> Iterator[Instance]:
        """All instances, page by page."""
        after: Optional[int] = None
        while True:
            page = self._get('v1', 'instances', after=after)
            for entry in page['items']:
                yield Instance(self, entry['id'])
            after = page.get('next')
            if after is None:
                return

    def endpoints(self) -> Dict[str, str]:
        """The ZeroMQ sockets, as they are reached from here."""
        if self._endpoints is None:
            given = self.about().get('endpoints', {})
            self._endpoints = {name: self._reached(address) for name, address in given.items()}
        return self._endpoints

    def _reached(self, address: str) -> str:
        # a socket that listens everywhere is reached where HTTP was
        parts = urlsplit(address)
        if parts.scheme == 'tcp' and parts.hostname in ('0.0.0.0', '::', '*'):
            return 'tcp://%s:%s' % (self.transport.host, parts.port)
        return address

    def _get(self, *parts: Any, **fields: Any) -> Any:
        return self.transport.call('GET', *parts, **fields).json
