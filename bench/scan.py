"""What scanning costs, as ratios measured side by side on the same bytes; exits 1 where a bar is missed."""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable

import ahocorasick  # type: ignore[import-not-found]  # it ships no types
from partywall.canaries import Keyring, Mint, Scanner, Scope

PREFIX = b"mzqx7"
LIVE = (10, 1_000, 1_000_000)
SOWN = 10
MOST_COMPARED = 100_000
_WORDS = """
the of and to in is you that it he was for on are as with his they at be this have from or one had
by but not what all were we when your can said there use an each which she do how their if will up
other about out many then them these so some her would make like him into time has look two more
write go see number no way could people my than first water been call who oil its now find long down
day did get come made may part order invoice refund delivery size exchange question request quarter
tax box express prize organization customer account shipped yesterday please thanks amount total
blue chair address available
""".split()  # noqa: SIM905


def chat_log(size: int, seed: int) -> bytes:
    """`size` bytes of JSON lines as a chat service writes them: ids, times and a few sentences each."""
    rng = random.Random(seed)
    # Zipf's law, as in any language: the word of rank r is used 1/r as often as the first.
    weights = [1 / rank for rank in range(1, len(_WORDS) + 1)]
    lines: list[bytes] = []
    length = 0
    while length < min(size, 4 << 20):
        day, hour, second = rng.randint(1, 28), rng.randint(0, 23), rng.randint(0, 59)
        record = {
            "ts": f"2025-03-{day:02}T{hour:02}:14:{second:02}Z",
            "tenant": f"tenant-{rng.randint(1, 99)}",
            "session": f"{rng.getrandbits(128):032x}",
            "role": rng.choice(("user", "assistant")),
            "tokens": rng.randint(10, 4000),
            "content": " ".join(rng.choices(_WORDS, weights, k=rng.randint(5, 120))).capitalize() + ".",
        }
        lines.append(json.dumps(record).encode() + b"\n")
        length += len(lines[-1])
    block = b"".join(lines)
    return (block * (size // len(block) + 1))[:size]


def seconds(*works: Callable[[], object], rounds: int) -> list[float]:
    """The best time of each work over `rounds`, taken in turn so that a busy machine hits all alike."""
    best = [float("inf")] * len(works)
    for _ in range(rounds):
        for at, work in enumerate(works):
            start = time.perf_counter()
            work()
            best[at] = min(best[at], time.perf_counter() - start)
    return best


class Bars:
    """Prints ratio lines and remembers whether a bar was missed."""

    def __init__(self) -> None:
        self.missed = False

    def line(self, what: str, ratio: float, held: bool, bar: str) -> None:
        """One ratio with its bar and whether it held."""
        self.missed |= not held
        print(f"{what:<78} {ratio:10.3g}  (bar {bar}) {'ok' if held else 'MISSED'}")

    def note(self, what: str, ratio: float) -> None:
        """One ratio that has no bar."""
        print(f"{what:<78} {ratio:10.3g}")


def against_find(bars: Bars, text: bytes, keyring: Keyring) -> None:
    """S0 against one search for the prefix in one case, which is less than S0 does."""
    scanner = Scanner([keyring], level="S0")
    bare, ours = seconds(lambda: text.find(PREFIX), lambda: scanner.scan(text), rounds=7)
    print(f"bytes.find {len(text) / bare / 1e9:.2f} GB/s, S0 {len(text) / ours / 1e9:.2f} GB/s")
    bars.line("scan S0 / bytes.find", bare / ours, bare / ours >= 0.9, "≥ 0.90")


def against_json(bars: Bars, text: bytes, keyring: Keyring) -> None:
    """S0 and S1 against parsing the same lines, which any service does anyway."""
    scanner = Scanner([keyring], level="S1")
    lines = text.splitlines()[:-1]
    parsed, ours = seconds(lambda: [json.loads(line) for line in lines], lambda: scanner.scan(text), rounds=5)
    print(f"json.loads {len(text) / parsed / 1e6:.0f} MB/s, S0+S1 {len(text) / ours / 1e6:.0f} MB/s")
    bars.line("scan S0+S1 / json.loads, time", ours / parsed, ours / parsed <= 0.1, "≤ 0.10")


def by_live_canaries(bars: Bars, text: bytes, keyring: Keyring) -> None:
    """Cost per byte as the number of live canaries grows: ours, a substring loop, and Aho-Corasick."""
    mint = Mint(keyring)
    tokens = [mint.token(Scope(f"tenant-{at % 997}", f"user-{at}")) for at in range(LIVE[-1])]
    costs = []
    for live in LIVE:
        costs.append(scan_cost(sown(text, tokens[:live]), keyring))
        compared = min(live, MOST_COMPARED)
        scaled = f", scaled up from {compared}" if compared < live else ""
        naive = loop_cost(text[:20_000].decode(), tokens[:compared]) * live / compared
        bars.note(f"substring loop / scan S1, time per byte, {live} live{scaled}", naive / costs[-1])
        if compared == live:
            many = automaton_cost(text[:1_000_000].decode(), tokens[:live])
            bars.note(f"pyahocorasick / scan S1, time per byte, {live} live", many / costs[-1])
    spread = max(costs) / min(costs)
    bars.line("scan S1 cost per byte, most / least over 10 … 1M live", spread, spread <= 1.1, "≤ 1.10")


def sown(text: bytes, live: list[str]) -> bytes:
    """`text` with ten of the live canaries in it, so that opening is paid for as well."""
    full = bytearray(text)
    for at in range(SOWN):
        place = len(text) // (SOWN + 1) * (at + 1)
        token = live[len(live) // SOWN * at].encode()
        full[place : place + len(token)] = token
    return bytes(full)


def scan_cost(text: bytes, keyring: Keyring) -> float:
    """Seconds a byte at S1, each time with a fresh scanner, so that none remembers what it opened."""
    found = Scanner([keyring], level="S1").scan(text).sightings
    if len(found) != SOWN:
        raise SystemExit(f"{SOWN} canaries stand in the text and {len(found)} were found")
    return seconds(lambda: Scanner([keyring], level="S1").scan(text), rounds=7)[0] / len(text)


def loop_cost(text: str, tokens: list[str]) -> float:
    """Seconds a character of one substring test for every live canary."""
    return seconds(lambda: [token for token in tokens if token in text], rounds=1)[0] / len(text)


def automaton_cost(text: str, tokens: list[str]) -> float:
    """Seconds a character of one pass of an Aho-Corasick automaton, built beforehand."""
    automaton = ahocorasick.Automaton()
    for token in tokens:
        automaton.add_word(token, token)
    automaton.make_automaton()
    return seconds(lambda: list(automaton.iter(text)), rounds=3)[0] / len(text)


def main() -> int:
    """Runs all comparisons; 0 where every bar held."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--megabytes", type=int, default=100)
    size = options.parse_args().megabytes * 1_000_000
    text = chat_log(size, seed=7)
    keyring = Keyring.derive(b"b" * 32, "bench")
    bars = Bars()
    against_find(bars, text, keyring)
    against_json(bars, text[: size // 4], keyring)
    by_live_canaries(bars, text[: size // 2], keyring)
    return int(bars.missed)


if __name__ == "__main__":
    sys.exit(main())
