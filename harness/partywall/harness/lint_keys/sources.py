"""Where a value comes from: an expression as parts, followed through names, attributes and functions of the file."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from .expressions import chain_end, chain_of, is_slash, literals, members, spine
from .makers import Makers
from .module import Frame, Module, dotted, is_join, is_path
from .values import (
    NUMBER,
    OTHER,
    SCOPED,
    Function,
    Kind,
    Leaf,
    Value,
    Values,
    either,
    fixed,
    given,
    is_scoped,
    leaves_of,
    one_of,
    outside,
)
from .words import Dimension, Named, every, named

Summary = Callable[[Function, Frame], Values]
"""What a function answers, in terms of its parameters; the frame is that of its definition."""

# Calls whose answer says as much as their argument: spelled otherwise, or its digest.
_SAME = every(
    "str repr bytes bytearray memoryview ascii quote quote_plus unquote urlencode dumps sha1 sha224 sha256 "
    "sha384 sha512 md5 blake2b blake2s xxh64 xxh3_64 crc32 adler32 hash escape b64encode urlsafe_b64encode "
    "hexlify slugify deepcopy copy casefold_name normalize cast to_thread smart_str force_str force_bytes "
    "secure_filename"
)
_SAME_METHODS = every(
    "encode decode lower upper strip lstrip rstrip casefold title hexdigest digest hex replace removeprefix "
    "removesuffix translate zfill isoformat model_dump_json json to_json as_posix resolve expanduser absolute "
    "with_suffix ljust"
)
_NUMBERS = every("len int float round abs sum min max isinstance bool ord id count any all")
_TUPLES = every("hashkey typedkey methodkey tuple list sorted set frozenset reversed map")
# Ids that the operating system gives are nobody's.
_SYSTEM = frozenset({"os", "sys", "getpass", "threading", "multiprocessing", "platform", "pwd", "asyncio", "socket"})


class Sources:
    """Tells values apart. `summary` answers for a function of the file what it returns."""

    def __init__(self, module: Module, makers: Makers, summary: Summary) -> None:
        self._module = module
        self._makers = makers
        self._summary = summary

    def of(self, node: ast.expr | None, frame: Frame) -> Values:
        """The values an expression may have, as far as the file tells."""
        match node:
            case ast.Constant(value=value):
                number = isinstance(value, int | float | complex)
                return fixed(
                    value if isinstance(value, str) else "", is_text=isinstance(value, str | bytes), is_number=number
                )
            case ast.JoinedStr():
                return _built(node, [self.of(part, frame) for part in node.values])
            case ast.FormattedValue(value=inner) | ast.Await(value=inner) | ast.Starred(value=inner):
                return self.of(inner, frame)
            case ast.BinOp():
                return self._operation(node, frame)
            case ast.Call():
                return self._call(node, frame)
            case ast.Name():
                return self._name(node, frame)
            case ast.Attribute():
                return self._attribute(node, frame)
            case ast.Subscript():
                return self._subscript(node, frame)
            case ast.IfExp():
                return either(self.of(node.body, frame), self.of(node.orelse, frame))
            case ast.BoolOp():
                return either(*(self.of(each, frame) for each in node.values))
            case ast.NamedExpr():
                frame.names[node.target.id] = found = self.of(node.value, frame)
                return found
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                return self._several([self.of(part, frame) for part in parts])
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return self._several([self.of(node.elt, self.within(node.generators, frame))])
            case ast.Lambda():
                return (Value(Kind.OTHER, function=node),)
            case ast.Compare() | ast.UnaryOp():
                return NUMBER
        return OTHER

    def within(self, generators: list[ast.comprehension], frame: Frame) -> Frame:
        """The frame inside a comprehension."""
        inner = frame.copy()
        for each in generators:
            self.bind(each.target, self.element(each.iter, inner), inner)
        return inner

    def element(self, iterated: ast.expr, frame: Frame) -> Values:
        """One element of what is iterated over: fixed where all of it is."""
        found = self.of(iterated, frame)
        if found and all(value.kind is Kind.FIXED for value in found):
            return fixed()
        return tuple(
            Value(Kind.OTHER if value.kind is Kind.OTHER else Kind.PLAIN, one_of(value.leaves)) for value in found
        )

    def bind(self, target: ast.expr, values: Values, frame: Frame) -> None:
        """Bind a target; what is taken apart is told by its own names."""
        if isinstance(target, ast.Name):
            frame.names[target.id] = values
        elif isinstance(target, ast.Tuple | ast.List):
            same = values if values and all(value.kind is Kind.FIXED for value in values) else ()
            for each in target.elts:
                inner = each.value if isinstance(each, ast.Starred) else each
                self.bind(inner, same or (Value(Kind.PLAIN, (Leaf(named(chain_of(inner))),)),), frame)

    def made_by(self, node: ast.expr, frame: Frame) -> str:
        """The dotted name of the call, or of the annotation, that an object came from; empty where unknown."""
        if isinstance(node, ast.Call):
            return dotted(node.func, self._module)
        return next((value.made_by for value in self.of(node, frame) if value.made_by), "")

    def _several(self, parts: list[Values]) -> Values:
        if any(map(is_scoped, parts)):
            return SCOPED
        leaves = tuple(dict.fromkeys(leaf for part in parts for leaf in leaves_of(part)))
        if not leaves and all(value.kind is Kind.FIXED for part in parts for value in part):
            return fixed()
        built = next((value for part in parts for value in part if value.kind is Kind.BUILT), None)
        return (Value(Kind.SEVERAL, leaves, node=built.node if built else None),)

    def _operation(self, node: ast.BinOp, frame: Frame) -> Values:
        if isinstance(node.op, ast.Mod):
            left = self.of(node.left, frame)
            template = next((value.text for value in left if value.is_text), None)
            if template is None and not (
                isinstance(node.left, ast.Name | ast.Attribute) and chain_end(node.left).isupper()
            ):
                return NUMBER if not any(value.kind is Kind.BUILT for value in left) else left
            parts = node.right.elts if isinstance(node.right, ast.Tuple) else members(node.right)
            found = [left, *(self.of(part, frame) for part in parts)]
            return _built(node, found, ["", *literals(template or "", len(parts))])
        if isinstance(node.op, ast.Div) and is_slash(node):
            return _built(node, [self.of(part, frame) for part in spine(node, ast.Div)], first_is_base=True)
        if isinstance(node.op, ast.Add):
            return self._sum(node, frame)
        return NUMBER

    def _sum(self, node: ast.BinOp, frame: Frame) -> Values:
        found = [self.of(part, frame) for part in spine(node, ast.Add)]
        flat = [value for values in found for value in values]
        if any(value.is_number for value in flat):
            return NUMBER
        if any(value.kind is Kind.SEVERAL for value in flat):
            return self._several(found)
        names_two = sum(any(leaf.named and leaf.named.sure for leaf in leaves_of(values)) for values in found) >= 2
        if any(value.is_text or value.kind in (Kind.BUILT, Kind.SCOPED) for value in flat) or names_two:
            return _built(node, found)
        return (Value(Kind.OTHER, leaves_of(flat)),)

    def _call(self, node: ast.Call, frame: Frame) -> Values:
        # The object is looked at once: a chain of twenty calls looked at twice a link would take a million steps.
        holder = node.func.value if isinstance(node.func, ast.Attribute) else None
        base = self.of(holder, frame) if holder is not None else None
        name = dotted(node.func, self._module)
        end = chain_end(node.func)
        if self._makers.makes(name):
            return SCOPED
        made = holder is not None and base is not None and self._is_scope_object(holder, base)
        if made and not self._makers.is_of_containers(end):
            return SCOPED
        arguments = [each.value if isinstance(each, ast.Starred) else each for each in node.args]
        if is_join(node, self._module):
            return _built(node, [self.of(each, frame) for each in arguments], first_is_base=True)
        if is_path(node, self._module):
            parts = [
                *([base] if base is not None and end == "joinpath" else []),
                *(self.of(e, frame) for e in arguments),
            ]
            return parts[0] if len(parts) == 1 else _built(node, parts, first_is_base=True)
        if base is not None:
            if end in ("format", "format_map"):
                return self._format(node, base, frame)
            if end == "join" and arguments:
                joined = self.of(arguments[0], frame)
                leaves = leaves_of(joined)
                return SCOPED if is_scoped(joined) else _told(node, list(leaves), "") if leaves else base
            if end in _SAME_METHODS:
                return base
        if end in _NUMBERS:
            return NUMBER
        answered = self._answer(node, base, frame)
        if answered is not None:
            return answered
        if end in _SAME and arguments:
            return self.of(arguments[-1] if end in ("map", "cast", "to_thread") else arguments[0], frame)
        if end in _TUPLES:
            return self._several([self.of(each, frame) for each in arguments])
        return (self._unknown(node, arguments, name, frame),)

    def _unknown(self, node: ast.Call, arguments: list[ast.expr], name: str, frame: Frame) -> Value:
        if name.split(".")[0] in _SYSTEM:
            return Value(Kind.OTHER, (Leaf(None),), made_by=name)
        own = named(chain_of(node))
        if own is not None:
            return Value(Kind.OTHER, (Leaf(own),), made_by=name)
        found = either(*(self.of(each, frame) for each in arguments))
        return Value(Kind.OTHER, leaves_of(found) or (Leaf(None),), made_by=name)

    def _is_scope_object(self, node: ast.expr, values: Values) -> bool:
        if isinstance(node, ast.Name | ast.Attribute) and self._makers.is_scope_object(chain_end(node)):
            return True
        return is_scoped(values) or any(value.made_by and self._makers.makes(value.made_by) for value in values)

    def _format(self, node: ast.Call, base: Values, frame: Frame) -> Values:
        template = next((value.text for value in base if value.is_text), "")
        parts = [*node.args, *(keyword.value for keyword in node.keywords)]
        inner = [member for part in parts for member in members(part)]
        return _built(node, [self.of(each, frame) for each in inner], literals(template, len(inner)) or None)

    def _answer(self, node: ast.Call, base: Values | None, frame: Frame) -> Values | None:
        """What a function, lambda or method of this file returns; None where it is not of this file."""
        function, owner = self.function(node.func, frame, base)
        if function is None:
            return None
        home = owner or _home(frame, node.func)
        answered = self._summary(function, home)
        return given(answered, dict(self.arguments(node, function, frame)))

    def function(
        self, called: ast.expr, frame: Frame, base: Values | None = None
    ) -> tuple[Function | None, Frame | None]:
        """The function of this file that is called, and for a method the frame of its class; `base` is its object."""
        if isinstance(called, ast.Name):
            values, _ = frame.find(called.id)
            return next((value.function for value in values or () if value.function), None), None
        if isinstance(called, ast.Attribute):
            owner = self._class_of(called.value, frame, base)
            found = self._module.method(owner, called.attr) if owner else None
            if found is not None:
                outermost = frame
                while outermost.outer is not None:
                    outermost = outermost.outer
                return found[1], Frame(outer=outermost, owner=found[0])
        return None, None

    def arguments(self, node: ast.Call, function: Function, frame: Frame) -> list[tuple[str, Values]]:
        """What a call gives to each parameter, as far as that is plain to see."""
        spec = function.args
        names = [each.arg for each in (*spec.posonlyargs, *spec.args)]
        if names[:1] in (["self"], ["cls"]) and isinstance(node.func, ast.Attribute):
            names = names[1:]
        pairs = [(name, self.of(each, frame)) for name, each in zip(names, node.args, strict=False)]
        known = {*names, *(each.arg for each in spec.kwonlyargs)}
        return pairs + [
            (each.arg, self.of(each.value, frame)) for each in node.keywords if each.arg in known and each.arg
        ]

    def _class_of(self, node: ast.expr, frame: Frame, values: Values | None) -> str:
        if isinstance(node, ast.Name):
            if node.id in ("self", "cls") and frame.owner is not None:
                return frame.owner.name
            if node.id in self._module.classes:
                return node.id
        values = self.of(node, frame) if values is None else values
        made = next((value.made_by for value in values if value.made_by), "").split(".")[-1]
        return made if made in self._module.classes else ""

    def _name(self, node: ast.Name, frame: Frame) -> Values:
        values, here = frame.find(node.id)
        if values is not None:
            return _renamed(values if here else outside(values), named((node.id,)))
        if self._makers.makes(self._module.imports.get(node.id, "")):
            return SCOPED
        if node.id in self._module.imports or node.id.isupper():
            return fixed()
        return (Value(Kind.PLAIN, (Leaf(named((node.id,))),)),)

    def _attribute(self, node: ast.Attribute, frame: Frame) -> Values:
        own = named(chain_of(node))
        if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls") and frame.owner is not None:
            values = self._module.attribute(frame.owner.name, node.attr)
            if values:
                return _renamed(values, own)
        if node.attr.isupper() or (node.attr.startswith("__") and node.attr.endswith("__")):
            return fixed()
        if node.attr == "hex":  # of a UUID, which no client chooses
            return (Value(Kind.PLAIN, (Leaf(None),)),)
        if own is None and self._is_scope_object(node.value, self.of(node.value, frame)):
            return SCOPED
        chain = chain_of(node)
        if chain and self._module.imports.get(chain[0], "").split(".")[0] in _SYSTEM:
            return (Value(Kind.PLAIN, (Leaf(None),)),)
        return (Value(Kind.PLAIN, (Leaf(own),)),)

    def _subscript(self, node: ast.Subscript, frame: Frame) -> Values:
        chain = chain_of(node)
        if chain and self._module.imports.get(chain[0], "").split(".")[0] in _SYSTEM:
            return (Value(Kind.PLAIN, (Leaf(None),)),)
        base = self.of(node.value, frame)
        if isinstance(node.slice, ast.Slice) and any(value.kind is Kind.BUILT for value in base):
            return base
        made = next((value.made_by for value in base if value.made_by), "")
        if len(chain) > 1 and named(chain) is None and chain_end(node.value) != chain[-1]:
            return (Value(Kind.PLAIN, (Leaf(None),), made_by=made),)
        own = named(chain)
        return (Value(Kind.PLAIN, one_of((Leaf(own),) if own else leaves_of(base) or (Leaf(None),)), made_by=made),)


def _renamed(values: Values, own: Named | None) -> Values:
    """What a name holds; one value that says nothing of itself is told by the name."""
    if own is None or own.dimension is Dimension.ID:
        return values
    return tuple(
        Value(
            value.kind,
            (Leaf(own, value.leaves[0].parameter if value.leaves else ""),),
            value.text,
            value.node,
            value.made_by,
        )
        if value.kind in (Kind.PLAIN, Kind.OTHER)
        and not value.is_number
        and not any(leaf.named for leaf in value.leaves)
        else value
        for value in values
    )


def _built(
    node: ast.expr, parts: list[Values], texts: list[str] | None = None, *, first_is_base: bool = False
) -> Values:
    """Text put together of `parts`; `texts` stand before each of them where they are told apart.

    `first_is_base`: the first part is the folder that a path begins in, and named after nobody whose data it holds.
    """
    leaves: list[Leaf] = []
    text = ""
    before = texts[0] if texts else ""
    for number, found in enumerate(parts):
        if texts and number < len(texts):
            before = texts[number]
        if is_scoped(found):
            return SCOPED
        if not leaves_of(found) and all(value.kind is Kind.FIXED for value in found):
            before = next((value.text for value in found), "")
            text += before
        elif first_is_base and number == 0 and not any(value.kind is Kind.BUILT for value in found):
            leaves.append(Leaf(None))
        else:
            leaves += _hinted(found, before)
            before = ""
    return _told(node, leaves, text or "".join(texts or ()))


def _hinted(found: Values, before: str) -> list[Leaf]:
    """The parts of a value; one that says nothing is told by the literal before it: `f"user:{x}"`."""
    leaves = leaves_of(found) or (Leaf(None),)
    if len(leaves) == 1 and leaves[0].named is None and before[-1:] in tuple(":=|/#.-_") and before[-1:]:
        hint = named((re.split(r"[^\w-]", before[:-1])[-1],)) if not any(value.is_number for value in found) else None
        if hint is not None:
            return [Leaf(Named(hint.dimension, sure=False), leaves[0].parameter)]
    return list(leaves)


def _told(node: ast.expr, leaves: list[Leaf], text: str) -> Values:
    unique = tuple(dict.fromkeys(leaves))
    return (Value(Kind.BUILT, unique, text=text, node=node, is_text=True),) if unique else fixed(text, is_text=True)


def _home(frame: Frame, called: ast.expr) -> Frame:
    """The frame in which a function's name is bound: what it sees around it."""
    at: Frame | None = frame
    while at is not None and isinstance(called, ast.Name) and called.id not in at.names:
        at = at.outer
    return at or frame
