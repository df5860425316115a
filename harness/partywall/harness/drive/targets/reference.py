"""Target `reference`: the bundled agent in a process of its own, over real HTTP, with the mock LLM behind it."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import jwt
from partywall.canaries import Keyring

from ...errors import TargetError, UsageError
from ...mock_llm import MockLLM
from ...plan.identity import Identity
from ..agent_process import AgentProcess
from ..http import load_profile, shipped_profile
from ..target import TargetKind, TargetSettings
from ._reference_store import STORES, ReferenceStore
from ._watched import WatchedHttpTarget

_PROFILE = "reference-agent"
_PATIENCE = ("--model-timeout", "2", "--model-deadline", "5")
"""Seconds the agent waits for its model: it must give up before a caller's deadline of ten does."""
_NAIVE = "naive"
"""The agent as a demo has it."""
_RATES = ("--user-refill", "10", "--tenant-refill", "20")
"""Calls a second that an allowance gets back: a rush must be one on a slow machine too."""
_LIMITS = ("idle_after", "lifetime", "archive_after")
"""Options that the agent takes: seconds of a session's life."""


class ReferenceTarget(WatchedHttpTarget):
    """The agent, its mock model, its data folder and its share of a server; all end with it."""

    process: AgentProcess
    folder: tempfile.TemporaryDirectory[str]
    store: ReferenceStore
    secret: str = ""

    def token(self, identity: Identity, lifetime: float = 3600.0) -> str:
        """A token that the agent takes for `identity`, good for `lifetime` seconds."""
        claims = {"tenant": identity.tenant, "user": identity.user, "role": identity.role}
        return jwt.encode({**claims, "exp": int(time.time() + lifetime)}, self.secret, algorithm="HS256")

    async def aclose(self) -> None:
        """Stop the agent, then the model, then remove the data."""
        try:
            await self.process.stop()
            await super().aclose()
        finally:
            self.folder.cleanup()
            await self.store.discard()


async def _open(spec: str, settings: TargetSettings) -> ReferenceTarget:
    (name, mutant), limits = _understood(spec), _limits(spec, settings)
    store = ReferenceStore.of(name)
    secret = hashlib.sha256(os.urandom(32)).hexdigest()
    marks = hashlib.sha256(f"reference marks {settings.seed}".encode()).hexdigest()
    epoch = f"reference-{settings.seed}"
    mock = MockLLM(seed=settings.seed)  # each call names the fault that is to strike it
    await mock.start()
    folder = tempfile.TemporaryDirectory(prefix="partywall-")
    try:
        data = Path(folder.name)
        command = [sys.executable, "-m", "partywall.reference_impl", "--port", "0", "--data", str(data / "store")]
        command += ["--model-url", mock.base_url, "--movable-clock", *_PATIENCE, *_RATES, *limits, *store.arguments]
        command += ["--mutant", mutant] if mutant else []
        environment = {
            **os.environ,
            **store.urls,
            "PARTYWALL_TOKEN_KEY": secret,
            "PARTYWALL_KEY": marks,
            "PARTYWALL_EPOCH": epoch,
        }
        process = await AgentProcess.start(command, environment, data / "errors.txt")
    except BaseException:
        await mock.stop()
        folder.cleanup()
        with suppress(TargetError):  # why it did not start is what is to be told
            await store.discard()
        raise
    profile = load_profile(
        shipped_profile(_PROFILE), environment={"PARTYWALL_TOKEN_KEY": secret, "PARTYWALL_AGENT_URL": process.url}
    )
    target = ReferenceTarget(
        profile, mock, spec if mutant else f"reference ({name}) at {process.url.partition('//')[2]}"
    )
    target.capabilities = replace(
        target.capabilities,
        fresh=True,
        disposable=True,
        authenticates=True,
        promises={**target.capabilities.promises, **settings.options},
    )
    target.keyrings = (Keyring.derive(marks, epoch),)
    target.process, target.folder, target.store, target.secret = process, folder, store, secret
    return target


def _understood(spec: str) -> tuple[str, str]:
    """Store and mutant that `reference:postgres:mutant=M12` names; no mutant where none is.

    UsageError for anything not understood.
    """
    store, mutant = "sqlite", ""
    for part in spec.split(":")[1:]:
        name, equals, value = part.partition("=")
        if name == "mutant" and value:
            mutant = _known(value)
        elif part == _NAIVE:
            mutant = part
        elif equals or name not in STORES:
            raise UsageError(
                f"target {spec!r}: {part!r} is not understood; known: {', '.join(STORES)}, {_NAIVE}, mutant=ID"
            )
        else:
            store = name
    return store, mutant


def _limits(spec: str, settings: TargetSettings) -> list[str]:
    """The options as the agent's arguments. UsageError for one that it does not have."""
    arguments = []
    for name, seconds in settings.options.items():
        if name not in _LIMITS:
            raise UsageError(f"target {spec!r}: no option {name!r}; known: {', '.join(_LIMITS)}")
        arguments += [f"--{name.replace('_', '-')}", str(seconds)]
    return arguments


def _known(name: str) -> str:
    from partywall.reference_impl.mutants import list_mutants

    known = {mutant.id.upper(): mutant.id for mutant in list_mutants()}
    if name.upper() not in known:
        raise UsageError(f"no mutant {name!r}; known: {', '.join(sorted(known.values()))}")
    return known[name.upper()]


TARGET = TargetKind(
    id="reference",
    summary="the bundled agent over HTTP with the mock LLM behind it; reference:mutant=ID with one fault seeded,"
    " reference:naive with ten,"
    " reference:postgres+redis and the like on another store",
    claims=lambda spec: spec.partition(":")[0] == "reference",
    open=_open,
    per_world=False,
)
