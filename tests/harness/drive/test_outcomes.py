"""Happened, surely did not, or unknown: what an adapter raises or answers becomes one of three outcomes."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from partywall.harness.drive.driver import Limits
from partywall.harness.errors import REFUSAL_CODES, ContractError, Refused
from partywall.harness.judge.bench import judge
from partywall.harness.judge.verdict import Status
from partywall.harness.observe.journal import dump, load

from .driving import SHORT, driven, outcome_of, probe

Answer = Callable[[], Any]


class Sync:
    """Answers every listing by one function, in a thread."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer

    def append_turn(self, call: Any, text: str, role: str = "user", expected_version: Any = None) -> None: ...

    def list_turns(self, call: Any, limit: int | None = None) -> Any:
        return self.answer()


class Async(Sync):
    """The same on the event loop."""

    async def list_turns(self, call: Any, limit: int | None = None) -> Any:
        return self.answer()


BOTH = pytest.mark.parametrize("kind", [Sync, Async])


def raising(error: BaseException) -> Answer:
    def answer() -> Any:
        raise error

    return answer


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Hollow(Refused):
    """A refusal whose author forgot to call its parent."""

    def __init__(self) -> None: ...


class Hostile:
    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("do not look at me")


def cyclic() -> list[Any]:
    found: list[Any] = []
    found += [found, found]
    return found


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


@BOTH
def test_an_answer_is_ok(kind: type[Sync]) -> None:
    assert outcome_of(kind(lambda: ["hello"])) == outcome_of(kind(lambda: ("hello",)))
    assert outcome_of(kind(lambda: ["hello"])).status == "ok"


@BOTH
@pytest.mark.parametrize("code", sorted(REFUSAL_CODES))
def test_a_refusal_is_a_sure_no_with_its_code(kind: type[Sync], code: str) -> None:
    outcome = outcome_of(kind(raising(Refused("not yours", code))))
    assert (outcome.status, outcome.code, outcome.reason) == ("fail", code, "not yours")


@BOTH
@pytest.mark.parametrize("code", ["dennied", "", None, 403, ["denied"], {"code": "denied"}])
def test_a_refusal_with_an_unknown_code_is_no_sure_no_but_a_broken_contract(kind: type[Sync], code: Any) -> None:
    history, report = driven(kind(raising(Refused("no", code))), [probe("p1")])
    assert (history.outcome("p1").status, history.outcome("p1").code) == ("info", "contract")
    assert "known: conflict, denied" in report.problems[0]


