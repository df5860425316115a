"""Keys carry the whole scope, and no id can make two scopes share one."""

from __future__ import annotations

import ast
import itertools
import re
import unicodedata
from dataclasses import replace
from pathlib import Path, PurePosixPath

import partywall.reference_impl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from partywall.canaries import Level, Scope, ScopeError
from partywall.reference_impl.keys import Key, Keys, fingerprint

KEYS = Keys(b"pepper")
SCOPE = Scope("acme", "ann", "s1", "k1")
LONG = "x" * 400
AWKWARD = [
    *("u1", "u10", "U1", "u1 ", " u1", "u%", "u_", "u*", "%75%31", "u:1", "u|1", "u/1", "u\\1", "u.1", "u\x001"),
    *("a|b", "a", "b", "..", ".", "-", "None", "null", "default", "0", "'", '"', "1", "1.0", "１", "u１", "~"),
    *(unicodedata.normalize("NFC", "é"), unicodedata.normalize("NFD", "é"), "ı", "i", "I", LONG, LONG + "y"),
]
ids = st.text(min_size=1) | st.sampled_from(AWKWARD)
scopes = st.builds(Scope, ids, ids, ids | st.just(""), ids | st.just(""))


def test_a_cache_key_has_six_segments_with_the_scope_in_front() -> None:
    key = KEYS.cache(SCOPE, "answer", {"q": 1})
    assert re.fullmatch(r"tacme\|uann\|ss1\|kk1\|panswer\|h[0-9a-f]{16}", key)


def test_a_separator_in_an_id_shifts_no_segment() -> None:
    assert KEYS.cache(Scope("a|ub", "c"), "p", 0).count("|") == 5
    assert KEYS.cache(Scope("a|ub", "c"), "p", 0) != KEYS.cache(Scope("a", "b|uc"), "p", 0)


def test_a_fingerprint_ignores_the_order_of_fields_and_nothing_else() -> None:
    assert fingerprint({"a": 1, "b": [1, 2]}) == fingerprint({"b": [1, 2], "a": 1})
    assert fingerprint({"a": 1, "b": [1, 2]}) != fingerprint({"a": 1, "b": [2, 1]})
    assert fingerprint({"a": "1"}) != fingerprint({"a": 1})


def test_two_scopes_with_one_payload_share_the_fingerprint_and_differ_in_front() -> None:
    one, other = (KEYS.cache(Scope(tenant, "ann"), "answer", {"q": 1}) for tenant in ("acme", "zeta"))
    assert one.rpartition("|h")[2] == other.rpartition("|h")[2]
    assert one != other


def test_purpose_keeps_a_retrieval_and_a_rerank_apart() -> None:
    assert KEYS.cache(SCOPE, "retrieve", 1) != KEYS.cache(SCOPE, "rerank", 1)


@given(scopes, scopes)
def test_two_scopes_never_share_a_key(one: Scope, other: Scope) -> None:
    same = one == other
    assert (KEYS.cache(one, "p", 0) == KEYS.cache(other, "p", 0)) is same
    assert (KEYS.artifact(one, "n") == KEYS.artifact(other, "n")) is same
    assert (KEYS.index(one) == KEYS.index(other)) is (one.path[:2] == other.path[:2])
    if one.session and other.session:
        assert (KEYS.lock(one) == KEYS.lock(other)) is (one.path[:3] == other.path[:3])


@pytest.mark.parametrize("level", list(Level))
def test_a_prefix_reaches_no_neighbour(level: Level) -> None:
    for one, other in itertools.permutations(AWKWARD, 2):
        mine = replace(SCOPE, **{level.label: one})
        theirs = replace(SCOPE, **{level.label: other})
        assert not KEYS.cache(theirs, "p", 0).startswith(KEYS.prefix(mine, level))
        assert not (KEYS.log(theirs) + "|").startswith(KEYS.log_prefix(mine, level))
        assert KEYS.cache(mine, "p", 0).startswith(KEYS.prefix(mine, level))


@given(scopes, ids)
def test_an_artifact_path_never_climbs_and_differs_without_case(scope: Scope, name: str) -> None:
    path = PurePosixPath(KEYS.artifact(scope, name))
    assert len(path.parts) == 5
    assert not path.is_absolute()
    assert all(re.fullmatch(r"[tuskn][a-z0-9_%A-F~-]*", part) and len(part) < 200 for part in path.parts)
    other = replace(scope, user=scope.user.swapcase())
    if other != scope:
        assert str(path).casefold() != KEYS.artifact(other, name).casefold()


def test_a_log_key_locates_a_session_and_names_no_person() -> None:
    assert re.fullmatch(r"tacme\|u#[0-9a-f]{8}\|ss1\|kk1", KEYS.log(SCOPE))
    assert Keys(b"other").log(SCOPE) != KEYS.log(SCOPE)


def test_a_lock_belongs_to_the_session_and_needs_one() -> None:
    assert KEYS.lock(SCOPE) == KEYS.lock(replace(SCOPE, task="k2"))
    with pytest.raises(ScopeError):
        KEYS.lock(Scope("acme", "ann"))


def test_rate_keys_are_the_tenants_and_the_users() -> None:
    assert KEYS.rate(SCOPE) == (Key("tacme|prate"), Key("tacme|uann|prate"))


def test_no_key_is_made_by_hand() -> None:
    home = Path(partywall.reference_impl.__file__).parent
    for path in home.rglob("*.py"):
        made = [
            node
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Key"
        ]
        assert not made or path.name == "keys.py" or path.parent.name == "mutants", path


def test_a_row_holds_nothing_below_its_level() -> None:
    assert KEYS.row(SCOPE, Level.USER) == ("acme", "ann", "", "")
