"""Expressions by their form alone: the names they are reached by, their operands, whether they join paths."""

from __future__ import annotations

import ast
import re

PATHS = frozenset({"Path", "PurePath", "PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath", "UPath"})
_PATH_NOUN = re.compile(r"(?:^|_)(?:dir|directory|path|folder|root|base|home|parent|tmp_path)s?$", re.IGNORECASE)
_HOLES = re.compile(r"%(?:\(\w*\))?[#0\- +]*(?:\*|\d+)?(?:\.\d+)?[a-zA-Z]|\{[^{}]*\}")


def chain_of(node: ast.expr) -> tuple[str, ...]:
    """The names an expression is reached by: `request.state["user"].get_id()` → request, state, user, get_id."""
    found: list[str] = []
    at: ast.expr = node
    while True:
        if isinstance(at, ast.Name):
            found.append(at.id)
            break
        if isinstance(at, ast.Attribute):
            found.append(at.attr)
            at = at.value
        elif isinstance(at, ast.Call):
            key = at.args[0] if at.args else None
            # a look-up by a literal: `headers.get("x-tenant-id")` is called as the literal says
            if isinstance(at.func, ast.Attribute) and at.func.attr in ("get", "pop", "getlist") and literal(key):
                found.append(literal(key))
                at = at.func.value
            else:
                at = at.func
        elif isinstance(at, ast.Subscript):
            if literal(at.slice):
                found.append(literal(at.slice))
            at = at.value
        elif isinstance(at, ast.Await | ast.Starred):
            at = at.value
        else:
            break
    return tuple(reversed(found))


def chain_end(node: ast.expr) -> str:
    """The last name of the chain, or nothing."""
    chain = chain_of(node)
    return chain[-1] if chain else ""


def literal(node: ast.expr | None) -> str:
    """The text of a literal, or nothing."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def is_slash(node: ast.AST) -> bool:
    """Whether it joins paths by `/`: by the name on its left, or a text on either side."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        texts = (node.left, node.right)
        if any(
            isinstance(e, ast.JoinedStr) or (isinstance(e, ast.Constant) and isinstance(e.value, str)) for e in texts
        ):
            return True
        left = node.left
        if isinstance(left, ast.Call) and chain_end(left.func) in PATHS | {"joinpath", "resolve", "cwd", "expanduser"}:
            return True
        if isinstance(left, ast.Name | ast.Attribute) and _PATH_NOUN.search(chain_end(left)):
            return True
        node = left
    return False


def spine(node: ast.BinOp, operator: type[ast.operator]) -> list[ast.expr]:
    """The operands of a chain of one operator, without recursion: generated code has chains of thousands."""
    parts: list[ast.expr] = []
    at: ast.expr = node
    while isinstance(at, ast.BinOp) and isinstance(at.op, operator):
        parts.append(at.right)
        at = at.left
    return [at, *reversed(parts)]


def members(node: ast.expr) -> list[ast.expr]:
    return [value for value in node.values if value is not None] if isinstance(node, ast.Dict) else [node]


def literals(template: str, holes: int) -> list[str]:
    """What stands before each hole of a template; nothing where they do not match the values."""
    found = _HOLES.split(template)
    return found[:-1] if len(found) - 1 == holes else []
