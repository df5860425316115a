"""Load prompts: what the model behind a target under load was sent, told afterwards whose each prompt was."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import chain

from ..mock_llm import Exchange, Flight, MockLLM, attribute
from ..observe.history import Completed, Header, History, Invoked
from ..observe.recorder import Recorder
from ..plan import Channel
from ..plan.schedule import ASKING


class LoadPrompts:
    """Keeps the prompts that a mock LLM is sent, `most` at most, until it is known who was in flight at each.

    The processes that send do not see the prompts, and the one that sees them does not send. One monotonic clock is
    theirs all, so that calls and prompts can be laid side by side when the run is over. `caught` and `told` count
    prompts: all that came, and those of which it is known whose they are.
    """

    def __init__(self, mock: MockLLM, most: int) -> None:
        self._wiretap = mock.wiretap
        self._most = most
        self._kept: list[tuple[int, int]] = []
        self.caught = self.told = 0
        self._wiretap.watch(self._take)

    def history(self, header: Header, seen_by_workers: Sequence[History]) -> History:
        """The prompts that are surely somebody's, each at its time, as observations of the call that caused it.

        One that several may have caused, and that says of none, is left out: under load many are in flight at once,
        and a canary in it would be some candidate's own.
        """
        stamp = 0
        recorder = Recorder(header, lambda: stamp)
        prompts = [(at, self._wiretap.exchange(number)) for at, number in self._kept]
        asked = [(at, exchange) for at, exchange in prompts if exchange.api is not None]
        missed = self.caught - len(self._kept)
        self.caught = len(asked) + missed
        for at, exchange, flights in _side_by_side(asked, seen_by_workers):
            stamp = at
            found = attribute(exchange, flights.values())
            if found.probe is None and not found.disagreement:
                continue
            flight = flights.get(found.probe or "")
            viewer = (flight.caller[0], flight.caller[1], flight.scope[2], flight.scope[3]) if flight else None
            text = exchange.body.decode("utf-8", "backslashreplace")
            self.told += flight is not None
            recorder.seen(Channel.PROMPT, text, viewer, found.probe, found.how, conflict=found.disagreement)
        if missed:
            recorder.limited(f"{missed} prompts beyond the first {self._most} were not kept")
        return recorder.history()

    def _take(self, number: int) -> None:
        self.caught += 1
        if len(self._kept) < self._most:
            self._kept.append((time.monotonic_ns(), number))
        else:
            self._wiretap.forget(number)


def _side_by_side(
    caught: Sequence[tuple[int, Exchange]], histories: Sequence[History]
) -> Iterator[tuple[int, Exchange, dict[str, Flight]]]:
    """Each prompt with the calls that were in flight when it came, of those that ask a model."""
    calls = chain.from_iterable(history.entries for history in histories)
    ends = sorted((each for each in calls if isinstance(each, Invoked | Completed)), key=lambda each: each.at)
    flights: dict[str, Flight] = {}
    for at, each in merge(((each.at, each) for each in ends), caught, key=lambda pair: pair[0]):
        if isinstance(each, Exchange):
            yield at, each, flights
        elif isinstance(each, Completed):
            flights.pop(each.probe, None)
        elif each.op in ASKING:
            flights[each.probe] = Flight(each.probe, each.caller, each.scope)
