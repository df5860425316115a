"""What we mean to do: guarantees, identities, operations, probes, schedules, scenarios, trials."""

from .capabilities import AUTHENTICATES, Capabilities
from .channel import INCIDENTAL_CHANNELS, OPERATOR_CHANNELS, SCOPED_CHANNELS, Channel
from .crossing import before, crossing
from .guarantee import Guarantee
from .identity import Address, Identity, RawPath
from .operation import (
    ANY_OBSERVATION,
    ANY_WRITE,
    OBSERVATIONS,
    OPERATIONS,
    WRITES,
    Operation,
    Shape,
    lacking,
    reach_of,
)
from .planting import Planting
from .probe import Call, Probe, ValueOf
from .promised import Promised, promised
from .scenario import Pack, Plan, Scenario
from .schedule import Line, Phase, Schedule
from .script import ARTIFACT, CAS, FACT_KEY, IDEMPOTENT, QUESTION, Script
from .trial import Trial

__all__ = [
    "ANY_OBSERVATION",
    "ANY_WRITE",
    "ARTIFACT",
    "AUTHENTICATES",
    "CAS",
    "FACT_KEY",
    "IDEMPOTENT",
    "INCIDENTAL_CHANNELS",
    "OBSERVATIONS",
    "OPERATIONS",
    "OPERATOR_CHANNELS",
    "QUESTION",
    "SCOPED_CHANNELS",
    "WRITES",
    "Address",
    "Call",
    "Capabilities",
    "Channel",
    "Guarantee",
    "Identity",
    "Line",
    "Operation",
    "Pack",
    "Phase",
    "Plan",
    "Planting",
    "Probe",
    "Promised",
    "RawPath",
    "Scenario",
    "Schedule",
    "Script",
    "Shape",
    "Trial",
    "ValueOf",
    "before",
    "crossing",
    "lacking",
    "promised",
    "reach_of",
]
