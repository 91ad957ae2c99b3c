"""Leases: which client may change an instance.

    with instance.lease('owner', seconds=30, name='rig'):
        instance.step(0.01)         # no other client changes it here

Requests through the instance carry the lease and renew it; a holder that is inactive for its
seconds loses it, and then its requests raise Conflict.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence

from .errors import Conflict

if TYPE_CHECKING:
    from .instance import Instance


class Lease:
    """A lease that has been taken. number: sent with the requests of the holder.
    role, name, channels, seconds, expires (UTC, as text): as of the last answer."""

    def __init__(self, instance: 'Instance', reply: Dict[str, Any]):
        self._instance = instance
        self.number: int = reply['lease']
        self._take(reply)

    def _take(self, reply: Dict[str, Any]) -> 'Lease':
        self.role: str = reply['role']
        self.name: str = reply['name']
        self.channels: List[str] = reply['channels']
        self.seconds: float = reply['seconds']
        self.expires: str = reply['expires']
        return self

    def __enter__(self) -> 'Lease':
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.release()
        except Conflict:
            pass  # it has ended already

    def __repr__(self) -> str:
        return 'Lease(%s of %s)' % (self.role, self._instance.id)

    def renew(self, *, role: Optional[str] = None, channels: Optional[Sequence[str]] = None,
              seconds: Optional[float] = None, name: Optional[str] = None) -> 'Lease':
        """Renew it, with the given settings."""
        given = {'role': role, 'channels': channels, 'seconds': seconds, 'name': name}
        body = {k: v for k, v in given.items() if v is not None}
        reply = self._instance.call('PATCH', 'lease', body=body, headers=self.header)
        return self._take(reply.json)

    @property
    def header(self) -> Dict[str, str]:
        """The header that carries it in other requests."""
        return {'Lease': str(self.number)}

    def release(self) -> None:
        """Release it; requests through the instance no longer carry it."""
        self._instance.show_lease(None)
        self._instance.call('DELETE', 'lease', headers=self.header)
