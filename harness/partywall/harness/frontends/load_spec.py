"""Load spec: what each Locust process of a load run is told, by its environment and never by its arguments."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from partywall.canaries import Keyring, PartywallError, UsageError

from ..drive.http import Profile, load_profile, shipped_profile, shipped_profiles

VARIABLE = "PARTYWALL_LOAD"
WORKER = "PARTYWALL_LOAD_WORKER"
DEPLOYMENT_KEY = "PARTYWALL_KEY"


@dataclass(frozen=True, slots=True)
class LoadSpec:
    """A load run as a worker needs to know it: nothing else is shared.

    `profile` is a profile's absolute file or a shipped name; `keyrings` are records of subkeys, the first is what
    the run mints with; `folder` is where each process leaves what it saw; `most_entries` bounds a worker's history.
    `prompts` says that what the target asks its model is watched.
    `gap` is the least time between two requests of one user, `timeout` the deadline of a request, both in seconds.
    """

    profile: str
    target: str
    seed: int
    users: int
    workers: int
    keyrings: tuple[Mapping[str, str], ...]
    folder: str
    nonce: str = ""
    most_entries: int = 40_000
    gap: float = 0.0
    timeout: float = 10.0
    prompts: bool = False

    def environment(self, inherited: Mapping[str, str], secrets: Mapping[str, str]) -> dict[str, str]:
        """The environment of a child: what was inherited, without Locust's own settings and the deployment key."""
        kept = {
            name: value
            for name, value in inherited.items()
            if not name.startswith("LOCUST_") and name not in (DEPLOYMENT_KEY, WORKER)
        }
        return {**kept, **secrets, VARIABLE: json.dumps(asdict(self))}

    @staticmethod
    def of(environment: Mapping[str, str] = os.environ) -> LoadSpec:
        """The spec that `environment` holds; UsageError where none is, or one that is not whole."""
        if VARIABLE not in environment:
            raise UsageError(f"no {VARIABLE} in the environment: this file is run by `partywall load`")
        try:
            told: dict[str, Any] = json.loads(environment[VARIABLE])
            spec = LoadSpec(**{**told, "keyrings": tuple(told["keyrings"])})
            spec.opened_keyrings()
        except (ValueError, TypeError, KeyError, PartywallError) as error:
            raise UsageError(f"{VARIABLE} is not what `partywall load` writes ({type(error).__name__})") from error
        return spec

    def opened_keyrings(self) -> tuple[Keyring, ...]:
        """The keyrings, ready to mint and to open with."""
        return tuple(Keyring.from_record(record) for record in self.keyrings)

    def loaded_profile(self) -> Profile:
        """The profile; its `${NAME}` are filled from this process's environment."""
        source = shipped_profile(self.profile) if self.profile in shipped_profiles() else Path(self.profile)
        return load_profile(source)
