"""Faults on the command line: listed, refused by name, served by the mock LLM."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .adapters import RIGHT
from .conftest import Told

Command = Callable[..., Told]
SERVE = [sys.executable, "-c", "from partywall.harness.frontends.cli import main; main()", "mock-llm"]


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("faults", "fictitious-tool  [tool] the model calls a tool that does not exist"),
        ("mutants", "M58           cut tool "),
    ],
)
def test_faults_and_mutants_are_listed(kind: str, told: str, command: Command) -> None:
    answer = command("list", kind)
    assert answer.code == 0
    assert any(line.startswith(told) for line in answer.out.splitlines()), answer.out


def test_an_unknown_fault_is_refused_before_anything_is_sent(command: Command, folder: Path) -> None:
    answer = command("verify", "--fault", "exeption")
    assert answer.code == 2
    assert answer.err.startswith("error: no fault 'exeption'; known: ambiguous, exception, ")
    assert answer.err.endswith("(did you mean 'exception'?)\n")
    assert not (folder / "out").exists()


def test_a_broken_profile_is_refused_in_one_sentence(command: Command, folder: Path) -> None:
    (folder / "p.yaml").write_text("version: 1\nprofiles: [\n")
    answer = command("verify", "--fault", "p.yaml")
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert answer.err.startswith("error: fault profile 'p.yaml' line 3: no YAML: ")


def test_a_target_without_a_mock_model_cannot_be_struck(command: Command, adapter: Callable[[str], str]) -> None:
    answer = command("verify", "--target", f"{adapter(RIGHT)}:Right", "--fault", "exception")
    assert answer.code == 2
    assert answer.err.count("\n") == 1
    assert "has no mock LLM behind it, so fault 'exception' cannot be delivered" in answer.err


def test_a_trial_under_an_unknown_fault_is_no_trial_of_ours(command: Command) -> None:
    answer = command("replay", "scenario=model_faults target=reference fault=nothing seed=1 size=1")
    assert answer.code == 2
    assert "no fault 'nothing'" in answer.err


@pytest.fixture
def served() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([*SERVE, "--seed", "7", "--fault", "ambiguous"], stdout=subprocess.PIPE, text=True)
    yield process
    process.kill()
    process.wait()


def test_the_mock_llm_says_one_line_answers_and_ends_when_told(served: subprocess.Popen[str]) -> None:
    assert served.stdout is not None
    line = served.stdout.readline()
    assert line.startswith("mock-llm ready on http://127.0.0.1:")
    assert line.endswith("/v1 (seed 7, fault ambiguous)\n")
    body = json.dumps({"messages": [{"role": "user", "content": "hi"}]}).encode()
    with urllib.request.urlopen(line.split()[3] + "/chat/completions", body, timeout=10) as answer:
        content = json.load(answer)["choices"][0]["message"]["content"]
    assert json.loads(content)["label"] == "maybe"
    served.send_signal(signal.SIGTERM)
    assert served.wait(10) == 0
    assert served.stdout.read() == ""


def test_a_taken_port_and_an_unknown_fault_end_the_mock_llm_with_one_sentence(command: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        answer = command("mock-llm", "--port", str(taken.getsockname()[1]))
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("error: port ")
    assert answer.err.count("\n") == 1
    assert command("mock-llm", "--fault", "tmeout").code == 2
    assert command("mock-llm", "--port", "70000").code == 2
