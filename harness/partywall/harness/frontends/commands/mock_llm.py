"""`partywall mock-llm`: a stand-in model to point an agent's base URL at."""

from __future__ import annotations

from typing import Annotated

import typer


def mock_llm(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 0,
    seed: Annotated[int, typer.Option(help="Everything random comes from it.")] = 1,
    fault: Annotated[
        str, typer.Option(help="What strikes every call: a fault's name, FILE.yaml or FILE.yaml:NAME.")
    ] = "steady",
) -> int:
    """Serve the mock LLM until interrupted; prints one line when it is ready."""
    import asyncio

    from ...mock_llm.server import serve

    asyncio.run(serve(port, seed, fault))
    return 0
