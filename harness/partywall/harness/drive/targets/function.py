"""Target `function`: any Python object whose public methods bear operation names."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import threading
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from partywall.canaries import Keyring, Level

from ...errors import ContractError, PartywallError, TargetError, UsageError
from ...observe.outcome import Outcome
from ...observe.recorder import Recorder
from ...plan.capabilities import ALL_LEVELS, Capabilities
from ...plan.channel import Channel
from ...plan.contract import LimitHit, plain
from ...plan.identity import Identity
from ...plan.operation import OBSERVATIONS, OPERATIONS, WRITES
from ...plan.probe import Call
from ..target import TargetKind, TargetSettings
from ..threads import DaemonThreads


class FunctionTarget:
    """An adapter in this process. All identities share the object; each gets a client of its own.

    What was not made for this target is not closed with it: `owned=False`.
    """

    def __init__(self, adapter: Any, name: str, fresh: bool = True, owned: bool = True) -> None:
        self.name = str(getattr(adapter, "name", name))
        self.capabilities = capabilities_of(adapter, name, fresh)
        self.keyrings: tuple[Keyring, ...] = ()
        self._adapter = adapter
        self._owned = owned
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
        close = getattr(self._adapter, "aclose", None) if self._owned else None
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
        positional, named = arguments_of(call)
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
    operations = frozenset(op for op in OPERATIONS if callable(_attribute(adapter, op, None, problems)))
    if not operations & WRITES or not operations & OBSERVATIONS:
        problems.append(
            f"adapter {name!r} needs one write and one observation of contract v1; "
            f"found {', '.join(sorted(operations)) or 'no operation'}; "
            f"writes: {', '.join(sorted(WRITES))}; observations: {', '.join(sorted(OBSERVATIONS))}"
        )
    problems += [problem for op in sorted(operations) if (problem := _signature_problem(adapter, op))]
    declared = Capabilities(
        operations=operations,
        dimensions=_dimensions(_attribute(adapter, "dimensions", None, problems), problems),
        reach=_reach(_attribute(adapter, "reach", {}, problems), problems),
        promises=_promises(_attribute(adapter, "promises", {}, problems), problems),
        intended_sharing=_sharing(_attribute(adapter, "intended_sharing", (), problems), problems),
        authenticates=bool(_attribute(adapter, "authenticates", False, problems)),
        fresh=bool(_attribute(adapter, "fresh", fresh, problems)),
        disposable=True,
    )
    if problems:
        raise ContractError(problems)
    return declared


def kind_for(made: Any) -> TargetKind:
    """A kind made on the fly, for what has no name to import it by: an object, or a class or function that makes one.

    An object is whoever's handed it in: it may hold anything already, and it is not closed.
    """

    async def open_given(spec: str, settings: TargetSettings) -> FunctionTarget:
        return await _opened(made, spec, owned=_makes(made))

    return TargetKind("given", "an object of the caller's, in this process", lambda spec: False, open_given)


async def _open(spec: str, settings: TargetSettings) -> FunctionTarget:
    module_name, _, attribute = spec.partition(":")
    return await _opened(_imported(spec, module_name, attribute), spec, owned=True)


async def _opened(factory: Any, spec: str, owned: bool) -> FunctionTarget:
    made = factory
    if _makes(factory):
        try:
            made = factory()
            if inspect.isawaitable(made):
                made = await made
        except PartywallError:
            raise
        except (Exception, SystemExit) as error:  # the factory is the user's code: whatever it raises, it did not open
            raise TargetError(f"target {spec!r} did not open: {type(error).__name__}: {error}") from error
    # a factory makes a new object for every world; an object that stood in the module already may hold anything
    return FunctionTarget(made, spec, fresh=made is not factory, owned=owned)


def _makes(given: Any) -> bool:
    return inspect.isclass(given) or inspect.isroutine(given) or isinstance(given, functools.partial)


def _imported(spec: str, module_name: str, attribute: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # importing runs the user's code, which may fail in any way, or leave
        raise UsageError(f"target {spec!r}: cannot import {module_name!r}: {type(error).__name__}: {error}") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            public = ", ".join(sorted(item for item in vars(found) if not item.startswith("_"))[:20])
            raise UsageError(f"target {spec!r}: {module_name!r} has no {part!r}; known: {public}")
        found = getattr(found, part)
    return found


def arguments_of(call: Call) -> tuple[list[Any], dict[str, Any]]:
    """Required arguments by position, so that an adapter may name them as it likes; optional ones by name."""
    parameters = OPERATIONS[call.op].parameters
    positional = [call.arguments[name] for name, default in parameters.items() if default is ...]
    named = {name: value for name, value in call.arguments.items() if parameters[name] is not ...}
    return positional, named


def _attribute(adapter: Any, name: str, default: Any, problems: list[str]) -> Any:
    try:
        return getattr(adapter, name, default)
    except Exception as error:  # a property is the user's code, which may fail in any way
        problems.append(f"{name} raises {type(error).__name__}: {error}")
        return default


def _signature_problem(adapter: Any, op: str) -> str:
    parameters = OPERATIONS[op].parameters
    required = [name for name, default in parameters.items() if default is ...]
    optional = {name: default for name, default in parameters.items() if default is not ...}
    try:
        signature = inspect.signature(getattr(adapter, op))
    except (TypeError, ValueError):
        return ""  # a built-in without a signature: only the call itself can tell
    try:
        signature.bind(None, *required, **optional)
    except TypeError:
        wanted = ["call", *required, *(f"{name}={default!r}" for name, default in optional.items())]
        return f"{op} takes {signature}; expected ({', '.join(wanted)})"
    return ""


def _dimensions(declared: Any, problems: list[str]) -> frozenset[Level]:
    known = {level.label: level for level in Level}
    if declared is None:
        return ALL_LEVELS
    if isinstance(declared, str):
        declared = [declared]
    if not isinstance(declared, Collection) or not declared:
        problems.append(f"dimensions is {_short(declared)}; expected one or more of {', '.join(known)}")
        return ALL_LEVELS
    names = [name if isinstance(name, str) else _short(name) for name in declared]
    problems += [f"no dimension {name!r}; known: {', '.join(known)}" for name in names if name not in known]
    return frozenset(known[name] for name in names if name in known)


def _reach(declared: Any, problems: list[str]) -> dict[str, dict[str, Level]]:
    levels = {level.label: level for level in Level}
    channels = {*map(str, Channel), "*"}
    if not isinstance(declared, Mapping):
        problems.append(f"reach is {_short(declared)}; expected a level by write, as {{'put_artifact': 'session'}}")
        return {}
    reach: dict[str, dict[str, Level]] = {}
    for op, override in declared.items():
        if op not in WRITES:
            problems.append(f"reach names {_short(op)}; known: {', '.join(sorted(WRITES))}")
        reach[op] = {}
        for channel, level in (override if isinstance(override, Mapping) else {"*": override}).items():
            if channel not in channels:
                problems.append(
                    f"reach of {_short(op)} names the channel {_short(channel)}; known: {', '.join(sorted(channels))}"
                )
            if isinstance(level, str) and level in levels:
                reach[op][channel] = levels[level]
            else:
                problems.append(f"reach of {_short(op)} names the level {_short(level)}; known: {', '.join(levels)}")
    return reach


def _promises(declared: Any, problems: list[str]) -> Mapping[str, Any]:
    try:
        promised = plain(declared)
    except (ContractError, LimitHit):
        promised = None
    if not isinstance(promised, dict):
        problems.append(f"promises is {_short(declared)}; expected names with plain values, as {{'order': 'index'}}")
        return {}
    return promised


def _sharing(declared: Any, problems: list[str]) -> tuple[tuple[str, str], ...]:
    pairs = [] if isinstance(declared, str) or not isinstance(declared, Collection) else list(declared)
    named = [pair for pair in pairs if isinstance(pair, list | tuple) and [str, str] == [type(name) for name in pair]]
    if len(named) != len(pairs) or (not pairs and declared not in ((), [], frozenset(), set(), {})):
        problems.append(f"intended_sharing is {_short(declared)}; expected pairs of tenants")
    return tuple((one, other) for one, other in named)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


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

__all__ = ["TARGET", "FunctionClient", "FunctionTarget", "arguments_of", "capabilities_of", "kind_for"]
