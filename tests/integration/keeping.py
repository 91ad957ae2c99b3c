"""Daemons whose state directory stays when they end."""
import os
import signal
import harness
from harness import Daemon

KILLS = int(os.environ.get('MECHD_TESTS_KILLS', '10'))


class Kept(Daemon):
    """A daemon on a state directory that stays when it ends."""

    def __init__(self, folder, *arguments, **more):
        super().__init__('--state', folder, *arguments, **more)

    def kill(self):
        os.kill(self.pid(), signal.SIGKILL)
        self.process.wait(10 * harness.SLOW)
        fault = harness.SANITIZER.search(self.log())
        self._remove()
        assert fault is None, fault
