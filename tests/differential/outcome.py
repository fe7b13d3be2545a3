"""What a server answered, in a form that can be compared: order taken out where the service promises none."""

import http.client
import json
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from serving import AUTHORIZATION

_UNORDERED = frozenset({"SS", "NS", "BS"})
_PAGED = frozenset({"Query", "Scan"})
_SORTED_BY = {"": "sk", "by-n": "n", "by-g": "n"}
_PAGES_MAX = 100
# The service's newer request-validation layer puts this before messages that DynamoDB Local gives bare.
_NEWER_LAYER = "1 validation error detected: "


@dataclass(frozen=True)
class Outcome:
    """Status, error code and message, or the body."""

    status: int
    code: str
    message: str
    body: Any

    @property
    def headline(self) -> str:
        """The outcome in a line without the request's own values, so that like goes with like."""
        if self.status == 200:
            return "200"
        reasons = ""
        if self.code == "TransactionCanceledException":
            reasons = " | ".join(
                sorted(
                    {f"{reason['Code']}: {_template(reason.get('Message') or '')}" for reason in self.body}
                )
            )
            return f"{self.code} [{reasons}]"
        return f"{self.status} {self.code}: {_template(self.message)}"


_VARIABLE = [
    (re.compile(r'near: "(?:[^"\\]|\\.)*"'), "near: …"),
    (re.compile(r'token: "(?:[^"\\]|\\.)*"'), "token: …"),
    (re.compile(r"token: <\w+>"), "token: …"),
    (re.compile(r"AttributeValue: \{.*?\}(?=,|$)"), "AttributeValue: …"),
    (re.compile(r"\[[^\]]*\](?:\])?"), "[…]"),
    (re.compile(r"key ?:v\d+"), "key …"),
    (
        re.compile(r"(attribute value|attribute name|value used in expression|name|keyword|key): \S+"),
        r"\1: …",
    ),
    (re.compile(r"[:#]\w+"), "…"),
    (re.compile(r"'[^']*'"), "'…'"),
    (re.compile(r"\{[^}]*\}+"), "{…}"),
]


def _template(message: str) -> str:
    for pattern, replacement in _VARIABLE:
        message = pattern.sub(replacement, message)
    return message[:300]


class Peer:
    """One of the two servers."""

    def __init__(self, port: int, *, numbers_as_sent: bool = False) -> None:
        """DynamoDB Local leaves some numbers as they were sent; then their value is compared, not their form."""
        self._plain = numbers_as_sent
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def ask(self, operation: str, request: dict[str, Any]) -> Outcome:
        """Send a request; a paged read is followed to its end, so that both peers have shown everything."""
        first = self._send(operation, request)
        if operation not in _PAGED or first.status != 200:
            return first
        merged = dict(first.body)
        pages = [first.body]
        while "LastEvaluatedKey" in pages[-1] and len(pages) < _PAGES_MAX:
            start = {"ExclusiveStartKey": pages[-1]["LastEvaluatedKey"]}
            following = self._send(operation, request | start)
            if following.status != 200:
                return following
            pages.append(following.body)
        if len(pages) > 1 or "Limit" in request:
            # Pages differ in their cut, and in what an empty last page costs; what is in them does not.
            merged = {
                "Count": sum(page["Count"] for page in pages),
                "ScannedCount": sum(page["ScannedCount"] for page in pages),
                "Items": [item for page in pages for item in page.get("Items", [])],
            }
        sorted_by = _SORTED_BY.get(request.get("IndexName", ""))
        return Outcome(200, "", "", self._comparable(operation, merged, sorted_by))

    def _send(self, operation: str, request: dict[str, Any]) -> Outcome:
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"DynamoDB_20120810.{operation}",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": AUTHORIZATION,
        }
        self._connection.request("POST", "/", json.dumps(request), headers)
        response = self._connection.getresponse()
        body = json.loads(response.read())
        if response.status == 200:
            paged = operation in _PAGED
            return Outcome(200, "", "", body if paged else self._comparable(operation, body))
        code = str(body.get("__type", "")).rpartition("#")[2]
        message = str(body.get("message") or body.get("Message") or "").removeprefix(_NEWER_LAYER)
        return Outcome(response.status, code, message, self._canonical(body.get("CancellationReasons", [])))

    def _comparable(self, operation: str, body: dict[str, Any], sorted_by: str | None = None) -> Any:
        found = self._canonical(body)
        if isinstance(found.get("ConsumedCapacity"), list):
            found["ConsumedCapacity"].sort(key=lambda part: part["TableName"])
        if operation in _PAGED:
            if operation == "Query":
                found["Order"] = [item.get(sorted_by) for item in found.get("Items", [])]
            # Scans have an order of the server's own, and so have index rows of equal keys.
            found["Items"] = sorted(found.get("Items", []), key=repr)
        if operation == "BatchGetItem":
            found["Responses"] = {table: sorted(rows, key=repr) for table, rows in found["Responses"].items()}
        return found

    def _canonical(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self._canonical(each) for each in node]
        if isinstance(node, dict):
            return {name: self._member(name, value) for name, value in sorted(node.items())}
        return node

    def _member(self, name: str, value: Any) -> Any:
        if name in _UNORDERED and isinstance(value, list):
            return sorted(value)
        if name == "N" and self._plain:
            return _plain(value)
        return self._canonical(value)


def _plain(number: str) -> str:
    text = format(Decimal(number), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
