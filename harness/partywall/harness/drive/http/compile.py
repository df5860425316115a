"""Compile: from a profile that is well formed to one that can be used; every problem with its line, all at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path as FilePath
from typing import Any

from partywall.canaries import Level

from ...plan.capabilities import Capabilities
from ...plan.channel import Channel
from ...plan.operation import OBSERVATIONS, OPERATIONS, WRITES
from . import models
from .auth import Credentials, Secrets
from .classes import Classes
from .document import Document, Path, guess
from .extraction import Extraction, OkWhen
from .pointer import Pointer, parse
from .profile import Identities, Limits, MockModel, Profile, Route
from .sessions import SessionRule
from .template import Node, Structure, compiled, names

_IDENTITY = ("identity.tenant", "identity.user", "identity.role", "identity.merchant")
_SCOPE = ("tenant", "user", "session", "task", "request_id")
_SENSITIVE = re.compile(r"(?i)authorization|cookie|key|token|secret|password|credential")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_FILE = re.compile(r"\{file:(.+)\}")
_MEMBERS = ("id", "text", "role", "turn", "task", "version")
_OWN_HEADERS = frozenset({"host", "content-length", "transfer-encoding", "connection"})


def compile_profile(
    model: models.ProfileModel,
    document: Document,
    variables: Mapping[str, Any],
    folder: FilePath,
    literal_secrets: bool,
) -> Profile:
    """The profile that `model` describes; what is wrong with it is added to the document's problems, and where there
    are any, the result is not to be used. `variables` are already merged over those of the file."""
    return _Compiler(document, variables, folder, literal_secrets).profile(model)


class _Compiler:
    def __init__(
        self, document: Document, variables: Mapping[str, Any], folder: FilePath, literal_secrets: bool
    ) -> None:
        self._document = document
        self._variables = variables
        self._folder = folder
        self._literal_secrets = literal_secrets
        self._secrets: set[str] = set()

    def profile(self, model: models.ProfileModel) -> Profile:
        if not re.fullmatch(r"https?://[^/?#\s]+(/[^?#\s]*)?", model.base_url):
            self._problem(("base_url",), "base_url must be http://HOST[:PORT][/PATH] or https://…")
        for name in model.vars:
            if not re.fullmatch(r"[a-z_][a-z0-9_]*", name) or name in self._known(*OPERATIONS, own=False):
                self._problem(("vars", name), f"the var {name!r} must be a lower-case name that is not built in")
        identities = {
            name: self._credentials(("identities", name), each, model) for name, each in model.identities.items()
        }
        routes = {}
        for op, operation in model.operations.items():
            if op in OPERATIONS:
                routes[op] = self._route(op, operation, model)
            else:
                self._problem(("operations", op), f"no operation {op!r}; {guess(op, OPERATIONS)}")
        self._enough(model)
        return Profile(
            name=model.name,
            base_url=model.base_url.rstrip("/"),
            capabilities=self._capabilities(model, routes),
            routes=routes,
            identities=Identities(identities),
            sessions=self._sessions(model.ids.session),
            variables=dict(self._variables),
            headers=self._headers(("defaults", "headers"), model.defaults.headers, self._known(*model.operations)),
            timeout=model.defaults.timeout,
            limits=Limits(model.limits.rps, model.limits.concurrency),
            model=MockModel(model.model.port, model.model.fault) if model.model else None,
            secrets=Secrets(self._secrets),
        )

    def _route(self, op: str, operation: models.OperationModel, model: models.ProfileModel) -> Route:
        at: Path = ("operations", op)
        known = self._known(op)
        request = operation.request
        body, kind = None, "none"
        if "content" in request.model_fields_set:
            body, kind = self._template((*at, "request", "json"), request.content, known), "json"
        if request.form is not None:
            if kind == "json":
                self._problem((*at, "request", "form"), f"{op} has both json and form; one request has one body")
            body, kind = self._template((*at, "request", "form"), request.form, known), "form"
        if operation.identity is not None and (operation.identity not in model.identities or operation.identity == "*"):
            named = [name for name in model.identities if "*" not in name]
            self._problem((*at, "as"), f"{op} is sent as {operation.identity!r}; {guess(operation.identity, named)}")
        if operation.response is None and OPERATIONS[op].channel is not Channel.ACK:
            self._problem(at, f"{op} needs a response: it says where its {OPERATIONS[op].shape.value} stands")
        statuses = operation.ok_status if isinstance(operation.ok_status, list) else [operation.ok_status]
        return Route(
            method=request.method,
            path=self._template((*at, "request", "path"), request.path, known),
            query=self._template((*at, "request", "query"), request.query, known),
            headers=self._headers((*at, "request", "headers"), request.headers, known),
            body=body,
            body_kind="json" if kind == "json" else "form" if kind == "form" else "none",
            classes=Classes(
                ok=frozenset(status for status in statuses if status is not None),
                fail=frozenset(model.outcomes.fail) | frozenset(operation.outcomes.fail),
                info=frozenset(model.outcomes.info) | frozenset(operation.outcomes.info),
            ),
            ok_when=self._ok_when((*at, "ok_when"), operation.ok_when),
            extraction=self._extraction((*at, "response"), operation.response),
            identity=operation.identity or "",
            timeout=operation.timeout,
        )

    def _extraction(self, at: Path, response: models.ResponseModel | None) -> Extraction:
        if response is None:
            return Extraction()
        members = {
            name: self._pointers((*at, name), found)
            for name in _MEMBERS
            if (found := getattr(response, name)) is not None
        }
        members |= {name: self._pointers((*at, "fields", name), found) for name, found in response.fields.items()}
        if response.value is not None and (members or response.items is not None):
            self._problem((*at, "value"), "value stands for the whole answer: no items and no members beside it")
        if response.format == "text" and (members or response.items is not None or response.value is not None):
            self._problem((*at, "format"), "an answer of format text has no pointers")
        return Extraction(
            format=response.format,
            value=None if response.value is None else self._pointers((*at, "value"), response.value),
            items=None if response.items is None else self._pointers((*at, "items"), response.items),
            members=members,
            where=tuple((self._pointer((*at, "where", key), key), value) for key, value in response.where.items()),
            descending=response.order == "desc",
            lenient=response.missing == "empty",
        )

    def _ok_when(self, at: Path, model: models.OkWhenModel | None) -> OkWhen | None:
        if model is None:
            return None
        return OkWhen(
            tuple((self._pointer((*at, "equals", key), key), value) for key, value in model.equals.items()),
            self._pointers((*at, "present"), model.present),
            self._pointers((*at, "absent"), model.absent),
        )

    def _sessions(self, model: models.SessionModel) -> SessionRule:
        at: Path = ("ids", "session")
        if (model.source == "server") != bool(model.capture):
            self._problem(at, "session ids that come from the server need capture, and only those have it")
        if model.source == "client" and model.initial is not None:
            self._problem((*at, "initial"), "initial is for session ids that come from the server")
        captures: dict[str, Pointer | str] = {}
        for op, place in model.capture.items():
            if op not in OPERATIONS:
                self._problem((*at, "capture", op), f"no operation {op!r}; {guess(op, OPERATIONS)}")
            name = place.removeprefix("header:")
            captures[op] = name if name != place else self._pointer((*at, "capture", op), place)
        return SessionRule(model.source == "server", model.format, captures, model.initial)

    def _credentials(self, at: Path, model: models.IdentityModel, profile: models.ProfileModel) -> Credentials:
        known = {*_IDENTITY, *self._variables}
        auth = model.auth
        settings: dict[str, Any] = {}
        parts: dict[str, Node] = {}
        secret = {"token", "value", "password", "key"}
        for name, value in auth.model_dump(by_alias=True, exclude={"type"}).items():
            place = (*at, "auth", name)
            if name in ("alg", "ttl", "in", "name"):
                settings[name] = value
            else:
                parts[name] = self._template(
                    place, self._secret(place, value, f"auth {name}") if name in secret else value, known
                )
        if auth.type == "api_key" and auth.where != "query" and not _HEADER_NAME.fullmatch(auth.name):
            self._problem((*at, "auth", "name"), f"{auth.name!r} is no name of a header or cookie")
        headers = self._headers((*at, "headers"), model.headers, known)
        sensitive = frozenset(name.lower() for name in model.headers if _SENSITIVE.search(name))
        return Credentials(auth.type, parts, settings, headers, sensitive)

    def _headers(self, at: Path, headers: Mapping[str, Any], known: Iterable[str]) -> Structure:
        told = {}
        for name, value in headers.items():
            if not _HEADER_NAME.fullmatch(name):
                self._problem((*at, name), f"{name!r} is no header name")
            elif name.lower() in _OWN_HEADERS:
                self._problem((*at, name), f"the header {name!r} is written by the client itself")
            elif _SENSITIVE.search(name) and isinstance(value, str):
                told[name] = self._secret((*at, name), value, f"header {name!r}")
            else:
                told[name] = value
        node = self._template(at, told, set(known))
        return (
            node if isinstance(node, Structure) else Structure(tuple((k, compiled(v)) for k, v in told.items()), False)
        )

    def _secret(self, path: Path, value: str, what: str) -> str:
        """The value behind a secret, noted so that it is never told. A literal one is a problem, and not repeated."""
        found = _FILE.fullmatch(value)
        if found:
            try:
                value = (self._folder / found[1]).read_text("utf-8").strip()
            except (OSError, UnicodeError) as error:
                self._problem(path, f"the file of the {what} cannot be read: {type(error).__name__}")
            self._secrets.add(value)
            return value
        filled = self._document.filled.get(path, ())
        written = self._document.raw.get(path, value)
        plain = not filled and not re.search(r"\{\{", written) and written not in ("", "none")
        default = any(text not in ("", "none") for text in re.findall(r":-([^}]*)\}", written))
        if (plain or default) and not self._literal_secrets:
            self._problem(
                path,
                f"the {what} is written into the profile; take it from ${{NAME}} or {{file:PATH}}, without a default",
            )
        if plain:
            self._secrets |= {value, value.rpartition(" ")[2]}  # `Bearer X` is known by X too
        self._secrets.update(text for text in filled if text != "none")
        return value

    def _capabilities(self, model: models.ProfileModel, routes: Mapping[str, Route]) -> Capabilities:
        reach: dict[str, dict[str, Level]] = {}
        channels = {str(channel) for channel in Channel} | {"*"}
        for op, override in model.reach.items():
            by_channel = override if isinstance(override, dict) else {"*": override}
            if op not in WRITES:
                self._problem(("reach", op), f"reach names {op!r}, which writes nothing; {guess(op, WRITES)}")
            for channel in by_channel:
                if channel not in channels:
                    self._problem(("reach", op, channel), f"no channel {channel!r}; {guess(channel, channels)}")
            reach[op] = {channel: Level[level.upper()] for channel, level in by_channel.items()}
        proving = [each for each in model.identities.values() if each.auth.type != "none" or each.headers]
        if model.authenticates and not proving:
            self._problem(("authenticates",), "a target that authenticates needs an identity with auth or headers")
        return Capabilities(
            operations=frozenset(routes),
            dimensions=frozenset(Level[name.upper()] for name in model.dimensions),
            reach=reach,
            promises=dict(model.promises),
            intended_sharing=tuple(model.intended_sharing),
            authenticates=model.authenticates,
            fresh=model.fresh,
            disposable=model.disposable,
        )

    def _enough(self, model: models.ProfileModel) -> None:
        for kind, some in (("write", WRITES), ("observation", OBSERVATIONS)):
            if not some & set(model.operations):
                self._problem(("operations",), f"a target needs one {kind}; one of: {', '.join(sorted(some))}")

    def _template(self, path: Path, value: Any, known: Iterable[str]) -> Node:
        """`value` compiled; a placeholder that is not known is a problem at the very text that holds it."""
        if isinstance(value, dict):
            return Structure(
                tuple((str(key), self._template((*path, str(key)), item, known)) for key, item in value.items()),
                array=False,
            )
        if isinstance(value, list | tuple):
            items = enumerate(value)
            return Structure(tuple((None, self._template((*path, n), item, known)) for n, item in items), array=True)
        try:
            node = compiled(value)
        except ValueError as error:
            self._problem(path, str(error))
            return compiled(None)
        for name in names(node):
            if name not in known:
                self._problem(path, f"{{{{{name}}}}} is not known here; {guess(name, known)}")
        return node

    def _pointers(self, path: Path, value: str | list[str]) -> tuple[Pointer, ...]:
        if isinstance(value, str):
            return (self._pointer(path, value),)
        return tuple(self._pointer((*path, number), each) for number, each in enumerate(value))

    def _pointer(self, path: Path, text: str) -> Pointer:
        try:
            return parse(text)
        except ValueError as error:
            self._problem(path, str(error))
            return ()

    def _known(self, *operations: str, own: bool = True) -> set[str]:
        """The placeholders that all of these operations have."""
        sets = [set(OPERATIONS[op].parameters) for op in operations if op in OPERATIONS]
        shared = (set.intersection(*sets) if own else set().union(*sets)) if sets else set()
        return {*_IDENTITY, *_SCOPE, *shared, *(self._variables if own else ())}

    def _problem(self, path: Path, text: str) -> None:
        self._document.problem(path, text)
