"""Rows of a result in one piece, put together by a compiled helper (`storage/_postgres_results.c`).

It calls the libpq that psycopg has loaded and the CRC-32 of zlib-ng. Where it was not built, or these are not to be
found, Python joins rows, which takes six times as long. Measured: docs/design/006-postgres-engine.md.
"""

import ctypes
import importlib
from types import ModuleType
from typing import NamedTuple

from psycopg import pq
from psycopg.pq.abc import PGresult

from hashrange import logs
from hashrange.storage.checksums import native_crc32
from hashrange.storage.postgres import long_keys

helper: ModuleType | None
try:
    from hashrange.storage import _postgres_results

    helper = _postgres_results
except ImportError:
    helper = None

log = logs.Log("storage.postgres")

# Where psycopg keeps what it has linked libpq with; the one without a compiled part has none.
_LINKED = {"binary": "psycopg_binary.pq", "c": "psycopg_c.pq"}


class Rows(NamedTuple):
    """Rows whose checksums were compared, joined."""

    last: bytes  # the key of the last of them
    stored: bytes  # and what is stored there
    heads: bytes
    rest: bytes


def join(page: PGresult, first: int, last: int, *, head: int, separator: bytes) -> Rows | None:
    """Join some rows, at least one; None if that is for Python to do: one is damaged, too short, or has a long key."""
    if helper is None:
        return None
    pointer: int | None = getattr(page, "pgresult_ptr", None)
    if pointer is None:
        return None
    rows = helper.joined(pointer, first, last, head, separator, long_keys.HEAD_BYTES - 1)
    return None if rows is None else Rows(*rows)


def _bind(results: ModuleType) -> ModuleType | None:
    """Give the helper the functions that it calls; None if they are not to be found."""
    crc32 = native_crc32()
    try:
        libpq = ctypes.CDLL(importlib.import_module(_LINKED[pq.__impl__]).__file__)
        functions = libpq.PQgetvalue, libpq.PQgetlength, libpq.PQntuples
    except (KeyError, ImportError, OSError, AttributeError) as error:
        log.warning("helper.not_bound", helper=results.__name__, reason=str(error))
        return None
    if crc32 is None:
        log.warning("helper.not_bound", helper=results.__name__, reason="zlib-ng has no CRC-32 to call")
        return None
    results.bind(*(ctypes.cast(function, ctypes.c_void_p).value or 0 for function in functions), crc32)
    return results


if helper is not None:
    helper = _bind(helper)
