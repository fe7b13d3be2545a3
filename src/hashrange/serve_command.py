"""`hashrange serve`: start the server, and say where it is."""

import argparse
import errno
import os
import shlex
import socket
from collections.abc import Iterator

from hashrange import __version__, config, logs, running, terminal
from hashrange.addresses import binds_loopback
from hashrange.config import SettingInvalid, Settings, add_flags
from hashrange.objects.opening import backups_location, location
from hashrange.storage.errors import StorageError

__all__ = ["DESCRIPTION", "add_flags", "banner", "run"]

DESCRIPTION = "Start the server."
_EVERY_ADDRESS = frozenset({"0.0.0.0", "::"})  # noqa: S104 - named, not bound
_EXPOSED = (
    "other machines can connect, and requests are not authenticated: "
    "whoever reaches the port can read, change and delete everything"
)

log = logs.Log("server")


def run(options: argparse.Namespace) -> int:
    """Run the command; give the exit status."""
    try:
        settings = config.load(vars(options), os.environ)
    except SettingInvalid as error:
        return _fail(str(error), 2)
    logs.configure(level=settings.log_level, form=settings.log_format)

    def started(engine: str, port: int) -> None:
        if _is_open(settings):
            log.warning("server.exposed", host=settings.host, port=port, reason=_EXPOSED)
        if settings.log_format == "json":
            log.info(
                "server.started",
                endpoint=_endpoint(settings, port),
                engine=engine,
                buckets=location(settings),
                backups=backups_location(settings),
            )
        else:
            show = terminal.tell if settings.audit_log == "-" else _show_banner
            show(banner(settings, engine, port))

    try:
        return running.run(settings, started)
    except (StorageError, SettingInvalid) as error:
        return _fail(str(error), 1)
    except (OSError, OverflowError) as error:
        return _fail(_listen_error(error, settings), 1)


def _show_banner(text: str) -> None:
    """Print the banner; a server does its work also where nobody reads it."""
    try:
        terminal.show(text)
    except terminal.NotShown as problem:
        log.warning("banner.not_shown", reason=str(problem))


def banner(settings: Settings, engine: str, port: int) -> str:
    """Say where the server is, where its data is, and how to try it."""
    endpoint = _endpoint(settings, port)
    clock = ("  clock     `hashrange clock` moves it",) if settings.test_clock else ()
    chaos = ("  chaos     `hashrange chaos` makes requests fail",) if settings.chaos else ()
    lag = (
        (f"  lag       {settings.eventual_lag} ms for eventually consistent reads",)
        if settings.eventual_lag
        else ()
    )
    warning = (f"  WARNING   {_EXPOSED}",) if _is_open(settings) else ()
    return "\n".join(
        (
            f"Hashrange {__version__}",
            f"  endpoint  {endpoint}",
            f"  engine    {engine}",
            f"  buckets   {location(settings)}",
            f"  backups   {backups_location(settings)}",
            f"  region    {settings.region}",
            f"  capacity  {settings.capacity}",
            *_first_steps(settings, endpoint),
            *clock,
            *chaos,
            *lag,
            *warning,
        )
    )


def _first_steps(settings: Settings, endpoint: str) -> Iterator[str]:
    """A command to try the server with; any key will do where signatures are not verified."""
    command = f"aws dynamodb list-tables --region {settings.region} --endpoint-url {endpoint}"
    if settings.auth == "off":
        yield f"  try       AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local {command}"
        return
    place = (
        f"--data-dir {shlex.quote(str(settings.data_dir))}" if settings.engine == "sqlite" else "--engine URL"
    )
    yield f"  auth      {settings.auth}; before the first start `hashrange iam bootstrap {place}` makes a key"
    trust = "" if settings.tls_cert is None else "AWS_CA_BUNDLE=... "
    yield f"  try       {trust}AWS_ACCESS_KEY_ID=... AWS_SECRET_ACCESS_KEY=... {command}"


def _is_open(settings: Settings) -> bool:
    """Whether anybody can use the server from another machine."""
    return settings.auth == "off" and not binds_loopback(settings.host)


def _endpoint(settings: Settings, port: int) -> str:
    host = "localhost" if settings.host in _EVERY_ADDRESS else settings.host
    scheme = "http" if settings.tls_cert is None else "https"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def _listen_error(error: Exception, settings: Settings) -> str:
    address = f"{settings.host} port {settings.port}"
    match error:
        case socket.gaierror():
            return f"cannot listen on {settings.host}: no such host"
        case OSError(errno=errno.EADDRINUSE):
            return f"{address} is already in use; choose another with --port"
        case OSError(errno=errno.EACCES):
            return f"no permission to listen on {address}; choose another with --port"
        case OSError(errno=errno.EADDRNOTAVAIL):
            return f"cannot listen on {settings.host}: it is not an address of this machine"
        case _:
            return f"cannot listen on {address}: {error}"


def _fail(message: str, status: int) -> int:
    terminal.complain(message)
    return status
