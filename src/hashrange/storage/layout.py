"""Every key prefix of the store, in one place."""

from functools import lru_cache

# One byte says what a row is; the rest is the room's own affair.
CATALOGUE = b"\x02"  # account \0 region \0 name -> table record
TABLE_VERSION = b"\x03"  # table number -> version of its record, checked inside every write
GARBAGE = b"\x04"  # key prefix of rows to be cleared in the background
TOKEN = b"\x05"  # account \0 region \0 token -> outcome of a transaction
TOKEN_EXPIRY = b"\x06"  # expiry time, token key -> nothing
TABLE_NUMBER = b"\x07"  # counter: last table number given out
COUNT = b"\x08"  # counter: rows of a table or index
SIZE = b"\x09"  # counter: bytes of a table or index
BACKFILL = b"\x0a"  # table number, slot -> where an index backfill stands
CATALOGUE_EPOCH = b"\x0b"  # -> a number that rises with every change of any table record
LEASE = b"\x0c"  # name -> who may do what only one may do
MIGRATION = b"\x0d"  # -> how far a copy to here has come; gone when it is complete
ROWS = b"\x10"  # table number, slot, key -> item or index entry

# Read by every write and hardly ever written: an engine that locks what it reads may lock these together.
SELDOM_WRITTEN = (TABLE_VERSION,)

BASE_SLOT = 0
COLLECTION_SLOT = 0xFFFF  # partition -> size of its item collection, for tables with local indexes


@lru_cache(maxsize=4096)
def rows_prefix(table_number: int, slot: int) -> bytes:
    """Where the rows of a table (slot 0) or of one of its indexes begin."""
    return ROWS + table_number.to_bytes(4, "big") + slot.to_bytes(2, "big")


def table_rows_prefix(table_number: int) -> bytes:
    """Where all rows of a table and of its indexes begin."""
    return ROWS + table_number.to_bytes(4, "big")


@lru_cache(maxsize=4096)
def count_key(table_number: int, slot: int) -> bytes:
    """The counter of rows."""
    return COUNT + table_number.to_bytes(4, "big") + slot.to_bytes(2, "big")


@lru_cache(maxsize=4096)
def size_key(table_number: int, slot: int) -> bytes:
    """The counter of bytes."""
    return SIZE + table_number.to_bytes(4, "big") + slot.to_bytes(2, "big")


@lru_cache(maxsize=4096)
def version_key(table_number: int) -> bytes:
    """The row that changes whenever the table's record does."""
    return TABLE_VERSION + table_number.to_bytes(4, "big")


def backfill_key(table_number: int, slot: int) -> bytes:
    """The row that says how far an index backfill has come."""
    return BACKFILL + table_number.to_bytes(4, "big") + slot.to_bytes(2, "big")


def catalogue_prefix(account_id: str, region: str) -> bytes:
    """Where the tables of one account and region begin."""
    return CATALOGUE + f"{account_id}\0{region}\0".encode()


def catalogue_key(account_id: str, region: str, name: str) -> bytes:
    """The row of one table's record."""
    return catalogue_prefix(account_id, region) + name.encode()


def token_key(account_id: str, region: str, token: str) -> bytes:
    """The row that remembers a transaction's token."""
    return TOKEN + f"{account_id}\0{region}\0{token}".encode()
