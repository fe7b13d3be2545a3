"""A server with a root key, and a client of its key service."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from serving import Serving, serving

ROOT_KEY = bytes(range(32))


@pytest.fixture(scope="session")
def root_key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("root") / "root.key"
    path.write_bytes(base64.b64encode(ROOT_KEY))
    path.chmod(0o600)
    return path


@pytest.fixture(scope="session")
def kms_server(root_key_file: Path) -> Iterator[Serving]:
    flags = ("--in-memory", "--log-level", "warning", "--test-clock", "--transition-ms", "0")
    with serving(*flags, "--root-key", f"file:{root_key_file}") as running:
        yield running
        log = running.log_text()
    assert "Traceback" not in log, log


@pytest.fixture
def make_kms(kms_server: Serving, make_client: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **options: make_client("kms", endpoint=kms_server.endpoint, **options)


@pytest.fixture
def kms(make_kms: Callable[..., Any]) -> Any:
    return make_kms()


@pytest.fixture
def key(kms: Any) -> str:
    """The ARN of a new key."""
    return str(kms.create_key()["KeyMetadata"]["Arn"])
