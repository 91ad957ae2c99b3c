"""FMUs that the server hosts: uploaded once; instances are created from them by their id."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterator, List, Union, cast

from . import replies
from .instance import Instance
from .values import content

if TYPE_CHECKING:
    from .server import Server

_FMI = {'Content-Type': 'application/vnd.fmi'}


class Fmu:
    """An uploaded FMU. `info`: what its model description says, as the server replied."""

    def __init__(self, server: 'Server', info: replies.Fmu):
        self._server, self.info, self.id = server, info, info['id']

    def __repr__(self) -> str:
        return 'Fmu(%r, %r)' % (self.id, self.info['modelName'])

    def create(self, **start: Any) -> Instance:
        """An instance with these start values of inputs and parameters, by name. For names that
        are not identifiers of Python, an id or labels: server.create(fmu=fmu.id, start={…})."""
        return self._server.create(fmu=self.id, start=start)

    def variables(self) -> List[replies.FmuVariable]:
        """Its variables; of an FMU with very many, the first ones."""
        info = self._server.transport.call('GET', 'v1', 'fmus', self.id).json
        return cast(List[replies.FmuVariable], info['variables'])

    def delete(self) -> None:
        """Delete it; its instances continue."""
        self._server.transport.call('DELETE', 'v1', 'fmus', self.id)


class Fmus:
    """The FMUs of a server.

        fmu = server.fmus.upload('controller.fmu')
        instance = fmu.create(gain=2)
    """

    def __init__(self, server: 'Server'):
        self._server = server

    def __repr__(self) -> str:
        return 'Fmus(%r)' % self._server

    def __iter__(self) -> Iterator[Fmu]:
        for info in self._server.transport.call('GET', 'v1', 'fmus').json['items']:
            yield Fmu(self._server, info)

    def __getitem__(self, id: str) -> Fmu:
        return Fmu(self._server, self._server.transport.call('GET', 'v1', 'fmus', id).json)

    def upload(self, fmu: Union[str, 'os.PathLike[str]', bytes]) -> Fmu:
        """An .fmu for co-simulation, FMI 2.0 or 3.0: a file, or its bytes. It is a program: the
        server must have been started with --fmus on, and the token needs the scope fmu."""
        return Fmu(self._server, self._server.transport.call(
            'POST', 'v1', 'fmus', body=content(fmu), headers=_FMI).json)
