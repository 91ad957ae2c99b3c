"""Forked processes of a test, and what each of them asks for."""
import json
import os

TYPES = ('Mass1D', 'Rotor1D', 'Node1D', 'NodePoint')


class Child:
    """A forked process that does `work`; its result, or the words of what it raised."""

    def __init__(self, work):
        self._read, write = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                found = work()
            except BaseException as fault:  # pylint: disable=broad-except
                found = '%s: %s' % (type(fault).__name__, fault)
            os.write(write, json.dumps(found).encode())
            os._exit(0)
        os.close(write)

    def result(self):
        with open(self._read, 'rb') as end:
            found = json.loads(end.read())
        os.waitpid(self._pid, 0)
        return found
