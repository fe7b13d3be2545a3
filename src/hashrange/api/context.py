"""What an operation may know beside its request."""

from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from hashrange.api.errors import ApiError
from hashrange.api.items.prepared import PreparedRequests
from hashrange.api.throttling.gate import Tab, Tabs
from hashrange.audit.events import Origin
from hashrange.auth import principals
from hashrange.auth.policy.policy import Policy
from hashrange.auth.policy.residual import Residual
from hashrange.auth.principals import Principal
from hashrange.clock import Clock
from hashrange.config import Settings
from hashrange.core.schema import Table
from hashrange.kms.lazy_vault import LazyVault
from hashrange.kms.table_key import SealedKey
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.directory import Directory
from hashrange.storage.job_rows import JobPlace


class BackupInspection(Protocol):
    """A look at the files of backups, which are no part of the database."""

    def fault(self, place: JobPlace, /) -> str | None:
        """What is wrong with a finished backup at first sight. Waits: not to be called on a shared thread."""


class TableKeyMade(msgspec.Struct, frozen=True):
    """The key of a table that another key service has made: for which name in a request, and wrapped."""

    name: str
    sealed: SealedKey


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
    table_key: TableKeyMade | None = None  # what another key service has made for this request
    gate: Tabs | None = None  # None: nothing is ever throttled
    principal: Principal | None = (
        None  # None: signatures are not verified, and everybody is the account's root
    )
    directory: Directory | None = None
    # Where the request came from; only contexts that permissions are asked in know more than nothing.
    origin: Callable[[], Origin] = Origin
    # What api/permissions has found out about a request: the other accounts whose tables it may touch, and the
    # statements of a batch that the caller may not run.
    reaches: frozenset[str] = frozenset()
    denied_statements: Mapping[int, ApiError] = {}
    # Actions on resources that are allowed to this principal while the resource has this policy: see guard.py.
    allowed: dict[tuple[str, str], tuple[Principal, Policy | None]] = {}
    # What is left to be asked for actions on tables and indexes, by their names in requests, while the table has this
    # record; None: all of it.
    residuals: dict[tuple[str, str, str | None], tuple[Principal, Table, Residual | None]] = {}

    def caller(self) -> Principal:
        """Who asks."""
        return self.principal or principals.root(self.account_id, self.access_key)

    def tab(self, *tables: Table) -> Tab | None:
        """The tab of a request that touches these tables; None where nothing of them can be throttled."""
        return None if self.gate is None else self.gate.tab(*tables)
