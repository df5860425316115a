"""Target: a deployment over HTTP in one run, shared by all clients that are connected to it."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import httpx
from partywall.canaries import Keyring

from ...errors import TargetError
from ...observe.recorder import Recorder
from ...plan.identity import Identity
from ...plan.probe import Call
from .client import HttpClient, Lane, Watch
from .profile import Profile
from .sessions import SessionIds


class HttpTarget:
    """A deployment as its profile describes it. Subclasses may surround each call by `before` and `after`."""

    def __init__(self, profile: Profile, name: str = "", transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.name = name or profile.name
        self.profile = profile
        self.capabilities = profile.capabilities
        self.keyrings: tuple[Keyring, ...] = ()
        self._sessions = SessionIds(profile.sessions)
        self._lane = Lane(profile.limits)
        self._watch = Watch(profile)
        self._transport = transport

    async def connect(self, identity: Identity) -> HttpClient:
        """A new client with a pool and cookies of its own; nothing is sent yet."""
        return HttpClient(self.profile, self._sessions, self._lane, self._watch, self, self._transport)

    def observe(self, recorder: Recorder) -> None:
        """Response headers and long error bodies are recorded there."""
        self._watch.recorder = recorder

    async def settle(self) -> None:
        """Nothing is outstanding: what an answer shows is recorded with it."""

    async def aclose(self) -> None:
        """Nothing was started."""

    async def before(self, call: Call) -> Call:
        """The call that is sent for `call`; here the same."""
        return call

    async def after(self, call: Call) -> None:
        """`call`, as `before` gave it, has ended or was given up."""

    async def probe(self, timeout: float = 5.0) -> None:
        """Open one connection and close it again. Raises TargetError where nobody listens."""
        place = urlsplit(self.profile.base_url)
        port = place.port or (443 if place.scheme == "https" else 80)
        try:
            async with asyncio.timeout(timeout):
                _, writer = await asyncio.open_connection(place.hostname, port)
        except (OSError, TimeoutError) as error:
            told = str(error) or f"no answer within {timeout:g} s"
            raise TargetError(f"target {self.name!r} cannot be reached at {self.profile.base_url}: {told}") from error
        writer.close()
