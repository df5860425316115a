"""Profiles: what stands after `--fault`, a fault's name or a YAML file of rules, read into rules.

    version: 1
    seed: 42
    profiles:
      cut-deletes:
        on: {api: [chat], offers_tool: "*memory*", stream: false, scope: {tenant: acme, user: ann}}
        when: {call: 2}             # every: 5 | prob: 0.1 | attempt: 1
        fault: invalid-json

`FILE.yaml` stands for all of its profiles in order, `FILE.yaml:NAME` for one.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from partywall.canaries import UsageError
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from . import registry
from .rules import On, Profile, Rule, When, always

LARGEST = 1_000_000
_FILE = re.compile(r"(?P<path>.+\.ya?ml)(?::(?P<name>[^/\\]+))?", re.IGNORECASE)
_Pattern = Annotated[str, Field(min_length=1, max_length=256)]
_Count = Annotated[int, Field(ge=1, le=1_000_000)]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class ScopeModel(_Strict):
    """Whose calls, as patterns."""

    tenant: _Pattern = "*"
    user: _Pattern = "*"


class OnModel(_Strict):
    """What a call must be."""

    api: list[str] = Field(default=[], min_length=1)
    offers_tool: _Pattern = ""
    stream: bool | None = None
    scope: ScopeModel | None = None


class WhenModel(_Strict):
    """Which of the matching calls are struck."""

    call: _Count | None = None
    every: _Count | None = None
    prob: Annotated[float, Field(ge=0, le=1, strict=False)] | None = None
    attempt: _Count | None = None


class ProfileModel(_Strict):
    """One fault and when it strikes."""

    fault: str
    on: OnModel = OnModel()
    when: WhenModel = WhenModel()


class FileModel(_Strict):
    """The whole file."""

    version: Literal[1]
    seed: int | None = None
    profiles: dict[_Pattern, ProfileModel] = Field(min_length=1)


class _Loader(yaml.SafeLoader):
    """Only `true` and `false` are truth values, else the key `on` would be one; a key that stands twice is refused."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and keys.count(key.value) > 1:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value!r} stands here twice", key.start_mark
                )
        return super().construct_mapping(node, deep)


_BOOL = "tag:yaml.org,2002:bool"
_Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != _BOOL]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(_BOOL, re.compile(r"true|false"), list("tf"))


def profile_of(spec: str) -> Profile:
    """The rules that `spec` stands for: the name of a fault, `FILE.yaml` or `FILE.yaml:NAME`.

    Raises UsageError for a name that is not known, a file that cannot be read, and for whatever in it is not
    understood, naming the line.
    """
    found = _FILE.fullmatch(spec)
    if found is None:
        return always(registry.fault(spec))
    profile = read(_text(found["path"]), found["path"])
    if found["name"] is None:
        return profile
    chosen = [rule for rule in profile.rules if rule.id == found["name"]]
    if not chosen:
        raise UsageError(
            f"no profile {found['name']!r} in {found['path']!r}{_known(found['name'], [r.id for r in profile.rules])}"
        )
    return Profile(spec, tuple(chosen), profile.seed)


def read(text: str, name: str = "profile") -> Profile:
    """The rules of a file's text; UsageError with the line for what is not understood."""
    try:
        node = yaml.compose(text, Loader=_Loader)
        data = yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        told = (error.problem or error.context or "it cannot be read").split("\n")[0]
        raise UsageError(f"fault profile {name!r} line {mark.line + 1 if mark else 1}: no YAML: {told}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise UsageError(f"fault profile {name!r}: no YAML ({type(error).__name__})") from None
    if node is None or not isinstance(data, dict):
        raise UsageError(f"fault profile {name!r}: expected version, seed and profiles, found {_kind(data)}")
    try:
        model = FileModel.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        path = first["loc"]
        raise UsageError(f"fault profile {name!r} line {_line(node, path)}: {_why(path, first)}") from None
    return Profile(name, tuple(_rule(id, each, name, node) for id, each in model.profiles.items()), model.seed)


def _text(path: str) -> str:
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read fault profile {path!r}: {error.strerror}") from None
    if len(raw) > LARGEST:
        raise UsageError(f"fault profile {path!r} is longer than {LARGEST:,} bytes")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"fault profile {path!r} is no UTF-8") from None


def _rule(id: str, model: ProfileModel, name: str, node: yaml.Node) -> Rule:
    try:
        fault = registry.fault(model.fault)
    except UsageError as error:
        line = _line(node, ("profiles", id, "fault"))
        raise UsageError(f"fault profile {name!r} line {line}: {error}") from None
    for api in model.on.api:
        if api not in registry.codecs():
            line = _line(node, ("profiles", id, "on", "api"))
            raise UsageError(f"fault profile {name!r} line {line}: no API {api!r}{_known(api, registry.codecs())}")
    scope = model.on.scope or ScopeModel()
    on = On(
        tuple(model.on.api),
        model.on.offers_tool,
        model.on.stream,
        "" if scope.tenant == "*" else scope.tenant,
        "" if scope.user == "*" else scope.user,
    )
    return Rule(id, fault, on, When(**model.when.model_dump()))


def _line(node: yaml.Node, path: tuple[int | str, ...]) -> int:
    """The line of the deepest part on `path` that the file has, from 1."""
    line = node.start_mark.line + 1
    for step in path:
        if isinstance(node, yaml.MappingNode):
            pair = next((pair for pair in node.value if pair[0].value == str(step)), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
        else:
            break
    return line


def _why(path: tuple[int | str, ...], error: Any) -> str:
    place = ".".join(str(step) for step in path)
    if error["type"] == "extra_forbidden":
        return f"unknown key {place!r}{_known(str(path[-1]), _siblings(path))}"
    return f"{place or 'the file'}: {error['msg'].lower()}"


def _siblings(path: tuple[int | str, ...]) -> list[str]:
    inside: dict[int, type[BaseModel]] = {1: FileModel, 3: ProfileModel, 5: ScopeModel}
    model = inside.get(len(path), WhenModel if "when" in path else OnModel)
    return list(model.model_fields)


def _known(given: str, names: Any) -> str:
    known = sorted(names)
    near = difflib.get_close_matches(given, known, 1)
    return f"; known: {', '.join(known)}" + (f" (did you mean {near[0]!r}?)" if near else "")


def _kind(data: object) -> str:
    return "nothing" if data is None else f"a {type(data).__name__}"
