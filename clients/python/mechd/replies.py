"""What the server answers, by the names of its interface (openapi.json), as dictionaries.
Printed from there by tests/tools/printed.py --write; numbers in lists are arrays where a method of
the package says so."""
from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

CouplingWant = Literal['energy', 'interface']
StepWant = Literal['derivatives', 'energy', 'events', 'intermediate', 'jacobian']
Want = Literal['lhs', 'rhs', 'forces', 'mass', 'dFdq', 'dFdv', 'firstOrder', 'rhsJacobian',
    'constraints', 'constraintJacobian']


_AboutAlways = TypedDict('_AboutAlways', {
    'name': 'str',
    'version': 'str',
    'compiler': 'str',
    'libraries': 'AboutLibraries',
    'limits': 'AboutLimits',
    'enabled': 'AboutEnabled',
    'endpoints': 'AboutEndpoints',
    'who': 'AboutWho',
    'instances': 'int',
})

_AboutSometimes = TypedDict('_AboutSometimes', {
    'serverKey': 'str',
}, total=False)


class About(_AboutAlways, _AboutSometimes):
    """Version, libraries and limits of the server."""


_AboutEnabledAlways = TypedDict('_AboutEnabledAlways', {
    'engines': 'List[str]',
    'durability': 'List[str]',
    'fmus': 'bool',
    'workers': 'int',
})


class AboutEnabled(_AboutEnabledAlways):
    """What the server is built and configured for."""


_AboutEndpointsAlways = TypedDict('_AboutEndpointsAlways', {
    'http': 'Optional[str]',
    'control': 'Optional[str]',
    'stream': 'Optional[str]',
    'forces': 'Optional[str]',
    'lane': 'Optional[str]',
})


class AboutEndpoints(_AboutEndpointsAlways):
    """Addresses of the server's endpoints; null: not open."""


_AboutLibrariesAlways = TypedDict('_AboutLibrariesAlways', {
    'blas': 'str',
    'jansson': 'str',
    'libmicrohttpd': 'str',
    'zeromq': 'str',
})


class AboutLibraries(_AboutLibrariesAlways):
    """Versions of the libraries of the server."""


_AboutLimitsAlways = TypedDict('_AboutLimitsAlways', {
    'instances': 'int',
    'queue': 'int',
    'body': 'int',
    'model': 'int',
})


class AboutLimits(_AboutLimitsAlways):
    """Limits beyond which requests are refused."""


_AboutWhoAlways = TypedDict('_AboutWhoAlways', {
    'name': 'Optional[str]',
    'scope': "Literal['none', 'read', 'step', 'fmu', 'admin']",
})


class AboutWho(_AboutWhoAlways):
    """The client's token."""


_ActiveAlways = TypedDict('_ActiveAlways', {
    'of': "Literal['interaction', 'joint', 'bodies']",
    'item': 'str',
})

_ActiveSometimes = TypedDict('_ActiveSometimes', {
    'with': 'str',
    'row': 'int',
}, total=False)


class Active(_ActiveAlways, _ActiveSometimes):
    """An active contact, rope or law."""


_BatchItemResultAlways = TypedDict('_BatchItemResultAlways', {
    'status': 'int',
})

_BatchItemResultSometimes = TypedDict('_BatchItemResultSometimes', {
    'index': 'int',
    'id': 'str',
    'body': 'Dict[str, Any]',
    'error': 'Problem',
}, total=False)


class BatchItemResult(_BatchItemResultAlways, _BatchItemResultSometimes):
    """Result of one operation."""


_BatchReplyAlways = TypedDict('_BatchReplyAlways', {
    'failed': 'int',
    'results': 'List[BatchItemResult]',
})


class BatchReply(_BatchReplyAlways):
    """Results in the order of the request."""


_BatchTableAlways = TypedDict('_BatchTableAlways', {
    'columns': 'List[str]',
    'rows': 'List[List[Any]]',
    'failed': 'int',
    'ids': 'List[str]',
    'errors': 'List[BatchItemResult]',
})


class BatchTable(_BatchTableAlways):
    """Time, internal steps and outputs of each instance after its operation."""


_BondLawSometimes = TypedDict('_BondLawSometimes', {
    'stiffness': 'float',
    'damping': 'float',
    'rest': 'float',
    'delay': 'float',
    'impedance': 'float',
}, total=False)


class BondLaw(_BondLawSometimes):
    """A spring (stiffness, damping, rest) or a transmission line (delay, impedance)."""


_CheckReplyAlways = TypedDict('_CheckReplyAlways', {
    'ok': 'bool',
})

_CheckReplySometimes = TypedDict('_CheckReplySometimes', {
    'warnings': 'List[Warning]',
}, total=False)


class CheckReply(_CheckReplyAlways, _CheckReplySometimes):
    """The model is valid."""


_ChosenStreamAlways = TypedDict('_ChosenStreamAlways', {
    'name': 'str',
    'topic': 'str',
    'every': 'int',
    'watched': 'bool',
    'layout': 'List[StreamPart]',
    'layoutHash': 'str',
})


class ChosenStream(_ChosenStreamAlways):
    """A chosen stream: outputs that a client has chosen, sent at an interval that it has
    chosen."""


_CommitReplyAlways = TypedDict('_CommitReplyAlways', {
    'time': 'float',
    'step': 'int',
    'outputs': 'Dict[str, Union[float, List[float]]]',
})


class CommitReply(_CommitReplyAlways):
    """The committed state."""


_ComparedStepsAlways = TypedDict('_ComparedStepsAlways', {
    'from': 'int',
    'to': 'int',
})


class ComparedSteps(_ComparedStepsAlways):
    """Numbers of internal steps of the two snapshots."""


_ComparedTimesAlways = TypedDict('_ComparedTimesAlways', {
    'from': 'float',
    'to': 'float',
})


class ComparedTimes(_ComparedTimesAlways):
    """Times of the two snapshots."""


