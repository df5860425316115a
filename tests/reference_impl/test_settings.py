"""Settings: what is refused before anything starts, and that no refusal shows a secret."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from partywall.canaries import UsageError
from partywall.reference_impl.mutants.__main__ import main as serve_mutant
from partywall.reference_impl.settings import from_environment, resolve

from .deployment import KEY

GIVEN: dict[str, Any] = {"data": Path("data"), "model_url": "http://model.invalid/v1"}
ENVIRONMENT = {"PARTYWALL_TOKEN_KEY": KEY}


def test_settings_come_from_arguments_and_environment() -> None:
    environment = {**ENVIRONMENT, "PARTYWALL_KEY": "k" * 32, "PARTYWALL_EPOCH": "e1"}
    settings = from_environment({**GIVEN, "port": 8123}, environment)
    assert (settings.port, settings.epoch, settings.snapshot) == (8123, "e1", 1)
    assert settings.mark_key is not None
    assert from_environment(GIVEN, ENVIRONMENT).mark_key is None
    assert KEY not in repr(settings)


@pytest.mark.parametrize(
    ("given", "environment"),
    [
        ({}, {}),
        ({}, {"PARTYWALL_TOKEN_KEY": "short secret"}),
        ({}, {**ENVIRONMENT, "PARTYWALL_MODEL_KEY": "sk-a-literal-secret"}),
        ({"model_url": "model.invalid"}, ENVIRONMENT),
        ({"port": 99999}, ENVIRONMENT),
        ({"unknown": 1}, ENVIRONMENT),
    ],
)
def test_bad_settings_are_refused_in_one_sentence_without_the_value(
    given: dict[str, Any], environment: dict[str, str]
) -> None:
    with pytest.raises(UsageError) as refused:
        from_environment({**GIVEN, **given}, environment)
    assert "secret" not in str(refused.value).replace("PARTYWALL_TOKEN_KEY", "")
    assert "\n" not in str(refused.value)


def test_a_reference_is_resolved_at_run_time() -> None:
    assert resolve("${LLM_API_KEY}", {"LLM_API_KEY": "sk-live-1"}) == "sk-live-1"
    assert resolve("", {}) is None


@pytest.mark.parametrize("value", ["", "sk-test-1", " SK-TEST-1"])
def test_a_test_key_and_an_unset_one_are_refused(value: str) -> None:
    with pytest.raises(UsageError, match="LLM_API_KEY") as refused:
        resolve("${LLM_API_KEY}", {"LLM_API_KEY": value})
    assert "SK-TEST-1" not in str(refused.value)


def test_a_secret_that_is_no_reference_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        resolve("sk-live-1", {})
    assert "sk-live-1" not in str(refused.value)


def test_an_unknown_mutant_ends_with_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert serve_mutant(["--mutant", "M00", "--data", "x", "--model-url", "http://model.invalid/v1"]) == 2
    assert "no mutant 'M00'" in capsys.readouterr().err


def test_a_session_that_would_be_full_before_it_is_condensed_is_refused() -> None:
    with pytest.raises(UsageError, match=r"condense_at \(180\) must not be above max_turns \(100\)"):
        from_environment({**GIVEN, "max_turns": 100}, ENVIRONMENT)
