"""Start real servers, and talk to them without an SDK in between."""

import http.client
import json
import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import warm
from warm import Process

AUTHORIZATION = (
    "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date;x-amz-target, Signature=0"
)
_START_SECONDS = 60  # on a machine that others use, too
_STOP_SECONDS = 60


@dataclass
class Answer:
    """A raw answer; the body is parsed where it is JSON. Header names are lower case."""

    status: int
    headers: dict[str, str]
    body: Any

    def __iter__(self) -> Iterator[Any]:
        return iter((self.status, self.headers, self.body))

    @property
    def error(self) -> str:
        """The error code without its prefix."""
        return str(self.body["__type"]).rpartition("#")[2]


@dataclass
class Serving:
    """A server process and where to find it."""

    process: Process
    endpoint: str
    log: Path

    @property
    def port(self) -> int:
        return int(self.endpoint.rpartition(":")[2])

    def log_text(self) -> str:
        """Everything the server has logged so far."""
        return self.log.read_text("utf-8")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and give the exit status."""
        self.process.send_signal(number)
        return self.process.wait(timeout=_STOP_SECONDS)

    def post(
        self, operation: str, body: Any, *, headers: Mapping[str, str] | None = None, timeout: float = 30
    ) -> Answer:
        """Post JSON (or bytes as they are) to an operation; a header given as "" is left out."""
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"DynamoDB_20120810.{operation}",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": AUTHORIZATION,
            **(headers or {}),
        }
        sent = {name: value for name, value in sent.items() if value}
        return self.request("POST", "/", payload, sent, timeout=timeout)

    def request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        timeout: float = 30,
    ) -> Answer:
        """Send any request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, dict(headers or {}))
            response = connection.getresponse()
            text = response.read()
            names = {name.lower(): value for name, value in response.getheaders()}
            is_json = "json" in names.get("content-type", "")
            return Answer(response.status, names, json.loads(text) if is_json and text else text)
        finally:
            connection.close()


@contextmanager
def serving(
    *flags: str,
    environment: Mapping[str, str] | None = None,
    interpreter: Sequence[str] | None = None,
) -> Iterator[Serving]:
    """Start a server with these flags on a free port; it is stopped in the end if it still runs.

    With an interpreter (COLD is the usual one) it is a process from scratch, else a fork of one that is warm.
    """
    words = ["serve", "--port", "0", *flags]
    variables = {**os.environ, **(environment or {})}
    with tempfile.NamedTemporaryFile("w", suffix=".log") as log:
        process: Process
        if interpreter is None:
            process = warm.start(words, errors=log, environment=variables)
        else:
            process = subprocess.Popen(
                [*interpreter, *words], stdout=subprocess.PIPE, stderr=log, text=True, env=variables
            )
        try:
            path = Path(log.name)
            yield Serving(process, _endpoint(process, path), path)
        finally:
            if process.poll() is None:
                process.terminate()
            try:
                process.wait(timeout=_STOP_SECONDS)
            finally:
                process.kill()
                assert process.stdout is not None
                process.stdout.close()


def _endpoint(process: Process, log: Path) -> str:
    """Read the banner up to the line that names the endpoint."""
    watchdog = threading.Timer(_START_SECONDS, process.kill)
    watchdog.start()
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if found := re.search(r"endpoint\s+(https?://\S+)", line):
                return found[1]
    finally:
        watchdog.cancel()
    raise RuntimeError(f"the server did not start:\n{log.read_text('utf-8')}")