_ComparisonAlways = TypedDict('_ComparisonAlways', {
    'from': 'str',
    'to': 'str',
    'identical': 'bool',
    'time': 'ComparedTimes',
    'step': 'ComparedSteps',
    'counts': 'Dict[str, int]',
    'items': 'List[Difference]',
})


class Comparison(_ComparisonAlways):
    """What differs between two snapshots."""


_ContactAlways = TypedDict('_ContactAlways', {
    'bodies': 'List[str]',
    'shapes': 'Union[str, List[int]]',
    'point': 'List[float]',
    'normal': 'List[float]',
    'gap': 'float',
    'normalForce': 'float',
    'force': 'List[float]',
    'impulse': 'List[float]',
    'couple': 'List[float]',
})


class Contact(_ContactAlways):
    """One point at which the shapes of two bodies touch."""


_ContactListAlways = TypedDict('_ContactListAlways', {
    'time': 'float',
    'items': 'List[Contact]',
    'next': 'None',
})


class ContactList(_ContactListAlways):
    """Contacts between shapes in the last internal step."""


_CooAlways = TypedDict('_CooAlways', {
    'shape': 'List[int]',
    'coo': 'List[List[float]]',
})


class Coo(_CooAlways):
    """A sparse matrix."""


_CoupleRequestAlways = TypedDict('_CoupleRequestAlways', {
    'participants': 'List[CouplingParticipant]',
    'scheme': 'CouplingScheme',
    'stepSize': 'float',
})

_CoupleRequestSometimes = TypedDict('_CoupleRequestSometimes', {
    'name': 'str',
    'connections': 'List[CouplingConnection]',
    'bonds': 'List[CouplingBond]',
    'hold': 'int',
    'waveform': 'CouplingWaveform',
    'outputs': 'List[str]',
    'adaptive': 'CouplingAdaptive',
}, total=False)


class CoupleRequest(_CoupleRequestAlways, _CoupleRequestSometimes):
    """Participants, their connections, and the scheme by which they step together."""


_CouplingAlways = TypedDict('_CouplingAlways', {
    'id': 'str',
    'name': 'str',
    'time': 'float',
    'windows': 'int',
    'busy': 'bool',
    'running': 'bool',
    'durability': "Literal['none', 'checkpoint', 'every-step']",
    'last': 'Optional[CouplingLast]',
    'scheme': 'str',
    'stepSize': 'float',
    'participants': 'List[CouplingMember]',
    'connections': 'List[str]',
    'layout': 'List[StreamPart]',
})

_CouplingSometimes = TypedDict('_CouplingSometimes', {
    'document': 'CoupleRequest',
}, total=False)


class Coupling(_CouplingAlways, _CouplingSometimes):
    """A coupling."""


_CouplingAdaptiveSometimes = TypedDict('_CouplingAdaptiveSometimes', {
    'relativeTolerance': 'float',
    'absoluteTolerance': 'float',
    'minimum': 'float',
    'maximum': 'float',
}, total=False)


class CouplingAdaptive(_CouplingAdaptiveSometimes):
    """Window sizes controlled by the estimated error of the inputs."""


_CouplingBondAlways = TypedDict('_CouplingBondAlways', {
    'effort': 'List[str]',
    'flow': 'List[str]',
    'law': "Union[Literal['rigid'], BondLaw]",
})

_CouplingBondSometimes = TypedDict('_CouplingBondSometimes', {
    'name': 'str',
    'kind': "Literal['displacement', 'velocity']",
    'gap': 'float',
}, total=False)


class CouplingBond(_CouplingBondAlways, _CouplingBondSometimes):
    """A force that acts on two participants in opposite directions, for the schemes Energy and
    TransmissionLine."""


_CouplingCommitReplyAlways = TypedDict('_CouplingCommitReplyAlways', {
    'time': 'float',
    'window': 'int',
    'outputs': 'Dict[str, Union[float, List[float]]]',
})


class CouplingCommitReply(_CouplingCommitReplyAlways):
    """The committed state."""


_CouplingConnectionAlways = TypedDict('_CouplingConnectionAlways', {
    'from': 'str',
    'to': 'str',
})

_CouplingConnectionSometimes = TypedDict('_CouplingConnectionSometimes', {
    'factor': 'float',
    'offset': 'float',
}, total=False)


class CouplingConnection(_CouplingConnectionAlways, _CouplingConnectionSometimes):
    """An output that drives an input: input += factor * output + offset."""


_CouplingFlowAlways = TypedDict('_CouplingFlowAlways', {
    'power': 'Optional[float]',
    'energy': 'Optional[float]',
    'balance': 'Optional[float]',
})


class CouplingFlow(_CouplingFlowAlways):
    """Power and work of a connection or a bond in this step."""


_CouplingLastAlways = TypedDict('_CouplingLastAlways', {
    'command': "Literal['step', 'trial', 'reset']",
    'windows': 'int',
    'iterations': 'int',
    'evaluations': 'int',
    'residual': 'Optional[float]',
})

_CouplingLastSometimes = TypedDict('_CouplingLastSometimes', {
    'code': 'str',
    'detail': 'str',
}, total=False)


class CouplingLast(_CouplingLastAlways, _CouplingLastSometimes):
    """Outcome of the last command."""


_CouplingListAlways = TypedDict('_CouplingListAlways', {
    'items': 'List[Coupling]',
    'next': 'None',
})


class CouplingList(_CouplingListAlways):
    """Couplings."""


_CouplingMemberAlways = TypedDict('_CouplingMemberAlways', {
    'name': 'str',
})

_CouplingMemberSometimes = TypedDict('_CouplingMemberSometimes', {
    'instance': 'str',
    'partner': 'CouplingProgram',
}, total=False)


class CouplingMember(_CouplingMemberAlways, _CouplingMemberSometimes):
    """An instance or an external program that takes part."""


_CouplingParticipantSometimes = TypedDict('_CouplingParticipantSometimes', {
    'name': 'str',
    'instance': 'str',
    'partner': 'CouplingPartner',
}, total=False)


class CouplingParticipant(_CouplingParticipantSometimes):
    """An instance or an external program that takes part."""


