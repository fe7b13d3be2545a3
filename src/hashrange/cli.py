"""The command line: `hashrange serve`, `--version`, and a subcommand for everything else."""

import argparse
import gc
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, NoReturn, Protocol, cast

from hashrange import __version__, process_limits, terminal
from hashrange.passwords import hide_arguments, masked

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

# Their files are the server's: nobody but its user is to read them, whatever the shell's umask is.
_OF_OPERATORS = frozenset({"serve", "migrate", "salvage", "iam", "root-key"})


class Command(NamedTuple):
    """A subcommand, and the module that has it; which is only imported when the command is run."""

    name: str
    module: str
    help: str

    def load(self) -> "CommandModule":
        """Import the module. What it brings along stays, so nobody looks through it for garbage meanwhile."""
        collects = gc.isenabled()
        gc.disable()  # a seventh of the time in which a server starts
        try:
            return cast("CommandModule", import_module(f"hashrange.{self.module}"))
        finally:
            if collects:
                gc.enable()


class CommandModule(Protocol):
    """What the module of a command has."""

    DESCRIPTION: str

    @staticmethod
    def add_flags(parser: argparse.ArgumentParser, /) -> None: ...

    @staticmethod
    def run(options: argparse.Namespace, /) -> int: ...


COMMANDS = (
    Command("serve", "serve_command", "start the server"),
    Command("testing", "testing_command", "start a server for a test suite"),
    Command("migrate", "migrate", "copy all data to another engine"),
    Command("verify", "verify", "check everything in a store"),
    Command("salvage", "salvage", "copy what can be read of a damaged store"),
    Command("clock", "clock_command", "show or move the time of a server started with --test-clock"),
    Command("chaos", "chaos_command", "make requests to a server started with --chaos fail"),
    Command("bill", "modeling.bill_command", "compute what the traffic of a server would have cost"),
    Command(
        "heat", "heat_command", "show where the traffic of a table falls, and what is wrong with its keys"
    ),
    Command(
        "iam",
        "iam_command",
        "manage users, access keys, roles and policies of data that no server is running on",
    ),
    Command("tls", "tls_command", "make certificates for trying out TLS"),
    Command("audit", "audit_command", "check an audit log"),
    Command("root-key", "root_key_command", "change the root key of encrypted data"),
    Command("model", "modeling.model_command", "design tables from access patterns, before the application"),
    Command("price", "modeling.price_command", "compute what reads and writes cost a month"),
    Command("import", "import_command", "write files or another table into a table"),
    Command("export", "export_command", "write a table into files or another table"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; give the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    hide_arguments(words)
    return terminal.exit_status(lambda: _run(words))


def _run(words: list[str]) -> int:
    options = _parser(words).parse_args(words)
    with process_limits.private_files() if words and words[0] in _OF_OPERATORS else nullcontext():
        status: int = options.run(options)
    return status


class _Parser(argparse.ArgumentParser):
    """A parser whose messages quote what was typed, but no password."""

    def error(self, message: str) -> NoReturn:
        super().error(masked(message))

    def _print_message(self, message: str, file: "SupportsWrite[str] | None" = None) -> None:
        """Print help, version and usage; argparse itself does not mind if they cannot be written."""
        if file is sys.stdout:
            terminal.show(message.removesuffix("\n"))
        else:
            terminal.tell(message.removesuffix("\n"))


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """A parser that knows all commands, and the flags of the one that is asked for."""
    parser = _Parser(prog="hashrange", description="A durable, faithful, self-hosted DynamoDB.")
    parser.add_argument("--version", action="version", version=f"hashrange {__version__}")
    parser.set_defaults(run=lambda _: _print_help(parser))
    subparsers = parser.add_subparsers(metavar="COMMAND")
    chosen = next((word for word in words if not word.startswith("-")), None)
    for command in COMMANDS:
        if command.name != chosen:
            subparsers.add_parser(command.name, help=command.help)
            continue
        module = command.load()
        subparser = subparsers.add_parser(command.name, help=command.help, description=module.DESCRIPTION)
        subparser.set_defaults(run=module.run)
        module.add_flags(subparser)
    return parser


def _print_help(parser: argparse.ArgumentParser) -> int:
    parser.print_help()
    return 0
