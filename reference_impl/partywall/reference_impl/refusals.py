"""What the service refuses, as data: one code, one status, one sentence, and surely nothing was applied.

Refusal
├─ Unauthenticated  no valid credential                 401
├─ Denied           not this identity's scope           403
├─ NotFound         nothing there for this owner        404
├─ Conflict         version or request id               409
│  ├─ ConcurrencyError  a stale version
│  └─ Overtaken         a lock that was lost meanwhile
├─ Expired          the session takes no more writes    410
├─ TooLarge         body above the limit                413
├─ Invalid          a body this service does not take   422
├─ Limited          busy, or over a limit               429
│  └─ SessionFull      as many turns as it may hold
├─ Unavailable      the model did not deliver           503
└─ StoreDown        the store cannot be reached         503
"""

from __future__ import annotations

from typing import ClassVar

from partywall.canaries import PartywallError


class Refusal(PartywallError):
    """A refused operation; `detail` never holds another owner's data, nor an echo of the input."""

    code: ClassVar[str] = "invalid"
    status: ClassVar[int] = 422

    def __init__(self, detail: str, **facts: object) -> None:
        super().__init__(detail)
        self.detail = detail
        self.facts = facts


class Unauthenticated(Refusal):
    """No credential, a wrong one or an expired one: the three read alike."""

    code = "unauthenticated"
    status = 401

    def __init__(self) -> None:
        super().__init__("a valid bearer token is needed")


class Denied(Refusal):
    """The same words whether or not the addressed thing exists."""

    code = "denied"
    status = 403

    def __init__(self) -> None:
        super().__init__("this identity may not do that in this scope")


class NotFound(Refusal):
    """The same words for what never existed and for what belongs to somebody else."""

    code = "not_found"
    status = 404

    def __init__(self) -> None:
        super().__init__("there is no such thing in this scope")


class Conflict(Refusal):
    """The write contradicts what is stored."""

    code = "conflict"
    status = 409


class ConcurrencyError(Conflict):
    """The version that was read is no longer the version that is stored; None means no session at all."""

    def __init__(self, expected: int | None, actual: int | None) -> None:
        super().__init__(f"expected version {expected}, found {actual}", expected=expected, actual=actual)
        self.expected = expected
        self.actual = actual


class Overtaken(Conflict):
    """The session's lock has been another's since: `token` is the highest that has written."""

    def __init__(self, token: int) -> None:
        super().__init__("another has had the session's lock since; nothing was written")
        self.token = token


class Expired(Refusal):
    """A write to a session past its absolute end; names the redacted scope."""

    code = "expired"
    status = 410

    def __init__(self, redacted: str) -> None:
        super().__init__(f"session {redacted} has expired; open a new one")


class TooLarge(Refusal):
    """The body is longer than the service reads."""

    code = "invalid"
    status = 413


class Invalid(Refusal):
    """The body is not what the operation takes."""


class Limited(Refusal):
    """Nothing was applied; trying again later is fine."""

    code = "limited"
    status = 429


class SessionFull(Limited):
    """The session holds as many turns as it may, and none could be taken away."""

    def __init__(self) -> None:
        super().__init__("the session is full; open a new one")


class Unavailable(Refusal):
    """The model failed and the operation has no degraded answer."""

    code = "model_unavailable"
    status = 503


class StoreDown(Refusal):
    """The store cannot be reached, or went away before the commit: nothing of the transaction was applied."""

    code = "store_unavailable"
    status = 503

    def __init__(self, store: str = "the store") -> None:
        super().__init__(f"{store} cannot be reached; nothing was written, please try again")
