"""Which changes one UpdateTable request may ask for together, and which only alone."""

from collections.abc import Sequence
from typing import Protocol

from hashrange.api import errors
from hashrange.api.protocol.structures import Structure
from hashrange.api.tables.structures import BillingMode, GlobalSecondaryIndexUpdate
from hashrange.api.tables.wording import invalid

_CHANGES = (
    "provisioned_throughput",
    "billing_mode",
    "table_throughput_mode",
    "stream_specification",
    "global_secondary_index_updates",
    "sse_specification",
    "replica_updates",
    "deletion_protection_enabled",
    "on_demand_throughput",
    "warm_throughput",
    "table_class",
)
_NOTHING_ASKED = (
    "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, "
    "SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, "
    "DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required"
)
# In the order in which the service names them when several are there.
_ALONE = (
    ("sse_specification", "Server-Side Encryption modification"),
    ("table_class", "TableClass modification"),
    ("deletion_protection_enabled", "DeletionProtection modification"),
    ("replica_updates", "Replica modification"),
)
_MODES = frozenset(("billing_mode", "table_throughput_mode"))


class TableUpdate(Protocol):
    """The members of UpdateTable that are looked at one by one here."""

    billing_mode: BillingMode | None
    table_throughput_mode: BillingMode | None
    global_secondary_index_updates: list[GlobalSecondaryIndexUpdate] | None


def check(request: TableUpdate) -> None:
    """Refuse a request that asks for nothing, or for changes that do not go together."""
    changes = {field for field in _CHANGES if _is_asked(getattr(request, field))}
    if not changes:
        raise errors.validation(_NOTHING_ASKED)
    if request.global_secondary_index_updates == []:
        raise invalid("List of GlobalSecondaryIndexUpdates is empty")
    for field, what in _ALONE:
        if field in changes and len(changes) > 1:
            raise invalid(f"{what} must be the only operation in the request")
    if "on_demand_throughput" in changes and changes - _MODES != {"on_demand_throughput"}:
        raise invalid("OnDemandThroughput can only be combined with BillingMode in an UpdateTable request")
    updates = request.global_secondary_index_updates or ()
    if "warm_throughput" in changes and len(changes) > 1:
        if any(update.create is not None for update in updates):
            raise invalid("Create global secondary index cannot be specified when updating WarmThroughput")
        raise invalid("WarmThroughput must be the only operation in the request")
    mode = request.billing_mode or request.table_throughput_mode
    _check_throughput(changes, updates, provisioned=mode == "PROVISIONED")


def _is_asked(member: object) -> bool:
    # An empty structure counts as absent here; an empty list is then complained about by itself.
    return bool(member) if isinstance(member, (Structure, list)) else member is not None


def _check_throughput(
    changes: set[str], updates: Sequence[GlobalSecondaryIndexUpdate], *, provisioned: bool
) -> None:
    changes_capacity = "provisioned_throughput" in changes or provisioned
    changes_indexes = any(update.create is not None or update.delete is not None for update in updates)
    if changes_capacity and "stream_specification" in changes:
        raise invalid("You cannot modify stream status while updating table IOPS")
    if changes_capacity and changes_indexes:
        raise invalid("You cannot create or delete index while updating table IOPS")
    if changes_indexes and "stream_specification" in changes:
        raise invalid("You cannot create or delete index while changing stream status")
