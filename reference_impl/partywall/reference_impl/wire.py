"""The bodies of the operations; every one is a POST whose ids travel as JSON, hostile or not."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .layers import Layer
from .refusals import Invalid

LONGEST_ID = 8192
LARGEST_BODY = 1_000_000
Id = Annotated[str, Field(max_length=LONGEST_ID)]
GivenId = Annotated[str, Field(min_length=1, max_length=LONGEST_ID)]
Text = Annotated[str, Field(min_length=1)]
Solid = Annotated[str, Field(min_length=1, pattern=r"\S")]
Count = Annotated[int, Field(ge=1, le=10_000)]
Version = Annotated[int, Field(ge=0, le=2**53)]
Instant = Annotated[float, Field(allow_inf_nan=False)]
LayerName = Annotated[Layer, Field(strict=False)]
LevelName = Literal["tenant", "user", "session", "task"]


class Strict(BaseModel):
    """Unknown fields and wrong kinds are refused."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class ScopeBody(Strict):
    """Whose memory is addressed. Tenant and user may be wanting here so that their absence is counted."""

    tenant: Id | None = ""
    user: Id | None = ""
    session: Id = ""
    task: Id = ""


class Scoped(Strict):
    """An operation without arguments."""

    scope: ScopeBody


class Watched(Strict):
    """An operator's view; a scope may be named and is no filter."""

    scope: ScopeBody | None = None


class AdvanceClock(Watched):
    seconds: Annotated[float, Field(ge=0, le=10_000_000_000, allow_inf_nan=False)]


class CreateSession(Scoped):
    carry_from: GivenId | None = None
    carry: list[GivenId] | None = None


class AppendTurn(Scoped):
    text: Text
    role: Literal["user", "assistant"] = "user"
    expected_version: Version | None = None
    request_id: GivenId | None = None


class ListTurns(Scoped):
    limit: Count | None = None


class RunTurn(Scoped):
    text: Text
    request_id: GivenId | None = None


class Context(Scoped):
    query: str = ""


class AddMemory(Scoped):
    text: Solid


class SearchMemory(Scoped):
    query: str
    limit: Count = 20


class ById(Scoped):
    memory_id: GivenId


class PutFact(Scoped):
    key: GivenId
    value: Any
    layer: LayerName
    valid_from: Instant | None = None


class GetFact(Scoped):
    key: GivenId
    at: Instant | None = None
    known_at: Instant | None = None
    layer: LayerName | None = None


class ListFacts(Scoped):
    at: Instant | None = None
    known_at: Instant | None = None
    layer: LayerName | None = None
    include_superseded: bool = False


class DeleteFact(Scoped):
    key: GivenId
    layer: LayerName | None = None


class PutArtifact(Scoped):
    name: GivenId
    text: str


class GetArtifact(Scoped):
    name: GivenId


class RenderArtifact(Scoped):
    name: GivenId
    template: str


class CachedAnswer(Scoped):
    query: Text


class Purge(Scoped):
    level: LevelName


def read(model: type[Strict], raw: bytes) -> Strict:
    """The body as `model`. Raises Invalid naming the places, never repeating what stood there."""
    try:
        plain = json.loads(raw, object_pairs_hook=_once, parse_constant=_no_constant)
        json.dumps(plain, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        raise Invalid("the body must be one JSON object in UTF-8 without repeated names") from None
    try:
        return model.model_validate(plain)
    except ValidationError as error:
        known = set(model.model_fields) | set(ScopeBody.model_fields)
        problems = [
            {"at": ".".join(str(part) if part in known else "?" for part in each["loc"]), "is": each["type"]}
            for each in error.errors(include_input=False, include_url=False, include_context=False)
        ]
        raise Invalid("the body does not fit the operation", problems=problems[:20]) from None


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("repeated name")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
