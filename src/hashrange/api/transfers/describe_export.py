"""DescribeExport: how far an export is, or how it ended."""

from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.api.transfers.exports import ExportDescription, described, export_arn
from hashrange.api.transfers.structures import JobArn, place_of
from hashrange.storage.engine import Reader
from hashrange.storage.export_rows import EXPORTS


class DescribeExport(Request, kw_only=True):
    """The request."""

    export_arn: JobArn


SHAPE = Shape(DescribeExport)


class DescribeExportOutput(Response, kw_only=True):
    """The answer."""

    export_description: ExportDescription


def describe_export(context: Context, request: DescribeExport) -> Plan:
    """Read the export's row."""
    place = place_of(context, request.export_arn, "export")
    if place is None:
        raise ApiError("ExportNotFoundException", "Export not found: Invalid export arn")

    def step(reader: Reader) -> Described:
        export = EXPORTS.find(reader, place)
        if export is None or export_arn(place, export) != request.export_arn:
            raise ApiError(
                "ExportNotFoundException", f"Export not found: Export not found: {request.export_arn}"
            )
        return Described(DescribeExportOutput(export_description=described(place, export)))

    return Read(step)
