"""The harness: plan, drive, observe, judge, report."""

from .errors import ContractError, HistoryError, PartywallError, Refused, ScopeError, TargetError, UsageError
from .judge.verdict import Cell, Control, Evidence, Finding, Judgement, Status, Verdict
from .observe.history import History
from .plan import Call, Guarantee, Identity, Pack, Scenario, Trial
from .run import RunPlan, RunResult, verify

__all__ = [
    "Call",
    "Cell",
    "ContractError",
    "Control",
    "Evidence",
    "Finding",
    "Guarantee",
    "History",
    "HistoryError",
    "Identity",
    "Judgement",
    "Pack",
    "PartywallError",
    "Refused",
    "RunPlan",
    "RunResult",
    "Scenario",
    "ScopeError",
    "Status",
    "TargetError",
    "Trial",
    "UsageError",
    "Verdict",
    "verify",
]
