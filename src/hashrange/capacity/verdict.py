"""The verdict on a table's heat, in plain words: what is wrong with its keys, and what to do about it."""

import re
from collections.abc import Sequence
from functools import cached_property
from math import ceil
from typing import Literal

import msgspec

from hashrange.capacity import limits, shares
from hashrange.capacity.heat import MINUTE_SECONDS, Traffic, Window
from hashrange.capacity.limits import Limit
from hashrange.capacity.shares import Sampled
from hashrange.capacity.splitting import is_swept, may_divide_collections
from hashrange.core import partitions
from hashrange.core.keys import key_parts
from hashrange.core.partitions import Partitions
from hashrange.core.schema import Index, Table
from hashrange.core.values import Value

Kind = Literal["idle", "fine", "hot key", "uneven keys", "rolling hot partition", "too little capacity"]

WARM_USE = 0.5  # of a partition's ceiling: below it nothing is wrong yet
_DOMINANT_SHARE = 0.5  # of the traffic of a partition
_UNEVEN_FACTOR = 2.0  # times the mean of all partitions
_SHARD_USE = (
    0.5  # of a partition's ceiling that each shard of a key should need: room to grow, and for neighbours
)
_SHOWN_CHARS_MAX = 60
_SHORTEST_SECONDS = 10.0
_MONTH, _DAY = "(?:0[1-9]|1[0-2])", "(?:0[1-9]|[12][0-9]|3[01])"
_DATE = re.compile(f"(?<![0-9])(?:19|20)[0-9]{{2}}(?:-{_MONTH}(?:-{_DAY})?|{_MONTH}{_DAY})(?![0-9])")
_CAPACITY_REMEDIES: dict[Limit, str] = {
    "ProvisionedThroughputExceeded": "Provision more, use auto scaling, or switch to on-demand.",
    "KeyRangeThroughputExceeded": "Space the growth over half an hour, or raise the warm throughput beforehand.",
    "MaxOnDemandThroughputExceeded": "Raise the maximum of the on-demand throughput, or take it away.",
    "AccountLimitExceeded": "Spread the traffic over several tables: no table passes the quota of the account.",
}


class Verdict(msgspec.Struct, frozen=True):
    """What there is to say."""

    kind: Kind
    text: str
    remedy: str | None = None
    shards: int | None = None  # that the hot key should be divided into


class Findings(msgspec.Struct, frozen=True):
    """What a verdict is about."""

    table: Table
    index: Index | None
    windows: Sequence[Window]
    now: float

    def seconds(self, minute: int) -> float:
        """How long a minute has lasted so far; of a short while no rate is taken."""
        return min(float(MINUTE_SECONDS), max(_SHORTEST_SECONDS, self.now - minute * MINUTE_SECONDS))


class _Hot(msgspec.Struct, frozen=True, dict=True):
    """The hottest partition, for reads or for writes, in the minute in which it was the hottest."""

    write: bool
    number: int
    use: float  # of its ceiling, refused requests included
    is_uneven: bool
    traffics: list[Traffic]  # of the minute
    bounds: Partitions

    @cached_property
    def sampled(self) -> list[Sampled]:
        """What was sampled in it."""
        return [
            one
            for one in shares.samples(self.traffics)
            if partitions.number_of(self.bounds, one.key) == self.number
        ]

    @property
    def ceiling(self) -> int:
        return round(limits.partition_units(write=self.write))

    @property
    def word(self) -> str:
        return "writes" if self.write else "reads"


def judge(findings: Findings) -> Verdict:
    """The most serious thing that is wrong, or that nothing is."""
    minutes: dict[int, list[Window]] = {}
    for window in sorted(findings.windows, key=lambda window: window.minute):
        minutes.setdefault(window.minute, []).append(window)
    partitions_of_minutes = [
        _hottest(findings, minute, [window.traffic(write=write) for window in windows], write=write)
        for minute, windows in minutes.items()
        for write in (True, False)
    ]
    hot = max(partitions_of_minutes, key=lambda one: one.use, default=None)
    if hot is None or not hot.use:
        return Verdict("idle", "There was no traffic in the last minutes.")
    if hot.use >= WARM_USE:
        verdict = _rolling(findings, hot) or _hot_key(findings, hot) or _uneven(findings, hot)
        if verdict is not None:
            return verdict
    return _short_of_capacity(findings) or _fine(findings, hot)


def _hottest(findings: Findings, minute: int, side: list[Traffic], *, write: bool) -> _Hot:
    bounds = partitions.of(findings.table, findings.index)
    units = shares.by_partition(side, bounds)
    requests = sum(traffic.requests for traffic in side)
    mean = sum(units) / requests if requests else 1.0
    throttled = shares.throttled_by_partition(side, bounds)
    demand = [amount + mean * refused for amount, refused in zip(units, throttled, strict=True)]
    number = max(range(len(bounds)), key=demand.__getitem__)
    return _Hot(
        write,
        number,
        demand[number] / findings.seconds(minute) / limits.partition_units(write=write),
        demand[number] * len(bounds) > _UNEVEN_FACTOR * sum(demand),
        side,
        bounds,
    )


