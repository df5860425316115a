"""The checker: the judge's rule on records, and no harm from hostile ones."""

from __future__ import annotations

import base64
import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from partywall.canaries import CARRIERS, Scope, UsageError
from partywall.harness.online import Checker, Fields, Settings
from partywall.harness.online.record import Passed
from partywall.harness.online.tally import Tally

from .marked import ACME, KEY, ZETA, checker, line, token

Found = tuple[list[dict[str, Any]], Tally]


def passed(raw: bytes) -> Passed:
    record = Fields.parse().read(raw)
    return Passed((raw,), None, record) if isinstance(record, str) else Passed((raw,), record)


def check(*raws: bytes, rate: float = 0.0, by: Checker | None = None) -> Found:
    return (by or checker(rate)).check([passed(raw) for raw in raws])


def codes(found: Found) -> list[str]:
    return [one["code"] for one in found[0]]


@pytest.mark.parametrize(
    ("owner", "code"),
    [
        (Scope("zeta", "ann", "s1", "t1"), ["PW101"]),
        (Scope("acme", "bob", "s1", "t1"), ["PW102"]),
        (Scope("acme", "ann", "s2", "t1"), ["PW103"]),
        (Scope("acme", "ann", "s1", "t2"), ["PW104"]),
        (Scope("acme", "ann", "s1", "t1"), []),
    ],
)
def test_a_foreign_canary_has_the_code_of_the_outermost_level_it_crossed(owner: Scope, code: list[str]) -> None:
    assert codes(check(line(ACME, task="t1", reply=token(owner)))) == code


def test_a_record_is_judged_at_no_level_that_it_does_not_name() -> None:
    raw = json.dumps({"tenant": "acme", "reply": token(Scope("acme", "bob"))}).encode()
    found = check(raw)
    assert codes(found) == []
    assert found[1].canaries == Counter(own=1)


def test_reach_is_the_judges_a_session_canary_is_shown_to_all_tasks_of_its_session() -> None:
    mark = token(ACME, kind="session")
    assert codes(check(line(ACME, task="t7", reply=mark))) == []
    assert codes(check(line(Scope("acme", "ann", "s2"), reply=mark))) == ["PW103"]


def test_there_is_one_finding_for_each_record_and_owner() -> None:
    many = [token(ZETA, seq) for seq in range(3)] + [token(Scope("beta", "b"))]
    found = check(line(reply=many, prompt=many), line(reply=many))
    assert codes(found) == ["PW101"] * 4
    assert len({one["owner"] for one in found[0]}) == 2
    assert len({one["id"] for one in found[0]}) == 4


def test_own_input_is_imported_and_its_echo_is_no_leak() -> None:
    found = check(line(input=f"is {token(ZETA)} yours?", reply=f"{token(ZETA)} is not"))
    assert codes(found) == []
    assert found[1].canaries == Counter(imported=1)


def test_what_an_identity_put_in_stays_imported_in_its_later_records() -> None:
    one = checker()
    assert codes(check(line(input=token(ZETA)), by=one)) == []
    later = line(Scope("acme", "ann", "s2"), search=[token(ZETA)])
    assert codes(check(later, by=one)) == []
    assert codes(check(line(Scope("acme", "eve", "s1"), reply=token(ZETA)), by=one)) == ["PW101"]


def test_what_one_identity_put_in_excuses_no_other() -> None:
    raw = line(Scope("beta", "b"), messages=[{"role": "user", "content": token(ZETA)}])
    assert codes(check(raw, line(reply=token(ZETA)))) == ["PW101"]


def test_what_an_assistant_said_is_no_own_input() -> None:
    messages = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": token(ZETA)}]
    assert codes(check(line(messages=messages))) == ["PW101"]


def test_imports_are_handed_on_without_holding_a_canary() -> None:
    first = checker()
    check(line(input=token(ZETA)), by=first)
    kept = first.imports.record()
    assert token(ZETA) not in json.dumps(kept)
    assert codes(check(line(reply=token(ZETA)), by=Checker(Settings(KEY), "test", kept))) == []


@pytest.mark.parametrize("name", [name for name, carrier in CARRIERS.items() if carrier.level in ("S0", "S1")])
def test_tier_1_sees_a_leak_in_every_dress_of_its_levels(name: str) -> None:
    dressed = CARRIERS[name].dress(f"booking {token(ZETA)} ok")
    if isinstance(dressed, bytes):
        dressed = dressed.decode("latin-1")
    found = codes(check(line(reply=dressed)))
    assert found == ["PW101"] or name.startswith("utf-16"), "JSON escapes the NULs of UTF-16"


def test_tier_2_sees_deeper_and_only_in_the_sample() -> None:
    twice = base64.b64encode(base64.b64encode(f"booking {token(ZETA)} ok".encode())).decode()
    assert codes(check(line(reply=twice), rate=0.0)) == []
    found = check(line(reply=twice), rate=1.0)
    assert codes(found) == ["PW101"]
    assert found[0][0]["carrier"] != "plain"


