"""Struck: the turns of a history that a fault of the model hit, and what was left of each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from ..observe.history import Faulted, History, Invoked, Seen
from ..observe.outcome import Outcome
from ..plan.channel import Channel
from ..plan.identity import RawPath
from ..plan.trial import HEALTHY
from .observation import viewer_of
from .testimony import finding, named
from .verdict import Control, Evidence, Finding


@dataclass(frozen=True, slots=True)
class StruckTurn:
    """One call whose model was made to fail.

    `faults` are those due in its course, by attempt. `sent` counts each prompt of it that was caught, by its text.
    `recovered` says that some attempt was answered as it should be, so that success may be the truth.
    """

    probe: str
    call: Invoked
    end: int | None
    outcome: Outcome
    faults: tuple[Faulted, ...]
    sent: Mapping[str, int]
    recovered: bool

    @property
    def owner(self) -> RawPath:
        """Whose turn it was."""
        return viewer_of(self.call)

    @property
    def kinds(self) -> str:
        """The faults by name, as a sentence has them."""
        return ", ".join(sorted({fault.fault for fault in self.faults}))

    @property
    def marks(self) -> tuple[str, ...]:
        """The words that only the faulty answers held."""
        return tuple(dict.fromkeys(fault.mark for fault in self.faults if fault.mark))

    @property
    def delivered(self) -> bool:
        """Whether any of the faults was taken by the agent."""
        return any(fault.delivered for fault in self.faults)


def struck_turns(history: History) -> tuple[StruckTurn, ...]:
    """The calls that a fault was delivered to, in the order in which they were sent; `normal` strikes none."""
    due: dict[str, list[Faulted]] = defaultdict(list)
    for fault in history.faults:
        if fault.probe is not None and fault.fault not in HEALTHY:
            due[fault.probe].append(fault)
    return tuple(turn for turn in _turns(history, due) if turn.delivered)


def _turns(history: History, due: Mapping[str, list[Faulted]]) -> list[StruckTurn]:
    sent = prompts_of(history)
    turns = []
    for probe, call in history.invocations.items():
        if probe not in due:
            continue
        end = history.completions.get(probe)
        prompts = sent.get(probe, Counter())
        recovered = prompts.total() > len(due[probe])
        turns.append(
            StruckTurn(
                probe,
                call,
                end.at if end else None,
                history.outcome(probe),
                tuple(due[probe]),
                prompts,
                recovered,
            )
        )
    return turns


def prompts_of(history: History) -> dict[str, Counter[str]]:
    """How often each text was sent to the model in the course of each probe."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for entry in history.entries:
        if isinstance(entry, Seen) and entry.channel == Channel.PROMPT and entry.probe is not None:
            found[entry.probe][entry.text] += 1
    return dict(found)


def was_due(history: History) -> bool:
    """Whether any fault was to strike, delivered or not."""
    return any(fault.fault not in HEALTHY for fault in history.faults)


def delivered_control(turns: tuple[StruckTurn, ...]) -> Control:
    """That a fault was delivered to any turn at all."""
    told = f"to {len(turns)} turns" if turns else "none was, so nothing was put to the test"
    return Control("a fault was delivered", Channel.PROMPT, bool(turns), told)


def told_of(turn: StruckTurn, code: str, what: str, channel: str, evidence: tuple[Evidence, ...] = ()) -> Finding:
    """A finding about one struck turn: who asked, which fault hit, `what` became of it."""
    return finding(
        code,
        f"{named(turn.owner)}'s {turn.call.op} #{turn.probe} was hit by {turn.kinds}: {what}",
        boundary="none",
        owner=turn.owner,
        observer=turn.owner,
        channel=channel,
        carrier="plain",
        evidence=evidence or (Evidence(turn.probe, turn.call.op, "", "", at=turn.end or turn.call.at),),
        kind=(turn.call.op, turn.kinds),
    )