_CouplingPartnerSometimes = TypedDict('_CouplingPartnerSometimes', {
    'inputs': 'List[str]',
    'outputs': 'List[str]',
    'rollback': 'bool',
    'patience': 'float',
}, total=False)


class CouplingPartner(_CouplingPartnerSometimes):
    """An external program that the server calls over ZeroMQ or the lane."""


_CouplingProgramAlways = TypedDict('_CouplingProgramAlways', {
    'inputs': 'List[str]',
    'outputs': 'List[str]',
    'rollback': 'bool',
    'patience': 'float',
    'connected': 'bool',
    'window': 'int',
})


class CouplingProgram(_CouplingProgramAlways):
    """An external program, and whether it is connected."""


_CouplingReportAlways = TypedDict('_CouplingReportAlways', {
    'windows': 'int',
    'iterations': 'int',
    'evaluations': 'int',
    'refused': 'int',
    'residual': 'Dict[str, float]',
})

_CouplingReportSometimes = TypedDict('_CouplingReportSometimes', {
    'interface': 'Dict[str, CouplingFlow]',
    'warnings': 'List[Warning]',
}, total=False)


class CouplingReport(_CouplingReportAlways, _CouplingReportSometimes):
    """Report of a step of a coupling."""


_CouplingRestoredAlways = TypedDict('_CouplingRestoredAlways', {
    'time': 'float',
    'window': 'int',
    'outputs': 'Dict[str, Union[float, List[float]]]',
    'reproducible': 'bool',
})


class CouplingRestored(_CouplingRestoredAlways):
    """The restored state."""


_CouplingSchemeAlways = TypedDict('_CouplingSchemeAlways', {
    'type': 'str',
})

_CouplingSchemeSometimes = TypedDict('_CouplingSchemeSometimes', {
    'relativeTolerance': 'float',
    'absoluteTolerance': 'float',
    'maxIterations': 'int',
    'relaxation': 'float',
    'reuse': 'int',
    'filter': 'float',
    'order': 'List[str]',
}, total=False)


class CouplingScheme(_CouplingSchemeAlways, _CouplingSchemeSometimes):
    """How the participants exchange values in a window."""


_CouplingSnapshotAlways = TypedDict('_CouplingSnapshotAlways', {
    'id': 'str',
    'time': 'float',
    'window': 'int',
    'bytes': 'int',
})


class CouplingSnapshot(_CouplingSnapshotAlways):
    """A saved state of a coupling and of all its instances; stored on disk if the coupling is."""


_CouplingSnapshotListAlways = TypedDict('_CouplingSnapshotListAlways', {
    'items': 'List[CouplingSnapshot]',
    'next': 'None',
})


class CouplingSnapshotList(_CouplingSnapshotListAlways):
    """Snapshots of a coupling, oldest first."""


_CouplingStabilityAlways = TypedDict('_CouplingStabilityAlways', {
    'size': 'float',
    'spectralRadius': 'Optional[float]',
    'stable': 'bool',
    'largestStable': 'Optional[float]',
    'recommended': 'Optional[float]',
    'least': 'float',
    'most': 'float',
})

_CouplingStabilitySometimes = TypedDict('_CouplingStabilitySometimes', {
    'reason': 'str',
}, total=False)


class CouplingStability(_CouplingStabilityAlways, _CouplingStabilitySometimes):
    """Stability of the coupling about the present state, for one window size."""


_CouplingStateAlways = TypedDict('_CouplingStateAlways', {
    'time': 'float',
    'window': 'int',
    'snapshot': 'str',
})


class CouplingState(_CouplingStateAlways):
    """The state of a coupling and of all its instances."""


_CouplingStepReplyAlways = TypedDict('_CouplingStepReplyAlways', {
    'time': 'float',
    'window': 'int',
    'outputs': 'Dict[str, Union[float, List[float]]]',
    'report': 'CouplingReport',
})

_CouplingStepReplySometimes = TypedDict('_CouplingStepReplySometimes', {
    'energy': 'Optional[float]',
    'trial': 'int',
}, total=False)


class CouplingStepReply(_CouplingStepReplyAlways, _CouplingStepReplySometimes):
    """The end of the last window."""


_CouplingWaveformSometimes = TypedDict('_CouplingWaveformSometimes', {
    'degree': 'int',
    'substeps': 'bool',
}, total=False)


class CouplingWaveform(_CouplingWaveformSometimes):
    """Inputs over a window as splines through the driving outputs at their internal steps."""


_DerivativesReplyAlways = TypedDict('_DerivativesReplyAlways', {
    'time': 'float',
    'kinked': 'bool',
})

_DerivativesReplySometimes = TypedDict('_DerivativesReplySometimes', {
    'derivative': 'Unknowns',
    'sensitivity': 'Knowns',
    'rates': 'Dict[str, Union[float, List[float]]]',
}, total=False)


class DerivativesReply(_DerivativesReplyAlways, _DerivativesReplySometimes):
    """Derivatives of the equations at the point."""


_DifferenceAlways = TypedDict('_DifferenceAlways', {
    'kind': 'str',
    'name': 'Optional[str]',
    'index': 'int',
    'from': 'Union[float, str, None]',
    'to': 'Union[float, str, None]',
    'difference': 'Optional[float]',
})


class Difference(_DifferenceAlways):
    """A number that differs between two snapshots."""


_DriftAlways = TypedDict('_DriftAlways', {
    'position': 'float',
    'worstPosition': 'str',
    'velocity': 'float',
    'worstVelocity': 'str',
    'leftOut': 'int',
})


class Drift(_DriftAlways):
    """Constraint violations at the end of a step."""


_DurabilityAlways = TypedDict('_DurabilityAlways', {
    'mode': "Literal['none', 'checkpoint', 'every-step']",
})

_DurabilitySometimes = TypedDict('_DurabilitySometimes', {
    'steps': 'int',
    'seconds': 'float',
}, total=False)


class Durability(_DurabilityAlways, _DurabilitySometimes):
    """When the state is stored on disk."""


_EvaluateReplyAlways = TypedDict('_EvaluateReplyAlways', {
    'time': 'float',
})

