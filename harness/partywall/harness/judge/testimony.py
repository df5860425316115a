"""Testimony: findings in words, and fingerprints that name a kind of finding across runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from partywall.canaries import redact_tokens

from ..catalogue import CODES
from ..plan.identity import RawPath
from .provenance import Sight
from .verdict import Evidence, Finding

MAX_EVIDENCE = 20
"""Pieces of evidence kept for one finding; the rest is counted in the claim."""


def named(path: Sequence[str | None]) -> str:
    """A path as people read it: `acme/ann/s1`, `·` for an empty id."""
    parts = ["None" if part is None else part or "·" for part in path]
    while len(parts) > 2 and parts[-1] == "·":
        parts.pop()
    return "/".join(parts)


def evidence_of(sight: Sight, prefix: str) -> Evidence:
    """The evidence for one sighting, its canaries shortened: a report must not leak what it reports."""
    observation = sight.observation
    return Evidence(
        probe=observation.probe,
        op=observation.op,
        place=redact_tokens(sight.place, prefix),  # a key of an object may be the canary
        excerpt=redact_tokens(sight.excerpt, prefix),
        decoded=sight.decoded,
        canary=sight.opened.short,
        planted_by=sight.planted_by,
        at=observation.at,
    )


def finding(
    code: str,
    claim: str,
    *,
    boundary: str,
    owner: RawPath | None,
    observer: RawPath,
    channel: str,
    carrier: str,
    evidence: Iterable[Evidence],
    kind: Iterable[str],
) -> Finding:
    """A finding under `code`; `kind` is what makes two findings one and the same across runs."""
    digest = hashlib.sha256("|".join((code, boundary, channel, *kind)).encode()).hexdigest()[:16]
    return Finding(
        code=code,
        guarantee=CODES[code].guarantee,
        claim=claim,
        boundary=boundary,
        owner=named(owner) if owner else "an owner unknown to this run",
        observer=named(observer),
        channel=channel,
        fingerprint=digest,
        carrier=carrier,
        evidence=tuple(evidence)[:MAX_EVIDENCE],
    )
