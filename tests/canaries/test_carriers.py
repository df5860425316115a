"""The scanner's positive controls: every dress is seen through at its own level, and at no lower one."""

from collections import Counter

import pytest
from partywall.canaries import CARRIERS, LEVELS, Carrier, Keyring, Mint, Scanner, Scope

RING = Keyring.derive(b"k" * 32, "e1")
TOKENS = [Mint(RING).token(Scope(f"t{at}", f"u{at}"), seq=at) for at in range(20)]
FOUND = [carrier for carrier in CARRIERS.values() if carrier.level != "missed"]
REVERSIBLE = [carrier for carrier in CARRIERS.values() if carrier.undress is not None]
SCANNERS = {level: Scanner([RING], level=level) for level in LEVELS}


@pytest.mark.parametrize("carrier", CARRIERS.values(), ids=lambda carrier: carrier.name)
def test_a_carrier_is_found_from_its_level_on_and_not_below(carrier: Carrier) -> None:
    for token in TOKENS:
        dressed = carrier.dress(token)
        for level in LEVELS:
            found = {one.opened.token for one in SCANNERS[level].scan(dressed).sightings}
            assert found == ({token} if level >= carrier.level else set()), (level, token)


@pytest.mark.parametrize("carrier", FOUND, ids=lambda carrier: carrier.name)
def test_a_carrier_is_found_amid_other_text_and_its_span_holds_the_place(carrier: Carrier) -> None:
    before, after = (b"Dear all, please see below.\n", b"\nKind regards") if carrier.name != "deltas" else (b"\n", b"")
    for token in TOKENS[:5]:
        dressed = carrier.dress(token)
        raw = dressed.encode() if isinstance(dressed, str) else dressed
        found = SCANNERS[carrier.level].scan(before + raw + after).sightings
        assert found, token
        assert all(len(before) <= one.start < one.end <= len(before) + len(raw) for one in found)
        alone = SCANNERS[carrier.level].scan(raw[found[0].start - len(before) : found[0].end - len(before)])
        if carrier.level < "S3":
            assert [one.opened.token for one in alone.sightings] == [token]


@pytest.mark.parametrize("carrier", REVERSIBLE, ids=lambda carrier: carrier.name)
def test_undressing_brings_the_text_back(carrier: Carrier) -> None:
    for token in TOKENS:
        assert carrier.undress is not None
        assert token in carrier.undress(carrier.dress(token)).lower()


def test_the_counts_of_carriers_found_are_those_promised() -> None:
    found = Counter(level for carrier in CARRIERS.values() for level in LEVELS if carrier.level <= level)
    assert len(CARRIERS) == 49
    assert found == {"S0": 11, "S1": 22, "S2": 38, "S3": 44}


def test_what_is_missed_is_listed() -> None:
    missed = [carrier.name for carrier in CARRIERS.values() if carrier.level == "missed"]
    assert missed == ["brotli", "altered", "first-16", "last-12", "paraphrase"]


def test_carriers_are_named_by_their_keys_and_cannot_be_added_to() -> None:
    assert all(name == carrier.name for name, carrier in CARRIERS.items())
    with pytest.raises(TypeError):
        CARRIERS["mine"] = CARRIERS["plain"]  # type: ignore[index]


def test_one_altered_character_counts_as_damage() -> None:
    assert SCANNERS["S0"].scan(CARRIERS["altered"].dress(TOKENS[0])).damaged == 1
