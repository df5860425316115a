"""Fields: where a JSON record says whose it is and what its own identity put in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from partywall.canaries import UsageError

from ..errors import unknown
from ..plan.channel import SCOPED_CHANNELS, Channel
from ..plan.identity import RawPath
from ..plan.leaves import leaves

OWN_INPUT = "input,user_input,messages[role=user]"
"""What is the viewer's own input unless it is said otherwise."""

_NAMES: Mapping[str, tuple[str, ...]] = {
    "tenant": ("tenant", "tenant_id"),
    "user": ("user", "user_id"),
    "session": ("session", "session_id", "conversation_id"),
    "task": ("task", "task_id"),
    "trace": ("trace", "trace_id"),
    "request": ("request", "request_id", "id"),
}
_OWN = re.compile(r"([^\[\],]+)(?:\[([^\[\]=,]+)=([^\[\],]*)\])?")
_CHANNELS = {
    **{str(channel): channel for channel in SCOPED_CHANNELS},
    "output": Channel.REPLY,
    "response": Channel.REPLY,
    "messages": Channel.PROMPT,
    "error": Channel.ERRORS,
}
_NOBODY: RawPath = (None, None, None, None)


@dataclass(frozen=True, slots=True)
class OwnInput:
    """A place whose texts are own input; of a list only the objects whose `key` is `value`, where a key is given."""

    path: str
    key: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class Fields:
    """Names of fields, tried in order; `metadata.tenant` is a field inside another, unless a field is named so.

    `otherwise` is whose a record is that names no tenant: a log that is one tenant's as a whole.
    """

    names: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: dict(_NAMES))
    own: tuple[OwnInput, ...] = ()
    otherwise: RawPath = _NOBODY

    @classmethod
    def parse(cls, names: str = "", own: str = OWN_INPUT, otherwise: RawPath = _NOBODY) -> Fields:
        """Fields from `tenant=org.id,user=uid|user_id` and `input,messages[role=user]`.

        Raises UsageError for a name that is none of tenant, user, session, task, trace, request, and for what cannot
        be read.
        """
        chosen = dict(_NAMES)
        for part in filter(None, (part.strip() for part in names.split(","))):
            name, equals, paths = part.partition("=")
            if name.strip() not in _NAMES:
                raise unknown("record field", name.strip(), _NAMES)
            tried = tuple(path.strip() for path in paths.split("|"))
            if not equals or not all(tried):
                raise UsageError(f"field mapping {part!r} must be NAME=FIELD or NAME=FIELD|FIELD")
            chosen[name.strip()] = tried
        return cls(chosen, tuple(_own_input(part.strip()) for part in own.split(",") if part.strip()), otherwise)

    def read(self, raw: bytes) -> JsonRecord | str:
        """The record in a line, or why there is none: `not_json`, `too_deep`, `not_an_object`."""
        # Bytes that are no UTF-8 stay what they are: replaced, two tenants' ids could become one.
        text = raw.decode("utf-8", "surrogateescape").lstrip("\ufeff\0")
        try:
            document = json.loads(text)
        except RecursionError:
            return "too_deep"
        except ValueError:
            return "not_json"
        if not isinstance(document, dict):
            return "not_an_object"
        ids = {name: self._id(document, name) for name in self.names}
        viewer: RawPath = (ids["tenant"], ids["user"], ids["session"], ids["task"])
        if not ids["tenant"]:
            viewer = self.otherwise
        traced = ids["trace"] or ids["request"] or ""
        return JsonRecord(viewer, traced, ids["session"] or traced, document, self.own)

    def _id(self, document: Mapping[str, Any], name: str) -> str | None:
        for path in self.names[name]:
            value = _at(document, path)
            if isinstance(value, str):
                return value
            if isinstance(value, int) and not isinstance(value, bool):
                return str(value)
        return None


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """A record that is a JSON object."""

    viewer: RawPath
    trace: str
    sampled_by: str
    document: Mapping[str, Any]
    places: tuple[OwnInput, ...]
    stratum: str = ""

    def own(self) -> Sequence[str]:
        """The texts of the places that are own input."""
        return [text for place in self.places for value in _chosen(self.document, place) for _, text in leaves(value)]

    def shown(self) -> Sequence[tuple[str, str]]:
        """Every other text, its channel told by the outermost field: `reply` where that says nothing."""
        own = {id(value) for place in self.places for value in _chosen(self.document, place)}
        found: list[tuple[str, str]] = []
        for name, value in self.document.items():
            channel = _CHANNELS.get(name, Channel.REPLY)
            found.append((channel, name))
            found += [(channel, text) for text in _others(value, own)]
        return found


def whole_line(raw: bytes, viewer: RawPath) -> TextRecord:
    """A line of a text log: all of it was shown to whoever's log it is."""
    return TextRecord(viewer, raw.decode("utf-8", "surrogateescape"))


@dataclass(frozen=True, slots=True)
class TextRecord:
    """A record that is a line of text; nothing in it is known to be own input."""

    viewer: RawPath
    text: str
    trace: str = ""
    stratum: str = ""

    @property
    def sampled_by(self) -> str:
        """The line itself: there is no id."""
        return self.text

    def own(self) -> Sequence[str]:
        """Nothing."""
        return ()

    def shown(self) -> Sequence[tuple[str, str]]:
        """The line."""
        return ((Channel.REPLY, self.text),)


def _own_input(part: str) -> OwnInput:
    found = _OWN.fullmatch(part)
    if not found:
        raise UsageError(f"own input {part!r} must be FIELD or FIELD[KEY=VALUE], as in {OWN_INPUT!r}")
    return OwnInput(found[1], found[2] or "", found[3] or "")


def _at(document: Mapping[str, Any], path: str) -> Any:
    if path in document:
        return document[path]
    value: Any = document
    for part in path.split("."):
        if not isinstance(value, dict) or part not in value:
            return None
        value = value[part]
    return value


def _chosen(document: Mapping[str, Any], place: OwnInput) -> list[Any]:
    """The values at a place of own input. Told apart by identity, so equal texts elsewhere stay derived."""
    value = _at(document, place.path)
    if value is None:
        return []
    if not place.key:
        return [value]
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, dict) and item.get(place.key) == place.value]


def _others(value: Any, own: set[int]) -> Iterator[str]:
    # json.loads shares keys, and of values only those of at most one character, which hold no canary: an object's id
    # names its one place in the document.
    if id(value) in own:
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _others(item, own)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _others(item, own)
