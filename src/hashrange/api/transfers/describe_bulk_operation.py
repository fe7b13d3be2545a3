"""DescribeBulkOperation: how far a bulk operation is, or how it ended."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.api.transfers.bulk_operations import (
    BulkOperationDescription,
    described,
    find,
    operation_place,
)
from hashrange.api.transfers.structures import JobArn
from hashrange.storage.engine import Reader


class DescribeBulkOperation(Request, kw_only=True):
    """The request."""

    bulk_operation_arn: JobArn


SHAPE = Shape(DescribeBulkOperation)


class DescribeBulkOperationOutput(Response, kw_only=True):
    """The answer."""

    bulk_operation_description: BulkOperationDescription


def describe_bulk_operation(context: Context, request: DescribeBulkOperation) -> Plan:
    """Read the operation's row."""
    place = operation_place(context, request.bulk_operation_arn)

    def step(reader: Reader) -> Described:
        record = find(reader, place, request.bulk_operation_arn)
        return Described(DescribeBulkOperationOutput(bulk_operation_description=described(place, record)))

    return Read(step)
