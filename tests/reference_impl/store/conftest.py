"""A deployment on each store; what it left on a server is taken away after the test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from partywall.reference_impl.parts import Parts

from .layouts import LAYOUTS, POSTGRES, ROWS, Stored, settings_of, shares, url_of


@pytest.fixture(params=LAYOUTS)
def layout(request: pytest.FixtureRequest) -> str:
    """The name of a store."""
    name: str = request.param
    if name.startswith("postgres"):
        url_of(POSTGRES)
    return name


@pytest.fixture
def stored(layout: str, tmp_path: Path) -> Iterator[Stored]:
    """The reference on that store."""
    with shares(layout) as schema:
        made = Stored(settings_of(layout, tmp_path, schema), Parts())
        yield made
        made.close()


@pytest.fixture(params=ROWS)
def rows(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stored]:
    """The reference on each store that rows can lie in; what lies in Redis is no matter of theirs."""
    with shares(request.param) as schema:
        made = Stored(settings_of(request.param, tmp_path, schema))
        yield made
        made.close()


@pytest.fixture
def on_postgres(tmp_path: Path) -> Iterator[Stored]:
    """The reference on PostgreSQL."""
    url_of(POSTGRES)
    with shares("postgres") as schema:
        made = Stored(settings_of("postgres", tmp_path, schema))
        yield made
        made.close()
