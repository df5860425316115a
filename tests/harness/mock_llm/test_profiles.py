"""What stands after `--fault` is read into rules, and rules strike by seed, scope and call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from partywall.canaries import UsageError
from partywall.harness.mock_llm import MockLLM, profile_of, tag
from partywall.harness.mock_llm.profiles import read

ANN = ("acme", "ann", "s1", "k1")
BOB = ("zeta", "bob", "s1", "k1")


def _profile(fault: str = "invalid-json", **more: Any) -> str:
    return json.dumps({"version": 1, "profiles": {"one": {"fault": fault, **more}}})


def _struck(text: str, calls: Sequence[tuple[tuple[str, ...], str]], tmp_path: Path, seed: int = 7) -> list[bool]:
    """Which of the calls (scope, question) a profile strikes, in order."""
    path = tmp_path / "profile.yaml"
    path.write_text(text)

    async def run() -> list[bool]:
        async with MockLLM(seed=seed, fault=str(path)) as mock, httpx.AsyncClient(trust_env=False) as client:
            for scope, question in calls:
                body = {"messages": [{"role": "user", "content": question}]}
                await client.post(mock.base_url_for(scope) + "/chat/completions", json=body)
            return [exchange.fault != "steady" for exchange in mock.wiretap.exchanges()]

    return asyncio.run(run())


def test_a_name_alone_strikes_every_call() -> None:
    profile = profile_of("exception")
    assert [(rule.id, rule.when.always) for rule in profile.rules] == [("exception", True)]


def test_the_second_call_of_each_scope_is_struck_whatever_the_others_do(tmp_path: Path) -> None:
    calls = [(ANN, "a"), (BOB, "a"), (BOB, "b"), (ANN, "b"), (ANN, "c")]
    assert _struck(_profile(when={"call": 2}), calls, tmp_path) == [False, False, True, True, False]


def test_the_key_on_is_a_key_and_no_truth_value() -> None:
    profile = read("version: 1\nprofiles:\n  a: {on: {stream: true, api: [chat]}, fault: timeout}\n")
    assert (profile.rules[0].on.stream, profile.rules[0].on.api) == (True, ("chat",))


def test_every_third_call_is_struck(tmp_path: Path) -> None:
    calls = [(ANN, str(number)) for number in range(6)]
    assert _struck(_profile(when={"every": 3}), calls, tmp_path) == [False, False, True, False, False, True]


def test_only_the_first_attempt_is_struck_and_the_retry_gets_through(tmp_path: Path) -> None:
    calls = [(ANN, "a"), (ANN, "a"), (ANN, "b"), (ANN, "b")]
    assert _struck(_profile("exception", when={"attempt": 1}), calls, tmp_path) == [True, False, True, False]


def test_a_share_is_drawn_from_the_seed_and_the_scope(tmp_path: Path) -> None:
    calls = [(scope, str(number)) for scope in (ANN, BOB) for number in range(60)]
    first = _struck(_profile(when={"prob": 0.3}), calls, tmp_path)
    assert first == _struck(_profile(when={"prob": 0.3}), calls, tmp_path)
    assert first != _struck(_profile(when={"prob": 0.3}), calls, tmp_path, seed=8)
    assert first[:60] != first[60:]
    assert 15 < sum(first) < 60
    assert sum(_struck(_profile(when={"prob": 0}), calls[:20], tmp_path)) == 0
    assert sum(_struck(_profile(when={"prob": 1}), calls[:20], tmp_path)) == 20


def test_a_profile_with_a_seed_of_its_own_strikes_the_same_calls_under_any_server_seed(tmp_path: Path) -> None:
    text = json.dumps({"version": 1, "seed": 42, "profiles": {"one": {"fault": "ambiguous", "when": {"prob": 0.5}}}})
    calls = [(ANN, str(number)) for number in range(30)]
    assert _struck(text, calls, tmp_path, seed=1) == _struck(text, calls, tmp_path, seed=2)


def test_a_rule_for_one_tenant_leaves_the_others_alone(tmp_path: Path) -> None:
    text = _profile(on={"scope": {"tenant": "*me", "user": "ann"}})
    calls = [(ANN, "a"), (BOB, "a"), (("acme", "bob"), "a")]
    assert _struck(text, calls, tmp_path) == [True, False, False]


def test_a_rule_may_ask_for_a_tool_on_offer_an_api_and_a_stream(tmp_path: Path) -> None:
    assert _struck(_profile(on={"offers_tool": "*memory*"}), [(ANN, "a")], tmp_path) == [False]
    assert _struck(_profile(on={"api": ["chat"], "stream": False}), [(ANN, "a")], tmp_path) == [True]
    assert _struck(_profile(on={"stream": True}), [(ANN, "a")], tmp_path) == [False]


def test_the_first_rule_that_strikes_decides_and_all_of_them_count(tmp_path: Path) -> None:
    text = json.dumps(
        {
            "version": 1,
            "profiles": {
                "first": {"fault": "ambiguous", "when": {"call": 1}},
                "second": {"fault": "invalid-json", "when": {"every": 2}},
            },
        }
    )
    path = tmp_path / "two.yaml"
    path.write_text(text)

    async def run() -> list[tuple[str | None, str]]:
        async with MockLLM(fault=str(path)) as mock, httpx.AsyncClient(trust_env=False) as client:
            for question in "abc":
                body = {"messages": [{"role": "user", "content": question}]}
                await client.post(mock.base_url + "/chat/completions", json=body)
            return [(exchange.fault, exchange.rule) for exchange in mock.wiretap.exchanges()]

    assert asyncio.run(run()) == [("ambiguous", "first"), ("invalid-json", "second"), ("steady", "")]
    assert [rule.id for rule in profile_of(f"{path}:second").rules] == ["second"]


def test_a_probe_in_flight_names_the_fault_that_strikes_its_own_calls_alone() -> None:
    async def run() -> list[tuple[str | None, str]]:
        async with MockLLM() as mock, httpx.AsyncClient(trust_env=False) as client:
            mock.in_flight.enter("p1", ANN, ANN, "ambiguous")
            mock.in_flight.enter("p2", BOB, BOB)
            for question in (f"q {tag('p2')}", f"q {tag('p1')}", "q of nobody"):
                body = {"messages": [{"role": "user", "content": question}]}
                await client.post(mock.base_url + "/chat/completions", json=body)
            mock.in_flight.leave("p1")
            body = {"messages": [{"role": "user", "content": "later"}]}
            await client.post(mock.base_url + "/chat/completions", json=body)
            assert [exchange.rule for exchange in mock.wiretap.exchanges()] == ["", "ambiguous", "", ""]
            return [(exchange.fault, exchange.scope) for exchange in mock.wiretap.exchanges()]

    assert asyncio.run(run()) == [
        ("steady", "zeta/bob/s1/k1"),
        ("ambiguous", "acme/ann/s1/k1"),
        ("steady", "-"),
        ("steady", "-"),
    ]


REFUSED = {
    "an unknown key": ("version: 1\nprofiles:\n  a:\n    fault: timeout\n    whn: {}\n", "line 5: unknown key"),
    "an unknown key of when": (
        "version: 1\nprofiles:\n  a:\n    fault: timeout\n    when:\n      cal: 1\n",
        "line 6: unknown key 'profiles.a.when.cal'; known: attempt, call, every, prob",
    ),
    "an unknown fault": ("version: 1\nprofiles:\n  a:\n    fault: tmeout\n", "line 4: no fault 'tmeout'; known: "),
    "an unknown api": (
        "version: 1\nprofiles:\n  a:\n    fault: timeout\n    on: {api: [soap]}\n",
        "line 5: no API 'soap'; known: chat",
    ),
    "another version": ("version: 2\nprofiles: {a: {fault: timeout}}\n", "line 1: version: "),
    "no fault": ("version: 1\nprofiles:\n  a: {}\n", "line 3: profiles.a.fault: field required"),
    "a share above one": (
        "version: 1\nprofiles:\n  a:\n    fault: timeout\n    when: {prob: 2}\n",
        "line 5: profiles.a.when.prob: ",
    ),
    "a call before the first": (
        "version: 1\nprofiles:\n  a:\n    fault: timeout\n    when: {call: 0}\n",
        "line 5: profiles.a.when.call: ",
    ),
    "no profile": ("version: 1\nprofiles: {}\n", "line 2: profiles: "),
    "no YAML": ("version: 1\nprofiles: [\n", "line 3: no YAML: "),
    "a tag": ("version: 1\nprofiles: !!python/object:os.system {}\n", "line 2: no YAML: "),
    "a key twice": (
        "version: 1\nprofiles:\n  a:\n    fault: timeout\n    fault: exception\n",
        "line 4: no YAML: the key 'fault' stands here twice",
    ),
    "a list": ("- 1\n", "expected version, seed and profiles, found a list"),
    "nothing": ("", "expected version, seed and profiles, found nothing"),
    "a control character": ("version: \x00", "no YAML"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_file_that_is_not_understood_is_refused_in_one_sentence(what: str) -> None:
    text, told = REFUSED[what]
    with pytest.raises(UsageError) as refused:
        read(text)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_or_profile_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read fault profile"):
        profile_of(str(tmp_path / "none.yaml"))
    path = tmp_path / "profile.yaml"
    path.write_text(_profile())
    with pytest.raises(UsageError, match=r"no profile 'onne' in .*; known: one \(did you mean 'one'\?\)"):
        profile_of(f"{path}:onne")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="is no UTF-8"):
        profile_of(str(path))
