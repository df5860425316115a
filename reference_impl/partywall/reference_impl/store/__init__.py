"""The store behind the agent: shared tables with the scope in columns."""

from .contract import ArtifactTable, FactTable, MemoryTable, PlaceReport, SessionTable
from .database import Database, Table
from .sqlite import SqliteDatabase

__all__ = [
    "ArtifactTable",
    "Database",
    "FactTable",
    "MemoryTable",
    "PlaceReport",
    "SessionTable",
    "SqliteDatabase",
    "Table",
]
