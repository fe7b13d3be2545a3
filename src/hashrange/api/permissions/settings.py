"""What the operations on tables, backups and transfers ask for."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from hashrange.api.context import Context
from hashrange.api.permissions import targets
from hashrange.api.permissions.needs import NO_KEYS, ItemKeys, Need, TagKeys
from hashrange.api.resource_policies.resources import place_of
from hashrange.auth import arns
from hashrange.auth.policy.keys import ConditionKeys
from hashrange.core import accounts

Needs = Callable[[Context, Any], Iterable[Need]]

# A restore fills its new table as a client would (service authorization reference: dependent actions).
_RESTORING = ("BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "UpdateItem")
_EXPORTING = ("PutObject", "PutObjectAcl", "AbortMultipartUpload")
_SCALING = (
    *("RegisterScalableTarget", "DeregisterScalableTarget", "DescribeScalableTargets"),
    *("PutScalingPolicy", "DeleteScalingPolicy", "DescribeScalingPolicies"),
    *("PutScheduledAction", "DeleteScheduledAction", "DescribeScheduledActions"),
)


def nothing(_context: Context, _request: Any) -> Iterable[Need]:
    """Everybody may do it who has signed."""
    return ()


def anywhere(action: str) -> Needs:
    """An action without a resource."""
    return lambda _context, _request: (Need(action, "*"),)


def all_tables(action: str) -> Needs:
    """An action on the tables of an account."""
    return lambda context, _request: (
        Need(action, f"arn:aws:dynamodb:{context.region}:{context.account_id}:table/*"),
    )


def on_table(action: str, *, crosses: bool = False) -> Needs:
    """An action on the table that a request names, or on its index."""

    def needs(context: Context, request: Any) -> Iterable[Need]:
        index_name = getattr(request, "index_name", None)
        return (targets.table(context, request.table_name, index_name).need(action, crosses=crosses),)

    return needs


def on_arn(action: str, member: str, *, crosses: bool = False) -> Needs:
    """An action on what an ARN names; a request without it is refused for that."""

    def needs(context: Context, request: Any) -> Iterable[Need]:
        arn = getattr(request, member)
        return (targets.arn(context, action, arn, crosses=crosses),) if arn is not None else ()

    return needs


def on_policy(action: str) -> Needs:
    """An action on the policy of a table or stream; that it is another account's is told in words of its own."""
    return lambda context, request: (
        targets.arn(context, action, place_of(context, request.resource_arn).arn),
    )


def on_backup(action: str) -> Needs:
    """An action on a backup, whose region does not count: the caller's does."""

    def needs(context: Context, request: Any) -> Iterable[Need]:
        return (targets.arn(context, action, _here(context, request.backup_arn)),)

    return needs


def _here(context: Context, arn: str) -> str:
    parts = arns.parsed(arn)
    if parts is None:
        return arn
    return f"arn:aws:{parts.service}:{context.region}:{parts.account_id}:{parts.resource}"


def create_table(context: Context, request: Any) -> Iterator[Need]:
    """The new table's tags and policy need permissions of their own."""
    target = msgspec.structs.replace(targets.table(context, request.table_name), table=None)
    tags = request_tags(request.tags, new=True)
    yield target.need("dynamodb:CreateTable", tags)
    if request.tags:
        yield target.need("dynamodb:TagResource", tags)
    if request.resource_policy is not None:
        yield target.need("dynamodb:PutResourcePolicy")


def create_key(_context: Context, request: Any) -> Iterator[Need]:
    """A new key's tags need a permission of their own."""
    tags = TagKeys(((tag.tag_key, tag.tag_value) for tag in request.tags or ()), new=True)
    yield Need("kms:CreateKey", "*", tags)
    if request.tags:
        yield Need("kms:TagResource", "*", tags)


def tag_resource(context: Context, request: Any) -> Iterable[Need]:
    """With the tags that are given."""
    return _tagging(context, "dynamodb:TagResource", request, request_tags(request.tags))


