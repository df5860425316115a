"""The fixtures for tests that users write themselves: a mock LLM, canaries, and the one-line assertion."""

from __future__ import annotations

import base64
import json
import urllib.request
from typing import Any

import pytest
from partywall.canaries import Level, Scope, UsageError
from partywall.harness.frontends.pytest_canaries import Canaries, assert_no_foreign
from partywall.harness.frontends.pytest_model import MockModel

pytest_plugins = ["pytester"]

ANN = Scope("acme", "ann", "s1", "k1")
ZETA = Scope("zeta", "ann", "s1", "k1")


def ask(base_url: str, text: str) -> None:
    body = json.dumps({"model": "mock", "messages": [{"role": "user", "content": text}]}).encode()
    request = urllib.request.Request(f"{base_url}/chat/completions", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert json.load(answer)["choices"]


def test_a_leak_raises_with_the_testimony_and_without_the_canary(canaries: Canaries, assert_isolated: Any) -> None:
    leaked = canaries.sow(ANN)
    with pytest.raises(AssertionError) as raised:
        assert_isolated(["nothing", {"text": leaked}], observer=ZETA)
    told = str(raised.value)
    found = canaries.scan(leaked)[0].canary
    assert f"PW101 zeta/ann/s1/k1 was shown acme/ann/s1/k1's canary {found.short} in snippet /1/text" in told
    assert "crossed TENANT" in told
    assert "partywall explain PW101" in told
    assert found.text not in told


@pytest.mark.parametrize(
    ("observer", "code"),
    [
        (ZETA, "PW101"),
        (Scope("acme", "bob", "s1", "k1"), "PW102"),
        (Scope("acme", "ann", "s2", "k1"), "PW103"),
        (Scope("acme", "ann", "s1", "k2"), "PW104"),
    ],
)
def test_every_boundary_has_its_code(canaries: Canaries, assert_isolated: Any, observer: Scope, code: str) -> None:
    with pytest.raises(AssertionError, match=code):
        assert_isolated(canaries.sow(ANN), observer=observer)


def test_the_owner_and_whoever_the_canary_reaches_may_see_it(canaries: Canaries, assert_isolated: Any) -> None:
    memory = canaries.sow(ANN, into="document", reach=Level.USER)
    canaries.sow(ZETA)
    assert_isolated([canaries.sow(ANN), memory], observer=ANN)
    assert_isolated(memory, observer=Scope("acme", "ann", "s2", "k2"))
    assert_isolated(canaries.sow(ANN), observer=Scope("acme", "ann"))
    with pytest.raises(AssertionError, match="PW102"):
        assert_isolated(memory, observer=Scope("acme", "bob"))


def test_a_canary_in_disguise_is_found_and_its_dress_named(canaries: Canaries, assert_isolated: Any) -> None:
    packed = base64.b64encode(canaries.sow(ANN).encode()).decode()
    with pytest.raises(AssertionError, match="wearing base64"):
        assert_isolated({"debug": packed.encode()}, observer=ZETA)


@pytest.mark.parametrize("nothing", [[], "", [""], {}, None, [1, None, 2.5]])
def test_nothing_scanned_does_not_pass_in_silence(canaries: Canaries, assert_isolated: Any, nothing: Any) -> None:
    canaries.sow(ANN)
    with pytest.raises(AssertionError, match="inconclusive: nothing was scanned"):
        assert_isolated(nothing, observer=ZETA)
    assert_isolated(nothing, observer=ZETA, allow_empty=True)


def test_where_nothing_foreign_was_minted_nothing_is_proved(canaries: Canaries, assert_isolated: Any) -> None:
    with pytest.raises(AssertionError, match="inconclusive: no canary foreign to zeta/ann/s1/k1 was minted"):
        assert_isolated("some text", observer=ZETA)
    with pytest.raises(AssertionError, match="inconclusive: no canary foreign to zeta/ann/s1/k1 was minted"):
        assert_isolated(canaries.sow(ZETA), observer=ZETA)


def test_what_is_no_text_is_refused(canaries: Canaries, assert_isolated: Any) -> None:
    canaries.sow(ANN)
    with pytest.raises(UsageError, match="cannot scan a object, which is no JSON data; give text, bytes, or lists"):
        assert_isolated([object()], observer=ZETA)
    with pytest.raises(UsageError, match="observer must be a Scope, got str"):
        assert_isolated("text", observer="zeta")
    with pytest.raises(UsageError, match="no level 'team'; known: tenant, user, session, task"):
        canaries.mint(ANN, reach="team")


def test_scan_gives_what_was_found_and_nothing_is_false(canaries: Canaries) -> None:
    one, other = canaries.mint(ANN), canaries.mint(ANN)
    assert one.text != other.text
    assert not canaries.scan("nothing here")
    found = canaries.scan([f"so {one.text} is", f"and {other.text}"])
    assert [(item.canary.owner, item.place) for item in found] == [(ANN, "/0"), (ANN, "/1")]
    assert one.text not in repr((found, canaries, one))


def test_another_tests_canary_is_nothing_to_this_one() -> None:
    mine, theirs = Canaries("test_a", 1), Canaries("test_b", 1)
    mine.sow(ANN)
    assert mine.scan(theirs.sow(ANN)) == ()
    assert_no_foreign(mine, theirs.sow(ANN), ZETA)


def test_the_same_test_and_seed_sow_the_same_and_another_seed_others() -> None:
    assert Canaries("test_a", 1).sow(ANN) == Canaries("test_a", 1).sow(ANN)
    assert Canaries("test_a", 1).mint(ANN) != Canaries("test_a", 2).mint(ANN)


def test_the_mock_shows_what_it_was_sent(mock_llm: MockModel, canaries: Canaries, assert_isolated: Any) -> None:
    assert mock_llm.prompts() == []
    ask(mock_llm.base_url_for(ANN), canaries.sow(ANN))
    ask(mock_llm.base_url_for(ZETA), "What is new?")
    ask(mock_llm.base_url, "And here?")
    assert [text in prompt for text, prompt in zip(["", "What is new?", "And here?"], mock_llm.prompts(), strict=True)]
    assert len(mock_llm.prompts(ANN)) == len(mock_llm.prompts(ZETA)) == 1
    assert_isolated(mock_llm.prompts(ZETA), observer=ZETA)
    with pytest.raises(AssertionError, match="PW101"):
        assert_isolated(mock_llm.prompts(), observer=ZETA)


def test_every_test_has_a_mock_of_its_own(mock_llm: MockModel) -> None:
    assert mock_llm.prompts() == []
    mock_llm.use("exception")
    with pytest.raises(urllib.error.HTTPError):
        ask(mock_llm.base_url, "hello")
    mock_llm.use("steady")
    ask(mock_llm.base_url, "hello")
    with pytest.raises(UsageError, match="no fault 'rain'"):
        mock_llm.use("rain")


def test_a_leak_in_a_users_test_reads_well(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from partywall.canaries import Scope

        def test_search(canaries, assert_isolated):
            index = [canaries.sow(Scope("acme", "ann"))]
            assert_isolated(index, observer=Scope("zeta", "ann"))
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:locust", "--showlocals", "--tb=long")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            ">*assert_isolated(index, observer=*",
            "E*AssertionError: PW101 zeta/ann was shown acme/ann's canary ?????? in snippet /0: crossed TENANT",
            "E*evidence*",
            "E*explain*partywall explain PW101",
        ]
    )
    assert "pytest_canaries.py" not in result.stdout.str()
