"""Scratch files: what a long job notes while it reads, in a database that nobody has to remember.

They lie beside the data where there is a data directory: what a job notes is at most as large as the change log, and
/tmp may be memory. They have no name once they are open, so that a killed server leaves none behind.
"""

import contextlib
import secrets
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import apsw

_CACHE_KIB = 4096
# A job stops before it takes the space that clients' writes need.
FREE_BYTES_MIN = 64 * 1024 * 1024

Parameter = bytes | int | None


class ScratchUnavailable(Exception):
    """A scratch file cannot be written; the message says where and why."""


class ScratchFile:
    """A temporary database."""

    def __init__(self, directory: Path | None, table: str) -> None:
        """Make a file in the directory, or where the operating system keeps such files, with one table in it."""
        self._directory = directory
        with self._mapped():
            self._connection = _open(directory)
            self._connection.execute(table).fetchall()

    def write(self, statements: Sequence[tuple[str, Sequence[tuple[Parameter, ...]]]]) -> None:
        """Run statements, each with all its parameters."""
        with self._mapped(), self._connection:
            if self._directory is not None and shutil.disk_usage(self._directory).free < FREE_BYTES_MIN:
                raise ScratchUnavailable(f"the disk of {self._directory} is nearly full")
            for statement, parameters in statements:
                self._connection.executemany(statement, parameters)

    def rows(self, query: str, parameters: tuple[Parameter, ...]) -> Iterator[tuple[Parameter, ...]]:
        """The rows of a query."""
        with self._mapped():
            yield from self._connection.execute(query, parameters)

    def close(self) -> None:
        """Give the space back."""
        self._connection.close(True)

    @contextlib.contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except (apsw.Error, OSError) as error:
            place = self._directory or "the temporary directory"
            raise ScratchUnavailable(f"no scratch file in {place}: {error}") from error


def _open(directory: Path | None) -> apsw.Connection:
    path = None if directory is None else directory / f"scratch-{secrets.token_hex(8)}"
    connection = apsw.Connection("" if path is None else str(path))
    try:
        for pragma in (f"cache_size = -{_CACHE_KIB}", "journal_mode = OFF", "synchronous = OFF"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
    finally:
        if path is not None:
            path.unlink(missing_ok=True)
    return connection
