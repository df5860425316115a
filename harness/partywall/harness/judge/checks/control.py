"""Check `control`: whoever looked through a channel can see its own content there, and the detector fires."""

from __future__ import annotations

from collections import defaultdict

from ...observe.history import History
from ...plan.guarantee import Guarantee
from ...plan.identity import RawPath
from ...plan.operation import ANY_OBSERVATION, ANY_WRITE
from ..check import Check, conclude
from ..exposure import Crossing, Exposure, exposure_of, offered_channels
from ..verdict import Control, Verdict


def judge(history: History) -> Verdict:
    """Inconclusive where a channel that the target offers was looked through and never showed its viewer's own
    canary; it is never violated: a blind channel is no fault of isolation, only no proof of it."""
    exposure = exposure_of(history)
    outermost = min(exposure.provenance.dimensions)
    looked: dict[str, set[RawPath]] = defaultdict(set)
    for observation in exposure.observations:
        answered = observation.known and not observation.denied
        if observation.caller == observation.viewer[:2] and answered and observation.viewer not in exposure.refused:
            looked[observation.channel].add(observation.viewer)
    controls: list[Control] = []
    for channel in offered_channels(history):
        viewers = looked.get(channel, set())
        controls += [exposure.control(Crossing(outermost, channel, viewer)) for viewer in sorted(viewers, key=str)]
        if not viewers and _was_tried(history, exposure, channel):
            controls.append(
                Control(f"somebody sees anything by {channel}", channel, False, "every look was refused or lost")
            )
    return conclude(
        "control",
        Guarantee.ISOLATION,
        (),
        controls,
        covered=bool(controls),
        reason="" if controls else "nobody looked through any channel",
    )


def _was_tried(history: History, exposure: Exposure, channel: str) -> bool:
    if channel in history.header.capabilities.watches:
        return any(call.op == "run_turn" for call in history.invocations.values())
    return any(observation.channel == channel for observation in exposure.observations)


CHECK = Check(
    id="control",
    title="every channel shows its viewer's own content, and the detector fires",
    guarantee=Guarantee.ISOLATION,
    codes=frozenset(),
    needs=frozenset({ANY_WRITE, ANY_OBSERVATION}),
    judge=judge,
)
