"""What lies in a data directory, looked at before anything is opened, and refused in plain words if data is lost."""

import stat
from pathlib import Path

from hashrange.storage.errors import Corrupt, NotWritable, OpenError
from hashrange.storage.sqlite import log_file, schema
from hashrange.storage.sqlite.log_file import LogFile

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_PAGE_BYTES = slice(16, 18)  # in the header of a data file
_PAGE_COUNT = slice(28, 32)


def log_of(path: Path) -> Path:
    """The write-ahead log of a data file."""
    return path.with_name(path.name + "-wal")


def index_of(path: Path) -> Path:
    """The index of a data file's write-ahead log."""
    return path.with_name(path.name + "-shm")


def file_bytes(path: Path) -> int:
    """The length of a file; 0 if there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def existing_data_file(directory: Path) -> Path:
    """The data file of a directory that is to be read; raises if there is none, or only what is left of one."""
    path = schema.data_file(directory)
    try:
        if not stat.S_ISDIR(directory.stat().st_mode):
            reason = file_in_the_way(directory) or "it is no directory"
            raise OpenError(f"cannot use data directory {directory}: {reason}")
        if not has_data_file(path):
            raise OpenError(f"there is no data in {directory}: it has no {path.name}")
    except FileNotFoundError:
        raise OpenError(f"there is no data in {directory}: no such directory") from None
    except OSError as error:
        raise OpenError(f"cannot read data directory {directory}: {error.strerror}") from error
    return path


def file_in_the_way(path: Path) -> str | None:
    """What to say of a file where a data directory should be; most often it is the data file itself."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return None
    except OSError:
        return None
    data_file = schema.data_file(path.parent).name
    return f"it is a file; the directory is {path.parent}" if path.name == data_file else "it is a file"


def has_data_file(path: Path) -> bool:
    """Whether there is a data file; raises if it, or what is beside it, shows that data is lost."""
    log_bytes = file_bytes(log_of(path))
    try:
        status = path.stat()
    except FileNotFoundError:
        if log_bytes:
            raise Corrupt(
                f"data file {path} is missing, but its write-ahead log is there with {log_bytes} bytes of the "
                "last writes: put the file back beside it, or move the log away to start empty"
            ) from None
        return False
    if not stat.S_ISREG(status.st_mode):
        what = "a directory" if stat.S_ISDIR(status.st_mode) else "not a file"
        raise NotWritable(
            f"cannot use data file {path}: it is {what}. Move it away and put the data file there"
        )
    if status.st_size == 0:
        raise Corrupt(
            f"data file {path} is empty: everything in it is lost. Restore it, or delete it to start empty"
        )
    if not log_bytes:
        check_length(path, None, 0)
    return True


def check_length(path: Path, log: LogFile | None, readable: int) -> None:
    """Refuse a file that lost pages which the readable frames of its log do not have."""
    start = header(path)
    page_bytes = int.from_bytes(start[_PAGE_BYTES], "big")
    if not start.startswith(_MAGIC) or page_bytes not in log_file.PAGE_BYTES:
        return  # whatever it is, it is refused for that
    pages, there = int.from_bytes(start[_PAGE_COUNT], "big"), path.stat().st_size // page_bytes
    if there >= pages:
        return
    in_log = {frame.page for frame in log.frames if frame.number <= readable} if log else set()
    # Counted, not listed: where the header is damaged there may be billions of them.
    lost = pages - there - sum(there < page <= pages for page in in_log)
    if lost:
        raise Corrupt(
            f"data file {path} is cut off: of {pages} pages {there} are there, and {lost} are lost. "
            "Restore a backup"
        )


def header(path: Path) -> bytes:
    """The header on the first page of a data file."""
    with path.open("rb") as stream:
        return stream.read(_HEADER_BYTES)
