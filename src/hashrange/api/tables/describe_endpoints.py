"""DescribeEndpoints: where SDKs that look for it find the service."""

from typing import Any

from hashrange.api import answers
from hashrange.api.context import Context
from hashrange.api.plan import Answer, Plan
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape

_CACHE_PERIOD_MINUTES = 1440


@operation("DescribeEndpoints", Shape({}))
def describe_endpoints(context: Context, _request: dict[str, Any]) -> Plan:
    """This server is its own endpoint."""
    address = f"{context.settings.host}:{context.settings.port}"
    return Answer(
        answers.body({"Endpoints": [{"Address": address, "CachePeriodInMinutes": _CACHE_PERIOD_MINUTES}]})
    )