def _rolling(findings: Findings, hot: _Hot) -> Verdict | None:
    """Today's key is hot, tomorrow another one is; or the sort key only ever rises."""
    if not _is_rolling(findings, hot):
        return None
    shards = _shards(hot)
    return Verdict(
        "rolling hot partition",
        f"The {hot.word} move through the keys, so that one partition after the other has them all "
        f"({_percent(hot.use)} of its ceiling of {hot.ceiling:,} units per second). Splitting partitions does not "
        "help: the traffic would soon be on one side of the new bound again.",
        f"Do not let time or a counter alone decide where items go: give {_hash_name(findings)} a part that is "
        f"spread, such as a suffix from 0 to {shards - 1}, or use another attribute with many values.",
        shards,
    )


def _is_rolling(findings: Findings, hot: _Hot) -> bool:
    moments = sorted({window.minute for window in findings.windows})
    minutes = [shares.samples(shares.of_minute(findings.windows, at, write=hot.write)) for at in moments]
    filled = [minute for minute in minutes if minute]
    if not filled:  # everything was refused
        return False
    early, late = (_dominant(findings.index, filled[at]) for at in (0, -1))
    if early is None or late is None:
        return False
    if early != late or _is_date(findings, late):
        return True
    return len(filled) > 1 and is_swept(filled[0], filled[-1])


def _is_date(findings: Findings, key: bytes) -> bool:
    values = key_parts.partition_attributes(findings.table, findings.index, key) or {}
    return any(_DATE.search(str(content)) for value in values.values() for content in value.values())


def _hot_key(findings: Findings, hot: _Hot) -> Verdict | None:
    key = _dominant(findings.index, hot.sampled)
    if key is None:
        return None
    units = shares.by_collection(findings.index, hot.sampled)
    share = units[key] / sum(units.values())
    shown = _shown(findings, key)
    text = (
        f"One key, {shown}, has {_percent(share)} of the {hot.word} of its partition, which is at "
        f"{_percent(hot.use)} of the {hot.ceiling:,} units per second that a partition serves."
    )
    shards = _shards(hot)
    if hot.write:
        remedy = (
            f"Write sharding: divide the key into {shards}, by a suffix from 0 to {shards - 1} that is random or "
            "computed from the item, and query all of them to read it."
        )
    else:
        remedy = f"Put a cache in front of it, or keep {shards} copies under different keys and read one at random."
    if _is_divisible(findings, hot, key):
        remedy += " Meanwhile, if this lasts, its items are split by sort key over several partitions."
    return Verdict("hot key", text, remedy, shards)


def _is_divisible(findings: Findings, hot: _Hot, key: bytes) -> bool:
    """Whether a split for heat helps: no single item has most of what the key has."""
    if not may_divide_collections(findings.table, findings.index):
        return False
    units = shares.by_key(one for one in hot.sampled if one.key.startswith(key))
    return max(units.values()) < _DOMINANT_SHARE * sum(units.values())


def _uneven(findings: Findings, hot: _Hot) -> Verdict | None:
    if not hot.is_uneven:
        return None
    return Verdict(
        "uneven keys",
        f"Partition {hot.number} of {len(hot.bounds)} is at {_percent(hot.use)} of its ceiling of {hot.ceiling:,} "
        f"units per second for {hot.word}, and the others have little to do; no single key is to blame.",
        "If this lasts for some minutes, the partition is split where its traffic is halved. For good, a partition "
        f"key with more values than {_hash_name(findings)} has, each of them used about as often.",
    )


def _short_of_capacity(findings: Findings) -> Verdict | None:
    for write in (True, False):
        throttled = sum(window.traffic(write=write).throttled for window in findings.windows)
        if not throttled:
            continue
        rate = min(
            limits.rates(findings.table, findings.index, write=write), key=lambda rate: rate.units_per_second
        )
        word = "writes" if write else "reads"
        return Verdict(
            "too little capacity",
            f"{throttled:,.0f} {word} were throttled in the last minutes, and no partition is to blame: the limit of "
            f"{rate.units_per_second:,.0f} units per second is used up.",
            _CAPACITY_REMEDIES[rate.limit],
        )
    return None


def _fine(findings: Findings, hot: _Hot) -> Verdict:
    text = (
        f"The hottest partition is at {_percent(hot.use)} of its ceiling of {hot.ceiling:,} units per second."
    )
    key = _dominant(findings.index, hot.sampled)
    if key is not None:
        units = shares.by_collection(findings.index, hot.sampled)
        share = _percent(units[key] / sum(units.values()))
        text += f" One key, {_shown(findings, key)}, has {share} of the {hot.word} of that partition."
    return Verdict("fine", text)


def _dominant(index: Index | None, sampled: list[Sampled]) -> bytes | None:
    """The partition key value that has at least half of the traffic."""
    units = shares.by_collection(index, sampled)
    for key, amount in units.items():
        return key if amount >= _DOMINANT_SHARE * sum(units.values()) else None
    return None


def _shards(hot: _Hot) -> int:
    return max(2, ceil(round(hot.use / _SHARD_USE, 3)))


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def _hash_name(findings: Findings) -> str:
    hash_keys = (findings.table.hash,) if findings.index is None else findings.index.hash
    return ", ".join(key.name for key in hash_keys)


def _shown(findings: Findings, key: bytes) -> str:
    values = key_parts.partition_attributes(findings.table, findings.index, key)
    if values is None:
        return "a long one"
    return ", ".join(f"{name} = {_text(value)}" for name, value in values.items())


def _text(value: Value) -> str:
    (content,) = value.values()
    text = str(content)
    return text if len(text) <= _SHOWN_CHARS_MAX else text[:_SHOWN_CHARS_MAX] + "…"
