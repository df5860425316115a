"""Isolation machine: Hypothesis writes programs for a target until one shows a scope what is another's."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any, cast

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, precondition, rule
from partywall.canaries import Canary, Keyring, Level, Mint, Scanner, Scope, Sighting, UsageError

from ..drive.targets.function import arguments_of, capabilities_of
from ..errors import ContractError, Refused, TargetError
from ..judge.testimony import named
from ..plan.capabilities import Capabilities
from ..plan.channel import Channel
from ..plan.contract import conform, plain
from ..plan.identity import Identity
from ..plan.leaves import leaves
from ..plan.operation import OPERATIONS, reach_of
from ..plan.probe import Call
from ..plan.script import ARTIFACT, FACT_KEY, LAYERS, QUESTION, SEARCH, SEARCHABLE
from .pytest_loop import BackgroundLoop
from .strategies import COLLIDING

_SCOPES = st.sampled_from(COLLIDING[:5])
"""One scope and those that part from it at one level: more would meet less often, and show nothing else."""
_KEYRING = Keyring.derive("the programs of a machine are no secret: only it reads them", "machine")
_LOOKS: Mapping[str, Mapping[str, Any]] = {
    "list_turns": {},
    "context": {"query": QUESTION},
    "run_turn": {"text": QUESTION},
    "search_memory": {"query": SEARCH},
    "list_memories": {},
    "list_facts": {},
    "get_artifact": {"name": ARTIFACT},
    "list_artifacts": {},
    "cached_answer": {"query": QUESTION},
}
"""Observations that need nothing but a scope, and what they are asked."""
_SHOWS = {"list_turns": "append_turn", "list_memories": "add_memory", "get_artifact": "put_artifact"}
"""The write whose latest content a look must show its owner."""
_DEPTH = {"append_turn": Level.TASK, "add_memory": Level.USER, "put_artifact": Level.TASK}
"""The innermost level of the place that a write fills; a fact's is its layer."""


class ScopedMemory:
    """The model that a right target agrees with: what each scope wrote, where, and who may be shown it."""

    def __init__(self, capabilities: Capabilities) -> None:
        self._capabilities = capabilities
        self._mint = Mint(_KEYRING)
        self._planted: dict[str, Canary] = {}
        self._latest: dict[tuple[str, ...], Canary] = {}

    def plant(self, op: str, scope: Scope, layer: str = "") -> Canary:
        """A new canary of `scope`, about to be written by `op`."""
        reach = {**reach_of(op, layer), **self._capabilities.reach.get(op, {})}
        canary = self._mint.canary(scope, reach, seq=len(self._planted))
        self._planted[canary.text] = canary
        return canary

    def wrote(self, op: str, canary: Canary, layer: str = "") -> None:
        """`canary` is there now, in place of what its owner had there before."""
        self._latest[self._place(op, canary.owner, layer)] = canary

    def latest(self, op: str, scope: Scope, layer: str = "") -> Canary | None:
        """What `op` wrote last to the place that is `scope`'s too."""
        return self._latest.get(self._place(op, scope, layer))

    def one_place(self, op: str, one: Scope, other: Scope) -> bool:
        """Whether what either writes by `op` is both's."""
        return self._place(op, one, "") == self._place(op, other, "")

    def crossed(self, token: str, viewer: Scope, channel: Channel) -> tuple[Canary, Level] | None:
        """The canary and the level it crossed, where `viewer` may not be shown it in `channel`."""
        canary = self._planted.get(token)
        if canary is None:
            return None
        level = next((level for level in Level if self._parts(canary.owner, viewer, level)), None)
        reach = canary.reach.get(str(channel), canary.reach["*"])
        shared = {canary.owner.tenant, viewer.tenant} in map(set, self._capabilities.intended_sharing)
        return None if level is None or level > reach or shared else (canary, level)

    def _parts(self, one: Scope, other: Scope, level: Level) -> bool:
        """A target that knows no tasks keeps none apart, and promises nothing about them."""
        return level in self._capabilities.dimensions and one.path[level - 1] != other.path[level - 1]

    def _place(self, op: str, scope: Scope, layer: str) -> tuple[str, ...]:
        depth = Level[layer.upper()] if layer else _DEPTH[op]
        ids = [scope.path[level - 1] if level in self._capabilities.dimensions else "" for level in Level]
        return (op, layer, *ids[:depth])


