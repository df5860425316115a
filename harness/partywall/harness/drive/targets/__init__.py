"""Ways to point at deployments, one file each; the folder is the registry."""

__all__: list[str] = []
