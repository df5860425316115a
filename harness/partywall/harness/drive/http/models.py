"""The profile file as pydantic models: the edge where a user's data comes in, and the published schema."""

from __future__ import annotations

from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field

from ...plan.operation import OPERATIONS

LevelName = Literal["tenant", "user", "session", "task"]
Status = Annotated[int, Field(ge=100, le=599)]
Pointers = str | list[str]
Scalar = str | int | float | bool | None


class Strict(BaseModel):
    """Unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, protected_namespaces=())


class NoAuth(Strict):
    """The caller is not proved."""

    type: Literal["none"] = "none"


class BearerAuth(Strict):
    """`Authorization: Bearer TOKEN`."""

    type: Literal["bearer"]
    token: str


class ApiKeyAuth(Strict):
    """A key in a header, a query parameter or a cookie."""

    type: Literal["api_key"]
    where: Literal["header", "query", "cookie"] = Field("header", alias="in")
    name: str
    value: str


class BasicAuth(Strict):
    """HTTP basic authentication (RFC 7617)."""

    type: Literal["basic"]
    username: str
    password: str


class JwtAuth(Strict):
    """A bearer token signed for each request (RFC 7519); `iat` and `exp` are added, `ttl` is in seconds."""

    type: Literal["jwt"]
    alg: Literal["HS256", "HS384", "HS512", "RS256", "ES256", "EdDSA"] = "HS256"
    key: str
    claims: dict[str, Any] = {}
    ttl: float = Field(300, gt=0)


Auth = Annotated[NoAuth | BearerAuth | ApiKeyAuth | BasicAuth | JwtAuth, Field(discriminator="type")]


class IdentityModel(Strict):
    """The credentials of the callers that a pattern matches. Placeholders: `{{identity.…}}` and vars."""

    auth: Auth = NoAuth()
    headers: dict[str, Scalar] = {}


class SessionModel(Strict):
    """How a session is named to the target.

    from     client: it takes the id we choose; server: it gives its own, read by `capture`
    format   plain: the id alone, uuid5: a UUID of tenant, user and session, uuid5-session: a UUID of the id alone
    capture  {operation: JSON pointer into its answer, or header:Name}
    initial  what stands for the id until one was captured
    """

    source: Literal["client", "server"] = Field("client", alias="from")
    format: Literal["plain", "uuid5", "uuid5-session"] = "plain"
    capture: dict[str, str] = {}
    initial: Scalar | None = None


class IdsModel(Strict):
    """How ids are named to the target."""

    session: SessionModel = Field(default_factory=lambda: SessionModel.model_validate({}))


class DefaultsModel(Strict):
    """What every request has. `timeout` in seconds, the shorter of it and the run's counts."""

    timeout: float | None = Field(None, gt=0)
    headers: dict[str, Scalar] = {}


class OutcomesModel(Strict):
    """Statuses that surely were not applied, and those of which nobody knows, beside the usual ones."""

    fail: list[Status] = []
    info: list[Status] = []


