"""Golden histories of the check `append_log`."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from partywall.canaries import Canary, Scope
from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome
from partywall.harness.plan import Call, Identity, Probe

from .world import ANN, OTHER_SESSION, OTHER_TASK, World

LOST = Outcome("info", reason="no answer within 10 s", code="timeout")
CONFLICT = Outcome("fail", reason="stale version", code="conflict")
IDEMPOTENT = {"idempotent": True}
CAS = {"cas": True, "version": "count"}


class Story:
    """Two clients append to one session at once, `a` and `b`; what follows is told call by call."""

    def __init__(self, *operations: str, numbers: bool = False, **promises: Any) -> None:
        self.world = World(*operations, promises=promises)
        self.numbers = itertools.count(1) if numbers else None
        self._probes = itertools.count(1)
        self._texts: dict[str, str] = {}
        first, second = self.begin("c1"), self.begin("c2")
        self.a, self.b = self.end(first), self.end(second)

    def value(self, scope: Scope = ANN) -> Canary:
        return self.world.canary(scope, "append_turn")

    def begin(
        self, client: str, value: Canary | None = None, scope: Scope = ANN, request_id: str | None = None, **more: Any
    ) -> tuple[str, Canary]:
        """An append is sent."""
        value = value or self.value(scope)
        call = Call("append_turn", Identity.of(scope), scope, {"text": _text(value), **more}, request_id)
        probe = Probe(f"p{next(self._probes)}", client, call, (value,))
        self.world.recorder.invoked(probe, call, client)
        return probe.id, value

    def end(self, begun: tuple[str, Canary], outcome: Outcome | None = None, turn: int | None = None) -> Canary:
        """It is answered, with the next turn number where the story has numbers."""
        probe, value = begun
        number = turn or (next(self.numbers) if self.numbers and outcome is None else None)
        self.world.recorder.completed(probe, outcome or Outcome("ok", {"turn": number} if number else None))
        return value

    def append(self, client: str, *, outcome: Outcome | None = None, turn: int | None = None, **more: Any) -> Canary:
        return self.end(self.begin(client, **more), outcome, turn)

    def read(self, client: str, *values: Canary | str, scope: Scope = ANN, roles: bool = False) -> None:
        call = Call("list_turns", Identity.of(scope), scope)
        probe = Probe(f"p{next(self._probes)}", client, call)
        self.world.recorder.invoked(probe, call, client)
        texts = [value if isinstance(value, str) else _text(value) for value in values]
        shown = [
            {"role": "user" if isinstance(value, Canary) else "assistant", "text": text} if roles else text
            for value, text in zip(values, texts, strict=True)
        ]
        self.world.recorder.completed(probe.id, Outcome("ok", shown))

    def call(self, op: str, client: str, **arguments: Any) -> None:
        call = Call(op, Identity.of(ANN), ANN, arguments)
        probe = Probe(f"p{next(self._probes)}", client, call)
        self.world.recorder.invoked(probe, call, client)
        self.world.recorder.completed(probe.id, Outcome("ok"))

    @property
    def history(self) -> History:
        return self.world.history


def _text(value: Canary) -> str:
    return f"Please note voucher {value.text}."


def _told(tell: Callable[[Story], None], *operations: str, **promises: Any) -> Callable[[], History]:
    def make() -> History:
        story = Story(*operations, **promises)
        tell(story)
        return story.history

    return make


def all_there(story: Story) -> None:
    c = story.append("c1")
    story.read("c1", story.a, story.b, c)
    story.read("c2", story.a, story.b, c)


def unknown_and_seen(story: Story) -> None:
    """Nobody knows whether it was applied until it is read; one that never shows up is no loss."""
    c = story.append("c1", outcome=LOST)
    story.append("c2", outcome=LOST)
    story.read("c2", story.a, story.b)
    story.read("c1", story.a, story.b, c)


def retried(story: Story) -> None:
    """After the answer, from another client, with another body, and the same id in another session."""
    c = story.append("c1", request_id="r")
    story.append("c1", value=c, request_id="r", turn=3)
    story.append("c2", value=c, request_id="r", turn=3)
    story.append("c2", request_id="r", outcome=CONFLICT)
    d = story.append("c2", scope=OTHER_SESSION, request_id="r", turn=1)
    story.read("c1", story.a, story.b, c)
    story.read("c2", d, scope=OTHER_SESSION)


def retried_without_a_promise(story: Story) -> None:
    """Where a retry is not promised to be one append, it may stand there twice, or once."""
    c = story.append("c1", request_id="r")
    story.append("c1", value=c, request_id="r")
    story.read("c1", story.a, story.b, c, c)


def quoted(story: Story) -> None:
    """An assistant's reply repeats a turn; it has a role of its own."""
    story.read("c1", story.a, f"You said: {_text(story.a)}", story.b, roles=True)


