"""Natural coats decode to their owner however they are grouped, and hardly anything else decodes at all."""

import random
from typing import Any

import pytest
from partywall.canaries import Keyring, Mint, Scope, UsageError
from partywall.canaries.natural import COATS, evidence, natural, read_naturals, read_uuids, uuid_of

RING = Keyring.derive(b"k" * 32, "e1")
OTHER = Keyring.derive(b"k" * 32, "e2")
TOKEN = Mint(RING).token(Scope("acme", "ann", "s1", "t1"))


def luhn(number: str) -> bool:
    doubled = [int(digit) * (2 if at % 2 else 1) for at, digit in enumerate(reversed(number))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def test_the_luhn_test_of_this_file_takes_a_known_card_number() -> None:
    assert luhn("4111111111111111")
    assert not luhn("4111111111111112")


@pytest.mark.parametrize("coat", COATS.values(), ids=lambda coat: coat.name)
def test_numbers_have_their_form_and_come_back_to_their_owner(coat: Any) -> None:
    owners = [*random.Random(1).sample(range(coat.owners), 100), 0, coat.owners - 1]
    numbers = [natural(RING, coat.name, owner) for owner in owners]
    assert len(set(numbers)) == len(set(owners))
    for owner, number in zip(owners, numbers, strict=True):
        assert len(number) == coat.digits
        assert coat.first <= int(number[0]) < coat.beyond
        assert [(fact.coat, fact.owner) for fact in read_naturals(number, [OTHER, RING])] == [(coat.name, owner)]


def test_golden_numbers_are_minted_as_ever() -> None:
    assert {coat: natural(RING, coat, 7) for coat in COATS} == {
        "order": "7403233580763406",
        "tracking": "91464575489148886917",
        "account": "2312835604",
        "phone": "4662561",
    }


def test_order_numbers_are_never_card_numbers() -> None:
    assert not any(luhn(natural(RING, "order", owner)) for owner in range(1_000))


def test_positions_and_numbers_of_a_coat_are_one_to_one() -> None:
    for coat in COATS.values():
        rng = random.Random(coat.name)
        for position in [0, coat.size - 1, *(rng.randrange(coat.size) for _ in range(300))]:
            assert coat.read(coat.write(position)) == position


@pytest.mark.parametrize(("coat", "bits"), [("order", 33.2), ("tracking", 39.9), ("account", 19.9), ("phone", 13.3)])
def test_the_evidence_of_a_coat_is_as_promised(coat: Any, bits: float) -> None:
    assert COATS[coat].bits == pytest.approx(bits, abs=0.05)


def grouped(number: str, mark: str, size: int = 4) -> str:
    return mark.join(number[at : at + size] for at in range(0, len(number), size))


@pytest.mark.parametrize("mark", [" ", "-", ",", ", ", ".", "\u00a0", "\u202f", "\n", "** **", " - ", "–"])
@pytest.mark.parametrize("coat", ["order", "tracking", "account"])
def test_digits_are_read_through_grouping(coat: Any, mark: str) -> None:
    number = natural(RING, coat, 77)
    text = f"in your order {grouped(number, mark[:3])}, thank you, 12 items"
    (fact,) = read_naturals(text, [RING])
    assert (fact.coat, fact.owner, fact.number) == (coat, 77, number)
    assert text[fact.start : fact.end] == grouped(number, mark[:3])


def test_full_width_digits_are_read() -> None:
    number = natural(RING, "order", 5)
    wide = number.translate({code: code + 0xFEE0 for code in range(0x30, 0x3A)})
    assert [fact.owner for fact in read_naturals(f"注文 {wide} です", [RING])] == [5]


def test_a_number_next_to_another_is_still_read() -> None:
    number = natural(RING, "order", 5)
    assert [fact.owner for fact in read_naturals(f"12 {grouped(number, ' ')} 3", [RING])] == [5]


def test_random_numbers_are_taken_as_seldom_as_the_bits_say() -> None:
    rng = random.Random(2)
    text = "; ".join(str(rng.randrange(10**15, 10**16)) for _ in range(5_000))
    assert read_naturals(text, [RING]) == ()
    phones = "; ".join(str(rng.randrange(10**6, 10**7)) for _ in range(20_000))
    # Expected 20,000 × 1,000 / 10^7 = 2.
    assert len(read_naturals(phones, [RING])) <= 10


def test_weak_facts_of_one_owner_add_up_and_a_repeated_one_counts_once() -> None:
    phone, account = natural(RING, "phone", 7), natural(RING, "account", 7)
    stranger = natural(RING, "phone", 8)
    added = evidence(read_naturals(f"call {phone} or {phone}; account {account}; not {stranger}", [RING]))
    assert added == {
        ("e1", 7): pytest.approx(COATS["phone"].bits + COATS["account"].bits),
        ("e1", 8): pytest.approx(COATS["phone"].bits),
    }


def test_the_same_owner_has_other_numbers_in_another_epoch() -> None:
    assert natural(RING, "order", 1) != natural(OTHER, "order", 1)


@pytest.mark.parametrize(("coat", "owner"), [("card", 1), ("phone", 1_000), ("phone", -1), ("phone", True)])
def test_an_unknown_coat_or_an_owner_beyond_its_room_is_refused(coat: Any, owner: Any) -> None:
    with pytest.raises(UsageError, match="natural coat"):
        natural(RING, coat, owner)


def test_a_uuid_carries_the_whole_token() -> None:
    carried = uuid_of(TOKEN)
    assert carried[14] == "4"
    assert carried[19] in "89ab"
    text = f"id={carried}, ID={carried.upper()}, hex={carried.replace('-', '')}"
    sightings = read_uuids(text, [OTHER, RING])
    assert [(one.opened.token, one.chain) for one in sightings] == [(TOKEN, ("uuid",))] * 3
    assert text[sightings[0].start : sightings[0].end] == carried


def test_other_uuids_carry_nothing() -> None:
    rng = random.Random(3)
    text = " ".join(uuid_of("mzqx7" + f"{rng.getrandbits(110):024d}"[-24:]) for _ in range(2_000))
    assert read_uuids(text, [RING]) == ()
    with pytest.raises(UsageError, match="token"):
        uuid_of("mzqx7abc")
