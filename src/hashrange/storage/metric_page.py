"""The metrics of requests and tables for Prometheus: totals since ever, of all workers and servers.

What is labelled by operation is of all tables. What is labelled by table is of the oldest ones only, so that a page
stays small however many tables there are; which ones these are changes only when one of them is deleted.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from hashrange.capacity import histograms
from hashrange.capacity.observation import Outcome
from hashrange.capacity.series import Place, Series, Statistics, parse_series
from hashrange.core import accounts
from hashrange.core.schema import Index, Table
from hashrange.metrics import Metric, Sample
from hashrange.storage import metric_rows, store
from hashrange.storage.engine import Reader

TABLES_MAX = 100
_BOUNDS_MS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2500.0, 5000.0)
_AGE_SECONDS = 300  # an iterator that was last used before that has no age
_MILLISECONDS = 1000

_PLAIN = {
    "ConditionalCheckFailedRequests": (
        "hashrange_table_conditional_check_failed_total",
        "Writes whose condition did not hold.",
    ),
    "TransactionConflict": ("hashrange_table_transaction_conflicts_total", "Items that met a conflict."),
    "SystemErrors": ("hashrange_table_system_errors_total", "Requests that failed by the server's fault."),
    "ReturnedItemCount": ("hashrange_table_returned_items_total", "Items that pages have returned."),
    "ReturnedRecordsCount": ("hashrange_table_stream_records_total", "Records that streams have returned."),
    "ThrottledRequests": ("hashrange_table_throttled_requests_total", "Requests that were throttled."),
}
_OUTCOMES: tuple[str, ...] = get_args(Outcome)
_FAMILIES = {
    "ProvisionedThroughputThrottleEvents": "provisioned",
    "KeyRangeThroughputThrottleEvents": "key-range",
    "MaxOnDemandThroughputThrottleEvents": "max-on-demand",
    "AccountLimitThrottleEvents": "account-limit",
}


def shown_tables(tables: Sequence[Table]) -> list[Table]:
    """The tables that have metrics of their own."""
    return sorted(tables, key=lambda table: table.number)[:TABLES_MAX]


def metric_page(reader: Reader, tables: Sequence[Table], now: float) -> list[Metric]:
    """All metrics of requests and tables."""
    shown = shown_tables(tables)
    gauge = Metric("hashrange_tables", "gauge", "Tables, of which the oldest have metrics of their own.", [])
    gauge.samples.append(Sample({}, len(tables)))
    regions = sorted({(table.account_id, table.region) for table in tables})
    totals = {region: metric_rows.totals(reader, Place(*region, "")) for region in regions}
    return [
        gauge,
        *_requests(totals.values()),
        _user_errors(totals),
        *_tables(reader, shown),
        *_capacity(reader, shown),
        _iterator_age(reader, shown, now),
    ]


def _requests(regions: Iterable[Series]) -> list[Metric]:
    requests = Metric("hashrange_requests_total", "counter", "Requests by what came of them.", [])
    durations = Metric(
        "hashrange_request_duration_seconds",
        "histogram",
        "How long requests that succeeded took in the server.",
        [],
    )
    merged: Series = {}
    for series in regions:
        for name, statistics in series.items():
            merged.setdefault(name, Statistics()).merge(statistics)
    by_operation: dict[str, dict[str, Statistics]] = {}
    for name, statistics in sorted(merged.items()):
        metric, dimensions = parse_series(name, "")
        if metric == "Requests":
            by_operation.setdefault(dimensions["Operation"], {})[dimensions["Outcome"]] = statistics
    for operation, outcomes in by_operation.items():
        # Zeros too: what begins with its first failure has no increase that an alert could see.
        for outcome in _OUTCOMES:
            labels = {"operation": operation, "outcome": outcome.replace(" ", "-")}
            requests.samples.append(Sample(labels, outcomes.get(outcome, Statistics()).n))
        if "ok" in outcomes:
            durations.samples.extend(_histogram({"operation": operation}, outcomes["ok"]))
    return [requests, durations]


def _histogram(labels: Mapping[str, str], statistics: Statistics) -> list[Sample]:
    samples = []
    for bound in _BOUNDS_MS:
        last = histograms.bucket_of(bound)
        count = sum(count for bucket, count in statistics.histogram.items() if bucket <= last)
        samples.append(Sample({**labels, "le": repr(bound / _MILLISECONDS)}, count, "_bucket"))
    samples.append(Sample({**labels, "le": "+Inf"}, statistics.n, "_bucket"))
    samples.append(Sample(labels, statistics.sum / _MILLISECONDS, "_sum"))
    samples.append(Sample(labels, statistics.n, "_count"))
    return samples


def _user_errors(regions: Mapping[tuple[str, str], Series]) -> Metric:
    errors = Metric("hashrange_user_errors_total", "counter", "Requests that were at fault themselves.", [])
    sums: dict[str, float] = {}
    for (_, region), series in regions.items():
        sums[region] = sums.get(region, 0) + series.get("UserErrors", Statistics()).sum
    errors.samples.extend(Sample({"region": region}, total) for region, total in sums.items())
    return errors


def _tables(reader: Reader, tables: Sequence[Table]) -> list[Metric]:
    consumed = Metric(
        "hashrange_table_consumed_capacity_units_total", "counter", "Capacity units that were consumed.", []
    )
    throttled = Metric(
        "hashrange_table_throttled_events_total", "counter", "Items that found no capacity, by cause.", []
    )
    plain = {metric: Metric(name, "counter", text, []) for metric, (name, text) in _PLAIN.items()}
    for table in tables:
        for name, statistics in sorted(metric_rows.totals(reader, Place(*_address(table))).items()):
            metric, dimensions = parse_series(name, table.name)
            labels = table_labels(table)
            index = dimensions.get("GlobalSecondaryIndexName", "")
            if metric in plain:
                if "Operation" in dimensions:
                    labels["operation"] = dimensions["Operation"]
                if "StreamLabel" in dimensions:
                    labels["stream"] = dimensions["StreamLabel"]
                plain[metric].samples.append(Sample(labels, statistics.sum))
            elif metric.startswith("Consumed"):
                kind = "read" if "Read" in metric else "write"
                consumed.samples.append(Sample({**labels, "index": index, "kind": kind}, statistics.sum))
            elif (cause := _FAMILIES.get(metric.removeprefix("Read").removeprefix("Write"))) is not None:
                kind = "read" if metric.startswith("Read") else "write"
                labels |= {"index": index, "kind": kind, "cause": cause}
                throttled.samples.append(Sample(labels, statistics.sum))
    return [consumed, throttled, *plain.values()]


def table_labels(table: Table) -> dict[str, str]:
    """The labels of a table's series; those of the server's own account have none for it."""
    account = {} if table.account_id == accounts.OWN else {"account": table.account_id}
    return {"region": table.region, "table": table.name, **account}


def _address(table: Table) -> tuple[str, str, str]:
    return table.account_id, table.region, table.name


def _capacity(reader: Reader, tables: Sequence[Table]) -> list[Metric]:
    provisioned = Metric(
        "hashrange_table_provisioned_capacity_units", "gauge", "Provisioned units per second.", []
    )
    partitions = Metric("hashrange_table_partitions", "gauge", "Partitions of a table or global index.", [])
    items = Metric("hashrange_table_items", "gauge", "Items of a table, or entries of an index.", [])
    size = Metric("hashrange_table_size_bytes", "gauge", "Size in the service's own bytes.", [])
    for table in tables:
        owners: list[tuple[Table | Index, Index | None]] = [(table, None)]
        owners += [(index, index) for index in table.global_indexes]
        for owner, index in owners:
            name = "" if index is None else index.name
            labels = table_labels(table) | {"index": name}
            partitions.samples.append(Sample(labels, len(owner.partitions)))
            items.samples.append(Sample(labels, store.row_count(reader, table, index)))
            size.samples.append(Sample(labels, store.size_bytes(reader, table, index)))
            if not table.on_demand:
                units = owner.throughput
                provisioned.samples.append(Sample({**labels, "kind": "read"}, units.read_units))
                provisioned.samples.append(Sample({**labels, "kind": "write"}, units.write_units))
    return [provisioned, partitions, items, size]


def _iterator_age(reader: Reader, tables: Sequence[Table], now: float) -> Metric:
    age = Metric(
        "hashrange_stream_iterator_age_seconds",
        "gauge",
        "The age of the oldest record that was at the end of a page of a stream, in the last five minutes.",
        [],
    )
    for table in tables:
        if table.stream_label is not None:
            dimensions = {"TableName": table.name, "StreamLabel": table.stream_label}
            start = now - _AGE_SECONDS
            points = metric_rows.read_series(
                reader, table.account_id, table.region, "IteratorAge", dimensions, start, now + 60, 60
            )
            oldest = max((point.max for point in points), default=0.0)
            labels = table_labels(table) | {"stream": table.stream_label}
            age.samples.append(Sample(labels, oldest / _MILLISECONDS))
    return age
