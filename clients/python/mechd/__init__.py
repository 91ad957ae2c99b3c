"""Client of mechd, a co-simulation server for mechanics.

    import mechd

    with mechd.Server('http://127.0.0.1:8080') as server:
        pendulum = server.create(example='double-pendulum')
        step = pendulum.step(0.01)
        print(step.time, step.outputs)
"""
from .errors import (BadReply, Busy, Conflict, Fault, Forbidden, Invalid, MechdError, NotFound,
                     Refused, StepFailed, Unreachable)
from .instance import Instance, Record, Run, Snapshot, State, Step
from .partner import Forces, Layout, Partner, Sample, Stream
from .server import Problems, Server
from .system import System

__version__ = '0.1.0'
__all__ = ['BadReply', 'Busy', 'Conflict', 'Fault', 'Forbidden', 'Forces', 'Instance', 'Invalid',
           'Layout', 'MechdError', 'NotFound', 'Partner', 'Problems', 'Record', 'Refused', 'Run',
           'Sample', 'Server', 'Snapshot', 'State', 'Step', 'StepFailed', 'Stream', 'System',
           'Unreachable']
