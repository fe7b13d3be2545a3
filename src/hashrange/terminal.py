"""What commands print: results to standard output, everything else to standard error, and what if nobody takes it."""

import contextlib
import os
import sys
from collections.abc import Callable
from typing import TextIO

CLOSED_PIPE = 141  # the status that shells give for SIGPIPE, by which other programs end then
NOT_WRITTEN = 74  # EX_IOERR of sysexits.h; verify has a meaning for 1 and for 2


class NotShown(Exception):
    """Standard output does not take what is printed."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"cannot write to standard output: {error.strerror}")
        self.status = CLOSED_PIPE if isinstance(error, BrokenPipeError) else NOT_WRITTEN


def show(text: str) -> None:
    """Print a result."""
    try:
        print(_writable(text, sys.stdout), flush=True)
    except OSError as error:
        _discard(sys.stdout)
        raise NotShown(error) from error


def tell(message: str, *, end: str = "\n") -> None:
    """Tell the person at the terminal something that is no result; if that cannot be done, the command goes on."""
    try:
        print(message, file=sys.stderr, end=end, flush=True)
    except OSError:
        _discard(sys.stderr)


def complain(message: str) -> None:
    """Tell the person at the terminal what is wrong."""
    tell("\n".join(map(printable, f"hashrange: {message}".split("\n"))))


def printable(line: str) -> str:
    """A line in which nothing is left that clients could give orders to a terminal with, or begin a line."""
    if line.isprintable():
        return line
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in line
    )


def exit_status(command: Callable[[], int]) -> int:
    """Run a command; give its exit status, or that of a result which nobody took."""
    try:
        return command()
    except NotShown as problem:
        if problem.status != CLOSED_PIPE:
            complain(str(problem))
        return problem.status


def _writable(text: str, stream: TextIO) -> str:
    """The text as a stream can take it: not every terminal has every character."""
    encoding = stream.encoding or "ascii"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _discard(stream: TextIO) -> None:
    """Let what is left in a stream vanish: Python would try again at its end, and complain in its own way."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
