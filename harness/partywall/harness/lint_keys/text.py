"""A source text by lines, as the parser counts them; its columns are bytes, those that are told are characters."""

from __future__ import annotations

import ast
import io
import tokenize
from functools import cached_property


class Text:
    """One source text beside its tree."""

    def __init__(self, source: str | bytes, tree: ast.Module) -> None:
        if isinstance(source, bytes):
            encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
            source = source.decode(encoding, "replace")
        self.whole = source
        self._tree = tree

    @cached_property
    def _lines(self) -> list[str]:
        # the parser knows three line ends; splitlines would also split at form feeds and at U+2028
        return self.whole.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def column(self, line: int, offset: int) -> int:
        """The column in characters, from 1, of an offset in bytes of UTF-8, from 0."""
        return len(self._line(line).encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "replace")) + 1

    def cut(self, node: ast.expr) -> str:
        """The text of an expression."""
        first, last = node.lineno, node.end_lineno or node.lineno
        lines = [self._line(number) for number in range(first, last + 1)]
        lines[-1] = lines[-1][: self.column(last, node.end_col_offset or 0) - 1]
        lines[0] = lines[0][self.column(first, node.col_offset) - 1 :]
        return "\n".join(lines)

    def statement(self, line: int) -> range:
        """The lines of the innermost statement a line stands in; of a compound one only those before its body."""
        best = range(line, line + 1)
        for first, last in self._statements:
            if first <= line <= last and (len(best) == 1 or first >= best.start):
                best = range(first, last + 1)
        return best

    @cached_property
    def _statements(self) -> list[tuple[int, int]]:
        found = []
        for node in ast.walk(self._tree):
            if isinstance(node, ast.stmt):
                body = getattr(node, "body", None) or getattr(node, "cases", None)
                inner = body[0] if isinstance(body, list) else None
                last = node.end_lineno or node.lineno
                if isinstance(inner, ast.stmt):
                    last = max(node.lineno, inner.lineno - 1)
                elif isinstance(inner, ast.match_case):
                    last = node.lineno
                found.append((node.lineno, last))
        return found

    def _line(self, number: int) -> str:
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""
