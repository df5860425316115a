"""The pages: every link between them leads somewhere."""

from __future__ import annotations

from .source import REPOSITORY
from .tracked import broken_links


def test_every_link_between_the_pages_resolves() -> None:
    assert broken_links(REPOSITORY) == []
