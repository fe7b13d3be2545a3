"""Policies of ten statements, as an application's user has them: what signature and permissions are measured with."""

import json
from typing import Any

_ACCOUNT = "arn:aws:dynamodb:*:*:"
_TABLES = _ACCOUNT + "table/"
_READS = ["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"]
_TABLE_UPDATES = ["dynamodb:UpdateTable", "dynamodb:UpdateContinuousBackups"]
_WRITES = ["dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:BatchWriteItem"]
_ITEMS = [*_READS, *_WRITES]

_Statement = dict[str, Any]

_HEAD: list[_Statement] = [
    {"Sid": "Names", "Effect": "Allow", "Action": ["dynamodb:ListTables"], "Resource": "*"},
    {"Sid": "Shapes", "Effect": "Allow", "Action": ["dynamodb:Describe*"], "Resource": _TABLES + "*"},
    {
        "Sid": "NoDropping",
        "Effect": "Deny",
        "Action": ["dynamodb:DeleteTable", "dynamodb:DeleteBackup"],
        "Resource": "*",
    },
    {
        "Sid": "MakingTables",
        "Effect": "Allow",
        "Action": ["dynamodb:CreateTable", "dynamodb:TagResource", *_TABLE_UPDATES],
        "Resource": _TABLES + "*",
        "Condition": {"StringEquals": {"aws:RequestedRegion": ["us-east-1", "eu-central-1"]}},
    },
    {
        "Sid": "Reports",
        "Effect": "Allow",
        "Action": _READS,
        "Resource": [_TABLES + "reports", _TABLES + "reports/index/*"],
        "Condition": {"StringEqualsIfExists": {"dynamodb:Select": "SPECIFIC_ATTRIBUTES"}},
    },
    {
        "Sid": "NoScansOfLogs",
        "Effect": "Deny",
        "Action": ["dynamodb:Scan", "dynamodb:PartiQLSelect"],
        "Resource": _TABLES + "logs-*",
    },
    {
        "Sid": "NightJobs",
        "Effect": "Allow",
        "Action": ["dynamodb:CreateBackup", "dynamodb:ExportTableToPointInTime"],
        "Resource": _TABLES + "*",
        "Condition": {"IpAddress": {"aws:SourceIp": ["10.0.0.0/8", "192.0.2.0/24"]}},
    },
    {
        "Sid": "Streams",
        "Effect": "Allow",
        "Action": ["dynamodb:GetRecords"],
        "Resource": _TABLES + "*/stream/*",
    },
]
_PLAIN: _Statement = {
    "Sid": "NoOthersTables",
    "Effect": "Deny",
    "Action": "dynamodb:*",
    "Resource": _TABLES + "payroll*",
}
_FROM_HERE: _Statement = {
    "Sid": "FromHereOnly",
    "Effect": "Deny",
    "Action": "dynamodb:*",
    "Resource": "*",
    "Condition": {
        "NotIpAddress": {"aws:SourceIp": ["10.0.0.0/8", "127.0.0.0/8", "::1/128"]},
        "StringNotEquals": {"aws:RequestedRegion": "us-east-1"},
    },
}
_DECIDING: _Statement = {"Sid": "Items", "Effect": "Allow", "Action": _ITEMS, "Resource": _TABLES + "*"}
# Keys of the benchmarks begin with the name of what they are about, which is here the name of the user.
_OWN_ITEMS: _Statement = {
    **_DECIDING,
    "Sid": "OwnItems",
    "Condition": {
        "ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["${aws:username}-*", "customer-*"]},
    },
}


def _document(*last: _Statement) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [*_HEAD, *last]})


USER = "person"
TEN = _document(_PLAIN, _DECIDING)  # no condition is about the requests of the benchmark
CONDITIONS = _document(
    _FROM_HERE, _DECIDING
)  # every request is looked at: where it comes from, and for which region
TENANT = _document(_PLAIN, _OWN_ITEMS)  # every request is looked at: whose items it is about
