"""DescribeLimits: the account's quotas for provisioned capacity."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Answer, Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.core.limits import ACCOUNT_CAPACITY_UNITS_MAX, TABLE_CAPACITY_UNITS_MAX


class DescribeLimits(Request, kw_only=True):
    """The request."""


SHAPE = Shape(DescribeLimits)


class DescribeLimitsOutput(Response, kw_only=True):
    """The answer."""

    account_max_read_capacity_units: int
    account_max_write_capacity_units: int
    table_max_read_capacity_units: int
    table_max_write_capacity_units: int


_OUTPUT = DescribeLimitsOutput(
    account_max_read_capacity_units=ACCOUNT_CAPACITY_UNITS_MAX,
    account_max_write_capacity_units=ACCOUNT_CAPACITY_UNITS_MAX,
    table_max_read_capacity_units=TABLE_CAPACITY_UNITS_MAX,
    table_max_write_capacity_units=TABLE_CAPACITY_UNITS_MAX,
)


def describe_limits(_context: Context, _request: DescribeLimits) -> Plan:
    """Every account has the default quotas."""
    return Answer(Described(_OUTPUT))
