"""Prompt watch: what the mock LLM was sent, told as observations of the probe that caused it."""

from __future__ import annotations

from dataclasses import replace

from ...mock_llm import Exchange, MockLLM, attribute, tag
from ...observe.recorder import Recorder
from ...plan.channel import Channel
from ...plan.identity import RawPath
from ...plan.probe import Call


class PromptWatch:
    """Marks probes in flight at a mock LLM and records each prompt that comes in, once, as the channel `prompt`.

    A prompt belongs to a probe by the evidence that `attribute` weighs; one that is nobody's is recorded without a
    viewer, and judged inconclusive if a canary stands in it.
    """

    def __init__(self, mock: MockLLM) -> None:
        self._mock = mock
        self._recorder: Recorder | None = None
        self._pending: list[int] = []
        self._limits_hit = 0
        mock.wiretap.watch(self._pending.append)

    def observe(self, recorder: Recorder) -> None:
        """Record what comes in from now on; what came before belongs to an earlier world."""
        self._pending.clear()
        self._recorder = recorder

    async def before(self, call: Call) -> Call:
        """Put the probe in flight; a tagged question to the agent gets its self-tag."""
        self._mock.in_flight.enter(call.probe, (call.caller.tenant, call.caller.user), call.scope.path)
        if call.tagged and isinstance(call.arguments.get("text"), str):
            return replace(call, arguments={**call.arguments, "text": f"{call.arguments['text']} {tag(call.probe)}"})
        return call

    async def after(self, call: Call) -> None:
        """Record the prompts that came in, then take the probe out of flight."""
        self.flush()
        self._mock.in_flight.leave(call.probe)

    def flush(self) -> None:
        """Record every prompt that has not been told yet."""
        if self._recorder is None or not self._pending:
            return
        exchanges = {exchange.number: exchange for exchange in self._mock.wiretap.exchanges()}
        for number in self._pending:
            self._tell(exchanges[number])
        self._pending.clear()
        if self._mock.wiretap.limits_hit > self._limits_hit:
            self._limits_hit = self._mock.wiretap.limits_hit
            self._recorder.limited("the mock LLM could not take a request whole")

    def _tell(self, exchange: Exchange) -> None:
        assert self._recorder is not None
        if exchange.api is None:
            return  # no model was asked: a list of models, a health check, a path that does not exist
        attribution = attribute(exchange, exchange.in_flight)
        flights = {flight.probe: flight for flight in exchange.in_flight}
        viewer: RawPath | None = None
        if attribution.probe is not None:
            flight = flights[attribution.probe]
            viewer = (flight.caller[0], flight.caller[1], flight.scope[2], flight.scope[3])
        text = exchange.body.decode("utf-8", "backslashreplace")
        self._recorder.seen(
            Channel.PROMPT, text, viewer, attribution.probe, attribution.how, conflict=attribution.disagreement
        )