_EvaluateReplySometimes = TypedDict('_EvaluateReplySometimes', {
    'lhs': 'List[float]',
    'rhs': 'List[float]',
    'forces': 'List[float]',
    'mass': 'Union[List[List[float]], Coo]',
    'dFdq': 'Union[List[List[float]], Coo]',
    'dFdv': 'Union[List[List[float]], Coo]',
    'firstOrder': 'List[float]',
    'rhsJacobian': 'List[List[float]]',
    'constraints': 'List[float]',
    'constraintJacobian': 'Union[List[List[float]], Coo]',
}, total=False)


class EvaluateReply(_EvaluateReplyAlways, _EvaluateReplySometimes):
    """The requested quantities: vectors, and matrices row by row."""


_ExampleEntryAlways = TypedDict('_ExampleEntryAlways', {
    'name': 'str',
})

_ExampleEntrySometimes = TypedDict('_ExampleEntrySometimes', {
    'title': 'str',
    'doc': 'str',
}, total=False)


class ExampleEntry(_ExampleEntryAlways, _ExampleEntrySometimes):
    """An example model."""


_ExampleListAlways = TypedDict('_ExampleListAlways', {
    'items': 'List[ExampleEntry]',
    'next': 'None',
})


class ExampleList(_ExampleListAlways):
    """Example models."""


_FmuAlways = TypedDict('_FmuAlways', {
    'id': 'str',
    'modelName': 'str',
    'fmiVersion': "Literal['2.0', '3.0']",
    'description': 'str',
    'tool': 'str',
    'owner': 'Optional[str]',
    'bytes': 'int',
    'unpacked': 'int',
    'canSaveState': 'bool',
    'canVaryStep': 'bool',
    'startTime': 'Optional[float]',
    'stopTime': 'Optional[float]',
    'stepSize': 'Optional[float]',
    'variableCount': 'int',
})

_FmuSometimes = TypedDict('_FmuSometimes', {
    'variables': 'List[FmuVariable]',
}, total=False)


class Fmu(_FmuAlways, _FmuSometimes):
    """An uploaded FMU."""


_FmuListAlways = TypedDict('_FmuListAlways', {
    'items': 'List[Fmu]',
    'next': 'None',
})


class FmuList(_FmuListAlways):
    """Uploaded FMUs."""


_FmuVariableAlways = TypedDict('_FmuVariableAlways', {
    'name': 'str',
    'type': 'str',
    'causality': 'str',
    'variability': 'str',
    'reference': 'int',
    'unit': 'str',
    'shown': 'bool',
})

_FmuVariableSometimes = TypedDict('_FmuVariableSometimes', {
    'description': 'str',
    'start': 'Any',
    'minimum': 'float',
    'maximum': 'float',
}, total=False)


class FmuVariable(_FmuVariableAlways, _FmuVariableSometimes):
    """A variable of an FMU, as its model description has it."""


_InputsAlways = TypedDict('_InputsAlways', {
    'time': 'float',
    'inputs': 'Dict[str, Union[float, List[float]]]',
})

_InputsSometimes = TypedDict('_InputsSometimes', {
    'impulses': 'Dict[str, List[float]]',
}, total=False)


class Inputs(_InputsAlways, _InputsSometimes):
    """Values of the inputs."""


_InstanceAlways = TypedDict('_InstanceAlways', {
    'id': 'str',
    'name': 'Optional[str]',
    'time': 'float',
    'step': 'int',
    'stepSize': 'float',
    'running': 'bool',
    'busy': 'bool',
    'revision': 'str',
    'durability': "Union[Literal['none'], Literal['every-step'], Durability]",
})

_InstanceSometimes = TypedDict('_InstanceSometimes', {
    'engine': "Literal['fmu']",
    'labels': 'Dict[str, str]',
    'ttl': 'float',
    'ttlLeft': 'float',
    'warnings': 'List[Warning]',
    'integrator': 'str',
    'sizes': 'Sizes',
    'memory': 'int',
    'inputs': 'List[str]',
    'outputs': 'List[str]',
    'parameters': 'List[str]',
    'run': 'Optional[Run]',
    'reproducible': 'bool',
}, total=False)


class Instance(_InstanceAlways, _InstanceSometimes):
    """An instance."""


_InstanceListAlways = TypedDict('_InstanceListAlways', {
    'items': 'List[Instance]',
    'next': 'Optional[str]',
})


class InstanceList(_InstanceListAlways):
    """Instances."""


_ItemOutputAlways = TypedDict('_ItemOutputAlways', {
    'time': 'float',
    'name': 'str',
    'variable': 'str',
    'configuration': 'str',
    'unit': 'Optional[str]',
    'value': 'List[float]',
})


class ItemOutput(_ItemOutputAlways):
    """An output variable of an item."""


_JacobianAlways = TypedDict('_JacobianAlways', {
    'inputs': 'List[str]',
    'outputs': 'List[str]',
    'matrix': 'List[List[float]]',
    'differenced': 'bool',
    'kinked': 'bool',
    'activeSet': 'List[Active]',
    'activeSetConstant': 'bool',
})

_JacobianSometimes = TypedDict('_JacobianSometimes', {
    'moreActive': 'int',
}, total=False)


class Jacobian(_JacobianAlways, _JacobianSometimes):
    """Partial derivatives of the outputs of the step with respect to the inputs, labelled name or
    name/component. They hold while the active set is the same. Those of a hosted FMU are
    differences of its steps: its active set is not known, and is empty."""


_JvpReplyAlways = TypedDict('_JvpReplyAlways', {
    'time': 'float',
    'steps': 'int',
    'differenced': 'bool',
    'kinked': 'bool',
    'outputs': 'Dict[str, Union[float, List[float]]]',
    'q': 'List[float]',
    'v': 'List[float]',
    'a': 'List[float]',
    'x': 'List[float]',
})


class JvpReply(_JvpReplyAlways):
    """Derivatives at the end of the step along the direction."""


_KeptTrialAlways = TypedDict('_KeptTrialAlways', {
    'name': 'str',
    'trial': 'int',
    'time': 'float',
    'bytes': 'int',
})


