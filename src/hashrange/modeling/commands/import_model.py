"""`hashrange model import`: a model file from what other programs have."""

import argparse
from pathlib import Path

from hashrange import terminal
from hashrange.modeling.commands.output import add_output_flag, write_output
from hashrange.modeling.exchange import importing
from hashrange.modeling.exchange.model_file import dumps
from hashrange.modeling.exchange.trees import JSON_CHARS_MAX
from hashrange.modeling.problems import ModelErrors, refused

DESCRIPTION = (
    "Make a model file of a NoSQL Workbench model, of the tables in a CloudFormation template (JSON or YAML) or a "
    "Terraform configuration (or what `terraform show -json` prints), or of CreateTable requests. Sample items show "
    "which entities there are; where there are none, each table gets one entity to be filled in."
)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the command's flags."""
    parser.add_argument("source", metavar="SOURCE", help="the file to read")
    parser.add_argument("--format", choices=importing.FORMATS, help="what it is, if that is not recognised")
    add_output_flag(parser)


def act(options: argparse.Namespace) -> int:
    """Read the source, write the model; give the exit status."""
    path = Path(options.source)
    try:
        model = importing.read(_text(path), path.stem, options.format)
    except ModelErrors as errors:
        raise ModelErrors(errors.problems, str(path)) from None
    if not model.patterns:
        terminal.tell("there are no patterns in it yet: add what the application asks, and how often")
    return write_output(dumps(model), options)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(JSON_CHARS_MAX + 1).decode("utf-8-sig")
    except OSError as error:
        raise refused(f"cannot read it: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise refused("the file is not UTF-8") from error
