"""TableDescription: what the service tells about a table, which members are there and which are not."""

from typing import Any

from hashrange.api.tables.ceilings import shown_warm
from hashrange.api.tables.throughput import decreases_today
from hashrange.core.schema import Index, KeyAttribute, Status, Table, Throughput, UnitPair, Warm
from hashrange.storage import layout
from hashrange.storage.engine import Reader

Body = dict[str, Any]


def describe(reader: Reader, table: Table, now: float, *, created: bool = False) -> Body:
    """The description of a settled table, or of one just changed; a new one's leaves some members out."""
    body = _standing(reader, table, now)
    body |= _billing(table)
    body |= _stream(table)
    if table.status == "DELETING":
        return body
    body |= {
        "AttributeDefinitions": [
            {"AttributeName": each.name, "AttributeType": each.type} for each in table.attribute_definitions
        ],
        "KeySchema": _key_schema((table.hash,), () if table.range is None else (table.range,)),
        "CreationDateTime": timestamp(table.created_at),
    }
    if not created or (table.warm is not None and table.warm.settles_at > now):
        body["WarmThroughput"] = _warm(table.warm, now)
    if table.on_demand_limits is not None:
        body["OnDemandThroughput"] = _ceilings(table.on_demand_limits)
    body |= _encryption(table, now)
    if table.local_indexes:
        body["LocalSecondaryIndexes"] = [_local(reader, table, index) for index in table.local_indexes]
    if table.global_indexes:
        body["GlobalSecondaryIndexes"] = [
            _global(reader, table, index, now, created=created) for index in table.global_indexes
        ]
    return body


def timestamp(moment: float) -> float:
    """A moment as the service gives it: seconds, to the millisecond."""
    return round(moment, 3)


def _standing(reader: Reader, table: Table, now: float) -> Body:
    body: Body = {
        "TableName": table.name,
        "TableStatus": table.status,
        "TableArn": table.arn,
        "TableId": table.table_id,
        "ProvisionedThroughput": _throughput(table.throughput, table.status, now),
        "ItemCount": reader.counter(layout.count_key(table.number, layout.BASE_SLOT)),
        "TableSizeBytes": reader.counter(layout.size_key(table.number, layout.BASE_SLOT)),
        "DeletionProtectionEnabled": table.deletion_protection,
    }
    shown = table.table_class_before if table.updating == "class" else table.table_class
    if shown is not None:
        summary: Body = {"TableClass": shown}
        if table.table_class_changes and table.updating != "class":
            summary["LastUpdateDateTime"] = timestamp(table.table_class_changes[-1])
        body["TableClassSummary"] = summary
    return body


def _billing(table: Table) -> Body:
    """A table that was never on-demand has no summary at all; a newer member repeats the older one."""
    if not table.on_demand and table.on_demand_since is None:
        return {}
    mode = "PAY_PER_REQUEST" if table.on_demand else "PROVISIONED"
    since: Body = {}
    switching = table.on_demand and (table.status == "CREATING" or table.updating == "throughput")
    if table.on_demand_since is not None and not switching:
        since["LastUpdateToPayPerRequestDateTime"] = timestamp(table.on_demand_since)
    return {
        "BillingModeSummary": {"BillingMode": mode, **since},
        "TableThroughputModeSummary": {"TableThroughputMode": mode, **since},
    }


def _stream(table: Table) -> Body:
    body: Body = {}
    if table.stream_view_type is not None:
        body["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": table.stream_view_type}
    if table.stream_label is not None:
        # The latest stream stays known after it has been switched off.
        body["LatestStreamLabel"] = table.stream_label
        body["LatestStreamArn"] = f"{table.arn}/stream/{table.stream_label}"
    return body


def _encryption(table: Table, now: float) -> Body:
    updating = now < table.sse_settles_at
    key = table.sse_key_before or table.sse_key if updating else table.sse_key
    if key is None:
        return {}
    status = "UPDATING" if updating else "ENABLED"
    return {"SSEDescription": {"Status": status, "SSEType": "KMS", "KMSMasterKeyArn": key}}


def _local(reader: Reader, table: Table, index: Index) -> Body:
    return {
        "IndexName": index.name,
        "KeySchema": _key_schema(index.hash, index.range),
        "Projection": _projection(index),
        "IndexSizeBytes": reader.counter(layout.size_key(table.number, index.slot)),
        "ItemCount": reader.counter(layout.count_key(table.number, index.slot)),
        "IndexArn": f"{table.arn}/index/{index.name}",
    }


def _global(reader: Reader, table: Table, index: Index, now: float, *, created: bool) -> Body:
    body = _local(reader, table, index)
    body["IndexStatus"] = index.status
    body["ProvisionedThroughput"] = _throughput(index.throughput, index.status, now)
    if index.backfilling and index.status == "CREATING":
        # False while the index is being set up, true while its rows are being written.
        body["Backfilling"] = now >= index.settles_at
    if index.on_demand is not None:
        body["OnDemandThroughput"] = _ceilings(index.on_demand)
    if not created:
        body["WarmThroughput"] = _warm(index.warm, now)
    return body


def _key_schema(hash_keys: tuple[KeyAttribute, ...], range_keys: tuple[KeyAttribute, ...]) -> list[Body]:
    elements = [{"AttributeName": key.name, "KeyType": "HASH"} for key in hash_keys]
    return elements + [{"AttributeName": key.name, "KeyType": "RANGE"} for key in range_keys]


def _projection(index: Index) -> Body:
    if index.projection == "INCLUDE":
        return {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(index.non_key_attributes)}
    return {"ProjectionType": index.projection}


def _throughput(throughput: Throughput, status: Status, now: float) -> Body:
    """Capacity as it is, or as it was while a change of it is under way."""
    shown: Throughput | UnitPair = throughput
    decreases = len(decreases_today(throughput, now))
    if status == "UPDATING" and throughput.previous is not None:
        shown = throughput.previous
        lower = throughput.read_units < shown.read_units or throughput.write_units < shown.write_units
        decreases -= lower and decreases > 0
    body: Body = {
        "NumberOfDecreasesToday": decreases,
        "ReadCapacityUnits": shown.read_units,
        "WriteCapacityUnits": shown.write_units,
    }
    if throughput.last_increase is not None:
        body["LastIncreaseDateTime"] = timestamp(throughput.last_increase)
    if throughput.last_decrease is not None:
        body["LastDecreaseDateTime"] = timestamp(throughput.last_decrease)
    return body


def _ceilings(limits: UnitPair) -> Body:
    found = {"MaxReadRequestUnits": limits.read_units, "MaxWriteRequestUnits": limits.write_units}
    return {name: units for name, units in found.items() if units > 0}


def _warm(warm: Warm | None, now: float) -> Body:
    shown = shown_warm(warm, now)
    return {
        "ReadUnitsPerSecond": shown.read_units,
        "WriteUnitsPerSecond": shown.write_units,
        "Status": "UPDATING" if warm is not None and now < warm.settles_at else "ACTIVE",
    }
