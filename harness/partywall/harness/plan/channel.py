"""Channel: where a text was seen."""

from enum import StrEnum


class Channel(StrEnum):
    """Values as files write them."""

    PROMPT = "prompt"
    REPLY = "reply"
    TURNS = "turns"
    CONTEXT = "context"
    SEARCH = "search"
    LIST = "list"
    BY_ID = "by-id"
    FACTS = "facts"
    ARTIFACTS = "artifacts"
    CACHE = "cache"
    LOG = "log"
    KEYS = "keys"
    BYTES = "bytes"
    HEADERS = "headers"
    ERRORS = "errors"
    METRICS = "metrics"
    ACK = "ack"
    """The answer of an operation that returns no content: an id, a turn number, a report."""


SCOPED_CHANNELS = (
    Channel.PROMPT,
    Channel.REPLY,
    Channel.TURNS,
    Channel.CONTEXT,
    Channel.SEARCH,
    Channel.LIST,
    Channel.BY_ID,
    Channel.FACTS,
    Channel.ARTIFACTS,
    Channel.CACHE,
)
"""Channels by which a scope reads content: each needs its own positive control before it can be held."""

INCIDENTAL_CHANNELS = (Channel.ERRORS, Channel.HEADERS, Channel.ACK)
"""Seen by a scope, but a right deployment shows no content there: foreign content is a leak, its absence proves
nothing, so these are held only where the owner's own content was seen there too."""

OPERATOR_CHANNELS = (Channel.LOG, Channel.KEYS, Channel.BYTES, Channel.METRICS)
"""Views of the operator, who may see all tenants: judged by erasure, keying and secrecy, never as a leak."""
