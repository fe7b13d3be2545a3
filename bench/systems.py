"""The systems that are measured: how each is installed and started."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import dynamodb_local
import installing
import pins

from hashrange import __version__
from hashrange_bench.endpoint import Endpoint

_HERE = Path(__file__).parent


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
    endpoint: Callable[[Place], Endpoint] = field(
        default=lambda place: Endpoint("http", "127.0.0.1", place.port)
    )
    settings: str = ""  # in words, for the results


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


def _dynoxide_folder(tools: Path) -> Path:
    return tools / f"dynoxide-{pins.DYNOXIDE}"


def _dynoxide(place: Place) -> list[str]:
    program = _dynoxide_folder(place.tools) / "bin" / "dynoxide"
    return [str(program), "serve", "--host", "127.0.0.1", "--port", str(place.port)]


def _dynalite_folder(tools: Path) -> Path:
    return tools / f"dynalite-{pins.DYNALITE}"


def _dynalite(place: Place) -> list[str]:
    script = _dynalite_folder(place.tools) / "node_modules" / "dynalite" / "cli.js"
    return ["node", str(script), "--host", "127.0.0.1", "--port", str(place.port)]


def _moto_folder(tools: Path) -> Path:
    return tools / f"moto-{pins.MOTO}"


def _moto(place: Place) -> list[str]:
    return [str(_moto_folder(place.tools) / "bin" / "moto_server"), "-H", "127.0.0.1", "-p", str(place.port)]


def _ministack_folder(tools: Path) -> Path:
    return tools / f"ministack-{pins.MINISTACK}"


def _ministack(place: Place) -> list[str]:
    return [str(_ministack_folder(place.tools) / "bin" / "ministack")]


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


DURABLE = System(
    "hashrange",
    "Hashrange",
    _here,
    _hashrange(),
    settings="one process; on disk, every write is synced before its answer",
)
IN_MEMORY = System(
    "hashrange-memory",
    "Hashrange in memory",
    _here,
    _hashrange("--in-memory"),
    settings="one process, in memory",
)
ON_POSTGRES = System(
    "hashrange-postgres",
    "Hashrange on PostgreSQL",
    lambda _: installing.postgres(__version__),
    lambda place: [sys.executable, str(_HERE / "on_postgres.py"), str(place.port)],
    settings="one process and a PostgreSQL of its own, which syncs every commit",
)
CEILING = System(
    "ceiling",
    "bare protocol",
    lambda _: "",
    lambda place: [sys.executable, str(_HERE / "ceiling.py"), str(place.port)],
    settings="one process; stores nothing",
)
DYNAMODB_LOCAL = System(
    "dynamodb-local",
    "DynamoDB Local",
    dynamodb_local.install,
    lambda place: dynamodb_local.command(place.port),
    settings=dynamodb_local.SETTINGS,
    folder=lambda place: dynamodb_local.home(place.tools),
)
DYNOXIDE = System(
    "dynoxide",
    "Dynoxide",
    lambda tools: installing.crate(_dynoxide_folder(tools), "dynoxide-rs", pins.DYNOXIDE, "dynoxide"),
    _dynoxide,
    settings="in memory, as `dynoxide serve` starts it: it has no other settings for speed",
)
DYNALITE = System(
    "dynalite",
    "dynalite",
    lambda tools: installing.node_package(_dynalite_folder(tools), "dynalite", pins.DYNALITE),
    _dynalite,
    settings="in memory, one process",
)
MOTO = System(
    "moto",
    "moto",
    lambda tools: installing.python_package(
        _moto_folder(tools), f"moto[server,dynamodb]=={pins.MOTO}", "moto"
    ),
    _moto,
    settings="in memory, one process",
)
MINISTACK = System(
    "ministack",
    "ministack",
    lambda tools: installing.python_package(
        _ministack_folder(tools), f"ministack=={pins.MINISTACK}", "ministack"
    ),
    _ministack,
    settings="in memory, one process; does not log requests",
    environment=_ministack_environment,
)
PEERS = (DYNAMODB_LOCAL, DYNOXIDE, DYNALITE, MOTO, MINISTACK)
SYSTEMS = (DURABLE, IN_MEMORY, ON_POSTGRES, *PEERS, CEILING)
# What targets compare comes close together, because a machine that others use, too, may grow slower.
TURNS = (DURABLE, DYNAMODB_LOCAL, DYNALITE, CEILING, DYNOXIDE, IN_MEMORY, ON_POSTGRES, MOTO, MINISTACK)
