"""What an identity shows for itself: valid, none, expired; a call is never sent with more than was planned."""

from __future__ import annotations

import asyncio
import base64
import time
from dataclasses import replace
from typing import Any

import jwt
import pytest
from partywall.harness.drive.http import Profile
from partywall.harness.drive.http.auth import Secrets
from partywall.harness.observe.outcome import UNSENT
from partywall.harness.plan.identity import Identity
from partywall.harness.plan.probe import Call, Credential

from .profiles import BOB, a_call, asked, small
from .wire import Received, Server

KEY = "a key for tests, long enough to sign with"
ENVIRONMENT = {"KEY": KEY, "ACME": "token-of-acme", "OTHER": "token-of-others"}


def sent(identities: str, *calls: Call) -> tuple[list[Received], list[Any]]:
    """The requests that came for these calls, and their outcomes."""

    async def run() -> tuple[list[Received], list[Any]]:
        async with Server() as server:
            profile = small(f"identities: {{{identities}}}", url=server.url, environment=ENVIRONMENT)
            outcomes = await asked(profile, *calls)
            return server.requests, outcomes

    return asyncio.run(run())


def with_credential(credential: Credential) -> Call:
    return replace(a_call(), credential=credential)


SCHEMES = {
    "bearer": '"*": {auth: {type: bearer, token: "${ACME}"}}',
    "basic": '"*": {auth: {type: basic, username: "{{identity.user}}", password: "${ACME}"}}',
    "key in a header": '"*": {auth: {type: api_key, name: X-Key, value: "${ACME}"}}',
    "key in the query": '"*": {auth: {type: api_key, in: query, name: key, value: "${ACME}"}}',
    "key in a cookie": '"*": {auth: {type: api_key, in: cookie, name: key, value: "${ACME}"}}',
    "jwt": '"*": {auth: {type: jwt, key: "${KEY}", claims: {sub: "{{identity.user}}"}}}',
    "headers": '"*": {headers: {X-Api-Key: "${ACME}", X-Tenant: "{{identity.tenant}}"}}',
}
SHOWN = {
    "bearer": ("authorization", "Bearer token-of-acme"),
    "basic": ("authorization", "Basic " + base64.b64encode(b"ann:token-of-acme").decode()),
    "key in a header": ("x-key", "token-of-acme"),
    "key in a cookie": ("cookie", "key=token-of-acme"),
    "headers": ("x-api-key", "token-of-acme"),
}


@pytest.mark.parametrize("scheme", SHOWN)
def test_a_valid_credential_is_shown(scheme: str) -> None:
    [request], _ = sent(SCHEMES[scheme], a_call())
    name, value = SHOWN[scheme]
    assert request.headers[name] == value


def test_a_key_may_stand_in_the_query() -> None:
    [request], _ = sent(SCHEMES["key in the query"], a_call())
    assert request.target == "/turns?key=token-of-acme"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_credential_leaves_out_all_that_the_identity_adds(scheme: str) -> None:
    [request], _ = sent(SCHEMES[scheme], with_credential("none"))
    assert not {"authorization", "x-key", "cookie", "x-api-key", "x-tenant"} & set(request.headers)
    assert request.target == "/turns"


@pytest.mark.parametrize("scheme", [scheme for scheme in SCHEMES if scheme != "jwt"])
def test_an_expired_credential_of_a_scheme_without_time_is_one_that_never_was(scheme: str) -> None:
    [valid, expired], _ = sent(SCHEMES[scheme], a_call(), with_credential("expired"))
    assert expired != valid
    shown = expired.target + " ".join(expired.headers.values())
    assert "token-of-acme" not in shown
    assert base64.b64encode(b"ann:token-of-acme").decode() not in shown
    assert set(expired.headers) == set(valid.headers)


