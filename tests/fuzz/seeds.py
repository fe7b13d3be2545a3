"""Well-formed requests to start from: every operation, every parameter that carries a language of its own."""

from typing import Any

TABLE = "fuzz"
BARE = "fuzz-bare"
SPARE = "fuzz-spare"
CANARY = "canary"  # never named by a fuzzed request

Request = dict[str, Any]

_KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}
ITEM = {
    **_KEY,
    "rank": {"N": "7"},
    "group": {"S": "red"},
    "text": {"S": "some text"},
    "blob": {"B": "AAEC"},
    "yes": {"BOOL": True},
    "none": {"NULL": True},
    "texts": {"SS": ["a", "b"]},
    "numbers": {"NS": ["1", "2.5"]},
    "blobs": {"BS": ["AA==", "AQ=="]},
    "list": {"L": [{"S": "x"}, {"M": {"deep": {"L": [{"N": "-10000000000"}]}}}]},
    "map": {"M": {"a": {"S": "b"}, "count": {"N": "0"}}},
}
_NAMES = {"#a": "text", "#m": "map"}
_VALUES = {":s": {"S": "x"}, ":n": {"N": "1"}, ":l": {"L": [{"N": "1"}]}, ":ss": {"SS": ["a"]}}
_CONDITION = "attribute_exists(#a) AND (#m.count < :n OR NOT begins_with(text, :s)) AND size(list) > :n"
_UPDATE = (
    "SET #m.count = if_not_exists(#m.count, :n) + :n, list = list_append(list, :l) REMOVE #a ADD texts :ss"
)


def _schema(*names: str) -> list[dict[str, str]]:
    kinds = ("HASH", "RANGE")
    return [{"AttributeName": name, "KeyType": kind} for name, kind in zip(names, kinds, strict=False)]


