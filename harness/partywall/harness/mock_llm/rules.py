"""Rules: which model calls a fault strikes, decided from the seed, the scope and the call, never from the clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from .decision import Decisions
from .fault import Fault
from .turn import Prompt

_WHOLE = 2**64


@dataclass(frozen=True, slots=True)
class On:
    """What a call must be; whatever is left empty matches. Ids and names are patterns: `*memory*`."""

    api: tuple[str, ...] = ()
    offers_tool: str = ""
    stream: bool | None = None
    tenant: str = ""
    user: str = ""

    def matches(self, prompt: Prompt, api: str, path: Sequence[str | None]) -> bool:
        """Whether a call of `api` in the scope of `path` is one."""
        if self.api and api not in self.api:
            return False
        if self.stream is not None and self.stream != prompt.stream:
            return False
        if self.offers_tool and not any(fnmatchcase(name, self.offers_tool) for name in prompt.tools):
            return False
        wanted = ((0, self.tenant), (1, self.user))
        return all(not pattern or (at < len(path) and fnmatchcase(path[at] or "", pattern)) for at, pattern in wanted)


@dataclass(frozen=True, slots=True)
class When:
    """Which of the matching calls of one scope are struck, counted from 1; all that is given must hold.

    `call` is one call, `every` each n-th, `prob` a share from 0 to 1, `attempt` one attempt of a call that is retried.
    """

    call: int | None = None
    every: int | None = None
    prob: float | None = None
    attempt: int | None = None

    @property
    def always(self) -> bool:
        """Whether it asks for nothing."""
        return self.call is self.every is self.prob is self.attempt is None


@dataclass(frozen=True, slots=True)
class Rule:
    """A fault, and the calls that it strikes."""

    id: str
    fault: Fault
    on: On = On()
    when: When = When()

    @property
    def always(self) -> bool:
        """Whether it strikes whatever comes."""
        return self.when.always and self.on == On()

    def strikes(self, decisions: Decisions, scope: str, digest: bytes) -> bool:
        """Whether the matching call that `digest` stands for is struck. Counts it, so it is asked once a call."""
        when = self.when
        if when.always:
            return True
        # a counter of its own: another rule's calls, or those that do not match, must not shift this one's
        call, attempt = decisions.count(f"{scope}\x00{self.id}", digest)
        if when.call is not None and call != when.call:
            return False
        if when.every is not None and call % when.every:
            return False
        if when.attempt is not None and attempt != when.attempt:
            return False
        if when.prob is None:
            return True
        drawn = decisions.draw(scope, f"{self.id}/when", b"%d" % call)
        return int.from_bytes(drawn[:8], "big") < when.prob * _WHOLE


@dataclass(frozen=True, slots=True)
class Profile:
    """Rules in order: the first that strikes a call decides. `seed` None leaves the server's."""

    id: str
    rules: tuple[Rule, ...]
    seed: int | None = None


def always(fault: Fault) -> Profile:
    """The profile of one fault that strikes every call."""
    return Profile(fault.id, (Rule(fault.id, fault),))
