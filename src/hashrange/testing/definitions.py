"""A table as a test suite wants it."""

from collections.abc import Iterator
from typing import Any

import msgspec


class TableDefinition(msgspec.Struct, frozen=True):
    """A CreateTable request, and what can only be said about a table once there is one."""

    name: str
    create: dict[str, Any]
    ttl_attribute: str | None = None
    point_in_time_recovery: bool = False

    def requests(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The operations that make the table, with their requests."""
        yield "CreateTable", self.create
        if self.ttl_attribute is not None:
            ttl = {"Enabled": True, "AttributeName": self.ttl_attribute}
            yield "UpdateTimeToLive", {"TableName": self.name, "TimeToLiveSpecification": ttl}
        if self.point_in_time_recovery:
            recovery = {"PointInTimeRecoveryEnabled": True}
            yield (
                "UpdateContinuousBackups",
                {"TableName": self.name, "PointInTimeRecoverySpecification": recovery},
            )
