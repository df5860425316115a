"""Target `function`: any Python object whose public methods bear operation names."""

from __future__ import annotations

import importlib
import inspect
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from partywall.canaries import Keyring, Level

from ...errors import ContractError, PartywallError, TargetError, UsageError
from ...observe.outcome import Outcome
from ...observe.recorder import Recorder
from ...plan.capabilities import ALL_LEVELS, Capabilities
from ...plan.channel import Channel
from ...plan.contract import plain
from ...plan.identity import Identity
from ...plan.operation import OBSERVATIONS, OPERATIONS, WRITES
from ...plan.probe import Call
from ..target import TargetKind, TargetSettings
from ..threads import DaemonThreads


class FunctionTarget:
    """An adapter in this process. All identities share the object; each gets a client of its own."""

    def __init__(self, adapter: Any, name: str, fresh: bool = True) -> None:
        self.name = str(getattr(adapter, "name", name))
        self.capabilities = capabilities_of(adapter, name, fresh)
        self.keyrings: tuple[Keyring, ...] = ()
        self._adapter = adapter
        self._threads = DaemonThreads()
        self._turn = None if getattr(adapter, "threadsafe", True) else threading.Lock()

    async def connect(self, identity: Identity) -> FunctionClient:
        """A client for `identity`."""
        return FunctionClient(self._adapter, self._threads, self._turn)

    def observe(self, recorder: Recorder) -> None:
        """An adapter shows nothing outside of its answers."""

    async def settle(self) -> None:
        """Nothing is outstanding."""

    async def aclose(self) -> None:
        """Close the adapter, if it has an `aclose`, sync or async."""
        close = getattr(self._adapter, "aclose", None)
        try:
            if close is not None:
                answer = await self._threads.run(close) if not inspect.iscoroutinefunction(close) else close()
                if inspect.isawaitable(answer):
                    await answer
        finally:
            self._threads.close()


class FunctionClient:
    """Calls the adapter's methods: async ones on the loop, sync ones in threads."""

    def __init__(self, adapter: Any, threads: DaemonThreads, turn: threading.Lock | None) -> None:
        self._adapter = adapter
        self._threads = threads
        self._turn = turn

    async def invoke(self, call: Call) -> Outcome:
        """The method's value as plain data; what the method raises is the driver's to classify."""
        method = getattr(self._adapter, call.op)
        positional, named = _arguments(call)
        if inspect.iscoroutinefunction(method):
            return Outcome("ok", plain(await _collected(await method(call, *positional, **named))))
        value = await self._threads.run(lambda: self._sync(method, call, positional, named))
        if inspect.isawaitable(value) or hasattr(value, "__aiter__"):
            value = plain(await _collected(await value if inspect.isawaitable(value) else value))
        return Outcome("ok", value)

    async def aclose(self) -> None:
        """Nothing to give up: the adapter is shared."""

    def _sync(self, method: Callable[..., Any], call: Call, positional: list[Any], named: dict[str, Any]) -> Any:
        """Also makes the value plain, in the thread: an endless iterator is consumed here, under the deadline."""
        if self._turn is None:
            value = method(call, *positional, **named)
        else:
            with self._turn:
                value = method(call, *positional, **named)
        return value if inspect.isawaitable(value) or hasattr(value, "__aiter__") else plain(value)


def capabilities_of(adapter: Any, name: str, fresh: bool = True) -> Capabilities:
    """What an adapter declares; ContractError lists everything that is wrong with it at once."""
    problems: list[str] = []
    operations = frozenset(op for op in OPERATIONS if callable(getattr(adapter, op, None)))
    if not operations & WRITES or not operations & OBSERVATIONS:
        problems.append(
            f"adapter {name!r} needs one write and one observation of contract v1; "
            f"found {', '.join(sorted(operations)) or 'no operation'}; "
            f"writes: {', '.join(sorted(WRITES))}; observations: {', '.join(sorted(OBSERVATIONS))}"
        )
    problems += [problem for op in sorted(operations) if (problem := _signature_problem(adapter, op))]
    dimensions = _dimensions(adapter, problems)
    reach = _reach(adapter, problems)
    if problems:
        raise ContractError(problems)
    return Capabilities(
        operations=operations,
        dimensions=dimensions,
        reach=reach,
        promises=dict(getattr(adapter, "promises", {})),
        intended_sharing=tuple((str(one), str(other)) for one, other in getattr(adapter, "intended_sharing", ())),
        authenticates=bool(getattr(adapter, "authenticates", False)),
        fresh=bool(getattr(adapter, "fresh", fresh)),
        disposable=True,
    )