class KeptTrial(_KeptTrialAlways):
    """A trial that is kept."""


_KeptTrialListAlways = TypedDict('_KeptTrialListAlways', {
    'items': 'List[KeptTrial]',
    'next': 'None',
})


class KeptTrialList(_KeptTrialListAlways):
    """Trials of an instance that are kept, oldest first."""


_KnownsSometimes = TypedDict('_KnownsSometimes', {
    'q': 'List[float]',
    'v': 'List[float]',
    'x': 'List[float]',
    'inputs': 'Dict[str, Union[float, List[float]]]',
}, total=False)


class Knowns(_KnownsSometimes):
    """Values of the state and of inputs that are not parameters."""


_LeaseAlways = TypedDict('_LeaseAlways', {
    'role': "Literal['owner', 'co-driver', 'observer', 'partner']",
    'name': 'str',
    'channels': 'List[str]',
    'seconds': 'Optional[float]',
    'expires': 'Optional[str]',
    'left': 'Optional[float]',
})

_LeaseSometimes = TypedDict('_LeaseSometimes', {
    'lease': 'int',
}, total=False)


class Lease(_LeaseAlways, _LeaseSometimes):
    """A lease on an instance."""


_LeaseListAlways = TypedDict('_LeaseListAlways', {
    'items': 'List[Lease]',
})


class LeaseList(_LeaseListAlways):
    """Leases of an instance, oldest first."""


_LinearizationAlways = TypedDict('_LinearizationAlways', {
    'time': 'float',
    'sizes': 'LinearizationSizes',
    'inputs': 'List[str]',
    'outputs': 'List[str]',
    'A': 'List[List[float]]',
    'B': 'List[List[float]]',
    'C': 'List[List[float]]',
    'D': 'List[List[float]]',
})

_LinearizationSometimes = TypedDict('_LinearizationSometimes', {
    'basis': 'List[List[float]]',
    'velocityBasis': 'List[List[float]]',
}, total=False)


class Linearization(_LinearizationAlways, _LinearizationSometimes):
    """z' = A z + B u, y = C z + D u about the current state. Without joints and rotations z = [q;
    v; x]. Otherwise z = [xi; eta; x], where the motions are basis * xi (in velocity space:
    body-fixed rotations) and the velocities are velocityBasis * eta."""


_LinearizationSizesAlways = TypedDict('_LinearizationSizesAlways', {
    'q': 'int',
    'v': 'int',
    'x': 'int',
})


class LinearizationSizes(_LinearizationSizesAlways):
    """Sizes of the states of a linearization."""


_LogLevelAlways = TypedDict('_LogLevelAlways', {
    'level': "Literal['error', 'warning', 'info', 'debug']",
})


class LogLevel(_LogLevelAlways):
    """The level of the log."""


_ModeAlways = TypedDict('_ModeAlways', {
    'frequency': 'float',
    'damping': 'float',
    'omega2': 'float',
    're': 'float',
    'im': 'float',
    'residual': 'float',
    'shape': 'List[float]',
})

_ModeSometimes = TypedDict('_ModeSometimes', {
    'imaginary': 'List[float]',
}, total=False)


class Mode(_ModeAlways, _ModeSometimes):
    """One mode; of a conjugate pair, the one with im >= 0."""


_ModesAlways = TypedDict('_ModesAlways', {
    'time': 'float',
    'linear': 'str',
    'speed': 'float',
    'acceleration': 'float',
    'modes': 'List[Mode]',
})


class Modes(_ModesAlways):
    """The lowest modes."""


_OperationAlways = TypedDict('_OperationAlways', {
    'id': 'str',
    'operation': 'str',
    'state': "Literal['running', 'finished']",
})

_OperationSometimes = TypedDict('_OperationSometimes', {
    'status': 'int',
    'location': 'str',
    'etag': 'str',
    'answer': 'Any',
}, total=False)


class Operation(_OperationAlways, _OperationSometimes):
    """A request that continues in the background, as the client preferred."""


_OutputsAlways = TypedDict('_OutputsAlways', {
    'time': 'float',
    'outputs': 'Dict[str, Union[float, List[float]]]',
})


class Outputs(_OutputsAlways):
    """Values of the outputs."""


_ParametersAlways = TypedDict('_ParametersAlways', {
    'time': 'float',
    'parameters': 'Dict[str, float]',
})

_ParametersSometimes = TypedDict('_ParametersSometimes', {
    'impulses': 'Dict[str, List[float]]',
}, total=False)


class Parameters(_ParametersAlways, _ParametersSometimes):
    """Values of the parameters."""


_ProblemAlways = TypedDict('_ProblemAlways', {
    'type': 'str',
    'title': 'str',
    'status': 'int',
    'code': 'str',
    'number': 'int',
})

_ProblemSometimes = TypedDict('_ProblemSometimes', {
    'detail': 'str',
    'errors': 'List[Dict[str, Any]]',
    'moreErrors': 'int',
    'report': 'Union[Report, CouplingReport]',
    'quota': 'Dict[str, Any]',
}, total=False)


class Problem(_ProblemAlways, _ProblemSometimes):
    """The reason why a request was refused (RFC 9457)."""


_QuotaAlways = TypedDict('_QuotaAlways', {
    'token': 'str',
    'limits': 'Dict[str, float]',
    'used': 'Dict[str, float]',
})


class Quota(_QuotaAlways):
    """Limits and current use of a token."""


_ReportAlways = TypedDict('_ReportAlways', {
    'steps': 'int',
    'stepSize': 'float',
    'iterations': 'int',
    'viIterations': 'int',
    'substeps': 'int',
    'refusedSubsteps': 'int',
    'impacts': 'int',
    'residual': 'Optional[float]',
    'contacts': 'int',
    'impactEnergyGain': 'float',
    'linear': 'str',
    'vi': 'str',
    'differenced': 'bool',
})

_ReportSometimes = TypedDict('_ReportSometimes', {
    'joints': 'Drift',
    'warnings': 'List[Warning]',
    'failedTime': 'float',
    'reason': 'str',
}, total=False)


