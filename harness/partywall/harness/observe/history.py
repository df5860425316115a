"""History: what happened in one world, self-contained; the only door between driving and judging."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from partywall.canaries import Canary

from ..plan.capabilities import Capabilities
from ..plan.identity import RawPath
from ..plan.trial import Trial
from .outcome import NOT_IMPLEMENTED, Outcome

VERSION = 1


@dataclass(frozen=True, slots=True)
class Header:
    """What the entries cannot be judged without.

    `keyrings` are the run's derived subkeys as records (never the deployment key); `clock` is the wall time of
    the first entry in seconds since 1970, for people only: judging uses `at`.
    """

    trial: Trial
    capabilities: Capabilities
    keyrings: tuple[Mapping[str, str], ...]
    prefix: str
    world: str = "main"
    exercises: tuple[str, ...] = ()
    direction: str = ""
    clock: float = 0.0
    version: int = VERSION


@dataclass(frozen=True, slots=True)
class Sown:
    """`probe` is about to plant `canary`."""

    at: int
    probe: str
    canary: Canary
    entry: Literal["sown"] = "sown"


@dataclass(frozen=True, slots=True)
class Invoked:
    """A call, stamped immediately before it is sent. `at` is in nanoseconds of a monotonic clock."""

    at: int
    probe: str
    client: str
    op: str
    caller: tuple[str, str]
    scope: RawPath
    arguments: Mapping[str, Any] = field(default_factory=dict)
    request_id: str | None = None
    credential: str = "valid"
    twin: str = ""
    entry: Literal["invoked"] = "invoked"


@dataclass(frozen=True, slots=True)
class Completed:
    """The end of a call, stamped after the last byte."""

    at: int
    probe: str
    outcome: Outcome
    entry: Literal["completed"] = "completed"


@dataclass(frozen=True, slots=True)
class Seen:
    """A text observed elsewhere than in a call's value: a prompt at the model, a response header.

    `viewer` is whose observation it is; None where it could not be attributed. `how` says by what evidence;
    `conflict` that two pieces of evidence named different viewers.
    """

    at: int
    channel: str
    text: str
    viewer: RawPath | None
    probe: str | None = None
    how: str = ""
    conflict: bool = False
    entry: Literal["seen"] = "seen"


@dataclass(frozen=True, slots=True)
class Faulted:
    """A fault was due; `delivered` says whether it reached what it was meant for.

    `said` is what it put in the model's
    mouth, credentials redacted, and `mark` the word in it that stands in no other text; both are empty where it said
    nothing.
    """

    at: int
    fault: str
    delivered: bool
    probe: str | None = None
    detail: str = ""
    said: str = ""
    mark: str = ""
    entry: Literal["faulted"] = "faulted"


@dataclass(frozen=True, slots=True)
class Limited:
    """A limit of the harness was hit, so something went unobserved: what is silent here proves nothing."""

    at: int
    what: str
    probe: str | None = None
    entry: Literal["limited"] = "limited"


Entry = Sown | Invoked | Completed | Seen | Faulted | Limited


@dataclass(frozen=True, eq=False)
class History:
    """One world of one trial, in the order in which it was recorded."""

    header: Header
    entries: tuple[Entry, ...]

    @cached_property
    def invocations(self) -> dict[str, Invoked]:
        """Calls by probe."""
        return {entry.probe: entry for entry in self.entries if isinstance(entry, Invoked)}

    @cached_property
    def completions(self) -> dict[str, Completed]:
        """Ends of calls by probe."""
        return {entry.probe: entry for entry in self.entries if isinstance(entry, Completed)}

    @cached_property
    def sown(self) -> tuple[Sown, ...]:
        """Every planting."""
        return tuple(entry for entry in self.entries if isinstance(entry, Sown))

    @cached_property
    def faults(self) -> tuple[Faulted, ...]:
        """Every fault that was due."""
        return tuple(entry for entry in self.entries if isinstance(entry, Faulted))

    @cached_property
    def limits(self) -> tuple[Limited, ...]:
        """Every limit that was hit."""
        return tuple(entry for entry in self.entries if isinstance(entry, Limited))

    @cached_property
    def offered(self) -> frozenset[str]:
        """The operations that the target has, without those that turned out not to be implemented."""
        absent = {
            self.invocations[probe].op
            for probe, completed in self.completions.items()
            if completed.outcome.code == NOT_IMPLEMENTED
        }
        return self.header.capabilities.operations - absent

    @property
    def offers(self) -> frozenset[str]:
        """What a check's need can be met by: offered operations, and `authenticates`."""
        return self.header.capabilities.offers - (self.header.capabilities.operations - self.offered)

    def outcome(self, probe: str) -> Outcome:
        """How a probe's call ended; `info` where no end was recorded."""
        completed = self.completions.get(probe)
        return completed.outcome if completed else Outcome(reason="no end was recorded")
