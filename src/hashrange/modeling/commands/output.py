"""Where a command's file goes: to standard output, or into a file that is not there yet."""

import argparse
from pathlib import Path

from hashrange import terminal


def add_output_flag(parser: argparse.ArgumentParser) -> None:
    """Give the parser `--out`."""
    parser.add_argument("--out", metavar="FILE", help="write there, instead of to standard output")


def write_output(text: str, options: argparse.Namespace) -> int:
    """Write a text where the options say; give the exit status. What is there is not overwritten."""
    if options.out is None:
        terminal.show(text.removesuffix("\n"))
        return 0
    try:
        with Path(options.out).open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        terminal.complain(f"{options.out} is there already; name another")
        return 1
    except OSError as error:
        terminal.complain(f"cannot write {options.out}: {error.strerror}")
        return 1
    return 0
