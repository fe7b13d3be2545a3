"""How much a long job writes in one commit: clients' writes wait while it does.

Measured with a client that puts one item after the other during a restore: with 200 items in a commit its median wait
is what it was with 50, and the restore is three times as fast; with 500 the client waits three times as long.
"""

from hashrange.core.schema import Table

BYTES_MAX = 512 * 1024
_WRITES_MAX = 200
_ROWS_MIN = 50


def rows_max(table: Table) -> int:
    """The most items of a table in one commit: every index is one more write for each."""
    return max(_ROWS_MIN, _WRITES_MAX // (1 + len(table.indexes)))
