"""Settings from arguments and environment; secrets only by `${NAME}` reference."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from partywall.canaries import UsageError
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator

from .lifecycle import Limits

TOKEN_KEY = "PARTYWALL_TOKEN_KEY"
MARK_KEY = "PARTYWALL_KEY"
EPOCH = "PARTYWALL_EPOCH"
MODEL_KEY = "PARTYWALL_MODEL_KEY"
POSTGRES_URL = "PARTYWALL_POSTGRES_URL"
REDIS_URL = "PARTYWALL_REDIS_URL"
LAYOUTS = ("sqlite", "sqlite-per-tenant", "postgres")
SHARED = "+redis"
STORES = tuple(layout + shared for layout in LAYOUTS for shared in ("", SHARED))
"""What `store` may say: where the rows lie and, with `+redis`, that cache, locks and rates lie in Redis."""
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_TEST_KEY = re.compile(r"sk-test-", re.IGNORECASE)


class Settings(BaseModel):
    """One numbered snapshot of what a deployment runs with.

    `token_key` verifies identities (≥ 32 bytes); `mark_key` mints session canaries, none without it;
    `model_key` is a `${NAME}` reference or empty; the URLs of stores may hold a password. Times are seconds.
    `store_schema` names this deployment's share of a server. Bursts are calls at once, 0 is no limit; refills are
    calls a second.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    data: Path
    model_url: str
    token_key: SecretStr
    host: str = "127.0.0.1"
    port: int = Field(default=0, ge=0, le=65535)
    model_name: str = "reference"
    model_key: str = ""
    mark_key: SecretStr | None = None
    epoch: str = "0"
    model_timeout: float = Field(default=10.0, gt=0)
    model_deadline: float = Field(default=20.0, gt=0)
    model_retries: int = Field(default=2, ge=0, le=5)
    lock_timeout: float = Field(default=5.0, gt=0)
    history_turns: int = Field(default=20, ge=1, le=80)
    recalled_memories: int = Field(default=8, ge=0, le=100)
    idle_after: float = Field(default=15 * 60, gt=0)
    lifetime: float = Field(default=8 * 3600, gt=0)
    archive_after: float = Field(default=30 * 86400, gt=0)
    max_turns: int = Field(default=200, ge=4)
    condense_at: int = Field(default=180, ge=4)
    task_after: float = Field(default=7 * 86400, gt=0)
    user_after: float = Field(default=365 * 86400, gt=0)
    sweep_every: float = Field(default=60.0, gt=0)
    movable_clock: bool = False
    objects_url: str = ""
    store: str = "sqlite"
    store_schema: str = Field(default="partywall", pattern=r"^[a-z][a-z0-9_]{0,39}$")
    postgres_url: SecretStr | None = None
    redis_url: SecretStr | None = None
    user_burst: int = Field(default=500, ge=0)
    user_refill: float = Field(default=50.0, gt=0)
    tenant_burst: int = Field(default=1000, ge=0)
    tenant_refill: float = Field(default=200.0, gt=0)
    snapshot: int = 1

    @field_validator("token_key")
    @classmethod
    def _long_enough(cls, value: SecretStr) -> SecretStr:
        if len(value.get_secret_value().encode()) < 32:
            raise ValueError("the token key needs at least 32 bytes")
        return value

    @field_validator("store")
    @classmethod
    def _a_known_store(cls, value: str) -> str:
        if value not in STORES:
            raise ValueError(f"no store {value!r}; known: {', '.join(STORES)}")
        return value

    @model_validator(mode="after")
    def _condensed_before_it_is_full(self) -> Settings:
        if self.condense_at > self.max_turns:
            raise ValueError(f"condense_at ({self.condense_at}) must not be above max_turns ({self.max_turns})")
        return self

    @property
    def limits(self) -> Limits:
        """How long sessions and layers live, and how long sessions may become."""
        return Limits(**{each.name: getattr(self, each.name) for each in fields(Limits)})

    @property
    def layout(self) -> str:
        """Where the rows lie: one of LAYOUTS."""
        return self.store.removesuffix(SHARED)

    @property
    def shared(self) -> bool:
        """Whether cache, locks and rates lie in Redis."""
        return self.store.endswith(SHARED)

    @field_validator("model_key")
    @classmethod
    def _only_a_reference(cls, value: str) -> str:
        if value and not _REFERENCE.fullmatch(value):
            # The value is not repeated: it may be the secret itself.
            raise ValueError("the model key must be a reference such as ${LLM_API_KEY}, never the key itself")
        return value

    @field_validator("model_url")
    @classmethod
    def _a_web_address(cls, value: str) -> str:
        if not value.startswith(("http://", "https://")):
            raise ValueError("the model url must begin with http:// or https://")
        return value


def resolve(reference: str, environment: Mapping[str, str] | None = None) -> str | None:
    """The secret behind `${NAME}`; None for an empty reference.

    Raises UsageError where it is unset, or where it is a test key (`sk-test-…`): those must not reach a
    running deployment.
    """
    if not reference:
        return None
    found = _REFERENCE.fullmatch(reference)
    if found is None:
        raise UsageError("a secret is given by reference, such as ${LLM_API_KEY}")
    value = (os.environ if environment is None else environment).get(found[1], "")
    if not value:
        raise UsageError(f"secret reference {reference} is not set in the environment")
    if _TEST_KEY.match(value.strip()):
        raise UsageError(f"secret reference {reference} holds a test key (sk-test-…), refused at run time")
    return value


def from_environment(given: Mapping[str, object], environment: Mapping[str, str] | None = None) -> Settings:
    """Settings of the arguments, completed from the environment. Raises UsageError, never showing a value."""
    known = os.environ if environment is None else environment
    named = {"token_key": TOKEN_KEY, "mark_key": MARK_KEY, "epoch": EPOCH, "model_key": MODEL_KEY}
    named |= {"postgres_url": POSTGRES_URL, "redis_url": REDIS_URL}
    read = {field: known[name] for field, name in named.items() if known.get(name)}
    if "token_key" not in read and "token_key" not in given:
        raise UsageError(f"environment variable {TOKEN_KEY} must hold the key that signs identities")
    try:
        return Settings.model_validate({**read, **given})
    except ValueError as error:
        raise UsageError(f"settings refused: {_problems(error)}") from None


def _problems(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return type(error).__name__
    details = error.errors(include_input=False, include_url=False)
    return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in details)
