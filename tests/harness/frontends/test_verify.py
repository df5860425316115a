"""`verify`, `judge` and `replay` over adapters of every kind: the right exit code, a report, nothing unescaped."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from partywall.harness.judge.bench import judge
from partywall.harness.observe.journal import read

from .adapters import HOSTILE, RIGHT, WITHOUT_TENANT
from .conftest import Told

Command = Callable[..., Told]
Adapter = Callable[[str], str]
SCHEMA = json.loads((files("partywall.harness.report") / "results.schema.json").read_text())
UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
FAST = ("--scenarios", "cross_tenant", "--timeout", "0.2")


def results(folder: Path, out: str = "out") -> dict[str, Any]:
    """results.json, valid against the published schema."""
    found: dict[str, Any] = json.loads((folder / out / "results.json").read_text())
    jsonschema.validate(found, SCHEMA)
    return found


def verdicts(found: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [
        (v["trial"], v["check"], v["status"], v["reason"], [f["fingerprint"] for f in v["findings"]])
        for v in found["verdicts"]
    ]


def wrong(body: str) -> str:
    return f"{RIGHT}\nclass Adapter(Right):\n{body}\n"


@pytest.mark.parametrize(("body", "code"), HOSTILE.values(), ids=list(HOSTILE))
def test_whatever_an_adapter_does_there_is_an_exit_code_a_report_and_no_traceback(
    body: str, code: int, command: Command, adapter: Adapter, folder: Path
) -> None:
    limit = "10" if "endless" in body or "100_000" in body or "while True: yield" in body else "0.2"
    told = command("verify", "--target", f"{adapter(wrong(body))}:Adapter", *FAST, "--timeout", limit)
    assert told.code == code, told.err
    assert "Traceback" not in told.out + told.err
    assert not UNSEEN.search(told.out + told.err)
    begun = (folder / "out" / "results.json").exists()
    assert begun or code == 2
    if begun:
        found = results(folder)
        assert found["exit_code"] == code
        for file in (folder / "out").iterdir():
            assert not UNSEEN.search(file.read_text()), file.name
        assert "<script>" not in "".join(file.read_text() for file in (folder / "out").glob("*.md"))


@pytest.mark.parametrize("body", ["    pass", WITHOUT_TENANT, HOSTILE["drops"][0], HOSTILE["denies"][0]])
def test_a_saved_history_gives_the_same_verdicts_and_exit_code_offline(
    body: str, command: Command, adapter: Adapter, folder: Path
) -> None:
    live = command("verify", "--target", f"{adapter(wrong(body))}:Adapter", "--timeout", "2")
    assert "error" not in live.err
    saved = command("judge", "out/history.jsonl", "--out", "again")
    assert saved.code == live.code
    assert verdicts(results(folder, "again")) == verdicts(results(folder))
    assert (folder / "again" / "history.jsonl").read_bytes() == (folder / "out" / "history.jsonl").read_bytes()
    twice = [judge(history) for history in read(folder / "out" / "history.jsonl")]
    assert twice == [judge(history) for history in read(folder / "again" / "history.jsonl")]


def test_the_line_of_a_finding_replays_it(command: Command, adapter: Adapter, folder: Path) -> None:
    target = f"{adapter(wrong(WITHOUT_TENANT))}:Adapter"
    assert command("verify", "--target", target, "--seed", "7", "--size", "2").code == 1
    found = [finding for verdict in results(folder)["verdicts"] for finding in verdict["findings"]]
    assert found
    for trial in {finding["trial"] for finding in found}:
        assert command("replay", trial, "--out", "again").code == 1
        expected = {finding["fingerprint"] for finding in found if finding["trial"] == trial}
        again = results(folder, "again")
        assert {f["fingerprint"] for v in again["verdicts"] for f in v["findings"]} == expected


def test_the_same_seed_gives_the_same_findings_and_another_seed_the_same_fingerprints(
    command: Command, adapter: Adapter, folder: Path
) -> None:
    target = f"{adapter(wrong(WITHOUT_TENANT))}:Adapter"
    for out, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        command("verify", "--target", target, *FAST, "--seed", seed, "--out", out)
    assert verdicts(results(folder, "a")) == verdicts(results(folder, "b"))
    prints = [{f["fingerprint"] for v in results(folder, out)["verdicts"] for f in v["findings"]} for out in ("a", "c")]
    assert prints[0] == prints[1]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), 0),
        (("--require", "isolation"), 0),
        (("--require", "ISOLATION"), 0),
        (("--require", "isolation,erasure"), 4),
        (("--require", "erasure", "--allow-inconclusive"), 4),
    ],
)
def test_a_required_guarantee_that_nothing_covers_is_told_by_the_exit_code(
    options: tuple[str, ...], code: int, command: Command, adapter: Adapter
) -> None:
    assert command("verify", "--target", f"{adapter(RIGHT)}:Right", *FAST, *options).code == code
    assert command("judge", "out/history.jsonl", *options).code == code


@pytest.mark.parametrize(("options", "code"), [((), 4), (("--allow-inconclusive",), 0)])
def test_inconclusive_may_be_allowed(options: tuple[str, ...], code: int, command: Command, adapter: Adapter) -> None:
    told = command("verify", "--target", f"{adapter(wrong(HOSTILE['drops'][0]))}:Adapter", *FAST, *options)
    assert told.code == code
    assert command("judge", "out/history.jsonl", *options).code == code


def test_a_violation_is_not_allowed_by_allowing_the_inconclusive(command: Command, adapter: Adapter) -> None:
    target = f"{adapter(wrong(WITHOUT_TENANT))}:Adapter"
    assert command("verify", "--target", target, *FAST, "--allow-inconclusive").code == 1


def test_a_violation_outlives_a_target_that_dies_later(command: Command, adapter: Adapter, folder: Path) -> None:
    body = WITHOUT_TENANT + (
        "    made = 0\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        type(self).made += 1\n"
        "        if self.made > 2: raise OSError('gone')\n"
    )
    told = command(
        "verify", "--target", f"{adapter(wrong(body))}:Adapter", "--scenarios", "cross_tenant,cross_user,takeover"
    )
    assert told.code == 1
    assert any("gone" in failure for failure in results(folder)["failures"])


def test_the_deployment_key_is_written_nowhere(
    command: Command, adapter: Adapter, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "kestrel-0123456789-0123456789-0123456789"
    monkeypatch.setenv("PARTYWALL_KEY", key)
    target = f"{adapter(wrong(WITHOUT_TENANT))}:Adapter"
    told = command("verify", "--target", target, *FAST)
    (folder / "key").write_text(key + "\n")
    monkeypatch.delenv("PARTYWALL_KEY")
    filed = command("verify", "--target", target, *FAST, "--key-file", "key", "--out", "filed")
    written = "".join(file.read_text() for out in ("out", "filed") for file in (folder / out).iterdir())
    shown = written + "".join(str(part) for part in (*told, *filed))
    assert key not in shown
    assert key.encode().hex() not in shown
    assert verdicts(results(folder)) == verdicts(results(folder, "filed"))
    assert judge(read(folder / "out" / "history.jsonl")[0]).status == "violated"


def test_no_report_but_the_history_holds_a_whole_canary(command: Command, adapter: Adapter, folder: Path) -> None:
    told = command("verify", "--target", f"{adapter(wrong(WITHOUT_TENANT))}:Adapter", *FAST)
    tokens = {sown.canary.text for history in read(folder / "out" / "history.jsonl") for sown in history.sown}
    for file in (folder / "out").iterdir():
        if file.name != "history.jsonl":
            assert not [token for token in tokens if token in file.read_text()], file.name
    assert not [token for token in tokens if token in told.out + told.err]


def test_an_adapter_that_blocks_the_loop_ends_in_a_report(folder: Path, adapter: Adapter) -> None:
    body = "    async def context(self, call, query=''):\n        import time; time.sleep(60)"
    script = (
        "import sys\n"
        "from partywall.harness.frontends import supervise\n"
        "supervise.supervise.__defaults__ = (1.0,)\n"
        "from partywall.harness.frontends.cli import main\n"
        f"sys.argv = ['partywall', 'verify', '--target', '{adapter(wrong(body))}:Adapter', '--timeout', '0.2']\n"
        "main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, timeout=40)
    assert ended.returncode == 3
    assert "Traceback" not in ended.stderr
    assert any("blocked the event loop" in failure for failure in results(folder)["failures"])


def test_an_async_factory_that_never_returns_is_given_up(
    command: Command, adapter: Adapter, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("partywall.harness.run.OPEN_TIMEOUT", 0.2)
    name = adapter("async def make():\n    import asyncio\n    await asyncio.sleep(60)\n")
    assert command("verify", "--target", f"{name}:make", *FAST).code == 3
    assert "did not open within 0.2 s" in results(folder)["failures"][0]


def test_a_harness_that_fails_tells_what_it_had_seen(
    command: Command, adapter: Adapter, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from partywall.harness import run

    honest = run.schedules_of

    def failing(scenario: Any, *rest: Any) -> Any:
        if scenario.id == "cross_user":
            raise RuntimeError("a bug of ours")
        return honest(scenario, *rest)

    monkeypatch.setattr(run, "schedules_of", failing)
    target = f"{adapter(RIGHT)}:Right"
    told = command("verify", "--target", target, "--scenarios", "cross_tenant,cross_user")
    assert told.code == 3
    assert "a bug of ours" in results(folder)["failures"][0]
    assert len(results(folder)["trials"]) == 1


def test_no_scenario_is_started_after_the_time_limit(command: Command, adapter: Adapter, folder: Path) -> None:
    told = command("verify", "--target", f"{adapter(RIGHT)}:Right", "--max-time", "0.000001")
    assert told.code == 4
    assert results(folder)["trials"] == []


def test_the_command_itself_runs_as_a_process(folder: Path, adapter: Adapter) -> None:
    argv = [sys.executable, "-c", "from partywall.harness.frontends.cli import main; main()"]
    target = f"{adapter(wrong(WITHOUT_TENANT))}:Adapter"
    ended = subprocess.run(
        [*argv, "verify", "--target", target, *FAST], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 1
    assert "PW101" in ended.stdout
    assert not UNSEEN.search(ended.stdout)
