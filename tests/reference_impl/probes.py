"""Probes of faults in purges, keys and caches: each is true of the reference and false of its mutant."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from .deployment import Deployment

ANN = ("acme", "ann", "s1", "k1")
BESIDE = ("acme0", "ann", "s1", "k1")
OTHERS = [("zeta", *ANN[1:]), ("acme", "bob", *ANN[2:]), (*ANN[:2], "s2", "k1"), (*ANN[:3], "k2")]
WORD = "hapaxlegomenon"
Probe = Callable[[Deployment], bool]


def _sown(deployment: Deployment, at: tuple[str, ...] = ANN) -> None:
    for n in range(3):
        deployment.value("append_turn", at, text=f"{WORD} {n}")
    deployment.value("add_memory", at, text=f"tea with {WORD}")
    deployment.value("put_artifact", at, name="report", text=WORD)
    deployment.value("cached_answer", at, query="what is known?")


def _purged(deployment: Deployment) -> None:
    deployment.value("purge", ANN, deployment.token("acme", "ann", "admin"), level="tenant")


def _nothing_left(place: str) -> Probe:
    def holds(deployment: Deployment) -> bool:
        _sown(deployment)
        assert WORD in str(deployment.view("stored_bytes")[place])
        _purged(deployment)
        return WORD not in str(deployment.view("stored_bytes")[place])

    return holds


def _no_line_left(deployment: Deployment) -> bool:
    _sown(deployment)
    named = "tacme|" in str(deployment.view("read_log"))
    _purged(deployment)
    return named and "tacme|" not in str(deployment.view("read_log"))


def _no_late_reply(deployment: Deployment) -> bool:
    async def chat(context: Any) -> str:
        await deployment.send("purge", ANN, level="session")
        return WORD

    deployment.system.model.__dict__["chat"] = chat
    deployment.post("run_turn", ANN, text="how is it?")
    return WORD not in str(deployment.value("list_turns", ANN))


def _neighbour_kept(deployment: Deployment) -> bool:
    _sown(deployment)
    _sown(deployment, BESIDE)
    _purged(deployment)
    return len(deployment.value("list_turns", BESIDE)) == 3


def _whole_search(deployment: Deployment) -> bool:
    for n in range(12):
        deployment.value("add_memory", ANN, text=f"tea {n}")
    deployment.value("context", ANN, query="tea")
    return len(deployment.value("search_memory", ANN, query="tea", limit=20)) == 12


def _own_answer(deployment: Deployment) -> bool:
    for word in ("tea", "coffee"):
        deployment.value("add_memory", ANN, text=f"{word} at four")
    found = [deployment.value("search_memory", ANN, query=word) for word in ("tea", "coffee")]
    return [each["text"] for [each] in found] == ["tea at four", "coffee at four"]


def _unannotated(deployment: Deployment) -> bool:
    for at in (ANN, OTHERS[0]):
        deployment.value("add_memory", at, text="tea at four")
    deployment.value("context", ANN, query=f"tea with {WORD}?")
    return WORD not in str(deployment.value("context", OTHERS[0], query="tea"))


def _own_search(deployment: Deployment) -> bool:
    deployment.value("add_memory", ANN, text=f"tea with {WORD}")
    assert deployment.value("search_memory", ANN, query="tea")
    return not any(WORD in str(deployment.value("search_memory", at, query="tea")) for at in OTHERS[:2])


def _own_recall(deployment: Deployment) -> bool:
    deployment.value("add_memory", ANN, text=f"tea with {WORD}")
    return not any(WORD in str(deployment.value("context", at, query=f"any {WORD}?")) for at in OTHERS[:2])


def _own_artifact(deployment: Deployment) -> bool:
    for at in (ANN, *OTHERS):
        deployment.value("put_artifact", at, name="report", text="/".join(at))
    return all(deployment.value("get_artifact", at, name="report") == "/".join(at) for at in (ANN, *OTHERS))


def _located_lines(deployment: Deployment) -> bool:
    deployment.value("append_turn", ANN, text="hello")
    return all(key.startswith("tacme|") for key in deployment.view("stored_keys")["log"])


def _unlocked(deployment: Deployment) -> bool:
    async def chat(context: Any) -> str:
        sent = deployment.send("append_turn", ANN, text="meanwhile")
        taken.append((await asyncio.wait_for(sent, 2)).status_code)
        return "done"

    taken: list[int] = []
    deployment.system.model.__dict__["chat"] = chat
    deployment.post("run_turn", ANN, text="how is it?")
    return taken == [200]


def _owned_locks(deployment: Deployment) -> bool:
    deployment.value("append_turn", ANN, text="hello")
    return all(key.startswith("tacme|uann|ss1|") for key in deployment.view("stored_keys")["locks"])


def _own_allowance(deployment: Deployment) -> bool:
    deployment.value("list_sessions", ANN)
    return all(key.startswith("tacme|") for key in deployment.view("stored_keys")["rates"])


PROBES: dict[str, Probe] = {
    "M37-cache": _nothing_left("cache"),
    "M37-index": _nothing_left("index"),
    "M37-late": _no_late_reply,
    "M37-log": _no_line_left,
    "M37-objects": _nothing_left("objects"),
    "M37-page": _nothing_left("main"),
    "M38": _neighbour_kept,
    "M53": _whole_search,
    "M54": _own_answer,
    "M60": _unannotated,
    "M62-artifact": _own_artifact,
    "M62-cache": _own_search,
    "M62-filter": _own_recall,
    "M62-lock": _owned_locks,
    "M62-log": _located_lines,
    "M62-rate": _own_allowance,
    "M65": _unlocked,
}
