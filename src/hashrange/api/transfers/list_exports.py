"""ListExports: the exports of a table or of all tables, newest first."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.api.table_names import existing_table
from hashrange.api.transfers.exports import export_arn
from hashrange.api.transfers.structures import (
    PAGE_DEFAULT,
    PageSize,
    TableArn,
    next_token,
    read_token,
    table_of_arn,
)
from hashrange.storage.engine import Reader
from hashrange.storage.export_rows import EXPORTS, Export
from hashrange.storage.job_rows import JobPlace


class ListExports(Request, kw_only=True):
    """The request."""

    table_arn: TableArn | None = None
    max_results: PageSize | None = None
    next_token: str | None = None


SHAPE = Shape(ListExports)


class ExportSummary(Response, kw_only=True):
    """One export."""

    export_arn: str
    export_status: str
    export_type: str


class ListExportsOutput(Response, kw_only=True):
    """The answer."""

    export_summaries: list[ExportSummary]
    next_token: str | None = None


def list_exports(context: Context, request: ListExports) -> Plan:
    """Go back in time from where the last page ended; a table that was made again has no exports yet."""
    table_id = None
    if request.table_arn is not None:
        table = existing_table(context, table_of_arn(context, request.table_arn))
        table_id = "" if table is None else table.table_id
    start = read_token(request.next_token)
    limit = request.max_results or PAGE_DEFAULT

    def step(reader: Reader) -> Described:
        page: list[ExportSummary] = []
        last = ""
        here = (context.account_id, context.region)
        for place, export in EXPORTS.of_region(reader, *here, after=start, reverse=True):
            if table_id not in (None, export.source.table_id):
                continue
            if len(page) == limit:
                return Described(ListExportsOutput(export_summaries=page, next_token=next_token(last)))
            page.append(_summary(place, export))
            last = place.id
        return Described(ListExportsOutput(export_summaries=page))

    return Read(step)


def _summary(place: JobPlace, export: Export) -> ExportSummary:
    return ExportSummary(
        export_arn=export_arn(place, export),
        export_status=export.status,
        export_type="FULL_EXPORT" if export.window is None else "INCREMENTAL_EXPORT",
    )
