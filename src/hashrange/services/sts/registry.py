"""The table of the operations of STS, as api/registry.py has it for DynamoDB. It speaks the query protocol only."""

from collections.abc import Iterable
from typing import Any

from hashrange.api.protocol.operation import Operation, QueryProtocol, Service
from hashrange.services.sts import get_caller_identity


def _nothing(_: Any) -> Iterable[str]:
    return ()


_GET_CALLER_IDENTITY = Operation(
    "GetCallerIdentity",
    get_caller_identity.SHAPE,
    get_caller_identity.get_caller_identity,
    kind="control",
    resources=_nothing,
    action="sts:GetCallerIdentity",
)

STS = Service(
    "sts",
    "AWSSecurityTokenServiceV20110615.",
    "",
    {_GET_CALLER_IDENTITY.name: _GET_CALLER_IDENTITY},
    "sts",
    QueryProtocol("2011-06-15", "https://sts.amazonaws.com/doc/2011-06-15/", {}),
)
