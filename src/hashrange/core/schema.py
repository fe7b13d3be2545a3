"""What a table is: its keys, its indexes and its settings, as one immutable record."""

import hashlib
from functools import cached_property
from typing import Literal

import msgspec

from hashrange.core.log_shards import OpenLog

ScalarType = Literal["S", "N", "B"]
Status = Literal["CREATING", "UPDATING", "ACTIVE", "DELETING"]
# Why a key of the key service cannot be used; the last three are said of keys of another key service only.
KeyState = Literal["disabled", "pending", "missing", "denied", "unreachable", "unfit"]
Updating = Literal["throughput", "stream", "class", "index"]
Projection = Literal["ALL", "KEYS_ONLY", "INCLUDE"]

_STAMP_DIGEST_BYTES = 12


class KeyAttribute(msgspec.Struct, frozen=True):
    """One attribute of a key, with its declared type."""

    name: str
    type: ScalarType


class UnitPair(msgspec.Struct, frozen=True, kw_only=True):
    """A pair of read and write units, such as an on-demand ceiling (-1: none)."""

    read_units: int
    write_units: int


class Throughput(msgspec.Struct, frozen=True, kw_only=True):
    """Provisioned capacity with its history of changes; zeros on an on-demand table."""

    read_units: int = 0
    write_units: int = 0
    last_increase: float | None = None
    last_decrease: float | None = None
    decreases: tuple[float, ...] = ()
    previous: UnitPair | None = None  # what clients still see while the owner is UPDATING
    delivered: UnitPair | None = None  # what is still served while the table is being switched to on-demand


class Warm(msgspec.Struct, frozen=True, kw_only=True):
    """Throughput that can be served at once: it grows and never shrinks."""

    read_units: int
    write_units: int
    settles_at: float = 0.0
    previous: UnitPair | None = None  # what clients still see until then
    peak: UnitPair | None = None  # of on-demand traffic that it has not grown for yet: see capacity/growth.py
    grown_at: float = 0.0  # when it last grew by itself


InsightsMode = Literal["ACCESSED_AND_THROTTLED_KEYS", "THROTTLED_KEYS"]
InsightsStatus = Literal["ENABLING", "ENABLED", "DISABLING", "DISABLED", "FAILED"]


class Insights(msgspec.Struct, frozen=True, kw_only=True):
    """Contributor Insights of a table or index. The moments stand in the names of their rules."""

    mode: InsightsMode
    changed_at: float
    settles_at: float
    accessed_since: float | None = None
    throttled_since: float | None = None
    failed: bool = False  # the account has too many rules

    def status_at(self, now: float) -> InsightsStatus:
        """What clients see at this moment."""
        if self.throttled_since is None and not self.failed:
            return "DISABLING" if now < self.settles_at else "DISABLED"
        if now < self.settles_at:
            return "ENABLING"
        return "FAILED" if self.failed else "ENABLED"


