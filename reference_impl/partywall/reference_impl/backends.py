"""What a deployment keeps its state in, as its settings say: database, cache, locks and rates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from partywall.canaries import UsageError
from pydantic import SecretStr

from .cache import TTL, Entries, FileEntries
from .locks import LeaseStore
from .rates import Buckets, TokenBuckets
from .settings import POSTGRES_URL, REDIS_URL, Settings
from .store import Database, SqliteDatabase, Table


class Closing(Protocol):
    """Something that is closed by awaiting it."""

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Backends:
    """`leases` is None where locks hold in this process alone; `shared` is closed at the end."""

    entries: Entries
    buckets: Buckets
    leases: LeaseStore | None = None
    shared: Closing | None = None


def open_database(settings: Settings, tables: Sequence[Table], control: Sequence[Table]) -> Database:
    """The database of `settings.layout`; `tables` belong to tenants, `control` to the deployment.

    Raises UsageError where a URL or a package is wanting or the database is not to be used, StoreDown where it does
    not answer.
    """
    if settings.layout == "sqlite":
        return SqliteDatabase(settings.data / "main.db", (*tables, *control))
    if settings.layout == "sqlite-per-tenant":
        from .store.per_tenant import PerTenantFiles

        return PerTenantFiles(settings.data / "main", tables, control)
    url = _url(settings.postgres_url, POSTGRES_URL, settings.store)
    with _extra("postgres"):
        from .store.postgres import PostgresDatabase
    return PostgresDatabase(url, settings.store_schema, tables, control)


def open_backends(settings: Settings) -> Backends:
    """Cache entries, rate buckets and leases. Raises UsageError where a URL or a package is wanting."""
    if not settings.shared:
        return Backends(FileEntries(settings.data / "cache.db"), TokenBuckets())
    url = _url(settings.redis_url, REDIS_URL, settings.store)
    with _extra("redis"):
        from .shared import Shared, SharedBuckets, SharedEntries, SharedLock
    shared = Shared(url, settings.store_schema)
    return Backends(
        SharedEntries(shared, TTL), SharedBuckets(shared), SharedLock(shared, settings.lock_timeout), shared
    )


def _url(given: SecretStr | None, name: str, store: str) -> str:
    if given is None:
        raise UsageError(f"store {store} needs the URL of its server in the environment variable {name}")
    return given.get_secret_value()


@contextmanager
def _extra(name: str) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError:
        raise UsageError(f"this store needs the extra {name!r}: pip install 'partywall[{name}]'") from None
