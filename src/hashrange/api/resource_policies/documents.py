"""The document of a resource policy: what it may say, and the form in which it is kept."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.permissions import public_access
from hashrange.api.tables.wording import invalid
from hashrange.auth import arns
from hashrange.auth.policy import json_reader
from hashrange.auth.policy.documents import (
    VERSION_OLD,
    Kind,
    MalformedPolicy,
    MalformedPrincipal,
    parse_new,
)
from hashrange.auth.policy.json_reader import NumberText
from hashrange.auth.policy.patterns import compiled
from hashrange.core.limits import RESOURCE_POLICY_BYTES_MAX

_POLICY = ("GetResourcePolicy", "PutResourcePolicy", "DeleteResourcePolicy")
_STREAM_ACTIONS = ("DescribeStream", "GetRecords", "GetShardIterator", *_POLICY)
_TABLE_ACTIONS = (
    *("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan", "ConditionCheckItem"),
    *("BatchGetItem", "BatchWriteItem"),
    *("PartiQLSelect", "PartiQLInsert", "PartiQLUpdate", "PartiQLDelete"),
    *("DescribeTable", "UpdateTable", "DeleteTable", "TagResource", "UntagResource", "ListTagsOfResource"),
    *("CreateBackup", "DescribeContinuousBackups", "UpdateContinuousBackups", "RestoreTableToPointInTime"),
    *("ExportTableToPointInTime", "DescribeTimeToLive", "UpdateTimeToLive"),
    *("EnableKinesisStreamingDestination", "DisableKinesisStreamingDestination"),
    *("DescribeKinesisStreamingDestination", "UpdateKinesisStreamingDestination"),
    *("DescribeContributorInsights", "UpdateContributorInsights"),
    *("DescribeTableReplicaAutoScaling", "UpdateTableReplicaAutoScaling"),
    *_POLICY,
)
_ORDER = (
    *("Sid", "Effect", "Principal", "NotPrincipal", "Action", "NotAction"),
    *("Resource", "NotResource", "Condition"),
)


class Document(msgspec.Struct, frozen=True):
    """A policy that may be stored."""

    text: str  # as the service shows it
    versioned: bool


def checked(context: Context, sent: str, *, stream: bool) -> Document:
    """The document of a request, for a table or for a stream."""
    if len(sent.encode("utf-8", "surrogatepass")) > RESOURCE_POLICY_BYTES_MAX:
        raise invalid(f"Maximum policy size of {RESOURCE_POLICY_BYTES_MAX} bytes exceeded")
    try:
        parse_new(sent, Kind.RESOURCE, name="ResourcePolicy")
    except MalformedPrincipal as malformed:
        raise _principal_refused(sent, malformed) from None
    except MalformedPolicy as malformed:
        raise _malformed(str(malformed)) from None
    content = json_reader.read(sent)
    statements = _listed(content["Statement"])
    _check_actions(statements, _STREAM_ACTIONS if stream else _TABLE_ACTIONS)
    _check_resources(statements, stream=stream)
    directory = context.directory
    if directory is not None and not all(map(directory.has_principal, _named(statements))):
        raise _invalid_principal()
    public_access.refuse(statements)
    text = _stored(content, statements)
    if directory is not None:
        text = _renamed(text, directory.unique_id)
    return Document(text, "Version" in content)


def shown(context: Context, text: str) -> str:
    """A stored document with ARNs in place of ids; whoever is gone is shown by the id, which is nobody's any more."""
    directory = context.directory
    return text if directory is None else _renamed(text, directory.arn_of_id)


def _renamed(text: str, rename: Callable[[str], str | None]) -> str:
    """The document with other names for some of its principals."""
    content = json.loads(text)
    for statement in content["Statement"]:
        for element in ("Principal", "NotPrincipal"):
            named = statement.get(element)
            if isinstance(named, dict) and "AWS" in named:
                names = (rename(name) or name for name in _listed(named["AWS"]))
                named["AWS"] = _single(list(dict.fromkeys(names)))
    return _dumped(content)


