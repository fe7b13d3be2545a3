"""The command line: `hashrange serve`, `hashrange migrate` and `hashrange --version`."""

import argparse
import errno
import os
import socket
import sys
from collections.abc import Sequence

from hashrange import __version__, config, logs, server
from hashrange.config import SettingInvalid, Settings
from hashrange.storage.errors import StorageError

_EVERY_ADDRESS = frozenset({"0.0.0.0", "::"})  # noqa: S104 - named, not bound

log = logs.Log("server")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; give the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["migrate"]:
        return _migrate(words[1:])
    parser = _parser()
    chosen = vars(parser.parse_args(words))
    if chosen.pop("command") is None:
        parser.print_help()
        return 0
    try:
        settings = config.load(chosen, os.environ)
    except SettingInvalid as problem:
        return _fail(str(problem), 2)
    return _serve(settings)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hashrange", description="A durable, faithful, self-hosted DynamoDB."
    )
    parser.add_argument("--version", action="version", version=f"hashrange {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    serve = commands.add_parser("serve", help="start the server", description="Start the server.")
    config.add_flags(serve)
    commands.add_parser("migrate", help="copy all data to another engine", add_help=False)
    return parser


def _migrate(arguments: Sequence[str]) -> int:
    from hashrange import migrate  # noqa: PLC0415 - the server's start does not wait for it

    return migrate.main(arguments)


def _serve(settings: Settings) -> int:
    logs.configure(level=settings.log_level, form=settings.log_format)

    def started(engine: str, port: int) -> None:
        if settings.log_format == "json":
            log.info("server.started", endpoint=_endpoint(settings, port), engine=engine)
        else:
            print(banner(settings, engine, port), flush=True)

    try:
        return server.run(settings, started)
    except StorageError as problem:
        return _fail(str(problem), 1)
    except (OSError, OverflowError) as problem:
        return _fail(_listen_problem(problem, settings), 1)


def banner(settings: Settings, engine: str, port: int) -> str:
    """Say where the server is, where its data is, and how to try it."""
    endpoint = _endpoint(settings, port)
    keys = "AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local"
    place = f"--region {settings.region} --endpoint-url {endpoint}"
    return "\n".join(
        (
            f"Hashrange {__version__}",
            f"  endpoint  {endpoint}",
            f"  engine    {engine}",
            f"  region    {settings.region}",
            f"  try       {keys} aws dynamodb list-tables {place}",
        )
    )


def _endpoint(settings: Settings, port: int) -> str:
    host = "localhost" if settings.host in _EVERY_ADDRESS else settings.host
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _listen_problem(problem: Exception, settings: Settings) -> str:
    place = f"{settings.host} port {settings.port}"
    match problem:
        case socket.gaierror():
            return f"cannot listen on {settings.host}: no such host"
        case OSError(errno=errno.EADDRINUSE):
            return f"{place} is already in use; choose another with --port"
        case OSError(errno=errno.EACCES):
            return f"no permission to listen on {place}; choose another with --port"
        case OSError(errno=errno.EADDRNOTAVAIL):
            return f"cannot listen on {settings.host}: it is not an address of this machine"
        case _:
            return f"cannot listen on {place}: {problem}"


def _fail(message: str, status: int) -> int:
    print(f"hashrange: {message}", file=sys.stderr)
    return status
