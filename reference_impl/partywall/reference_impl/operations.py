"""The operations of the contract, one method each, for a caller already admitted to the scope."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from uuid import uuid4

from partywall.canaries import Level, Scope

from . import wire
from .agent import Request
from .append import Draft
from .facts import Assertion, Fact, canonical
from .identity import Principal
from .layers import Layer, visible
from .lifecycle import State
from .llm import ModelFailure
from .metrics import Census
from .parts import System
from .refusals import Expired, Invalid, NotFound, Unavailable
from .store.sizes import sizes
from .tools import EVENT


@dataclass(frozen=True, slots=True)
class Call:
    """Who calls, and what is addressed."""

    principal: Principal
    scope: Scope

    @property
    def caller(self) -> str:
        """The caller's identity as request ids are scoped to it."""
        return canonical([self.principal.tenant, self.principal.user])


class Operations:
    """Everything an ordinary identity may do in its own scope."""

    def __init__(self, system: System) -> None:
        self._system = system

    async def create_session(self, call: Call, body: wire.CreateSession) -> str:
        scope = call.scope if call.scope.session else replace(call.scope, session=uuid4().hex)
        source = None if body.carry_from is None else replace(scope, session=body.carry_from)
        if source is not None:
            await self._system.endings.settle(source)
            if await self._system.sessions.session(source) is None:
                raise NotFound
        await self._may_carry(source, body.carry)
        await self._writable(scope)
        if await self._system.sessions.create(scope):
            self._system.metrics.layer_write(Layer.SESSION)
        if source is not None and source.session != scope.session:
            carried = await self._system.facts.carry(source, scope, body.carry)
            for _ in range(carried):
                self._system.metrics.layer_write(Layer.TASK)
            left = self._system.keys.log(Scope(*source.path[: Level.SESSION]))
            self._system.log.write("carried", scope, source=left, facts=carried)
        await self._system.answers.changed(scope, Level.SESSION)
        return scope.session

    async def delete_session(self, call: Call, body: wire.Scoped) -> None:
        if await self._system.sessions.session(call.scope.require(Level.SESSION)) is None:
            raise NotFound
        await self._system.purge.run(call.scope, Level.SESSION)

    async def session_info(self, call: Call, body: wire.Scoped) -> dict[str, object]:
        found = await self._system.sessions.session(call.scope)
        if found is None:
            raise NotFound
        limits = self._system.limits
        state = found.life.state(self._system.clock.now(), limits)
        told: dict[str, object] = {
            "state": state.value,
            "turns": 0 if state is State.ARCHIVED else found.stored,
            "first": found.head + 1,
            "expires_at": found.life.expires_at(limits),
            "version": found.version,
        }
        if found.summary is not None:
            told["summary"] = json.loads(found.summary)
        return told

    async def archive_session(self, call: Call, body: wire.Scoped) -> None:
        if await self._system.sessions.session(call.scope.require(Level.SESSION)) is None:
            raise NotFound
        await self._system.endings.archive(call.scope)

    async def list_sessions(self, call: Call, body: wire.Scoped) -> list[str]:
        return [found.scope.session for found in await self._system.sessions.sessions(call.scope)]

    async def append_turn(self, call: Call, body: wire.AppendTurn) -> dict[str, object]:
        draft = Draft(
            body.text,
            body.role,
            caller=call.caller,
            request_id=body.request_id,
            expected_version=body.expected_version,
        )
        appended = await self._system.agent.append(call.scope, draft)
        return {"turn": appended.turn, "version": appended.version}

    async def list_turns(self, call: Call, body: wire.ListTurns) -> list[dict[str, object]]:
        found = await self._system.sessions.turns(call.scope, body.limit)
        return [asdict(turn) for turn in found]

    async def run_turn(self, call: Call, body: wire.RunTurn) -> dict[str, object]:
        request = Request(call.caller, body.request_id)
        result = await self._system.agent.run_turn(call.scope, body.text, request)
        return result.record(self._system.settings.snapshot)

    async def context(self, call: Call, body: wire.Context) -> list[str]:
        return (await self._system.agent.recall(call.scope, body.query)).snippets()

    async def add_memory(self, call: Call, body: wire.AddMemory) -> str:
        memory_id = await self._system.memories.add(call.scope, body.text)
        self._system.metrics.layer_write(Layer.USER)
        await self._system.answers.changed(call.scope, Level.USER)
        return memory_id

    async def search_memory(self, call: Call, body: wire.SearchMemory) -> list[dict[str, str]]:
        found = await self._system.retrieval.search(call.scope, body.query, body.limit)
        return [{"id": chunk.chunk_id, "text": chunk.text} for chunk in found]

    async def list_memories(self, call: Call, body: wire.Scoped) -> list[dict[str, str]]:
        found = await self._system.memories.all(call.scope)
        return [{"id": chunk.chunk_id, "text": chunk.text} for chunk in found]

    async def get_memory(self, call: Call, body: wire.ById) -> dict[str, str]:
        found = await self._system.memories.get(call.scope, body.memory_id)
        if found is None:
            raise NotFound
        return {"id": found.chunk_id, "text": found.text}

    async def delete_memory(self, call: Call, body: wire.ById) -> None:
        if not await self._system.memories.delete(call.scope, body.memory_id):
            raise NotFound
        await self._system.answers.changed(call.scope, Level.USER)

    async def put_fact(self, call: Call, body: wire.PutFact) -> None:
        owner = body.layer.owner(call.scope)
        now = self._system.clock.now()
        if body.valid_from is not None and body.valid_from > now:
            raise Invalid("valid_from lies in the future; a fact holds from now on or from before")
        turn = await self._opened(owner)
        claim = Assertion(body.key, canonical(body.value), body.layer, now, turn, body.valid_from)
        if await self._system.facts.put(call.scope, claim):
            self._system.metrics.superseded()
        self._system.metrics.layer_write(body.layer)
        await self._system.answers.changed(owner, body.layer.level)

    async def get_fact(self, call: Call, body: wire.GetFact) -> dict[str, object] | None:
        for layer in _layers(call.scope, body.layer):
            for fact in await self._system.facts.chain(call.scope, layer, body.key, body.known_at):
                if _wanted(fact, body.at, superseded=False):
                    return fact.record()
        return None

    async def list_facts(self, call: Call, body: wire.ListFacts) -> list[dict[str, object]]:
        return [
            fact.record()
            for layer in _layers(call.scope, body.layer)
            for fact in await self._system.facts.chain(call.scope, layer, known_at=body.known_at)
            if _wanted(fact, body.at, body.include_superseded)
        ]

    async def delete_fact(self, call: Call, body: wire.DeleteFact) -> None:
        for layer in _layers(call.scope, body.layer):
            owner = layer.owner(call.scope)
            if await self._system.facts.delete(call.scope, layer, body.key):
                await self._system.answers.changed(owner, layer.level)
                return
        raise NotFound

    async def put_artifact(self, call: Call, body: wire.PutArtifact) -> None:
        await self._opened(call.scope.require(Level.TASK))
        await self._system.artifacts.put(call.scope, body.name, body.text)
        self._system.metrics.layer_write(Layer.TASK)

    async def get_artifact(self, call: Call, body: wire.GetArtifact) -> str:
        found = await self._system.artifacts.get(call.scope, body.name)
        if found is None:
            raise NotFound
        return found

    async def list_artifacts(self, call: Call, body: wire.Scoped) -> list[str]:
        return await self._system.artifacts.names(call.scope)

    async def render_artifact(self, call: Call, body: wire.RenderArtifact) -> str:
        await self._opened(call.scope.require(Level.TASK))
        text = await self._system.reports.render(call.scope, body.name, body.template)
        self._system.metrics.layer_write(Layer.TASK)
        return text

    async def replay_artifact(self, call: Call, body: wire.GetArtifact) -> dict[str, object]:
        return asdict(await self._system.reports.replay(call.scope.require(Level.TASK), body.name))

    async def cached_answer(self, call: Call, body: wire.CachedAnswer) -> str:
        try:
            return await self._system.answers.answer(call.scope, body.query)
        except ModelFailure as failure:
            self._system.log.write("model_failed", call.scope, kind=failure.kind, reason=str(failure))
            raise Unavailable("the model gave no answer; nothing was cached") from None

    async def purge(self, call: Call, body: wire.Purge) -> dict[str, object]:
        level = Level[body.level.upper()]
        report = await self._system.purge.run(call.scope, level)
        erased = self._system.keys.prefix(call.scope, level)
        for used in (self._system.locks.used, self._system.rates.used):
            used.forget(erased)
        return report

    async def _may_carry(self, source: Scope | None, names: list[str] | None) -> None:
        """Raises Invalid where a conclusion that is to be carried is not one of the source's."""
        if names is None:
            return
        if source is None:
            raise Invalid("carry names what is carried from a session, and carry_from names none")
        known = {fact.name for _, fact in await self._system.facts.conclusions(source)}
        if not known.issuperset(names):
            raise Invalid("carry names a conclusion that the session in carry_from does not hold")

    async def _opened(self, scope: Scope) -> int | None:
        """As `_writable`; a session that is not there is made, so that what is written in it has an end."""
        version = await self._writable(scope)
        if version is None and scope.session:
            await self._system.sessions.create(scope)
        return version

    async def _writable(self, scope: Scope) -> int | None:
        """The version of the scope's session, None where there is none. Raises Expired past its end."""
        session = await self._system.sessions.session(scope) if scope.session else None
        if session is None:
            return None
        if not session.life.writable(self._system.clock.now(), self._system.limits):
            raise Expired(self._system.keys.log(scope))
        return session.version


