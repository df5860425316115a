"""`partywall list`: what is known, by kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer


def list_(
    kind: Annotated[
        str, typer.Argument(help="scenarios, checks, targets, reporters, carriers, codes, faults or mutants.")
    ],
) -> int:
    """List what there is: one line each, the name first."""
    from ...errors import unknown

    rows = _kinds()
    if kind not in rows:
        raise unknown("list", kind, rows)
    lines = rows[kind]()
    width = max((len(name) for name, _ in lines), default=0)
    for name, told in lines:
        typer.echo(f"{name.ljust(width)}  {told}")
    return 0


def _kinds() -> dict[str, Callable[[], list[tuple[str, str]]]]:
    return {
        "scenarios": _scenarios,
        "checks": _checks,
        "targets": _targets,
        "reporters": _reporters,
        "carriers": _carriers,
        "codes": _codes,
        "faults": _faults,
        "mutants": _mutants,
    }


def _scenarios() -> list[tuple[str, str]]:
    from ...run import scenarios

    return [(item.id, f"[{item.pack}] {item.hazard.strip()}") for item in scenarios().values()]


def _checks() -> list[tuple[str, str]]:
    from ...judge.bench import checks

    return [(item.id, f"{item.title} ({', '.join(sorted(item.codes)) or 'no code'})") for item in checks().values()]


def _targets() -> list[tuple[str, str]]:
    from ...drive.resolve import kinds

    return [(item.id, item.summary) for item in kinds().values()]


def _reporters() -> list[tuple[str, str]]:
    from ...report.reporter import reporters

    return [(item.id, f"{item.filename}: {item.summary}") for item in reporters().values()]


def _carriers() -> list[tuple[str, str]]:
    from partywall.canaries import CARRIERS

    return [(name, f"found at {carrier.level}") for name, carrier in CARRIERS.items()]


def _codes() -> list[tuple[str, str]]:
    from ...catalogue import CODES

    return [(item.id, f"{item.title} ({item.guarantee})") for item in CODES.values()]


def _faults() -> list[tuple[str, str]]:
    from ...mock_llm.registry import faults

    return [(item.id, f"[{item.kind}] {item.title}") for item in faults().values()]


def _mutants() -> list[tuple[str, str]]:
    from partywall.reference_impl.mutants import list_mutants

    return [(item.id, f"{item.title} ({', '.join(sorted(item.caught_by))})") for item in list_mutants()]
