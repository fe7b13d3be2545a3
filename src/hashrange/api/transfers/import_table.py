"""ImportTable: a new table with the items of a bucket's objects."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hashrange import ids
from hashrange.api.context import Context
from hashrange.api.errors import ApiError, in_use, limit_exceeded
from hashrange.api.keys.table_encryption import keeper, with_key
from hashrange.api.protocol import kinds
from hashrange.api.protocol.digests import digest
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import NewName, Request, Response, Structure
from hashrange.api.results import Described
from hashrange.api.tables.new_tables import TableDefinition, new_table
from hashrange.api.tables.structures import (
    AttributeDefinition,
    BillingMode,
    GlobalSecondaryIndex,
    OnDemandThroughput,
    PairKeySchema,
    ProvisionedThroughput,
    SSESpecification,
)
from hashrange.api.transfers.imports import ImportTableDescription, described
from hashrange.api.transfers.repeated import earlier_job
from hashrange.api.transfers.structures import (
    ClientToken,
    CompressionType,
    S3Bucket,
    S3BucketOwner,
    S3Prefix,
    invalid,
    new_place,
)
from hashrange.core.table_life import gone
from hashrange.formats.csv_rows import CsvOptions
from hashrange.formats.readers import InputOptions
from hashrange.storage import catalogue, job_tokens
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.import_rows import ACTIVE_MAX, IMPORTS, Import
from hashrange.storage.job_rows import JobPlace

_KIND = "import"
_HEADER_NAME_CHARS_MAX = 65_536


class S3BucketSource(Structure, kw_only=True):
    """Where the objects are."""

    s3_bucket_owner: S3BucketOwner | None = None
    s3_bucket: S3Bucket
    s3_key_prefix: S3Prefix | None = None


class Csv(Structure, kw_only=True):
    """How to read CSV."""

    delimiter: (
        Annotated[
            str,
            Meta(min_length=1, max_length=1, pattern=r"\A[,;:|\t ]\Z"),
            kinds.Text(least=1, most=1, pattern=kinds.compiled(r"[,;:|\t ]")),
        ]
        | None
    ) = None
    header_list: (
        Annotated[
            list[Annotated[str, Meta(min_length=1, max_length=_HEADER_NAME_CHARS_MAX)]],
            Meta(min_length=1, max_length=255),
        ]
        | None
    ) = None


class InputFormatOptions(Structure, kw_only=True):
    """How to read a format."""

    csv: Csv | None = None


class TableCreationParameters(Structure, kw_only=True):
    """The new table."""

    table_name: NewName
    attribute_definitions: list[AttributeDefinition]
    key_schema: PairKeySchema
    billing_mode: BillingMode | None = None
    provisioned_throughput: ProvisionedThroughput | None = None
    on_demand_throughput: OnDemandThroughput | None = None
    sse_specification: SSESpecification | None = None
    global_secondary_indexes: list[GlobalSecondaryIndex] | None = None


class ImportTable(Request, kw_only=True):
    """The request."""

    client_token: ClientToken | None = None
    s3_bucket_source: S3BucketSource
    input_format: Literal["DYNAMODB_JSON", "ION", "CSV"]
    input_format_options: InputFormatOptions | None = None
    input_compression_type: CompressionType | None = None
    table_creation_parameters: TableCreationParameters


SHAPE = Shape(ImportTable)


class ImportTableOutput(Response, kw_only=True):
    """The answer."""

    import_table_description: ImportTableDescription


def import_table(context: Context, request: ImportTable) -> Plan:
    """Check the new table's definition; a job makes and fills it."""
    now = context.clock.now()
    place = new_place(context, now)
    wanted = _record(context, request, now)
    finder = keeper(context, wanted.table.sse_key, wanted.table.name)
    name = request.table_creation_parameters.table_name
    same = digest(name)  # another prefix under the same token is ignored (measured)

    def step(tx: Transaction) -> Described:
        repeated = _repeated(tx, place, request.client_token, same, now)
        if repeated is not None:
            return repeated
        record = msgspec.structs.replace(wanted, table=with_key(tx, finder, wanted.table))
        stored = catalogue.stored_table(tx, *catalogue.address(record.table))
        if stored is not None and not gone(stored, now):
            raise in_use(f"Table already exists: {name}")
        if len(IMPORTS.active(tx)) >= ACTIVE_MAX:
            raise limit_exceeded(
                f"Subscriber limit exceeded: Only {ACTIVE_MAX} import operations can be done simultaneously"
            )
        IMPORTS.save(tx, place, record, active=True)
        catalogue.announce(tx)
        if request.client_token is not None:
            job_tokens.save(tx, _KIND, place, request.client_token, digest=same, now=now)
        return _answer(place, record)

    return Write(step, after=lambda: context.catalogue.refresh(*catalogue.address(wanted.table)))


def _repeated(
    reader: Reader, place: JobPlace, token: str | None, same: bytes, now: float
) -> Described | None:
    """The answer to a request that was answered before."""
    conflict = ApiError(
        "ImportConflictException",
        "Import conflict: Duplicate request detected with conflicting parameters",
    )
    earlier = earlier_job(reader, IMPORTS, _KIND, place, token, digest=same, now=now, conflict=conflict)
    return None if earlier is None else _answer(*earlier)


def _answer(place: JobPlace, record: Import) -> Described:
    return Described(ImportTableOutput(import_table_description=described(place, record)))


def _record(context: Context, request: ImportTable, now: float) -> Import:
    if request.input_format_options is not None and request.input_format != "CSV":
        raise invalid(f"Unsupported InputFormatOptions for the given input format: {request.input_format}.")
    parameters = request.table_creation_parameters
    members = {field: getattr(parameters, field) for field in parameters.__struct_fields__}
    table = new_table(context, TableDefinition(**members), now)
    source = request.s3_bucket_source
    return Import(
        table=table,
        started_at=now,
        client_token=request.client_token or ids.unique_id(),
        bucket=source.s3_bucket,
        bucket_owner=source.s3_bucket_owner,
        prefix=source.s3_key_prefix,
        options=_options(request),
        format_options=None
        if request.input_format_options is None
        else msgspec.json.encode(request.input_format_options),
        parameters=msgspec.json.encode(parameters),
    )


def _options(request: ImportTable) -> InputOptions:
    csv = None if request.input_format_options is None else request.input_format_options.csv
    header = None if csv is None else csv.header_list
    if header is not None and len(set(header)) != len(header):
        raise invalid("HeaderList must not have a name twice")
    return InputOptions(
        input_format=request.input_format,
        compression=request.input_compression_type or "NONE",
        csv=CsvOptions(
            "," if csv is None or csv.delimiter is None else csv.delimiter,
            None if header is None else tuple(header),
        ),
    )
