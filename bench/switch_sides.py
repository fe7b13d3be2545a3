"""The sides of bench/switches.py: servers that differ in one switch, or in all of them, each with its data."""

import contextlib
import secrets
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
import policies
from running import Running, free_port, running
from systems import Place, System

from hashrange import __version__
from hashrange.certificates import Authority
from hashrange_bench.endpoint import Endpoint
from hashrange_bench.sigv4 import Credentials


@dataclass(frozen=True, slots=True)
class Switches:
    """What a server is told."""

    name: str
    title: str
    auth: str = "off"
    policy: str | None = None  # of the user whose key signs; None: the root of the account
    encrypts: bool = False
    tls: bool = False
    audit: str = ""  # which events; with --auth the management events are noted without being told
    capacity: str = "off"
    stream: bool = False  # the table has one, with both images
    recovery: bool = False  # the table can be restored to any point in time


SIDES = (
    Switches("off", "everything off"),
    Switches("meter", "`--capacity meter`, the default", capacity="meter"),
    Switches("enforce", "`--capacity enforce`", capacity="enforce"),
    Switches("stream", "a stream with both images", stream=True),
    Switches("recovery", "point-in-time recovery", recovery=True),
    Switches("signature", "`--auth signature`", "signature"),
    Switches("iam", "`--auth iam`, ten statements", "iam", policies.TEN),
    Switches("iam-conditions", "`--auth iam`, a condition on the address", "iam", policies.CONDITIONS),
    Switches("iam-tenant", "`--auth iam`, LeadingKeys and `${aws:username}`", "iam", policies.TENANT),
    Switches("encryption", "`--root-key`: encryption at rest", encrypts=True),
    Switches("tls", "`--tls-cert`: TLS 1.3", tls=True),
    Switches("audit-management", "`--audit-log`, management events", audit="management"),
    Switches("audit-all", "`--audit-log`, all events", audit="all"),
    Switches("all", "all on: enforce, stream, recovery, iam (ten), encryption, TLS, audit of all", "iam",
             policies.TEN, encrypts=True, tls=True, audit="all", capacity="enforce", stream=True, recovery=True),
)  # fmt: skip


def switch_on(side: Switches, endpoint: Endpoint, table: str) -> None:
    """Give a table what the side has and the server's flags do not say."""
    if side.stream:
        stream = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
        _call(endpoint, "UpdateTable", {"TableName": table, "StreamSpecification": stream})
    if side.recovery:
        recovery = {"PointInTimeRecoveryEnabled": True}
        request = {"TableName": table, "PointInTimeRecoverySpecification": recovery}
        _call(endpoint, "UpdateContinuousBackups", request)


def _call(endpoint: Endpoint, operation: str, request: dict[str, object]) -> None:
    endpoint.call(operation, orjson.dumps(request).decode())


def certificates(folder: Path) -> Path:
    """Make a certificate for this machine; give that of the authority, which clients trust."""
    authority = Authority(days=1)
    issued = authority.issue(["localhost", "127.0.0.1"])
    contents = {"ca.pem": authority.certificate, "server.pem": issued.certificate, "server.key": issued.key}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o600)
    return folder / "ca.pem"


@contextlib.contextmanager
def serving(side: Switches, folder: Path, certificate: Path, prefix: Sequence[str]) -> Iterator[Running]:
    """Run a side's server on data of its own, made in the folder, with a key for whom the side is about."""
    data = ["--data-dir", str(folder / "data")]
    if side.encrypts:
        key = folder / "root.key"
        key.write_text(secrets.token_hex(32), "ascii")
        key.chmod(0o600)
        data += ["--root-key", f"file:{key}"]
    credentials = Credentials() if side.auth == "off" else _key(side, folder, data)
    flags = [*data, "--auth", side.auth, "--capacity", side.capacity, "--log-level", "error"]
    if side.tls:
        flags += ["--tls-cert", str(certificate.with_name("server.pem"))]
        flags += ["--tls-key", str(certificate.with_name("server.key"))]
    if side.audit:
        flags += ["--audit-log", str(folder / "audit.jsonl"), "--audit-events", side.audit]

    def command(place: Place) -> list[str]:
        return [sys.executable, "-m", "hashrange", "serve", "--port", str(place.port), *flags]

    def endpoint(place: Place) -> Endpoint:
        scheme = "https" if side.tls else "http"
        return Endpoint(scheme, "127.0.0.1", place.port, credentials=credentials)

    system = System(side.name, side.title, lambda _: __version__, command, endpoint=endpoint)
    with running(system, folder, free_port(), prefix) as server:
        yield server


def _key(side: Switches, folder: Path, data: Sequence[str]) -> Credentials:
    """An access key in data that no server is running on yet."""
    if side.policy is None:
        return _credentials(_iam("bootstrap", *data))
    document = folder / "policy.json"
    document.write_text(side.policy, "utf-8")
    _iam("create-user", policies.USER, *data)
    _iam("put-policy", "measured", "--user", policies.USER, "--document", str(document), *data)
    return _credentials(_iam("create-access-key", policies.USER, *data))


def _iam(*arguments: str) -> bytes:
    command = [sys.executable, "-m", "hashrange", "iam", *arguments, "--json"]
    return subprocess.run(command, capture_output=True, check=True).stdout


def _credentials(answer: bytes) -> Credentials:
    shown = orjson.loads(answer)
    key = shown.get("AccessKey", shown)
    return Credentials(key["AccessKeyId"], key["SecretAccessKey"])
