"""Guarantee: what a deployment promises, and what a scenario exercises."""

from enum import StrEnum


class Guarantee(StrEnum):
    """The fifteen promises that are checked; values as files write them."""

    ISOLATION = "isolation"
    NONINTERFERENCE = "noninterference"
    ATOMICITY = "atomicity"
    ORDER = "order"
    DURABILITY = "durability"
    IDEMPOTENCE = "idempotence"
    LIFECYCLE = "lifecycle"
    SUPERSESSION = "supersession"
    ERASURE = "erasure"
    GUARD = "guard"
    CONFINEMENT = "confinement"
    CONSENT = "consent"
    SECRECY = "secrecy"
    KEYING = "keying"
    RESILIENCE = "resilience"
