"""HTTP for the other modules: reused sessions, problems as exceptions, requests that are repeated
when their connection is lost.

Every request that may change something carries an Idempotency-Key, one for all its attempts, so
that the server executes it once however often it arrives, with the same answer each time.
"""
from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import time
import uuid
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union
from urllib.parse import quote, urljoin, urlsplit

import requests

from .errors import BadReply, TimedOut, Unreachable, of_signal, raise_as_it_is, refusal
from .values import integer, number, plain
from .unix import Adapter, UnixAdapter

CONNECT = 5.0  # s, to open a connection
SOON = 1.0  # s for the answer to a request that cancels another one
_MOST_IDLE = 16  # idle sessions that are retained
_LONGEST = 2e6  # s, the longest wait of a socket of ZeroMQ
_DONE = 'but the server had done it before it could be cancelled'
_UNDONE = 'what it had begun is undone'
# of a request that is cancelled, by its path
_REMAINS = ((re.compile(r'/v1/couplings/[^/]+/step$'), 'windows that are committed remain'),
            (re.compile(r'/v1/batch$'), 'items that are done remain'))
_PAUSE = 0.05  # s before the second attempt; doubled before each further one


class Forked(Unreachable):
    """A connection of the parent process; a child opens its own."""


class Reply:
    """A successful answer."""

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
    """A text as an element of a list with commas: in double quotes where it needs them."""
    plainly = text and text.strip() == text and not text.startswith('"') and not set(',=') & set(
        text)
    return text if plainly else '"%s"' % text.replace('\\', '\\\\').replace('"', '\\"')


def label_list(labels: Mapping[str, Optional[str]]) -> str:
    """Labels that select instances: None, any value. ValueError: a list, which no label is."""
    for name, value in labels.items():
        if isinstance(value, (list, tuple, set, frozenset, dict, bytes)):
            raise ValueError('/label/%s: %r is not a string' % (name, value))
    return ','.join(word(name) if value is None else '%s=%s' % (word(name), word(str(value)))
                    for name, value in labels.items())


def run_ended(run: Mapping[str, Any]) -> str:
    """The outcome of a run that was stopped, as text."""
    how = 'been stopped' if run['state'] == 'stopped' else 'ended (%s)' % run['state']
    return 'the run %s has %s at %g s' % (run['id'], how, run['time'])


def what_remains(url: str) -> str:
    """Of a request to this address that was cancelled, as text."""
    path = urlsplit(url).path
    return next((words for of, words in _REMAINS if of.search(path)), _UNDONE)


def query(fields: Mapping[str, Any]) -> Dict[str, str]:
    """Query parameters as text: lists with commas, truth in small letters, whole numbers of any
    type without a point, as counts are read; None is left out. ValueError: what is no text, number
    or list of these."""
    found = {}
    for name, value in fields.items():
        value = plain(value, '/' + name)
        if isinstance(value, bool):
            found[name] = 'true' if value else 'false'
        elif isinstance(value, list):
            found[name] = ','.join(word(v) if isinstance(v, str) else repr(v) for v in value)
        elif isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            found[name] = str(int(value))
        elif value is not None:
            found[name] = str(value)
    return found


def wait(seconds: Any, at: str = 'timeout', least: Optional[float] = None) -> Optional[float]:
    """A timeout in the form of the sockets; None: no limit, as for infinity. least: the shortest
    one; without it any that is greater than 0."""
    if seconds is None or seconds == float('inf'):
        return None
    found = float(number(seconds, at))
    if found <= 0 if least is None else found < least:
        raise ValueError('%s: %r is not a %s number of seconds' % (
            at, seconds, 'positive' if least is None else 'valid'))
    return min(found, _LONGEST)


def address(url: str) -> str:
    """The base of requests to a server; ValueError if it is not an address."""
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
        if '?' in base or '#' in base:
            why = 'it must not contain ? or #'
        elif parts is not None and parts.scheme not in ('http', 'https'):
            why = '%s is not supported here' % parts.scheme
        elif not re.fullmatch(r'[^\s/]+', host):
            why = 'the host is missing or malformed'
        else:
            try:
                if parts is not None and parts.port != 0:
                    return base
            except ValueError:
                pass
            why = 'the port must be a number from 1 to 65535'
    raise ValueError('%r is not an address of a server (%s): http://host:port, https://host:port '
                     'or unix:/path' % (url, why))


