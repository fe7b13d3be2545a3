"""`hashrange export`: write a table into files, or into another table."""

from hashrange.transfer.flags import EXPORT_DESCRIPTION as DESCRIPTION
from hashrange.transfer.flags import add_export_flags as add_flags
from hashrange.transfer.flags import run_export as run

__all__ = ["DESCRIPTION", "add_flags", "run"]
