"""`partywall judge`: judge a saved history again, offline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def judge(
    history: Annotated[Path, typer.Argument(help="A history.jsonl that a run wrote.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the reports; none: only the terminal.")] = None,
    report: Annotated[str, typer.Option(help="Reports to write, separated by commas.")] = "json,junit,markdown",
    require: Annotated[str, typer.Option(help="Guarantees that must be held, separated by commas.")] = "",
    allow_inconclusive: Annotated[bool, typer.Option(help="Exit 0 where the worst verdict is inconclusive.")] = False,
) -> int:
    """Judge what was recorded: the same histories, the same checks, the same verdicts, years later."""
    from ...observe.journal import read
    from ..verification import judge_and_tell, words

    return judge_and_tell(read(history), out, words(report), words(require), allow_inconclusive)
