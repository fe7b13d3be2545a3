"""Refusals: the service's exceptions, messages and reasons for requests that find no capacity."""

from collections.abc import Sequence

import msgspec

from hashrange.api.errors import ApiError
from hashrange.capacity.limits import Limit
from hashrange.core.schema import Index, Table

_TABLE = (
    "The level of configured provisioned throughput for the table was exceeded. "
    "Consider increasing your provisioning level with the UpdateTable API."
)
_INDEX = (
    "The level of configured provisioned throughput for one or more global secondary indexes of the table was "
    "exceeded. Consider increasing your provisioning level for the under-provisioned global secondary indexes with "
    "the UpdateTable API"
)
_ON_DEMAND = (
    "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or "
    "index so please try again shortly. If exceptions persist, check if you have a hot key: "
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
)
_ON_DEMAND_INDEX = (
    "Throughput exceeds the current capacity for one or more global secondary indexes. DynamoDB is automatically "
    "scaling your index so please try again shortly."
)
_MAXIMUM = "Throughput exceeds the maximum OnDemandThroughput configured on table or index"
_ACCOUNT = (
    "Throughput exceeds the current throughput limit for your account. To request a limit increase, contact AWS "
    "Support at https://aws.amazon.com/support"
)

# What an element of a transaction or of a batch of statements has in place of the exception.
_ELEMENT_CODES = {
    "ProvisionedThroughputExceededException": "ProvisionedThroughputExceeded",
    "RequestLimitExceeded": "RequestLimitExceeded",
    "ThrottlingException": "ThrottlingError",
}


class Refusal(msgspec.Struct, frozen=True):
    """Why an item is not read or written now: the limits of a table or global index that are reached."""

    table: Table
    index: Index | None
    key: bytes  # of the item; of a page where it would have begun; of an index that is behind its row that waits
    write: bool
    limits: tuple[Limit, ...]

    @property
    def code(self) -> str:
        """The exception, which goes by the billing mode."""
        if "AccountLimitExceeded" in self.limits:
            return "RequestLimitExceeded"
        return "ThrottlingException" if self._is_on_demand else "ProvisionedThroughputExceededException"

    @property
    def _is_on_demand(self) -> bool:
        """A table that is being switched to on-demand still serves what was provisioned."""
        return self.table.on_demand and "ProvisionedThroughputExceeded" not in self.limits

    @property
    def element_code(self) -> str:
        """The same as an element of a transaction, or of a batch of statements, has it."""
        return _ELEMENT_CODES[self.code]

    @property
    def message(self) -> str:
        """The service's words."""
        if "AccountLimitExceeded" in self.limits:
            return _ACCOUNT
        if not self._is_on_demand:
            return _TABLE if self.index is None else _INDEX
        if "MaxOnDemandThroughputExceeded" in self.limits:
            return _MAXIMUM
        return _ON_DEMAND if self.index is None else _ON_DEMAND_INDEX

    @property
    def reasons(self) -> list[dict[str, str]]:
        """What SDKs show as ThrottlingReasons, all limits that are reached."""
        owner = "Table" if self.index is None else "Index"
        kind = "Write" if self.write else "Read"
        arn = self.table.arn if self.index is None else f"{self.table.arn}/index/{self.index.name}"
        return [{"reason": f"{owner}{kind}{limit}", "resource": arn} for limit in self.limits]

    def error(self) -> ApiError:
        """The exception. ThrottlingException alone spells the member with a small letter."""
        code = self.code
        member = "throttlingReasons" if code == "ThrottlingException" else "ThrottlingReasons"
        error = ApiError(code, self.message, fields={member: self.reasons})
        error.refusals = (self,)
        return error


def throttled(refusals: Sequence[Refusal]) -> ApiError:
    """The exception of a batch none of whose items was admitted: it tells of the first."""
    error = refusals[0].error()
    error.refusals = tuple(refusals)
    return error
