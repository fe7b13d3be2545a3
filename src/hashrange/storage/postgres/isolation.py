"""How write steps are kept apart: by locks of our own, or by the database's SERIALIZABLE."""

from enum import Enum


class Isolation(Enum):
    """The value of the setting `postgres_isolation`; docs/design/008-postgres-isolation.md compares the two."""

    LOCKING = "locking"
    SERIALIZABLE = "serializable"
