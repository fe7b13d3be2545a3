"""Every operation declares what it asks for, and asks for what the service asks for."""

from typing import Any

import pytest

from hashrange.api.permissions.declared import NEEDS
from hashrange.server import SERVICES
from hashrange.services.iam.registry import IAM
from hashrange.services.kms.registry import KMS
from hashrange.services.sts.registry import STS
from permissions.callers import OURS, Guarded, allow, deny, user

REGION = f"arn:aws:dynamodb:us-east-1:{OURS}:"
ORDERS, OTHER = f"{REGION}table/orders", f"{REGION}table/other"
STREAM = f"{ORDERS}/stream/2026-01-01T00:00:00.000"
BACKUP = f"{ORDERS}/backup/01234567890123-abcdef01"
EXPORT = f"{ORDERS}/export/01234567890123-abcdef01"
IMPORT = f"{ORDERS}/import/01234567890123-abcdef01"
BULK = f"{ORDERS}/bulk-operation/01234567890123-abcdef01"
ALARM = f"arn:aws:cloudwatch:us-east-1:{OURS}:alarm:"
SCALED = f"arn:aws:application-autoscaling:us-east-1:{OURS}:scalable-target/"
KEY = {"owner": {"S": "a"}, "id": {"S": "1"}}
TABLE = {"TableName": "orders"}
SCHEMA = {
    "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}
CHECKED = {"ConditionExpression": "attribute_exists(id)"}
QUERIED = {"KeyConditions": {"owner": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}}}
SOURCE = {"S3Bucket": "pail", "S3KeyPrefix": "in/"}
FILLING = ("BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "UpdateItem")
TARGET = {"ServiceNamespace": "dynamodb", "ResourceId": "table/orders"}
READ = {"ScalableDimension": "dynamodb:table:ReadCapacityUnits"}
POLICY = '{"Statement":[]}'
WHERE = "WHERE owner = 'a' AND id = '1'"
SCALING_POLICY = {"PolicyName": "p", **TARGET, **READ}
ACTION = {"ScheduledActionName": "s", **TARGET, **READ}


def on(resource: str, *actions: str, service: str = "dynamodb") -> set[tuple[str, str]]:
    return {(f"{service}:{action}", resource) for action in actions}


def objects(*actions: str, prefix: str) -> set[tuple[str, str]]:
    return on(f"arn:aws:s3:::pail/{prefix}*", *actions, service="s3")


WRITING = ("PutObject", "PutObjectAcl", "AbortMultipartUpload")
READING = objects("GetObject", prefix="in/") | on("arn:aws:s3:::pail", "ListBucket", service="s3")

# By service and operation: a request, and the actions on resources that it needs.
Row = tuple[dict[str, Any], set[tuple[str, str]]]


def _tables(*names: str, **more: Any) -> dict[str, Row]:
    return {name: ({**TABLE, **more}, on(ORDERS, name)) for name in names}


def _arns(member: str, arn: str, *names: str, **more: Any) -> dict[str, Row]:
    return {name: ({member: arn, **more}, on(arn, name)) for name in names}


def _anywhere(*names: str, service: str = "dynamodb", **request: Any) -> dict[str, Row]:
    return {name: (request, on("*", name, service=service)) for name in names}


DYNAMODB: dict[str, Row] = {
    **_tables("GetItem", "DeleteItem", Key=KEY),
    **_tables("UpdateItem", Key=KEY, UpdateExpression="REMOVE b"),
    **_tables("PutItem", Item=KEY),
    **_tables("Query", **QUERIED),
    **_tables("Scan", "DescribeTable", "DeleteTable", "UpdateTable", "DescribeTimeToLive"),
    **_tables("UpdateTimeToLive", TimeToLiveSpecification={"AttributeName": "t", "Enabled": True}),
    **_tables("DescribeContinuousBackups", "DescribeTableReplicaAutoScaling", "DescribeContributorInsights"),
    **_tables(
        "UpdateContinuousBackups", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    ),
    **_tables("CreateBackup", BackupName="first"),
    **_tables("UpdateContributorInsights", ContributorInsightsAction="ENABLE"),
    **_arns("ResourceArn", ORDERS, "ListTagsOfResource", "GetResourcePolicy", "DeleteResourcePolicy"),
    **_arns("ResourceArn", ORDERS, "TagResource", Tags=[{"Key": "k", "Value": "v"}]),
    **_arns("ResourceArn", ORDERS, "UntagResource", TagKeys=["k"]),
    **_arns("ResourceArn", ORDERS, "PutResourcePolicy", Policy=POLICY),
    **_arns("StreamArn", STREAM, "DescribeStream"),
    **_arns("StreamArn", STREAM, "GetShardIterator", ShardId="s" * 30, ShardIteratorType="LATEST"),
    "GetRecords": ({"ShardIterator": f"{STREAM}|1|x"}, on(STREAM, "GetRecords")),
    **_arns("BackupArn", BACKUP, "DescribeBackup", "DeleteBackup"),
    **_arns("ExportArn", EXPORT, "DescribeExport"),
    **_arns("ImportArn", IMPORT, "DescribeImport"),
    **_arns("BulkOperationArn", BULK, "DescribeBulkOperation", "CancelBulkOperation"),
    **_anywhere("ListBackups", "ListExports", "ListImports", "ListStreams", "ListContributorInsights"),
    **_anywhere("DescribeLimits", "ListBulkOperations"),
    "ListTables": ({}, on(f"{REGION}table/*", "ListTables")),
    "DescribeEndpoints": ({}, set()),
    "CreateTable": (
        {**TABLE, **SCHEMA, "Tags": [{"Key": "k", "Value": "v"}], "ResourcePolicy": POLICY},
        on(ORDERS, "CreateTable", "TagResource", "PutResourcePolicy"),
    ),
    "BatchGetItem": (
        {"RequestItems": {"orders": {"Keys": [KEY]}, OTHER: {"Keys": [KEY]}}},
        on(ORDERS, "BatchGetItem") | on(OTHER, "BatchGetItem"),
    ),
    "BatchWriteItem": (
        {
            "RequestItems": {
                "orders": [{"PutRequest": {"Item": KEY}}],
                "other": [{"DeleteRequest": {"Key": KEY}}],
            }
        },
        on(ORDERS, "BatchWriteItem") | on(OTHER, "BatchWriteItem"),
    ),
    "TransactGetItems": (
        {"TransactItems": [{"Get": {"TableName": name, "Key": KEY}} for name in ("orders", "other")]},
        on(ORDERS, "GetItem") | on(OTHER, "GetItem"),
    ),
    "TransactWriteItems": (
        {
            "TransactItems": [
                {"Put": {**TABLE, "Item": KEY}},
                {"Delete": {**TABLE, "Key": KEY}},
                {"Update": {"TableName": "other", "Key": KEY, "UpdateExpression": "REMOVE b"}},
                {"ConditionCheck": {"TableName": "other", "Key": KEY, **CHECKED}},
            ]
        },
        on(ORDERS, "PutItem", "DeleteItem") | on(OTHER, "UpdateItem", "ConditionCheckItem"),
    ),
    "ExecuteStatement": (
        {"Statement": 'SELECT * FROM orders."by-city"'},
        on(f"{ORDERS}/index/by-city", "PartiQLSelect"),
    ),
    "ExecuteTransaction": (
        {
            "TransactStatements": [
                {"Statement": "INSERT INTO orders VALUE {'owner': 'a', 'id': '1'}"},
                {"Statement": f"UPDATE other SET b = 1 {WHERE}"},
                {"Statement": f"DELETE FROM orders {WHERE}"},
                {"Statement": f"EXISTS(SELECT * FROM other {WHERE} AND b = 1)"},
            ]
        },
        on(ORDERS, "PartiQLInsert", "PartiQLDelete") | on(OTHER, "PartiQLUpdate", "PartiQLSelect"),
    ),
    # Its statements are judged one by one: tests/permissions/test_tenants.py.
    "BatchExecuteStatement": ({"Statements": [{"Statement": f"DELETE FROM orders {WHERE}"}]}, set()),
    "RestoreTableFromBackup": (
        {"BackupArn": BACKUP, "TargetTableName": "other"},
        on(BACKUP, "RestoreTableFromBackup") | on(OTHER, "RestoreTableFromBackup", *FILLING),
    ),
    "RestoreTableToPointInTime": (
        {"SourceTableName": "orders", "TargetTableName": "other", "UseLatestRestorableTime": True},
        on(ORDERS, "RestoreTableToPointInTime") | on(OTHER, *FILLING),
    ),
    "ImportTable": (
        {
            "S3BucketSource": SOURCE,
            "InputFormat": "CSV",
            "TableCreationParameters": {**TABLE, **SCHEMA},
        },
        on(ORDERS, "ImportTable") | READING,
    ),
    "StartBulkPutItems": (
        {
            **TABLE,
            "InputS3Configuration": {**SOURCE, "InputFormat": "DYNAMODB_JSON"},
            "OutputS3Configuration": {"S3Bucket": "pail", "S3KeyPrefix": "out/", "OutputType": ["ERROR"]},
        },
        on(ORDERS, "StartBulkPutItems") | READING | objects(*WRITING, prefix="out/"),
    ),
    "ExportTableToPointInTime": (
        {"TableArn": ORDERS, "S3Bucket": "pail", "S3Prefix": "out/"},
        on(ORDERS, "ExportTableToPointInTime") | objects(*WRITING, prefix="out/"),
    ),
    "UpdateTableReplicaAutoScaling": (
        TABLE,
        on(ORDERS, "UpdateTableReplicaAutoScaling")
        | on(
            "*",
            *("RegisterScalableTarget", "DeregisterScalableTarget", "DescribeScalableTargets"),
            *("PutScalingPolicy", "DeleteScalingPolicy", "DescribeScalingPolicies"),
            *("PutScheduledAction", "DeleteScheduledAction", "DescribeScheduledActions"),
            service="application-autoscaling",
        ),
    ),
}


def _alarms(*names: str, **request: Any) -> dict[str, Row]:
    return {name: (request, on(f"{ALARM}hot", name, service="cloudwatch")) for name in names}


def _tags(service: str, arn: str, tags: Any) -> dict[str, Row]:
    requests = {"TagResource": {"Tags": tags}, "UntagResource": {"TagKeys": ["k"]}, "ListTagsForResource": {}}
    member = "ResourceARN"
    return {name: ({member: arn, **more}, on(arn, name, service=service)) for name, more in requests.items()}


CLOUDWATCH: dict[str, Row] = {
    **_alarms("DeleteAlarms", "DisableAlarmActions", "EnableAlarmActions", AlarmNames=["hot"]),
    **_alarms(
        "PutMetricAlarm", AlarmName="hot", ComparisonOperator="GreaterThanThreshold", EvaluationPeriods=1
    ),
    **_alarms("SetAlarmState", AlarmName="hot", StateValue="OK", StateReason="because"),
    **_anywhere("DescribeAlarmHistory", "DescribeAlarms", "ListMetrics", service="cloudwatch"),
    **_anywhere("DescribeAlarmsForMetric", service="cloudwatch", MetricName="m", Namespace="n"),
    **_anywhere("DescribeInsightRules", service="cloudwatch"),
    **_anywhere("GetMetricData", service="cloudwatch", MetricDataQueries=[], StartTime=0, EndTime=1),
    **_anywhere(
        *("GetMetricStatistics",),
        service="cloudwatch",
        Namespace="n",
        MetricName="m",
        StartTime=0,
        EndTime=1,
        Period=60,
    ),
    **_anywhere("PutMetricData", service="cloudwatch", Namespace="n", MetricData=[]),
    "GetInsightRuleReport": (
        {"RuleName": "r", "StartTime": 0, "EndTime": 1, "Period": 60},
        on(
            f"arn:aws:cloudwatch:us-east-1:{OURS}:insight-rule/r",
            "GetInsightRuleReport",
            service="cloudwatch",
        ),
    ),
    **_tags("cloudwatch", f"{ALARM}hot", [{"Key": "k", "Value": "v"}]),
}


def _scaled(*names: str, **request: Any) -> dict[str, Row]:
    return {name: (request, on(f"{SCALED}*", name, service="application-autoscaling")) for name in names}


AUTO_SCALING: dict[str, Row] = {
    **_scaled("RegisterScalableTarget", "DeregisterScalableTarget", **TARGET, **READ),
    **_scaled("PutScalingPolicy", "DeleteScalingPolicy", **SCALING_POLICY),
    **_scaled("PutScheduledAction", "DeleteScheduledAction", **ACTION),
    **_anywhere(
        *("DescribeScalableTargets", "DescribeScalingActivities"),
        *("DescribeScalingPolicies", "DescribeScheduledActions"),
        service="application-autoscaling",
        ServiceNamespace="dynamodb",
    ),
    **_tags("application-autoscaling", f"{SCALED}0abc", {"k": "v"}),
}
USER, GROUP, ROLE, MANAGED = (
    f"arn:aws:iam::{OURS}:{kind}/{name}"
    for kind, name in (("user", "u"), ("group", "g"), ("role", "r"), ("policy", "p"))
)


def _identities(arn: str, member: str, *names: str, **more: Any) -> dict[str, Row]:
    named = arn if member == "PolicyArn" else arn[-1]
    return {name: ({member: named, **more}, on(arn, name, service="iam")) for name in names}


def _listed(kind: str, name: str) -> dict[str, Row]:
    return {name: ({}, on(f"arn:aws:iam::{OURS}:{kind}/", name, service="iam"))}


DOCUMENT = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}'
TRUST = {"AssumeRolePolicyDocument": DOCUMENT}
KEY_ID = "AKIAIOSFODNN7EXAMPLE"
TAGS = [{"Key": "k", "Value": "v"}]


