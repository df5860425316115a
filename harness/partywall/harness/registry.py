"""The folder is the registry: a module in a plug-in folder offers one constant, its file name is its id."""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from .errors import ContractError


@cache
def discover(package: str, constant: str, group: str) -> dict[str, Any]:
    """Everything the folder `package` offers, by id, in the order of ids; then the entry points of `group`.

    A module offers `constant`: one frozen object with an `id`, or a tuple of them (a family). The file name is
    the id with `.` and `-` written as `_`, optionally followed by a description. Modules that begin with `_`
    are private. Raises ContractError naming every module that breaks this.
    """
    found: dict[str, Any] = {}
    problems: list[str] = []
    folder = importlib.import_module(package)
    for info in sorted(pkgutil.iter_modules(folder.__path__), key=lambda info: info.name):
        if info.name.startswith("_") or info.ispkg:
            continue
        module = importlib.import_module(f"{package}.{info.name}")
        if not hasattr(module, constant):
            problems.append(f"module {module.__name__!r} offers no {constant}")
            continue
        offered = getattr(module, constant)
        for item in offered if isinstance(offered, tuple) else (offered,):
            stem = re.sub(r"[.\-]", "_", item.id).lower()
            if not isinstance(offered, tuple) and not (info.name + "_").startswith(stem + "_"):
                problems.append(
                    f"module {module.__name__!r} offers the id {item.id!r}, which its file name does not begin with"
                )
            if item.id in found:
                problems.append(f"two modules offer the id {item.id!r}")
            found[item.id] = item
    for entry in entry_points(group=group):
        item = entry.load()
        if not hasattr(item, "id"):
            problems.append(f"entry point {entry.name!r} of {group!r} offers no object with an id")
        elif item.id in found:
            problems.append(f"entry point {entry.name!r} of {group!r} takes the id {item.id!r}, which is taken")
        else:
            found[item.id] = item
    if problems:
        raise ContractError(problems)
    return found
