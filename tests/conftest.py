"""What most tests share: one server per worker, an SDK client for it, and a way around the SDK."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from hypothesis import settings

from hashrange import logs
from postgres_server import PostgresServer, postgres_server
from serving import Answer, Serving, serving
from sizes import size
from storage.faulty_disk import FaultyDisk
from warm import nurseries

# Property tests give the same examples in every run; `make check` tries fewer of them.
settings.register_profile(
    "steady", derandomize=True, max_examples=size(100, 150), deadline=None, database=None
)
settings.register_profile("quick", settings.get_profile("steady"), max_examples=25)
settings.load_profile("steady")


@pytest.fixture(autouse=True)
def no_outages_are_left() -> Iterator[None]:
    """Whose end a later test, with a server in this process, would find in its log."""
    yield
    logs._ending.clear()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[FaultyDisk]:
    """A disk that does as a test says, for as long as the test lasts."""
    shadow = tmp_path / "shadow"
    shadow.mkdir()
    faulty = FaultyDisk(shadow)
    yield faulty
    faulty.unregister()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One private PostgreSQL for all tests of a worker; each uses a schema or a database of its own."""
    with postgres_server() as running:
        yield running


def pytest_addoption(parser: pytest.Parser) -> None:
    choices = ("memory", "postgres", "postgres-serializable")
    parser.addoption("--engine", choices=choices, default="memory", help="what keeps the data")


def pytest_configure() -> None:
    nurseries.is_wanted = True


def pytest_unconfigure() -> None:
    nurseries.close()


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Whatever needs PostgreSQL is slow, for making and starting one takes seconds.

    With another engine, only the tests that talk to its server run: the others would do the same once more.
    """
    for item in items:
        if "postgres" in _fixtures(item):
            item.add_marker(pytest.mark.slow)
    if config.getoption("--engine") != "memory":
        others = [item for item in items if "engine_flags" not in _fixtures(item)]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if "engine_flags" in _fixtures(item)]


def _fixtures(item: pytest.Item) -> list[str]:
    """The names of all fixtures that a test uses, also by way of others."""
    names: list[str] = getattr(item, "fixturenames", [])
    return names


@pytest.fixture(scope="session")
def engine_flags(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The flags of the server that most tests share; `pytest --engine postgres` puts it on PostgreSQL.

    With `postgres-serializable` the writes rely on the database's SERIALIZABLE and not on locks.
    """
    engine = request.config.getoption("--engine")
    if engine == "memory":
        return ("--in-memory",)
    isolation = "serializable" if engine == "postgres-serializable" else "locking"
    url = request.getfixturevalue("postgres").url()
    # Backups and buckets are beside the data, which is in the working directory unless somebody says otherwise.
    folder = request.getfixturevalue("tmp_path_factory").mktemp("data")
    key = folder / "root.key"
    key.touch(mode=0o600)
    key.write_text("5e" * 32)
    root_key = ("--root-key", f"file:{key}")
    return ("--engine", url, "--postgres-isolation", isolation, "--data-dir", str(folder), *root_key)


@pytest.fixture(scope="session")
def shared_server(engine_flags: tuple[str, ...]) -> Iterator[Serving]:
    """One server for all tests of a worker; whatever it fails at unexpectedly fails the run."""
    with serving(*engine_flags, "--log-level", "warning") as running:
        yield running
        log = running.log_text()
    assert "Traceback" not in log, log


@pytest.fixture(scope="session")
def server(shared_server: Serving) -> Serving:
    """The shared server, where no folder or module has another of this name.

    What is made once per worker and has to do with the shared server asks for it by the other name: else it would be
    bound to whatever `server` is for the test that happens to be the first.
    """
    return shared_server


@pytest.fixture(scope="session")
def make_client(shared_server: Serving) -> Callable[..., Any]:
    """Make a client: `make_client(service="dynamodb", region="eu-west-1", access_key="x", endpoint=url)`."""

    def make(
        service: str = "dynamodb",
        *,
        region: str = "us-east-1",
        access_key: str = "test",
        endpoint: str | None = None,
    ) -> Any:
        # The server's own checks are under test, and an error is to be seen the first time it happens.
        config = Config(
            parameter_validation=False,
            retries={"total_max_attempts": 1},
            connect_timeout=5,
            read_timeout=60,
        )
        # All of boto3's one session: another would parse the service's model anew, a tenth of a second.
        return boto3.client(
            service,
            endpoint_url=endpoint or shared_server.endpoint,
            region_name=region,
            aws_access_key_id=access_key,
            aws_secret_access_key="test",
            config=config,
        )

    return make


@pytest.fixture(scope="session")
def client(make_client: Callable[..., Any]) -> Any:
    """A boto3 DynamoDB client without its own parameter checks and without retries."""
    return make_client()


@pytest.fixture(scope="session")
def raw(shared_server: Serving) -> Callable[..., Answer]:
    """Post JSON, or bytes as they are, to an operation; gives status, headers and body."""
    return shared_server.post
