"""Target `http`: any deployment over HTTP, by a profile file or the name of a shipped profile."""

from __future__ import annotations

from ...mock_llm import MockLLM
from ..http import HttpTarget, Profile, load_profile, shipped_profile, shipped_profiles
from ..http.load import SUFFIXES
from ..target import STEADY, TargetKind, TargetSettings
from ._watched import WatchedHttpTarget

_LITERAL_SECRETS = "allow_literal_secrets"


def _claims(spec: str) -> bool:
    return spec.lower().endswith(SUFFIXES) or spec in shipped_profiles()


async def _open(spec: str, settings: TargetSettings) -> HttpTarget:
    """Options are vars of the profile, beside `allow_literal_secrets`. Where the profile has a `model` section, the
    mock LLM is served on its port for the time of the run, and every prompt it is sent is observed."""
    variables = {name: value for name, value in settings.options.items() if name != _LITERAL_SECRETS}
    literal = str(settings.options.get(_LITERAL_SECRETS, "")).lower() in ("true", "1", "yes")
    source = shipped_profile(spec) if spec in shipped_profiles() else spec
    profile = load_profile(source, variables=variables, allow_literal_secrets=literal)
    target = await _watched(profile, settings) if profile.model else HttpTarget(profile)
    try:
        await target.probe()
    except BaseException:
        await target.aclose()
        raise
    return target


async def _watched(profile: Profile, settings: TargetSettings) -> HttpTarget:
    assert profile.model is not None
    fault = profile.model.fault if settings.fault == STEADY else settings.fault
    mock = MockLLM(seed=settings.seed, fault=fault)
    await mock.start(port=profile.model.port)
    return WatchedHttpTarget(profile, mock)


TARGET = TargetKind(
    id="http",
    summary="profile.yaml or the name of a shipped profile, any deployment over HTTP",
    claims=_claims,
    open=_open,
    per_world=False,
)

__all__ = ["TARGET"]
