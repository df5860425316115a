"""Ways in."""

__all__: list[str] = []
