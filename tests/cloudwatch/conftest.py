"""Services with a clock that tests move, and clients of the shared server."""

from pathlib import Path
from typing import Any

import pytest

from serving import Serving
from watching import PROTOCOLS, Watched, speaking


@pytest.fixture
def watched() -> Watched:
    return Watched()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module", params=PROTOCOLS)
def cloudwatch(request: pytest.FixtureRequest, server: Serving, folder: Path) -> Any:
    """A client of CloudWatch, for each of the protocols that SDKs speak."""
    return speaking(request.param, server.endpoint, folder)
