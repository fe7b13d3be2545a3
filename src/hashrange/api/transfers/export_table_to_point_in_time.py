"""ExportTableToPointInTime: a table as it was, or what has changed in it, as files in a bucket."""

from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from hashrange import ids
from hashrange.api.backups import continuous
from hashrange.api.context import Context
from hashrange.api.errors import ApiError, limit_exceeded
from hashrange.api.protocol.digests import digest
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import AttributeMap, AttributeNames, Request, Response, Structure
from hashrange.api.results import Described
from hashrange.api.table_names import existing_table, table_missing
from hashrange.api.transfers.export_filters import Filter
from hashrange.api.transfers.exports import ExportDescription, described
from hashrange.api.transfers.repeated import earlier_job
from hashrange.api.transfers.structures import (
    ClientToken,
    KmsKeyId,
    S3Bucket,
    S3BucketOwner,
    S3Prefix,
    TableArn,
    Timestamp,
    invalid,
    new_place,
    table_of_arn,
)
from hashrange.core.schema import Table, changed
from hashrange.core.table_life import gone
from hashrange.storage import catalogue, change_log, holds, job_tokens
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.export_rows import ACTIVE_MAX, EXPORTS, Export, ExportFilter, Window
from hashrange.storage.job_rows import JobPlace

_KIND = "export"
_MICROSECONDS = 1_000_000
_WINDOW_SECONDS_MIN = 15 * 60
_WINDOW_SECONDS_MAX = 24 * 3600


class IncrementalExportSpecification(Structure, kw_only=True):
    """Which changes, and which images of them."""

    export_from_time: Timestamp | None = None
    export_to_time: Timestamp | None = None
    export_view_type: Literal["NEW_IMAGE", "NEW_AND_OLD_IMAGES"] | None = None


class FilterSpecification(Structure, kw_only=True):
    """Which items, and what of them."""

    key_condition_expression: str | None = None
    filter_expression: str | None = None
    projection_expression: str | None = None
    expression_attribute_names: AttributeNames | None = None
    expression_attribute_values: AttributeMap | None = None


class ExportTableToPointInTime(Request, kw_only=True):
    """The request."""

    table_arn: TableArn
    export_time: Timestamp | None = None
    client_token: ClientToken | None = None
    s3_bucket: S3Bucket
    s3_bucket_owner: S3BucketOwner | None = None
    s3_prefix: S3Prefix | None = None
    s3_sse_algorithm: Literal["AES256", "KMS"] | None = msgspec.field(name="S3SseAlgorithm", default=None)
    s3_sse_kms_key_id: KmsKeyId | None = msgspec.field(name="S3SseKmsKeyId", default=None)
    export_format: Literal["DYNAMODB_JSON", "ION"] | None = None
    export_type: Literal["FULL_EXPORT", "INCREMENTAL_EXPORT"] | None = None
    incremental_export_specification: IncrementalExportSpecification | None = None
    filter_specification: FilterSpecification | None = None


SHAPE = Shape(ExportTableToPointInTime)


class ExportTableToPointInTimeOutput(Response, kw_only=True):
    """The answer."""

    export_description: ExportDescription


def export_table_to_point_in_time(context: Context, request: ExportTableToPointInTime) -> Plan:
    """Check the request, then hold the past that it is about; a job writes the files."""
    planned = existing_table(context, table_of_arn(context, request.table_arn))
    now = context.clock.now()
    place = new_place(context, now)
    same = digest(msgspec.structs.replace(request, client_token=None))

    def step(tx: Transaction) -> Described:
        repeated = _repeated(tx, place, request.client_token, same, now)
        if repeated is not None:
            return repeated
        stored = None if planned is None else catalogue.stored_table(tx, *catalogue.address(planned))
        if stored is None or gone(stored, now):
            raise table_missing(request.table_arn)
        _check(request, stored)
        if len(EXPORTS.active(tx)) >= ACTIVE_MAX:
            raise limit_exceeded(
                f"Subscriber limit exceeded: Only {ACTIVE_MAX} export operations can be done simultaneously"
            )
        export = _held(tx, _export(request, stored, now), place, now)
        EXPORTS.save(tx, place, export, active=True)
        catalogue.announce(tx)
        if request.client_token is not None:
            job_tokens.save(tx, _KIND, place, request.client_token, digest=same, now=now)
        return _answer(place, export)

    def after() -> None:
        if planned is not None:
            context.catalogue.refresh(*catalogue.address(planned))

    return Write(step, after=after)


def _repeated(
    reader: Reader, place: JobPlace, token: str | None, same: bytes, now: float
) -> Described | None:
    """The answer to a request that was answered before."""
    conflict = ApiError(
        "ExportConflictException",
        "Export conflict: Duplicate request detected with conflicting parameters",
    )
    earlier = earlier_job(reader, EXPORTS, _KIND, place, token, digest=same, now=now, conflict=conflict)
    return None if earlier is None else _answer(*earlier)