@BOTH
@pytest.mark.parametrize(
    "error",
    [
        ValueError("x"), OSError(), AssertionError(), MemoryError(), RecursionError(), TimeoutError(),
        StopIteration(3), StopAsyncIteration(), GeneratorExit(), SystemExit(0), SystemExit("bye"),
        asyncio.CancelledError(), Unprintable(), ExceptionGroup("many", [ValueError("x")]),
        BaseExceptionGroup("worse", [KeyboardInterrupt()]), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no"),
    ],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_anything_else_that_is_raised_is_unknown_and_ends_nothing(kind: type[Sync], error: BaseException) -> None:
    history, report = driven(kind(raising(error)), [probe("p1"), probe("p2", "append_turn", text="still here")])
    assert history.outcome("p1").status == "info"
    assert history.outcome("p1").reason
    assert history.outcome("p2").status == "ok"
    assert not report.stopped


@BOTH
def test_a_refusal_whose_author_forgot_its_parent_is_still_a_refusal(kind: type[Sync]) -> None:
    outcome = outcome_of(kind(raising(Hollow())))
    assert (outcome.status, outcome.code) == ("fail", "denied")


@BOTH
def test_an_interrupt_that_an_adapter_raises_is_its_own(kind: type[Sync]) -> None:
    assert outcome_of(kind(raising(KeyboardInterrupt()))).status == "info"


@BOTH
def test_an_operation_that_is_not_implemented_is_told_apart(kind: type[Sync]) -> None:
    outcome = outcome_of(kind(raising(NotImplementedError())))
    assert (outcome.status, outcome.code) == ("fail", "not_implemented")


@BOTH
def test_a_reason_of_any_length_is_kept_short(kind: type[Sync]) -> None:
    assert len(outcome_of(kind(raising(ValueError("x" * 10**7)))).reason) < 1000
    assert len(outcome_of(kind(raising(Refused("x" * 10**7)))).reason) < 1000


HARMLESS: dict[str, tuple[Answer, Any]] = {
    "generator": (lambda: (text for text in ["a", "b"]), ["a", "b"]),
    "invalid UTF-8": (lambda: [b"caf\xe9 \xff"], ["caf\\xe9 \\xff"]),
    "lone surrogate": (lambda: ["\ud800"], ["\\ud800"]),
    "control characters": (lambda: ["\x1b[2J\x00\x07"], ["\x1b[2J\x00\x07"]),
    "html": (lambda: ["<img src=x onerror=alert(1)>"], ["<img src=x onerror=alert(1)>"]),
    "no number": (lambda: [{"text": "x", "n": [math.nan, math.inf]}], [{"text": "x", "n": ["nan", "inf"]}]),
    "other keys": (lambda: [{"text": "x", 2: 2, None: 3, True: 4}], [{"text": "x", "2": 2, "None": 3, "True": 4}]),
    "bytearray": (lambda: [bytearray(b"x")], ["x"]),
}


@BOTH
@pytest.mark.parametrize(("answer", "plain"), HARMLESS.values(), ids=list(HARMLESS))
def test_an_odd_answer_becomes_plain_data(kind: type[Sync], answer: Answer, plain: Any) -> None:
    history, report = driven(kind(answer), [probe("p1")])
    outcome = history.outcome("p1")
    assert (outcome.status, outcome.value) == ("ok", plain)
    assert not report.problems
    (again,) = load(dump([history]))
    assert again.outcome("p1") == outcome


BROKEN: dict[str, Answer] = {
    "nothing": lambda: None,
    "text": lambda: "turns",
    "number": lambda: 7,
    "object": lambda: object(),
    "objects": lambda: [object()],
    "function": lambda: print,
    "type": lambda: [int],
    "mapping": lambda: {"turns": []},
    "no text": lambda: [{"turn": 1}],
    "turn 0": lambda: [{"turn": 0, "text": "x"}],
    "turn yes": lambda: [{"turn": True, "text": "x"}],
    "numbered in part": lambda: [{"turn": 1, "text": "x"}, "y"],
    "keys that are tuples": lambda: [{"text": "x", (1, 2): 3}],
    "keys that look alike": lambda: [{"text": "x", "1": "a", 1: "b"}],
    "complex": lambda: [1j],
}


@BOTH
@pytest.mark.parametrize("answer", BROKEN.values(), ids=list(BROKEN))
def test_an_answer_of_a_wrong_shape_is_a_broken_contract(kind: type[Sync], answer: Answer) -> None:
    history, report = driven(kind(answer), [probe("p1")])
    assert (history.outcome("p1").status, history.outcome("p1").code) == ("info", "contract")
    assert len(report.problems) == 1
    assert "\n" not in report.problems[0]


TOO_MUCH: dict[str, Answer] = {
    "100 MB of text": lambda: ["x" * 100_000_000],
    "100 MB of bytes": lambda: [b"x" * 100_000_000],
    "endless generator": lambda: ("x" for _ in itertools.count()),
    "endless iterator": lambda: itertools.repeat({"text": "x"}),
    "nested": lambda: nested(40),
    "nested without end": lambda: nested(100_000),
    "holds itself": cyclic,
    "a number of 5000 digits": lambda: [{"text": "x", "n": 10**5000}],
    "a key of 5000 digits": lambda: [{"text": "x", 10**5000: 1}],
}


@BOTH
@pytest.mark.parametrize("answer", TOO_MUCH.values(), ids=list(TOO_MUCH))
def test_an_answer_too_large_is_unknown_and_says_that_something_went_unseen(kind: type[Sync], answer: Answer) -> None:
    history, report = driven(kind(answer), [probe("p1")], limits=Limits(call_timeout=10))
    assert (history.outcome("p1").status, history.outcome("p1").code) == ("info", "limit")
    assert history.limits
    assert not report.problems
    assert judge(history).status is not Status.HELD
    json.loads("".join(list(dump([history]))[-1:]))


class Streaming(Sync):
    """An async generator function as an operation."""

    async def list_turns(self, call: Any, limit: int | None = None) -> AsyncIterator[Any]:
        for item in self.answer():
            yield item


def test_an_async_stream_is_read_to_its_end() -> None:
    assert outcome_of(Streaming(lambda: ["a", "b"])).value == ["a", "b"]


@pytest.mark.parametrize("item", ["x", {"text": "x"}, "x" * 100_000], ids=["text", "turn", "long"])
def test_an_endless_async_stream_is_cut(item: Any) -> None:
    history, _ = driven(Streaming(lambda: itertools.repeat(item)), [probe("p1")], limits=Limits(call_timeout=10))
    assert history.outcome("p1").code == "limit"
    assert history.limits


class SlowStream(Sync):
    async def list_turns(self, call: Any, limit: int | None = None) -> AsyncIterator[str]:
        while True:
            await asyncio.sleep(0.01)
            yield "x"


def test_a_slow_endless_stream_runs_into_its_deadline() -> None:
    assert outcome_of(SlowStream(list)).code == "timeout"


def test_an_endless_loop_in_a_thread_runs_into_its_deadline() -> None:
    def slow() -> Iterator[str]:
        while True:
            time.sleep(0.01)
            yield "x"

    assert outcome_of(Sync(slow)).code == "timeout"


def test_a_hostile_iterator_is_no_answer() -> None:
    assert outcome_of(Sync(lambda: Hostile())).status == "info"


@pytest.mark.parametrize(
    ("op", "value", "status"),
    [
        ("append_turn", None, "ok"), ("append_turn", {"turn": 1}, "ok"), ("append_turn", {"turn": "1"}, "info"),
        ("append_turn", "ok", "info"), ("run_turn", "hi", "ok"), ("run_turn", {"text": "hi"}, "ok"),
        ("run_turn", {"reply": "hi"}, "info"), ("run_turn", None, "info"), ("context", "x", "ok"),
        ("context", ["x", {"y": 1}], "ok"), ("context", 7, "info"), ("add_memory", "m1", "ok"),
        ("add_memory", 1, "ok"), ("add_memory", [1], "info"), ("search_memory", [{"id": 1, "text": "x"}], "ok"),
        ("search_memory", ["x", {"id": 1}], "info"), ("get_memory", None, "ok"), ("get_memory", ["x"], "info"),
        ("get_fact", {"any": "thing"}, "ok"), ("list_facts", {"k": "v"}, "ok"), ("list_facts", "x", "info"),
        ("put_artifact", {"any": 1}, "ok"), ("get_artifact", None, "ok"), ("get_artifact", 7, "info"),
        ("list_artifacts", ["a"], "ok"), ("list_artifacts", [1], "info"), ("cached_answer", "x", "ok"),
        ("cached_answer", {}, "info"), ("create_session", None, "ok"), ("create_session", [], "info"),
        ("session_info", {"state": "active"}, "ok"), ("session_info", {"state": "fine"}, "info"),
        ("stored_bytes", {"main": ["x"]}, "ok"), ("stored_bytes", ["x"], "info"), ("metrics", "a 1", "ok"),
        ("metrics", [1], "info"), ("read_log", ["x"], "ok"),
    ],
)  # fmt: skip
def test_each_operation_has_its_shape(op: str, value: Any, status: str) -> None:
    class Any_(Sync):
        pass

    setattr(Any_, op, lambda self, call, *positional, **named: value)
    arguments: dict[str, Any] = {
        "append_turn": {"text": "x"}, "run_turn": {"text": "x"}, "add_memory": {"text": "x"},
        "search_memory": {"query": "x"}, "get_memory": {"memory_id": "x"}, "get_fact": {"key": "x"},
        "put_artifact": {"name": "x", "text": "x"}, "get_artifact": {"name": "x"}, "cached_answer": {"query": "x"},
    }.get(op, {})  # fmt: skip
    assert outcome_of(Any_(list), op, **arguments).status == status


def test_a_late_answer_is_ignored_and_its_client_replaced() -> None:
    late = threading.Event()

    def late_answer() -> list[str]:
        late.wait(5)
        return ["late"]

    answers: Iterator[Answer] = iter([late_answer, lambda: ["fresh"]])
    adapter = Sync(lambda: next(answers)())
    history, report = driven(adapter, [probe("p1"), probe("p2")], limits=SHORT)
    late.set()
    assert (history.outcome("p1").status, history.outcome("p1").code) == ("info", "timeout")
    assert history.outcome("p2").value == ["fresh"]
    assert [history.invocations[p].client for p in ("p1", "p2")] == ["acme/ann", "acme/ann~1"]
    assert not report.stopped


class Deaf(Sync):
    """Swallows its cancellation."""

    async def list_turns(self, call: Any, limit: int | None = None) -> Any:
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue
        return ["late"]


def test_an_adapter_that_swallows_its_cancellation_is_left_behind() -> None:
    started = time.monotonic()

    async def both() -> Any:
        from .driving import _drive

        found = await _drive(Deaf(list), [[probe("p1"), probe("p2", "append_turn", text="x")]], SHORT)
        assert time.monotonic() - started < 1.2
        return found

    history, _ = asyncio.run(both())
    assert (history.outcome("p1").code, history.outcome("p2").status) == ("timeout", "ok")


def test_a_contract_error_tells_all_its_problems() -> None:
    assert str(ContractError(["one", "two"])) == "one; two"
    assert ContractError(iter(["one", "two"])).problems == ("one", "two")