def quoted_without_roles(story: Story) -> None:
    story.read("c1", story.a, f"You said: {_text(story.a)}", story.b)


def purged(story: Story) -> None:
    story.read("c1", story.a, story.b)
    story.call("purge", "c1", level="session")
    first, second = story.begin("c1"), story.begin("c2")
    c, d = story.end(first), story.end(second)
    story.read("c1", c, d)


def stored_by_task(story: Story) -> None:
    """A listing that keeps tasks apart shows no turn of another one, and has lost none."""
    first, second = story.begin("c1", scope=OTHER_TASK), story.begin("c2", scope=OTHER_TASK)
    c, d = story.end(first), story.end(second)
    story.read("c1", story.a, story.b)
    story.read("c1", c, d, scope=OTHER_TASK)


def refused_commit(story: Story) -> None:
    first, second = story.begin("c1", expected_version=2), story.begin("c2", expected_version=2)
    c = story.end(first)
    story.end(second, CONFLICT)
    story.append("c2", expected_version=1, outcome=CONFLICT)
    d = story.append("c2", expected_version=3)
    story.read("c1", story.a, story.b, c, d)


def phantom(story: Story) -> None:
    value = story.value()
    story.world.recorder.sown("p99", value)
    story.read("c1", story.a, story.b, value)


def bleed(story: Story) -> None:
    other = story.append("c1", scope=OTHER_SESSION)
    story.read("c1", other, scope=OTHER_SESSION)
    story.read("c1", story.a, story.b, other)


def failed(story: Story) -> None:
    c = story.append("c1", outcome=Outcome("fail", reason="too many requests", code="limited"))
    story.read("c1", story.a, story.b, c)


def duplicate(story: Story) -> None:
    c = story.append("c1", request_id="r")
    story.append("c1", value=c, request_id="r")
    story.read("c1", story.a, story.b, c, c)


def second_body(story: Story) -> None:
    """Two clients send two bodies under one id at once: either may win, both may not."""
    first, second = story.begin("c1", request_id="r"), story.begin("c2", request_id="r")
    c, d = story.end(first), story.end(second)
    story.read("c1", story.a, story.b, c, d)


def second_body_after_the_answer(story: Story) -> None:
    c = story.append("c1", request_id="r")
    d = story.append("c2", request_id="r")
    story.read("c1", story.a, story.b, c, d)


def vanished(story: Story) -> None:
    c, d = story.append("c1", outcome=LOST), story.append("c2", outcome=LOST)
    story.read("c1", story.a, c)
    story.read("c1", story.a, story.b, d)


def disagreement(story: Story) -> None:
    story.read("c1", story.b, story.a)
    story.read("c1", story.a, story.b)


def hole(story: Story) -> None:
    c = story.append("c1")
    story.read("c1", story.a, c)
    story.read("c1", story.a, story.b, c)


def mismatch(story: Story) -> None:
    c = story.append("c1", turn=4)
    story.read("c1", story.a, story.b, c)


def overwritten(story: Story) -> None:
    story.append("c1")
    d = story.append("c2", outcome=LOST)
    story.read("c1", story.a, story.b, d)


def one_number(story: Story) -> None:
    story.read("c1", story.a, story.b)
    story.append("c1", turn=3)
    story.append("c2", turn=3)


def two_commits(story: Story) -> None:
    first, second = story.begin("c1", expected_version=2), story.begin("c2", expected_version=2)
    c, d = story.end(first), story.end(second)
    story.read("c1", story.a, story.b, c, d)


def stale_commit(story: Story) -> None:
    c = story.append("c2")
    d = story.append("c1", expected_version=2)
    story.read("c1", story.a, story.b, c, d)


def gap(story: Story) -> None:
    story.read("c1", story.a, story.b)
    story.append("c1", turn=4)


def lost(story: Story) -> None:
    story.append("c1")
    story.read("c2", story.a, story.b)


def unscoped_id(story: Story) -> None:
    """The other session's answer came back, number and all, and nothing was stored."""
    story.append("c1", scope=OTHER_SESSION, request_id="r", turn=1)
    story.append("c2", request_id="r", turn=1)
    story.read("c1", story.a, story.b)


def missed(story: Story, writer: str, reader: str) -> None:
    c = story.append(writer)
    story.read(reader, story.a, story.b)
    story.read(reader, story.a, story.b, c)


def backwards(story: Story, one: str, other: str) -> None:
    c = story.append("c1", outcome=LOST)
    story.read(one, story.a, story.b, c)
    story.read(other, story.a, story.b)
    story.read(other, story.a, story.b, c)


def inverted(story: Story, one: str, other: str) -> None:
    c = story.append(one)
    d = story.append(other)
    story.read("c3", story.a, story.b, d, c)


def future(story: Story) -> None:
    c = story.value()
    story.read("c2", story.a, story.b, c)
    story.append("c1", value=c)
    story.read("c2", story.a, story.b, c)


