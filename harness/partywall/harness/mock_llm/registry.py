"""The folder is the registry: which codecs and faults there are is what lies in `codecs/` and `faults/`."""

from __future__ import annotations

import difflib
import re
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from partywall.canaries import UsageError

from .codec import Codec
from .fault import Fault


@cache
def faults() -> dict[str, Fault]:
    """Every fault by its id."""
    found = {}
    for module in _modules("faults"):
        fault = getattr(import_module(module), "FAULT", None)
        if not isinstance(fault, Fault) or module.rpartition(".")[2] != file_name(fault.id):
            raise UsageError(f"{module!r} must offer a FAULT whose id is its file name, found {fault!r}")
        found[fault.id] = fault
    return found


@cache
def codecs() -> dict[str, Codec]:
    """Every codec by its id."""
    found = {}
    for module in _modules("codecs"):
        codec = getattr(import_module(module), "CODEC", None)
        if not isinstance(codec, Codec) or module.rpartition(".")[2] != file_name(codec.id):
            raise UsageError(f"{module!r} must offer a CODEC whose id is its file name, found {codec!r}")
        found[codec.id] = codec
    return found


def fault(name: str) -> Fault:
    """The fault called `name`, by its id or its file name; UsageError lists what is known."""
    known = faults()
    if name in known:
        return known[name]
    for fault in known.values():
        if file_name(fault.id) == file_name(name):
            return fault
    near = difflib.get_close_matches(name, known, 1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise UsageError(f"no fault {name!r}; known: {', '.join(sorted(known))}{hint}")


def file_name(id: str) -> str:
    """The file name, without `.py`, that an id stands for."""
    return re.sub(r"[.-]", "_", id)


def _modules(folder: str) -> list[str]:
    package = import_module(f".{folder}", __package__)
    return [f"{package.__name__}.{module.name}" for module in iter_modules(package.__path__)]
