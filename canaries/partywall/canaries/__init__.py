"""Canaries: keyed, self-describing marks that name their owner wherever they turn up."""

from .alphabet import DEFAULT_PREFIX
from .canary import KINDS, Canary, Mint, Opened, open_token, reaches, redact_tokens, short_id
from .carriers import CARRIERS, Carrier
from .errors import PartywallError, ScopeError, UsageError
from .keyring import Keyring
from .natural import COATS, Coat, Fact, evidence, natural, read_naturals, read_uuids, uuid_of
from .scan import LEVELS, Scan, Scanner, Sighting, scan
from .scope import Level, Path, Scope, boundary
from .sow import PLACES, sow

__all__ = [
    "CARRIERS",
    "COATS",
    "DEFAULT_PREFIX",
    "KINDS",
    "LEVELS",
    "PLACES",
    "Canary",
    "Carrier",
    "Coat",
    "Fact",
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
    "evidence",
    "natural",
    "open_token",
    "reaches",
    "read_naturals",
    "read_uuids",
    "redact_tokens",
    "scan",
    "short_id",
    "sow",
    "uuid_of",
]
