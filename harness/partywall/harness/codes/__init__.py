"""What every finding code means, one table a hundred; `catalogue` shows them as one."""

__all__: list[str] = []
