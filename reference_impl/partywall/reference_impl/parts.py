"""The composition root: which class does what, and the one place that puts them together."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from .agent import Agent
from .answers import Answers
from .append import TurnLog
from .artifacts import Artifacts
from .backends import Backends, open_backends, open_database
from .cache import Cache
from .caches import Caches
from .canary_watch import CanaryWatch
from .clock import Clock
from .condense import Condenser
from .context import Assembler
from .endings import Endings
from .identity import Gate, Tokens
from .keys import Keys
from .lifecycle import Limits
from .llm import ChatModel, ModelSettings
from .locks import SessionLocks
from .log import Log
from .marks import Marks
from .metrics import Metrics
from .objects import open_objects
from .purge import JOBS, Purge
from .rates import Rate, RateLimits
from .reports import Reports
from .retrieval import Retrieval
from .settings import Settings, resolve
from .store import ArtifactTable, Database, FactTable, MemoryTable, SessionTable
from .store.artifacts import TABLES as ARTIFACT_TABLES
from .store.artifacts import SqlArtifacts
from .store.facts import TABLES as FACT_TABLES
from .store.facts import SqlFacts
from .store.last_use import LastUse
from .store.memories import TABLES as MEMORY_TABLES
from .store.memories import SqlMemories
from .store.sessions import TABLES as SESSION_TABLES
from .store.sessions import SqlSessions
from .sweeper import Sweeper
from .tools import Tools

TABLES = SESSION_TABLES + FACT_TABLES + MEMORY_TABLES + ARTIFACT_TABLES
"""Everything that belongs to a tenant."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The class of every part. The defaults are the reference; a mutant puts another class in one place."""

    keys: type[Keys] = Keys
    gate: type[Gate] = Gate
    marks: type[Marks] = Marks
    locks: type[SessionLocks] = SessionLocks
    rates: type[RateLimits] = RateLimits
    sessions: type[SqlSessions] = SqlSessions
    facts: type[SqlFacts] = SqlFacts
    memories: type[SqlMemories] = SqlMemories
    artifact_table: type[SqlArtifacts] = SqlArtifacts
    artifacts: type[Artifacts] = Artifacts
    reports: type[Reports] = Reports
    cache: type[Cache] = Cache
    caches: type[Caches] = Caches
    log: type[Log] = Log
    turns: type[TurnLog] = TurnLog
    retrieval: type[Retrieval] = Retrieval
    assembler: type[Assembler] = Assembler
    model: type[ChatModel] = ChatModel
    answers: type[Answers] = Answers
    tools: type[Tools] = Tools
    condenser: type[Condenser] = Condenser
    agent: type[Agent] = Agent
    endings: type[Endings] = Endings
    purge: type[Purge] = Purge
    sweeper: type[Sweeper] = Sweeper


@dataclass(frozen=True, slots=True)
class System:
    """One running deployment: the parts, made and wired."""

    settings: Settings
    limits: Limits
    clock: Clock
    keys: Keys
    tokens: Tokens
    gate: Gate
    locks: SessionLocks
    rates: RateLimits
    metrics: Metrics
    log: Log
    backends: Backends
    database: Database
    sessions: SessionTable
    facts: FactTable
    memories: MemoryTable
    artifact_table: ArtifactTable
    artifacts: Artifacts
    reports: Reports
    cache: Cache
    retrieval: Retrieval
    assembler: Assembler
    model: ChatModel
    answers: Answers
    agent: Agent
    endings: Endings
    purge: Purge
    sweeper: Sweeper

    async def aclose(self) -> None:
        """Close files and connections."""
        await self.model.aclose()
        self.cache.close()
        if self.backends.shared is not None:
            await self.backends.shared.aclose()
        self.database.close()


def compose(settings: Settings, parts: Parts | None = None, clock: Clock | None = None) -> System:
    """Make and wire a deployment under `settings.data`, whose time is the clock's.

    Raises UsageError for what is refused in the settings, StoreDown where the store does not answer.
    """
    parts = parts or Parts()
    api_key = resolve(settings.model_key)
    mark_key = settings.mark_key.get_secret_value() if settings.mark_key else None
    marks = parts.marks(mark_key, settings.epoch)
    limits = settings.limits
    clock, metrics = clock or Clock(), Metrics()
    settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    keys = parts.keys(_pepper(settings.data / "log.pepper"))
    log = parts.log(settings.data / "log.jsonl", keys, clock)
    backends = open_backends(settings)
    try:
        database = open_database(settings, TABLES, (JOBS,))
    except BaseException:
        backends.entries.close()
        raise
    sessions = parts.sessions(database, keys, clock, limits, marks)
    facts = parts.facts(database, keys, clock)
    memories = parts.memories(database, keys, clock)
    artifact_table = parts.artifact_table(database, keys, clock)
    artifacts = parts.artifacts(open_objects(settings.objects_url, settings.data / "objects"), keys, artifact_table)
    cache = parts.cache(backends.entries, keys, clock)
    caches = parts.caches(keys, cache)
    retrieval = parts.retrieval(memories, caches)
    watch = CanaryWatch(marks, metrics, log)
    assembler = parts.assembler(
        *(sessions, facts, retrieval, watch, settings.history_turns, settings.recalled_memories)
    )
    model = parts.model(
        ModelSettings(
            settings.model_url,
            settings.model_name,
            api_key,
            settings.model_timeout,
            settings.model_deadline,
            settings.model_retries,
        )
    )
    answers = parts.answers(caches, assembler, model)
    tools = parts.tools(facts, memories, retrieval, caches, clock, metrics, log)
    locks = parts.locks(settings.lock_timeout, backends.leases)
    rates = parts.rates(
        *(keys, clock, backends.buckets),
        Rate(settings.user_burst, settings.user_refill),
        Rate(settings.tenant_burst, settings.tenant_refill),
    )
    turns = parts.turns(keys, locks, sessions, metrics)
    condenser = parts.condenser(sessions, model, clock, limits, metrics, log)
    agent = parts.agent(turns, sessions, assembler, model, answers, tools, condenser, metrics, log)
    purge = parts.purge(database, (sessions, facts, memories, artifact_table), artifacts, cache, log)
    endings = parts.endings(sessions, LastUse(database, keys), artifacts, caches, clock, limits, log)
    sweeper = parts.sweeper(endings, purge, log)
    return System(
        settings=settings,
        limits=limits,
        clock=clock,
        keys=keys,
        tokens=Tokens(settings.token_key.get_secret_value()),
        gate=parts.gate(),
        locks=locks,
        rates=rates,
        metrics=metrics,
        log=log,
        backends=backends,
        database=database,
        sessions=sessions,
        facts=facts,
        memories=memories,
        artifact_table=artifact_table,
        artifacts=artifacts,
        reports=parts.reports(facts, artifacts, artifact_table, clock),
        cache=cache,
        retrieval=retrieval,
        assembler=assembler,
        model=model,
        answers=answers,
        agent=agent,
        endings=endings,
        purge=purge,
        sweeper=sweeper,
    )


def _pepper(path: Path) -> bytes:
    # Kept beside the data, not derived from a key that rotates: log lines of before must stay erasable.
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_bytes()
    with os.fdopen(descriptor, "wb") as file:
        pepper = os.urandom(32)
        file.write(pepper)
    return pepper
