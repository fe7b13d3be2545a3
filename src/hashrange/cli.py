"""The command line: `hashrange serve`, `--version`, and a subcommand for everything else."""

import argparse
import errno
import os
import shlex
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, NoReturn

from hashrange import (
    __version__,
    audit_command,
    chaos_command,
    clock_command,
    config,
    heat_command,
    iam_command,
    logs,
    migrate,
    process_limits,
    root_key_command,
    running,
    salvage,
    terminal,
    tls_command,
    verify,
)
from hashrange.addresses import binds_loopback
from hashrange.config import SettingInvalid, Settings
from hashrange.objects.opening import backups_location, location
from hashrange.passwords import hide_arguments, masked
from hashrange.storage.errors import StorageError
from hashrange.transfer import flags

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

_EVERY_ADDRESS = frozenset({"0.0.0.0", "::"})  # noqa: S104 - named, not bound
_EXPOSED = (
    "other machines can connect, and requests are not authenticated: "
    "whoever reaches the port can read, change and delete everything"
)

# Their files are the server's: nobody but its user is to read them, whatever the shell's umask is.
_OF_OPERATORS = frozenset({"serve", "migrate", "salvage", "iam", "root-key"})

log = logs.Log("server")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; give the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    hide_arguments(words)
    return terminal.exit_status(lambda: _run(words))


def _run(words: list[str]) -> int:
    options = _parser().parse_args(words)
    with process_limits.private_files() if words and words[0] in _OF_OPERATORS else nullcontext():
        status: int = options.run(options)
    return status


class _Parser(argparse.ArgumentParser):
    """A parser whose messages quote what was typed, but no password."""

    def error(self, message: str) -> NoReturn:
        super().error(masked(message))

    def _print_message(self, message: str, file: "SupportsWrite[str] | None" = None) -> None:
        """Print help, version and usage; argparse itself does not mind if they cannot be written."""
        if file is sys.stdout:
            terminal.show(message.removesuffix("\n"))
        else:
            terminal.tell(message.removesuffix("\n"))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="hashrange", description="A durable, faithful, self-hosted DynamoDB.")
    parser.add_argument("--version", action="version", version=f"hashrange {__version__}")
    parser.set_defaults(run=lambda _: _print_help(parser))
    commands = parser.add_subparsers(metavar="COMMAND")
    serve = commands.add_parser("serve", help="start the server", description="Start the server.")
    config.add_flags(serve)
    serve.set_defaults(run=_serve)
    migration = commands.add_parser(
        "migrate", help="copy all data to another engine", description=migrate.DESCRIPTION
    )
    migrate.add_flags(migration)
    migration.set_defaults(run=migrate.run)
    verification = commands.add_parser(
        "verify", help="check everything in a store", description=verify.DESCRIPTION
    )
    verify.add_flags(verification)
    verification.set_defaults(run=verify.run)
    rescue = commands.add_parser(
        "salvage", help="copy what can be read of a damaged store", description=salvage.DESCRIPTION
    )
    salvage.add_flags(rescue)
    rescue.set_defaults(run=salvage.run)
    clock = commands.add_parser(
        "clock",
        help="show or move the time of a server started with --test-clock",
        description=clock_command.DESCRIPTION,
    )
    clock_command.add_flags(clock)
    clock.set_defaults(run=clock_command.run)
    chaos = commands.add_parser(
        "chaos",
        help="make requests to a server started with --chaos fail",
        description=chaos_command.DESCRIPTION,
    )
    chaos_command.add_flags(chaos)
    chaos.set_defaults(run=chaos_command.run)
    heat = commands.add_parser(
        "heat",
        help="show where the traffic of a table falls, and what is wrong with its keys",
        description=heat_command.DESCRIPTION,
    )
    heat_command.add_flags(heat)
    heat.set_defaults(run=heat_command.run)
    identities = commands.add_parser(
        "iam",
        help="manage users, access keys, roles and policies of data that no server is running on",
        description=iam_command.DESCRIPTION,
    )
    iam_command.add_flags(identities)
    identities.set_defaults(run=iam_command.run)
    tls = commands.add_parser(
        "tls", help="make certificates for trying out TLS", description=tls_command.DESCRIPTION
    )
    tls_command.add_flags(tls)
    tls.set_defaults(run=tls_command.run)
    audit = commands.add_parser("audit", help="check an audit log", description=audit_command.DESCRIPTION)
    audit_command.add_flags(audit)
    audit.set_defaults(run=audit_command.run)
    root_key = commands.add_parser(
        "root-key", help="change the root key of encrypted data", description=root_key_command.DESCRIPTION
    )
    root_key_command.add_flags(root_key)
    root_key.set_defaults(run=root_key_command.run)
    _add_transfers(commands)
    return parser


def _add_transfers(commands: "argparse._SubParsersAction[_Parser]") -> None:
    incoming = commands.add_parser(
        "import", help="write files or another table into a table", description=flags.IMPORT_DESCRIPTION
    )
    flags.add_import_flags(incoming)
    outgoing = commands.add_parser(
        "export", help="write a table into files or another table", description=flags.EXPORT_DESCRIPTION
    )
    flags.add_export_flags(outgoing)


def _print_help(parser: argparse.ArgumentParser) -> int:
    parser.print_help()
    return 0


def _serve(options: argparse.Namespace) -> int:
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
