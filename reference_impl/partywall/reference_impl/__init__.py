"""The reference agent: it does everything right."""

__all__: list[str] = []
