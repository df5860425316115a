"""The folder is the registry: a module named after an id offers one MUTANT."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

from partywall.canaries import UsageError

from ..parts import Parts
from .naive import NAIVE, naive
from .seeded import Mutant

_MODULE = re.compile(r"m\d+[a-z]?_\w+")


def list_mutants() -> list[Mutant]:
    """Every mutant, by id."""
    found = [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)])]
    loaded = [importlib.import_module(f"{__package__}.{name}") for name in found if _MODULE.fullmatch(name)]
    mutants: list[Mutant] = [module.MUTANT for module in loaded]
    return sorted(mutants, key=lambda mutant: mutant.id)


def build_parts(mutant_id: str) -> Parts:
    """The parts of a mutant, or of the naive agent. Raises UsageError for an unknown id."""
    if mutant_id == NAIVE:
        return naive(Parts())
    known = {mutant.id: mutant for mutant in list_mutants()}
    if mutant_id not in known:
        raise UsageError(f"no mutant '{mutant_id}'; known: {', '.join(known)}")
    return known[mutant_id].build(Parts())
