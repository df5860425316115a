"""Forms of telling, one file each; the folder is the registry."""

__all__: list[str] = []
