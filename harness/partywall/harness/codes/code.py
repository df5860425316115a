"""Code: one finding code, as the tables of this folder hold them."""

from __future__ import annotations

from dataclasses import dataclass

from ..plan.guarantee import Guarantee


@dataclass(frozen=True, slots=True)
class Code:
    """One finding code: what it means, why it happens, what to do about it."""

    id: str
    title: str
    guarantee: Guarantee
    meaning: str
    causes: tuple[str, ...]
    remedy: str
