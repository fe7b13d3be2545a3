"""Which changes one UpdateTable request may ask for together, and which only alone."""

from typing import Any

from hashrange.api import errors
from hashrange.api.tables.wording import invalid

Request = dict[str, Any]
_CHANGES = (
    "ProvisionedThroughput",
    "BillingMode",
    "TableThroughputMode",
    "StreamSpecification",
    "GlobalSecondaryIndexUpdates",
    "SSESpecification",
    "ReplicaUpdates",
    "DeletionProtectionEnabled",
    "OnDemandThroughput",
    "WarmThroughput",
    "TableClass",
)
_NOTHING_ASKED = (
    "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, "
    "SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, "
    "DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required"
)
# In the order in which the service names them when several are there.
_ALONE = (
    ("SSESpecification", "Server-Side Encryption modification"),
    ("TableClass", "TableClass modification"),
    ("DeletionProtectionEnabled", "DeletionProtection modification"),
    ("ReplicaUpdates", "Replica modification"),
)
_MODES = frozenset(("BillingMode", "TableThroughputMode"))


def check(request: Request) -> None:
    """Refuse a request that asks for nothing, or for changes that do not go together."""
    asked = {name for name in _CHANGES if _is_asked(request, name)}
    if not asked:
        raise errors.validation(_NOTHING_ASKED)
    if request.get("GlobalSecondaryIndexUpdates") == []:
        raise invalid("List of GlobalSecondaryIndexUpdates is empty")
    for name, what in _ALONE:
        if name in asked and len(asked) > 1:
            raise invalid(f"{what} must be the only operation in the request")
    if "OnDemandThroughput" in asked and asked - _MODES != {"OnDemandThroughput"}:
        raise invalid("OnDemandThroughput can only be combined with BillingMode in an UpdateTable request")
    _check_warm(request, asked)
    _check_throughput(request, asked)


def _is_asked(request: Request, name: str) -> bool:
    if name not in request:
        return False
    # An empty structure counts as absent here; an empty list is then complained about by itself.
    return not (isinstance(request[name], (dict, list)) and not request[name])


def _check_warm(request: Request, asked: set[str]) -> None:
    if "WarmThroughput" not in asked or len(asked) == 1:
        return
    if any("Create" in update for update in request.get("GlobalSecondaryIndexUpdates", ())):
        raise invalid("Create global secondary index cannot be specified when updating WarmThroughput")
    raise invalid("WarmThroughput must be the only operation in the request")


def _check_throughput(request: Request, asked: set[str]) -> None:
    mode = request.get("BillingMode", request.get("TableThroughputMode"))
    changes_capacity = "ProvisionedThroughput" in asked or mode == "PROVISIONED"
    updates = request.get("GlobalSecondaryIndexUpdates", ())
    changes_indexes = any("Create" in update or "Delete" in update for update in updates)
    if changes_capacity and "StreamSpecification" in asked:
        raise invalid("You cannot modify stream status while updating table IOPS")
    if changes_capacity and changes_indexes:
        raise invalid("You cannot create or delete index while updating table IOPS")
    if changes_indexes and "StreamSpecification" in asked:
        raise invalid("You cannot create or delete index while changing stream status")
