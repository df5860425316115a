"""Profiles for tests: the smallest one that loads, and what is added to it."""

from __future__ import annotations

import textwrap
from typing import Any

from partywall.canaries import Scope
from partywall.harness.drive.http import HttpTarget, Profile, load_profile
from partywall.harness.observe.outcome import Outcome
from partywall.harness.plan.identity import Address, Identity
from partywall.harness.plan.probe import Call

ANN = Identity("acme", "ann")
BOB = Identity("zeta", "bob")
HOME = Scope("acme", "ann", "s1", "k1")

HEAD = """\
version: 1
name: small
base_url: {url}
"""
RUN_TURN = """\
operations:
  run_turn:
    request: {path: /turns, json: {text: "{{text}}", session: "{{session}}"}}
    response: {text: /reply}
"""


def small(*more: str, url: str = "http://agent.invalid", operations: str = RUN_TURN, **settings: Any) -> Profile:
    """A profile with `more` top-level text and these operations."""
    parts = [HEAD.replace("{url}", url), *(textwrap.dedent(part) for part in more), textwrap.dedent(operations)]
    return load_profile("\n".join(part.rstrip("\n") for part in parts), settings.pop("environment", {}), **settings)


def a_call(op: str = "run_turn", caller: Identity = ANN, at: Scope | Address = HOME, **arguments: Any) -> Call:
    """A call of Ann's in her own scope; `text` where nothing else is said."""
    if op == "run_turn":
        arguments = {"text": "hello", **arguments}
    return Call(op, caller, at, arguments, timeout=60.0)


async def asked(profile: Profile, *calls: Call) -> list[Outcome]:
    """The outcomes of these calls, one after the other, by one client."""
    target = HttpTarget(profile)
    client = await target.connect(ANN)
    try:
        return [await client.invoke(call) for call in calls]
    finally:
        await client.aclose()
        await target.aclose()
