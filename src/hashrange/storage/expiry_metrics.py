"""What TTL has done, and how far it is behind."""

from collections.abc import Sequence

from hashrange.core.expiry import expiry_window
from hashrange.core.schema import Table
from hashrange.metrics import Metric, Sample
from hashrange.storage import expiry, layout
from hashrange.storage.engine import Reader
from hashrange.storage.metric_page import table_labels


def expiry_metrics(reader: Reader, tables: Sequence[Table], now: float) -> list[Metric]:
    """The metrics of all tables that have TTL."""
    deleted = Metric(
        "hashrange_ttl_deleted_items_total", "counter", "Items that TTL has deleted from a table.", []
    )
    lag = Metric(
        "hashrange_ttl_lag_seconds",
        "gauge",
        "How long ago the oldest item that TTL has not deleted yet has expired.",
        [],
    )
    for table in tables:
        if table.ttl is not None:
            labels = table_labels(table)
            total = reader.counter(layout.expired_items_key(table.number))
            deleted.samples.append(Sample(labels, total))
            lag.samples.append(Sample(labels, _lag_seconds(reader, table.number, table.ttl.slot, now)))
    return [deleted, lag]


def _lag_seconds(reader: Reader, table_number: int, slot: int, now: float) -> int:
    for row in expiry.expired_rows(reader, table_number, slot, expiry_window(now), limit=1):
        return int(now) - expiry.split_row_key(row)[0]
    return 0
