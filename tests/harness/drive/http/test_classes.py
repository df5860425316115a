"""Which statuses say that a call was applied, that it surely was not, or nothing sure."""

from __future__ import annotations

import pytest
from partywall.harness.drive.http.classes import Classes


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_a_2xx_is_ok(status: int) -> None:
    assert Classes().of(status) == ("ok", "")


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "invalid"),
        (401, "denied"),
        (403, "denied"),
        (404, "not_found"),
        (409, "conflict"),
        (410, "expired"),
        (422, "invalid"),
        (423, "conflict"),
        (429, "limited"),
    ],
)
def test_a_refusal_is_a_fail_with_its_code(status: int, code: str) -> None:
    assert Classes().of(status) == ("fail", code)


@pytest.mark.parametrize(
    "status", [100, 301, 302, 304, 307, 402, 405, 408, 413, 418, 499, 500, 501, 502, 503, 504, 599]
)
def test_every_other_status_says_nothing_sure(status: int) -> None:
    assert Classes().of(status) == ("info", f"http_{status}")


def test_ok_statuses_stand_instead_of_2xx() -> None:
    classes = Classes(ok=frozenset({201, 409}))
    assert [classes.of(status)[0] for status in (201, 409, 200, 204)] == ["ok", "ok", "info", "info"]


def test_a_profile_may_name_more_of_both_and_doubt_outweighs() -> None:
    classes = Classes(fail=frozenset({500, 404}), info=frozenset({404, 200}))
    assert classes.of(500) == ("fail", "invalid")
    assert classes.of(404) == ("info", "http_404")
    assert classes.of(200) == ("info", "http_200")
