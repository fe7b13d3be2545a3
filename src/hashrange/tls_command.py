"""`hashrange tls self-signed`: certificates for trying out TLS, and what to tell the clients."""

import argparse
import os
import re
import shlex
from pathlib import Path

from hashrange import terminal

DESCRIPTION = (
    "Make an authority of your own and a certificate for the server, and say what servers and clients need. "
    "The authority's key is thrown away: it signs nothing else. For tests and closed networks."
)
_NAME = re.compile(r"(?:\*\.)?[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?|[0-9A-Fa-f:.]{2,45}")
_DAYS_MAX = 366  # clients refuse what is valid for longer
_NAMES = ("localhost", "127.0.0.1", "::1")


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the command's flags."""
    parser.set_defaults(action=None, parser=parser)
    actions = parser.add_subparsers(metavar="ACTION")
    making = actions.add_parser(
        "self-signed", help="make an authority and a certificate", description=DESCRIPTION
    )
    making.set_defaults(action="self-signed")
    making.add_argument(
        "--out",
        type=Path,
        default=Path("hashrange-tls"),
        metavar="FOLDER",
        help="where to (default: %(default)s)",
    )
    making.add_argument(
        "--name",
        action="append",
        metavar="NAME",
        help="a host name or address of the server; may be repeated (default: this machine's loopback names)",
    )
    making.add_argument("--days", type=int, default=90, help="how long they are valid (default: %(default)s)")
    making.add_argument(
        "--client", metavar="NAME", help="make a client's certificate as well, for --tls-client-ca"
    )
    making.add_argument("--force", action="store_true", help="replace what is there")


def run(options: argparse.Namespace) -> int:
    """Run the command; give the exit status."""
    if options.action is None:
        options.parser.print_help()
        return 0
    names = options.name or list(_NAMES)
    wrong = [name for name in (*names, *filter(None, [options.client])) if not _NAME.fullmatch(name)]
    if wrong:
        terminal.complain(f"{wrong[0]!r} is neither a host name nor an address")
        return 2
    if not 1 <= options.days <= _DAYS_MAX:
        terminal.complain(f"--days must be from 1 to {_DAYS_MAX}")
        return 2
    try:
        _make(options.out, names, options.client, options.days, force=options.force)
    except FileExistsError as error:
        terminal.complain(f"{error.filename} is there already; --force replaces it")
        return 1
    except OSError as error:
        terminal.complain(f"cannot write {error.filename or options.out}: {error.strerror}")
        return 1
    terminal.show(explained(options.out.resolve(), names[0], is_mutual=options.client is not None))
    return 0


def _make(folder: Path, names: list[str], client: str | None, days: int, *, force: bool) -> None:
    from hashrange.certificates import Authority  # noqa: PLC0415 - slow to load, and nobody else needs it

    authority = Authority(days)
    issued = authority.issue(names)
    files = {"ca.pem": authority.certificate, "server.pem": issued.certificate, "server.key": issued.key}
    if client is not None:
        issued = authority.issue([client], client=True)
        files |= {"client.pem": issued.certificate, "client.key": issued.key}
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not force:
        for name in files:
            if (folder / name).exists():
                raise FileExistsError(None, None, str(folder / name))
    for name, content in files.items():
        _write(folder / name, content, mode=0o600 if name.endswith(".key") else 0o644)


def _write(path: Path, content: bytes, *, mode: int) -> None:
    """Replace a file in one go; a server that loads it meanwhile gets the old one or the new one."""
    beside = path.with_name(f".{path.name}.new")
    beside.unlink(missing_ok=True)
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def explained(folder: Path, name: str, *, is_mutual: bool) -> str:
    """What to set where."""
    authority = shlex.quote(str(folder / "ca.pem"))
    server, key = (shlex.quote(str(folder / file)) for file in ("server.pem", "server.key"))
    host = f"[{name}]" if ":" in name else name.replace("*.", "db.", 1)
    mutual = f" --tls-client-ca {authority}" if is_mutual else ""
    store = "-keystore hashrange.p12 -storetype PKCS12 -storepass changeit"
    lines = [
        f"server    hashrange serve --tls-cert {server} --tls-key {key}{mutual}",
        f"AWS CLI   export AWS_CA_BUNDLE={authority}",
        f"boto3     export AWS_CA_BUNDLE={authority}, or boto3.client(..., verify={str(folder / 'ca.pem')!r})",
        f"Node.js   export NODE_EXTRA_CA_CERTS={authority}",
        f"Java      keytool -importcert -noprompt -alias hashrange -file {authority} {store}",
        "          java -Djavax.net.ssl.trustStore=hashrange.p12 -Djavax.net.ssl.trustStorePassword=changeit ...",
        f"Go, curl  export SSL_CERT_FILE={authority}",
        f"endpoint  https://{host}:8000",
    ]
    if is_mutual:
        pair = (str(folder / "client.pem"), str(folder / "client.key"))
        lines.append(f"client    boto3: Config(client_cert={pair!r}); curl --cert {pair[0]} --key {pair[1]}")
    return "\n".join(lines)
