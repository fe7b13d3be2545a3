"""`hashrange model codegen`: typed items, keys and requests of a model, as code."""

import argparse

from hashrange import terminal
from hashrange.modeling.codegen.generation import LANGUAGES, generate
from hashrange.modeling.columns import printable
from hashrange.modeling.commands.output import add_output_flag, write_output
from hashrange.modeling.loading import load

DESCRIPTION = (
    "Write code for a model: a type for each entity, functions for its key and its stored item, and a function for "
    "each access pattern that makes the request which the planner chose and `prove` ran."
)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the command's flags."""
    parser.add_argument("file", metavar="FILE", help="the model file")
    parser.add_argument("--language", required=True, choices=sorted(LANGUAGES), help="of the code")
    add_output_flag(parser)


def act(options: argparse.Namespace) -> int:
    """Write it; give the exit status. Patterns that have no function are named."""
    code = generate(load(options.file), options.language)
    for omission in code.omissions:
        terminal.tell(printable(f"{omission.pattern} is left out: {omission.reason}"))
    return write_output(code.text, options)