def bearer(token: Any) -> Optional[str]:
    """A token without the end of a line behind it, as a file has it. ValueError, without quoting
    it, if it is no visible ASCII."""
    if token is None:
        return None
    if not isinstance(token, str):
        raise ValueError('token: a string is needed, not %s' % type(token).__name__)
    found = token.strip(' \t\r\n')
    for at, letter in enumerate(found, 1):
        if not '!' <= letter <= '~':
            raise ValueError('token, character %d: U+%04X is not allowed; a token consists of '
                             'visible ASCII characters' % (at, ord(letter)))
    return found or None


def reason(fault: BaseException) -> str:
    """The system's text beneath an exception of requests, or else its own text."""
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
    """For any number of threads and forked processes: a request has a session, and with it a
    connection, to itself. Those that are free wait in `_idle`, which belongs to the process
    `_process`: a child of a fork opens its own, and its copies of its parent's are closed."""

    def __init__(self, url: Union[str, 'os.PathLike[str]'], token: Optional[str],
                 timeout: Optional[float], retries: int):
        url = url if isinstance(url, str) else 'unix:' + os.fspath(url)
        self.timeout, self.retries = wait(timeout), integer(retries, 'retries')
        if self.retries < 0:
            raise ValueError('retries: %r is less than 0' % (retries,))
        self.token = bearer(token)
        self.base = address(url)
        self.name = url if url.startswith('unix:') else self.base  # for people
        self.host = urlsplit(self.base).hostname or '127.0.0.1'
        self._verify: Optional[str] = None
        self._process = os.getpid()
        self._idle: List[requests.Session] = []

    def __getstate__(self) -> Dict[str, Any]:
        # for another process: without the connections
        return {**self.__dict__, '_idle': []}

    def _new_session(self) -> requests.Session:
        session = requests.Session()
        for scheme in ('http://', 'https://'):
            session.mount(scheme, Adapter())
        if self.token:
            session.headers['Authorization'] = 'Bearer ' + self.token
        if self._verify is not None:
            session.verify = self._verify
        if self.name.startswith('unix:'):
            session.mount('http://', UnixAdapter(self.name[len('unix:'):]))
        # no proxy of the environment between a program and its own machine
        if self.host in ('127.0.0.1', 'localhost', '::1'):
            session.trust_env = False
        return session

    @contextlib.contextmanager
    def session(self) -> Iterator[requests.Session]:
        """A session for one request. It is closed, not reused, if the request failed."""
        if self._process != os.getpid():
            self._process, inherited, self._idle = os.getpid(), self._idle, []
            for old in inherited:
                old.close()  # the descriptors alone: the parent's connections stay
        idle = self._idle
        try:
            session = idle.pop()  # list.pop and list.append are atomic
        except IndexError:
            session = self._new_session()
        try:
            yield session
        except BaseException:
            session.close()
            raise
        if idle is self._idle and len(idle) < _MOST_IDLE:
            idle.append(session)
        else:
            session.close()

    def verify(self, file: Union[None, str, 'os.PathLike[str]']) -> None:
        """The file that the certificate of https:// is checked against; None: unchanged."""
        if file is not None:
            if not os.path.exists(file):
                raise ValueError('there is no file %s, which verify= or MECHD_CA names' % file)
            self._verify = os.fspath(file)
            self.close()

    def close(self) -> None:
        idle, self._idle = self._idle, []
        for session in idle:
            session.close()

    def url(self, parts: Tuple[Any, ...]) -> str:
        """The address of a path of these names. ValueError: a name that a path cannot have."""
        for part in parts:
            if str(part) in ('', '.', '..'):
                raise ValueError('%r is not an id or a name' % (part,))
        return '/'.join([self.base] + [quote(str(p), safe='') for p in parts])

    def call(self, method: str, *parts: Any, body: Any = None,
             headers: Optional[Dict[str, str]] = None, **fields: Any) -> Reply:
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
        before = sys.exc_info()[1]
        try:
            return self._attempt(method, url, data, head, fields)
        except BaseException as fault:
            own = of_signal(fault, before)
            if own is None and not isinstance(fault, requests.exceptions.ReadTimeout):
                raise
            words = self._withdraw(method, url, data, head, fields)
            if own is None:
                raise TimedOut('no answer from %s within %g s; %s' % (
                    self.name, self.timeout or 0, words)) from fault
            if isinstance(own, KeyboardInterrupt) and not own.args:
                own.args = (words,)
            raise_as_it_is(own)

    def _withdraw(self, method: str, url: str, data: Optional[bytes], head: Dict[str, str],
                  fields: Dict[str, str]) -> str:
        """Cancel an abandoned request, and report what became of it. A
        repetition under its key is the request itself, as an operation, which DELETE cancels."""
        if method == 'GET':
            return 'the server stops working on it, because the connection is closed'
        head = {**head, 'Prefer': 'respond-async'}
        try:
            with contextlib.closing(self._new_session()) as session:
                reply = session.request(method, url, data=data, headers=head, params=fields,
                                        timeout=SOON)
                if reply.status_code == 202 and 'Location' in reply.headers:
                    return self._end(session, reply.headers['Location'], what_remains(url))
                if reply.status_code < 400:
                    return _DONE
                return 'the server refused it: %s' % refusal(problem_of(reply))
        except requests.exceptions.RequestException:
            return 'the server does not answer a request to cancel it either, so that it may be ' \
                   'in progress there'

    def _end(self, session: requests.Session, where: str, rest: str = _UNDONE) -> str:
        """End the operation, run or sweep at this path, and report what became of it; `rest`: of
        one that is cancelled."""
        def delete() -> requests.Response:
            return session.delete(urljoin(self.base, where), timeout=SOON)
        reply = delete()
        if reply.status_code == 204:
            return 'it was still in progress there and has been cancelled; %s' % rest
        if reply.status_code >= 400:
            return 'the server refused it: %s' % refusal(problem_of(reply))
        known = reply.json()
        if not where.startswith('/v1/operations/'):
            return run_ended(known)
        # an operation that has had its effect: its answer comes soon
        until = time.monotonic() + SOON
        while known['state'] == 'running' and time.monotonic() < until:
            time.sleep(_PAUSE)
            reply = delete()
            if reply.status_code != 200:
                break
            known = reply.json()
        if known.get('status', 0) >= 400:
            return 'the server refused it: %s' % refusal(known['answer'])
        made = known.get('location')
        if made and known.get('status') == 202:
            return self._end(session, made)
        return '%s; it made %s' % (_DONE, made) if made else _DONE

    def _attempt(self, method: str, url: str, data: Optional[bytes], head: Dict[str, str],
                 fields: Dict[str, str]) -> requests.Response:
        before = sys.exc_info()[1]
        for attempt in range(self.retries + 1):
            try:
                with self.session() as session:
                    return session.request(method, url, data=data, headers=head, params=fields,
                                           timeout=(CONNECT, self.timeout))
            except requests.exceptions.ReadTimeout:
                raise
            except (requests.exceptions.ConnectionError,
                    requests.exceptions.ChunkedEncodingError) as fault:
                if of_signal(fault, before) is not None:
                    raise
                if attempt == self.retries:
                    raise Unreachable('no connection to %s: %s' %
                                      (self.name, reason(fault))) from fault
                time.sleep(_PAUSE * 2 ** attempt)
        raise AssertionError('not reached')

    def lines(self, *parts: Any, headers: Optional[Dict[str, str]] = None,
              **fields: Any) -> Iterator[str]:
        """The lines of an endless answer, as they arrive. Forked: it was started by the parent of
        this process, whose connection it reads from."""
        process, before = os.getpid(), sys.exc_info()[1]
        try:
            with contextlib.closing(self._new_session()) as session, \
                    session.get(self.url(parts), params=query(fields), headers=headers,
                                stream=True, timeout=(CONNECT, self.timeout)) as response:
                if response.status_code >= 400:
                    raise refusal(problem_of(response))
                for line in response.iter_lines(chunk_size=1):
                    yield line.decode()
                    if os.getpid() != process:
                        raise Forked('the events of %s are read by another process' % self.name)
        except requests.exceptions.RequestException as fault:
            own = of_signal(fault, before)
            if own is not None:
                raise_as_it_is(own)
            raise Unreachable('the events of %s ended: %s' %
                              (self.name, reason(fault))) from fault


def problem_of(response: requests.Response) -> Dict[str, Any]:
    """The problem document of a refusal, also of one by a program other than mechd."""
    try:
        problem = response.json()
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {'title': response.reason or 'refused', 'code': ''}
    return {'status': response.status_code, **problem}
