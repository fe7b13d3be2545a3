"""Several Hashrange servers on one database, any of which may be killed and replaced."""

import http.client
import json
import random
import signal
import threading
from contextlib import ExitStack
from typing import Any

from serving import AUTHORIZATION, Answer, Serving, serving

_ANSWER_SECONDS = 15


class Unsent(Exception):
    """The request never reached a server."""


class Unanswered(Exception):
    """The request may or may not have been carried out."""


class Servers:
    """The servers that clients may go to."""

    def __init__(self, count: int, *flags: str) -> None:
        self._flags = flags
        self._stacks = [ExitStack() for _ in range(count)]
        self._lock = threading.Lock()
        self.running: list[Serving] = [self._start(stack) for stack in self._stacks]
        self.logs: list[str] = []

    def ports(self) -> list[int]:
        with self._lock:
            return [each.port for each in self.running]

    def kill(self, number: int) -> None:
        """End a server at once and start another in its place."""
        old = self.running[number]
        old.process.kill()
        old.process.wait(60)
        self.logs.append(old.log_text())
        self._stacks[number].close()
        new = self._start(self._stacks[number])
        with self._lock:
            self.running[number] = new

    def signal(self, number: int, what: int) -> None:
        self.running[number].process.send_signal(what)

    def close(self) -> None:
        for stack, server in zip(self._stacks, self.running, strict=True):
            server.process.send_signal(signal.SIGCONT)
            self.logs.append(server.log_text())
            stack.close()

    def _start(self, stack: ExitStack) -> Serving:
        return stack.enter_context(serving(*self._flags, "--log-level", "warning"))


class Client:
    """One client with one connection at a time, which goes to another server when its own is gone."""

    def __init__(self, servers: Servers, chance: random.Random) -> None:
        self._servers = servers
        self._chance = chance
        self._connection: http.client.HTTPConnection | None = None

    def post(self, operation: str, body: dict[str, Any]) -> Answer:
        """Send a request, and give its answer unless nobody knows what became of it."""
        payload = json.dumps(body).encode()
        connection = self._connect()
        try:
            connection.request("POST", "/", payload, _headers(operation))
            response = connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Unanswered(str(error)) from error
        answer = Answer(response.status, {}, json.loads(text) if text else {})
        if answer.status >= 500:
            self.close()  # perhaps another server is better off
            raise Unanswered(str(answer.body))
        return answer

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connect(self) -> http.client.HTTPConnection:
        if self._connection is None:
            port = self._chance.choice(self._servers.ports())
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_ANSWER_SECONDS)
            try:
                connection.connect()
            except OSError as error:
                raise Unsent(str(error)) from error
            self._connection = connection
        return self._connection


def _headers(operation: str) -> dict[str, str]:
    return {
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Target": f"DynamoDB_20120810.{operation}",
        "X-Amz-Date": "20260101T000000Z",
        "Authorization": AUTHORIZATION,
    }
