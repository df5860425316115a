"""What was recorded comes back the same from a file; what no honest recorder wrote is refused by its line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partywall.canaries import DEFAULT_PREFIX, Keyring, Level, Mint, Scope
from partywall.harness.errors import HistoryError, UsageError
from partywall.harness.judge.bench import judge
from partywall.harness.observe.history import (
    Completed,
    Entry,
    Faulted,
    Header,
    History,
    Invoked,
    Limited,
    Seen,
    Sown,
)
from partywall.harness.observe.journal import dump, load, read, write
from partywall.harness.observe.outcome import Outcome
from partywall.harness.plan import Capabilities, Trial

KEYRING = Keyring.derive(b"journal tests are minted under this key", "test")
CANARY = Mint(KEYRING).canary(Scope("acme", "ann", "s1", "k1"), {"*": Level.TASK, "turns": Level.SESSION})

TEXT = st.text(max_size=20) | st.sampled_from(
    ["\x00", "\u2028\u2029\x85\n\r", "\x1b]0;title\x07", "<script>", "ﷺ", "\U0010ffff", '"}\n{"entry":"header"}']
)
ID = st.none() | TEXT
PATH = st.tuples(ID, ID, ID, ID)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
SCOPE = st.builds(Scope, TEXT.filter(bool), TEXT.filter(bool), TEXT, TEXT)
OUTCOME = st.builds(Outcome, st.sampled_from(["ok", "fail", "info"]), JSON, TEXT, TEXT)


def header(**changes: Any) -> Header:
    given: dict[str, Any] = {
        "trial": Trial("any", "any:Target", seed=-7),
        "capabilities": Capabilities(
            frozenset({"append_turn", "list_turns"}),
            reach={"append_turn": {"*": Level.USER}},
            promises={"order": "index", "cas": True},
            intended_sharing=(("acme", "zeta"),),
        ),
        "keyrings": (KEYRING.to_record(),),
        "prefix": DEFAULT_PREFIX,
    }
    return Header(**{**given, **changes})


@st.composite
def honest(draw: st.DrawFn) -> History:
    """A history that a recorder could have written: time goes forward, every end has its beginning."""
    entries: list[Entry] = []
    for number in range(draw(st.integers(0, 4))):
        probe, at = f"{draw(TEXT)}#{number}", 10 * number
        entries.append(Sown(at, probe, Mint(KEYRING).canary(draw(SCOPE), {"*": draw(st.sampled_from(Level))})))
        arguments = draw(st.dictionaries(TEXT, JSON, max_size=2))
        caller = (draw(TEXT), draw(TEXT))
        entries.append(Invoked(at, probe, draw(TEXT), draw(TEXT), caller, draw(PATH), arguments, draw(ID)))
        entries.append(Seen(at + 1, draw(TEXT), draw(TEXT), draw(st.none() | PATH), draw(ID), draw(TEXT)))
        entries.append(Faulted(at + 2, draw(TEXT), draw(st.booleans()), draw(ID), draw(TEXT)))
        entries.append(Completed(at + 3, probe, draw(OUTCOME)))
        entries.append(Limited(at + 3, draw(TEXT), draw(ID)))
    return History(header(world=draw(TEXT), direction=draw(st.sampled_from(["", "tenant"]))), tuple(entries))


def lines(*entries: Entry, **changes: Any) -> list[str]:
    return list(dump([History(header(**changes), entries)]))


def call(at: int = 1, probe: str = "p1") -> Invoked:
    return Invoked(at, probe, "c", "list_turns", ("acme", "ann"), ("acme", "ann", "s1", "k1"))


def end(at: int = 2, probe: str = "p1") -> Completed:
    return Completed(at, probe, Outcome("ok", []))


@settings(max_examples=80, deadline=None)
@given(st.lists(honest(), min_size=1, max_size=3))
def test_what_was_dumped_is_loaded_the_same(histories: list[History]) -> None:
    loaded = load(dump(histories))
    assert [(history.header, history.entries) for history in loaded] == [(h.header, h.entries) for h in histories]


@settings(max_examples=30, deadline=None)
@given(honest())
def test_every_entry_is_one_line_of_ascii(history: History) -> None:
    written = list(dump([history]))
    assert len(written) == 1 + len(history.entries)
    assert all(line.isascii() and len(line.splitlines()) == 1 for line in written)


def test_a_lone_surrogate_in_an_answer_survives_the_file(tmp_path: Path) -> None:
    write([History(header(), (call(), Completed(2, "p1", Outcome("ok", ["\ud800 x"]))))], tmp_path / "h.jsonl")
    (history,) = read(tmp_path / "h.jsonl")
    assert history.outcome("p1").value == ["\ud800 x"]
    write([history], tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "h.jsonl").read_bytes()


def test_a_saved_history_is_judged_as_the_live_one() -> None:
    live = History(header(), (Sown(0, "p1", CANARY), call(), end()))
    (saved,) = load(dump([live]))
    assert judge(saved) == judge(live)


def test_fields_of_a_later_format_are_ignored() -> None:
    records = [json.loads(line) for line in lines(call(), end())]
    later = [json.dumps({**record, "mood": ["fine"]}) for record in records]
    (history,) = load(later)
    assert history.entries == (call(), end())


def test_a_header_without_a_count_is_read_as_it_is() -> None:
    first, *rest = lines(call(), end())
    record = json.loads(first)
    del record["entries"]
    (history,) = load([json.dumps(record), *rest])
    assert history.entries == (call(), end())


def broken(change: Callable[[dict[str, Any]], Any], which: int = 0) -> list[str]:
    """An honest file with one line changed."""
    found = lines(Sown(0, "p1", CANARY), call(), end())
    record = json.loads(found[which])
    change(record)
    found[which] = json.dumps(record)
    return found


MALFORMED: dict[str, tuple[list[Any], str]] = {
    "no JSON": ([*lines(), "{oops"], "line 2: expected a JSON object"),
    "half a line": ([*lines(call())[:1], lines(call())[1][:40]], "line 2: expected a JSON object"),
    "a list": (["[1]"], "line 1: expected a JSON object, found list"),
    "not a number": ([lines()[0].replace('"clock":0.0', '"clock":NaN')], "line 1: expected a JSON object"),
    "an empty line": ([*lines(), "\n"], "line 2: expected a JSON object"),
    "nested too deep": ([*lines(), "[" * 200_000], "line 2: expected a JSON object"),
    "a number of 5000 digits": ([*lines(), '{"at":' + "9" * 5000 + "}"], "line 2: expected a JSON object"),
    "no header": (lines(call())[1:], "line 1: expected a header line first, found entry 'invoked'"),
    "another version": (broken(lambda r: r.update(version=99)), "line 1: history version 99 is not known; known: 1"),
    "no version": (broken(lambda r: r.pop("version")), "line 1: history version None is not known"),
    "an unknown entry": (broken(lambda r: r.update(entry="guessed"), 2), "line 3: no entry 'guessed'; known: header"),
    "no entry": (broken(lambda r: r.pop("entry"), 2), "line 3: no entry None"),
    "an entry that is a list": (broken(lambda r: r.update(entry=[1]), 2), "line 3: no entry [1]; known: header"),
    "a version that is a book": (broken(lambda r: r.update(version="x" * 9999)), "line 1: history version 'xxx"),
    "a field missing": (broken(lambda r: r.pop("scope"), 2), "line 3: malformed entry 'invoked': scope"),
    "a wrong type": (broken(lambda r: r.update(scope="s1"), 2), "line 3: malformed entry 'invoked': scope"),
    "three ids": (broken(lambda r: r.update(scope=["a", "b", "c"]), 2), "line 3: malformed entry 'invoked': scope"),
    "a wrong status": (broken(lambda r: r["outcome"].update(status="good"), 3), "line 4: malformed entry 'completed'"),
    "time backwards": (lines(call(5), end(4)), "line 3: time runs backwards (4 after 5)"),
    "an end without a call": (lines(end()), "line 2: probe 'p1' completed without an open call"),
    "two ends": (lines(call(), end(), end(3)), "line 4: probe 'p1' completed without an open call"),
    "two calls": (lines(call(), call(2)), "line 3: probe 'p1' was invoked twice"),
    "an ownerless canary": (
        broken(lambda r: r["canary"]["owner"].update(tenant=""), 1),
        "line 2: malformed entry 'sown'",
    ),
    "an unknown level": (
        broken(lambda r: r["canary"]["reach"].update(turns="planet"), 1),
        "line 2: malformed entry 'sown': no level 'planet'; known: tenant, user, session, task",
    ),
    "a canary that is none": (broken(lambda r: r.update(canary=[1]), 1), "line 2: malformed entry 'sown'"),
    "no capabilities": (broken(lambda r: r.pop("capabilities")), "line 1: malformed header: capabilities is missing"),
    "a reach that is none": (broken(lambda r: r["capabilities"].update(reach=[1])), "line 1: malformed header"),
    "an unknown dimension": (
        broken(lambda r: r["capabilities"].update(dimensions=["team"])),
        "line 1: malformed header: no level 'team'",
    ),
    "a broken key": (broken(lambda r: r["keyrings"][0].update(mac="zz")), "line 1: malformed header: keyring"),
    "a short key": (broken(lambda r: r["keyrings"][0].update(mac="00")), "line 1: malformed header: keyring"),
    "a broken prefix": (broken(lambda r: r.update(prefix="!")), "line 1: malformed header"),
    "cut at a line's end": (lines(call(), end())[:-1], "line 2: expected 2 entries as the header says, found 1"),
    "cut before the next": (
        [*lines(call(), end())[:-1], *lines()],
        "line 3: expected 2 entries as the header says, found 1",
    ),
    "a count that is none": (broken(lambda r: r.update(entries="many")), "expected 'many' entries"),
    "an empty file": ([], "holds no history: expected a header line, found 0 lines"),
    "binary": ([b"\x80\x81\xfe\xff\x00\n", b"\x00"], "line 1: expected a JSON object"),
    "UTF-16": (["\ufeff{}".encode("utf-16")], "line 1: expected a JSON object"),
}


@pytest.mark.parametrize(("text", "told"), MALFORMED.values(), ids=list(MALFORMED))
def test_a_malformed_line_is_refused_by_its_number_in_one_sentence(text: list[Any], told: str) -> None:
    with pytest.raises(HistoryError) as refused:
        load(text, "history")
    sentence = str(refused.value)
    assert told in sentence
    assert "\n" not in sentence
    assert len(sentence) < 300


def test_a_line_of_ten_megabytes_is_read(tmp_path: Path) -> None:
    write([History(header(), (call(), Completed(2, "p1", Outcome("ok", ["x" * 10_000_000]))))], tmp_path / "h.jsonl")
    (history,) = read(tmp_path / "h.jsonl")
    assert len(history.outcome("p1").value[0]) == 10_000_000


def test_a_malformed_line_of_ten_megabytes_is_refused_in_one_sentence() -> None:
    with pytest.raises(HistoryError) as refused:
        load([*lines(), json.dumps({"entry": "x" * 10_000_000})])
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize("path", ["missing.jsonl", "."])
def test_a_file_that_cannot_be_read_is_the_callers_mistake(path: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read history"):
        read(tmp_path / path)


def test_a_journal_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    unwritable = Completed(2, "p1", Outcome("ok", [object()]))
    write([History(header(), (call(), end()))], tmp_path / "h.jsonl")
    before = (tmp_path / "h.jsonl").read_bytes()
    with pytest.raises(TypeError):
        write([History(header(), (call(), unwritable))], tmp_path / "h.jsonl")
    assert (tmp_path / "h.jsonl").read_bytes() == before