class Index(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A secondary index. `slot` is its number in the key layout and is never used again after a deletion."""

    name: str
    slot: int
    local: bool
    hash: tuple[KeyAttribute, ...]
    range: tuple[KeyAttribute, ...] = ()
    projection: Projection = "ALL"
    non_key_attributes: tuple[str, ...] = ()
    status: Status = "ACTIVE"
    settles_at: float = 0.0  # a passing status is over at this time (epoch seconds)
    backfilling: bool = False  # added to a live table, and its rows are not all there yet
    throughput: Throughput = Throughput()
    warm: Warm | None = None
    on_demand: UnitPair | None = None
    insights: Insights | None = None
    partitions: tuple[bytes, ...] = (b"",)  # of a global index: see core/partitions.py

    @cached_property
    def keys(self) -> tuple[KeyAttribute, ...]:
        """Hash attributes, then range attributes."""
        return self.hash + self.range

    @cached_property
    def key_names(self) -> frozenset[str]:
        """Names of all key attributes."""
        return frozenset(key.name for key in self.keys)

    @cached_property
    def string_hash(self) -> tuple[str, KeyAttribute | None] | None:
        """The name of the hash attribute, a string, and the range attribute; None if there are more of one."""
        if len(self.hash) > 1 or len(self.range) > 1 or self.hash[0].type != "S":
            return None
        return self.hash[0].name, self.range[0] if self.range else None

    def readable(self, now: float) -> bool:
        """Whether the index can be queried yet."""
        return self.status_at(now) in ("ACTIVE", "UPDATING")

    def status_at(self, now: float) -> Status:
        """The status a client sees at this moment; a building index stays CREATING until its backfill is done."""
        if self.status in ("CREATING", "UPDATING") and not self.backfilling and now >= self.settles_at:
            return "ACTIVE"
        return self.status


class TimeToLive(msgspec.Struct, frozen=True, kw_only=True):
    """By which attribute items expire. `slot` is the place of the expiry rows in the key layout."""

    attribute: str
    slot: int
    backfilling: bool = False  # items that are older than the setting do not all have expiry rows yet


class Restoring(msgspec.Struct, frozen=True, kw_only=True):
    """Where the items of a table that is being restored come from."""

    source_arn: str
    backup_arn: str | None = None
    restore_at: float  # the moment that the table is restored to


TABLE_POLICY = (
    ""  # where a table's own policy is among its policies; those of its streams are under their labels
)


class ResourcePolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Who may do what with a table or a stream."""

    document: str | None  # as the service shows it; None: it was deleted
    revision: str  # when it was put or deleted, in milliseconds
    versioned: bool = (
        True  # whether the document that was sent has a version: it counts as another one if not
    )


class Inaccessible(msgspec.Struct, frozen=True, kw_only=True):
    """Since when a table cannot be read or written, because its key cannot be used, and why not."""

    since: float
    state: KeyState


class Table(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A table. `number` is its place in the key layout; `version` rises with every change of this record."""

    account_id: str
    region: str
    name: str
    number: int
    version: int
    table_id: str
    created_at: float
    hash: KeyAttribute
    range: KeyAttribute | None = None
    attribute_definitions: tuple[KeyAttribute, ...] = ()
    indexes: tuple[Index, ...] = ()
    next_slot: int = 1
    status: Status = "ACTIVE"
    settles_at: float = 0.0
    updating: Updating | None = None  # what the latest UPDATING is about
    on_demand: bool = False
    on_demand_since: float | None = None  # the latest switch to on-demand, kept after a switch back
    on_demand_switches: tuple[float, ...] = ()
    throughput: Throughput = Throughput()
    warm: Warm | None = None
    on_demand_limits: UnitPair | None = None
    table_class: str | None = None
    table_class_before: str | None = None  # what clients still see while the change runs
    table_class_changes: tuple[float, ...] = ()
    deletion_protection: bool = False
    sse_key: str | None = None  # ARN of the KMS key; none: encrypted with the service's own key
    sse_key_before: str | None = None
    # The table's own key, as another key service has wrapped it (kms/table_key.py); empty: the key is one of ours.
    sse_table_key: bytes = b""
    sse_settles_at: float = 0.0
    sse_changes: tuple[float, ...] = ()
    inaccessible: Inaccessible | None = None
    stream_view_type: str | None = None
    stream_label: str | None = None
    restoring: Restoring | None = None
    pitr_since: float | None = None  # point-in-time recovery is on since then
    pitr_days: int = 35
    held: bool = False  # somebody reads the table's past: see storage/holds.py
    log_next_shard: int = 1
    log: OpenLog | None = None  # where changes are written; none if nobody wants them
    ttl: TimeToLive | None = None  # None: off
    ttl_changed_at: float | None = None
    tags: dict[str, str] = {}
    policies: dict[str, ResourcePolicy] = {}  # by TABLE_POLICY or the label of a stream
    insights: Insights | None = None
    partitions: tuple[bytes, ...] = (b"",)  # the lower bound of each: see core/partitions.py

    @cached_property
    def arn(self) -> str:
        """The table's Amazon resource name."""
        return f"arn:aws:dynamodb:{self.region}:{self.account_id}:table/{self.name}"

    @cached_property
    def keys(self) -> tuple[KeyAttribute, ...]:
        """Hash attribute, then range attribute if there is one."""
        return (self.hash,) if self.range is None else (self.hash, self.range)

    @cached_property
    def key_names(self) -> frozenset[str]:
        """Names of the primary key's attributes."""
        return frozenset(key.name for key in self.keys)

    @cached_property
    def has_number_key(self) -> bool:
        """Whether a number is part of the primary key."""
        return any(key.type == "N" for key in self.keys)

    @cached_property
    def string_key(self) -> tuple[str, str | None] | None:
        """The names of the key attributes if all are strings."""
        if any(key.type != "S" for key in self.keys):
            return None
        return self.hash.name, None if self.range is None else self.range.name

    @cached_property
    def live_indexes(self) -> tuple[Index, ...]:
        """Indexes that writes must keep up with: all but those being deleted."""
        return tuple(index for index in self.indexes if index.status != "DELETING")

    @cached_property
    def is_plain(self) -> bool:
        """Whether writes need not look into items: no index has to keep up with them, and none expires."""
        return not self.live_indexes and self.ttl is None

    @cached_property
    def index_by_name(self) -> dict[str, Index]:
        """Indexes by name."""
        return {index.name: index for index in self.indexes}

    @cached_property
    def indexes_by_name(self) -> tuple[Index, ...]:
        """Indexes in the order of their names."""
        return tuple(sorted(self.indexes, key=lambda index: index.name))

    @cached_property
    def index_key_checks(self) -> tuple[tuple[Index, KeyAttribute, bool], ...]:
        """The attributes of index keys that items are checked for, index by index in the order of their names.

        The last member says whether it is of the partition key.
        """
        # The table's own partition key may be longer than the sort key of an index.
        sort_key = None if self.range is None else self.range.name
        checks: list[tuple[Index, KeyAttribute, bool]] = []
        for index in self.indexes_by_name:
            checks += [(index, key, True) for key in index.hash if key.name not in self.key_names]
            checks += [(index, key, False) for key in index.range if key.name != sort_key]
        return tuple(checks)

    @cached_property
    def composite_indexes(self) -> tuple[Index, ...]:
        """Indexes with more than one partition key or sort key attribute."""
        return tuple(index for index in self.indexes if len(index.hash) > 1 or len(index.range) > 1)

    @cached_property
    def local_indexes(self) -> tuple[Index, ...]:
        """The local secondary indexes."""
        return tuple(index for index in self.indexes if index.local)

    @cached_property
    def global_indexes(self) -> tuple[Index, ...]:
        """The global secondary indexes."""
        return tuple(index for index in self.indexes if not index.local)

    @cached_property
    def logs_before(self) -> bool:
        """Whether the change log holds the items as they were."""
        wanted = self.held or self.pitr_since is not None
        return wanted or self.stream_view_type in ("OLD_IMAGE", "NEW_AND_OLD_IMAGES")

    @cached_property
    def logs_after(self) -> bool:
        """Whether the change log holds the items as they became."""
        return self.stream_view_type in ("NEW_IMAGE", "NEW_AND_OLD_IMAGES")

    @property
    def is_writable(self) -> bool:
        """Whether jobs may read and write its items."""
        return self.status != "DELETING" and self.inaccessible is None

    @property
    def wants_log(self) -> bool:
        """Whether somebody wants to know of changes."""
        if self.status == "DELETING":
            return self.held  # by somebody who must not miss a write that was under way
        return self.held or self.pitr_since is not None or self.stream_view_type is not None

    @cached_property
    def stamp(self) -> bytes:
        """What tells this record from every other, of whatever table and version: see `storage/catalogue.py`."""
        digest = hashlib.blake2b(encode(self), digest_size=_STAMP_DIGEST_BYTES).digest()
        return self.version.to_bytes(4, "big") + digest

    def status_at(self, now: float) -> Status:
        """The status a client sees at this moment: CREATING and UPDATING end by themselves."""
        if self.status in ("CREATING", "UPDATING") and now >= self.settles_at:
            return "ACTIVE"
        return self.status


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Table)


def encode(table: Table) -> bytes:
    """The stored form of a table's record."""
    return _encoder.encode(table)


def decode(stored: bytes) -> Table:
    """The record of a stored form."""
    return _decoder.decode(stored)


changed = msgspec.structs.replace
