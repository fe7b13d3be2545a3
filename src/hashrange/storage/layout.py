"""Every key prefix of the store, in one place."""

from functools import lru_cache

# The first byte of a key says what the row is.
CATALOGUE = b"\x02"  # account \0 region \0 name -> table record
TABLE_VERSION = b"\x03"  # table number -> stamp of its record, checked inside every write
GARBAGE = b"\x04"  # key prefix of rows that a job clears
TOKEN = b"\x05"  # account \0 region \0 token -> outcome of a transaction
TOKEN_EXPIRY = b"\x06"  # expiry time, token key -> nothing
TABLE_NUMBER = b"\x07"  # counter: last table number in use
COUNT = b"\x08"  # counter: rows of a table or index
SIZE = b"\x09"  # counter: bytes of a table or index
BACKFILL = b"\x0a"  # table number, slot -> progress of a backfill
CATALOGUE_EPOCH = b"\x0b"  # -> a number that rises with every change of any table record, and a random one
LEASE = b"\x0c"  # name -> holder of the lease
MIGRATION = b"\x0d"  # -> progress of a copy into this engine; deleted when it is complete
EXPIRED_ITEMS = b"\x0e"  # counter: items of a table that TTL has deleted
CLOCK = b"\x0f"  # -> whether servers run with --test-clock, and how far it was moved
ROWS = b"\x10"  # table number, slot, key -> item, index entry or expiry row
LOG = b"\x11"  # table number, shard, position -> time and change record
LOG_HEAD = b"\x12"  # table number, shard -> next position and last time of an open shard
LOG_SHARD = b"\x13"  # table number, shard -> shard
STREAM = b"\x14"  # account \0 region \0 table name \0 label -> stream
JOB = b"\x16"  # kind \0 account \0 region \0 id -> long job
ACTIVE_JOB = b"\x17"  # the same of those that are not finished -> nothing
REPORT = b"\x18"  # the same, name of the report, number of the line -> line that is not in a file yet
SETTING = b"\x20"  # kind \0 account \0 region \0 id -> what a service beside DynamoDB keeps
HIDDEN = b"\0"  # rows of storage/encrypting.py, which nobody else sees
DATA_KEY = HIDDEN + b"data key\0"  # table number -> wrapped key of its rows; number 0: of all other rows
IDENTITY_GENERATION = b"\x22"  # -> the last changes of identities: see identity_rows.py
ROOT_KEY_CHECK = b"\x23"  # -> by what the root key is known, if anything is under it: see root_key_record.py
TABLE_KEY = b"\x24"  # table number -> the key that its data key is under: see storage/table_keys.py
REMOVED_ENTRY = b"\x25"  # table number, slot, key of an entry -> nothing: it was removed during a backfill
INSIGHT = b"\x21"  # table number, slot, rule, minute, worker -> summary of keys
HOLD = b"\x15"  # table number, name of a reader of the table's past -> the moment it reads
PAST = b"\x1d"  # key of a row, time -> what the row held before it was written then: see storage/past.py
PAST_END = b"\x1e"
CHARGES = b"\x1e"  # process -> what it has charged in the last seconds: see storage/charge_rows.py
FAULTS = b"\x1f"  # -> the faults that users have asked for: see storage/fault_rules.py
METRIC = b"\x28"  # resolution, account \0 region \0 table \0, time, worker -> statistics by series
METRIC_TOTAL = b"\x29"  # account \0 region \0 table \0, worker -> the same since ever
METRIC_SERIES = b"\x2a"  # account \0 region \0 table \0 -> the series that there are
CUSTOM_METRIC = (
    b"\x30"  # resolution, account \0 region \0, digest of a series, time -> statistics that clients put
)
CUSTOM_SERIES = b"\x31"  # account \0 region \0, digest of a series -> its name and dimensions
METRIC_WORKER = b"\x2b"  # worker -> number and time of its latest flush
HEAT = b"\x27"  # table number, slot, minute, worker -> where traffic fell: see storage/heat_rows.py

# Every write reads these and hardly any writes them: an engine that locks what it reads may lock them together.
READ_MOSTLY = (TABLE_VERSION,)

BASE_SLOT = 0
ROWS_PREFIX_BYTES = 7
COLLECTION_SLOT = 0xFFFF  # partition -> size of its item collection, for tables with local indexes


@lru_cache(maxsize=4096)
def rows_prefix(table_number: int, slot: int) -> bytes:
    """The key prefix of the rows of a table (slot 0) or of one of its indexes."""
    return ROWS + table_number.to_bytes(4, "big") + slot.to_bytes(2, "big")


def table_rows_prefix(table_number: int) -> bytes:
    """The key prefix of all rows of a table and of its indexes."""
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


def expired_items_key(table_number: int) -> bytes:
    """The counter of items that TTL has deleted."""
    return EXPIRED_ITEMS + table_number.to_bytes(4, "big")


def backfill_key(table_number: int, slot: int) -> bytes:
    """The row that says how far the backfill of an index, or of expiry rows, has come."""
    return BACKFILL + table_number.to_bytes(4, "big") + slot.to_bytes(2, "big")


@lru_cache(maxsize=4096)
def removed_entries_prefix(table_number: int, slot: int) -> bytes:
    """The key prefix of the marks of entries that writes have removed while an index was being filled."""
    return REMOVED_ENTRY + table_number.to_bytes(4, "big") + slot.to_bytes(2, "big")


