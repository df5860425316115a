"""What a mutant is: the reference with one part replaced by a faulty subclass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

from ..parts import Parts


@dataclass(frozen=True, slots=True)
class Mutant:
    """A seeded fault. `caught_by`: finding codes, any one a kill. `seen_in`: where it shows.

    `unmasks` names a part that was taken away besides, since it would have hidden the fault.
    """

    id: str
    title: str
    caught_by: frozenset[str]
    seen_in: str
    build: Callable[[Parts], Parts]
    unmasks: str = ""

    def replaced(self) -> list[str]:
        """The names of the parts that differ from the reference's."""
        reference, mine = Parts(), self.build(Parts())
        named = (each.name for each in fields(Parts))
        return [name for name in named if getattr(reference, name) is not getattr(mine, name)]
