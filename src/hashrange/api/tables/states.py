"""What may be changed while something else is under way. Tables given here are settled."""

from hashrange.api.errors import ApiError
from hashrange.api.tables.wording import busy
from hashrange.core.schema import Index, Table


def check_changeable(table: Table) -> None:
    """A table that comes or goes cannot be changed."""
    if table.status == "CREATING":
        raise busy(f"Table is being created: {table.name}")
    if table.status == "DELETING":
        raise busy(f"Table is being deleted: {table.name}")


def check_deletable(table: Table, now: float) -> None:
    """A table can be deleted once nothing about it or its indexes is under way."""
    if any(index.status_at(now) != "ACTIVE" for index in table.global_indexes):
        raise busy("Cannot delete table while indexes are being created, updated, or deleted.")
    if table.updating == "stream":
        raise busy("Cannot delete table while stream is being enabled/disabled.")
    if table.status == "UPDATING":
        raise busy(f"Table: {table.name} is in the process of being updated.")


def check_throughput(table: Table, now: float) -> None:
    """Capacity and billing mode change one at a time."""
    if table.updating == "throughput":
        raise busy(f"Table IOPS are currently being updated. Table: {table.name}")
    if table.updating == "stream":
        raise busy(f"Can't change table IOPS when stream status is being updated. {_stream(table)}")
    _check_no_index_change("Can't change table IOPS", table, now)


def check_stream(table: Table, now: float) -> None:
    """A stream is switched while nothing else changes."""
    if table.updating == "throughput":
        raise busy(f"Can't enable or disable stream while table IOPS are being updated. Table: {table.name}")
    if table.updating == "stream":
        raise busy(f"A stream status change is currently in progress. {_stream(table)}")
    if table.updating == "class":
        raise busy(
            f"Can't enable or disable stream when a table class update is in progress. {_class(table)}"
        )
    _check_no_index_change("Can't change stream status", table, now)


def check_class(table: Table) -> None:
    """So is the table class."""
    if table.updating == "throughput":
        raise busy(f"Can't update table class while table IOPS are being updated. Table: {table.name}")
    if table.updating == "stream":
        raise busy(f"Can't update table class when stream status is being updated. {_stream(table)}")
    if table.updating == "class":
        raise busy(f"Can't update table class when a table class update is in progress. {_class(table)}")


def check_ceilings(table: Table, now: float) -> None:
    """On-demand ceilings wait for the mode and for indexes."""
    if table.updating == "throughput":
        raise busy("OnDemandThroughput cannot be updated while BillingMode update is in progress")
    for word, indexes in _index_changes(table, now):
        names = ", ".join(index.name for index in indexes)
        raise busy(
            f"OnDemandThroughput cannot be updated while index {_NOUNS[word]} is in progress for indexes: [{names}]"
        )


def check_index_change(table: Table) -> None:
    """Indexes come and go while the table itself stands still."""
    if table.updating == "throughput":
        raise busy(f"Can't create or delete indexes while table IOPS are being updated. Table: {table.name}")
    if table.updating == "stream":
        raise busy(f"Can't create or delete an index when stream status is being updated. {_stream(table)}")
    if table.updating == "class":
        raise busy(
            f"Can't create or delete an index when a table class update is in progress. {_class(table)}"
        )


def check_index_updatable(table: Table, index: Index, now: float) -> None:
    """An index changes once it is there."""
    if index.status == "CREATING" and now < index.settles_at:
        # The two spaces are the service's own.
        raise busy(
            f"Index is being created but is not backfilling yet.  Table: {table.name} Index: {index.name}"
        )
    if index.status in ("UPDATING", "DELETING"):
        raise _index_busy(table, index)


def check_index_deletable(table: Table, index: Index, now: float) -> None:
    """A new index can be given up again once its backfill has begun."""
    if index.status == "CREATING" and now < index.settles_at:
        raise busy(
            "Index creation is in resource allocation phase. Retry deletion during backfilling phase or when "
            f"the index is active. Table: {table.name} Index: {index.name}"
        )
    if index.status in ("UPDATING", "DELETING"):
        raise _index_busy(table, index)


def _index_busy(table: Table, index: Index) -> ApiError:
    """ResourceInUseException about an index."""
    word = "updated" if index.status == "UPDATING" else "deleted"
    return busy(f"Index is being {word}. Table: {table.name} Index: {index.name}")


_NOUNS = {"created": "creation", "deleted": "deletion"}


def _check_no_index_change(what: str, table: Table, now: float) -> None:
    for word, indexes in _index_changes(table, now):
        names = ", ".join(index.name for index in indexes)
        raise busy(f"{what} when an index is being {word}. Table: {table.name} Indexes: [{names}]")


def _index_changes(table: Table, now: float) -> list[tuple[str, list[Index]]]:
    """Indexes that are being set up (a backfill is no obstacle) or deleted."""
    coming = [
        index for index in table.global_indexes if index.status == "CREATING" and now < index.settles_at
    ]
    going = [index for index in table.global_indexes if index.status == "DELETING"]
    return [(word, indexes) for word, indexes in (("created", coming), ("deleted", going)) if indexes]


def _stream(table: Table) -> str:
    operation = "DISABLE" if table.stream_view_type is None else "ENABLE"
    return f"Table: {table.name} Stream: {table.stream_label} Operation: {operation}"


def _class(table: Table) -> str:
    return f"Table: {table.name} TableClassUpdateInProgress: {table.table_class}"
