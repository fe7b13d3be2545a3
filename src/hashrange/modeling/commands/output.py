"""Where a command's file goes: to standard output, or into a file that is not there yet; pages replace older ones."""

import argparse
from pathlib import Path

from hashrange import terminal

PAGE_BEGINNING = "<!doctype html>\n<!-- hashrange model -->\n"  # by which a page of ours is known again


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


def may_write_page(path: str) -> bool:
    """Whether nothing is there, or an older page; if something else is, say so. Asked before the work is done."""
    try:
        if not Path(path).exists() or _is_page(Path(path)):
            return True
        terminal.complain(f"{path} is there already and is no such page; name another")
    except OSError as error:
        terminal.complain(f"cannot write {path}: {error.strerror}")
    return False


def write_page(text: str, path: str) -> bool:
    """Write a page; say what prevents it."""
    try:
        Path(path).write_text(text, "utf-8")
    except OSError as error:
        terminal.complain(f"cannot write {path}: {error.strerror}")
        return False
    terminal.tell(terminal.printable(f"wrote {path}, {len(text.encode()) / 1024:,.0f} KB"))
    return True


def _is_page(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(PAGE_BEGINNING)) == PAGE_BEGINNING.encode()
