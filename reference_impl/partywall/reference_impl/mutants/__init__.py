"""Seeded faults: the reference agent with one part replaced, one a file."""

from .registry import build_parts, list_mutants
from .seeded import Mutant

__all__ = ["Mutant", "build_parts", "list_mutants"]
