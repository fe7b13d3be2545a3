"""Stores that are copied whole, with their rows encrypted on the way in or opened on the way out."""

from typing import Protocol

from hashrange.storage.copying import Copyable
from hashrange.storage.data_keys import DataKeys
from hashrange.storage.encrypting import EncryptedEngine, ReadStep


class EncryptedTarget(EncryptedEngine):
    """An empty engine that a copy is encrypted into."""

    def __init__(self, engine: Copyable, keys: DataKeys) -> None:
        super().__init__(engine, keys)
        self.counters = engine.counters


class Stored(Protocol):
    """A store that is only read."""

    @property
    def description(self) -> str:
        """Name it, for people."""

    @property
    def read(self) -> ReadStep:
        """Run a step on one snapshot."""

    def counters(self) -> list[tuple[bytes, int]]:
        """Give all counters that are not zero."""