class RequestModel(Strict):
    """One HTTP request. At most one of `json` and `form`."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    path: str = Field(pattern=r"^/[^?#]*$")
    query: dict[str, Scalar | list[Scalar]] = {}
    headers: dict[str, Scalar] = {}
    content: Any = Field(None, alias="json")
    form: dict[str, Scalar | list[Scalar]] | None = None


class OkWhenModel(Strict):
    """What a 2xx answer must show, by JSON pointers, to count as ok; otherwise nobody knows."""

    equals: dict[str, Scalar] = {}
    present: Pointers = []
    absent: Pointers = []


class ResponseModel(Strict):
    """Where the value of an operation stands in its answer: `value` whole, or `items`, or single members.

    A list of pointers means the first that resolves. Pointers of members are relative to the item. `missing: empty`
    says that an answer without `items` (or `value`) shows nothing; otherwise nobody knows what it showed.
    """

    format: Literal["json", "text"] = "json"
    value: Pointers | None = None
    items: Pointers | None = None
    id: Pointers | None = None
    text: Pointers | None = None
    role: Pointers | None = None
    turn: Pointers | None = None
    task: Pointers | None = None
    version: Pointers | None = None
    fields: dict[str, Pointers] = {}
    where: dict[str, Scalar] = {}
    order: Literal["asc", "desc"] = "asc"
    missing: Literal["unknown", "empty"] = "unknown"


class OperationModel(Strict):
    """How one operation of the contract is asked for, and how its answer is read."""

    request: RequestModel
    ok_status: Status | list[Status] | None = None
    ok_when: OkWhenModel | None = None
    outcomes: OutcomesModel = OutcomesModel()
    response: ResponseModel | None = None
    identity: str | None = Field(None, alias="as")
    timeout: float | None = Field(None, gt=0)


class LimitsModel(Strict):
    """What the target may be asked to bear: requests per second, and requests at once."""

    rps: float | None = Field(None, gt=0)
    concurrency: int | None = Field(None, ge=1)


class ModelModel(Strict):
    """The mock model is served on `port` for the time of the run, with that fault."""

    port: int = Field(ge=1, le=65535)
    fault: str = "steady"


class ProfileModel(Strict):
    """A deployment over HTTP, and how it is driven."""

    version: Literal[1]
    name: str = Field(min_length=1)
    base_url: str
    identities: dict[str, IdentityModel] = {}
    vars: dict[str, Any] = {}
    ids: IdsModel = IdsModel()
    defaults: DefaultsModel = Field(default_factory=lambda: DefaultsModel.model_validate({}))
    outcomes: OutcomesModel = OutcomesModel()
    operations: dict[str, OperationModel] = Field(
        json_schema_extra={"propertyNames": {"enum": [*sorted(OPERATIONS)]}}, min_length=1
    )
    promises: dict[str, Any] = {}
    limits: LimitsModel = Field(default_factory=lambda: LimitsModel.model_validate({}))
    dimensions: list[LevelName] = ["tenant", "user", "session", "task"]
    reach: dict[str, LevelName | dict[str, LevelName]] = {}
    intended_sharing: list[tuple[str, str]] = []
    authenticates: bool = False
    fresh: bool = False
    disposable: bool = False
    model: ModelModel | None = None


def schema() -> dict[str, Any]:
    """The JSON Schema of a profile, as published beside the drivers."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "partywall target profile, version 1",
        **{key: value for key, value in ProfileModel.model_json_schema().items() if key != "title"},
    }


def known_keys(location: tuple[str | int, ...]) -> set[str]:
    """The keys that the object holding the last step of `location` may have."""
    candidates: list[Any] = [ProfileModel]
    for step in location[:-1]:
        below = [found for candidate in candidates for found in _below(candidate, step)]
        # a step that leads nowhere is the tag of a union, which pydantic puts into the location
        candidates = below or [each for each in candidates if _tag(each) == step] or candidates
    return {alias for each in candidates for alias in _aliases(each)}


def _below(candidate: Any, step: str | int) -> list[Any]:
    if isinstance(candidate, type) and issubclass(candidate, BaseModel):
        fields = candidate.model_fields.items()
        return [found for name, field in fields if step in (name, field.alias) for found in _plain(field.annotation)]
    arguments = get_args(candidate)
    return _plain(arguments[-1]) if get_origin(candidate) in (dict, list) else []


def _plain(annotation: Any) -> list[Any]:
    if get_origin(annotation) is Annotated:
        return _plain(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [found for each in get_args(annotation) for found in _plain(each)]
    return [annotation]


def _tag(candidate: Any) -> str | None:
    if not (isinstance(candidate, type) and issubclass(candidate, BaseModel)) or "type" not in candidate.model_fields:
        return None
    values = get_args(candidate.model_fields["type"].annotation)
    return str(values[0]) if values else None


def _aliases(candidate: Any) -> set[str]:
    if not (isinstance(candidate, type) and issubclass(candidate, BaseModel)):
        return set()
    return {field.alias or name for name, field in candidate.model_fields.items()}
