"""`hashrange model import`: a model file from what other programs have, or from live tables."""

import argparse
from pathlib import Path

from hashrange import terminal
from hashrange.modeling.commands.output import add_output_flag, write_output
from hashrange.modeling.exchange import importing
from hashrange.modeling.exchange.inference import SAMPLE_DEFAULT
from hashrange.modeling.exchange.model_file import dumps
from hashrange.modeling.exchange.trees import JSON_CHARS_MAX
from hashrange.modeling.model import Model
from hashrange.modeling.problems import ModelErrors, refused
from hashrange.passwords import masked

DESCRIPTION = (
    "Make a model file of a NoSQL Workbench model, of the tables in a CloudFormation template (JSON or YAML) or a "
    "Terraform configuration (or what `terraform show -json` prints), of CreateTable requests, or of live tables at "
    "an endpoint. Sample items show which entities there are; where there are none, each table gets one entity to be "
    "filled in."
)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the command's flags."""
    parser.add_argument("source", metavar="SOURCE", nargs="?", help="the file to read")
    parser.add_argument("--format", choices=importing.FORMATS, help="what it is, if that is not recognised")
    parser.add_argument("--endpoint", metavar="URL", help="read live tables there, instead of a file")
    parser.add_argument(
        "--table",
        action="append",
        default=[],
        metavar="TABLE",
        help="a table at the endpoint; may be repeated",
    )
    parser.add_argument("--region", metavar="REGION", help="of the endpoint (default: us-east-1)")
    parser.add_argument("--profile", metavar="NAME", help="of AWS's configuration, for the endpoint")
    parser.add_argument(
        "--sample",
        type=int,
        default=SAMPLE_DEFAULT,
        metavar="ITEMS",
        help="how many items of a live table to look at (default: %(default)s)",
    )
    parser.add_argument(
        "--rate-units",
        type=float,
        metavar="N",
        help="use at most so many read units per second (default: 100)",
    )
    add_output_flag(parser)


def act(options: argparse.Namespace) -> int:
    """Read the source, write the model; give the exit status."""
    try:
        model = _model(options)
    except ModelErrors as errors:
        where = masked(options.endpoint or options.source or "model import")
        raise ModelErrors(errors.problems, where) from None
    if not model.patterns:
        terminal.tell("there are no patterns in it yet: add what the application asks, and how often")
    return write_output(dumps(model), options)


def _model(options: argparse.Namespace) -> Model:
    if (options.source is None) == (options.endpoint is None):
        raise refused(
            "name a file, or live tables", "give either SOURCE, or --endpoint URL and --table TABLE"
        )
    if options.endpoint is None:
        path = Path(options.source)
        return importing.read(_text(path), path.stem, options.format)
    from hashrange.modeling.exchange import live  # noqa: PLC0415 - with what talks to endpoints

    source = live.LiveTables(
        endpoint=options.endpoint,
        tables=options.table,
        region=options.region,
        profile=options.profile,
        sample=options.sample,
        units_per_second=live.UNITS_DEFAULT if options.rate_units is None else options.rate_units,
    )
    return live.read(source)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(JSON_CHARS_MAX + 1).decode("utf-8-sig")
    except OSError as error:
        raise refused(f"cannot read it: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise refused("the file is not UTF-8") from error
