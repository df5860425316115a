"""PW4xx: purges that leave something, or take too much."""

from ..plan.guarantee import Guarantee
from .code import Code

CODES = (
    Code(
        "PW401",
        "residue after a purge",
        Guarantee.ERASURE,
        "Content that a confirmed purge covers was found afterwards: in the main store, the cache, the index, the log, "
        "the objects, or in an answer.",
        ("a replica that the purge does not visit", "rows past the first page", "free pages of a database file"),
        "Purge as one job over every place, confirmed place by place, and look for the canaries afterwards.",
    ),
    Code(
        "PW402",
        "purge reached too far",
        Guarantee.ERASURE,
        "Content that a purge does not cover was there before it and gone after it.",
        ("a delete by prefix: tenant-1 also takes tenant-10", "a dropped collection that several owners shared"),
        "Delete by the whole key of the owner, closed by a separator, and read the neighbours again afterwards.",
    ),
    Code(
        "PW403",
        "resurrection after a purge",
        Guarantee.ERASURE,
        "Content acknowledged before a purge was gone after it and came back without a new call of its owner.",
        ("a late write that lands after the purge", "a cache or a queue that writes back what it still holds"),
        "Mark the owner as purged until every writer has seen it; refuse what was begun before.",
    ),
)
