"""The token: frozen vectors, leniency, refusal of all that is not genuine, and owners read from it alone."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from partywall.canaries import (
    DEFAULT_PREFIX,
    KINDS,
    Keyring,
    Level,
    Mint,
    Opened,
    Scope,
    UsageError,
    open_token,
    redact_tokens,
    short_id,
)
from partywall.canaries.alphabet import SYMBOLS, canonical

RING = Keyring.derive(b"k" * 32, "e1")
MINT = Mint(RING)
OWNER = Scope("acme", "ann", "s1", "t1")
GOLDEN = json.loads((Path(__file__).parent / "golden_tokens.json").read_text("utf-8"))


def opened_with(token: str, *keyrings: Keyring, prefix: str = DEFAULT_PREFIX) -> Opened:
    opened = open_token(token, keyrings or [RING], prefix)
    assert opened is not None
    return opened


@pytest.mark.parametrize("vector", GOLDEN["tokens"], ids=lambda vector: vector["token"][5:11])
def test_golden_tokens_are_minted_as_ever(vector: dict[str, Any]) -> None:
    mint = Mint(Keyring.derive(GOLDEN["key"], GOLDEN["epoch"]), vector["prefix"])
    assert mint.token(Scope(*vector["path"]), vector["kind"], vector["seq"]) == vector["token"]


@pytest.mark.parametrize("vector", GOLDEN["tokens"], ids=lambda vector: vector["token"][5:11])
def test_golden_tokens_open_as_ever(vector: dict[str, Any]) -> None:
    opened = opened_with(vector["token"], prefix=vector["prefix"])
    assert (opened.kind, opened.seq, list(opened.digests)) == (vector["kind"], vector["seq"], vector["digests"])


def test_two_thousand_tokens_come_back_as_they_were_minted() -> None:
    rng = random.Random(1)
    for number in range(2_000):
        path = [f"{rng.choice('abc')}{rng.randint(0, 99)}" for _ in range(4)]
        owner = Scope(path[0], path[1], rng.choice(["", path[2]]), rng.choice(["", path[3]]))
        kind, seq = rng.choice(KINDS), rng.randint(0, 0xFFFF)
        token = MINT.token(owner, kind, seq)
        opened = open_token(token, [RING])
        assert opened is not None, number
        assert (opened.kind, opened.seq, opened.epoch, opened.token) == (kind, seq, "e1", token)
        assert opened.boundary(owner) is None


def test_a_token_is_29_characters_that_no_escaping_changes() -> None:
    token = MINT.token(OWNER)
    assert len(token) == 29
    assert token.startswith(DEFAULT_PREFIX)
    assert token.isascii()
    assert token.isalnum()
    assert token == token.lower()


def test_none_of_a_hundred_thousand_random_bodies_is_accepted() -> None:
    rng = random.Random(2)
    accepted = [
        body for _ in range(100_000) if open_token(body := DEFAULT_PREFIX + "".join(rng.choices(SYMBOLS, k=24)), [RING])
    ]
    assert accepted == []


def test_none_of_twenty_thousand_single_character_changes_is_accepted() -> None:
    rng = random.Random(3)
    letters = "0123456789abcdefghijklmnopqrstuvwxyz"
    tried = 0
    while tried < 20_000:
        token = MINT.token(Scope(f"t{tried}", "u"), seq=tried % 65_536)
        at = rng.randrange(5, 29)
        changed = token[:at] + rng.choice(letters) + token[at + 1 :]
        if canonical(changed) == canonical(token):
            continue
        tried += 1
        assert open_token(changed, [RING]) is None, (token, changed)


@pytest.mark.parametrize(
    "misread",
    [
        str.upper,
        str.title,
        lambda token: token.replace("1", "l").replace("0", "o"),
        lambda token: token.replace("1", "I").replace("0", "O"),
    ],
)
def test_tokens_open_in_any_case_and_however_i_l_and_o_were_read(misread: Callable[[str], str]) -> None:
    for seq in range(50):
        token = MINT.token(OWNER, seq=seq)
        opened = open_token(misread(token), [RING])
        assert opened is not None
        assert (opened.token, opened.seq) == (token, seq)


def test_another_key_or_another_epoch_opens_nothing() -> None:
    token = MINT.token(OWNER)
    assert open_token(token, [Keyring.derive(b"l" * 32, "e1"), Keyring.derive(b"k" * 32, "e2")]) is None
    assert open_token(token, []) is None


def test_of_several_epochs_the_one_that_minted_opens() -> None:
    rings = [Keyring.derive(b"k" * 32, epoch) for epoch in ("e2", "e1", "e0")]
    assert opened_with(MINT.token(OWNER), *rings).epoch == "e1"


@pytest.mark.parametrize("text", ["", "mzqx7", "mzqx7" + "u" * 24, "mzqx8" + "0" * 24, "mzqx7" + "İ" * 24])
def test_what_is_no_token_opens_to_none(text: str) -> None:
    assert open_token(text, [RING]) is None
    assert open_token(MINT.token(OWNER) + "0", [RING]) is None


VIEWERS = [
    (("acme", "ann", "s1", "t1"), None),
    (("acme", "ann", "s1", "t2"), Level.TASK),
    (("acme", "ann", "s1", ""), Level.TASK),
    (("acme", "ann", "s2", "t1"), Level.SESSION),
    (("acme", "bob", "s1", "t1"), Level.USER),
    (("bolt", "ann", "s1", "t1"), Level.TENANT),
    (("bolt", "bob", "s2", "t2"), Level.TENANT),
    (("ACME", "ann", "s1", "t1"), Level.TENANT),
    (("acme", None, "s1", "t1"), Level.USER),
]


@pytest.mark.parametrize(("viewer", "crossed"), VIEWERS)
def test_the_boundary_is_read_from_the_token_alone(viewer: tuple[str | None, ...], crossed: Level | None) -> None:
    assert opened_with(MINT.token(OWNER)).boundary(viewer) is crossed


def test_the_boundary_is_right_for_five_hundred_random_pairs() -> None:
    rng = random.Random(4)
    for _ in range(500):
        one, other = (Scope(*(rng.choice("ab") for _ in range(4))) for _ in range(2))
        assert opened_with(MINT.token(one)).boundary(other) is one.boundary(other)


def test_reach_is_arithmetic_on_two_paths() -> None:
    canary = MINT.canary(OWNER, {"prompt": Level.SESSION, "facts": Level.TENANT, "*": Level.TASK})
    seen = {
        (level and level.name, channel): canary.visible_to(viewer, channel)
        for viewer, level in VIEWERS[:6]
        for channel in ("prompt", "facts", "reply")
    }
    visible = {pair for pair, allowed in seen.items() if allowed}
    assert visible == {
        (None, "prompt"),
        (None, "facts"),
        (None, "reply"),
        ("TASK", "prompt"),
        ("TASK", "facts"),
        ("SESSION", "facts"),
        ("USER", "facts"),
    }


def test_without_any_reach_the_owner_alone_may_see_it() -> None:
    canary = MINT.canary(OWNER, {})
    assert canary.visible_to(OWNER, "prompt")
    assert not canary.visible_to(("acme", "ann", "s1", "t2"), "prompt")


@pytest.mark.parametrize("seq", [-1, 65_536, True, 1.0, "1", None])
def test_a_seq_outside_16_bits_is_refused(seq: Any) -> None:
    with pytest.raises(UsageError, match="seq"):
        MINT.token(OWNER, seq=seq)


@pytest.mark.parametrize("kind", [-1, 16, "mesage", None, True])
def test_an_unknown_kind_is_refused_and_the_known_are_named(kind: Any) -> None:
    with pytest.raises(UsageError, match="known: message, document"):
        MINT.token(OWNER, kind)


@pytest.mark.parametrize(
    "prefix", ["mzq7", "", "12345", "ab12f", "canary", "Mzqx7", "mz-x7", "müx77", "m" * 16 + "7", 7]
)
def test_a_prefix_that_would_mislead_is_refused(prefix: Any) -> None:
    with pytest.raises(UsageError, match="canary prefix"):
        Mint(RING, prefix)


def test_kinds_by_number_and_by_name_are_the_same() -> None:
    assert len(KINDS) == len(set(KINDS)) == 16
    assert all(MINT.token(OWNER, number) == MINT.token(OWNER, name) for number, name in enumerate(KINDS))


def test_seq_and_kind_change_the_whole_body() -> None:
    bodies = {MINT.token(OWNER, kind, seq)[5:13] for kind in KINDS for seq in range(20)}
    assert len(bodies) == 320


def test_printing_a_canary_shows_no_token() -> None:
    canary = MINT.canary(OWNER, {})
    assert canary.text not in repr(canary)
    assert canary.text not in repr(opened_with(canary.text))


def test_every_spelling_has_the_same_short_id_and_it_is_no_part_of_the_token() -> None:
    canary = MINT.canary(OWNER, {})
    assert canary.short == short_id(canary.text.upper()) == opened_with(canary.text).short
    assert len(canary.short) == 6
    assert canary.short not in canary.text


def test_redaction_leaves_no_token_and_no_half_of_one() -> None:
    token = MINT.token(OWNER)
    text = f"a {token} b {token.upper()}, {token.title()}; {token[:16]} end"
    redacted = redact_tokens(text)
    assert redacted.count(f"mzqx7…{short_id(token)}") == 3
    assert token[5:10] not in redacted.lower()
    assert redact_tokens(redacted) == redacted


def test_canaries_can_be_put_into_sets() -> None:
    assert len({MINT.canary(OWNER, {"*": Level.TASK}), MINT.canary(OWNER, {"*": Level.TASK})}) == 1
