"""Scenarios: one hazard a file."""

__all__: list[str] = []