def spurious(story: Story) -> None:
    story.append("c1", expected_version=2, outcome=CONFLICT)
    story.read("c2", story.a, story.b)


def struck(story: Story) -> None:
    story.append("c1")
    story.world.recorder.faulted("kill", delivered=True, detail="kill -9 and restart")
    story.read("c2", story.a, story.b)


def paused(story: Story) -> None:
    holder = story.begin("c1", expected_version=2)
    story.world.recorder.faulted("pause", delivered=True, detail="the worker that had just read")
    c = story.append("c2", expected_version=2)
    story.read("c2", story.a, story.b, c)
    d = story.end(holder)
    story.read("c2", story.a, story.b, c, d)


def never_read(story: Story) -> None:
    """The last append was acknowledged after the last read had begun."""
    story.read("c1", story.a, story.b)
    story.append("c1")


def blind(story: Story) -> None:
    """Nothing is ever shown: the listing may be of another store, and no loss can be told from that."""
    story.read("c1")


def limit_hit(story: Story) -> None:
    story.read("c1", story.a, story.b)
    story.world.recorder.limited("aclose: TimeoutError")


def serial() -> History:
    """Two clients, one after the other."""
    world = Story.__new__(Story)
    world.world, world.numbers, world._probes = World(), None, itertools.count(1)
    world.a, world.b = world.append("c1"), world.append("c2")
    world.read("c1", world.a, world.b)
    return world.history


def one_client() -> History:
    world = World()
    mine = world.write("append_turn", ANN)
    world.read("list_turns", ANN, mine)
    return world.history


HISTORIES = {
    "held.all_there": _told(all_there),
    "held.all_there_with_numbers": _told(all_there, numbers=True),
    "held.unknown_outcome": _told(unknown_and_seen),
    "held.retried": _told(retried, numbers=True, **IDEMPOTENT),
    "held.retried_without_a_promise": _told(retried_without_a_promise),
    "held.quoted_by_the_assistant": _told(quoted),
    "held.quoted_without_roles": _told(quoted_without_roles),
    "held.purged_in_between": _told(purged, "append_turn", "list_turns", "purge"),
    "held.tasks_stored_apart": _told(stored_by_task),
    "held.commit_refused": _told(refused_commit, numbers=True, **CAS),
    "held.staleness_is_promised": _told(lambda story: missed(story, "c1", "c2"), level="session"),
    "violated.PW201-phantom": _told(phantom),
    "violated.PW202-bleed": _told(bleed),
    "violated.PW203-failed-but-visible": _told(failed),
    "violated.PW203-second-body-after-the-answer": _told(second_body_after_the_answer, **IDEMPOTENT),
    "violated.PW204-retry-stored-twice": _told(duplicate, **IDEMPOTENT),
    "violated.PW204-both-bodies": _told(second_body, **IDEMPOTENT),
    "violated.PW205-vanished": _told(vanished),
    "violated.PW206-order-disagreement": _told(disagreement),
    "violated.PW207-hole": _told(hole),
    "violated.PW208-turn-number-mismatch": _told(mismatch, numbers=True),
    "violated.PW209-overwritten": _told(overwritten, numbers=True),
    "violated.PW210-one-number-twice": _told(one_number, numbers=True),
    "violated.PW211-two-commits": _told(two_commits, numbers=True, **CAS),
    "violated.PW211-stale-commit": _told(stale_commit, numbers=True, **CAS),
    "violated.PW212-gap": _told(gap, numbers=True),
    "violated.PW213-lost": _told(lost),
    "violated.PW213-lost-with-a-number": _told(lost, numbers=True),
    "violated.PW213-unscoped-request-id": _told(unscoped_id, numbers=True, **IDEMPOTENT),
    "violated.PW214-stale-read": _told(lambda story: missed(story, "c1", "c2")),
    "violated.PW215-read-your-writes": _told(lambda story: missed(story, "c1", "c1")),
    "violated.PW216-read-went-backwards": _told(lambda story: backwards(story, "c2", "c3")),
    "violated.PW217-monotonic-reads": _told(lambda story: backwards(story, "c2", "c2")),
    "violated.PW218-append-order-inversion": _told(lambda story: inverted(story, "c1", "c2")),
    "violated.PW219-monotonic-writes": _told(lambda story: inverted(story, "c1", "c1")),
    "violated.PW220-future-read": _told(future),
    "violated.PW221-spurious-conflict": _told(spurious, numbers=True, **CAS),
    "violated.PW222-durability-loss": _told(struck),
    "violated.PW223-lock-lost": _told(paused, numbers=True, **CAS),
    "inconclusive.serial": serial,
    "inconclusive.never_read": _told(never_read),
    "inconclusive.blind": _told(blind),
    "inconclusive.limit_hit": _told(limit_hit),
    "not_covered.one_client": one_client,
    "not_covered.no_listing": _told(lambda story: None, "append_turn", "context"),
}
