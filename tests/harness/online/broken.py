"""A checking process that is broken in one way, while the file `broken` stands in its folder."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from partywall.harness.online import Checker, child
from partywall.harness.online.findings import Findings


def main() -> None:
    """`broken.py WAY FOLDER SOCKET`: be the child that the middleware starts."""
    way, folder, connection = sys.argv[1:]
    with (Path(folder) / "starts").open("a") as starts:
        starts.write(f"{os.getpid()}\n")
    flag = Path(folder) / "broken"
    check, store = Checker.check, Findings.store

    def checking(self: Checker, batch: Any) -> Any:
        if flag.exists():
            _break(way, batch)
        return check(self, batch)

    def storing(self: Findings, found: Any) -> Any:
        if flag.exists():
            raise OSError(28, "No space left on device")
        return store(self, found)

    if way == "full":
        Findings.store = storing  # type: ignore[method-assign]
    else:
        Checker.check = checking  # type: ignore[method-assign]
        Checker.selftest = lambda self: True  # type: ignore[method-assign]
    sys.argv = [sys.argv[0], connection]
    child.main()


def _break(way: str, batch: Any) -> None:
    if way == "raising" or (way == "picky" and any(passed.record.trace == "bad" for passed in batch)):
        raise RuntimeError("checker")
    if way == "hanging":
        time.sleep(3600)
    if way == "eating":
        raise MemoryError
    if way == "dying":
        os._exit(1)


if __name__ == "__main__":
    main()