class _Machine(RuleBasedStateMachine):
    """The rules' common ground: a target, its model, and what has been done so far."""

    factory: Callable[[], Any]
    controls: bool
    capabilities: dict[type, Capabilities]
    loop: list[BackgroundLoop]

    def __init__(self) -> None:
        super().__init__()
        made = type(self).factory()
        self._adapter = self._settled(made) if inspect.isawaitable(made) else made
        known, kind = type(self).capabilities, type(self._adapter)
        if kind not in known:  # once a class: reading signatures costs more than a program does
            known[kind] = capabilities_of(self._adapter, kind.__name__)
        self._capabilities = known[kind]
        self._model = ScopedMemory(self._capabilities)
        self._lacking: set[str] = set()
        self._opened: set[tuple[str, ...]] = set()
        self._program: list[str] = []

    def teardown(self) -> None:
        """Close the target."""
        close = getattr(self._adapter, "aclose", None)
        if close is not None:
            self._settled(close())

    def offers(self, op: str) -> bool:
        """Whether the target has that operation."""
        return op in self._capabilities.operations - self._lacking

    def write(self, op: str, scope: Scope, layer: str = "", **arguments: Any) -> Any:
        """Plant a canary of `scope` by `op`; the owner must be let write."""
        canary = self._model.plant(op, scope, layer)
        words = f"{SEARCHABLE} {canary.text}"
        if layer:
            arguments["layer"] = layer
        value, refusal = self._call(op, scope, {**arguments, OPERATIONS[op].plants: words})
        if refusal is None:
            self._model.wrote(op, canary, layer)
        elif self.controls and self.offers(op):
            self._fail(f"inconclusive: {named(scope.path)} could not write its own by {op}: {refusal}")
        return value if refusal is None else None

    def look(self, op: str, scope: Scope, must: Canary | None = None, **arguments: Any) -> None:
        """Let `scope` look by `op`: it is shown nothing that is another's, and its own that it `must` see."""
        value, refusal = self._call(op, scope, arguments)
        channel = OPERATIONS[op].channel if refusal is None else Channel.ERRORS
        texts = [text for _, text in leaves(value)] if refusal is None else [str(refusal)]
        sightings = [sighting for text in texts for sighting in _sightings(text)]
        for sighting in sightings:
            crossed = self._model.crossed(sighting.opened.token, scope, channel)
            if crossed is not None:
                canary, level = crossed
                wearing = f", wearing {' → '.join(sighting.chain)}" if sighting.chain else ""
                self._fail(
                    f"PW10{int(level)} {named(scope.path)} was shown {named(canary.owner.path)}'s canary "
                    f"{canary.short} in {channel} by {op}{wearing}: crossed {level.name}",
                    f"explain  partywall explain PW10{int(level)}",
                )
        if must is None or not self.controls or not self.offers(op) or self._model.crossed(must.text, scope, channel):
            return
        if must.text not in {sighting.opened.token for sighting in sightings}:
            told = f" ({type(refusal).__name__}: {refusal})" if refusal is not None else ""
            self._fail(
                f"inconclusive: {named(scope.path)} is not shown its own canary {must.short} by {op}{told}: "
                "it was dropped, or another took its place (PW106)"
            )

    def model(self) -> ScopedMemory:
        """What a right target would hold now."""
        return self._model

    def _call(self, op: str, scope: Scope, arguments: Mapping[str, Any]) -> tuple[Any, BaseException | None]:
        """The value of a call, or how it was refused. What an adapter raises may or may not have been applied."""
        session = scope.path[:3]
        if session not in self._opened and self.offers("create_session"):
            self._opened.add(session)
            self._invoke(Call("create_session", Identity.of(scope), scope))
        told = ", ".join(f"{name}={value!r}" for name, value in arguments.items() if name != OPERATIONS[op].plants)
        self._program.append(f"{named(scope.path)}  {op}({told})")
        return self._invoke(Call(op, Identity.of(scope), scope, arguments))

    def _invoke(self, call: Call) -> tuple[Any, BaseException | None]:
        positional, given = arguments_of(call)
        try:
            value = self._settled(getattr(self._adapter, call.op)(call, *positional, **given))
            return conform(call.op, plain(value)), None
        except Refused as refusal:
            return None, refusal
        except (ContractError, TargetError):
            raise  # a broken contract or a blocked loop is the adapter's mistake, whoever asked
        except NotImplementedError as error:
            self._lacking.add(call.op)
            return None, error
        except Exception as error:  # what an adapter raises says nothing about whether the call was applied
            return None, error

    def _settled(self, value: Any) -> Any:
        """A sync answer as it is; an async one from the one loop of this machine's class."""
        if not inspect.isawaitable(value) and not hasattr(value, "__aiter__"):
            return value
        if not self.loop:
            self.loop.append(BackgroundLoop())
        return self.loop[0].run(_awaited(value))

    def _fail(self, *lines: str) -> None:
        """The one place that fails: to Hypothesis, what is raised elsewhere is another bug, to be shrunk on its own."""
        steps = [f"  {number}. {step}" for number, step in enumerate(self._program, 1)]
        raise AssertionError("\n".join([lines[0], "after", *steps, *lines[1:]]))


