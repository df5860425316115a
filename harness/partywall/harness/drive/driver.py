"""Driver: carries a schedule out on a target, one task a client, and records what happened."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ..errors import REFUSAL_CODES, ContractError, Refused, Unreachable
from ..observe.outcome import NOT_IMPLEMENTED, TIMEOUT, UNSENT, Outcome
from ..observe.recorder import Recorder
from ..plan.contract import LimitHit, conform
from ..plan.identity import Identity
from ..plan.probe import Call, Probe, ValueOf
from ..plan.schedule import Line, Schedule
from .target import Client, Target

CLOSE_TIMEOUT = 5.0
MAX_SILENT = 5
MAX_TOLD = 500
"""Characters kept of what a target says for itself: reasons and broken contracts."""
_HEX = "0123456789abcdef"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Limits:
    """`call_timeout` is the deadline of a call in seconds; after `max_silent` calls in a row that ran out of time, or
    that found no connection, the target counts as unreachable and nothing more is sent."""

    call_timeout: float = 10.0
    max_silent: int = MAX_SILENT


@dataclass(frozen=True, slots=True)
class Report:
    """What the driver has to say beside the history: broken contracts, and why it stopped early, if it did."""

    problems: tuple[str, ...]
    stopped: str


async def drive(schedule: Schedule, target: Target, recorder: Recorder, limits: Limits = Limits()) -> Report:
    """Send every probe of `schedule`, phase by phase; a phase ends when all of its lines have.

    Never raises for what a target does. Clients are closed at the end, each within five seconds.
    """
    run = _Run(target, recorder, limits)
    target.observe(recorder)
    try:
        for phase in schedule.phases:
            async with asyncio.TaskGroup() as group:
                start = asyncio.Event()
                for line in phase.lines:
                    group.create_task(run.follow(line, start))
                start.set()
        await target.settle()
    finally:
        await run.close()
    run.ended()
    return Report(tuple(dict.fromkeys(run.problems)), run.stopped)


class _Run:
    def __init__(self, target: Target, recorder: Recorder, limits: Limits) -> None:
        self.problems: list[str] = []
        self.stopped = ""
        self._target = target
        self._recorder = recorder
        self._limits = limits
        self._clients: dict[str, tuple[str, Client]] = {}
        self._retired: list[Client] = []
        self._generation: dict[str, int] = {}
        self._values: dict[str, Any] = {}
        self._silent = 0
        self._unreached = 0

    async def follow(self, line: Line, start: asyncio.Event) -> None:
        await start.wait()
        for probe in line.probes:
            if self.stopped:
                self._recorder.limited(f"not sent: {self.stopped}", probe.id)
                continue
            await self._send(probe)

    def ended(self) -> None:
        """All was sent. A target that took no connection at the last is gone, however few calls there were left."""
        if self._unreached and not self.stopped:
            self.stopped = "the target took no connection for the last call"

    async def close(self) -> None:
        clients = [client for _, client in self._clients.values()] + self._retired
        for client in clients:
            await closed(client, self._recorder)

    async def _send(self, probe: Probe) -> None:
        call, lacking = self._resolved(replace(probe.call, probe=probe.id, tagged=probe.tagged))
        name, client, refusal = probe.client, None, None
        try:
            name, client = await self._client(probe.client, call.caller)
        except Exception as error:  # a target may fail in any way; what it raised is told as the outcome
            refusal = Outcome("fail", reason=f"no connection: {_told(error)}", code=UNSENT)
        if lacking:
            refusal = Outcome("fail", reason=lacking, code=UNSENT)
        self._recorder.invoked(probe, call, name)
        outcome = refusal or await self._outcome(client, call, probe.id)
        self._recorder.completed(probe.id, outcome)
        if outcome.status == "ok":
            self._values[probe.id] = outcome.value
        if outcome.status == "info":
            self._retire(probe.client)

    async def _outcome(self, client: Client | None, call: Call, probe: str) -> Outcome:
        assert client is not None
        timeout = call.timeout or self._limits.call_timeout
        sent = replace(call, timeout=timeout)
        task = asyncio.create_task(_contained(lambda: client.invoke(sent)))
        # not asyncio.timeout: that waits for the call to accept its cancellation, which an adapter may swallow
        await asyncio.wait({task}, timeout=timeout)
        if task.done():
            outcome = self._ended(task, call, probe)
        else:
            task.cancel()
            outcome = Outcome("info", reason=f"no answer within {timeout:g} s", code=TIMEOUT)
        self._count(outcome)
        return outcome

    def _count(self, outcome: Outcome) -> None:
        self._silent = self._silent + 1 if outcome.code == TIMEOUT else 0
        if outcome.code != UNSENT:
            self._unreached = 0
        if self._silent >= self._limits.max_silent and not self.stopped:
            self.stopped = f"the target left {self._silent} calls in a row unanswered"
        if self._unreached >= self._limits.max_silent and not self.stopped:
            self.stopped = f"the target took no connection for {self._unreached} calls in a row"

    def _ended(self, task: asyncio.Task[Outcome], call: Call, probe: str) -> Outcome:
        try:
            outcome = task.result()
            if outcome.status == "ok":
                conform(call.op, outcome.value)
            return outcome
        except Refused as refusal:
            return self._refused(call, refusal)
        except Unreachable as error:
            self._unreached += 1
            return Outcome("fail", reason=_words(error), code=UNSENT)
        except NotImplementedError:
            return Outcome("fail", reason=f"the target does not implement {call.op}", code=NOT_IMPLEMENTED)
        except ContractError as error:
            self.problems.extend(problem[:MAX_TOLD] for problem in error.problems)
            return Outcome("info", reason=_words(error), code="contract")
        except LimitHit as error:
            self._recorder.limited(f"{call.op}: {error}", probe)
            return Outcome("info", reason=str(error), code="limit")
        except BaseException as error:  # law 9: not surely refused, so it may have happened
            return Outcome("info", reason=_told(error), code="error")

    def _refused(self, call: Call, refusal: Refused) -> Outcome:
        if isinstance(refusal.code, str) and refusal.code in REFUSAL_CODES:
            return Outcome("fail", reason=str(refusal.reason)[:MAX_TOLD], code=refusal.code)
        known = ", ".join(sorted(REFUSAL_CODES))
        problem = f"{call.op} raised Refused with the code {repr(refusal.code)[:80]}; known: {known}"
        self.problems.append(problem)
        return Outcome("info", reason=problem, code="contract")

    def _resolved(self, call: Call) -> tuple[Call, str]:
        """The call with run-time values filled in, or why it cannot be sent."""
        arguments = dict(call.arguments)
        for name, value in call.arguments.items():
            if isinstance(value, ValueOf):
                found = _part(self._values.get(value.probe), value.field)
                if found is None:
                    arguments[name] = None
                    return replace(
                        call, arguments=arguments
                    ), f"probe {value.probe} gave no {value.field or 'id'} to ask for"
                arguments[name] = _altered(found) if value.altered else found
        return replace(call, arguments=arguments), ""

    async def _client(self, wanted: str, identity: Identity) -> tuple[str, Client]:
        if wanted not in self._clients:
            generation = self._generation.get(wanted, 0)
            name = f"{wanted}~{generation}" if generation else wanted
            connected = await within(self._limits.call_timeout, lambda: self._target.connect(identity))
            self._clients[wanted] = (name, connected)
        return self._clients[wanted]

    def _retire(self, wanted: str) -> None:
        """A client whose call ended unknown may still be writing: it is replaced by a new one of a new name."""
        held = self._clients.pop(wanted, None)
        if held:
            self._retired.append(held[1])
            self._generation[wanted] = self._generation.get(wanted, 0) + 1


async def closed(closable: Client | Target, recorder: Recorder | None = None) -> None:
    """Close within five seconds; what does not close in time is recorded as a limit, never waited for."""
    try:
        await within(CLOSE_TIMEOUT, closable.aclose)
    except Exception as error:  # closing is the target's code too: it may fail in any way
        if recorder is not None:
            recorder.limited(f"aclose: {_told(error)}")


async def within(seconds: float, work: Callable[[], Awaitable[_T]]) -> _T:
    """What `work()` gives, or TimeoutError: never waits for a target's code to accept its cancellation.

    Whatever ends it otherwise is raised as an Exception: no exit or cancellation of the target's own ends the run.
    """
    task = asyncio.create_task(_contained(work))
    await asyncio.wait({task}, timeout=seconds)
    if not task.done():
        task.cancel()
        raise TimeoutError(f"no end within {seconds:g} s")
    if task.cancelled():
        raise RuntimeError("CancelledError")
    error = task.exception()
    if error is None or isinstance(error, Exception):
        return task.result()
    raise RuntimeError(_told(error)) from error


async def _contained(work: Callable[[], Awaitable[_T]]) -> _T:
    """An event loop lets these two through, and with them an adapter would end the run by an exit code of its own. A
    real interrupt from the keyboard cancels the run instead of being raised here."""
    try:
        return await work()
    except (SystemExit, KeyboardInterrupt) as error:
        raise RuntimeError(_told(error)) from error


def _part(value: Any, field: str) -> Any:
    """A named field of a value, else the id that it holds or is."""
    if field:
        return value.get(field) if isinstance(value, dict) else None
    return value.get("id", value.get("memory_id")) if isinstance(value, dict) else value


def _altered(identifier: Any) -> Any:
    """An id of the same form that nothing has: another last digit of a long one, a far number, else a longer name."""
    if isinstance(identifier, int):
        return identifier + 7_000_003
    text = str(identifier)
    if len(text) < 16 or text[-1] not in _HEX:
        return f"{text}7000003"
    return text[:-1] + _HEX[(_HEX.index(text[-1]) + 8) % 16]


def _told(error: BaseException) -> str:
    text = _words(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _words(error: BaseException) -> str:
    try:
        return str(error)[:MAX_TOLD]
    except Exception as broken:  # the error is the target's, and so is its __str__
        return f"(says {type(broken).__name__} when asked)"
