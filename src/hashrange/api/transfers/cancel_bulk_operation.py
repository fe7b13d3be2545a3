"""CancelBulkOperation: write no more; what is written stays."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.api.transfers.bulk_operations import find, operation_place
from hashrange.api.transfers.structures import JobArn
from hashrange.core.schema import changed
from hashrange.storage.bulk_rows import BULK_OPERATIONS
from hashrange.storage.engine import Transaction


class CancelBulkOperation(Request, kw_only=True):
    """The request."""

    bulk_operation_arn: JobArn


SHAPE = Shape(CancelBulkOperation)


class CancelBulkOperationOutput(Response, kw_only=True):
    """The answer."""

    bulk_operation_arn: str
    bulk_operation_status: str


def cancel_bulk_operation(context: Context, request: CancelBulkOperation) -> Plan:
    """Mark the operation; its job ends it. One that is over stays as it is."""
    place = operation_place(context, request.bulk_operation_arn)

    def step(tx: Transaction) -> Described:
        record = find(tx, place, request.bulk_operation_arn)
        if not record.is_over:
            record = changed(record, status="CANCELLING")
            BULK_OPERATIONS.save(tx, place, record, active=True)
        return Described(
            CancelBulkOperationOutput(
                bulk_operation_arn=request.bulk_operation_arn, bulk_operation_status=record.status
            )
        )

    return Write(step)
