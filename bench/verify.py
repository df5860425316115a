"""How long `partywall verify --pack quick` takes, interpreter start included."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

ADAPTERS = Path(__file__).parent.parent / "tests" / "acceptance"
BARS = (("in-memory adapter", "notebook:Notebook", 5.0), ("reference", "reference", 15.0))
"""(name, target, seconds on two cores)."""


def main() -> int:
    """Print one line a target; 1 where a bar is missed or a run is not held."""
    missed = 0
    for name, target, bar in BARS:
        with tempfile.TemporaryDirectory() as out:
            command = [sys.executable, "-c", "from partywall.harness.frontends.cli import main; main()"]
            command += ["verify", "--pack", "quick", "--seed", "1", "--target", target, "--out", out]
            begun = time.perf_counter()
            ended = subprocess.run(command, cwd=ADAPTERS, capture_output=True, text=True, check=False)
            seconds = time.perf_counter() - begun
        fine = ended.returncode == 0 and seconds <= bar
        missed += not fine
        told = "ok" if fine else f"MISSED (exit {ended.returncode})"
        print(f"verify quick, {name}: {seconds:.1f} s (bar ≤ {bar:.0f} s) {told}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
