"""Refusals and failures as problem documents (RFC 9457)."""

from __future__ import annotations

import json
import math

from starlette.responses import Response

from .refusals import Refusal

TITLES = {
    400: "bad request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not found",
    405: "method not allowed",
    409: "conflict",
    410: "expired",
    413: "body too large",
    422: "invalid",
    429: "limited",
    500: "internal error",
    503: "unavailable",
}


def document(status: int, code: str, detail: str, **facts: object) -> Response:
    """A problem document; `facts` are further members."""
    body = {
        "type": f"urn:partywall:problem:{code}",
        "title": TITLES.get(status, "error"),
        "status": status,
        "code": code,
        "detail": detail,
        **facts,
    }
    headers = {"cache-control": "no-store"}
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    if status in (429, 503):
        wait = facts.get("retry_after")
        headers["retry-after"] = str(math.ceil(wait) if isinstance(wait, float) else 1)
    text = json.dumps(body, ensure_ascii=True)
    return Response(text, status, headers, media_type="application/problem+json")


def of(refusal: Refusal) -> Response:
    """The document of a refusal."""
    return document(refusal.status, refusal.code, refusal.detail, **refusal.facts)
