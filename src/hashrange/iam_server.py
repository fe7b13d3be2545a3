"""Operations of IAM on a running server: forms that are signed with the environment's key, and answers in XML."""

import http.client
import json
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode
from xml.etree import ElementTree as ET

from hashrange import admin
from hashrange.admin import AdminFailed, Message
from hashrange.api.errors import ApiError
from hashrange.api.protocol.kinds import Flag, Kind, ListOf, MapOf, Member, Struct, Whole
from hashrange.api.protocol.operation import Service
from hashrange.api.protocol.shapes import members_of
from hashrange.iam_operations import Content
from hashrange.services.iam.registry import IAM
from hashrange.services.sts.registry import STS


class IamServer:
    """The identities of the account whose key signs."""

    def __init__(self, endpoint: str, region: str) -> None:
        self._endpoint = endpoint
        self._region = region

    def close(self) -> None:
        """Nothing is kept open."""

    def ask(self, name: str, request: Content) -> Content:
        """Carry out an operation; raises the errors that the server tells."""
        return self._asked(IAM, name, request)

    def account_id(self) -> str:
        """The account of whoever signs."""
        return str(self._asked(STS, "GetCallerIdentity", {})["Account"])

    def bootstrap(self) -> Content:
        """Refused: whoever can sign has a key already."""
        raise AdminFailed(
            "bootstrap is for data that nobody has a key for yet: stop the server, and name the data with --data-dir"
        )

    def resource_policy(self, arn: str, region: str) -> str | None:
        """The policy of a table or stream; None if there is none, or nobody may tell."""
        headers = {
            "X-Amz-Target": "DynamoDB_20120810.GetResourcePolicy",
            "Content-Type": "application/x-amz-json-1.0",
        }
        body = json.dumps({"ResourceArn": arn})
        reply = admin.sent(self._endpoint, Message("POST", "/", body, "dynamodb", headers, region))
        try:
            content = json.loads(reply.text)
        except ValueError:
            raise AdminFailed(f"{self._endpoint} answered {reply.status}") from None
        if reply.status == http.client.OK:
            return str(content["Policy"])
        code = str(content.get("__type", "")).rpartition("#")[2]
        if code in {"PolicyNotFoundException", "ResourceNotFoundException"}:
            return None
        raise ApiError(code, content.get("message") or content.get("Message") or code)

    def _asked(self, service: Service, name: str, request: Content) -> Content:
        query = service.query
        if query is None:
            raise TypeError(service.name)
        form = {"Action": name, "Version": query.version, **dict(_fields(request))}
        headers = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
        message = Message(
            "POST", "/", urlencode(form, quote_via=quote), service.signing_name, headers, self._region
        )
        reply = admin.sent(self._endpoint, message)
        root = _read(self._endpoint, reply.status, reply.text)
        if reply.status != http.client.OK:
            code = root.findtext("./Error/Code") or str(reply.status)
            raise ApiError(code, root.findtext("./Error/Message") or code)
        module = sys.modules[service.operations[name].handler.__module__]
        output = getattr(module, f"{name}Output", None)
        result = root.find(f"./{name}Result")
        return {} if output is None or result is None else _structure(result, members_of(output))


def _fields(value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """The dotted names of the query protocol."""
    if isinstance(value, dict):
        for name, part in value.items():
            if part is not None:
                yield from _fields(part, f"{prefix}.{name}" if prefix else name)
    elif isinstance(value, list):
        for number, part in enumerate(value, 1):
            yield from _fields(part, f"{prefix}.member.{number}")
    else:
        yield prefix, str(value)


def _read(endpoint: str, status: int, text: str) -> ET.Element:
    try:
        root = ET.fromstring(text)  # noqa: S314 - the server that the key is trusted to; expat bounds expansion
    except ET.ParseError:
        raise AdminFailed(f"{endpoint} answered {status}, and not as IAM does") from None
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return root


def _structure(element: ET.Element, members: dict[str, Member]) -> Content:
    return {part.tag: _value(part, members[part.tag].kind) for part in element if part.tag in members}


def _value(element: ET.Element, kind: Kind) -> Any:
    match kind:
        case Struct():
            return _structure(element, kind.members)
        case ListOf():
            return [_value(part, kind.element) for part in element]
        case MapOf():
            return {
                part.findtext("key") or "": _value(found, kind.element)
                for part in element
                if (found := part.find("value")) is not None
            }
        case Flag():
            return element.text == "true"
        case Whole():
            return int(element.text or 0)
        case _:
            return element.text or ""
