"""Target `openai-agents`: the SQLite session store of the OpenAI Agents SDK, keyed by one session id."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from ...plan.probe import Call
from ..adapter import SessionKey, library


class OpenAIAgentsSessions:
    """Turns in one SQLite file, as `Runner.run(session=…)` keeps them. There is no task dimension."""

    name = "openai-agents SQLiteSession"
    dimensions = ("tenant", "user", "session")

    def __init__(self, key: SessionKey) -> None:
        self._key = key
        self._folder = tempfile.TemporaryDirectory(prefix="partywall-")
        self._sessions: dict[str, Any] = {}

    async def append_turn(self, call: Call, text: str, role: str = "user", expected_version: Any = None) -> None:
        await self._session(call).add_items([{"role": role, "content": text}])

    async def list_turns(self, call: Call, limit: int | None = None) -> list[dict[str, Any]]:
        items = await self._session(call).get_items(limit)
        return [{"role": item.get("role"), "text": str(item.get("content"))} for item in items]

    async def delete_session(self, call: Call) -> None:
        await self._session(call).clear_session()

    async def aclose(self) -> None:
        for session in self._sessions.values():
            session.close()
        self._folder.cleanup()

    def _session(self, call: Call) -> Any:
        from agents import SQLiteSession

        key = self._key(call.scope)  # type: ignore[arg-type]  # raw addresses have the same four ids
        if key not in self._sessions:
            self._sessions[key] = SQLiteSession(key, Path(self._folder.name) / "sessions.db")
        return self._sessions[key]


TARGET = library(
    "openai-agents",
    "the OpenAI Agents SDK's SQLite session store; openai-agents:bare keys it by the session id alone",
    "openai-agents",
    ("agents",),
    OpenAIAgentsSessions,
)