def test_an_expired_token_is_signed_and_past_its_end() -> None:
    [valid, expired], _ = sent(SCHEMES["jwt"], a_call(), with_credential("expired"))
    tokens = [request.headers["authorization"].removeprefix("Bearer ") for request in (valid, expired)]
    claims = jwt.decode(tokens[0], KEY, algorithms=["HS256"], options={"require": ["exp", "iat"]})
    assert claims["sub"] == "ann"
    assert 0 < claims["exp"] - time.time() <= 300
    with pytest.raises(jwt.ExpiredSignatureError):
        jwt.decode(tokens[1], KEY, algorithms=["HS256"], leeway=600)


@pytest.mark.parametrize("credential", ["none", "expired"])
def test_a_caller_without_credentials_has_none_to_leave_out_or_to_spoil(credential: Credential) -> None:
    requests, [outcome] = sent('"*": {auth: {type: none}}', with_credential(credential))
    assert (requests, outcome.status, outcome.code) == ([], "fail", UNSENT)


def test_a_header_that_only_names_the_caller_cannot_expire() -> None:
    requests, [outcome] = sent('"*": {headers: {X-Tenant: "{{identity.tenant}}"}}', with_credential("expired"))
    assert (requests, outcome.code) == ([], UNSENT)


def test_the_nearest_pattern_counts() -> None:
    patterns = ", ".join(
        f'"{name}": {{headers: {{X-Matched: "{name}"}}}}' for name in ("*", "acme/*", "acme/ann", "operator")
    )
    callers = [Identity("acme", "ann"), Identity("acme", "bob"), BOB, Identity("1a2b3c-acme", "ann")]
    requests, _ = sent(patterns, *(a_call(caller=caller) for caller in callers))
    assert [request.headers["x-matched"] for request in requests] == ["acme/ann", "acme/*", "*", "acme/ann"]


def test_a_caller_that_no_pattern_matches_is_not_sent_as_somebody_else() -> None:
    requests, [outcome] = sent('"acme/ann": {headers: {X-A: "1"}}', a_call(caller=Identity("xacme", "ann")))
    assert requests == []
    assert outcome.reason == "no identity of the profile matches 'xacme/ann'; known: acme/ann"


def test_the_caller_fills_the_auth_and_the_scope_fills_the_request() -> None:
    scheme = '"*": {headers: {X-User: "{{identity.user}}", X-Role: "{{identity.role}}-{{identity.merchant}}"}}'
    [request], _ = sent(scheme, a_call(caller=Identity("zeta", "bob", "admin", "m7")))
    assert (request.headers["x-user"], request.headers["x-role"], request.json["session"]) == ("bob", "admin-m7", "s1")


def test_an_operation_may_be_sent_as_somebody_else() -> None:
    operations = """
    operations:
      run_turn: {request: {path: /t, json: {}}, response: {text: /reply}}
      metrics: {as: operator, request: {path: /m, method: GET}, response: {format: text}}
    """

    async def run() -> list[str]:
        async with Server() as server:
            identities = 'identities: {"*": {headers: {X-Is: user}}, operator: {headers: {X-Is: operator}}}'
            profile: Profile = small(identities, url=server.url, operations=operations)
            await asked(profile, a_call(), a_call("metrics"))
            return [request.headers["x-is"] for request in server.requests]

    assert asyncio.run(run()) == ["user", "operator"]


def test_a_key_that_cannot_sign_is_told_without_the_key() -> None:
    requests, [outcome] = sent('"*": {auth: {type: jwt, alg: RS256, key: "${KEY}"}}', a_call())
    assert requests == []
    assert outcome.code == UNSENT
    assert outcome.reason.startswith("no token could be signed: ")
    assert KEY not in outcome.reason


@pytest.mark.parametrize("form", ["s3cret/of+mine", "s3cret%2Fof%2Bmine", "czNjcmV0L29mK21pbmU="])
def test_a_secret_is_redacted_in_each_form_that_a_target_could_echo(form: str) -> None:
    secrets = Secrets(["s3cret/of+mine", "s3cret/of+mine, longer", "short"])
    assert secrets.redacted({f"a {form}": [f"b {form}", 1]}) == {"a [redacted]": ["b [redacted]", 1]}
    assert secrets.redact("s3cret/of+mine, longer, short") == "[redacted], short"
