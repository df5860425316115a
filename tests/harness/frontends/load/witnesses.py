"""A witness of the reference agent's profile, and the answers that it is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from partywall.canaries import Canary, Keyring, Scope
from partywall.harness.drive.http import load_profile, shipped_profile
from partywall.harness.frontends.load_spec import LoadSpec
from partywall.harness.frontends.load_witness import Reply, Witness
from partywall.harness.plan import Call, Identity, Planting, Probe

KEYRING = Keyring.derive(b"k" * 32, "test")
ANN = Scope("acme", "ann", "s1", "k1")
ZOE = Scope("zeta", "ann", "s1", "k1")


def spec(folder: Path, **changed: Any) -> LoadSpec:
    told: dict[str, Any] = {
        "profile": "reference-agent",
        "target": "reference",
        "seed": 1,
        "users": 4,
        "workers": 2,
        "keyrings": (KEYRING.to_record(),),
        "folder": str(folder),
    }
    return LoadSpec(**{**told, **changed})


def witness(folder: Path, worker: int = 0, **changed: Any) -> Witness:
    profile = load_profile(shipped_profile("reference-agent"), environment={"PARTYWALL_TOKEN_KEY": "t" * 40})
    return Witness(spec(folder, **changed), profile, worker)


def probe(name: str, op: str, scope: Scope, *sows: Canary, **arguments: str) -> Probe:
    return Probe(name, f"client of {scope}", Call(op, Identity.of(scope), scope, arguments), sows)


def planting(name: str, scope: Scope, op: str = "append_turn", seq: int = 0) -> Probe:
    """A probe that plants one canary; another `seq` gives another."""
    mint = Planting(KEYRING)
    canary = [mint.canary(scope, op) for _ in range(seq + 1)][-1]
    return probe(name, op, scope, canary, text=f"the parcel {canary.text} please")


def text_of(planted: Probe) -> str:
    return str(planted.call.arguments["text"])


def answer(value: object, **beside: object) -> Reply:
    return Reply(200, (("content-type", "application/json"),), json.dumps({"value": value, **beside}).encode())


def turns(*texts: str) -> Reply:
    return answer([{"turn": at, "role": "user", "text": text, "task": "k1"} for at, text in enumerate(texts, 1)])


def exchange(seen: Witness, sent: Probe, reply: Reply) -> str:
    """Send, answer; the message of the ending."""
    seen.sent(sent)
    return seen.answered(sent, reply).message
