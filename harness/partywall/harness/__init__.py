"""The harness: plan, drive, observe, judge, report."""

__all__: list[str] = []
