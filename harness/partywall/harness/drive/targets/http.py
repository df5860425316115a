"""Target `http`: any deployment over HTTP, by a profile file or the name of a shipped profile."""

from __future__ import annotations

from ..http.load import SUFFIXES, load_profile, shipped_profile, shipped_profiles
from ..http.target import HttpTarget
from ..target import TargetKind, TargetSettings

_LITERAL_SECRETS = "allow_literal_secrets"


def _claims(spec: str) -> bool:
    return spec.lower().endswith(SUFFIXES) or spec in shipped_profiles()


async def _open(spec: str, settings: TargetSettings) -> HttpTarget:
    """Options are vars of the profile, beside `allow_literal_secrets`."""
    variables = {name: value for name, value in settings.options.items() if name != _LITERAL_SECRETS}
    literal = str(settings.options.get(_LITERAL_SECRETS, "")).lower() in ("true", "1", "yes")
    source = shipped_profile(spec) if spec in shipped_profiles() else spec
    target = HttpTarget(load_profile(source, variables=variables, allow_literal_secrets=literal))
    await target.probe()
    return target


TARGET = TargetKind(
    id="http",
    summary="profile.yaml or the name of a shipped profile, any deployment over HTTP",
    claims=_claims,
    open=_open,
    per_world=False,
)

__all__ = ["TARGET"]
