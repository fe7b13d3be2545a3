"""The load of a place by key: the hottest keys one by one, all others as an even tail."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

from hashrange.capacity import limits
from hashrange.core.keys.encoding import HASH_BYTES, partition_prefix, terminated_scalar
from hashrange.core.partitions import HASH_SPACE
from hashrange.core.schema import Index, KeyAttribute, ScalarType, Table
from hashrange.core.values import Value
from hashrange.modeling.load.flows import Flow, Keys
from hashrange.modeling.load.records import BEGIN
from hashrange.modeling.model import Field, Literally, Rate, Template
from hashrange.modeling.population import zipf_share

MINUTES = 1440
_HOT_KEYS_MAX = 64
_RANKS_MAX = 64
_HOT_SHARE_MIN = 0.01  # of a partition's ceiling: what is below it is part of the tail
_ITEMS = 8  # that stand for the items of a key; halved three times, they are apart
# Every next one is far from those before it.
ITEM_TURNS = (0, 4, 2, 6, 1, 5, 3, 7)


def factors(rate: Rate) -> tuple[float, ...]:
    """The average rate times this is the rate of each minute: straight lines between the hours."""
    hours = rate.curve.factors
    return tuple(
        hours[minute // 60] + (hours[(minute // 60 + 1) % 24] - hours[minute // 60]) * (minute % 60) / 60
        for minute in range(MINUTES)
    )


@dataclass(slots=True)
class HotKey:
    """A key with its units per second on average, by curve. It is the `rank`th among its like."""

    keys: Keys
    rank: int
    shard: int
    by_curve: dict[int, float] = field(default_factory=dict)

    def text(self, minute: int) -> str:
        """For people."""
        return " + ".join(_text(template, self, minute) for template in self.keys.templates)

    @property
    def identity(self) -> tuple[object, ...]:
        """Flows of the same templates mean the same keys by the same ranks."""
        templates = tuple(template.text for template in self.keys.templates)
        return templates, self.rank, self.shard, self.keys.rolling_seconds, self.keys.items


def _text(template: Template, hot: HotKey, minute: int) -> str:
    texts = []
    for piece in template.pieces:
        if isinstance(piece, Literally):
            texts.append(piece.text)
        elif isinstance(piece, Field):
            now = datetime.fromtimestamp(BEGIN + minute * 60, UTC).isoformat()
            rolls = hot.keys.rolling_seconds and piece.cut
            texts.append(now[: piece.cut] if rolls else f"<{piece.attribute} {hot.rank}>")
        else:
            texts.append(str(hot.shard % piece.shards))
    if hot.keys.suffixes > 1:
        texts.append(f"#{hot.shard % hot.keys.suffixes}")
    return "".join(texts)


@dataclass(frozen=True, slots=True)
class Spread:
    """The reads, or the writes, of one place over a day."""

    write: bool
    curves: tuple[tuple[float, ...], ...]
    hot: tuple[HotKey, ...]
    tail: dict[int, float]  # units per second on average, by curve

    def tail_units(self, minute: int) -> float:
        """Units per second of the tail."""
        return sum(units * self.curves[curve][minute] for curve, units in self.tail.items())

    def hot_units(self, minute: int) -> list[float]:
        """Units per second of each hot key."""
        now = [curve[minute] for curve in self.curves]
        return [sum(units * now[curve] for curve, units in hot.by_curve.items()) for hot in self.hot]

    def total(self, minute: int) -> float:
        """Units per second of everything."""
        return self.tail_units(minute) + sum(self.hot_units(minute))


def spread(flows: Iterable[Flow], *, write: bool) -> Spread:
    """Add up what the flows ask of each key."""
    curves: dict[tuple[float, ...], int] = {}
    tail: dict[int, float] = {}
    hot: dict[tuple[object, ...], HotKey] = {}
    for flow in flows:
        if flow.write != write:
            continue
        curve = curves.setdefault(factors(flow.rate), len(curves))
        units = flow.units * flow.rate.average
        rest = units
        for key, share in _hottest(flow.keys):
            known = hot.setdefault(key.identity, key)
            known.by_curve[curve] = known.by_curve.get(curve, 0.0) + units * share
            rest -= units * share
        tail[curve] = tail.get(curve, 0.0) + max(rest, 0.0)
    peaks = [max(curve) for curve in curves]
    ranked = sorted(hot.values(), key=lambda one: -_peak(one, peaks))
    least = _HOT_SHARE_MIN * limits.partition_units(write=write)
    kept = [one for one in ranked[:_HOT_KEYS_MAX] if _peak(one, peaks) >= least]
    for one in ranked[len(kept) :]:
        for curve, units in one.by_curve.items():
            tail[curve] += units
    return Spread(write, tuple(curves), tuple(kept), tail)


def _peak(hot: HotKey, peaks: Sequence[float]) -> float:
    return sum(units * peaks[curve] for curve, units in hot.by_curve.items())


def _hottest(keys: Keys | None) -> list[tuple[HotKey, float]]:
    """The keys worth a look, with their shares. Of very many that are used alike there is none."""
    if keys is None:
        return []
    shards = keys.shards * keys.suffixes
    first = zipf_share(keys.distribution, keys.count)
    exponent = keys.distribution.exponent if keys.distribution.kind == "zipf" else 0.0
    ranks = int(min(keys.count, _RANKS_MAX))
    if not exponent and keys.count > _RANKS_MAX:
        return []
    return [
        (HotKey(keys, rank, shard), first * rank**-exponent / shards)
        for rank in range(1, ranks + 1)
        for shard in range(shards)
    ]


def item_keys(hot: HotKey, table: Table, index: Index | None, minute: int) -> list[bytes]:
    """The key bytes of the items that stand for a hot key, in their order."""
    attributes = (table.hash,) if index is None else index.hash
    texts = [_text(template, hot, minute) for template in hot.keys.templates]
    number = hot.rank * 1000 + hot.shard
    prefix = partition_prefix(
        [_value(key.type, text, number) for key, text in zip(attributes, texts, strict=True)]
    )
    sort = table.range if index is None else next(iter(index.range), None)
    if hot.keys.items == "rising":
        return [prefix + _sort_bytes(sort, minute)]
    if hot.keys.items == "many" and sort is not None:
        return [prefix + _sort_bytes(sort, item) for item in range(_ITEMS)]
    return [prefix + _sort_bytes(sort, 0)]


def _sort_bytes(sort: KeyAttribute | None, number: int) -> bytes:
    return b"" if sort is None else terminated_scalar(_value(sort.type, f"{number:06}", number + 1))


def _value(kind: ScalarType, text: str, number: int) -> Value:
    if kind == "N":
        return {"N": str(number)}
    return {"S": text} if kind == "S" else {"B": b64encode(text.encode()).decode()}


@lru_cache(maxsize=8)
def tail_keys(count: int) -> list[bytes]:
    """Keys at even distances in the hash space, each far from those before it; `count` is a power of two."""
    bits = count.bit_length() - 1
    return [
        (int(f"{number:0{bits}b}"[::-1], 2) * (HASH_SPACE // count) + HASH_SPACE // count // 2).to_bytes(
            HASH_BYTES, "big"
        )
        + b"\x00\x04tail"
        for number in range(count)
    ]
