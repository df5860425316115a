"""Load: from a profile's file or text to the profile; whatever is wrong is told at once, with the lines."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ...errors import ContractError, UsageError, unknown
from .compile import compile_profile
from .document import Document, Problem, guess, read
from .models import ProfileModel, known_keys
from .profile import Profile

SHIPPED = Path(__file__).parents[2] / "profiles"
SUFFIXES = (".yaml", ".yml", ".json")


def load_profile(
    source: str | Path,
    environment: Mapping[str, str] | None = None,
    variables: Mapping[str, Any] | None = None,
    allow_literal_secrets: bool = False,
) -> Profile:
    """The profile in a file, or in a text that holds a line break or begins with `{`.

    `environment` fills `${NAME}` (default: this process's); `variables` replace vars of the file. Raises
    ContractError with one sentence a problem, each with its line, and UsageError for a file that cannot be read.
    """
    text, folder, name = _text(source)
    document = read(text, os.environ if environment is None else environment)
    profile = _profile(document, dict(variables or {}), folder, allow_literal_secrets)
    if document.problems or profile is None:
        found = sorted(dict.fromkeys(document.problems), key=lambda problem: problem.line)
        raise ContractError(f"profile {name}, {problem}" for problem in found)
    return profile


def shipped_profiles() -> tuple[str, ...]:
    """The names of the profiles in the package."""
    return tuple(sorted(path.stem for path in SHIPPED.glob("*.yaml")))


def shipped_profile(name: str) -> Path:
    """The file of a profile in the package; UsageError naming the known ones otherwise."""
    if name not in shipped_profiles():
        raise unknown("profile", name, shipped_profiles())
    return SHIPPED / f"{name}.yaml"


def _text(source: str | Path) -> tuple[str, Path, str]:
    if isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{")):
        return source, Path(), "text"
    path = Path(source)
    try:
        return path.read_text("utf-8"), path.parent, repr(str(source))
    except OSError as error:
        raise UsageError(f"profile {str(source)!r} cannot be read: {error.strerror}") from error
    except UnicodeError as error:
        raise UsageError(f"profile {str(source)!r} is no UTF-8 text") from error


def _profile(
    document: Document, variables: dict[str, Any], folder: Path, allow_literal_secrets: bool
) -> Profile | None:
    if not isinstance(document.data, dict):
        if not document.problems:
            document.problems.append(Problem(1, "a profile is a mapping of keys to values"))
        return None
    try:
        model = ProfileModel.model_validate(document.data)
    except ValidationError as error:
        _tell(document, error)
        return None
    for name in variables:
        if name not in model.vars:
            document.problem(("vars",), f"the profile has no var {name!r} to replace; {guess(name, model.vars)}")
    return compile_profile(model, document, {**model.vars, **variables}, folder, allow_literal_secrets)


def _tell(document: Document, error: ValidationError) -> None:
    """Pydantic's findings as sentences. What stands in the profile is not repeated: it may be a secret."""
    for each in error.errors(include_url=False, include_input=False):
        location = each["loc"]
        place = ".".join(str(step) for step in location)
        if each["type"] == "extra_forbidden":
            key = str(location[-1])
            where = ".".join(str(step) for step in location[:-1]) or "a profile"
            document.problem(location, f"{where} has no key {key!r}; {guess(key, known_keys(location))}")
        elif each["type"] == "missing":
            document.problem(location, f"{place} is missing")
        else:
            message = each["msg"][:1].lower() + each["msg"][1:]
            document.problem(location, f"{place}: {message}")
