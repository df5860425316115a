"""Sightings: each place once, at its raw span, with its decode chain; bounded, and never an exception."""

import base64
import gzip
import json
import os
import random
import sys
import time
import zlib
from typing import Any

import pytest
from partywall.canaries import CARRIERS, LEVELS, Keyring, Level, Mint, Scanner, Scope, UsageError, scan
from partywall.canaries.unpack import Allowance, unpack

RING = Keyring.derive(b"k" * 32, "e1")
MINT = Mint(RING)
OWNER = Scope("acme", "ann", "s1", "t1")
TOKEN = MINT.token(OWNER)
SCANNERS = {level: Scanner([RING], level=level) for level in LEVELS}


def test_a_sighting_tells_the_owner_from_the_rest_without_a_registry() -> None:
    (seen,) = scan(f"booking reference {TOKEN}.", [RING]).sightings
    assert seen.opened.boundary(OWNER) is None
    assert seen.opened.boundary(Scope("acme", "ann", "s2", "t1")) is Level.SESSION


def test_nothing_is_seen_without_the_keyring_and_the_prefix_counts_as_damaged() -> None:
    found = scan(TOKEN, [Keyring.derive(b"k" * 32, "e2")])
    assert (found.sightings, found.damaged) == ((), 1)


@pytest.mark.parametrize("level", LEVELS)
def test_clean_text_gives_no_sighting_and_no_damage(level: str) -> None:
    found = SCANNERS[level].scan("Nothing to see & nothing to hide: \\u0041 %41 =41 <b>x</b> " * 50)
    assert (found.sightings, found.damaged, found.limited) == ((), 0, False)


def test_spans_count_characters_of_text_and_bytes_of_bytes() -> None:
    text = f"Grüße, 漢字 😀 {TOKEN} und {' '.join(TOKEN)} Ende"
    found = SCANNERS["S2"].scan(text)
    assert found.unit == "character"
    assert [text[one.start : one.end] for one in found.sightings] == [TOKEN, " ".join(TOKEN)]
    raw = text.encode()
    found = SCANNERS["S2"].scan(raw)
    assert found.unit == "byte"
    assert [raw[one.start : one.end].decode() for one in found.sightings] == [TOKEN, " ".join(TOKEN)]


@pytest.mark.parametrize("level", LEVELS)
def test_the_plain_and_the_decoded_hit_of_one_place_are_one_finding(level: str) -> None:
    found = SCANNERS[level].scan(json.dumps({"a": f"x{TOKEN}y", "b": "\\u0020"}))
    assert [(one.chain, one.level) for one in found.sightings] == [((), "S0")]


def test_the_same_token_in_two_places_is_two_findings() -> None:
    found = SCANNERS["S3"].scan(f"{TOKEN} {base64.b64encode(TOKEN.encode()).decode()}")
    assert [one.chain for one in found.sightings] == [(), ("base64",)]


def test_two_tokens_side_by_side_are_two_findings() -> None:
    other = MINT.token(OWNER, seq=1)
    found = SCANNERS["S3"].scan(TOKEN + other + TOKEN)
    assert [one.opened.seq for one in found.sightings] == [0, 1, 0]
    assert found.damaged == 0


CHAINS = {
    "plain": (),
    "base64+1": ("base64",),
    "utf-16le": ("utf-16",),
    "spaced": ("skeleton",),
    "full-width": ("nfkc",),
    "json-wrapped": ("unescape:json", "skeleton"),
    "zero-width-escaped": ("unescape:json", "nfkc"),
    "percent": ("unescape:url",),
    "entities": ("unescape:html",),
    "wbr": ("untag",),
    "base64-base64": ("base64", "base64"),
    "gzip-base64": ("base64", "gzip"),
    "deltas": ("deltas",),
}


@pytest.mark.parametrize("name", CHAINS)
def test_the_chain_names_the_decoders_from_the_outside_in(name: str) -> None:
    assert SCANNERS["S3"].scan(CARRIERS[name].dress(TOKEN)).sightings[0].chain == CHAINS[name]


MIXED = {
    "escaped full width": "".join(f"\\u{ord(one) + 0xFEE0:04x}" for one in TOKEN),
    "html in json": json.dumps({"x": "".join(f"&#{ord(one)};" for one in TOKEN)}),
    "entities twice": "".join(f"&amp;#x{ord(one):x};" for one in TOKEN),
    "percent twice": "".join(f"%25{ord(one):02x}" for one in TOKEN),
    "percent of utf-8": "".join("".join(f"%{byte:02X}" for byte in chr(ord(one) + 0xFEE0).encode()) for one in TOKEN),
    "mathematical bold": "".join(chr(0x1D41A + ord(one) - 97) if one.isalpha() else one for one in TOKEN),
    "bold as surrogate pairs": json.dumps(
        "".join(chr(0x1D41A + ord(one) - 97) if one.isalpha() else one for one in TOKEN)
    ),
    "tag attribute": f'<a data-x="{" ".join(TOKEN)}">',
    "tags inside": "<i>".join(TOKEN[at : at + 2] + "</i>" for at in range(0, 29, 2)),
    "arabic digits": TOKEN.translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")),
    "accents": "".join(one + "\u0301" for one in TOKEN),
    "quoted-printable": "".join(f"={ord(one):02X}" for one in TOKEN),
    "octal digits after a bare escape": "\\" + " \\".join(TOKEN),
}