def table(name: str, *, indexes: bool = True) -> Request:
    """The definition of a table to be fuzzed."""
    attributes = {"pk": "S", "sk": "N", **({"rank": "N", "group": "S"} if indexes else {})}
    definition: Request = {
        "TableName": name,
        "KeySchema": _schema("pk", "sk"),
        "AttributeDefinitions": [
            {"AttributeName": attribute, "AttributeType": kind} for attribute, kind in attributes.items()
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }
    if indexes:
        definition["LocalSecondaryIndexes"] = [
            {
                "IndexName": "by-rank",
                "KeySchema": _schema("pk", "rank"),
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["text"]},
            }
        ]
        definition["GlobalSecondaryIndexes"] = [
            {
                "IndexName": "by-group",
                "KeySchema": _schema("group", "rank"),
                "Projection": {"ProjectionType": "ALL"},
            }
        ]
    else:
        definition["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    return definition


def _arn(rest: str) -> str:
    return f"arn:aws:dynamodb:us-east-1:000000000000:table/{rest}"


_EXPRESSIVE = {"ExpressionAttributeNames": _NAMES, "ExpressionAttributeValues": _VALUES}
_UPDATING = {
    "TableName": TABLE,
    "Key": _KEY,
    "UpdateExpression": _UPDATE,
    "ConditionExpression": "#a = :s",
    **_EXPRESSIVE,
}
_CHECKED = {"TableName": TABLE, "Key": _KEY, "ConditionExpression": _CONDITION, **_EXPRESSIVE}
_LEGACY = {"text": {"AttributeValueList": [{"S": "a"}], "ComparisonOperator": "BEGINS_WITH"}}
_STATEMENT = (
    f"SELECT text, map.a, list[0] FROM {TABLE} WHERE pk = 'a' AND sk BETWEEN 0 AND ? AND size(text) > 1"
)

# Of tables, streams and backups that are not there, so that the good ones among them start no work and keep nothing.
_NONE = "fuzz-none"
_STREAM = _arn(f"{_NONE}/stream/2026-01-01T00:00:00.000")
_BACKUP = _arn(f"{_NONE}/backup/01489602797149-73d8d5bc")
_SHARD = "shardId-00000001414576573621-f55eea83"
_PLACE = {"S3Bucket": "fuzz-bucket", "S3BucketOwner": "000000000000"}
_IMPORTED = {**table(TABLE), "SSESpecification": {"Enabled": False}}  # its name is taken
_RESTORED = {
    "TargetTableName": SPARE,
    "BillingModeOverride": "PAY_PER_REQUEST",
    "GlobalSecondaryIndexOverride": _IMPORTED["GlobalSecondaryIndexes"],
    "LocalSecondaryIndexOverride": [],
    "OnDemandThroughputOverride": {"MaxReadRequestUnits": 5, "MaxWriteRequestUnits": 5},
}
_SERVICES: list[tuple[str, Request]] = [
    ("TagResource", {"ResourceArn": _arn(BARE), "Tags": [{"Key": "k", "Value": "v"}]}),
    ("UntagResource", {"ResourceArn": _arn(BARE), "TagKeys": ["k"]}),
    ("ListTagsOfResource", {"ResourceArn": _arn(BARE), "NextToken": "t"}),
    ("ListStreams", {"TableName": BARE, "Limit": 5, "ExclusiveStartStreamArn": _STREAM}),
    ("DescribeStream", {"StreamArn": _STREAM, "Limit": 5, "ExclusiveStartShardId": _SHARD}),
    (
        "GetShardIterator",
        {"StreamArn": _STREAM, "ShardId": _SHARD, "ShardIteratorType": "AT_SEQUENCE_NUMBER"}
        | {"SequenceNumber": "100000000003498069978"},
    ),
    ("GetRecords", {"ShardIterator": f"{_STREAM}|1|AAAAAAAA", "Limit": 5}),
    ("CreateBackup", {"TableName": _NONE, "BackupName": "backup"}),
    ("DescribeBackup", {"BackupArn": _BACKUP}),
    ("DeleteBackup", {"BackupArn": _BACKUP}),
    (
        "ListBackups",
        {"TableName": TABLE, "BackupType": "USER", "TimeRangeLowerBound": 1, "TimeRangeUpperBound": 2}
        | {"Limit": 5, "ExclusiveStartBackupArn": _BACKUP},
    ),
    ("DescribeContinuousBackups", {"TableName": TABLE}),
    (
        "UpdateContinuousBackups",
        {"TableName": _NONE}
        | {
            "PointInTimeRecoverySpecification": {
                "PointInTimeRecoveryEnabled": True,
                "RecoveryPeriodInDays": 7,
            }
        },
    ),
    ("RestoreTableFromBackup", {**_RESTORED, "BackupArn": _BACKUP}),
    (
        "RestoreTableToPointInTime",
        {**_RESTORED, "SourceTableName": _NONE, "UseLatestRestorableTime": True, "RestoreDateTime": 1.5},
    ),
    (
        "ExportTableToPointInTime",
        {**_PLACE, "TableArn": _arn(TABLE), "ExportTime": 1_700_000_000, "S3Prefix": "p", "ClientToken": "t"}
        | {"ExportFormat": "ION", "ExportType": "INCREMENTAL_EXPORT"}
        | {"IncrementalExportSpecification": {"ExportFromTime": 1, "ExportToTime": 2}},
    ),
    ("DescribeExport", {"ExportArn": _arn(f"{TABLE}/export/01234567890123-a1b2c3d4")}),
    ("ListExports", {"TableArn": _arn(TABLE), "MaxResults": 5, "NextToken": "t"}),
    (
        "ImportTable",
        {"S3BucketSource": {**_PLACE, "S3KeyPrefix": "p"}, "InputFormat": "CSV", "ClientToken": "t"}
        | {"InputFormatOptions": {"Csv": {"Delimiter": ";", "HeaderList": ["pk", "sk"]}}}
        | {"InputCompressionType": "GZIP", "TableCreationParameters": _IMPORTED},
    ),
    ("DescribeImport", {"ImportArn": _arn(f"{TABLE}/import/01234567890123-a1b2c3d4")}),
    ("ListImports", {"TableArn": _arn(TABLE), "PageSize": 5, "NextToken": "0" * 112}),
    (
        "StartBulkPutItems",
        {"TableName": _NONE, "ClientToken": "t", "MaxWriteRequestUnits": 5}
        | {"InputS3Configuration": {"S3BucketSource": _PLACE, "InputFormat": "DYNAMODB_JSON"}}
        | {"OutputS3Configuration": _PLACE},
    ),
    ("DescribeBulkOperation", {"BulkOperationArn": _arn(f"{TABLE}/bulk/01234567890123-a1b2c3d4")}),
    ("CancelBulkOperation", {"BulkOperationArn": _arn(f"{TABLE}/bulk/01234567890123-a1b2c3d4")}),
    ("ListBulkOperations", {"TableName": TABLE, "MaxResults": 5}),
]

SEEDS: list[tuple[str, Request]] = [
    *_SERVICES,
    ("PutItem", {"TableName": TABLE, "Item": ITEM, "ReturnValues": "ALL_OLD"}),
    ("PutItem", {"TableName": TABLE, "Item": ITEM, "ConditionExpression": _CONDITION, **_EXPRESSIVE}),
    ("PutItem", {"TableName": BARE, "Item": _KEY, "Expected": {"text": {"Exists": False}}}),
    ("PutItem", {"TableName": BARE, "Item": ITEM, "Expected": _LEGACY, "ConditionalOperator": "OR"}),
    ("GetItem", {"TableName": TABLE, "Key": _KEY, "ConsistentRead": True, "AttributesToGet": ["text"]}),
    (
        "GetItem",
        {"TableName": TABLE, "Key": _KEY, "ProjectionExpression": "#a, #m.a, list[1].deep[0]"}
        | {"ExpressionAttributeNames": _NAMES, "ReturnConsumedCapacity": "INDEXES"},
    ),
    ("DeleteItem", {**_CHECKED, "ReturnValues": "ALL_OLD", "ReturnItemCollectionMetrics": "SIZE"}),
    ("DeleteItem", {"TableName": TABLE, "Key": _KEY, "Expected": {"sk": {"Value": {"N": "1"}}}}),
    ("UpdateItem", {**_UPDATING, "ReturnValues": "UPDATED_NEW"}),
    (
        "UpdateItem",
        {
            "TableName": TABLE,
            "Key": _KEY,
            "AttributeUpdates": {
                "rank": {"Action": "ADD", "Value": {"N": "1"}},
                "text": {"Action": "PUT", "Value": {"S": "new"}},
                "texts": {"Action": "DELETE", "Value": {"SS": ["a"]}},
            },
        },
    ),
    (
        "Query",
        {
            "TableName": TABLE,
            "IndexName": "by-group",
            "KeyConditionExpression": "#g = :g AND #r BETWEEN :low AND :high",
            "FilterExpression": "contains(text, :s) OR map.count IN (:low, :high)",
            "ExpressionAttributeNames": {"#g": "group", "#r": "rank"},
            "ExpressionAttributeValues": {
                ":g": {"S": "red"},
                ":low": {"N": "0"},
                ":high": {"N": "9"},
                ":s": {"S": "t"},
            },
            "ScanIndexForward": False,
            "Limit": 5,
        },
    ),
    (
        "Query",
        {
            "TableName": TABLE,
            "KeyConditions": {
                "pk": {"AttributeValueList": [{"S": "a"}], "ComparisonOperator": "EQ"},
                "sk": {"AttributeValueList": [{"N": "0"}, {"N": "5"}], "ComparisonOperator": "BETWEEN"},
            },
            "QueryFilter": _LEGACY,
            "ExclusiveStartKey": _KEY,
            "Select": "ALL_ATTRIBUTES",
        },
    ),
    ("Scan", {"TableName": TABLE, "Segment": 1, "TotalSegments": 4, "ScanFilter": _LEGACY, "Limit": 3}),
    (
        "Scan",
        {"TableName": TABLE, "IndexName": "by-rank", "FilterExpression": "attribute_type(#a, :s)"}
        | {"ExpressionAttributeNames": {"#a": "text"}, "ExpressionAttributeValues": {":s": {"S": "SS"}}}
        | {"ExclusiveStartKey": {**_KEY, "rank": {"N": "1"}}},
    ),
    (
        "BatchGetItem",
        {
            "RequestItems": {
                TABLE: {
                    "Keys": [_KEY],
                    "ProjectionExpression": "#a",
                    "ExpressionAttributeNames": {"#a": "text"},
                },
                BARE: {"Keys": [_KEY, {"pk": {"S": "b"}, "sk": {"N": "2"}}], "ConsistentRead": True},
            },
            "ReturnConsumedCapacity": "TOTAL",
        },
    ),
    (
        "BatchWriteItem",
        {
            "RequestItems": {
                TABLE: [{"PutRequest": {"Item": ITEM}}],
                BARE: [{"DeleteRequest": {"Key": _KEY}}],
            }
        },
    ),
    (
        "TransactGetItems",
        {"TransactItems": [{"Get": {"TableName": TABLE, "Key": _KEY, "ProjectionExpression": "text"}}]},
    ),
    (
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {"TableName": BARE, "Item": ITEM}},
                {"Update": _UPDATING},
                {"Delete": {"TableName": BARE, "Key": {"pk": {"S": "b"}, "sk": {"N": "2"}}}},
                {"ConditionCheck": {**_CHECKED, "Key": {"pk": {"S": "c"}, "sk": {"N": "3"}}}},
            ],
            "ClientRequestToken": "token",
        },
    ),
    ("CreateTable", table(SPARE)),
    ("CreateTable", {**table(SPARE), "BillingMode": "PROVISIONED"}),
    ("UpdateTable", {"TableName": SPARE, "DeletionProtectionEnabled": False}),
    (
        "UpdateTable",
        {
            "TableName": SPARE,
            "AttributeDefinitions": [{"AttributeName": "text", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [
                {
                    "Create": {
                        "IndexName": "by-text",
                        "KeySchema": _schema("text"),
                        "Projection": {"ProjectionType": "KEYS_ONLY"},
                    }
                }
            ],
        },
    ),
    ("DeleteTable", {"TableName": SPARE}),
    ("DescribeTable", {"TableName": TABLE}),
    ("ListTables", {"Limit": 5, "ExclusiveStartTableName": "a"}),
    (
        "UpdateTimeToLive",
        {"TableName": BARE, "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "t"}},
    ),
    ("ExecuteStatement", {"Statement": _STATEMENT, "Parameters": [{"N": "5"}], "Limit": 2}),
    (
        "ExecuteStatement",
        {"Statement": f"INSERT INTO {BARE} VALUE {{'pk': 'a', 'sk': 1, 'l': [1, {{'x': ?}}]}}"},
    ),
    (
        "ExecuteStatement",
        {
            "Statement": f"UPDATE {BARE} SET a = list_append(a, ?) WHERE pk = 'a' AND sk = 1 RETURNING ALL NEW *"
        }
        | {"Parameters": [{"L": [{"N": "1"}]}]},
    ),
    *(
        ("ExecuteStatement", {"Statement": statement})
        for statement in (
            f"SELECT * FROM {TABLE} WHERE pk IN ['a', 'b'] AND sk > 0 ORDER BY pk DESC, sk ASC",
            f'SELECT pk, texts FROM "{TABLE}"."by-group" WHERE "group" = \'red\' AND rank >= -1e3',
            f"SELECT * FROM {TABLE} WHERE contains(text, 'o') OR NOT attribute_type(map, 'M') OR none IS NULL",
            f"SELECT * FROM {TABLE} WHERE pk = 'a' AND begins_with(text, 's') AND missing IS MISSING",
            f"INSERT INTO {BARE} VALUE {{'pk': 'q''s', 'sk': 2, 's': <<'a'>>, 'n': <<1, 2>>, 'm': {{'x': [true]}}}}",
            f"UPDATE {BARE} SET n = n + 1 SET s = set_add(s, <<'c'>>) REMOVE m.x[0] WHERE pk = 'a' AND sk = 1",
            f"UPDATE {BARE} SET m = {{'a': [1, 2, {{}}]}} WHERE pk = 'a' AND sk = 1 RETURNING MODIFIED NEW *",
            f"DELETE FROM {BARE} WHERE pk = 'a' AND sk = 1 AND size(s) < 9 RETURNING ALL OLD *",
            f"SELECT * FROM {TABLE} -- comment\n WHERE /* more */ sk BETWEEN 0 AND 5;",
        )
    ),
    (
        "BatchExecuteStatement",
        {"Statements": [{"Statement": f"SELECT * FROM {BARE} WHERE pk = 'a' AND sk = 1"}]},
    ),
    (
        "ExecuteTransaction",
        {"TransactStatements": [{"Statement": f"DELETE FROM {BARE} WHERE pk = 'a' AND sk = ?"}]}
        | {"ClientRequestToken": "statements"},
    ),
]
