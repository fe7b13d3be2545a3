"""Writing one object of a folder: into a file that nobody sees, which gets its name when it is whole and on disk."""

import hashlib
import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

from hashrange.objects import file_names
from hashrange.objects.file_faults import mapped
from hashrange.objects.interface import Written
from hashrange.objects.listing import etag_of

# A server that was killed leaves its unfinished files. Nobody writes to one for so long and is still alive.
_ABANDONED_SECONDS = 24 * 3600

Move = Callable[[Path, str], os.stat_result]


class FolderWriter:
    """An object on its way into a folder."""

    def __init__(self, root: Path, key: str, move: Move) -> None:
        self._key = key
        self._move = move
        self._md5 = hashlib.md5(usedforsecurity=False)
        self._size = 0
        uploads = root / file_names.UPLOADS
        uploads.mkdir(exist_ok=True)
        _remove_abandoned(uploads)
        self._temporary = uploads / secrets.token_hex(16)
        self._file = self._temporary.open("xb")

    def write(self, data: bytes | memoryview) -> None:
        with mapped():
            self._file.write(data)
        self._md5.update(data)
        self._size += len(data)

    def commit(self) -> Written:
        with mapped():
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            status = self._move(self._temporary, self._key)
        return Written(self._key, self._size, etag_of(status), self._md5.digest())

    def abort(self) -> None:
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            self._temporary.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.abort()


def _remove_abandoned(uploads: Path) -> None:
    oldest = time.time() - _ABANDONED_SECONDS
    with suppress(OSError):
        for path in uploads.iterdir():
            with suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()


def sync_directory(directory: Path) -> None:
    """Make the names in a directory as durable as the files."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
