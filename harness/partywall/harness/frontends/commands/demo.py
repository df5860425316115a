"""`partywall demo`: nine demonstrations on the bundled agent, each computed from the run that it tells of."""

from __future__ import annotations

from typing import Annotated

import typer


def demo(
    name: Annotated[
        str | None, typer.Argument(help="A number from 1 to 9 or a name; all in order where none is given.")
    ] = None,
    mutant: Annotated[
        str, typer.Option(help="Seed this fault in the agent first: the demonstration must see it.")
    ] = "",
    seed: Annotated[int, typer.Option(help="Everything random comes from it.")] = 1,
) -> int:
    """Show on the bundled agent what isolation, concurrency, lifecycle and purge mean; 0 where all of it was shown."""
    from ...demos import Stage, demo_named, demos, perform
    from ...exits import Exit
    from ...report.escape import harmless
    from ..supervise import supervise
    from ..verification import blocked

    chosen = demos() if name is None else (demo_named(name),)
    reference = f"reference:mutant={mutant}" if mutant else "reference"

    def say(line: str) -> None:
        typer.echo(harmless(line).replace("\n", " "))

    async def show() -> list[Exit]:
        async with Stage(reference, seed=seed) as stage:
            return [(await perform(each, stage, say)).exit for each in chosen]

    exits = supervise(show(), on_stall=blocked)
    under = f", with mutant {mutant} seeded" if mutant else ""
    say(f"{sum(code is Exit.HELD for code in exits)} of {len(exits)} showed what they claim{under}")
    return int(next((code for code in (Exit.VIOLATED, Exit.INCONCLUSIVE) if code in exits), Exit.HELD))
