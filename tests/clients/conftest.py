"""A server whose tables are ready at once: the SDKs' waiters look every 20 seconds only."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from auth.test_web_tokens import ISSUER, key_set
from enforcing import Enforcing, enforcing
from serving import Serving, serving


@pytest.fixture(scope="session")
def server() -> Iterator[Serving]:
    """One server in memory for all clients; whatever it fails at unexpectedly fails the run."""
    with serving("--in-memory", "--transition-ms", "0", "--log-level", "warning") as running:
        yield running
        log = running.log_text()
    assert "Traceback" not in log, log


@pytest.fixture(scope="session")
def iam_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Enforcing]:
    """One server with --auth iam, encryption, keys and an identity provider for all tests."""
    folder = tmp_path_factory.mktemp("iam")
    (folder / "jwks.json").write_text(key_set())
    provider = ("--oidc-issuer", ISSUER, "--oidc-audience", "app", "--oidc-jwks", str(folder / "jwks.json"))
    with enforcing(folder / "data", "--log-level", "warning", *provider, encrypts=True) as running:
        yield running


@pytest.fixture
def client(server: Serving, make_client: Callable[..., Any]) -> Any:
    """A boto3 client of that server."""
    return make_client(endpoint=server.endpoint)
