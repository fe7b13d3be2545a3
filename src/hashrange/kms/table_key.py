"""The key of a table that another key service wraps: what is stored of it, and who can open it.

As in the service, a key of the key service wraps one key for each table, and that one wraps the table's data keys. So
nothing is sent over a network while data keys are wrapped anew.
"""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from hashrange.core.schema import KeyState


class SealedKey(NamedTuple):
    """A table's key as the key service has wrapped it; none of it is a secret."""

    key_arn: str
    ciphertext: bytes
    table_name: str
    account_id: str

    @property
    def context(self) -> Mapping[str, str]:
        """What binds it to its table."""
        return encryption_context(self.table_name, self.account_id)


def encryption_context(table_name: str, account_id: str) -> dict[str, str]:
    """The encryption context of every request to a key service that is about a table."""
    return {"aws:dynamodb:tableName": table_name, "aws:dynamodb:subscriberId": account_id}


class TableKeys(Protocol):
    """Has tables' keys at hand, and never waits for them."""

    def find(self, sealed: SealedKey) -> bytes | KeyState | None:
        """The key, or why it cannot be used; None if nobody has asked the key service yet."""

    def holds(self, sealed: SealedKey) -> bool:
        """Whether the key is at hand."""

    def tick(self) -> None:
        """Drop keys whose time is over, and ask for those that are due."""
