"""Flow: the statements of a file in order, names bound as they go, every use of a key told where it stands.

Branches are followed apart and joined; a loop is walked once. The file is walked twice: what `self.…` holds and which
functions hand a parameter on to a sink is known only after the first time.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .expressions import is_slash
from .makers import Makers
from .module import Frame, Module, is_join, is_path, module_of
from .sinks import Family, Sink, sinks
from .sources import Sources
from .values import Function, Kind, Leaf, Value, Values, either, outside
from .words import named

_DEEPEST = 6
"""Functions of the file that are followed one inside another."""


@dataclass(frozen=True, slots=True)
class Use:
    """A value that reaches a sink: where, and in which statement."""

    value: Value
    key: ast.expr
    sink: Sink
    at: ast.expr
    statement: ast.stmt


class Flow:
    """Walks one module."""

    def __init__(self, tree: ast.Module, makers: Makers) -> None:
        self._module: Module = module_of(tree)
        self._makers = makers
        self._sources = Sources(self._module, makers, self._summary)
        self._answers: dict[Function, Values] = {}
        self._asked: list[Function] = []
        self._handed: dict[Function, dict[str, Sink]] = {}
        self._uses: list[Use] = []
        self._silent = 0

    def uses(self) -> list[Use]:
        """Every use of a key, in the order of the file."""
        for _ in range(2):
            self._uses = []
            self._answers = {}
            self._body(self._module.tree.body, Frame(), [])
        return self._uses

    def _body(self, statements: Iterable[ast.stmt], frame: Frame, answered: list[Values]) -> None:
        later: list[ast.stmt] = []
        statements = list(statements)
        for statement in statements:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                frame.names[statement.name] = (Value(Kind.OTHER, function=statement),)
        for statement in statements:
            self._statement(statement, frame, answered, later)
        for statement in later:  # their bodies see every name of the function or module around them
            self._definition(statement, frame)

    def _statement(self, node: ast.stmt, frame: Frame, answered: list[Values], later: list[ast.stmt]) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                for each in node.decorator_list:
                    self._expression(each, frame, node)
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    frame.names[node.name] = (Value(Kind.OTHER, function=node),)
                later.append(node)
            case ast.Assign():
                self._expression(node.value, frame, node)
                values = self._sources.of(node.value, frame)
                for target in node.targets:
                    self._assign(target, values, frame, node)
            case ast.AnnAssign():
                self._expression(node.value, frame, node)
                values = self._sources.of(node.value, frame) if node.value else ()
                self._assign(node.target, values or _annotated(node.annotation, node.target), frame, node)
            case ast.AugAssign():
                self._expression(node.value, frame, node)
                joined = ast.copy_location(ast.BinOp(_loaded(node.target), node.op, node.value), node)
                self._assign(node.target, self._sources.of(joined, frame), frame, node)
            case ast.Return():
                self._expression(node.value, frame, node)
                if node.value is not None:
                    answered.append(self._sources.of(node.value, frame))
            case ast.Expr():
                self._expression(node.value, frame, node)
                self._appended(node.value, frame)
            case ast.If():
                self._chain(node, frame, answered, later)
            case ast.For() | ast.AsyncFor():
                self._expression(node.iter, frame, node)
                self._sources.bind(node.target, self._sources.element(node.iter, frame), frame)
                self._branches([node.body, node.orelse], frame, answered, later, and_none=True)
            case ast.While():
                self._expression(node.test, frame, node)
                self._branches([node.body, node.orelse], frame, answered, later, and_none=True)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    self._expression(item.context_expr, frame, node)
                    if item.optional_vars is not None:
                        self._sources.bind(item.optional_vars, self._sources.of(item.context_expr, frame), frame)
                self._block(node.body, frame, answered, later)
            case ast.Try() | ast.TryStar():
                self._block(node.body, frame, answered, later)
                self._branches(
                    [each.body for each in node.handlers] + [node.orelse], frame, answered, later, and_none=True
                )
                self._block(node.finalbody, frame, answered, later)
            case ast.Match():
                self._expression(node.subject, frame, node)
                self._branches([case.body for case in node.cases], frame, answered, later, and_none=True)
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self._expression(child, frame, node)

    def _block(self, body: list[ast.stmt], frame: Frame, answered: list[Values], later: list[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement, frame, answered, later)

    def _chain(self, node: ast.If, frame: Frame, answered: list[Values], later: list[ast.stmt]) -> None:
        """An `if` with its `elif`s, without recursion: generated code has hundreds."""
        bodies: list[list[ast.stmt]] = []
        at: ast.If = node
        while True:
            self._expression(at.test, frame, at)
            bodies.append(at.body)
            if len(at.orelse) != 1 or not isinstance(at.orelse[0], ast.If):
                break
            at = at.orelse[0]
        bodies.append(at.orelse)
        self._branches(bodies, frame, answered, later, and_none=False)

    def _branches(
        self,
        bodies: list[list[ast.stmt]],
        frame: Frame,
        answered: list[Values],
        later: list[ast.stmt],
        *,
        and_none: bool,
    ) -> None:
        """Each body from the same state; behind them a name holds what any that goes on left in it."""
        before = dict(frame.names)
        ends: list[dict[str, Values]] = [before] if and_none else []
        for body in bodies:
            frame.names = dict(before)
            self._block(body, frame, answered, later)
            if not (body and isinstance(body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)):
                ends.append(frame.names)
        names = dict.fromkeys(name for end in ends for name in end)
        frame.names = {name: either(*(end[name] for end in ends if name in end)) for name in names} or before

    def _definition(self, node: ast.stmt, frame: Frame) -> None:
        if isinstance(node, ast.ClassDef):
            if self._makers.declares(node.name) or node.name in ("Scope", "Keys"):
                return  # what a maker of keys does inside is the one place where it is done by hand
            inner = Frame(outer=frame, owner=self._module.classes.get(node.name))
            self._body(node.body, inner, [])
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not self._makers.declares(node.name):
            self._function(node, frame)

    def _function(self, node: Function, outer: Frame) -> Values:
        """Walk a function from its parameters on; what it returns."""
        owner = outer.owner
        # a method sees the names of the module, not those of its class
        frame = Frame(
            outer=outer.outer if owner is not None and outer.function is None else outer, owner=owner, function=node
        )
        for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            frame.names[each.arg] = _annotated(each.annotation, ast.Name(each.arg), each.arg)
        if isinstance(node, ast.Lambda):
            return self._sources.of(node.body, frame)
        answered: list[Values] = []
        self._body(node.body, frame, answered)
        return either(*answered)

    def _summary(self, function: Function, home: Frame) -> Values:
        """What a function returns in terms of its parameters, found once; nothing while it is being found."""
        if function in self._answers:
            return self._answers[function]
        if function in self._asked or len(self._asked) >= _DEEPEST:
            return (Value(Kind.OTHER),)
        self._asked.append(function)
        self._silent += 1
        try:
            found = self._function(function, home) or (Value(Kind.OTHER),)
        finally:
            self._silent -= 1
            self._asked.pop()
        self._answers[function] = found
        return found

    def _assign(self, target: ast.expr, values: Values, frame: Frame, statement: ast.stmt) -> None:
        self._sources.bind(target, values, frame)
        self._expression(target, frame, statement)
        mine = (
            isinstance(target, ast.Attribute)
            and isinstance(target.value, ast.Name)
            and target.value.id in ("self", "cls")
        )
        if mine and isinstance(target, ast.Attribute) and frame.owner is not None:
            held = frame.owner.attributes.get(target.attr, ())
            frame.owner.attributes[target.attr] = either(held, outside(values))
        elif isinstance(target, ast.Name) and frame.owner is not None and frame.function is None:
            frame.owner.attributes[target.id] = outside(values)

    def _appended(self, node: ast.expr, frame: Frame) -> None:
        """`parts.append(x)`: the list holds it from here on."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append" | "extend" | "add"), args=[added]):
                held = frame.names.get(name)
                if held and all(value.kind in (Kind.SEVERAL, Kind.FIXED) for value in held):
                    both = ast.copy_location(ast.List([ast.Name(name), added]), node)
                    frame.names[name] = tuple(
                        Value(Kind.SEVERAL, value.leaves) if value.kind is not Kind.SCOPED else value
                        for value in self._sources.of(both, frame)
                    )

    def _expression(self, node: ast.expr | None, frame: Frame, statement: ast.stmt) -> None:
        """Tell every use of a key in an expression; names are bound by `:=` on the way."""
        if node is None:
            return
        inner = frame
        nodes = list(ast.walk(node))
        for each in nodes:
            if isinstance(each, ast.NamedExpr):
                self._sources.of(each, frame)
        for each in nodes:
            if isinstance(each, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
                inner = self._sources.within(each.generators, inner)
            elif isinstance(each, ast.Lambda):
                inner = inner.copy()
                for parameter in each.args.args:
                    inner.names[parameter.arg] = _annotated(None, ast.Name(parameter.arg))
        lefts = {id(each.left) for each in nodes if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Div)}
        for each in nodes:
            for sink in self._sinks(each, inner, lefts):
                for key in sink.keys:
                    self._use(key, sink, each, inner, statement)

    def _sinks(self, node: ast.AST, frame: Frame, lefts: set[int]) -> Iterator[Sink]:
        if isinstance(node, ast.BinOp):
            if id(node) not in lefts and is_slash(node):
                yield Sink(Family.PATH, "a path", (node,))
            return
        if not isinstance(node, ast.Call | ast.Subscript | ast.Compare):
            return
        if isinstance(node, ast.Call):
            if is_join(node, self._module) or is_path(node, self._module):
                yield Sink(Family.PATH, "a path", (node,))
                return
            function, _ = self._sources.function(node.func, frame)
            handed = self._handed.get(function, {}) if function is not None else {}
            for name, values in self._sources.arguments(node, function, frame) if function and handed else []:
                if name in handed and any(value.kind is Kind.BUILT for value in values):
                    given = next((value.node for value in values if value.node is not None), node)
                    yield Sink(handed[name].family, handed[name].told, (given,))
        yield from sinks(node, lambda each: self._sources.made_by(each, frame))

    def _use(self, key: ast.expr, sink: Sink, at: ast.AST, frame: Frame, statement: ast.stmt) -> None:
        for value in self._sources.of(key, frame):
            if value.function is not None:
                for answer in self._summary(value.function, frame):
                    self._told(answer, key, sink, at, frame, statement)
            else:
                self._told(value, key, sink, at, frame, statement)

    def _told(self, value: Value, key: ast.expr, sink: Sink, at: ast.AST, frame: Frame, statement: ast.stmt) -> None:
        if value.kind is Kind.PLAIN and frame.function is not None:
            for leaf in value.leaves:
                if leaf.parameter:
                    self._handed.setdefault(frame.function, {})[leaf.parameter] = sink
        if not self._silent and isinstance(at, ast.expr):
            self._uses.append(Use(value, key, sink, at, statement))


def _annotated(annotation: ast.expr | None, target: ast.expr, parameter: str = "") -> Values:
    """A value that is known by its name, and by the class its annotation names."""
    name = target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""
    given = annotation
    while isinstance(given, ast.BinOp):  # `Redis | None`
        given = given.left
    if isinstance(given, ast.Subscript):  # `Redis[bytes]`, `Optional[Redis]`
        given = given.slice if _end(given.value) in ("Optional", "Annotated", "Final", "ClassVar") else given.value
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        made = given.value.split("[")[0].split("|")[0].strip()
    else:
        made = _end(given) if given is not None else ""
    return (
        Value(
            Kind.PLAIN, (Leaf(named((name,)), parameter),), made_by=made if made not in ("str", "bytes", "int") else ""
        ),
    )


def _end(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _loaded(target: ast.Name | ast.Attribute | ast.Subscript) -> ast.expr:
    return target
