"""Model handle: the mock LLM on a loop of its own, as a synchronous test holds it."""

from __future__ import annotations

from collections.abc import Sequence

from partywall.canaries import Scope

from ..mock_llm import Exchange, MockLLM
from .pytest_loop import BackgroundLoop


class MockModel:
    """A running mock LLM: point the agent under test at `base_url`, then read the prompts it sent."""

    def __init__(self, seed: int) -> None:
        self._loop = BackgroundLoop()
        self._mock = MockLLM(seed=seed)
        self._loop.run(self._mock.start())

    @property
    def base_url(self) -> str:
        """What an OpenAI client takes as its base URL; any API key will do."""
        return self._mock.base_url

    def base_url_for(self, scope: Scope | Sequence[str | None]) -> str:
        """A base URL of one scope's own: `prompts(scope)` gives what was asked under it."""
        return self._mock.base_url_for(_path(scope))

    def prompts(self, scope: Scope | Sequence[str | None] | None = None) -> list[str]:
        """The body of every model call so far, oldest first; with a scope, only of those under its own base URL."""
        asked = [exchange for exchange in self.exchanges() if exchange.api is not None]
        if scope is not None:
            under = self._mock.base_url_for(_path(scope)).partition("/s/")[2].partition("/")[0]
            asked = [exchange for exchange in asked if exchange.target.startswith(f"/s/{under}/")]
        return [exchange.body.decode("utf-8", "backslashreplace") for exchange in asked]

    def exchanges(self) -> tuple[Exchange, ...]:
        """Everything that went over the wire, headers and answers included."""

        async def read() -> tuple[Exchange, ...]:
            return self._mock.wiretap.exchanges()

        return self._loop.run(read())

    def use(self, fault: str) -> None:
        """Answer with this fault from now on; `steady` ends it. UsageError for one that is not known."""

        async def change() -> None:
            self._mock.fault = fault

        self._loop.run(change())

    def close(self) -> None:
        """Close the port and every connection."""
        self._loop.run(self._mock.stop())
        self._loop.close()

    def __repr__(self) -> str:
        return f"<mock LLM at {self.base_url}>"


def _path(scope: Scope | Sequence[str | None]) -> Sequence[str | None]:
    return scope.path if isinstance(scope, Scope) else scope
