"""Doing it: targets, and the driver that puts a schedule to them."""

__all__: list[str] = []
