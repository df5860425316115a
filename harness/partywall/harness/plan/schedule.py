"""Schedule: lines of probes that run concurrently, barriers between the phases; worlds for paired runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from partywall.canaries import Canary

from .capabilities import Capabilities
from .operation import OPERATIONS
from .probe import Probe
from .promised import Promised
from .trial import HEALTHY, STEADY

ASKING = frozenset({"run_turn", "cached_answer"})
"""Operations in the course of which an agent asks its model."""


@dataclass(frozen=True, slots=True)
class Line:
    """The probes of one client in one phase, in the order they are sent."""

    client: str
    probes: tuple[Probe, ...]


@dataclass(frozen=True, slots=True)
class Phase:
    """Lines that start together and all end before the next phase begins: the end is a barrier."""

    lines: tuple[Line, ...]

    @staticmethod
    def of(probes: Iterable[Probe]) -> Phase:
        """Group probes into one line a client; clients run concurrently."""
        lines: dict[str, list[Probe]] = {}
        for probe in probes:
            lines.setdefault(probe.client, []).append(probe)
        return Phase(tuple(Line(client, tuple(line)) for client, line in lines.items()))


@dataclass(frozen=True, slots=True)
class Schedule:
    """All that one world is put through. `world` names it in paired runs of one seed."""

    phases: tuple[Phase, ...]
    seed: int = 0
    world: str = "main"

    @property
    def probes(self) -> tuple[Probe, ...]:
        """Every probe, phase by phase, line by line."""
        return tuple(probe for phase in self.phases for line in phase.lines for probe in line.probes)

    def under(self, fault: str) -> Schedule:
        """This schedule with the probes that are to be struck naming `fault`.

        Where it marks none, every call that may ask the model is struck: a scenario that was not written for faults
        is put through one as a whole.
        """
        if fault == STEADY:
            return self
        marked = any(probe.faulted for probe in self.probes)

        def struck(probe: Probe) -> Probe:
            wanted = probe.faulted if marked else fault not in HEALTHY and probe.call.op in ASKING
            return replace(probe, call=replace(probe.call, fault=fault)) if wanted else probe

        return replace(
            self,
            phases=tuple(
                Phase(tuple(Line(line.client, tuple(struck(probe) for probe in line.probes)) for line in phase.lines))
                for phase in self.phases
            ),
        )

    def fitted(self, capabilities: Capabilities) -> Schedule:
        """This schedule without the probes that the target cannot answer, its reach as the target declares it, and
        numbers that its promises give in their places.

        A probe that waits for the value of a dropped one is dropped with it.
        """
        kept: set[str] = set()
        phases = []
        for phase in self.phases:
            lines = []
            for line in phase.lines:
                probes = []
                for probe in line.probes:
                    if probe.call.op in capabilities.operations and probe.awaits <= kept and _may(probe, capabilities):
                        kept.add(probe.id)
                        probes += _repeated(_reaching(_promised(probe, capabilities), capabilities), capabilities)
                if probes:
                    lines.append(replace(line, probes=tuple(probes)))
            if lines:
                phases.append(Phase(tuple(lines)))
        return replace(self, phases=tuple(phases))


def _may(probe: Probe, capabilities: Capabilities) -> bool:
    """Where nobody proves who calls, the caller is whoever is addressed: a disagreement cannot be expressed."""
    call = probe.call
    if not probe.needs <= capabilities.offers or probe.instead_of in capabilities.operations:
        return False
    if any(
        isinstance(value, Promised) and value.of(capabilities.promises) is None for value in call.arguments.values()
    ):
        return False
    if OPERATIONS[call.op].operator:
        return True
    if call.credential != "valid":
        return capabilities.authenticates
    return capabilities.authenticates or (call.caller.tenant, call.caller.user) == call.scope.path[:2]


def _promised(probe: Probe, capabilities: Capabilities) -> Probe:
    """The probe with promised numbers for its arguments."""
    given = {
        name: value.of(capabilities.promises)
        for name, value in probe.call.arguments.items()
        if isinstance(value, Promised)
    }
    if not given:
        return probe
    return replace(probe, call=replace(probe.call, arguments={**probe.call.arguments, **given}))


def _repeated(probe: Probe, capabilities: Capabilities) -> list[Probe]:
    """One probe for each time that it is sent: `p7` becomes `p7.1`, `p7.2`, …"""
    if probe.repeat is None:
        return [probe]
    times = probe.repeat.count(capabilities.promises)
    return [replace(probe, id=f"{probe.id}.{number}", repeat=None) for number in range(1, times + 1)]


def _reaching(probe: Probe, capabilities: Capabilities) -> Probe:
    override = capabilities.reach.get(probe.call.op)
    if not override or not probe.sows:
        return probe
    widened: tuple[Canary, ...] = tuple(replace(canary, reach={**canary.reach, **override}) for canary in probe.sows)
    return replace(probe, sows=widened)
