"""The applications of examples/, on the shared server."""

import importlib.util
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from house import ROOT

REGION = "examples-1"  # no other test has tables there


@pytest.fixture(scope="session")
def runner() -> ModuleType:
    """examples/run.py."""
    spec = importlib.util.spec_from_file_location("examples_run", ROOT / "examples" / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def examples_client(make_client: Callable[..., Any]) -> Any:
    return make_client(region=REGION)


@pytest.fixture(scope="session")
def application(runner: ModuleType, examples_client: Any) -> Callable[[str], Any]:
    """The module of an application whose tables are there."""

    def get(name: str) -> Any:
        runner.make_tables(examples_client, name)
        return runner.application(name)

    return get
