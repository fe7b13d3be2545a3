"""Reading the items of a transaction, whichever operation names them."""

from collections.abc import Sequence
from functools import partial

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Read
from hashrange.api.results import ItemRead, ItemsRead
from hashrange.api.throttling.gate import Tab
from hashrange.api.transactions import cancellation
from hashrange.api.transactions.cancellation import Reason
from hashrange.core import effort, items
from hashrange.core.errors import Invalid
from hashrange.core.expressions import Picker, picked_json
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


def plan(context: Context, lookups: Sequence[Lookup]) -> Read:
    """The plan that reads the items."""
    tab = context.tab(*(lookup.table for lookup in lookups))
    step = partial(_read_all, lookups, tab)
    return Read(
        step if tab is None else partial(tab.run, step),
        [store.row_key(lookup.table, lookup.key) for lookup in lookups],
        conflict=lambda: cancellation.conflict(len(lookups)),
    )


def _read_all(lookups: Sequence[Lookup], tab: Tab | None, reader: Reader) -> ItemsRead:
    """All items of one snapshot, at twice the price of consistent reads."""
    results: list[ItemRead] = []
    reasons: list[Reason | None] = []
    size = 0
    stored_rows = store.stored_rows(reader, [store.row_key(lookup.table, lookup.key) for lookup in lookups])
    for lookup, stored in zip(lookups, stored_rows, strict=True):
        refusal = None if tab is None else tab.read_refusal(lookup.table, None, lookup.key)
        reasons.append(None if refusal is None else cancellation.throttled(refusal))
        projection = lookup.projection
        if stored is not None:
            size += items.stored_size(stored)
            if size > TRANSACT_BYTES_MAX:
                raise Invalid(_TOO_LARGE)
            effort.spend(len(stored) >> 2)  # to copy it
        picked = None if projection is None or stored is None else picked_json(projection, stored)
        results.append(
            ItemRead(lookup.table, lookup.name, lookup.key, stored, picked, consistent=True, factor=2)
        )
        if tab is not None:
            tab.take(results[-1].charges())
    cancellation.cancel_on(reasons)
    return ItemsRead(results)
