"""A server for a test suite."""

import atexit
from collections.abc import Sequence
from functools import cache
from typing import Any, Self

from hashrange.testing.clock import Clock
from hashrange.testing.control import Control, TestingFailed
from hashrange.testing.faults import Faults
from hashrange.testing.namespace import Namespace
from hashrange.testing.process import ServerProcess
from hashrange.testing.request_log import RequestLog

_OWN_ACCOUNT = "000000000000"
_PATH = "/_hashrange/testing"


class _Running:
    """What there is while the server runs."""

    def __init__(self, process: ServerProcess, region: str) -> None:
        self.process = process
        self.endpoint_url = process.endpoint_url()
        self.control = Control(self.endpoint_url)
        self.clock = Clock(self.control)
        self.faults = Faults(self.control, None)
        self.requests = RequestLog(self.control, None)
        self.own = Namespace(self.control, self.endpoint_url, _OWN_ACCOUNT, region)


class Server:
    """A Hashrange in memory, on a free port, in a process of its own; in a `with` block it runs until the end.

    `flags` are those of `hashrange serve`, such as "--capacity=enforce". It ends with this process in any case.
    """

    def __init__(self, *flags: str, region: str = "us-east-1") -> None:
        self._flags: Sequence[str] = flags
        self._region = region
        self._running: _Running | None = None

    def start(self) -> Self:
        """Start the server, and wait until it answers."""
        if self._running is None:
            process = ServerProcess(["--region", self._region, *self._flags])
            self._running = _Running(process, self._region)
        return self

    def stop(self) -> None:
        """Stop the server; a second call does nothing."""
        running, self._running = self._running, None
        if running is not None:
            running.control.close()
            running.process.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _started(self) -> _Running:
        if self._running is None:
            raise TestingFailed("the server is not running: start it, or use it in a `with` block")
        return self._running

    @property
    def endpoint_url(self) -> str:
        """What to give an SDK."""
        return self._started().endpoint_url

    @property
    def pid(self) -> int:
        """The id of the server's process."""
        return self._started().process.pid

    @property
    def clock(self) -> Clock:
        """The server's clock."""
        return self._started().clock

    @property
    def faults(self) -> Faults:
        """Faults of all namespaces."""
        return self._started().faults

    @property
    def requests(self) -> RequestLog:
        """The requests of all namespaces."""
        return self._started().requests

    @property
    def own(self) -> Namespace:
        """The namespace of everybody whose access key is not the number of another."""
        return self._started().own

    def log_text(self) -> str:
        """What the server has logged: warnings and errors."""
        return self._started().process.log_text()

    def namespace(self) -> Namespace:
        """A new namespace, which has no tables yet."""
        running = self._started()
        account_id = running.control.ask("POST", f"{_PATH}/namespaces")["account_id"]
        return Namespace(running.control, running.endpoint_url, account_id, self._region)

    def client(self, service: str = "dynamodb", **options: Any) -> Any:
        """A boto3 client of the server's own namespace."""
        return self.own.client(service, **options)

    def resource(self, service: str = "dynamodb", **options: Any) -> Any:
        """A boto3 resource of the server's own namespace."""
        return self.own.resource(service, **options)


@cache
def shared_server() -> Server:
    """One server for all of this process; it ends with it."""
    server = Server().start()
    atexit.register(server.stop)
    return server