def _of_entity(word: str, arn: str) -> dict[str, Row]:
    """What users, groups and roles have in common."""
    member = f"{word}Name"
    return {
        **_identities(arn, member, f"Get{word}", f"Delete{word}", f"List{word}Policies"),
        **_identities(arn, member, f"ListAttached{word}Policies"),
        **_identities(arn, member, f"Attach{word}Policy", f"Detach{word}Policy", PolicyArn=MANAGED),
        **_identities(arn, member, f"Put{word}Policy", PolicyName="i", PolicyDocument=DOCUMENT),
        **_identities(arn, member, f"Get{word}Policy", f"Delete{word}Policy", PolicyName="i"),
    }


def _of_tagged(word: str, member: str, arn: str) -> dict[str, Row]:
    return {
        **_identities(arn, member, f"Tag{word}", Tags=TAGS),
        **_identities(arn, member, f"Untag{word}", TagKeys=["k"]),
        **_identities(arn, member, f"List{word}Tags"),
    }


def _of_bounded(word: str, arn: str) -> dict[str, Row]:
    member = f"{word}Name"
    return {
        **_identities(arn, member, f"Put{word}PermissionsBoundary", PermissionsBoundary=MANAGED),
        **_identities(arn, member, f"Delete{word}PermissionsBoundary"),
    }


