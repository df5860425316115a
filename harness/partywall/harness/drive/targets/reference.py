"""Target `reference`: the bundled agent in a process of its own, over real HTTP, with the mock LLM behind it."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import jwt
from partywall.canaries import Keyring

from ...errors import UsageError
from ...mock_llm import MockLLM
from ...plan.identity import Identity
from ..agent_process import AgentProcess
from ..http import load_profile, shipped_profile
from ..target import TargetKind, TargetSettings
from ._watched import WatchedHttpTarget

_STORES = ("sqlite",)
_PROFILE = "reference-agent"
_PATIENCE = ("--model-timeout", "2", "--model-deadline", "5")
"""Seconds the agent waits for its model: it must give up before a caller's deadline of ten does."""
_LIMITS = ("idle_after", "lifetime", "archive_after")
"""Options that the agent takes: seconds of a session's life."""


class ReferenceTarget(WatchedHttpTarget):
    """The agent, its mock model and its data folder; all three end with it."""

    process: AgentProcess
    folder: tempfile.TemporaryDirectory[str]
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


async def _open(spec: str, settings: TargetSettings) -> ReferenceTarget:
    mutant, limits = _mutant(spec), _limits(spec, settings)
    secret = hashlib.sha256(os.urandom(32)).hexdigest()
    marks = hashlib.sha256(f"reference marks {settings.seed}".encode()).hexdigest()
    epoch = f"reference-{settings.seed}"
    mock = MockLLM(seed=settings.seed)  # each call names the fault that is to strike it
    await mock.start()
    folder = tempfile.TemporaryDirectory(prefix="partywall-")
    try:
        data = Path(folder.name)
        command = [sys.executable, "-m", "partywall.reference_impl", "--port", "0", "--data", str(data / "store")]
        command += ["--model-url", mock.base_url, *_PATIENCE, *limits]
        command += ["--mutant", mutant] if mutant else []
        environment = {
            **os.environ,
            "PARTYWALL_TOKEN_KEY": secret,
            "PARTYWALL_KEY": marks,
            "PARTYWALL_EPOCH": epoch,
        }
        process = await AgentProcess.start(command, environment, data / "errors.txt")
    except BaseException:
        await mock.stop()
        folder.cleanup()
        raise
    profile = load_profile(
        shipped_profile(_PROFILE), environment={"PARTYWALL_TOKEN_KEY": secret, "PARTYWALL_AGENT_URL": process.url}
    )
    target = ReferenceTarget(profile, mock, spec if mutant else f"{spec} (sqlite) at {process.url.partition('//')[2]}")
    target.capabilities = replace(target.capabilities, fresh=True, disposable=True, authenticates=True)
    target.keyrings = (Keyring.derive(marks, epoch),)
    target.process, target.folder, target.secret = process, folder, secret
    return target


def _mutant(spec: str) -> str:
    """The mutant that `reference:mutant=M12` names; empty where none is. UsageError for anything not understood."""
    mutant = ""
    for part in spec.split(":")[1:]:
        name, equals, value = part.partition("=")
        if name == "mutant" and value:
            mutant = _known(value)
        elif equals or name not in _STORES:
            raise UsageError(f"target {spec!r}: {part!r} is not understood; known: {', '.join(_STORES)}, mutant=ID")
    return mutant


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
    summary="the bundled agent over HTTP with the mock LLM behind it; reference:mutant=ID with one fault seeded",
    claims=lambda spec: spec.partition(":")[0] == "reference",
    open=_open,
    per_world=False,
)
