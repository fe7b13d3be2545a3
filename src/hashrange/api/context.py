"""What an operation may know beside its request."""

from typing import Protocol

import msgspec

from hashrange.api.items.prepared import PreparedRequests
from hashrange.api.throttling.gate import Tab, Tabs
from hashrange.clock import Clock
from hashrange.config import Settings
from hashrange.core.schema import Table
from hashrange.kms.interface import KeyVault
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.job_rows import JobPlace


class BackupInspection(Protocol):
    """A look at the files of backups, which are no part of the database."""

    def fault(self, place: JobPlace, /) -> str | None:
        """What is wrong with a finished backup at first sight. Waits: not to be called on a shared thread."""


class Context(msgspec.Struct):
    """One caller's view of the server: who asks, for which region, and with which services at hand."""

    catalogue: Catalogue
    clock: Clock
    settings: Settings
    region: str
    account_id: str
    access_key: str
    prepared: PreparedRequests
    backups: BackupInspection
    vault: KeyVault | None = None  # None: the server has no root key
    gate: Tabs | None = None  # None: nothing is ever throttled

    def tab(self, *tables: Table) -> Tab | None:
        """The tab of a request that touches these tables; None where nothing of them can be throttled."""
        return None if self.gate is None else self.gate.tab(*tables)
