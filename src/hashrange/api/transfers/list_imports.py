"""ListImports: the imports into a table or into all tables, newest first."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.api.tables.description import timestamp
from hashrange.api.transfers.imports import S3BucketSource, bucket_source, import_arn, log_group_arn
from hashrange.api.transfers.structures import (
    PAGE_DEFAULT,
    PageSize,
    PageToken,
    TableArn,
    next_token,
    read_token,
    table_of_arn,
)
from hashrange.storage.engine import Reader
from hashrange.storage.import_rows import IMPORTS, Import
from hashrange.storage.job_rows import JobPlace


class ListImports(Request, kw_only=True):
    """The request."""

    table_arn: TableArn | None = None
    page_size: PageSize | None = None
    next_token: PageToken | None = None


SHAPE = Shape(ListImports)


class ImportSummary(Response, kw_only=True):
    """One import."""

    import_arn: str
    import_status: str
    table_arn: str
    s3_bucket_source: S3BucketSource
    cloud_watch_log_group_arn: str
    input_format: str
    start_time: float
    end_time: float | None = None


class ListImportsOutput(Response, kw_only=True):
    """The answer."""

    import_summary_list: list[ImportSummary]
    next_token: str | None = None


def list_imports(context: Context, request: ListImports) -> Plan:
    """Go back in time from where the last page ended; imports outlive their tables."""
    name = None if request.table_arn is None else table_of_arn(context, request.table_arn)
    start = read_token(request.next_token)
    limit = request.page_size or PAGE_DEFAULT

    def step(reader: Reader) -> Described:
        page: list[ImportSummary] = []
        last = ""
        here = (context.account_id, context.region)
        for place, record in IMPORTS.of_region(reader, *here, after=start, reverse=True):
            if name not in (None, record.table.name):
                continue
            if len(page) == limit:
                return Described(ListImportsOutput(import_summary_list=page, next_token=next_token(last)))
            page.append(_summary(place, record))
            last = place.id
        return Described(ListImportsOutput(import_summary_list=page))

    return Read(step)


def _summary(place: JobPlace, record: Import) -> ImportSummary:
    return ImportSummary(
        import_arn=import_arn(place, record),
        import_status=record.status,
        table_arn=record.table.arn,
        s3_bucket_source=bucket_source(record),
        cloud_watch_log_group_arn=log_group_arn(place),
        input_format=record.options.input_format,
        start_time=timestamp(record.started_at),
        end_time=None if record.ended_at is None else timestamp(record.ended_at),
    )