def isolation_machine(
    target_factory: Callable[[], Any], *, controls: bool = True, name: str = "IsolationMachine"
) -> type[RuleBasedStateMachine]:
    """A state machine over adapters that `target_factory` makes, a new one for every program.

    Its `TestCase` is what pytest collects: `TestIsolation = isolation_machine(Adapter).TestCase`. A program of
    writes and looks by colliding scopes fails where a look shows a canary beyond its reach, and where an owner is
    not shown its own (`controls=False` lets that pass); Hypothesis shrinks it to the shortest. Sync methods run in
    the test's thread, async ones on one loop. Raises UsageError for what makes no adapter.
    """
    if not callable(target_factory):
        told = type(target_factory).__name__
        raise UsageError(f"isolation_machine needs a class or function that makes an adapter, got a {told}")
    namespace: dict[str, Any] = {
        "__doc__": f"Programs for {getattr(target_factory, '__qualname__', 'a target')}.",
        "__module__": __name__,
        "factory": staticmethod(target_factory),
        "controls": controls,
        "capabilities": {},
        "loop": [],
        **{op: _offered(op, _look(op)) for op in _LOOKS},
        **_writes(),
    }
    machine = cast(type[RuleBasedStateMachine], type(name, (_Machine,), namespace))
    # no phase `explain`: varying every step of a program it knows already takes far longer than finding it did
    phases = [phase for phase in settings().phases if phase is not Phase.explain]
    machine.TestCase.settings = settings(machine.TestCase.settings, phases=phases, report_multiple_bugs=False)
    return machine


def _writes() -> dict[str, Any]:
    memories: Bundle[Any] = Bundle("memories")

    def append_turn(self: _Machine, scope: Scope) -> None:
        self.write("append_turn", scope)

    def add_memory(self: _Machine, scope: Scope) -> Any:
        given = self.write("add_memory", scope)
        identifier = given.get("id", given.get("memory_id")) if isinstance(given, dict) else given
        return identifier, scope, self.model().latest("add_memory", scope)

    def get_memory(self: _Machine, memory: tuple[Any, Scope, Canary | None], scope: Scope) -> None:
        identifier, owner, canary = memory
        if identifier is not None:
            must = canary if self.model().one_place("add_memory", owner, scope) else None
            self.look("get_memory", scope, must, memory_id=identifier)

    def put_fact(self: _Machine, scope: Scope, layer: str) -> None:
        self.write("put_fact", scope, layer, key=f"{FACT_KEY}_{layer}")

    def get_fact(self: _Machine, scope: Scope, layer: str) -> None:
        must = self.model().latest("put_fact", scope, layer)
        self.look("get_fact", scope, must, key=f"{FACT_KEY}_{layer}")

    def put_artifact(self: _Machine, scope: Scope) -> None:
        self.write("put_artifact", scope, name=ARTIFACT)

    layers = st.sampled_from(LAYERS)
    return {
        "append_turn": _offered("append_turn", rule(scope=_SCOPES)(append_turn)),
        "add_memory": _offered("add_memory", rule(target=memories, scope=_SCOPES)(add_memory)),
        "get_memory": _offered("get_memory", rule(memory=memories, scope=_SCOPES)(get_memory)),
        "put_fact": _offered("put_fact", rule(scope=_SCOPES, layer=layers)(put_fact)),
        "get_fact": _offered("get_fact", rule(scope=_SCOPES, layer=layers)(get_fact)),
        "put_artifact": _offered("put_artifact", rule(scope=_SCOPES)(put_artifact)),
        "memories": memories,
    }


@cache
def _scanner() -> Scanner:
    return Scanner([_KEYRING], level="S3")


@lru_cache(4096)
def _sightings(text: str) -> tuple[Sighting, ...]:
    """Remembered: shrinking shows the same texts over and over."""
    return _scanner().scan(text).sightings


def _look(op: str) -> Callable[..., None]:
    def look(self: _Machine, scope: Scope) -> None:
        must = self.model().latest(_SHOWS[op], scope) if op in _SHOWS else None
        self.look(op, scope, must, **_LOOKS[op])

    look.__name__ = look.__qualname__ = op
    return rule(scope=_SCOPES)(look)


def _offered(op: str, act: Callable[..., Any]) -> Callable[..., Any]:
    return precondition(lambda self: self.offers(op))(act)


async def _awaited(value: Any) -> Any:
    answer = await value if inspect.isawaitable(value) else value
    return [item async for item in answer] if hasattr(answer, "__aiter__") else answer