@pytest.mark.parametrize("name", MIXED)
def test_an_earlier_decoder_does_not_spoil_a_later_one(name: str) -> None:
    text = f"see {MIXED[name]} thanks"
    found = SCANNERS["S2"].scan(text)
    assert [one.opened.token for one in found.sightings] == [TOKEN]
    assert found.damaged == 0


def test_deltas_of_interleaved_streams_are_put_together_stream_by_stream() -> None:
    other = MINT.token(OWNER, seq=1)
    events = []
    for at in range(0, 29, 3):
        for stream, token in (("a", TOKEN), ("b", other)):
            delta = {"id": stream, "delta": {"text": token[at : at + 3]}}
            events.append(f"event: content_block_delta\r\ndata: {json.dumps(delta)}\r\n\r\n")
    found = SCANNERS["S3"].scan("".join(events))
    assert [one.opened.seq for one in found.sightings] == [0, 1]


@pytest.mark.parametrize(
    ("chain", "raw"),
    [
        (("hex", "skeleton"), " ".join(TOKEN).encode().hex().encode()),
        (("hex", "skeleton"), b"x0" + " ".join(TOKEN).encode().hex().encode()),
        (("hex",), TOKEN.encode().hex(":").encode()),
        (("utf-16-le", "nfkc"), "".join(chr(ord(one) + 0xFEE0) for one in TOKEN).encode("utf-16-le") + b"\0"),
        (("base64", "skeleton"), b"/a/b-" + base64.b64encode(" ".join(TOKEN).encode())),
        (
            ("unescape", "base64"),
            json.dumps(base64.b64encode(TOKEN.encode()).decode()[:7] + "\n").encode()[1:-1]
            + base64.b64encode(TOKEN.encode())[7:],
        ),
    ],
)
def test_what_is_encoded_is_decoded_and_then_read_at_level_s2(chain: tuple[str, ...], raw: bytes) -> None:
    (seen,) = SCANNERS["S3"].scan(b"(" + raw + b")").sightings
    assert (seen.opened.token, seen.level) == (TOKEN, "S3")
    assert seen.chain == chain


def test_a_mime_body_within_json_is_reached() -> None:
    mime = base64.encodebytes(gzip.compress(random.Random(1).randbytes(300) + TOKEN.encode())).decode()
    found = SCANNERS["S3"].scan(json.dumps({"attachment": mime}))
    assert [one.opened.token for one in found.sightings] == [TOKEN]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("size", [1, 7, 28, 29, 1000, 70_000])
def test_no_token_is_lost_or_doubled_between_chunks(level: str, size: int) -> None:
    rng = random.Random(size)
    text = "".join(f"{MINT.token(OWNER, seq=seq)}{' filler' * rng.randint(0, 200)}" for seq in range(200))
    raw = text.encode()
    found = SCANNERS[level].chunks(raw[at : at + size] for at in range(0, len(raw), size))
    assert [one.opened.seq for one in found.sightings] == list(range(200))
    assert all(raw[one.start : one.start + 5] == b"mzqx7" for one in found.sightings)
    assert found.damaged == 0


@pytest.mark.parametrize("offset", range(65_536 - 60, 65_536 + 5))
def test_no_dress_is_lost_where_windows_meet(offset: int) -> None:
    for name in ("plain", "hex", "utf-16be", "spaced", "unicode-escape", "reversed", "base64+0"):
        dressed = CARRIERS[name].dress(TOKEN)
        raw = dressed.encode() if isinstance(dressed, str) else dressed
        data = b"." * offset + raw + b"." * 70_000
        assert len(SCANNERS["S2"].scan(data).sightings) == 1, name
        assert len(SCANNERS["S2"].chunks([data[:offset], data[offset : offset + 9], data[offset + 9 :]]).sightings) == 1


def test_redacted_tokens_are_no_damage() -> None:
    assert scan("shown mzqx7…4d7101 in a report", [RING], level="S3").damaged == 0


