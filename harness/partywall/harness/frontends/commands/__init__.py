"""Commands, one file each. Heavy imports stand inside the functions, so that `partywall --version` stays light."""

__all__: list[str] = []
