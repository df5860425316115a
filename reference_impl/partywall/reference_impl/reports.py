"""Reports: artifacts rendered from facts, that can be made again from the same facts whatever was asserted since."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from partywall.canaries import Scope

from .artifacts import Artifacts
from .clock import Clock
from .facts import Fact
from .layers import Layer, visible
from .refusals import Conflict, Invalid, NotFound
from .store import ArtifactTable, FactTable
from .store.contract import Source

_PLACE = re.compile(r"\{\{([^{}]+)\}\}")


@dataclass(frozen=True, slots=True)
class Replay:
    """A report made again: `same` says whether it is the text that was kept; `facts_at` whose facts it rests on."""

    text: str
    same: bool
    facts_at: float


class Reports:
    """Fills templates: `{{key}}` is the value that the fact of that name has, the nearest layer first."""

    def __init__(self, facts: FactTable, artifacts: Artifacts, table: ArtifactTable, clock: Clock) -> None:
        self._facts = facts
        self._artifacts = artifacts
        self._table = table
        self._clock = clock

    async def render(self, scope: Scope, name: str, template: str) -> str:
        """Make the artifact `name` from the facts as they are now. Raises Invalid where a fact is wanting."""
        used = {key: await self._open(scope, key) for key in _keys(template)}
        text = _filled(template, used)
        # Not before any fact that it uses: those asserted in one instant begin a tick after one another.
        instants = [instant for fact in used.values() for instant in (fact.valid_from, fact.claim.recorded_at)]
        versions = tuple((fact.layer.value, key, fact.version, fact.claim.recorded_at) for key, fact in used.items())
        source = Source(template, max([self._clock.now(), *instants]), versions)
        await self._artifacts.put(scope, name, text, source)
        return text

    async def replay(self, scope: Scope, name: str) -> Replay:
        """Make the artifact again from the facts of its instant, as they were known then.

        Raises NotFound where there is none, Invalid for one that was not rendered, Conflict where a fact that it rests
        on was deleted.
        """
        kept = await self._artifacts.get(scope, name)
        if kept is None:
            raise NotFound
        source = await self._table.source(scope, name)
        if source is None:
            raise Invalid("this artifact was put as text and rendered from no facts")
        used = {}
        for layer, key, version, recorded_at in source.versions:
            chain = await self._facts.chain(scope, Layer(layer), key, known_at=source.at)
            # By its number too: an assertion that was under way in that instant may have come in since.
            pinned = [fact for fact in chain if (fact.version, fact.claim.recorded_at) == (version, recorded_at)]
            if not pinned:
                raise Conflict("a fact that this artifact rests on is no longer kept")
            used[key] = pinned[0]
        text = _filled(source.template, used)
        return Replay(text, text == kept, source.at)

    async def _open(self, scope: Scope, key: str) -> Fact:
        for layer in visible(scope):
            chain = await self._facts.chain(scope, layer, key)
            if chain:
                return chain[-1]
        raise Invalid("the template names a fact that is not there")


def _keys(template: str) -> list[str]:
    return list(dict.fromkeys(_PLACE.findall(template)))


def _filled(template: str, facts: Mapping[str, Fact]) -> str:
    # In one pass: a value that looks like a place is text.
    return _PLACE.sub(lambda place: _shown(facts[place[1]]), template)


def _shown(fact: Fact) -> str:
    value = json.loads(fact.value)
    return value if isinstance(value, str) else fact.value
