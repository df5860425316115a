"""PW6xx: secrets, content and persons where they must not stand."""

from ..plan.guarantee import Guarantee
from .code import Code

CODES = (
    Code(
        "PW601",
        "content in the log",
        Guarantee.SECRECY,
        "A log line holds what a user said or stored. Logs are read by many, kept long, and forgotten by purges.",
        ("the request or the prompt logged whole", "an exception logged with its arguments"),
        "Log the redacted scope, the operation, the outcome and ids; never texts.",
    ),
    Code(
        "PW602",
        "person named in the log",
        Guarantee.SECRECY,
        "A log line names a user in clear. A line must locate what happened, not identify a person.",
        ("the raw user id in the log's fields", "the scope's cache key used as its log key"),
        "Write the user as a short keyed digest: t<tenant>|u#<8 hex>|s<session>|k<task>.",
    ),
)