class Report(_ReportAlways, _ReportSometimes):
    """Report of a step."""


_ResultsAlways = TypedDict('_ResultsAlways', {
    'columns': 'List[str]',
    'rows': 'List[List[float]]',
    'next': 'Optional[float]',
})


class Results(_ResultsAlways):
    """Recorded outputs of a run."""


_RunAlways = TypedDict('_RunAlways', {
    'id': 'str',
    'state': 'str',
    'pace': 'float',
    'period': 'float',
    'start': 'float',
    'until': 'Optional[float]',
    'time': 'float',
    'periods': 'int',
    'overruns': 'int',
    'fraction': 'Optional[float]',
    'elapsed': 'float',
    'remaining': 'Optional[float]',
})

_RunSometimes = TypedDict('_RunSometimes', {
    'record': 'RunRecorded',
    'recorded': 'int',
    'reason': 'str',
    'warnings': 'List[Warning]',
}, total=False)


class Run(_RunAlways, _RunSometimes):
    """A run."""


_RunListAlways = TypedDict('_RunListAlways', {
    'items': 'List[Run]',
    'next': 'None',
})


class RunList(_RunListAlways):
    """The last runs."""


_RunRecordedAlways = TypedDict('_RunRecordedAlways', {
    'every': 'int',
    'outputs': 'List[str]',
})

_RunRecordedSometimes = TypedDict('_RunRecordedSometimes', {
    'inputs': 'bool',
    'hash': 'bool',
}, total=False)


class RunRecorded(_RunRecordedAlways, _RunRecordedSometimes):
    """What is recorded of a run."""


_SceneAlways = TypedDict('_SceneAlways', {
    'time': 'float',
    'bodies': 'List[SceneBody]',
    'systems': 'List[SceneSystem]',
})

_SceneSometimes = TypedDict('_SceneSometimes', {
    'contacts': 'int',
}, total=False)


class Scene(_SceneAlways, _SceneSometimes):
    """Bodies with their shapes and frames."""


_SceneBodyAlways = TypedDict('_SceneBodyAlways', {
    'name': 'str',
    'type': 'str',
    'fixed': 'bool',
    'color': 'List[float]',
    'graphics': 'List[SceneGraphic]',
})

_SceneBodySometimes = TypedDict('_SceneBodySometimes', {
    'position': 'List[float]',
    'rotation': 'List[float]',
    'reference': 'List[float]',
    'line': 'List[List[float]]',
}, total=False)


class SceneBody(_SceneBodyAlways, _SceneBodySometimes):
    """A body with its frame."""


_SceneGraphicAlways = TypedDict('_SceneGraphicAlways', {
    'shape': 'str',
    'center': 'List[float]',
    'color': 'List[float]',
})

_SceneGraphicSometimes = TypedDict('_SceneGraphicSometimes', {
    'size': 'List[float]',
    'radius': 'float',
    'normal': 'List[float]',
    'points': 'List[List[float]]',
    'triangles': 'List[List[int]]',
}, total=False)


class SceneGraphic(_SceneGraphicAlways, _SceneGraphicSometimes):
    """A shape in the frame of its body."""


_SceneSystemAlways = TypedDict('_SceneSystemAlways', {
    'name': 'str',
    'type': 'str',
    'coordinates': 'List[float]',
})


class SceneSystem(_SceneSystemAlways):
    """An item without a position in space."""


_SetFieldReplyAlways = TypedDict('_SetFieldReplyAlways', {
    'time': 'float',
    'name': 'str',
    'field': 'str',
    'value': 'Any',
})

_SetFieldReplySometimes = TypedDict('_SetFieldReplySometimes', {
    'impulse': 'List[float]',
}, total=False)


class SetFieldReply(_SetFieldReplyAlways, _SetFieldReplySometimes):
    """The field with its new value."""


_SizesAlways = TypedDict('_SizesAlways', {
    'q': 'int',
    'v': 'int',
    'x': 'int',
    'lambda': 'int',
    'z': 'int',
    'impulse': 'int',
})


class Sizes(_SizesAlways):
    """Sizes of the state."""


_SnapshotAlways = TypedDict('_SnapshotAlways', {
    'id': 'str',
    'parent': 'Optional[str]',
    'time': 'float',
    'bytes': 'int',
})


class Snapshot(_SnapshotAlways):
    """A saved state of an instance."""


_SnapshotListAlways = TypedDict('_SnapshotListAlways', {
    'items': 'List[Snapshot]',
    'current': 'Optional[str]',
    'next': 'None',
})


class SnapshotList(_SnapshotListAlways):
    """Snapshots of an instance, oldest first."""


_SolveReplyAlways = TypedDict('_SolveReplyAlways', {
    'l': 'List[float]',
    'c': 'List[float]',
    'report': 'SolveReport',
})

_SolveReplySometimes = TypedDict('_SolveReplySometimes', {
    'w': 'List[float]',
}, total=False)


class SolveReply(_SolveReplyAlways, _SolveReplySometimes):
    """Solution of the problem."""


_SolveReportAlways = TypedDict('_SolveReportAlways', {
    'solver': 'str',
    'converged': 'bool',
    'iterations': 'int',
    'residual': 'Optional[float]',
    'acceptance': 'Optional[float]',
})

_SolveReportSometimes = TypedDict('_SolveReportSometimes', {
    'certificate': 'List[float]',
}, total=False)


class SolveReport(_SolveReportAlways, _SolveReportSometimes):
    """How a problem was solved."""


_StateAlways = TypedDict('_StateAlways', {
    'time': 'float',
    'step': 'int',
    'q': 'List[float]',
    'v': 'List[float]',
    'vdot': 'List[float]',
    'a': 'List[float]',
    'lambda': 'List[float]',
    'impulse': 'List[float]',
    'x': 'List[float]',
    'z': 'List[float]',
})

_StateSometimes = TypedDict('_StateSometimes', {
    'reproducible': 'bool',
    'snapshot': 'str',
}, total=False)


