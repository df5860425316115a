"""Histories of several workers as one: in the order of time, and judged as one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from partywall.harness.errors import HistoryError
from partywall.harness.frontends.load_merge import gathered, merged
from partywall.harness.frontends.load_witness import header_of
from partywall.harness.judge.bench import judge
from partywall.harness.judge.verdict import Finding, Status
from partywall.harness.observe.history import History, Limited
from partywall.harness.observe.journal import read, write

from .witnesses import ANN, ZOE, answer, exchange, planting, probe, spec, text_of, turns, witness

ACK = answer({"turn": 1, "version": 1})


def findings(history: History) -> list[Finding]:
    return [finding for verdict in judge(history).verdicts for finding in verdict.findings]


def two_workers(folder: Path) -> list[History]:
    """What worker 0 planted, worker 1 was shown."""
    planter, viewer = witness(folder, 0), witness(folder, 1)
    hers, his = planting("u0-1", ANN), planting("u1-1", ZOE)
    exchange(planter, hers, ACK)
    exchange(viewer, his, ACK)
    exchange(planter, probe("u0-2", "list_turns", ANN), turns(text_of(hers)))
    exchange(viewer, probe("u1-2", "list_turns", ZOE), turns(text_of(hers), text_of(his)))
    planter.close()
    viewer.close()
    return gathered(folder, 2)[0]


def whole(histories: list[History], folder: Path, *lost: int) -> History:
    return merged(histories, header_of(spec(folder), histories[0].header.capabilities), lost)


def test_what_one_worker_planted_and_another_was_shown_is_a_leak_with_names(tmp_path: Path) -> None:
    histories = two_workers(tmp_path)
    (apart,) = [finding for history in histories for finding in findings(history)]
    assert "unknown" in apart.owner
    (finding,) = [each for each in findings(whole(histories, tmp_path)) if each.code == "PW101"]
    assert (finding.owner, finding.observer) == ("acme/ann/s1/k1", "zeta/ann/s1/k1")
    assert finding.evidence[0].planted_by == "u0-1"


def test_entries_stand_in_the_order_of_time(tmp_path: Path) -> None:
    history = whole(two_workers(tmp_path), tmp_path)
    stamps = [entry.at for entry in history.entries]
    assert stamps == sorted(stamps)
    assert list(history.invocations) == ["u0-1", "u1-1", "u0-2", "u1-2"]


def test_a_merged_history_can_be_saved_and_judged_again(tmp_path: Path) -> None:
    history = whole(two_workers(tmp_path), tmp_path)
    write([history], tmp_path / "history.jsonl")
    (again,) = read(tmp_path / "history.jsonl")
    assert judge(again) == judge(history)


def test_a_probe_id_in_two_histories_is_refused(tmp_path: Path) -> None:
    histories = two_workers(tmp_path)
    with pytest.raises(HistoryError, match="probe 'u0-1' stands in the histories of two workers"):
        whole([histories[0], histories[0]], tmp_path)


def test_a_lost_worker_is_a_limit_and_nothing_is_held_beside_it(tmp_path: Path) -> None:
    histories = two_workers(tmp_path)[:1]
    history = whole(histories, tmp_path, 1)
    assert [entry.what for entry in history.entries if isinstance(entry, Limited)] == [
        "the history of worker 1 is lost"
    ]
    assert judge(history).status in (Status.INCONCLUSIVE, Status.NOT_COVERED)


def test_no_worker_at_all_makes_an_empty_history(tmp_path: Path) -> None:
    histories, tally = gathered(tmp_path, 2)
    assert histories == []
    assert (tally.requests, tally.lost) == (0, (0, 1))
    capabilities = witness(tmp_path).profile.capabilities
    assert len(merged(histories, header_of(spec(tmp_path), capabilities), tally.lost).entries) == 2


def test_the_tally_adds_up_and_takes_the_greater_word_for_what_was_sent(tmp_path: Path) -> None:
    two_workers(tmp_path)
    master = {"requests": 9, "failures": 1, "foreign": 3, "exceptions": ["boom"]}
    (tmp_path / "master.json").write_text(json.dumps(master))
    _, tally = gathered(tmp_path, 2)
    assert (tally.requests, tally.checked, tally.foreign, tally.exceptions) == (9, 4, 3, ("boom",))
    assert tally.lost == ()


def test_prompts_are_not_claimed_to_be_watched(tmp_path: Path) -> None:
    assert "prompt" not in whole(two_workers(tmp_path), tmp_path).header.capabilities.watches
