"""`hashrange audit verify`: whether an audit log is what was written."""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from hashrange import config, terminal
from hashrange.audit import verification
from hashrange.audit.files import ROTATED, all_files
from hashrange.audit.verification import Known, PlacedLine, Report
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
        "--from",
        dest="before",
        action="append",
        default=[],
        metavar="HASH",
        help="the last hash of files that were put away elsewhere: a chain may go on behind it; may be repeated",
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
        known = Known(heads=options.head, before=options.before)
        report = verification.check(_lines(files), known)
    except OSError as error:
        terminal.complain(f"cannot read {error.filename}: {error.strerror}")
        return 2
    for line in (*report.problems, *report.notes):
        terminal.complain(line)
    for name, chain in report.chains.items():
        terminal.show(f"chain {name}: {chain.first} to {chain.head.number}, last hash {chain.head.hash}")
    terminal.show(f"{report.lines} lines in {len(files)} files: {_verdict(report)}")
    return 1 if report.problem_count else 0


def _verdict(report: Report) -> str:
    if report.problem_count:
        return f"{report.problem_count} problems"
    return "all is well, but for an incomplete last line" if report.notes else "all is well"


def _lines(files: list[Path]) -> Iterator[PlacedLine]:
    for path in files:
        is_current = ROTATED.search(path.name) is None
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                # Only the last line of a file can lack its end.
                yield PlacedLine(f"{path}:{number}", line, is_last=is_current)
