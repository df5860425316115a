"""Almanacs that leave one thing out each."""

from __future__ import annotations

from typing import Any

from partywall.harness import Refused

from .almanac import CONDENSE, IDLE, LIFETIME, USUAL, Almanac
from .notebook import Key


class NeverEnds(Almanac):
    def state(self, key: Key) -> str:
        return "archived" if key in self.archived else "active"


class WritesRenew(Almanac):
    """One limit for idleness and for the end: counted from the last write."""

    def end(self, key: Key) -> float:
        return self.used[key] + LIFETIME


class ReadsRenew(Almanac):
    def list_turns(self, call: Any, limit: int | None = None) -> list[dict[str, Any]]:
        shown = super().list_turns(call, limit)
        if self.session(call) in self.born and self.state(self.session(call)) in ("active", "idle"):
            self.born[self.session(call)] = self.now()
        return shown


class RenewsUnseen(Almanac):
    """Tells the end that was promised and goes by another."""

    def session_info(self, call: Any) -> dict[str, Any]:
        told = super().session_info(call)
        first = self.__dict__.setdefault("first", {})
        return {**told, "expires_at": first.setdefault(self.session(call), told["expires_at"])}

    def end(self, key: Key) -> float:
        return self.used[key] + LIFETIME


class IdleEnds(Almanac):
    def state(self, key: Key) -> str:
        found = super().state(key)
        return "expired" if found == "idle" else found


class IdleForgets(Almanac):
    def tidied(self, call: Any) -> Key:
        key = super().tidied(call)
        if key in self.born and self.now() - self.used[key] >= IDLE:
            self.turns[key] = []
        return key


class ArchivesByFlag(Almanac):
    def archive(self, call: Any) -> None:
        self.archived.add(self.session(call))


class ArchiveLeavesBytes(Almanac):
    """What is shown is cleared, and lies on in a free page."""

    def archive(self, call: Any) -> None:
        self.artifacts[(*self.session(call), "", "free page")] = str(self.turns[self.session(call)])
        super().archive(call)


class ArchiveForgetsAll(Almanac):
    def archive(self, call: Any) -> None:
        super().archive(call)
        del self.born[self.session(call)]


class Unbounded(Almanac):
    def condense(self, call: Any, key: Key) -> None:
        return None


class DropsTheOldest(Almanac):
    def condense(self, call: Any, key: Key) -> None:
        gone = max(0, len(self.turns[key]) - CONDENSE)
        self.dropped[key] += gone
        del self.turns[key][:gone]


