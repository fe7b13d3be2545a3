"""One keep-alive connection that sends DynamoDB requests, with nothing that retries or hides anything."""

import http.client
import json
from typing import Any, Self

from serving import AUTHORIZATION


class Refused(Exception):
    """The server answered with an error."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        self.status = status
        self.body = body
        self.code = str(body.get("__type", "")).rpartition("#")[2]
        super().__init__(f"{status} {self.code}: {body.get('message') or body.get('Message')}")


class Line:
    """A connection; whatever ends it shows as an OSError or HTTPException of the call it hits."""

    def __init__(self, port: int, *, timeout: float = 60) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and give the body of its answer."""
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"DynamoDB_20120810.{operation}",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": AUTHORIZATION,
        }
        self._connection.request("POST", "/", json.dumps(request), headers)
        response = self._connection.getresponse()
        body: dict[str, Any] = json.loads(response.read())
        if response.status != http.HTTPStatus.OK:
            raise Refused(response.status, body)
        return body

    def everything(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """Scan to the end."""
        found: list[dict[str, Any]] = []
        page: dict[str, Any] = {}
        while True:
            page = self.call("Scan", {"ConsistentRead": "IndexName" not in request, **request, **page})
            found += page["Items"]
            if "LastEvaluatedKey" not in page:
                return found
            page = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
