"""The four states: active, idle, expired, archived; and activity never extends the end."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any

from partywall.canaries import Scope

from ._demo import Account, Demo
from ._stage import Deployment, NotShown, Stage

LIMITS = {"idle_after": 15 * 60.0, "lifetime": 8 * 3600.0, "archive_after": 30 * 86400.0}
"""Seconds: what a session of the demonstration lives through, by a clock that is moved on."""
LONGEST_WAIT = 60.0
TRIES = 5
POLL = 0.05
PATIENCE = 30.0
"""Seconds to wait for a state beyond the instant it is due."""
_REDACTED = re.compile(r"t[^|\s]+\|u#[0-9a-f]{8}\|s[^|\s]+\|k\S*")


async def run(stage: Stage, account: Account) -> None:
    """A session is written to, left alone, written to again, and left to its end."""
    deployment = await stage.reference(**LIMITS)
    idle, alive, kept = (_span(LIMITS[name]) for name in ("idle_after", "lifetime", "archive_after"))
    moved = ", by a clock that is moved on" if "advance_clock" in deployment.operations else ""
    account.tell(f"with limits of {idle} idle, {alive} alive, {kept} kept{moved}:")
    session, info = await _active(deployment)
    account.claim(f"active: {info['turns']} turn", info["state"] == "active", info["state"])
    end = info["expires_at"]
    state = await _awaited(deployment, session, "idle", LIMITS["idle_after"])
    account.claim("idle after a while without activity", state == "idle", state)
    again = await deployment.ask("append_turn", session, text="Still there?")
    info = await deployment.value("session_info", session)
    account.claim(
        f"idle refuses nothing: a turn is taken, {info['turns']} turns, and the session is {info['state']} again",
        again.status == "ok" and info["state"] == "active",
        again.reason,
    )
    account.claim("and its end has not moved", info["expires_at"] == end, f"{info['expires_at'] - end:+g} s")
    state = await _awaited(deployment, session, "expired", LIMITS["lifetime"])
    account.claim("expired at its end, whatever it did before", state == "expired", state)
    await _refusal(account, deployment, session)
    state = await _awaited(deployment, session, "archived", LIMITS["archive_after"])
    account.claim("archived", state == "archived", state)
    await _left(account, deployment, session)


async def _active(deployment: Deployment) -> tuple[Scope, dict[str, Any]]:
    """A session that was looked at before it could be idle: on a busy machine that may take more than one try."""
    info: dict[str, Any] = {}
    for number in range(1, TRIES + 1):
        session = Scope("gorse", "margaret", f"s{number}", "k1")
        await deployment.value("append_turn", session, text="Good morning.")
        info = await deployment.value("session_info", session)
        if not {"state", "turns", "expires_at"} <= set(info):
            raise NotShown("the states: the target's session_info names no state, turns and expires_at")
        if info["state"] == "active":
            break
    return session, info


async def _awaited(deployment: Deployment, session: Scope, wanted: str, seconds: float) -> str:
    """The state that the session came to: the wanted one, or whatever it was when patience ended.

    Raises NotShown where that would take too long and the target's clock cannot be moved.
    """
    if "advance_clock" in deployment.operations:
        await deployment.value("advance_clock", session, seconds=seconds)
        return str((await deployment.value("session_info", session))["state"])
    if seconds > LONGEST_WAIT:
        raise NotShown(f"{wanted}: it takes {_span(seconds)}, and the target's clock cannot be moved")
    until = time.monotonic() + seconds + min(PATIENCE, 5 * seconds)
    while True:
        state = str((await deployment.value("session_info", session))["state"])
        if state == wanted or time.monotonic() > until:
            return state
        await asyncio.sleep(POLL)


async def _refusal(account: Account, deployment: Deployment, session: Scope) -> None:
    late = await deployment.ask("append_turn", session, text="One more thing.")
    named = _REDACTED.search(late.reason)
    account.claim(
        f"a write is refused as {late.code!r}, naming {named[0] if named else 'no redacted scope'}",
        (late.status, late.code) == ("fail", "expired") and bool(named) and session.user not in late.reason,
        late.reason[:200] or late.status,
    )
    texts = await deployment.texts(session)
    account.claim(f"and nothing of it is stored: {len(texts)} turns", "One more thing." not in texts, texts)


async def _left(account: Account, deployment: Deployment, session: Scope) -> None:
    offered = "archive_session" in deployment.operations
    info = await deployment.value("session_info", session)
    turns = max(info["turns"], len(await deployment.texts(session)) if offered else 0)
    if turns and not offered:
        account.not_shown(f"archived: 0 turns left (the target does not clear an archived session: {turns} turns left)")
        return
    account.measure(f"archived: {turns} turns left", "archived: 0 turns left")
    summary = info.get("summary")
    if summary:
        tasks = ", ".join(f"{task}: {each['turns']} turns" for task, each in summary["tasks"].items())
        account.tell(f"  still told of it: version {info['version']}, {tasks}")


def _span(seconds: float) -> str:
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"


DEMO = Demo(id="four_states", number=6, title="the four states", run=run)
