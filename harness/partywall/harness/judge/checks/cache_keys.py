"""Check `cache_keys`: a question is answered with what was made for it, not for another question or another use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ...observe.history import History, Invoked
from ...plan.channel import Channel
from ...plan.guarantee import Guarantee
from ...plan.identity import RawPath
from ...plan.leaves import leaves
from ...plan.operation import OPERATIONS, WRITES
from ..check import Check, conclude
from ..exposure import exposure_of
from ..observation import viewer_of
from ..testimony import finding, named
from ..timeline import timeline_of
from ..verdict import Control, Evidence, Finding, Verdict

_TAKING = frozenset({"delete_memory", "purge"})
_CHANGING = WRITES | _TAKING | {"delete_fact", "delete_session", "create_session"}
_WORD = re.compile(r"[^\W\d_]{6,}")
_USUAL = 20


@dataclass(frozen=True, slots=True)
class _Search:
    """One answered search; `found` are the canaries that it showed, in order."""

    call: Invoked
    query: str
    limit: int
    found: tuple[str, ...]

    @property
    def asked(self) -> tuple[str, int]:
        return self.query, self.limit


def judge(history: History) -> Verdict:
    """Violated where a search lacks entries that the same search shows once its owner has written again, although they
    were there, and had been found, before it: and what it gave instead is to the letter the answer to another search
    (PW803), or came right after a context for the same words (PW804).

    A cached answer is another question's where it speaks of a word that only the other question had, and of none of
    its own. A poor search, or a dull answer, is neither.
    """
    findings: list[Finding] = []
    controls: list[Control] = []
    asked = _Asked(history)
    for one, again, earlier in asked.pairs():
        blind = not again.found
        name = f"{named(viewer_of(one.call))} finds something by {again.query!r}"
        controls.append(Control(name, Channel.SEARCH, not blind, "nothing" if blind else f"{len(again.found)} entries"))
        findings += asked.short(one, again, earlier)
    cached, heard = _cached(history)
    findings += cached
    controls += heard
    return conclude(
        "cache_keys",
        Guarantee.KEYING,
        findings,
        controls,
        covered=bool(controls),
        reason="" if controls else "nobody asked the same before and after a write, or two questions of two words",
        checked=len(controls),
        total=len(controls),
    )


class _Asked:
    """The searches of a history by their viewers, and what was stored and assembled for them."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._timeline = timeline_of(history)
        self._stored: dict[str, int] = {}
        self._first: dict[tuple[str | None, ...], int] = {}
        for entry in history.sown:
            if history.invocations[entry.probe].op == "add_memory" and history.outcome(entry.probe).status == "ok":
                at = history.completions[entry.probe].at
                self._stored.setdefault(entry.canary.text, at)
                self._first.setdefault(entry.canary.owner.path[:2], at)
        shown: dict[str, list[str]] = {}
        for sight in exposure_of(history).sights:
            if sight.observation.op == "search_memory":
                shown.setdefault(sight.observation.probe, []).append(sight.opened.token)
        self._by_viewer: dict[RawPath, list[_Search]] = {}
        for probe, call in history.invocations.items():
            if call.op == "search_memory" and call.caller == call.scope[:2] and history.outcome(probe).status == "ok":
                limit = int(call.arguments.get("limit") or _USUAL)
                found = tuple(dict.fromkeys(shown.get(probe, ())))
                search = _Search(call, str(call.arguments.get("query", "")), limit, found)
                self._by_viewer.setdefault(viewer_of(call), []).append(search)

    def pairs(self) -> Iterator[tuple[_Search, _Search, list[_Search]]]:
        """The same search by the same viewer twice, with a write of the viewer's user in between and nothing taken
        away, where there is something to be found; and the viewer's searches before the first of them."""
        for searches in self._by_viewer.values():
            last: dict[tuple[str, int], int] = {}
            for number, again in enumerate(searches):
                before = last.get(again.asked)
                last[again.asked] = number
                if before is None or self._first.get(again.call.scope[:2], again.call.at) >= again.call.at:
                    continue
                one = searches[before]
                if self._between(one, again, _CHANGING) and not self._between(one, again, _TAKING):
                    yield one, again, searches[:before]

    def short(self, one: _Search, again: _Search, earlier: list[_Search]) -> Iterator[Finding]:
        """What is wrong with a search that lacks entries."""
        lacking = [token for token in again.found if self._was_there(token, one) and token not in one.found]
        if not lacking or len(one.found) >= one.limit:
            return
        if not set(lacking) <= {token for each in earlier for token in each.found}:
            return  # an index that lags behind may not have had them yet
        twins = (each for each in earlier if each.asked != one.asked and each.found == one.found and one.found)
        twin = next((each for each in twins if not self._between(each, one, _CHANGING)), None)
        if twin is not None:
            what = f"what #{twin.call.probe} was given for {twin.query!r}, at most {twin.limit}"
            yield _finding("PW803", one, again, lacking, what)
            return
        for context in self._timeline.between(one.call.scope[:2], ("context",), 0, one.call.at):
            same = context.scope == one.call.scope and str(context.arguments.get("query", "")) == one.query
            ended = self._history.completions.get(context.probe)
            if same and ended is not None and not self._changed(one, ended.at, one.call.at, _CHANGING):
                what = f"a part, after context #{context.probe} for these words"
                yield _finding("PW804", one, again, lacking, what)
                return

    def _was_there(self, token: str, search: _Search) -> bool:
        return self._stored.get(token, search.call.at) < search.call.at

    def _between(self, one: _Search, other: _Search, operations: frozenset[str]) -> bool:
        return self._changed(one, self._history.completions[one.call.probe].at, other.call.at, operations)

    def _changed(self, search: _Search, start: int, end: int, operations: frozenset[str]) -> bool:
        """Whether the searcher's user changed anything in that time: whatever rested on it must be made anew then."""
        return bool(self._timeline.between(search.call.scope[:2], operations, start, end))


