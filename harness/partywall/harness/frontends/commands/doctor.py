"""`partywall doctor`: what a target is like, operation by operation, before anything is concluded about it."""

from __future__ import annotations

from typing import Annotated

import typer

from .verify import DEFAULT_TARGET


def doctor(
    target: Annotated[str, typer.Option(help="What to examine: a name or package.module:factory.")] = DEFAULT_TARGET,
    seed: Annotated[int, typer.Option(help="Everything random comes from it.")] = 1,
    timeout: Annotated[float, typer.Option(min=0.1, help="Deadline of one call in seconds.")] = 10.0,
) -> int:
    """Examine a target: does every operation answer, does every channel show its owner's own content."""
    from ...doctor import examine
    from ...drive.driver import Limits
    from ...errors import ContractError, TargetError
    from ...report.escape import one_line
    from ...run import RunPlan
    from ..supervise import supervise
    from ..verification import blocked, run_nonce

    plan = RunPlan(target=target, seed=seed, limits=Limits(call_timeout=timeout), nonce=run_nonce())
    result, lines = supervise(examine(plan), on_stall=blocked)
    if result.capabilities is not None:
        levels = ", ".join(level.label for level in sorted(result.capabilities.dimensions))
        typer.echo(one_line(f"target {result.target}: keeps apart {levels}"))
    for line in lines:
        typer.echo(one_line(f"{'✔' if line.passed else '✘'} {line.question}: {line.seen}"))
    if result.problems:
        raise ContractError(result.problems)
    if result.failures:
        raise TargetError(result.failures[0])
    return 0 if lines and all(line.passed for line in lines) else 4