IDENTITIES: dict[str, Row] = {
    **_of_entity("User", USER),
    **_of_entity("Group", GROUP),
    **_of_entity("Role", ROLE),
    **_of_tagged("User", "UserName", USER),
    **_of_tagged("Role", "RoleName", ROLE),
    **_of_tagged("Policy", "PolicyArn", MANAGED),
    **_of_bounded("User", USER),
    **_of_bounded("Role", ROLE),
    **_identities(USER, "UserName", "CreateAccessKey", "ListAccessKeys", "ListGroupsForUser"),
    **_identities(USER, "UserName", "DeleteAccessKey", AccessKeyId=KEY_ID),
    **_identities(USER, "UserName", "UpdateAccessKey", AccessKeyId=KEY_ID, Status="Inactive"),
    **_identities(GROUP, "GroupName", "AddUserToGroup", "RemoveUserFromGroup", UserName="u"),
    **_identities(GROUP, "GroupName", "CreateGroup"),
    **_identities(ROLE, "RoleName", "ListInstanceProfilesForRole", "UpdateRole"),
    **_identities(ROLE, "RoleName", "UpdateRoleDescription", Description="d"),
    **_identities(ROLE, "RoleName", "UpdateAssumeRolePolicy", PolicyDocument=DOCUMENT),
    **_identities(MANAGED, "PolicyArn", "GetPolicy", "DeletePolicy", "ListPolicyVersions"),
    **_identities(MANAGED, "PolicyArn", "GetPolicyVersion", "DeletePolicyVersion", VersionId="v2"),
    **_identities(MANAGED, "PolicyArn", "SetDefaultPolicyVersion", VersionId="v2"),
    **_identities(MANAGED, "PolicyArn", "CreatePolicyVersion", PolicyDocument=DOCUMENT),
    **_listed("user", "ListUsers"),
    **_listed("group", "ListGroups"),
    **_listed("role", "ListRoles"),
    **_listed("policy", "ListPolicies"),
    **_anywhere("GetContextKeysForCustomPolicy", service="iam", PolicyInputList=[DOCUMENT]),
    **_anywhere("SimulateCustomPolicy", service="iam", PolicyInputList=[DOCUMENT], ActionNames=["a:b"]),
    "GetContextKeysForPrincipalPolicy": (
        {"PolicySourceArn": USER},
        on(USER, "GetContextKeysForPrincipalPolicy", service="iam"),
    ),
    "SimulatePrincipalPolicy": (
        {"PolicySourceArn": ROLE, "ActionNames": ["a:b"]},
        on(ROLE, "SimulatePrincipalPolicy", service="iam"),
    ),
    **_identities(USER, "UserName", "ListMFADevices", "ListSSHPublicKeys", "ListSigningCertificates"),
    **_identities(
        USER, "UserName", "ListServiceSpecificCredentials", "GetLoginProfile", "DeleteLoginProfile"
    ),
    **_identities(MANAGED, "PolicyArn", "ListEntitiesForPolicy"),
    **_anywhere("GetAccountSummary", "ListAccountAliases", "ListVirtualMFADevices", service="iam"),
    **_anywhere("CreateAccountAlias", "DeleteAccountAlias", service="iam", AccountAlias="alias"),
    **_anywhere("GetAccessKeyLastUsed", service="iam", AccessKeyId=KEY_ID),
    "CreateUser": ({"UserName": "u", "Tags": TAGS}, on(USER, "CreateUser", "TagUser", service="iam")),
    "CreateRole": (
        {"RoleName": "r", "Tags": TAGS, **TRUST},
        on(ROLE, "CreateRole", "TagRole", service="iam"),
    ),
    "CreatePolicy": (
        {"PolicyName": "p", "Tags": TAGS, "PolicyDocument": DOCUMENT},
        on(MANAGED, "CreatePolicy", "TagPolicy", service="iam"),
    ),
    "UpdateUser": (
        {"UserName": "u", "NewUserName": "w", "NewPath": "/x/"},
        on(USER, "UpdateUser", service="iam")
        | on(f"arn:aws:iam::{OURS}:user/x/w", "UpdateUser", service="iam"),
    ),
}
SESSIONS: dict[str, Row] = {
    "AssumeRole": ({"RoleArn": ROLE, "RoleSessionName": "session"}, set()),
    "GetAccessKeyInfo": ({"AccessKeyId": KEY_ID}, on("*", "GetAccessKeyInfo", service="sts")),
    "GetCallerIdentity": ({}, set()),
    "AssumeRoleWithWebIdentity": (
        {"RoleArn": ROLE, "RoleSessionName": "session", "WebIdentityToken": "token"},
        set(),
    ),
    "GetFederationToken": (
        {"Name": "bob"},
        on(f"arn:aws:sts::{OURS}:federated-user/bob", "GetFederationToken", service="sts"),
    ),
    "GetSessionToken": ({}, set()),
}
ROWS = {
    **{f"dynamodb:{name}": row for name, row in DYNAMODB.items()},
    **{f"cloudwatch:{name}": row for name, row in CLOUDWATCH.items()},
    **{f"application-autoscaling:{name}": row for name, row in AUTO_SCALING.items()},
    **{f"iam:{name}": row for name, row in IDENTITIES.items()},
    **{f"sts:{name}": row for name, row in SESSIONS.items()},
}
OPERATIONS = {
    operation.action: operation
    for service in (*(each for each in SERVICES if each is not KMS), IAM, STS)
    for operation in service.operations.values()
}


