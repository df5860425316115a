"""The messages of one model call, as a value that protects itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

ROLES: Final = frozenset({"user", "assistant", "system"})
MAX_MESSAGES: Final = 100


class SessionContext:
    """An ordered conversation of at most 100 messages.

    Abstraction function: `_messages[i]` = (role, content) stands for the i-th message said, oldest first.
    Invariant: len ≤ MAX_MESSAGES; every role is in ROLES; role and content are text; content is not empty.
    Copies on the way in and on the way out, so nothing outside shares its representation.
    Raises ValueError, and changes nothing, where an element would break the invariant.
    """

    __slots__ = ("_messages",)

    def __init__(self, messages: Iterable[Mapping[str, str]] = ()) -> None:
        self._messages: list[tuple[str, str]] = []
        self.extend(messages)

    def add(self, message: Mapping[str, str]) -> None:
        """Append one message."""
        self.extend([message])

    def extend(self, messages: Iterable[Mapping[str, str]]) -> None:
        """Append several messages, all or none."""
        grown = [*self._messages, *(_checked(message) for message in messages)]
        _check_invariant(grown)
        self._messages = grown

    def messages(self) -> list[dict[str, str]]:
        """Fresh dictionaries in order; changing them changes nothing here."""
        return [{"role": role, "content": content} for role, content in self._messages]

    def __len__(self) -> int:
        return len(self._messages)

    def __eq__(self, other: object) -> bool:
        return self._messages == other._messages if isinstance(other, SessionContext) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"SessionContext({len(self)} messages)"


def _checked(message: object) -> tuple[str, str]:
    if not isinstance(message, Mapping):
        raise ValueError(f"a message must be a mapping, got {type(message).__name__}")
    missing = sorted({"role", "content"} - set(message))
    if missing:
        raise ValueError(f"a message needs role and content, missing {', '.join(missing)}")
    extra = len(message) - 2
    if extra:
        raise ValueError(f"a message holds role and content only, got {extra} more")
    role, content = message["role"], message["content"]
    # Plain text: a subclass may carry an inside of its own, and say what it likes of whether it equals a role.
    return _plain(role, "role"), _plain(content, "content")


def _plain(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} must be text, got {type(value).__name__}")
    return str.__str__(value)


def _check_invariant(messages: list[tuple[str, str]]) -> None:
    if len(messages) > MAX_MESSAGES:
        raise ValueError(f"a context holds at most {MAX_MESSAGES} messages, got {len(messages)}")
    for role, content in messages:
        if role not in ROLES:
            raise ValueError(f"role must be one of {', '.join(sorted(ROLES))}")
        if not content:
            raise ValueError("content must be text that is not empty")
