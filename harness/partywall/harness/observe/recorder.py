"""Recorder: the only writer of histories. It stamps, redacts and keeps the order."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from partywall.canaries import DEFAULT_PREFIX, Canary

from ..plan.identity import RawPath
from ..plan.probe import Call, Probe
from .history import Completed, Entry, Faulted, Header, History, Invoked, Limited, Seen, Sown
from .outcome import Outcome

_CREDENTIAL = re.compile(
    r"(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{8,}|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|\bsk-[a-z0-9_-]{8,}"
)


def redact_credentials(text: str, prefix: str = DEFAULT_PREFIX) -> str:
    """`text` with bearer and basic credentials, JSON web tokens and provider keys replaced by `[redacted]`.

    A canary inside of one stays: were it cut out with the credential, its leak would be recorded as silence.
    """
    canary = re.compile(f"{re.escape(prefix)}[0-9a-z]{{24}}", re.IGNORECASE)
    return _CREDENTIAL.sub(lambda found: " ".join(["[redacted]", *canary.findall(found[0])]), text)


class Recorder:
    """Appends entries under one monotonic clock; equal stamps keep the order in which they were recorded.

    `clock` gives nanoseconds. Not safe from several threads: the driver calls it from its event loop only.
    """

    def __init__(self, header: Header, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._header = header
        self._clock = clock
        self._entries: list[Entry] = []

    def sown(self, probe: str, canary: Canary) -> None:
        """`probe` is about to plant `canary`."""
        self._entries.append(Sown(self._clock(), probe, canary))

    def invoked(self, probe: Probe, call: Call, client: str) -> None:
        """`call` is about to be sent; what the probe sows is recorded first."""
        for canary in probe.sows:
            self.sown(probe.id, canary)
        caller = (call.caller.tenant, call.caller.user)
        arguments: Mapping[str, Any] = self._redacted(dict(call.arguments))
        self._entries.append(
            Invoked(
                self._clock(),
                probe.id,
                client,
                call.op,
                caller,
                call.scope.path,
                arguments,
                call.request_id,
                call.credential,
                probe.twin,
            )
        )

    def completed(self, probe: str, outcome: Outcome) -> None:
        """The last byte of a call's answer was read, or it ended otherwise."""
        at = self._clock()
        value, reason = self._redacted(outcome.value), self._redacted(outcome.reason)
        redacted = Outcome(outcome.status, value, reason, outcome.code)
        self._entries.append(Completed(at, probe, redacted))

    def seen(
        self,
        channel: str,
        text: str,
        viewer: RawPath | None,
        probe: str | None = None,
        how: str = "",
        conflict: bool = False,
    ) -> None:
        """A text was observed elsewhere than in a call's value."""
        self._entries.append(Seen(self._clock(), channel, self._redacted(text), viewer, probe, how, conflict))

    def faulted(
        self,
        fault: str,
        delivered: bool,
        probe: str | None = None,
        detail: str = "",
        said: str = "",
        mark: str = "",
    ) -> None:
        """A fault was due."""
        told = self._redacted(detail), self._redacted(said)
        self._entries.append(Faulted(self._clock(), fault, delivered, probe, *told, mark))

    def limited(self, what: str, probe: str | None = None) -> None:
        """A limit of the harness was hit."""
        self._entries.append(Limited(self._clock(), self._redacted(what), probe))

    def history(self) -> History:
        """What has been recorded so far."""
        return History(self._header, tuple(self._entries))

    def _redacted(self, value: Any) -> Any:
        if isinstance(value, str):
            return redact_credentials(value, self._header.prefix)
        if isinstance(value, list | tuple):
            return [self._redacted(item) for item in value]
        if isinstance(value, dict):
            return {self._redacted(str(key)): self._redacted(item) for key, item in value.items()}
        return value
