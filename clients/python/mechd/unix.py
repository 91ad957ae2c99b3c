"""HTTP through a Unix socket, for URLs like unix:/run/mechd.sock."""
from __future__ import annotations

import socket
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool


class _Connection(HTTPConnection):
    def __init__(self, path: str, **more: Any):
        super().__init__('localhost', **more)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(5.0)
        self.sock.connect(self._path)
        self.sock.settimeout(None)


class _Pool(HTTPConnectionPool):
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
