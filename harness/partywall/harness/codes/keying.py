"""PW8xx: keys that do not name their owner."""

from ..plan.guarantee import Guarantee
from .code import Code

CODES = (
    Code(
        "PW801",
        "key without its tenant",
        Guarantee.KEYING,
        "A key that came to be in the cache or the object store while two owners worked names no tenant of theirs. "
        "Whoever makes the same key next shares the entry, and no purge of a tenant can find it.",
        (
            "a key built by hand: hash of the question, bare session id",
            "a hash over everything, with no readable prefix",
        ),
        "Let one object make every key, the scope first: tenant, user, session, task, purpose, fingerprint.",
    ),
    Code(
        "PW802",
        "key without its user",
        Guarantee.KEYING,
        "A key that came to be in the cache or the object store names its tenant and no user of it.",
        ("a key of tenant and session", "a cache that is shared per tenant"),
        "Put the user behind the tenant in every key; share inside a tenant only what is declared as shared.",
    ),
    Code(
        "PW803",
        "answer to another question",
        Guarantee.KEYING,
        "A question was answered with the result of an earlier one of the same owner that asked for something else: "
        "other words, or another number of results.",
        (
            "a fingerprint over the last message or a part of the request",
            "a request field that was added and never came into the key",
        ),
        "Let the fingerprint cover every field that the result depends on, in canonical order.",
    ),
    Code(
        "PW804",
        "result of another purpose",
        Guarantee.KEYING,
        "A search gave what had been made for another use of the same words: after a context was assembled for them "
        "it lacked entries that it shows otherwise.",
        ("one cache for retrieval and rerank results whose keys do not say which they are",),
        "Put the purpose into every cache key, beside the scope and the fingerprint.",
    ),
)
