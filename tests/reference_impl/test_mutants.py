"""Every mutant fails its own probe and no unrelated one; the reference passes them all."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import partywall.reference_impl.mutants
import pytest
from partywall.canaries import UsageError
from partywall.reference_impl.llm import Said, ToolCall
from partywall.reference_impl.mutants import Mutant, build_parts, list_mutants
from partywall.reference_impl.parts import Parts
from partywall.reference_impl.session_context import SessionContext

from . import probes, session_probes
from .deployment import Deploy, Deployment, Echo

MUTANTS = {mutant.id: mutant for mutant in list_mutants()}
HOME = Path(partywall.reference_impl.mutants.__file__).parent
ANN = ("acme", "ann", "s1", "k1")
WORD = "hapaxlegomenon"
Probe = Callable[[Deployment], bool]


def _cached(other: tuple[str, ...], layer: str) -> Probe:
    """Whether the same question, asked from `other` after ann, is answered without ann's fact."""

    def holds(deployment: Deployment) -> bool:
        deployment.value("put_fact", ANN, key="a", value=WORD, layer=layer)
        assert WORD in deployment.value("cached_answer", ANN, query="what?")
        return WORD not in deployment.value("cached_answer", other, query="what?")

    return holds


def _one_store(deployment: Deployment) -> bool:
    other = ("zeta", *ANN[1:])
    deployment.value("append_turn", ANN, text=WORD)
    return WORD not in str(deployment.value("list_turns", other) + deployment.value("context", other))


def _prefix(deployment: Deployment) -> bool:
    deployment.value("add_memory", ("acme", "u10"), text=WORD)
    seen = [deployment.value(name, ("acme", "u1")) for name in ("list_memories", "context")]
    return WORD not in str(seen)


def _ambient(deployment: Deployment) -> bool:
    owners = [(f"tenant{n}", *ANN[1:]) for n in range(8)]
    for n, owner in enumerate(owners):
        deployment.value("add_memory", owner, text=f"{WORD}{n}")
        deployment.value("run_turn", owner, text=f"alone {n}.")
    assert all(f"{WORD}{n}" in prompt for n, prompt in enumerate(deployment.prompts))
    deployment.together([("run_turn", owner, {"text": f"question {n}."}) for n, owner in enumerate(owners)])
    together = deployment.prompts[8:]
    asked = [int(re.findall(r"question (\d)\.", prompt)[-1]) for prompt in together]
    return all(set(re.findall(WORD + r"(\d)", p)) == {str(n)} for n, p in zip(asked, together, strict=True))


def _shared_list(deployment: Deployment) -> bool:
    deployment.value("put_fact", ANN, key="a", value=WORD, layer="user")
    assert WORD in str(deployment.value("context", ANN))
    return WORD not in str(deployment.value("context", ("zeta", *ANN[1:])))


def _list(deployment: Deployment) -> bool:
    deployment.value("add_memory", ANN, text=WORD)
    return WORD not in str([deployment.value("list_memories", at) for at in (("zeta", "bob"), ("acme", "bob"))])


def _claimed(deployment: Deployment) -> bool:
    deployment.value("add_memory", ANN, text=WORD)
    return deployment.post("list_memories", ANN, deployment.token("zeta", "ann")).status_code == 403


def _by_id(deployment: Deployment) -> bool:
    memory = deployment.value("add_memory", ANN, text=WORD)
    codes = [deployment.post("get_memory", ("zeta", "bob"), memory_id=memory).status_code]
    codes.append(deployment.post("delete_memory", ("acme", "bob"), memory_id=memory).status_code)
    return codes == [404, 404] and deployment.post("get_memory", ANN, memory_id=memory).status_code == 200


def _cut(tool: str, arguments: str) -> Callable[[Deployment], dict[str, Any]]:
    """The turn in which the model calls a tool with arguments that were cut; the model stays so."""

    def turn(deployment: Deployment) -> dict[str, Any]:
        async def say(context: SessionContext, offered: object = ()) -> Said:
            return Said("", (ToolCall(tool, arguments),))

        deployment.system.model.__dict__["say"] = say
        answer: dict[str, Any] = deployment.value("run_turn", ANN, text="remember this and delete that")
        return answer

    return turn


def _lost_filter(deployment: Deployment) -> bool:
    deployment.value("add_memory", ANN, text=WORD)
    _cut("delete_memory", '{"where": "not')(deployment)
    return WORD in str(deployment.value("list_memories", ANN))


def _stored(deployment: Deployment) -> bool:
    turn = _cut("remember", '{"name": "seat", "val')(deployment)
    return deployment.value("list_facts", ANN) == [] and turn["llm_used"] is False