def same(text: str | None, document: Document, *, versioned: bool) -> bool:
    """Whether a document says what a stored one says; the order of its keys does not count."""
    if text is None or versioned is not document.versioned:
        return False
    return bool(json.loads(text) == json.loads(document.text))


def _malformed(reason: str) -> ApiError:
    return invalid(f"Invalid policy document: {reason}")


def _principal_refused(sent: str, _malformed_principal: MalformedPrincipal) -> ApiError:
    for statement in _listed(json_reader.read(sent)["Statement"]):
        bare = statement.get("Principal", statement.get("NotPrincipal"))
        if isinstance(bare, str) and bare != "*":
            # A bare text can only be the star; anything else is no JSON that a policy could have.
            return _malformed(f"Syntax error at position (1,{sent.find(json.dumps(bare)) + 1})")
    return _invalid_principal()


def _invalid_principal() -> ApiError:
    return invalid("Invalid principal in policy document.")


def _named(statements: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The ARNs that statements name as principals of AWS; an account's number stands for its root."""
    for statement in statements:
        for element in ("Principal", "NotPrincipal"):
            named = statement.get(element)
            if isinstance(named, dict):
                listed = _listed(named.get("AWS", []))
                yield from (arn for arn in _principal_arns(listed) if arn != "*")


def _check_actions(statements: Iterable[Mapping[str, Any]], allowed: Iterable[str]) -> None:
    known = [f"dynamodb:{name}".lower() for name in allowed]
    wrong = [
        action
        for statement in statements
        for action in _listed(statement.get("Action", statement.get("NotAction")))
        if not _means_one_of(action, known)
    ]
    if wrong:
        named = ", ".join(f'"{action}"' for action in dict.fromkeys(wrong))
        raise _malformed(f"The following action names are invalid: {named}")


def _means_one_of(action: str, known: Iterable[str]) -> bool:
    pattern = compiled(action.lower(), wildcards=True, variables=False)
    return any(pattern.matches(name, {}) for name in known)


def _check_resources(statements: Iterable[Mapping[str, Any]], *, stream: bool) -> None:
    for statement in statements:
        for resource in _listed(statement.get("Resource", statement.get("NotResource"))):
            parts = arns.parsed(resource)
            if parts is not None and ("/stream/" in parts.resource) is not stream:
                raise _malformed(f'The relative-id "{parts.resource}" is invalid for ARN "{resource}"')


def _stored(content: Mapping[str, Any], statements: Iterable[Mapping[str, Any]]) -> str:
    """The form in which the service gives a policy back: its own order, no white space, no lists of one."""
    stored: dict[str, Any] = {"Version": content.get("Version", VERSION_OLD)}
    if "Id" in content:
        stored["Id"] = content["Id"]
    stored["Statement"] = [_statement(statement) for statement in statements]
    return _dumped(stored)


def _dumped(content: Mapping[str, Any]) -> str:
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False)


def _statement(sent: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _element(name, sent[name]) for name in _ORDER if name in sent}


def _element(name: str, sent: Any) -> Any:
    match name:
        case "Effect":
            return sent.capitalize()
        case "Principal" | "NotPrincipal" if isinstance(sent, dict):
            return {kind: _principals(names) for kind, names in sent.items()}
        case "Condition":
            return {
                operator: {key: _single(values) for key, values in keys.items()}
                for operator, keys in sent.items()
            }
        case _:
            return _single(sent)


def _principals(sent: Any) -> Any:
    """Each once; an account's number stands for its root."""
    return _single(_principal_arns(_listed(sent)))


def _principal_arns(names: Iterable[str]) -> list[str]:
    roots = (arns.account_root(name) if name.isdecimal() else name for name in names)
    return list(dict.fromkeys(roots))


def _single(sent: Any) -> Any:
    if isinstance(sent, list):
        return _single(sent[0]) if len(sent) == 1 else [_single(each) for each in sent]
    return str(sent) if isinstance(sent, NumberText) else sent


def _listed(sent: Any) -> list[Any]:
    return sent if isinstance(sent, list) else [sent]