def _answer(place: JobPlace, export: Export) -> Described:
    return Described(ExportTableToPointInTimeOutput(export_description=described(place, export)))


def _check(request: ExportTableToPointInTime, table: Table) -> None:
    """What is checked before any time is: point-in-time recovery first."""
    if table.pitr_since is None or table.status == "DELETING":
        raise ApiError(
            "PointInTimeRecoveryUnavailableException",
            f"Point in time recovery is not enabled for table '{table.name}'",
        )
    if request.s3_sse_kms_key_id is not None and request.s3_sse_algorithm != "KMS":
        raise invalid("KMS Key Id is not supported for this encryption type")
    _check_types(request)
    spec = request.filter_specification
    if spec is not None and not spec:
        raise invalid("Invalid FilterSpecification: The specification can not be empty")
    if spec is not None:
        Filter(table, _filter(spec))


def _check_types(request: ExportTableToPointInTime) -> None:
    spec = request.incremental_export_specification
    if spec is not None and request.export_type is None:
        raise invalid(
            "Export Type expected to be Incremental Export when incremental export specification is provided"
        )
    if spec is not None and request.export_type == "FULL_EXPORT":
        raise invalid(
            "When Export Type is Full Export , Incremental Export Specification should not be provided"
        )
    if spec is None and request.export_type == "INCREMENTAL_EXPORT":
        raise invalid(
            "Incremental Export Specification expected when export type is set as Incremental Export"
        )
    if spec is not None and spec.export_from_time is None:
        raise invalid("ExportFromTime must be provided in IncrementalExportSpecification")


def _filter(spec: FilterSpecification) -> ExportFilter:
    return msgspec.convert(spec, ExportFilter, from_attributes=True)


def _export(request: ExportTableToPointInTime, table: Table, now: float) -> Export:
    common: dict[str, Any] = {
        "source": table,
        "started_at": now,
        "filter": None if request.filter_specification is None else _filter(request.filter_specification),
        "client_token": request.client_token or ids.unique_id(),
        "bucket": request.s3_bucket,
        "bucket_owner": request.s3_bucket_owner,
        "prefix": request.s3_prefix,
        "sse_algorithm": request.s3_sse_algorithm,
        "sse_kms_key_id": request.s3_sse_kms_key_id,
        "format": request.export_format or "DYNAMODB_JSON",
    }
    if request.incremental_export_specification is None:
        return _full(request, table, now, common)
    window = _window(request.incremental_export_specification, table, now)
    moment_us = round(window.start * _MICROSECONDS) - 1
    return Export(**common, window=window, moment_us=moment_us)


def _full(request: ExportTableToPointInTime, table: Table, now: float, common: dict[str, Any]) -> Export:
    """Everything that was committed in the second of the export time is included."""
    moment = request.export_time
    if moment is None:
        return Export(**common, export_time=now, moment_us=0)
    if not continuous.earliest(table, now) <= moment <= now:
        raise _invalid_time(f"ExportTime must be within the point in time recovery window : {_iso(moment)}")
    return Export(**common, export_time=moment, moment_us=(int(moment) + 1) * _MICROSECONDS - 1)


def _held(tx: Transaction, export: Export, place: JobPlace, now: float) -> Export:
    """Keep what the export is going to read; without an export time it is about this very transaction."""
    moment_us = holds.hold(tx, export.source, place.id, now, moment_us=export.moment_us or None)
    table = catalogue.stored_table(tx, *catalogue.address(export.source)) or export.source
    if export.window is not None:
        # A window may end now: what is committed later must not be counted as having been within it.
        change_log.fence(tx, table, round(export.window.end * _MICROSECONDS) - 1)
    return changed(export, source=table, moment_us=moment_us)


def _window(spec: IncrementalExportSpecification, table: Table, now: float) -> Window:
    start = spec.export_from_time or 0.0
    end = float(continuous.latest(table, now)) if spec.export_to_time is None else spec.export_to_time
    if start < continuous.earliest(table, now):
        raise _invalid_time(
            "Incremental export period from time cannot be less than the table creation time : " + _iso(start)
        )
    if end > now:
        raise _invalid_time(
            "Incremental export period to time cannot be greater than the current time : " + _iso(end)
        )
    if end - start < _WINDOW_SECONDS_MIN:
        raise _invalid_time(
            "Difference between export period from time and export period to time is less than 15 minutes"
        )
    if end - start > _WINDOW_SECONDS_MAX:
        raise _invalid_time(
            "Difference between export period from time and export period to time is greater than 24 hours"
        )
    return Window(start, end, spec.export_view_type or "NEW_AND_OLD_IMAGES")


def _invalid_time(message: str) -> ApiError:
    return ApiError("InvalidExportTimeException", message)


def _iso(moment: float) -> str:
    try:
        return datetime.fromtimestamp(int(moment), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return str(moment)