class MixesTasksInSummaries(Almanac):
    def condense(self, call: Any, key: Key) -> None:
        if len(self.turns[key]) >= CONDENSE:
            told = " / ".join(text for _, text in self.turns[key][: CONDENSE // 2])
            self.assert_fact((*self.task(call), "task", "summary"), told, "task")
            self.dropped[key] += CONDENSE // 2
            del self.turns[key][: CONDENSE // 2]


class CarriesNothing(Almanac):
    def carry(self, source: Key, target: Key) -> None:
        return None


class CarriesEverything(Almanac):
    def carry(self, source: Key, target: Key) -> None:
        super().carry(source, target)
        self.turns[target] = list(self.turns[source])
        for place, versions in list(self.versions.items()):
            if place[:3] == source:
                self.versions[(*target, *place[3:])] = [dict(version) for version in versions]


class OverwritesFacts(Almanac):
    def assert_fact(self, place: Key, value: str, layer: str) -> None:
        self.versions[place] = []
        super().assert_fact(place, value, layer)


class IgnoresTheInstant(Almanac):
    def get_fact(self, call: Any, key: str, at: Any = None) -> Any:
        return super().get_fact(call, key)


class VersionsEveryWrite(Almanac):
    def assert_fact(self, place: Key, value: str, layer: str) -> None:
        super().assert_fact(place, f"{value}\n", layer)
        self.versions[place][-1]["value"] = value


class ClosesLate(Almanac):
    """The end of one and the beginning of the next are two readings of the clock."""

    def assert_fact(self, place: Key, value: str, layer: str) -> None:
        super().assert_fact(place, value, layer)
        for version in self.versions[place][:-1]:
            version["valid_to"] += 0.25


class ClosedAtBothEnds(Almanac):
    def held(self, version: dict[str, Any], at: float) -> bool:
        return version["valid_from"] <= at and (version["valid_to"] is None or at <= version["valid_to"])


class LeavesOpen(Almanac):
    """Tells the present one by its place, and closes none."""

    def seen(self, call: Any, at: float | None = None, everything: bool = False) -> Any:
        for version in super().seen(call, at, everything):
            yield {**version, "valid_to": None}


class PointsNowhere(Almanac):
    def seen(self, call: Any, at: float | None = None, everything: bool = False) -> Any:
        for version in super().seen(call, at, everything):
            yield {**version, "superseded_by": None}


class AsOfWithoutOwner(Almanac):
    def list_facts(self, call: Any, at: Any = None, include_superseded: bool = False) -> list[Any]:
        if at is None:
            return super().list_facts(call, at, include_superseded)
        return [version for versions in self.versions.values() for version in versions if self.held(version, at)]


class PromotesNotes(Almanac):
    """Every note is worth keeping for good."""

    def put_fact(self, call: Any, key: str, value: str, layer: str) -> None:
        super().put_fact(call, key, value, "user")


class LearnsFromTurns(Almanac):
    def run_turn(self, call: Any, text: str) -> dict[str, Any]:
        self.assert_fact((*self.owner(call), "user", f"learnt-{len(self.versions)}"), text, "user")
        return super().run_turn(call, text)


class CountsVisits(Almanac):
    """Writes to the user layer unasked, nothing that anybody said."""

    def append_turn(self, call: Any, text: str, role: str = "user", expected_version: Any = None) -> dict[str, int]:
        self.assert_fact((*self.owner(call), "user", "visits"), str(self.now()), "user")
        return super().append_turn(call, text, role, expected_version)


class KeepsDeletedFacts(Almanac):
    def delete_fact(self, call: Any, key: str) -> None:
        return None


class RefusesDeletion(Almanac):
    def delete_fact(self, call: Any, key: str) -> None:
        raise Refused("facts are for good", "denied")


class HidesTheUserLayer(Almanac):
    """Goes by it and does not list it."""

    def list_facts(self, call: Any, at: Any = None, include_superseded: bool = False) -> list[Any]:
        return [fact for fact in super().list_facts(call, at, include_superseded) if fact["layer"] != "user"]


class NoPurpose(Almanac):
    def through(self, scope: Key, purpose: str, payload: dict[str, Any], make: Any) -> Any:
        return super().through(scope, "", payload, make)


class NoWords(Almanac):
    def fingerprint(self, payload: dict[str, Any]) -> str:
        return super().fingerprint({name: value for name, value in payload.items() if name != "query"})


class NoLimit(Almanac):
    def fingerprint(self, payload: dict[str, Any]) -> str:
        return super().fingerprint({name: value for name, value in payload.items() if name != "limit"})


class BorrowsAnyYes(Almanac):
    def waiting(self, call: Any) -> Key:
        return self.session(call)


class AnswersByQuestion(Almanac):
    def through(self, scope: Key, purpose: str, payload: dict[str, Any], make: Any) -> Any:
        return super().through(("", ""), purpose, payload, make)


class PurgesByPrefix(Almanac):
    def falls(self, key: Key, path: Key) -> bool:
        return all(part.startswith(wanted) for part, wanted in zip(key, path, strict=False))


class KeepsTheCache(Almanac):
    """Drops nothing, at a purge or before it."""

    def forget(self, call: Any) -> None:
        return None

    def purge(self, call: Any, level: str) -> dict[str, int]:
        kept = dict(self.cache)
        report = super().purge(call, level)
        self.cache.update(kept)
        return report


class SearchesByOwnWords(Almanac):
    """A poor search that finds nothing for the same words in another order: poor, and nobody else's."""

    def search_memory(self, call: Any, query: str, limit: int = USUAL) -> list[str]:
        return [text for text in self.mine(call) if query.lower() in text.lower()][:limit]