@pytest.fixture(scope="module")
def server() -> Guarded:
    server = Guarded()
    server.table()
    return server


def test_every_operation_declares_its_needs_and_is_tested() -> None:
    declared = {action for action in NEEDS if not action.startswith("kms:")}  # tests/kms/test_key_policies.py
    assert OPERATIONS.keys() == declared == ROWS.keys()


@pytest.mark.parametrize("action", sorted(ROWS))
def test_an_operation_asks_for_what_the_service_asks_for(server: Guarded, action: str) -> None:
    sent, expected = ROWS[action]
    request = OPERATIONS[action].shape.explain(dict(sent))
    needs = NEEDS[action](server.context, request)
    assert {(need.action, need.resource) for need in needs} == expected


@pytest.mark.parametrize("action", sorted(name for name, (_, needs) in ROWS.items() if needs))
def test_each_of_its_permissions_is_needed(server: Guarded, action: str) -> None:
    """Whoever has all of them but one is denied, and told which one."""
    sent, needs = ROWS[action]
    for missing, resource in needs:
        only_here = {} if resource == "*" else {"resource": resource}
        error = server.error(user(allow("*"), deny(missing, **only_here)), action, **sent)
        assert error is not None
        assert error.code == "AccessDeniedException"
        assert f"to perform: {missing}" in str(error.message)


def test_an_operation_that_declares_nothing_is_denied(
    server: Guarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(NEEDS, "dynamodb:ListTables")
    assert server.denies(server.principal, "ListTables")
