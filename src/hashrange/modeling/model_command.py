"""`hashrange model COMMAND`: what all its commands share: the file, its errors, text or JSON, the exit status.

A command that reports on a model has `run(model, options)`, which gives a structure, and `render`, which makes text of
it; one with findings has `status`, one with a page has `html`. A command of another kind has `act(options)`, which
gives the exit status itself.
"""

import argparse
import json
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from hashrange import terminal
from hashrange.modeling.columns import printable
from hashrange.modeling.commands.output import may_write_page, write_page
from hashrange.modeling.loading import load
from hashrange.modeling.problems import ModelErrors

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

DESCRIPTION = (
    "Design tables from their access patterns: a model file says what the application asks and how often; "
    "the commands check it, show it, and turn it into what creates the tables."
)
INTERRUPTED = 130  # as shells count Ctrl-C
UNREADABLE = 2


class Command(NamedTuple):
    """A command, and the module that has it; which is only imported when the command is run."""

    name: str
    module: str
    help: str

    def load(self) -> ModuleType:
        """Import the module."""
        return import_module(f"hashrange.modeling.commands.{self.module}")


COMMANDS = (
    Command("check", "check", "check the design by rules: hot keys, missing indexes, filters that waste …"),
    Command("codegen", "codegen", "write code: typed items, keys, and the exact request of every pattern"),
    Command("diff", "diff", "compare two versions: what breaks, backfills and their cost, a runbook"),
    Command("export", "export_model", "write what creates the tables: CloudFormation, Terraform, AWS CLI …"),
    Command(
        "import",
        "import_model",
        "make a model file of live tables, or of Workbench, CloudFormation or Terraform files",
    ),
    Command("load", "load", "simulate a day of traffic: hot partitions, throttles, how many shards help"),
    Command("new", "new", "write a model file to begin with"),
    Command("price", "price", "compute what the tables cost a month, by pattern, entity and index"),
    Command(
        "prove", "prove", "run every pattern on a private engine, and compare the answers with the definition"
    ),
    Command("report", "report", "check, prove, price and load at once; one HTML page for a design review"),
    Command("show", "show", "show tables, entities, and which key serves each pattern"),
)


class _CommandParser(argparse.ArgumentParser):
    """A parser that imports its command and learns its flags only when it has words to parse."""

    command: Command | None = None

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, with the command's own flags."""
        if self.command is not None:
            _add_command_flags(self, self.command.load())
            self.command = None
        return super().parse_known_args(args, namespace)

    def _print_message(self, message: str, file: "SupportsWrite[str] | None" = None) -> None:
        """Print help and usage; argparse itself does not mind if they cannot be written."""
        if file is sys.stdout:
            terminal.show(message.removesuffix("\n"))
        else:
            terminal.tell(message.removesuffix("\n"))


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the commands."""
    parser.set_defaults(run=lambda _: _print_help(parser))
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=_CommandParser)
    for command in COMMANDS:
        commands.add_parser(command.name, help=command.help).command = command


def _add_command_flags(parser: argparse.ArgumentParser, module: ModuleType) -> None:
    parser.description = module.DESCRIPTION
    parser.set_defaults(run=run, module=module)
    if hasattr(module, "render"):
        parser.add_argument("file", metavar=getattr(module, "METAVAR", "FILE"), help="the model file")
        parser.add_argument("--json", action="store_true", help="print JSON")
    if hasattr(module, "html"):
        parser.add_argument("--html", metavar="PAGE", help="write an HTML page, too, which loads nothing")
    module.add_flags(parser)


def run(options: argparse.Namespace) -> int:
    """Run one of the commands; give the exit status."""
    module: ModuleType = options.module
    try:
        return _report(module, options) if hasattr(module, "render") else int(module.act(options))
    except ModelErrors as errors:
        for line in errors.lines():
            terminal.tell(printable(line))
        return UNREADABLE
    except KeyboardInterrupt:
        return INTERRUPTED


def _report(module: ModuleType, options: argparse.Namespace) -> int:
    page = getattr(options, "html", None)
    if page is not None and not may_write_page(page):
        return UNREADABLE
    result = module.run(load(options.file), options)
    if page is not None and not write_page(module.html(result), page):
        return UNREADABLE
    if options.json:
        terminal.show(json.dumps(msgspec.to_builtins(result), indent=2))
    else:
        terminal.show(module.render(result))
    return int(module.status(result)) if hasattr(module, "status") else 0


def _print_help(parser: argparse.ArgumentParser) -> int:
    parser.print_help()
    return 0
