"""The table of DynamoDB's operations. A row is all that the rest of the house needs to know of one.

The columns: the operation's name, its module (which holds the request's structure, its SHAPE and the handler), whether
it reads items, writes items or controls tables, and the names or ARNs of the resources that a request is about.
"""

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from hashrange.api.backups import (
    create_backup,
    delete_backup,
    describe_backup,
    describe_continuous_backups,
    list_backups,
    restore_table_from_backup,
    restore_table_to_point_in_time,
    update_continuous_backups,
)
from hashrange.api.insights import (
    describe_contributor_insights,
    list_contributor_insights,
    update_contributor_insights,
)
from hashrange.api.items import (
    batch_get_item,
    batch_write_item,
    delete_item,
    get_item,
    put_item,
    query,
    scan,
    update_item,
)
from hashrange.api.partiql import (
    batch_execute_statement,
    execute_statement,
    execute_transaction,
    statements,
)
from hashrange.api.protocol.operation import Kind, Operation, Service
from hashrange.api.resource_policies import (
    delete_resource_policy,
    get_resource_policy,
    put_resource_policy,
)
from hashrange.api.scaling import describe_table_replica_auto_scaling, update_table_replica_auto_scaling
from hashrange.api.tables import (
    create_table,
    delete_table,
    describe_endpoints,
    describe_limits,
    describe_table,
    describe_time_to_live,
    list_tables,
    list_tags_of_resource,
    tag_resource,
    untag_resource,
    update_table,
    update_time_to_live,
)
from hashrange.api.transactions import transact_get_items, transact_write_items
from hashrange.api.transfers import (
    cancel_bulk_operation,
    describe_bulk_operation,
    describe_export,
    describe_import,
    export_table_to_point_in_time,
    import_table,
    list_bulk_operations,
    list_exports,
    list_imports,
    start_bulk_put_items,
)

Resources = Callable[[Any], Iterable[str]]


def no_resource(_: Any) -> Iterable[str]:
    """What a request is about that is about no resource in particular."""
    return ()


def _table(request: Any) -> Iterable[str]:
    return (request.table_name,)


def _named_table(request: Any) -> Iterable[str]:
    return () if request.table_name is None else (request.table_name,)


def _restored(request: Any) -> Iterable[str]:
    source = request.source_table_arn or request.source_table_name
    return (request.target_table_name,) if source is None else (request.target_table_name, source)


def _restored_backup(request: Any) -> Iterable[str]:
    return (request.target_table_name, request.backup_arn)


def _backup(request: Any) -> Iterable[str]:
    return (request.backup_arn,)


def _table_arn(request: Any) -> Iterable[str]:
    return () if request.table_arn is None else (request.table_arn,)


def _export(request: Any) -> Iterable[str]:
    return (request.export_arn,)


def _import(request: Any) -> Iterable[str]:
    return (request.import_arn,)


def _imported_table(request: Any) -> Iterable[str]:
    return (request.table_creation_parameters.table_name,)


def _bulk(request: Any) -> Iterable[str]:
    return (request.bulk_operation_arn,)


def resource_arn(request: Any) -> Iterable[str]:
    """The resource of an operation on tags or on a policy."""
    return () if request.resource_arn is None else (request.resource_arn,)


def _batch(request: Any) -> Iterable[str]:
    return request.request_items or ()


def _transaction(request: Any) -> Iterable[str]:
    for element in request.transact_items:
        for field in element.__struct_fields__:
            action = getattr(element, field)
            if action is not None:
                yield action.table_name


# A statement is its own action to a policy (PartiQLSelect, PartiQLInsert, PartiQLUpdate, PartiQLDelete on the table it
# names), so the operation's action alone does not allow it.


def _statement(request: Any) -> Iterable[str]:
    return statements.tables((request,))


def _statement_batch(request: Any) -> Iterable[str]:
    return statements.tables(request.statements)


def _statement_transaction(request: Any) -> Iterable[str]:
    return statements.tables(request.transact_statements)


