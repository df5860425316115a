"""Targets `langgraph` and `langgraph-sqlite`: LangGraph checkpointers, keyed by one thread id."""

from __future__ import annotations

import tempfile
from contextlib import AsyncExitStack
from typing import Any

from ...plan.probe import Call
from ..adapter import SessionKey, library


class LangGraphThreads:
    """A graph of one node that answers nothing: what is kept is what was said. There is no task dimension."""

    name = "LangGraph InMemorySaver"
    dimensions = ("tenant", "user", "session")

    def __init__(self, key: SessionKey, sqlite: bool = False) -> None:
        self._key = key
        self._sqlite = sqlite
        self._stack = AsyncExitStack()
        self._graph: Any = None

    async def append_turn(self, call: Call, text: str, role: str = "user", expected_version: Any = None) -> None:
        await (await self._compiled()).ainvoke({"messages": [(role, text)]}, self._thread(call))

    async def list_turns(self, call: Call, limit: int | None = None) -> list[dict[str, Any]]:
        state = await (await self._compiled()).aget_state(self._thread(call))
        messages = state.values.get("messages", [])
        return [{"role": message.type, "text": str(message.content)} for message in messages]

    async def aclose(self) -> None:
        await self._stack.aclose()

    def _thread(self, call: Call) -> dict[str, Any]:
        return {"configurable": {"thread_id": self._key(call.scope)}}  # type: ignore[arg-type]  # raw ids likewise

    async def _compiled(self) -> Any:
        if self._graph is None:
            from langgraph.graph import END, START, MessagesState, StateGraph

            graph = StateGraph(MessagesState)
            graph.add_node("listen", lambda state: {"messages": []})
            graph.add_edge(START, "listen")
            graph.add_edge("listen", END)
            self._graph = graph.compile(checkpointer=await self._saver())
        return self._graph

    async def _saver(self) -> Any:
        if not self._sqlite:
            from langgraph.checkpoint.memory import InMemorySaver

            return InMemorySaver()
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="partywall-"))
        return await self._stack.enter_async_context(AsyncSqliteSaver.from_conn_string(f"{folder}/threads.db"))


class LangGraphSqliteThreads(LangGraphThreads):
    """The same over `AsyncSqliteSaver`."""

    name = "LangGraph AsyncSqliteSaver"

    def __init__(self, key: SessionKey) -> None:
        super().__init__(key, sqlite=True)


TARGET = (
    library(
        "langgraph",
        "LangGraph's InMemorySaver by thread_id; langgraph:bare leaves the owner out",
        "langgraph",
        ("langgraph.graph", "langgraph.checkpoint.memory"),
        LangGraphThreads,
    ),
    library(
        "langgraph-sqlite",
        "LangGraph's AsyncSqliteSaver by thread_id; langgraph-sqlite:bare leaves the owner out",
        "langgraph",
        ("langgraph.graph", "langgraph.checkpoint.sqlite.aio"),
        LangGraphSqliteThreads,
    ),
)
