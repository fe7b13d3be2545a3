"""The embedded engine: one SQLite file in WAL mode with group commit, or the same in memory."""

from hashrange.storage.sqlite.engine import SqliteEngine
from hashrange.storage.sqlite.memory import MemoryEngine

__all__ = ["MemoryEngine", "SqliteEngine"]
