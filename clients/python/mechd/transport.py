"""HTTP for the other modules: one kept session, problems as exceptions, requests that are sent
again
when their connection is lost.

Every request that may change something carries an Idempotency-Key, one for all its attempts, so
that
the server does it once however often it arrives, and answers each time as the first time.
"""
from __future__ import annotations

import json
import os
import re
import time
import uuid
from typing import Any, Dict, Iterator, Mapping, Optional
from urllib.parse import quote, urlsplit

import requests

from .errors import BadReply, Unreachable, refusal
from .values import plain
from .unix import UnixAdapter

CONNECT = 5.0  # s, to open a connection
_PAUSE = 0.05  # s before the second attempt; doubled before each further one


class Reply:
    """An answer of success."""

    def __init__(self, response: requests.Response):
        self.status, self.headers, self.raw = (response.status_code, response.headers,
                                               response.content)

    @property
    def json(self) -> Any:
        try:
            return json.loads(self.raw)
        except ValueError as fault:
            raise BadReply('the answer is not JSON: %r' % self.raw[:200]) from fault


def word(text: str) -> str:
    """A text as it stands in a list with commas: in double quotes where it needs them."""
    plainly = text and text.strip() == text and not text.startswith('"') and not set(',=') & set(
        text)
    return text if plainly else '"%s"' % text.replace('\\', '\\\\').replace('"', '\\"')


def label_list(labels: Mapping[str, Optional[str]]) -> str:
    """Labels as they choose instances: None, whatever the value."""
    return ','.join(word(name) if value is None else '%s=%s' % (word(name), word(str(value)))
                    for name, value in labels.items())


def query(fields: Mapping[str, Any]) -> Dict[str, str]:
    """Query parameters as text: lists with commas, truth in small letters; None is left out."""
    found = {}
    for name, value in fields.items():
        value = plain(value)
        if isinstance(value, bool):
            found[name] = 'true' if value else 'false'
        elif isinstance(value, list):
            found[name] = ','.join(word(v) if isinstance(v, str) else repr(v) for v in value)
        elif value is not None:
            found[name] = str(value)
    return found


def address(url: str) -> str:
    """The base of requests to a server; ValueError where none can be meant."""
    why = ''
    if url.startswith('unix:'):
        if len(url) > len('unix:'):
            return 'http://localhost'
        why = 'the path is missing'
    else:
        base = (url if '://' in url else 'http://' + url).rstrip('/')
        try:
            parts = urlsplit(base)
            host = parts.hostname or ''
        except ValueError:
            parts, host = None, ''
        if parts is not None and parts.scheme not in ('http', 'https'):
            why = '%s is not spoken here' % parts.scheme
        elif not re.fullmatch(r'[^\s/]+', host):
            why = 'the host is missing or malformed'
        else:
            try:
                if parts is not None and parts.port != 0:
                    return base
            except ValueError:
                pass
            why = 'the port is no number from 1 to 65535'
    raise ValueError('%r is no address of a server, %s: http://host:port, https://host:port or '
                     'unix:/path' % (url, why))


def reason(fault: BaseException) -> str:
    """What the system said beneath an exception of requests, or else its own words."""
    left, seen = [fault], []
    while left:
        at = left.pop(0)
        if isinstance(at, OSError) and at.strerror and \
                not isinstance(at, requests.exceptions.RequestException):
            return at.strerror
        seen.append(at)
        beneath = [getattr(at, 'reason', None), at.__cause__, at.__context__, *at.args]
        left += [b for b in beneath if isinstance(b, BaseException) and b not in seen]
    return str(fault)


class Transport:
    """Not for several threads at once: each takes its own Server."""

    def __init__(self, url: str, token: Optional[str], timeout: float, retries: int):
        self.timeout, self.retries, self.token = timeout, retries, token
        self.session = requests.Session()
        if token:
            self.session.headers['Authorization'] = 'Bearer ' + token
        self.base = address(url)
        self.name = url if url.startswith('unix:') else self.base  # for people
        if url.startswith('unix:'):
            self.session.mount('http://', UnixAdapter(url[len('unix:'):]))
        self.host = urlsplit(self.base).hostname or '127.0.0.1'
        # a proxy of the environment has no business between a program and its own machine
        if self.host in ('127.0.0.1', 'localhost', '::1'):
            self.session.trust_env = False

    def verify(self, file: Optional[str]) -> None:
        """What the certificate of https:// is checked against; None: as it is."""
        if file is not None:
            if not os.path.exists(file):
                raise ValueError('there is no file %s, which verify= or MECHD_CA names' % file)
            self.session.verify = file

    def close(self) -> None:
        self.session.close()

    def url(self, parts: tuple) -> str:
        return '/'.join([self.base] + [quote(str(p), safe='') for p in parts])

    def call(self, method: str, *parts: Any, body: Any = None, headers: Optional[dict] = None,
             **fields: Any) -> Reply:
        """One request. `body`: what JSON can write (None: without), or bytes; fields: the query."""
        head = dict(headers or {})
        data = body
        if body is not None and not isinstance(body, bytes):
            data = json.dumps(plain(body), allow_nan=False).encode()
            head.setdefault('Content-Type', 'application/json')
        if method != 'GET':
            head.setdefault('Idempotency-Key', uuid.uuid4().hex)
        response = self._send(method, self.url(parts), data, head, query(fields))
        if response.status_code >= 400:
            raise refusal(problem_of(response))
        return Reply(response)

    def _send(self, method: str, url: str, data: Optional[bytes], head: Dict[str, str],
              fields: Dict[str, str]) -> requests.Response:
        for attempt in range(self.retries + 1):
            try:
                return self.session.request(method, url, data=data, headers=head, params=fields,
                                            timeout=(CONNECT, self.timeout))
            except requests.exceptions.ReadTimeout as fault:
                raise Unreachable('no answer from %s within %g s' % (self.name, self.timeout)) \
                    from fault
            except (requests.exceptions.ConnectionError,
                    requests.exceptions.ChunkedEncodingError) as fault:
                if attempt == self.retries:
                    raise Unreachable('no connection to %s: %s' %
                                      (self.name, reason(fault))) from fault
                time.sleep(_PAUSE * 2 ** attempt)
        raise AssertionError('not reached')

    def lines(self, *parts: Any, headers: Optional[dict] = None, **fields: Any) -> Iterator[str]:
        """The lines of an endless answer, as they come."""
        try:
            with self.session.get(self.url(parts), params=query(fields), headers=headers,
                                  stream=True, timeout=(CONNECT, self.timeout)) as response:
                if response.status_code >= 400:
                    raise refusal(problem_of(response))
                for line in response.iter_lines(chunk_size=1):
                    yield line.decode()
        except requests.exceptions.RequestException as fault:
            raise Unreachable('the events of %s ended: %s' %
                              (self.name, reason(fault))) from fault


def problem_of(response: requests.Response) -> Dict[str, Any]:
    """The problem document of a refusal, also where something else than mechd refused."""
    try:
        problem = response.json()
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {'title': response.reason or 'refused', 'code': ''}
    return {'status': response.status_code, **problem}
