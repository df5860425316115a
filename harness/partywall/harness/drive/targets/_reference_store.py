"""The store that a reference target runs on: which, where, and how what it left there is taken away."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from ...errors import TargetError, UsageError

LAYOUTS = ("sqlite", "sqlite-per-tenant", "postgres")
_SHARED = "+redis"
STORES = tuple(layout + shared for layout in LAYOUTS for shared in ("", _SHARED))
_SERVERS = {
    "postgres": ("psycopg", "PARTYWALL_POSTGRES_URL", "PARTYWALL_TEST_POSTGRES_URL"),
    "redis": ("redis", "PARTYWALL_REDIS_URL", "PARTYWALL_TEST_REDIS_URL"),
}
"""The package that reaches a server, the variable of its URL, and the one that serves instead where that is unset."""


@dataclass(frozen=True, slots=True)
class ReferenceStore:
    """`name` as the target's spec says it; `urls` by variable, which may hold passwords; `schema` of this run alone."""

    name: str
    urls: Mapping[str, str]
    schema: str

    @classmethod
    def of(cls, name: str, environment: Mapping[str, str] = os.environ) -> ReferenceStore:
        """The store of that name, for one run. UsageError for an URL or a package that is wanting."""
        urls = {}
        for server in name.split("+"):
            if server in _SERVERS:
                package, variable, instead = _SERVERS[server]
                if find_spec(package) is None:
                    raise UsageError(f"store {name} needs the extra {server!r}: pip install 'partywall[{server}]'")
                url = environment.get(variable) or environment.get(instead)
                if not url:
                    raise UsageError(f"store {name} needs the URL of a server in {variable} (or {instead})")
                urls[variable] = url
        # A schema for each run, so that runs at the same time do not meet, and nothing of before is found.
        return cls(name, urls, f"pw_{os.urandom(8).hex()}" if urls else "partywall")

    @property
    def arguments(self) -> list[str]:
        """What the agent is told on its command line; the URLs go by its environment."""
        return ["--store", self.name, "--store-schema", self.schema]

    async def discard(self) -> None:
        """Take away what a run left on a server, also where its agent was killed. TargetError where that fails."""
        if not self.urls:
            return
        # In a thread: whoever stops waiting for it does not stop it.
        ended = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-m", "partywall.reference_impl.store", "discard", "--schema", self.schema],
            env={**os.environ, **self.urls},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if ended.returncode:
            said = ended.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise TargetError(f"what the run left in store {self.name} is still there: {''.join(said)[:500]}")
