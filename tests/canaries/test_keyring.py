"""Subkeys: derived from key and epoch alone, kept in records, printed nowhere."""

from typing import Any

import pytest
from partywall.canaries import Keyring, Path, UsageError

KEY = b"k" * 32


def test_same_key_and_epoch_give_the_same_subkeys() -> None:
    assert Keyring.derive(KEY, "e1") == Keyring.derive("k" * 32, "e1")


def test_every_key_and_every_epoch_gives_subkeys_of_its_own() -> None:
    rings = [Keyring.derive(KEY, "e1"), Keyring.derive(KEY, "e2"), Keyring.derive(b"l" * 32, "e1")]
    subkeys = {key for ring in rings for key in (ring.digest_key, ring.mac_key, ring.stream_key)}
    assert len(subkeys) == 9


def test_a_key_longer_than_blake2b_takes_counts_to_its_last_byte() -> None:
    assert Keyring.derive(b"k" * 100, "e1") != Keyring.derive(b"k" * 99 + b"l", "e1")


@pytest.mark.parametrize("key", [b"k" * 31, "k" * 31, "", None, 7])
def test_a_short_key_or_none_is_refused(key: Any) -> None:
    with pytest.raises(UsageError, match="deployment key"):
        Keyring.derive(key, "e1")


def test_a_short_text_of_32_bytes_is_long_enough() -> None:
    assert Keyring.derive("ü" * 16, "e1").epoch == "e1"


@pytest.mark.parametrize("epoch", ["", None, 3])
def test_an_epoch_that_is_no_text_is_refused(epoch: Any) -> None:
    with pytest.raises(UsageError, match="epoch"):
        Keyring.derive(KEY, epoch)


def test_a_record_brings_the_keyring_back_without_the_deployment_key() -> None:
    ring = Keyring.derive(KEY, "e1")
    record = ring.to_record()
    assert Keyring.from_record(record) == ring
    assert KEY.hex() not in "".join(record.values())


@pytest.mark.parametrize("broken", [{}, {"digest": "xx"}, {"mac": "00"}, {"stream": None}, {"epoch": 1}])
def test_a_broken_record_is_refused(broken: dict[str, Any]) -> None:
    record = {**Keyring.derive(KEY, "e1").to_record(), **broken} if broken else {}
    with pytest.raises(UsageError, match="keyring record"):
        Keyring.from_record(record)


def test_printing_a_keyring_shows_no_key() -> None:
    ring = Keyring.derive(KEY, "e1")
    assert repr(ring) == str(ring) == "Keyring(epoch='e1')"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("ab", "c", "", ""), ("a", "bc", "", "")),
        (("a", "b", "", ""), ("a", "b", None, "")),
        (("a", "b", "-", ""), ("a", "b", "", "-")),
        (("a", "b", "c", ""), ("A", "b", "c", "")),
    ],
)
def test_paths_that_only_look_alike_have_digests_of_their_own(one: Path, other: Path) -> None:
    ring = Keyring.derive(KEY, "e1")
    assert ring.digests(one) != ring.digests(other)
