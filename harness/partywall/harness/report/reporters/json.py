"""Reporter `json`: results.json, for machines; its schema is `results.schema.json`, published beside it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ...observe.history import History
from ..escape import bounded
from ..reporter import Reporter
from ..results import Results


def render(results: Results, histories: Sequence[History] = ()) -> str:
    """The results, keys in the order of the schema: status and exit code stand first."""
    told = bounded(results, {history.header.prefix for history in histories})
    return json.dumps(told.model_dump(mode="json"), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


REPORTER = Reporter("json", "results.json", "the results, for machines; every other report follows from them", render)