# The handler has the name of its module, which is the operation's own.
_ROWS: tuple[tuple[str, ModuleType, Kind, Resources], ...] = (
    ("BatchExecuteStatement", batch_execute_statement, "write", _statement_batch),
    ("BatchGetItem", batch_get_item, "read", _batch),
    ("BatchWriteItem", batch_write_item, "write", _batch),
    ("CancelBulkOperation", cancel_bulk_operation, "control", _bulk),
    ("CreateBackup", create_backup, "control", _table),
    ("CreateTable", create_table, "control", _table),
    ("DeleteBackup", delete_backup, "control", _backup),
    ("DeleteItem", delete_item, "write", _table),
    ("DeleteResourcePolicy", delete_resource_policy, "control", resource_arn),
    ("DeleteTable", delete_table, "control", _table),
    ("DescribeBackup", describe_backup, "control", _backup),
    ("DescribeBulkOperation", describe_bulk_operation, "control", _bulk),
    ("DescribeContinuousBackups", describe_continuous_backups, "control", _table),
    ("DescribeContributorInsights", describe_contributor_insights, "control", _table),
    ("DescribeEndpoints", describe_endpoints, "control", no_resource),
    ("DescribeExport", describe_export, "control", _export),
    ("DescribeImport", describe_import, "control", _import),
    ("DescribeLimits", describe_limits, "control", no_resource),
    ("DescribeTable", describe_table, "control", _table),
    ("DescribeTableReplicaAutoScaling", describe_table_replica_auto_scaling, "control", _table),
    ("DescribeTimeToLive", describe_time_to_live, "control", _table),
    ("ExecuteStatement", execute_statement, "write", _statement),
    ("ExecuteTransaction", execute_transaction, "write", _statement_transaction),
    ("ExportTableToPointInTime", export_table_to_point_in_time, "control", _table_arn),
    ("GetItem", get_item, "read", _table),
    ("GetResourcePolicy", get_resource_policy, "control", resource_arn),
    ("ImportTable", import_table, "control", _imported_table),
    ("ListBackups", list_backups, "control", no_resource),
    ("ListBulkOperations", list_bulk_operations, "control", no_resource),
    ("ListContributorInsights", list_contributor_insights, "control", _named_table),
    ("ListExports", list_exports, "control", _table_arn),
    ("ListImports", list_imports, "control", _table_arn),
    ("ListTables", list_tables, "control", no_resource),
    ("ListTagsOfResource", list_tags_of_resource, "control", resource_arn),
    ("PutItem", put_item, "write", _table),
    ("PutResourcePolicy", put_resource_policy, "control", resource_arn),
    ("Query", query, "read", _table),
    ("RestoreTableFromBackup", restore_table_from_backup, "control", _restored_backup),
    ("RestoreTableToPointInTime", restore_table_to_point_in_time, "control", _restored),
    ("Scan", scan, "read", _table),
    ("StartBulkPutItems", start_bulk_put_items, "control", _table),
    ("TagResource", tag_resource, "control", resource_arn),
    ("TransactGetItems", transact_get_items, "read", _transaction),
    ("TransactWriteItems", transact_write_items, "write", _transaction),
    ("UntagResource", untag_resource, "control", resource_arn),
    ("UpdateContinuousBackups", update_continuous_backups, "control", _table),
    ("UpdateContributorInsights", update_contributor_insights, "control", _table),
    ("UpdateItem", update_item, "write", _table),
    ("UpdateTable", update_table, "control", _table),
    ("UpdateTableReplicaAutoScaling", update_table_replica_auto_scaling, "control", _table),
    ("UpdateTimeToLive", update_time_to_live, "control", _table),
)


def operation(
    name: str, module: ModuleType, kind: Kind, resources: Resources, *, prefix: str = "dynamodb"
) -> Operation[Any]:
    """The operation of a row; `prefix` is that of its action in policies."""
    handler = getattr(module, module.__name__.rpartition(".")[2])
    action = f"{prefix}:{name}"
    shortcut = getattr(module, "SHORTCUT", None)
    return Operation(
        name, module.SHAPE, handler, kind=kind, resources=resources, action=action, shortcut=shortcut
    )


def control_operations(
    prefix: str, rows: Iterable[tuple[str, ModuleType, Resources]]
) -> dict[str, Operation[Any]]:
    """The operations of a service that has no items, but settings only."""
    return {
        name: operation(name, module, "control", resources, prefix=prefix) for name, module, resources in rows
    }


DYNAMODB = Service(
    "dynamodb",
    "DynamoDB_20120810.",
    "com.amazonaws.dynamodb.v20120810#",
    {row[0]: operation(*row) for row in _ROWS},
    "dynamodb",
)
