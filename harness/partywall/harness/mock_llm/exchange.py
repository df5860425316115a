"""Exchange: one request that reached the mock and what became of it, frozen; and its line in a journal."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, fields
from typing import Any, Literal

from .attribution import Flight
from .keys import Owner

Closer = Literal["client", "server"]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what became of it. Times are seconds on the monotonic clock, None where not reached.

    `headers` keep their order, their case and their repeats; credentials are `#` and a salted hash, and
    `key` is the hash of the API key. `complete` False is a request cut short or no HTTP: `body` then holds
    what came. `call` and `attempt` are 0 where no model was asked.
    `fault` struck it by `rule`; `said` is what it put in the model's mouth (at most 2,000 characters), and `mark` the
    word in it that stands nowhere else. `answered` counts the bytes of the answer,
    and `written` those that the kernel took. `delivered` says that the client got all of it and did not reset,
    or that it waited on a server that had fallen silent. `in_flight` is the table when the request was complete.
    """

    number: int
    connection: int
    peer_port: int
    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    complete: bool
    key: str | None
    owner: Owner | None
    path_scope: str | None
    scope: str
    api: str | None
    call: int
    attempt: int
    fault: str | None
    rule: str
    said: str
    mark: str
    answer: bytes
    answered: int
    written: int
    delivered: bool
    closed_first: Closer | None
    began: float
    received: float | None
    answered_at: float | None
    closed_at: float | None
    in_flight: tuple[Flight, ...]


def to_json(exchange: Exchange) -> bytes:
    """The exchange as one line of JSON; bytes are text where they are UTF-8, else base64 as `{"b64": …}`."""
    data: dict[str, Any] = {name: getattr(exchange, name) for name in _FIELDS}
    data["body"] = _packed(exchange.body)
    data["answer"] = _packed(exchange.answer)
    data["in_flight"] = [[flight.probe, flight.caller, flight.scope, flight.fault] for flight in exchange.in_flight]
    return json.dumps(data, separators=(",", ":")).encode()


def from_json(line: bytes) -> Exchange:
    """The exchange that `to_json` wrote."""
    data = json.loads(line)
    data["headers"] = tuple((name, value) for name, value in data["headers"])
    data["owner"] = None if data["owner"] is None else tuple(data["owner"])
    data["body"] = _unpacked(data["body"])
    data["answer"] = _unpacked(data["answer"])
    data["in_flight"] = tuple(
        Flight(probe, tuple(caller), tuple(scope), fault) for probe, caller, scope, fault in data["in_flight"]
    )
    return Exchange(**data)


_FIELDS = tuple(field.name for field in fields(Exchange))


def _packed(data: bytes) -> str | dict[str, str]:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(data).decode()}


def _unpacked(data: str | dict[str, str]) -> bytes:
    return data.encode() if isinstance(data, str) else base64.b64decode(data["b64"])
