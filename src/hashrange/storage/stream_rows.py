"""The rows of streams: a stream outlives its end, and its table, for as long as its records can be read."""

from collections.abc import Iterator

import msgspec

from hashrange.core.keys import encoding
from hashrange.core.schema import KeyAttribute, Table
from hashrange.storage import layout
from hashrange.storage.engine import Reader, Transaction


class Stream(msgspec.Struct, frozen=True, kw_only=True):
    """A stream of a table; its shards are those of the table's change log that have its label."""

    account_id: str
    region: str
    table_name: str
    table_number: int
    table_id: str
    label: str
    view_type: str
    keys: tuple[KeyAttribute, ...]  # partition key, then sort key
    created_at: float
    ended_at: float | None = None  # switched off, or its table was deleted

    @property
    def arn(self) -> str:
        """The stream's Amazon resource name."""
        table = f"arn:aws:dynamodb:{self.region}:{self.account_id}:table/{self.table_name}"
        return f"{table}/stream/{self.label}"


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Stream)


def begin(tx: Transaction, table: Table, now: float) -> None:
    """Enter the stream that a table has from now on."""
    stream = Stream(
        account_id=table.account_id,
        region=table.region,
        table_name=table.name,
        table_number=table.number,
        table_id=table.table_id,
        label=table.stream_label or "",
        view_type=table.stream_view_type or "",
        keys=table.keys,
        created_at=now,
    )
    tx.put(_key(stream), _encoder.encode(stream))


def end(tx: Transaction, table: Table, label: str, now: float) -> None:
    """Note that nothing is written to a stream any more."""
    stream = find(tx, table.account_id, table.region, table.name, label)
    if stream is not None:
        tx.put(_key(stream), _encoder.encode(msgspec.structs.replace(stream, ended_at=now)))


def remove(tx: Transaction, stream: Stream) -> None:
    """Forget a stream that nobody can read any more."""
    tx.delete(_key(stream))


def find(reader: Reader, account_id: str, region: str, table_name: str, label: str) -> Stream | None:
    """The stream with this label, if it is known."""
    stored = reader.get(layout.stream_key(account_id, region, table_name, label))
    return None if stored is None else _decoder.decode(stored)


def of_region(
    reader: Reader, account_id: str, region: str, *, table_name: str = "", after: bytes = b""
) -> Iterator[tuple[bytes, Stream]]:
    """The streams of a region, or of one of its tables, by table name and label; each with its key, a cursor."""
    prefix = layout.streams_prefix(account_id, region)
    if table_name:
        prefix += f"{table_name}\0".encode()
    start = max(prefix, after + b"\0") if after else prefix
    for key, stored in reader.scan(start, encoding.prefix_end(prefix)):
        yield key, _decoder.decode(stored)


def all_streams(reader: Reader) -> Iterator[Stream]:
    """The streams of all regions."""
    for _, stored in reader.scan(layout.STREAM, encoding.prefix_end(layout.STREAM)):
        yield _decoder.decode(stored)


def _key(stream: Stream) -> bytes:
    return layout.stream_key(stream.account_id, stream.region, stream.table_name, stream.label)
