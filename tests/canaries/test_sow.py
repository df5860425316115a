"""Sown text is plausible, holds the canary once, and is worded by the generator alone."""

import json
import random
import re

import pytest
from partywall.canaries import PLACES, Keyring, Mint, Scope, UsageError, scan, sow

RING = Keyring.derive(b"k" * 32, "e1")
TOKEN = Mint(RING).token(Scope("acme", "ann"))


@pytest.mark.parametrize("into", PLACES)
def test_the_canary_stands_there_once_and_is_seen_plainly(into: str) -> None:
    for seed in range(200):
        text = sow(TOKEN, into, random.Random(seed))
        assert text.count(TOKEN) == 1
        assert [one.level for one in scan(text, [RING]).sightings] == ["S0"]


@pytest.mark.parametrize("into", PLACES)
def test_no_word_that_redactors_react_to_stands_near_it(into: str) -> None:
    for seed in range(300):
        words = set(re.findall(r"[a-z]+", sow("X", into, random.Random(seed)).lower()))
        assert not words & {"canary", "secret", "token", "key", "password", "credential", "code"}


@pytest.mark.parametrize("into", PLACES)
def test_two_tenants_get_the_same_wording_from_the_same_state(into: str) -> None:
    other = Mint(RING).token(Scope("bolt", "ann"))
    one, two = sow(TOKEN, into, random.Random(5)), sow(other, into, random.Random(5))
    assert one != two
    assert one.replace(TOKEN, "") == two.replace(other, "")


@pytest.mark.parametrize("into", PLACES)
def test_the_wording_varies(into: str) -> None:
    assert len({sow(TOKEN, into, random.Random(seed)) for seed in range(100)}) > 50


def test_a_tool_result_is_json() -> None:
    for seed in range(50):
        assert TOKEN in json.loads(sow(TOKEN, "tool_result", random.Random(seed))).values()


def test_an_unknown_place_is_refused_and_the_known_are_named() -> None:
    with pytest.raises(UsageError, match="known: artifact, document, fact, message, tool_result"):
        sow(TOKEN, "mesage", random.Random(1))
