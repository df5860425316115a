"""Deciding: checks that read histories."""

__all__: list[str] = []
