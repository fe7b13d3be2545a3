"""Which page was damaged: SQLite's errors do not say, only its own log does, which comes here."""

import contextlib
import re
import threading

import apsw

PAGE_BYTES = 8192

_fault = re.compile(r'checksum fault offset (\d+) of "(.*)"')
_last = threading.local()


def listen() -> None:
    """Have SQLite's log come here; only possible before the first connection of the process."""
    with contextlib.suppress(apsw.MisuseError):
        apsw.config(apsw.SQLITE_CONFIG_LOG, _note)


def take() -> str:
    """The page that this thread has met with a wrong checksum; empty if there is none, or none since the last call."""
    place: str = getattr(_last, "place", "")
    _last.place = ""
    return place


def _note(code: int, message: str) -> None:
    if code == apsw.SQLITE_IOERR_DATA and (fault := _fault.match(message)):
        offset, file = int(fault[1]), fault[2]
        is_log = file.endswith("-wal")
        place = f"offset {offset}" if is_log else f"page {offset // PAGE_BYTES + 1}"
        _last.place = f"{place} of {file}"
