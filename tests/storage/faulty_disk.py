"""A disk that fails on demand: a SQLite VFS over the real one."""

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

# Below SQLite's page checksums, which cannot have another layer over them: files on this disk have none.
REAL = "unix"


class FaultyDisk(apsw.VFS):
    """Passes everything on, counts writes, syncs and truncations, and lets a test refuse some of them.

    Reads are counted only if asked for. It is the default VFS while it exists, so the engine under test needs to know
    nothing of it. It also keeps, for each file, the bytes as they were when the file was last synced: what is sure to
    be there after the power goes.
    """

    def __init__(self, shadow: Path) -> None:
        self.shadow = shadow
        self.lock = threading.Lock()
        self.count = 0
        self.refused = 0
        self.counts_reads = False
        self.refuse: Callable[[int, str, str], type[apsw.Error] | None] = lambda _number, _what, _file: None
        super().__init__("faulty", REAL, makedefault=True)

    def xOpen(self, name: Any, flags: Any) -> "FaultyFile":  # noqa: N802 - SQLite's name
        return FaultyFile(self, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:  # noqa: N802 - SQLite's name
        super().xDelete(name, sync)
        (self.shadow / Path(name).name).unlink(missing_ok=True)

    def operation(self, what: str, file: str) -> None:
        """Count one operation and raise if the test wants it refused."""
        with self.lock:
            self.count += 1
            error = self.refuse(self.count, what, Path(file).name)
            if error:
                self.refused += 1
        if error:
            raise error(f"made up: {what} {Path(file).name}")

    def synced(self, file: str) -> None:
        """Remember a file as it is now."""
        with self.lock:
            shutil.copyfile(file, self.shadow / Path(file).name)


class FaultyFile(apsw.VFSFile):
    """One open file of the faulty disk."""

    def __init__(self, disk: FaultyDisk, name: Any, flags: Any) -> None:
        self.disk = disk
        self.path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        super().__init__(REAL, name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - SQLite's name
        if self.disk.counts_reads:
            self.disk.operation("read", self.path)
        return super().xRead(amount, offset)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802 - SQLite's name
        self.disk.operation("write", self.path)
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:  # noqa: N802 - SQLite's name
        self.disk.operation("truncate", self.path)
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        self.disk.operation("sync", self.path)
        super().xSync(flags)
        self.disk.synced(self.path)
