"""What the caller gets wrong is told in one sentence, before anything is started."""

from __future__ import annotations

import importlib.util
import json
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from partywall.canaries import UsageError
from partywall.harness.drive.http import load_profile
from partywall.harness.drive.http.profile import Limits
from partywall.harness.frontends import load_processes, load_run
from partywall.harness.frontends.commands.load import seconds_of
from partywall.harness.frontends.load_run import LoadPlan
from partywall.harness.frontends.load_spec import VARIABLE, LoadSpec
from partywall.harness.run import scenarios

from ..conftest import Told
from .witnesses import spec

Command = Callable[..., Told]

MISTAKES: dict[str, tuple[tuple[str, ...], str]] = {
    "no users": (("--users", "0"), "--users"),
    "users in words": (("--users", "many"), "--users"),
    "no workers": (("--workers", "0"), "--workers"),
    "more workers than users": (("--users", "2", "--workers", "3"), "3 workers for 2 users"),
    "no rate": (("--spawn-rate", "0"), "--spawn-rate"),
    "no time": (("--run-time", "0s"), "--run-time '0s' is no time; expected"),
    "a time in words": (("--run-time", "a while"), "--run-time 'a while' is no time; expected"),
    "an empty time": (("--run-time", ""), "is no time"),
    "two days": (("--run-time", "48h"), "is no time"),
    "a share above one": (("--max-failed", "5"), "--max-failed"),
    "unknown target": (("--target", "referense"), "no target 'referense'; known:"),
    "unknown mutant": (("--target", "reference:mutant=M999"), "no mutant 'M999'; known:"),
    "unknown store": (("--target", "reference:oracle"), "'oracle' is not understood"),
    "a target of one process": (("--target", "mine:Adapter"), "lives in one process and cannot be put under load"),
    "a library": (("--target", "langgraph"), "lives in one process and cannot be put under load"),
    "a missing profile": (("--target", "missing.yaml"), "profile 'missing.yaml' cannot be read"),
    "a base URL without its token key": (("--target", "http://127.0.0.1:9"), "set PARTYWALL_TOKEN_KEY"),
    "unknown report": (("--report", "jnit"), "no report 'jnit'; known:"),
    "a missing key file": (("--key-file", "missing"), "cannot read key file 'missing'"),
    "unknown option": (("--web",), "--web"),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "expected"), MISTAKES.values(), ids=list(MISTAKES))
def test_a_mistake_is_told_in_one_sentence(
    arguments: tuple[str, ...], expected: str, command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PARTYWALL_TOKEN_KEY", raising=False)
    monkeypatch.setattr(load_processes.LoadProcesses, "run", None)  # nothing may get that far
    monkeypatch.setattr(load_run, "require_locust", lambda: None)
    told = command("load", "--headless", *arguments)
    assert told.code == 2
    assert told.out == ""
    (sentence,) = told.err.splitlines()
    assert sentence.startswith("error: ")
    assert expected in sentence
    assert not (folder / "out" / "results.json").exists()


def test_locust_that_is_not_installed_is_named_by_its_extra(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(load_processes, "find_spec", lambda name: None if name == "locust" else real(name))
    told = command("load", "--headless", "--users", "1")
    assert told.code == 2
    assert told.err == "error: `partywall load` needs the extra 'load': pip install 'partywall[load]'\n"
    assert not (folder / "out").exists()


def test_a_target_where_nobody_listens_is_lost(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTYWALL_TOKEN_KEY", "t" * 40)
    monkeypatch.setattr(load_run, "require_locust", lambda: None)
    with socket.socket() as taken:  # bound and not listening: nobody else can take it, and nobody answers
        taken.bind(("127.0.0.1", 0))
        told = command("load", "--target", f"http://127.0.0.1:{taken.getsockname()[1]}")
    assert told.code == 3
    assert "cannot be reached" in told.err


PROFILE = """
version: 1
name: small
base_url: http://127.0.0.1:9
identities: {IDENTITIES}
operations:
  append_turn: {request: {path: /a, json: {text: "{{text}}"}}}
  list_turns: {request: {path: /b, json: {}}, response: {items: /turns, text: /text}}
"""


def test_more_users_than_the_profile_bears_or_knows_are_refused() -> None:
    known = '{"acme/ann": {headers: {X-User: "ann"}}, "zeta/*": {headers: {X-User: "bob"}}}'
    profile = load_profile(PROFILE.replace("{IDENTITIES}", known))
    plan = LoadPlan("small.yaml", users=4, spawn_rate=1, run_time=1)
    load_run._admit(replace(plan, users=2), profile)
    with pytest.raises(UsageError, match=r"no identity of the profile matches 'acme/bob'.*--users 2 it would suffice"):
        load_run._admit(plan, profile)
    crowded = replace(load_profile(PROFILE.replace("{IDENTITIES}", "{}")), limits=Limits(concurrency=3))
    with pytest.raises(UsageError, match="bears 3 requests at once; --users 4 would send more"):
        load_run._admit(plan, crowded)


def test_the_line_of_a_load_run_says_how_to_run_it_again(command: Command) -> None:
    told = command("replay", "scenario=load target=reference:mutant=M12 fault=steady seed=3 size=8")
    assert told.code == 2
    assert "partywall load --target reference:mutant=M12 --users 8 --seed 3" in told.err


@pytest.mark.parametrize(
    ("text", "seconds"), [("10s", 10), ("90", 90), ("2m", 120), ("1h30m", 5400), ("1m1.5s", 61.5), ("24h", 86400)]
)
def test_a_time_is_read_as_it_is_written(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


def test_the_scenario_registry_knows_nothing_of_load() -> None:
    assert "load" not in scenarios()
    assert "locustfile" not in scenarios()


def test_a_worker_is_told_by_its_environment_and_learns_neither_locust_settings_nor_the_key(tmp_path: Path) -> None:
    told = spec(tmp_path)
    inherited = {"PATH": "/bin", "LOCUST_USERS": "99", "PARTYWALL_KEY": "k" * 40}
    environment = told.environment(inherited, {"PARTYWALL_TOKEN_KEY": "t"})
    assert set(environment) == {"PATH", "PARTYWALL_TOKEN_KEY", VARIABLE}
    assert LoadSpec.of(environment) == told


@pytest.mark.parametrize("value", [None, "", "{}", "[]", "{oops", '{"keyrings": []}', json.dumps({"nonsense": 1})])
def test_a_locustfile_that_is_run_by_hand_says_how_to_run_it(value: str | None) -> None:
    with pytest.raises(UsageError, match="partywall load"):
        LoadSpec.of({} if value is None else {VARIABLE: value})
