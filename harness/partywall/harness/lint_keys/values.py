"""What is known of an expression's value: fixed, one value as it came, several, put together by hand, or scoped."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from .words import Dimension, Named

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
MOST = 8
"""Alternatives that are followed for one value, and parts of one that are kept apart."""


class Kind(Enum):
    """How a value came about."""

    FIXED = "fixed"  # the same in every call
    PLAIN = "plain"  # one value, or a digest of it
    SEVERAL = "several"  # a tuple or list of values
    BUILT = "built"  # text put together by hand
    SCOPED = "scoped"  # made by a scope object, or that object
    OTHER = "other"  # what a function that is not known answered


@dataclass(frozen=True, slots=True)
class Leaf:
    """One part of a value that may differ from call to call. `parameter` is the one of the function it came in by."""

    named: Named | None
    parameter: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """A value: its parts that vary, its fixed text, the node that put it together, what call made it."""

    kind: Kind
    leaves: tuple[Leaf, ...] = ()
    text: str = ""
    node: ast.expr | None = None
    made_by: str = ""
    function: Function | None = None
    is_text: bool = False
    is_number: bool = False

    @property
    def dimensions(self) -> frozenset[Dimension]:
        """The dimensions its parts name."""
        return frozenset(
            leaf.named.dimension for leaf in self.leaves if leaf.named is not None and not leaf.named.several
        )

    @property
    def sure(self) -> frozenset[Dimension]:
        """Those of them that are named beyond doubt."""
        named = (leaf.named for leaf in self.leaves if leaf.named is not None)
        return frozenset(each.dimension for each in named if each.sure and not each.several)


Values = tuple[Value, ...]
SCOPED: Values = (Value(Kind.SCOPED),)
NUMBER: Values = (Value(Kind.OTHER, is_number=True),)
OTHER: Values = (Value(Kind.OTHER),)


def fixed(text: str = "", *, is_text: bool = False, is_number: bool = False) -> Values:
    """A value that is the same in every call."""
    return (Value(Kind.FIXED, text=text, is_text=is_text, is_number=is_number),)


def either(*alternatives: Values) -> Values:
    """One of several values, each once."""
    return tuple(dict.fromkeys(value for values in alternatives for value in values))[:MOST]


def leaves_of(values: Iterable[Value]) -> tuple[Leaf, ...]:
    """The parts of all alternatives, each once."""
    return tuple(dict.fromkeys(leaf for value in values for leaf in value.leaves))[: MOST * 2]


def is_scoped(values: Iterable[Value]) -> bool:
    """Whether one alternative came from a scope object: what is appended to such a key stays behind its scope."""
    return any(value.kind is Kind.SCOPED for value in values)


def one_of(leaves: tuple[Leaf, ...]) -> tuple[Leaf, ...]:
    """The parts of one element of what has these parts: one of several users is a user."""
    return tuple(
        replace(leaf, named=replace(leaf.named, several=False)) if leaf.named is not None else leaf for leaf in leaves
    )


def outside(values: Values) -> Values:
    """The values as another function sees them: its parameters are not this one's."""
    return tuple(
        replace(value, leaves=tuple(replace(leaf, parameter="") for leaf in value.leaves)) if value.leaves else value
        for value in values
    )


def given(values: Values, arguments: Mapping[str, Values]) -> Values:
    """The values a function answers, its parameters replaced by what the caller gave."""
    found: Values = ()
    for value in values:
        if value.kind is Kind.PLAIN and len(value.leaves) == 1 and value.leaves[0].parameter in arguments:
            found = either(found, arguments[value.leaves[0].parameter])
            continue
        leaves: list[Leaf] = []
        for leaf in value.leaves:
            if leaf.parameter not in arguments:
                leaves.append(replace(leaf, parameter=""))
                continue
            argument = arguments[leaf.parameter]
            if is_scoped(argument):
                return SCOPED
            inner = leaves_of(argument)
            says = any(part.named is not None for part in inner)
            leaves += inner if says or not inner else (replace(leaf, parameter=""),)
        built = value.kind is Kind.BUILT
        kind = Kind.FIXED if built and not leaves else value.kind
        found = either(found, (replace(value, kind=kind, leaves=tuple(dict.fromkeys(leaves))),))
    return found
