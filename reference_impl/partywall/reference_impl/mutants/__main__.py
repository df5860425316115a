"""`python -m partywall.reference_impl.mutants --mutant ID`: serve the reference with one seeded fault."""

from __future__ import annotations

import argparse
import sys

from partywall.canaries import UsageError

from ..serve import serve
from .registry import build_parts

PROGRAM = "partywall.reference_impl.mutants"


def main(arguments: list[str]) -> int:
    """Serve a mutant; every other argument is the reference's. 2 for an unknown id."""
    parser = argparse.ArgumentParser(prog=f"python -m {PROGRAM}", add_help=False, allow_abbrev=False)
    parser.add_argument("--mutant", required=True)
    known, others = parser.parse_known_args(arguments)
    try:
        parts = build_parts(known.mutant)
    except UsageError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return 2
    return serve(others, parts, PROGRAM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
