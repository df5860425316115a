"""A deployment in this process: the whole service over ASGI, with a model that repeats what it was asked."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Protocol

import httpx
from partywall.reference_impl.app import create_app
from partywall.reference_impl.identity import Principal
from partywall.reference_impl.llm import ChatModel
from partywall.reference_impl.parts import Parts, compose
from partywall.reference_impl.session_context import SessionContext
from partywall.reference_impl.settings import Settings

KEY = "a key for tests, long enough to sign with"


class Echo(ChatModel):
    """Remembers every prompt, as text."""

    async def chat(self, context: SessionContext) -> str:
        await asyncio.sleep(0)
        self.__dict__.setdefault("prompts", []).append("\n".join(m["content"] for m in context.messages()))
        return "noted: " + context.messages()[-1]["content"]


class Deployment:
    """One system and a client; an address is (tenant, user[, session[, task]])."""

    def __init__(self, data: Path, parts: Parts, **settings: Any) -> None:
        given = {"data": data, "model_url": "http://model.invalid/v1", "token_key": KEY, "mark_key": KEY}
        given["movable_clock"] = True
        self.system = compose(Settings.model_validate({**given, **settings}), parts)
        self.runner = asyncio.Runner()
        transport = httpx.ASGITransport(create_app(self.system), raise_app_exceptions=False)
        self.client = httpx.AsyncClient(transport=transport, base_url="http://reference")

    @property
    def prompts(self) -> list[str]:
        return list(self.system.model.__dict__.get("prompts", []))

    def token(self, tenant: str, user: str, role: str = "user", lifetime: float = 60) -> str:
        return self.system.tokens.issue(Principal(tenant, user, role), lifetime)

    async def send(self, name: str, at: tuple[str, ...], /, token: str = "", **arguments: Any) -> httpx.Response:
        scope = dict(zip(("tenant", "user", "session", "task"), at, strict=False))
        headers = {"authorization": f"Bearer {token or self.token(at[0], at[1])}"}
        return await self.client.post(f"/v1/{name}", json={"scope": scope, **arguments}, headers=headers)

    def post(self, name: str, at: tuple[str, ...], /, token: str = "", **arguments: Any) -> httpx.Response:
        return self.runner.run(self.send(name, at, token, **arguments))

    def value(self, name: str, at: tuple[str, ...], /, token: str = "", **arguments: Any) -> Any:
        response = self.post(name, at, token, **arguments)
        assert response.status_code == 200, response.text
        return response.json()["value"]

    def view(self, name: str) -> Any:
        return self.value(name, ("ops", "ops"), self.token("ops", "ops", "operator"))

    def together(self, calls: list[tuple[str, tuple[str, ...], dict[str, Any]]]) -> list[httpx.Response]:
        async def all_at_once() -> list[httpx.Response]:
            return await asyncio.gather(*(self.send(name, at, **more) for name, at, more in calls))

        return self.runner.run(all_at_once())

    def close(self) -> None:
        self.runner.run(self.client.aclose())
        self.runner.run(self.system.aclose())
        self.runner.close()


class Deploy(Protocol):
    """Builds a deployment from parts and settings."""

    def __call__(self, parts: Parts | None = None, folder: str = "", **settings: Any) -> Deployment: ...
