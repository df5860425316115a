"""The tail of a log: rotation, truncation, half lines, lines without end."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import pytest
from partywall.canaries import UsageError
from partywall.harness.online.tail import Tail


def texts(tail: Tail, final: bool = False) -> list[bytes]:
    """All that can be read now."""
    found: list[bytes] = []
    before = None
    while before != tail.progress:
        before = tail.progress
        found += [line.raw for line in tail.read(final)]
    return found


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "app.log"
    path.write_bytes(b"one\ntwo\n")
    return path


def test_lines_are_handed_out_once_and_a_half_line_when_it_is_whole(log: Path) -> None:
    tail = Tail(log)
    append(log, b"thr")
    assert texts(tail) == [b"one", b"two"]
    half = tail.half()
    assert half is not None
    assert (half.offset, half.raw) == (8, b"thr")
    append(log, b"ee\n\n\r\nfour\n")
    assert texts(tail) == [b"three", b"four"]


def test_a_successor_goes_on_behind_the_last_line(log: Path) -> None:
    tail = Tail(log)
    append(log, b"half")
    texts(tail)
    append(log, b" done\n")
    assert texts(Tail(log, tail.mark())) == [b"half done"]


def test_a_renamed_log_is_read_to_its_end_before_the_new_one(log: Path) -> None:
    tail = Tail(log)
    texts(tail)
    log.rename(log.with_name("app.log.1"))
    append(log.with_name("app.log.1"), b"late\nlast")
    assert texts(tail) == [b"late"]
    log.write_bytes(b"new\n")
    assert texts(tail) == []
    assert texts(tail) == [b"last", b"new"]
    assert tail.restarts == 0


def test_a_log_renamed_between_two_processes_is_finished_first(log: Path) -> None:
    tail = Tail(log)
    texts(tail)
    mark = tail.mark()
    append(log, b"three\n")
    log.rename(log.with_name("app.log.1"))
    log.write_bytes(b"new\n")
    assert texts(Tail(log, mark), final=True) == [b"three", b"new"]


def test_a_log_emptied_in_place_is_read_from_its_start(log: Path) -> None:
    tail = Tail(log)
    texts(tail)
    os.truncate(log, 0)
    append(log, b"new\n")
    assert texts(tail) == [b"new"]
    assert tail.restarts == 1


def test_a_log_emptied_and_grown_past_the_mark_is_read_from_its_start(log: Path) -> None:
    tail = Tail(log)
    texts(tail)
    log.write_bytes(b"another\nand\nmore\n")
    assert texts(tail) == [b"another", b"and", b"more"]
    mark = tail.mark()
    log.write_bytes(b"x" * 100 + b"\n")
    successor = Tail(log, mark)
    assert texts(successor) == [b"x" * 100]
    assert successor.restarts == 1


def test_a_line_too_long_comes_in_pieces_that_overlap_and_the_next_is_whole(log: Path) -> None:
    append(log, b"".join(b"%07d" % n for n in range(500_000)) + b"\nnext\n")
    tail, lines, before = Tail(log, longest=1 << 16), [], None
    while before != tail.progress:
        before = tail.progress
        lines += tail.read()
    assert [line.raw for line in lines if not line.long] == [b"one", b"two", b"next"]
    pieces = [line for line in lines if line.long]
    assert [piece.rest for piece in pieces] == [False] + [True] * (len(pieces) - 1)
    assert max(len(piece.raw) for piece in pieces) < 3 << 20
    for one, other in pairwise(pieces):
        assert other.offset == one.offset + len(one.raw) - 512
        assert one.raw[-512:] == other.raw[:512]


def test_what_cannot_be_followed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file"):
        Tail(tmp_path / "none")
    with pytest.raises(UsageError):
        Tail(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="regular"):
        Tail(tmp_path / "pipe")
