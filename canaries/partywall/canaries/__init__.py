"""Canaries: keyed, self-describing marks that name their owner wherever they turn up."""

from .errors import PartywallError, ScopeError, UsageError
from .scope import Level, Path, Scope, boundary

__all__ = ["Level", "PartywallError", "Path", "Scope", "ScopeError", "UsageError", "boundary"]
