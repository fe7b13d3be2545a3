"""`hashrange audit verify`: whether an audit log is what was written."""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from hashrange import config, terminal
from hashrange.audit import verification
from hashrange.audit.files import all_files
from hashrange.config import AUDIT_FILE_NAME, Settings

DESCRIPTION = (
    "Check an audit log: that no line was changed, taken out, put in or moved, in this file, those that were put aside "
    "before it and those of other workers. Prints where each chain begins and ends; note the last hashes elsewhere "
    "and give them to --head later, to see that nobody has cut off the end or written everything anew."
)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the command's flags."""
    parser.set_defaults(action=None, parser=parser)
    actions = parser.add_subparsers(metavar="ACTION")
    checking = actions.add_parser("verify", help="check an audit log", description=DESCRIPTION)
    checking.set_defaults(action="verify")
    checking.add_argument(
        "file",
        type=Path,
        nargs="*",
        metavar="FILE",
        help="the file that --audit-log names (default: audit.jsonl in the data directory)",
    )
    add_data_dir(checking)
    checking.add_argument(
        "--head",
        action="append",
        default=[],
        metavar="HASH",
        help="a hash that the log must have; may be repeated",
    )
    checking.add_argument(
        "--only", action="store_true", help="check these files alone, in this order, and none beside them"
    )


def add_data_dir(parser: argparse.ArgumentParser) -> None:
    """Let the data directory be named, in which servers that know identities keep the log by default."""
    variable = config.environment_variable("data_dir")
    parser.add_argument(
        "--data-dir",
        type=Path,
        default=Path(os.environ.get(variable) or Settings().data_dir),
        help=f"as of `serve` (default: %(default)s; {variable})",
    )


def run(options: argparse.Namespace) -> int:
    """Run the command; give the exit status: 0 all is well, 1 it is not, 2 it could not be read."""
    if options.action is None:
        options.parser.print_help()
        return 0
    named = options.file or [options.data_dir / AUDIT_FILE_NAME]
    files = named if options.only else [found for file in named for found in all_files(file)]
    if not files:
        terminal.complain(f"there is no {named[0]}")
        return 2
    try:
        report = verification.check(_lines(files), options.head)
    except OSError as error:
        terminal.complain(f"cannot read {error.filename}: {error.strerror}")
        return 2
    for problem in report.problems:
        terminal.complain(problem)
    for name, chain in report.chains.items():
        terminal.show(f"chain {name}: {chain.first} to {chain.head.number}, last hash {chain.head.hash}")
    verdict = "all is well" if not report.problem_count else f"{report.problem_count} problems"
    terminal.show(f"{report.lines} lines in {len(files)} files: {verdict}")
    return 1 if report.problem_count else 0


def _lines(files: list[Path]) -> Iterator[tuple[str, bytes]]:
    for path in files:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                yield f"{path}:{number}", line
