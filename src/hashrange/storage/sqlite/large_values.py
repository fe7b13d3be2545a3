"""Values that are too large for the tree of rows: each is in a table of its own, and its row has its number instead.

SQLite keeps no more than about a quarter of a page of a row in a `WITHOUT ROWID` tree. What is left over gets pages of
its own, whole ones, and is read whenever a search passes the row. In a table with integer keys a value may fill its
page, and one value lies behind the other. The document of record is docs/design/048-large-values.md.
"""

from collections.abc import Iterable
from itertools import filterfalse
from operator import itemgetter

import apsw

ROW_BYTES_MAX = (
    2000  # of key and value in the tree of rows; SQLite's own limit is 2,021 to 2,028, less some for types
)

TABLE = "CREATE TABLE large_values(id INTEGER PRIMARY KEY, v BLOB NOT NULL) STRICT;"

# To SQLite every integer is less than every blob.
IS_SMALL = "v >= x''"
# What is stored for a row, wherever it is. A large value that is missing is empty: no checksum fits that.
STORED = f"CASE WHEN {IS_SMALL} THEN v ELSE coalesce((SELECT l.v FROM large_values l WHERE l.id = rows.v), x'') END"  # noqa: S608 - constants
LARGE_VALUE = "SELECT v FROM large_values WHERE id = ?"

PUT_SMALL = f"INSERT INTO rows VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v WHERE {IS_SMALL}"  # noqa: S608
DELETE_SMALL = f"DELETE FROM rows WHERE k = ? AND {IS_SMALL}"  # noqa: S608
_PUT = "INSERT INTO rows VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v"
_DELETE = "DELETE FROM rows WHERE k = ?"
_NUMBER = f"SELECT v FROM rows WHERE k = ? AND NOT {IS_SMALL}"  # noqa: S608
_INSERT = "INSERT INTO large_values(v) VALUES (?)"
_UPDATE = "UPDATE large_values SET v = ? WHERE id = ?"
_REMOVE = "DELETE FROM large_values WHERE id = ?"
_REMOVE_RANGE = f"""
DELETE FROM large_values WHERE id IN (SELECT v FROM rows WHERE k >= ? AND k < ? AND NOT {IS_SMALL})
"""  # noqa: S608
_ORPHANS = f"""
SELECT (SELECT count(*) FROM large_values) - (SELECT count(*) FROM rows WHERE NOT {IS_SMALL})
"""  # noqa: S608
_key, _stored = itemgetter(0), itemgetter(1)


def limited(bytes_max: int) -> str:
    """What is stored for a row; NULL if that is longer, which is known without reading it."""
    large = (
        f"SELECT CASE WHEN length(l.v) <= {bytes_max} THEN l.v END FROM large_values l WHERE l.id = rows.v"  # noqa: S608
    )
    return f"CASE WHEN {IS_SMALL} THEN v ELSE ({large}) END"


def put(cursor: apsw.Cursor, rows: list[tuple[bytes, bytes]]) -> None:
    """Store rows, of whatever size; what they replace may be small or large."""
    # Hardly any commit has large rows, and a look at each of the others would cost a tenth of writing it.
    if max(map(len, map(_key, rows))) + max(map(len, map(_stored, rows))) > ROW_BYTES_MAX:
        _put_large(cursor, list(filter(_is_large, rows)))
        rows = list(filterfalse(_is_large, rows))
    connection = cursor.connection
    before = connection.total_changes()
    cursor.executemany(PUT_SMALL, rows)
    if connection.total_changes() - before != len(rows):
        _put_over_large(cursor, rows)


def delete(cursor: apsw.Cursor, keys: list[tuple[bytes]]) -> None:
    """Remove rows, if they are there."""
    connection = cursor.connection
    before = connection.total_changes()
    cursor.executemany(DELETE_SMALL, keys)
    if connection.total_changes() - before != len(keys):
        for key, number in _numbers(cursor, [key for (key,) in keys]):
            cursor.execute(_REMOVE, (number,))
            cursor.execute(_DELETE, (key,))


def remove_range(cursor: apsw.Cursor, start: bytes, end: bytes) -> None:
    """Remove the large values of a range of rows, which are to be removed next."""
    cursor.execute(_REMOVE_RANGE, (start, end))


def count_orphans(cursor: apsw.Cursor) -> int:
    """How many large values there are more than rows that have one."""
    count: int = cursor.execute(_ORPHANS).get
    return count


def _is_large(row: tuple[bytes, bytes]) -> bool:
    return len(row[0]) + len(row[1]) > ROW_BYTES_MAX


def _put_large(cursor: apsw.Cursor, rows: list[tuple[bytes, bytes]]) -> None:
    connection = cursor.connection
    for key, stored in rows:
        number = cursor.execute(_NUMBER, (key,)).get
        if number is not None:
            cursor.execute(_UPDATE, (stored, number))
            if connection.changes():
                continue
        cursor.execute(_INSERT, (stored,))
        cursor.execute(_PUT, (key, connection.last_insert_rowid()))


def _put_over_large(cursor: apsw.Cursor, rows: list[tuple[bytes, bytes]]) -> None:
    """Store the small rows that were passed over, because they replace large ones."""
    stored = dict(rows)
    for key, number in _numbers(cursor, stored):
        cursor.execute(_REMOVE, (number,))
        cursor.execute(_PUT, (key, stored[key]))


def _numbers(cursor: apsw.Cursor, keys: Iterable[bytes]) -> list[tuple[bytes, int]]:
    """The rows among these that have a large value, and its number."""
    numbers = ((key, cursor.execute(_NUMBER, (key,)).get) for key in keys)
    return [(key, number) for key, number in numbers if number is not None]
