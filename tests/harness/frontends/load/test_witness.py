"""One worker's witness: every answer scanned at once, recorded as the judge needs it, bounded."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from partywall.canaries import Scope
from partywall.harness.frontends.load_witness import FOREIGN, MOST_EVIDENCE, Reply
from partywall.harness.judge.bench import judge
from partywall.harness.observe.history import History, Limited
from partywall.harness.observe.journal import read

from .witnesses import ANN, ZOE, answer, exchange, planting, probe, text_of, turns, witness

ACK = answer({"turn": 1, "version": 1})


def left(folder: Path, worker: int = 0) -> History:
    (history,) = read(folder / f"worker-{worker}.jsonl")
    return history


def codes(history: History) -> set[str]:
    return {finding.code for verdict in judge(history).verdicts for finding in verdict.findings}


def test_a_users_own_content_is_no_failure(tmp_path: Path) -> None:
    seen = witness(tmp_path)
    mine = planting("p1", ANN)
    assert exchange(seen, mine, ACK) == ""
    assert exchange(seen, probe("p2", "list_turns", ANN), turns(text_of(mine))) == ""
    seen.close()
    assert codes(left(tmp_path)) == set()
    assert (seen.count.checked, seen.count.failed, seen.count.foreign) == (2, 0, 0)


def test_foreign_content_fails_the_request_with_a_constant_message_and_is_judged(tmp_path: Path) -> None:
    seen = witness(tmp_path)
    hers = planting("p1", ANN)
    exchange(seen, hers, ACK)
    assert exchange(seen, probe("p2", "list_turns", ZOE), turns(text_of(hers))) == FOREIGN
    assert ANN.tenant not in FOREIGN
    seen.close()
    assert codes(left(tmp_path)) == {"PW101"}
    assert (seen.count.foreign, seen.count.failed) == (1, 0)


@pytest.mark.parametrize(
    ("op", "viewer", "crossed"),
    [
        ("list_turns", Scope("acme", "ann", "s1", "k2"), False),
        ("context", Scope("acme", "ann", "s1", "k2"), True),
        ("context", Scope("acme", "ann", "s2", "k1"), True),
        ("search_memory", Scope("acme", "ann", "s2", "k2"), False),
        ("search_memory", Scope("acme", "bob", "s1", "k1"), True),
    ],
)
def test_how_far_a_turn_reaches_is_known_from_the_token_alone(
    op: str, viewer: Scope, crossed: bool, tmp_path: Path
) -> None:
    text = text_of(planting("p1", ANN))
    shown = turns(text) if op == "list_turns" else answer([text])
    query = {} if op == "list_turns" else {"query": "which"}
    seen = witness(tmp_path, worker=1)  # it did not see the planting
    assert (exchange(seen, probe("p2", op, viewer, **query), shown) == FOREIGN) is crossed


@pytest.mark.parametrize("place", ["header", "beside the value", "refusal"])
def test_foreign_content_outside_of_the_value_is_evidence_too(place: str, tmp_path: Path) -> None:
    seen = witness(tmp_path)
    hers = planting("p1", ANN)
    exchange(seen, hers, ACK)
    text = text_of(hers)
    shown = {
        "header": replace(turns("nothing"), headers=(("x-debug", text),)),
        "beside the value": answer([], debug=text),
        "refusal": Reply(404, (), json.dumps({"detail": text}).encode()),
    }[place]
    assert exchange(seen, probe("p2", "list_turns", ZOE), shown) == FOREIGN
    seen.close()
    assert codes(left(tmp_path)) == {"PW101"}


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Reply(403, (), b"no"), "fail: denied"),
        (Reply(500, (), b"oops"), "info: http_500"),
        (Reply(0, lost="timeout"), "info: timeout"),
        (Reply(0, lost="unreachable"), "fail: unsent"),
        (Reply(0, lost="disconnected"), "info: disconnected"),
        (Reply(302, (("location", "http://elsewhere.test/"),), b""), "info: http_302"),
    ],
)
def test_whatever_is_no_success_counts_as_failed_in_few_words(reply: Reply, message: str, tmp_path: Path) -> None:
    seen = witness(tmp_path)
    assert exchange(seen, probe("p1", "list_turns", ANN), reply) == message
    assert (seen.count.checked, seen.count.failed) == (1, 1)
    seen.close()
    assert left(tmp_path).outcome("p1").status == message.partition(":")[0]


@pytest.mark.parametrize(("body", "code"), [(b"{broken", "unreadable"), (b'{"value": 7}', "contract")])
def test_an_answer_that_turns_out_to_be_none_when_it_is_read_counts_as_failed(
    body: bytes, code: str, tmp_path: Path
) -> None:
    seen = witness(tmp_path)
    exchange(seen, probe("p1", "list_turns", ANN), Reply(200, (), body))
    seen.close()
    assert left(tmp_path).outcome("p1").code == code
    assert seen.count.failed == 1
    assert json.loads((tmp_path / "worker-0.json").read_text())["failed"] == 1
    assert bool(seen.count.problems) is (code == "contract")


def test_an_end_is_stamped_when_it_came_and_not_when_it_was_read(tmp_path: Path) -> None:
    seen = witness(tmp_path)
    exchange(seen, planting("p1", ANN), ACK)
    exchange(seen, probe("p2", "list_turns", ANN), turns("nothing"))
    seen.close()
    history = left(tmp_path)
    assert history.completions["p1"].at < history.invocations["p2"].at


def test_a_history_that_is_full_says_so_and_what_is_foreign_is_recorded_all_the_same(tmp_path: Path) -> None:
    seen = witness(tmp_path, most_entries=3)
    hers = planting("p1", ANN)
    exchange(seen, hers, ACK)
    for number in range(50):
        assert exchange(seen, probe(f"q{number}", "list_turns", ANN), turns(text_of(hers))) == ""
    assert exchange(seen, probe("r1", "list_turns", ZOE), turns(text_of(hers))) == FOREIGN
    seen.close()
    history = left(tmp_path)
    assert list(history.invocations) == ["p1", "r1"]
    assert [entry.what for entry in history.entries if isinstance(entry, Limited)] == [
        "the history of worker 0 is full at 3 entries"
    ]
    assert codes(history) == {"PW101"}
    assert seen.count.checked == 52


def test_evidence_is_bounded_as_well(tmp_path: Path) -> None:
    seen = witness(tmp_path, most_entries=1)
    for number in range(MOST_EVIDENCE + 50):
        exchange(seen, probe(f"r{number}", "list_turns", ZOE), turns(text_of(planting("p1", ANN))))
    seen.close()
    assert len(left(tmp_path).invocations) == MOST_EVIDENCE + 1  # the first came while there was room
    assert seen.count.foreign == MOST_EVIDENCE + 50


def test_workers_take_users_in_turn_so_that_none_is_taken_twice(tmp_path: Path) -> None:
    workers = [witness(tmp_path, worker) for worker in (0, 1)]
    identities = [[seen.traffic().identity for _ in range(4)] for seen in workers]
    assert {one.tenant for one in identities[0]} == {"acme"}
    assert {one.tenant for one in identities[1]} == {"zeta"}


def test_neither_file_holds_a_credential(tmp_path: Path) -> None:
    seen = witness(tmp_path)
    sent = probe("p1", "list_turns", ANN)
    proof = dict(seen.request(sent.call).headers)[b"authorization"].decode()
    exchange(seen, sent, Reply(401, (), f"not {proof}".encode()))
    seen.close()
    told = "".join(file.read_text() for file in tmp_path.iterdir())
    assert proof.split()[1] not in told
    assert "t" * 40 not in told