PROBES: dict[str, Probe] = {
    "M01": _one_store,
    "M03": _cached(("zeta", *ANN[1:]), "user"),
    "M04": _cached(("acme", "bob", *ANN[2:]), "user"),
    "M05": _cached((*ANN[:3], "k2"), "task"),
    "M06": _prefix,
    "M12": _cached(("zeta", "bob", "s2", "k2"), "user"),
    "M20": _ambient,
    "M23": _shared_list,
    "M24": _list,
    "M28": _claimed,
    "M29": _by_id,
    "M58": _lost_filter,
    "M59": _stored,
    "M61": _cached((*ANN[:2], "s2", ANN[3]), "session"),
    **probes.PROBES,
    **session_probes.PROBES,
}
# A fault that is wider than another is seen by the other's probe too.
WIDER = {
    "M01": {"M03", "M20", "M23", "M38", "M62-cache", "M62-filter"},
    "M03": {"M37-cache", "M62-cache"},
    "M04": {"M62-cache"},
    "M12": {"M03", "M04", "M05", "M37-cache", "M61"},
    "M23": {"M03", "M04", "M05", "M12", "M20", "M61"},
    "M24": {"M06"},
    "M30": {"M34a", "M36a", "M43", "M50a"},
    "M45a": {"M45b"},
    "M62-artifact": {"M37-objects"},
    "M62-filter": {"M06", "M20", "M62-cache"},
    "M62-log": {"M37-log"},
}


def _deploy(deploy: Deploy, parts: Parts) -> Deployment:
    return deploy(replace(parts, model=Echo))


def test_every_mutant_has_a_probe() -> None:
    assert set(PROBES) == set(MUTANTS)


@pytest.mark.parametrize("probe", sorted(PROBES))
def test_the_reference_passes_every_probe(deploy: Deploy, probe: str) -> None:
    assert PROBES[probe](_deploy(deploy, Parts()))


@pytest.mark.parametrize("mutant", sorted(PROBES))
def test_a_mutant_fails_its_own_probe(deploy: Deploy, mutant: str) -> None:
    try:
        assert not PROBES[mutant](_deploy(deploy, MUTANTS[mutant].build(Parts())))
    finally:
        _empty_mutable_defaults()


def _related(mutant: str) -> list[str]:
    """The mutants that replace one of the same parts: whose faults it might hold as well."""
    parts = set(MUTANTS[mutant].replaced())
    return [other for other in PROBES if parts & set(MUTANTS[other].replaced())]


@pytest.mark.slow
@pytest.mark.parametrize("mutant", sorted(PROBES))
def test_a_mutant_differs_in_its_fault_and_in_no_other_of_its_part(deploy: Deploy, mutant: str) -> None:
    failed = set()
    for name in _related(mutant):
        try:
            held = PROBES[name](_deploy(deploy, MUTANTS[mutant].build(Parts())))
        finally:
            _empty_mutable_defaults()
        failed |= set() if held else {name}
    assert failed == {mutant} | WIDER.get(mutant, set()) & set(_related(mutant))


@pytest.mark.parametrize("mutant", list(MUTANTS.values()), ids=lambda mutant: mutant.id)
def test_a_mutant_replaces_one_part_by_a_subclass(mutant: Mutant) -> None:
    (part,) = [name for name in mutant.replaced() if name != mutant.unmasks]
    assert not mutant.unmasks or mutant.unmasks in mutant.replaced()
    assert issubclass(getattr(mutant.build(Parts()), part), getattr(Parts(), part))
    assert {each.name for each in fields(Parts)} >= {part}


@pytest.mark.parametrize("path", sorted(HOME.glob("m[0-9]*.py")), ids=lambda path: path.stem)
def test_a_file_is_named_after_its_mutant(path: Path) -> None:
    found = {
        mutant.id for mutant in MUTANTS.values() if path.stem.startswith(mutant.id.lower().replace("-", "_") + "_")
    }
    assert len(found) == 1
    mutant = MUTANTS[found.pop()]
    assert all(re.fullmatch(r"PW\d{3}", code) for code in mutant.caught_by)
    assert mutant.caught_by
    assert mutant.title
    assert mutant.seen_in
    assert ast.get_docstring(ast.parse(path.read_text("utf-8")), clean=False).startswith(f"{mutant.id}: ")  # type: ignore[union-attr]


def test_mutants_are_listed_without_the_web_framework() -> None:
    program = (
        "import sys; from partywall.reference_impl.mutants import list_mutants; list_mutants();"
        "sys.exit(', '.join({'fastapi', 'starlette', 'uvicorn'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stderr.strip() == ""


def test_an_unknown_mutant_is_refused_with_what_is_known() -> None:
    with pytest.raises(UsageError, match="no mutant 'M00'; known: M01, "):
        build_parts("M00")


def _empty_mutable_defaults() -> None:
    # The list that M23 shares outlives its deployment, as the fault has it; the next probe begins afresh.
    shared: Any = MUTANTS["M23"].build(Parts()).assembler.background
    shared.__defaults__[0].clear()
