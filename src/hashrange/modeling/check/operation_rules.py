"""HR6xx: operations: expiry, recovery, streams, capacity, regions."""

from __future__ import annotations

from collections.abc import Iterator

from hashrange.modeling.check.facts import Facts
from hashrange.modeling.check.finding import Hit, first_place, rule
from hashrange.modeling.check.traffic import HOURS, traffic
from hashrange.modeling.columns import amount

STREAM_READERS_MAX = 2  # developer guide, "Reading and processing a stream": more are throttled
STEADY_UNITS = 100.0  # per second; below that the mode hardly matters
STEADY_PEAK_MAX = 2.0  # times the mean. At a target of 70% provisioned units are cheaper up to about 2.4


@rule("HR601", "warning", "A retention without TTL")
def no_expiry(facts: Facts) -> Iterator[Hit]:
    for entity in facts.model.entities.values():
        ttl = facts.model.tables[entity.table].ttl_attribute
        if entity.retention_days is not None and (ttl is None or ttl not in entity.attributes):
            where = f"table {entity.table} has no TTL" if ttl is None else f"its items have no {ttl}"
            yield Hit(
                entity.place,
                entity.name,
                f"is to go after {amount(entity.retention_days)} days, but {where}",
                f"give it {ttl or 'expires_at'}: epoch"
                + ("" if ttl else ", and the table ttl: expires_at")
                + "; deletes by TTL cost nothing",
            )


@rule("HR602", "warning", "A TTL that may not be in seconds")
def doubtful_expiry(facts: Facts) -> Iterator[Hit]:
    for entity in facts.model.entities.values():
        ttl = facts.model.tables[entity.table].ttl_attribute
        attribute = None if ttl is None else entity.attributes.get(ttl)
        if attribute is not None and (attribute.type != "N" or attribute.format != "epoch"):
            yield Hit(
                first_place(attribute.place, entity.place),
                f"{entity.name}.{attribute.name}",
                "TTL takes a number of seconds since 1970; items with texts, or with milliseconds, stay for good",
                f"write {attribute.name}: epoch",
            )


@rule("HR603", "warning", "A table without point-in-time recovery")
def no_recovery(facts: Facts) -> Iterator[Hit]:
    for table in facts.model.tables.values():
        if not table.point_in_time_recovery:
            yield Hit(
                table.place,
                table.name,
                "has no point-in-time recovery: what a faulty release overwrites is gone",
                "write point_in_time_recovery: true",
            )


@rule("HR604", "info", "A stream that nobody reads")
def idle_stream(facts: Facts) -> Iterator[Hit]:
    for table in facts.model.tables.values():
        if table.stream is not None and table.stream_readers == 0 and not table.replicas:
            yield Hit(
                table.place, table.name, "has a stream without readers", "take it out until one is there"
            )


@rule("HR605", "warning", "A stream with too many readers")
def crowded_stream(facts: Facts) -> Iterator[Hit]:
    for table in facts.model.tables.values():
        if table.stream is not None and table.stream_readers > STREAM_READERS_MAX:
            yield Hit(
                table.place,
                table.name,
                f"{table.stream_readers} readers of one stream: past {STREAM_READERS_MAX} they are throttled",
                "let one reader hand changes on (SNS, EventBridge, Kinesis)",
            )


@rule("HR606", "info", "On-demand for traffic that is steady")
def steady_on_demand(facts: Facts) -> Iterator[Hit]:
    for name, load in traffic(facts).items():
        table = facts.model.tables[name]
        for kind, hours in (("read", load.reads), ("write", load.writes)):
            mean = sum(hours) / HOURS
            is_steady = mean > STEADY_UNITS and max(hours) <= STEADY_PEAK_MAX * mean
            if table.billing == "PAY_PER_REQUEST" and is_steady:
                yield Hit(
                    table.place,
                    name,
                    f"takes {amount(mean)} {kind} units per second, {amount(max(hours))} at most: "
                    "provisioned ones would cost less",
                    "compare both by their prices; auto scaling follows a day's curve",
                )


@rule("HR607", "warning", "Auto scaling that ends below the peak")
def low_maximum(facts: Facts) -> Iterator[Hit]:
    for name, load in traffic(facts).items():
        table = facts.model.tables[name]
        for kind, hours, scaling in (
            ("read", load.reads, table.read_scaling),
            ("write", load.writes, table.write_scaling),
        ):
            if table.billing == "PROVISIONED" and max(hours) > scaling.maximum:
                yield Hit(
                    table.place,
                    name,
                    f"takes {amount(max(hours))} {kind} units per second at the peak; "
                    f"auto scaling ends at {scaling.maximum:,}",
                    f"raise the maximum past {amount(max(hours) / scaling.target_percent * 100)}",
                )


@rule("HR608", "warning", "A condition that other regions do not see")
def regional_condition(facts: Facts) -> Iterator[Hit]:
    for pattern in facts.model.writes:
        for step in pattern.steps:
            table = facts.model.tables[facts.model.entities[step.entity].table]
            if table.replicas and (pattern.transaction or step.condition is not None):
                what = "a transaction" if pattern.transaction else "a condition"
                yield Hit(
                    first_place(step.place, pattern.place),
                    pattern.id,
                    f"{what} holds in one region; of it and a write in {table.replicas[0]} the later one wins",
                    "write each item in one region only, and say so in the reason of a silence",
                )
                break


RULES = (
    no_expiry,
    doubtful_expiry,
    no_recovery,
    idle_stream,
    crowded_stream,
    steady_on_demand,
    low_maximum,
    regional_condition,
)
