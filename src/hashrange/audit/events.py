"""Events in CloudTrail's form, as far as a server of our own knows the fields."""

import time
from functools import lru_cache
from random import getrandbits
from typing import Any, NamedTuple

EVENT_VERSION = "1.11"
_API_VERSIONS = {"dynamodb": "2012-08-10"}
_SOURCES = {"cloudwatch": "monitoring"}  # where the name of a service differs from its prefix in policies
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/logging-using-cloudtrail.html
DATA_EVENTS = frozenset(
    {
        *(
            "GetItem",
            "PutItem",
            "UpdateItem",
            "DeleteItem",
            "Query",
            "Scan",
            "BatchGetItem",
            "BatchWriteItem",
        ),
        *("TransactGetItems", "TransactWriteItems"),
        *("ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction"),
        *("GetRecords", "GetShardIterator", "PutMetricData", "GetMetricData"),
    }
)
_OWN = "hashrange"  # the source of what AWS has no service for
_READING = ("Get", "List", "Describe", "Query", "Scan", "BatchGet", "TransactGet", "Simulate")
STATEMENTS = frozenset({"ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction"})
_MESSAGE_CHARS_MAX = 1024
_AGENT_CHARS_MAX = 1024


class Origin(NamedTuple):
    """Where a request came from."""

    address: str = ""
    user_agent: str = ""
    request_id: str = ""
    host: str = ""
    tls_version: str | None = None
    cipher: str | None = None
    referer: str = ""
    claimed_key: str = ""  # the access key id of a request that was refused before anybody knew whose it is


class Outcome(NamedTuple):
    """What became of a request; no code if it went well."""

    code: str | None = None
    message: str | None = None


class Action(NamedTuple):
    """What was asked for: the action as policies name it, such as dynamodb:PutItem, and where."""

    name: str
    account_id: str
    region: str

    @property
    def operation(self) -> str:
        """The operation's name."""
        return self.name.rpartition(":")[2]

    @property
    def is_data(self) -> bool:
        """Whether it is about items and not about tables and settings."""
        return self.operation in DATA_EVENTS


def is_reading(operation: str, statements: tuple[str, ...] = ()) -> bool:
    """Whether an operation changes nothing; of statements that is so if all of them select."""
    if operation in STATEMENTS:
        return bool(statements) and all(text.lstrip()[:6].upper() == "SELECT" for text in statements)
    return operation.startswith(_READING)


def event(
    action: Action,
    origin: Origin,
    outcome: Outcome,
    *,
    now: float,
    identity: dict[str, Any],
    parameters: dict[str, Any] | None,
    resources: list[str],
    read_only: bool,
    additional: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """One event; members that CloudTrail leaves out where there is nothing to say are left out."""
    prefix, operation, source, is_data = _named(action.name)
    shown: dict[str, Any] = {
        "eventVersion": EVENT_VERSION,
        "userIdentity": identity,
        "eventTime": _time(int(now)),
        "eventSource": source,
        "eventName": operation,
        "awsRegion": action.region,
        "sourceIPAddress": origin.address,
        "userAgent": origin.user_agent[:_AGENT_CHARS_MAX],
    }
    if outcome.code is not None:
        shown["errorCode"] = outcome.code
        if outcome.message:
            shown["errorMessage"] = outcome.message[:_MESSAGE_CHARS_MAX]
    shown["requestParameters"] = parameters
    shown["responseElements"] = None
    if additional is not None:
        shown["additionalEventData"] = additional
    shown |= {
        "requestID": origin.request_id,
        "eventID": _event_id(),
        "readOnly": read_only,
        "resources": [_resource(arn, action.account_id) for arn in resources],
        "eventType": "AwsApiCall",
        "managementEvent": not is_data,
        "recipientAccountId": action.account_id,
        "eventCategory": "Data" if is_data else "Management",
    }
    if prefix in _API_VERSIONS:
        shown["apiVersion"] = _API_VERSIONS[prefix]
    if origin.tls_version is not None:
        shown["tlsDetails"] = {
            "tlsVersion": origin.tls_version,
            "cipherSuite": origin.cipher,
            "clientProvidedHostHeader": origin.host,
        }
    return shown


def notice(name: str, now: float, **details: object) -> dict[str, Any]:
    """An event about the log itself."""
    return {
        "eventVersion": EVENT_VERSION,
        "eventTime": _time(int(now)),
        "eventSource": _OWN,
        "eventName": name,
        "eventType": "AuditLogNotice",
        "additionalEventData": details,
    }


@lru_cache(maxsize=512)  # of actions that there are; a request may name any other
def _named(action: str) -> tuple[str, str, str, bool]:
    """The service's prefix, the operation, the source, and whether it is a data event."""
    prefix, _, operation = action.rpartition(":")
    source = _OWN if prefix == _OWN else f"{_SOURCES.get(prefix, prefix)}.amazonaws.com"
    return prefix, operation, source, operation in DATA_EVENTS


@lru_cache(maxsize=8)
def _time(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _event_id() -> str:
    """A random UUID; nobody has to be kept from guessing it, and so it costs a fraction of uuid4's."""
    text = f"{getrandbits(128):032x}"
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"


def _resource(arn: str, account_id: str) -> dict[str, str]:
    kind = "AWS::DynamoDB::Stream" if "/stream/" in arn else "AWS::DynamoDB::Table"
    return {"accountId": account_id, "type": kind, "ARN": arn}
