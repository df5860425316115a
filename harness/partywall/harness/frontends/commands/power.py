"""`partywall power`: how long until a leak of some rate is found."""

from __future__ import annotations

from typing import Annotated

import typer

_YEAR = 365.25 * 86400


def power(
    leak: Annotated[float, typer.Option(help="Share of responses that leak.")],
    rps: Annotated[float, typer.Option(help="Responses a second.")],
    rate: Annotated[float, typer.Option(help="Share of responses that are looked at.")] = 0.001,
    exposure: Annotated[float, typer.Option(help="Share of leaked content that carries a canary.")] = 1.0,
    sensitivity: Annotated[float, typer.Option(help="Share of carried canaries that the scan finds.")] = 1.0,
    confidence: Annotated[float, typer.Option(help="How sure to be.")] = 0.95,
) -> int:
    """Print how many responses, and how much time, it takes to find a leak of that rate, sampled and unsampled."""
    from partywall.canaries import UsageError

    from ...judge.assurance import catch_probability, trials_to_exclude

    shares = {"rate": rate, "leak": leak, "exposure": exposure, "sensitivity": sensitivity}
    for name, share in shares.items():
        if not 1e-12 <= share <= 1:  # also refuses what is not a number
            raise UsageError(f"--{name} must be a share from 1e-12 to 1, got {share!r}")
    if not 0 < rps < float("inf"):
        raise UsageError(f"--rps must be a positive number of responses a second, got {rps!r}")
    if not 0 < confidence < 1:
        raise UsageError(f"--confidence must be between 0 and 1, got {confidence!r}")

    def leaks_needed(looked_at: float) -> int:
        each = looked_at * exposure * sensitivity
        return 1 if each == 1 else trials_to_exclude(each, confidence)

    typer.echo(f"a leak in {leak:g} of responses, {rps:g} responses a second, {confidence:g} sure:")
    for told, looked_at in (("tier 1, every response", 1.0), (f"tier 2, a sample of {rate:g}", rate)):
        leaks = leaks_needed(looked_at)
        each = leak * looked_at * exposure * sensitivity
        responses = 1 if each == 1 else trials_to_exclude(each, confidence)
        caught = catch_probability(leaks, looked_at, exposure, sensitivity)
        typer.echo(
            f"{told}: {_span(responses / rps)} ({responses:,} responses); "
            f"of {leaks:,} leaks at least one is caught with {caught:.6f}"
        )
    typer.echo("what no scan sees through, such as a retold secret, is not in these numbers")
    return 0


def _span(seconds: float) -> str:
    if seconds > 10_000 * _YEAR:
        return "more than 10,000 years"
    for unit, length in (("years", _YEAR), ("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.1f} seconds"
