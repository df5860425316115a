"""M58: tool arguments that cannot be read are repaired to {} and executed."""

from __future__ import annotations

from dataclasses import replace

from ..llm import ModelOutputInvalid, ToolCall
from ..tools import TOOLS, Body, Tools
from .seeded import Mutant


class Repairing(Tools):
    """An optional filter that was cut away is a filter that was never asked for."""

    def read(self, names: set[str], call: ToolCall) -> Body:
        try:
            return super().read(names, call)
        except ModelOutputInvalid:
            tool = TOOLS.get(call.name)
            if tool is None or any(field.is_required() for field in tool.model_fields.values()):
                raise
            return tool.model_construct()


MUTANT = Mutant(
    id="M58",
    title="cut tool arguments executed",
    caught_by=frozenset({"PW701"}),
    seen_in="list_memories after a turn whose tool arguments were cut: --fault invalid-json",
    build=lambda parts: replace(parts, tools=Repairing),
)
