"""Prompt watch: what the mock LLM was sent, told as observations of the probe that caused it."""

from __future__ import annotations

from dataclasses import replace

from ...mock_llm import Exchange, MockLLM, attribute, profile_of, tag
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
        self._struck: dict[int, str | None] = {}
        self._limits_hit = 0
        mock.wiretap.watch(self._pending.append)

    def observe(self, recorder: Recorder) -> None:
        """Record what comes in from now on; what came before belongs to an earlier world."""
        self._pending.clear()
        self._struck.clear()
        self._recorder = recorder

    async def before(self, call: Call) -> Call:
        """Put the probe in flight, with the fault that is to strike it; a tagged question gets its self-tag."""
        if call.fault:
            profile_of(call.fault)  # one that is not known fails here, where the call is told of it
        caller = (call.caller.tenant, call.caller.user)
        self._mock.in_flight.enter(call.probe, caller, call.scope.path, call.fault)
        if call.tagged and isinstance(call.arguments.get("text"), str):
            return replace(call, arguments={**call.arguments, "text": f"{call.arguments['text']} {tag(call.probe)}"})
        return call

    async def after(self, call: Call) -> None:
        """Record the prompts that came in, then take the probe out of flight."""
        self.flush()
        self._mock.in_flight.leave(call.probe)

    def flush(self) -> None:
        """Record every prompt that has not been told yet, and every fault that has been delivered since."""
        if self._recorder is None:
            return
        for number in self._pending:
            self._tell(self._mock.wiretap.exchange(number))
        self._pending.clear()
        self._tell_faults()
        if self._mock.wiretap.limits_hit > self._limits_hit:
            self._limits_hit = self._mock.wiretap.limits_hit
            self._recorder.limited("the mock LLM could not take a request whole")

    def settle(self) -> None:
        """Record what is outstanding: a fault that was not delivered by now was not."""
        self.flush()
        self._tell_faults(last=True)

    def _tell_faults(self, last: bool = False) -> None:
        """A fault is told once its answer was taken: at the end of its turn a client may still be waiting on a silent
        server."""
        assert self._recorder is not None
        for number, probe in list(self._struck.items()):
            exchange = self._mock.wiretap.exchange(number)
            if exchange.delivered or last:
                del self._struck[number]
                detail = f"{exchange.rule}: call {exchange.call}, attempt {exchange.attempt}"
                self._recorder.faulted(
                    str(exchange.fault), exchange.delivered, probe, detail, exchange.said, exchange.mark
                )

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
        if exchange.rule:
            self._struck[exchange.number] = attribution.probe
        text = exchange.body.decode("utf-8", "backslashreplace")
        self._recorder.seen(
            Channel.PROMPT, text, viewer, attribution.probe, attribution.how, conflict=attribution.disagreement
        )
