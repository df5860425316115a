"""Watched: an HTTP target with the mock LLM behind it, so that prompts are observed too."""

from __future__ import annotations

from dataclasses import replace

from ...mock_llm import MockLLM
from ...observe.recorder import Recorder
from ...plan.channel import Channel
from ...plan.probe import Call
from ..http import HttpTarget, Profile
from ._prompt_watch import PromptWatch


class WatchedHttpTarget(HttpTarget):
    """Marks each call in flight at the mock, and records the prompts that it caused before it counts as ended."""

    def __init__(self, profile: Profile, mock: MockLLM, name: str = "") -> None:
        super().__init__(profile, name)
        self.capabilities = replace(profile.capabilities, watches=profile.capabilities.watches | {str(Channel.PROMPT)})
        self.mock = mock
        self._prompts = PromptWatch(mock)

    def observe(self, recorder: Recorder) -> None:
        """Record headers and prompts there."""
        super().observe(recorder)
        self._prompts.observe(recorder)

    async def before(self, call: Call) -> Call:
        """Put the call in flight."""
        return await self._prompts.before(call)

    async def after(self, call: Call) -> None:
        """Record the prompts it caused."""
        await self._prompts.after(call)

    async def settle(self) -> None:
        """Record the prompts that came in late, and the faults that nobody took."""
        self._prompts.settle()

    async def aclose(self) -> None:
        """Stop the mock LLM."""
        await super().aclose()
        await self.mock.stop()
