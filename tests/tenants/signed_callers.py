"""Callers with real keys who send whatever they like: every request is signed, none is checked on the way out."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials

REGION = "us-east-1"
_PREFIXES = {
    "dynamodb": "DynamoDB_20120810.",
    "streams": "DynamoDBStreams_20120810.",
    "monitoring": "GraniteServiceVersion20100801.",
    "application-autoscaling": "AnyScaleFrontendService.",
}


@dataclass(frozen=True)
class Reply:
    """An answer as it came, to the last byte."""

    status: int
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)

    @property
    def error(self) -> str:
        """The code of the error; empty if it is none."""
        return "" if self.status == 200 else str(self.body["__type"]).rpartition("#")[2]


@dataclass(frozen=True)
class SignedCaller:
    """Somebody with an access key."""

    endpoint: str
    access_key: str
    secret: str = field(repr=False)
    token: str | None = field(default=None, repr=False)

    def ask(
        self,
        operation: str,
        request: Mapping[str, Any] | bytes | None = None,
        *,
        service: str = "dynamodb",
        region: str = REGION,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send a request of a JSON protocol; bytes are sent as they are."""
        body = request if isinstance(request, bytes) else json.dumps(request or {}).encode()
        sent = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": _PREFIXES[service] + operation,
            **(headers or {}),
        }
        signing_name = "dynamodb" if service == "streams" else service
        return self.send("POST", "/", body, sent, service=signing_name, region=region)

    def look_at(self, path: str) -> Reply:
        """Read one of the server's own pages."""
        return self.send("GET", path, b"", {}, service="hashrange", region=REGION)

    def send(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str], *, service: str, region: str
    ) -> Reply:
        """Send a signed request."""
        request = AWSRequest(method, self.endpoint + path, data=body, headers=dict(headers))
        SigV4Auth(Credentials(self.access_key, self.secret, self.token), service, region).add_auth(request)
        connection = http.client.HTTPConnection(urlsplit(self.endpoint).netloc, timeout=60)
        try:
            connection.request(method, path, body, dict(request.headers))
            response = connection.getresponse()
            return Reply(response.status, response.read())
        finally:
            connection.close()

    def client(self, service: str) -> Any:
        """A boto3 client without checks of its own."""
        return boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret,
            aws_session_token=self.token,
            config=Config(parameter_validation=False, retries={"total_max_attempts": 1}, read_timeout=60),
        )

    def assume(self, role_arn: str, name: str, **request: Any) -> "SignedCaller":
        """The caller in a session of a role."""
        answer = self.client("sts").assume_role(RoleArn=role_arn, RoleSessionName=name, **request)
        return SignedCaller(self.endpoint, *session_of(answer["Credentials"]))


def session_of(credentials: Mapping[str, str]) -> tuple[str, str, str]:
    """The three parts of temporary credentials."""
    return credentials["AccessKeyId"], credentials["SecretAccessKey"], credentials["SessionToken"]
