"""Prompts caught by one process, told by the calls that others sent at the time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
from partywall.canaries import Scope
from partywall.harness.frontends.load_merge import gathered, merged
from partywall.harness.frontends.load_prompts import LoadPrompts
from partywall.harness.frontends.load_witness import header_of
from partywall.harness.judge.bench import judge
from partywall.harness.judge.verdict import Status, Verdict
from partywall.harness.mock_llm import MockLLM, tag
from partywall.harness.observe.history import History, Limited, Seen
from partywall.harness.plan import Probe

from .witnesses import ANN, ZOE, answer, planting, probe, spec, text_of, witness

SAID = answer({"text": "All is well."})
ACK = answer({"turn": 1, "version": 1})


def watched(folder: Path, turns_of: Mapping[str, Scope], prompts: Mapping[str, str], most: int = 100) -> History:
    """Ann's canary is planted; then all turns are in flight at once while the model is sent the prompts."""

    async def run() -> History:
        worker = witness(folder, 0, prompts=True)
        hers, his = planting("u0-1", ANN), planting("u1-1", ZOE)
        for each in (hers, his):
            worker.sent(each)
            worker.answered(each, ACK)
        canaries = {"ann": text_of(hers), "zoe": text_of(his)}
        async with MockLLM() as mock, httpx.AsyncClient() as http:
            caught = LoadPrompts(mock, most)
            asked: list[Probe] = [probe(name, "run_turn", scope, text="what?") for name, scope in turns_of.items()]
            for each in asked:
                worker.sent(each)
            for text in prompts.values():
                body = {"model": "m", "messages": [{"role": "user", "content": text.format(**canaries)}]}
                (await http.post(f"{mock.base_url}/chat/completions", json=body)).raise_for_status()
            for each in asked:
                worker.answered(each, SAID)
            worker.close()
            histories, _ = gathered(folder, 1)
            header = header_of(spec(folder, prompts=True), histories[0].header.capabilities)
            histories.append(caught.history(header, histories))
            assert caught.caught == len(prompts)
            return merged(histories, header)

    return asyncio.run(run())


def verdict(history: History, check: str) -> Verdict:
    (found,) = [each for each in judge(history).verdicts if each.check == check]
    return found


def seen(history: History) -> list[Any]:
    return [(entry.viewer, entry.how) for entry in history.entries if isinstance(entry, Seen)]


def test_a_leak_that_shows_in_a_prompt_and_in_no_answer_is_found(tmp_path: Path) -> None:
    history = watched(tmp_path, {"u1-2": ZOE}, {"one": "He asks: what? You know: {ann}"})
    assert seen(history) == [(ZOE.path, "sole")]
    (finding,) = verdict(history, "leak").findings
    assert (finding.code, finding.observer, finding.channel) == ("PW101", "zeta/ann/s1/k1", "prompt")


def test_a_tag_tells_of_two_turns_at_once_whose_prompt_it_is(tmp_path: Path) -> None:
    both = {"u0-2": ANN, "u1-2": ZOE}
    history = watched(tmp_path, both, {"one": f"what? {tag('u0-2')} {{ann}}", "two": f"what? {tag('u1-2')} {{zoe}}"})
    assert seen(history) == [(ANN.path, "tag"), (ZOE.path, "tag")]
    assert verdict(history, "leak").status is not Status.VIOLATED


def test_a_prompt_that_may_be_anybodys_is_no_observation(tmp_path: Path) -> None:
    history = watched(tmp_path, {"u0-2": ANN, "u1-2": ZOE}, {"one": "what? {ann}"})
    assert seen(history) == []
    assert verdict(history, "leak").status is not Status.VIOLATED


def test_marks_of_two_callers_in_one_prompt_are_told(tmp_path: Path) -> None:
    history = watched(tmp_path, {"u0-2": ANN, "u1-2": ZOE}, {"one": f"{tag('u0-2')} {tag('u1-2')}"})
    assert {finding.code for finding in verdict(history, "attribution").findings} == {"PW109"}


def test_a_turn_that_has_ended_is_not_in_flight(tmp_path: Path) -> None:
    history = watched(tmp_path, {}, {"one": f"what? {tag('u0-1')} {{ann}}"})
    assert seen(history) == []


def test_prompts_beyond_the_limit_are_told_of(tmp_path: Path) -> None:
    history = watched(tmp_path, {"u1-2": ZOE}, {"one": "what?", "two": "what?", "three": "what?"}, most=2)
    assert len(seen(history)) == 2
    assert [entry.what for entry in history.entries if isinstance(entry, Limited)] == [
        "1 prompts beyond the first 2 were not kept"
    ]


def test_where_no_prompt_is_watched_the_channel_is_not_claimed(tmp_path: Path) -> None:
    capabilities = witness(tmp_path).profile.capabilities
    assert "prompt" not in header_of(spec(tmp_path), capabilities).capabilities.watches
    assert "prompt" in header_of(spec(tmp_path, prompts=True), capabilities).capabilities.watches