def test_a_damaged_mark_is_looked_at_deeply_and_never_a_finding() -> None:
    hyphened = token(ZETA)[:9] + "-" + token(ZETA)[9:]
    assert codes(check(line(reply=hyphened))) == ["PW101"]
    cut = check(line(reply=token(ZETA)[:-2] + "!!"))
    assert codes(cut) == []
    assert cut[1].canaries["damaged"] == 1


def test_a_canary_in_nobodys_record_is_counted_and_leaves_the_state_open() -> None:
    found = check(json.dumps({"user": "ann", "reply": token(ZETA)}).encode(), b"text " + token(ZETA).encode())
    assert codes(found) == []
    assert found[1].lost == 2
    assert found[1].skipped == {"unattributed": 1, "not_json": 1}


def test_a_finding_holds_no_content_no_canary_and_no_id() -> None:
    raw = line(Scope("acme-gmbh", "ann@example.test", "sess-1"), trace_id="4bf92f", reply=f"my pin: {token(ZETA)}")
    (finding,), _ = check(raw)
    told = json.dumps(finding)
    assert not any(word in told for word in (token(ZETA), "acme-gmbh", "ann@", "sess-1", "my pin"))
    assert finding["trace"] == "4bf92f"
    ((start, end),) = finding["spans"]
    assert raw[start:end].decode() == token(ZETA)
    assert finding["length"] == len(raw)


def test_ids_are_written_only_where_that_was_asked_for() -> None:
    found = check(line(reply=token(ZETA)), by=checker(names=True))
    assert found[0][0]["observer"] == {"tenant": "acme", "user": "ann", "session": "s1"}


@pytest.mark.parametrize("trace", ["hello, I am Ann", "x" * 10_000, token(ZETA), "a\nb", "\ud800"])
def test_a_trace_that_is_no_plain_id_is_hashed(trace: str) -> None:
    (finding,), _ = check(line(trace=trace, reply=token(ZETA)))
    assert len(finding["trace"]) == 16
    assert trace not in finding["claim"]


def test_of_a_name_that_stands_twice_no_value_goes_unseen() -> None:
    raw = b'{"tenant":"acme","user":"ann","session":"s1","reply":"%s","reply":"x"}' % token(ZETA).encode()
    assert check(raw)[1].lost == 1


def test_a_batch_says_of_each_record_what_each_alone_would() -> None:
    raws = [line(reply=token(ZETA, n) if n % 7 == 0 else f"hello {n}") for n in range(40)]
    together = [one["spans"] for one in check(*raws)[0]]
    assert together == [one["spans"] for raw in raws for one in check(raw)[0]]
    broken = line(reply="mzqx7 broken")
    assert len(check(*raws, broken)[0]) == len(together)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\0" * 1000,
        b"\xff" * 1000,
        b"[[[[[]]]]]",
        b"[" * 200_000,
        line(reply=["a", ["b", [["c"], {}], None, 1.5, True]]),
        line(reply="\0\ud800\x1b[31m"),
        line(reply="x" * 10_000_000),
        b'{"tenant":1e999,"reply":NaN}',
        b'{"tenant":"a","messages":{"role":"user"},"input":[[[]]],"user":[]}',
        line(reply="mzqx7" * 5000),
    ],
    ids=range(11),
)
def test_a_hostile_record_harms_nobody_and_its_neighbour_is_still_judged(raw: bytes) -> None:
    found = check(raw, line(reply=token(ZETA)))
    assert codes(found) == ["PW101"]
    assert found[1].seen == 2


def test_nesting_that_parses_and_is_too_deep_to_walk_is_counted_and_not_clean() -> None:
    raw = b'{"tenant":"acme","reply":' + b"[" * 900 + b'"' + token(ZETA).encode() + b'"' + b"]" * 900 + b"}"
    found = check(raw)
    assert codes(found) == ["PW101"] or found[1].lost == 1


def test_the_canaries_of_more_owners_than_are_told_are_a_limit() -> None:
    many = [token(Scope(f"t{n}", "u")) for n in range(150)]
    found = check(line(reply=many))
    assert len(found[0]) == 100
    assert found[1].limited == 1


def test_every_epoch_that_is_named_is_seen() -> None:
    assert codes(check(line(reply=token(ZETA)), by=checker(epochs=("1", "0")))) == ["PW101"]
    assert codes(check(line(reply=token(ZETA)), by=checker(epochs=("1",)))) == []


def test_the_self_test_finds_its_leak_and_fails_where_nothing_can_be_found() -> None:
    one = checker()
    assert one.selftest()
    one._scanner = checker(prefix="qzxw9")._scanner
    assert not one.selftest()


@pytest.mark.parametrize("wrong", [{"key": b"short"}, {"epochs": ()}, {"rate": 2}, {"rate": -0.1}, {"budget": 0}])
def test_settings_that_cannot_work_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Checker(replace(Settings(KEY), **wrong), "test")


def test_without_a_canary_the_verdict_is_inconclusive_and_with_one_held() -> None:
    found = check(line(reply="hello"))[1]
    found.selftest_at = 1.0
    assert found.verdict().status == "inconclusive"
    assert "a canary has flowed" in found.verdict().reason
    found.add(check(line(reply=token(ACME)))[1])
    assert found.verdict().status == "held"
    found.errors = 1
    assert found.verdict().status == "inconclusive"