class OperatorViews:
    """What an operator sees of the whole deployment; never shown to a scope."""

    def __init__(self, system: System) -> None:
        self._system = system

    async def stored_bytes(self, call: None, body: wire.Watched) -> dict[str, list[str]]:
        return {place: contents for place, contents, _ in await self._places()}

    async def stored_keys(self, call: None, body: wire.Watched) -> dict[str, list[str]]:
        found = {place: keys for place, _, keys in await self._places()}
        return {**found, "locks": self._system.locks.used.listed(), "rates": self._system.rates.used.listed()}

    async def side_effects(self, call: None, body: wire.Watched) -> list[dict[str, object]]:
        """What tools did, oldest first: whose, by the redacted scope, which tool, on how many records."""
        lines = (json.loads(line) for line in self._system.log.lines())
        return [line for line in lines if line["event"] == EVENT]

    async def read_log(self, call: None, body: wire.Watched) -> list[str]:
        return self._system.log.lines()

    async def advance_clock(self, call: None, body: wire.AdvanceClock) -> dict[str, object]:
        """Move this deployment's time on, where it was started so that it may be; what is due then is done."""
        if not self._system.settings.movable_clock:
            raise NotFound
        self._system.clock.advance(body.seconds)
        return {"now": self._system.clock.now(), "archived": await self._system.sweeper.sweep()}

    async def metrics(self, call: None, body: wire.Watched) -> str:
        now, limits = self._system.clock.now(), self._system.limits
        sessions = []
        for session in await self._system.sessions.everywhere():
            state = session.life.state(now, limits)
            turns = 0 if state is State.ARCHIVED else session.stored
            sessions.append((session.scope.tenant, state.value, turns))
        return self._system.metrics.text(Census(sessions, await sizes(self._system.database)))

    async def _places(self) -> list[tuple[str, list[str], list[str]]]:
        system = self._system
        main = [
            await table.at_rest() for table in (system.sessions, system.facts, system.memories, system.artifact_table)
        ]
        contents = [text for table in main for text in table.contents]
        found = [("main", contents, [key for table in main for key in table.keys])]
        replicas = {
            "cache": await system.cache.at_rest(),
            "index": await system.memories.index_at_rest(),
            "log": system.log.at_rest(),
            "objects": await system.artifacts.at_rest(),
        }
        return found + [(place, list(each.contents), list(each.keys)) for place, each in replicas.items()]


def _layers(scope: Scope, layer: Layer | None) -> tuple[Layer, ...]:
    return visible(scope) if layer is None else (layer,)


def _wanted(fact: Fact, at: float | None, superseded: bool) -> bool:
    if at is not None:
        return fact.holds(at)
    return superseded or fact.valid_to is None
