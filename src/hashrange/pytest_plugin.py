"""The pytest plugin: fixtures for tests of applications that use DynamoDB. Nothing starts before a test asks for it."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from hashrange.testing.clock import Clock
    from hashrange.testing.faults import Faults
    from hashrange.testing.namespace import Namespace
    from hashrange.testing.request_log import RequestLog
    from hashrange.testing.server import Server

# The rest of the package is imported by the fixtures, so that suites without them pay for nothing.
# ruff: noqa: PLC0415

_MARKER = "dynamodb_tables"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Tell pytest of our setting."""
    parser.addini(
        _MARKER,
        "files with the tables of `dynamodb_tables`, for tests without a marker: CreateTable requests (JSON) or "
        "CloudFormation templates",
        type="paths",
        default=[],
    )
    parser.addini("dynamodb_flags", "flags of the server, as of `hashrange serve`", type="args", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Tell pytest of our marker."""
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(*sources): the tables of the fixtures `dynamodb_tables` and `dynamodb_table`: CreateTable "
        "requests, or paths of files with them or with CloudFormation templates, relative to the test's file",
    )


@pytest.fixture(scope="session")
def dynamodb_server(pytestconfig: pytest.Config) -> Iterator["Server"]:
    """One server for all tests; with pytest-xdist one for each worker."""
    from hashrange.testing.server import Server

    with Server(*pytestconfig.getini("dynamodb_flags")) as server:
        yield server


@pytest.fixture
def dynamodb_namespace(dynamodb_server: "Server") -> Iterator["Namespace"]:
    """A namespace of the test's own, without tables; whatever is in it is gone afterwards."""
    from hashrange.testing import current

    with dynamodb_server.namespace() as namespace:
        current.begin(namespace)
        yield namespace
        current.end(namespace)


@pytest.fixture
def dynamodb(dynamodb_namespace: "Namespace") -> Any:
    """A boto3 client of the test's namespace."""
    return dynamodb_namespace.client()


@pytest.fixture
def dynamodb_resource(dynamodb_namespace: "Namespace") -> Any:
    """A boto3 resource of the test's namespace."""
    return dynamodb_namespace.resource()


@pytest.fixture
def dynamodb_tables(
    request: pytest.FixtureRequest, dynamodb_namespace: "Namespace", dynamodb_resource: Any
) -> dict[str, Any]:
    """The tables of the marker `dynamodb_tables`, or of the setting of that name: boto3's Tables by their names."""
    names = dynamodb_namespace.create_tables(*_sources(request))
    if not names:
        pytest.fail(
            f"no tables: say which with @pytest.mark.{_MARKER}(...) or the setting {_MARKER}", pytrace=False
        )
    return {name: dynamodb_resource.Table(name) for name in names}


@pytest.fixture
def dynamodb_table(dynamodb_tables: dict[str, Any]) -> Any:
    """The only table of `dynamodb_tables`."""
    if len(dynamodb_tables) != 1:
        names = ", ".join(dynamodb_tables)
        pytest.fail(f"there are several tables ({names}): use `dynamodb_tables`", pytrace=False)
    return next(iter(dynamodb_tables.values()))


@pytest.fixture
def dynamodb_clock(dynamodb_server: "Server") -> "Clock":
    """The server's clock; it stays where a test has moved it."""
    return dynamodb_server.clock


@pytest.fixture
def dynamodb_faults(dynamodb_namespace: "Namespace") -> "Faults":
    """Faults of the test's namespace."""
    return dynamodb_namespace.faults


@pytest.fixture
def dynamodb_requests(dynamodb_namespace: "Namespace") -> "RequestLog":
    """What was asked of the test's namespace."""
    return dynamodb_namespace.requests


@pytest.fixture
def dynamodb_environment(dynamodb_namespace: "Namespace", monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Environment variables by which clients that the application makes itself use the test's namespace."""
    variables = dynamodb_namespace.environment()
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return variables


def _sources(request: pytest.FixtureRequest) -> Iterator[Any]:
    markers = list(request.node.iter_markers(_MARKER))
    if not markers:
        yield from request.config.getini(_MARKER)
    folder = Path(request.node.path).parent
    for marker in markers[:1]:  # the closest one: a test's before its class's and its module's
        yield from (folder / source if isinstance(source, str) else source for source in marker.args)
