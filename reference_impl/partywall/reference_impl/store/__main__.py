"""`python -m partywall.reference_impl.store`: what an operator does to a deployment's store."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence

from partywall.canaries import PartywallError, UsageError

from ..settings import POSTGRES_URL, REDIS_URL

PROGRAM = "partywall.reference_impl.store"


def main(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> int:
    """Run one command; 0 done, 2 for the caller's mistake, 3 where a server does not answer."""
    parser = argparse.ArgumentParser(prog=f"python -m {PROGRAM}", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    remove = commands.add_parser("discard", help="remove a deployment's share of the servers whose URLs are set")
    remove.add_argument("--schema", required=True, help="the deployment's --store-schema")
    pull = commands.add_parser("pull-out", help="move one tenant to a database of its own; it may run meanwhile")
    pull.add_argument("--schema", default="partywall", help="the deployment's --store-schema")
    pull.add_argument("--tenant", required=True)
    pull.add_argument("--to", required=True, help="reference to the other URL, as ${NAME}: every agent needs it too")
    pull.add_argument("--to-schema", default="partywall", help="schema in the other database")
    given = parser.parse_args(arguments)
    try:
        if given.command == "discard":
            _discard(given.schema, environment)
        else:
            _pull_out(given, environment)
    except UsageError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return 2
    except PartywallError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return 3
    return 0


def _pull_out(given: argparse.Namespace, environment: Mapping[str, str]) -> None:
    from ..parts import TABLES
    from ..purge import JOBS
    from .postgres import PostgresDatabase, pull_out

    url = environment.get(POSTGRES_URL)
    if not url:
        raise UsageError(f"{POSTGRES_URL} must hold the URL of the deployment's database")
    home = PostgresDatabase(url, given.schema, TABLES, (JOBS,), threads=1)
    try:
        rows = pull_out(home, given.tenant, given.to, given.to_schema)
    finally:
        home.close()
    print(f"{rows} rows moved to schema {given.to_schema} at {given.to}")


def _discard(schema: str, environment: Mapping[str, str]) -> None:
    known = {name: environment.get(name) for name in (POSTGRES_URL, REDIS_URL)}
    if not any(known.values()):
        raise UsageError(f"nothing to do: neither {POSTGRES_URL} nor {REDIS_URL} is set")
    if (url := known[POSTGRES_URL]) is not None:
        from .postgres import discard

        discard(url, schema)
    if (url := known[REDIS_URL]) is not None:
        from ..shared import discard as discard_shared

        discard_shared(url, schema)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
