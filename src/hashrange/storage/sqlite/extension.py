"""Helpers in C that call the SQLite inside APSW: it gives its functions to every extension that a connection loads."""

from types import ModuleType

import apsw

from hashrange import logs

log = logs.Log("storage.sqlite")


def load(connection: apsw.Connection, helper: ModuleType, entry: str) -> bool:
    """Have SQLite give its functions to a helper; False: it cannot be used."""
    # Only there where SQLite was built with extensions.
    if not hasattr(connection, "enable_load_extension"):
        return False
    try:
        connection.enable_load_extension(True)
        try:
            connection.load_extension(str(helper.__file__), entry)
        finally:
            connection.enable_load_extension(False)
    except apsw.Error as error:
        log.warning("helper.not_loaded", helper=helper.__name__, reason=str(error))
        return False
    return bool(helper.sqlite_version() == apsw.SQLITE_VERSION_NUMBER)
