"""Tables partitioned by tenant in PostgreSQL, under row-level security."""

from .database import PostgresDatabase
from .moving import pull_out
from .schema import discard

__all__ = ["PostgresDatabase", "discard", "pull_out"]
