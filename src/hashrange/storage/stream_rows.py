"""The rows of streams: a stream outlives its end, and its table, for as long as its records can be read."""

import secrets
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Literal

import msgspec

from hashrange.core.keys import encoding
from hashrange.core.limits import STREAM_SECONDS
from hashrange.core.schema import KeyAttribute, Table
from hashrange.storage import layout
from hashrange.storage.engine import Reader, Transaction

Status = Literal["ENABLING", "ENABLED", "DISABLING", "DISABLED"]
ViewType = Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]

_SECRET_BYTES = 16


class Stream(msgspec.Struct, frozen=True, kw_only=True):
    """A stream of a table; its shards are those of the table's change log that have its label."""

    account_id: str
    region: str
    table_name: str
    table_number: int
    table_id: str
    label: str
    view_type: ViewType
    keys: tuple[KeyAttribute, ...]  # partition key, then sort key
    first_shard: int  # the number of its first shard: the others follow without a gap
    secret: bytes  # what the iterators of the stream are signed with
    settles_at: float  # ENABLING, and later DISABLING, is over then
    ended_at: float | None = None  # switched off, or its table was deleted

    @property
    def arn(self) -> str:
        """The stream's Amazon resource name."""
        table = f"arn:aws:dynamodb:{self.region}:{self.account_id}:table/{self.table_name}"
        return f"{table}/stream/{self.label}"

    @property
    def created_at(self) -> float:
        """When the stream was switched on, in epoch seconds: the label says so."""
        return datetime.fromisoformat(self.label).replace(tzinfo=UTC).timestamp()

    def status_at(self, now: float) -> Status:
        """What clients see at this moment."""
        if self.ended_at is None:
            return "ENABLING" if now < self.settles_at else "ENABLED"
        return "DISABLING" if now < self.settles_at else "DISABLED"

    def readable(self, now: float) -> bool:
        """Whether clients still find the stream."""
        return self.ended_at is None or self.ended_at > now - STREAM_SECONDS


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Stream)


def decode(stored: bytes) -> Stream:
    """The stream of a stored form."""
    return _decoder.decode(stored)


def label_at(now: float, latest: str | None) -> str:
    """The label of a stream that begins now, behind that of the latest one of the same table name."""
    label = _label(datetime.fromtimestamp(now, UTC))
    if latest is None or label > latest:
        return label
    return _label(datetime.fromisoformat(latest) + timedelta(milliseconds=1))


def _label(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]


def latest_label(reader: Reader, account_id: str, region: str, table_name: str) -> str | None:
    """The label of the latest stream that is known of tables with this name."""
    prefix = _table_prefix(account_id, region, table_name)
    for _, stored in reader.scan(prefix, encoding.prefix_end(prefix), reverse=True, limit=1):
        return decode(stored).label
    return None


def begin(tx: Transaction, table: Table) -> None:
    """Enter the stream that a table has from now on; its first shard is the next one of the table."""
    stream = Stream(
        account_id=table.account_id,
        region=table.region,
        table_name=table.name,
        table_number=table.number,
        table_id=table.table_id,
        label=table.stream_label or "",
        view_type=msgspec.convert(table.stream_view_type, ViewType),
        keys=table.keys,
        first_shard=table.log_next_shard,
        secret=secrets.token_bytes(_SECRET_BYTES),
        settles_at=table.settles_at,
    )
    tx.put(_key(stream), _encoder.encode(stream))


def end(tx: Transaction, table: Table, label: str, now: float) -> None:
    """Note that nothing is written to a stream any more."""
    stream = find(tx, table.account_id, table.region, table.name, label)
    if stream is not None:
        ended = msgspec.structs.replace(stream, ended_at=now, settles_at=table.settles_at)
        tx.put(_key(stream), _encoder.encode(ended))


def remove(tx: Transaction, stream: Stream) -> None:
    """Forget a stream that nobody can read any more."""
    tx.delete(_key(stream))


def find(reader: Reader, account_id: str, region: str, table_name: str, label: str) -> Stream | None:
    """The stream with this label, if it is known."""
    stored = reader.get(layout.stream_key(account_id, region, table_name, label))
    return None if stored is None else decode(stored)


def of_region(
    reader: Reader,
    account_id: str,
    region: str,
    *,
    table_name: str | None = None,
    after: tuple[str, str] | None = None,
) -> Iterator[Stream]:
    """The streams of a region, or of tables with one name, by name and label; those behind a name and a label."""
    prefix = layout.streams_prefix(account_id, region)
    if table_name is not None:
        prefix = _table_prefix(account_id, region, table_name)
    start = prefix
    if after is not None:
        start = max(prefix, layout.stream_key(account_id, region, *after) + b"\0")
    for _, stored in reader.scan(start, encoding.prefix_end(prefix)):
        yield decode(stored)


def all_streams(reader: Reader) -> Iterator[Stream]:
    """The streams of all regions."""
    for _, stored in reader.scan(layout.STREAM, encoding.prefix_end(layout.STREAM)):
        yield decode(stored)


def _table_prefix(account_id: str, region: str, table_name: str) -> bytes:
    return layout.stream_key(account_id, region, table_name, "")


def _key(stream: Stream) -> bytes:
    return layout.stream_key(stream.account_id, stream.region, stream.table_name, stream.label)
