"""ListBulkOperations: the bulk operations of the region, newest first."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.api.tables.description import timestamp
from hashrange.api.transfers.bulk_operations import bulk_arn
from hashrange.api.transfers.structures import PAGE_DEFAULT, PageSize, PageToken, next_token, read_token
from hashrange.storage.bulk_rows import BULK_OPERATIONS, BulkOperation
from hashrange.storage.engine import Reader
from hashrange.storage.job_rows import JobPlace


class ListBulkOperations(Request, kw_only=True):
    """The request."""

    max_results: PageSize | None = None
    next_token: PageToken | None = None


SHAPE = Shape(ListBulkOperations)


class BulkOperationSummary(Response, kw_only=True):
    """One operation."""

    bulk_operation_arn: str
    bulk_operation_status: str
    start_time: float
    end_time: float | None = None


class ListBulkOperationsOutput(Response, kw_only=True):
    """The answer."""

    bulk_operations_summary_list: list[BulkOperationSummary]
    next_token: str | None = None


def list_bulk_operations(context: Context, request: ListBulkOperations) -> Plan:
    """Go back in time from where the last page ended."""
    start = read_token(request.next_token)
    limit = request.max_results or PAGE_DEFAULT

    def step(reader: Reader) -> Described:
        page: list[BulkOperationSummary] = []
        last = ""
        here = (context.account_id, context.region)
        for place, record in BULK_OPERATIONS.of_region(reader, *here, after=start, reverse=True):
            if len(page) == limit:
                token = next_token(last)
                return Described(
                    ListBulkOperationsOutput(bulk_operations_summary_list=page, next_token=token)
                )
            page.append(_summary(place, record))
            last = place.id
        return Described(ListBulkOperationsOutput(bulk_operations_summary_list=page))

    return Read(step)


def _summary(place: JobPlace, record: BulkOperation) -> BulkOperationSummary:
    return BulkOperationSummary(
        bulk_operation_arn=bulk_arn(place, record),
        bulk_operation_status=record.status,
        start_time=timestamp(record.started_at),
        end_time=None if record.ended_at is None else timestamp(record.ended_at),
    )
