"""A server whose tables are ready at once: the SDKs' waiters look every 20 seconds only."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from serving import Serving, serving


@pytest.fixture(scope="session")
def server() -> Iterator[Serving]:
    """One server in memory for all clients; whatever it fails at unexpectedly fails the run."""
    with serving("--in-memory", "--transition-ms", "0", "--log-level", "warning") as running:
        yield running
        log = running.log_text()
    assert "Traceback" not in log, log


@pytest.fixture
def client(server: Serving, make_client: Callable[..., Any]) -> Any:
    """A boto3 client of that server."""
    return make_client(endpoint=server.endpoint)
