"""The rules on single Python files; each takes the repository's root and returns one sentence per breach."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from .source import NAMESPACE, ROOTS, bindings, modules, python_files

LONGEST = 400
LONGEST_CONFTEST = 60
VAGUE = {"utils", "util", "helpers", "helper", "common", "base", "core", "types", "misc"}
# Joined here, so that this file does not hold the marks it looks for.
UNFINISHED = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" * 3)) + r")\b")


def long_files(root: Path) -> list[str]:
    """No Python file of the roots, tests and bench is longer than 400 lines."""
    return [f"{_at(root, path)} has {count} lines" for path, count in _lengths(root) if count > LONGEST]


def long_conftests(root: Path) -> list[str]:
    """No conftest is longer than 60 lines: fakes live in the test file that uses them."""
    lengths = [(path, count) for path, count in _lengths(root) if path.name == "conftest.py"]
    return [f"{_at(root, path)} has {count} lines" for path, count in lengths if count > LONGEST_CONFTEST]


def vague_names(root: Path) -> list[str]:
    """No module or package has a name that would fit any content."""
    names = {part for path in python_files(root) for part in _names(root, path) if part in VAGUE}
    return [f"{name!r} says nothing of what it holds" for name in sorted(names)]


def namespace_files(root: Path) -> list[str]:
    """`partywall` is a namespace that several roots share, so it never has an `__init__.py`."""
    owners = [root, *(root / name for name in ROOTS)]
    return [_at(root, path) for owner in owners if (path := owner / NAMESPACE / "__init__.py").exists()]


def missing_docstrings(root: Path) -> list[str]:
    """Every module begins with one line that says what it is, on the line of the quotes."""
    breaches = []
    for path in python_files(root):
        text = ast.get_docstring(ast.parse(path.read_text("utf-8")), clean=False)
        first, *more = (text or "").split("\n")
        if not first.strip():
            breaches.append(f"{_at(root, path)} does not begin with a docstring of one line")
        elif more and more[0].strip():
            breaches.append(f"{_at(root, path)} has a docstring whose first line runs on")
    return breaches


def unfinished_marks(root: Path) -> list[str]:
    """No file says that it is unfinished."""
    return [
        f"{_at(root, path)}:{number} is marked as unfinished"
        for path in python_files(root)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if UNFINISHED.search(line)
    ]


def swallowed_errors(root: Path) -> list[str]:
    """No handler drops every exception without a word."""
    breaches = []
    for path in python_files(root):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            silent = isinstance(node, ast.ExceptHandler) and _catches_all(node.type) and all(map(_nothing, node.body))
            muted = isinstance(node, ast.Call) and _named(node.func) == "suppress" and any(map(_broad, node.args))
            if isinstance(node, ast.ExceptHandler | ast.Call) and (silent or muted):
                breaches.append(f"{_at(root, path)}:{node.lineno} swallows every exception")
    return breaches


def unfaithful_faces(root: Path) -> list[str]:
    """A face holds a docstring, imports and a sorted `__all__` that names exactly what it binds."""
    breaches = []
    for module in modules(root).values():
        if module.face:
            breaches += [f"{_at(root, module.path)} {breach}" for breach in _face(module.tree)]
    return breaches


def _face(tree: ast.Module) -> Iterator[str]:
    shown: list[str] | None = None
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom) or _docstring(node, tree):
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if not isinstance(node, ast.Assign | ast.AnnAssign) or _named(target) != "__all__":
            yield f"holds logic at line {node.lineno}"
            continue
        shown = _literal(node.value)
        if shown is None:
            yield "has an `__all__` that is no literal list of names"
            return
    bound = bindings(tree)
    if shown is None:
        if bound:
            yield "binds names and has no `__all__`"
        return
    if shown != sorted(set(shown), key=_order):
        yield f"has an `__all__` that is not sorted: expected {sorted(set(shown), key=_order)}"
    if unbound := sorted(set(shown) - bound):
        yield f"names in `__all__` what it does not bind: {', '.join(unbound)}"
    if hidden := sorted(bound - set(shown)):
        yield f"binds what `__all__` does not name: {', '.join(hidden)}"


def _order(name: str) -> tuple[int, list[tuple[int, str]]]:
    """The order of ruff's RUF022: constants, classes, the rest; digits count as numbers."""
    kind = 0 if len(name) > 1 and name == name.upper() else 1 if name[:1].isupper() else 2
    return kind, [(int(part), "") if part.isdigit() else (-1, part) for part in re.findall(r"\d+|\D+", name)]


def _lengths(root: Path) -> list[tuple[Path, int]]:
    return [(path, len(path.read_text("utf-8").splitlines())) for path in python_files(root)]


def _names(root: Path, path: Path) -> tuple[str, ...]:
    return path.relative_to(root).with_suffix("").parts


def _at(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def _docstring(node: ast.stmt, tree: ast.Module) -> bool:
    return node is tree.body[0] and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _literal(node: ast.expr | None) -> list[str] | None:
    if not isinstance(node, ast.List | ast.Tuple):
        return None
    names = [item.value for item in node.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    return names if len(names) == len(node.elts) else None


def _named(node: ast.AST | None) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _broad(node: ast.expr) -> bool:
    return _named(node) in ("Exception", "BaseException")


def _catches_all(node: ast.expr | None) -> bool:
    return node is None or _broad(node) or (isinstance(node, ast.Tuple) and any(map(_broad, node.elts)))


def _nothing(node: ast.stmt) -> bool:
    ellipsis = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return ellipsis or isinstance(node, ast.Pass | ast.Continue)
