"""The source tree as data: its modules and the imports each of them makes, found by ast alone.

Nothing of the product is imported. An import counts wherever it stands: at the top, under `TYPE_CHECKING`,
inside a function, and as a literal given to `import_module`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
ROOTS = ("canaries", "harness", "scenarios", "reference_impl")
NAMESPACE = "partywall"


@dataclass(frozen=True, slots=True)
class Import:
    """One name that a module takes from elsewhere; `target` is a module, absolute and dotted."""

    target: str
    line: int
    relative: bool

    @property
    def ours(self) -> bool:
        """Whether it is an import of this project."""
        return self.target.split(".")[0] == NAMESPACE


@dataclass(frozen=True, slots=True)
class Module:
    """One file of the four roots."""

    name: str
    path: Path
    tree: ast.Module
    imports: tuple[Import, ...]

    @property
    def root(self) -> str:
        """The root it stands in: `canaries`, `harness`, `scenarios` or `reference_impl`."""
        return self.name.split(".")[1]

    @property
    def face(self) -> bool:
        """Whether it is the `__init__.py` of a package."""
        return self.path.name == "__init__.py"


def python_files(root: Path) -> list[Path]:
    """Every Python file of the four roots, tests and bench, in order."""
    folders = [root / name for name in (*ROOTS, "tests", "bench")]
    return sorted(path for folder in folders for path in folder.rglob("*.py") if "__pycache__" not in path.parts)


@cache
def modules(root: Path) -> dict[str, Module]:
    """The modules of the four roots by their dotted name."""
    files = {}
    for source_root in ROOTS:
        folder = root / source_root
        for path in sorted((folder / NAMESPACE / source_root).rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    trees = {name: ast.parse(path.read_text("utf-8"), str(path)) for name, path in files.items()}
    bound = {name: bindings(trees[name]) for name, path in files.items() if path.name == "__init__.py"}
    return {
        name: Module(name, path, trees[name], tuple(_imports(name, path, trees[name], frozenset(files), bound)))
        for name, path in files.items()
    }


def bindings(tree: ast.Module) -> set[str]:
    """The names that the imports of a module bind at its top level."""
    return {
        alias.asname or alias.name.split(".")[0]
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom) and getattr(node, "module", "") != "__future__"
        for alias in node.names
    }


def graph(root: Path) -> dict[str, set[str]]:
    """Who imports whom, among the modules of the four roots."""
    known = modules(root)
    return {
        name: {found.target for found in module.imports if found.target in known and found.target != name}
        for name, module in known.items()
    }


def inside(module: str, package: str) -> bool:
    """Whether the dotted name `module` is `package` or below it."""
    return module == package or module.startswith(package + ".")


def _imports(
    name: str, path: Path, tree: ast.Module, known: frozenset[str], bound: dict[str, set[str]]
) -> Iterator[Import]:
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, relative=False)
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1]] if node.level else []
            base += node.module.split(".") if node.module else []
            source = ".".join(base)
            for alias in node.names:
                below = f"{source}.{alias.name}"
                # A face may bind a name that one of its modules also has: then the face is what answers.
                deeper = below in known and (source == name or alias.name not in bound.get(source, set()))
                yield Import(below if deeper else source, node.lineno, relative=bool(node.level))
        elif isinstance(node, ast.Call) and (literal := _dynamic(node)):
            yield Import(literal, node.lineno, relative=False)


def _dynamic(node: ast.Call) -> str:
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if called not in ("import_module", "__import__") or not node.args:
        return ""
    first = node.args[0]
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
