"""The recorder keeps the order and writes no credential, and no credential hides a canary from it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from partywall.canaries import DEFAULT_PREFIX, Keyring, Level, Mint, Scope
from partywall.harness.observe.history import Completed, Header, History, Invoked, Sown
from partywall.harness.observe.journal import dump
from partywall.harness.observe.outcome import Outcome
from partywall.harness.observe.recorder import Recorder, redact_credentials
from partywall.harness.plan import Address, Call, Capabilities, Identity, Probe, Trial

KEYRING = Keyring.derive(b"recorder tests are minted under this key", "test")
ANN = Scope("acme", "ann", "s1", "k1")
CANARY = Mint(KEYRING).canary(ANN, {"*": Level.TASK})
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6y"
CREDENTIALS = {
    "bearer": ("Authorization: Bearer 0123456789abcdef", "0123456789abcdef"),
    "bearer in another case": ("bEaReR   0123456789abcdef", "0123456789abcdef"),
    "basic": ("Basic YW5uOnNlY3JldC1zZWNyZXQ=", "YW5uOnNlY3JldC1zZWNyZXQ"),
    "json web token": (f"token={JWT};", "SflKxwRJSMeKKF2QT4fwpMeJf36POk6y"),
    "provider key": ("the key sk-proj-0123456789abcdef is", "sk-proj-0123456789abcdef"),
}


def recorder() -> Recorder:
    header = Header(Trial("any", "any:Target"), Capabilities(frozenset()), (KEYRING.to_record(),), DEFAULT_PREFIX)
    return Recorder(header, clock=itertools.count().__next__)


def recorded(text: str) -> History:
    """A history in which `text` stands wherever a target's text can stand."""
    book = recorder()
    call = Call("append_turn", Identity.of(ANN), ANN, {"text": text, "deep": [{text: [text]}]})
    probe = Probe("p1", "c", call)
    book.invoked(probe, call, "c")
    book.seen("prompt", text, ANN.path, "p1")
    book.completed("p1", Outcome("info", {"a": [text, {text: 1}]}, text, "error"))
    book.faulted("any", True, "p1", text)
    book.limited(f"aclose: {text}", "p1")
    return book.history()


@pytest.mark.parametrize(("text", "secret"), CREDENTIALS.values(), ids=list(CREDENTIALS))
def test_a_credential_is_written_nowhere(text: str, secret: str) -> None:
    written = "".join(dump([recorded(text)]))
    assert "[redacted]" in written
    assert secret not in written


@pytest.mark.parametrize("text", ["Bearer {}", "sk-{}", "Basic {}", "Bearer x.{}.y", "eyJhbGciOiJI.{}.abcdefgh"])
def test_no_credential_hides_a_canary(text: str) -> None:
    assert CANARY.text in redact_credentials(text.format(CANARY.text))


@given(st.text(alphabet="abc sk-Bearer.eyJ0123456789 ", max_size=30), st.text(alphabet="abc0123.-= ", max_size=12))
def test_no_text_around_a_canary_makes_it_vanish(before: str, after: str) -> None:
    assert CANARY.text in redact_credentials(f"{before}{CANARY.text}{after}")


@pytest.mark.parametrize(
    "text", ["a basic idea", "the bearer of this", "ask-me-anything-now", "eyJ", "task-0123456789"]
)
def test_ordinary_words_are_left_alone(text: str) -> None:
    assert redact_credentials(text) == text


def test_what_a_probe_sows_stands_before_its_call() -> None:
    book = recorder()
    call = Call("append_turn", Identity.of(ANN), ANN, {"text": CANARY.text})
    book.invoked(Probe("p1", "c", call, (CANARY,)), call, "c~1")
    book.completed("p1", Outcome("ok"))
    sown, invoked, completed = book.history().entries
    assert isinstance(sown, Sown)
    assert isinstance(invoked, Invoked)
    assert isinstance(completed, Completed)
    assert (sown.canary, invoked.client, completed.outcome.status) == (CANARY, "c~1", "ok")
    assert sown.at <= invoked.at <= completed.at


def test_a_history_taken_early_does_not_grow() -> None:
    book = recorder()
    early = book.history()
    book.limited("any")
    assert (len(early.entries), len(book.history().entries)) == (0, 1)


@pytest.mark.parametrize("path", [(None, None, None, None), ("", "", "", ""), ("a/b", "%", "\x00", "..")])
def test_raw_ids_are_recorded_as_they_are(path: Any) -> None:
    book = recorder()
    call = Call("list_turns", Identity.of(ANN), Address(*path))
    book.invoked(Probe("p1", "c", call), call, "c")
    (invoked,) = book.history().entries
    assert isinstance(invoked, Invoked)
    assert invoked.scope == path
