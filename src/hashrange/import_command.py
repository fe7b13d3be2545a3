"""`hashrange import`: write files, or another table, into a table."""

from hashrange.transfer.flags import IMPORT_DESCRIPTION as DESCRIPTION
from hashrange.transfer.flags import add_import_flags as add_flags
from hashrange.transfer.flags import run_import as run

__all__ = ["DESCRIPTION", "add_flags", "run"]
