"""Natural coats: order, tracking, account and phone numbers that decode to their owner, and UUIDs.

A number is a keyed permutation of the owner's index over all numbers of its form; one that decrypts below the
number of owners is a sighting, worth log2(all numbers / owners) bits. The permutation is a Feistel network on
(Z/a)² with cycle walking (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from types import MappingProxyType
from uuid import UUID

from .alphabet import BODY_BYTES, BODY_LENGTH, DEFAULT_PREFIX, decode_body, encode_body
from .canary import open_body
from .errors import UsageError
from .keyring import Keyring
from .scan import Sighting

ROUNDS = 8
ENOUGH_IN_TEST = 20.0
"""Bits that one owner's facts must add up to before a harness speaks of a leak."""
ENOUGH_IN_PRODUCTION = 40.0
"""The same where millions of other numbers pass by."""

# Digits of any script, grouped by what people and typesetters put between them.
_RUN = re.compile(r"\d(?:[ \u00a0\u2007\u2009\u202f\t\r\n.,/()*_\u2010-\u2015-]{0,3}\d)*")
_GROUP = re.compile(r"\d+")
_UUID = re.compile(r"[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}")


@dataclass(frozen=True, slots=True)
class Coat:
    """One form of number: how many digits, the least first digit and the first beyond the last, how many owners.

    With `no_card`, the numbers fail the Luhn test on purpose, because redactors take card numbers away.
    """

    name: str
    digits: int
    first: int
    beyond: int
    owners: int
    no_card: bool = False

    @property
    def bits(self) -> float:
        """Evidence: how unlikely a random number of as many digits is to be taken for an owner's."""
        return math.log2(10**self.digits / self.owners)

    @property
    def size(self) -> int:
        """How many numbers have this form."""
        heads: int = (self.beyond - self.first) * 10 ** (self.digits - 1)
        return heads // 10 * 9 if self.no_card else heads

    def write(self, position: int) -> str:
        """The number at `position` of 0 … size - 1."""
        start: int = self.first * 10 ** (self.digits - 1)
        if not self.no_card:
            return str(start + position)
        head, last = divmod(position, 9)
        body = str(start // 10 + head)
        return body + str((int(_luhn_digit(body)) + 1 + last) % 10)

    def read(self, number: str) -> int | None:
        """The position of a number of this form; None where it is of another."""
        start: int = self.first * 10 ** (self.digits - 1)
        if len(number) != self.digits or not self.first <= int(number[0]) < self.beyond:
            return None
        if not self.no_card:
            return int(number) - start
        last = (int(number[-1]) - int(_luhn_digit(number[:-1])) - 1) % 10
        return None if last == 9 else (int(number[:-1]) - start // 10) * 9 + last


COATS: Mapping[str, Coat] = MappingProxyType(
    {
        coat.name: coat
        for coat in (
            Coat("order", 16, 7, 10, 1_000_000, no_card=True),
            Coat("tracking", 20, 1, 10, 100_000_000),
            Coat("account", 10, 1, 10, 10_000),
            Coat("phone", 7, 2, 10, 1_000),
        )
    }
)
"""All coats by name: 33, 40, 20 and 13 bits."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One number that decodes to an owner: its raw span in characters and what it is worth in bits."""

    coat: str
    owner: int
    epoch: str
    number: str
    start: int
    end: int
    bits: float


def natural(keyring: Keyring, coat: str, owner: int) -> str:
    """The number of owner `owner` (an index of the caller's own list) in the coat of that name, digits only.

    Raises UsageError where there is no such coat, or it has no room for the owner.
    """
    if coat not in COATS:
        raise UsageError(f"no natural coat {coat!r}; known: {', '.join(COATS)}")
    form = COATS[coat]
    if isinstance(owner, bool) or not isinstance(owner, int) or not 0 <= owner < form.owners:
        raise UsageError(f"natural coat {coat!r} takes owners from 0 to {form.owners - 1}, got {owner!r}")
    position = owner
    while True:
        position = _permuted(keyring, form, position)
        if position < form.size:
            return form.write(position)


def read_naturals(text: str, keyrings: Sequence[Keyring]) -> tuple[Fact, ...]:
    """All numbers in `text` that decode to an owner, however their digits are grouped."""
    facts: list[Fact] = []
    for run in _RUN.finditer(text):
        groups = [group.span() for group in _GROUP.finditer(text, *run.span())]
        for first in range(len(groups)):
            facts += _facts(text, groups, first, keyrings)
    return tuple(facts)


def evidence(facts: Iterable[Fact]) -> dict[tuple[str, int], float]:
    """The bits that speak for each (epoch, owner): different facts add up, a repeated one counts once."""
    distinct = {(fact.epoch, fact.owner, fact.coat): fact.bits for fact in facts}
    added: dict[tuple[str, int], float] = {}
    for (epoch, owner, _), bits in distinct.items():
        added[epoch, owner] = added.get((epoch, owner), 0.0) + bits
    return added


def uuid_of(token: str, prefix: str = DEFAULT_PREFIX) -> str:
    """A UUID, version 4 to all appearances, that carries the whole token (120 of its 122 free bits).

    Raises UsageError where `token` is none with this prefix.
    """
    body = decode_body(token[len(prefix) :])
    if body is None or token[: len(prefix)].lower() != prefix:
        raise UsageError(f"a UUID can carry a token of {len(prefix) + BODY_LENGTH} characters only")
    free = int.from_bytes(body, "big") << 2
    number = free >> 74 << 80 | 0x4 << 76 | (free >> 62 & 0xFFF) << 64 | 0b10 << 62 | free & (1 << 62) - 1
    return str(UUID(int=number))


def read_uuids(text: str, keyrings: Sequence[Keyring], prefix: str = DEFAULT_PREFIX) -> tuple[Sighting, ...]:
    """The genuine tokens that UUIDs in `text` carry; spans count characters."""
    sightings = []
    for found in _UUID.finditer(text):
        number = int(found[0].replace("-", ""), 16)
        free = number >> 80 << 74 | (number >> 64 & 0xFFF) << 62 | number & (1 << 62) - 1
        opened = open_body(encode_body((free >> 2).to_bytes(BODY_BYTES, "big")), keyrings, prefix)
        if opened is not None:
            sightings.append(Sighting(opened, *found.span(), ("uuid",), "natural"))
    return tuple(sightings)


def _facts(text: str, groups: list[tuple[int, int]], first: int, keyrings: Sequence[Keyring]) -> Iterable[Fact]:
    longest = max(coat.digits for coat in COATS.values())
    number = ""
    for start, end in groups[first:]:
        if len(number) + end - start > longest:
            return
        number += "".join(str(unicodedata.digit(letter)) for letter in text[start:end])
        for coat in COATS.values():
            position = coat.read(number)
            for keyring in keyrings if position is not None else ():
                owner = _owner(keyring, coat, position)
                if owner is not None:
                    begin = groups[first][0]
                    yield Fact(coat.name, owner, keyring.epoch, number, begin, end, coat.bits)


def _owner(keyring: Keyring, coat: Coat, position: int | None) -> int | None:
    while position is not None:
        position = _permuted(keyring, coat, position, back=True)
        if position < coat.size:
            return position if position < coat.owners else None
    return None


def _permuted(keyring: Keyring, coat: Coat, position: int, *, back: bool = False) -> int:
    side = math.isqrt(coat.size - 1) + 1
    left, right = divmod(position, side)
    for step in reversed(range(ROUNDS)) if back else range(ROUNDS):
        if back:
            left, right = (right - _mixed(keyring, coat, step, left)) % side, left
        else:
            left, right = right, (left + _mixed(keyring, coat, step, right)) % side
    return left * side + right


def _mixed(keyring: Keyring, coat: Coat, step: int, half: int) -> int:
    text = f"{coat.name} {step} {half}".encode()
    return int.from_bytes(blake2b(text, key=keyring.stream_key, person=b"natural", digest_size=16).digest(), "big")


def _luhn_digit(body: str) -> str:
    # Counted from the right, every other digit is doubled, beginning with the one next to the check digit.
    total = 0
    for at, digit in enumerate(reversed(body)):
        value = int(digit) * (2 if at % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return str(-total % 10)
