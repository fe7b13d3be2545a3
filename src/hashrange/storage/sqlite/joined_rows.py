"""Rows of a range in one piece, read by a compiled helper (`_rows.c`).

It calls SQLite by the table of functions that every extension of SQLite is given, so a connection loads it as one.
Where it was not built, or cannot be loaded, the statements of `reader` join rows, which takes three times as long.
Measured: docs/design/050-compiled-helper.md.
"""

import threading
from types import ModuleType
from typing import TYPE_CHECKING, cast

import apsw

from hashrange.storage.sqlite import extension, large_values

if TYPE_CHECKING:
    from hashrange.storage.sqlite._rows import Rows

helper: ModuleType | None
try:
    from hashrange.storage.sqlite import _rows

    helper = _rows
except ImportError:
    helper = None

VALUE_BYTES_MAX = 64 * 1024  # a hundred larger ones would take too long to read in one go

_ENTRY = "hashrange_rows_init"
_FORWARD = "SELECT k, v FROM rows WHERE k >= ?1 AND k < ?2 ORDER BY k"
_REVERSE = f"{_FORWARD} DESC"
_LARGE = f"{large_values.LARGE_VALUE} AND length(v) <= {VALUE_BYTES_MAX}"

_lock = threading.Lock()
_loaded: list[bool] = []


def of(connection: apsw.Connection) -> "Rows | None":
    """What joins the rows of a connection, to be closed before it; None without the helper."""
    with _lock:
        if not _loaded:
            _loaded.append(helper is not None and extension.load(connection, helper, _ENTRY))
    if helper is None or not _loaded[0]:
        return None
    pointer = connection.sqlite3_pointer()
    return cast("Rows", helper.Rows(connection, pointer, _FORWARD, _REVERSE, _LARGE))