async def _open(spec: str, settings: TargetSettings) -> FunctionTarget:
    module_name, _, attribute = spec.partition(":")
    factory = _imported(spec, module_name, attribute)
    made = factory
    if inspect.isclass(factory) or inspect.isroutine(factory):
        try:
            made = factory()
            if inspect.isawaitable(made):
                made = await made
        except PartywallError:
            raise
        except Exception as error:  # the factory is the user's code: whatever it raises, the target did not open
            raise TargetError(f"target {spec!r} did not open: {type(error).__name__}: {error}") from error
    # a factory makes a new object for every world; an object that stood in the module already may hold anything
    return FunctionTarget(made, spec, fresh=made is not factory)


def _imported(spec: str, module_name: str, attribute: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:  # importing runs the user's code, which may fail in any way
        raise UsageError(f"target {spec!r}: cannot import {module_name!r}: {type(error).__name__}: {error}") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            public = ", ".join(sorted(item for item in vars(found) if not item.startswith("_"))[:20])
            raise UsageError(f"target {spec!r}: {module_name!r} has no {part!r}; known: {public}")
        found = getattr(found, part)
    return found


def _arguments(call: Call) -> tuple[list[Any], dict[str, Any]]:
    """Required arguments by position, so that an adapter may name them as it likes; optional ones by name."""
    parameters = OPERATIONS[call.op].parameters
    positional = [call.arguments[name] for name, default in parameters.items() if default is ...]
    named = {name: value for name, value in call.arguments.items() if parameters[name] is not ...}
    return positional, named


def _signature_problem(adapter: Any, op: str) -> str:
    parameters = OPERATIONS[op].parameters
    required = [name for name, default in parameters.items() if default is ...]
    try:
        signature = inspect.signature(getattr(adapter, op))
        signature.bind(None, *required)
    except TypeError:
        wanted = ", ".join(
            [
                "call",
                *(name if default is ... else f"{name}={default!r}" for name, default in parameters.items()),
            ]
        )
        return f"{op} takes {signature}; expected ({wanted})"
    except ValueError:
        return ""  # a built-in without a signature: only the call itself can tell
    return ""


def _dimensions(adapter: Any, problems: list[str]) -> frozenset[Level]:
    declared: Iterable[str] | None = getattr(adapter, "dimensions", None)
    if declared is None:
        return ALL_LEVELS
    known = {level.label: level for level in Level}
    found = [declared] if isinstance(declared, str) else list(declared)
    problems += [f"no dimension {name!r}; known: {', '.join(known)}" for name in found if name not in known]
    return frozenset(known[name] for name in found if name in known)


def _reach(adapter: Any, problems: list[str]) -> dict[str, dict[str, Level]]:
    levels = {level.label: level for level in Level}
    channels = {str(channel) for channel in Channel} | {"*"}
    reach: dict[str, dict[str, Level]] = {}
    for op, override in dict(getattr(adapter, "reach", {})).items():
        by_channel = override if isinstance(override, dict) else {"*": override}
        if op not in WRITES:
            problems.append(f"reach names {op!r}; known: {', '.join(sorted(WRITES))}")
        for channel, level in by_channel.items():
            if channel not in channels:
                problems.append(f"reach of {op!r} names the channel {channel!r}; known: {', '.join(sorted(channels))}")
            if level not in levels:
                problems.append(f"reach of {op!r} names the level {level!r}; known: {', '.join(levels)}")
        reach[op] = {channel: levels[level] for channel, level in by_channel.items() if level in levels}
    return reach


async def _collected(value: Any) -> Any:
    """An async iterator as a list, `plain`'s limits applied as it grows: it may be endless."""
    if not hasattr(value, "__aiter__"):
        return value
    items: list[Any] = []
    size = 0
    async for item in value:
        items.append(item)
        size += len(item) if isinstance(item, str | bytes) else 1
        if size > 8_000_000 or len(items) > 100_000:
            return plain(iter(items))
    return items


TARGET = TargetKind(
    id="function",
    summary="package.module:factory, any object with operation methods, in this process",
    claims=lambda spec: ":" in spec and "/" not in spec and spec.partition(":")[0].replace(".", "").isidentifier(),
    open=_open,
)

__all__ = ["TARGET", "FunctionClient", "FunctionTarget", "capabilities_of"]
