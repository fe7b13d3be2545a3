"""`hashrange model new`: a model file to begin with."""

import argparse
from pathlib import Path

from hashrange import terminal

DESCRIPTION = (
    "Write a commented model of a small shop, to make your own of. A file that is there is left alone."
)
_STARTER = Path(__file__).parent.parent / "starter.yaml"


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the command's flags."""
    parser.add_argument(
        "file", metavar="FILE", nargs="?", default="model.yaml", help="where to (default: %(default)s)"
    )


def act(options: argparse.Namespace) -> int:
    """Write the file; give the exit status."""
    path = Path(options.file)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(starter())
    except FileExistsError:
        terminal.complain(f"{path} is there already; name another")
        return 1
    except OSError as error:
        terminal.complain(f"cannot write {path}: {error.strerror}")
        return 1
    terminal.show(f"{path} written; next: hashrange model show {path}")
    return 0


def starter() -> str:
    """The text of the file."""
    return _STARTER.read_text("utf-8")
