"""DescribeEndpoints: where SDKs that look for it find the service."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Answer, Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described

_CACHE_PERIOD_MINUTES = 1440


class DescribeEndpoints(Request, kw_only=True):
    """The request."""


SHAPE = Shape(DescribeEndpoints)


class Endpoint(Response, kw_only=True):
    """Where the service is, and for how long that is good."""

    address: str
    cache_period_in_minutes: int


class DescribeEndpointsOutput(Response, kw_only=True):
    """The answer."""

    endpoints: list[Endpoint]


def describe_endpoints(context: Context, _request: DescribeEndpoints) -> Plan:
    """This server is its own endpoint."""
    address = f"{context.settings.host}:{context.settings.port}"
    endpoint = Endpoint(address=address, cache_period_in_minutes=_CACHE_PERIOD_MINUTES)
    return Answer(Described(DescribeEndpointsOutput(endpoints=[endpoint])))
