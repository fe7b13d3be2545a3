"""Changing a table's class."""

from hashrange.api.tables.index_updates import Moment
from hashrange.api.tables.wording import over_limit
from hashrange.core.limits import TABLE_CLASS_CHANGES_MAX, TABLE_CLASS_WINDOW_DAYS
from hashrange.core.schema import Table, changed

_DAY_SECONDS = 86_400


def reclassified(table: Table, name: str, moment: Moment) -> Table:
    """The table in another class; the same class again is no change, unless all changes are used up."""
    since = moment.now - TABLE_CLASS_WINDOW_DAYS * _DAY_SECONDS
    recent = tuple(time for time in table.table_class_changes if time > since)
    if len(recent) >= TABLE_CLASS_CHANGES_MAX:
        raise over_limit(
            f"Updates to TableClass are limited to {TABLE_CLASS_CHANGES_MAX} times in "
            f"{TABLE_CLASS_WINDOW_DAYS} day(s)."
        )
    if name == (table.table_class or "STANDARD"):
        return table
    return changed(
        table,
        table_class=name,
        table_class_before=table.table_class,
        table_class_changes=(*recent, moment.now),
        status="UPDATING",
        settles_at=moment.settles_at,
        updating="class",
    )
