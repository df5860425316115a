"""Telling: results, and reporters that render them."""

__all__: list[str] = []
