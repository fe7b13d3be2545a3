"""Reading the items of a transaction, whichever operation names them."""

from collections.abc import Sequence

import msgspec

from hashrange.api.results import ItemRead
from hashrange.core import effort, items
from hashrange.core.errors import Invalid
from hashrange.core.expressions import Picker
from hashrange.core.limits import TRANSACT_BYTES_MAX
from hashrange.core.schema import Table
from hashrange.storage import store
from hashrange.storage.engine import Reader

_TOO_LARGE = "Aggregate size of the items in the transaction cannot exceed 4 MB"


class Lookup(msgspec.Struct, frozen=True):
    """One item to read, found to be readable."""

    name: str
    table: Table
    key: bytes
    projection: Picker | None


def read_all(reader: Reader, lookups: Sequence[Lookup]) -> list[ItemRead]:
    """All items of one snapshot, at twice the price of consistent reads."""
    results = []
    size = 0
    for lookup in lookups:
        stored = reader.get(store.row_key(lookup.table, lookup.key))
        projection = lookup.projection
        if stored is not None:
            size += items.stored_size(stored)
            if size > TRANSACT_BYTES_MAX:
                raise Invalid(_TOO_LARGE)
            effort.spend(len(stored) >> 2)  # to copy it
        picked = None if projection is None or stored is None else projection(items.decode(stored))
        results.append(
            ItemRead(lookup.table, lookup.name, lookup.key, stored, picked, consistent=True, factor=2)
        )
    return results
