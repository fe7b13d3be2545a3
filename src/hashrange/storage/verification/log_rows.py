"""What must hold of the rows of change logs: records without gaps, each in a known shard, and heads behind them."""

from collections.abc import Iterator

from hashrange.core import change_record, log_shards
from hashrange.core.schema import Table
from hashrange.storage import appends, catalogue, change_log, layout, stream_rows
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
            yield from _expect_open_shard(reader, key)
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
            if shard.stream and table is not None:
                yield from _expect_stream(reader, table, key, shard.stream)
        case layout.STREAM:
            yield from _stream(tables, key, value)
        case _:
            pass  # holds stand for themselves


def _expect_stream(reader: Reader, table: Table, key: bytes, label: str) -> Iterator[Problem]:
    if stream_rows.find(reader, *catalogue.address(table), label) is None:
        yield Problem(
            "missing row", layout.describe(key), f"there is no stream {label}, so nobody can read it"
        )


def _stream(tables: Tables, key: bytes, value: bytes) -> Iterator[Problem]:
    stream = stream_rows.decode(value)
    if layout.stream_key(stream.account_id, stream.region, stream.table_name, stream.label) != key:
        yield Problem("misplaced row", layout.describe(key), f"it is the stream {stream.arn}")
    table = tables.by_number.get(stream.table_number)
    written = table is not None and table.log is not None and table.log.stream == stream.label
    if written != (stream.ended_at is None):
        yield Problem(
            "wrong stream", layout.describe(key), "the table's record does not fit to whether it has ended"
        )


def _expect_open_shard(reader: Reader, key: bytes) -> Iterator[Problem]:
    number, shard_number = int.from_bytes(key[1:5], "big"), int.from_bytes(key[5:9], "big")
    shard = change_log.find_shard(reader, number, shard_number)
    if shard is None:
        yield Problem("orphan row", layout.describe(key), "there is no such shard")
    elif shard.closed_at is not None:
        yield Problem("orphan row", layout.describe(key), "its shard is closed")


def _record(reader: Reader, key: bytes, value: bytes) -> Iterator[Problem]:
    change_record.decode(value[appends.TIME_BYTES :])
    number, shard_number, position = (
        int.from_bytes(key[1:5], "big"),
        int.from_bytes(key[5:9], "big"),
        appends.position_of(key),
    )
    shard = change_log.find_shard(reader, number, shard_number)
    if shard is None:
        yield Problem("orphan row", layout.describe(key), "there is no such shard")
        return
    end = change_log.end_position(reader, number, shard)
    if not shard.first <= position < end:
        yield Problem("wrong sequence", layout.describe(key), f"the shard has {shard.first} to {end - 1}")
    elif position + 1 < end:
        later = reader.get(appends.row_key(layout.log_prefix(number, shard_number), position + 1))
        if later is None:
            yield Problem("missing row", layout.describe(key), "the record behind it is not there")
        elif appends.time_of(later) < appends.time_of(value):
            yield Problem("wrong sequence", layout.describe(key), "the record behind it is older")