class State(_StateAlways, _StateSometimes):
    """The state."""


_StateHashAlways = TypedDict('_StateHashAlways', {
    'time': 'float',
    'step': 'int',
    'hash': 'List[float]',
})


class StateHash(_StateHashAlways):
    """A hash of all of the state that the next step reads; it does not include fields of the
    model that have been changed."""


_StaticsReplyAlways = TypedDict('_StaticsReplyAlways', {
    'time': 'float',
    'outputs': 'Dict[str, Union[float, List[float]]]',
    'q': 'List[float]',
    'report': 'StaticsReport',
})


class StaticsReply(_StaticsReplyAlways):
    """The static equilibrium at the present time."""


_StaticsReportAlways = TypedDict('_StaticsReportAlways', {
    'loadSteps': 'int',
    'iterations': 'int',
    'residual': 'float',
    'linear': 'str',
})


class StaticsReport(_StaticsReportAlways):
    """Report of the search for an equilibrium."""


_StepEndedAlways = TypedDict('_StepEndedAlways', {
    'by': "Literal['request', 'event']",
    'lastSuccessfulTime': 'float',
})

_StepEndedSometimes = TypedDict('_StepEndedSometimes', {
    'reason': 'str',
}, total=False)


class StepEnded(_StepEndedAlways, _StepEndedSometimes):
    """Where a step that may return early has ended."""


_StepEventAlways = TypedDict('_StepEventAlways', {
    'kind': 'str',
    'of': 'str',
    'item': 'str',
    'since': 'float',
    'time': 'float',
})

_StepEventSometimes = TypedDict('_StepEventSometimes', {
    'with': 'str',
    'row': 'int',
    'speed': 'float',
}, total=False)


class StepEvent(_StepEventAlways, _StepEventSometimes):
    """An event of a step. It happened between `since` and `time`, which are the same where the
    integrator or a hosted FMU locates it."""


_StepIntermediateAlways = TypedDict('_StepIntermediateAlways', {
    'columns': 'List[str]',
    'rows': 'List[List[float]]',
})

_StepIntermediateSometimes = TypedDict('_StepIntermediateSometimes', {
    'more': 'int',
}, total=False)


class StepIntermediate(_StepIntermediateAlways, _StepIntermediateSometimes):
    """Outputs of a hosted FMU within the step: those that have intermediate update, where the FMU
    reports that it has finished an internal step."""


_StepReplyAlways = TypedDict('_StepReplyAlways', {
    'time': 'float',
    'step': 'int',
    'outputs': 'Dict[str, Union[float, List[float]]]',
    'report': 'Report',
})

_StepReplySometimes = TypedDict('_StepReplySometimes', {
    'impulses': 'Dict[str, List[float]]',
    'trial': 'int',
    'ended': 'StepEnded',
    'events': 'List[StepEvent]',
    'moreEvents': 'int',
    'energy': 'Optional[float]',
    'derivatives': 'Optional[Dict[str, Union[float, List[float]]]]',
    'intermediate': 'StepIntermediate',
    'jacobian': 'Jacobian',
}, total=False)


class StepReply(_StepReplyAlways, _StepReplySometimes):
    """The end of the step."""


_StopReplyAlways = TypedDict('_StopReplyAlways', {
    'stopped': 'bool',
})


class StopReply(_StopReplyAlways):
    """Whether a command was cancelled."""


_StreamListAlways = TypedDict('_StreamListAlways', {
    'items': 'List[ChosenStream]',
    'next': 'None',
})


class StreamList(_StreamListAlways):
    """Chosen streams, oldest first."""


_StreamPartAlways = TypedDict('_StreamPartAlways', {
    'name': 'str',
    'offset': 'int',
    'count': 'int',
})


class StreamPart(_StreamPartAlways):
    """Values of an output in a frame."""


_SweepAlways = TypedDict('_SweepAlways', {
    'id': 'str',
    'name': 'str',
    'state': "Literal['running', 'finished', 'stopped', 'interrupted']",
    'points': 'int',
    'done': 'int',
    'failed': 'int',
    'stored': 'bool',
    'parameters': 'List[str]',
    'outputs': 'List[str]',
})

_SweepSometimes = TypedDict('_SweepSometimes', {
    'errors': 'List[SweepError]',
}, total=False)


class Sweep(_SweepAlways, _SweepSometimes):
    """A sweep and its progress."""


_SweepErrorAlways = TypedDict('_SweepErrorAlways', {
    'point': 'int',
    'code': 'str',
    'message': 'str',
})


class SweepError(_SweepErrorAlways):
    """Error of a point of a sweep."""


_SweepListAlways = TypedDict('_SweepListAlways', {
    'items': 'List[Sweep]',
    'next': 'None',
})


class SweepList(_SweepListAlways):
    """Sweeps."""


_SweepTableAlways = TypedDict('_SweepTableAlways', {
    'columns': 'List[str]',
    'rows': 'List[List[Any]]',
})


class SweepTable(_SweepTableAlways):
    """Rows of the finished points."""


_SystemBlockAlways = TypedDict('_SystemBlockAlways', {
    'variables': 'List[int]',
    'K': 'int',
    'C': 'int',
    'M': 'int',
})


class SystemBlock(_SystemBlockAlways):
    """A stiffness block."""


_SystemBlocksReplyAlways = TypedDict('_SystemBlocksReplyAlways', {
    'time': 'float',
    'level': "Literal['acceleration', 'velocity']",
    'variables': 'List[SystemVariables]',
    'constraints': 'List[SystemConstraint]',
    'blocks': 'List[SystemBlock]',
})


class SystemBlocksReply(_SystemBlocksReplyAlways):
    """The blocks of the descriptor."""


_SystemConstraintAlways = TypedDict('_SystemConstraintAlways', {
    'name': 'str',
    'source': "Literal['joint', 'interaction', 'contact']",
    'row': 'int',
    'kind': 'str',
    'rows': 'int',
    'offset': 'Optional[int]',
    'active': 'bool',
    'flags': 'List[str]',
    'mirrored': 'bool',
    'position': 'float',
    'cfm': 'float',
})

