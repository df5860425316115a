"""A profile's text as data, with the line of every part: YAML without surprises, or JSON."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

Path = tuple[str | int, ...]

LARGEST = 1_000_000
MOST_PARTS = 20_000
DEEPEST = 64

_REFERENCE = re.compile(r"\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\})?")
_TAGS = frozenset(
    f"tag:yaml.org,2002:{name}"
    for name in ["str", "int", "float", "bool", "null", "timestamp", "map", "seq", "merge", "value"]
)
_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, and the line it stands in, from 1."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}"


@dataclass(slots=True)
class Document:
    """What a text says. `raw` holds texts as they were written, `filled` the values that came from outside into one."""

    data: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    raw: dict[Path, str] = field(default_factory=dict)
    filled: dict[Path, tuple[str, ...]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def line(self, path: Iterable[str | int]) -> int:
        """The line of the deepest part on `path`; steps that the text does not have are passed over."""
        here: Path = ()
        for step in path:
            if (*here, step) in self.lines:
                here = (*here, step)
        return self.lines.get(here, 1)

    def problem(self, path: Iterable[str | int], text: str) -> None:
        """Note what is wrong at `path`."""
        self.problems.append(Problem(self.line(path), text))


def read(text: str, environment: Mapping[str, str]) -> Document:
    """`text` as data, `${NAME}` and `${NAME:-default}` in texts filled from `environment`, `$${` for a plain `${`.

    Scalars follow JSON: `yes`, `012`, `12:30` and dates are text. Never raises for what the text says; what is wrong
    is in `problems`.
    """
    document = Document()
    if len(text) > LARGEST:
        document.problems.append(Problem(1, f"the profile is longer than {LARGEST:,} characters"))
        return document
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        text = text.replace("\t", " ")  # JSON may be indented with tabs, YAML may not
    try:
        node = yaml.compose(text.lstrip("\ufeff"), Loader=yaml.SafeLoader)
        if node is not None:
            document.data = _Reading(document, environment).value(node, ())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        told = (error.problem or error.context or "cannot be read").split("\n")[0]
        document.problems.append(Problem(mark.line + 1 if mark else 1, f"no YAML: {told}"))
    except yaml.reader.ReaderError as error:
        before = text[: error.position] if isinstance(error.position, int) else ""
        document.problems.append(Problem(before.count("\n") + 1, f"no YAML: {error.reason}"))
    except RecursionError:
        document.problems.append(Problem(1, f"nested deeper than {DEEPEST}"))
    return document


def guess(given: str, known: Iterable[str]) -> str:
    """`known: a, b (did you mean 'a'?)`."""
    names = sorted(known)
    near = difflib.get_close_matches(given, names, n=1, cutoff=0.6)
    return f"known: {', '.join(names) or 'none'}" + (f" (did you mean {near[0]!r}?)" if near else "")


class _Reading:
    def __init__(self, document: Document, environment: Mapping[str, str]) -> None:
        self._document = document
        self._environment = environment
        self._parts = 0

    def value(self, node: yaml.Node, path: Path) -> Any:
        self._parts += 1
        if self._parts == MOST_PARTS:
            self._tell(node, f"more than {MOST_PARTS:,} parts")
        if len(path) == DEEPEST:
            self._tell(node, f"nested deeper than {DEEPEST}")
        if self._parts >= MOST_PARTS or len(path) >= DEEPEST:
            return None
        self._document.lines.setdefault(path, node.start_mark.line + 1)
        if node.tag not in _TAGS:
            self._tell(node, f"the tag {node.tag!r} is not taken")
            return None
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        assert isinstance(node, yaml.ScalarNode)
        if node.style is None and not node.tag.endswith(":str"):
            return self._scalar(node, path)
        return self._text(node, path)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, item in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._tell(key, "a key must be text")
            elif key.value in found:
                self._tell(key, f"the key {key.value!r} stands here twice")
            else:
                name = str(key.value)
                self._document.lines[(*path, name)] = key.start_mark.line + 1
                found[name] = self.value(item, (*path, name))
        return found

    def _scalar(self, node: yaml.ScalarNode, path: Path) -> Any:
        text = str(node.value)
        if text in ("", "~", "null"):
            return None
        if text in ("true", "false"):
            return text == "true"
        if _INTEGER.fullmatch(text) and len(text) < 20:
            return int(text)
        if _NUMBER.fullmatch(text) and len(text) < 40:
            return float(text)
        return self._text(node, path)

    def _text(self, node: yaml.ScalarNode, path: Path) -> str:
        text = str(node.value)
        self._document.raw[path] = text
        filled: list[str] = []

        def fill(found: re.Match[str]) -> str:
            if found.group() == "$${":
                return "${"
            name, default = found.groups()
            if name is None:
                self._tell(node, "'${' begins neither ${NAME} nor ${NAME:-default}; write '$${' for the characters")
                return ""
            value = self._environment.get(name) or default
            if value is None:
                self._tell(node, f"${{{name}}} is not set in the environment and has no :-default")
                return ""
            filled.append(value)
            return value

        result = _REFERENCE.sub(fill, text)
        if filled:
            self._document.filled[path] = tuple(filled)
        return result

    def _tell(self, node: yaml.Node, text: str) -> None:
        self._document.problems.append(Problem(node.start_mark.line + 1, text))
