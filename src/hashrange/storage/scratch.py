"""Scratch files: what a long job notes while it reads, in a database that nobody has to remember.

Where the data is encrypted, the values in them are, under a key that only this process has and never writes down.
They lie beside the data where there is a data directory: what a job notes is at most as large as the change log, and
/tmp may be memory. They have no name once they are open, so that a killed server leaves none behind.
"""

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import apsw

from hashrange.kms.sizes import KEY_BYTES

_CACHE_KIB = 4096
# A job stops before it takes the space that clients' writes need.
FREE_BYTES_MIN = 64 * 1024 * 1024

Parameter = bytes | int | None


class ScratchUnavailable(Exception):
    """A scratch file cannot be written; the message says where and why."""


class _Cipher(Protocol):
    def seal(self, row_key: bytes, value: bytes) -> bytes:
        """The stored form of a value."""

    def unseal(self, row_key: bytes, stored: bytes) -> bytes:
        """The value."""


class ScratchFile:
    """A temporary database."""

    def __init__(self, directory: Path | None, table: str, *, encrypted: bool = False) -> None:
        """Make a file in the directory, or where the operating system keeps such files, with one table in it."""
        self._directory = directory
        self._cipher = _new_cipher() if encrypted else None
        with self._mapped():
            self._connection = _open(directory)
            self._connection.execute(table).fetchall()

    def stored(self, key: bytes, value: bytes | None) -> bytes | None:
        """A value as it goes into the file, beside its key."""
        return value if self._cipher is None or value is None else self._cipher.seal(key, value)

    def opened(self, key: bytes, stored: bytes | None) -> bytes | None:
        """A value that was stored."""
        return stored if self._cipher is None or stored is None else self._cipher.unseal(key, stored)

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


def _new_cipher() -> _Cipher:
    from hashrange.kms.row_cipher import RowCipher  # noqa: PLC0415 - it loads the cipher

    return RowCipher(secrets.token_bytes(KEY_BYTES))


def _open(directory: Path | None) -> apsw.Connection:
    path = None if directory is None else directory / f"scratch-{secrets.token_hex(8)}"
    if path is not None:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    connection = apsw.Connection("" if path is None else str(path))
    try:
        for pragma in (f"cache_size = -{_CACHE_KIB}", "journal_mode = OFF", "synchronous = OFF"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
    finally:
        if path is not None:
            path.unlink(missing_ok=True)
    return connection
