"""`python -m partywall.reference_impl`: serve the reference agent."""

from __future__ import annotations

import os
import sys

from .parts import Parts
from .serve import serve

PROGRAM = "partywall.reference_impl"


def main(arguments: list[str]) -> int:
    """Serve the reference. `--mutant ID` asks for the other program: this one has no faulty part to offer."""
    if any(argument.split("=")[0] == "--mutant" for argument in arguments):
        os.execv(sys.executable, [sys.executable, "-m", f"{PROGRAM}.mutants", *arguments])
    return serve(arguments, Parts(), PROGRAM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
