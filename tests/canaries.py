"""Marked values in every type of attribute, written through everything that keeps a copy of items."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any
from uuid import uuid4

from botocore.exceptions import ClientError

from item_tables import index, wait_until_active
from transfers import until

MARK = uuid4().hex
TEXT = f"canary-{MARK}"
BINARY = b"\x00\xffcanary" + MARK.encode()
NUMBER = "98" + str(int(MARK[:28], 16))[:30]
_GZIP = b"\x1f\x8b"
KEY = f"key-{uuid4().hex}"  # which is to be found where keys must sort, and nowhere else


def values() -> dict[str, Any]:
    """An attribute of every type."""
    return {
        "s": {"S": TEXT},
        "n": {"N": NUMBER},
        "b": {"B": BINARY},
        "ss": {"SS": [TEXT, "other"]},
        "ns": {"NS": [NUMBER, "1"]},
        "bs": {"BS": [BINARY, b"other"]},
        "l": {"L": [{"S": TEXT}, {"BOOL": True}, {"NULL": True}]},
        "m": {"M": {"inner": {"M": {"deep": {"S": TEXT}}}, "binary": {"B": BINARY}}},
    }


def marks() -> list[bytes]:
    """How a marked value may be written, in whatever format."""
    encoded = base64.b64encode(BINARY)[4:-4]
    return [MARK.encode(), NUMBER.encode(), BINARY[3:], encoded, MARK.encode().hex().encode()]


def leaks(*folders: Path) -> list[str]:
    """The files that have a marked value in them."""
    return [
        f"{path}: {mark!r}"
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file()
        for content in [unpacked(path)]
        for mark in marks()
        if mark in content
    ]


def unpacked(path: Path) -> bytes:
    """What is in a file, and what it unpacks to, if it is one of gzip."""
    content = path.read_bytes()
    return content + gzip.decompress(content) if content.startswith(_GZIP) else content


def item(number: int, **more: Any) -> dict[str, Any]:
    """An item whose values are marked, and whose key is too."""
    return {"pk": {"S": f"{KEY}-{number}"}, "sk": {"S": "sort"}, "g": {"S": "all"}, **values(), **more}


def make_table(client: Any, name: str) -> None:
    """A table that keeps everything: indexes of both kinds, a stream, its past, its expiry, its hot keys."""
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": attribute, "AttributeType": "S"} for attribute in ("pk", "sk", "g")
        ],
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        GlobalSecondaryIndexes=[index("by-g", "g")],
        LocalSecondaryIndexes=[index("local", "pk", "g")],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )
    wait_until_active(client, name)
    client.update_continuous_backups(
        TableName=name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    client.update_time_to_live(
        TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"}
    )
    client.update_contributor_insights(TableName=name, ContributorInsightsAction="ENABLE")


def write_items(client: Any, name: str) -> None:
    """Put, update, delete, expire, transact, and be refused."""
    for number in range(12):
        client.put_item(TableName=name, Item=item(number))
    client.put_item(TableName=name, Item=item(100, expires={"N": "1000000000"}))
    key = {"pk": item(1)["pk"], "sk": item(1)["sk"]}
    update = {"UpdateExpression": "SET u = :u", "ExpressionAttributeValues": {":u": {"S": f"{TEXT}-new"}}}
    client.update_item(TableName=name, Key=key, **update)
    client.delete_item(TableName=name, Key={"pk": item(2)["pk"], "sk": item(2)["sk"]}, ReturnValues="ALL_OLD")
    put = {"Put": {"TableName": name, "Item": item(13)}}
    client.transact_write_items(TransactItems=[put], ClientRequestToken=uuid4().hex)
    statement = f"UPDATE \"{name}\" SET p='{TEXT}' WHERE pk='{KEY}-3' AND sk='sort'"
    client.execute_statement(Statement=statement)
    _be_refused(client, name, key)


def _be_refused(client: Any, name: str, key: dict[str, Any]) -> None:
    wrong = {":u": {"S": TEXT}, ":unused": {"S": TEXT}}
    refused: list[dict[str, Any]] = [
        {"UpdateExpression": "SET u = :u", "ExpressionAttributeValues": wrong},
        {"UpdateExpression": "SET n = n + :u", "ExpressionAttributeValues": {":u": {"S": TEXT}}},
        {"UpdateExpression": "SET u +", "ExpressionAttributeValues": wrong},
        {
            "UpdateExpression": "SET u = :u",
            "ConditionExpression": "s <> s",
            "ExpressionAttributeValues": {":u": {"S": TEXT}},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
    ]
    for request in refused:
        try:
            client.update_item(TableName=name, Key=key, **request)
        except ClientError:
            continue
        raise AssertionError(request)


def run_jobs(client: Any, name: str, bucket: Path) -> None:
    """Back up, restore both ways, export, and import what is partly refused."""
    made = client.create_backup(TableName=name, BackupName="name")["BackupDetails"]["BackupArn"]
    until(lambda: _backup_status(client, made) == "AVAILABLE")
    client.restore_table_from_backup(TargetTableName=f"{name}-restored", BackupArn=made)
    client.restore_table_to_point_in_time(
        SourceTableName=name, TargetTableName=f"{name}-past", UseLatestRestorableTime=True
    )
    arn = client.describe_table(TableName=name)["Table"]["TableArn"]
    export = client.export_table_to_point_in_time(TableArn=arn, S3Bucket=bucket.name)["ExportDescription"]
    (bucket / "in").mkdir(parents=True)
    lines = [{"Item": {"pk": {"S": f"{KEY}-i"}, "s": {"S": TEXT}}}, {"Item": {"s": {"S": TEXT}}}]
    (bucket / "in" / "lines.json").write_text("\n".join(json.dumps(line) for line in lines))
    started = client.import_table(
        S3BucketSource={"S3Bucket": bucket.name, "S3KeyPrefix": "in"},
        InputFormat="DYNAMODB_JSON",
        TableCreationParameters={
            "TableName": f"{name}-imported",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "BillingMode": "PAY_PER_REQUEST",
        },
    )["ImportTableDescription"]
    for suffix in ("restored", "past"):
        wait_until_active(client, f"{name}-{suffix}")
    until(lambda: _export_status(client, export["ExportArn"]) == "COMPLETED")
    until(lambda: _import_status(client, started["ImportArn"]) != "IN_PROGRESS")


def _backup_status(client: Any, arn: str) -> str:
    shown = client.describe_backup(BackupArn=arn)["BackupDescription"]["BackupDetails"]
    return str(shown["BackupStatus"])


def _export_status(client: Any, arn: str) -> str:
    return str(client.describe_export(ExportArn=arn)["ExportDescription"]["ExportStatus"])


def _import_status(client: Any, arn: str) -> str:
    return str(client.describe_import(ImportArn=arn)["ImportTableDescription"]["ImportStatus"])
