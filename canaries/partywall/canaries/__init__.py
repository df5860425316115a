"""Canaries: keyed, self-describing marks that name their owner wherever they turn up."""

from .alphabet import DEFAULT_PREFIX
from .canary import KINDS, Canary, Mint, Opened, open_token, redact_tokens, short_id
from .carriers import CARRIERS, Carrier
from .errors import PartywallError, ScopeError, UsageError
from .keyring import Keyring
from .scan import LEVELS, Scan, Scanner, Sighting, scan
from .scope import Level, Path, Scope, boundary
from .sow import PLACES, sow

__all__ = [
    "CARRIERS",
    "DEFAULT_PREFIX",
    "KINDS",
    "LEVELS",
    "PLACES",
    "Canary",
    "Carrier",
    "Keyring",
    "Level",
    "Mint",
    "Opened",
    "PartywallError",
    "Path",
    "Scan",
    "Scanner",
    "Scope",
    "ScopeError",
    "Sighting",
    "UsageError",
    "boundary",
    "open_token",
    "redact_tokens",
    "scan",
    "short_id",
    "sow",
]
