"""Ways in: the command line; later the pytest plugin and the Locust user."""

__all__: list[str] = []
