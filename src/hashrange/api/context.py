"""What an operation may know beside its request."""

import msgspec

from hashrange.api.items.prepared import PreparedRequests
from hashrange.api.throttling.gate import Tab, Tabs
from hashrange.clock import Clock
from hashrange.config import Settings
from hashrange.core.schema import Table
from hashrange.storage.catalogue import Catalogue


class Context(msgspec.Struct):
    """One caller's view of the server: who asks, for which region, and with which services at hand."""

    catalogue: Catalogue
    clock: Clock
    settings: Settings
    region: str
    account_id: str
    access_key: str
    prepared: PreparedRequests
    gate: Tabs | None = None  # None: nothing is ever throttled

    def tab(self, *tables: Table) -> Tab | None:
        """The tab of a request that touches these tables; None where nothing of them can be throttled."""
        return None if self.gate is None else self.gate.tab(*tables)
