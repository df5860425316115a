"""One module as the check sees it: its imports, functions and classes, and the names that are bound where."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from .expressions import PATHS, chain_end, chain_of
from .values import Function, Values


@dataclass(slots=True)
class Class:
    """A class of the module: its methods, what `self.…` was set to, the names of its bases."""

    name: str
    methods: dict[str, ast.FunctionDef | ast.AsyncFunctionDef]
    bases: tuple[str, ...]
    attributes: dict[str, Values] = field(default_factory=dict)


@dataclass(slots=True)
class Frame:
    """The names bound at one point of one function; `outer` are those of the function or module around it."""

    names: dict[str, Values] = field(default_factory=dict)
    outer: Frame | None = None
    owner: Class | None = None
    function: Function | None = None

    def find(self, name: str) -> tuple[Values | None, bool]:
        """What a name is bound to, and whether it is bound right here."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names:
                return frame.names[name], frame is self
            frame = frame.outer
        return None, False

    def copy(self) -> Frame:
        """The same names, to be bound on their own from here."""
        return Frame(dict(self.names), self.outer, self.owner, self.function)


@dataclass(slots=True)
class Module:
    """Imports (name → dotted origin) and classes of one file."""

    tree: ast.Module
    imports: dict[str, str] = field(default_factory=dict)
    classes: dict[str, Class] = field(default_factory=dict)

    def method(self, owner: str, name: str) -> tuple[Class, ast.FunctionDef | ast.AsyncFunctionDef] | None:
        """A method of a class or of its bases in this file, and the class that has it."""
        waiting, seen = [owner], set[str]()
        while waiting:
            found = self.classes.get(current := waiting.pop(0))
            if found is None or current in seen:
                continue
            seen.add(current)
            if name in found.methods:
                return found, found.methods[name]
            waiting += found.bases
        return None

    def attribute(self, owner: str, name: str) -> Values:
        """What an attribute was set to in a class of this file or its bases; nothing where it never was."""
        waiting, seen = [owner], set[str]()
        while waiting:
            found = self.classes.get(current := waiting.pop(0))
            if found is None or current in seen:
                continue
            seen.add(current)
            if name in found.attributes:
                return found.attributes[name]
            waiting += found.bases
        return ()


def module_of(tree: ast.Module) -> Module:
    """The imports and classes of a file, wherever in it they stand."""
    module = Module(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                module.imports[name] = alias.name if alias.asname else name
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            for alias in node.names:
                module.imports[alias.asname or alias.name] = f"{origin}.{alias.name}"
        elif isinstance(node, ast.ClassDef) and node.name not in module.classes:
            methods = {
                each.name: each for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
            }
            module.classes[node.name] = Class(node.name, methods, tuple(map(chain_end, node.bases)))
    return module


def dotted(node: ast.expr, module: Module) -> str:
    """The dotted name of what is called, its first part as it was imported."""
    chain = chain_of(node)
    if not chain:
        return ""
    return ".".join((module.imports.get(chain[0], chain[0]), *chain[1:]))


def is_join(node: ast.Call, module: Module) -> bool:
    """Whether it is `os.path.join(…)`, under whatever name it was imported."""
    return dotted(node.func, module).endswith("path.join")


def is_path(node: ast.Call, module: Module) -> bool:
    """Whether it makes a path object: `Path(…)`, `base.joinpath(…)`."""
    end = chain_end(node.func)
    return end in PATHS or end == "joinpath" or dotted(node.func, module).split(".")[-1] in PATHS
