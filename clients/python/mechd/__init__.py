"""Client of mechd, a co-simulation server for mechanics.

    import mechd

    with mechd.Server('http://127.0.0.1:8080') as server:
        pendulum = server.create(example='double-pendulum')
        step = pendulum.step(0.01)
        print(step.time, step.outputs)
"""
from .couplings import Coupling, CouplingStep
from .errors import (BadReply, Busy, Conflict, Fault, Forbidden, Invalid, MechdError, NotFound,
                     Refused, StepFailed, TimedOut, Unreachable)
from .fmus import Fmu, Fmus
from .instance import Instance, Snapshot, State, Step
from .lease import Lease
from .many import BatchTable, Operation, Sweep, Table
from .participant import Discard, Inputs, Participant
from .partner import Forces, Layout, Partner, Sample, Stream
from .runs import Record, Run
from .server import Problems, Server
from .sse import Event
from .system import System

__version__ = '0.1.0'
__all__ = ['BadReply', 'BatchTable', 'Busy', 'Conflict', 'Coupling', 'CouplingStep', 'Discard',
           'Event', 'Fault', 'Fmu', 'Fmus', 'Forbidden', 'Forces', 'Inputs', 'Instance', 'Invalid',
           'Layout', 'Lease', 'MechdError', 'NotFound', 'Operation', 'Participant', 'Partner',
           'Problems', 'Record', 'Refused', 'Run', 'Sample', 'Server', 'Snapshot', 'State', 'Step',
           'StepFailed', 'Stream', 'Sweep', 'System', 'Table', 'TimedOut', 'Unreachable']
