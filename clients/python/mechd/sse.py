"""Server-sent events that resume at the same place after a lost connection."""
from __future__ import annotations

import json
import time
from typing import Any, Dict, Iterator, NamedTuple, Optional, Sequence

from .errors import Unreachable
from .transport import Forked, Transport

_PAUSE = 0.1  # s before the second attempt; doubled before each further one


class Event(NamedTuple):
    """An event: its name ('message' where it has none), its id or None, its data."""
    name: str
    id: Optional[str]
    data: Any


def parse(lines: Iterator[str]) -> Iterator[Event]:
    """Events from their lines."""
    fields: Dict[str, str] = {}
    for line in lines:
        key, _, value = line.partition(': ')
        if line and not line.startswith(':'):
            fields[key] = value
        elif fields and not line:
            yield Event(fields.get('event', 'message'), fields.get('id'),
                        json.loads(fields['data']))
            fields = {}


def events(transport: Transport, parts: Sequence[Any], last: Optional[str] = None,
           **fields: Any) -> Iterator[Event]:
    """Events up to 'end', which comes too. A lost connection is opened again `retries` times in a
    row, with the last received id sent to the server."""
    failed = 0
    while True:
        head = {} if last is None else {'Last-Event-ID': last}
        try:
            for event in parse(transport.lines(*parts, headers=head, **fields)):
                failed = 0
                last = event.id if event.id is not None else last
                yield event
                if event.name == 'end':
                    return
            fault: Exception = Unreachable('the events of %s ended' % transport.base)
        except Forked:
            continue
        except Unreachable as lost:
            fault = lost
        failed += 1
        if failed > transport.retries:
            raise fault
        time.sleep(_PAUSE * 2 ** (failed - 1))
