"""DescribeLimits: the account's quotas for provisioned capacity."""

from typing import Any

from hashrange.api import answers
from hashrange.api.context import Context
from hashrange.api.plan import Answer, Plan
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.core.limits import ACCOUNT_CAPACITY_UNITS_MAX, TABLE_CAPACITY_UNITS_MAX

_BODY = answers.body(
    {
        "AccountMaxReadCapacityUnits": ACCOUNT_CAPACITY_UNITS_MAX,
        "AccountMaxWriteCapacityUnits": ACCOUNT_CAPACITY_UNITS_MAX,
        "TableMaxReadCapacityUnits": TABLE_CAPACITY_UNITS_MAX,
        "TableMaxWriteCapacityUnits": TABLE_CAPACITY_UNITS_MAX,
    }
)


@operation("DescribeLimits", Shape({}))
def describe_limits(_context: Context, _request: dict[str, Any]) -> Plan:
    """Every account has the default quotas."""
    return Answer(_BODY)