def _cached(history: History) -> tuple[list[Finding], list[Control]]:
    """Cached answers that speak of another question of the same viewer; and those that follow their own question."""
    answers: dict[RawPath, list[tuple[Invoked, str]]] = {}
    for probe, call in history.invocations.items():
        outcome = history.outcome(probe)
        if call.op == "cached_answer" and call.caller == call.scope[:2] and outcome.status == "ok":
            answers.setdefault(viewer_of(call), []).append((call, str(outcome.value or "").lower()))
    own = _own_words(history) if answers else {}
    findings: list[Finding] = []
    controls: list[Control] = []
    for viewer, given in answers.items():
        asked: dict[str, Invoked] = {}
        for call, text in given:
            query = str(call.arguments["query"])
            words = own[query]
            others = {name: each for name, each in asked.items() if name != query and own[name]}
            asked.setdefault(query, call)
            if not words or not others:
                continue
            said = any(word in text for word in words)
            wrong = next((each for name, each in others.items() if any(word in text for word in own[name])), None)
            if wrong is not None and not said:
                findings.append(_wrong(call, wrong))
            if said or wrong is not None:
                name = f"an answer to {named(viewer)} follows the question it was asked"
                controls.append(Control(name, Channel.CACHE, True, f"in {call.probe}"))
    return findings, controls


def _own_words(history: History) -> dict[str, frozenset[str]]:
    """For each question its long words that nothing else holds that anybody sent: an answer has them from it alone."""
    sources: dict[str, set[str | None]] = {}
    queries: dict[str, set[str]] = {}
    for call in history.invocations.values():
        query = str(call.arguments.get("query")) if call.op == "cached_answer" else None
        words = {word.lower() for _, text in leaves(dict(call.arguments)) for word in _WORD.findall(text)}
        for word in words:
            sources.setdefault(word, set()).add(query)
        if query is not None:
            queries.setdefault(query, set()).update(words)
    return {query: frozenset(word for word in words if sources[word] == {query}) for query, words in queries.items()}


def _finding(code: str, one: _Search, again: _Search, lacking: list[str], what: str) -> Finding:
    viewer = viewer_of(one.call)
    claim = (
        f"{named(viewer)} asked for {one.query!r}, at most {one.limit}, by #{one.call.probe}, and was given {what}: "
        f"{len(lacking)} entries that were there and that #{again.call.probe} shows are missing"
    )
    return finding(
        code,
        claim,
        boundary="task",
        owner=viewer,
        observer=viewer,
        channel=Channel.SEARCH,
        carrier="plain",
        evidence=[
            Evidence(each.call.probe, "search_memory", "", f"{len(each.found)} canaries", at=each.call.at)
            for each in (one, again)
        ],
        kind=("search_memory",),
    )


def _wrong(call: Invoked, other: Invoked) -> Finding:
    viewer = viewer_of(call)
    claim = (
        f"{named(viewer)} asked {str(call.arguments['query'])[:80]!r} by #{call.probe}, and was given an answer to "
        f"what #{other.probe} asked: {str(other.arguments['query'])[:80]!r}"
    )
    return finding(
        "PW803",
        claim,
        boundary="task",
        owner=viewer,
        observer=viewer,
        channel=OPERATIONS["cached_answer"].channel,
        carrier="plain",
        evidence=[Evidence(each.probe, each.op, "", "", at=each.at) for each in (other, call)],
        kind=("cached_answer",),
    )


CHECK = Check(
    id="cache_keys",
    title="a question is answered with what was made for it",
    guarantee=Guarantee.KEYING,
    codes=frozenset({"PW803", "PW804"}),
    needs=frozenset({"add_memory", "search_memory | cached_answer"}),
    judge=judge,
)