def test_a_scan_can_redact_what_it_saw_in_any_dress() -> None:
    text = f"Grüße {TOKEN}, {' '.join(TOKEN)}; {TOKEN.encode().hex()} und {TOKEN[::-1]}."
    found = SCANNERS["S2"].scan(text)
    short = found.sightings[0].opened.short
    assert found.redact(text) == f"Grüße …{short}, …{short}; …{short} und …{short}."


def test_damage_is_counted_by_place_and_not_where_a_higher_level_reads_on() -> None:
    cut = TOKEN[:20]
    assert SCANNERS["S3"].scan(f"{cut}! {cut}? {TOKEN[:9]}-{TOKEN[9:]} {TOKEN}").damaged == 2


def test_another_prefix_has_needles_of_its_own() -> None:
    token = Mint(RING, "qwv9zk").token(OWNER)
    for carrier in CARRIERS.values():
        if carrier.level <= "S3" and carrier.name != "misread":
            assert scan(carrier.dress(token), [RING], level="S3", prefix="qwv9zk").sightings, carrier.name


@pytest.mark.parametrize(("level", "prefix"), [("S4", "mzqx7"), ("s2", "mzqx7"), ("S2", "canary")])
def test_an_unknown_level_or_a_bad_prefix_is_refused(level: str, prefix: Any) -> None:
    with pytest.raises(UsageError):
        Scanner([RING], level=level, prefix=prefix)


HOSTILE = {
    "nothing": b"",
    "nuls": b"\0" * 300_000,
    "noise": random.Random(1).randbytes(300_000),
    "prefixes": b"mzqx7" * 40_000,
    "rare letters": b"zq" * 150_000,
    "backslashes": b"\\" * 300_000,
    "half escapes": b"\\u" * 150_000,
    "half surrogates": b"\\ud800" * 50_000,
    "code points beyond the last": b"\\u{ffffff}&#x7fffffff;&#99999999;" * 9_000,
    "open tags": b"<a" * 150_000,
    "half percents": b"%6" * 150_000,
    "ampersands": b"&a" * 150_000,
    "letters of base64": base64.b64encode(random.Random(2).randbytes(200_000)),
    "hex": b"ab01" * 60_000,
    "zlib magic": b"\x78\x9c" * 150_000,
    "gzip magic": b"\x1f\x8b\x08" * 100_000,
    "deep json": b'data: {"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "broken json": b'data: {"a": tru}\n' * 10_000,
    "half utf-8": "漢".encode()[:2] * 100_000,
    "tokens": TOKEN.encode() * 8_000,
    "tokens in base64": base64.b64encode(TOKEN.encode() * 3) * 2_000,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("level", LEVELS)
def test_hostile_bytes_neither_raise_nor_take_long(level: str, name: str) -> None:
    start = time.perf_counter()
    SCANNERS[level].scan(HOSTILE[name])
    # Generous by a factor of ten on a slow machine; anything quadratic would take minutes.
    assert time.perf_counter() - start < 30


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("text", ["\ud800" + TOKEN, TOKEN + "\udfff", f"\0{TOKEN}\0", f"\udc80é{TOKEN}漢"])
def test_lone_surrogates_and_nuls_hide_nothing(level: str, text: str) -> None:
    (seen,) = SCANNERS[level].scan(text).sightings
    assert text[seen.start : seen.end] == TOKEN


def test_a_bomb_ends_at_the_limit_and_the_scan_says_so() -> None:
    bomb = zlib.compress(b"\0" * 40_000_000, 9)
    found = SCANNERS["S3"].scan(bomb)
    assert found.limited
    assert found.sightings == ()


def test_of_a_bomb_no_more_than_the_limit_is_ever_inflated() -> None:
    allowance = Allowance()
    sizes = [len(payload.data) for payload in unpack(zlib.compress(b"\0" * 40_000_000, 9), allowance)]
    assert max(sizes) == 8 << 20
    assert allowance.exceeded


def test_what_is_nested_too_deep_is_said_to_be_limited() -> None:
    nested = TOKEN.encode()
    for depth in range(1, 8):
        nested = base64.b64encode(nested)
        found = SCANNERS["S3"].scan(nested)
        # Four layers are decoded and a needle reads a fifth, which is known not to be the last one.
        assert (len(found.sightings), found.limited) == (depth <= 5, depth >= 5), depth


def test_more_sightings_than_can_be_kept_are_said_to_be_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[Scanner.__module__], "MOST_SIGHTINGS", 10)
    assert not SCANNERS["S0"].scan(f"{TOKEN} " * 10).limited
    found = SCANNERS["S0"].scan(f"{TOKEN} " * 11)
    assert (len(found.sightings), found.limited) == (10, True)


def test_noise_is_never_taken_for_a_token() -> None:
    for seed in range(3):
        assert SCANNERS["S3"].scan(os.urandom(100_000 + seed)).sightings == ()