_SystemConstraintSometimes = TypedDict('_SystemConstraintSometimes', {
    'with': 'str',
    'lower': 'Optional[float]',
    'upper': 'Optional[float]',
    'mu': 'float',
    'spinning': 'float',
    'rolling': 'float',
}, total=False)


class SystemConstraint(_SystemConstraintAlways, _SystemConstraintSometimes):
    """Constraint rows whose multipliers are bounded by one set."""


_SystemCountsAlways = TypedDict('_SystemCountsAlways', {
    'velocities': 'int',
    'rows': 'int',
    'variables': 'int',
    'frozen': 'int',
    'masses': 'int',
    'constraints': 'int',
    'blocks': 'int',
})


class SystemCounts(_SystemCountsAlways):
    """Sizes of the descriptor."""


_SystemFactorsAlways = TypedDict('_SystemFactorsAlways', {
    'mass': 'float',
    'stiffness': 'float',
    'damping': 'float',
})


class SystemFactors(_SystemFactorsAlways):
    """Factors in H."""


_SystemFeasibilityAlways = TypedDict('_SystemFeasibilityAlways', {
    'time': 'float',
    'level': "Literal['acceleration', 'velocity']",
    'violation': 'float',
    'complementarity': 'float',
    'balance': 'float',
    'residual': 'Optional[float]',
})


class SystemFeasibility(_SystemFeasibilityAlways):
    """Residuals of given unknowns."""


_SystemPartDescriptionAlways = TypedDict('_SystemPartDescriptionAlways', {
    'name': 'str',
    'doc': 'str',
    'shape': 'List[int]',
})


class SystemPartDescription(_SystemPartDescriptionAlways):
    """A matrix or vector of the descriptor."""


_SystemPartReplyAlways = TypedDict('_SystemPartReplyAlways', {
    'time': 'float',
    'level': "Literal['acceleration', 'velocity']",
    'name': 'str',
    'shape': 'List[int]',
})

_SystemPartReplySometimes = TypedDict('_SystemPartReplySometimes', {
    'rows': 'List[List[float]]',
    'coo': 'List[List[float]]',
    'values': 'List[float]',
}, total=False)


class SystemPartReply(_SystemPartReplyAlways, _SystemPartReplySometimes):
    """A matrix, by rows or by its entries, or a vector."""


_SystemProductReplyAlways = TypedDict('_SystemProductReplyAlways', {
    'time': 'float',
    'level': "Literal['acceleration', 'velocity']",
    'product': 'List[float]',
})


class SystemProductReply(_SystemProductReplyAlways):
    """The result."""


_SystemProjectReplyAlways = TypedDict('_SystemProjectReplyAlways', {
    'time': 'float',
    'level': "Literal['acceleration', 'velocity']",
})

_SystemProjectReplySometimes = TypedDict('_SystemProjectReplySometimes', {
    'l': 'List[float]',
    'unknowns': 'List[float]',
}, total=False)


class SystemProjectReply(_SystemProjectReplyAlways, _SystemProjectReplySometimes):
    """The given vector, with its multipliers projected onto their sets."""


_SystemReplyAlways = TypedDict('_SystemReplyAlways', {
    'time': 'float',
    'level': "Literal['acceleration', 'velocity']",
    'step': 'float',
    'theta': 'float',
    'friction': "Literal['coulomb', 'associated']",
    'factors': 'SystemFactors',
    'linear': 'bool',
    'lumped': 'bool',
    'counts': 'SystemCounts',
    'parts': 'List[SystemPartDescription]',
})


class SystemReply(_SystemReplyAlways):
    """The system descriptor [H -CqT; Cq E] {w; l} - {f; -b} = {0; c} at the present state."""


_SystemVariablesAlways = TypedDict('_SystemVariablesAlways', {
    'name': 'str',
    'mass': 'str',
    'massNumber': 'int',
    'first': 'int',
    'dof': 'int',
    'offset': 'Optional[int]',
    'active': 'bool',
})


class SystemVariables(_SystemVariablesAlways):
    """Unknowns of one node or object."""


_TypeEntryAlways = TypedDict('_TypeEntryAlways', {
    'type': 'str',
    'category': 'str',
    'doc': 'str',
})

_TypeEntrySometimes = TypedDict('_TypeEntrySometimes', {
    'fields': 'List[Dict[str, Any]]',
    'outputs': 'List[str]',
}, total=False)


class TypeEntry(_TypeEntryAlways, _TypeEntrySometimes):
    """An item type, structure, integrator or solver."""


_TypeListAlways = TypedDict('_TypeListAlways', {
    'items': 'List[TypeEntry]',
    'next': 'None',
    'outputVariables': 'List[Dict[str, Any]]',
})


class TypeList(_TypeListAlways):
    """Every type."""


_UnknownsSometimes = TypedDict('_UnknownsSometimes', {
    'qdot': 'List[float]',
    'vdot': 'List[float]',
    'xdot': 'List[float]',
    'outputs': 'Dict[str, Union[float, List[float]]]',
}, total=False)


class Unknowns(_UnknownsSometimes):
    """Values of the rates and the outputs."""


_VariableAlways = TypedDict('_VariableAlways', {
    'name': 'str',
    'causality': "Literal['input', 'output', 'parameter', 'independent']",
    'variability': "Literal['continuous', 'tunable', 'fixed']",
    'unit': 'str',
    'shape': 'List[int]',
    'reference': 'int',
})

_VariableSometimes = TypedDict('_VariableSometimes', {
    'start': 'Union[float, List[float]]',
}, total=False)


class Variable(_VariableAlways, _VariableSometimes):
    """A variable in FMI's terms."""


_VariableListAlways = TypedDict('_VariableListAlways', {
    'items': 'List[Variable]',
    'next': 'None',
})


class VariableList(_VariableListAlways):
    """Every variable."""


_WarningAlways = TypedDict('_WarningAlways', {
    'pointer': 'str',
    'message': 'str',
})


class Warning(_WarningAlways):
    """A warning about a valid model."""
