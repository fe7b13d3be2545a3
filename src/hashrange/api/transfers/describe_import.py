"""DescribeImport: how far an import is, or how it ended."""

from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.api.transfers.imports import ImportTableDescription, described, import_arn
from hashrange.api.transfers.structures import JobArn, place_of
from hashrange.storage.engine import Reader
from hashrange.storage.import_rows import IMPORTS


class DescribeImport(Request, kw_only=True):
    """The request."""

    import_arn: JobArn


SHAPE = Shape(DescribeImport)


class DescribeImportOutput(Response, kw_only=True):
    """The answer."""

    import_table_description: ImportTableDescription


def describe_import(context: Context, request: DescribeImport) -> Plan:
    """Read the import's row."""
    place = place_of(context, request.import_arn, "import")
    if place is None:
        raise _missing(request.import_arn)

    def step(reader: Reader) -> Described:
        record = IMPORTS.find(reader, place)
        if record is None or import_arn(place, record) != request.import_arn:
            raise _missing(request.import_arn)
        return Described(DescribeImportOutput(import_table_description=described(place, record)))

    return Read(step)


def _missing(arn: str) -> ApiError:
    return ApiError("ImportNotFoundException", f"Import not found: Import not found: {arn}")
