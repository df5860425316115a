"""The bench puts every check to every history and survives them all."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partywall.canaries import Level
from partywall.harness.judge import exposure
from partywall.harness.judge.bench import checks, judge
from partywall.harness.judge.check import Check, conclude
from partywall.harness.judge.verdict import Control, Status, Verdict
from partywall.harness.observe.history import Completed, History, Limited, Seen
from partywall.harness.observe.journal import read
from partywall.harness.observe.outcome import NOT_IMPLEMENTED, Outcome
from partywall.harness.plan import Guarantee

FILES = sorted((Path(__file__).parents[2] / "histories").glob("*.jsonl"))
GOLDEN: list[History] = [history for file in FILES for history in read(file)]
HELD = next(history for file in FILES if file.name.startswith("leak.held.each") for history in read(file))

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
OUTCOMES = st.builds(
    Outcome,
    st.sampled_from(["ok", "fail", "info"]),
    JSON,
    st.text(max_size=8),
    st.sampled_from(["", "denied", "timeout", "unsent", NOT_IMPLEMENTED]),
)


def a_check(judged: Any, needs: Iterable[str] = ()) -> Check:
    return Check("any", "any", Guarantee.ISOLATION, frozenset(), frozenset(needs), judged)


def held(history: History) -> Verdict:
    return conclude("any", Guarantee.ISOLATION, (), [Control("any", "turns", True)])


def only(history: History, check: Check) -> Verdict:
    (verdict,) = judge(history, [check]).verdicts
    return verdict


def mangled(history: History, draw: Any) -> History:
    """Entries dropped, doubled, moved and changed, as no honest recorder would write them."""
    entries = list(history.entries)
    for _ in range(draw(st.integers(1, 6))):
        index = draw(st.integers(0, max(0, len(entries) - 1)))
        match draw(st.sampled_from(["drop", "double", "swap", "outcome", "field", "cut"])):
            case "drop" if entries:
                del entries[index]
            case "double" if entries:
                entries.insert(index, entries[index])
            case "swap" if entries:
                entries[index], entries[0] = entries[0], entries[index]
            case "cut":
                entries = entries[:index]
            case "outcome" if entries and isinstance(entry := entries[index], Completed):
                entries[index] = replace(entry, outcome=draw(OUTCOMES))
            case "field" if entries:
                entry = entries[index]
                name = draw(st.sampled_from([field.name for field in fields(entry) if field.name != "entry"]))
                other = draw(st.sampled_from(entries))
                entries[index] = replace(entry, **{name: getattr(other, name, getattr(entry, name))})
    return History(history.header, tuple(entries))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_judging_never_raises_whatever_happened_to_the_history(data: st.DataObject) -> None:
    history = mangled(data.draw(st.sampled_from(GOLDEN)), data.draw)
    verdicts = judge(history).verdicts
    assert {verdict.check for verdict in verdicts} == set(checks())


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(GOLDEN), st.sets(st.sampled_from(Level)), st.sets(st.sampled_from(["turns", "append_turn"])))
def test_judging_never_raises_whatever_the_header_declares(
    history: History, dimensions: set[Level], operations: set[str]
) -> None:
    capabilities = replace(
        history.header.capabilities, dimensions=frozenset(dimensions), operations=frozenset(operations)
    )
    header = replace(history.header, capabilities=capabilities, keyrings=(), prefix="")
    judgement = judge(History(header, history.entries))
    assert judgement.status is not Status.HELD


@pytest.mark.parametrize("history", GOLDEN, ids=[file.stem for file in FILES])
def test_the_same_history_is_judged_the_same_twice(history: History) -> None:
    again = History(history.header, history.entries)
    assert judge(history) == judge(again) == judge(history)


@pytest.mark.parametrize("error", [KeyError("x"), RecursionError(), AssertionError("no"), StopIteration(), ValueError])
def test_a_crashed_check_is_inconclusive_and_says_so(error: Any) -> None:
    def crash(history: History) -> Verdict:
        raise error

    verdict = only(HELD, a_check(crash))
    assert verdict.status is Status.INCONCLUSIVE
    assert "crashed" in verdict.reason


def test_a_check_that_concludes_the_impossible_is_inconclusive() -> None:
    verdict = only(HELD, a_check(lambda history: Verdict("any", Guarantee.ISOLATION, Status.HELD)))
    assert verdict.status is Status.INCONCLUSIVE


def test_a_crashed_check_does_not_keep_the_others_from_judging() -> None:
    crash = a_check(lambda history: 1 / 0)
    judgement = judge(HELD, [crash, *checks().values()])
    assert [v.status for v in judgement.verdicts if v.check == "leak"] == [Status.HELD]


def test_what_the_target_lacks_is_not_covered_and_named() -> None:
    verdict = only(HELD, a_check(held, ["purge", "append_turn", "stored_bytes | stored_keys"]))
    assert verdict.status is Status.NOT_COVERED
    assert verdict.needs == ("purge", "stored_bytes | stored_keys")
    assert "purge" in verdict.reason


def test_an_operation_that_turned_out_not_to_be_implemented_is_lacking() -> None:
    looked = {probe for probe, call in HELD.invocations.items() if call.op == "list_turns"}
    absent = Outcome("fail", reason="not implemented", code=NOT_IMPLEMENTED)
    entries = tuple(
        replace(entry, outcome=absent) if isinstance(entry, Completed) and entry.probe in looked else entry
        for entry in HELD.entries
    )
    assert only(HELD, a_check(held, ["list_turns"])).status is Status.HELD
    verdict = only(History(HELD.header, entries), a_check(held, ["list_turns"]))
    assert (verdict.status, verdict.needs) == (Status.NOT_COVERED, ("list_turns",))


def test_a_limit_takes_the_held_from_every_verdict_and_cell() -> None:
    limited = History(HELD.header, (*HELD.entries, Limited(10**9, "a page was cut")))
    judgement = judge(limited)
    assert judge(HELD).status is Status.HELD
    assert judgement.status is Status.INCONCLUSIVE
    assert not [cell for verdict in judgement.verdicts for cell in verdict.cells if cell.status is Status.HELD]
    assert all("a page was cut" in v.reason for v in judgement.verdicts if v.status is Status.INCONCLUSIVE)


def test_a_history_of_nothing_is_not_covered() -> None:
    judgement = judge(History(HELD.header, ()))
    assert judgement.status is Status.NOT_COVERED
    assert judgement.counts == {"probes": 0, "observations_checked": 0, "observations_total": 0}


@pytest.mark.parametrize("channel", ["prompt", "headers", "errors"])
def test_a_text_seen_outside_of_calls_is_an_observation_of_its_viewer(channel: str) -> None:
    foreign = next(sown.canary for sown in HELD.sown if sown.canary.owner.tenant == "zeta")
    seen = Seen(10**9, channel, foreign.text, ("acme", "ann", "s1", "k1"))
    (leak,) = [v for v in judge(History(HELD.header, (*HELD.entries, seen))).verdicts if v.check == "leak"]
    assert {finding.code for finding in leak.findings} == {"PW101"}


@pytest.mark.parametrize("channel", ["log", "bytes", "keys", "metrics"])
def test_what_the_operator_sees_is_nobodys_leak(channel: str) -> None:
    foreign = next(sown.canary for sown in HELD.sown if sown.canary.owner.tenant == "zeta")
    seen = Seen(10**9, channel, foreign.text, ("acme", "ann", "s1", "k1"))
    (leak,) = [v for v in judge(History(HELD.header, (*HELD.entries, seen))).verdicts if v.check == "leak"]
    assert leak.status is Status.HELD


class Blind:
    """A scan that saw nothing."""

    sightings = ()
    damaged = 0
    limited = False


@pytest.mark.parametrize("history", GOLDEN, ids=[file.stem for file in FILES])
def test_with_the_scanner_switched_off_nothing_that_reads_content_is_held(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("partywall.canaries.Scanner.scan", lambda self, text: Blind())
    exposure.exposure_of.cache_clear()
    blind = {v.check: v.status for v in judge(History(history.header, history.entries)).verdicts}
    exposure.exposure_of.cache_clear()
    for check in ("leak", "control", "takeover", "mixing", "claimed_identity"):
        assert blind[check] is not Status.HELD
        assert blind[check] is not Status.VIOLATED


@pytest.mark.parametrize("history", GOLDEN, ids=[file.stem for file in FILES])
def test_with_a_rule_that_lets_everybody_see_everything_nothing_is_held(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("partywall.harness.judge.provenance.reaches", lambda reach, parted, channel: True)
    exposure.exposure_of.cache_clear()
    verdicts = {v.check: v.status for v in judge(History(history.header, history.entries)).verdicts}
    exposure.exposure_of.cache_clear()
    assert verdicts["leak"] is not Status.HELD
    assert verdicts["control"] is not Status.HELD


def test_the_golden_histories_hold_every_status_so_that_these_tests_judge_something() -> None:
    statuses = {verdict.status for history in GOLDEN for verdict in judge(history).verdicts}
    assert statuses == set(Status)
    assert len(list(itertools.chain(GOLDEN))) == len(FILES)
