"""Hopping finds what plain searching finds, whatever the text makes rare or frequent."""

import random
from itertools import chain

import pytest
from partywall.canaries.finder import WINDOW, Finder
from partywall.canaries.needles import dressed_needles, plain_needles

NEEDLES = plain_needles("mzqx7") + dressed_needles("mzqx7")


def plainly(data: bytes) -> list[tuple[int, bytes]]:
    found = []
    for needle in NEEDLES:
        at = data.find(needle.pattern)
        while at >= 0:
            found.append((at, needle.pattern))
            at = data.find(needle.pattern, at + 1)
    return sorted(found)


TEXTURES = {
    "prose": b"the quick brown fox asks for a refund of its order ",
    "rare letters are frequent": b"zqzxqxzzqm7z",
    "capitals": b"MZQXDVFX7Q",
    "nuls": b"\0m\0z",
    "digits": b"6d7a717837",
    "everything": bytes(range(256)),
}


@pytest.mark.parametrize("texture", TEXTURES)
@pytest.mark.parametrize("size", [0, 3, 500, WINDOW + 100, 5 * WINDOW + 17])
def test_every_needle_is_found_once_and_nothing_else(texture: str, size: int) -> None:
    rng = random.Random(f"{texture} {size}")
    data = bytearray(rng.choices(TEXTURES[texture], k=size))
    edges = [at + shift for at in range(0, size, WINDOW) for shift in range(-12, 3)]
    for at in chain(rng.sample(edges, k=min(len(edges), 9)), (rng.randrange(size + 1) for _ in range(40))):
        pattern = rng.choice(NEEDLES).pattern
        if 0 <= at <= size - len(pattern):
            data[at : at + len(pattern)] = pattern
    found = [(at, needle.pattern) for at, needle in Finder(NEEDLES).search(bytes(data))]
    assert sorted(found) == plainly(bytes(data))


def test_a_needle_at_the_very_start_and_the_very_end_is_found() -> None:
    for needle in NEEDLES:
        data = needle.pattern + b"." * 300_000 + needle.pattern
        at = [place for place, one in Finder(NEEDLES).search(data) if one == needle]
        assert at == [0, len(data) - len(needle.pattern)]


def test_needles_are_constants_of_the_prefix_without_doubles() -> None:
    patterns = [needle.pattern for needle in NEEDLES]
    assert len(patterns) == len(set(patterns)) == 16


def test_needles_that_crowd_each_other_are_found_across_every_window_edge() -> None:
    patterns = [needle.pattern for needle in NEEDLES]
    for seed in range(3):
        data = b"".join(random.Random(seed).choices(patterns, k=60_000))
        assert sorted((at, needle.pattern) for at, needle in Finder(NEEDLES).search(data)) == plainly(data)
