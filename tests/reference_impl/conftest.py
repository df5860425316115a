"""Deployments of the reference and of its mutants, closed when the test is over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from partywall.reference_impl.parts import Parts

from .deployment import Deploy, Deployment, Echo


@pytest.fixture
def deploy(tmp_path: Path) -> Iterator[Deploy]:
    """Builds deployments, each on a folder of its own unless one is named; the model repeats what it is asked."""
    made: list[Deployment] = []

    def build(parts: Parts | None = None, folder: str = "", **settings: Any) -> Deployment:
        chosen = replace(Parts(), model=Echo) if parts is None else parts
        made.append(Deployment(tmp_path / (folder or f"d{len(made)}"), chosen, **settings))
        return made[-1]

    yield build
    for deployment in made:
        deployment.close()


@pytest.fixture
def reference(deploy: Deploy) -> Deployment:
    """The reference itself."""
    return deploy()
