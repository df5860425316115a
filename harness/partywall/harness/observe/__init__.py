"""What happened: histories, the recorder that writes them, the journal that keeps them."""

__all__: list[str] = []
