"""`hashrange model export`: what creates the tables of a model, or what other programs read."""

import argparse

from hashrange import terminal
from hashrange.modeling.commands.output import add_output_flag, write_output
from hashrange.modeling.exchange import exporting, workbench_writing
from hashrange.modeling.loading import load

DESCRIPTION = (
    "Write the tables of a model for another program: CreateTable requests, a script for the AWS CLI, a CloudFormation "
    "template, a Terraform configuration, a model of NoSQL Workbench; or the model file itself, put in order."
)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the command's flags."""
    parser.add_argument("file", metavar="FILE", help="the model file")
    parser.add_argument("--format", required=True, choices=sorted(exporting.FORMATS), help="for what")
    add_output_flag(parser)


def act(options: argparse.Namespace) -> int:
    """Write it; give the exit status."""
    model = load(options.file)
    if options.format == "workbench":
        omitted = workbench_writing.omissions(model)
        if omitted:
            terminal.tell(f"left out, as Workbench has no place for it: {', '.join(omitted)}")
    return write_output(exporting.write(model, options.format), options)
