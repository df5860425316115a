"""Attribution: which probe a prompt belongs to, though the agent in between may have dropped every trace.

Evidence is weighed in this order: an API key registered to exactly one identity, the base-URL path
`/s/<scope>`, the header `x-partywall-probe` or the body's `metadata` and `user`, and last the self-tag
`[pw:<probe id>]`. Old tags are everywhere (histories, summaries, templates), so only probes in flight count.
Without any evidence a prompt belongs to the sole probe in flight, and to nobody where there are several.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol
from urllib.parse import unquote_to_bytes

from .keys import Owner, owner_of

How = Literal["key", "path", "header", "body", "tag", "sole", "none"]

PROBE_HEADER = "x-partywall-probe"

_TAG = re.compile(rb"\[pw:([^\]\s\\\"]{1,256})\]")


@dataclass(frozen=True, slots=True)
class Flight:
    """A probe that has been sent and not yet answered; paths are raw ids, so hostile ones fit.

    `fault` is what strikes the model calls that it causes, as `Profile.of` takes it; empty leaves the server's.
    """

    probe: str
    caller: Owner
    scope: Owner
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Attribution:
    """Whose prompt it is.

    `probe` is None where that is open; `candidates` are then the probes it may belong to, and where `how` is
    `tag` they share a user: tenant and user can still be judged. `disagreement` says that two pieces of
    evidence name different probes, or that in-flight tags of different users stand in one prompt.
    """

    probe: str | None
    candidates: tuple[str, ...]
    disagreement: bool
    how: How


class Attributable(Protocol):
    """What attribution reads of an exchange."""

    @property
    def target(self) -> str: ...
    @property
    def headers(self) -> Sequence[tuple[str, str]]: ...
    @property
    def body(self) -> bytes: ...
    @property
    def owner(self) -> Owner | None: ...
    @property
    def path_scope(self) -> str | None: ...


class InFlight:
    """The probes now in flight; a snapshot is a tuple, replaced and never changed."""

    __slots__ = ("_flights",)

    def __init__(self) -> None:
        self._flights: tuple[Flight, ...] = ()

    def enter(
        self,
        probe_id: str,
        caller_path: Sequence[str | None],
        scope_path: Sequence[str | None],
        fault: str = "",
    ) -> None:
        """Note that a probe is about to be sent; entering it again replaces it."""
        self.leave(probe_id)
        self._flights = (*self._flights, Flight(probe_id, tuple(caller_path), tuple(scope_path), fault))

    def leave(self, probe_id: str) -> None:
        """Note that a probe is over; one that never entered is no mistake."""
        self._flights = tuple(flight for flight in self._flights if flight.probe != probe_id)

    @property
    def snapshot(self) -> tuple[Flight, ...]:
        """The probes in flight at this moment."""
        return self._flights


def tag(probe_id: str) -> str:
    """The self-tag that a driven question carries."""
    return f"[pw:{probe_id}]"


def attribute(exchange: Attributable, in_flight_at_that_time: Collection[Flight]) -> Attribution:
    """The probe that an exchange belongs to, among those in flight when it came in."""
    flights = {flight.probe: flight for flight in in_flight_at_that_time}
    candidates, how = set(flights), None
    disagreement = not _compatible(exchange)
    for kind, named in _evidence(exchange, flights):
        agreed = candidates & named
        if how is None:
            candidates, how = named, kind
        elif agreed:
            candidates = agreed
            # Ten probes of one key's owner are in flight and one tag stands in the prompt: the tag decided.
            how = kind if len(agreed) == 1 else how
        elif named:
            # Never "the later one wins": a tag of B under A's key is just what a mixed-up agent sends.
            disagreement = True
    ordered = tuple(probe for probe in flights if probe in candidates)
    if how is None:
        sole = ordered[0] if len(ordered) == 1 else None
        return Attribution(sole, ordered, disagreement, "sole" if sole else "none")
    if how == "tag" and len({flights[probe].caller[:2] for probe in ordered}) > 1:
        disagreement = True
    return Attribution(ordered[0] if len(ordered) == 1 else None, ordered, disagreement, how)


def _evidence(exchange: Attributable, flights: Mapping[str, Flight]) -> list[tuple[How, set[str]]]:
    """(kind, probes named) in the order of weight; an owner without a probe in flight names the empty set."""
    found: list[tuple[How, set[str]]] = []
    if exchange.owner is not None:
        found.append(("key", _of(exchange.owner, flights)))
    if exchange.path_scope is not None:
        found.append(("path", _of(owner_of(exchange.path_scope), flights)))
    header = {value for name, value in exchange.headers if name.lower() == PROBE_HEADER}
    found.append(("header", header & flights.keys()))
    data = _parsed(exchange.body)
    found.append(("body", _declared(data) & flights.keys()))
    found.append(("tag", _tags(exchange, data) & flights.keys()))
    return [(kind, named) for kind, named in found if named or kind in ("key", "path")]


def _compatible(exchange: Attributable) -> bool:
    """Whether the key's owner and the path's are one, or one stands inside the other."""
    if exchange.owner is None or exchange.path_scope is None:
        return True
    named = owner_of(exchange.path_scope)
    return all(one == other for one, other in zip(exchange.owner, named, strict=False))


def _of(owner: Owner, flights: Mapping[str, Flight]) -> set[str]:
    """The probes whose caller is `owner`; those that address it where no caller is."""
    called = {probe for probe, flight in flights.items() if flight.caller[: len(owner)] == owner}
    return called or {probe for probe, flight in flights.items() if flight.scope[: len(owner)] == owner}


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _declared(data: object) -> set[str]:
    """The texts in `user` and `metadata`, each a probe id or holding a tag."""
    if not isinstance(data, dict):
        return set()
    metadata = data.get("metadata")
    values = [data.get("user"), *(metadata.values() if isinstance(metadata, dict) else [metadata])]
    texts = {value for value in values if isinstance(value, str)}
    return texts | {probe for text in texts for probe in _tags_in(text.encode("utf-8", "surrogatepass"))}


def _tags(exchange: Attributable, data: object) -> set[str]:
    """The probe ids of all tags, wherever they stand: body as sent and as read, headers, target."""
    views = [exchange.body, unquote_to_bytes(exchange.target)]
    if b"\\u" in exchange.body and data is not None:
        views.append(json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    views += [value.encode("utf-8", "surrogatepass") for _, value in exchange.headers]
    return {probe for view in views for probe in _tags_in(view)}


def _tags_in(view: bytes) -> set[str]:
    return {found.decode("utf-8", "replace") for found in _TAG.findall(view)}
