"""What must hold of the rows of change logs: records without gaps, each in a known shard, and heads behind them."""

from collections.abc import Iterator

from hashrange.core import change_record, log_shards
from hashrange.storage import appends, change_log, layout
from hashrange.storage.engine import Reader
from hashrange.storage.verification.report import Problem
from hashrange.storage.verification.tables import Tables


def problems_of(reader: Reader, tables: Tables, key: bytes, value: bytes) -> Iterator[Problem]:
    """Check one row of a log."""
    match key[:1]:
        case layout.LOG:
            yield from _record(reader, key, value)
        case layout.LOG_HEAD:
            appends.decode_head(value)
            yield from _expect_shard(reader, key, is_open=True)
        case layout.LOG_SHARD:
            shard = log_shards.decode(value)
            head = reader.get(layout.log_head_key(layout.log_shard_table(key), shard.number))
            if (head is None) == (shard.closed_at is None):
                yield Problem(
                    "wrong shard", layout.describe(key), "its head does not fit to whether it is closed"
                )
            table = tables.by_number.get(layout.log_shard_table(key))
            listed = table is not None and table.log is not None and shard.number in table.log.numbers
            if listed != (shard.closed_at is None):
                yield Problem(
                    "wrong shard", layout.describe(key), "the table's record does not list it rightly"
                )
        case _:
            pass  # streams and holds stand for themselves


def _expect_shard(reader: Reader, key: bytes, *, is_open: bool) -> Iterator[Problem]:
    number, shard_number = int.from_bytes(key[1:5], "big"), int.from_bytes(key[5:9], "big")
    stored = reader.get(layout.log_shard_key(number, shard_number))
    if stored is None:
        yield Problem("orphan row", layout.describe(key), "there is no such shard")
    elif is_open and log_shards.decode(stored).closed_at is not None:
        yield Problem("orphan row", layout.describe(key), "its shard is closed")


def _record(reader: Reader, key: bytes, value: bytes) -> Iterator[Problem]:
    yield from _expect_shard(reader, key, is_open=False)
    change_record.decode(value[appends.TIME_BYTES :])
    number, shard_number, position = (
        int.from_bytes(key[1:5], "big"),
        int.from_bytes(key[5:9], "big"),
        appends.position_of(key),
    )
    shard = change_log.read_shard(reader, number, shard_number)
    end = change_log.end_position(reader, number, shard)
    if not shard.first <= position < end:
        yield Problem("wrong sequence", layout.describe(key), f"the shard has {shard.first} to {end - 1}")
    elif position + 1 < end:
        later = reader.get(appends.row_key(layout.log_prefix(number, shard_number), position + 1))
        if later is None:
            yield Problem("missing row", layout.describe(key), "the record behind it is not there")
        elif appends.time_of(later) < appends.time_of(value):
            yield Problem("wrong sequence", layout.describe(key), "the record behind it is older")
