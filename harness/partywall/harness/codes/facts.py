"""PW31x: facts that are overwritten where they should be superseded."""

from ..plan.guarantee import Guarantee
from .code import Code

_CHAIN = "Close the old version and open the new one in one transaction, at one instant, the old pointing to the new."

CODES = (
    Code(
        "PW311",
        "superseded value overwritten",
        Guarantee.SUPERSESSION,
        "What a fact was before its value changed can no longer be told: the old version is gone from the list of all "
        "versions, or the question what held at an instant of its validity is answered otherwise.",
        ("an update in place", "the instant of a question is ignored", "old versions removed with the first change"),
        "Insert a new version and close the old one; answer a question about an instant by the interval that holds it.",
    ),
    Code(
        "PW312",
        "same value, new version",
        Guarantee.SUPERSESSION,
        "The value that a fact has already was asserted again and made another version: the history now tells of a "
        "change that never was.",
        ("every write inserts", "values compared in a form that differs each time"),
        "Compare the canonical value with the open version first, and leave that one alone where they are equal.",
    ),
    Code(
        "PW313",
        "intervals overlap or leave a gap",
        Guarantee.SUPERSESSION,
        "Two versions of one fact hold at the same instant, or none does between two of them. Intervals are half-open: "
        "in the instant of the change the new version holds, and the old one does no longer.",
        ("the two ends are taken from two readings of the clock", "intervals compared with ≤ at both ends"),
        _CHAIN,
    ),
    Code(
        "PW314",
        "supersession chain broken",
        Guarantee.SUPERSESSION,
        "A version that was followed by another is not closed, or does not point to the one that follows.",
        ("the close and the insert in two transactions", "a pointer that is written to no version"),
        _CHAIN,
    ),
)
