"""The table of what operations ask for, by the actions of their registries. What is not here is denied."""

from hashrange.api.permissions import identities, items, settings, statements, watching
from hashrange.api.permissions.settings import (
    Needs,
    all_tables,
    anywhere,
    nothing,
    on_arn,
    on_backup,
    on_table,
)


def _of(prefix: str, rows: dict[str, Needs]) -> dict[str, Needs]:
    return {f"{prefix}:{name}": needs for name, needs in rows.items()}


def _tables(*names: str, crosses: bool = False) -> dict[str, Needs]:
    return {name: on_table(f"dynamodb:{name}", crosses=crosses) for name in names}


def _anywhere(prefix: str, *names: str) -> dict[str, Needs]:
    return {name: anywhere(f"{prefix}:{name}") for name in names}


def _arns(member: str, *names: str, crosses: bool = False) -> dict[str, Needs]:
    return {name: on_arn(f"dynamodb:{name}", member, crosses=crosses) for name in names}


_ITEMS: dict[str, Needs] = {
    "BatchGetItem": items.batch_get_item,
    "BatchWriteItem": items.batch_write_item,
    "DeleteItem": items.delete_item,
    "ExecuteStatement": statements.execute_statement,
    "ExecuteTransaction": statements.execute_transaction,
    "GetItem": items.get_item,
    "PutItem": items.put_item,
    "Query": items.query,
    "Scan": items.scan,
    "TransactGetItems": items.transact_get_items,
    "TransactWriteItems": items.transact_write_items,
    "UpdateItem": items.update_item,
    # Each of its statements is judged by itself: see guard.py.
    "BatchExecuteStatement": nothing,
}
_SETTINGS: dict[str, Needs] = {
    **_tables("DeleteTable", "DescribeTable", "UpdateTable", crosses=True),
    **_tables("DescribeTimeToLive", "UpdateTimeToLive", "DescribeContinuousBackups"),
    **_tables("UpdateContinuousBackups", "CreateBackup", "DescribeTableReplicaAutoScaling"),
    **_tables("DescribeContributorInsights", "UpdateContributorInsights"),
    **_arns("resource_arn", "ListTagsOfResource", crosses=True),
    "DeleteResourcePolicy": settings.on_policy("dynamodb:DeleteResourcePolicy"),
    "GetResourcePolicy": settings.on_policy("dynamodb:GetResourcePolicy"),
    "PutResourcePolicy": settings.on_policy("dynamodb:PutResourcePolicy"),
    **_arns("export_arn", "DescribeExport"),
    **_arns("import_arn", "DescribeImport"),
    **_arns("bulk_operation_arn", "DescribeBulkOperation", "CancelBulkOperation"),
    **_arns("stream_arn", "DescribeStream", "GetShardIterator", crosses=True),
    **_anywhere("dynamodb", "ListBackups", "ListExports", "ListImports", "ListBulkOperations"),
    **_anywhere("dynamodb", "ListContributorInsights", "ListStreams", "DescribeLimits"),
    "CreateTable": settings.create_table,
    "DeleteBackup": on_backup("dynamodb:DeleteBackup"),
    "DescribeBackup": on_backup("dynamodb:DescribeBackup"),
    "DescribeEndpoints": nothing,
    "ExportTableToPointInTime": settings.export_table,
    "GetRecords": settings.get_records,
    "ImportTable": settings.import_table,
    "ListTables": all_tables("dynamodb:ListTables"),
    "RestoreTableFromBackup": settings.restore_from_backup,
    "RestoreTableToPointInTime": settings.restore_to_point_in_time,
    "StartBulkPutItems": settings.start_bulk_put_items,
    "TagResource": settings.tag_resource,
    "UntagResource": settings.untag_resource,
    "UpdateTableReplicaAutoScaling": settings.update_replica_scaling,
}


def _alarms(member: str, *names: str) -> dict[str, Needs]:
    return {name: watching.on_alarms(f"cloudwatch:{name}", member) for name in names}


def _tagged(prefix: str) -> dict[str, Needs]:
    names = ("TagResource", "UntagResource", "ListTagsForResource")
    return {name: watching.on_tagged(f"{prefix}:{name}") for name in names}


_CLOUDWATCH: dict[str, Needs] = {
    **_alarms("alarm_names", "DeleteAlarms", "DisableAlarmActions", "EnableAlarmActions"),
    **_alarms("alarm_name", "PutMetricAlarm", "SetAlarmState"),
    **_anywhere("cloudwatch", "DescribeAlarmHistory", "DescribeAlarms", "DescribeAlarmsForMetric"),
    **_anywhere("cloudwatch", "DescribeInsightRules", "GetMetricData", "GetMetricStatistics"),
    **_anywhere("cloudwatch", "ListMetrics", "PutMetricData"),
    **_tagged("cloudwatch"),
    "GetInsightRuleReport": watching.on_insight_rule("cloudwatch:GetInsightRuleReport"),
}
_SCALED = (
    *("DeleteScalingPolicy", "DeleteScheduledAction", "DeregisterScalableTarget"),
    *("PutScalingPolicy", "PutScheduledAction", "RegisterScalableTarget"),
)
_AUTO_SCALING: dict[str, Needs] = {
    **{name: watching.on_scalable_targets(f"application-autoscaling:{name}") for name in _SCALED},
    **_anywhere("application-autoscaling", "DescribeScalableTargets", "DescribeScalingActivities"),
    **_anywhere("application-autoscaling", "DescribeScalingPolicies", "DescribeScheduledActions"),
    **_tagged("application-autoscaling"),
}

# Steps ask when they have found the key, whose policy counts: see key_policies.py.
_OF_KEYS = (
    *("CancelKeyDeletion", "CreateAlias", "Decrypt", "DeleteAlias", "DescribeKey", "DisableKey"),
    *("DisableKeyRotation", "EnableKey", "EnableKeyRotation", "Encrypt", "GenerateDataKey"),
    *("GenerateDataKeyWithoutPlaintext", "GetKeyPolicy", "GetKeyRotationStatus", "ListKeyPolicies"),
    *("ListKeyRotations", "ListResourceTags", "PutKeyPolicy", "ReEncrypt", "RotateKeyOnDemand"),
    *("ScheduleKeyDeletion", "TagResource", "UntagResource", "UpdateAlias", "UpdateKeyDescription"),
)
_KMS: dict[str, Needs] = {
    **dict.fromkeys(_OF_KEYS, nothing),
    **_anywhere("kms", "GenerateRandom", "ListAliases", "ListKeys"),
    "CreateKey": settings.create_key,
}

NEEDS: dict[str, Needs] = {
    **_of("dynamodb", _ITEMS),
    **_of("dynamodb", _SETTINGS),
    **_of("cloudwatch", _CLOUDWATCH),
    **_of("application-autoscaling", _AUTO_SCALING),
    **_of("iam", identities.IAM),
    **_of("kms", _KMS),
    **_of("sts", identities.STS),
}
