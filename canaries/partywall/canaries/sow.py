"""Put a canary into a message, document, fact, tool result or artifact, in prose nobody takes for a trap.

The words canary, secret, token, key and password never stand near it: redactors and models react to them. The
same state of the generator gives the same wording, so that two tenants can be told apart by the canary alone.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from types import MappingProxyType

from .errors import UsageError

_NAMES = (
    "booking reference",
    "parcel number",
    "case number",
    "voucher",
    "order reference",
    "delivery note",
    "quote number",
    "contract number",
)
_ITEMS = (
    "the blue armchair",
    "two desk lamps",
    "the oak shelf",
    "a set of towels",
    "the garden table",
    "the rug",
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
_TOWNS = ("Lyon", "Graz", "Leeds", "Porto", "Ghent", "Turku", "Bergen", "Kassel")
_MESSAGES = (
    "Hi, I am writing about {item}. The {name} is {text}; could you check whether it arrives by {day}?",
    "My {name} {text} covers {item}. Please move the delivery to {day}.",
    "About {item} again: I have {name} {text} in front of me and it should go to {town}.",
    "Please note {name} {text} for {item}, we spoke about it on {day}.",
    "Can you send {item} to our office in {town}? It belongs to {name} {text}.",
)
_DOCUMENTS = (
    "Delivery of {item}\n\nThe consignment left {town} on {day}. Its {name} is {text}.\n"
    "Returns are accepted within {count} days of receipt.\n",
    "Minutes, {day}\n\n1. {town} branch reported on {item}.\n2. The {name} {text} was confirmed.\n"
    "3. Next meeting in {count} days.\n",
    "# Handover notes\n\n- {item}: packed, {count} boxes\n- {name}: {text}\n- collected in {town} on {day}\n",
)
_FACTS = (
    "The customer's {name} for {item} is {text}.",
    "{item} ships from {town} under {name} {text}.",
    "Since {day} the agreed {name} is {text}.",
    "The branch in {town} handles {name} {text}.",
)
_ARTIFACTS = (
    "line,article,{column},town\n1,{item},{text},{town}\n2,packing,,{town}\n",
    "Report for {town}\n\nPositions: {count}\n{item}: {name} {text}\nPrepared on {day}.\n",
    "<h1>{town}</h1>\n<p>{item}, {name} {text}, due {day}.</p>\n",
)


def sow(canary_text: str, into: str, rng: random.Random) -> str:
    """Plausible text that holds `canary_text` once, as `into` one of the kinds of `PLACES`.

    A tool result is a JSON object, everything else is prose, Markdown, CSV or HTML.
    Raises UsageError where `into` is none of them.
    """
    if into not in PLACES:
        raise UsageError(f"a canary cannot be sown into {into!r}; known: {', '.join(sorted(PLACES))}")
    return PLACES[into](canary_text, rng)


def _written(templates: tuple[str, ...]) -> Callable[[str, random.Random], str]:
    def write(text: str, rng: random.Random) -> str:
        template = rng.choice(templates)
        words = _words(rng)
        written = template.format(text=text, column=words["name"].replace(" ", "_"), **words)
        return written[0].upper() + written[1:] if not written.startswith(text) else written

    return write


def _tool_result(text: str, rng: random.Random) -> str:
    words = _words(rng)
    record = {
        "status": rng.choice(("shipped", "packed", "confirmed", "on hold")),
        words["name"].replace(" ", "_"): text,
        "items": [{"article": words["item"], "quantity": int(words["count"])}],
        "destination": words["town"],
        "due": words["day"],
    }
    return json.dumps(record, ensure_ascii=False)


def _words(rng: random.Random) -> dict[str, str]:
    return {
        "name": rng.choice(_NAMES),
        "item": rng.choice(_ITEMS),
        "day": rng.choice(_DAYS),
        "town": rng.choice(_TOWNS),
        "count": str(rng.randint(2, 30)),
    }


PLACES: Mapping[str, Callable[[str, random.Random], str]] = MappingProxyType(
    {
        "message": _written(_MESSAGES),
        "document": _written(_DOCUMENTS),
        "fact": _written(_FACTS),
        "tool_result": _tool_result,
        "artifact": _written(_ARTIFACTS),
    }
)
"""What a canary can be sown into, and how it is written there."""
