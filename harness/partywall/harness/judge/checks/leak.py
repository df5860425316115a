"""Check `leak`: no scope was shown content of another beyond that content's reach."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from partywall.canaries import Level

from ...observe.history import History
from ...plan.channel import SCOPED_CHANNELS
from ...plan.guarantee import Guarantee
from ...plan.operation import ANY_OBSERVATION, ANY_WRITE
from ..check import Check, conclude
from ..exposure import Exposure, exposure_of, offered_channels
from ..provenance import Sight
from ..testimony import evidence_of, finding, named
from ..verdict import Cell, Control, Finding, Status, Verdict

_CODES = {Level.TENANT: "PW101", Level.USER: "PW102", Level.SESSION: "PW103", Level.TASK: "PW104"}


def judge(history: History) -> Verdict:
    """Violated where a canary stood in an observation outside its reach and was not the observer's own input."""
    exposure = exposure_of(history)
    findings = _findings(exposure)
    controls = {crossing: exposure.control(crossing) for crossing in exposure.crossings}
    cells = _cells(exposure, {crossing: control.passed for crossing, control in controls.items()})
    told = sorted(controls.values(), key=lambda control: (control.channel, control.name))
    if exposure.stale and not findings:
        told.append(_stale(exposure))
    told += _unwatched(exposure) + _unattributed(exposure)
    in_vain = not exposure.crossings and bool(exposure.attempted())
    if in_vain:
        told.append(Control("a write beyond a wall was acknowledged", "", False, "none was, so nothing could leak"))
    if exposure.provenance.limited:
        told.append(Control("every answer was scanned whole", "", False, "a bound of the scanner was hit"))
    return conclude(
        "leak",
        Guarantee.ISOLATION,
        findings,
        told,
        cells=cells,
        covered=bool(exposure.crossings) or in_vain,
        reason="" if exposure.crossings or in_vain else "no scope looked at anything after another had planted content",
        checked=sum(observation.known for observation in exposure.observations),
        total=len(exposure.observations),
    )


def finding_of(sights: Sequence[Sight], prefix: str) -> Finding:
    """The finding that sightings of one owner by one viewer amount to: each crossed, and the first tells of all."""
    first = sights[0]
    seen = first.observation
    assert first.crossed is not None
    level = first.crossed
    owner = first.owner.path if first.owner else None
    whose = f"{named(owner)}'s" if owner else "an unknown owner's"
    times = f" ({len(sights)} times)" if len(sights) > 1 else ""
    wearing = f", wearing {_carrier(first)}" if _carrier(first) != "plain" else ""
    claim = (
        f"{named(seen.viewer)} was shown {whose} canary {first.opened.short} in {seen.channel} "
        f"{'' if seen.op == seen.channel else f'by {seen.op} '}#{seen.probe}{wearing}{times}: crossed {level.name}"
    )
    return finding(
        _CODES[level],
        claim,
        boundary=level.label,
        owner=owner,
        observer=seen.viewer,
        channel=seen.channel,
        carrier=_carrier(first),
        evidence=[evidence_of(sight, prefix) for sight in sights],
        kind=(seen.op, first.opened.kind, _carrier(first)),
    )


def _findings(exposure: Exposure) -> list[Finding]:
    """One finding a code, channel, operation and carrier, and pair of owner and observer."""
    groups: dict[tuple[object, ...], list[Sight]] = defaultdict(list)
    for sight in exposure.sights:
        if sight.crossed is not None:
            seen = sight.observation
            owner = sight.owner.path if sight.owner else None
            groups[sight.crossed, seen.channel, seen.op, _carrier(sight), owner, seen.viewer].append(sight)
    findings = [finding_of(sights, exposure.history.header.prefix) for sights in groups.values()]
    # in an order of their own: which of two concurrent probes ended first must not move a finding in a report
    return sorted(
        findings, key=lambda found: (found.code, found.channel, found.fingerprint, found.owner, found.observer)
    )


def _cells(exposure: Exposure, passed: dict[object, bool]) -> list[Cell]:
    """The matrix of this history: each level that was tried, over each channel that the target shows."""
    leaks: dict[tuple[Level, str], set[str]] = defaultdict(set)
    for sight in exposure.sights:
        if sight.crossed is not None:
            leaks[sight.crossed, sight.observation.channel].add(_carrier(sight))
    tried: dict[tuple[Level, str], list[bool]] = defaultdict(list)
    for crossing in exposure.crossings:
        tried[crossing.level, crossing.channel].append(passed[crossing])
    levels = {level for level, _ in (*tried, *leaks)}
    channels = list(dict.fromkeys([*offered_channels(exposure.history), *(channel for _, channel in leaks)]))
    silent = {control.channel for control in _unwatched(exposure)}
    cells = []
    for level in sorted(levels):
        for channel in channels:
            controls = tried.get((level, channel), [])
            control = bool(controls) and all(controls)
            for carrier in sorted(leaks.get((level, channel), ())):
                cells.append(Cell(level.label, channel, carrier, Status.VIOLATED, control))
            if (level, channel) not in leaks:
                if channel in silent:
                    cells.append(Cell(level.label, channel, "plain", Status.INCONCLUSIVE, False))
                    continue
                cells.append(Cell(level.label, channel, "plain", _clean(controls, control), control))
    return cells


def _clean(controls: list[bool], control: bool) -> Status:
    if not controls:
        return Status.NOT_COVERED
    return Status.HELD if control else Status.INCONCLUSIVE


def _unwatched(exposure: Exposure) -> list[Control]:
    """A watched channel on which nothing came by: an agent that never called the model kept nothing out of a prompt."""
    seen = {observation.channel for observation in exposure.observations}
    if not any(call.op == "run_turn" for call in exposure.history.invocations.values()):
        return []
    return [
        Control(f"anything was seen in {channel}", channel, False, "nothing was: the model was never called")
        for channel in sorted(exposure.history.header.capabilities.watches)
        if channel in SCOPED_CHANNELS and channel not in seen
    ]


def _unattributed(exposure: Exposure) -> list[Control]:
    """A prompt that is nobody's and holds a canary may be anybody's leak."""
    lost = exposure.unattributed
    if not lost:
        return []
    detail = f"{len(lost)} with a canary could not be, first in {lost[0].channel} at {lost[0].at}"
    return [Control("every prompt was attributed to a probe", lost[0].channel, False, detail)]


def _stale(exposure: Exposure) -> Control:
    sight = exposure.stale[0]
    detail = (
        f"{sight.observation.op} #{sight.observation.probe} showed canary {sight.opened.short} before this run planted "
        "it, so the target keeps what earlier runs left; declare it with fresh = False"
    )
    return Control("every canary appears only after it was planted", sight.observation.channel, False, detail)


def _carrier(sight: Sight) -> str:
    return "+".join(sight.decoded) or "plain"


CHECK = Check(
    id="leak",
    title="no scope is shown another's content",
    guarantee=Guarantee.ISOLATION,
    codes=frozenset(_CODES.values()),
    needs=frozenset({ANY_WRITE, ANY_OBSERVATION}),
    judge=judge,
)
