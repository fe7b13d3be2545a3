"""What an operation may know beside its request."""

from typing import Protocol

import msgspec

from hashrange.api.items.prepared import PreparedRequests
from hashrange.api.throttling.gate import Tab, Tabs
from hashrange.auth import principals
from hashrange.auth.principals import Principal
from hashrange.clock import Clock
from hashrange.config import Settings
from hashrange.core.schema import Table
from hashrange.kms.lazy_vault import LazyVault
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.directory import Directory
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
    vault: LazyVault | None = None
    gate: Tabs | None = None  # None: nothing is ever throttled
    principal: Principal | None = (
        None  # None: signatures are not verified, and everybody is the account's root
    )
    directory: Directory | None = None

    def caller(self) -> Principal:
        """Who asks."""
        return self.principal or principals.root(self.account_id, self.access_key)

    def tab(self, *tables: Table) -> Tab | None:
        """The tab of a request that touches these tables; None where nothing of them can be throttled."""
        return None if self.gate is None else self.gate.tab(*tables)
