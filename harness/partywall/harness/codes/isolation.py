"""PW1xx: what one scope observed of another."""

from ..plan.guarantee import Guarantee
from .code import Code

_CROSSING = (
    "Content that one {0} planted was shown to another {0}. The canary named in the claim was planted by its owner "
    "alone; the observer never put it in, and it is outside the canary's reach in that channel."
)


CODES = (
    Code(
        "PW101",
        "crossed tenant",
        Guarantee.ISOLATION,
        _CROSSING.format("tenant"),
        (
            "a cache, store or index key without the tenant",
            "an answer cache keyed by the question alone",
            "a list, export or search path without the tenant filter",
            "a prefix match: tenant-1 also reaches tenant-10",
        ),
        "Put the tenant first in every key and filter, taken from the proved identity and never from the request body.",
    ),
    Code(
        "PW102",
        "crossed user",
        Guarantee.ISOLATION,
        _CROSSING.format("user of one tenant"),
        (
            "a key of tenant and session only",
            "session ids that two users may choose alike",
            "memory shared per tenant",
        ),
        "Key what belongs to a person by tenant and user; share inside a tenant only what is declared as shared.",
    ),
    Code(
        "PW103",
        "crossed session",
        Guarantee.ISOLATION,
        _CROSSING.format("session of one user"),
        (
            "history keyed by user",
            "a session note promoted to the user layer",
            "an agent object re-used for the next session",
        ),
        "Keep turns and session notes under the session; promote to the user only what the user can see and change.",
    ),
    Code(
        "PW104",
        "crossed task",
        Guarantee.ISOLATION,
        _CROSSING.format("task of one session"),
        (
            "the last N turns taken before the task filter",
            "a scratchpad keyed by session",
            "a cached answer without the task",
        ),
        "Filter history by task before taking the last N turns; key task notes, tool results and caches by task.",
    ),
    Code(
        "PW106",
        "takeover by write",
        Guarantee.ISOLATION,
        "After another owner wrote under the same ids, the first owner's content was gone. Nothing foreign need be "
        "shown for this: the row now belongs to whoever wrote last.",
        (
            "an upsert whose conflict key lacks the owner",
            "a save that stores the whole object under the bare id",
        ),
        "Make the owner part of the primary key, and check it on update and delete.",
    ),
    Code(
        "PW107",
        "existence signal",
        Guarantee.ISOLATION,
        "A stranger was answered differently about another owner's thing than about one that never was. No content "
        "was shown, but the difference says that the thing exists.",
        ("404 for what is not there and 403 for what is another's", "counts or ids that run over all tenants"),
        "Answer both alike: the same status, the same code, the same text, as if nothing were there.",
    ),
    Code(
        "PW108",
        "claimed identity believed",
        Guarantee.ISOLATION,
        "A caller was served as the owner that its request named, not as the one its credential proves: the owner's "
        "content came back, or what the caller wrote turned up with the owner.",
        (
            "tenant or user taken from the body, a header or the path",
            "a check that is skipped without a credential",
        ),
        "Take tenant and user from the verified credential only; refuse a request whose ids disagree with it.",
    ),
    Code(
        "PW109",
        "attribution mismatch",
        Guarantee.ISOLATION,
        "A prompt caught at the model bears the marks of two requests that were in flight together, of different "
        "owners: what one asked was built into, or sent as, the other's.",
        ("an identity kept in a global or thread local", "a connection or buffer shared between requests"),
        "Carry the identity in the request's own objects through every await; share no mutable state.",
    ),
)