@lru_cache(maxsize=4096)
def log_prefix(table_number: int, shard: int) -> bytes:
    """The key prefix of the records of one shard of a table's change log."""
    return LOG + table_number.to_bytes(4, "big") + shard.to_bytes(4, "big")


@lru_cache(maxsize=4096)
def log_head_key(table_number: int, shard: int) -> bytes:
    """The row that says where the next record of a shard goes."""
    return LOG_HEAD + table_number.to_bytes(4, "big") + shard.to_bytes(4, "big")


def log_shards_prefix(table_number: int) -> bytes:
    """The key prefix of the shards of a table's change log."""
    return LOG_SHARD + table_number.to_bytes(4, "big")


def log_shard_key(table_number: int, shard: int) -> bytes:
    """The row of one shard."""
    return log_shards_prefix(table_number) + shard.to_bytes(4, "big")


def log_shard_table(key: bytes) -> int:
    """The table number in the key of a shard."""
    return int.from_bytes(key[1:5], "big")


def streams_prefix(account_id: str, region: str) -> bytes:
    """The key prefix of the streams of one account and region."""
    return STREAM + f"{account_id}\0{region}\0".encode()


def stream_key(account_id: str, region: str, table_name: str, label: str) -> bytes:
    """The row of one stream."""
    return streams_prefix(account_id, region) + f"{table_name}\0{label}".encode()


def holds_prefix(table_number: int) -> bytes:
    """The key prefix of the readers of a table's past."""
    return HOLD + table_number.to_bytes(4, "big")


def insights_prefix(table_number: int, slot: int, rule: int) -> bytes:
    """The key prefix of the summaries of keys of one rule of Contributor Insights."""
    return INSIGHT + table_number.to_bytes(4, "big") + slot.to_bytes(2, "big") + bytes([rule])


def catalogue_prefix(account_id: str, region: str) -> bytes:
    """The key prefix of the table records of one account and region."""
    return CATALOGUE + f"{account_id}\0{region}\0".encode()


def catalogue_key(account_id: str, region: str, name: str) -> bytes:
    """The row of one table's record."""
    return catalogue_prefix(account_id, region) + name.encode()


_NAMES = {
    CATALOGUE: "table record",
    TABLE_VERSION: "version of a table record",
    GARBAGE: "garbage mark",
    TOKEN: "idempotency token",
    TOKEN_EXPIRY: "expiry of an idempotency token",
    TABLE_NUMBER: "last table number",
    COUNT: "counter of rows",
    SIZE: "counter of bytes",
    BACKFILL: "progress of a backfill",
    REMOVED_ENTRY: "mark of an index entry that was removed",
    CATALOGUE_EPOCH: "epoch of the catalogue",
    LEASE: "lease",
    CLOCK: "clock",
    HIDDEN: "wrapped data key",
    EXPIRED_ITEMS: "counter of items deleted by TTL",
    MIGRATION: "progress of a copy",
    LOG: "record of a change log",
    LOG_HEAD: "head of a shard of a change log",
    LOG_SHARD: "shard of a change log",
    STREAM: "stream",
    JOB: "long job",
    ACTIVE_JOB: "mark of an unfinished job",
    REPORT: "line of a job's report",
    HOLD: "hold on a table's past",
    PAST: "what a row held before",
    CHARGES: "charges of a process",
    FAULTS: "faults to be injected",
    SETTING: "setting of a service",
    IDENTITY_GENERATION: "generation of identities",
    TABLE_KEY: "key of a table",
    ROOT_KEY_CHECK: "check value of the root key",
    INSIGHT: "summary of hot keys",
    METRIC: "statistics of metrics",
    METRIC_TOTAL: "totals of metrics",
    METRIC_SERIES: "list of the metrics of a table",
    CUSTOM_METRIC: "statistics of a custom metric",
    CUSTOM_SERIES: "series of a custom metric",
    METRIC_WORKER: "latest flush of metrics",
    HEAT: "heat of a table or index",
}


def describe(key: bytes) -> str:
    """Name a row for people."""
    if key.startswith(ROWS) and len(key) >= ROWS_PREFIX_BYTES:
        number, slot = split_rows_key(key)
        kind = {BASE_SLOT: "item", COLLECTION_SLOT: "size of an item collection"}.get(
            slot, f"row of slot {slot}"
        )
        return f"table number {number}, {kind}, key {key[ROWS_PREFIX_BYTES:].hex()}"
    name = _NAMES.get(key[:1], "row of no known kind")
    return f"{name}, key {key.hex()}"


def describe_range(start: bytes, end: bytes) -> str:
    """Name the rows of a range for people."""
    if not start.startswith(ROWS) or len(start) < ROWS_PREFIX_BYTES:
        return f"between {describe(start)} and {describe(end)}"
    is_within = end.startswith(start[:ROWS_PREFIX_BYTES])
    return f"{describe(start)} or behind it" + (
        f", before {end[ROWS_PREFIX_BYTES:].hex()}" if is_within else ""
    )


def describe_prefix(prefix: bytes) -> str:
    """Name all rows of a table or index for people."""
    number, slot = split_rows_key(prefix)
    return f"table number {number}" + (f", index {slot}" if len(prefix) == ROWS_PREFIX_BYTES else "")


def split_rows_key(key: bytes) -> tuple[int, int]:
    """The table number and the slot in the key of an item or index entry."""
    return int.from_bytes(key[1:5], "big"), int.from_bytes(key[5:7], "big")
