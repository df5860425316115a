"""The driver: lines side by side, phases one after the other, a client an identity, an end to everything."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from typing import Any

import pytest
from partywall.canaries import Scope
from partywall.harness.drive import driver
from partywall.harness.drive.driver import Limits, closed
from partywall.harness.drive.targets.function import FunctionTarget
from partywall.harness.judge.bench import judge
from partywall.harness.judge.verdict import Status
from partywall.harness.observe.history import Completed, History, Invoked
from partywall.harness.observe.recorder import Recorder
from partywall.harness.plan import Address, ValueOf

from .driving import ANN, BOB, SHORT, driven, probe

USERS = [Scope("acme", f"user-{n}", "s1", "k1") for n in range(4)]


class Store:
    """Turns in a list."""

    def __init__(self) -> None:
        self.turns: list[str] = []

    def append_turn(self, call: Any, text: str, role: str = "user", expected_version: Any = None) -> Any:
        self.turns.append(text)

    def list_turns(self, call: Any, limit: int | None = None) -> Any:
        return list(self.turns)


class Meeting(Store):
    """Every listing waits until all four users have come: it answers only if the calls overlap."""

    def __init__(self) -> None:
        super().__init__()
        self.barrier = threading.Barrier(len(USERS))

    def list_turns(self, call: Any, limit: int | None = None) -> Any:
        self.barrier.wait(timeout=5)
        return ["met"]


class AsyncMeeting(Store):
    def __init__(self) -> None:
        super().__init__()
        self.waiting = 0

    async def list_turns(self, call: Any, limit: int | None = None) -> Any:
        self.waiting += 1
        while self.waiting < len(USERS):
            await asyncio.sleep(0.001)
        return ["met"]


class Crowded(Store):
    """Notes how many were inside at once."""

    threadsafe = False

    def __init__(self) -> None:
        super().__init__()
        self.inside = self.most = 0

    def list_turns(self, call: Any, limit: int | None = None) -> Any:
        self.inside += 1
        self.most = max(self.most, self.inside)
        time.sleep(0.005)
        self.inside -= 1
        return []


class Silent(Store):
    """Never answers; `wake` lets its threads end with the test."""

    def __init__(self) -> None:
        super().__init__()
        self.wake = threading.Event()
        self.asked = 0

    def list_turns(self, call: Any, limit: int | None = None) -> Any:
        self.asked += 1
        self.wake.wait(10)
        return []


def spans(history: History) -> dict[str, tuple[int, int]]:
    """When each probe was sent and when it ended, by its place in the history."""
    begun = {e.probe: n for n, e in enumerate(history.entries) if isinstance(e, Invoked)}
    ended = {e.probe: n for n, e in enumerate(history.entries) if isinstance(e, Completed)}
    return {name: (begun[name], ended[name]) for name in begun}


@pytest.mark.parametrize("adapter", [Meeting, AsyncMeeting])
def test_lines_of_one_phase_really_overlap(adapter: type[Store]) -> None:
    history, _ = driven(adapter(), [probe(f"p{n}", scope=user) for n, user in enumerate(USERS)], limits=Limits(5))
    assert [history.outcome(f"p{n}").value for n in range(4)] == [["met"]] * 4
    assert max(start for start, _ in spans(history).values()) < min(end for _, end in spans(history).values())


def test_an_adapter_that_is_not_threadsafe_is_never_entered_twice() -> None:
    adapter = Crowded()
    driven(adapter, [probe(f"p{n}", scope=user) for n, user in enumerate(USERS)], limits=Limits(5))
    assert adapter.most == 1


def test_a_threadsafe_adapter_is_entered_by_several() -> None:
    adapter = Crowded()
    adapter.threadsafe = True
    driven(adapter, [probe(f"p{n}", scope=user) for n, user in enumerate(USERS)], limits=Limits(5))
    assert adapter.most > 1


def test_no_probe_of_a_phase_is_sent_before_every_probe_of_the_last_one_ended() -> None:
    class Uneven(Store):
        async def list_turns(self, call: Any, limit: int | None = None) -> Any:
            await asyncio.sleep(0.03 if call.caller.user == "user-0" else 0)
            return []

    phases = [[probe(f"{phase}.{n}", scope=user) for n, user in enumerate(USERS)] for phase in range(3)]
    found = spans(driven(Uneven(), *phases)[0])
    for earlier, later in itertools.pairwise(phases):
        assert max(found[one.id][1] for one in earlier) < min(found[one.id][0] for one in later)


def test_probes_of_one_client_keep_their_order() -> None:
    history, _ = driven(Store(), [probe(f"p{n}", "append_turn", text=str(n)) for n in range(5)])
    ends = spans(history)
    assert all(ends[f"p{n}"][1] < ends[f"p{n + 1}"][0] for n in range(4))


def test_every_identity_has_a_client_of_its_own() -> None:
    connected: list[str] = []

    class Counted(FunctionTarget):
        async def connect(self, identity: Any) -> Any:
            connected.append(str(identity))
            return await super().connect(identity)

    async def run() -> None:
        target = Counted(Store(), "test")
        from partywall.harness.plan import Phase, Schedule

        phase = Phase.of([probe("p1"), probe("p2"), probe("p3", scope=BOB)])
        await driver.drive(Schedule((phase, Phase.of([probe("p4")]))), target, _recorder(target))

    asyncio.run(run())
    assert sorted(connected) == ["acme/ann", "acme/bob"]


def _recorder(target: FunctionTarget) -> Recorder:
    from partywall.canaries import DEFAULT_PREFIX
    from partywall.harness.observe.history import Header
    from partywall.harness.plan import Trial

    return Recorder(Header(Trial("test", "test"), target.capabilities, (), DEFAULT_PREFIX))


def test_a_target_that_never_answers_is_given_up_and_the_rest_is_not_sent() -> None:
    adapter = Silent()
    probes = [probe(f"p{n}") for n in range(6)]
    history, report = driven(adapter, probes, [probe("last")], limits=Limits(call_timeout=0.05, max_silent=3))
    adapter.wake.set()
    assert report.stopped == "the target left 3 calls in a row unanswered"
    assert adapter.asked == 3
    assert {entry.probe for entry in history.limits} >= {"p3", "p4", "p5", "last"}
    assert judge(history).status is not Status.HELD


def test_an_answer_in_between_keeps_the_target_alive() -> None:
    class Now(Silent):
        def append_turn(self, call: Any, text: str, role: str = "user", expected_version: Any = None) -> None: ...

    adapter = Now()
    line = [p for n in range(3) for p in (probe(f"r{n}"), probe(f"w{n}", "append_turn", text="x"))]
    _, report = driven(adapter, line, limits=Limits(call_timeout=0.05, max_silent=2))
    adapter.wake.set()
    assert not report.stopped


def test_each_replacement_of_a_client_has_a_new_name() -> None:
    adapter = Silent()
    history, _ = driven(adapter, [probe(f"p{n}") for n in range(3)], limits=Limits(call_timeout=0.02))
    adapter.wake.set()
    assert [history.invocations[f"p{n}"].client for n in range(3)] == ["acme/ann", "acme/ann~1", "acme/ann~2"]


class Memories(Store):
    """Gives each memory an id of the form that was asked for."""

    def __init__(self, given: Any) -> None:
        super().__init__()
        self.given = given
        self.asked: list[Any] = []

    def add_memory(self, call: Any, text: str) -> Any:
        if isinstance(self.given, Exception):
            raise self.given
        return self.given

    def get_memory(self, call: Any, memory_id: Any) -> Any:
        self.asked.append(memory_id)
        return "x"


@pytest.mark.parametrize(
    ("given", "asked"),
    [("m1", "m1"), (7, 7), ({"id": "m1"}, "m1"), ({"memory_id": 9}, 9), ({"id": 0}, 0), ("", "")],
)
def test_an_id_given_at_run_time_is_asked_for(given: Any, asked: Any) -> None:
    adapter = Memories(given)
    line = [probe("p1", "add_memory", text="x"), probe("p2", "get_memory", memory_id=ValueOf("p1"))]
    history, _ = driven(adapter, line)
    assert adapter.asked == [asked]
    assert history.invocations["p2"].arguments == {"memory_id": asked}


@pytest.mark.parametrize("given", [None, {}, {"other": 1}, ValueError("x")], ids=repr)
def test_a_probe_that_lacks_its_id_is_not_sent_and_proves_nothing(given: Any) -> None:
    adapter = Memories(given)
    line = [probe("p1", "add_memory", text="x"), probe("p2", "get_memory", memory_id=ValueOf("p1"))]
    history, _ = driven(adapter, line)
    assert adapter.asked == []
    assert (history.outcome("p2").status, history.outcome("p2").code) == ("fail", "unsent")


@pytest.mark.parametrize("given", ["m1", 7, "4f" * 16, "", {"id": "m1"}])
def test_an_altered_id_is_of_its_form_and_another(given: Any) -> None:
    adapter = Memories(given)
    line = [probe("p1", "add_memory", text="x"), probe("p2", "get_memory", memory_id=ValueOf("p1", altered=True))]
    driven(adapter, line)
    (asked,) = adapter.asked
    plain = given["id"] if isinstance(given, dict) else given
    assert asked != plain
    assert type(asked) is type(plain)


@pytest.mark.parametrize("path", [(None, None, None, None), ("", "", "", ""), ("acme", "%", "../x", "\x00")])
def test_raw_ids_reach_the_adapter_as_they_are(path: Any) -> None:
    seen: list[Any] = []

    class Looking(Store):
        def list_turns(self, call: Any, limit: int | None = None) -> Any:
            seen.append((call.scope.tenant, call.scope.user, call.scope.session, call.scope.task))
            return []

    driven(Looking(), [probe("p1", scope=Address(*path))])
    assert seen == [path]


class Closing(Store):
    def __init__(self, close: Any) -> None:
        super().__init__()
        self.aclose = close


async def _deaf() -> None:
    end = time.monotonic() + 2
    while time.monotonic() < end:
        try:
            await asyncio.sleep(0.02)
        except asyncio.CancelledError:
            continue


async def _hanging() -> None:
    await asyncio.sleep(60)


async def _leaving() -> None:
    raise SystemExit(0)


async def _cancelled() -> None:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    "close",
    [_deaf, _hanging, _leaving, _cancelled, lambda: time.sleep(0.3), lambda: 1 / 0, lambda: _hanging(), lambda: None],
    ids=["deaf", "hanging", "leaving", "cancelled", "slow", "raising", "awaitable", "fine"],
)
def test_closing_has_a_time_limit_and_never_raises(close: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "CLOSE_TIMEOUT", 0.1)

    async def run() -> float:
        started = time.monotonic()
        await closed(FunctionTarget(Closing(close), "test"))
        return time.monotonic() - started

    assert asyncio.run(run()) < 1.0


def test_a_client_that_does_not_close_is_told_as_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "CLOSE_TIMEOUT", 0.05)

    class Stubborn:
        async def aclose(self) -> None:
            await asyncio.sleep(60)

    async def run() -> History:
        recorder = _recorder(FunctionTarget(Store(), "test"))
        await closed(Stubborn(), recorder)  # type: ignore[arg-type]
        return recorder.history()

    (limit,) = asyncio.run(run()).limits
    assert limit.what.startswith("aclose: TimeoutError")


@pytest.mark.parametrize("error", [OSError("no route"), SystemExit(3), asyncio.CancelledError()], ids=repr)
def test_a_target_that_cannot_be_connected_to_sends_nothing_and_says_why(error: BaseException) -> None:
    class Unreachable(FunctionTarget):
        async def connect(self, identity: Any) -> Any:
            raise error

    async def run() -> History:
        from partywall.harness.plan import Phase, Schedule

        target = Unreachable(Store(), "test")
        recorder = _recorder(target)
        await driver.drive(Schedule((Phase.of([probe("p1")]),)), target, recorder, SHORT)
        return recorder.history()

    outcome = asyncio.run(run()).outcome("p1")
    assert (outcome.status, outcome.code) == ("fail", "unsent")
    assert type(error).__name__ in outcome.reason


def test_a_call_has_its_own_deadline_where_that_is_shorter() -> None:
    adapter = Silent()
    from dataclasses import replace

    hasty = probe("p1")
    hasty = replace(hasty, call=replace(hasty.call, timeout=0.02))
    history, _ = driven(adapter, [hasty], limits=Limits(call_timeout=30))
    adapter.wake.set()
    assert "0.02" in history.outcome("p1").reason


def test_values_left_in_a_thread_meet_the_next_caller() -> None:
    """The pool reuses its threads across identities, as a server's own pool would: an identity kept there leaks."""
    local = threading.local()

    class Ambient(Store):
        def append_turn(self, call: Any, text: str, role: str = "user", expected_version: Any = None) -> None:
            local.user = call.caller.user

        def list_turns(self, call: Any, limit: int | None = None) -> Any:
            return [getattr(local, "user", "nobody")]

    history, _ = driven(Ambient(), [probe("p1", "append_turn", scope=ANN, text="x")], [probe("p2", scope=BOB)])
    assert history.outcome("p2").value == ["ann"]
