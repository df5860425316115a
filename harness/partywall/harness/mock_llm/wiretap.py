"""The wiretap: every exchange as it went over the wire, prompt bytes first, without a silent cap.

The wiretap keeps raw bodies and judges nothing; a `watch`er gets each exchange's number as it comes in, which
is the seam for a scan at ingestion.
"""

from __future__ import annotations

import asyncio
from array import array
from collections import deque
from collections.abc import Callable
from time import monotonic

from .attribution import Flight, InFlight
from .exchange import Closer, Exchange, from_json, to_json
from .journal import Journal
from .keys import SECRET, ApiKeys, Owner

KEPT = 256 * 1024 * 1024
"""Bytes of settled exchanges held in memory where a journal holds them as well."""

WAITED = 0.05
"""Seconds a client must have waited on a silent server for a stall to count as delivered."""


class Record:
    """An exchange under way; the connection and the desk fill it, a snapshot freezes it."""

    __slots__ = (
        "answer", "answered", "answered_at", "api", "attempt", "began", "body", "call", "closed_at",
        "closed_first", "complete", "connection", "fault", "finished", "headers", "in_flight", "key",
        "mark", "method", "number", "owner", "path_scope", "peer_port", "received", "reset", "rule", "said",
        "scope", "silent_since", "target", "written",
    )  # fmt: skip

    def __init__(self, connection: int, peer_port: int) -> None:
        self.number = 0
        self.connection = connection
        self.peer_port = peer_port
        self.method = ""
        self.target = ""
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = b""
        self.complete = False
        self.key: str | None = None
        self.owner: Owner | None = None
        self.path_scope: str | None = None
        self.scope = "-"
        self.api: str | None = None
        self.call = self.attempt = 0
        self.fault: str | None = None
        self.rule = self.said = self.mark = ""
        self.answer: list[bytes] = []
        self.answered = self.written = 0
        self.finished = self.reset = False
        self.closed_first: Closer | None = None
        self.began = monotonic()
        self.received: float | None = None
        self.answered_at: float | None = None
        self.closed_at: float | None = None
        self.silent_since: float | None = None
        self.in_flight: tuple[Flight, ...] = ()

    @property
    def delivered(self) -> bool:
        """Whether the client got what was meant for it, silence included."""
        if self.silent_since is not None:
            return (self.closed_at or monotonic()) - self.silent_since >= WAITED
        return self.finished and self.written == self.answered and not self.reset

    def freeze(self) -> Exchange:
        """The exchange as it stands now."""
        return Exchange(
            number=self.number,
            connection=self.connection,
            peer_port=self.peer_port,
            method=self.method,
            target=self.target,
            headers=tuple([(str(name, "latin-1"), str(value, "latin-1")) for name, value in self.headers]),
            body=self.body,
            complete=self.complete,
            key=self.key,
            owner=self.owner,
            path_scope=self.path_scope,
            scope=self.scope,
            api=self.api,
            call=self.call,
            attempt=self.attempt,
            fault=self.fault,
            rule=self.rule,
            said=self.said,
            mark=self.mark,
            answer=b"".join(self.answer),
            answered=self.answered,
            written=self.written,
            delivered=self.delivered,
            closed_first=self.closed_first,
            began=self.began,
            received=self.received,
            answered_at=self.answered_at,
            closed_at=self.closed_at,
            in_flight=self.in_flight,
        )


class Wiretap:
    """Every exchange since the start, in the order in which requests were complete.

    With a journal, settled exchanges are appended to it and may leave memory; `exchanges` reads them back.
    `limits_hit` counts what could not be taken whole (body, head, pipeline): a run with one is inconclusive.
    `crashes` counts requests on which the mock itself failed.
    """

    def __init__(self, keys: ApiKeys, in_flight: InFlight, journal: Journal | None = None, kept: int = KEPT) -> None:
        self.limits_hit = 0
        self.crashes = 0
        self.count = 0
        self._keys = keys
        self._in_flight = in_flight
        self._journal = journal
        self._kept = kept
        self._spilled = array("q")  # by number, -1 for those still held
        self._settled: deque[tuple[Record, int, int]] = deque()
        self._held = 0
        self._records: dict[int, Record] = {}
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        self._watchers: list[Callable[[int], None]] = []

    def exchanges(self) -> tuple[Exchange, ...]:
        """All exchanges by number, those under way as far as they got."""
        spilled = [self._read(offset) for offset in self._spilled if offset >= 0]
        return (*sorted([*spilled, *(record.freeze() for record in self._records.values())], key=_number),)

    def exchange(self, number: int) -> Exchange:
        """The exchange of that number as far as it got; KeyError where none came in under it."""
        record = self._records.get(number)
        if record is not None:
            return record.freeze()
        offset = self._spilled[number] if 0 < number < len(self._spilled) else -1
        if offset < 0:
            raise KeyError(number)
        return self._read(offset)

    def forget(self, number: int) -> None:
        """Keep that exchange no longer, for whoever holds what they need of it; one that is gone is no mistake."""
        self._records.pop(number, None)

    async def wait_for(self, n: int, timeout: float) -> tuple[Exchange, ...]:
        """All exchanges once `n` of them have come in; TimeoutError after `timeout` seconds."""
        if self.count < n:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append((n, future))
            try:
                await asyncio.wait_for(future, timeout)
            except TimeoutError:
                raise TimeoutError(f"the wiretap saw {self.count} of {n} exchanges in {timeout} s") from None
            finally:
                self._waiters = [waiter for waiter in self._waiters if waiter[1] is not future]
        return self.exchanges()

    def watch(self, watcher: Callable[[int], None]) -> None:
        """Call `watcher` with each exchange's number as its request comes in."""
        self._watchers.append(watcher)

    def add(self, record: Record) -> None:
        """Take in a request that is complete or will never be; its credentials are hashed here."""
        keys = self._keys
        for at, (name, value) in enumerate(record.headers):
            if name.lower() in SECRET:
                kept, hashed = keys.redact(value)
                record.headers[at] = (name, kept)
                record.key = record.key or hashed
                record.owner = record.owner or keys.owner(hashed)
        if "?" in record.target:
            record.target = keys.redact_target(record.target)
        record.in_flight = self._in_flight.snapshot
        self.count += 1
        record.number = self.count
        self._records[self.count] = record
        if self._waiters:
            for n, future in self._waiters:
                if n <= self.count and not future.done():
                    future.set_result(None)
        for watcher in self._watchers:
            watcher(record.number)

    def add_garbage(self, record: Record, data: bytes) -> None:
        """Take in bytes that are no HTTP."""
        record.body = self._keys.redact_raw(data)
        self.add(record)

    def settle(self, record: Record) -> None:
        """Note that nothing about a record will change any more; with a journal it is written down."""
        journal = self._journal
        if journal is None:
            return
        offset = journal.append(to_json(record.freeze()))
        size = len(record.body) + record.answered
        self._settled.append((record, offset, size))
        self._held += size
        while self._held > self._kept:
            oldest, offset, size = self._settled.popleft()
            self._held -= size
            self.forget(oldest.number)
            self._spilled.extend([-1] * (oldest.number + 1 - len(self._spilled)))
            self._spilled[oldest.number] = offset

    def close(self) -> None:
        """Close the journal; what it holds stays readable."""
        if self._journal is not None:
            self._journal.close()

    def _read(self, offset: int) -> Exchange:
        assert self._journal is not None
        return from_json(self._journal.read(offset))


def _number(exchange: Exchange) -> int:
    return exchange.number