def untag_resource(context: Context, request: Any) -> Iterable[Need]:
    """With the keys of the tags that are taken away."""
    keys = tuple(str(key) for key in request.tag_keys or ())
    lazy = {"aws:tagkeys": lambda: keys}
    return _tagging(context, "dynamodb:UntagResource", request, ItemKeys({}, lazy=lazy))


def _tagging(context: Context, action: str, request: Any, keys: ConditionKeys) -> Iterable[Need]:
    arn = request.resource_arn
    return () if arn is None else (targets.arn(context, action, arn, keys, crosses=True),)


def request_tags(tags: Any, *, new: bool = False) -> ConditionKeys:
    """The keys of a request that gives tags, perhaps to something new."""
    return TagKeys(((str(tag.key), tag.value or "") for tag in tags), new=new) if tags else NO_KEYS


def restore_from_backup(context: Context, request: Any) -> Iterator[Need]:
    """The backup, the new table, and all that fills it."""
    action = "dynamodb:RestoreTableFromBackup"
    yield targets.arn(context, action, request.backup_arn)
    yield targets.table(context, request.target_table_name).need(action)
    yield from _restoring(context, request)


def restore_to_point_in_time(context: Context, request: Any) -> Iterator[Need]:
    """The source, and all that fills the new table."""
    action = "dynamodb:RestoreTableToPointInTime"
    if request.source_table_arn is not None:
        yield targets.arn(context, action, request.source_table_arn)
    if request.source_table_name is not None:
        yield targets.table(context, request.source_table_name).need(action)
    yield from _restoring(context, request)


def _restoring(context: Context, request: Any) -> Iterator[Need]:
    target = targets.table(context, request.target_table_name)
    for name in _RESTORING:
        yield target.need(f"dynamodb:{name}")


def import_table(context: Context, request: Any) -> Iterator[Need]:
    """The new table, and the objects it is made of."""
    name = request.table_creation_parameters.table_name
    yield targets.table(context, name).need("dynamodb:ImportTable")
    yield from _reading(request.s3_bucket_source)


def start_bulk_put_items(context: Context, request: Any) -> Iterator[Need]:
    """The table, the objects that its new items are in, and those that tell of failures."""
    yield targets.table(context, request.table_name).need("dynamodb:StartBulkPutItems")
    yield from _reading(request.input_s3_configuration)
    yield from _writing(
        request.output_s3_configuration.s3_bucket, request.output_s3_configuration.s3_key_prefix
    )


def export_table(context: Context, request: Any) -> Iterator[Need]:
    """The table, and the objects it becomes."""
    if request.table_arn is not None:
        yield targets.arn(context, "dynamodb:ExportTableToPointInTime", request.table_arn)
    yield from _writing(request.s3_bucket, request.s3_prefix)


def _reading(source: Any) -> Iterator[Need]:
    yield _on_bucket("s3:ListBucket", f"arn:aws:s3:::{source.s3_bucket}")
    yield _on_bucket("s3:GetObject", _objects(source.s3_bucket, source.s3_key_prefix))


def _writing(bucket: str, prefix: str | None) -> Iterator[Need]:
    for name in _EXPORTING:
        yield _on_bucket(f"s3:{name}", _objects(bucket, prefix))


def _on_bucket(action: str, resource: str) -> Need:
    """Buckets are the server's, and with that its own account's: no other account may look into them or write there."""
    return Need(action, resource, account_id=accounts.OWN)


def _objects(bucket: str, prefix: str | None) -> str:
    return f"arn:aws:s3:::{bucket}/{prefix or ''}*"


def update_replica_scaling(context: Context, request: Any) -> Iterator[Need]:
    """The table, and the scaling that it stands for."""
    yield targets.table(context, request.table_name).need("dynamodb:UpdateTableReplicaAutoScaling")
    for name in _SCALING:
        yield Need(f"application-autoscaling:{name}", "*")


def get_records(context: Context, request: Any) -> Iterable[Need]:
    """The stream that an iterator begins with the ARN of; it is signed with a secret of that stream."""
    arn = request.shard_iterator.partition("|")[0]
    return (targets.arn(context, "dynamodb:GetRecords", arn, crosses=True),)
