"""Check `supersession`: a fact that changes keeps its past, each version from its own instant on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from ...observe.history import History
from ...plan.channel import Channel
from ...plan.guarantee import Guarantee
from ..check import Check, conclude
from ..testimony import finding, named
from ..verdict import Control, Evidence, Finding, Verdict
from ..versions import Chain, Run, Told, chains_of, instant, run_of


def judge(history: History) -> Verdict:
    """Violated where a version is missing among all of them or an instant is answered by another one (PW311), one
    value makes two versions (PW312), intervals overlap or gape (PW313), a closed one does not say so (PW314).

    What held at an instant follows from what the target itself told: since when each value holds. Where two values
    hold since the same instant, or none of them says, nothing follows, and the check is inconclusive or not covered.
    """
    findings: list[Finding] = []
    controls: list[Control] = []
    judged = 0
    for chain in chains_of(history):
        asked = any(told.everything or told.at is not None for told in chain.told)
        timed = any(told.records for told in chain.told)
        if not asked or not timed:
            continue
        judged += 1
        findings += [*_missing(chain), *_twice(chain), *_intervals(chain)]
        controls += _controls(chain)
        since = _since(chain)
        if len(chain.runs) > 1 and since:
            findings += _as_of(chain, since)
    return conclude(
        "supersession",
        Guarantee.SUPERSESSION,
        findings,
        controls,
        covered=bool(judged),
        reason="" if judged else "no fact was changed and asked for whose versions tell since when they hold",
        checked=judged,
        total=judged,
    )


def _controls(chain: Chain) -> Iterator[Control]:
    whose = f"{chain.key} of {named(chain.path)}"
    listed = any(told.everything and told.records for told in chain.told)
    yield Control(f"all versions of {whose} were listed", Channel.FACTS, listed, "" if listed else "they were not")
    if len(chain.runs) < 2:
        return
    since = _since(chain)
    yield Control(
        f"the versions of {whose} tell since when they hold, one after the other",
        Channel.FACTS,
        bool(since),
        "" if since else "they do not",
    )
    asked = any(told.at is not None and _due(chain, since, told) is not None for told in chain.told)
    yield Control(
        f"what {whose} was at an instant was asked and answered", Channel.FACTS, asked, "" if asked else "it was not"
    )


def _since(chain: Chain) -> list[float]:
    """Since when each value holds, as first told; empty unless all tell and each begins after the one before."""
    begins: list[float] = []
    for run in chain.runs:
        told = [
            start
            for answer in chain.told
            for record in answer.records
            if run_of(record, chain.runs) is run and (start := instant(record["valid_from"])) is not None
        ]
        if not told or (begins and told[0] <= begins[-1]):
            return []
        begins.append(told[0])
    return begins


def _due(chain: Chain, since: list[float], told: Told) -> Run | None:
    """The value that held at the instant that was asked about; None where that is before all of them."""
    held = (
        [
            run
            for run, begins in zip(chain.runs, since, strict=True)
            if told.at is not None and begins <= told.at and run.settled < told.call.at
        ]
        if since
        else []
    )
    return held[-1] if held else None


def _shown(chain: Chain, told: Told) -> list[Run]:
    return [run for run in chain.runs if any(run.value in text for text in told.texts)]


def _as_of(chain: Chain, since: list[float]) -> Iterator[Finding]:
    for told in chain.told:
        due = _due(chain, since, told)
        if due is None or told.everything:
            continue
        shown = _shown(chain, told)
        if shown == [due]:
            continue
        others = [run for run in shown if run is not due]
        at_the_change = told.at in since[1:]
        code = "PW313" if others and (due in shown or at_the_change) else "PW311"
        number = chain.runs.index(due) + 1
        said = f"version {', '.join(str(chain.runs.index(run) + 1) for run in shown)}" if shown else "none"
        claim = (
            f"{named(chain.path)}: asked what {chain.key} was at {told.at}, {told.call.op} #{told.call.probe} tells "
            f"{said}; since then held version {number} of {len(chain.runs)}"
        )
        yield _finding(code, claim, chain, told, "as of")


def _missing(chain: Chain) -> Iterator[Finding]:
    """A list of all versions that shows the present value and lacks an earlier one is not blind: it has forgotten."""
    for told in _full(chain):
        there = [run for run in chain.runs if run.settled < told.call.at]
        shown = _shown(chain, told)
        gone = [run for run in there if run not in shown]
        if there and there[-1] in shown and gone:
            numbers = ", ".join(str(chain.runs.index(run) + 1) for run in gone)
            claim = (
                f"{named(chain.path)}: {chain.key} was changed {len(there) - 1} times, and version {numbers} is not "
                f"among all versions in #{told.call.probe}"
            )
            yield _finding("PW311", claim, chain, told, "all versions")
            return


def _twice(chain: Chain) -> Iterator[Finding]:
    for told in _full(chain):
        for run in chain.runs:
            versions = sum(run_of(record, chain.runs) is run for record in told.records)
            if versions > 1 and run.first is not run.last:
                claim = (
                    f"{named(chain.path)}: {chain.key} was given the value it had by #{run.last.probe}, and that made "
                    f"another version: {versions} in #{told.call.probe}"
                )
                yield _finding("PW312", claim, chain, told, "same value")
                return


def _intervals(chain: Chain) -> Iterator[Finding]:
    for told in _full(chain):
        timed = [(start, record) for record in told.records if (start := instant(record["valid_from"])) is not None]
        ordered = sorted(timed, key=lambda each: each[0])
        for (_, one), (begins, other) in pairwise(ordered):
            ends = instant(one.get("valid_to"))
            if ends is None or _points_nowhere(one):
                what = "is not closed" if ends is None else "does not point to the one that follows"
                claim = f"{named(chain.path)}: a version of {chain.key} in #{told.call.probe} was followed and {what}"
                yield _finding("PW314", claim, chain, told, "chain")
                return
            if ends != begins:
                what = "overlap" if ends > begins else "leave a gap"
                claim = (
                    f"{named(chain.path)}: two versions of {chain.key} in #{told.call.probe} {what}: one ends at "
                    f"{ends}, the next begins at {begins}"
                )
                yield _finding("PW313", claim, chain, told, what)
                return
            if instant(other["valid_from"]) == instant(one["valid_from"]):
                return  # a clock that stood still: nothing follows from the order


def _points_nowhere(record: Mapping[str, Any]) -> bool:
    """A record that has the pointer and leaves it empty, or points to itself; a target may show none at all."""
    if "superseded_by" not in record:
        return False
    pointer = record["superseded_by"]
    return pointer in (None, "") or any(name in record and record[name] == pointer for name in ("id", "version"))


def _full(chain: Chain) -> Iterator[Told]:
    return (told for told in chain.told if told.everything and told.at is None and told.records)


def _finding(code: str, claim: str, chain: Chain, told: Told, kind: str) -> Finding:
    whole = (*chain.path, "", "")[:4]
    path = (whole[0], whole[1], whole[2], whole[3])
    return finding(
        code,
        claim,
        boundary=chain.layer,
        owner=path,
        observer=path,
        channel=Channel.FACTS,
        carrier="plain",
        evidence=[Evidence(told.call.probe, told.call.op, "", f"{len(told.records)} versions", at=told.call.at)],
        kind=(kind,),
    )


CHECK = Check(
    id="supersession",
    title="a fact that changes keeps its past",
    guarantee=Guarantee.SUPERSESSION,
    codes=frozenset({"PW311", "PW312", "PW313", "PW314"}),
    needs=frozenset({"put_fact", "list_facts"}),
    judge=judge,
)
