"""What is beneath a session of requests: pools without locks, and HTTP through a Unix socket, for
URLs like unix:/run/mechd.sock."""
from __future__ import annotations

import queue
import socket
from typing import Any, List, Optional

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool


class _Shelf:
    """Idle connections, as queue.LifoQueue has them. A signal that raises while that takes its lock
    leaves it locked for ever; a session, and with it a pool, belongs to one thread at a time."""

    def __init__(self, maxsize: int = 0):
        self._most = maxsize
        self._items: List[Any] = []

    def put(self, item: Any, block: bool = True, timeout: Optional[float] = None) -> None:
        if len(self._items) >= self._most:
            raise queue.Full
        self._items.append(item)

    def get(self, block: bool = True, timeout: Optional[float] = None) -> Any:
        if not self._items:
            raise queue.Empty
        return self._items.pop()

    def qsize(self) -> int:
        return len(self._items)


class _Plain(HTTPConnectionPool):
    QueueCls = _Shelf


class _Secure(HTTPSConnectionPool):
    QueueCls = _Shelf


_POOLS = {'http': _Plain, 'https': _Secure}


class Adapter(HTTPAdapter):
    """Mounted for http:// and https:// of a session."""

    def init_poolmanager(self, *given: Any, **named: Any) -> None:
        super().init_poolmanager(*given, **named)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, *given: Any, **named: Any) -> Any:
        manager = super().proxy_manager_for(*given, **named)
        manager.pool_classes_by_scheme = _POOLS
        return manager


class _Connection(HTTPConnection):
    def __init__(self, path: str, **more: Any):
        super().__init__('localhost', **more)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(5.0)
        self.sock.connect(self._path)
        self.sock.settimeout(None)


class _Pool(_Plain):
    def __init__(self, path: str):
        super().__init__('localhost', maxsize=4)
        self._path = path

    def _new_conn(self) -> _Connection:
        return _Connection(self._path)


class UnixAdapter(HTTPAdapter):
    """Mounted for http:// of a session: whatever the host, the socket is taken."""

    def __init__(self, path: str):
        super().__init__()
        self._pool = _Pool(path)

    def get_connection(self, url: Any, proxies: Any = None) -> Any:
        return self._pool

    def get_connection_with_tls_context(self, request: Any, verify: Any, proxies: Any = None,
                                        cert: Any = None) -> Any:
        return self._pool

    def request_url(self, request: Any, proxies: Any) -> str:
        return str(request.path_url)

    def close(self) -> None:
        self._pool.close()
