"""The flags of `hashrange import` and `hashrange export`."""

import argparse

_TABLE = "http(s)://HOST/TABLE"
_FILES = "a folder, a file or s3://BUCKET/PREFIX"

IMPORT_DESCRIPTION = (
    "Write into a table what is in an export, in CSV or JSON lines, or in a table at another endpoint. "
    "If it is interrupted, run the same command again: it goes on where it stopped. The exit status is 0 if all "
    "is well, 1 if it failed, 2 if the arguments are wrong, 3 if items were rejected, 4 if the sides differ "
    "(--verify), 130 if it was interrupted."
)
EXPORT_DESCRIPTION = (
    "Write all items of a table into files, in the layout of the service's exports, or into a table at another "
    "endpoint. Interruptions and exit statuses are as those of `hashrange import`."
)


def add_import_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser of `hashrange import` its flags, and what runs it."""
    parser.set_defaults(run=run_import)
    _add_common(parser, source=f"{_FILES} or {_TABLE}", target=_TABLE)
    parser.add_argument("--key", metavar="KEY", help="the key of a table to create: pk:S or pk:S,sk:N")
    parser.add_argument(
        "--schema",
        metavar="FILE",
        help="the table to create: a CreateTable request or a description, as JSON",
    )
    parser.add_argument(
        "--format",
        choices=("csv", "dynamodb-json", "ion"),
        dest="form",
        help="what files without a manifest have in them (default: what their names say)",
    )
    parser.add_argument(
        "--root-key",
        metavar="WHERE",
        help="of an encrypted export: file:PATH, env:NAME, command:COMMAND or kms:PATH; one in the clear is refused",
    )
    parser.add_argument("--json-plain", action="store_true", help="JSON lines are plain, not DynamoDB JSON")
    parser.add_argument("--delimiter", default=",", metavar="CHAR", help="between the fields of CSV")
    parser.add_argument(
        "--header", metavar="NAMES", help="the columns of CSV without a header, with commas between them"
    )


def add_export_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser of `hashrange export` its flags, and what runs it."""
    parser.set_defaults(run=run_export)
    _add_common(parser, source=_TABLE, target=f"a folder, s3://BUCKET/PREFIX or {_TABLE}")
    parser.add_argument(
        "--format",
        choices=("dynamodb-json", "ion"),
        dest="form",
        help="of the files (default: dynamodb-json)",
    )


def _add_common(parser: argparse.ArgumentParser, *, source: str, target: str) -> None:
    parser.add_argument("--from", dest="source", required=True, metavar="PLACE", help=source)
    parser.add_argument("--to", dest="target", required=True, metavar="PLACE", help=target)
    parser.add_argument("--region", metavar="NAME", help="of endpoints whose name does not say it")
    parser.add_argument("--from-profile", metavar="NAME", help="the AWS profile to read with")
    parser.add_argument("--to-profile", metavar="NAME", help="the AWS profile to write with")
    parser.add_argument("--s3", metavar="URL", help="the S3-compatible endpoint of s3:// (default: AWS)")
    parser.add_argument("--state", metavar="FILE", help="where to note how far it is (default: a file here)")
    parser.add_argument(
        "--parallel", type=int, default=4, metavar="N", help="scans and writes at a time (default: 4)"
    )
    parser.add_argument("--rate", type=float, metavar="N", help="read at most so many items per second")
    parser.add_argument(
        "--rate-units", type=float, metavar="N", help="use at most so many read units per second"
    )
    parser.add_argument(
        "--verify", action="store_true", help="then compare counts and checksums of both sides"
    )
    parser.add_argument(
        "--follow", action="store_true", help="after a table's items its changes, until a signal"
    )
    parser.add_argument("--once", action="store_true", help="with --follow: until no change is left")
    parser.add_argument(
        "--enable-stream", action="store_true", help="with --follow: give the source a stream if it has none"
    )


# Loading the code of transfers takes a tenth of the time in which a server starts.


def run_import(parsed: argparse.Namespace) -> int:
    from hashrange.transfer import command  # noqa: PLC0415 - see above

    return command.run(parsed, is_import=True)


def run_export(parsed: argparse.Namespace) -> int:
    from hashrange.transfer import command  # noqa: PLC0415 - see above

    return command.run(parsed, is_import=False)
